"""Which texels a SIMD group touches: the symbolic engine against the trace of the one that runs kernels."""

from __future__ import annotations

from collections import Counter, defaultdict
from math import prod

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clmap_lsp.devices import load_model
from clmap_lsp.emulator import jit
from clmap_lsp.emulator.layout import TRACE_ID_SHIFT
from clmap_lsp.emulator.recorder import Recorder
from clmap_lsp.emulator.result import Engine
from clmap_lsp.emulator.settings import EmulationSettings
from clmap_lsp.emulator.symbolic import count
from clmap_lsp.emulator.symbolic.images import ImageCount
from clmap_lsp.exactness import Exactness
from clmap_lsp.launch.arguments import parse_argument
from clmap_lsp.launch.model import Argument, Launch, ScalarArgument
from clmap_lsp.source.ir import ImageRead, ImageWrite, walk
from clmap_lsp.source.program import Program
from clmap_lsp.source.read import read_program

DEVICE = load_model("nvidia-h200")
Request = list[tuple[int, ...]]


def read(text: str) -> Program:
    program = read_program(text, "k.cl")
    assert not program.problems
    return program


def launch_of(
    sides: tuple[int, ...], size: tuple[int, ...], group: tuple[int, ...], **more: Argument
) -> Launch:
    texels = ",".join(map(str, sides))
    arguments = {"im": parse_argument(f"image({texels},random)"), "to": parse_argument(f"image({texels})")}
    return Launch("k", size, group, {**arguments, "out": parse_argument(f"zeros({prod(size)})"), **more})


def traced(program: Program, launch: Launch, sides: tuple[int, ...], taps: int) -> dict[int, list[Request]]:
    """Return by site the texels (x, y, z) of each request, each execution reading `taps` of them.

    The n-th executions of the lanes of a SIMD group are one request: lanes must not leave turns out.
    """
    recorder = Recorder()
    run = jit.run(
        program, program.kernels[0], launch, EmulationSettings(engine=Engine.JIT, races=False), recorder
    )
    images = {it.trace >> TRACE_ID_SHIFT for it in run.space.buffers if it.trace >= 0 and it.plan.is_image}
    sites = {it.trace_site: it.site for it in run.sites}
    requests: dict[int, dict[tuple[int, ...], Request]] = defaultdict(lambda: defaultdict(list))
    seen: Counter[tuple[int, int]] = Counter()
    width, height, _ = (*sides, 1, 1)[:3]
    for item, address, site in recorder.accesses().tolist():
        if address >> TRACE_ID_SHIFT in images:
            texel = (address & ((1 << TRACE_ID_SHIFT) - 1)) // 16
            turn = seen[item, site] // taps
            seen[item, site] += 1
            at = texel % width, texel // width % height, texel // (width * height)
            requests[sites[site]][(*simd_group(item, launch), turn)].append(at)
    return {site: list(found.values()) for site, found in requests.items()}


def simd_group(item: int, launch: Launch) -> tuple[int, ...]:
    group, lane, pitch = [], 0, 1
    for size, local in zip(launch.global_size, launch.local_size, strict=True):
        at, item = item % size, item // size
        group.append(at // local)
        lane, pitch = lane + at % local * pitch, pitch * local
    return (*group, lane // DEVICE.simd_width)


def check(found: ImageCount, requests: list[Request], taps: int) -> None:
    """Hold counts against requests, texel by texel."""
    assert found.method is Exactness.EXACT, found.reason
    assert found.requests == len(requests)
    assert found.executions == sum(map(len, requests)) // taps
    rows = [{it[1:] for it in texels} for texels in requests]
    for spread, numbers in (
        (found.texels, [len(set(it)) for it in requests]),
        (found.rows, list(map(len, rows))),
    ):
        assert spread is not None
        assert (spread.min, spread.max) == (min(numbers), max(numbers))
        assert spread.mean == pytest.approx(sum(numbers) / len(numbers))
    boxes = Counter(
        tuple(max(axis) - min(axis) + 1 for axis in zip(*texels, strict=True)) for texels in requests
    )
    assert boxes[found.box] == max(boxes.values())  # type: ignore[index]


def hold(
    text: str,
    sides: tuple[int, ...],
    size: tuple[int, ...],
    group: tuple[int, ...],
    taps: int = 1,
    **more: Argument,
) -> dict[int, ImageCount]:
    """Count all images of a kernel and hold each against the trace."""
    program, launch = read(text), launch_of(sides, size, group, **more)
    kernel = program.kernels[0]
    result = count(kernel, launch, DEVICE)
    assert result.bail is None
    requests = traced(program, launch, sides, taps)
    sites = {it.site for it in walk(kernel.body) if isinstance(it, ImageRead | ImageWrite)}
    assert requests.keys() == result.images.keys() == sites
    for site, found in result.images.items():
        check(found, requests[site], taps)
    return dict(result.images)


HEAD = "__kernel void k({image} im, __write_only image2d_t to, {more}__global float4 *out) {{ {ids} {body} }}"
IDS = "int x = get_global_id(0), y = get_global_id(1), g = y * get_global_size(0) + x; float4 v = 0;"
FLAGS = {"n": 0x14, "l": 0x24, "N": 0x15, "L": 0x25}  # Nearest or linear; capitals are normalized.


def text_of(body: str, image: str = "__read_only image2d_t", more: str = "") -> str:
    return HEAD.format(image=image, more=more, ids=IDS, body=f"{body} out[g] = v;")


INTEGERS = {
    "rows": "v = read_imagef(im, (int2)(x, y));",
    "columns": "v = read_imagef(im, (int2)(y, x));",
    "strided": "v = read_imagef(im, (int2)(2 * x + 1, 3 * y));",
    "one": "v = read_imagef(im, (int2)(5, 7));",
    "shared by neighbours": "v = read_imagef(im, (int2)(x / 4, y));",
    "window": "for (int j = 0; j < 3; j++) for (int i = 0; i < 3; i++)"
    " v += read_imagef(im, (int2)(x + i, y + j));",
    "guard": "if (x > 2 && y != 3) v = read_imagef(im, (int2)(x - 3, y));",
    "masked": "v = read_imagef(im, (int2)(x ^ 5, y & 6));",
    "sides": "int w = get_image_width(im);"
    " v = read_imagef(im, (int2)((x * 7) % w, get_image_dim(im).y - 1 - y));",
    "through a vector": "int2 at; at.x = x; at.y = y + 1; at += (int2)(1, 2); v = read_imagef(im, at);",
    "private": "int t[2]; t[0] = y; t[1] = x; v = read_imagef(im, (int2)(t[0], t[1]));",
}


@pytest.mark.parametrize("group", [(32, 1), (8, 8), (1, 32), (12, 2)], ids=str)
@pytest.mark.parametrize("body", INTEGERS.values(), ids=INTEGERS)
def test_reads_at_integers(body: str, group: tuple[int, int]) -> None:
    size = (48, 16) if group[0] != 32 else (64, 16)
    hold(text_of(body), (160, 96), (size[0], 32) if group[1] == 32 else size, group)


FLOATS = {
    "centres": ("n", "v = read_imagef(im, s, (float2)(x + 0.5f, y + 0.5f));"),
    "corners": ("l", "v = read_imagef(im, s, (float2)(x + 1.0f, y + 1));"),
    "linear in y": ("l", "v = read_imagef(im, s, (float2)(y + 1.5f, x + 2.25f));"),
    "half": ("n", "v = read_imagef(im, s, (float2)(x * 0.5f, y * 0.5f));"),
    "half, linear": ("l", "v = read_imagef(im, s, (float2)(x, y) * 0.5f + 1.0f);"),
    "normalized": ("N", "v = read_imagef(im, s, (float2)((x + 0.5f) / 64.0f, (y + 0.5f) / 32.0f));"),
    "normalized, linear": ("L", "v = read_imagef(im, s, (float2)((x + 1.0f) / 64.0f, (y + 1.0f) / 32.0f));"),
    "integers with a sampler": ("l", "v = read_imagef(im, s, (int2)(x, y));"),
    "rotated": ("n", "v = read_imagef(im, s, (float2)(0.6f * x + 0.8f * y, 0.6f * y + 9.3f));"),
}


@pytest.mark.parametrize("group", [(32, 1), (8, 8)], ids=str)
@pytest.mark.parametrize("how", ["argument", "constant"])
@pytest.mark.parametrize(("flags", "body"), FLOATS.values(), ids=FLOATS)
def test_reads_through_samplers(flags: str, body: str, how: str, group: tuple[int, int]) -> None:
    is_linear = flags in "lL" and "int2" not in body
    sampler, sides = ScalarArgument((FLAGS[flags],)), (64, 32) if flags in "NL" else (96, 96)
    if how == "argument":
        text = text_of(body, more="sampler_t s, ")
        hold(text, sides, (32, 16), group, taps=4 if is_linear else 1, s=sampler)
    else:
        text = f"__constant sampler_t s = {FLAGS[flags]};\n{text_of(body)}"
        hold(text, sides, (32, 16), group, taps=4 if is_linear else 1)


def test_a_sampler_that_nobody_gives_is_not_guessed() -> None:
    text = text_of(
        "v = read_imagef(im, s, (float2)(x, y)); v += read_imagef(im, s, (int2)(x, y));", more="sampler_t s, "
    )
    program = read(text)
    given_launch = launch_of((64, 32), (32, 16), (32, 1), s=ScalarArgument((0x14,)))
    guessed = Launch(
        "k",
        given_launch.global_size,
        given_launch.local_size,
        given_launch.arguments,
        inferred=frozenset({"s"}),
    )
    unknown, known = count(program.kernels[0], guessed, DEVICE).images.values()
    assert unknown.method is Exactness.UNKNOWN
    assert "sampler" in (unknown.reason or "")
    assert known.method is Exactness.EXACT  # Whole numbers are the numbers of texels, whatever the sampler.


OTHERS = {
    "image1d_t": ((900,), "read_imagef(im, x + 3 * y)"),
    "image1d_buffer_t": ((900,), "read_imagef(im, g)"),
    "image1d_array_t": ((96, 40), "read_imagef(im, (int2)(x, y))"),
    "image3d_t": ((64, 40, 8), "read_imagef(im, (int4)(y, x, x / 8, 0))"),
    "image2d_array_t": ((64, 40, 8), "read_imagef(im, (int4)(x, 2, y / 2, 0))"),
}


@pytest.mark.parametrize("kind", OTHERS)
def test_other_kinds_of_images(kind: str) -> None:
    sides, expression = OTHERS[kind]
    text = text_of(f"v = {expression};", image=f"__read_only {kind}")
    hold(text, sides, (32, 16), (16, 4))


def test_filtering_a_volume_reads_eight_texels() -> None:
    body = "v = read_imagef(im, s, (float4)(x + 1.0f, y + 1.0f, 2.0f, 0));"
    text = text_of(body, image="__read_only image3d_t", more="sampler_t s, ")
    sampler = ScalarArgument((FLAGS["l"],))
    (found,) = hold(text, (64, 32, 8), (32, 16), (32, 1), taps=8, s=sampler).values()
    assert found.texels is not None
    assert found.box == (33, 2, 2)
    assert found.texels.max == 33 * 2 * 2


@pytest.mark.parametrize("outside", ["INT_MIN", "0x7fffffff", "-600000"])
def test_coordinates_that_ask_for_the_border_touch_nothing(outside: str) -> None:
    body = f"v = read_imagef(im, s, (int2)(select(x, {outside}, y < 4 || x > 20), y));"
    sampler = ScalarArgument((FLAGS["n"],))
    (found,) = hold(text_of(body, more="sampler_t s, "), (64, 32), (32, 16), (32, 1), s=sampler).values()
    assert found.executions == 21 * 12
    edge = ScalarArgument((0x12,))  # To the edge, where the texel is one of the image.
    launch = launch_of((64, 32), (32, 16), (32, 1), s=edge)
    (other,) = count(read(text_of(body, more="sampler_t s, ")).kernels[0], launch, DEVICE).images.values()
    assert other.reason == "its coordinates reach beyond any image"


def test_layers_are_not_filtered() -> None:
    body = "v = read_imagef(im, s, (float4)(x + 1.0f, y + 1.0f, 2.4f, 0));"
    text = text_of(body, image="__read_only image2d_array_t", more="sampler_t s, ")
    (found,) = hold(text, (64, 32, 8), (32, 16), (32, 1), taps=4, s=ScalarArgument((FLAGS["l"],))).values()
    assert found.box == (33, 2, 1)


def test_writes_are_counted() -> None:
    body = "write_imagef(to, (int2)(x, y), v); write_imagef(to, (int2)(y, x + 40), v);"
    one, two = hold(text_of(body), (96, 96), (32, 16), (32, 1)).values()
    assert (one.box, two.box) == ((32, 1, 1), (1, 32, 1))


def test_data_in_a_coordinate_is_unknown() -> None:
    text = text_of(
        "v = read_imagef(im, (int2)((int)out[g].x, y)); if (v.x > 0) v = read_imagef(im, (int2)(x, y));"
    )
    result = count(read(text).kernels[0], launch_of((64, 64), (32, 16), (32, 1)), DEVICE)
    reasons = [it.reason or "" for it in result.images.values()]
    assert [it.method for it in result.images.values()] == [Exactness.UNKNOWN] * 2
    assert "its place depends on" in reasons[0]
    assert "whether it runs" in reasons[1]


@settings(max_examples=40, deadline=None)
@given(
    st.tuples(*[st.integers(0, 3)] * 4),
    st.integers(0, 5),
    st.sampled_from([(32, 1), (8, 4), (4, 16), (2, 2), (24, 2)]),
    st.sampled_from(["", "/ 3", "% 5", "^ 3"]),
)
def test_any_walk(matrix: tuple[int, ...], shift: int, group: tuple[int, int], operation: str) -> None:
    a, b, c, d = matrix
    body = (
        f"for (int i = 0; i < 3; i++)"
        f" v += read_imagef(im, (int2)(({a} * x + {b} * y + i) {operation}, {c} * x + {d} * y + {shift}));"
    )
    size = tuple(2 * it for it in group)
    hold(text_of(body), (400, 400), size, group)

"""Image reads with samplers: against PoCL, and what is counted."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from clmap_lsp.emulator.result import Engine
from clmap_lsp.emulator.run import emulate
from clmap_lsp.emulator.settings import EmulationSettings
from clmap_lsp.launch.arguments import parse_argument
from clmap_lsp.launch.model import BufferArgument, Fill, Launch, ScalarArgument
from clmap_lsp.launch.problem import LaunchProblem
from clmap_lsp.launch.resolve import as_comment, resolve
from clmap_lsp.source.read import read_program

ITEMS = 64
SIDES = {"image1d_t": (13,), "image2d_t": (7, 5), "image3d_t": (5, 4, 3), "image2d_array_t": (6, 5, 3)}
COORDINATES = {"image1d_t": "c.x", "image2d_t": "c.xy", "image3d_t": "c", "image2d_array_t": "c"}
ADDRESSING = ("CLAMP_TO_EDGE", "CLAMP", "REPEAT", "MIRRORED_REPEAT")
CASES = [
    (kind, filtering, normalized, mode)
    for kind, filtering, normalized, mode in itertools.product(
        SIDES, ("NEAREST", "LINEAR"), ("TRUE", "FALSE"), ADDRESSING
    )
    # Repeating is defined for normalized coordinates only.
    if normalized == "TRUE" or "REPEAT" not in mode
]


def kernel_text(kind: str, filtering: str, normalized: str, mode: str, at: object = "") -> str:
    sampler = f"CLK_NORMALIZED_COORDS_{normalized} | CLK_ADDRESS_{mode} | CLK_FILTER_{filtering}"
    return f"""__constant sampler_t s{at} = {sampler};
__kernel void k{at}(__read_only {kind} im, __global const float4 *at, __global float4 *out) {{
  int i = get_global_id(0);
  float4 c = at[i];
  out[i] = read_imagef(im, s{at}, {COORDINATES[kind]});
}}
"""


def coordinates(sides: tuple[int, ...], normalized: str) -> np.ndarray:
    """Return places inside and around an image, none of them at a texel's edge, shape (ITEMS, 4)."""
    rng = np.random.default_rng(3)
    places = rng.integers(-12, 28, (ITEMS, 4)) / 8 * np.array([*sides, 1, 1, 1][:4]) + 0.0625
    if normalized == "TRUE":
        places /= np.array([*sides, 1, 1, 1][:4])
    return places.astype(np.float32)


def reference(
    texels: np.ndarray, places: np.ndarray, kind: str, filtering: str, normalized: str, mode: str
) -> np.ndarray:
    """Follow the formulas of the API specification, "Image addressing and filtering", one texel at a time."""
    sides = SIDES[kind]
    axes = len(sides) - int("array" in kind)

    def axis(value: float, size: int) -> list[tuple[int, float]]:
        u = value * size if normalized == "TRUE" else value
        if mode == "REPEAT":
            u = (value - np.floor(value)) * size
        elif mode == "MIRRORED_REPEAT":
            u = abs(value - 2 * np.rint(0.5 * value)) * size
        if filtering == "NEAREST":
            found = [(int(np.floor(u)), 1.0)]
        else:
            low = int(np.floor(u - 0.5))
            weight = u - 0.5 - low
            found = [(low, 1 - weight), (low + 1, weight)]
        if mode == "REPEAT":
            return [(it % size, weight) for it, weight in found]
        if mode == "CLAMP":
            return [(it if 0 <= it < size else -1, weight) for it, weight in found]
        return [(min(max(it, 0), size - 1), weight) for it, weight in found]

    result = np.zeros((len(places), 4))
    for n, place in enumerate(places.astype(np.float64)):
        choices = [axis(place[d], sides[d]) for d in range(axes)]
        if "array" in kind:
            choices.append([(int(np.clip(np.rint(place[axes]), 0, sides[axes] - 1)), 1.0)])
        for corner in itertools.product(*choices):
            at = tuple(it for it, _ in corner)
            if min(at) >= 0:
                result[n] += np.prod([weight for _, weight in corner]) * texels[at[::-1]]
    return result


def emulated(text: str, kind: str, places: np.ndarray) -> np.ndarray:
    program = read_program(text, "image.cl")
    assert not program.problems
    values = ",".join(map(repr, places.ravel().tolist()))
    sides = SIDES[kind]
    launch = Launch(
        "k",
        (ITEMS,),
        (16,),
        {
            "im": BufferArgument(Fill.RANDOM, int(np.prod(sides)), seed=5, sides=sides),
            "at": BufferArgument(Fill.VALUES, 4 * ITEMS, text=values, element="float"),
            "out": BufferArgument(Fill.ZEROS, ITEMS),
        },
    )
    result = emulate(program, program.kernels[0], launch, EmulationSettings(engine=Engine.JIT))
    assert not result.faults
    return result.buffers["out"].data.view(np.float32).reshape(-1, 4)


def texels_of(kind: str) -> np.ndarray:
    sides = SIDES[kind]
    values = np.random.default_rng(5).random(4 * int(np.prod(sides))).astype(np.float32)
    return values.reshape(*sides[::-1], 4)


@pytest.mark.parametrize(("kind", "filtering", "normalized", "mode"), CASES)
def test_samplers_follow_the_specification(kind: str, filtering: str, normalized: str, mode: str) -> None:
    places = coordinates(SIDES[kind], normalized)
    found = emulated(kernel_text(kind, filtering, normalized, mode), kind, places)
    expected = reference(texels_of(kind), places, kind, filtering, normalized, mode)
    assert np.abs(found - expected).max() < 1e-6


# PoCL 3.1 scales the number of a layer by the number of layers where coordinates are normalized; layers never
# are, so that only the specification's formulas hold there.
POCL_CASES = [it for it in CASES if it[0] != "image2d_array_t" or it[2] == "FALSE"]


@pytest.fixture(scope="module")
def compiled(queue) -> dict[tuple[str, ...], Any]:
    """The kernels of all cases as one program: most of what PoCL takes for a small one is its own start."""
    import pyopencl as cl

    texts = [kernel_text(*it, at) for at, it in enumerate(POCL_CASES)]
    program = cl.Program(queue.context, "".join(texts)).build(["-cl-opt-disable"])
    return {tuple(it): cl.Kernel(program, f"k{at}") for at, it in enumerate(POCL_CASES)}


@pytest.mark.pocl
@pytest.mark.parametrize(("kind", "filtering", "normalized", "mode"), POCL_CASES)
def test_samplers_as_on_pocl(queue, compiled, kind: str, filtering: str, normalized: str, mode: str) -> None:
    import pyopencl as cl

    text = kernel_text(kind, filtering, normalized, mode)
    places = coordinates(SIDES[kind], normalized)
    texels = texels_of(kind)
    context = queue.context
    form = cl.ImageFormat(cl.channel_order.RGBA, cl.channel_type.FLOAT)
    flags = cl.mem_flags.READ_ONLY | cl.mem_flags.COPY_HOST_PTR
    image = cl.create_image(context, flags, form, shape=SIDES[kind], hostbuf=texels, is_array="array" in kind)
    at = cl.Buffer(context, flags, hostbuf=places)
    expected = np.zeros((ITEMS, 4), np.float32)
    out = cl.Buffer(context, cl.mem_flags.WRITE_ONLY, expected.nbytes)
    compiled[kind, filtering, normalized, mode](queue, (ITEMS,), (16,), image, at, out)
    cl.enqueue_copy(queue, expected, out)
    found = emulated(text, kind, places)
    assert np.abs(found - expected).max() < 1e-5


# --------------------------------------------------------------------------------------- counts and launches

BLUR = """__kernel void blur(__read_only image2d_t im, sampler_t s, __global float4 *out) {
  int x = get_global_id(0), y = get_global_id(1);
  out[y * get_image_width(im) + x] = read_imagef(im, s, (float2)(x + 1.0f, y + 1.0f));
}
"""
LINEAR = 0x20 | 2
NEAREST = 0x10 | 2


def blurred(sampler: int, image: str = "image(8,4,random)"):
    program = read_program(BLUR, "blur.cl")
    arguments = {
        "im": parse_argument(image),
        "s": ScalarArgument((sampler,)),
        "out": BufferArgument(Fill.ZEROS, 32),
    }
    launch = Launch("blur", (8, 4), (8, 4), arguments)
    return emulate(program, program.kernels[0], launch)


def test_linear_reads_count_every_texel() -> None:
    linear, nearest = blurred(LINEAR), blurred(NEAREST)
    assert not linear.faults
    reads = {it.op: it for it in linear.sites if it.buffer == "im"}
    assert (reads["load"].executions, reads["load"].requests) == (4 * 32, 4)
    assert (linear.operations["image read"], linear.operations["store"]) == (32, 32)
    assert linear.parallelism.accesses_to_barrier is not None
    assert linear.parallelism.accesses_to_barrier.maximum == 2
    assert linear.metrics.accesses - nearest.metrics.accesses == 3 * 32
    texels = linear.buffers["im"].data.view(np.float32).reshape(4, 8, 4).astype(np.float64)
    found = linear.buffers["out"].data.view(np.float32).reshape(4, 8, 4)
    mean = (texels[:-1, :-1] + texels[:-1, 1:] + texels[1:, :-1] + texels[1:, 1:]) / 4
    assert np.abs(found[:3, :7] - mean).max() < 1e-7
    assert np.array_equal(found[3, 7], texels[3, 7].astype(np.float32))


def test_texels_of_the_border_are_not_read() -> None:
    clamped = blurred(0x20 | 4)
    assert not clamped.faults
    inside = sum(min(2, 8 - x - 0) * min(2, 4 - y) for y in range(4) for x in range(8))
    assert next(it.executions for it in clamped.sites if it.buffer == "im") == inside


def test_declared_sides_are_those_of_queries_and_notes() -> None:
    result = blurred(NEAREST, "image(8,4)")
    assert "image `im` has 8x4 texels of four 32-bit channels" in result.notes
    wide = blurred(NEAREST, "image(16,2)")
    assert any(it.kind.value == "out-of-bounds-write" for it in wide.faults)  # Rows of 16 in an 8x4 buffer.


def test_integer_texels_take_integers() -> None:
    text = """__kernel void k(__read_only image2d_t im, __write_only image2d_t to, __global int *out) {
      int2 at = (int2)(get_global_id(0), get_global_id(1));
      int4 v = read_imagei(im, at);
      write_imageui(to, at, (uint4)(v.x, v.y, 7, 8));
      out[at.y * 4 + at.x] = v.w;
    }"""
    program = read_program(text, "k.cl")
    launch = resolve(program, program.kernels[0])
    assert not isinstance(launch, LaunchProblem)
    arguments = {
        "im": parse_argument("image(4,2,iota)"),
        "to": parse_argument("image(4,2)"),
        "out": BufferArgument(Fill.ZEROS, 8),
    }
    result = emulate(program, program.kernels[0], Launch("k", (4, 2), (4, 2), arguments))
    assert not result.faults
    assert result.buffers["out"].data.view(np.int32).tolist() == [4 * i + 3 for i in range(8)]
    assert result.buffers["to"].type == "uint4"
    assert result.buffers["to"].data.view(np.uint32)[:8].tolist() == [0, 1, 7, 8, 4, 5, 7, 8]


def test_images_are_inferred_with_a_texel_for_each_work_item() -> None:
    program = read_program(BLUR, "blur.cl")
    launch = resolve(program, program.kernels[0])
    assert not isinstance(launch, LaunchProblem)
    image = launch.arguments["im"]
    assert isinstance(image, BufferArgument)
    assert image.sides == launch.global_size
    result = emulate(program, program.kernels[0], launch, EmulationSettings(time_limit_s=60))
    assert not result.faults
    assert result.metrics.accesses == 2 * launch.work_items  # One texel and one store each.
    assert "image(" in as_comment(launch)


PASSED_ON = """
__constant sampler_t S = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
int4 at(read_only image2d_t im, sampler_t how, int2 p) { return read_imagei(im, how, p); }
int4 both(read_only image2d_t first, read_only image2d_t second, int2 p) {
  return at(first, S, p) - 2 * at(second, S, p);
}
int next(read_only image2d_t im, int i) { return (i + 1) % get_image_width(im); }
void put(write_only image2d_t im, int2 p, int4 v) { write_imagei(im, p, v); }
kernel void k(read_only image2d_t a, read_only image2d_t b, write_only image2d_t to) {
  int2 p = (int2)(get_global_id(0), get_global_id(1));
  put(to, p, both(a, b, p));
  if (p.x == 0) put(to, (int2)(next(to, 7), p.y), both(b, a, p));
}"""


def test_images_are_passed_on_through_functions() -> None:
    program = read_program(PASSED_ON, "k.cl")
    (kernel,) = program.kernels
    arguments = {
        "a": parse_argument("image(4,2,iota)"),
        "b": parse_argument("image(4,2,iota)"),
        "to": parse_argument("image(4,2)"),
    }
    result = emulate(program, kernel, Launch("k", (4, 2), (4, 2), arguments))
    assert not result.faults
    stored = result.buffers["to"].data.view(np.int32)
    assert stored.tolist() == [-i for i in range(32)]


FAULTS = [
    ("write_only", "write_imagef(im, (int2)(0, 0), (float4)(i));", {"data-race"}),
    ("write_only", "write_imagef(im, (int2)(i % 8, i / 8), (float4)(i));", set()),
    ("write_only", "write_imagef(im, (int2)(i, 0), (float4)(i));", {"out-of-bounds-write"}),
    ("read_only", "out[i] = read_imagef(im, (int2)(i, 0));", {"out-of-bounds-read"}),
    ("read_only", "out[i] = read_imagef(im, 0x10, (int2)(i, 0));", {"out-of-bounds-read"}),
    ("read_only", "out[i] = read_imagef(im, 0x10, (int2)(i % 8, i / 8));", set()),
    ("read_only", "out[i] = read_imagef(im, 0x14, (int2)(i, 0));", set()),
    ("read_only", "out[i] = read_imagef(im, 0x20, (float2)(i % 8, i / 8));", set()),
    ("read_write", "write_imagef(im, (int2)(i % 8, i / 8), read_imagef(im, (int2)(i % 8, i / 8)));", set()),
    (
        "read_write",
        "write_imagef(im, (int2)(i % 8, i / 8), read_imagef(im, (int2)(i % 8, 0)));",
        {"data-race"},
    ),
    ("read_write", "WRITE work_group_barrier(CLK_IMAGE_MEM_FENCE); READ", set()),
    ("read_write", "WRITE work_group_barrier(CLK_GLOBAL_MEM_FENCE); READ", {"data-race"}),
    ("read_write", "WRITE int f = 1 << 2; work_group_barrier(f); READ", set()),
    ("read_write", "out[i ^ 1] = i; work_group_barrier(CLK_IMAGE_MEM_FENCE); out[i] = i;", {"data-race"}),
]


@pytest.mark.parametrize(("access", "body", "kinds"), FAULTS)
def test_faults_of_images_are_those_of_buffers(access: str, body: str, kinds: set[str]) -> None:
    body = body.replace("WRITE", "write_imagef(im, (int2)(i % 8, i / 8), (float4)(i));")
    body = body.replace("READ", "out[i] = read_imagef(im, (int2)(7 - i % 8, i / 8));")
    text = (
        f"__kernel void k({access} image2d_t im, __global float4 *out) {{ int i = get_global_id(0); {body} }}"
    )
    program = read_program(text, "k.cl")
    arguments = {"im": parse_argument("image(8,8)"), "out": parse_argument("zeros(64)")}
    result = emulate(program, program.kernels[0], Launch("k", (64,), (64,), arguments))
    assert {it.kind.value for it in result.faults} == kinds


@pytest.mark.parametrize(
    ("kind", "use", "order", "channels"),
    [
        ("image2d_t", "out[i] = read_imagef(im, (int2)(0, 0)).x;", 0x10B5, 0x10DE),
        ("image2d_t", "out[i] = read_imagei(im, (int2)(0, 0)).x;", 0x10B5, 0x10D9),
        ("image2d_t", "out[i] = read_imageui(im, (int2)(0, 0)).x;", 0x10B5, 0x10DC),
        ("image2d_depth_t", "out[i] = read_imagef(im, (int2)(0, 0));", 0x10BD, 0x10DE),
    ],
)
def test_an_images_format_is_what_it_is_here(kind: str, use: str, order: int, channels: int) -> None:
    text = (
        f"__kernel void k(read_only {kind} im, __global float *out) {{ int i = get_global_id(0); {use}"
        " out[i] = get_image_channel_order(im) + 65536.0f * (get_image_channel_data_type(im) & 255); }"
    )
    program = read_program(text, "k.cl")
    arguments = {"im": parse_argument("image(8,8)"), "out": parse_argument("zeros(4)")}
    result = emulate(program, program.kernels[0], Launch("k", (4,), (4,), arguments))
    assert not [it for it in result.notes if "unknown" in it]
    assert result.buffers["out"].data.view(np.float32).tolist() == [order + 65536.0 * (channels & 255)] * 4

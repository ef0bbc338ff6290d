"""Regular kernels at any size: against the JIT where that is quick, against NumPy, and at real sizes."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clmap_lsp.emulator.result import Engine
from clmap_lsp.emulator.run import emulate
from clmap_lsp.emulator.settings import EmulationSettings
from clmap_lsp.emulator.symbolic import Bail
from clmap_lsp.emulator.symbolic.measure import measure
from clmap_lsp.launch.arguments import parse_argument
from clmap_lsp.launch.model import Launch
from clmap_lsp.locality.entropy import entropy_levels
from clmap_lsp.locality.metrics import Metrics
from clmap_lsp.locality.parallel import PslAccumulator
from clmap_lsp.source.read import read_program

PROGRAM = read_program((Path(__file__).parent / "regular.cl").read_text(encoding="utf-8"), "regular.cl")


def launch(name: str, size: tuple[int, ...], group: tuple[int, ...], **arguments: str) -> Launch:
    return Launch(name, size, group, {key: parse_argument(it) for key, it in arguments.items()})


def image(name: str, w: int, h: int, group: tuple[int, int] = (16, 16)) -> Launch:
    texels = f"zeros({w * h})"
    return launch(name, (w, h), group, a=texels, b=texels, w=str(w), h=str(h))


def square(name: str, n: int) -> Launch:
    whole, elements = -(-n // 16) * 16, f"zeros({n * n})"
    if name == "mm":
        return launch(name, (whole, whole), (16, 16), A=elements, B=elements, C=elements, n=str(n))
    return launch(name, (whole, whole), (16, 16), a=elements, b=elements, n=str(n))


def sums(name: str, n: int, group: int, used: int | None = None) -> Launch:
    parts, zeros = f"zeros({n // group})", f"zeros({n})"
    if name == "reduce":
        return launch(name, (n,), (group,), a=zeros, o=parts, t=f"local({group})", n=str(used or n))
    if name == "scan":
        return launch(name, (n,), (group,), a=zeros, o=zeros, sums=parts, t=f"local({group})")
    return launch(name, (n // 2,), (group,), a=zeros, o=zeros, sums=parts, t=f"local({2 * group})")


def line(name: str, count: int, **more: object) -> Launch:
    zeros = f"zeros({count})"
    texts = {key: str(it) for key, it in more.items()}
    buffers = {"bitonic": ("a",), "fft": ("x", "y")}.get(name, ("a", "o"))
    items = count // 2 if name == "fft" else texts.pop("items", count)
    return launch(name, (int(items),), (64,), **dict.fromkeys(buffers, zeros), **texts)


SMALL = [
    *(image(name, 96, 80) for name in ("stencil", "clamped", "reflected")),
    *(image(name, 100, 64, (20, 16)) for name in ("stencil", "clamped", "reflected")),
    sums("reduce", 4096, 256),
    sums("reduce", 4096, 128, 3996),
    sums("scan", 2048, 64),
    sums("blelloch", 2048, 64),
    *(square(name, n) for name in ("transpose", "mm") for n in (64, 60, 79)),
    line("strided", 8192, items=512, n=8100),
    line("wrapped", 2048, n=2048),
    line("wrapped", 2048, n=700),
    launch("triangular", (256,), (64,), a="zeros(65536)", o="zeros(256)", n="256"),
    *(line("prefix", n) for n in (64, 960)),
    line("suffix", 512, n=512),
    line("suffix", 512, items=448, n=500),
    line("stairs", 640),
    line("pairs", 1920, items=960, n=960),
    line("pairs", 1920, items=896, n=900),
    launch("lower", (192, 16), (32, 4), a="zeros(40000)", o="zeros(3072)", n="200"),
    launch("lower", (192, 16), (16, 8), a="zeros(40000)", o="zeros(3072)", n="199"),
    launch("staircase", (320,), (64,), a="zeros(102400)", n="320"),
    launch("staircase", (320,), (32,), a="zeros(104000)", n="325"),
    line("ragged", 448),
    *(line("bitonic", 4096, j=j, k=k) for j, k in ((1, 2), (16, 1024), (512, 1024), (1024, 2048))),
    *(line("fft", 4096, p=p) for p in (1, 16, 256)),
]


def close(one: Metrics, other: Metrics) -> None:
    for field in dataclasses.fields(Metrics):
        left, right = getattr(one, field.name), getattr(other, field.name)
        assert left == right or left == pytest.approx(right, abs=1e-9), field.name


@pytest.mark.parametrize("it", SMALL, ids=lambda it: f"{it.kernel}-{it.global_size}")
def test_classes_and_the_jit_agree(it: Launch) -> None:
    kernel = PROGRAM.kernel(it.kernel)
    assert kernel is not None
    found = measure(kernel, it, constants=PROGRAM.constants)
    assert not isinstance(found, Bail), found.reason
    run = emulate(PROGRAM, kernel, it, EmulationSettings(engine=Engine.JIT, time_limit_s=60, strides=False))
    close(found, run.metrics)


def test_a_value_of_the_last_turn_is_right_or_unknown() -> None:
    kernel, it = PROGRAM.kernel("lately"), line("lately", 448)
    assert kernel is not None
    found = measure(kernel, it)
    if not isinstance(found, Bail):
        run = emulate(PROGRAM, kernel, it, EmulationSettings(engine=Engine.JIT, strides=False))
        close(found, run.metrics)


def test_a_triangular_loop_agrees_with_an_enumeration() -> None:
    n, group = 2048, 64
    kernel = PROGRAM.kernel("prefix")
    assert kernel is not None
    found = measure(kernel, line("prefix", n))
    assert not isinstance(found, Bail)
    rows = []
    for first in range(0, n, group):
        items = np.arange(first, first + group)
        turns = [(np.full(group, 4 * k), k <= items) for k in range(first + group)]
        # Whoever is done with the loop writes while the others go on.
        for k in range(first + 1, first + group + 1):
            addresses, active = turns[k] if k < len(turns) else (np.zeros(group, np.int64), items < 0)
            done = items + 1 == k
            addresses = np.where(done, 4 * items + (1 << 44), addresses)
            row = (addresses, active | done)
            turns[k:] = [row, *turns[k + 1 :]]
        rows.append(turns)
    footprint, entropies, psl = spelt_out(rows, group)
    assert found.footprint == footprint
    assert (found.gmae, *found.lmae) == pytest.approx(entropies, abs=1e-9)
    assert found.psl == pytest.approx(psl, abs=1e-9)


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_any_size_agrees_with_the_jit(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(["stencil", "clamped", "mm", "transpose", "reduce", "wrapped"]))
    n = data.draw(st.integers(20, 90))
    if name in ("stencil", "clamped"):
        group = data.draw(st.sampled_from([(4, 4), (8, 2), (16, 4)]))
        it = image(name, -(-n // 16) * 16, 36, group)
    elif name in ("mm", "transpose"):
        it = square(name, n)
    elif name == "reduce":
        it = sums(name, 32 * n, 32, data.draw(st.integers(1, 32 * n)))
    else:
        it = line(name, 64 * n, n=data.draw(st.integers(9, 64 * n)))
    test_classes_and_the_jit_agree(it)


def spelt_out(rows: list[list[tuple[np.ndarray, np.ndarray]]], group_items: int) -> tuple[object, ...]:
    """Footprint, entropies and PSL of timesteps given by group: (addresses, active) each, no barriers."""
    psl, everything = PslAccumulator(group_items), []
    for group in rows:
        for addresses, active in group:
            if active.any():
                psl.add_rows(addresses[None], active[None])
                everything.append(addresses[active])
        psl.end_group()
    distinct, times = np.unique(np.concatenate(everything), return_counts=True)
    return len(distinct), entropy_levels(distinct, times), psl.result()


def test_a_guarded_stencil_agrees_with_an_enumeration() -> None:
    n, tile = 512, 16
    kernel = PROGRAM.kernel("stencil")
    assert kernel is not None
    found = measure(kernel, image("stencil", n, n))
    assert not isinstance(found, Bail)
    rows = []
    for gy in range(0, n, tile):
        for gx in range(0, n, tile):
            x, y = np.meshgrid(np.arange(gx, gx + tile), np.arange(gy, gy + tile))
            inside = ((x > 0) & (y > 0) & (x < n - 1) & (y < n - 1)).ravel()
            at = 4 * (y * n + x).ravel()
            moves = (-4, 4, -4 * n, 4 * n, 0)
            rows.append([*((at + it, inside) for it in moves), (at + (1 << 44), inside)])
    footprint, entropies, psl = spelt_out(rows, tile * tile)
    assert found.footprint == footprint
    assert (found.gmae, *found.lmae) == pytest.approx(entropies, abs=1e-9)
    assert found.psl == pytest.approx(psl, abs=1e-9)


def test_real_sizes_are_exact() -> None:
    """What is touched and how often follows from the algorithms."""
    n = 8192
    stencil = found_of(image("stencil", n, n))
    assert stencil.accesses == 6 * (n - 2) ** 2
    assert stencil.footprint == n * n - 4 + (n - 2) ** 2
    items = 1 << 24
    tree = found_of(sums("reduce", items, 256))
    # Each halving of a group of 256 reads two and writes one; the first of all writes the sum.
    assert (tree.loads, tree.stores) == (items + (2 * 255 + 1) * items // 256, items + 256 * items // 256)
    assert tree.footprint == items + items // 256 + 256
    across = found_of(square("transpose", n))
    assert (across.accesses, across.footprint) == (4 * n * n, 2 * n * n + 16 * 16)
    items = 1 << 16
    for count in (items // 8, items):
        triangle = found_of(launch("prefix", (count,), (256,), a=f"zeros({count})", o=f"zeros({count})"))
        assert (triangle.loads, triangle.footprint) == (count * (count + 1) // 2, 2 * count)
    rows = found_of(launch("triangular", (n,), (256,), a=f"zeros({n * n})", o=f"zeros({n})", n=str(n)))
    assert (rows.loads, rows.footprint) == (n * (n + 1) // 2, n * (n + 1) // 2 + n)
    n = 4095
    product = found_of(square("mm", n))
    assert product.footprint == 3 * n * n + 2 * 256
    assert product.loads == 2 * n * n * 256 + 2 * 4096 * 4096 * 4096


def found_of(it: Launch) -> Metrics:
    kernel = PROGRAM.kernel(it.kernel)
    assert kernel is not None
    found = measure(kernel, it)
    assert not isinstance(found, Bail), found.reason
    return found

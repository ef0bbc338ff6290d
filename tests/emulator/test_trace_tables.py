"""The tables of the trace are emptied before they are full, wherever that falls in a run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clmap_lsp.devices import load_model
from clmap_lsp.emulator import jit, machine_state
from clmap_lsp.emulator import layout as at
from clmap_lsp.emulator.settings import EmulationSettings
from clmap_lsp.emulator.tally import AddressCounts
from clmap_lsp.launch.arguments import parse_argument
from clmap_lsp.launch.model import Launch
from clmap_lsp.launch.resolve import resolve
from clmap_lsp.locality.definition import Definition
from clmap_lsp.locality.metrics import AccessCounts
from clmap_lsp.source.read import read_program


def kernel_text(items: int, reads: int, apart: bool, barriers: int) -> str:
    """Return a kernel whose lanes go separate ways, if `apart`, or read sparsely side by side."""
    lines = [f"// clmap: global={2 * items} local={items} a=random(65536) o=zeros({2 * items})"]
    lines += [
        "__kernel void k(__global uchar *a, __global uint *o) {",
        "int l = get_local_id(0);",
        "uint s = 0;",
    ]
    for _ in range(barriers + 1):
        if apart:
            lines.append(
                f"for (int t = 0; t < {items}; t++) if (t == l) {{ uint x = l * 2654435761u + 12345u;"
            )
        else:
            lines.append("{ uint x = l * 2654435761u + 12345u;")
        lines += ["x = x * 1664525u + 1013904223u; if ((x >> 24) < 200) s += a[x >> 16];"] * reads
        lines += ["}", "barrier(CLK_LOCAL_MEM_FENCE);"]
    return "\n".join([*lines, "o[get_global_id(0)] = s; }"])


def figures(text: str, **small: int) -> dict[str, Any]:
    """Return every figure of a run; `small` sets fields of `Sizes` down to what just suffices."""
    program = read_program(text, "k.cl")
    kernel = program.kernels[0]
    launch = resolve(program, kernel)
    planned = machine_state.plan_sizes

    def plan(*arguments: Any) -> machine_state.Sizes:
        sizes = planned(*arguments)
        least = machine_state._SIMT_SLOTS // 2 + 1 + sizes.n_subs + sizes.items
        return replace(sizes, sub_capacity=least + small["beyond"]) if small else sizes

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jit, "plan_sizes", plan)
        if small:
            patch.setattr(machine_state, "_SUB_ROOM", 1 << 30)
            patch.setattr(jit, "DENSE_PAIR_SLOTS", 64)
        settings_ = EmulationSettings(device=load_model("nvidia-hopper"), time_limit_s=60)
        job = jit.run(program, kernel, launch, settings_)
    assert not job.stopped
    words = job.state.words
    assert not words[at.SUB_LOST]
    return {
        "psl": job.psl.round(9).tolist(),
        "steps": int(words[at.ROWS_TOTAL]),
        "split": int(words[at.SIMT_SPLIT]),
        "sites": {
            site: (it.executions, it.requests, it.sectors, it.wavefronts)
            for site, it in job.tallies.by_site.items()
        },
        "addresses": None if job.counts.dense is None else job.counts.dense.tobytes(),
        "out": job.space.buffers[1].data.tobytes(),
    }


@settings(max_examples=12)
@given(
    items=st.sampled_from([32, 64, 96, 250]),
    reads=st.integers(1, 40),
    apart=st.booleans(),
    barriers=st.integers(0, 2),
    beyond=st.integers(0, 500),
)
def test_figures_do_not_depend_on_how_often_tables_are_emptied(
    items: int, reads: int, apart: bool, barriers: int, beyond: int
):
    text = kernel_text(items, reads, apart, barriers)
    assert figures(text, beyond=beyond) == figures(text)


def test_a_thousand_lanes_that_go_separate_ways_are_counted_in_the_least_room():
    text = kernel_text(1024, 60, True, 0)
    assert figures(text, beyond=0)["steps"] > 0


def test_counts_go_past_32_bits() -> None:
    """Cells of 32 bits and what they leave out are the whole count."""
    counts = AddressCounts({1: 64}, 4, is_dense=True, room=0)
    assert counts.dense is not None
    start = int(counts.starts[1])
    counts.dense[start : start + 4] = (7, 0, (1 << 32) - 1, 5)
    counts.carries[:3] = start + 1, start + 1, start + 3
    counts.n_carries = 3
    found = counts.metrics(AccessCounts(), np.zeros(11), Definition.PAPER)
    times = np.array([7, 2 << 32, (1 << 32) - 1, (1 << 32) + 5], float)
    shares = times / times.sum()
    assert found.gmae == pytest.approx(-(shares * np.log2(shares)).sum(), rel=1e-12)
    assert found.footprint == 4


@pytest.mark.parametrize("read", ["a[(i * 7919) & 1023]", "a[i & 63]", "a[(i * i) & 1023] + a[i & 1023]"])
def test_a_count_that_overflows_its_cell_is_carried(read: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways of counting carry: the cells begin just below the end of 32 bits."""
    text = "__kernel void k(__global int *a, __global int *o) { int i = get_global_id(0);"
    text += f" o[i & 1023] = {read}; }}"
    program = read_program(text, "k.cl")
    arguments = {name: parse_argument("zeros(1024)") for name in "ao"}
    launch = Launch("k", (262144,), (256,), arguments)
    plain = jit.run(program, program.kernels[0], launch, EmulationSettings()).counts
    make = AddressCounts.__init__

    def nearly_full(self: AddressCounts, *given: Any, **named: Any) -> None:
        make(self, *given, **named)
        assert self.dense is not None
        self.dense[:] = 0xFFFFFFFF

    monkeypatch.setattr(AddressCounts, "__init__", nearly_full)
    full = jit.run(program, program.kernels[0], launch, EmulationSettings()).counts
    assert plain.dense is not None
    assert full.dense is not None
    assert full.n_carries == np.count_nonzero(plain.dense)
    carried = full.dense.astype(np.int64)
    np.add.at(carried, full.carries[: full.n_carries], 1 << 32)
    assert np.array_equal(carried - 0xFFFFFFFF, plain.dense)


@pytest.mark.parametrize("pointer", ["a", "((x >> 9) & 1 ? a : b)"], ids=["one buffer", "either of two"])
def test_scattered_addresses_are_counted_one_by_one(pointer: str) -> None:
    """More rows than after which it is clear that theirs do not come again."""
    text = f"""// clmap: global=262144 local=64 a=random(65536) b=random(65536) o=zeros(262144)
__kernel void k(__global uchar *a, __global uchar *b, __global uint *o) {{
  uint x = get_global_id(0) * 2654435761u + 12345u;
  o[get_global_id(0)] = {pointer}[x >> 16];
}}"""
    program = read_program(text, "k.cl")
    kernel = program.kernels[0]
    run = jit.run(
        program, kernel, resolve(program, kernel), EmulationSettings(device=load_model("nvidia-hopper"))
    )
    assert run.counts.dense is not None
    x = np.arange(262_144, dtype=np.uint32) * np.uint32(2654435761) + np.uint32(12345)
    first = np.ones(len(x), bool) if pointer == "a" else (x >> 9 & 1).astype(bool)
    for number, chosen in ((1, first), (2, ~first)):
        start = run.counts.starts[number]
        expected = np.bincount((x >> 16)[chosen], minlength=65536)
        assert np.array_equal(run.counts.dense[start : start + 65536], expected)

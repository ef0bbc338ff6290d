"""`to_global`, `to_local` and `to_private`: null for pointers that lead elsewhere."""

from __future__ import annotations

import numpy as np
import pytest

from clmap_lsp.emulator.result import Engine
from clmap_lsp.emulator.run import emulate
from clmap_lsp.emulator.settings import EmulationSettings
from clmap_lsp.launch.arguments import parse_argument
from clmap_lsp.launch.model import Launch
from clmap_lsp.source.read import read_program

HEAD = """
__global int shared = 3;
int space_of(const void *p) {
  return to_global((void *)p) ? 1 : to_local((void *)p) ? 2 : to_private((void *)p) ? 3 : 0;
}
int *chosen(int *a, int *b, int *c, int n) { return n == 0 ? a : n == 1 ? b : c; }
"""


def found(body: str, count: int, engine: Engine, items: int = 64) -> list[list[int]]:
    source = f"{HEAD}__kernel void k(__global int *o, __global int *p) {{ {body} }}"
    program = read_program(source, "k.cl")
    assert not program.problems
    launch = Launch(
        "k", (items,), (16,), {"o": parse_argument(f"zeros({16 * items})"), "p": parse_argument("iota(64)")}
    )
    result = emulate(program, program.kernels[0], launch, EmulationSettings(engine=engine))
    assert not result.faults
    assert not result.notes
    return result.buffers["o"].data.view(np.int32).reshape(items, 16)[:, :count].tolist()


def test_pointers_that_lead_to_one_buffer() -> None:
    body = """__local int t[16]; int z = 1; int i = get_global_id(0); t[get_local_id(0)] = i;
      o[16 * i] = space_of(o); o[16 * i + 1] = space_of(t + 3); o[16 * i + 2] = space_of(&z);
      o[16 * i + 3] = space_of(&shared); o[16 * i + 4] = space_of(0);
      o[16 * i + 5] = *to_local(&t[get_local_id(0)]); o[16 * i + 6] = to_global(p + 5)[1];
      o[16 * i + 7] = to_local(t) == t; o[16 * i + 8] = to_private(&z) == &z;"""
    expected = [[1, 2, 3, 1, 0, i, 6, 1, 1] for i in range(64)]
    assert found(body, 9, Engine.JIT) == expected


def test_pointers_of_which_the_run_decides() -> None:
    body = """__local int t[16]; int z = 7; int i = get_global_id(0); t[get_local_id(0)] = i;
      int *q = chosen(p + i, t + get_local_id(0), &z, p[i] % 3);
      o[16 * i] = space_of(q); __local int *l = to_local(q); o[16 * i + 1] = l ? *l : -1;
      __global int *g = to_global(q); o[16 * i + 2] = g != 0 ? g[0] : -1; o[16 * i + 3] = *q;"""
    expected = []
    for i in range(64):
        which = i % 3
        expected.append([which + 1, i if which == 1 else -1, i if which == 0 else -1, 7 if which == 2 else i])
    assert found(body, 4, Engine.JIT) == expected


@pytest.mark.parametrize("items", [64, 4096])
def test_figures_without_a_run_are_those_of_one(items: int) -> None:
    """A branch on where a pointer leads is followed."""
    source = f"""{HEAD}
    void put(int *q, int x) {{ __global int *g = to_global(q); if (g) g[0] = x; else *q += x; }}
    __kernel void k(__global int *o) {{
      __local int t[16]; int i = get_global_id(0), l = get_local_id(0);
      t[l] = i; put(t + l, 1); put(o + i, t[l]);
    }}"""
    program = read_program(source, "k.cl")
    launch = Launch("k", (items,), (16,), {"o": parse_argument(f"zeros({items})")})
    runs = [
        emulate(program, program.kernels[0], launch, EmulationSettings(engine=it))
        for it in (Engine.SYMBOLIC, Engine.JIT)
    ]
    assert runs[0].metrics.accesses == runs[1].metrics.accesses == items * 5
    assert runs[0].engine is Engine.SYMBOLIC
    assert runs[1].buffers["o"].data.view(np.int32).tolist() == list(range(1, items + 1))


@pytest.mark.parametrize(
    ("body", "loads", "stores"),
    [
        ("shared += 1; o[i] = 1;", (64, 0), 128),
        ("o[i] = shared + *fixed;", (64, 64), 64),
        ("__global int *q = &shared; o[i] = q[0] + atomic_inc(q);", (128, 0), 128),
    ],
)
def test_variables_of_the_program_are_in_their_own_space(
    body: str, loads: tuple[int, int], stores: int
) -> None:
    """Those in global memory were counted as constants, and their stores nowhere."""
    head = "__global int shared = 3; __constant int fixed[2] = {1, 2};"
    source = f"{head}__kernel void k(__global int *o) {{ int i = get_global_id(0); {body} }}"
    program = read_program(source, "k.cl")
    launch = Launch("k", (64,), (16,), {"o": parse_argument("zeros(64)")})
    for engine in (Engine.SYMBOLIC, Engine.JIT):
        result = emulate(program, program.kernels[0], launch, EmulationSettings(engine=engine))
        assert result.engine is engine
        assert (result.metrics.loads, result.metrics.stores) == (sum(loads), stores)
        spaces = {it.space: it.executions for it in result.sites if it.op == "load"}
        assert spaces.get("constant", 0) == loads[1]

"""Atomics and fences of OpenCL 2.0: what they order is no race, what they do not order is one."""

from __future__ import annotations

import pytest

from clmap_lsp.emulator.result import EmulationResult, Engine, FaultKind
from clmap_lsp.emulator.run import emulate
from clmap_lsp.emulator.settings import EmulationSettings
from clmap_lsp.launch.arguments import parse_argument
from clmap_lsp.launch.model import Launch
from clmap_lsp.source.read import read_program

ARGUMENTS = {"n": "zeros(4)", "old": "zeros(4)", "p": "zeros(64)", "o": "zeros(64)"}
DEVICE, GROUP = "memory_scope_device", "memory_scope_work_group"


def run(body: str) -> EmulationResult:
    text = f"""
    #define FIRST if (l == 0)
    #define LOCAL CLK_LOCAL_MEM_FENCE
    #define GLOBAL CLK_GLOBAL_MEM_FENCE
    __kernel void k(__global atomic_uint *n, __global uint *old, __global uint *p, __global uint *o) {{
      uint i = get_global_id(0), l = get_local_id(0), g = get_group_id(0), groups = get_num_groups(0);
      __local atomic_uint m; __local uint t[16], last;
      FIRST atomic_init(&m, 0u);
      barrier(LOCAL);
      {body}
    }}"""
    program = read_program(text, "k.cl")
    assert not program.problems, program.problems
    arguments = {name: parse_argument(it) for name, it in ARGUMENTS.items()}
    launch = Launch("k", (64,), (16,), arguments)
    return emulate(program, program.kernels[0], launch, EmulationSettings(engine=Engine.JIT))


def add(order: str, scope: str = DEVICE, at: str = "n") -> str:
    return f"atomic_fetch_add_explicit({at}, 1u, memory_order_{order}, {scope})"


def fence(order: str, scope: str = DEVICE) -> str:
    return f"atomic_work_item_fence(GLOBAL | LOCAL, memory_order_{order}, {scope});"


TOTAL = "for (uint k = 0; k < groups; k++) o[0] += p[k];"
"""What the last group makes of the parts that the others left in `p`."""
LOCK = "uint e; do e = 0; while (!atomic_compare_exchange_strong_explicit(n, &e, 1u, {}, {}, {}));"
ACQUIRE, RELAXED = "memory_order_acquire", "memory_order_relaxed"

ORDERED = {
    "a counter of groups": f"FIRST {{ p[g] = i; if ({add('acq_rel')} == groups - 1) {{ {TOTAL} }} }}",
    "the default is the strongest": f"FIRST {{ p[g] = i; if (atomic_fetch_add(n, 1u) == 3) {{ {TOTAL} }} }}",
    "fences around a relaxed counter": (
        f"FIRST {{ p[g] = i; {fence('release')} if ({add('relaxed')} == groups - 1)"
        f" {{ {fence('acquire')} {TOTAL} }} }}"
    ),
    "parts of all work-items, behind a barrier": (
        f"p[i] = i; barrier(GLOBAL); FIRST last = {add('acq_rel')};"
        " barrier(LOCAL | GLOBAL); if (last == 3) o[l] = p[l] + p[l + 16] + p[l + 48];"
    ),
    "a lock": (
        f"FIRST {{ {LOCK.format(ACQUIRE, RELAXED, DEVICE)} o[0] += i;"
        f" atomic_store_explicit(n, 0u, memory_order_release, {DEVICE}); }}"
    ),
    "a lock by flag": (
        "FIRST { while (atomic_flag_test_and_set((volatile __global atomic_flag *)n)); o[0] += i;"
        " atomic_flag_clear((volatile __global atomic_flag *)n); }"
    ),
    "a message within a group": (
        "FIRST { t[3] = 42; atomic_store(&m, 1u); } if (l == 5 && atomic_load(&m)) o[i] = t[3];"
    ),
    "who comes last, within a group": (
        f"t[l] = i; if ({add('acq_rel', GROUP, '&m')} == 15) {{ uint s = 0; for (int k = 0; k < 16; k++)"
        " s += t[k]; o[g] = s; }"
    ),
    "fences of OpenCL 1, within a group": (
        "__local uint c; FIRST c = 0; barrier(LOCAL); t[l] = i; mem_fence(LOCAL);"
        " if (atomic_inc(&c) == 15) { mem_fence(LOCAL); uint s = 0; for (int k = 0; k < 16; k++)"
        " s += t[k]; o[g] = s; }"
    ),
    "what was read is ordered before it is written": (
        f"FIRST {{ uint s = p[0]; if ({add('acq_rel')} == groups - 1) p[0] = s + 1; }}"
    ),
    "from group to group, over the one between": (
        f"if (l == 0 && g == 0) {{ p[5] = 1; {add('release')}; }}"
        f" if (l == 0 && g == 1) {{ {add('acq_rel')}; }}"
        f" if (l == 0 && g == 2) {{ if ({add('acquire')} == 2) o[0] = p[5]; }}"
    ),
}
RACES = {
    "a relaxed counter": (
        f"FIRST {{ p[g] = i; if ({add('relaxed')} == groups - 1) {{ {fence('acquire')} {TOTAL} }} }}"
    ),
    "nobody releases": f"FIRST {{ p[g] = i; if ({add('acquire')} == groups - 1) {{ {TOTAL} }} }}",
    "nobody acquires": f"FIRST {{ p[g] = i; if ({add('release')} == groups - 1) {{ {TOTAL} }} }}",
    "an order within groups only": (
        f"FIRST {{ p[g] = i; if ({add('acq_rel', GROUP)} == groups - 1) {{ {TOTAL} }} }}"
    ),
    "written after the release": (
        f"FIRST {{ uint c = {add('acq_rel')}; p[g] = i; if (c == 3) {{ {TOTAL} }} }}"
    ),
    "read before the acquire": (
        f"FIRST {{ uint s = 0; for (uint k = 0; k < groups; k++) s += p[k]; p[g] = i; {add('acq_rel')};"
        " o[g] = s; }"
    ),
    "written after the fence": (
        f"FIRST {{ {fence('release')} p[g] = i; if ({add('relaxed')} == 3)"
        f" {{ {fence('acquire')} {TOTAL} }} }}"
    ),
    "parts of all work-items, without a barrier": (
        f"p[i] = i; if (l == 0 && {add('acq_rel')} == 3) for (int k = 0; k < 64; k++) o[0] += p[k];"
    ),
    "a barrier that orders local memory alone": (
        f"p[i] = i; barrier(LOCAL); if (l == 0 && {add('acq_rel')} == 3)"
        " for (int k = 0; k < 64; k++) o[0] += p[k];"
    ),
    "others of the group that acquires": (
        f"FIRST {{ p[g] = i; {add('acq_rel')}; }} if (l == 1 && g == 3) {{ {TOTAL} }}"
    ),
    "fences of OpenCL 1 between groups": (
        "FIRST { p[g] = i; mem_fence(GLOBAL); if (atomic_inc(old) == groups - 1)"
        f" {{ mem_fence(GLOBAL); {TOTAL} }} }}"
    ),
    "a fence without an atomic": ("t[l] = i; mem_fence(LOCAL); o[i] = t[l ^ 1]; mem_fence(LOCAL);"),
    "neighbours that fences and a counter do not order": (
        "__local uint c; FIRST c = 0; barrier(LOCAL); t[l] = i; mem_fence(LOCAL);"
        " atomic_inc(&c); mem_fence(LOCAL); o[i] = t[l ^ 1];"
    ),
    "without the lock": (
        f"FIRST {{ {LOCK.format(ACQUIRE, RELAXED, DEVICE)}"
        f" atomic_store_explicit(n, 0u, memory_order_release, {DEVICE}); o[0] += i; }}"
    ),
}


@pytest.mark.parametrize("body", ORDERED.values(), ids=ORDERED)
def test_what_atomics_order_is_no_race(body: str) -> None:
    assert [it.detail for it in run(body).faults] == []


@pytest.mark.parametrize("body", RACES.values(), ids=RACES)
def test_what_atomics_do_not_order_is_a_race(body: str) -> None:
    kinds = {it.kind for it in run(body).faults} - {FaultKind.UNINITIALISED_READ}
    assert kinds == {FaultKind.DATA_RACE}

"""Kernels with a fault and kernels that look as if they had one; what each is was written down before it ran.

Each is run small, where everything is executed and traced, and large, where the symbolic engine counts what
it can follow and the run takes its word for what nobody can race for.
"""

from __future__ import annotations

import pytest

from clmap_lsp.emulator.result import FaultKind as F
from clmap_lsp.emulator.run import emulate
from clmap_lsp.emulator.settings import EmulationSettings
from clmap_lsp.launch.arguments import parse_argument
from clmap_lsp.launch.model import Launch
from clmap_lsp.source.read import read_program

RACE, DIVERGES, UNSET = F.DATA_RACE, F.BARRIER_DIVERGENCE, F.UNINITIALISED_READ
READ, WRITE, MISALIGNED = F.OUT_OF_BOUNDS_READ, F.OUT_OF_BOUNDS_WRITE, F.MISALIGNED_ACCESS
READS = {READ, UNSET}
"""A read that is out of bounds, and the use of what it gave."""
_L, _G = "barrier(CLK_LOCAL_MEM_FENCE);", "barrier(CLK_GLOBAL_MEM_FENCE);"

FAULTY = {
    "no barrier at all": ("t[l] = a[i]; o[i] = t[(l + 1) % 32];", {RACE, UNSET}),
    "the wrong fence": (f"t[l] = a[i]; {_G} o[i] = t[31 - l];", {RACE}),
    "a fence in place of a barrier": (
        "t[l] = i; mem_fence(CLK_LOCAL_MEM_FENCE); o[i] = t[31 - l];",
        {RACE, UNSET},
    ),
    "half of the group at a barrier": (f"t[l] = i; if (l < 16) {{ {_L} }} o[i] = t[l];", {DIVERGES}),
    "turns of a barrier differ": (f"for (int k = 0; k < l; k++) {{ {_L} }} o[i] = l;", {DIVERGES}),
    "one leaves before": (f"if (l == 0) return; {_L} o[i] = l;", {DIVERGES}),
    "two barriers on two ways": (f"if (l < 16) {{ {_L} o[i] = 1; }} else {{ {_L} o[i] = 2; }}", {DIVERGES}),
    "a barrier within the reduction's condition": (
        f"t[l] = i; {_L} for (int s = 16; s; s >>= 1) if (l < s) {{ t[l] += t[l + s]; {_L} }} o[i] = 0;",
        {DIVERGES},
    ),
    "all write one": ("o[0] = i;", {RACE}),
    "one for each group": ("o[g] = l;", {RACE}),
    "every group the same": ("o[l] = i;", {RACE}),
    "another group's after a barrier": (f"o[i] = 1; {_G} p[i] = o[(i + 32) % n];", {RACE}),
    "atomic and plain read": ("atomic_add(&o[0], 1); p[i] = o[0];", {RACE}),
    "atomic and plain write": ("atomic_add(&o[i & 7], 1); o[i & 7] = 0;", {RACE}),
    "same value, but read": ("o[0] = 1; p[i] = o[0];", {RACE}),
    "chosen where it is not set": ("int x; if (l > 5) x = l; o[i] = l > 4 ? x : 0;", {UNSET}),
    "asked where it is not set": ("int x; if (l > 5) x = l; if (l > 4 && x < 20) o[i] = 1;", {UNSET}),
    "a pointer chosen where it is not set": (
        "__global int *q; if (l > 1) q = a; __global int *r = l ? q : p; o[i] = r == a;",
        {UNSET},
    ),
    "bits into words": ("o[i >> 5] |= 1 << l;", {RACE}),
    "the neighbour before": ("if (i > 0) o[i] = o[i - 1] + 1;", {RACE}),
    "swapped twice": ("int x = o[i], y = o[n - 1 - i]; o[i] = y + i; o[n - 1 - i] = x + i;", {RACE}),
    "half an index": ("o[a[i] / 2] = i;", {RACE}),
    "an index in floats": ("o[(int)(i * 0.5f)] = i;", {RACE}),
    "slices that overlap": ("for (int k = 0; k < 4; k++) o[(i * 4 + k) % n] = i;", {RACE}),
    "one pointer or another": ("__global int *q = (l & 1) ? a : o; q[0] = i;", {RACE}),
    "a reduction without barriers": (
        f"t[l] = i; {_L} for (int s = 16; s; s >>= 1) if (l < s) t[l] += t[l + s]; o[i] = 0;",
        {RACE},
    ),
    "a scan with one barrier a step": (
        f"t[l] = i; {_L} for (int d = 1; d < 32; d *= 2) {{ if (l >= d) t[l] += t[l - d]; {_L} }}"
        " o[i] = t[l];",
        {RACE},
    ),
    "a tile that is filled again too early": (
        f"int s = 0; for (int k = 0; k < 4; k++) {{ t[l] = a[i] + k; {_L} s += t[31 - l]; }} o[i] = s;",
        {RACE},
    ),
    "rows of a triangle": ("for (int k = 0; k <= l; k++) t[k] = l; o[i] = 0;", {RACE}),
    "bins that are read while they are counted": (
        f"t[l] = 0; {_L} atomic_inc(&t[a[i] & 7]); atomic_add(&o[l], t[l]);",
        {RACE},
    ),
    "bins that were never cleared": ("atomic_inc(&t[a[i] & 31]);", {UNSET}),
    "local memory that nobody wrote": ("o[i] = t[l];", {UNSET}),
    "set on one way only": ("int x; if (i > 5) x = 1; o[i] = x;", {UNSET}),
    "jumped over": ("int x; if (l) goto end; x = 1; end: o[i] = x;", {UNSET}),
    "two of four cases": (
        "int x; switch (l & 3) { case 0: x = 1; break; case 1: x = 2; break; } o[i] = x;",
        {UNSET},
    ),
    "a lane": ("int4 v; v.xy = (int2)(1, l); o[i] = v.z;", {UNSET}),
    "an element": ("int v[4]; v[0] = 1; o[i] = v[l & 3];", {UNSET}),
    "a member": ("struct { char c; int x; } s; s.c = 1; o[i] = s.x;", {UNSET}),
    "a byte of a union": ("union { int x; char c[4]; } u; u.c[0] = 1; o[i] = u.x;", {UNSET}),
    "one too far, written": ("o[i + 1] = a[i];", {WRITE}),
    "one too far, read": ("o[i] = a[i + 1];", READS),
    "one too early": ("o[i] = a[i - 1];", READS),
    "one turn too many": ("int s = 0; for (int k = 0; k <= n; k++) s += a[k]; o[i] = s;", READS),
    "an index that overflows": ("int j = i * 134217728; o[i] = a[j];", READS),
    "an index that wraps below": ("uint j = (uint)l - 1u; o[i] = a[j];", READS),
    "the largest size": ("o[(size_t)i - 1] = 1;", {WRITE}),
    "checked after it is read": ("if (a[i + 1] >= 0 && i < n - 1) o[i] = 1;", READS),
    "three at a time": ("int3 v = vload3(i, a); o[i] = v.x + v.y + v.z;", READS),
    "a constant array": ("o[i] = three[l & 3];", READS),
    "by a helper": ("put(o + i, n);", {WRITE}),
    "past a private array": ("int v[4] = {0}; v[l] = 1; o[i] = v[0];", {WRITE}),
    "past a row": ("__local int q[4][8]; if (l < 4) q[l][8] = 1; o[i] = 0;", {F.INDEX_PAST_ARRAY, WRITE}),
    "a vector between vectors": ("if (i < 8) *(__global int4 *)(o + 1 + 4 * i) = (int4)(i);", {MISALIGNED}),
    "a word between words": (
        "if (i < n - 1) *(__global float *)((__global char *)o + 4 * i + 2) = i;",
        {MISALIGNED},
    ),
    "divided by what gets 0": ("o[i] = n / (l - 3);", {F.DIVISION_BY_ZERO}),
    "the rest of 0": ("o[i] = i % (a[i] & 3);", {F.DIVISION_BY_ZERO}),
    "the least by -1": ("o[i] = (-2147483647 - 1) / (0 * n - 1);", {F.INTEGER_OVERFLOW}),
    "a copy that is used too early": (
        "event_t e = async_work_group_copy(t, a + g * 32, 32, 0); o[i] = t[l]; wait_group_events(1, &e);",
        {RACE},
    ),
    "a copy that nobody waits for": (
        "async_work_group_copy(t, a + g * 32, 32, 0); o[i] = 0;",
        {F.COPY_NOT_WAITED_FOR},
    ),
    "a copy out, and a write": (
        f"t[l] = i; {_L} event_t e = async_work_group_copy(o + g * 32, t, 32, 0); t[l] = 0;"
        " wait_group_events(1, &e);",
        {RACE},
    ),
}

CLEAN = {
    "a partner in the group": f"o[i] = 1; {_G} p[i] = o[i ^ 1];",
    "slots that are handed out": "int s = atomic_inc(&o[0]); p[s] = i;",
    "the first takes it": "if (atomic_cmpxchg(&o[0], 0, 1) == 0) p[0] = i;",
    "bytes side by side": "((__global char *)o)[i] = l;",
    "bits by atomics": "atomic_or(&o[i >> 5], 1 << l);",
    "the same value": "o[0] = 1;",
    "swapped once": "if (i < n / 2) { int x = o[i]; o[i] = o[n - 1 - i]; o[n - 1 - i] = x; }",
    "a permutation": "o[a[n - 1 - i]] = i;",
    "odd and even": "if (i & 1) o[i] = o[i - 1 + 1]; else o[i] = 2;",
    "one pointer or another": "__global int *q = (l & 1) ? p : o; q[i] = 1;",
    "slices": "if (i < n / 4) for (int k = 0; k < 4; k++) o[i * 4 + k] = k;",
    "a tile that is filled again in time": (
        f"int s = 0; for (int k = 0; k < 4; k++) {{ t[l] = a[i] + k; {_L} s += t[31 - l]; {_L} }} o[i] = s;"
    ),
    "two tiles by turns": (
        f"__local int d[2][32]; d[0][l] = l; {_L} for (int k = 0; k < 6; k++)"
        f" {{ d[(k + 1) & 1][l] = d[k & 1][31 - l]; {_L} }} o[i] = d[0][l];"
    ),
    "a barrier that all or none reach": f"if (g & 1) {{ t[l] = i; {_L} o[i] = t[31 - l]; }}",
    "a barrier in a loop of the group's length": f"for (int k = 0; k < g % 5; k++) {{ {_L} }} o[i] = g;",
    "lockstep not needed": (
        f"t[l] = i; {_L} for (int s = 16; s; s >>= 1) {{ if (l < s) t[l] += t[l + s]; {_L} }}"
        " if (!l) o[g] = t[0];"
    ),
    "set on both ways": "int x; if (i > 5) x = 1; else x = 2; o[i] = x;",
    "set in the first turn": "int x; for (int k = 0; k < 3; k++) { if (!k) x = 5; o[i] += x; }",
    "checked before it is read": "if (i < n - 1 && a[i + 1] >= 0) o[i] = 1;",
    "one past, taken but not read": "__global int *e = a + n; o[i] = (int)(e - (a + i));",
    "not aligned, but vload": "if (i < n - 4) { int4 v = vload4(0, a + i); o[i] = v.x + v.w; }",
    "wide shifts": "o[i] = 1 << (l + 40);",
    "an index that wraps back": "o[(uint)i + 4294967295u + 1u] = 1;",
    "chosen only where it is set": "int x; if (l > 5) x = l; o[i] = l > 5 ? x : 0;",
    "asked only where it is set": "int x; if (l > 5) x = l; if (l > 5 && x < 20) o[i] = 1;",
    "asked unless it is not set": "int x; if (l > 5) x = l; o[i] = l <= 5 || x == 9;",
    "a pointer chosen only where it is set": "__global int *q; if (l & 1) q = a;"
    " __global int *r = l & 1 ? q : p; o[i] = *r;",
    "set in the first turn of a loop that asks": "int x; bool first = true; while (first || x > 0) {"
    " if (first) x = l; first = false; x -= 3; } o[i] = x;",
    "not a number": "o[i] = (int)(0.0f / (i - i)) * 0;",
    "nothing divided by nothing": "o[i] = l ? n / l : 0;",
    "waited for": (
        "event_t e = async_work_group_copy(t, a + g * 32, 32, 0); wait_group_events(1, &e); o[i] = t[31 - l];"
    ),
    "lanes that were set": "int4 v; v.xyz = (int3)(1, 2, l); o[i] = v.z;",
    "a member after all": "struct { char c; int x; } s; s.x = l; o[i] = s.x;",
    "nobody reads what is out of bounds": "if (0) o[i + 100000] = 1; o[i] = 1;",
}
_HEAD = """
__constant int three[3] = {1, 2, 3};
void put(__global int *q, int k) { q[k] = 1; }
__kernel void k(__global int *a, __global int *o, __global int *p, __local int *t, int n) {
  int i = get_global_id(0), l = get_local_id(0), g = get_group_id(0);
"""


def _found(body: str, n: int) -> set[F]:
    program = read_program(f"{_HEAD}{body}\n}}\n", "k.cl")
    texts = {"a": f"iota({n})", "o": f"zeros({n})", "p": f"zeros({n})", "t": "local(32)", "n": str(n)}
    launch = Launch("k", (n,), (32,), {name: parse_argument(it) for name, it in texts.items()})
    result = emulate(program, program.kernels[0], launch, EmulationSettings())
    assert result.stopped is None
    return {it.kind for it in result.faults}


@pytest.mark.parametrize("n", [64, 2048])
@pytest.mark.parametrize("name", FAULTY)
def test_faults_are_told(name: str, n: int) -> None:
    body, kinds = FAULTY[name]
    assert _found(body, n) == kinds


@pytest.mark.parametrize("n", [64, 2048])
@pytest.mark.parametrize("name", CLEAN)
def test_what_only_looks_like_one_is_not(name: str, n: int) -> None:
    assert _found(CLEAN[name], n) == set()

"""Untraced runs keep at a barrier only what is read behind it, and look at each work-item once in a pass.

Traced runs keep everything: both have to say the same, wherever a run is interrupted.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from clmap_lsp.emulator import jit
from clmap_lsp.emulator.liveness import live_after_waits, steady_variables
from clmap_lsp.emulator.result import EmulationResult, Engine
from clmap_lsp.emulator.run import emulate
from clmap_lsp.emulator.settings import EmulationSettings
from clmap_lsp.launch.arguments import parse_argument
from clmap_lsp.launch.model import Launch
from clmap_lsp.source.ir import Barrier, walk
from clmap_lsp.source.read import read_program

_B = "barrier(CLK_LOCAL_MEM_FENCE);"
_HELPER = """
int pick(__local int *t, int l, int n) {
  if (n > 2) { barrier(CLK_LOCAL_MEM_FENCE); return t[l] + n; }
  int kept = t[l ^ 1];
  barrier(CLK_LOCAL_MEM_FENCE);
  return kept - n;
}
"""
BODIES = {
    "straight": f"int x = a[i], y = x * 3; {_B} o[i] = x; {_B} o[i] += y;",
    "overwritten behind": f"int x = a[i]; {_B} x = l; {_B} o[i] = x;",
    "overwritten in a branch": f"int x = a[i]; {_B} if (l & 1) x = 7; {_B} o[i] = x;",
    "carried by a loop": f"int s = 0, p = 1; for (int k = 0; k < 5; k++) {{ s += p; {_B} p = s + k; }}"
    " o[i] = s + p;",
    "break": f"int s = 1; for (int k = 0; k < 9; k++) {{ {_B} s += k; if (k == 3) break; s *= 2; }}"
    " o[i] = s;",
    "continue": f"int s = 1, q = 0; for (int k = 0; k < 6; k++) {{ {_B} if (k & 1) {{ q += s; continue; }}"
    " s += k; } o[i] = s + q;",
    "do": f"int s = 1, k = 0; do {{ s += a[i]; {_B} k++; }} while (k < s % 3); o[i] = s;",
    "nested": f"int s = 0; for (int j = 0; j < 3; j++) {{ int q = j; for (int k = 0; k < 2; k++) {{ {_B}"
    " s += q + k; } s ^= q; } o[i] = s;",
    "switch": f"int s = a[0], r = l; switch (n & 3) {{ case 0: s++; case 1: {_B} s += r; break;"
    f" default: {_B} s -= r; }} o[i] = s;",
    "helpers": f"t[l] = a[i]; {_B} int x = pick(t, l, n), y = pick(t, l, n + 2); o[i] = x * 100 + y;",
    "vectors": f"int4 v = (int4)(l, 1, 2, 3); {_B} v.y = a[i]; {_B} o[i] = v.x + v.y * 2 + v.w;",
    "pointers": f"__local int *p = (n & 1) ? t : u; t[l] = l; u[l] = -l; {_B} __global int *q = o + i; {_B}"
    " *q = p[l ^ 1];",
    "argument": f"n += l; {_B} n *= 2; {_B} o[i] = n;",
    "private array": f"int w[3]; w[l % 3] = l; {_B} w[(l + 1) % 3] = 5; {_B}"
    " o[i] = w[l % 3] + w[(l + 1) % 3];",
    "some leave first": "if (l >= 16) return; int x = l; o[i] = x;",
    "reduction": f"t[l] = a[i]; {_B} for (int s = 16; s > 0; s >>= 1) {{ if (l < s) t[l] += t[l + s]; {_B} }}"
    " o[i] = t[0];",
    "ternary": f"int x = l > 3 ? a[i] : 2; bool b = x > 1; {_B} o[i] = b ? x : -x;",
    "wide": f"long x = (long)a[i] << 33; char c = (char)l; {_B} o[i] = (int)(x >> 32) + c;",
    "divergent": f"int x = a[i]; if (l < 8) {{ {_B} x++; }} o[i] = x;",
    "two barriers": f"int x = a[i]; if (l < 8) {{ {_B} x++; }} else {{ {_B} x--; }} o[i] = x;",
    "unset": f"int x; if (l > 3) x = 2; {_B} o[i] = x;",
    "race": f"t[l] = l; if (n) o[i] = t[l ^ 1]; {_B} o[i] += t[l];",
    "sub-groups": f"int x = a[i]; int m = sub_group_reduce_add(x); {_B} o[i] = m + x;",
    "group votes": f"int x = a[i]; int m = work_group_any(x > 5); {_B} o[i] = m + x;",
    "branches one after the other": f"int s = 0; if (a[i] > 4) s++; {_B} for (int k = 0; k < 4; k++) {{"
    f" if (a[i] > k) s++; {_B} if (s & 1) s += k; {_B} }} if (s > 3) s++; {_B} if (s > 4) s++; o[i] = s;",
    "the first wait is in a branch": f"int x = a[i], y = x; if (n) {{ {_B} y++; }} {_B} {_B} o[i] = x + y;",
    "declared again": f"for (int k = 0; k < 3; k++) {{ int x; if (k) x = l; {_B} if (k) o[i] = x; }}",
    "copies": "event_t e = async_work_group_copy(t, a, 32, 0); int x = l; wait_group_events(1, &e);"
    " o[i] = t[l] + x;",
}
_DIVERGENT = ("do", "divergent", "two barriers")


def _program(body: str):  # type: ignore[no-untyped-def]
    head = "__kernel void k(__global const int *a, __global int *o, int n) { __local int t[32], u[32];"
    return read_program(f"{_HELPER}{head} int i = get_global_id(0), l = get_local_id(0); {body} }}", "k.cl")


def _run(body: str, **changes: object) -> EmulationResult:
    arguments = {"a": "formula(96,(i*7)%11)", "o": "zeros(96)", "n": "1"}
    launch = Launch("k", (96,), (32,), {name: parse_argument(it) for name, it in arguments.items()})
    program = _program(body)
    settings = replace(EmulationSettings(engine=Engine.JIT), **changes)  # type: ignore[arg-type]
    return emulate(program, program.kernels[0], launch, settings)


def _said(result: EmulationResult) -> tuple[object, ...]:
    parallelism = result.parallelism
    return (
        {name: it.sha256 for name, it in result.buffers.items()},
        [(it.kind, it.span, it.other_span, it.work_item, it.occurrences) for it in result.faults],
        (parallelism.barriers_hit, result.control, result.operations),
        replace(parallelism, timesteps=None),
    )


@pytest.mark.parametrize("name", BODIES)
def test_untraced_runs_say_the_same(name: str) -> None:
    untraced, traced = _said(_run(BODIES[name], trace=False)), _said(_run(BODIES[name]))
    if name in _DIVERGENT:  # Traced, stretches go on behind a barrier to which not all work-items come.
        untraced, traced = untraced[:3], traced[:3]
    assert untraced == traced


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("steps", [3, 50])
def test_they_do_wherever_they_are_interrupted(
    name: str, steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = _said(_run(BODIES[name], trace=False))
    monkeypatch.setattr(jit, "slice_steps", lambda _: steps)
    assert _said(_run(BODIES[name], trace=False)) == whole


def _kept(body: str) -> list[set[str]]:
    kernel = _program(body).kernels[0]
    live = live_after_waits(kernel)
    return [
        {it.name for it in live[id(wait)]} - {"a", "i", "l", "o"}
        for wait in walk(kernel.body)
        if isinstance(wait, Barrier)
    ]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("straight", [{"x", "y"}, {"y"}]),
        ("overwritten behind", [set(), {"x"}]),
        ("overwritten in a branch", [{"x"}, {"x"}]),
        ("carried by a loop", [{"s", "k"}]),
        ("break", [{"s", "k"}]),
        ("vectors", [{"v"}, {"v"}]),
        ("argument", [{"n"}, {"n"}]),
    ],
)
def test_what_is_kept(name: str, expected: list[set[str]]) -> None:
    assert _kept(BODIES[name]) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("straight", {"x", "y"}),
        ("overwritten behind", set()),
        ("overwritten in a branch", set()),
        ("carried by a loop", None),
        ("the first wait is in a branch", None),
        ("reduction", set()),
        ("argument", set()),
    ],
)
def test_what_is_not_kept_again(name: str, expected: set[str] | None) -> None:
    kernel = _program(BODIES[name]).kernels[0]
    steady = steady_variables(kernel)
    assert {it.name for it in steady.variables if it.name in "xyps"} == (expected or set())
    assert (steady.wait is None) == (expected is None)


@pytest.mark.parametrize(
    ("body", "steps"),
    [
        ("{ s += a[i]; }", 5),
        ("{ if (a[i] > k) continue; s += a[i]; }", 5),
        ("{ if (l & 1) { continue; } else { s++; } }", 5),
        ("{ s += a[i]; break; }", 0),
        ("{ s += a[i]; if (s > 0) break; else break; }", 0),
        ("{ if (s > 9) break; s += a[i]; }", 5),
        ("{ switch (l & 1) { case 0: continue; default: s++; } }", 5),
        (f"{{ s += a[i]; {_B} }}", 5),
    ],
)
@pytest.mark.parametrize("trace", [True, False])
def test_a_loops_steps_are_counted_once_each(body: str, steps: int, trace: bool) -> None:
    loop = f"int s = -900; for (int k = 0; k < 5; k = k - 3 + 4) {body} o[i] = s;"
    assert _run(loop, trace=trace).operations.get("- int", 0) == 96 * steps


def test_loops_in_loops_in_loops_keep_all() -> None:
    opened = "".join(f"for (int k{n} = 0; k{n} < 2; k{n}++) {{" for n in range(7))
    kernel = _program(f"{opened} {_B} {'}' * 7} o[i] = 1;").kernels[0]
    assert not live_after_waits(kernel)


def test_jumps_keep_all() -> None:
    kernel = _program(
        f"int x = 1; if (n > 5) {{ again: x++; }} {_B} if (x < 4) goto again; o[i] = x;"
    ).kernels[0]
    assert not live_after_waits(kernel)

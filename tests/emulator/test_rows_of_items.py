"""Rows of work-items that are run at once say the same as work-items that are run one after the other."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest

from clmap_lsp.emulator import jit
from clmap_lsp.emulator.report_jit import result_of
from clmap_lsp.emulator.settings import EmulationSettings
from clmap_lsp.launch.arguments import parse_argument
from clmap_lsp.launch.model import Launch
from clmap_lsp.source.read import read_program

SETTINGS = EmulationSettings(trace=False, exclusive=frozenset({"o", "p"}), memory_limit_mib=4096)
_X = "int x = get_global_id(0), y = get_global_id(1); size_t w = get_global_size(0), i = y * w + x;"
CASES = {
    # name: (body, whether rows are run)
    "stencil": ("if (x > 0 && x < w - 1) o[i] = a[i - 1] + a[i] * 2 + a[i + 1];", True),
    "nested": ("if (x > 3) { if (y > 1) o[i] = a[i]; else { o[i] = 7; p[i] = a[i]; } } else p[i] = 3;", True),
    "return": ("if (x == 5) return; o[i] = a[i]; if (y == 1) return; p[i] = a[i];", True),
    "in place": ("o[i] = o[i] * 3 + x;", True),
    "reads past the end": ("o[i] = a[i + 5];", True),
    "reads before the start": ("o[i] = a[i - 1];", True),
    "writes past the end": ("o[i + 900] = a[i]; p[i] = a[i];", True),
    "far away": ("o[i] = a[x == 40 ? 1 << 28 : x];", True),
    "by a wrapped index": ("o[i] = a[(uint)x - 41u];", True),
    "within a condition": ("if (x > 40) o[i] = a[i * 4]; else o[i] = 1;", True),
    "divides": ("o[i] = x / (x - 7) + x % (y - 1); p[i] = a[i];", True),
    "divides under a condition": ("o[i] = x != 7 ? 100 / (x - 7) : 0;", True),
    "least by -1": ("o[i] = (x - 2147483647 - 1) / (y - 1);", True),
    "never set": ("int t; if (x > 4) t = 3; o[i] = t;", True),
    "misaligned": ("*(__global int *)((__global char *)o + 4 * i + (x == 3)) = x;", True),
    "vectors": (
        "float4 f = vload4(i & 15, (__global float *)a); vstore4(f * 2, i, (__global float *)p);",
        True,
    ),
    "wide": ("((__global int4 *)p)[i] = ((__global int4 *)a)[i >> 2] + 1;", True),
    "bytes": ("((__global uchar *)o)[i] = ((__global uchar *)a)[i * 3 + 1];", True),
    "longs": ("((__global long *)p)[i] = (long)a[i] * a[i] << 9;", True),
    "select": ("o[i] = select(a[i], x, a[i] > 3);", True),
    "floats": ("((__global float *)o)[i] = sqrt((float)a[i]) * 3.7f + sin((float)x) / (a[i] + 1.0f);", True),
    "doubles": ("((__global double *)p)[i] = (double)a[i] / 3 + 1e-3 * x;", True),
    "sizes": (
        "o[i] = get_global_size(0) * 1000 + get_num_groups(0) + get_global_offset(0) + get_work_dim();",
        True,
    ),
    "second dimension": ("o[i] = get_local_id(1) + 10 * get_group_id(1) + 100 * get_local_size(1);", True),
    "a variable condition": ("int t = x * 3; if (t % 5 == 2) t += y; o[i] = t + a[i];", True),
    "loads decide": ("if (a[i] > 3) o[i] = 1;", False),
    "loads are addresses": ("o[i] = a[a[i] & 63];", False),
    "divides by loads": ("o[i] = x / a[i];", False),
    "divides where loads say": ("o[i] = a[i] ? x / (y - 1) : 0;", False),
    "a loop": ("for (int k = 0; k < 3; k++) o[i] += a[i];", False),
    "local ids": ("o[i] = get_local_id(0);", False),
    "groups": ("o[i] = get_group_id(0);", False),
    "linear ids": ("o[i] = get_global_linear_id();", False),
    "atomics": ("atomic_inc(&o[i]);", False),
    "private arrays": ("int t[4]; t[x & 3] = x; o[i] = t[x & 3];", False),
    "barriers": ("o[i] = 1; barrier(CLK_LOCAL_MEM_FENCE); p[i] = 2;", False),
}
LAUNCHES = (((64, 8), (16, 4), ()), ((96, 6), (32, 2), (5, 2)), ((40, 3), (40, 1), ()))


def _program(body: str) -> Any:
    return read_program(
        f"__kernel void k(__global int *a, __global int *o, __global int *p, int n) {{ {_X} {body} }}", "k.cl"
    )


def _outcome(job: jit.JitRun) -> tuple[object, ...]:
    result = result_of(job, "")
    return (
        {name: it.sha256 for name, it in result.buffers.items()},
        sorted((it.kind.value, it.span.start, it.occurrences, it.buffer or "") for it in result.faults),
        result.operations,
        result.control,
        result.parallelism,
        result.groups_run,
    )


def _both(
    program: Any, launch: Launch, settings: EmulationSettings, monkeypatch: pytest.MonkeyPatch
) -> tuple[tuple[object, ...], tuple[object, ...], bool]:
    kernel = program.kernels[0]
    monkeypatch.setattr(jit, "_ROWS_FROM", 1 << 60)
    plain = jit.run(program, kernel, launch, settings)
    monkeypatch.setattr(jit, "_ROWS_FROM", 1)
    monkeypatch.setattr(jit, "_LEAST_ROW", 1)
    rows = jit.run(program, kernel, launch, settings)
    from clmap_lsp.emulator import layout as at

    return _outcome(plain), _outcome(rows), bool(rows.state.words[at.ROW_GROUPS])


def _launch(global_size: tuple[int, ...], local_size: tuple[int, ...], offset: tuple[int, ...]) -> Launch:
    n = (global_size[0] + 8) * (global_size[1] + 4)
    arguments = {"a": f"random({n})", "o": f"iota({n})", "p": f"zeros({4 * n})", "n": "3"}
    made = Launch("k", global_size, local_size, {key: parse_argument(it) for key, it in arguments.items()})
    return replace(made, global_offset=offset) if offset else made


@pytest.mark.parametrize("name", CASES)
def test_rows_and_work_items_agree(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    body, expected = CASES[name]
    program = _program(body)
    for sizes in LAUNCHES:
        for settings in (SETTINGS, replace(SETTINGS, control=False, races=False, uninitialised=False)):
            plain, rows, is_row = _both(program, _launch(*sizes), settings, monkeypatch)
            assert plain == rows
            assert is_row == expected


def test_a_watched_buffer_keeps_its_shadow(monkeypatch: pytest.MonkeyPatch) -> None:
    program = _program("o[i] = o[i + 1];")
    settings = replace(SETTINGS, exclusive=frozenset())
    plain, rows, is_row = _both(program, _launch(*LAUNCHES[0]), settings, monkeypatch)
    assert plain == rows
    assert not is_row
    assert plain[1], "the race is told"


def test_where_a_run_stops_does_not_depend_on_the_rows_it_has_done(monkeypatch: pytest.MonkeyPatch) -> None:
    """The budget is looked at after whole lines of groups, which are the same each time."""
    program = _program("o[i & 1023] = a[i & 63];")
    monkeypatch.setattr(jit, "_ROWS_FROM", 1)
    small = {name: parse_argument("zeros(1024)") for name in "aop"}
    launch = Launch("k", (4096, 2048), (16, 16), {**small, "n": parse_argument("3")})
    short = replace(SETTINGS, time_limit_s=0.1)
    first, again = (jit.run(program, program.kernels[0], launch, short) for _ in range(2))
    assert first.stopped is not None
    assert first.work == again.work
    assert first.state.words[21] == again.state.words[21]


class _Writer:
    """Random kernels without loops."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.own = self.rng.choice(["i", "i + 3", "(int)i - 2", "i * 2", "(i ^ 1)"])
        """Where this work-item and no other writes."""

    def index(self) -> str:
        rng = self.rng
        return rng.choice(
            [
                "i",
                f"i + {rng.randint(-2, 3)}",
                f"(i * {rng.randint(1, 5)}) % {rng.randint(50, 700)}",
                f"(x ^ {rng.randint(0, 9)}) + y * w",
                f"x * {rng.randint(1, 3)} + y",
                f"(x > {rng.randint(0, 40)} ? i : {rng.randint(0, 900)})",
                f"min((int)i, {rng.randint(10, 600)})",
            ]
        )

    def value(self, depth: int = 2) -> str:
        rng = self.rng
        if depth == 0:
            return rng.choice(["x", "y", "n", "t", "u", str(rng.randint(-9, 99))])
        left, right = self.value(depth - 1), self.value(depth - 1)
        return rng.choice(
            [
                f"({left} {rng.choice('+-*&|^')} {right})",
                f"({left} << (({right}) & 7))",
                f"(({left}) > ({right}) ? {left} : {right})",
                f"max({left}, {right})",
            ]
        )

    def condition(self) -> str:
        rng = self.rng
        return rng.choice(
            [
                f"x {rng.choice('<>')} {rng.randint(0, 60)}",
                f"(i & {rng.randint(1, 7)}) == 1",
                f"y * 3 > x % {rng.randint(2, 9)}",
            ]
        )

    def statement(self, depth: int) -> str:
        rng = self.rng
        kind = rng.randrange(6)
        if kind == 0 and depth:
            inner = " ".join(self.statement(depth - 1) for _ in range(rng.randint(1, 2)))
            other = f" else {{ {self.statement(depth - 1)} }}" if rng.random() < 0.5 else ""
            return f"if ({self.condition()}) {{ {inner} }}{other}"
        if kind == 1:
            return f"t = a[{self.index()}];" if rng.random() < 0.6 else f"t = o[{self.own}];"
        if kind == 2:
            return f"u = {self.value()};"
        if kind == 3 and rng.random() < 0.2:
            return f"u = x / (y - {rng.randint(0, 4)});"
        return f"{rng.choice('op')}[{self.own}] = {self.value()};"

    def body(self) -> str:
        return "int t = 1, u = 2; " + " ".join(self.statement(2) for _ in range(self.rng.randint(2, 6)))


@pytest.mark.parametrize("seed", range(40))
def test_random_kernels_agree(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    program = _program(_Writer(seed).body())
    plain, rows, _ = _both(program, _launch(*LAUNCHES[seed % 3]), SETTINGS, monkeypatch)
    assert plain == rows


def test_rows_with_faults_are_weighed_in_full(monkeypatch: pytest.MonkeyPatch) -> None:
    """What runs by rows takes a tenth of the budget; what has to be run by work-items takes all of it."""
    monkeypatch.setattr(jit, "_ROWS_FROM", 1)
    launch = _launch((256, 8), (16, 4), ())
    work = []
    for body in ("o[i] = a[i & 63];", "o[i] = a[(i & 63) - 1];"):
        program = _program(body)
        rows = jit.run(program, program.kernels[0], launch, SETTINGS)
        work.append(rows.work)
    assert 8 < work[1] / work[0] < 12

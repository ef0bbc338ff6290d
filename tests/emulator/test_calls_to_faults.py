"""A fault in a function of the program says which calls lead to it: the function's own line is half of it."""

from __future__ import annotations

from pathlib import Path

from clmap_lsp.config import Settings
from clmap_lsp.emulator.result import EmulationResult, Engine, FaultKind
from clmap_lsp.emulator.run import emulate
from clmap_lsp.emulator.settings import EmulationSettings
from clmap_lsp.launch.arguments import parse_argument
from clmap_lsp.launch.model import Launch
from clmap_lsp.rules import Selection
from clmap_lsp.source.program import Program
from clmap_lsp.source.read import read_program
from clmap_lsp.workbench import Workbench
from tests.processes import warm

TEXT = """\
// clmap: global=64 local=32 a=iota(64) o=zeros(64)
int pick(__global const int *p, int i)
{
    return p[i];
}
int either(__global const int *p, int i)
{
    return i < 63 ? p[i] : pick(p, i + 1);
}
void put(__local int *t, int at, int v) { t[at] = v; }
__kernel void k(__global const int *a, __global int *o)
{
    __local int t[32];
    int i = get_global_id(0), l = get_local_id(0);
    int left = pick(a, i - 1);
    int right = either(a, i);
    put(t, l, left + right);
    o[i] = t[31 - l];
    if (l > 3)
        put(t, 40, 1 / (l - 9));
}
"""


def _run() -> tuple[Program, EmulationResult]:
    program = read_program(TEXT, "k.cl")
    texts = {"a": "iota(64)", "o": "zeros(64)"}
    launch = Launch("k", (64,), (32,), {name: parse_argument(it) for name, it in texts.items()})
    return program, emulate(program, program.kernels[0], launch, EmulationSettings(engine=Engine.JIT))


def test_each_call_is_named_from_the_kernel_inwards() -> None:
    program, result = _run()
    reads = [it for it in result.faults if it.kind is FaultKind.OUT_OF_BOUNDS_READ]
    assert len({it.span for it in reads}) == 1
    named = [[(at.function, program.position(at.span).row) for at in it.calls] for it in reads]
    assert named == [[("pick", 15)], [("either", 16), ("pick", 8)]]


def test_either_side_of_a_race_is_named() -> None:
    program, result = _run()
    (race,) = [it for it in result.faults if it.kind is FaultKind.DATA_RACE]
    sides = {program.position(it.span).row for it in (*race.calls, *race.other_calls)}
    assert sides == {17}


def test_what_stands_in_the_kernel_has_no_calls() -> None:
    program, result = _run()
    (divided,) = [it for it in result.faults if it.kind is FaultKind.DIVISION_BY_ZERO]
    assert program.position(divided.span).row == 20
    assert divided.calls == ()


def test_a_finding_names_the_calls_of_all_that_are_one_with_it() -> None:
    file = Workbench().open_text("k.cl", TEXT, Settings(), looks_beside=False, reads_hosts=False)
    found = file.findings(Selection(frozenset({"CM301"})), file.run_all())
    (finding,) = [it for it in found if it.code == "CM301" and "`a[" in it.message]
    calls = [
        (it.message, file.program.position(it.span).row) for it in finding.related if "called" in it.message
    ]
    assert calls == [
        ("`pick` is called here", 15),
        ("`either` is called here", 16),
        ("`pick` is called here", 8),
    ]


def test_the_text_names_them(tmp_path: Path) -> None:
    path = tmp_path / "k.cl"
    path.write_text(TEXT)
    done = warm.clmap("emulate", str(path))
    assert "; `either` is called in line 16, `pick` is called in line 8" in done.stdout
    assert "; `pick` is called in line 15" in done.stdout

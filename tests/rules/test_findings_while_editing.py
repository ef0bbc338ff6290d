"""Findings of an edited text are those of a fresh analysis, however much was kept from before."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from itertools import count

import pytest

from clmap_lsp.analysis.session import AnalysisSession
from clmap_lsp.devices import load_model
from clmap_lsp.findings import Finding, Severity
from clmap_lsp.interruption import interruptible
from clmap_lsp.rules.context import RuleContext
from clmap_lsp.rules.memory import KernelFindings
from clmap_lsp.rules.meta import Rule, RuleDocs, RuleMeta, Scope
from clmap_lsp.rules.runner import run
from clmap_lsp.rules.selection import Selection
from clmap_lsp.source.read import read_program
from clmap_lsp.source.reuse import ProgramCache

FILE = """\
#define TILE 16
#define AT(array, row, column) array[(row) * width + (column)]
__constant int steps[4] = {1, 2, 4, 8};

float scaled(__global const float *values, int at) { return values[at * TILE] * 2.0f; }

// clmap: global=256 local=64
__kernel void strided(__global const float *in, __global float *out)
{
    const int i = get_global_id(0);
    out[i] = scaled(in, i);  // clmap: ignore[CM502] read as it comes
}

// clmap: global=64,64 local=16,16 width=64
__kernel void transposed(__global const float *in, __global float *out, const int width)
{
    __local float tile[TILE][TILE];
    const int x = get_local_id(0), y = get_local_id(1);
    tile[y][x] = AT(in, get_global_id(1), get_global_id(0));
    barrier(CLK_LOCAL_MEM_FENCE);
    AT(out, get_global_id(0), get_global_id(1)) = tile[x][y];
}

// clmap: global=64 local=32 width=64
__kernel void rows(__global const float *in, __global float *out, const int width)
{
    float sum = 0.0f;
    for (int k = 0; k < width; k++)
        sum += AT(in, get_global_id(0), k) * steps[k % 4];
    out[get_global_id(0)] = sum;
}
"""
DEVICE = load_model("generic-gpu")
SELECTION = Selection.of()
KEYS = "axk019 +*-/()[]{};,.<=\"'#\n"


class Editor:
    """Analyses one version of a text after the other, and keeps what an editor's server keeps."""

    def __init__(self) -> None:
        self.session = AnalysisSession()
        self.memory = KernelFindings()
        self.cache: ProgramCache | None = None

    def findings(self, text: str) -> list[Finding]:
        program = read_program(text, "a.cl", previous=self.cache)
        self.cache = program.cache
        analysis = self.session.analyse(program, DEVICE)
        return ordered(run(RuleContext(program, analysis), SELECTION, self.memory))


def fresh(text: str) -> list[Finding]:
    program = read_program(text, "a.cl")
    return ordered(run(RuleContext(program, AnalysisSession().analyse(program, DEVICE)), SELECTION))


def ordered(findings: tuple[Finding, ...]) -> list[Finding]:
    return sorted(findings, key=lambda it: (it.span.start, it.code, it.message, it.span.end))


def edited(text: str, dice: random.Random) -> str:
    at = dice.randrange(len(text))
    kind = dice.choice(("insert", "replace", "delete", "line"))
    key = {"delete": "", "line": "// a line of its own\n"}.get(kind, dice.choice(KEYS))
    return text[:at] + key + text[at + (kind in ("replace", "delete")) :]


@pytest.mark.parametrize("seed", range(4))
def test_findings_are_those_of_a_fresh_analysis(seed: int) -> None:
    dice = random.Random(seed)
    editor = Editor()
    assert editor.findings(FILE) == fresh(FILE)
    text = FILE
    for step in range(12):
        text = edited(FILE if step % 4 == 0 else text, dice)
        assert editor.findings(text) == fresh(text), text


def test_an_edit_above_only_moves_findings() -> None:
    editor = Editor()
    before = editor.findings(FILE)
    assert {"CM101", "CM102", "CM201"} <= {it.code for it in before}
    n_checked = editor.memory.n_checked
    for text in (f"// A line more.\n{FILE}", FILE.replace("    tile[y]", "    /* in */\n    tile[y]")):
        found = editor.findings(text)
        assert found == fresh(text)
        assert [it.message for it in found] == [it.message for it in before]
    assert editor.memory.n_checked == n_checked


def test_an_edit_in_one_kernel_checks_no_other() -> None:
    editor = Editor()
    editor.findings(FILE)
    n_rules = editor.memory.n_checked // 3
    editor.findings(FILE.replace("sum = 0.0f", "sum = 1.0f"))
    assert editor.memory.n_checked == 4 * n_rules


PAUSING = FILE[: FILE.index("// clmap: global=64,64")].replace("* 2.0f", "* 3.0f")
"""A text whose kernel is new to an editor that has read `FILE`."""


def test_reading_that_pauses_for_another_text_keeps_its_own_places() -> None:
    """What was found meanwhile, of the same kernel a line further down, was taken for its own."""
    below = f"// A line more.\n{PAUSING}"
    expected = [fresh(PAUSING), fresh(below)]
    assert "CM101" in {it.code for it in expected[0]}
    paused_at = 0
    has_paused = True
    while has_paused:
        paused_at += 1
        editor = Editor()
        editor.findings(FILE)
        steps = count(1)
        between: list[list[Finding]] = []

        def pause(editor: Editor = editor, steps: Iterator[int] = steps, at: int = paused_at) -> None:
            if next(steps) == at:
                between.append(editor.findings(below))  # noqa: B023 - called before the next turn

        with interruptible(pause):
            found = editor.findings(PAUSING)
        assert found == expected[0], paused_at
        assert [*between, editor.findings(below)] == [expected[1]] * (len(between) + 1), paused_at
        has_paused = bool(between)
    assert paused_at > 40, "there is a checkpoint at least before every rule"


def test_findings_of_kernels_that_are_gone_are_forgotten() -> None:
    editor = Editor()
    editor.memory = KernelFindings(limit=4)
    for step in range(8):
        editor.findings(FILE.replace("TILE 16", f"TILE {8 + step}"))
    n_checked = editor.memory.n_checked
    editor.findings(FILE.replace("TILE 16", "TILE 8"))
    assert editor.memory.n_checked > n_checked


def about_all_kernels(context: RuleContext) -> Iterator[Finding]:
    """Say of each kernel how many there are."""
    for kernel in context.kernels():
        message = f"{len(context.program.kernels)} kernels"
        yield COUNTING.finding(kernel.kernel.name_span, message, kernel=kernel.name)


COUNTING = RuleMeta("CM199", "kernel-count", Severity.HINT, scope=Scope.FILE)


def test_what_a_rule_sees_is_declared_and_does_not_hang_on_its_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rule about the whole file was kept kernel by kernel, because its code begins with CM1."""
    rule = Rule(COUNTING, RuleDocs("Kernels.", {}), about_all_kernels)
    monkeypatch.setattr("clmap_lsp.rules.selection.all_rules", lambda: (rule,))
    monkeypatch.setattr(sys.modules[__name__], "SELECTION", Selection.of(("CM199",)))
    editor = Editor()
    one = FILE[: FILE.index("// clmap: global=64,64")]
    for text, n_kernels in ((one, 1), (FILE, 3)):
        found = editor.findings(text)
        assert found == fresh(text)
        assert [it.message for it in found] == [f"{n_kernels} kernels"] * n_kernels

"""Findings of kernels whose launch is shared out among branches by numbers that nobody gave."""

from __future__ import annotations

from clmap_lsp.config import Settings
from clmap_lsp.findings import Finding, Severity
from clmap_lsp.workbench import Workbench
from clmap_lsp.workbench.workbench import selection_of

SIDES = """\
__kernel void sides(int top, int left, int n, __global const float *plane, __global float *seen)
{
    const int i = get_global_id(0);
    if (i >= n)
        return;
    int row, column;
    if (i < top) { row = 0; column = i; }
    else if (i < left) { row = 512 - 1; column = i - top; }
    else { row = i - left; column = 0; }
    seen[i] = plane[row * 512 + column];
}
"""
PART = """\
__kernel void part(int first, int last, __global const float *plane, __global float *seen)
{
    const int i = get_global_id(0), width = last - first + 1;
    seen[i] = plane[(i / width) * 512 + first + i % width];
}
"""


def loads(text: str) -> Finding:
    opened = Workbench().open_text("", text, Settings(), looks_beside=False)
    (found,) = [it for it in opened.findings(selection_of(Settings())) if it.code == "CM101"]
    return found


def test_what_only_the_last_branch_does_hangs_on_where_the_others_end():
    found = loads(SIDES)
    assert (found.severity, found.holds) == (Severity.HINT, "if")
    assert found.message.startswith("if top is 1, left is 1 (guessed): ")


def test_what_all_branches_do_does_not():
    found = loads(SIDES.replace("row = 0; column = i;", "row = i; column = 0;"))
    assert "top is 1" not in found.message
    assert found.severity is Severity.WARNING


def test_a_range_whose_ends_nobody_gave_may_be_long():
    found = loads(PART)
    assert (found.severity, found.holds) == (Severity.HINT, "if")
    assert "last is 1" in found.condition

"""Fixes where a bracket is missing or too many: what they leave has no error."""

from __future__ import annotations

import pytest
from index_reading import index_of

from clmap_lsp.index.index import Index
from clmap_lsp.source.ir import Severity

HEAD = """\
float helper(float a, int b) { return a * b; }
__kernel void k(__global float *out, int n) {
int i = get_global_id(0);
"""


def first(index: Index):
    return next((it for it in index.issues if it.issue.severity is Severity.ERROR), None)


def fixed(text: str) -> str:
    """Return a text with the fix for its first error made, white space aside."""
    index = index_of(text)
    found = first(index)
    assert found is not None and found.issue.fix is not None
    texts = list(index.texts)
    for edit in sorted(found.issue.fix.edits, key=lambda it: -it.start):
        texts[found.unit.start + edit.start : found.unit.start + edit.end] = [edit.text] if edit.text else []
    return " ".join(texts)


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("if i > 3) i = 1;", "if (i > 3) i = 1;"),
        ("while i < helper(1, 2)) i++;", "while (i < helper(1, 2)) i++;"),
        ("do i++; while i < 3);", "do i++; while (i < 3);"),
        ("switch i) { default: ; }", "switch (i) { default: ; }"),
        ("for int q = 0; q < n; q++) out[q] = 1;", "for (int q = 0; q < n; q++) out[q] = 1;"),
        ("out[i] = helper 1.0f, 2);", "out[i] = helper (1.0f, 2);"),
        ("i = get_global_id 0);", "i = get_global_id (0);"),
        ("out i] = 1;", "out [i] = 1;"),
        ("out[i = 1;", "out[i] = 1;"),
        ("out[i = helper(1.0f, 2);", "out[i] = helper(1.0f, 2);"),
        ("out[i += out[n];", "out[i] += out[n];"),
        ("out[i]] = 1;", "out[i] = 1;"),
        ("i = (n + 1;", "i = (n + 1);"),
        ("i = out[n + 1;", "i = out[n + 1];"),
    ],
)
def test_a_fix_opens_closes_or_removes_the_bracket(wrong: str, right: str) -> None:
    text = f"{HEAD}{wrong}\nout[0] = 1;\n}}\n"
    mended = fixed(text)
    assert mended == " ".join(index_of(f"{HEAD}{right}\nout[0] = 1;\n}}\n").texts)
    assert first(index_of(mended)) is None


@pytest.mark.parametrize(
    "wrong", ["if i > 3 i = 1;", "i = n * i + 1) * 2;", "if i > 3 { i = 1; }", "i = helper;"]
)
def test_where_it_belongs_is_not_guessed(wrong: str) -> None:
    found = first(index_of(f"{HEAD}{wrong}\nout[0] = 1;\n}}\n"))
    assert found is not None and found.issue.fix is None

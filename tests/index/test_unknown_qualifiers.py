"""Words that nothing defines before other such words: a macro for a qualifier, then a type."""

from __future__ import annotations

import pytest

from clmap_lsp.commands.checking import CheckJob, check_file
from clmap_lsp.config import Settings
from clmap_lsp.rules import Selection

KERNEL = "__kernel void k(const __global real *restrict a, __global real *b)\n{\n    b[0] = %s;\n}\n"


@pytest.mark.parametrize(
    ("before", "value"),
    [
        ("INLINE_FUNC real f(const __global real *restrict a) { return a[0]; }\n", "f(a)"),
        ("INLINE real *f(real *a) { return a; }\n", "a[0]"),
        ("DEVICE real f(real a);\n", "f(a[0])"),
        ("CONSTANT real table[2] = {0, 1};\n", "table[1] + a[0]"),
    ],
)
def test_a_word_before_an_unknown_type_is_a_qualifier(before: str, value: str):
    report = check_file(CheckJob("k.cl", Settings(), Selection.of(), text=before + KERNEL % value))
    assert [it.message for it in report.findings if it.code == "CM001"] == []

"""What is folded, and what selecting more and more goes through."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from index_reading import index_of

from clmap_lsp.index.ranges import folds, selections

AROUND = "void f(__global int *o, int n)\n{\n    @\n}\n"


def selected(statement: str) -> list[str]:
    """Return the selections around `|` in a statement, as far as they are in its line."""
    text = AROUND.replace("@", statement)
    offset = text.index("|")
    text = text.replace("|", "")
    found = [text[start:end] for start, end in selections(index_of(text), offset)]
    return [it for it in found if "\n" not in it]


@pytest.mark.parametrize(
    ("statement", "parts"),
    [
        ("o[0] = a|cc[1][n];", ["acc", "acc[1]", "acc[1][n]", "o[0] = acc[1][n]", "o[0] = acc[1][n];"]),
        ("p->q.r|s[2] = 1;", ["rs", "q.rs", "p->q.rs", "p->q.rs[2]", "p->q.rs[2] = 1", "p->q.rs[2] = 1;"]),
        (
            "n = max(a| + 1, min(n, 2)) * 3;",
            [
                *("a", "a + 1", "a + 1, min(n, 2)", "(a + 1, min(n, 2))"),
                *(
                    "max(a + 1, min(n, 2)) * 3",
                    "n = max(a + 1, min(n, 2)) * 3",
                    "n = max(a + 1, min(n, 2)) * 3;",
                ),
            ],
        ),
        ("n = |max(1, 2);", ["max", "max(1, 2)", "n = max(1, 2)", "n = max(1, 2);"]),
    ],
)
def test_parts_of_expressions_are_selected_one_in_the_other(statement, parts):
    assert selected(statement) == parts


@given(st.text(alphabet="ab01[](){}.,;=+- \n>", max_size=60), st.integers(0, 60))
def test_each_selection_holds_the_one_before(body, at):
    text = f"void f(int n) {{ {body}\n}}\n"
    offset = min(at, len(text))
    found = selections(index_of(text), offset)
    assert all(start <= offset <= end for start, end in found)
    assert all(b[0] <= a[0] and a[1] <= b[1] for a, b in pairwise(found))


def test_regions_and_macros_of_several_lines_are_folded():
    text = "#pragma region one\n#define A(x) \\\n    x\n#define B 1\n# pragma endregion\n#pragma endregion\n"
    lines = [
        (text.count("\n", 0, it.start), text.count("\n", 0, it.end), it.kind) for it in folds(index_of(text))
    ]
    assert sorted(lines) == [(0, 4, "region"), (1, 2, None)]

"""Functions that end in a loop which nothing leaves need no `return` behind it."""

from __future__ import annotations

import pytest

from clmap_lsp.index.reading import read_index

HEAD = "int f(__global int *a, int c) { "
ENDLESS = [
    "while (1) { if (a[c]) return c; while (a[c]) { if (c++ > 3) break; } } }",
    "for (;;) { switch (a[c]) { case 1: return 2; default: break; } c++; } }",
    "do { if (c) return 1; for (; c;) for (; a[c];) { c--; break; } } while (1); }",
    "while (1) { do { if (c) break; } while (c); if (a[c++]) return c; } }",
]
LEFT = [
    "while (1) { if (a[c]) break; while (a[c]) { c++; } } }",
    "for (;;) { switch (a[c]) { case 1: return 2; } if (c) { break; } } }",
    "while (1) { while (a[c]) { goto out; } } out: ; }",
    "while (1) { while (c) { c--; } break; } }",
]


def _said(text: str) -> list[str]:
    return [
        it.issue.code for it in read_index(HEAD + text, "f.cl").issues if it.issue.code == "missing-return"
    ]


@pytest.mark.parametrize("text", ENDLESS)
def test_a_break_of_an_inner_loop_leaves_that_one(text: str) -> None:
    assert _said(text) == []


@pytest.mark.parametrize("text", LEFT)
def test_what_leaves_the_loop_comes_to_the_end(text: str) -> None:
    assert _said(text) == ["missing-return"]

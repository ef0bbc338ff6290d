"""No statement of the source is absent from the IR unless a problem at its place says so."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.lost import lost_statements
from clmap_lsp.source.lowering import STATEMENTS
from clmap_lsp.source.options import BuildOptions

FIXTURES = sorted((Path(__file__).parents[2] / "fixtures").rglob("*.cl"))
PLAIN = BuildOptions()

SNIPPETS = [
    "switch (x) { case 0: { x = 1; case 1: x += 2; } }",
    "switch (x) { case 0: do { p[0] = 1; case 3: p[1] = 2; } while (--x > 0); }",
    "switch (x) { p[0] = 1; case 2 ... 4: p[1] = 1; break; default: p[2] = 3; }",
    "x = ({ int t = p[0]; t + 1; });",
    "if (x) if (p[0]) p[1] = 2; else p[2] = 3;",
    "for (;;) { if (x++ > 3) break; else continue; }",
    "while (x--) ; again: if (x < 2) goto again;",
    "p[x] = (p[0]) - x; p[1] = (x * (x * x)) - p[2];",
    "do x++; while (x < 3);",
    'asm volatile("nop" ::: "memory");',
    "a: b: p[1] = 2;",
    "int y = x, *q = &y; *q = 4;",
    "{ { ; } p[3] = 1; }",
    "f(p); (void)f(p);",
    "x ? f(p) : f(p + 1);",
    "x && f(p);",
    "UNKNOWN(p, x) p[4] = 1;",
    "case 3: p[2] = 1;",
    "break; p[1] = 2;",
]


@pytest.mark.parametrize("path", FIXTURES, ids=lambda it: it.name)
def test_nothing_of_our_own_kernels(path: Path) -> None:
    assert lost_statements(path.read_text(encoding="utf-8"), path.name, PLAIN) == []


@settings(max_examples=80)
@given(st.lists(st.sampled_from(SNIPPETS), min_size=1, max_size=5), st.booleans())
def test_nothing_of_what_is_easily_lost(snippets: list[str], is_nested: bool) -> None:
    body = "\n".join(snippets)
    body = f"if (x > 2) {{ {body} }} else {{ p[9] = 1; }}" if is_nested else body
    head = "int f(__global int *a) { a[0] = 1; return 2; }\n"
    last = "__kernel void z(__global int *p) { p[0] = 1; }"
    text = f"{head}__kernel void k(__global int *p, int x) {{\n{body}\n}}\n{last}"
    assert lost_statements(text, "k.cl", PLAIN) == []


@settings(max_examples=60)
@given(st.sampled_from(FIXTURES), st.integers(0, 1 << 30))
def test_nothing_of_damaged_kernels(path: Path, seed: int) -> None:
    """Words go, come twice or are swapped: what then cannot be read is named, and the rest is there."""
    rng = random.Random(seed)
    words = path.read_text(encoding="utf-8").split(" ")
    for _ in range(rng.randrange(1, 4)):
        at = rng.randrange(len(words))
        match rng.randrange(3):
            case 0:
                words[at : at + 1] = []
            case 1:
                words[at:at] = [words[at]]
            case _:
                other = rng.randrange(len(words))
                words[at], words[other] = words[other], words[at]
    assert lost_statements(" ".join(words), "k.cl", PLAIN) == []


@pytest.mark.parametrize("kind", ["break_statement", "if_statement", "declaration", "return_statement"])
def test_a_reader_that_drops_statements_is_found_out(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(STATEMENTS, kind)
    text = "__kernel void k(__global int *p) { int x = 1; if (p[0]) return; while (1) { p[1] = x; break; } }"
    assert lost_statements(text, "k.cl", PLAIN) != []

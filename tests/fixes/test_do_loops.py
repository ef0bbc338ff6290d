"""`do` loops that would test true at first get what other loops get; what is not known of them is assumed."""

from __future__ import annotations

import pytest
from elsewhere import ran, same
from fixing import subject_of

from clmap_lsp.fixes.assumptions import Case
from clmap_lsp.fixes.do_loops import while_loops
from clmap_lsp.fixes.edits import apply
from clmap_lsp.fixes.model import Proposal
from clmap_lsp.fixes.offer import proposals
from clmap_lsp.fixes.scope import Scope
from clmap_lsp.fixes.spelt_out import spelt_out

LAUNCH = "// clmap: global=64 local=32 n=24 m=24 a=random(64*64) y=zeros(64)"
KERNEL = f"""\
{LAUNCH}
__kernel void rows(__global const float *a, __global float *y, const int n, const int m)
{{
    const int i = get_global_id(0);
    float s = 0.0f;
    FIRST
    LOOP
    y[i] = s;
}}
"""
TURNED = {
    "stepped in the body": ("int k = 0;", "do { s += a[i * n + k]; k++; } while (k < n);", "n > 0"),
    "stepped in the test": ("int k = 0;", "do { s += a[i * n + k]; } while (++k < n);", "n > 0"),
    "the bound first": ("int k = 0;", "do { s += a[i * n + k]; k += 1; } while (n > k);", "n > 0"),
    "from another number on": (
        "int k = 2;",
        "do { s += a[i * n + k]; ++k; } while (k < m - 1);",
        "m - 3 > 0",
    ),
    "at most": ("int k = 1;", "do { s += a[i * n + k]; k++; } while (k <= n - 1);", "n - 1 > 0"),
    "a number of times": ("int k = 0;", "do { s += a[i * n + k]; k++; } while (k < 24);", ""),
}
LEFT = {
    "compared before it is stepped": ("int k = 0;", "do { s += a[i * n + k]; } while (k++ < n - 1);"),
    "from each one's own": ("int k = i;", "do { s += a[k]; k++; } while (k < n);"),
    "left out": ("int k = 0;", "do { if (k == 3) continue; s += a[i * n + k]; } while (++k < n);"),
    "left early": ("int k = 0;", "do { if (k == m) break; s += a[i * n + k]; k++; } while (k < n);"),
    "a bound that it changes": (
        "int k = 0, e = n;",
        "do { s += a[i * n + k]; k++; if (k > 9) e = 9; } while (k < e);",
    ),
    "a test of data": ("int k = 0;", "do { s += a[i * n + k]; k++; } while (k < n && a[k] > 0);"),
    "stepped twice": ("int k = 0;", "do { s += a[i * n + k]; if (k & 1) k++; k++; } while (k < n);"),
    "down": ("int k = n;", "do { s += a[i * n + k - 1]; k--; } while (k > 0);"),
}


def text_of(first: str, loop: str) -> str:
    return KERNEL.replace("FIRST", first).replace("LOOP", loop)


@pytest.mark.parametrize("form", TURNED)
def test_a_do_loop_becomes_a_while_that_does_the_same(form: str) -> None:
    first, loop, assumed = TURNED[form]
    text = text_of(first, loop)
    subject = subject_of(text)
    (found,) = while_loops(Scope.of(subject))
    assert [it.text for it in found.assumptions] == ([assumed] if assumed else [])
    made = spelt_out(subject).subject.text
    assert "while (" in made and "do {" not in made
    for n, m in ((24, 24), (1, 5), (64, 64), (3, 4), (2, 2), (0, 3)):
        comment = LAUNCH.replace("n=24", f"n={n}").replace("m=24", f"m={m}")
        if all(it.holds(_case(text, comment)) for it in found.assumptions):
            assert same(ran(text, comment), ran(made, comment)), comment


@pytest.mark.parametrize("form", LEFT)
def test_other_do_loops_stay(form: str) -> None:
    assert not list(while_loops(Scope.of(subject_of(text_of(*LEFT[form])))))


def test_rewrites_of_it_say_what_they_assume() -> None:
    text = text_of(*TURNED["stepped in the test"][:2])
    subject = subject_of(text)
    found = {it.kind: it for it in proposals(subject)}
    vectors: Proposal = found["vectorise"]
    assert "n > 0" in {it.text for it in vectors.assumptions}
    made = apply(text, vectors.edits, "k.cl")
    assert "% 4 == 0 &&" in made and "do {" not in made
    case = _case(text, LAUNCH.replace("n=24", "n=0"))
    assert not all(it.holds(case) for it in vectors.assumptions)


def _case(text: str, comment: str) -> Case:
    subject = subject_of(text.replace(LAUNCH, comment))
    return Case(subject.launch, subject.options)

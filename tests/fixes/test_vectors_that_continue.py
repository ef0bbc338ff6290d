"""Loops that `continue` load vectors: what leaves an iteration leaves one of the four."""

from __future__ import annotations

import pytest
from fixing import SETTINGS
from natively import all_of, natively_the_same

from clmap_lsp.fixes.edits import apply
from clmap_lsp.fixes.trials import Trials

HEAD = """\
// clmap: global=64 local=16 n=64 a=random(4160) o=zeros(64)
#define SKIP(c) if (c) continue
__kernel void kept(__global const float *restrict a, __global float *restrict o, const int n)
{
    const int i = get_global_id(0);
    float s = 0;
    int c = 0;
"""
TAIL = """
    o[i] = s / (c + 1);
}
"""
LOOP = """\
    for (int k = 0; k < n; k++) {
        const float v = a[i * n + k];
        if (v < 0.5f)
            continue;
        s += v;
        c++;
    }"""


def _after(loop: str) -> list[str]:
    subject, found = all_of(HEAD + loop + TAIL, "vectorise")
    trials = Trials(subject, SETTINGS)
    for it in found:
        natively_the_same(subject, it, trials)
    return [apply(subject.text, it.edits, subject.path) for it in found]


def test_each_of_the_four_iterations_is_left_alone():
    (text,) = _after(LOOP)
    assert text.count("} while (0);") == 4
    assert text.count("continue;") == 5  # And once in the loop that takes what is left.
    assert "// A `continue` leaves one of these 4 iterations." in text


@pytest.mark.parametrize(
    "loop",
    [
        LOOP.replace("if (v < 0.5f)\n            continue", "SKIP(v < 0.5f)"),
        LOOP.replace(
            "if (v < 0.5f)\n            continue;", "if (v < 0.5f) { if (c < 9) continue; s -= k; }"
        ),
        "    for (int k = 0; k < n; k++) if (a[i * n + k] < 0.5f) continue; else s = 2 * s + a[i * n + k];",
    ],
    ids=["macro", "nested", "one line"],
)
def test_other_ways_to_leave_an_iteration(loop: str):
    (text,) = _after(loop)
    assert text.count("} while (0);") == 4


@pytest.mark.parametrize(
    "loop",
    [
        LOOP.replace("const float v = a[i * n + k];", "const float v = k * 0.1f;").replace(
            "+= v", "+= a[i * n + k]"
        ),
        LOOP.replace("continue;", "break;"),
        "    int k = 0;\n"
        "    while (k < n) { if (a[i * n + k] > s) { k++; continue; } s += a[i * n + k]; k++; }",
    ],
    ids=["loaded behind it", "break", "while"],
)
def test_what_stays(loop: str):
    assert _after(loop) == []

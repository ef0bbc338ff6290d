"""Counts of a kernel are kept by what the engine sees of it: edits of data cost no count."""

from __future__ import annotations

import pytest

from clmap_lsp.analysis import counting
from clmap_lsp.analysis.session import AnalysisSession
from clmap_lsp.caches import drop_all
from clmap_lsp.devices import load_model
from clmap_lsp.emulator.symbolic.needs import needs_of
from clmap_lsp.emulator.symbolic.seen import seen_of
from clmap_lsp.source.ir import Kernel
from clmap_lsp.source.read import read_program

TEXT = """\
// clmap: global=256 local=64 n=5
__kernel void k(__global float *a, __global float4 *v, __global int *order, int n)
{
    float kept[4];
    int at[2];
    int i = get_global_id(0);
    at[0] = i + n;
    float sum = 1.0f;
    for (int j = 0; j < n; j++) {
        float4 one = v[i + j];
        sum += one.x * 2.0f;
    }
    kept[0] = sum;
    if (i > 3)
        a[at[0]] = sum;
    a[i * 2] = kept[0];
}
"""


def seen(text: str) -> int:
    (kernel,) = read_program(text, "k.cl").kernels
    return seen_of(kernel)


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("float sum = 1.0f;", "float sum = 1.5f; int other = i * 3; float more = sum + other;"),
        ("sum += one.x * 2.0f;", "sum = fmin(sum, one.x) - 2.0f;"),
        ("kept[0] = sum;", "kept[0] = sum + i;"),
        ("float sum = 1.0f;", "// nothing\n\n    float sum = 1.0f;"),
        ("a[at[0]] = sum;", "a[at[0]] = i;"),
        ("sum", "total"),
    ],
)
def test_data_is_not_seen(before: str, now: str) -> None:
    assert before in TEXT
    assert seen(TEXT.replace(before, now)) == seen(TEXT)


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("a[i * 2]", "a[i * 3]"),
        ("at[0] = i + n;", "at[0] = i;"),
        ("one.x * 2.0f", "one.x * one.y"),
        ("if (i > 3)", "if (i > 4)"),
        ("j < n", "j <= n"),
        ("kept[0] = sum;", "kept[0] = a[i];"),
        ("a[at[0]] = sum;", "order[at[0]] = i;"),
        ("__global float *a", "__global double *a"),
        ("int i = get_global_id(0);", "int i = get_local_id(0);"),
        ("a[i * 2] = kept[0];", "barrier(CLK_LOCAL_MEM_FENCE); a[i * 2] = kept[0];"),
    ],
)
def test_addresses_branches_and_what_is_moved_are_seen(before: str, now: str) -> None:
    assert before in TEXT
    assert seen(TEXT.replace(before, now)) != seen(TEXT)


def test_an_edit_of_data_counts_nothing_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    really = counting._counted

    def counted(kernel, *others):  # type: ignore[no-untyped-def]
        made.append(kernel.name)
        return really(kernel, *others)

    monkeypatch.setattr(counting, "_counted", counted)
    drop_all()
    device = load_model("nvidia-hopper")
    first = AnalysisSession().analyse(read_program(TEXT, "k.cl"), device).kernels[0]
    assert made
    made.clear()
    text = TEXT.replace("float sum = 1.0f;", "float sum = 2.0f; int other = i * 3;")
    second = AnalysisSession().analyse(read_program(text, "k.cl"), device).kernels[0]
    assert made == []
    assert second.totals == first.totals
    assert second.accesses[-1].access.span.start > first.accesses[-1].access.span.start


def test_data_that_reads_a_counter_behind_its_loop_hands_nothing_on() -> None:
    (kernel,) = read_program(
        "__kernel void k(__global int *a) { int i = 0; for (; i < 9; i++) a[i] = 1; int z = i; a[0] = i; }",
        "k.cl",
    ).kernels
    plain = read_program(
        "__kernel void k(__global int *a) { int i = 0; for (; i < 9; i++) a[i] = 1; a[0] = 3; }", "k.cl"
    ).kernels[0]
    found, expected = (list(needs_of(it).handed_on.values()) for it in (kernel, plain))
    assert [{it.name for it in one} for one in found] == [{it.name for it in one} for one in expected]
    assert seen_of(kernel) == seen_of(plain)


def test_of_a_kernel_that_is_analysed_once_nobody_asks_what_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def seen_by(kernel: Kernel) -> int:
        asked.append(kernel.name)
        return seen_of(kernel)

    monkeypatch.setattr(counting, "seen_of", seen_by)
    drop_all()
    session, device = AnalysisSession(), load_model("nvidia-hopper")
    before = read_program(TEXT, "k.cl")
    session.analyse(before, device)
    session.analyse(read_program(TEXT.replace("k(", "other(").replace("a[i * 2]", "v[i]"), "o.cl"), device)
    assert asked == []
    session.analyse(read_program(TEXT.replace("1.0f", "1.5f"), "k.cl"), device)
    assert "k" in asked

"""Suppression comments: where they hold, and what they are not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clmap_lsp.analysis.session import AnalysisSession
from clmap_lsp.devices import load_model
from clmap_lsp.emulator.run import emulate
from clmap_lsp.emulator.settings import EmulationSettings
from clmap_lsp.rules.context import RuleContext
from clmap_lsp.rules.runner import run
from clmap_lsp.rules.selection import Selection
from clmap_lsp.rules.suppress import suppressions
from clmap_lsp.source.read import read_program
from clmap_lsp.source.span import SourceFile


def read(text: str) -> list[tuple[int | None, list[str]]]:
    return [(it.row, [code.word for code in it.codes]) for it in suppressions(SourceFile.of("a.cl", text))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x; // clmap: ignore[CM101] because", [(1, ["CM101"])]),
        ("// clmap: ignore[CM101, bank-conflict]\nx;", [(2, ["CM101", "bank-conflict"])]),
        ("  // clmap:ignore [CM101]\n\n// more\n/* and\nmore */ x;", [(5, ["CM101"])]),
        ("/* clmap: ignore[CM101] */ x;", [(1, ["CM101"])]),
        ("x;\n/* clmap: ignore[CM101] */\ny;", [(3, ["CM101"])]),
        ("// clmap: ignore-file[CM103] generated\nx;", [(None, ["CM103"])]),
        ("x; // clmap: ignore", [(1, [])]),
        ('char *s = "// clmap: ignore[CM101]";', []),
        ("// see clmap: ignore[CM101]", []),
        ("// clmap: global=256 local=16", []),
        ("x; // clmap: ignore[]", [(1, [])]),
        ("x; /* clmap: ignore[CM101]", [(1, ["CM101"])]),
        ("// clmap: ignore[CM101]\r\nx;\r\n", [(2, ["CM101"])]),
        ("// clmap: ignore[CM101]", [(1, ["CM101"])]),
    ],
)
def test_where_a_comment_holds(text: str, expected: list[tuple[int | None, list[str]]]) -> None:
    assert read(text) == expected


def test_a_comment_ends_before_the_line_end_whatever_it_is() -> None:
    for end in ("\n", "\r\n", "\r"):
        text = f"x; // clmap: ignore[CM101] why{end}y;"
        (comment,) = suppressions(SourceFile.of("a.cl", text))
        assert text[comment.span.start : comment.span.end] == "// clmap: ignore[CM101] why"


def test_two_comments_above_one_line_both_hold() -> None:
    text = "// clmap: ignore[CM101]\n// clmap: ignore[CM102]\nx;"
    assert read(text) == [(3, ["CM101"]), (3, ["CM102"])]


def test_places_of_codes_are_those_typed() -> None:
    text = "é; // clmap: ignore[CM101, CM2]"
    (comment,) = suppressions(SourceFile.of("a.cl", text))
    assert [text[it.span.start : it.span.end] for it in comment.codes] == ["CM101", "CM2"]
    assert text[comment.span.start : comment.span.end].startswith("// clmap")


@given(st.text(alphabet="/*\"'\\\n clmap:ignore[CM101]x", max_size=60))
def test_any_text_is_read_without_error(text: str) -> None:
    for it in suppressions(SourceFile.of("a.cl", text)):
        assert text[it.span.start : it.span.start + 2] in ("//", "/*")
        assert it.row is None or 1 <= it.row <= text.count("\n") + 1


PAIR = """\
// clmap: global=16 local=16 a=zeros(16)
__kernel void one(__global int *a)
{
    a[get_global_id(0)] = 1;  // clmap: ignore[CM301] not needed
}
// clmap: global=16 local=16 a=zeros(16)
__kernel void two(__global int *a)
{
    a[get_global_id(0)] = 2;  // clmap: ignore[CM301] not needed either
}
// clmap: ignore-file[CM302] nor this
"""


@pytest.mark.parametrize(
    ("ran", "rows"),
    [((), []), (("one",), [4]), (("two",), [9]), (("one", "two"), [4, 9, 11])],
)
def test_a_comment_about_the_emulator_is_judged_once_every_kernel_that_it_speaks_of_ran(
    ran: tuple[str, ...], rows: list[int]
) -> None:
    program = read_program(PAIR, "k.cl")
    analysis = AnalysisSession().analyse(program, load_model("generic-gpu"))
    results = {
        it.name: emulate(program, it.kernel, it.launch, EmulationSettings())
        for it in analysis.kernels
        if it.name in ran and it.launch is not None
    }
    found = run(RuleContext(program, analysis, emulations=results), Selection.of(("CM004",)))
    assert found == ()  # A rule that is not selected is not judged.
    found = run(RuleContext(program, analysis, emulations=results), Selection.of(("CM004", "CM3")))
    assert sorted(program.position(it.span).row for it in found) == rows

"""Texts that are nowhere near OpenCL C, or hold far more than kernels do: refused before they cost much."""

from __future__ import annotations

import pytest

from clmap_lsp.source import parse as parsing
from clmap_lsp.source.bounded import stand_too_deep
from clmap_lsp.source.options import BuildOptions
from clmap_lsp.source.parse import parse
from clmap_lsp.source.read import MAX_LOOPS, read_program

FIVE = "#define FIVE(x) x x x x x\n#define LOOP for (int j = 0; j < 4; j++) a[j] += i;\n"


def kernel(body: str) -> str:
    return f"__kernel void k(__global int *a, int i) {{ {body} }}\n"


def problems(text: str) -> list[str]:
    program = read_program(text, "k.cl")
    assert not program.kernels
    return [it.message for it in program.problems if it.code != "undefined-name"]


def test_a_kernel_of_more_loops_than_any_has_is_refused_in_a_line():
    (message,) = problems(FIVE + kernel("FIVE(FIVE(FIVE(FIVE(LOOP))))"))
    assert message == f"`k` has 625 loops; one with more than {MAX_LOOPS} is not read"


def test_loops_of_inlined_calls_count():
    helper = FIVE + "void h(__global int *a, int i) { FIVE(FIVE(FIVE(LOOP))) }\n"
    assert read_program(helper + kernel("FIVE(FIVE(LOOP)) h(a, i);"), "k.cl").kernels
    (message,) = problems(helper + kernel("FIVE(h(a, i);)"))
    assert "`k` has 625 loops" in message


@pytest.mark.parametrize("body", ["LOOP " * MAX_LOOPS, "do i++; while (i < 9); " * MAX_LOOPS])
def test_so_many_are_read(body: str):
    assert read_program(FIVE + kernel(body), "k.cl").kernels


def test_statements_in_each_other_without_end_are_refused_before_they_are_parsed(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(parsing, "_parsed", lambda *_: pytest.fail("it is parsed"))
    for head in ("if (1) ", "for (;;) ", "while (i) ", "do ", "if (1) ; else ", "switch (i) "):
        assert problems(kernel(f"i = ---{head * 1600}--- 1;".replace(" ; else", " else"))) == [
            "this is too far from OpenCL C for its structure to be found; nothing of it is read"
        ]


@pytest.mark.parametrize(
    "text",
    [
        "if (i == 1) a[1] = 1; " * 3000,
        "if (i == 0) a[0] = 1; " + "else if (i == 1) a[1] = 1; " * 3000,
        "if (i == 0) { a[0] = 1; } " + "else if (i == 1) { a[1] = 1; } " * 3000,
        "for (int j = 0; j < 9; j++) { if (i) { a[j] = 1; } } " * 3000,
    ],
)
def test_many_statements_that_follow_each_other_are_none(text: str):
    assert not stand_too_deep(text.replace("(", " ( ").replace(")", " ) ").replace(";", " ; ").split())


def test_a_text_with_an_error_is_parsed_once_after_an_edit(monkeypatch: pytest.MonkeyPatch):
    text = kernel("a[i = 1;")
    before = parse(text, "k.cl", BuildOptions())
    assert before.tree.root_node.has_error
    parses = 0
    real = parsing.within_steps

    def counted(*args: object) -> object:
        nonlocal parses
        parses += 1
        return real(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(parsing, "within_steps", counted)
    edited = text.replace("= 1", "= 12")
    after = parse(edited, "k.cl", BuildOptions(), previous=before)
    assert parses == 1
    assert str(after.tree.root_node) == str(parse(edited, "k.cl", BuildOptions()).tree.root_node)

"""C that is easily misread: what clang makes of it, kernel by kernel."""

from __future__ import annotations

import pytest

from clmap_lsp.source import ir
from clmap_lsp.source.dump import dump
from clmap_lsp.source.options import BuildOptions
from clmap_lsp.source.program import Program
from clmap_lsp.source.read import read_program


def read(text: str, **options: object) -> Program:
    return read_program(text, "k.cl", BuildOptions(**options))  # type: ignore[arg-type]


def body(text: str) -> str:
    """Return the printed body of the only kernel; nothing may be reported."""
    program = read(text)
    assert [it.message for it in program.problems] == []
    (kernel,) = program.kernels
    return dump(kernel)


# ------------------------------------------------------------------------------------------- declarations


@pytest.mark.parametrize(
    "declaration",
    [
        "typedef enum tag_s { YA = 1, YB = 4 } other_t;",
        "typedef enum { YA = 1, YB = 4 } other_t;",
        "typedef const enum tag_s { YA = 1, YB = 4 } other_t;",
        "typedef enum __attribute__((packed)) tag_s { YA = 1, YB = YA + 3 } other_t;",
        "enum tag_s { YA = 1, YB = 4 };",
        "struct outer { enum tag_s { YA = 1, YB = 4 } kind; };",
        "typedef struct outer { enum { YA = 1, YB = 4 } kind; } outer_t;",
    ],
)
def test_enumerators_have_their_values(declaration: str) -> None:
    kernel = f"{declaration}\n__kernel void k(__global int *a) {{ a[get_global_id(0) * YB] = YA; }}"
    assert "store4 a[(get_global_id(0) * 4:ulong)*4] = 1:int" in body(kernel)


NODE = "struct Node { int left; int right; float w; }"


@pytest.mark.parametrize(
    ("text", "size"),
    [
        (f"{NODE};\n__attribute__((aligned(16))) __constant int x = 1;", 12),
        (f"{NODE};\nvoid f() {{ __local float T[32] __attribute__((aligned(16))); }}", 12),
        (f"{NODE};\ntypedef struct {{ char c; int i; }} __attribute__((packed)) P;", 12),
        ("struct Node { char c; float w; };\ntypedef struct { int i; } __attribute__((packed)) P;", 8),
        ("union Node { int i; float f; };\ntypedef struct { int i; } __attribute__((aligned(64))) P;", 4),
        (f"{NODE} __attribute__((aligned(16)));", 16),
        ("struct __attribute__((packed)) Node { char c; float w; };", 5),
        ("struct Node { char c; float w; } __attribute__((packed));", 5),
        ("struct Node { char c; struct { int x; } __attribute__((aligned(8))) s; };", 16),
    ],
)
def test_attributes_belong_to_the_type_that_they_stand_at(text: str, size: int) -> None:
    word = "union" if text.startswith("union") else "struct"
    kernel = f"{text}\n__kernel void k(__global {word} Node *a, __global ulong *o) {{ o[0] = sizeof(*a); }}"
    assert f"store8 o[0:int*8] = {size}:ulong" in body(kernel)


# --------------------------------------------------------------------------------------------- statements


def test_a_statement_expression_keeps_its_loads_and_its_value() -> None:
    text = "__kernel void k(__global int *o, __global int *p) { o[0] = ({ int t = p[1]; t + p[2]; }); }"
    assert body(text).count("load4 p") == 2


def test_a_range_of_cases_too_long_to_list_is_named() -> None:
    program = read("__kernel void k(__global int *o) { switch (o[0]) { case 0 ... 99999: o[1] = 1; } }")
    assert [it.code for it in program.problems] == ["unsupported"]
    assert "4096" in program.problems[0].message


def test_a_body_that_only_a_label_gives_its_end_is_named() -> None:
    text = (
        "__kernel void k(__global int *o) { switch (o[0]) { case 0: if (o[1]) case 1: o[2] = 1; o[3] = 2; } }"
    )
    program = read(text)
    assert [it.code for it in program.problems] == ["unsupported"]
    (kernel,) = program.kernels
    assert any(isinstance(it, ir.Unsupported) for it in ir.walk(kernel.body))


def test_recursion_is_called_so() -> None:
    program = read(
        "int f(int n) { return n ? f(n - 1) : 1; } __kernel void k(__global int *a) { a[0] = f(3); }"
    )
    (problem,) = program.problems
    assert problem.code == "recursion"
    assert "OpenCL C has no recursion" in problem.message

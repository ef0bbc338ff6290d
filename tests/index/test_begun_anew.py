"""Half-typed text before a declaration is a declaration of its own, and leaves those that follow alone."""

from __future__ import annotations

import pytest
from index_reading import index_of

from clmap_lsp.source.ir import Severity

AFTER = """\
enum turns { LEFT = 3, RIGHT = 5 };
typedef struct { float x; int n; } point_t;
static inline int turned(int by) { return by + LEFT; }
float weigh(point_t p)
{
    return p.x * turned(RIGHT);
}
"""
KINDS = (
    "typedef float real;",
    "struct s { int a; };",
    "static int f(int a) { return a; }",
    "float4 g(int a);",
)


@pytest.mark.parametrize(
    "typed",
    [
        *("flo", "float", "float t", "float tmp", "float tmp =", "float tmp = get_global_id(0)"),
        *(
            "struct s { int a; }",
            "__constant int a = 3 +",
            "__constant float x[] = {1, 2}",
            "EXPORT",
            "float a, b",
            "int n = tu",
        ),
    ],
)
def test_what_follows_is_what_it_was(typed: str) -> None:
    before = index_of(AFTER)
    after = index_of(f"{typed}\n{AFTER}", previous=before)
    kept = [it.unit for it in after.units]
    assert [it.unit in kept for it in before.units] == [True] * len(before.units)


@pytest.mark.parametrize("following", KINDS)
@pytest.mark.parametrize(
    "typed", ["flo", "float", "float x", "__constant int n = 2", "__constant int n = f("]
)
def test_each_kind_of_declaration_begins_anew(typed: str, following: str) -> None:
    index = index_of(f"{typed}\n{following}\n")
    alone = index_of(following)
    assert [it.name for _, it in alone.symbols()] == [
        it.name for at, it in index.symbols() if at is not index.units[0]
    ]


@pytest.mark.parametrize(
    "text",
    [
        "static\nfloat f(int a) { return a; }",
        "inline\nfloat4 f(int a) { return a; }",
        "const unsigned\nint f(int a) { return a; }",
        "float f(a, b)\nfloat a;\nint b;\n{ return a + b; }",
        "float f(\n    const float a,\n    __global int *b)\n{ return a + b[0]; }",
        "__attribute__((always_inline))\nstatic inline float f(float a) { return a; }",
        "typedef struct\n{ int a; } s_t;\ns_t f(int n) { s_t s; s.a = n; return s; }",
        "long\nlong a();",
        "typedef struct s\n{\n    float a;\n    int b;\n} s_t;\nint f(s_t s) { return s.b; }",
        "struct s {\n    float a;\n    int b;\n};\nstruct s\nf(struct s *s) { return *s; }",
        "enum e\n{\n    A,\n    B\n} ;\nint f() { return B; }",
        "__constant int table[] = {\n    1,\n    sizeof(\n    int)\n};",
        "__constant float table[] =\n{ 1, 2 };\nfloat f(int i) { return table[i]; }",
        "float\n*f(float *a) { return a; }",
    ],
)
def test_declarations_of_several_lines_stay_whole(text: str) -> None:
    index = index_of(text)
    errors = [it.issue.message for it in index.issues if it.issue.severity is Severity.ERROR]
    assert errors == []
    assert len(index.units) == len(index_of(" ".join(text.split())).units)
    joined = index_of(" ".join(text.split("\n")))
    assert [(it.kind, it.name) for _, it in index.symbols()] == [
        (it.kind, it.name) for _, it in joined.symbols()
    ]


def test_a_short_function_that_is_edited_stays_the_same_to_its_callers() -> None:
    text = "int next(int n) { return n + 1; }\nint twice(int n) { return next(next(n)); }\n"
    before = index_of(text)
    after = index_of(text.replace("n + 1", "n + 1 * n"), previous=before)
    assert after.units[1].unit is before.units[1].unit

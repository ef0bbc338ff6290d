"""Blocks of OpenCL 2.0 that say what they return, and those outside of functions."""

from __future__ import annotations

import pytest
from index_reading import messages

from clmap_lsp.source.ir import Severity
from clmap_lsp.source.read import read_program

INSIDE = """\
typedef __global int* to_global;
struct pair {{ int one, two; }};
enum shade {{ light, dark }};
union word {{ int whole; char parts[4]; }};
kernel void k(__global int *out, int n)
{{
    {}
}}
"""


@pytest.mark.parametrize(
    "text",
    [
        "int (^twice)(int) = ^int(int a) { return a * 2; }; out[n] = twice(n);",
        "int (^twice)(int) = ^int (int a)\n    {\n        return a * 2;\n    }; out[n] = twice(n);",
        "to_global (^at)(__global int *) =^ to_global (__global int *p) { return p + 1; }; *at(out) = 1;",
        "struct pair (^swap)(struct pair) = ^struct pair(struct pair p) { return p; }; out[n] = 1;",
        "int (^sum)(union word, enum shade) = ^int(union word w, enum shade s) { return s; }; out[n] = 1;",
        "out[n] = ^int(int a) { return n * a; } (11) - 99;",
        "int (^first)(int *) = ^int(int *p) { return *p; }; out[n] = 1;",
    ],
)
def test_a_block_may_say_what_it_returns(text: str) -> None:
    assert said(INSIDE.format(text)) == []


OUTSIDE = """\
int __constant factor = 7;
int less(int a) { return a - 1; }
typedef int (^Sum)(float, int);
constant Sum add = ^(float a, int b) { return (int)(a + b); };
int (^__constant times)(int) = ^int(int a)
{
    return mad24(factor, a, less(a));
};
kernel void k(__global int *out) { out[get_global_id(0)] = times(add(1.0f, 2)); }
"""


def test_blocks_outside_of_functions_are_constants() -> None:
    assert said(OUTSIDE) == []
    assert [it.name for it in read_program(OUTSIDE, "k.cl").kernels] == ["k"]


def test_what_is_not_known_before_the_run_is_no_constant_still() -> None:
    text = "int wide(int n);\nkernel void k(__global int *out, int n) { constant int m = n; out[0] = m; }\n"
    assert "not a compile-time constant" in said(text)[0]


def said(text: str) -> list[str]:
    """Return the errors of a compiler and of what reads kernels."""
    program = read_program(text, "k.cl")
    found = [it for it in messages(text) if " error: " in it]
    return found + [it.message for it in program.problems if it.severity is Severity.ERROR]

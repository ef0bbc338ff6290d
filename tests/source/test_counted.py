"""Types that nothing defines: of integers, where their variables are used as such."""

from __future__ import annotations

import pytest

from clmap_lsp.source.read import read_program


def guess(body: str) -> str:
    text = (
        f"float f(T i) {{ return 1; }}\n__kernel void k(global float *a, global float *b)\n{{\n{body}\n}}\n"
    )
    program = read_program(text, "k.cl")
    (found,) = [it.value for it in program.guesses if it.name == "T"]
    return str(found)


@pytest.mark.parametrize(
    "body",
    [
        "T i = get_global_id(0); a[i] = b[i];",
        "const T n = 4; for (T j = 0; j < n; j++) a[j] = b[j];",
        "T x = 3; int y = x % 2; a[y] = 0;",
        "T x = 3; { int z = 0; } int y = 1 << x; a[y] = 0;",
        "int i = (T)get_local_id(0); a[i] = 0;",
    ],
)
def test_what_is_counted_with_is_an_integer(body: str):
    assert guess(body) == "int"


@pytest.mark.parametrize(
    "body", ["T x = b[0]; a[0] = x * 2;", "T x = 1; a[0] = x; } void g(int x) { int y = x % 2;"]
)
def test_what_is_not_is_a_float(body: str):
    assert guess(body) == "float"

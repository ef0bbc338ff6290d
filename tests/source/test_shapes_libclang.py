"""What is read has the shape that clang sees: expressions, statements, types, enumerators, layouts."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("clang.cindex", reason="libclang is the reference here")

from benchmarks import shapes
from clmap_lsp.source.options import BuildOptions

pytestmark = pytest.mark.skipif(not shapes.HEADERS, reason="clang's opencl-c-base.h is not on this machine")

FIXTURES = Path(__file__).parents[2] / "fixtures"


def agrees(text: str) -> shapes.Comparison:
    found = shapes.compare(text)
    assert found.differences == [], text
    assert found.compared, text
    assert not found.refused, text
    return found


@pytest.mark.parametrize(
    "path", sorted(FIXTURES.rglob("*.cl")), ids=lambda it: it.relative_to(FIXTURES).as_posix()
)
def test_our_own_kernels(path: Path) -> None:
    text = shapes.plain_text(path.read_text(encoding="utf-8"), path.name, BuildOptions(), path.parent)
    found = shapes.compare(text)
    assert found.differences == []


# ------------------------------------------------------------------------------------------- expressions

HEAD = """
typedef long T; typedef float4 V; enum E { RED, BLUE = 7 }; struct S { int m; int a[4]; };
int f(int x); int g(int x, int y); __constant int N = 16;
"""
PARAMETERS = "__global int *p, __global int *q, int x, int y, int z, V v, struct S s, __global struct S *t"

OPERANDS = """
x y z p[x] q[y] f(x) 1 2u RED BLUE N s.m t->a[1] (x) (p[y]) (f(y)) *p (int)v.x sizeof(x) sizeof(T) (*q)
get_global_id(0) 'a' (s.a[2]) (t[x].m) ((x)) ((T)(y)) p[(x)] f((x)) abs(x) (T)z (int)(x) ~x !y
"""
LEAVES = st.sampled_from(OPERANDS.split())
BINARY = ["+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "<", "<=", "==", "!=", "&&", "||"]


def _extended(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    operators = st.sampled_from(BINARY)
    return st.one_of(
        st.builds("{} {} {}".format, inner, operators, inner),
        st.builds("({}) {} {}".format, inner, operators, inner),
        st.builds("({} {} {})".format, inner, operators, inner),
        st.builds("({} * ({})) {} {}".format, inner, inner, st.sampled_from(["-", "+", "&", "*"]), inner),
        st.builds("{}({})".format, st.sampled_from(["-", "~", "!", "+"]), inner),
        st.builds("{}{}".format, st.sampled_from(["(int)", "(T)", "(uint)", "(long)", "(size_t)"]), LEAVES),
        st.builds(
            "({})({})".format, st.sampled_from(["int", "T", "uchar", "unsigned int", "const int"]), inner
        ),
        st.builds("f({})".format, inner),
        st.builds("g({}, {})".format, inner, inner),
        st.builds("(f({})) {} {}".format, inner, st.sampled_from(["-", "*", "&", "+"]), inner),
        st.builds("p[{}]".format, inner),
        st.builds("(p[{}])".format, inner),
        st.builds("({} ? {} : {})".format, inner, inner, inner),
        st.builds("*(p + ({}))".format, inner),
        st.builds("*(__global int *)(q + {})".format, inner),
        st.builds("convert_int({})".format, inner),
        st.builds("sizeof({})".format, inner),
        st.builds("({}, {})".format, inner, inner),
        st.builds("(x = {})".format, inner),
        st.builds("({{ int w = {}; w + {}; }})".format, inner, inner),
    )


EXPRESSIONS = st.recursive(LEAVES, _extended, max_leaves=9)


@settings(max_examples=150)
@given(st.lists(EXPRESSIONS, min_size=1, max_size=4))
def test_expressions(values: list[str]) -> None:
    body = "".join(f"q[{at}] = {it};\n" for at, it in enumerate(values))
    agrees(f"{HEAD}__kernel void k({PARAMETERS}) {{\n{body}}}")


VECTORS = st.recursive(
    st.sampled_from(
        ["v", "(V)(1.0f)", "(float4)(1, 2, 3, 4)", "v.wzyx", "(v)", "-v", "(V)0", "vload4(x, h)"]
    ),
    lambda inner: st.one_of(
        st.builds("({}) {} {}".format, inner, st.sampled_from("+-*/"), inner),
        st.builds("(V)({}.lo, {}.even)".format, inner.map("({})".format), inner.map("({})".format)),
        st.builds("(float4)({}.x)".format, inner.map("({})".format)),
        st.builds("convert_float4({} < {})".format, inner, inner),
        st.builds("mad({}, {}, v)".format, inner, inner),
        st.builds("(x ? {} : {})".format, inner, inner),
        st.builds("as_float4(convert_int4({}))".format, inner),
        st.builds("select({}, v, {} > v)".format, inner, inner),
    ),
    max_leaves=5,
)


@settings(max_examples=60)
@given(VECTORS)
def test_vector_expressions(value: str) -> None:
    agrees(f"{HEAD}__kernel void k({PARAMETERS}, __global float *h) {{ v = {value}; h[0] = v.x; }}")


# -------------------------------------------------------------------------------------------- statements

SIMPLE = st.sampled_from(
    [
        "x = y + 1;",
        "p[x] = 2;",
        "f(x);",
        ";",
        "{ }",
        "{ int w = x; p[0] = w; }",
        "x++;",
        "y += (p[x]) - y;",
        "return;",
    ]
)


def _nested(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    block = st.lists(inner, max_size=3).map(lambda it: "{ " + " ".join(it) + " }")
    return st.one_of(
        block,
        st.builds("if (x > {}) {}".format, st.integers(0, 3), block),
        st.builds("if (x) {} else {}".format, block, block),
        st.builds("if (x) if (y) {} else {}".format, block, block),
        st.builds("for (int i = 0; i < {}; i++) {}".format, st.integers(1, 4), block),
        st.builds("for (;;) {{ {} break; }}".format, inner),
        st.builds("while (x-- > 0) {}".format, block),
        st.builds("do {} while (--z > 0);".format, block),
        st.builds("while (y) {{ {} if (z) continue; y--; }}".format, inner),
        st.builds(
            "switch (x) {{ case 0: {} case 1: case 2: {} break; default: {} }}".format, inner, inner, inner
        ),
        st.builds("switch (x) {{ case 3: {{ {} case 4: {} }} break; }}".format, inner, inner),
        st.builds("switch (x % 3) {{ case 0: do {{ {} case 1: y++; }} while (--z > 0); }}".format, inner),
        st.builds("switch (x) {{ case 1 ... 5: {} break; case BLUE: {} }}".format, inner, inner),
    )


@settings(max_examples=100)
@given(st.lists(st.recursive(SIMPLE, _nested, max_leaves=8), max_size=4))
def test_statements(statements: list[str]) -> None:
    agrees(f"{HEAD}__kernel void k({PARAMETERS}) {{\n{' '.join(statements)}\n}}")


# ------------------------------------------------------------------------------------------ declarations

SCALARS = ["char", "uchar", "short", "int", "uint", "long", "float", "double", "float3", "char2", "int16"]
MEMBER = st.builds(
    "{} {}{}{};".format,
    st.sampled_from([*SCALARS, "__global int *", "enum E"]),
    st.just("%s"),
    st.sampled_from(["", "", "[3]", "[2][5]"]),
    st.sampled_from(["", "", "", " __attribute__((aligned(8)))", " __attribute__((packed))"]),
)


@st.composite
def structs(draw: st.DrawFn) -> str:
    members = " ".join(it % f"m{at}" for at, it in enumerate(draw(st.lists(MEMBER, min_size=1, max_size=5))))
    before = draw(st.sampled_from(["", "", "__attribute__((packed)) ", "__attribute__((aligned(32))) "]))
    after = draw(st.sampled_from(["", "", " __attribute__((packed))", " __attribute__((aligned(16)))"]))
    last = draw(st.sampled_from(["", "", "", " __attribute__((aligned(64)))"]))
    word = draw(st.sampled_from(["struct", "struct", "union"]))
    if draw(st.booleans()):
        return f"{word} {before}A {{ {members} }}{after};\ntypedef {word} A B;"
    return f"typedef {word} {before}A {{ {members} }}{after} B{last};"


@settings(max_examples=150)
@given(st.lists(structs(), min_size=1, max_size=2))
def test_layouts(declarations: list[str]) -> None:
    named = [it.replace(" A ", f" A{at} ").replace(" B", f" B{at}") for at, it in enumerate(declarations)]
    behind = "__kernel void h() { __local int w[4] __attribute__((aligned(128))); w[0] = 1; }"
    found = agrees(
        "enum E { RED };\n" + "\n".join(named) + f"\n{behind}\n__kernel void k(__global B0 *a) {{ }}"
    )
    assert found.n_declared >= 2


VALUES = st.sampled_from(["", "1", "-1", "7u", "1 << 20", "0x80000000", "0x123456789al", "RED + 2", "-5l"])


@settings(max_examples=60)
@given(st.lists(VALUES, min_size=1, max_size=5), st.sampled_from(["", " __attribute__((packed))"]))
def test_enumerators(values: list[str], packed: str) -> None:
    items = ", ".join(f"C{at}" + (f" = {it}" if it else "") for at, it in enumerate(values))
    uses = "".join(f"a[{at}] = C{at} + e; b[{at}] = sizeof(C{at});" for at in range(len(values)))
    text = f"enum D {{ RED }};\ntypedef enum{packed} F {{ {items} }} G;\n"
    found = agrees(
        f"{text}__kernel void k(__global long *a, __global int *b) {{ G e = C0; {uses} b[9] = sizeof(e); }}"
    )
    assert found.n_declared > len(values)

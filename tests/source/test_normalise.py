"""The plain C that tree-sitter-c gets, and the tables beside it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clmap_lsp.source.normalise import Roles, TokenSpans, normalise, typedef_names
from clmap_lsp.source.options import BuildOptions
from clmap_lsp.source.parse import parse
from clmap_lsp.source.pieces import lex_fragment
from clmap_lsp.source.read import read_program


def plain(text, types=()):
    tokens = lex_fragment("k.cl", text)
    return normalise(tokens, [it.text for it in tokens], Roles(frozenset(types)))


def words(text, types=()):
    return " ".join(plain(text, types).text.split())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("__kernel void f(__global const float* restrict a)", "void f ( float * a )"),
        ("static inline __attribute__((always_inline)) int g(void)", "int g ( void )"),
        ("(float4)(1, 2)", "( struct float4 ) ( 1 , 2 )"),
        ("(const float4)x", "( struct float4 ) x"),
        ("(int)x", "( int ) x"),
        ("(unsigned)x", "( unsigned ) x"),
        ("(__global float4*)p", "( float4 * ) p"),
        ("sizeof(float4)", "sizeof ( struct float4 )"),
        ("vec_step(float4)", "vec_step ( float4 )"),
        ("return (uint)x;", "return ( struct uint ) x ;"),
        ("1.0h + 2H", "1.0 + 2.0"),
        ("0x1ph", "0x1p"),
        ("a.global + b->kernel", "a . global + b -> kernel"),
        ('_Pragma("unroll") for', "for"),
        ("read_only pipe int p; int pipe = 1;", "int p ; int pipe = 1 ;"),
        ('asm("nop");', 'asm ( "nop" ) ;'),
        ('"é" + été', '"?" + _ue9_t_ue9_'),
    ],
)
def test_text(text, expected):
    assert words(text) == expected


def test_names_of_types_are_cast_to():
    assert words("(T)(x)") == "( T ) ( x )"
    assert words("(T)(x)", ["T"]) == "( struct T ) ( x )"
    assert words("f(T)", ["T"]) == "f ( T )"


def test_attributes_keep_their_arguments():
    found = plain("__attribute__((reqd_work_group_size(8, N + 1, f(1, 2)), __packed__)) x")
    assert [(it.word, it.arguments) for it in found.attributes] == [
        ("reqd_work_group_size", ("8", "N + 1", "f(1, 2)")),
        ("packed", ()),
    ]
    assert {found.text[it.offset] for it in found.attributes} == {"x"}


def test_what_is_taken_out_at_the_end_stands_behind_the_text():
    found = plain("int x; const")
    assert [it.offset for it in found.qualifiers] == [len(found.text) + 1]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("typedef float real;", ["real"]),
        ("typedef struct { int a; } s, *p;", ["s", "p"]),
        ("typedef float v[4] __attribute__((aligned(16)));", ["v"]),
        ("typedef __attribute__((aligned(8))) int i8;", ["i8"]),
        ("typedef int (*fn)(int, float);", ["fn"]),
        ("typedef enum { A, B } e; int x;", ["e"]),
        ("typedef", []),
    ],
)
def test_typedef_names(text, expected):
    assert list(typedef_names([it.text for it in lex_fragment("k.cl", text)])) == expected


ODD = [
    "__global",
    "(",
    ")",
    "float4",
    "T",
    "*",
    "x",
    "1.0h",
    "__attribute__",
    "((a))",
    "asm",
    "_Pragma",
    '"s"',
    "pipe",
    ".",
    "é",
]


@given(st.lists(st.sampled_from(ODD), max_size=25))
def test_the_text_and_its_tables_always_fit(parts):
    found = plain(" ".join(parts), ["T"])
    assert found.text.isascii()
    assert len(found.starts) == len(found.tokens) == len(TokenSpans(found.tokens, found.starts))
    for start, token in zip(found.starts, found.tokens, strict=True):
        shown = found.text[start:].split()[0]
        assert shown == token.text or start in found.spellings or start in found.elaborated
    for removed in (*found.qualifiers, *found.attributes, *found.pragmas):
        assert removed.offset in found.starts or removed.offset == len(found.text) + 1


OPERANDS = [
    "1 + (p[i]) - (p[i]) * 2",
    "(p[i]) && p",
    "(p[i])++ + x",
    "l[(x) + (y) * 3]",
    "((i) + ((x)*(NX)) + ((y)*(NX)*(NY)))",
    "(i * (x * y)) - p[i]",
    "(x * (y)) & 1",
    "(f(x)[i]) * y",
    "(f((f(x)) - 1)) + (f(x)) * 2",
    "!(x) - y + ~(f(x)) & y",
    "x ? (p[i]) - 1 : (x) * 2",
    "sizeof (x) - 1",
    "p[(x)] - (p)[x] * 2",
]


@pytest.mark.parametrize("expression", OPERANDS)
def test_no_operand_in_brackets_is_a_cast(expression):
    """The grammar knows no types: it takes `(p[i]) - x` for a cast of `-x`."""
    text = f"int f(int *p, int *l, int x, int y, int i) {{ return {expression}; }}"
    tree = parse(text, "k.cl", BuildOptions())
    assert not tree.tree.root_node.has_error
    assert "cast_expression" not in str(tree.tree.root_node)


def test_casts_before_bracketed_operands_stay():
    value = "(int)(p[x]) - 1 + (R)(x) * 2 + (int)(abs((int)(x))) * 2"
    text = f"typedef float R; int f(int *p, int x) {{ return {value}; }}"
    tree = parse(text, "k.cl", BuildOptions())
    shown = str(tree.tree.root_node)
    assert shown.count("cast_expression") == 4
    assert shown.count("binary_expression") == 5


@pytest.mark.parametrize("sign", ["&", "-", "+", "*", "&&"])
def test_a_bracketed_call_before_a_sign_is_an_operand(sign):
    """The grammar takes `(clz(x)) & y` for a cast of `&y` to an unknown type."""
    text = f"int f(int x, int y) {{ return (clz((uint)(x))) {sign} y; }}"
    tree = parse(text, "k.cl", BuildOptions())
    shown = str(tree.tree.root_node)
    assert shown.count("cast_expression") == 1  # `(uint)(x)` itself
    assert "binary_expression" in shown


def test_casts_of_vectors_and_of_macro_results_stay():
    text = (
        "#define PAIR(a, b) (float2)(a, b)\n#define AS(t, x) ((t)(x))\ntypedef float real;\n"
        "float2 f(float x) { return PAIR(x, 1) * -(float2)(x) + AS(float2, x) - ((real)(x)) * (real)-x; }"
    )
    tree = parse(text, "k.cl", BuildOptions())
    assert str(tree.tree.root_node).count("cast_expression") == 5


def test_an_undefined_name_outside_ascii_is_told_as_it_is_typed():
    text = "__kernel void k(__global float *o, int n) { o[n] = größe; }\n"
    program = read_program(text, "k.cl")
    told = [it.message for it in program.problems if it.code == "undefined-name"]
    assert len(told) == 1
    assert "größe" in told[0]

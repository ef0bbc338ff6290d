"""What a text may make the reader do is bounded, and the end of a budget is said in one line at its place."""

from __future__ import annotations

import pytest

from clmap_lsp.source.ir import Loop, Problem, Store, Undefined, expressions, walk
from clmap_lsp.source.macros import Expander, TooManyTokensError, define
from clmap_lsp.source.pieces import lex_fragment
from clmap_lsp.source.preprocess import MAX_EXPANDED, MAX_USE
from clmap_lsp.source.read import read_program

KERNEL = "__kernel void k(__global int *a, float4 v) {{ int i = get_global_id(0); {} }}\n"


def problems(text: str, code: str) -> list[Problem]:
    program = read_program(text, "k.cl")
    assert not any(it.code == "internal-error" for it in program.problems)
    return [it for it in program.problems if it.code == code]


def doubling(body: str, levels: int) -> str:
    """Return macros of which `M{levels}` makes 2 ** levels copies of a body."""
    lines = [f"#define M{it} M{it - 1} M{it - 1}" for it in range(1, levels + 1)]
    return "\n".join([f"#define M0 {body}", *lines, ""])


@pytest.mark.parametrize("body", ["UNDEFINED", "a[0] +", "(", "if (i)", "(int)", "} __kernel void x("])
def test_a_macro_bomb_is_said_once_at_its_use_and_leaves_what_stands_before(body: str):
    text = KERNEL.format("a[i] = 1;") + doubling(body, 40) + "int after = M40;"
    program = read_program(text, "k.cl")
    assert [it.name for it in program.kernels] == ["k"]
    (problem,) = problems(text, "too-many-tokens")
    assert problem.message == f"`M40` expands to more than {MAX_USE} tokens; the rest of the file is not read"
    assert text[problem.span.start : problem.span.end] == "M40"


def test_many_large_uses_are_a_bomb_too():
    # Each makes less than one use may; a short file may not hold a hundred of them.
    text = doubling("x", 11) + "int a = " + "M11 +\n" * 100 + "1;"
    (problem,) = problems(text, "too-many-tokens")
    assert f"the macros expand to more than {MAX_EXPANDED} tokens" in problem.message


@pytest.mark.parametrize("operators", ["#x", "x##x"])
def test_texts_that_double_at_every_level_end(operators: str):
    text = f"#define S(x) {operators}\n#define X(x) S(x)\nint a = {'X(' * 60}abc{')' * 60};"
    assert len(problems(text, "too-many-tokens")) == 1


def test_a_condition_that_expands_without_end_is_false():
    text = doubling("1 +", 40) + "#if M40 0\n#error reached\n#endif\n" + KERNEL.format("a[i] = 1;")
    assert len(problems(text, "bad-condition")) == 1
    assert not problems(text, "error-directive")


def test_a_budget_is_one_of_all_uses():
    macro = define(lex_fragment("k.cl", "ONE 1 1 1"))
    assert not isinstance(macro, str)
    expander = Expander({"ONE": macro}, limit=7)
    assert len(expander.expand_list(lex_fragment("k.cl", "ONE"))) == 3
    with pytest.raises(TooManyTokensError):
        expander.expand_list(lex_fragment("k.cl", "ONE"))
    expander.grant(10)
    assert len(expander.expand_list(lex_fragment("k.cl", "ONE"))) == 3


@pytest.mark.parametrize(
    ("field", "message"),
    [
        ("int a : 99999999999999999999999;", "a bit-field of no known number of bits in `int`; taken as 32"),
        ("int a : 4294967295;", "a bit-field of 4294967295 bits in `int`; taken as 32"),
        ("char a : 9;", "a bit-field of 9 bits in `char`; taken as 8"),
        ("int a : -1;", "a bit-field of -1 bits in `int`; taken as 32"),
        ("float a : 3;", "a bit-field of type `float`"),
    ],
)
def test_a_bit_field_has_to_fit_its_type(field: str, message: str):
    text = f"struct s {{ {field} int b; }};\n__kernel void k(__global struct s *p) {{ p[0].b = p[1].a; }}"
    assert [it.message for it in problems(text, "bit-field")] == [message]
    (parameter,) = read_program(text, "k.cl").kernels[0].parameters
    assert parameter.type.pointee.size == 8  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "statement",
    ["int x = v;", "a[i] = v;", "float2 x = v;", "a[0] = v.xy + v.xyz;", "int2 x; x = v;"],
)
def test_a_conversion_that_the_language_does_not_know_has_no_value(statement: str):
    (kernel,) = read_program(KERNEL.format(statement), "k.cl").kernels
    undefined = [it for line in walk(kernel.body) for it in expressions(line) if isinstance(it, Undefined)]
    assert undefined, "taken for a value"


def test_the_second_label_of_a_name_is_an_error():
    text = KERNEL.format("l: a[i] = 1; l: a[i] = 2; if (a[0]) goto l;")
    assert len(problems(text, "duplicate-label")) == 1
    (kernel,) = read_program(text, "k.cl").kernels
    (loop,) = [it for it in walk(kernel.body) if isinstance(it, Loop)]
    assert len([it for it in loop.body if isinstance(it, Store)]) == 2


def test_two_hundred_casts_are_read():
    text = KERNEL.format(f"a[i] = {'(int)' * 200}a[i + 1];")
    assert [it.code for it in read_program(text, "k.cl").problems] == []


@pytest.mark.parametrize("digits", [30, 5000])
def test_an_alignment_of_any_number_of_digits_is_read(digits: int):
    text = f"struct s {{ int a; }} __attribute__((aligned({'9' * digits})));\n" + KERNEL.format("a[i] = 1;")
    assert problems(text, "internal-error") == []

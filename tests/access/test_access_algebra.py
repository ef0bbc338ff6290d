"""Properties of the algebra: simplification keeps values, intervals hold, substitution is exact."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reading import access_of, body, launch_of, values

from clmap_lsp.access import algebra
from clmap_lsp.access.evaluate import UnknownValueError, evaluate
from clmap_lsp.access.facts import Facts
from clmap_lsp.access.polynomial import (
    ZERO,
    Atom,
    Op,
    Operation,
    Parameter,
    Polynomial,
    global_id,
    local_id,
    poly,
)
from clmap_lsp.access.wording import words

X, Y, LX, N, M = (
    poly(global_id(0)),
    poly(global_id(1)),
    poly(local_id(0)),
    poly(Parameter("N")),
    poly(Parameter("M")),
)
SYMBOLS = (X, Y, LX, N, M)
LAUNCH = launch_of((64, 16), (16, 4), N=48, M=7)

Plain = Callable[[dict[str, int]], int]


def constant(value: int) -> Polynomial:
    return Polynomial.constant(value)


def _trunc_div(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1) if b else 0


BINARY: dict[str, tuple[Callable[[Polynomial, Polynomial, Facts], Polynomial], Callable[[int, int], int]]] = {
    "+": (algebra.add, lambda a, b: a + b),
    "-": (lambda a, b, facts: algebra.add(a, -b, facts), lambda a, b: a - b),
    "*": (lambda a, b, _: a * b, lambda a, b: a * b),
    "div": (algebra.trunc_div, _trunc_div),
    "rem": (algebra.rem, lambda a, b: a - b * _trunc_div(a, b)),
    "&": (algebra.bit_and, lambda a, b: a & b),
    "|": (algebra.bit_or, lambda a, b: a | b),
    "^": (algebra.bit_xor, lambda a, b: a ^ b),
    "min": (algebra.minimum, min),
    "max": (algebra.maximum, max),
    "<": (algebra.less, lambda a, b: int(a < b)),
    "<=": (algebra.less_equal, lambda a, b: int(a <= b)),
    "==": (algebra.equal, lambda a, b: int(a == b)),
}


@st.composite
def expressions(draw: st.DrawFn, depth: int = 3) -> tuple[Polynomial, Polynomial, Plain]:
    """Draw one expression three ways: simplified with a launch's facts, without, and as plain Python."""
    with_facts, without = Facts(LAUNCH), Facts()
    return _draw(draw, depth, with_facts, without)


def _draw(draw: st.DrawFn, depth: int, sharp: Facts, plain: Facts) -> tuple[Polynomial, Polynomial, Plain]:
    if depth == 0 or draw(st.integers(0, 4)) == 0:
        if draw(st.booleans()):
            number = draw(st.integers(-9, 40))
            return constant(number), constant(number), lambda _: number
        symbol = draw(st.sampled_from(SYMBOLS))
        name = words(symbol)
        return symbol, symbol, lambda env: env[name]
    name = draw(st.sampled_from([*BINARY, "?:", "abs", "shift"]))
    a = _draw(draw, depth - 1, sharp, plain)
    if name == "abs":
        return algebra.absolute(a[0], sharp), algebra.absolute(a[1], plain), lambda env: abs(a[2](env))
    if name == "shift":
        by = draw(st.integers(0, 5))
        count = constant(by)
        if draw(st.booleans()):
            return algebra.shl(a[0], count, sharp), algebra.shl(a[1], count, plain), lambda e: a[2](e) << by
        return algebra.shr(a[0], count, sharp), algebra.shr(a[1], count, plain), lambda e: a[2](e) >> by
    if name in ("div", "rem"):
        divisor = draw(st.sampled_from([1, 2, 3, 4, 7, 16, -4]))
        b: tuple[Polynomial, Polynomial, Plain] = (constant(divisor), constant(divisor), lambda _: divisor)
        if draw(st.booleans()):
            b = (N, N, lambda env: env["N"])
    else:
        b = _draw(draw, depth - 1, sharp, plain)
    if name == "?:":
        c = _draw(draw, depth - 1, sharp, plain)
        return (
            algebra.select(algebra.as_truth(a[0]), b[0], c[0], sharp),
            algebra.select(algebra.as_truth(a[1]), b[1], c[1], plain),
            lambda env: b[2](env) if a[2](env) else c[2](env),
        )
    build, run = BINARY[name]
    return build(a[0], b[0], sharp), build(a[1], b[1], plain), lambda env: run(a[2](env), b[2](env))


@st.composite
def points(draw: st.DrawFn) -> dict[str, int]:
    """Draw a work-item of the launch, with its scalars."""
    x, y = draw(st.integers(0, 63)), draw(st.integers(0, 15))
    return {
        "get_global_id(0)": x,
        "get_global_id(1)": y,
        "get_local_id(0)": x % 16,
        "N": 48,
        "M": 7,
    }


def environment(point: dict[str, int]) -> dict[Atom, int]:
    return {next(iter(symbol.atoms)): point[words(symbol)] for symbol in SYMBOLS}


@given(expressions(), points())
def test_simplification_keeps_the_value(
    expression: tuple[Polynomial, Polynomial, Plain], point: dict[str, int]
) -> None:
    sharp, plain, run = expression
    expected = run(point)
    assert evaluate(plain, environment(point)) == expected
    assert evaluate(sharp, environment(point)) == expected


NAMES: dict[Atom, str] = {global_id(0): "x", global_id(1): "y", local_id(0): "lx"}
SPELT = """__kernel void k(__global float *A, long N, long M)
{{
    long x = get_global_id(0), y = get_global_id(1), lx = get_local_id(0);
    A[{index}] = 0;
}}"""


def _naturals() -> st.SearchStrategy[Polynomial]:
    """Draw expressions that are nowhere negative: there a quotient's text is that of C."""
    facts = Facts()
    names = sorted(BINARY.keys() - {"-", "div", "rem"})

    def built(name: str, left: Polynomial, right: Polynomial) -> Polynomial:
        return BINARY[name][0](left, right, facts)

    def divided(name: str, left: Polynomial, right: Polynomial) -> Polynomial:
        return BINARY[name][0](left, algebra.maximum(right, constant(1), facts), facts)

    return st.recursive(
        st.sampled_from(SYMBOLS) | st.integers(0, 9).map(constant),
        lambda inner: st.one_of(
            st.builds(built, st.sampled_from(names), inner, inner),
            st.builds(divided, st.sampled_from(["div", "rem"]), inner, inner | st.just(N)),
        ),
        max_leaves=6,
    )


@given(_naturals(), points())
def test_words_mean_what_they_stand_for(value: Polynomial, point: dict[str, int]) -> None:
    text = words(value, NAMES)
    if "…" not in text:
        read = access_of(SPELT.format(index=text), "A").index
        assert evaluate(read, environment(point)) == evaluate(value, environment(point)), text


@given(expressions(), points())
def test_arrays_and_numbers_agree(
    expression: tuple[Polynomial, Polynomial, Plain], point: dict[str, int]
) -> None:
    value = expression[0]
    arrays = {atom: np.array([it, it]) for atom, it in environment(point).items()}
    assert (
        np.broadcast_to(evaluate(value, arrays), (2,)).tolist() == [evaluate(value, environment(point))] * 2
    )


@given(expressions(), points())
def test_values_lie_in_their_interval(
    expression: tuple[Polynomial, Polynomial, Plain], point: dict[str, int]
) -> None:
    for value, facts in ((expression[0], Facts(LAUNCH)), (expression[1], Facts())):
        low, high = facts.interval(value)
        found = evaluate(value, environment(point))
        assert low is None or low <= found
        assert high is None or found <= high


@given(expressions(), expressions(depth=1), points())
def test_substitution_is_composition(
    outer: tuple[Polynomial, Polynomial, Plain],
    inner: tuple[Polynomial, Polynomial, Plain],
    point: dict[str, int],
) -> None:
    replaced = algebra.substitute(outer[1], {Parameter("M"): inner[1]})
    moved = {**point, "M": inner[2](point)}
    assert evaluate(replaced, environment(point)) == outer[2](moved)


@given(expressions(), expressions())
def test_polynomials_form_a_ring(
    a: tuple[Polynomial, Polynomial, Plain], b: tuple[Polynomial, Polynomial, Plain]
) -> None:
    p, q = a[1], b[1]
    assert p + q == q + p
    assert p - p == ZERO
    if len(p.terms) * len(q.terms) < 30:
        assert p * q == q * p
        assert p * (q + 1) == p * q + p
    assert hash(p + q) == hash(q + p)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (algebra.mod(Y * 16 + LX, constant(16), Facts(LAUNCH)), "get_local_id(0)"),
        (algebra.floor_div(Y * 16 + LX, constant(16), Facts(LAUNCH)), "get_global_id(1)"),
        (algebra.mod(X, constant(64), Facts(LAUNCH)), "get_global_id(0)"),
        (
            algebra.floor_div(algebra.floor_div(X, constant(4), Facts()), constant(8), Facts()),
            "get_global_id(0)/32",
        ),
        (algebra.mod(algebra.mod(X, constant(12), Facts()), constant(4), Facts()), "get_global_id(0)%4"),
        (
            algebra.bit_and(X, constant(-16), Facts()) + algebra.bit_and(X, constant(15), Facts()),
            "get_global_id(0)",
        ),
        (algebra.bit_or(X * 8, constant(5), Facts()), "get_global_id(0)*8 + 5"),
        (algebra.trunc_div(N * 6, N * 2, Facts()), "3"),
        (algebra.minimum(X, X + 3, Facts()), "get_global_id(0)"),
        (algebra.shr(X + 64, constant(3), Facts()), "get_global_id(0)/8 + 8"),
    ],
)
def test_known_simplifications(value: Polynomial, text: str) -> None:
    assert words(algebra.recombined(value)) == text


def test_coefficient_is_none_where_a_symbol_is_not_linear() -> None:
    assert (X * N + Y).coefficient(global_id(0)) == N
    assert (X * X).coefficient(global_id(0)) is None
    assert algebra.floor_div(X, constant(3), Facts()).coefficient(global_id(0)) is None
    assert (Y + 1).coefficient(global_id(0)) == ZERO


def test_a_missing_symbol_is_named() -> None:
    with pytest.raises(UnknownValueError) as caught:
        evaluate(X + N, {global_id(0): 1})
    assert caught.value.atom == Parameter("N")


def test_products_that_would_explode_stay_products() -> None:
    many = sum((poly(Parameter(f"p{at}")) for at in range(12)), ZERO)
    other = sum((poly(Parameter(f"q{at}")) for at in range(12)), ZERO)
    product = many * other
    (atom,) = product.atoms
    assert isinstance(atom, Operation)
    assert atom.op is Op.PRODUCT
    env = {Parameter(f"{name}{at}"): at for name in "pq" for at in range(12)}
    assert evaluate(product, env) == 66 * 66


# ---------------------------------------------------------------------- whole kernels against plain Python


@st.composite
def c_indices(draw: st.DrawFn, depth: int = 3) -> tuple[str, str]:
    """Draw an index as OpenCL C and as Python; all operands of division are kept non-negative."""
    if depth == 0 or draw(st.integers(0, 3)) == 0:
        leaf = draw(st.sampled_from(["x", "y", "lx", "N", "M", "3", "1", "16", "(x + y)", "5"]))
        return leaf, leaf
    op = draw(st.sampled_from(["+", "*", "/", "%", "&", "|", "^", ">>", "min", "?:", "-"]))
    a, b = draw(c_indices(depth - 1)), draw(c_indices(depth - 1))
    match op:
        case "/" | "%":
            divisor = draw(st.sampled_from(["3", "4", "8", "N", "(M + 1)"]))
            return f"({a[0]} {op} {divisor})", f"({a[1]} {'//' if op == '/' else op} {divisor})"
        case "*":
            factor = draw(st.sampled_from(["2", "7", "N", "x"]))
            return f"({a[0]} * {factor})", f"({a[1]} * {factor})"
        case ">>":
            return f"({a[0]} >> 2)", f"({a[1]} >> 2)"
        case "min":
            return f"min({a[0]}, {b[0]})", f"np.minimum({a[1]}, {b[1]})"
        case "-":
            return f"max({a[0]} - {b[0]}, 0)", f"np.maximum({a[1]} - {b[1]}, 0)"
        case "?:":
            return f"({a[0]} < {b[0]} ? {b[0]} : {a[0]})", f"np.where({a[1]} < {b[1]}, {b[1]}, {a[1]})"
        case _:
            return f"({a[0]} {op} {b[0]})", f"({a[1]} {op} {b[1]})"


@given(c_indices(), st.booleans())
def test_analysis_equals_direct_evaluation(index: tuple[str, str], with_launch: bool) -> None:
    text, python = index
    source = body(f"int i = {text}; B[0] = A[i];")
    access = access_of(source, "A", LAUNCH if with_launch else None)
    columns, rows = np.meshgrid(np.arange(64), np.arange(16))
    names = {"x": columns, "y": rows, "lx": columns % 16, "N": np.int64(48), "M": np.int64(7), "np": np}
    expected = eval(python, names)
    if np.max(np.abs(expected)) >= 1 << 31:
        return  # C's int would overflow
    assert np.array_equal(values(access.index, LAUNCH), np.broadcast_to(expected, rows.shape))


def test_what_thousands_of_cases_have_in_common_has_an_opposite():
    """It was worked out by recursion, and a `switch` of 1,400 cases lost its file's findings."""
    any_of = ZERO
    for number in range(20_000):
        any_of = algebra.either(any_of, algebra.opaque(Op.EQ, X, constant(number)))
    none_of, depth = algebra.negated(any_of), 0
    while isinstance(atom := none_of.atom, Operation) and atom.op is Op.LOGICAL_AND:
        none_of, depth = atom.operands[0], depth + 1
    assert depth == 19_999
    assert none_of == algebra.opaque(Op.NE, X, ZERO)

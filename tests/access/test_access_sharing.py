"""Values that name themselves twice a step: written out they double each time, so no walk may write them out.

None of these tests would end within a lifetime if one did.
"""

from __future__ import annotations

import gc

import pytest

from clmap_lsp.access import algebra
from clmap_lsp.access.evaluate import Evaluator
from clmap_lsp.access.facts import Facts
from clmap_lsp.access.polynomial import Indirect, LoopSymbol, Op, Parameter, Polynomial, global_id, poly
from clmap_lsp.access.shapes import n_shapes
from tests.access.reading import body, summary_of

N_STEPS = 200
_INTEGERS = "__global int *A, __global int *B, int N"


def _shifted_chain(start: Polynomial) -> Polynomial:
    """Return `x = x ^ (x >> 3)` done many times."""
    value = start
    for _ in range(N_STEPS):
        value = algebra.opaque(Op.XOR, value, algebra.opaque(Op.SHR, value, Polynomial.constant(3)))
    return value


def _loaded_chain(start: Polynomial) -> Polynomial:
    """Return `x = T[x] ^ T[x + 1]` done many times."""
    value = start
    for site in range(N_STEPS):
        value = algebra.opaque(
            Op.XOR, poly(Indirect("T", site, value)), poly(Indirect("T", -site - 1, value + 1))
        )
    return value


@pytest.mark.parametrize("chain", [_shifted_chain, _loaded_chain])
def test_chains_are_compared_by_structure(chain: object) -> None:
    start, other = poly(global_id(0)), poly(global_id(1))
    one, same, different = chain(start), chain(start), chain(other)  # type: ignore[operator]
    assert one is not same
    assert one == same
    assert hash(one) == hash(same)
    assert one != different
    assert {one: 1}[same] == 1
    assert one - same == Polynomial.constant(0)


def test_chains_are_walked_once() -> None:
    value = _shifted_chain(poly(global_id(0)))
    assert value.leaves == {global_id(0)}
    assert len(list(value.walk())) == 2 * N_STEPS + 1
    assert Facts().interval(value) == (0, None)


def test_a_chain_is_substituted_and_evaluated() -> None:
    value = _shifted_chain(poly(global_id(0)))
    expected = 12345
    for _ in range(N_STEPS):
        expected ^= expected >> 3
    assert Evaluator({global_id(0): 12345})(value) == expected
    moved = algebra.substitute(value, {global_id(0): poly(Parameter("p"))})
    assert moved.leaves == {Parameter("p")}
    assert Evaluator({Parameter("p"): 12345})(moved) == expected
    assert algebra.substitute(value, {global_id(0): 12345}).value == expected


def test_equal_values_keep_what_is_known_about_their_own_symbols() -> None:
    """Structures are shared, values are not: loops that compare equal may differ in their bounds."""
    bare = LoopSymbol(7, "i")
    known = LoopSymbol(7, "i", trip=Polynomial.constant(4))
    one, other = (algebra.opaque(Op.XOR, poly(it), poly(global_id(0))) for it in (bare, known))
    assert one == other
    (found,) = (leaf for leaf in other.leaves if isinstance(leaf, LoopSymbol))
    assert found.trip == Polynomial.constant(4)


def test_structures_are_forgotten_with_their_values() -> None:
    gc.collect()
    before = n_shapes()
    one, same = (_shifted_chain(poly(Parameter("of this test"))) for _ in range(2))
    assert one == same
    assert n_shapes() > before + N_STEPS
    del one, same
    gc.collect()
    assert n_shapes() <= before


@pytest.mark.parametrize(
    "statements",
    [
        pytest.param("int v = x; " + "v = v ^ (v >> 3); " * N_STEPS + "A[v] = 1;", id="a variable"),
        pytest.param(
            "int w[4]; w[0] = x; " + "w[0] = w[0] ^ (w[0] >> 3); " * N_STEPS + "A[w[0]] = 1;",
            id="private memory",
        ),
        pytest.param(
            "int w[4]; w[0] = x; "
            + "w[0] = B[B[w[0] & 255] ^ B[(w[0] >> 8) & 255]]; " * N_STEPS
            + "A[w[0]] = 1;",
            id="table look-ups",
        ),
        pytest.param(
            "int4 v = (int4)(x, y, N, 1); " + "v = v.yzwx ^ (v + v.wxyz); " * N_STEPS + "A[v.x] = 1;",
            id="a vector",
        ),
        pytest.param("int v = x; " + "v = B[v]; " * 2 * N_STEPS + "A[v] = 1;", id="look-ups in a chain"),
        pytest.param("int v = x; " + "v = v > 3 ? v*2 + 1 : v - N; " * N_STEPS + "A[v] = 1;", id="choices"),
        pytest.param(
            "int v = x, u = y; "
            + "for (int i = 0; i < N; i++) { v = v*3 ^ u; u = B[v] + u; " * 8
            + "A[v] = 1; "
            + "}" * 8,
            id="loops inside each other",
        ),
    ],
)
def test_a_kernel_is_read_whatever_its_values_grow_to(statements: str) -> None:
    source = body(statements, _INTEGERS)
    stores = [summary_of(source).of_buffer("A")[-1] for _ in range(2)]
    for store in stores:
        assert not store.known
        assert store.text(store.index)
    assert stores[0].span == stores[1].span


def test_a_value_that_grew_too_large_still_says_which_data_it_hangs_on() -> None:
    (store,) = summary_of(
        body("int v = x; " + "v = B[v & 255] ^ B[(v >> 8) & 255]; " * N_STEPS + "A[v] = 1;", _INTEGERS)
    ).of_buffer("A")
    assert store.indirect


def test_pointers_that_are_exchanged_again_and_again() -> None:
    swaps = "".join(f"if ((N >> {bit}) & 1) {{ t = p; p = q; q = t; }} " for bit in range(40))
    source = body(f"__global int *p = A, *q = B, *t; {swaps} p[x] = 1;", _INTEGERS)
    (store,) = summary_of(source).accesses
    assert store.buffer == "?"
    assert store.unknown == "it is one of too many pointers"


def test_pointers_that_are_exchanged_once_are_followed() -> None:
    source = body("__global int *p = A, *q = B, *t; if (N & 1) { t = p; p = q; q = t; } p[x] = 1;", _INTEGERS)
    assert [it.buffer for it in summary_of(source).accesses] == ["B", "A"]

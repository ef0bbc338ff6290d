"""Indices with numbers beyond 64 bits: as C computes them where it says how, and unknown otherwise."""

from __future__ import annotations

import numpy as np
import pytest

from clmap_lsp.access.evaluate import UnknownValueError, evaluate
from clmap_lsp.access.polynomial import Parameter, Polynomial, global_id, poly
from tests.access.reading import access_of, body, launch_of, summary_of, values

LAUNCH = launch_of((4096, 1), (64, 1), N=1000)
IDS = np.arange(4096, dtype=np.uint64)
C, D = 6364136223846793005, 1442695040888963407
X = poly(global_id(0))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"(x * {C}UL + {D}UL) % (ulong)N", (IDS * np.uint64(C) + np.uint64(D)) % np.uint64(1000)),
        (f"(x * {C}UL + {D}UL) >> 54", (IDS * np.uint64(C) + np.uint64(D)) >> np.uint64(54)),
        ("((uint)x * 1664525u + 1013904223u) % 1000u", (IDS * 1664525 + 1013904223) % 2**32 % 1000),
        ("(x * 0x9E3779B97F4A7C15UL) >> 52", (IDS * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(52)),
    ],
)
def test_unsigned_arithmetic_wraps(text: str, expected: np.ndarray) -> None:
    access = access_of(body(f"A[{text}] = 0.0f;"), "A", LAUNCH)
    assert np.array_equal(values(access.index, LAUNCH).ravel(), expected.astype(np.int64))


def test_a_constant_is_that_of_its_type() -> None:
    squares = "ulong u = 3; " + "u *= u; " * 40
    access = access_of(body(squares + "A[u & 1023] = 0.0f;"), "A", LAUNCH)
    assert access.index.value == pow(3, 2**40, 2**64) & 1023


@pytest.mark.parametrize(
    "statements",
    [
        "int v = N; " + "v *= v; " * 40,
        "int v = 3; for (int i = 0; i < 32; i++) v *= v;",
        "int v = 3; " + "v = mad24(v, v, v); " * 40,
        "int v = 3, w = 5; " + "for (int i = 0; i < 8; i++) v *= w; for (int i = 0; i < 8; i++) w *= v;" * 20,
        "int v = N; " + "v = v * 1000003 + 7; " * 2000,
    ],
)
def test_numbers_do_not_grow_without_end(statements: str) -> None:
    (access,) = summary_of(body(statements + "A[x + v] = 0.0f;")).of_buffer("A")
    assert all(abs(it) < 1 << 80 for it in access.offset.terms.values())


def test_what_does_not_fit_into_64_bits_at_last_is_unknown() -> None:
    far = X - Polynomial.constant(1 << 70)
    with pytest.raises(UnknownValueError):
        evaluate(far, {global_id(0): np.arange(4)})
    with pytest.raises(UnknownValueError):
        evaluate(far, {global_id(0): 3})
    with pytest.raises(UnknownValueError):
        evaluate(poly(Parameter("n")) * (1 << 62), {Parameter("n"): 2})


def test_what_is_large_only_on_the_way_is_exact() -> None:
    from clmap_lsp.access import algebra
    from clmap_lsp.access.facts import Facts

    back = algebra.floor_div(X * (1 << 70) + 1, poly(Parameter("n")) * (1 << 68), Facts())
    found = evaluate(back, {global_id(0): np.arange(4), Parameter("n"): 2})
    assert np.asarray(found).dtype == np.int64
    assert np.asarray(found).tolist() == [0, 2, 4, 6]


def test_deep_nests_of_loops_are_read_in_time() -> None:
    """Trial readings of loops inside each other are many: about n³/6 of n loops; this took minutes."""
    depth = 70
    nest = "".join(
        f"int q{at} = 1; for (int i = 0; i < N; i++) {{ if (i & q{at}) {{ q{at} = i; }} "
        f"for (int j = x; j < N; j = q{at} + i) {{ "
        for at in range(depth // 2)
    )
    access = access_of(body(nest + "A[x] = 0.0f;" + "}}" * (depth // 2)), "A")
    assert access.index == X
    assert len(access.loops) == depth

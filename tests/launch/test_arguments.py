"""Argument texts of the command line, `clmap.toml` and comments."""

from __future__ import annotations

import operator
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clmap_lsp.launch.arguments import parse_all, parse_argument
from clmap_lsp.launch.expression import evaluate, evaluate_over_index
from clmap_lsp.launch.model import BufferArgument, Fill, LocalArgument, ScalarArgument
from clmap_lsp.launch.problem import LaunchError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("256", ScalarArgument((256,))),
        ("-3", ScalarArgument((-3,))),
        ("0x1F", ScalarArgument((31,))),
        ("12u", ScalarArgument((12,))),
        ("1.5f", ScalarArgument((1.5,))),
        ("1e-3", ScalarArgument((0.001,))),
        ("0x1.8p1", ScalarArgument((3.0,))),
        ("true", ScalarArgument((1,))),
        ("1,2,3,4", ScalarArgument((1, 2, 3, 4))),
        ("(float4)(1, 2.5, -3, N)", ScalarArgument((1, 2.5, -3, 16))),
        ("N*2 + 1", ScalarArgument((33,))),
        ("zeros(N*N)", BufferArgument(Fill.ZEROS, 256)),
        ("iota(64)", BufferArgument(Fill.IOTA, 64)),
        ("random(64)", BufferArgument(Fill.RANDOM, 64)),
        ("random(64, 7)", BufferArgument(Fill.RANDOM, 64, 7)),
        ("permutation(4096,7)", BufferArgument(Fill.PERMUTATION, 4096, 7)),
        ("formula(9,((i*37)%1009)/64.0)", BufferArgument(Fill.FORMULA, 9, text="((i*37)%1009)/64.0")),
        ("formula(N,min(i,N))", BufferArgument(Fill.FORMULA, 16, text="min(i,16)")),
        ("file:inputs/a.bin", BufferArgument(Fill.FILE, 0, text="inputs/a.bin")),
        ("local(N*4)", LocalArgument(64)),
    ],
)
def test_forms(text: str, expected: object) -> None:
    assert parse_argument(text, {"N": 16}) == expected


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("", "missing"),
        ("zeros", "`zeros`"),
        ("zeros(M)", "`M`"),
        ("zeros()", "number of elements"),
        ("zeros(-1)", "-1 is not a number of elements"),
        ("zeros(1.5)", "1.5 is not a number of elements"),
        ("zeros(1-3)", "1-3 = -2 is not a number of elements"),
        ("zeros(1e99)", "1e99 elements are too many"),
        ("zeros(1 << 60)", "too many"),
        ("random(1,2,3)", "seed"),
        ("ones(4)", "`ones`"),
        ("formula(4)", "expression"),
        ("formula(4, j)", "`j`"),
        ("formula(4, __import__('os'))", "not arithmetic"),
        ("formula(4, i.real)", "not arithmetic"),
        ("formula(4, [i][0])", "not arithmetic"),
        ("9**9**9", "bits"),
        ("1 << (1 << 40)", "bits"),
        ("1/0", "zero"),
        ("file:", "no file"),
    ],
)
def test_mistakes_are_named(text: str, cause: str) -> None:
    with pytest.raises(LaunchError) as caught:
        parse_argument(text, {"N": 16})
    assert cause in caught.value.cause
    assert "\n" not in caught.value.cause


def test_sizes_may_use_scalars_given_later() -> None:
    parsed = parse_all({"A": "random(N*N)", "N": "M*2", "M": "8"})
    assert parsed["A"] == BufferArgument(Fill.RANDOM, 256)
    assert list(parsed) == ["A", "N", "M"]


def test_scalars_that_need_each_other_are_refused() -> None:
    with pytest.raises(LaunchError):
        parse_all({"N": "M", "M": "N"})


EXPRESSIONS = st.recursive(
    st.just("i") | st.integers(0, 2000).map(str) | st.sampled_from(["2.5", "64.0"]),
    lambda inner: (
        st.builds("({} {} {})".format, inner, st.sampled_from(["+", "-", "*"]), inner)
        | st.builds(
            "({} {} {})".format, inner, st.sampled_from(["/", "//", "%"]), st.integers(1, 99).map(str)
        )
        | st.builds(
            "({} {} {})".format,
            st.just("i"),
            st.sampled_from([">>", "&", "^", "|"]),
            st.integers(0, 9).map(str),
        )
    ),
    max_leaves=6,
)


@given(EXPRESSIONS)
def test_arrays_equal_python_for_every_index(text: str) -> None:
    expected = [eval(text, {"__builtins__": {}}, {"i": i}) for i in range(9)]
    assert evaluate_over_index(text, 9, {}).tolist() == expected
    assert [evaluate(text, {"i": i}) for i in range(9)] == expected


def test_integers_beyond_64_bits_stay_exact() -> None:
    found = evaluate_over_index("(i + 1) << 70", 3, {})
    assert found.tolist() == [1 << 70, 2 << 70, 3 << 70]


def test_division_is_pythons() -> None:
    found = evaluate_over_index("(i - 4) // 3", 8, {})
    assert found.tolist() == [operator.floordiv(i - 4, 3) for i in range(8)]
    assert np.issubdtype(found.dtype, np.integer)


@pytest.mark.parametrize(
    ("text", "fill", "sides"),
    [
        ("image(64,48)", Fill.ZEROS, (64, 48)),
        ("image(N, N/2, random)", Fill.RANDOM, (16, 8)),
        ("image(4,4,4,iota)", Fill.IOTA, (4, 4, 4)),
        ("image(7,random,3)", Fill.RANDOM, (7,)),
        ("image(8,8,formula,(i*7)%5/2.0)", Fill.FORMULA, (8, 8)),
        ("image(8,8,file:a,b.bin)", Fill.FILE, (8, 8)),
    ],
)
def test_images_have_sides_and_read_back(text: str, fill: Fill, sides: tuple[int, ...]) -> None:
    found = parse_argument(text, {"N": 16})
    assert isinstance(found, BufferArgument)
    assert (found.fill, found.sides) == (fill, sides)
    assert found.count == np.prod(sides)
    assert parse_argument(str(found)) == found


@pytest.mark.parametrize(
    "text",
    ["image()", "image(random)", "image(1,2,3,4)", "image(0,4)", "image(8,8,zeros,3)", "image(8,8,values)"],
)
def test_images_that_are_none(text: str) -> None:
    with pytest.raises(LaunchError, match=r"image|elements|sides|number|value"):
        parse_argument(text)


def test_tens_of_thousands_of_arguments_are_parsed_in_time_that_grows_with_them():
    """It took the square: 12 s for 20,000 of them."""
    texts = {f"p{number}": f"p{number - 1} + 1" if number % 2 else str(number) for number in range(60_000)}
    started = time.process_time()
    parsed = parse_all(texts)
    assert time.process_time() - started < 20
    assert parsed["p7"] == ScalarArgument((7,))
    assert list(parsed) == list(texts)

"""What a hover says of handles, chains of typedefs, constants and functions of several kinds."""

from __future__ import annotations

import pytest
from index_reading import index_of, named

from clmap_lsp.index.describe import describe, describe_builtin, number
from clmap_lsp.index.types import DOUBLE, FLOAT

TEXT = """\
typedef float real_t;
typedef real_t /*chain*/length_t;
typedef struct { int n; uchar low : 3, high : 5; } point_t;
__constant sampler_t /*sampler*/smp = 0;
void f(write_only image2d_t /*image*/img, point_t p) { p./*member*/n = 1; float /*plain*/x = 0; }
"""


def said(mark: str) -> str:
    index = index_of(TEXT)
    return describe(index, named(index, mark).symbol)


def test_a_handle_has_no_size_and_is_not_private():
    assert "an image in global memory that is only written" in said("image")
    assert "an opaque value: only passed to built-in functions" in said("sampler")
    assert not any(
        word in said(it) for it in ("image", "sampler") for word in ("bytes", "private", "constant memory")
    )
    assert "4 bytes, private to each work-item" in said("plain")


def test_a_typedef_of_a_typedef_says_what_it_comes_to():
    assert "type: `float`" in said("chain")


def test_a_member_is_that_of_the_type_as_it_can_be_written():
    assert "member of `point_t`: offset 0, 4 of 8 bytes" in said("member")


@pytest.mark.parametrize(
    ("value", "type_", "shown"),
    [
        (0.1, FLOAT, "0.1"),
        (3.141592653589793, FLOAT, "3.1415927"),
        (3.141592653589793, DOUBLE, "3.141592653589793"),
        (1e300, FLOAT, "1e+300"),
        (float("inf"), FLOAT, "inf"),
        (float("nan"), FLOAT, "nan"),
        (300, None, "300 (0x12c)"),
    ],
)
def test_a_number_has_as_many_digits_as_tell_it_from_others(value, type_, shown):
    assert number(value, type_) == shown


def test_a_function_of_two_kinds_is_said_to_be_of_both():
    text = "float f(float x) { return clamp(x, 0.0f, 1.0f) + mad24(1, 2, 3); }"
    uses = {use.name: describe_builtin(use) for _, use in index_of(text).builtin_uses}
    assert "integer and common functions" in uses["clamp"]
    assert "*integer functions" in uses["mad24"]

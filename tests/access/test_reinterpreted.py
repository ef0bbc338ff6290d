"""Integers whose bits are read as other integers: `as_uchar4(x)`, `as_uint(bytes)`."""

from __future__ import annotations

import numpy as np
import pytest
from reading import access_of, body, launch_of, values

LAUNCH = launch_of((256, 2), (16, 2), N=64, M=3)
X = np.arange(256, dtype=np.int64)


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        ("as_uchar4(x * 4097).y", (X * 4097 >> 8) & 255),
        ("as_char4(x).x", (X & 255).astype(np.int8).astype(np.int64)),
        ("as_uint((uchar4)(x, 2, 0, 0))", (X & 255) + 512),
        ("as_int((short2)(x, 1))", (X & 0xFFFF) + 65536),
        ("as_int2((long)x * 3).x", X * 3),
        ("as_int2((long)x * 3).y + x", X),
        ("as_long((int2)(x, 0))", X),
        ("as_uchar((char)(x - 128))", (X - 128) & 255),
        ("as_uint(x) + as_int3((int4)(x, 5, 6, 7)).y", X + 5),
        ("as_ushort4(as_ulong((uint2)(x, 7))).z", np.full(256, 7)),
    ],
)
def test_bits_keep_their_value(index: str, expected: np.ndarray) -> None:
    access = access_of(body(f"A[{index}] = 1;"), "A")
    assert access.known
    assert np.array_equal(values(access.offset, LAUNCH)[0], expected * 4)


@pytest.mark.parametrize("index", ["as_int(1.0f * x)", "as_int4((int3)(x, 1, 2)).w"])
def test_what_has_no_integer_value_is_unknown(index: str) -> None:
    assert not access_of(body(f"A[{index}] = 1;"), "A").known

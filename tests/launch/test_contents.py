"""What buffers hold at launch."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from clmap_lsp.launch.contents import buffer_bytes, buffer_contents, numpy_dtype, scalar_bytes
from clmap_lsp.launch.model import BufferArgument, Fill, ScalarArgument
from clmap_lsp.launch.problem import LaunchError
from clmap_lsp.source.types import (
    CHAR,
    FLOAT,
    INT,
    SHORT,
    UCHAR,
    UINT,
    AddressSpace,
    ArrayType,
    Field,
    PointerType,
    ScalarType,
    StructType,
    Type,
    VectorType,
)


def pointer(to: Type) -> PointerType:
    return PointerType(to, AddressSpace.GLOBAL)


def values(argument: BufferArgument, scalar: ScalarType, lanes: int = 1) -> list[float]:
    """Return a buffer's scalars."""
    element = VectorType(scalar, lanes) if lanes > 1 else scalar
    return buffer_contents(argument, pointer(element)).view(numpy_dtype(scalar)).tolist()


def test_permutation_and_random_are_numpys() -> None:
    found = values(BufferArgument(Fill.PERMUTATION, 4096, 7), INT)
    assert found == np.random.default_rng(7).permutation(4096).tolist()
    floats = values(BufferArgument(Fill.RANDOM, 100), FLOAT)
    assert floats == np.random.default_rng(0).random(100).astype(np.float32).tolist()
    whole = values(BufferArgument(Fill.RANDOM, 1000, 3), CHAR)
    assert (min(whole), max(whole)) == (-128, 127)


def test_formulas_are_rounded_once() -> None:
    found = values(BufferArgument(Fill.FORMULA, 50, text="((i*37)%1009)/64.0"), FLOAT)
    assert found == [np.float32(((i * 37) % 1009) / 64.0) for i in range(50)]


def test_integers_wrap_and_floats_truncate() -> None:
    assert values(BufferArgument(Fill.FORMULA, 3, text="300 * i"), UCHAR) == [
        0,
        44,
        88,
    ]
    assert values(BufferArgument(Fill.FORMULA, 2, text="-1.75 * i"), INT) == [0, -1]
    assert values(BufferArgument(Fill.FORMULA, 1, text="-1"), UINT) == [2**32 - 1]


def test_vectors_count_scalars() -> None:
    found = values(BufferArgument(Fill.IOTA, 2), FLOAT, 4)
    assert found == list(range(8))


def test_three_lanes_are_padded() -> None:
    assert buffer_bytes(BufferArgument(Fill.IOTA, 2), pointer(VectorType(FLOAT, 3))) == 32


def test_structs_take_a_number_a_member() -> None:
    pair = StructType("pair", (Field("a", CHAR, 0), Field("b", INT, 4)), 8, 4)
    data = buffer_contents(BufferArgument(Fill.IOTA, 2), pointer(pair))
    assert data.tolist() == [0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0]


@pytest.mark.parametrize("fill", [Fill.IOTA, Fill.RANDOM, Fill.PERMUTATION])
def test_rows_hold_what_the_flat_buffer_does(fill: Fill) -> None:
    rows = buffer_contents(BufferArgument(fill, 1000, 5), pointer(ArrayType(FLOAT, 2000)))
    flat = buffer_contents(BufferArgument(fill, 2_000_000, 5), pointer(FLOAT))
    assert np.array_equal(rows, flat)


def test_rows_of_three_lanes_and_of_structs() -> None:
    three = buffer_contents(BufferArgument(Fill.IOTA, 2), pointer(ArrayType(VectorType(SHORT, 3), 2)))
    assert three.view("<i2").tolist() == [0, 1, 2, 0, 3, 4, 5, 0, 6, 7, 8, 0, 9, 10, 11, 0]
    pair = StructType("pair", (Field("a", CHAR, 0), Field("b", SHORT, 2)), 4, 2)
    mixed = buffer_contents(BufferArgument(Fill.IOTA, 2), pointer(ArrayType(pair, 2)))
    assert mixed.tolist() == [0, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0]


def test_values_may_be_spelt_in_another_type() -> None:
    pair = StructType("pair", (Field("a", CHAR, 0), Field("b", INT, 1)), 5, 1)
    argument = BufferArgument(Fill.VALUES, 5, text="1,2,0,0,2", element="char")
    assert buffer_contents(argument, pointer(pair)).tolist() == [1, 2, 0, 0, 2]


def test_files_are_raw_bytes(tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(np.arange(6, dtype="<i2").tobytes())
    argument = BufferArgument(Fill.FILE, 0, text=str(path))
    assert buffer_bytes(argument, pointer(SHORT)) == 12
    assert values(argument, SHORT) == [0, 1, 2, 3, 4, 5]
    with pytest.raises(LaunchError, match="cannot read"):
        buffer_contents(BufferArgument(Fill.FILE, 0, text=str(tmp_path / "none")), pointer(SHORT))


def test_limits_are_kept_before_memory_is_taken() -> None:
    with pytest.raises(LaunchError, match="limit"):
        buffer_contents(BufferArgument(Fill.ZEROS, 1 << 40), pointer(FLOAT), limit_bytes=1 << 20)


def test_scalars_and_vectors_as_bytes() -> None:
    assert scalar_bytes(ScalarArgument((-1,)), INT) == b"\xff\xff\xff\xff"
    assert scalar_bytes(ScalarArgument((1, 2)), VectorType(SHORT, 2)) == b"\x01\x00\x02\x00"
    assert scalar_bytes(ScalarArgument((7,)), VectorType(CHAR, 2)) == b"\x07\x07"
    pair = StructType("pair", (Field("a", INT, 0), Field("b", INT, 4)), 8, 4)
    assert scalar_bytes(ScalarArgument((5, 6), "int"), pair) == b"\x05\x00\x00\x00\x06\x00\x00\x00"

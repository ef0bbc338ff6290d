"""What a buffer holds when a kernel starts.

A number made for a buffer is rounded once, to the type it is stored as. `iota`, `permutation` and `formula`
count scalars: a buffer of n float4 takes 4n numbers. In a buffer of structs the members take one number each,
in order; padding is zero.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clmap_lsp.launch.expression import evaluate_over_index, python_work
from clmap_lsp.launch.model import BufferArgument, Fill, ScalarArgument
from clmap_lsp.launch.problem import LaunchError
from clmap_lsp.reading import RefusedReadError, reason, regular, safe_read
from clmap_lsp.source.types import (
    SCALARS,
    ArrayType,
    PointerType,
    ScalarKind,
    ScalarType,
    StructType,
    Type,
    VectorType,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DEFAULT_LIMIT_BYTES = 1 << 32
DEFAULT_PYTHON_WORK = 1 << 25
"""Operations that Python may do one by one for the values of one formula: some seconds."""
_CHUNK = 1 << 18
"""Numbers that are made at once: a multiple of four, so that random bytes come as in one piece."""


def numpy_dtype(scalar: ScalarType) -> np.dtype[Any]:
    """Return the NumPy type, little-endian, with the bits of an OpenCL scalar."""
    import numpy as np

    letter = {ScalarKind.FLOAT: "f", ScalarKind.SIGNED: "i"}.get(scalar.kind, "u")
    return np.dtype(f"<{letter}{max(scalar.size, 1)}")


def element_type(parameter: Type) -> Type:
    """Return the type of the elements that a pointer parameter points to."""
    return parameter.pointee if isinstance(parameter, PointerType) else parameter


def scalar_leaves(value: Type, offset: int = 0) -> Iterator[tuple[int, ScalarType]]:
    """Yield (byte offset, type) of the scalars inside a type; of a union, those of its first member."""
    match value:
        case ScalarType() if value.size:
            yield offset, value
        case ScalarType():
            yield offset, SCALARS["uchar"]
        case VectorType():
            for lane in range(value.lanes):
                yield offset + lane * value.element.size, value.element
        case ArrayType():
            for index in range(value.length or 0):
                yield from scalar_leaves(value.element, offset + index * value.element.size)
        case StructType():
            for member in value.fields[:1] if value.is_union else value.fields:
                yield from scalar_leaves(member.type, offset + member.offset)
        case _:
            yield offset, SCALARS["uint" if value.size == 4 else "ulong"]


def buffer_bytes(argument: BufferArgument, parameter: Type) -> int:
    """Return the size of a buffer in bytes.

    Raises: LaunchError if its file cannot be read or does not fill an image's declared sides.
    """
    size = argument.count * _element(argument, parameter).size
    if argument.fill is not Fill.FILE:
        return size
    found = _file_size(argument)
    if argument.sides and found != size:
        sides = "x".join(map(str, argument.sides))
        raise LaunchError(
            f"{argument.text} holds {found} bytes, an image of {sides} texels takes {size}",
            "four channels of 32 bits a texel",
        )
    return found


def _file_size(argument: BufferArgument) -> int:
    """Return the size of an argument's file. Raises: LaunchError with cause and cure."""
    with _refusals(argument):
        return regular(Path(argument.folder, argument.text), within=argument.within).st_size


def _file_bytes(argument: BufferArgument, limit_bytes: int) -> bytes:
    with _refusals(argument):
        return safe_read(Path(argument.folder, argument.text), limit=limit_bytes, within=argument.within)


@contextmanager
def _refusals(argument: BufferArgument) -> Iterator[None]:
    """Make launch errors, with cause and cure, of what is wrong with an argument's file."""
    try:
        yield
    except RefusedReadError as error:
        outside = "name a file from elsewhere with --arg on the command line"
        cure = outside if error.is_outside else "give a file of raw little-endian bytes"
        raise LaunchError(f"cannot read {argument.text}: {reason(error)}", cure) from error
    except OSError as error:
        raise LaunchError(
            f"cannot read {argument.text}: {reason(error)}", "give a file that exists"
        ) from error


def _element(argument: BufferArgument, parameter: Type) -> Type:
    element = SCALARS[argument.element] if argument.element else element_type(parameter)
    return element if element.size else SCALARS["uchar"]


def making_bytes(argument: BufferArgument, size: int) -> int:
    """Return the most memory that making a buffer of `size` bytes takes, in bytes, the buffer included."""
    extra = 16 * argument.count if argument.fill is Fill.PERMUTATION else 64 * _CHUNK
    return size + extra if size and argument.fill not in (Fill.ZEROS, Fill.NOINIT, Fill.NULL) else size


def buffer_contents(
    argument: BufferArgument,
    parameter: Type,
    *,
    limit_bytes: int = DEFAULT_LIMIT_BYTES,
    python_limit: int = DEFAULT_PYTHON_WORK,
) -> NDArray[np.uint8]:
    """Return a buffer's bytes at launch, shape (bytes,). `noinit` buffers are zero here.

    Raises: LaunchError, before anything is made, if it is larger than `limit_bytes`, its file cannot be read,
        or its formula takes more than `python_limit` operations that Python does one by one.
    """
    import numpy as np

    size = buffer_bytes(argument, parameter)
    if size > limit_bytes:
        raise LaunchError(
            f"{argument} takes {size} bytes, over the limit of {limit_bytes}", "make it smaller"
        )
    if argument.fill is Fill.FILE:
        return np.frombuffer(_file_bytes(argument, limit_bytes), np.uint8).copy()
    if argument.fill is Fill.BYTES:
        return np.frombuffer(argument.text.encode("latin-1"), np.uint8).copy()
    if argument.fill is Fill.FORMULA and (work := python_work(argument.text, argument.count)) > python_limit:
        raise LaunchError(
            f"{argument} takes {work:,} operations to work out, over the limit of {python_limit:,}",
            "use whole numbers with + - * // % << >> & | ^, fewer elements, or file:PATH",
        )
    data = np.zeros(size, np.uint8)
    if argument.fill in (Fill.ZEROS, Fill.NOINIT, Fill.NULL) or not size:
        return data
    element = _element(argument, parameter)
    scalar = _only_scalar(element)
    if scalar is not None:
        _fill(data, argument, scalar, size // scalar.size)
        return data
    leaves = list(scalar_leaves(element))
    rows = data.reshape(argument.count, element.size)
    # A number's value depends on the type that it is stored as, so each type has its own whole sequence.
    sequences: dict[ScalarType, NDArray[Any]] = {}
    for place, (offset, scalar) in enumerate(leaves):
        if scalar not in sequences:
            count = argument.count * len(leaves)
            whole = np.zeros(count * scalar.size, np.uint8)
            _fill(whole, argument, scalar, count)
            sequences[scalar] = whole.view(numpy_dtype(scalar))
        numbers = sequences[scalar][place :: len(leaves)]
        stored = np.ascontiguousarray(numbers).view(np.uint8).reshape(argument.count, scalar.size)
        rows[:, offset : offset + scalar.size] = stored
    return data


def _only_scalar(element: Type) -> ScalarType | None:
    """Return the scalar type of which an element is made without gaps; None for structs and their like."""
    match element:
        case ScalarType():
            return element if element.size else None
        case VectorType(element=scalar):
            return scalar  # A vector of three takes the room of four, and gets four numbers.
        case ArrayType(element=VectorType(lanes=3)):
            return None
        case ArrayType(element=inner) if element.length:
            return _only_scalar(inner)
        case _:
            return None


def scalar_bytes(argument: ScalarArgument, parameter: Type) -> bytes:
    """Return the bytes of a scalar, vector or struct argument; missing ones are zero."""
    import numpy as np

    data = bytearray(parameter.size)
    if argument.element:
        scalar = SCALARS[argument.element]
        packed = _rounded(np.array(argument.values, dtype=object), scalar).tobytes()
        return packed[: len(data)].ljust(len(data), b"\0")
    leaves = list(scalar_leaves(parameter))
    values = (
        argument.values * len(leaves) if len(argument.values) == 1 and len(leaves) > 1 else argument.values
    )
    for (offset, scalar), value in zip(leaves, values, strict=False):
        data[offset : offset + scalar.size] = _rounded(np.array([value], dtype=object), scalar).tobytes()
    return bytes(data)


def _fill(data: NDArray[np.uint8], argument: BufferArgument, scalar: ScalarType, count: int) -> None:
    """Write the first `count` numbers of an argument, rounded to `scalar`, into `data`, piece by piece."""
    import numpy as np

    stored = data.view(numpy_dtype(scalar))
    if argument.fill is Fill.PERMUTATION:
        stored[:] = _rounded(np.random.default_rng(argument.seed).permutation(count), scalar)
        return
    rng = np.random.default_rng(argument.seed)
    for first in range(0, count, _CHUNK):
        end = min(first + _CHUNK, count)
        stored[first:end] = _numbers(argument, scalar, first, end, rng)


def _numbers(
    argument: BufferArgument, scalar: ScalarType, first: int, end: int, rng: np.random.Generator
) -> NDArray[Any]:
    """Return the numbers from `first` up to `end`; `rng` has made those before them."""
    import numpy as np

    match argument.fill:
        case Fill.IOTA:
            return _rounded(np.arange(first, end, dtype=np.int64), scalar)
        case Fill.RANDOM:
            if scalar.is_float:
                return _rounded(rng.random(end - first), scalar)
            kind = numpy_dtype(scalar)
            bounds = np.iinfo(kind)
            return rng.integers(bounds.min, bounds.max, end - first, dtype=kind, endpoint=True)
        case Fill.FORMULA:
            return _rounded(evaluate_over_index(argument.text, end, {}, first=first), scalar)
        case _:
            return _rounded(_listed(argument.text, end)[first:], scalar)


def _listed(text: str, count: int) -> NDArray[Any]:
    import numpy as np

    numbers = [int(it) if it.lstrip("+-").isdecimal() else float(it) for it in text.split(",") if it.strip()]
    return np.array(numbers + [0] * (count - len(numbers)), dtype=object)[:count]


def _rounded(values: NDArray[Any], scalar: ScalarType) -> NDArray[Any]:
    """Convert as a store in C does: integers wrap, floats truncate to integers and round to floats."""
    import numpy as np

    dtype = numpy_dtype(scalar)
    if scalar.is_float:
        if values.dtype == object:
            values = np.array([_as_float(it) for it in values.tolist()])
        with np.errstate(over="ignore"):
            return values.astype(np.float64).astype(dtype)
    if values.dtype == object or values.dtype.kind == "f":
        whole = [int(it) if isinstance(it, int) or math.isfinite(it) else 0 for it in values.tolist()]
        mask = (1 << (8 * dtype.itemsize)) - 1
        return np.array([it & mask for it in whole], np.uint64).astype(f"<u{dtype.itemsize}").view(dtype)
    return values.astype(dtype)


def _as_float(value: int | float) -> float:
    """Return a number as a double; whole numbers beyond its range become infinite."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf

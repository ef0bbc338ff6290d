"""A recorded launch as parts of one: decoded by the types of the kernel's parameters."""

from __future__ import annotations

import math
import struct

from clmap_lsp.launch.model import Argument, BufferArgument, Fill, LocalArgument, Origin, ScalarArgument
from clmap_lsp.launch.partial import PartialLaunch
from clmap_lsp.recording import RecordedArgument, RecordedLaunch
from clmap_lsp.source import ir
from clmap_lsp.source.types import AddressSpace, PointerType, ScalarType, VectorType

_MOST_BYTES = 1 << 30
"""Larger buffers are given the size that the launch touches."""
_INTEGERS = {1: "b", 2: "h", 4: "i", 8: "q"}
_FLOATS = {2: "e", 4: "f", 8: "d"}


def part_from_recording(kernel: ir.Kernel, launch: RecordedLaunch, source: str) -> PartialLaunch:
    """Return what a recorded launch says of a kernel; arguments that its types do not fit are left out."""
    parsed: dict[str, Argument] = {}
    for parameter, argument in zip(kernel.parameters, launch.arguments, strict=False):
        made = _argument(parameter, argument) if argument is not None else None
        if made is not None:
            parsed[parameter.name] = made
    return PartialLaunch(
        kernel.name,
        launch.global_size,
        launch.local_size,
        launch.global_offset,
        parsed=parsed,
        origin=Origin.RECORDED,
        source=source,
    )


def _argument(parameter: ir.Variable, argument: RecordedArgument) -> Argument | None:
    match parameter.type, argument.kind:
        case PointerType(space=AddressSpace.LOCAL, pointee=pointee), "local":
            count = argument.size // max(pointee.size, 1)
            return LocalArgument(count) if count else None
        case PointerType(pointee=pointee), "buffer" if 0 < argument.size <= _MOST_BYTES:
            return BufferArgument(Fill.RANDOM, max(argument.size // max(pointee.size, 1), 1))
        case ScalarType() as scalar, "value":
            values = _numbers(scalar, argument.data, 1)
            return ScalarArgument(values) if values else None
        case VectorType(element=element, lanes=lanes), "value":
            values = _numbers(element, argument.data, lanes)
            return ScalarArgument(values) if values else None
        case _:
            return None


def _numbers(scalar: ScalarType, data: bytes, count: int) -> tuple[int | float, ...]:
    code = (_FLOATS if scalar.is_float else _INTEGERS).get(scalar.size)
    if code is None or len(data) < scalar.size * count:
        return ()
    if not scalar.is_float and not scalar.is_signed:
        code = code.upper()
    numbers = struct.unpack(f"<{count}{code}", data[: scalar.size * count])
    return numbers if all(math.isfinite(it) for it in numbers) else ()

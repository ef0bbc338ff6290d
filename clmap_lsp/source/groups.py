"""Built-ins of images, groups and output: image reads and writes, sub-group and work-group functions, printf.

Source: OpenCL C Specification 3.0, sections 6.15.14 to 6.15.20; extensions cl_khr_subgroup_shuffle,
cl_khr_subgroup_shuffle_relative, cl_khr_subgroup_ballot, cl_intel_subgroups and its relatives.
"""

from __future__ import annotations

import re

from clmap_lsp.source.calls import EFFECTS, effect
from clmap_lsp.source.conversions import convert
from clmap_lsp.source.effects import pointee, void
from clmap_lsp.source.ir import (
    Binary,
    BinaryOp,
    Collective,
    Constant,
    Expression,
    ImageRead,
    ImageWrite,
    Load,
    ObjectAddress,
    OpaqueCall,
    PointerCast,
    PointerOffset,
    Print,
    Read,
    Store,
    Swizzle,
    VectorLiteral,
    WorkItem,
    WorkItemQuery,
)
from clmap_lsp.source.lowering import Lowering
from clmap_lsp.source.span import Span
from clmap_lsp.source.typenames import with_lanes
from clmap_lsp.source.types import (
    FLOAT,
    HALF,
    INT,
    UCHAR,
    UINT,
    ULONG,
    USHORT,
    OpaqueType,
    PointerType,
    ScalarType,
    Type,
    VectorType,
)

# ---------------------------------------------------------------------------------------------- images

_CHANNELS = {"f": FLOAT, "i": INT, "ui": UINT, "h": HALF}


@effect(*(f"read_image{kind}" for kind in _CHANNELS))
def _read_image(low: Lowering, name: str, arguments: list[Expression], span: Span) -> Expression | None:
    if len(arguments) < 2:
        return None
    image = arguments[0]
    sampler: Expression | None = None
    coordinate = arguments[1]
    if len(arguments) > 2 or isinstance(arguments[1].type, OpaqueType):
        if len(arguments) < 3:
            return None
        sampler, coordinate = arguments[1], arguments[2]
    element = _CHANNELS[name[len("read_image") :]]
    is_depth = isinstance(image.type, OpaqueType) and "depth" in image.type.name
    variable = low.temporary(element if is_depth else VectorType(element, 4), span)
    low.emit(ImageRead(low.site(), variable, image, sampler, coordinate, span))
    return Read(variable, span)


@effect(*(f"write_image{kind}" for kind in _CHANNELS))
def _write_image(low: Lowering, name: str, arguments: list[Expression], span: Span) -> Expression | None:
    if len(arguments) < 3:
        return None
    element = _CHANNELS[name[len("write_image") :]]
    value = arguments[-1]
    if isinstance(value.type, VectorType):
        value = convert(value, VectorType(element, value.type.lanes))
    low.emit(ImageWrite(low.site(), arguments[0], arguments[1], value, span))
    return void(name, span)


# ------------------------------------------------------------------------------------------- collectives

_REDUCTIONS = ("add", "min", "max", "mul", "and", "or", "xor", "logical_and", "logical_or", "logical_xor")
_SCANS = ("reduce", "scan_exclusive", "scan_inclusive")


def _collective_names() -> list[str]:
    names = ["sub_group_broadcast", "work_group_broadcast", "sub_group_broadcast_first"]
    names += ["sub_group_non_uniform_broadcast"]
    for scan in _SCANS:
        for op in _REDUCTIONS:
            names += [f"{group}_{scan}_{op}" for group in ("work_group", "sub_group")]
            names += [f"sub_group_non_uniform_{scan}_{op}"]
            names += [f"sub_group_clustered_{scan}_{op}"]
    for move in ("shuffle", "shuffle_xor", "shuffle_up", "shuffle_down", "rotate", "clustered_rotate"):
        names += [f"sub_group_{move}", f"intel_sub_group_{move}"]
    return names


@effect(*_collective_names())
def _collective(low: Lowering, name: str, arguments: list[Expression], span: Span) -> Expression | None:
    """Reductions, scans, broadcasts and shuffles yield the type of their first argument."""
    if not arguments:
        return None
    return _emit_collective(low, name, arguments, arguments[0].type, span)


_VOTES = (
    "all",
    "any",
    "elect",
    "non_uniform_all",
    "non_uniform_any",
    "non_uniform_all_equal",
    "inverse_ballot",
)


@effect("work_group_all", "work_group_any", *(f"sub_group_{name}" for name in _VOTES))
def _vote(low: Lowering, name: str, arguments: list[Expression], span: Span) -> Expression | None:
    return _emit_collective(low, name, arguments, INT, span)


@effect("sub_group_ballot", *(f"get_sub_group_{it}_mask" for it in ("eq", "ge", "gt", "le", "lt")))
def _ballot(low: Lowering, name: str, arguments: list[Expression], span: Span) -> Expression | None:
    return _emit_collective(low, name, arguments, VectorType(UINT, 4), span)


_BALLOT_COUNTS = ("bit_count", "inclusive_scan", "exclusive_scan", "find_lsb", "find_msb", "bit_extract")


@effect(*(f"sub_group_ballot_{name}" for name in _BALLOT_COUNTS))
def _ballot_count(low: Lowering, name: str, arguments: list[Expression], span: Span) -> Expression | None:
    return _emit_collective(low, name, arguments, INT if "extract" in name else UINT, span)


def _emit_collective(
    low: Lowering, name: str, arguments: list[Expression], result: Type, span: Span
) -> Expression:
    variable = low.temporary(result, span)
    low.emit(Collective(low.site(), variable, name, tuple(arguments), span))
    return Read(variable, span)


# ------------------------------------------------------------------------------------ sub-group block access

_BLOCK = re.compile(r"intel_sub_group_block_(read|write)(?:_(uc|us|ui|ul))?(2|4|8|16)?$")
_BLOCK_ELEMENTS = {None: UINT, "uc": UCHAR, "us": USHORT, "ui": UINT, "ul": ULONG}


def _block_access(low: Lowering, name: str, arguments: list[Expression], span: Span) -> Expression | None:
    """Lower block reads and writes to one access a component.

    Component k of work-item i stands at element `k * sub-group size + i`
    (cl_intel_subgroups, section 6.13.X).
    """
    match = _BLOCK.match(name)
    if match is None or not arguments:
        return None
    element = _BLOCK_ELEMENTS[match[2]]
    lanes = int(match[3] or 1)
    if isinstance(arguments[0].type, OpaqueType):
        return _image_block(low, match[1], with_lanes(element, lanes), arguments, span)
    if pointee(arguments[0]) is None:
        return None
    addresses = [_block_address(arguments[0], element, lane, span) for lane in range(lanes)]
    if match[1] == "write":
        return _block_write(low, addresses, element, arguments, span)
    parts: list[Expression] = []
    for address in addresses:
        variable = low.temporary(element, span)
        low.emit(Load(low.site(), variable, address, element.size, element.size, span))
        parts.append(Read(variable, span))
    return parts[0] if lanes == 1 else VectorLiteral(tuple(parts), VectorType(element, lanes), span)


def _block_address(pointer: Expression, element: ScalarType, lane: int, span: Span) -> Expression:
    target = pointer.type
    assert isinstance(target, PointerType)
    typed = PointerType(element, target.space, target.is_const, target.is_volatile)
    base = pointer if target.pointee == element else PointerCast(pointer, typed, span)
    index: Expression = WorkItem(WorkItemQuery.SUB_GROUP_LOCAL_ID, None, UINT, span)
    if lane:
        size = WorkItem(WorkItemQuery.SUB_GROUP_SIZE, None, UINT, span)
        skipped = Binary(BinaryOp.MUL, size, Constant(lane, UINT, span), UINT, span)
        index = Binary(BinaryOp.ADD, skipped, index, UINT, span)
    return PointerOffset(base, index, element.size, typed, span)


def _block_write(
    low: Lowering, addresses: list[Expression], element: ScalarType, arguments: list[Expression], span: Span
) -> Expression | None:
    if len(arguments) < 2:
        return None
    value = low.pin(convert(arguments[1], with_lanes(element, len(addresses))))
    for lane, address in enumerate(addresses):
        part = value if len(addresses) == 1 else Swizzle(value, (lane,), element, span)
        low.emit(Store(low.site(), address, part, element.size, element.size, span))
    return void("block write", span)


def _image_block(
    low: Lowering, direction: str, type_: Type, arguments: list[Expression], span: Span
) -> Expression | None:
    """Lower what a sub-group moves as raw bytes, row by row from a place in bytes: no access of texels."""
    if (direction, len(arguments)) not in (("read", 2), ("write", 3)):
        return None
    variable = low.temporary(type_, span) if direction == "read" else None
    name = f"intel_sub_group_block_{direction}"
    low.emit(OpaqueCall(low.site(), variable, name, tuple(arguments), span, "a block of an image"))
    return void("block write", span) if variable is None else Read(variable, span)


for _direction in ("read", "write"):
    for _kind in ("", "_uc", "_us", "_ui", "_ul"):
        for _count in ("", "2", "4", "8", "16"):
            EFFECTS[f"intel_sub_group_block_{_direction}{_kind}{_count}"] = _block_access

# ----------------------------------------------------------------------------------------------- printf


@effect("printf")
def _printf(low: Lowering, name: str, arguments: list[Expression], span: Span) -> Expression | None:
    if not arguments:
        return None
    text = ""
    first = arguments[0]
    if isinstance(first, ObjectAddress) and (made := low.initializers.get(first.variable)) is not None:
        text = (made.data or b"").rstrip(b"\0").decode("utf-8", "replace")
        if first.variable.is_temporary:
            low.used_objects.pop(first.variable, None)
            low.initializers.pop(first.variable, None)
    low.emit(Print(low.site(), text, tuple(arguments[1:]), span))
    return Constant(0, INT, span)

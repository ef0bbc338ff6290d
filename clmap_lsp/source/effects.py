"""Built-ins that touch memory: vloadN and vstoreN, atomics, async copies, barriers and fences, address
space queries.

Source: OpenCL C Specification 3.0, sections 6.15.7 to 6.15.12.
"""

from __future__ import annotations

from clmap_lsp.source.calls import effect
from clmap_lsp.source.constants import integer_value
from clmap_lsp.source.conversions import as_bool, binary, compare, convert, unary
from clmap_lsp.source.expressions import integer_like
from clmap_lsp.source.ir import (
    RELAXED,
    AsyncCopy,
    Atomic,
    AtomicOp,
    Barrier,
    BarrierScope,
    BinaryOp,
    CompareOp,
    Constant,
    Convert,
    Expression,
    Fence,
    If,
    Load,
    Ordering,
    PointerCast,
    PointerOffset,
    Read,
    Store,
    UnaryOp,
    Undefined,
    Variable,
    WaitEvents,
)
from clmap_lsp.source.lowering import Lowering, Memory
from clmap_lsp.source.places import memory_at
from clmap_lsp.source.span import Span
from clmap_lsp.source.typenames import NAMED_TYPES, with_lanes
from clmap_lsp.source.types import (
    DOUBLE,
    FLOAT,
    HALF,
    INT,
    UCHAR,
    UINT,
    ULONG,
    USHORT,
    VECTOR_LANES,
    VOID,
    AddressSpace,
    ArrayType,
    PointerType,
    ScalarType,
    Type,
    element_of,
)

_LANES = VECTOR_LANES


def void(name: str, span: Span) -> Expression:
    """Return the value of a call that has none."""
    return Undefined(name, VOID, span)


def pointee(value: Expression) -> Type | None:
    """Return what a pointer points to, `None` for anything else."""
    return value.type.pointee if isinstance(value.type, PointerType) else None


def _digits(name: str) -> int:
    """Return the number of lanes in `vload4`, `vstore_half8_rte`; 1 where there is none."""
    base = name.split("_rt", maxsplit=1)[0]
    digits = "".join(it for it in base if it.isdecimal())
    return int(digits) if digits else 1


# ------------------------------------------------------------------------------------- vector loads, stores


def _vector_address(
    pointer: Expression, offset: Expression, element: ScalarType, lanes: int, step: int, span: Span
) -> Expression:
    """Return `pointer + offset * step` elements, as a pointer to the vector."""
    target = pointer.type
    assert isinstance(target, PointerType)
    vector = PointerType(with_lanes(element, lanes), target.space, target.is_const, target.is_volatile)
    return PointerOffset(pointer, integer_like(offset), element.size * step, vector, span)


@effect(*(f"vload{n}" for n in _LANES))
def _vload(low: Lowering, name: str, arguments: list[Expression], span: Span) -> Expression | None:
    if len(arguments) != 2 or not isinstance(element := pointee(arguments[1]), ScalarType):
        return None
    lanes = _digits(name)
    pointer = _vector_address(arguments[1], arguments[0], element, lanes, lanes, span)
    return _load(low, pointer, with_lanes(element, lanes), element.size * lanes, element.size, span)


def _load(
    low: Lowering, pointer: Expression, type_: Type, size: int, alignment: int, span: Span
) -> Expression:
    variable = low.temporary(type_, span)
    is_volatile = isinstance(pointer.type, PointerType) and pointer.type.is_volatile
    low.emit(Load(low.site(), variable, pointer, size, alignment, span, is_volatile))
    return Read(variable, span)


@effect(*(f"vstore{n}" for n in _LANES))
def _vstore(low: Lowering, name: str, arguments: list[Expression], span: Span) -> Expression | None:
    if len(arguments) != 3 or not isinstance(element := pointee(arguments[2]), ScalarType):
        return None
    lanes = _digits(name)
    pointer = _vector_address(arguments[2], arguments[1], element, lanes, lanes, span)
    value = convert(arguments[0], with_lanes(element, lanes))
    low.emit(Store(low.site(), pointer, value, element.size * lanes, element.size, span))
    return void(name, span)


@effect("vload_half", *(f"vload{a}_half{n}" for n in _LANES for a in ("", "a")), "vloada_half")
def _vload_half(low: Lowering, name: str, arguments: list[Expression], span: Span) -> Expression | None:
    if len(arguments) != 2 or not isinstance(arguments[1].type, PointerType):
        return None
    lanes, is_aligned = _digits(name), name.startswith("vloada")
    step = 4 if is_aligned and lanes == 3 else lanes
    pointer = _vector_address(arguments[1], arguments[0], HALF, lanes, step, span)
    alignment = HALF.size * step if is_aligned else HALF.size
    value = _load(low, pointer, with_lanes(HALF, lanes), HALF.size * lanes, alignment, span)
    return convert(value, with_lanes(FLOAT, lanes))


_ROUNDINGS = ("", "_rte", "_rtz", "_rtp", "_rtn")


@effect(*(f"vstore{a}_half{n}{r}" for a in ("", "a") for n in ("", *_LANES) for r in _ROUNDINGS))
def _vstore_half(low: Lowering, name: str, arguments: list[Expression], span: Span) -> Expression | None:
    if len(arguments) != 3 or not isinstance(arguments[2].type, PointerType):
        return None
    lanes, is_aligned = _digits(name), name.startswith("vstorea")
    step = 4 if is_aligned and lanes == 3 else lanes
    pointer = _vector_address(arguments[2], arguments[1], HALF, lanes, step, span)
    rounding = name[-3:] if name[-4:] in _ROUNDINGS else None
    source = arguments[0]
    if element_of(source.type) not in (FLOAT, DOUBLE, HALF):
        source = convert(source, with_lanes(FLOAT, lanes))
    target = with_lanes(HALF, lanes)
    value = Convert(source, target, span, rounding) if source.type != target else source
    alignment = HALF.size * step if is_aligned else HALF.size
    low.emit(Store(low.site(), pointer, value, HALF.size * lanes, alignment, span))
    return void(name, span)


@effect("prefetch")
def _prefetch(low: Lowering, name: str, arguments: list[Expression], span: Span) -> Expression | None:
    """A hint without meaning for what is read or written."""
    return void(name, span)


# --------------------------------------------------------------------------------------------- atomics

_OLD_STYLE = {
    "add": AtomicOp.ADD,
    "sub": AtomicOp.SUB,
    "xchg": AtomicOp.EXCHANGE,
    "inc": AtomicOp.INC,
    "dec": AtomicOp.DEC,
    "cmpxchg": AtomicOp.COMPARE_EXCHANGE,
    "min": AtomicOp.MIN,
    "max": AtomicOp.MAX,
    "and": AtomicOp.AND,
    "or": AtomicOp.OR,
    "xor": AtomicOp.XOR,
}
_OPERANDS = {AtomicOp.INC: 0, AtomicOp.DEC: 0, AtomicOp.COMPARE_EXCHANGE: 2}
_OF_INTEGERS = frozenset({AtomicOp.INC, AtomicOp.DEC, AtomicOp.AND, AtomicOp.OR, AtomicOp.XOR})
_FETCH = {
    "add": AtomicOp.ADD,
    "sub": AtomicOp.SUB,
    "or": AtomicOp.OR,
    "xor": AtomicOp.XOR,
    "and": AtomicOp.AND,
    "min": AtomicOp.MIN,
    "max": AtomicOp.MAX,
}
_SUFFIXES = ("", "_explicit")


_STRONG = Ordering(acquires=True, releases=True, is_wide=True)
_ACQUIRE, _RELEASE = range(2, 4)
_GROUP_SCOPES = (0, 1, 4)
"""`memory_scope_work_item`, `_work_group`, `_sub_group`."""


def _ordering(name: str, rest: list[Expression]) -> Ordering:
    """Return what a function of OpenCL 2.0 orders; `rest` are its order and scope, as far as they are given.

    What is no constant is taken for the strongest: it accuses nobody.
    """
    if not name.endswith("_explicit") or not rest:
        return _STRONG
    order = integer_value(rest[0])
    scope = integer_value(rest[1]) if len(rest) > 1 else None
    strong = order is None or order > _RELEASE
    return Ordering(
        acquires=strong or order in (_ACQUIRE - 1, _ACQUIRE),
        releases=strong or order == _RELEASE,
        is_wide=scope not in _GROUP_SCOPES,
    )


def _atomic(
    low: Lowering,
    op: AtomicOp,
    pointer: Expression,
    operands: list[Expression],
    span: Span,
    order: Ordering = RELAXED,
) -> Expression | None:
    type_ = pointee(pointer)
    if not isinstance(type_, ScalarType) or type_.bits == 0 or (type_.is_float and op in _OF_INTEGERS):
        return None
    variable = None if op is AtomicOp.STORE else low.temporary(type_, span)
    converted = tuple(convert(it, type_) for it in operands)
    low.emit(Atomic(low.site(), variable, op, pointer, converted, type_, span, order))
    return void("atomic_store", span) if variable is None else Read(variable, span)


@effect(*(f"{prefix}_{name}" for prefix in ("atomic", "atom") for name in _OLD_STYLE))
def _old_atomic(low: Lowering, name: str, arguments: list[Expression], span: Span) -> Expression | None:
    op = _OLD_STYLE[name.split("_", 1)[1]]
    n_operands = _OPERANDS.get(op, 1)
    if len(arguments) != n_operands + 1:
        return None
    return _atomic(low, op, arguments[0], arguments[1:], span)


@effect(*(f"atomic_fetch_{name}{suffix}" for name in _FETCH for suffix in _SUFFIXES))
def _fetch_atomic(low: Lowering, name: str, arguments: list[Expression], span: Span) -> Expression | None:
    if len(arguments) < 2:
        return None
    order = _ordering(name, arguments[2:])
    return _atomic(low, _FETCH[name.split("_")[2]], arguments[0], arguments[1:2], span, order)


@effect(*(f"atomic_{name}{suffix}" for name in ("load", "store", "exchange") for suffix in _SUFFIXES))
def _plain_atomic(low: Lowering, name: str, arguments: list[Expression], span: Span) -> Expression | None:
    op = {"load": AtomicOp.LOAD, "store": AtomicOp.STORE, "exchange": AtomicOp.EXCHANGE}[name.split("_")[1]]
    n_operands = 0 if op is AtomicOp.LOAD else 1
    if len(arguments) < n_operands + 1:
        return None
    order = _ordering(name, arguments[1 + n_operands :])
    return _atomic(low, op, arguments[0], arguments[1 : 1 + n_operands], span, order)


@effect("atomic_init")
def _atomic_init(low: Lowering, name: str, arguments: list[Expression], span: Span) -> Expression | None:
    if len(arguments) != 2 or not isinstance(type_ := pointee(arguments[0]), ScalarType):
        return None
    low.store(Memory(arguments[0], type_, span), convert(arguments[1], type_))
    return void(name, span)


@effect(*(f"atomic_compare_exchange_{name}{suffix}" for name in ("strong", "weak") for suffix in _SUFFIXES))
def _compare_exchange(low: Lowering, name: str, arguments: list[Expression], span: Span) -> Expression | None:
    """Exchange if the object equals `*expected`, and tell `*expected` the old value where it did not."""
    if len(arguments) < 3 or not isinstance(arguments[1].type, PointerType):
        return None
    expected_place = memory_at(arguments[1], span)
    expected = low.load(expected_place)
    # Of the two orders that of success holds; the scope stands behind both.
    order = _ordering(name, [*arguments[3:4], *arguments[5:6]])
    operands = [expected, arguments[2]]
    old = _atomic(low, AtomicOp.COMPARE_EXCHANGE, arguments[0], operands, span, order)
    if old is None:
        return None
    same = compare(CompareOp.EQ, old, expected, span)
    with low.nested() as failed:
        low.store(expected_place, convert(old, expected_place.type))
    low.emit(If(unary(UnaryOp.LOGICAL_NOT, same, span), tuple(failed), (), span))
    return same


@effect(*(f"atomic_flag_{name}{suffix}" for name in ("test_and_set", "clear") for suffix in _SUFFIXES))
def _flag(low: Lowering, name: str, arguments: list[Expression], span: Span) -> Expression | None:
    if not arguments:
        return None
    order = _ordering(name, arguments[1:])
    if "clear" in name:
        return _atomic(low, AtomicOp.STORE, arguments[0], [Constant(0, INT, span)], span, order)
    old = _atomic(low, AtomicOp.EXCHANGE, arguments[0], [Constant(1, INT, span)], span, order)
    return None if old is None else as_bool(old)


# ------------------------------------------------------------------------------------------ synchronisation

_LOCAL_FENCE, _GLOBAL_FENCE, _IMAGE_FENCE = 1, 2, 4


@effect("barrier", "work_group_barrier", "sub_group_barrier")
def _barrier(low: Lowering, name: str, arguments: list[Expression], span: Span) -> Expression | None:
    flags = integer_value(arguments[0]) if arguments else None
    scope = BarrierScope.SUB_GROUP if name.startswith("sub") else BarrierScope.WORK_GROUP
    local = flags is None or bool(flags & _LOCAL_FENCE)
    global_ = flags is None or bool(flags & _GLOBAL_FENCE)
    image = flags is None or bool(flags & _IMAGE_FENCE)
    open_ = arguments[0] if arguments and flags is None else None
    low.emit(Barrier(low.site(), scope, local, global_, span, open_, image))
    return void(name, span)


_OLD_FENCES = {
    "mem_fence": Ordering(acquires=True, releases=True),
    "read_mem_fence": Ordering(acquires=True),
    "write_mem_fence": Ordering(releases=True),
}
"""What they are since OpenCL 2.0: fences of scope work-group."""


@effect(*_OLD_FENCES, "atomic_work_item_fence")
def _fence(low: Lowering, name: str, arguments: list[Expression], span: Span) -> Expression | None:
    order = _OLD_FENCES.get(name) or _ordering("_explicit", arguments[1:])
    low.emit(Fence(low.site(), span, order))
    return void(name, span)


# ------------------------------------------------------------------------------------------- async copies


@effect("async_work_group_copy", "async_work_group_strided_copy")
def _async_copy(low: Lowering, name: str, arguments: list[Expression], span: Span) -> Expression | None:
    is_strided = "strided" in name
    if len(arguments) != (5 if is_strided else 4):
        return None
    destination, source = arguments[0], arguments[1]
    element = pointee(destination)
    if element is None or pointee(source) is None:
        return None
    count = integer_like(arguments[2])
    stride = integer_like(arguments[3]) if is_strided else None
    event, joins = _events(low, arguments[-1], span)
    load, store = low.site(), low.site()
    low.emit(AsyncCopy(load, store, event, destination, source, count, stride, element, span, joins))
    return Read(event, span)


def _events(low: Lowering, last: Expression, span: Span) -> tuple[Variable, Expression | None]:
    """Return the variable for a copy's event, and the event that it is given to share."""
    event = low.temporary(NAMED_TYPES["event_t"], span)
    joins = last if last.type == event.type and not isinstance(last, Constant) else None
    return event, joins


@effect("async_work_group_copy_2D2D")
def _copy_of_lines(low: Lowering, name: str, arguments: list[Expression], span: Span) -> Expression | None:
    if len(arguments) != 10:
        return None
    lines, from_line, to_line = arguments[6:9]
    one, none = Constant(1, ULONG, span), Constant(0, ULONG, span)
    return _copy_of_box(low, arguments, (lines, one, from_line, none, to_line, none), span)


@effect("async_work_group_copy_3D3D")
def _copy_of_planes(low: Lowering, name: str, arguments: list[Expression], span: Span) -> Expression | None:
    if len(arguments) != 13:
        return None
    return _copy_of_box(low, arguments, tuple(arguments[6:12]), span)


def _copy_of_box(
    low: Lowering, arguments: list[Expression], box: tuple[Expression, ...], span: Span
) -> Expression | None:
    """Emit a copy of which the first arguments are those that both kinds have; offsets count elements."""
    destination, to_offset, source, from_offset, size, count = arguments[:6]
    if pointee(destination) is None or pointee(source) is None:
        return None
    element, unit = _copied_element(destination, source, size), None
    if element is None:  # Of a size that is not written down: byte by byte.
        element, unit = UCHAR, integer_like(size)

    def elements(value: Expression) -> Expression:
        whole = integer_like(value)
        return whole if unit is None else binary(BinaryOp.MUL, whole, unit, span)

    to = _element_address(destination, elements(to_offset), element, span)
    origin = _element_address(source, elements(from_offset), element, span)
    sides = tuple(elements(it) if place > 1 else integer_like(it) for place, it in enumerate(box))
    event, joins = _events(low, arguments[-1], span)
    load, store = low.site(), low.site()
    low.emit(AsyncCopy(load, store, event, to, origin, elements(count), None, element, span, joins, sides))
    return Read(event, span)


def _copied_element(destination: Expression, source: Expression, size: Expression) -> Type | None:
    """Return what is copied, by its size in bytes: what a pointer points to if that is as large."""
    number = integer_value(size)
    if number is None or number < 1:
        return None
    for pointer in (destination, source):
        if (found := pointee(pointer)) is not None and found.size == number:
            return found
    plain = next((it for it in (UCHAR, USHORT, UINT, ULONG) if it.size == number), None)
    return plain or ArrayType(UCHAR, number)


def _element_address(pointer: Expression, index: Expression, element: Type, span: Span) -> Expression:
    kind = pointer.type
    assert isinstance(kind, PointerType)
    target = PointerType(element, kind.space, kind.is_const, kind.is_volatile)
    return PointerOffset(pointer, index, element.size, target, span)


@effect("wait_group_events")
def _wait(low: Lowering, name: str, arguments: list[Expression], span: Span) -> Expression | None:
    if len(arguments) == 2 and isinstance(arguments[1].type, PointerType):
        low.emit(WaitEvents(low.site(), span, integer_like(arguments[0]), arguments[1]))
    else:
        low.emit(WaitEvents(low.site(), span))
    return void(name, span)


# ------------------------------------------------------------------------------------------ address spaces


@effect("to_global", "to_local", "to_private")
def _to_space(low: Lowering, name: str, arguments: list[Expression], span: Span) -> Expression | None:
    if len(arguments) != 1 or not isinstance(source := arguments[0].type, PointerType):
        return None
    target = PointerType(
        source.pointee, AddressSpace(name[3:]), source.is_const, source.is_volatile, source.is_restrict
    )
    return PointerCast(arguments[0], target, span, or_null=True)

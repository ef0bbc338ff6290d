"""Which values fit where: conversions and operators, with clang's words where they do not.

Source: ISO/IEC 9899:1999, 6.3 and 6.5; OpenCL C Specification 3.0, 6.4 (conversions), 6.5 (operators), 6.7.
"""

from __future__ import annotations

from clmap_lsp.index.model import Symbol
from clmap_lsp.index.types import (
    INT,
    LONG,
    TYPE_NAMES,
    UNKNOWN,
    Array,
    Base,
    Function,
    Pointer,
    Qualified,
    Record,
    Unknown,
    base_of,
    canonical,
    decayed,
    is_integer,
    scalar_of,
    space_of,
    spelled,
    unqualified,
)
from clmap_lsp.source.types import (
    SCALARS,
    AddressSpace,
    OpaqueType,
    ScalarKind,
    ScalarType,
    VectorType,
)


class Value:
    """What an expression is: its type, where it starts, and what it names."""

    __slots__ = (
        "callee",
        "constant",
        "is_lane",
        "is_lvalue",
        "is_pointed",
        "is_size",
        "is_whole",
        "most",
        "root",
        "start",
        "type",
        "use",
    )

    def __init__(
        self,
        type_: Qualified,
        start: int,
        *,
        is_lvalue: bool = False,
        constant: int | float | None = None,
        root: Symbol | None = None,
        use: int | None = None,
        is_pointed: bool = False,
        is_whole: bool = True,
        is_lane: bool = False,
        callee: Symbol | str | None = None,
        is_size: bool = False,
        most: int | None = None,
    ) -> None:
        self.type = type_
        self.start = start
        self.is_lvalue = is_lvalue
        self.constant = constant
        self.root = root
        self.use = use
        self.is_pointed = is_pointed
        self.is_whole = is_whole
        self.is_lane = is_lane
        """Whether it is selected of a vector."""
        self.callee = callee
        self.is_size = is_size
        """Whether it has 64 bits only because sizes and numbers of work-items have."""
        self.most = most
        """The most that an integer can be, where it is never negative."""


_COMPARISONS = frozenset({"==", "!=", "<", ">", "<=", ">="})
_LOGIC = frozenset({"&&", "||"})
_INTEGER_ONLY = frozenset({"%", "<<", ">>", "&", "|", "^"})
_SIGNED_NAMES = {8: "char", 16: "short", 32: "int", 64: "long"}


def arithmetic_type(a: ScalarType, b: ScalarType) -> Qualified:
    """Return the common type of two numbers (ISO C 6.3.1.8)."""
    if a.is_float or b.is_float:
        wider = max((it for it in (a, b) if it.is_float), key=lambda it: it.bits)
        return TYPE_NAMES[wider.name]
    a, b = promoted(a), promoted(b)
    if a.name == b.name:
        return TYPE_NAMES[a.name]
    wider, other = (a, b) if a.bits >= b.bits else (b, a)
    if wider.bits == other.bits:
        return TYPE_NAMES[f"u{_SIGNED_NAMES[wider.bits]}"]
    return TYPE_NAMES[wider.name]


def promoted(scalar: ScalarType) -> ScalarType:
    """Return what arithmetic makes of a small integer."""
    return SCALARS["int"] if scalar.bits < 32 and not scalar.is_float else scalar


def binary_type(operator: str, left: Value, right: Value) -> tuple[Qualified, str | None]:
    """Return the type of an operation, and what is wrong with it."""
    a, b = base_of(left.type), base_of(right.type)
    if isinstance(a, ScalarType) and isinstance(b, ScalarType):  # Most are: the rest costs twice as much.
        return _number_type(operator, left, right, a, b)
    first, second = decayed(left.type), decayed(right.type)
    a, b = base_of(first), base_of(second)
    if isinstance(a, Unknown) or isinstance(b, Unknown):
        return UNKNOWN, None
    if isinstance(a, VectorType) or isinstance(b, VectorType):
        return _vector_type(operator, first, second)
    if isinstance(a, Pointer) or isinstance(b, Pointer):
        if operator in _COMPARISONS and 0 in (left.constant, right.constant):
            return INT, None
        return _pointer_type(operator, first, second)
    if operator in _COMPARISONS and _are_handles(left, right):
        return INT, None
    scalar, other = scalar_of(a), scalar_of(b)
    if scalar is None or other is None:
        return UNKNOWN, _invalid(left.type, right.type)
    return _number_type(operator, left, right, scalar, other)


def _number_type(
    operator: str, left: Value, right: Value, scalar: ScalarType, other: ScalarType
) -> tuple[Qualified, str | None]:
    if scalar.kind is ScalarKind.VOID or other.kind is ScalarKind.VOID:
        return UNKNOWN, _invalid(left.type, right.type)
    if operator in _INTEGER_ONLY and (scalar.is_float or other.is_float):
        return UNKNOWN, _invalid(left.type, right.type)
    if operator in _COMPARISONS or operator in _LOGIC:
        return INT, None
    if operator in ("<<", ">>"):
        return TYPE_NAMES[promoted(scalar).name], None
    return arithmetic_type(scalar, other), None


def _are_handles(left: Value, right: Value) -> bool:
    """Tell whether two queues or events of queues are compared, or a queue with 0 (OpenCL C 2.0, 6.13.17)."""
    names = [it.name if isinstance(it := base_of(value.type), OpaqueType) else "" for value in (left, right)]
    if names in (["queue_t", "queue_t"], ["clk_event_t", "clk_event_t"]):
        return True
    return sorted(names) == ["", "queue_t"] and 0 in (left.constant, right.constant)


def _invalid(left: Qualified, right: Qualified) -> str:
    return f"invalid operands to binary expression ('{spelled(left)}' and '{spelled(right)}')"


def _vector_type(operator: str, first: Qualified, second: Qualified) -> tuple[Qualified, str | None]:
    a, b = base_of(first), base_of(second)
    if isinstance(a, VectorType) and isinstance(b, VectorType):
        if a != b and (operator not in ("<<", ">>") or a.lanes != b.lanes):
            said = f"cannot convert between vector values of different size ('{first}' and '{second}')"
            if a.lanes == b.lanes and (a.size == b.size or operator in _LOGIC):
                said = _invalid(first, second)
            return UNKNOWN, said
        vector = a
    else:
        found = a if isinstance(a, VectorType) else b
        other = scalar_of(b if found is a else a)
        assert isinstance(found, VectorType)
        vector = found
        if other is None or other.kind is ScalarKind.VOID:
            said = f"cannot convert between vector and non-scalar values ('{first}' and '{second}')"
            return UNKNOWN, said
    if operator in _INTEGER_ONLY and vector.element.is_float:
        return UNKNOWN, _invalid(first, second)
    by = b.element if isinstance(b, VectorType) else scalar_of(b)
    if operator in ("<<", ">>") and by is not None and by.is_float:
        return UNKNOWN, f"used type '{second}' where integer is required"
    if operator in ("<<", ">>") and not isinstance(a, VectorType):
        said = f"requested shift is a vector of type '{second}' but the first operand is not a vector "
        return UNKNOWN, f"{said}('{first}')"
    if operator in _COMPARISONS or operator in _LOGIC:
        return truth_of(vector), None
    return Qualified(vector), None  # Attributes make vectors of lengths that have no name.


def rank_fault(left: Value, right: Value) -> str | None:
    """Return what is wrong with a number that no element of the vector it goes with can hold.

    Source: OpenCL C Specification 3.0, 6.4.6 (usual arithmetic conversions).
    """
    a, b = base_of(left.type), base_of(right.type)
    vector, number = (a, b) if isinstance(a, VectorType) else (b, a)
    if not isinstance(vector, VectorType) or not isinstance(number, ScalarType) or not number.bits:
        return None
    element = vector.element
    is_greater = number.bits > element.bits if element.is_float else _is_of_greater_rank(number, element)
    if not is_greater or (element.is_float and not number.is_float):
        return None
    said = "scalar operand type has greater rank than the type of the vector element. "
    return f"{said}('{unqualified(left.type)}' and '{unqualified(right.type)}')"


def _is_of_greater_rank(number: ScalarType, element: ScalarType) -> bool:
    """Tell whether a number does not fit the integers of a vector by its type alone."""
    if number.is_float or number.bits > element.bits:
        return True
    return number.bits == element.bits and element.is_signed and number.kind is ScalarKind.UNSIGNED


def truth_of(vector: VectorType) -> Qualified:
    """Return the type of a comparison of two such vectors: signed integers as wide as the elements."""
    return Qualified(VectorType(SCALARS[_SIGNED_NAMES[vector.element.bits]], vector.lanes))


def is_plain_void_pointer(type_: Qualified, version: int) -> bool:
    """Tell whether a 0 that is cast to a type is a null pointer for every address space (ISO C 6.3.2.3).

    Args:
        version: that of OpenCL C, which says to what pointers point that name no address space.
    """
    base = base_of(type_)
    if not isinstance(base, Pointer) or base.is_block:
        return False
    pointee, void = canonical(base.pointee), base_of(base.pointee)
    is_void = isinstance(void, ScalarType) and void.kind is ScalarKind.VOID
    unnamed = (None, AddressSpace.PRIVATE if version < 200 else AddressSpace.GENERIC)
    return is_void and pointee.space in unnamed and not (pointee.is_const or pointee.is_volatile)


_APART = "non-overlapping address spaces"


def never_meet(a: Base, b: Base) -> bool:
    """Tell whether two types are pointers to address spaces that are surely apart."""
    if not isinstance(a, Pointer) or not isinstance(b, Pointer):
        return False
    one, other = space_of(a.pointee), space_of(b.pointee)
    return None not in (one, other) and not meets(one, other) and not meets(other, one)


def choice_fault(left: Value, right: Value) -> str | None:
    """Return what is wrong with `c ? a : b`, if its values go with each other in no way."""
    first, second = decayed(left.type), decayed(right.type)
    a, b = base_of(first), base_of(second)
    if isinstance(a, Unknown) or isinstance(b, Unknown):
        return None
    if isinstance(a, Record) or isinstance(b, Record):
        return None if a == b else f"incompatible operand types ('{first}' and '{second}')"
    if 0 not in (left.constant, right.constant) and never_meet(a, b):
        what = "conditional operator with the second and third operands of type"
        return f"{what}  ('{first}' and '{second}') which are pointers to {_APART}"
    return None


def _pointer_type(operator: str, first: Qualified, second: Qualified) -> tuple[Qualified, str | None]:
    a, b = base_of(first), base_of(second)
    if (operator == "-" or operator in _COMPARISONS) and never_meet(a, b):
        is_difference = operator == "-"
        what = "arithmetic operation with operands of type" if is_difference else "comparison between"
        return UNKNOWN, f"{what}  ('{first}' and '{second}') which are pointers to {_APART}"
    if operator in _COMPARISONS or operator in _LOGIC:
        return INT, None
    if operator == "-" and isinstance(a, Pointer) and isinstance(b, Pointer):
        return LONG, None
    if operator in ("+", "-") and isinstance(a, Pointer) and is_integer(b):
        return first, None
    if operator == "+" and isinstance(b, Pointer) and is_integer(a):
        return second, None
    return UNKNOWN, _invalid(first, second)


# -------------------------------------------------------------------------------------------- conversions


def conversion_fault(target: Qualified, value: Value, action: str) -> tuple[str, str] | None:
    """Return a code and clang's words where a value does not fit; `None` where it does, or may."""
    given = decayed(value.type)
    a, b = base_of(target), base_of(given)
    if isinstance(a, Unknown | Array | Function) or isinstance(b, Unknown | Function):
        return None
    if isinstance(a, Pointer):
        return _to_pointer(target, a, given, b, value, action)
    if isinstance(b, ScalarType) and b.kind is ScalarKind.VOID:
        return "wrong-type", _incompatible(target, given, action)
    if a == b:
        return None
    if isinstance(a, Record) or isinstance(b, Record):
        return "wrong-type", _incompatible(target, given, action)
    if isinstance(a, VectorType):
        if isinstance(b, VectorType | Pointer | OpaqueType):
            return "wrong-type", _incompatible(target, given, action)
        return None
    if isinstance(a, OpaqueType):
        is_wrong = _fits_no_handle(a, b, value)
        return ("wrong-type", _incompatible(target, given, action)) if is_wrong else None
    scalar = scalar_of(a)
    if scalar is None:
        return None
    if isinstance(b, VectorType | OpaqueType) or (isinstance(b, Pointer) and scalar.is_float):
        return "wrong-type", _incompatible(target, given, action)
    if isinstance(b, Pointer) and scalar.name != "bool" and not b.is_block:
        return "wrong-type", _without_cast("pointer to integer", target, given, action)
    return None


def _fits_no_handle(handle: OpaqueType, given: Base, value: Value) -> bool:
    """Tell whether an image, a sampler or an event is made of something else; `0` is no event."""
    if isinstance(given, VectorType) or (isinstance(given, OpaqueType) and given != handle):
        return True
    return handle.name == "event_t" and isinstance(given, ScalarType) and value.constant not in (0, None)


def _without_cast(between: str, target: Qualified, given: Qualified, action: str) -> str:
    a, b = spelled(target), spelled(given)
    match action:
        case "passing":
            which = f"passing '{b}' to parameter of type '{a}'"
        case "initializing":
            which = f"initializing '{a}' with an expression of type '{b}'"
        case "returning":
            which = f"returning '{b}' from a function with result type '{a}'"
        case _:
            which = f"assigning to '{a}' from '{b}'"
    return f"incompatible {between} conversion {which}"


def _incompatible(target: Qualified, given: Qualified, action: str) -> str:
    match action:
        case "passing":
            return f"passing '{spelled(given)}' to parameter of incompatible type '{spelled(target)}'"
        case "initializing":
            said = f"with an expression of incompatible type '{spelled(given)}'"
            return f"initializing '{spelled(target)}' {said}"
        case "returning":
            said = f"from a function with incompatible result type '{spelled(target)}'"
            return f"returning '{spelled(given)}' {said}"
        case _:
            return f"assigning to '{spelled(target)}' from incompatible type '{spelled(given)}'"


def _to_pointer(
    target: Qualified, wanted: Pointer, given: Qualified, base: Base, value: Value, action: str
) -> tuple[str, str] | None:
    if isinstance(base, Pointer):
        if value.constant == 0 or base.is_block or wanted.is_block:
            return None
        if meets(space_of(wanted.pointee), space_of(base.pointee)):
            return None
        return "address-space", _changes_space(target, given, action)
    if isinstance(base, VectorType | Record) or (isinstance(base, ScalarType) and base.is_float):
        return "wrong-type", _incompatible(target, given, action)
    if is_integer(base) and value.constant != 0:
        return "wrong-type", _without_cast("integer to pointer", target, given, action)
    return None


def meets(wanted: AddressSpace | None, given: AddressSpace | None) -> bool:
    """Tell whether a pointer to one space may be taken for one to another."""
    wanted, given = wanted or AddressSpace.PRIVATE, given or AddressSpace.PRIVATE
    return wanted is given or (wanted is AddressSpace.GENERIC and given is not AddressSpace.CONSTANT)


def _changes_space(target: Qualified, given: Qualified, action: str) -> str:
    a, b = _with_private(target), _with_private(given)
    match action:
        case "passing":
            return f"passing '{b}' to parameter of type '{a}' changes address space of pointer"
        case "initializing":
            return f"initializing '{a}' with an expression of type '{b}' changes address space of pointer"
        case "returning":
            said = "changes address space of pointer"
            return f"returning '{b}' from a function with result type '{a}' {said}"
        case _:
            return f"assigning '{b}' to '{a}' changes address space of pointer"


def _with_private(type_: Qualified) -> str:
    """Spell a pointer with its space, `__private` too, which is what such a message is about."""
    base = base_of(type_)
    text = spelled(type_)
    if isinstance(base, Pointer) and space_of(base.pointee) in (None, AddressSpace.PRIVATE):
        return f"__private {text}"
    return text

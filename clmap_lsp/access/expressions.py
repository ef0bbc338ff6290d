"""The symbolic value of an IR expression."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import count
from typing import Final

from clmap_lsp.access import algebra, real
from clmap_lsp.access.builtins import integer_builtin, real_builtin
from clmap_lsp.access.evaluate import TOO_LARGE
from clmap_lsp.access.facts import Facts
from clmap_lsp.access.polynomial import (
    ONE,
    ZERO,
    Atom,
    Indirect,
    Leaf,
    LoopSymbol,
    Operation,
    Parameter,
    Polynomial,
    Unknown,
    poly,
)
from clmap_lsp.access.real import UNKNOWN_REAL, Real
from clmap_lsp.access.values import (
    NULL,
    OPAQUE,
    Address,
    Pointer,
    PointerChoice,
    Scalar,
    Subscript,
    Value,
    Vector,
    Within,
    choose,
    unknown_pointer,
)
from clmap_lsp.access.workitems import work_item_value
from clmap_lsp.source import ir
from clmap_lsp.source.ir import BinaryOp, CompareOp, Expression, UnaryOp, Variable
from clmap_lsp.source.types import (
    AddressSpace,
    Field,
    OpaqueType,
    PointerType,
    ScalarKind,
    ScalarType,
    Type,
    VectorType,
    element_of,
    lanes_of,
)

Environment = dict[object, Value]
"""Registers by variable; tracked private memory by (variable, byte offset, size)."""

_LARGE: Final = 1 << 16
MAX_SUBSCRIPTS: Final = 8
"""Steps of a pointer that count as dimensions of what it points to; more are arithmetic."""
"""Coefficients from here on may make 32-bit arithmetic wrap; smaller ones are trusted not to."""
_LARGE_OF_64: Final = 1 << 48
"""The same for 64-bit arithmetic."""


MAX_WEIGHT: Final = 400
"""Values of variables with more atoms than this, written out, are not followed."""

THRIFTY_WEIGHT: Final = 8
"""The same for values made of data, in kernels of thousands of statements (`Expressions.thrifty`)."""


class Expressions:
    """Evaluates pure expressions over an environment.

    Args:
        keeps_reals: keep floating-point expressions, because some become integers.
        n_dimensions: of the launch, or as many as the kernel asks about.
        given_up: variables whose values are not worked out, each reading of which is a number of its own.
    """

    def __init__(
        self,
        facts: Facts,
        keeps_reals: bool,
        n_dimensions: int,
        given_up: frozenset[Variable] = frozenset(),
    ) -> None:
        self.facts = facts
        self.keeps_reals = keeps_reals
        self.given_up = given_up
        self.n_dimensions = n_dimensions
        self.environment: Environment = {}
        self.thrifty = False
        """Give up early what is computed from data: set in ciphers and the like, whose every round would grow
        formulas that nobody reads."""
        self.bases: dict[Atom, Pointer] = {}
        """For each symbol `&A` of a pointer that was made an integer, where it points."""
        self._numbers = count(1)

    # ------------------------------------------------------------------------------------ entries

    def value(self, it: Expression) -> Value:
        """Return what an expression evaluates to."""
        return _HANDLERS[type(it)](self, it)

    def scalar(self, it: Expression) -> Polynomial:
        """Return an integer scalar, unknown where it is something else."""
        return self.as_polynomial(self.value(it), it)

    def condition(self, it: Expression) -> Polynomial:
        """Return the truth of a scalar expression as a polynomial that is 0 or 1."""
        value = self.value(it)
        if isinstance(value, Polynomial):
            decided = algebra.truth(value, self.facts)
            return algebra.as_truth(value) if decided is None else (ONE if decided else ZERO)
        return self.as_polynomial(value, it)

    def address(self, it: Expression) -> Address:
        """Return the memory that a pointer expression names."""
        value = self.value(it)
        if isinstance(value, (Pointer, PointerChoice)):
            return value
        return unknown_pointer(_space_of(it.type), "the pointer is computed from an integer")

    def kept(self, value: Value) -> Value:
        """Return a value that a variable may hold: one that is too large to be followed becomes unknown."""
        match value:
            case Polynomial():
                return self.kept_scalar(value)
            case Vector(lanes=lanes):
                if self.thrifty or any(
                    isinstance(lane, Polynomial) and _is_too_large(lane) for lane in lanes
                ):
                    return Vector(tuple(_scalar(self.kept(lane)) for lane in lanes))
                return value
            case Pointer(offset=offset) if _is_too_large(offset):
                kept = self.kept_scalar(offset)
                return Pointer(value.root, value.space, kept, (), value.path, value.reason)
            case _:
                return value

    def kept_scalar(self, value: Polynomial) -> Polynomial:
        """Return an integer that a variable may hold, or that memory is read at."""
        if value.weight > MAX_WEIGHT or (
            self.thrifty and value.weight > THRIFTY_WEIGHT and any(map(_is_data, value.leaves))
        ):
            # What is unknown in it already stands for itself no longer: chains of such values, as in ciphers,
            # would drag a growing tail along.
            leaves = frozenset(it for it in value.leaves if not isinstance(it, Unknown))
            return self.unknown(_TOO_LONG, leaves)
        if has_large_numbers(value):
            return self.unknown(TOO_LARGE.reason, value.leaves)
        return value

    def as_polynomial(self, value: Value, it: Expression) -> Polynomial:
        """Return an integer value; what is none becomes unknown, with why."""
        match value:
            case Polynomial():
                return value
            case Real():
                return self.unknown("it depends on floating-point values", value.leaves)
            case Vector(lanes=lanes) if lanes and isinstance(lanes[0], Polynomial):
                return lanes[0]
            case _:
                return self.unknown(f"`{type(it).__name__}` has no integer value")

    def unknown(self, reason: str, leaves: frozenset[Leaf] = frozenset()) -> Polynomial:
        """Return a value that nothing is known about."""
        return poly(Unknown(reason, next(self._numbers), leaves=leaves))

    # -------------------------------------------------------------------------------------- nodes

    def _constant(self, it: ir.Constant) -> Value:
        if isinstance(it.type, ScalarType) and it.type.is_float:
            return real.number(float(it.value)) if self.keeps_reals else UNKNOWN_REAL
        if isinstance(it.type, PointerType):
            return unknown_pointer(it.type.space, "the pointer is a fixed address" if it.value else NULL)
        value = Polynomial.constant(int(it.value))
        if isinstance(it.type, ScalarType) and has_large_numbers(value):
            return algebra.wrapped(value, it.type.bits, it.type.is_signed, self.facts)
        return value

    def _read(self, it: ir.Read) -> Value:
        if it.variable in self.given_up:
            return self.nothing_known(it.type, f"`{it.variable.name}` is computed from data")
        value = self.environment.get(it.variable)
        if value is None:
            value = self.environment[it.variable] = self.initial(it.variable)
        return value

    def initial(self, variable: Variable) -> Value:
        """Return what a variable holds before it is written: an argument, or nothing known."""
        if variable.kind is ir.VariableKind.PARAMETER:
            return self._argument(variable)
        return self.nothing_known(variable.type, f"`{variable.name}` is read before it is written")

    def _argument(self, variable: Variable) -> Value:
        match variable.type:
            case PointerType(space=space):
                return Pointer(variable, space, ZERO)
            case VectorType(element=element, lanes=lanes):
                names = [f"{variable.name}.{_lane_name(lane, lanes)}" for lane in range(lanes)]
                return Vector(tuple(self.parameter(name, element) for name in names))
            case ScalarType() as scalar:
                return self.parameter(variable.name, scalar)
            case OpaqueType():
                return OPAQUE
            case _:
                return self.parameter(variable.name, ScalarType("int", ScalarKind.SIGNED, 32))

    def parameter(self, name: str, kind: ScalarType) -> Scalar:
        """Return a scalar argument, or a member of one."""
        if kind.is_float:
            return real.read(Parameter(name)) if self.keeps_reals else UNKNOWN_REAL
        return poly(Parameter(name, kind.kind in (ScalarKind.UNSIGNED, ScalarKind.BOOL)))

    def nothing_known(self, kind: Type, reason: str) -> Value:
        """Return a value of a type of which nothing is known."""
        match kind:
            case PointerType(space=space):
                return unknown_pointer(space, reason)
            case VectorType(element=element, lanes=lanes):
                if element.is_float:
                    return Vector((UNKNOWN_REAL,) * lanes)
                return Vector(tuple(self.unknown(reason) for _ in range(lanes)))
            case ScalarType() as scalar:
                return UNKNOWN_REAL if scalar.is_float else self.unknown(reason)
            case OpaqueType():
                return OPAQUE
            case _:
                return self.unknown(reason)

    def _object_address(self, it: ir.ObjectAddress) -> Value:
        return Pointer(it.variable, _object_space(it.variable, it.type.space), ZERO)

    def _work_item(self, it: ir.WorkItem) -> Value:
        dimension = 0 if it.dimension is None else self.scalar(it.dimension).value
        if dimension is None:
            return self.unknown(f"the dimension of `{it.query.value}` is not a constant")
        return work_item_value(it.query, dimension, self.n_dimensions, self.facts)

    def _unary(self, it: ir.Unary) -> Value:
        operand = self.value(it.operand)
        match it.op:
            case UnaryOp.NEGATE:
                return _each(operand, lambda a: -a if isinstance(a, Polynomial) else Real.of("neg", a))
            case UnaryOp.BIT_NOT:
                return _each(operand, lambda a: self._complement(a, element_of(it.type)))
            case UnaryOp.LOGICAL_NOT:
                if isinstance(operand, Polynomial):
                    return algebra.negated(algebra.as_truth(operand))
                return self.nothing_known(it.type, "it negates something that is no integer")

    def _complement(self, a: Scalar, kind: Type) -> Scalar:
        if not isinstance(a, Polynomial):
            return self.unknown("it complements a floating-point value")
        if isinstance(kind, ScalarType) and not kind.is_signed and a.value is not None:
            return Polynomial.constant(~a.value & ((1 << kind.bits) - 1))
        return algebra.bit_not(a)

    def _binary(self, it: ir.Binary) -> Value:
        left, right = self.value(it.left), self.value(it.right)
        kind = element_of(it.type)
        if not isinstance(kind, ScalarType):
            return self.nothing_known(it.type, "its type is not known")
        return self._zip(left, right, lambda a, b: self.arithmetic(it.op, a, b, kind), it.type)

    def _zip(
        self, left: Value, right: Value, combine: Callable[[Scalar, Scalar], Scalar], kind: Type
    ) -> Value:
        match left, right:
            case ((Polynomial() | Real()), (Polynomial() | Real())):
                return combine(left, right)
            case Vector(lanes=a), Vector(lanes=b):
                return Vector(tuple(combine(x, y) for x, y in zip(a, b, strict=False)))
            case Vector(lanes=a), (Polynomial() | Real()):
                return Vector(tuple(combine(x, right) for x in a))
            case ((Polynomial() | Real()), Vector(lanes=b)):
                return Vector(tuple(combine(left, y) for y in b))
            case _:
                return self.nothing_known(kind, "an operand is no number")

    def arithmetic(self, op: BinaryOp, left: Scalar, right: Scalar, kind: ScalarType) -> Scalar:
        """Return what a binary operator gives on two values of one scalar type."""
        if kind.is_float:
            if not self.keeps_reals:
                return UNKNOWN_REAL
            return Real.of(op.value, _as_real(left), _as_real(right))
        if not isinstance(left, Polynomial) or not isinstance(right, Polynomial):
            return self.unknown("it depends on floating-point values", left.leaves | right.leaves)
        if self.thrifty and (mixed := _mixed((left, right))) is not None:
            return self.unknown(_TOO_LONG, mixed)
        match op:
            case BinaryOp.ADD:
                return self._kept(algebra.add(left, right, self.facts), kind)
            case BinaryOp.SUB:
                return self._kept(algebra.add(left, -right, self.facts), kind)
            case BinaryOp.MUL:
                return self._kept(left * right, kind)
            case BinaryOp.SHL:
                return self._kept(algebra.shl(left, self._shift(right, kind), self.facts), kind)
            case BinaryOp.SHR:
                return algebra.shr(self.as_number(left, kind), self._shift(right, kind), self.facts)
            case _:
                return _OPERATIONS[op](self.as_number(left, kind), self.as_number(right, kind), self.facts)

    def _shift(self, count: Polynomial, kind: ScalarType) -> Polynomial:
        """Return a shift count, which OpenCL takes modulo the width (OpenCL C 3.0, section 6.3.10)."""
        return algebra.mod(count, Polynomial.constant(kind.bits), self.facts)

    def _kept(self, value: Polynomial, kind: ScalarType) -> Polynomial:
        """Model wrap-around where large constants make it likely to be meant (hashes, packing)."""
        large = _LARGE if kind.bits <= 32 else _LARGE_OF_64
        if all(abs(it) < large for m, it in value.terms.items() if m or len(value.terms) == 1) and not any(
            algebra.is_wrapped(it, kind.bits) for it in value.atoms
        ):
            return value
        return algebra.wrapped(value, kind.bits, kind.is_signed, self.facts)

    def as_number(self, value: Polynomial, kind: ScalarType) -> Polynomial:
        """Return a value as the number that it is, for an operation that does not work modulo 2^bits.

        Polynomials of unsigned types stand for any number that is equal modulo 2^bits. Signed ones are their
        numbers already, as signed arithmetic must not overflow.
        """
        if kind.is_signed:
            return value
        placed = self._placed(value, kind)
        if placed is not None:
            return placed
        if any(
            isinstance(it, Unknown) or (isinstance(it, LoopSymbol) and it.trip is None) for it in value.leaves
        ):
            return value  # What bounds the turns of a loop is the condition that is being read here.
        if self.facts.launch is None and (kind.bits > 32 or all(it > 0 for it in value.terms.values())):
            return value  # Arguments are not known to be anything; none is taken to be negative.
        return algebra.wrapped(value, kind.bits, signed=False, facts=self.facts)

    def placed(self, value: Polynomial, kind: ScalarType) -> Polynomial:
        """Return a value as the number that it is where that is proved, else as it stands."""
        found = self._placed(value, kind)
        return value if found is None else found

    def _placed(self, value: Polynomial, kind: ScalarType) -> Polynomial | None:
        """Return the number, where all work-items' values lie in one period of 2^bits; `None` otherwise."""
        least = -(1 << (kind.bits - 1)) if kind.is_signed else 0
        low, high = self.facts.interval(value)
        if low is None:
            return None
        if high is None:
            return value if low >= least else None
        period = (low - least) >> kind.bits
        if (high - least) >> kind.bits == period:
            return value - (period << kind.bits) if period else value
        return algebra.wrapped(value, kind.bits, kind.is_signed, self.facts) if low >= least else None

    def _compare(self, it: ir.Compare) -> Value:
        left, right = self.value(it.left), self.value(it.right)
        kind = element_of(it.left.type)
        is_vector = isinstance(it.type, VectorType)

        def combine(a: Scalar, b: Scalar) -> Scalar:
            result = self.compared(it.op, a, b, kind)
            return -result if is_vector and isinstance(result, Polynomial) else result

        if isinstance(left, (Pointer, PointerChoice)) or isinstance(right, (Pointer, PointerChoice)):
            return self._compare_pointers(it.op, left, right)
        return self._zip(left, right, combine, it.type)

    def compared(self, op: CompareOp, a: Scalar, b: Scalar, kind: Type) -> Scalar:
        """Return 1 or 0 for a comparison of two scalars."""
        if not isinstance(a, Polynomial) or not isinstance(b, Polynomial):
            return self.unknown("it compares floating-point values", a.leaves | b.leaves)
        if isinstance(kind, ScalarType):
            a, b = self.as_number(a, kind), self.as_number(b, kind)
        match op:
            case CompareOp.EQ:
                return algebra.equal(a, b, self.facts)
            case CompareOp.NE:
                return algebra.negated(algebra.equal(a, b, self.facts))
            case CompareOp.LT:
                return algebra.less(a, b, self.facts)
            case CompareOp.LE:
                return algebra.less_equal(a, b, self.facts)
            case CompareOp.GT:
                return algebra.less(b, a, self.facts)
            case CompareOp.GE:
                return algebra.less_equal(b, a, self.facts)

    def _compare_pointers(self, op: CompareOp, left: Value, right: Value) -> Value:
        match left, right:
            case Pointer(root=a), Pointer(root=b) if a is b and a is not None:
                return self.compared(op, left.offset, right.offset, OPAQUE_TYPE)
            case _:
                return self.unknown("it compares pointers")

    def _logical(self, it: ir.Logical) -> Value:
        left, right = self.condition(it.left), self.condition(it.right)
        return algebra.both(left, right) if it.op is ir.LogicalOp.AND else algebra.either(left, right)

    def _select(self, it: ir.Select) -> Value:
        condition = self.value(it.condition)
        if_true, if_false = self.value(it.if_true), self.value(it.if_false)
        if isinstance(condition, Polynomial):
            decided = algebra.truth(condition, self.facts)
            if decided is not None:
                return if_true if decided else if_false
            return choose(algebra.as_truth(condition), if_true, if_false, self.facts)
        if isinstance(condition, Vector) and isinstance(if_true, Vector) and isinstance(if_false, Vector):
            lanes = zip(condition.lanes, if_true.lanes, if_false.lanes, strict=False)
            return Vector(tuple(self._chosen_lane(c, a, b) for c, a, b in lanes))
        return self.nothing_known(it.type, "its condition is no integer")

    def _chosen_lane(self, condition: Scalar, if_true: Scalar, if_false: Scalar) -> Scalar:
        if not isinstance(condition, Polynomial):
            return self.unknown("its condition is no integer")
        negative = algebra.less(condition, ZERO, self.facts)
        chosen = choose(negative, if_true, if_false, self.facts)
        return chosen if isinstance(chosen, (Polynomial, Real)) else UNKNOWN_REAL

    def _convert(self, it: ir.Convert) -> Value:
        value = self.value(it.operand)
        source, target = element_of(it.operand.type), element_of(it.type)
        if not isinstance(target, ScalarType) or not isinstance(source, ScalarType):
            return value
        converted = _each(value, lambda a: self.converted(a, source, target, it))
        lanes = lanes_of(it.type)
        if lanes > 1 and isinstance(converted, (Polynomial, Real)):
            return Vector((converted,) * lanes)
        return converted

    def converted(self, a: Scalar, source: ScalarType, target: ScalarType, it: ir.Convert) -> Scalar:
        """Return a scalar after a value conversion."""
        if target.is_float:
            return _as_real(a) if self.keeps_reals else UNKNOWN_REAL
        if isinstance(a, Real):
            rounded = _rounded(a, it.rounding)
            whole = real.as_integer(rounded) if self.keeps_reals else None
            if whole is not None and has_large_numbers(whole):  # Undefined in C.
                return self.unknown(TOO_LARGE.reason)
            return whole if whole is not None else self.unknown("it is computed in floating point", a.leaves)
        if target.kind is ScalarKind.BOOL:
            return algebra.as_truth(a)
        if it.saturate:
            low = -(1 << (target.bits - 1)) if target.is_signed else 0
            high = (1 << (target.bits - 1 if target.is_signed else target.bits)) - 1
            raised = algebra.maximum(a, Polynomial.constant(low), self.facts)
            return algebra.minimum(raised, Polynomial.constant(high), self.facts)
        if target.bits < 32 and (source.bits > target.bits or source.kind is not target.kind):
            return algebra.wrapped(a, target.bits, target.is_signed, self.facts)
        if source.bits < target.bits and not source.is_signed:
            a = self.placed(a, source)
        narrows = source.bits > target.bits or (source.bits == target.bits and not source.is_signed)
        return self.placed(a, target) if target.is_signed and narrows else a

    def _reinterpret(self, it: ir.Reinterpret) -> Value:
        value = self.value(it.operand)
        source, target = element_of(it.operand.type), element_of(it.type)
        lanes = value.lanes if isinstance(value, Vector) else (value,)
        whole = [lane for lane in lanes if isinstance(lane, Polynomial)]
        if (
            not (isinstance(source, ScalarType) and isinstance(target, ScalarType))
            or source.is_float
            or target.is_float
            or len(whole) != len(lanes)
        ):
            return self.nothing_known(it.type, "its bits are read as another type")
        parts = self._same_bits(whole, source, target)
        missing = lanes_of(it.type) - len(parts)
        parts += [self.unknown("the last of three lanes has no fourth beside it")] * missing
        return Vector(tuple(parts[: lanes_of(it.type)])) if lanes_of(it.type) > 1 else parts[0]

    def _same_bits(self, lanes: list[Polynomial], source: ScalarType, target: ScalarType) -> list[Polynomial]:
        """Return the elements that the bytes of some lanes are, the lowest first (little-endian)."""
        if source.bits == target.bits:
            if target.bits >= 32 or source.is_signed == target.is_signed:
                return lanes
            return [algebra.wrapped(it, target.bits, target.is_signed, self.facts) for it in lanes]
        if source.bits > target.bits:
            steps = [Polynomial.constant(1 << shift) for shift in range(0, source.bits, target.bits)]
            pieces = [algebra.floor_div(it, step, self.facts) for it in lanes for step in steps]
            return [algebra.wrapped(it, target.bits, target.is_signed, self.facts) for it in pieces]
        n = target.bits // source.bits
        joined = []
        for start in range(0, len(lanes) - n + 1, n):
            *low, high = lanes[start : start + n]
            total = algebra.wrapped(high, source.bits, target.is_signed, self.facts)
            for part in reversed(low):
                total = total * Polynomial.constant(1 << source.bits) + algebra.wrapped(
                    part, source.bits, False, self.facts
                )
            joined.append(total)
        return joined

    def _pointer_cast(self, it: ir.PointerCast) -> Value:
        value = self.value(it.operand)
        if isinstance(it.type, PointerType):
            if isinstance(value, (Pointer, PointerChoice)):
                return value
            return self._pointer_from(value, it.type.space)
        if isinstance(value, Pointer) and value.root is not None:
            base = Parameter(f"&{value.root.name}", unsigned=True)
            self.bases[base] = value
            return poly(base) + value.offset
        return self.unknown("a pointer is used as an integer")

    def _pointer_from(self, value: Value, space: AddressSpace) -> Address:
        """Return the pointer that an integer holds, if it was made from one: base + offset."""
        if isinstance(value, Polynomial) and value.value == 0:
            return unknown_pointer(space, NULL)
        bases = [it for it in value.atoms if it in self.bases] if isinstance(value, Polynomial) else []
        if len(bases) != 1 or not isinstance(value, Polynomial):
            return unknown_pointer(space, "the pointer is made from an integer")
        offset = value - poly(bases[0])
        if bases[0] in offset.leaves:
            return unknown_pointer(space, "the pointer is made from an integer")
        origin = self.bases[bases[0]]
        return Pointer(origin.root, origin.space, offset, (), origin.path)

    def _vector_literal(self, it: ir.VectorLiteral) -> Value:
        lanes: list[Scalar] = []
        for part in it.parts:
            value = self.value(part)
            if isinstance(value, Vector):
                lanes.extend(value.lanes)
            elif isinstance(value, (Polynomial, Real)):
                lanes.append(value)
            else:
                return self.nothing_known(it.type, "a lane is no number")
        return Vector(tuple(lanes))

    def _swizzle(self, it: ir.Swizzle) -> Value:
        value = self.value(it.operand)
        if not isinstance(value, Vector) or any(lane >= len(value.lanes) for lane in it.lanes):
            return self.nothing_known(it.type, "it takes lanes of something that is no vector")
        if len(it.lanes) == 1:
            return value.lanes[it.lanes[0]]
        return Vector(tuple(value.lanes[lane] for lane in it.lanes))

    def _insert_lanes(self, it: ir.InsertLanes) -> Value:
        vector, value = self.value(it.vector), self.value(it.value)
        if not isinstance(vector, Vector):
            return self.nothing_known(it.type, "it replaces lanes of something that is no vector")
        lanes = list(vector.lanes)
        new = value.lanes if isinstance(value, Vector) else (value,) * len(it.lanes)
        for lane, scalar in zip(it.lanes, new, strict=False):
            if lane < len(lanes) and isinstance(scalar, (Polynomial, Real)):
                lanes[lane] = scalar
        return Vector(tuple(lanes))

    def _pointer_offset(self, it: ir.PointerOffset) -> Value:
        pointer, index = self.address(it.pointer), self.scalar(it.index)
        kind = it.index.type
        if isinstance(kind, ScalarType) and kind.bits < 64 and not kind.is_signed:
            index = self.placed(index, kind)
        return self.moved(pointer, index, it.stride, _component(it))

    def moved(
        self, pointer: Address, index: Polynomial, stride: int, component: str | None = None
    ) -> Address:
        """Return a pointer `index` steps of `stride` bytes on."""
        if isinstance(pointer, PointerChoice):
            return PointerChoice(
                pointer.condition,
                self.moved(pointer.if_true, index, stride, component),
                self.moved(pointer.if_false, index, stride, component),
            )
        step = index.scaled(stride)
        offset = algebra.add(pointer.offset, step, self.facts) if pointer.offset else step
        plain = (not pointer.offset or pointer.subscripts) and len(pointer.subscripts) < MAX_SUBSCRIPTS
        subscripts = (*pointer.subscripts, Subscript(index, stride)) if plain else ()
        within = pointer.within and pointer.within.then(component or index)
        return Pointer(pointer.root, pointer.space, offset, subscripts, pointer.path, pointer.reason, within)

    def _field_address(self, it: ir.FieldAddress) -> Value:
        kind = it.pointer.type
        size = kind.pointee.size if isinstance(kind, PointerType) else 0
        return _member(self.address(it.pointer), it.field, size)

    def _builtin(self, it: ir.Builtin) -> Value:
        values = [self.value(argument) for argument in it.arguments]
        if it.name.startswith("get_image_") and it.arguments and isinstance(it.arguments[0], ir.Read):
            return self._image_query(it, it.arguments[0].variable.name)
        kind = element_of(it.type)
        if not isinstance(kind, ScalarType) or any(
            not isinstance(value, (Polynomial, Real, Vector)) for value in values
        ):
            return self.nothing_known(it.type, f"`{it.name}` is not followed")
        lanes = max((len(v.lanes) for v in values if isinstance(v, Vector)), default=1)
        if lanes_of(it.type) != lanes:
            return self.nothing_known(it.type, f"`{it.name}` is not followed")
        results = []
        for lane in range(lanes):
            arguments = [v.lanes[min(lane, len(v.lanes) - 1)] if isinstance(v, Vector) else v for v in values]
            results.append(self._builtin_lane(it, arguments, kind))  # type: ignore[arg-type]
        return results[0] if lanes == 1 else Vector(tuple(results))

    def _builtin_lane(self, it: ir.Builtin, arguments: list[Scalar], kind: ScalarType) -> Scalar:
        if kind.is_float:
            if not self.keeps_reals:
                return UNKNOWN_REAL
            return real_builtin(it.name, [_as_real(argument) for argument in arguments])
        integers = [argument for argument in arguments if isinstance(argument, Polynomial)]
        if len(integers) == len(arguments):
            if self.thrifty and (mixed := _mixed(integers)) is not None:
                return self.unknown(_TOO_LONG, mixed)
            result = integer_builtin(it.name, integers, kind, self.facts)
            if result is not None:
                return self._kept(result, kind)
        leaves: frozenset[Leaf] = frozenset().union(*(argument.leaves for argument in arguments))
        return self.unknown(f"`{it.name}` is not followed", leaves)

    def _image_query(self, it: ir.Builtin, image: str) -> Value:
        name = f"{it.name}({image})"
        lanes = lanes_of(it.type)
        if lanes == 1:
            return poly(Parameter(name))
        return Vector(tuple(poly(Parameter(f"{name}.{_lane_name(lane, lanes)}")) for lane in range(lanes)))

    def _undefined(self, it: ir.Undefined) -> Value:
        if isinstance(it.type, ScalarType) and not it.type.is_float and it.name.isidentifier():
            return poly(Parameter(it.name))
        return self.nothing_known(it.type, f"`{it.name}` is not defined")


_TOO_LONG: Final = "it is computed in more steps than are followed"


def _is_data(leaf: Leaf) -> bool:
    return isinstance(leaf, (Indirect, Unknown))


def _mixed(values: Sequence[Polynomial]) -> frozenset[Leaf] | None:
    """Return what numbers of which nothing is known depend on, together; `None` if something is known of one.

    Numbers of one and the same origin are left to the algebra, which may find that they cancel.
    """
    found: set[Unknown] = set()
    for value in values:
        own = _unknowns(value)
        if own is None or not found.isdisjoint(own):
            return None
        found |= own
    if len(found) < 2:
        return None
    sets = sorted((it.leaves for it in found), key=len)
    widest = sets.pop()
    return widest if all(it <= widest for it in sets) else widest.union(*sets)


def _unknowns(value: Polynomial) -> set[Unknown] | None:
    """Return the unknowns that a value is made of; `None` if anything else is in it but numbers."""
    found: set[Unknown] = set()
    for monomial in value.terms:
        for atom in monomial:
            if isinstance(atom, Unknown):
                found.add(atom)
            elif isinstance(atom, Operation):
                for operand in atom.operands:
                    below = _unknowns(operand)
                    if below is None:
                        return None
                    found |= below
            else:
                return None
    return found


OPAQUE_TYPE: Final = OpaqueType("pointer")

_OPERATIONS: Final[Mapping[BinaryOp, Callable[[Polynomial, Polynomial, Facts], Polynomial]]] = {
    BinaryOp.DIV: algebra.trunc_div,
    BinaryOp.REM: algebra.rem,
    BinaryOp.AND: algebra.bit_and,
    BinaryOp.OR: algebra.bit_or,
    BinaryOp.XOR: algebra.bit_xor,
}

_HANDLERS: Final[Mapping[type, Callable[..., Value]]] = {
    ir.Constant: Expressions._constant,
    ir.Read: Expressions._read,
    ir.ObjectAddress: Expressions._object_address,
    ir.WorkItem: Expressions._work_item,
    ir.Unary: Expressions._unary,
    ir.Binary: Expressions._binary,
    ir.Compare: Expressions._compare,
    ir.Logical: Expressions._logical,
    ir.Select: Expressions._select,
    ir.Convert: Expressions._convert,
    ir.Reinterpret: Expressions._reinterpret,
    ir.PointerCast: Expressions._pointer_cast,
    ir.VectorLiteral: Expressions._vector_literal,
    ir.Swizzle: Expressions._swizzle,
    ir.InsertLanes: Expressions._insert_lanes,
    ir.PointerOffset: Expressions._pointer_offset,
    ir.FieldAddress: Expressions._field_address,
    ir.Builtin: Expressions._builtin,
    ir.Undefined: Expressions._undefined,
}


def has_large_numbers(value: Polynomial) -> bool:
    """Tell whether a coefficient is beyond 64 bits; without an end to them arithmetic has none."""
    return any(abs(it) >> 64 for it in value.terms.values())


def _is_too_large(value: Polynomial) -> bool:
    return value.weight > MAX_WEIGHT or has_large_numbers(value)


def _each(value: Value, apply: Callable[[Scalar], Scalar]) -> Value:
    match value:
        case Polynomial() | Real():
            return apply(value)
        case Vector(lanes=lanes):
            return Vector(tuple(apply(lane) for lane in lanes))
        case _:
            return value


def _scalar(value: Value) -> Scalar:
    return value if isinstance(value, (Polynomial, Real)) else UNKNOWN_REAL


def _as_real(value: Scalar) -> Real:
    return real.from_integer(value) if isinstance(value, Polynomial) else value


def _rounded(value: Real, rounding: str | None) -> Real:
    name = {"rte": "rint", "rtp": "ceil", "rtn": "floor"}.get(rounding or "")
    return Real.of(name, value) if name is not None else value


def _lane_name(lane: int, lanes: int) -> str:
    return "xyzw"[lane] if lanes <= 4 else f"s{lane:x}"


def _member(pointer: Address, member: Field, size: int) -> Address:
    """Return the address of a member of a struct of `size` bytes; one without a name is passed through."""
    if isinstance(pointer, PointerChoice):
        sides = (_member(it, member, size) for it in (pointer.if_true, pointer.if_false))
        return PointerChoice(pointer.condition, *sides)
    moved = pointer.offset + member.offset if member.offset else pointer.offset
    within = pointer.within or Within(pointer.offset, size, ())
    step = f".{member.name}" if member.name else ""
    return Pointer(
        pointer.root,
        pointer.space,
        moved,
        pointer.subscripts,
        pointer.path + step,
        pointer.reason,
        within.then(step) if step else within,
    )


def _component(it: ir.PointerOffset) -> str | None:
    """Return `.x` where a pointer goes to one component of a member that is a vector."""
    base, index = it.pointer, it.index
    if not isinstance(base, ir.FieldAddress) or not isinstance(index, ir.Constant):
        return None
    kind, number = base.field.type, int(index.value)
    if not isinstance(kind, VectorType) or it.stride != kind.element.size:
        return None
    return f".{'xyzw'[number]}" if number < min(kind.lanes, 4) else f".s{number:x}"


def _space_of(kind: Type) -> AddressSpace:
    return kind.space if isinstance(kind, PointerType) else AddressSpace.PRIVATE


def _object_space(variable: Variable, declared: AddressSpace) -> AddressSpace:
    match variable.kind:
        case ir.VariableKind.LOCAL_OBJECT:
            return AddressSpace.LOCAL
        case ir.VariableKind.PRIVATE_OBJECT | ir.VariableKind.PARAMETER:
            return AddressSpace.PRIVATE
        case _:
            return declared

"""Evaluating IR expressions for all work-items of a box at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from clmap_lsp.emulator.symbolic import integers
from clmap_lsp.emulator.symbolic.comparing import compare, truth, values_of
from clmap_lsp.emulator.symbolic.integers import spread_out
from clmap_lsp.emulator.symbolic.space import Space
from clmap_lsp.emulator.symbolic.values import (
    Condition,
    Floats,
    Lanes,
    Pointer,
    Sym,
    Unknown,
    Value,
    add,
    affordable,
    choose,
    of_array,
    scale,
)
from clmap_lsp.source import ir
from clmap_lsp.source.ir import BinaryOp, CompareOp, LogicalOp, UnaryOp, Variable, WorkItemQuery
from clmap_lsp.source.types import (
    INT,
    SIZE_T,
    PointerType,
    ScalarKind,
    ScalarType,
    Type,
    VectorType,
)

_FLOAT = {16: np.float16, 32: np.float32, 64: np.float64}


class Evaluator:
    """Evaluates expressions over an environment of needed variables.

    Invariant: results are exact; what cannot be known is `Unknown` with its reason.
    """

    def __init__(self, space: Space) -> None:
        self.space = space
        self.env: dict[Variable, Value] = {}

    def value(self, expression: ir.Expression) -> Value:
        """Return the value of an expression. Raises: SplitError, NotRegularError, OverBudgetError."""
        value = _EVALUATE[type(expression)](self, expression)
        if isinstance(value, Sym) and value.array is not None:
            self.space.spending.compute(value.array.size)
        return value

    def condition(self, expression: ir.Expression) -> Condition:
        """Return an expression as a condition."""
        found = self._condition(expression)
        if isinstance(found, np.ndarray):
            self.space.spending.compute(found.size)
        return found

    def _condition(self, expression: ir.Expression) -> Condition:
        match expression:
            case ir.Compare(type=ScalarType()):
                return self._compare(expression)
            case ir.Logical():
                return self._logical(expression)
            case ir.Unary(op=UnaryOp.LOGICAL_NOT, type=ScalarType()):
                return negate(self.condition(expression.operand))
            case ir.Convert(operand=operand, type=ScalarType(is_integer=True)) if isinstance(
                operand, ir.Compare | ir.Logical
            ):
                return self.condition(operand)
            case _:
                value = self.value(expression)
        match value:
            case Sym():
                return truth(value, self.space)
            case Floats():
                return _plain(np.asarray(value.array != 0))
            case Pointer():
                return True
            case Unknown():
                return value
            case _:
                return Unknown("a vector is used as a condition")

    # ------------------------------------------------------------------------------------------- leaves

    def _constant(self, expression: ir.Constant) -> Value:
        if isinstance(expression.type, ScalarType) and expression.type.is_float:
            return Floats(np.array([expression.value], _FLOAT[expression.type.bits]))
        return Sym(int(expression.value))

    def _read(self, expression: ir.Read) -> Value:
        value = self.env.get(expression.variable)
        return Unknown(f"`{expression.variable.name}` has no value here") if value is None else value

    def _object(self, expression: ir.ObjectAddress) -> Value:
        return Pointer(expression.variable, Sym(0))

    def _undefined(self, expression: ir.Undefined) -> Value:
        return Unknown(f"`{expression.name}` is not known")

    def _work_item(self, item: ir.WorkItem) -> Value:
        dimension: Value = Sym(0) if item.dimension is None else self.value(item.dimension)
        if not isinstance(dimension, Sym) or not dimension.is_uniform:
            return Unknown(f"{item.query.value} of a dimension that varies")
        return self.query(item.query, dimension.const)

    def query(self, query: WorkItemQuery, d: int) -> Value:
        """Return a work-item function of dimension `d`."""
        space, launch = self.space, self.space.launch
        inside = 0 <= d < 3
        match query:
            case WorkItemQuery.GLOBAL_ID:
                return space.global_id(d) if inside else Sym(0)
            case WorkItemQuery.LOCAL_ID:
                return space.local_ids[d] if inside else Sym(0)
            case WorkItemQuery.GROUP_ID:
                return space.group_id(d) if inside else Sym(0)
            case WorkItemQuery.GLOBAL_SIZE:
                return Sym(space.launch_size(launch.global_size, d))
            case WorkItemQuery.LOCAL_SIZE:
                return Sym(space.box.local_size[d] if inside else 1)
            case WorkItemQuery.ENQUEUED_LOCAL_SIZE:
                return Sym(space.launch_size(launch.local_size, d))
            case WorkItemQuery.NUM_GROUPS:
                return Sym(space.launch_size(launch.num_groups, d))
            case WorkItemQuery.GLOBAL_OFFSET:
                return Sym(launch.global_offset[d] if d < len(launch.global_offset) else 0)
            case WorkItemQuery.WORK_DIM:
                return Sym(len(launch.global_size))
            case WorkItemQuery.LOCAL_LINEAR_ID:
                return of_array(space.linear_lanes())
            case WorkItemQuery.GLOBAL_LINEAR_ID:
                return self._global_linear()
            case _:
                return self._sub_group(query)

    def _global_linear(self) -> Sym:
        launch = self.space.launch
        total, pitch = Sym(0), 1
        for d in range(3):
            offset = launch.global_offset[d] if launch.global_offset and d < len(launch.global_offset) else 0
            total = add(total, scale(add(self.space.global_id(d), Sym(-offset)), pitch))
            pitch *= self.space.launch_size(launch.global_size, d)
        return total

    def _sub_group(self, query: WorkItemQuery) -> Value:
        width = self.space.simd_width
        lanes = self.space.linear_lanes()
        count = -(-self.space.n_lanes // width)
        match query:
            case WorkItemQuery.SUB_GROUP_ID:
                return of_array(lanes // width)
            case WorkItemQuery.SUB_GROUP_LOCAL_ID:
                return of_array(lanes % width)
            case WorkItemQuery.MAX_SUB_GROUP_SIZE:
                return Sym(width)
            case WorkItemQuery.SUB_GROUP_SIZE:
                return of_array(np.minimum(width, self.space.n_lanes - lanes // width * width))
            case WorkItemQuery.NUM_SUB_GROUPS:
                return Sym(count)
            case _:
                full = 1
                for size in self.space.launch.local_size:
                    full *= size
                return Sym(-(-full // width))

    # ---------------------------------------------------------------------------------------- operators

    def _unary(self, expression: ir.Unary) -> Value:
        if expression.op is UnaryOp.LOGICAL_NOT and isinstance(expression.type, ScalarType):
            return self._from_condition(negate(self.condition(expression.operand)))
        return self._lanewise(
            [self.value(expression.operand)], expression.type, self._unary_scalar(expression.op)
        )

    def _unary_scalar(self, op: UnaryOp) -> _Scalar:
        def apply(values: Sequence[Value], scalar: ScalarType) -> Value:
            (value,) = values
            match value:
                case Sym() if op is UnaryOp.NEGATE:
                    return integers.fit(scale(value, -1), scalar, self.space)
                case Sym() if op is UnaryOp.BIT_NOT:
                    return integers.fit(add(Sym(-1), scale(value, -1)), scalar, self.space)
                case Floats(array=array) if op is UnaryOp.NEGATE:
                    return Floats(-array)
                case Unknown():
                    return value
                case _:
                    return Unknown(f"operator {op.value} is not followed here")

        return apply

    def _binary(self, expression: ir.Binary) -> Value:
        left, right = self.value(expression.left), self.value(expression.right)
        op, kind = expression.op, expression.type
        if isinstance(left, Sym) and isinstance(right, Sym) and isinstance(kind, ScalarType):
            result = integers.binary(op, left, right, kind, self.space)
            return Unknown("a division by zero") if result is None else result
        return self._lanewise([left, right], kind, self._binary_scalar(op))

    def _binary_scalar(self, op: BinaryOp) -> _Scalar:
        def apply(values: Sequence[Value], scalar: ScalarType) -> Value:
            left, right = values
            match left, right:
                case Sym(), Sym():
                    result = integers.binary(op, left, right, scalar, self.space)
                    return Unknown("a division by zero") if result is None else result
                case Floats(), Floats() if op in _FLOAT_OPS:
                    affordable(left.array, right.array)
                    with np.errstate(all="ignore"):
                        return Floats(_FLOAT_OPS[op](left.array, right.array))
                case Unknown(), _:
                    return left
                case _, Unknown():
                    return right
                case _:
                    return Unknown(f"operator {op.value} is not followed here")

        return apply

    def _lanewise(self, values: Sequence[Value], kind: Type, apply: _Scalar) -> Value:
        """Apply a scalar operation, to every lane if the type is a vector."""
        unknown = next((it for it in values if isinstance(it, Unknown)), None)
        if unknown is not None:
            return unknown
        if isinstance(kind, ScalarType):
            return apply(values, kind)
        if isinstance(kind, VectorType):
            lanes = []
            for lane in range(kind.lanes):
                parts = [it.parts[lane] if isinstance(it, Lanes) else it for it in values]
                lanes.append(_part(apply(parts, kind.element)))
            return Lanes(tuple(lanes))
        return Unknown(f"values of type {kind} are not followed")

    def _compare_value(self, expression: ir.Compare) -> Value:
        if not isinstance(expression.type, ScalarType):
            return Unknown("comparisons of vectors are not followed")
        return self._from_condition(self._compare(expression))

    def _compare(self, expression: ir.Compare) -> Condition:
        left, right = self.value(expression.left), self.value(expression.right)
        match left, right:
            case Unknown(), _:
                return left
            case _, Unknown():
                return right
            case Sym(), Sym():
                kind = expression.left.type
                scalar = kind if isinstance(kind, ScalarType) else INT
                return compare(expression.op, left, right, scalar, self.space)
            case Floats(), Floats():
                affordable(left.array, right.array)
                return _plain(_FLOAT_COMPARE[expression.op](left.array, right.array))
            case Pointer(), Pointer() if left.root is right.root:
                return compare(expression.op, left.offset, right.offset, ir_long(), self.space)
            case Pointer(), Sym(is_uniform=True, const=0):
                return expression.op is CompareOp.NE
            case _:
                return Unknown("a comparison of addresses")

    def _logical_value(self, expression: ir.Logical) -> Value:
        return self._from_condition(self._logical(expression))

    def _logical(self, expression: ir.Logical) -> Condition:
        conjunction = expression.op is LogicalOp.AND
        left = self.condition(expression.left)
        if left is (not conjunction):
            return left
        right = self.condition(expression.right)
        if left is conjunction or right is (not conjunction):
            return right
        if right is conjunction:
            return left
        if isinstance(left, Unknown):
            return left
        if isinstance(right, Unknown):
            return right
        affordable(np.asarray(left), np.asarray(right))
        return _plain(np.logical_and(left, right) if conjunction else np.logical_or(left, right))

    def _from_condition(self, condition: Condition) -> Value:
        if isinstance(condition, Unknown):
            return condition
        value = values_of(condition)
        return Unknown("an unknown condition") if value is None else value

    def _select(self, expression: ir.Select) -> Value:
        if not isinstance(expression.condition.type, ScalarType | PointerType):
            return Unknown("a selection by lane is not followed")
        condition = self.condition(expression.condition)
        if isinstance(condition, bool):
            return self.value(expression.if_true if condition else expression.if_false)
        if isinstance(condition, Unknown):
            return condition
        return self.merge(condition, self.value(expression.if_true), self.value(expression.if_false))

    def merge(self, mask: Any, new: Value, old: Value) -> Value:
        """Return `new` where the mask holds, else `old`."""
        match new, old:
            case Sym(), Sym():
                return choose(mask, new, old, self.space.counts)
            case Floats(), Floats():
                affordable(mask, new.array, old.array)
                return Floats(np.where(mask, new.array, old.array))
            case Pointer(), Pointer() if new.root is old.root:
                return Pointer(new.root, choose(mask, new.offset, old.offset, self.space.counts))
            case Lanes(), Lanes():
                pairs = zip(new.parts, old.parts, strict=True)
                return Lanes(tuple(_part(self.merge(mask, one, two)) for one, two in pairs))
            case Unknown(), _:
                return new
            case _, Unknown():
                return old
            case _:
                return Unknown("a pointer that points to one of several buffers")

    # -------------------------------------------------------------------------------------- conversions

    def _convert(self, expression: ir.Convert) -> Value:
        value = self.value(expression.operand)
        source, target = expression.operand.type, expression.type
        match value, source, target:
            case Sym(), ScalarType(is_integer=True), ScalarType(is_integer=True) if not expression.saturate:
                return integers.convert(value, source, target, self.space)
            case _:
                pass
        element = source.element if isinstance(source, VectorType) else source
        if not isinstance(element, ScalarType):
            return Unknown(f"a conversion from {source}") if not isinstance(value, Unknown) else value
        return self._lanewise([value], target, self._convert_scalar(element, expression))

    def _convert_scalar(self, source: ScalarType, expression: ir.Convert) -> _Scalar:
        def apply(values: Sequence[Value], target: ScalarType) -> Value:
            (value,) = values
            match value:
                case Sym() if target.is_integer:
                    if expression.saturate:
                        return self._saturated(value, source, target)
                    return integers.convert(value, source, target, self.space)
                case Sym() if target.is_float:
                    known = integers.settled(value, source, self.space)
                    followed = known is not None and integers.is_int64(known, self.space)
                    if known is None or not followed or expression.rounding not in (None, "rte"):
                        return Unknown("a conversion to a float that is not followed")
                    return Floats(spread_out(known, self.space).astype(_FLOAT[target.bits]))
                case Floats(array=array) if target.is_float and expression.rounding in (None, "rte"):
                    return Floats(array.astype(_FLOAT[target.bits]))
                case Floats(array=array) if target.is_integer:
                    return self._to_integer(array, target, expression)
                case _:
                    return Unknown("a conversion that is not followed")

        return apply

    def _saturated(self, value: Sym, source: ScalarType, target: ScalarType) -> Value:
        known = integers.settled(value, source, self.space)
        if known is None or not (known.is_uniform or integers.is_int64(known, self.space)):
            return Unknown("a saturating conversion of a large number")
        low, high = integers.limits(target)
        if known.is_uniform:
            return Sym(min(max(known.const, low), high))
        return of_array(np.clip(spread_out(known, self.space), low, min(high, (1 << 63) - 1)))

    def _to_integer(self, array: Any, target: ScalarType, expression: ir.Convert) -> Value:
        rounded = _ROUND[expression.rounding or "rtz"](array.astype(np.float64))
        low, high = integers.limits(target)
        inside = np.isfinite(rounded) & (rounded >= low) & (rounded <= high) & (np.abs(rounded) < 2**62)
        if not bool(inside.all()):
            return Unknown("a float outside the range of the integer it is converted to")
        return of_array(rounded.astype(np.int64))

    def _reinterpret(self, expression: ir.Reinterpret) -> Value:
        value = self.value(expression.operand)
        source, target = expression.operand.type, expression.type
        match value, source, target:
            case Unknown(), _, _:
                return value
            case Sym(), ScalarType(is_integer=True), ScalarType(is_integer=True):
                return integers.convert(value, source, target, self.space)
            case Floats(array=array), ScalarType(), ScalarType(is_integer=True):
                signed = np.ascontiguousarray(array).view(f"<i{target.size}").astype(np.int64)
                return integers.fit(of_array(signed), target, self.space)
            case _ if source == target:
                return value
            case _:
                return Unknown("bits read as another type")

    def _pointer_cast(self, expression: ir.PointerCast) -> Value:
        value = self.value(expression.operand)
        if isinstance(value, Pointer) and not isinstance(expression.type, PointerType):
            return Unknown("an address used as a number")
        if isinstance(value, Sym):
            return Unknown("a number used as an address")
        return value

    # ------------------------------------------------------------------------------- vectors, addresses

    def _vector(self, expression: ir.VectorLiteral) -> Value:
        parts: list[Sym | Floats | Unknown] = []
        for part in expression.parts:
            value = self.value(part)
            if isinstance(value, Unknown) and isinstance(part.type, VectorType):
                parts.extend([value] * part.type.lanes)
            elif isinstance(value, Lanes):
                parts.extend(value.parts)
            else:
                parts.append(_part(value))
        return Lanes(tuple(parts))

    def _swizzle(self, expression: ir.Swizzle) -> Value:
        value = self.value(expression.operand)
        if not isinstance(value, Lanes):
            return value if isinstance(value, Unknown) else Unknown("components of no vector")
        if len(expression.lanes) == 1:
            return value.parts[expression.lanes[0]]
        return Lanes(tuple(value.parts[it] for it in expression.lanes))

    def _insert(self, expression: ir.InsertLanes) -> Value:
        vector, value = self.value(expression.vector), self.value(expression.value)
        if not isinstance(vector, Lanes):
            reason = vector.reason if isinstance(vector, Unknown) else "components of no vector"
            count = expression.type.lanes if isinstance(expression.type, VectorType) else 1
            vector = Lanes((Unknown(reason),) * count)
        parts = list(vector.parts)
        for position, lane in enumerate(expression.lanes):
            parts[lane] = value.parts[position] if isinstance(value, Lanes) else _part(value)
        return Lanes(tuple(parts))

    def _offset(self, expression: ir.PointerOffset) -> Value:
        pointer = self.value(expression.pointer)
        if not isinstance(pointer, Pointer):
            return pointer if isinstance(pointer, Unknown) else Unknown("an address that is not followed")
        index = self.value(expression.index)
        if not isinstance(index, Sym):
            return index if isinstance(index, Unknown) else Unknown("an index that is no integer")
        return Pointer(pointer.root, add(pointer.offset, scale(index, expression.stride)))

    def _field(self, expression: ir.FieldAddress) -> Value:
        pointer = self.value(expression.pointer)
        if isinstance(pointer, Pointer):
            return Pointer(pointer.root, add(pointer.offset, Sym(expression.field.offset)))
        return pointer if isinstance(pointer, Unknown) else Unknown("an address that is not followed")

    # ----------------------------------------------------------------------------------------- built-ins

    def _builtin(self, expression: ir.Builtin) -> Value:
        arguments = [self.value(it) for it in expression.arguments]
        return self._lanewise(arguments, expression.type, self._builtin_scalar(expression.name))

    def _builtin_scalar(self, name: str) -> _Scalar:
        def apply(values: Sequence[Value], scalar: ScalarType) -> Value:
            if all(isinstance(it, Sym) for it in values):
                return self._integer_builtin(name, [it for it in values if isinstance(it, Sym)], scalar)
            if all(isinstance(it, Floats) for it in values) and name in _FLOAT_BUILTINS:
                with np.errstate(all="ignore"):
                    arrays = [it.array for it in values if isinstance(it, Floats)]
                    return Floats(np.asarray(_FLOAT_BUILTINS[name](*arrays)))
            return Unknown(f"{name} is not followed")

        return apply

    def _integer_builtin(self, name: str, values: list[Sym], scalar: ScalarType) -> Value:
        space = self.space
        match name, values:
            case (("min" | "max"), [one, two]):
                return self._smaller(one, two, scalar, name == "min")
            case "clamp", [one, low, high]:
                raised = self._smaller(one, low, scalar, False)
                return raised if isinstance(raised, Unknown) else self._smaller(raised, high, scalar, True)
            case "mul24", [one, two]:
                return integers.multiply(one, two, scalar, space)
            case (("mad24" | "mad" | "mad_sat" | "fma"), [one, two, three]) if name != "mad_sat":
                product = integers.multiply(one, two, scalar, space)
                return integers.fit(add(product, three), scalar, space)
            case "abs", [one]:
                negative = compare(CompareOp.LT, one, Sym(0), scalar, space)
                if isinstance(negative, bool):
                    return scale(one, -1) if negative else one
                return (
                    Unknown("abs")
                    if isinstance(negative, Unknown)
                    else self.merge(negative, scale(one, -1), one)
                )
            case (("popcount" | "clz" | "ctz"), [one]):
                return of_array(_bit_count(name, spread_out(one, space), scalar.bits))
            case ("rotate", [one, two]):
                return self._rotate(one, two, scalar)
            case ("hadd", [one, two]):
                return integers.fit(
                    of_array((spread_out(one, space) + spread_out(two, space)) >> 1), scalar, space
                )
            case _:
                return Unknown(f"{name} is not followed")

    def _smaller(self, one: Sym, two: Sym, scalar: ScalarType, smaller: bool) -> Sym | Unknown:
        first = compare(CompareOp.LE if smaller else CompareOp.GE, one, two, scalar, self.space)
        if isinstance(first, Unknown):
            return first
        if isinstance(first, bool):
            return one if first else two
        return choose(first, one, two, self.space.counts)

    def _rotate(self, one: Sym, two: Sym, scalar: ScalarType) -> Value:
        bits, span = scalar.bits, (1 << scalar.bits) - 1
        if bits == 64:
            return Unknown("rotate of 64-bit numbers is not followed")
        value, by = spread_out(one, self.space) & span, spread_out(two, self.space) % bits
        return integers.fit(of_array((value << by | value >> (bits - by)) & span), scalar, self.space)


_Scalar = Callable[[Sequence[Value], ScalarType], Value]


def ir_long() -> ScalarType:
    """Return the type in which offsets are compared."""
    return ScalarType("long", ScalarKind.SIGNED, SIZE_T.bits)


def _part(value: Value) -> Sym | Floats | Unknown:
    return value if isinstance(value, Sym | Floats | Unknown) else Unknown("a component that is no number")


def negate(condition: Condition) -> Condition:
    """Return `!condition`."""
    if isinstance(condition, Unknown):
        return condition
    return not condition if isinstance(condition, bool) else ~condition


def _plain(mask: Any) -> Condition:
    """Return an array of conditions as one where all agree."""
    array = np.asarray(mask)
    if array.all():
        return True
    return array if array.any() else False


def _bit_count(name: str, values: Any, bits: int) -> Any:
    shifted = (values[..., None] >> np.arange(bits)) & 1
    match name:
        case "popcount":
            return shifted.sum(axis=-1)
        case "ctz":
            return np.where(shifted.any(axis=-1), shifted.argmax(axis=-1), bits)
        case _:
            return np.where(shifted.any(axis=-1), shifted[..., ::-1].argmax(axis=-1), bits)


_FLOAT_OPS: dict[BinaryOp, Callable[[Any, Any], Any]] = {
    BinaryOp.ADD: np.add,
    BinaryOp.SUB: np.subtract,
    BinaryOp.MUL: np.multiply,
    BinaryOp.DIV: np.divide,
}
_FLOAT_COMPARE: dict[CompareOp, Callable[[Any, Any], Any]] = {
    CompareOp.EQ: np.equal,
    CompareOp.NE: np.not_equal,
    CompareOp.LT: np.less,
    CompareOp.LE: np.less_equal,
    CompareOp.GT: np.greater,
    CompareOp.GE: np.greater_equal,
}
_FLOAT_BUILTINS: dict[str, Callable[..., Any]] = {
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "rint": np.rint,
    "fabs": np.abs,
    "fmin": np.fmin,
    "fmax": np.fmax,
    "min": np.minimum,
    "max": np.maximum,
}
_ROUND: dict[str, Callable[[Any], Any]] = {
    "rtz": np.trunc,
    "rte": np.rint,
    "rtp": np.ceil,
    "rtn": np.floor,
}
_EVALUATE: dict[type, Callable[[Evaluator, Any], Value]] = {
    ir.Constant: Evaluator._constant,
    ir.Read: Evaluator._read,
    ir.ObjectAddress: Evaluator._object,
    ir.WorkItem: Evaluator._work_item,
    ir.Unary: Evaluator._unary,
    ir.Binary: Evaluator._binary,
    ir.Compare: Evaluator._compare_value,
    ir.Logical: Evaluator._logical_value,
    ir.Select: Evaluator._select,
    ir.Convert: Evaluator._convert,
    ir.Reinterpret: Evaluator._reinterpret,
    ir.PointerCast: Evaluator._pointer_cast,
    ir.VectorLiteral: Evaluator._vector,
    ir.Swizzle: Evaluator._swizzle,
    ir.InsertLanes: Evaluator._insert,
    ir.PointerOffset: Evaluator._offset,
    ir.FieldAddress: Evaluator._field,
    ir.Builtin: Evaluator._builtin,
    ir.Undefined: Evaluator._undefined,
}
"""A table rather than a `match`: evaluation is the engine's inner loop."""

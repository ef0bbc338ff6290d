"""Evaluating IR expressions for all work-items of a box at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from clmap_lsp.emulator.symbolic import builtins, integers
from clmap_lsp.emulator.symbolic.cells import reinterpreted
from clmap_lsp.emulator.symbolic.comparing import compare, truth, values_of
from clmap_lsp.emulator.symbolic.integers import spread_out
from clmap_lsp.emulator.symbolic.rows import Mask, any_active, simplified, without
from clmap_lsp.emulator.symbolic.space import Space
from clmap_lsp.emulator.symbolic.values import (
    BETWEEN_BUFFERS,
    SEVERAL,
    Condition,
    Floats,
    Held,
    Lanes,
    Partly,
    Pointer,
    Sym,
    Unknown,
    Value,
    add,
    affordable,
    bounds,
    choose,
    of_array,
    scale,
)
from clmap_lsp.launch.image import dimensions, sides_of
from clmap_lsp.source import ir
from clmap_lsp.source.ir import (
    BinaryOp,
    CompareOp,
    LogicalOp,
    UnaryOp,
    Variable,
    VariableKind,
    WorkItemQuery,
)
from clmap_lsp.source.types import (
    INT,
    SIZE_T,
    AddressSpace,
    PointerType,
    ScalarKind,
    ScalarType,
    Type,
    VectorType,
    element_of,
    lanes_of,
)

_FLOAT = {16: np.float16, 32: np.float32, 64: np.float64}


class Evaluator:
    """Evaluates expressions over an environment of needed variables.

    Invariant: results are exact; what cannot be known is `Unknown` with its reason.
    """

    def __init__(self, space: Space) -> None:
        self.space = space
        self.env: dict[Variable, Held] = {}
        self.live: Mask = True
        """Who evaluates: what a variable holds for others does not matter."""
        self.rounds_floats = False
        """Some value depends on how the device rounds: quotients, square roots, sums of products."""
        self.places: dict[Variable, int] = {}
        """Of buffers that a pointer may point to among others: their numbers."""

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
                return simplified(np.asarray(value.array != 0))
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
        if isinstance(value, Partly):
            return value.unknown if any_active(without(self.live, value.mask)) else value.value
        return Unknown(f"`{expression.variable.name}`, whose value is not known") if value is None else value

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
        match expression:
            case ir.Binary(BinaryOp.SUB, ir.PointerCast() as end, ir.PointerCast() as start):
                return self._distance(end, start)
        left, right = self.value(expression.left), self.value(expression.right)
        op, kind = expression.op, expression.type
        if isinstance(left, Sym) and isinstance(right, Sym) and isinstance(kind, ScalarType):
            result = integers.binary(op, left, right, kind, self.space)
            return Unknown("a division by zero") if result is None else result
        return self._lanewise([left, right], kind, self._binary_scalar(op))

    def _distance(self, end: ir.PointerCast, start: ir.PointerCast) -> Value:
        """Return the bytes between two places of one buffer: they are known though where it lies is not."""
        values = self.value(end.operand), self.value(start.operand)
        match values:
            case Pointer(root=one, offset=after), Pointer(root=other, offset=before) if one is other:
                found = integers.binary(BinaryOp.SUB, after, before, ir_long(), self.space)
                return Unknown("an address used as a number") if found is None else found
        return next((it for it in values if isinstance(it, Unknown)), Unknown("an address used as a number"))

    def _binary_scalar(self, op: BinaryOp) -> _Scalar:
        def apply(values: Sequence[Value], scalar: ScalarType) -> Value:
            left, right = values
            match left, right:
                case Sym(), Sym():
                    result = integers.binary(op, left, right, scalar, self.space)
                    return Unknown("a division by zero") if result is None else result
                case Floats(), Floats() if op in _FLOAT_OPS:
                    self.rounds_floats |= op in _ROUNDED_DIFFERENTLY
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
        if isinstance(expression.type, ScalarType):
            return self._from_condition(self._compare(expression))
        left, right = self.value(expression.left), self.value(expression.right)
        kind = element_of(expression.left.type)

        def apply(values: Sequence[Value], _: ScalarType) -> Value:
            found = self._from_condition(self._compared(expression.op, values[0], values[1], kind))
            return scale(found, -1) if isinstance(found, Sym) else found

        return self._lanewise([left, right], expression.type, apply)

    def _compare(self, expression: ir.Compare) -> Condition:
        left, right = self.value(expression.left), self.value(expression.right)
        return self._compared(expression.op, left, right, expression.left.type)

    def _compared(self, op: CompareOp, left: Value, right: Value, kind: Type) -> Condition:
        match left, right:
            case Unknown(), _:
                return left
            case _, Unknown():
                return right
            case Sym(), Sym():
                scalar = kind if isinstance(kind, ScalarType) else INT
                return compare(op, left, right, scalar, self.space)
            case Floats(), Floats():
                affordable(left.array, right.array)
                return simplified(_FLOAT_COMPARE[op](left.array, right.array))
            case Pointer(), Pointer() if left.root is right.root:
                return compare(op, left.offset, right.offset, ir_long(), self.space)
            case (Pointer(), Sym(is_uniform=True, const=0)) | (Sym(is_uniform=True, const=0), Pointer()):
                return op is CompareOp.NE
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
        return simplified(np.logical_and(left, right) if conjunction else np.logical_or(left, right))

    def _from_condition(self, condition: Condition) -> Value:
        if isinstance(condition, Unknown):
            return condition
        value = values_of(condition)
        return Unknown("an unknown condition") if value is None else value

    def _select(self, expression: ir.Select) -> Value:
        if not isinstance(expression.condition.type, ScalarType | PointerType):
            return self._select_lanes(expression)
        condition = self.condition(expression.condition)
        if isinstance(condition, bool):
            return self.value(expression.if_true if condition else expression.if_false)
        if isinstance(condition, Unknown):
            return condition
        return self.merge(condition, self.value(expression.if_true), self.value(expression.if_false))

    def _select_lanes(self, expression: ir.Select) -> Value:
        """Select by the sign of each lane."""
        condition = self.value(expression.condition)
        if_true, if_false = self.value(expression.if_true), self.value(expression.if_false)
        kind = expression.condition.type

        def apply(values: Sequence[Value], _: ScalarType) -> Value:
            sign = self._is_negative(values[0], kind)
            if isinstance(sign, bool):
                return values[1] if sign else values[2]
            return sign if isinstance(sign, Unknown) else self.merge(sign, values[1], values[2])

        return self._lanewise([condition, if_true, if_false], expression.type, apply)

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
            case Pointer(), Pointer() if (several := self._in_one_space(new, old)) is not None:
                one, two = several
                return Pointer(one.root, choose(mask, one.offset, two.offset, self.space.counts))
            case Lanes(), Lanes():
                pairs = zip(new.parts, old.parts, strict=True)
                return Lanes(tuple(_part(self.merge(mask, one, two)) for one, two in pairs))
            case Unknown(), _:
                return new
            case _, Unknown():
                return old
            case _:
                return Unknown("a pointer that points to one of several buffers")

    def _in_one_space(self, *pointers: Pointer) -> tuple[Pointer, ...] | None:
        """Return pointers into different buffers of global memory as pointers into all of it.

        Each buffer has its place there, too far from the others to share a granule with them.
        """
        if any(it.root is not SEVERAL and not _is_global_buffer(it.root) for it in pointers):
            return None
        found = []
        for it in pointers:
            place = 0 if it.root is SEVERAL else self.places.setdefault(it.root, len(self.places))
            found.append(Pointer(SEVERAL, add(it.offset, Sym(place * BETWEEN_BUFFERS))))
        return tuple(found)

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
                    with np.errstate(over="ignore"):  # What a half cannot hold is infinite.
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
            if source.is_signed:
                return Unknown("a saturating conversion of a large number")
            numbers = np.ascontiguousarray(spread_out(value, self.space)).view(np.uint64)
            _, most = integers.limits(target)
            return of_array(np.minimum(numbers, np.uint64(most)).view(np.int64))
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
        if isinstance(value, Unknown):
            return value
        return reinterpreted(value, expression.operand.type, expression.type, self.space)

    def _pointer_cast(self, expression: ir.PointerCast) -> Value:
        value = self.value(expression.operand)
        if isinstance(value, Pointer) and not isinstance(expression.type, PointerType):
            return Unknown("an address used as a number")
        if isinstance(value, Sym) and not (value.is_uniform and value.const == 0):
            return Unknown("a number used as an address")
        if expression.or_null and isinstance(value, Pointer) and isinstance(expression.type, PointerType):
            from clmap_lsp.emulator.symbolic.machine import root_space

            if value.root is SEVERAL or value.root.kind is VariableKind.CONSTANT_OBJECT:
                return Unknown("the address space that a pointer leads into")
            return value if root_space(value.root, expression.type) is expression.type.space else Sym(0)
        return value  # A null pointer is the number 0: it can be compared, and leads nowhere.

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
        name = expression.name
        if name.startswith("get_image_") and expression.arguments:
            return self._image_query(expression)
        arguments = [self.value(it) for it in expression.arguments]
        if name in _OF_VECTORS:
            return self._of_vectors(expression, arguments)
        kind = element_of(expression.arguments[0].type) if expression.arguments else INT
        taken = kind if isinstance(kind, ScalarType) else INT
        if name in _RELATIONS:
            return self._lanewise(arguments, expression.type, self._relation(name, expression.type))
        return self._lanewise(arguments, expression.type, self._builtin_scalar(name, taken))

    def _image_query(self, expression: ir.Builtin) -> Value:
        """Return a side of an image of the launch, or all of them."""
        image = expression.arguments[0]
        sides = sides_of(image.variable, self.space.launch) if isinstance(image, ir.Read) else None
        if sides is None:
            return Unknown(f"`{expression.name}` of an image that is not known")
        match expression.name:
            case "get_image_width":
                return Sym(sides[0])
            case "get_image_height":
                return Sym(sides[1])
            case "get_image_depth" | "get_image_array_size":
                return Sym(sides[dimensions(str(image.type)) - 1])
            case "get_image_dim":
                return Lanes(tuple(Sym(it) for it in (*sides, 0)[: lanes_of(expression.type)]))
            case _:
                return Unknown(f"`{expression.name}`")

    def _of_vectors(self, expression: ir.Builtin, arguments: list[Value]) -> Value:
        """Return `any`, `all`, `shuffle` or `shuffle2`."""
        unknown = next((it for it in arguments if isinstance(it, Unknown)), None)
        if unknown is not None:
            return unknown
        if expression.name in ("any", "all"):
            parts = arguments[0].parts if isinstance(arguments[0], Lanes) else (arguments[0],)
            signs = [self._is_negative(it, expression.arguments[0].type) for it in parts]
            return self._from_condition(self._joined_conditions(signs, expression.name == "all"))
        *sources, mask = arguments
        if not isinstance(mask, Lanes) or not all(isinstance(it, Lanes) for it in sources):
            return Unknown(f"{expression.name}, which is not followed")
        lanes = [part for it in sources if isinstance(it, Lanes) for part in it.parts]
        chosen = [
            it.const % len(lanes) if isinstance(it, Sym) and it.is_uniform else None for it in mask.parts
        ]
        if None in chosen:
            return Unknown(f"{expression.name} by a mask that varies")
        return Lanes(tuple(lanes[it] for it in chosen if it is not None))

    def _is_negative(self, value: Value, kind: Type) -> Condition:
        scalar = element_of(kind)
        if not isinstance(value, Sym) or not isinstance(scalar, ScalarType):
            return (
                value if isinstance(value, Unknown) else Unknown("the sign of something that is no integer")
            )
        return compare(CompareOp.LT, value, Sym(0), scalar, self.space)

    def _joined_conditions(self, parts: Sequence[Condition], conjunction: bool) -> Condition:
        result: Condition = conjunction
        for it in parts:
            if isinstance(it, Unknown):
                return it
            if isinstance(result, bool):
                result = it if result is conjunction else result
            elif isinstance(it, bool):
                result = result if it is conjunction else it
            elif not isinstance(result, Unknown):
                affordable(result, it)
                result = simplified(np.logical_and(result, it) if conjunction else np.logical_or(result, it))
        return result

    def _relation(self, name: str, kind: Type) -> _Scalar:
        """Return a comparison of floats: 1 for scalars, -1 a lane for vectors."""
        truth_value = -1 if isinstance(kind, VectorType) else 1

        def apply(values: Sequence[Value], scalar: ScalarType) -> Value:
            arrays = [it.array for it in values if isinstance(it, Floats)]
            if len(arrays) < len(values):
                return Unknown(f"{name}, which is not followed")
            affordable(*arrays)
            return of_array(np.asarray(_RELATIONS[name](*arrays)).astype(np.int64) * truth_value)

        return apply

    def _builtin_scalar(self, name: str, kind: ScalarType) -> _Scalar:
        def apply(values: Sequence[Value], scalar: ScalarType) -> Value:
            if name == "select":
                return self._selected(values)
            if all(isinstance(it, Sym) for it in values):
                numbers = [it for it in values if isinstance(it, Sym)]
                return self._integer_builtin(name, numbers, kind, scalar)
            if all(isinstance(it, Floats) for it in values) and name in _FLOAT_BUILTINS:
                with np.errstate(all="ignore"):
                    arrays = [it.array for it in values if isinstance(it, Floats)]
                    affordable(*arrays)
                    self.rounds_floats |= name in _BUILTINS_ROUNDED_DIFFERENTLY
                    return Floats(np.asarray(_FLOAT_BUILTINS[name](*arrays)))
            return Unknown(f"{name}, which is not followed")

        return apply

    def _selected(self, values: Sequence[Value]) -> Value:
        """Return `select(a, b, c)` of scalars: b where c is not zero."""
        otherwise, chosen, by = values
        if not isinstance(by, Sym):
            return Unknown("select by something that is no integer")
        condition = truth(by, self.space)
        if isinstance(condition, bool):
            return chosen if condition else otherwise
        return condition if isinstance(condition, Unknown) else self.merge(condition, chosen, otherwise)

    def _integer_builtin(self, name: str, values: list[Sym], kind: ScalarType, result: ScalarType) -> Value:
        """Return a function of integers of type `kind`."""
        space = self.space
        match name, values:
            case (("min" | "max"), [one, two]):
                return self._smaller(one, two, kind, name == "min")
            case "clamp", [one, low, high]:
                raised = self._smaller(one, low, kind, False)
                return raised if isinstance(raised, Unknown) else self._smaller(raised, high, kind, True)
            case "mul24", [one, two]:
                return integers.multiply(one, two, kind, space)
            case (("mad24" | "mad" | "fma"), [one, two, three]):
                return integers.fit(add(integers.multiply(one, two, kind, space), three), kind, space)
            case (("popcount" | "clz" | "ctz"), [one]):
                return of_array(_bit_count(name, spread_out(one, space), kind.bits))
            case "abs", [one] if not kind.is_signed or bounds(one, space.counts)[0] >= 0:
                return one
            case _ if name in builtins.FUNCTIONS:
                found = builtins.exactly(name, values, kind, result, space)
                return Unknown(f"{name} of so many values") if found is None else found
            case _:
                return Unknown(f"{name}, which is not followed")

    def _smaller(self, one: Sym, two: Sym, scalar: ScalarType, smaller: bool) -> Sym | Unknown:
        first = compare(CompareOp.LE if smaller else CompareOp.GE, one, two, scalar, self.space)
        if isinstance(first, Unknown):
            return first
        if isinstance(first, bool):
            return one if first else two
        return choose(first, one, two, self.space.counts)


def _is_global_buffer(root: Variable) -> bool:
    kind = root.type
    is_global = isinstance(kind, PointerType) and kind.space is AddressSpace.GLOBAL
    return is_global and root.kind is VariableKind.PARAMETER


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


def _bit_count(name: str, values: Any, bits: int) -> Any:
    shifted = (values[..., None] >> np.arange(bits)) & 1
    match name:
        case "popcount":
            return shifted.sum(axis=-1)
        case "ctz":
            return np.where(shifted.any(axis=-1), shifted.argmax(axis=-1), bits)
        case _:
            return np.where(shifted.any(axis=-1), shifted[..., ::-1].argmax(axis=-1), bits)


def _rounded(values: Any) -> Any:
    """Return the nearest integers, halves away from zero. Adding 0.5 would round what is just below it up."""
    whole = np.trunc(values)
    return np.where(np.abs(values - whole) >= 0.5, whole + np.copysign(np.ones_like(whole), values), whole)


def _multiplied_and_added(a: Any, b: Any, c: Any) -> Any:
    """Return a * b + c; of floats and halves the product is exact."""
    return (np.asarray(a, np.float64) * b + c).astype(np.result_type(a, b, c))


_FLOAT_OPS: dict[BinaryOp, Callable[[Any, Any], Any]] = {
    BinaryOp.ADD: np.add,
    BinaryOp.SUB: np.subtract,
    BinaryOp.MUL: np.multiply,
    BinaryOp.DIV: np.divide,
}
_ROUNDED_DIFFERENTLY = frozenset((BinaryOp.DIV, BinaryOp.ADD, BinaryOp.SUB))
"""OpenCL allows 2.5 ulp for a quotient, and a sum may be contracted with a product (C 3.0, 7.4)."""
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
    "clamp": lambda x, low, high: np.fmin(np.fmax(x, low), high),
    "round": _rounded,
    "fmod": np.fmod,
    **dict.fromkeys(("fma", "mad"), _multiplied_and_added),
    **dict.fromkeys(("sqrt", "native_sqrt", "half_sqrt"), np.sqrt),
}
_BUILTINS_ROUNDED_DIFFERENTLY = frozenset(("fma", "mad", "sqrt", "native_sqrt", "half_sqrt"))
"""OpenCL allows 3 ulp for a root, leaves `mad` to the device (C 3.0, 7.4); `fma` of doubles rounds twice."""
_RELATIONS: dict[str, Callable[..., Any]] = {
    "isequal": np.equal,
    "isnotequal": np.not_equal,
    "isless": np.less,
    "islessequal": np.less_equal,
    "isgreater": np.greater,
    "isgreaterequal": np.greater_equal,
    "islessgreater": lambda a, b: (a < b) | (a > b),
    "isordered": lambda a, b: ~np.isnan(a) & ~np.isnan(b),
    "isunordered": lambda a, b: np.isnan(a) | np.isnan(b),
    "isnan": np.isnan,
    "isinf": np.isinf,
    "isfinite": np.isfinite,
    "signbit": np.signbit,
}
_OF_VECTORS = frozenset(("any", "all", "shuffle", "shuffle2"))
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

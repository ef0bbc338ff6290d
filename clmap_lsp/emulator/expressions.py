"""Code for the IR's expressions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import assert_never

from llvmlite import ir

from clmap_lsp.emulator import operators
from clmap_lsp.emulator.builtin_functions import call_builtin
from clmap_lsp.emulator.context import LANE_MASK, Context, Pointer, Value, lane_mask
from clmap_lsp.emulator.conversions import convert, resize
from clmap_lsp.emulator.layout import (
    BUFFERS,
    E_KIND,
    ENTRY_WORDS,
    F_GLOBAL_ID,
    F_LINEAR,
    F_LOCAL_ID,
    FAULT_INDEX,
    FAULT_UNINITIALISED,
    GLOBAL_SIZE,
    GROUP_ID,
    GROUP_SIZE,
    KIND_GLOBAL,
    KIND_LOCAL,
    KIND_PRIVATE,
    KNOWN_LANES,
    LOCAL_SIZE,
    NUM_GROUPS,
    OFFSET,
    OFFSET_BITS,
    WORK_DIM,
)
from clmap_lsp.emulator.types import I64, POINTER, integer, is_float, llvm_type, real, zero
from clmap_lsp.source.ir import (
    Binary,
    BinaryOp,
    Builtin,
    Compare,
    CompareOp,
    Constant,
    Convert,
    Expression,
    FieldAddress,
    InsertLanes,
    Logical,
    LogicalOp,
    ObjectAddress,
    PointerCast,
    PointerOffset,
    Read,
    Reinterpret,
    Select,
    Swizzle,
    Unary,
    UnaryOp,
    Undefined,
    VectorLiteral,
    WorkItem,
    WorkItemQuery,
    nodes,
    operands,
)
from clmap_lsp.source.types import (
    AddressSpace,
    ArrayType,
    PointerType,
    ScalarType,
    StructType,
    Type,
    VectorType,
    element_of,
    lanes_of,
)

BUFFER_ALIGNMENT = 128
"""What the start of a buffer is taken to be aligned to: the largest type's size."""


class Expressions:
    """Evaluates expressions at the builder's place. Expressions are pure; only faults have effects."""

    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx
        self._accessed: frozenset[int] = frozenset()
        """By identity, the parts of the present address whose element is read or written, or a part of it."""

    # ------------------------------------------------------------------------------------------- entries

    def value(self, expression: Expression) -> ir.Value:
        """Evaluate to an LLVM value; pointers come as their 64-bit form."""
        result = self.evaluate(expression)
        return encode(self.ctx, result) if isinstance(result, Pointer) else result

    def pointer(self, expression: Expression) -> Pointer:
        """Evaluate to a pointer; integers are read as the 64-bit form of one."""
        result = self.evaluate(expression)
        return result if isinstance(result, Pointer) else decode(self.ctx, result)

    def condition(self, expression: Expression) -> ir.Value:
        """Evaluate to one bit."""
        match expression:
            case Compare() if not isinstance(expression.type, VectorType):
                return self._compare_bits(expression)
            case Logical() if not isinstance(expression.type, VectorType):
                return self._logical_bits(expression)
            case Unary(op=UnaryOp.LOGICAL_NOT) if not isinstance(expression.type, VectorType):
                return self.ctx.builder.not_(self.condition(expression.operand))
            case Convert(operand=operand) if _keeps_truth(operand.type, expression.type):
                return self.condition(operand)
            case _:
                return operators.any_lane(self.ctx, operators.truth(self.ctx, self.value(expression)))

    def evaluate(self, expression: Expression) -> Value:
        """Evaluate an expression."""
        ctx, builder = self.ctx, self.ctx.builder
        match expression:
            case Constant():
                return self._constant(expression)
            case Read():
                return self._read(expression)
            case ObjectAddress(variable=variable):
                return Pointer(ctx.plan.numbers[variable], ir.Constant(I64, 0), 16)
            case WorkItem():
                return self._work_item(expression)
            case Unary():
                return self._unary(expression)
            case Binary():
                return self._binary(expression)
            case Compare():
                return operators.from_bits(ctx, self._compare_bits(expression), llvm_type(expression.type))
            case Logical():
                return operators.from_bits(ctx, self._logical_bits(expression), llvm_type(expression.type))
            case Select():
                return self._select(expression)
            case Convert(operand=operand):
                value = self.value(operand)
                return convert(
                    ctx, value, operand.type, expression.type, expression.rounding, expression.saturate
                )
            case Reinterpret(operand=operand):
                return self._reinterpret(self.value(operand), llvm_type(expression.type))
            case PointerCast():
                return self._pointer_cast(expression)
            case VectorLiteral():
                return self._vector(expression)
            case Swizzle(operand=Read() as whole, lanes=lanes):
                self._check_set(whole, lanes)
                value = self._read(whole, check=False)
                assert isinstance(value, ir.Value)
                return self._swizzle(value, lanes)
            case Swizzle(operand=operand, lanes=lanes):
                return self._swizzle(self.value(operand), lanes)
            case InsertLanes():
                return self._insert(expression)
            case PointerOffset():
                return self._offset(expression)
            case FieldAddress(pointer=pointer, field=field):
                base = self.pointer(pointer)
                moved = builder.add(base.offset, ir.Constant(I64, field.offset))
                return Pointer(base.number, moved, _common(base.alignment, field.offset))
            case Builtin(name=name) if name.startswith("get_image_"):
                from clmap_lsp.emulator import images  # It evaluates coordinates with this class.

                found = images.query(ctx, name, expression.arguments[0], llvm_type(expression.type))
                return found if found is not None else self._unknown(expression)
            case Builtin():
                values = [self.value(it) for it in expression.arguments]
                return call_builtin(ctx, expression, values)
            case Undefined():
                return self._unknown(expression)
            case _:
                assert_never(expression)

    def _unknown(self, expression: Undefined | Builtin) -> ir.Value:
        """Take a value that cannot be known for 0, and say so in the result."""
        self.ctx.unknowns.append((expression.name, expression.span))
        return zero(llvm_type(expression.type))

    # -------------------------------------------------------------------------------------------- leaves

    def _constant(self, expression: Constant) -> Value:
        kind = llvm_type(expression.type)
        if is_float(kind):
            return real(float(expression.value), kind)
        if isinstance(kind, ir.ArrayType):
            return zero(kind)
        number = expression.value
        if isinstance(number, float):
            number = int(number) if math.isfinite(number) else 0
        value = integer(number, kind)
        if isinstance(expression.type, PointerType):
            return Pointer(0, value) if number == 0 else decode(self.ctx, value)
        return value

    def _read(self, expression: Read, *, check: bool = True) -> Value:
        ctx = self.ctx
        slot = ctx.slots[expression.variable]
        if check:
            self._check_set(expression, range(lanes_of(expression.variable.type)))
        if isinstance(slot.place, ir.LoadInstr):
            return slot.place  # An argument that is never assigned.
        if isinstance(slot.place, ir.Constant):
            return Pointer(slot.target or 0, slot.place, BUFFER_ALIGNMENT)  # Likewise.
        value = ctx.builder.load(slot.place, typ=slot.kind)
        if not isinstance(expression.variable.type, PointerType):
            return value
        if slot.target is not None:
            return Pointer(slot.target, value)
        assert slot.number is not None
        return Pointer(ctx.builder.load(slot.number, typ=I64), value)

    def _check_set(self, expression: Read, lanes: Iterable[int]) -> None:
        """Report lanes of a variable (its only one, for a scalar) that were never written."""
        ctx = self.ctx
        slot = ctx.slots[expression.variable]
        if slot.initialised is None:
            return
        wanted = ir.Constant(LANE_MASK, lane_mask(lanes))
        written = ctx.builder.and_(ctx.builder.load(slot.initialised, typ=LANE_MASK), wanted)
        with ctx.rarely(ctx.builder.icmp_signed("!=", written, wanted), "unset"):
            known = ctx.builder.shl(ctx.builder.zext(written, I64), ir.Constant(I64, KNOWN_LANES))
            missing = ctx.builder.zext(ctx.builder.xor(written, wanted), I64)
            ctx.fault(FAULT_UNINITIALISED, ctx.place(expression.span), ctx.builder.or_(known, missing))

    def _work_item(self, expression: WorkItem) -> ir.Value:
        dimension: ir.Value | int = 0
        if isinstance(expression.dimension, Constant):
            dimension = int(expression.dimension.value)
        elif expression.dimension is not None:
            dimension = self.value(expression.dimension)
        if isinstance(dimension, int):
            value = self._query(expression.query, dimension)
        else:
            wide = resize(self.ctx, dimension, I64, signed=False)
            value = self._query(expression.query, 3)
            for d in range(3):
                here = self.ctx.builder.icmp_signed("==", wide, ir.Constant(I64, d))
                value = self.ctx.builder.select(here, self._query(expression.query, d), value)
        return resize(self.ctx, value, llvm_type(expression.type), signed=False)

    def _query(self, query: WorkItemQuery, d: int) -> ir.Value:
        """Return a work-item function's value. Dimensions past the last give 0 for ids, 1 for sizes."""
        ctx, builder = self.ctx, self.ctx.builder
        state, frame = ctx.constant_state, ctx.constant_frame
        width = ctx.options.sub_group_size
        match query:
            case WorkItemQuery.WORK_DIM:
                return state(WORK_DIM)
            case WorkItemQuery.GLOBAL_ID:
                return frame(F_GLOBAL_ID + d) if d < 3 else ir.Constant(I64, 0)
            case WorkItemQuery.LOCAL_ID:
                return frame(F_LOCAL_ID + d) if d < 3 else ir.Constant(I64, 0)
            case WorkItemQuery.GROUP_ID:
                return state(GROUP_ID + d) if d < 3 else ir.Constant(I64, 0)
            case WorkItemQuery.GLOBAL_OFFSET:
                return state(OFFSET + d) if d < 3 else ir.Constant(I64, 0)
            case WorkItemQuery.GLOBAL_SIZE:
                return state(GLOBAL_SIZE + d) if d < 3 else ir.Constant(I64, 1)
            case WorkItemQuery.LOCAL_SIZE:
                return state(GROUP_SIZE + d) if d < 3 else ir.Constant(I64, 1)
            case WorkItemQuery.ENQUEUED_LOCAL_SIZE:
                return state(LOCAL_SIZE + d) if d < 3 else ir.Constant(I64, 1)
            case WorkItemQuery.NUM_GROUPS:
                return state(NUM_GROUPS + d) if d < 3 else ir.Constant(I64, 1)
            case WorkItemQuery.LOCAL_LINEAR_ID:
                return frame(F_LINEAR)
            case WorkItemQuery.GLOBAL_LINEAR_ID:
                return self._global_linear()
            case WorkItemQuery.MAX_SUB_GROUP_SIZE:
                return ir.Constant(I64, width)
            case WorkItemQuery.SUB_GROUP_ID:
                return builder.udiv(frame(F_LINEAR), ir.Constant(I64, width))
            case WorkItemQuery.SUB_GROUP_LOCAL_ID:
                return builder.urem(frame(F_LINEAR), ir.Constant(I64, width))
            case WorkItemQuery.NUM_SUB_GROUPS | WorkItemQuery.ENQUEUED_NUM_SUB_GROUPS:
                return self._sub_groups(query, width)
            case WorkItemQuery.SUB_GROUP_SIZE:
                items = self._items(GROUP_SIZE)
                start = builder.mul(
                    builder.udiv(frame(F_LINEAR), ir.Constant(I64, width)), ir.Constant(I64, width)
                )
                rest = builder.sub(items, start)
                full = ir.Constant(I64, width)
                return builder.select(builder.icmp_unsigned("<", rest, full), rest, full)
            case _:
                assert_never(query)

    def _items(self, first: int) -> ir.Value:
        state, builder = self.ctx.constant_state, self.ctx.builder
        return builder.mul(builder.mul(state(first), state(first + 1)), state(first + 2))

    def _sub_groups(self, query: WorkItemQuery, width: int) -> ir.Value:
        items = self._items(GROUP_SIZE if query is WorkItemQuery.NUM_SUB_GROUPS else LOCAL_SIZE)
        builder = self.ctx.builder
        return builder.udiv(builder.add(items, ir.Constant(I64, width - 1)), ir.Constant(I64, width))

    def _global_linear(self) -> ir.Value:
        ctx, builder = self.ctx, self.ctx.builder
        place = [
            builder.sub(ctx.constant_frame(F_GLOBAL_ID + d), ctx.constant_state(OFFSET + d)) for d in range(3)
        ]
        plane = builder.add(builder.mul(place[2], ctx.constant_state(GLOBAL_SIZE + 1)), place[1])
        return builder.add(builder.mul(plane, ctx.constant_state(GLOBAL_SIZE)), place[0])

    # ----------------------------------------------------------------------------------------- operators

    def _unary(self, expression: Unary) -> ir.Value:
        ctx, builder = self.ctx, self.ctx.builder
        if expression.op is UnaryOp.LOGICAL_NOT and not isinstance(expression.type, VectorType):
            flag = builder.not_(self.condition(expression.operand))
            return operators.from_bits(ctx, flag, llvm_type(expression.type))
        value = self.value(expression.operand)
        match expression.op:
            case UnaryOp.NEGATE:
                if is_float(value.type):
                    return builder.fneg(value)
                return builder.sub(zero(value.type), value)
            case UnaryOp.BIT_NOT:
                return builder.xor(value, integer(-1, value.type))
            case UnaryOp.LOGICAL_NOT:
                flags = builder.not_(operators.truth(ctx, value))
                return operators.from_bits(ctx, flags, llvm_type(expression.type))

    def _binary(self, expression: Binary) -> ir.Value:
        fused = self._contracted(expression) if self.ctx.options.contract else None
        if fused is not None:
            return fused
        left, right = self.value(expression.left), self.value(expression.right)
        signed = _is_signed(expression.type)
        if left.type != right.type:
            right = resize(self.ctx, right, left.type, signed=_is_signed(expression.right.type))
        return operators.binary(self.ctx, expression.op, left, right, signed=signed, span=expression.span)

    def _contracted(self, expression: Binary) -> ir.Value | None:
        """Fuse a product of this very expression into the sum, as clang does: the left one is tried first.

        Source: clang, `-ffp-contract=on` (within a statement); OpenCL C 3.0, section 6.10 (FP_CONTRACT).
        """
        element = element_of(expression.type)
        is_sum = expression.op in (BinaryOp.ADD, BinaryOp.SUB)
        if not is_sum or not (isinstance(element, ScalarType) and element.is_float):
            return None
        builder = self.ctx.builder
        subtracts = expression.op is BinaryOp.SUB
        product = _product(expression.left)
        if product is not None:
            left, right, negative = self._factors(product)
            addend = self.value(expression.right)
            left = builder.fneg(left) if negative else left
            return operators.fused(self.ctx, left, right, builder.fneg(addend) if subtracts else addend)
        product = _product(expression.right)
        if product is not None:
            addend = self.value(expression.left)
            left, right, negative = self._factors(product)
            left = builder.fneg(left) if negative != subtracts else left
            return operators.fused(self.ctx, left, right, addend)
        return None

    def _factors(self, product: tuple[Binary, bool]) -> tuple[ir.Value, ir.Value, bool]:
        multiplication, negative = product
        return self.value(multiplication.left), self.value(multiplication.right), negative

    def _compare_bits(self, expression: Compare) -> ir.Value:
        kind = expression.left.type
        if isinstance(kind, PointerType) or isinstance(expression.right.type, PointerType):
            return self._compare_pointers(expression)
        left, right = self.value(expression.left), self.value(expression.right)
        return operators.compare(self.ctx, expression.op, left, right, signed=_is_signed(kind))

    def _compare_pointers(self, expression: Compare) -> ir.Value:
        left = encode(self.ctx, self.pointer(expression.left))
        right = encode(self.ctx, self.pointer(expression.right))
        return operators.compare(self.ctx, expression.op, left, right, signed=False)

    def _logical_bits(self, expression: Logical) -> ir.Value:
        ctx = self.ctx
        if isinstance(expression.type, VectorType):
            first = operators.truth(ctx, self.value(expression.left))
            second = operators.truth(ctx, self.value(expression.right))
            emit = ctx.builder.and_ if expression.op is LogicalOp.AND else ctx.builder.or_
            return emit(first, second)
        left = self.condition(expression.left)
        if not self._may_report(expression.right):
            right = self.condition(expression.right)
            return (
                ctx.builder.and_(left, right)
                if expression.op is LogicalOp.AND
                else ctx.builder.or_(left, right)
            )
        bit = ir.IntType(1)
        if expression.op is LogicalOp.AND:
            return ctx.either(
                left, lambda: self.condition(expression.right), lambda: ir.Constant(bit, 0), bit
            )
        return ctx.either(left, lambda: ir.Constant(bit, 1), lambda: self.condition(expression.right), bit)

    def _select(self, expression: Select) -> Value:
        ctx = self.ctx
        if isinstance(expression.condition.type, VectorType):
            flags = operators.sign_bits(ctx, self.value(expression.condition))
            return ctx.builder.select(flags, self.value(expression.if_true), self.value(expression.if_false))
        if isinstance(expression.type, PointerType):
            return self._select_pointer(expression)
        condition = self.condition(expression.condition)
        if self._may_report(expression.if_true) or self._may_report(expression.if_false):
            return ctx.either(
                condition,
                lambda: self.value(expression.if_true),
                lambda: self.value(expression.if_false),
                llvm_type(expression.type),
            )
        then, other = self.value(expression.if_true), self.value(expression.if_false)
        return ctx.builder.select(condition, then, other)

    def _may_report(self, expression: Expression) -> bool:
        """Tell whether evaluating it where the program would not could report a fault."""
        return may_fault(expression) or any(
            isinstance(it, Read)
            and (slot := self.ctx.slots.get(it.variable)) is not None
            and slot.initialised is not None
            for it in nodes(expression)
        )

    def _select_pointer(self, expression: Select) -> Pointer:
        ctx = self.ctx
        condition = self.condition(expression.condition)
        if self._may_report(expression.if_true) or self._may_report(expression.if_false):
            whole = ctx.either(
                condition,
                lambda: encode(ctx, self.pointer(expression.if_true)),
                lambda: encode(ctx, self.pointer(expression.if_false)),
                I64,
            )
            return decode(ctx, whole)
        then, other = self.pointer(expression.if_true), self.pointer(expression.if_false)
        offset = ctx.builder.select(condition, then.offset, other.offset)
        alignment = min(then.alignment, other.alignment)
        if isinstance(then.number, int) and then.number == other.number:
            return Pointer(then.number, offset, alignment)
        number = ctx.builder.select(condition, number_value(then), number_value(other))
        return Pointer(number, offset, alignment)

    # --------------------------------------------------------------------------------- vectors and pointers

    def _reinterpret(self, value: ir.Value, kind: ir.Type) -> ir.Value:
        builder = self.ctx.builder
        if _is_three(value.type) and not _is_three(kind):
            value = self._swizzle(value, (0, 1, 2, 2))
        if _is_three(kind) and not _is_three(value.type):
            four = builder.bitcast(value, ir.VectorType(kind.element, 4))
            return self._swizzle(four, (0, 1, 2))
        return builder.bitcast(value, kind) if value.type != kind else value

    def _pointer_cast(self, expression: PointerCast) -> Value:
        value = self.evaluate(expression.operand)
        if isinstance(expression.type, PointerType):
            if isinstance(value, Pointer):
                return self._within(value, _KINDS[expression.type.space]) if expression.or_null else value
            signed = _is_signed(expression.operand.type)
            return decode(self.ctx, resize(self.ctx, value, I64, signed=signed))
        whole = encode(self.ctx, value) if isinstance(value, Pointer) else value
        kind = llvm_type(expression.type)
        return resize(self.ctx, whole, kind, signed=False) if isinstance(kind, ir.IntType) else zero(kind)

    def _within(self, pointer: Pointer, kind: int) -> Pointer:
        """Return a pointer into buffers of this kind, or else null."""
        builder, null = self.ctx.builder, Pointer(0, ir.Constant(I64, 0))
        if isinstance(pointer.number, int):
            plans = self.ctx.plan.buffers
            return pointer if any(it.number == pointer.number and it.kind == kind for it in plans) else null
        table = builder.inttoptr(self.ctx.constant_state(BUFFERS), POINTER)
        known = builder.icmp_unsigned("<=", pointer.number, ir.Constant(I64, len(self.ctx.plan.buffers)))
        number = builder.select(known, pointer.number, ir.Constant(I64, 0))
        word = builder.add(builder.mul(number, ir.Constant(I64, ENTRY_WORDS)), ir.Constant(I64, E_KIND))
        found = builder.load(builder.gep(table, [word], source_etype=I64), typ=I64)
        good = builder.icmp_signed("==", found, ir.Constant(I64, kind))
        number, offset = (builder.select(good, it, ir.Constant(I64, 0)) for it in (number, pointer.offset))
        return Pointer(number, offset, pointer.alignment)

    def _vector(self, expression: VectorLiteral) -> ir.Value:
        builder = self.ctx.builder
        kind = llvm_type(expression.type)
        result: ir.Value = ir.Constant(kind, ir.Undefined)
        at = 0
        for part in expression.parts:
            value = self.value(part)
            if not isinstance(value.type, ir.VectorType):
                result = builder.insert_element(result, value, ir.Constant(I64, at))
                at += 1
                continue
            for lane in range(value.type.count):
                one = builder.extract_element(value, ir.Constant(I64, lane))
                result = builder.insert_element(result, one, ir.Constant(I64, at))
                at += 1
        return result

    def _swizzle(self, value: ir.Value, lanes: tuple[int, ...]) -> ir.Value:
        builder = self.ctx.builder
        if not isinstance(value.type, ir.VectorType):
            return value
        count = value.type.count
        if len(lanes) == 1:
            return builder.extract_element(value, ir.Constant(I64, min(lanes[0], count - 1)))
        mask = ir.Constant(ir.VectorType(ir.IntType(32), len(lanes)), [min(it, count - 1) for it in lanes])
        return builder.shuffle_vector(value, ir.Constant(value.type, ir.Undefined), mask)

    def _insert(self, expression: InsertLanes) -> ir.Value:
        builder = self.ctx.builder
        vector = expression.vector
        result = self._read(vector, check=False) if isinstance(vector, Read) else self.value(vector)
        assert isinstance(result, ir.Value)
        value = self.value(expression.value)
        for index, lane in enumerate(expression.lanes):
            one = value
            if isinstance(value.type, ir.VectorType):
                one = builder.extract_element(value, ir.Constant(I64, index))
            result = builder.insert_element(result, one, ir.Constant(I64, lane))
        return result

    def accessed(self, address: Expression) -> Pointer:
        """Emit an address that is read or written: one past the end of an array will not do."""
        self._accessed = frozenset(map(id, _within(address)))
        found = self.pointer(address)
        self._accessed = frozenset()
        return found

    def _check_index(self, expression: PointerOffset, index: ir.Value) -> None:
        """Report an index past the end of an inner array; one past it may still be an end pointer."""
        length = _inner_length(expression)
        if length is None:
            return
        past = ">=" if id(expression) in self._accessed else ">"
        outside = self.ctx.builder.icmp_unsigned(past, index, ir.Constant(I64, length))
        with self.ctx.rarely(outside, "index"):
            self.ctx.fault(FAULT_INDEX, self.ctx.place(expression.span), index, ir.Constant(I64, length))

    def _offset(self, expression: PointerOffset) -> Pointer:
        base = self.pointer(expression.pointer)
        signed = _is_signed(expression.index.type)
        index = resize(self.ctx, self.value(expression.index), I64, signed=signed)
        self._check_index(expression, index)
        distance = self.ctx.builder.mul(index, ir.Constant(I64, expression.stride))
        moved = self.ctx.builder.add(base.offset, distance)
        return Pointer(base.number, moved, _common(base.alignment, expression.stride))


def _inner_length(expression: PointerOffset) -> int | None:
    """Return the length of the array that is indexed, if it is a part of a larger object.

    The outermost dimension of an object needs no check of its own: its bounds are those of the object.
    """
    array = _array_at(expression.pointer)
    if array is None or isinstance(expression.pointer, ObjectAddress) or _may_be_longer(expression.pointer):
        return None
    if not array.length or array.element.size != expression.stride:
        return None
    index = expression.index
    if isinstance(index, Constant) and 0 <= index.value < array.length:
        return None
    return array.length


def _may_be_longer(array: Expression) -> bool:
    """True for a last member of one element, with which sources write an array that the buffer ends."""
    match array:
        case FieldAddress(pointer=pointer, field=field) if isinstance(pointer.type, PointerType):
            struct = pointer.type.pointee
            is_last = isinstance(struct, StructType) and field.offset == struct.fields[-1].offset
            return is_last and isinstance(field.type, ArrayType) and field.type.length == 1
        case _:
            return False


def _within(address: Expression) -> Iterator[Expression]:
    """Yield the offsets of an address whose element the access lies in: of `t[i].v[j][k]` all three."""
    element: Expression | None = address
    while element is not None:
        match element:
            case FieldAddress(pointer=pointer):
                element = pointer
            case PointerOffset(pointer=pointer, stride=stride):
                yield element
                array = _array_at(pointer)
                element = pointer if array is not None and array.element.size == stride else None
                if isinstance(element, PointerOffset) and element.stride == stride:
                    element = None  # A sum of offsets in one array: only where it ends matters.
            case _:
                element = None


def _array_at(address: Expression) -> ArrayType | None:
    """Return the array that lies at an address, as the object's type says; the pointer's own has decayed."""
    kind: Type | None = None
    match address:
        case ObjectAddress(variable=variable):
            kind = variable.type
        case FieldAddress(field=field):
            kind = field.type
        case PointerOffset(pointer=pointer, stride=stride):
            outer = _array_at(pointer)
            kind = outer.element if outer is not None and outer.element.size == stride else None
        case _:
            pass
    return kind if isinstance(kind, ArrayType) else None


_KINDS = {
    AddressSpace.GLOBAL: KIND_GLOBAL,
    AddressSpace.LOCAL: KIND_LOCAL,
    AddressSpace.PRIVATE: KIND_PRIVATE,
}


def number_value(pointer: Pointer) -> ir.Value:
    """Return the buffer number as an LLVM value."""
    return ir.Constant(I64, pointer.number) if isinstance(pointer.number, int) else pointer.number


def encode(ctx: Context, pointer: Pointer) -> ir.Value:
    """Return the 64-bit form of a pointer: 2**48 times the buffer's number, plus the offset; null is 0.

    So pointers before a buffer's start are less than those into it, and as far from them as they are.
    """
    if isinstance(pointer.number, int):
        return ctx.builder.add(pointer.offset, integer(pointer.number << OFFSET_BITS, I64))
    return ctx.builder.add(pointer.offset, ctx.builder.shl(pointer.number, ir.Constant(I64, OFFSET_BITS)))


def decode(ctx: Context, value: ir.Value) -> Pointer:
    """Return the pointer of a 64-bit form; what has another form (`int` for a pointer) is null."""
    if value.type != I64:
        return Pointer(0, ir.Constant(I64, 0))
    nearest = ctx.builder.add(value, ir.Constant(I64, 1 << (OFFSET_BITS - 1)))
    number = ctx.builder.lshr(nearest, ir.Constant(I64, OFFSET_BITS))
    rest = ir.Constant(I64, 64 - OFFSET_BITS)
    return Pointer(number, ctx.builder.ashr(ctx.builder.shl(value, rest), rest))


def may_fault(expression: Expression) -> bool:
    """True if evaluating it where the program would not could report a fault: integer divisions."""
    match expression:
        case Binary(op=BinaryOp.DIV | BinaryOp.REM, type=kind, right=right):
            element = element_of(kind)
            is_float_division = isinstance(element, ScalarType) and element.is_float
            if not is_float_division and not (isinstance(right, Constant) and right.value not in (0, -1)):
                return True
    return any(may_fault(it) for it in operands(expression))


def _product(expression: Expression) -> tuple[Binary, bool] | None:
    """Return the product that `expression` is, and whether it is negated."""
    match expression:
        case Binary(op=BinaryOp.MUL):
            return expression, False
        case Unary(op=UnaryOp.NEGATE, operand=Binary(op=BinaryOp.MUL) as product):
            return product, True
        case _:
            return None


def _keeps_truth(source: Type, target: Type) -> bool:
    """True if a conversion cannot turn a number different from zero into zero."""
    return (
        isinstance(source, ScalarType)
        and isinstance(target, ScalarType)
        and source.is_integer
        and target.is_integer
        and target.bits >= source.bits
    )


def _is_signed(kind: Type) -> bool:
    element = element_of(kind)
    return isinstance(element, ScalarType) and element.is_signed


def _is_three(kind: ir.Type) -> bool:
    return isinstance(kind, ir.VectorType) and kind.count == 3


def _common(alignment: int, distance: int) -> int:
    """Return a power of two that divides both; an offset of 0 keeps the alignment."""
    return min(alignment, distance & -distance) if distance else alignment


__all__ = ["CompareOp", "Expressions", "decode", "encode", "may_fault", "number_value"]

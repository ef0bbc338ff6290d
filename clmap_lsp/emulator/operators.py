"""Arithmetic with every case defined: integers wrap, shifts are masked, division never traps."""

from __future__ import annotations

from llvmlite import ir

from clmap_lsp.emulator.context import Context
from clmap_lsp.emulator.layout import FAULT_DIVISION, FAULT_OVERFLOW
from clmap_lsp.emulator.types import (
    DOUBLE,
    FLOAT,
    HALF,
    I1,
    I64,
    bits,
    element,
    integer,
    is_float,
    lanes,
    like,
    zero,
)
from clmap_lsp.source.ir import BinaryOp, CompareOp
from clmap_lsp.source.span import Span


def binary(
    ctx: Context, op: BinaryOp, left: ir.Value, right: ir.Value, *, signed: bool, span: Span
) -> ir.Value:
    """Emit `left op right` on two values of one LLVM type."""
    if is_float(left.type):
        return _float_binary(ctx, op, left, right)
    builder = ctx.builder
    match op:
        case BinaryOp.ADD:
            return builder.add(left, right)
        case BinaryOp.SUB:
            return builder.sub(left, right)
        case BinaryOp.MUL:
            return builder.mul(left, right)
        case BinaryOp.DIV | BinaryOp.REM:
            return divide(ctx, op, left, right, signed=signed, span=span)
        case BinaryOp.SHL | BinaryOp.SHR:
            count = builder.and_(right, integer(bits(left.type) - 1, right.type))
            if op is BinaryOp.SHL:
                return builder.shl(left, count)
            return builder.ashr(left, count) if signed else builder.lshr(left, count)
        case BinaryOp.AND:
            return builder.and_(left, right)
        case BinaryOp.OR:
            return builder.or_(left, right)
        case BinaryOp.XOR:
            return builder.xor(left, right)


def _float_binary(ctx: Context, op: BinaryOp, left: ir.Value, right: ir.Value) -> ir.Value:
    match op:
        case BinaryOp.ADD:
            return ctx.builder.fadd(left, right)
        case BinaryOp.SUB:
            return ctx.builder.fsub(left, right)
        case BinaryOp.MUL:
            return ctx.builder.fmul(left, right)
        case BinaryOp.DIV:
            return ctx.builder.fdiv(left, right)
        case BinaryOp.REM:
            return ctx.builder.frem(left, right)
        case _:
            return zero(left.type)


def divide(
    ctx: Context, op: BinaryOp, left: ir.Value, right: ir.Value, *, signed: bool, span: Span
) -> ir.Value:
    """Emit an integer division: x / 0 and x % 0 are 0 and reported, the least integer / -1 wraps."""
    builder = ctx.builder
    if _is_safe_divisor(right):
        return _quotient(builder, op, left, right, signed)
    nil, one = zero(right.type), integer(1, right.type)
    is_zero = builder.icmp_signed("==", right, nil)
    unsafe = is_zero
    overflows = None
    if signed:
        least = integer(1 << (bits(left.type) - 1), left.type)
        overflows = builder.and_(
            builder.icmp_signed("==", right, integer(-1, right.type)),
            builder.icmp_signed("==", left, least),
        )
        unsafe = builder.or_(is_zero, overflows)
    with ctx.rarely(any_lane(ctx, unsafe), "division"):
        place = ctx.place(span)
        with ctx.rarely(any_lane(ctx, is_zero), "zero"):
            ctx.fault(FAULT_DIVISION, place)
        if overflows is not None:
            with ctx.rarely(any_lane(ctx, overflows), "overflow"):
                ctx.fault(FAULT_OVERFLOW, place)
    result = _quotient(ctx.builder, op, left, ctx.builder.select(unsafe, one, right), signed)
    return ctx.builder.select(is_zero, nil, result)


def _quotient(builder: ir.IRBuilder, op: BinaryOp, left: ir.Value, right: ir.Value, signed: bool) -> ir.Value:
    if op is BinaryOp.DIV:
        return builder.sdiv(left, right) if signed else builder.udiv(left, right)
    return builder.srem(left, right) if signed else builder.urem(left, right)


def _is_safe_divisor(value: ir.Value) -> bool:
    return (
        isinstance(value, ir.Constant) and isinstance(value.constant, int) and value.constant not in (0, -1)
    )


def any_lane(ctx: Context, condition: ir.Value) -> ir.Value:
    """Return one bit: does any lane of an i1 vector hold?"""
    if not isinstance(condition.type, ir.VectorType):
        return condition
    count = lanes(condition.type)
    packed = ctx.builder.bitcast(condition, ir.IntType(count))
    return ctx.builder.icmp_signed("!=", packed, ir.Constant(ir.IntType(count), 0))


_ORDERED = {CompareOp.EQ: "==", CompareOp.LT: "<", CompareOp.LE: "<=", CompareOp.GT: ">", CompareOp.GE: ">="}


def compare(ctx: Context, op: CompareOp, left: ir.Value, right: ir.Value, *, signed: bool) -> ir.Value:
    """Emit a comparison; returns bits (i1). NaN is unequal to everything."""
    if is_float(left.type):
        if op is CompareOp.NE:
            return ctx.builder.fcmp_unordered("!=", left, right)
        return ctx.builder.fcmp_ordered(_ORDERED[op], left, right)
    emit = ctx.builder.icmp_signed if signed else ctx.builder.icmp_unsigned
    return emit(op.value, left, right)


def from_bits(ctx: Context, condition: ir.Value, kind: ir.Type) -> ir.Value:
    """Turn i1 into C's truth: 0 or 1 for a scalar, 0 or -1 a lane for a vector."""
    if isinstance(kind, ir.VectorType):
        return ctx.builder.sext(condition, kind)
    return ctx.builder.zext(condition, kind)


def truth(ctx: Context, value: ir.Value) -> ir.Value:
    """Return i1 (a lane): is the value different from zero?"""
    if value.type == I1:
        return value
    if is_float(value.type):
        return ctx.builder.fcmp_unordered("!=", value, zero(value.type))
    return ctx.builder.icmp_signed("!=", value, zero(value.type))


def sign_bits(ctx: Context, value: ir.Value) -> ir.Value:
    """Return i1 a lane: is the most significant bit set? Of a float, which no condition may be, its sign."""
    if is_float(value.type):
        value = ctx.builder.bitcast(value, like(ir.IntType(bits(value.type)), value.type))
    return ctx.builder.icmp_signed("<", value, zero(value.type))


def fused(ctx: Context, left: ir.Value, right: ir.Value, addend: ir.Value) -> ir.Value:
    """Emit a fused multiply-add: one rounding."""
    kind = left.type
    if element(kind) == HALF:
        # Where 53 bits do not hold the sum, the product is too small to move the addend off its value.
        wide = like(DOUBLE, kind)
        parts = [ctx.builder.fpext(it, wide) for it in (left, right, addend)]
        return narrowed(ctx, ctx.call("llvm.fma." + intrinsic_suffix(wide), wide, parts), kind)
    name = "llvm.fma." + intrinsic_suffix(kind)
    return ctx.call(name, kind, [left, right, addend])


def narrowed(ctx: Context, value: ir.Value, kind: ir.Type) -> ir.Value:
    """Round to a narrower floating type, to nearest even.

    From double to half that goes by way of float, rounded to odd: LLVM would call the compiler's library for
    it, which is not there, and two roundings to nearest are not one.
    """
    builder = ctx.builder
    if value.type == kind:
        return value
    if element(kind) != HALF or element(value.type) != DOUBLE:
        return builder.fptrunc(value, kind)
    middle, words = like(FLOAT, kind), like(ir.IntType(32), kind)
    near = builder.fptrunc(value, middle)
    back = builder.fpext(near, value.type)
    pattern = builder.bitcast(near, words)
    magnitude = "llvm.fabs." + intrinsic_suffix(value.type)
    is_larger = builder.fcmp_ordered(
        ">", ctx.call(magnitude, value.type, [back]), ctx.call(magnitude, value.type, [value])
    )
    towards_zero = builder.sub(pattern, builder.zext(is_larger, words))
    odd = builder.or_(towards_zero, integer(1, words))
    inexact = builder.fcmp_ordered("!=", back, value)
    return builder.fptrunc(builder.bitcast(builder.select(inexact, odd, pattern), middle), kind)


def intrinsic_suffix(kind: ir.Type) -> str:
    """Return the type's part of an intrinsic's name: `f32`, `v4i32`."""
    letter = "f" if is_float(kind) else "i"
    name = f"{letter}{bits(kind)}"
    return f"v{lanes(kind)}{name}" if isinstance(kind, ir.VectorType) else name


def splat(ctx: Context, value: ir.Value, count: int) -> ir.Value:
    """Return a vector with `value` in every lane."""
    kind = ir.VectorType(value.type, count)
    first = ctx.builder.insert_element(ir.Constant(kind, ir.Undefined), value, ir.Constant(I64, 0))
    mask = ir.Constant(ir.VectorType(ir.IntType(32), count), [0] * count)
    return ctx.builder.shuffle_vector(first, ir.Constant(kind, ir.Undefined), mask)


def by_lane(ctx: Context, function: object, values: list[ir.Value], result: ir.Type) -> ir.Value:
    """Apply a function of scalars to every lane; `result` is the LLVM type of the whole result."""
    assert callable(function)
    if not isinstance(result, ir.VectorType):
        scalar: ir.Value = function(*values)
        return scalar
    whole: ir.Value = ir.Constant(result, ir.Undefined)
    for lane in range(result.count):
        at = ir.Constant(I64, lane)
        parts = [
            ctx.builder.extract_element(it, at) if isinstance(it.type, ir.VectorType) else it for it in values
        ]
        whole = ctx.builder.insert_element(whole, function(*parts), at)
    return whole


__all__ = [
    "any_lane",
    "binary",
    "by_lane",
    "compare",
    "divide",
    "element",
    "from_bits",
    "fused",
    "intrinsic_suffix",
    "like",
    "narrowed",
    "sign_bits",
    "splat",
    "truth",
]

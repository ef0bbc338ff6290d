"""Value conversions: casts, implicit conversions and `convert_T_sat_rte`.

Out-of-range conversions without `_sat` are undefined in OpenCL C. Here floats to integers then saturate and
NaN gives 0, as on GPUs; no such conversion is undefined behaviour in the generated code.
Source: OpenCL C Specification 3.0, section 6.4.3 (explicit conversions).
"""

from __future__ import annotations

from llvmlite import ir

from clmap_lsp.emulator.context import Context
from clmap_lsp.emulator.operators import from_bits, intrinsic_suffix, narrowed, splat, truth
from clmap_lsp.emulator.types import (
    DOUBLE,
    FLOAT,
    HALF,
    bits,
    element,
    integer,
    like,
    llvm_type,
    zero,
)
from clmap_lsp.source.types import BOOL, ScalarType, Type, VectorType, element_of

_WIDTHS = {HALF: 16, FLOAT: 32, DOUBLE: 64}


def convert(
    ctx: Context, value: ir.Value, source: Type, target: Type, rounding: str | None, saturate: bool
) -> ir.Value:
    """Convert a scalar or vector value; a scalar becomes a vector by repetition."""
    source_element, target_element = element_of(source), element_of(target)
    if not isinstance(source_element, ScalarType) or not isinstance(target_element, ScalarType):
        return _bits_as(ctx, value, llvm_type(target))
    wants_vector = isinstance(target, VectorType)
    result = _convert(ctx, value, source_element, target_element, rounding, saturate)
    if wants_vector and not isinstance(result.type, ir.VectorType):
        assert isinstance(target, VectorType)
        return splat(ctx, result, target.lanes)
    return result


def _bits_as(ctx: Context, value: ir.Value, target: ir.Type) -> ir.Value:
    """Bring a value of a type that is not known into some other type: by its low bits."""
    if value.type == target:
        return value
    if isinstance(value.type, ir.IntType) and isinstance(target, ir.IntType):
        return resize(ctx, value, target, signed=False)
    return zero(target)


def _convert(
    ctx: Context,
    value: ir.Value,
    source: ScalarType,
    target: ScalarType,
    rounding: str | None,
    saturate: bool,
) -> ir.Value:
    kind = like(llvm_type(target), value.type)
    if target == BOOL:
        return from_bits(ctx, truth(ctx, value), kind) if source != BOOL else value
    if source.is_float and target.is_float:
        return _float_to_float(ctx, value, kind, rounding)
    if source.is_float:
        return _float_to_integer(ctx, value, kind, target.is_signed, rounding or "rtz")
    if target.is_float:
        return _integer_to_float(ctx, value, kind, source.is_signed, rounding)
    if saturate:
        value = _saturate(ctx, value, source, target)
    return resize(ctx, value, kind, signed=source.is_signed)


def resize(ctx: Context, value: ir.Value, kind: ir.Type, *, signed: bool) -> ir.Value:
    """Widen by sign or zeros, or cut off high bits."""
    if bits(value.type) > bits(kind):
        return ctx.builder.trunc(value, kind)
    if bits(value.type) == bits(kind):
        return value
    return ctx.builder.sext(value, kind) if signed else ctx.builder.zext(value, kind)


def _saturate(ctx: Context, value: ir.Value, source: ScalarType, target: ScalarType) -> ir.Value:
    low = -(1 << (target.bits - 1)) if target.is_signed else 0
    high = (1 << (target.bits - 1)) - 1 if target.is_signed else (1 << target.bits) - 1
    least = -(1 << (source.bits - 1)) if source.is_signed else 0
    most = (1 << (source.bits - 1)) - 1 if source.is_signed else (1 << source.bits) - 1
    compare = ctx.builder.icmp_signed if source.is_signed else ctx.builder.icmp_unsigned
    if least < low:
        bound = integer(low, value.type)
        value = ctx.builder.select(compare("<", value, bound), bound, value)
    if most > high:
        bound = integer(high, value.type)
        value = ctx.builder.select(compare(">", value, bound), bound, value)
    return value


def _float_to_float(ctx: Context, value: ir.Value, kind: ir.Type, rounding: str | None) -> ir.Value:
    if value.type == kind:
        return value
    if bits(kind) > bits(value.type):
        return ctx.builder.fpext(value, kind)
    nearest = narrowed(ctx, value, kind)
    if rounding in (None, "rte"):
        return nearest
    return _directed(ctx, nearest, ctx.builder.fpext(nearest, value.type), value, rounding)


def _directed(
    ctx: Context, nearest: ir.Value, back: ir.Value, exact: ir.Value, rounding: str | None
) -> ir.Value:
    """Step from the nearest value to the neighbour that a directed rounding wants."""
    builder = ctx.builder
    too_high = builder.fcmp_ordered(">", back, exact)
    too_low = builder.fcmp_ordered("<", back, exact)
    nil = zero(exact.type)
    positive = builder.fcmp_ordered(">", exact, nil)
    never = zero(too_high.type)
    match rounding:
        case "rtn":
            down, up = too_high, never
        case "rtp":
            down, up = never, too_low
        case _:
            down = builder.and_(too_high, positive)
            up = builder.and_(too_low, builder.not_(positive))
    stepped = builder.select(down, step(ctx, nearest, up=False), nearest)
    return builder.select(up, step(ctx, nearest, up=True), stepped)


def step(ctx: Context, value: ir.Value, *, up: bool) -> ir.Value:
    """Return the next representable number upwards or downwards (through zero, to infinity)."""
    builder = ctx.builder
    whole = like(ir.IntType(bits(value.type)), value.type)
    pattern = builder.bitcast(value, whole)
    negative = builder.icmp_signed("<", pattern, zero(whole))
    magnitude = builder.and_(pattern, integer((1 << (bits(whole) - 1)) - 1, whole))
    is_zero = builder.icmp_signed("==", magnitude, zero(whole))
    one = integer(1, whole)
    away, towards = builder.add(pattern, one), builder.sub(pattern, one)
    if up:
        moved = builder.select(negative, towards, away)
        from_zero = one
    else:
        moved = builder.select(negative, away, towards)
        from_zero = integer((1 << (bits(whole) - 1)) | 1, whole)
    return builder.bitcast(builder.select(is_zero, from_zero, moved), value.type)


def round_to_whole(ctx: Context, value: ir.Value, rounding: str) -> ir.Value:
    """Round to an integer value, still as a float."""
    name = {"rte": "llvm.roundeven", "rtz": "llvm.trunc", "rtp": "llvm.ceil", "rtn": "llvm.floor"}[rounding]
    return ctx.call(f"{name}.{intrinsic_suffix(value.type)}", value.type, [value])


def _float_to_integer(ctx: Context, value: ir.Value, kind: ir.Type, signed: bool, rounding: str) -> ir.Value:
    if rounding != "rtz":
        value = round_to_whole(ctx, value, rounding)
    name = "llvm.fptosi.sat" if signed else "llvm.fptoui.sat"
    full = f"{name}.{intrinsic_suffix(kind)}.{intrinsic_suffix(value.type)}"
    return ctx.call(full, kind, [value])


def _integer_to_float(
    ctx: Context, value: ir.Value, kind: ir.Type, signed: bool, rounding: str | None
) -> ir.Value:
    builder = ctx.builder
    nearest = builder.sitofp(value, kind) if signed else builder.uitofp(value, kind)
    if rounding in (None, "rte") or bits(value.type) <= _precision(kind):
        return nearest
    # In 64 bits: a conversion to 128 would be a call of the compiler's library, which is not there.
    wide = like(ir.IntType(64), value.type)
    has_sign = signed or bits(value.type) < 64
    compare = builder.icmp_signed if has_sign else builder.icmp_unsigned
    exact = resize(ctx, value, wide, signed=signed)
    back = _float_to_integer(ctx, nearest, wide, has_sign, "rtz")
    # Rounded up to the power of two that no integer reaches, which `back` cannot hold.
    beyond = builder.fcmp_ordered(">=", nearest, like_constant(nearest.type, 2.0 ** (63 if has_sign else 64)))
    too_high = builder.or_(compare(">", back, exact), beyond)
    too_low = builder.and_(compare("<", back, exact), builder.not_(beyond))
    positive = compare(">", exact, zero(wide))
    down = too_high if rounding == "rtn" else builder.and_(too_high, positive)
    up = too_low if rounding == "rtp" else builder.and_(too_low, builder.not_(positive))
    if rounding == "rtn":
        up = zero(down.type)
    if rounding == "rtp":
        down = zero(up.type)
    stepped = builder.select(down, step(ctx, nearest, up=False), nearest)
    return builder.select(up, step(ctx, nearest, up=True), stepped)


def like_constant(kind: ir.Type, number: float) -> ir.Constant:
    """Return a number in every lane of a floating-point type; infinity where it is too large for the type."""
    if bits(kind) == 16 and abs(number) > 65504:
        number = float("inf") if number > 0 else float("-inf")
    if isinstance(kind, ir.VectorType):
        return ir.Constant(kind, [ir.Constant(kind.element, number)] * kind.count)
    return ir.Constant(kind, number)


def _precision(kind: ir.Type) -> int:
    return {16: 11, 32: 24, 64: 53}[_WIDTHS[element(kind)]]

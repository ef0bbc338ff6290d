"""Integer functions, exact for every width."""

from __future__ import annotations

from llvmlite import ir

from clmap_lsp.emulator.builtin_support import Arguments, Emitter
from clmap_lsp.emulator.conversions import resize
from clmap_lsp.emulator.operators import intrinsic_suffix
from clmap_lsp.emulator.types import bits, integer, is_float, like, zero


def _twice(it: Arguments, values: list[ir.Value], signed: bool) -> list[ir.Value]:
    kind = like(ir.IntType(2 * bits(values[0].type)), values[0].type)
    return [resize(it.ctx, value, kind, signed=signed) for value in values]


def _abs(it: Arguments) -> ir.Value:
    value = it.values[0]
    if is_float(value.type):
        return it.ctx.call(f"llvm.fabs.{intrinsic_suffix(value.type)}", value.type, [value])
    if not it.signed():
        return value
    negative = it.builder.icmp_signed("<", value, zero(value.type))
    return it.builder.select(negative, it.builder.sub(zero(value.type), value), value)


def _abs_diff(it: Arguments) -> ir.Value:
    left, right = it.wide()
    compare = it.builder.icmp_signed if it.signed() else it.builder.icmp_unsigned
    forward, backward = it.builder.sub(left, right), it.builder.sub(right, left)
    return it.builder.select(compare(">", left, right), forward, backward)


def _saturating(name: str) -> Emitter:
    def emit(it: Arguments) -> ir.Value:
        values = it.wide()
        kind = values[0].type
        letter = "s" if it.signed() else "u"
        return it.ctx.call(f"llvm.{letter}{name}.sat.{intrinsic_suffix(kind)}", kind, values)

    return emit


def _half_add(rounds_up: bool) -> Emitter:
    def emit(it: Arguments) -> ir.Value:
        values = it.wide()
        left, right = _twice(it, values, it.signed())
        total = it.builder.add(left, right)
        if rounds_up:
            total = it.builder.add(total, integer(1, total.type))
        return it.builder.trunc(it.builder.ashr(total, integer(1, total.type)), values[0].type)

    return emit


def _mul_high(it: Arguments, values: list[ir.Value]) -> ir.Value:
    left, right = _twice(it, values, it.signed())
    product = it.builder.mul(left, right)
    return it.builder.trunc(
        it.builder.ashr(product, integer(bits(values[0].type), product.type)), values[0].type
    )


def _mul_hi(it: Arguments) -> ir.Value:
    return _mul_high(it, it.wide())


def _mad_hi(it: Arguments) -> ir.Value:
    a, b, c = it.wide()
    return it.builder.add(_mul_high(it, [a, b]), c)


def _mad_sat(it: Arguments) -> ir.Value:
    """a * b + c, held inside the type's range: worked out in twice the width, where it cannot overflow."""
    signed = it.signed()
    values = it.wide()
    kind = values[0].type
    a, b, c = _twice(it, values, signed)
    total = it.builder.add(it.builder.mul(a, b), c)
    width = bits(kind)
    low = -(1 << (width - 1)) if signed else 0
    high = (1 << (width - 1)) - 1 if signed else (1 << width) - 1
    compare = it.builder.icmp_signed if signed else it.builder.icmp_unsigned
    bound = integer(high, total.type)
    total = it.builder.select(compare(">", total, bound), bound, total)
    if signed:
        bound = integer(low, total.type)
        total = it.builder.select(compare("<", total, bound), bound, total)
    return it.builder.trunc(total, kind)


def _mul24(it: Arguments) -> ir.Value:
    left, right = it.wide()
    return it.builder.mul(left, right)


def _mad24(it: Arguments) -> ir.Value:
    a, b, c = it.wide()
    return it.builder.add(it.builder.mul(a, b), c)


def _rotate(it: Arguments) -> ir.Value:
    value, count = it.wide()
    kind = value.type
    return it.ctx.call(f"llvm.fshl.{intrinsic_suffix(kind)}", kind, [value, value, count])


def _bit_count(name: str) -> Emitter:
    def emit(it: Arguments) -> ir.Value:
        value = it.values[0]
        kind = value.type
        arguments = [value]
        if name != "ctpop":
            arguments.append(ir.Constant(ir.IntType(1), 0))  # Zero is a defined argument.
        return it.ctx.call(f"llvm.{name}.{intrinsic_suffix(kind)}", kind, arguments)

    return emit


def _upsample(it: Arguments) -> ir.Value:
    high, low = it.wide()
    kind = like(ir.IntType(2 * bits(high.type)), high.type)
    top = it.builder.shl(it.builder.zext(high, kind), integer(bits(high.type), kind))
    return it.builder.or_(top, it.builder.zext(low, kind))


TABLE: dict[str, Emitter] = {
    "abs": _abs,
    "abs_diff": _abs_diff,
    "add_sat": _saturating("add"),
    "sub_sat": _saturating("sub"),
    "hadd": _half_add(False),
    "rhadd": _half_add(True),
    "mul_hi": _mul_hi,
    "mad_hi": _mad_hi,
    "mad_sat": _mad_sat,
    "mul24": _mul24,
    "mad24": _mad24,
    "rotate": _rotate,
    "popcount": _bit_count("ctpop"),
    "clz": _bit_count("ctlz"),
    "ctz": _bit_count("cttz"),
    "upsample": _upsample,
}

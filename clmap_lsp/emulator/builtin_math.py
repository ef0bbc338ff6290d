"""Math functions and common functions."""

from __future__ import annotations

import math
from collections.abc import Callable

from llvmlite import ir

from clmap_lsp.emulator.builtin_support import Arguments, Emitter, in_double, intrinsic, library, to_double
from clmap_lsp.emulator.conversions import step
from clmap_lsp.emulator.operators import by_lane, fused, intrinsic_suffix
from clmap_lsp.emulator.types import DOUBLE, I32, bits, element, integer, is_float, real, zero

# ------------------------------------------------------------------------------------------- compositions


def _double(value: float) -> ir.Constant:
    return ir.Constant(DOUBLE, value)


def _of_pi(name: str, before: bool) -> Emitter:
    """sinpi(x) = sin(pi x) and asinpi(x) = asin(x) / pi, in double precision."""

    def emit(it: Arguments) -> ir.Value:
        def function(*values: ir.Value) -> ir.Value:
            if not before:
                result = it.ctx.call(name, DOUBLE, list(values))
                return it.builder.fdiv(result, _double(math.pi))
            # x - 2 round(x / 2) is exact and lies in [-1, 1].
            half = it.builder.fmul(values[0], _double(0.5))
            nearest = it.ctx.call("llvm.roundeven.f64", DOUBLE, [half])
            rest = it.builder.fsub(values[0], it.builder.fmul(nearest, _double(2.0)))
            return it.ctx.call(name, DOUBLE, [it.builder.fmul(rest, _double(math.pi))])

        return in_double(it, function)

    return emit


def _rsqrt(it: Arguments) -> ir.Value:
    return in_double(it, lambda x: it.builder.fdiv(_double(1.0), it.ctx.call("llvm.sqrt.f64", DOUBLE, [x])))


def _sqrt(it: Arguments) -> ir.Value:
    return in_double(it, lambda x: it.ctx.call("llvm.sqrt.f64", DOUBLE, [x]))


def _recip(it: Arguments) -> ir.Value:
    value = it.values[0]
    return it.builder.fdiv(real(1.0, value.type), value)


def _divide(it: Arguments) -> ir.Value:
    left, right = it.wide()
    return it.builder.fdiv(left, right)


def _fma(it: Arguments) -> ir.Value:
    values = it.wide()
    return fused(it.ctx, *values)


def _pown(it: Arguments) -> ir.Value:
    def function(x: ir.Value, n: ir.Value) -> ir.Value:
        return it.ctx.call("pow", DOUBLE, [x, it.builder.sitofp(n, DOUBLE)])

    return in_double(it, function)


def _powr(it: Arguments) -> ir.Value:
    def function(x: ir.Value, y: ir.Value) -> ir.Value:
        result = it.ctx.call("pow", DOUBLE, [x, y])
        negative = it.builder.fcmp_ordered("<", x, _double(0.0))
        return it.builder.select(negative, _double(math.nan), result)

    return in_double(it, function)


def _rootn(it: Arguments) -> ir.Value:
    """rootn(x, n): the real n-th root; odd roots of negative numbers are negative."""

    def function(x: ir.Value, n: ir.Value) -> ir.Value:
        builder = it.builder
        size = it.ctx.call("llvm.fabs.f64", DOUBLE, [x])
        inverse = builder.fdiv(_double(1.0), builder.sitofp(n, DOUBLE))
        root = it.ctx.call("pow", DOUBLE, [size, inverse])
        signed = it.ctx.call("llvm.copysign.f64", DOUBLE, [root, x])
        odd = builder.trunc(n, ir.IntType(1))
        negative = builder.fcmp_ordered("<", x, _double(0.0))
        even_root = builder.select(negative, _double(math.nan), root)
        none = builder.icmp_signed("==", n, zero(n.type))
        return builder.select(none, _double(math.nan), builder.select(odd, signed, even_root))

    return in_double(it, function)


def _exp10(it: Arguments) -> ir.Value:
    return in_double(it, lambda x: it.ctx.call("pow", DOUBLE, [_double(10.0), x]))


def _fdim(it: Arguments) -> ir.Value:
    left, right = it.wide()
    difference = it.builder.fsub(left, right)
    keeps = it.builder.fcmp_unordered(">", left, right)
    return it.builder.select(keeps, difference, zero(left.type))


def _ldexp(it: Arguments) -> ir.Value:
    return in_double(it, lambda x, n: it.ctx.call("ldexp", DOUBLE, [x, n]))


def _ilogb(it: Arguments) -> ir.Value:
    def scalar(x: ir.Value) -> ir.Value:
        return it.ctx.call("ilogb", I32, [to_double(it, x)])

    return by_lane(it.ctx, scalar, it.values, it.result)


def _maxmag(larger: bool) -> Emitter:
    def emit(it: Arguments) -> ir.Value:
        left, right = it.wide()
        fabs = intrinsic("fabs")
        a, b = fabs(it.with_values([left])), fabs(it.with_values([right]))
        builder = it.builder
        first = builder.fcmp_ordered(">" if larger else "<", a, b)
        second = builder.fcmp_ordered(">" if larger else "<", b, a)
        tie = _float_extreme("max" if larger else "min")(it.with_values([left, right]))
        return builder.select(first, left, builder.select(second, right, tie))

    return emit


def _nextafter(it: Arguments) -> ir.Value:
    x, y = it.wide()
    builder = it.builder
    up, down = step(it.ctx, x, up=True), step(it.ctx, x, up=False)
    moved = builder.select(builder.fcmp_ordered(">", y, x), up, down)
    same = builder.select(builder.fcmp_ordered("==", x, y), y, moved)
    unordered = builder.fcmp_unordered("uno", x, y)
    return builder.select(unordered, builder.fadd(x, y), same)


def _nan(it: Arguments) -> ir.Value:
    return real(math.nan, it.result)


# --------------------------------------------------------------------------------------- common functions


def _float_extreme(which: str) -> Emitter:
    """fmin and fmax: a NaN loses against a number."""
    return intrinsic(f"{which}num")


def _extreme(which: str) -> Emitter:
    """min and max of integers or of floats (the second argument where it is less or greater)."""

    def emit(it: Arguments) -> ir.Value:
        left, right = it.wide()
        op = "<" if which == "min" else ">"
        if is_float(left.type):
            return it.builder.select(it.builder.fcmp_ordered(op, right, left), right, left)
        compare = it.builder.icmp_signed if it.signed() else it.builder.icmp_unsigned
        return it.builder.select(compare(op, right, left), right, left)

    return emit


def _clamp(it: Arguments) -> ir.Value:
    value, low, high = it.wide()
    at_least = _extreme("max")(it.with_values([value, low]))
    return _extreme("min")(it.with_values([at_least, high]))


def _mix(it: Arguments) -> ir.Value:
    x, y, a = it.wide()
    return fused(it.ctx, it.builder.fsub(y, x), a, x)


def _step_function(it: Arguments) -> ir.Value:
    edge, x = it.wide()
    below = it.builder.fcmp_ordered("<", x, edge)
    return it.builder.select(below, zero(x.type), real(1.0, x.type))


def _smoothstep(it: Arguments) -> ir.Value:
    low, high, x = it.wide()
    builder, kind = it.builder, x.type
    t = builder.fdiv(builder.fsub(x, low), builder.fsub(high, low))
    t = _clamp(it.with_values([t, zero(kind), real(1.0, kind)]))
    slope = builder.fsub(real(3.0, kind), builder.fmul(real(2.0, kind), t))
    return builder.fmul(builder.fmul(t, t), slope)


def _sign(it: Arguments) -> ir.Value:
    x = it.values[0]
    builder, kind = it.builder, x.type
    one = it.ctx.call(f"llvm.copysign.{intrinsic_suffix(kind)}", kind, [real(1.0, kind), x])
    keeps = builder.fcmp_ordered("!=", x, zero(kind))
    zero_or_nan = builder.select(builder.fcmp_unordered("uno", x, x), zero(kind), x)
    return builder.select(keeps, one, zero_or_nan)


def _scale(factor: float) -> Emitter:
    def emit(it: Arguments) -> ir.Value:
        return in_double(it, lambda x: it.builder.fmul(x, _double(factor)))

    return emit


def _logb(it: Arguments) -> ir.Value:
    return in_double(it, lambda x: it.ctx.call("logb", DOUBLE, [x]))


# ------------------------------------------------------------- functions with a second result, by its name


def _fract(it: Arguments) -> ir.Value:
    """x - floor(x), held below 1."""
    x = it.values[0]
    builder, kind = it.builder, x.type
    whole = intrinsic("floor")(it)
    part = builder.fsub(x, whole)
    largest = {16: 1.0 - 2.0**-11, 32: 1.0 - 2.0**-24, 64: 1.0 - 2.0**-53}[bits(kind)]
    limit = real(largest, kind)
    return builder.select(builder.fcmp_ordered(">", part, limit), limit, part)


def _modf(it: Arguments) -> ir.Value:
    x = it.values[0]
    builder, kind = it.builder, x.type
    part = builder.fsub(x, intrinsic("trunc")(it))
    infinite = builder.fcmp_ordered("==", intrinsic("fabs")(it), real(math.inf, kind))
    part = builder.select(infinite, zero(kind), part)
    return it.ctx.call(f"llvm.copysign.{intrinsic_suffix(kind)}", kind, [part, x])


def _exponent(it: Arguments, x: ir.Value) -> ir.Value:
    """Return the exponent that `frexp` gives for a double."""
    builder = it.builder
    exponent = builder.add(it.ctx.call("ilogb", I32, [x]), ir.Constant(I32, 1))
    size = it.ctx.call("llvm.fabs.f64", DOUBLE, [x])
    ordinary = builder.and_(
        builder.fcmp_ordered(">", size, _double(0.0)), builder.fcmp_ordered("<", size, _double(math.inf))
    )
    return builder.select(ordinary, exponent, ir.Constant(I32, 0))


def _frexp(it: Arguments) -> ir.Value:
    def function(x: ir.Value) -> ir.Value:
        down = it.builder.sub(ir.Constant(I32, 0), _exponent(it, x))
        return it.ctx.call("ldexp", DOUBLE, [x, down])

    return in_double(it, function)


def _frexp_exponent(it: Arguments) -> ir.Value:
    return by_lane(it.ctx, lambda x: _exponent(it, to_double(it, x)), it.values, it.result)


def _lgamma_sign(it: Arguments) -> ir.Value:
    def scalar(value: ir.Value) -> ir.Value:
        x, builder = to_double(it, value), it.builder
        half = builder.fmul(it.ctx.call("llvm.floor.f64", DOUBLE, [x]), _double(0.5))
        odd = builder.fcmp_ordered("!=", it.ctx.call("llvm.floor.f64", DOUBLE, [half]), half)
        negative = builder.and_(builder.fcmp_ordered("<", x, _double(0.0)), odd)
        return builder.select(negative, ir.Constant(I32, -1), ir.Constant(I32, 1))

    return by_lane(it.ctx, scalar, it.values, it.result)


def _remquo_quotient(it: Arguments) -> ir.Value:
    """The low seven bits of the quotient that `remainder` subtracts, with its sign."""

    def scalar(x: ir.Value, y: ir.Value) -> ir.Value:
        builder = it.builder
        x, y = to_double(it, x), to_double(it, y)
        rest = it.ctx.call("remainder", DOUBLE, [x, y])
        whole = builder.fdiv(builder.fsub(x, rest), y)
        name = "llvm.fptosi.sat.i64.f64"
        quotient = it.ctx.call(name, ir.IntType(64), [it.ctx.call("llvm.roundeven.f64", DOUBLE, [whole])])
        low = builder.srem(quotient, ir.Constant(ir.IntType(64), 128))
        return builder.trunc(low, I32)

    return by_lane(it.ctx, scalar, it.values, it.result)


_LIBRARY = (
    *("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh"),
    *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "pow", "cbrt", "hypot", "fmod"),
    *("remainder", "erf", "erfc", "tgamma", "lgamma", "atan2"),
)
_INTRINSICS = {
    "floor": "floor",
    "ceil": "ceil",
    "trunc": "trunc",
    "rint": "roundeven",
    "round": "round",
    "fabs": "fabs",
    "copysign": "copysign",
    "fmin": "minnum",
    "fmax": "maxnum",
}

TABLE: dict[str, Emitter] = {
    **{name: library(name) for name in _LIBRARY},
    **{name: intrinsic(llvm) for name, llvm in _INTRINSICS.items()},
    **{f"{name}pi": _of_pi(name, True) for name in ("sin", "cos", "tan")},
    **{f"{name}pi": _of_pi(name, False) for name in ("asin", "acos", "atan", "atan2")},
    "sqrt": _sqrt,
    "rsqrt": _rsqrt,
    "fract": _fract,
    "modf": _modf,
    "frexp": _frexp,
    "frexp_exponent": _frexp_exponent,
    "lgamma_sign": _lgamma_sign,
    "remquo_quotient": _remquo_quotient,
    "recip": _recip,
    "divide": _divide,
    "fma": _fma,
    "mad": _fma,
    "pown": _pown,
    "powr": _powr,
    "rootn": _rootn,
    "exp10": _exp10,
    "fdim": _fdim,
    "ldexp": _ldexp,
    "ilogb": _ilogb,
    "logb": _logb,
    "maxmag": _maxmag(True),
    "minmag": _maxmag(False),
    "nextafter": _nextafter,
    "nan": _nan,
    "min": _extreme("min"),
    "max": _extreme("max"),
    "clamp": _clamp,
    "mix": _mix,
    "step": _step_function,
    "smoothstep": _smoothstep,
    "sign": _sign,
    "degrees": _scale(180.0 / math.pi),
    "radians": _scale(math.pi / 180.0),
}

__all__ = ["TABLE", "Callable", "element", "integer"]

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


def _over_pi(name: str) -> Emitter:
    """asinpi(x) = asin(x) / pi, in double precision."""

    def emit(it: Arguments) -> ir.Value:
        def function(*values: ir.Value) -> ir.Value:
            return it.builder.fdiv(it.ctx.call(name, DOUBLE, list(values)), _double(math.pi))

        return in_double(it, function)

    return emit


def _rest(it: Arguments, x: ir.Value, period: float) -> tuple[ir.Value, ir.Value]:
    """Return the nearest multiple of a period, as its number, and what is left of x: both are exact."""
    builder = it.builder
    number = _rounded(it, builder.fmul(x, _double(1.0 / period)))
    return number, builder.fsub(x, builder.fmul(number, _double(period)))


def _rounded(it: Arguments, x: ir.Value) -> ir.Value:
    return it.ctx.call("llvm.roundeven.f64", DOUBLE, [x])


def _size(it: Arguments, x: ir.Value) -> ir.Value:
    return it.ctx.call("llvm.fabs.f64", DOUBLE, [x])


def _signed(it: Arguments, size: ir.Value, sign: ir.Value) -> ir.Value:
    return it.ctx.call("llvm.copysign.f64", DOUBLE, [size, sign])


def _times_pi(it: Arguments, name: str, x: ir.Value) -> ir.Value:
    return it.ctx.call(name, DOUBLE, [it.builder.fmul(x, _double(math.pi))])


def _sinpi(it: Arguments) -> ir.Value:
    """Half turns are folded to the quarter turns beside 0, where sin loses nothing."""

    def function(x: ir.Value) -> ir.Value:
        builder = it.builder
        _, rest = _rest(it, x, 2.0)
        size = _size(it, rest)
        far = builder.fcmp_ordered(">", size, _double(0.5))
        folded = builder.select(far, builder.fsub(_double(1.0), size), size)
        found = _signed(it, _times_pi(it, "sin", folded), rest)
        whole = builder.fcmp_ordered("==", folded, _double(0.0))
        return builder.select(whole, _signed(it, _double(0.0), x), found)

    return in_double(it, function)


def _cospi(it: Arguments) -> ir.Value:
    """cos(pi x) = sin(pi (1/2 - |x|)) within half a turn."""

    def function(x: ir.Value) -> ir.Value:
        _, rest = _rest(it, x, 2.0)
        return _times_pi(it, "sin", it.builder.fsub(_double(0.5), _size(it, rest)))

    return in_double(it, function)


def _tanpi(it: Arguments) -> ir.Value:
    """Beyond an eighth of a turn the cotangent of what is missing to a quarter."""

    def function(x: ir.Value) -> ir.Value:
        builder = it.builder
        number, rest = _rest(it, x, 1.0)
        size = _size(it, rest)
        near = _times_pi(it, "tan", size)
        missing = _times_pi(it, "tan", builder.fsub(_double(0.5), size))
        far = builder.fcmp_ordered(">", size, _double(0.25))
        found = _signed(it, builder.select(far, builder.fdiv(_double(1.0), missing), near), rest)
        half = builder.fmul(number, _double(0.5))
        odd = builder.fcmp_ordered("!=", half, _rounded(it, half))
        sign = builder.select(odd, builder.fneg(x), x)
        whole = builder.fcmp_ordered("==", size, _double(0.0))
        return builder.select(whole, _signed(it, _double(0.0), sign), found)

    return in_double(it, function)


def _cbrt(it: Arguments) -> ir.Value:
    """The library's cube root with a step of Newton's method: by itself it is off by up to 4 ULP."""

    def function(x: ir.Value) -> ir.Value:
        builder = it.builder
        root = it.ctx.call("cbrt", DOUBLE, [x])
        square = builder.fmul(root, root)
        lost = fused(it.ctx, root, root, builder.fneg(square))
        excess = builder.fadd(fused(it.ctx, square, root, builder.fneg(x)), builder.fmul(lost, root))
        step_back = builder.fdiv(excess, builder.fmul(square, _double(3.0)))
        little = builder.fcmp_ordered("<", _size(it, step_back), _size(it, root))
        return builder.select(little, builder.fsub(root, step_back), root)

    return in_double(it, function)


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
        degree = builder.sitofp(n, DOUBLE)
        inverse = builder.fdiv(_double(1.0), degree)
        root = it.ctx.call("pow", DOUBLE, [size, inverse])
        # 1 / n was rounded: x^(1/n) = x^inverse (1 + lost log x), as the second factor is next to 1.
        exact = fused(it.ctx, builder.fneg(inverse), degree, _double(1.0))
        lost = builder.fmul(builder.fdiv(exact, degree), it.ctx.call("log", DOUBLE, [size]))
        little = builder.fcmp_ordered("<", _size(it, lost), _double(1e-6))
        root = fused(it.ctx, root, builder.select(little, lost, _double(0.0)), root)
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


_ILOGB_OF_NAN = (1 << 31) - 1
"""FP_ILOGBNAN, as clang's header has it."""


def _ilogb(it: Arguments) -> ir.Value:
    def scalar(x: ir.Value) -> ir.Value:
        wide = to_double(it, x)
        exponent = it.ctx.call("ilogb", I32, [wide])
        is_nan = it.builder.fcmp_unordered("uno", wide, wide)  # C's library says so as it likes.
        return it.builder.select(is_nan, ir.Constant(I32, _ILOGB_OF_NAN), exponent)

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
    part = builder.select(builder.fcmp_ordered(">", part, limit), limit, part)
    infinite = builder.fcmp_ordered("==", intrinsic("fabs")(it), real(math.inf, kind))
    nothing = it.ctx.call(f"llvm.copysign.{intrinsic_suffix(kind)}", kind, [zero(kind), x])
    return builder.select(infinite, nothing, part)


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
        # Less what is a multiple of 128 y, which leaves the low bits: the whole quotient may be too large.
        multiple = builder.fmul(_size(it, y), _double(128.0))
        fits = builder.fcmp_ordered("<", multiple, _double(math.inf))
        x = builder.select(fits, it.ctx.call("fmod", DOUBLE, [x, multiple]), x)
        rest = it.ctx.call("remainder", DOUBLE, [x, y])
        whole = builder.fdiv(builder.fsub(x, rest), y)
        name = "llvm.fptosi.sat.i64.f64"
        quotient = it.ctx.call(name, ir.IntType(64), [it.ctx.call("llvm.roundeven.f64", DOUBLE, [whole])])
        low = builder.srem(quotient, ir.Constant(ir.IntType(64), 128))
        return builder.trunc(low, I32)

    return by_lane(it.ctx, scalar, it.values, it.result)


_LIBRARY = (
    *("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh"),
    *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "pow", "hypot", "fmod"),
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
    "sinpi": _sinpi,
    "cospi": _cospi,
    "tanpi": _tanpi,
    **{f"{name}pi": _over_pi(name) for name in ("asin", "acos", "atan", "atan2")},
    "cbrt": _cbrt,
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

"""Built-in functions with what they are to give, exact or by mpmath, and the error that OpenCL allows.

The errors are those of the OpenCL C Specification 3.0, 7.4 "Relative error as ULPs", full profile. Those that
the specification leaves open (`half_`: 8,192; `native_`: as the implementation likes) are held to what their
precise versions are held to, which they are here. `lgamma`, whose error is undefined, is held to 16 ULP away
from its zeros.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np

MP = mpmath.mp.clone()
MP.prec = 240
Reference = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Case:
    """One call of float arguments x, y, z (and the integer n), and its reference."""

    name: str
    call: str
    reference: Reference
    """Of exact arguments, or of the numbers as they are where `is_exact`; ValueError stands for NaN, None for
    a result that OpenCL leaves open. It takes those of x, y, z, n that its parameters are called."""
    ulps: float
    domain: str = "any"
    """Of x: `any` bits, `unit` (-1 to 1), `small` (-100 to 100), `positive`; what others take is like it."""
    double_ulps: float | None = None
    """Where it differs; -1 leaves doubles out."""
    scale: Reference | None = None
    """Of the same arguments: the number whose last place errors are measured in, where OpenCL bounds them by
    the size of what is added up and not of the result."""
    is_exact: bool = False
    """The reference takes and gives NumPy scalars of the type; any NaN is as good as another."""


def _of_pi(name: str) -> Reference:
    return lambda x: getattr(MP, name)(x) / MP.pi


def _real(value: Any) -> Any:
    """Return a number, or raise where it is none: what a NaN stands for."""
    if isinstance(value, MP.mpc):
        raise ValueError
    return value


def _fmod(x: Any, y: Any) -> Any:
    if not np.isfinite(x) or y == 0 or np.isnan(y):
        raise ValueError
    if np.isinf(y):
        return x
    rest = abs(Fraction(float(x))) % abs(Fraction(float(y)))
    return np.copysign(type(x)(float(rest)), x)


def _tanpi(x: Any) -> Any:
    return MP.sinpi(x) / MP.cospi(x)


def _rootn(x: Any, n: int) -> Any:
    if n == 0 or (x < 0 and n % 2 == 0):
        raise ValueError
    return MP.sign(x) * MP.root(abs(x), n) if n > 0 else MP.sign(x) / MP.root(abs(x), -n)


def _power(x: Any, y: Any) -> Any:
    return _real(MP.power(x, y))


def _length(*sides: Any) -> Any:
    return MP.sqrt(sum(it * it for it in sides))


def _fast_normalize(x: Any, y: Any) -> Any:
    return y / MP.hypot(x, y)


def _smoothstep(x: Any) -> Any:
    t = min(max((x + 20) / 50, 0), 1)
    return t * t * (3 - 2 * t)


def _tgamma(x: Any) -> Any:
    return MP.gamma(x)


def _lgamma(x: Any) -> Any:
    return MP.log(abs(MP.gamma(x))) if abs(x) < 1e4 else MP.re(MP.loggamma(x))


_UNARY: Mapping[str, tuple[Reference, float, str]] = {
    "acos": (MP.acos, 4, "unit"),
    "acosh": (MP.acosh, 4, "positive"),
    "acospi": (_of_pi("acos"), 5, "unit"),
    "asin": (MP.asin, 4, "unit"),
    "asinh": (MP.asinh, 4, "any"),
    "asinpi": (_of_pi("asin"), 5, "unit"),
    "atan": (MP.atan, 5, "any"),
    "atanh": (MP.atanh, 5, "unit"),
    "atanpi": (_of_pi("atan"), 5, "any"),
    "cbrt": (lambda x: MP.sign(x) * MP.cbrt(abs(x)), 2, "any"),
    "cos": (MP.cos, 4, "any"),
    "cosh": (MP.cosh, 4, "small"),
    "cospi": (MP.cospi, 4, "any"),
    "erf": (MP.erf, 16, "small"),
    "erfc": (MP.erfc, 16, "small"),
    "exp": (MP.exp, 3, "small"),
    "exp2": (lambda x: MP.power(2, x), 3, "small"),
    "exp10": (lambda x: MP.power(10, x), 3, "small"),
    "expm1": (MP.expm1, 3, "small"),
    "log": (MP.log, 3, "positive"),
    "log2": (lambda x: MP.log(x) / MP.log(2), 3, "positive"),
    "log10": (MP.log10, 3, "positive"),
    "log1p": (MP.log1p, 2, "positive"),
    "rsqrt": (lambda x: 1 / MP.sqrt(x), 2, "positive"),
    "sin": (MP.sin, 4, "any"),
    "sinh": (MP.sinh, 4, "small"),
    "sinpi": (MP.sinpi, 4, "any"),
    "tan": (MP.tan, 5, "any"),
    "tanh": (MP.tanh, 5, "any"),
    "tanpi": (_tanpi, 6, "any"),
    "tgamma": (_tgamma, 16, "small"),
}

_APPROXIMATE = ("cos", "exp", "exp2", "exp10", "log", "log2", "log10", "rsqrt", "sin", "tan")


def _math() -> list[Case]:
    cases = [
        Case(name, f"{name}(x)", lambda x, f=f: _real(f(x)), ulps, domain)
        for name, (f, ulps, domain) in _UNARY.items()
    ]
    for prefix in ("half_", "native_"):
        for name in _APPROXIMATE:
            f, ulps, domain = _UNARY[name]
            call = f"{prefix}{name}(x)"
            cases.append(Case(f"{prefix}{name}", call, lambda x, f=f: _real(f(x)), ulps, domain, -1))
        cases += [
            Case(f"{prefix}sqrt", f"{prefix}sqrt(x)", lambda x: _real(MP.sqrt(x)), 3, "positive", -1),
            Case(f"{prefix}recip", f"{prefix}recip(x)", lambda x: 1 / x, 2.5, "any", -1),
            Case(f"{prefix}divide", f"{prefix}divide(x, y)", lambda x, y: x / y, 2.5, "any", -1),
            Case(f"{prefix}powr", f"{prefix}powr(x, y)", _power, 16, "positive", -1),
        ]
    return [
        *cases,
        Case("sqrt", "sqrt(x)", lambda x: _real(MP.sqrt(x)), 3, "positive", 0.5),
        Case("lgamma", "lgamma(x)", _lgamma, 16, "positive"),
        Case("lgamma_r", "lgamma_r(x, &n)", _lgamma, 16, "positive"),
        Case("sincos", "sincos(x, &z)", lambda x: MP.sin(x), 4),
        Case("sincos, cosine", "(sincos(x, &z), z)", lambda x: MP.cos(x), 4),
        Case("atan2", "atan2(x, y)", lambda x, y: MP.atan2(x, y), 6),
        Case("atan2pi", "atan2pi(x, y)", lambda x, y: MP.atan2(x, y) / MP.pi, 6),
        Case("hypot", "hypot(x, y)", lambda x, y: MP.hypot(x, y), 4),
        Case("pow", "pow(x, y)", _power, 16, "small"),
        Case("powr", "powr(x, y)", _power, 16, "positive"),
        Case("pown", "pown(x, n)", lambda x, n: MP.power(x, n), 16, "small"),
        Case("rootn", "rootn(x, n)", _rootn, 16),
        Case("fma", "fma(x, y, z)", lambda x, y, z: x * y + z, 0.5, "small"),
        Case("mad", "mad(x, y, z)", lambda x, y, z: x * y + z, 0.5, "small"),
        Case("divide", "x / y", lambda x, y: x / y, 2.5, "any", 0.5),
        Case("degrees", "degrees(x)", lambda x: x * 180 / MP.pi, 2, "small"),
        Case("radians", "radians(x)", lambda x: x * MP.pi / 180, 2, "any"),
        Case("length", "length((T2)(x, y))", lambda x, y: MP.hypot(x, y), 4, "small"),
        Case(
            "length of 4",
            "length((T4)(x, y, z, x))",
            lambda x, y, z: MP.sqrt(2 * x * x + y * y + z * z),
            5,
            "small",
        ),
        Case(
            "distance", "distance((T2)(x, y), (T2)(y, z))", lambda x, y, z: MP.hypot(x - y, y - z), 6, "unit"
        ),
        Case(
            "dot",
            "dot((T3)(x, y, z), (T3)(y, z, x))",
            lambda x, y, z: x * y + y * z + z * x,
            5,
            "small",
            scale=lambda x, y, z: max(abs(x), abs(y), abs(z)) ** 2,
        ),
        Case(
            "cross",
            "cross((T3)(x, y, z), (T3)(y, z, x)).y",
            lambda x, y, z: z * y - x * x,
            3,
            "small",
            scale=lambda x, y, z: max(abs(x), abs(y), abs(z)) ** 2,
        ),
        Case(
            "mix",
            "mix(x, y, z)",
            lambda x, y, z: x + (y - x) * z,
            2,
            "small",
            scale=lambda x, y, z: max(abs(x), (abs(x) + abs(y)) * abs(z)),
        ),
        Case(
            "smoothstep",
            "smoothstep((T)-20.0, (T)30.0, x)",
            _smoothstep,
            4,
            "small",
            scale=lambda x: MP.mpf(1),
        ),
        Case("normalize", "normalize((T2)(x, y)).y", lambda x, y: y / MP.hypot(x, y), 4, "small"),
        Case("fast_length", "fast_length((T2)(x, y))", lambda x, y: MP.hypot(x, y), 8192, "small", -1),
        Case("fast_distance", "fast_distance(x, y)", lambda x, y: abs(x - y), 8192, "small", -1),
        Case(
            "fast_normalize",
            "fast_normalize((T2)(x, y)).y",
            lambda x, y: y / MP.hypot(x, y),
            8192,
            "small",
            -1,
        ),
    ]


# --------------------------------------------------------------------------------------- exact functions


def _nextafter(x: Any, y: Any) -> Any:
    return np.nextafter(x, y)


def _minmag(x: Any, y: Any) -> Any:
    return x if abs(x) < abs(y) else y if abs(y) < abs(x) else np.fmin(x, y)


def _maxmag(x: Any, y: Any) -> Any:
    return x if abs(x) > abs(y) else y if abs(y) > abs(x) else np.fmax(x, y)


def _round(x: Any) -> Any:
    if not np.isfinite(x) or abs(x) >= 2.0**52:
        return x
    whole = np.trunc(x)
    return np.copysign(whole + (np.sign(x) if abs(x - whole) >= 0.5 else 0), x)


def _remainder(x: Any, y: Any) -> Any:
    if not np.isfinite(x) or y == 0 or np.isnan(y):
        raise ValueError
    if np.isinf(y):
        return x
    exact, unit = Fraction(float(x)), Fraction(float(y))
    rest = exact - round(exact / unit) * unit
    return np.copysign(type(x)(0), x) if rest == 0 else type(x)(float(rest))


def _low_quotient(x: Any, y: Any) -> Any:
    """Seven bits, with the sign; nothing is said of what has no quotient."""
    if not (np.isfinite(x) and np.isfinite(y)) or y == 0:
        return None
    whole = round(Fraction(float(x)) / Fraction(float(y)))
    return type(x)((abs(whole) & 127) * (-1 if whole < 0 else 1))


def _fract(x: Any) -> Any:
    below_one = np.nextafter(type(x)(1), type(x)(0))
    return (
        x if np.isnan(x) else np.copysign(type(x)(0), x) if np.isinf(x) else min(x - np.floor(x), below_one)
    )


def _modf(x: Any) -> Any:
    return np.copysign(type(x)(0), x) if np.isinf(x) else np.modf(x)[0]


def _frexp_exponent(x: Any) -> Any:
    return type(x)(np.frexp(x)[1] if np.isfinite(x) else 0)


def _is_normal(x: Any) -> Any:
    return type(x)(np.isfinite(x) and abs(x) >= np.finfo(x.dtype).tiny)


def _logb(x: Any) -> Any:
    if x == 0 or not np.isfinite(x):
        return -np.inf if x == 0 else abs(x)
    return type(x)(np.frexp(x)[1] - 1)


def _fdim(x: Any, y: Any) -> Any:
    return x + y if np.isnan(x) or np.isnan(y) else x - y if x > y else type(x)(0)


def _clamp(x: Any, y: Any, z: Any) -> Any:
    """A NaN among them leaves the result open."""
    return None if np.isnan([x, y, z]).any() else min(max(x, min(y, z)), max(y, z))


def _sign(x: Any) -> Any:
    return type(x)(0) if np.isnan(x) else x if x == 0 else np.copysign(type(x)(1), x)


def _exact_floats() -> list[Case]:
    table: list[tuple[str, str, Reference]] = [
        ("ceil", "ceil(x)", lambda x: np.ceil(x)),
        ("copysign", "copysign(x, y)", lambda x, y: np.copysign(x, y)),
        ("fabs", "fabs(x)", lambda x: np.abs(x)),
        ("fdim", "fdim(x, y)", _fdim),
        ("floor", "floor(x)", lambda x: np.floor(x)),
        ("fmax", "fmax(x, y)", lambda x, y: np.fmax(x, y)),
        ("fmin", "fmin(x, y)", lambda x, y: np.fmin(x, y)),
        ("fmod", "fmod(x, y)", _fmod),
        ("fract", "fract(x, &z)", _fract),
        ("fract, whole", "(fract(x, &z), z)", lambda x: np.floor(x)),
        ("frexp", "frexp(x, &n)", lambda x: np.frexp(x)[0]),
        (
            "frexp, exponent",
            "(frexp(x, &n), (T)n)",
            lambda x: type(x)(np.frexp(x)[1] if np.isfinite(x) else 0),
        ),
        ("ilogb", "(T)ilogb(x)", lambda x: _logb(x) if x != 0 and np.isfinite(x) else None),
        ("ldexp", "ldexp(x, n)", lambda x, n: np.ldexp(x, n)),
        ("logb", "logb(x)", _logb),
        ("maxmag", "maxmag(x, y)", _maxmag),
        ("minmag", "minmag(x, y)", _minmag),
        ("modf", "modf(x, &z)", _modf),
        ("modf, whole", "(modf(x, &z), z)", lambda x: np.trunc(x)),
        ("nan", "nan((U)n)", lambda n: np.float64(np.nan)),
        ("nextafter", "nextafter(x, y)", _nextafter),
        ("remainder", "remainder(x, y)", _remainder),
        ("remquo", "remquo(x, y, &n)", _remainder),
        ("remquo, quotient", "(remquo(x, y, &n), (T)n)", _low_quotient),
        ("rint", "rint(x)", lambda x: np.rint(x)),
        ("round", "round(x)", _round),
        ("trunc", "trunc(x)", lambda x: np.trunc(x)),
        ("clamp", "clamp(x, fmin(y, z), fmax(y, z))", _clamp),
        ("max", "max(x, y)", lambda x, y: y if x < y else x),
        ("min", "min(x, y)", lambda x, y: y if y < x else x),
        ("step", "step(x, y)", lambda x, y: type(x)(0 if y < x else 1)),
        ("sign", "sign(x)", _sign),
        ("isequal", "(T)isequal(x, y)", lambda x, y: type(x)(x == y)),
        ("isnotequal", "(T)isnotequal(x, y)", lambda x, y: type(x)(x != y)),
        ("isgreater", "(T)isgreater(x, y)", lambda x, y: type(x)(x > y)),
        ("isgreaterequal", "(T)isgreaterequal(x, y)", lambda x, y: type(x)(x >= y)),
        ("isless", "(T)isless(x, y)", lambda x, y: type(x)(x < y)),
        ("islessequal", "(T)islessequal(x, y)", lambda x, y: type(x)(x <= y)),
        ("islessgreater", "(T)islessgreater(x, y)", lambda x, y: type(x)(x < y or x > y)),
        ("isfinite", "(T)isfinite(x)", lambda x: type(x)(np.isfinite(x))),
        ("isinf", "(T)isinf(x)", lambda x: type(x)(np.isinf(x))),
        ("isnan", "(T)isnan(x)", lambda x: type(x)(np.isnan(x))),
        (
            "isnormal",
            "(T)isnormal(x)",
            lambda x: type(x)(np.isfinite(x) and abs(x) >= np.finfo(x.dtype).tiny),
        ),
        ("isordered", "(T)isordered(x, y)", lambda x, y: type(x)(not (np.isnan(x) or np.isnan(y)))),
        ("isunordered", "(T)isunordered(x, y)", lambda x, y: type(x)(np.isnan(x) or np.isnan(y))),
        ("signbit", "(T)signbit(x)", lambda x: type(x)(np.signbit(x))),
        ("isgreater of vectors", "(T)isgreater((T2)(x, y), (T2)(y, x)).y", lambda x, y: type(x)(-int(y > x))),
        ("select", "select(x, y, (S)n)", lambda x, y, n: y if n != 0 else x),
        ("select of vectors", "select((T2)x, (T2)y, (S2)n).y", lambda x, y, n: y if n < 0 else x),
        ("bitselect", "bitselect(x, y, as_T((U)0))", lambda x, y: x),
        ("any", "(T)any((S2)((S)n, 0))", lambda x, n: type(x)(n < 0)),
        ("all", "(T)all((S2)((S)n, -1))", lambda x, n: type(x)(n < 0)),
        ("as_type", "as_T(as_U(x))", lambda x: x),
        ("shuffle", "shuffle((T4)(x, y, z, 0), (U4)(2, 1, 0, 7)).x", lambda x, y, z: z),
        ("shuffle2", "shuffle2((T2)(x, y), (T2)(z, 0), (U4)(2, 1, 0, 7)).x", lambda x, y, z: z),
        ("vec_step", "(T)(vec_step(T3) + vec_step(T8))", lambda x: type(x)(12)),
    ]
    return [Case(name, call, reference, 0, is_exact=True) for name, call, reference in table]


FLOATS = (*_math(), *_exact_floats())


# --------------------------------------------------------------------------------------------- integers


def wrap(value: int, bits: int, signed: bool) -> int:
    """Return a number as its low bits stand for it."""
    low = value & ((1 << bits) - 1)
    return low - (1 << bits) if signed and low >> (bits - 1) else low


def hold(value: int, bits: int, signed: bool) -> int:
    """Return the nearest number that the type has."""
    top = (1 << (bits - signed)) - 1
    return max(-top - 1 if signed else 0, min(top, value))


@dataclass(frozen=True, slots=True)
class IntegerCase:
    """One call of integers x, y, z of type T; the reference takes Python integers, bits and signedness."""

    name: str
    call: str
    reference: Callable[[int, int, int, int, bool], int]
    bits: tuple[int, ...] = (8, 16, 32, 64)


def _leading(x: int, bits: int) -> int:
    return bits - (x & ((1 << bits) - 1)).bit_length()


def _trailing(x: int, bits: int) -> int:
    low = x & ((1 << bits) - 1)
    return (low & -low).bit_length() - 1 if low else bits


def _rotate(x: int, y: int, bits: int) -> int:
    low, count = x & ((1 << bits) - 1), y % bits
    return (low << count | low >> (bits - count)) & ((1 << bits) - 1)


def _low24(x: int, signed: bool) -> int:
    return wrap(x, 24, signed)


INTEGERS = (
    IntegerCase("abs", "(T)abs(x)", lambda x, y, z, b, s: wrap(abs(x), b, s)),
    IntegerCase("abs_diff", "(T)abs_diff(x, y)", lambda x, y, z, b, s: wrap(abs(x - y), b, s)),
    IntegerCase("add_sat", "add_sat(x, y)", lambda x, y, z, b, s: hold(x + y, b, s)),
    IntegerCase("sub_sat", "sub_sat(x, y)", lambda x, y, z, b, s: hold(x - y, b, s)),
    IntegerCase("hadd", "hadd(x, y)", lambda x, y, z, b, s: (x + y) >> 1),
    IntegerCase("rhadd", "rhadd(x, y)", lambda x, y, z, b, s: (x + y + 1) >> 1),
    IntegerCase("clz", "clz(x)", lambda x, y, z, b, s: _leading(x, b)),
    IntegerCase("ctz", "ctz(x)", lambda x, y, z, b, s: _trailing(x, b)),
    IntegerCase("popcount", "popcount(x)", lambda x, y, z, b, s: (x & ((1 << b) - 1)).bit_count()),
    IntegerCase("mul_hi", "mul_hi(x, y)", lambda x, y, z, b, s: x * y >> b),
    IntegerCase("mad_hi", "mad_hi(x, y, z)", lambda x, y, z, b, s: wrap((x * y >> b) + z, b, s)),
    IntegerCase("mad_sat", "mad_sat(x, y, z)", lambda x, y, z, b, s: hold(x * y + z, b, s)),
    IntegerCase("rotate", "rotate(x, y)", lambda x, y, z, b, s: wrap(_rotate(x, y, b), b, s)),
    IntegerCase("integer max", "max(x, y)", lambda x, y, z, b, s: max(x, y)),
    IntegerCase("integer min", "min(x, y)", lambda x, y, z, b, s: min(x, y)),
    IntegerCase(
        "integer clamp",
        "clamp(x, min(y, z), max(y, z))",
        lambda x, y, z, b, s: min(max(x, min(y, z)), max(y, z)),
    ),
    IntegerCase(
        "mul24",
        "mul24(MASK x, MASK y)",
        lambda x, y, z, b, s: wrap(_low24(x, s) * _low24(y, s), 32, s),
        (32,),
    ),
    IntegerCase(
        "mad24",
        "mad24(MASK x, MASK y, z)",
        lambda x, y, z, b, s: wrap(_low24(x, s) * _low24(y, s) + z, 32, s),
        (32,),
    ),
    IntegerCase(
        "upsample",
        "(T)(upsample(x, as_UT(y)) >> (8 * sizeof(T) / 2))",
        lambda x, y, z, b, s: wrap((x << b | y & ((1 << b) - 1)) >> (b // 2), b, s),
        (8, 16, 32),
    ),
    IntegerCase("integer select", "select(x, y, z)", lambda x, y, z, b, s: y if z else x),
    IntegerCase(
        "integer bitselect", "bitselect(x, y, z)", lambda x, y, z, b, s: wrap((x & ~z) | (y & z), b, s)
    ),
    IntegerCase("integer shuffle", "shuffle((T4)(x, y, z, x), (UT4)(1, 2, 0, 1)).y", lambda x, y, z, b, s: z),
)

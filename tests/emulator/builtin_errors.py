"""How far built-in functions are from their references, in units of the last place."""

from __future__ import annotations

import inspect
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from builtin_cases import FLOATS, INTEGERS, MP, Case, IntegerCase
from numpy.typing import NDArray
from packed_cases import PACKED

Array = NDArray[Any]
Runner = Callable[[str, str, Mapping[str, Array], int], dict[str, Array]]
"""Of source, kernel, buffers and work-items: the buffers afterwards."""

PER_KERNEL = 16
_TYPES = {"float": (np.float32, 24, -149, "int", "uint"), "double": (np.float64, 53, -1074, "long", "ulong")}


@dataclass(frozen=True, slots=True)
class Error:
    """The largest error of one case."""

    case: Case
    ulps: float
    allowed: float
    worst: str
    """Arguments and results of the worst one, for a person."""


def inputs(domain: str, kind: str, count: int, seed: int) -> Array:
    """Return arguments: the special ones, random bits, and what lies in the domain."""
    type_ = _TYPES[kind][0]
    rng = np.random.default_rng(seed)
    size = np.dtype(type_).itemsize
    bits = rng.integers(0, 256, count * size).astype(np.uint8).view(type_)
    info = np.finfo(type_)
    special = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, info.tiny, -info.smallest_subnormal, info.max]
    special += [0.5, -0.5, 1.5, 2.5, -2.5, 2.0**23 + 1, 2.0**52 + 1, info.min, 3.0]
    special += [np.nextafter(type_(1), type_(0))]
    scale = {"unit": 1.0, "small": 100.0, "positive": 100.0, "any": 1000.0}[domain]
    near = (rng.random(count) * 2 - 1) * scale
    near[::3] /= 64
    values = np.where(np.arange(count) % 2 == 0, near, near if domain in ("unit", "small") else bits)
    values[: len(special)] = special
    if domain == "small":
        values[np.isfinite(values) & (np.abs(values) > 1000)] = 7.5
    rng.shuffle(values)
    with np.errstate(all="ignore"):
        found: Array = np.abs(values).astype(type_) if domain == "positive" else values.astype(type_)
    return found


def _kernel(name: str, kind: str, cases: Sequence[Case], count: int) -> str:
    signed, unsigned = _TYPES[kind][3:]
    lines = []
    for number, case in enumerate(cases):
        arguments = f"{kind} x = xs[i + {number * count}], y = ys[i], z = zs[i]; int n = ns[i]"
        call = case.call
        for old, new in (("as_T", f"as_{kind}"), ("as_U", f"as_{unsigned}")):
            call = call.replace(old, new)
        for letter, new in (("T", kind), ("U", unsigned), ("S", signed)):
            for lanes in ("2", "3", "4", "8", ""):
                call = call.replace(f"({letter}{lanes})", f"({new}{lanes})")
        lines.append(f"  {{ {arguments}; out[i + {number * count}] = {call}; }}")
    parameters = f"__global const {kind} *xs, __global const {kind} *ys, __global const {kind} *zs"
    body = "\n".join(lines)
    return (
        f"#pragma OPENCL FP_CONTRACT OFF\n__kernel void {name}({parameters}, __global const int *ns, "
        f"__global {kind} *out) {{\n  int i = get_global_id(0);\n{body}\n}}\n"
    )


def float_errors(run: Runner, kind: str, count: int, only: str = "") -> Iterator[Error]:
    """Yield each case's largest error."""
    cases = [it for it in FLOATS if only in it.name and not (kind == "double" and it.double_ulps == -1)]
    for first in range(0, len(cases), PER_KERNEL):
        some = cases[first : first + PER_KERNEL]
        xs = np.concatenate([inputs(it.domain, kind, count, first + n) for n, it in enumerate(some)])
        ys, zs = (inputs("small", kind, count, first + seed) for seed in (1000, 2000))
        ns = np.random.default_rng(first).integers(-30, 31, count).astype(np.int32)
        buffers = {"xs": xs, "ys": ys, "zs": zs, "ns": ns, "out": np.zeros(len(xs), xs.dtype)}
        out = run(_kernel("k", kind, some, count), "k", buffers, count)["out"]
        for number, case in enumerate(some):
            part = slice(number * count, (number + 1) * count)
            yield _error(case, kind, (xs[part], ys, zs, ns), out[part])


def _error(case: Case, kind: str, arguments: tuple[Array, ...], found: Array) -> Error:
    allowed = case.ulps
    if kind == "double" and case.double_ulps is not None:
        allowed = case.double_ulps
    largest, worst = 0.0, ""
    values = dict(zip(("x", "y", "z", "n"), arguments, strict=True))
    takes = [values[it] for it in inspect.signature(case.reference).parameters if it in values]
    for index, got in enumerate(found):
        chosen = [it[index] for it in takes]
        error = (_exact_error if case.is_exact else _mp_error)(case, kind, chosen, got)
        if error > largest:
            largest, worst = error, f"{case.call} of {', '.join(map(repr, chosen))} is {got!r}"
    return Error(case, largest, allowed, worst)


def _exact_error(case: Case, kind: str, chosen: Sequence[Any], got: Any) -> float:
    chosen = [int(it) if isinstance(it, np.integer) else it for it in chosen]
    with np.errstate(all="ignore"):
        try:
            expected = case.reference(*chosen)
        except ValueError:
            expected = np.float64(np.nan)
    if expected is None:
        return 0.0
    expected = _TYPES[kind][0](expected)
    if np.isnan(expected):
        return 0.0 if np.isnan(got) else np.inf
    return 0.0 if got == expected else np.inf


def _mp_error(case: Case, kind: str, chosen: Sequence[Any], got: Any) -> float:
    """Compare with an exact result; zeros, infinities and NaN are tested by themselves."""
    numbers = [int(it) if isinstance(it, np.integer) else it for it in chosen]
    floats = [it for it in numbers if not isinstance(it, int)]
    if not all(np.isfinite(it) and it != 0 for it in floats):
        return 0.0
    arguments = [it if isinstance(it, int) else MP.mpf(float(it)) for it in numbers]
    try:
        exact = case.reference(*arguments)
    except (ValueError, ZeroDivisionError):
        return 0.0 if np.isnan(got) or np.isinf(got) else np.inf
    if isinstance(exact, MP.mpc) or MP.isnan(exact):
        return 0.0 if np.isnan(got) else np.inf
    _, digits, least, _, _ = _TYPES[kind]
    top = MP.mpf(2) ** (128 if kind == "float" else 1024)
    if abs(exact) >= top and case.scale is None:
        return 0.0 if got == np.copysign(np.inf, float(MP.sign(exact))) else np.inf
    if np.isnan(got):
        return np.inf
    value = MP.sign(MP.mpf(float(np.sign(got)))) * top if np.isinf(got) else MP.mpf(float(got))
    measured = exact if case.scale is None else case.scale(*arguments)
    exponent = MP.frexp(measured)[1] if measured != 0 else least
    unit = MP.mpf(2) ** max(exponent - digits, least)
    return float(abs(value - exact) / unit)


# --------------------------------------------------------------------------------------------- integers

_WIDTHS = {8: "char", 16: "short", 32: "int", 64: "long"}


def integer_differences(
    run: Runner, bits: int, signed: bool, count: int
) -> Iterator[tuple[IntegerCase, str]]:
    """Yield what an integer function gets wrong."""
    kind = _WIDTHS[bits] if signed else f"u{_WIDTHS[bits]}"
    cases = [it for it in (*INTEGERS, *PACKED) if bits in it.bits]
    rng = random.Random(f"{kind} {count}")
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
    special = [low, high, 0, 1, low + 1, high - 1, high // 2]
    type_ = np.dtype(f"{'i' if signed else 'u'}{bits // 8}")

    def column() -> Array:
        return np.array(
            [rng.choice((rng.randint(low, high), rng.choice(special))) for _ in range(count)], type_
        )

    xs, ys, zs = column(), column(), column()
    lines = []
    for number, case in enumerate(cases):
        call = case.call.replace("MASK x", "(x << 8 >> 8)").replace("MASK y", "(y << 8 >> 8)")
        unsigned = f"u{_WIDTHS[bits]}"
        for old, new in (("as_UT", f"as_{unsigned}"), ("(UT4)", f"({unsigned}4)"), ("(T4)", f"({kind}4)")):
            call = call.replace(old, new)
        call = call.replace("(T)", f"({kind})").replace("sizeof(T)", f"sizeof(2 * {bits // 8})")
        if case.name == "upsample":
            call = f"({kind})(upsample(x, as_{unsigned}(y)) >> {bits // 2})"
        if case.name == "integer select":
            call = f"select(x, y, as_{unsigned}(z))"
        lines.append(f"  out[i + {number * count}] = {call};")
    text = (
        f"__kernel void k(__global const {kind} *xs, __global const {kind} *ys, __global const {kind} *zs, "
        f"__global {kind} *out) {{\n  int i = get_global_id(0); {kind} x = xs[i], y = ys[i], z = zs[i];\n"
        + "\n".join(lines)
        + "\n}\n"
    )
    buffers = {"xs": xs, "ys": ys, "zs": zs, "out": np.zeros(len(cases) * count, xs.dtype)}
    out = run(text, "k", buffers, count)["out"]
    for number, case in enumerate(cases):
        for index in range(count):
            x, y, z = (int(it[index]) for it in (xs, ys, zs))
            got = int(out[number * count + index])
            if got != case.reference(x, y, z, bits, signed):
                yield case, f"{kind}: {case.call} of {x}, {y}, {z} is {got}"
                break

"""Math functions with the shape that GPU compilers give them: operations of each kind, chains as long.

Nothing here is ever run: what counts is which instructions are left. The shapes of `float` are those of
NVIDIA's OpenCL compiler (fast paths; the slow paths of large arguments are left out), counted in its PTX for
compute capability 9.0. Functions of `double` are taken as three times as long in double precision.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from llvmlite import ir as ll

from clmap_lsp.dataclass import dataclass
from clmap_lsp.emulator import operators
from clmap_lsp.emulator.operators import by_lane, fused, intrinsic_suffix
from clmap_lsp.emulator.types import DOUBLE, FLOAT, HALF, I32, element, lanes, real
from clmap_lsp.source.ir import Builtin

if TYPE_CHECKING:
    from clmap_lsp.compiled.target import Target
    from clmap_lsp.emulator.context import Context


@dataclass(frozen=True, slots=True)
class Shape:
    """Operations of one call: special functions by name, a chain of multiply-adds, integer operations."""

    special: tuple[str, ...] = ()
    fmas: int = 0
    integers: int = 0


_NATIVE = {
    "sin": Shape(("sin",)),
    "cos": Shape(("cos",)),
    "tan": Shape(("sin", "cos", "rcp"), 1),
    "exp": Shape(("ex2",), 1),
    "exp2": Shape(("ex2",)),
    "exp10": Shape(("ex2",), 1),
    "log": Shape(("lg2",), 1),
    "log2": Shape(("lg2",)),
    "log10": Shape(("lg2",), 1),
    "powr": Shape(("lg2", "ex2"), 1),
    "sqrt": Shape(("sqrt",)),
    "rsqrt": Shape(("rsqrt",)),
    "recip": Shape(("rcp",)),
    "divide": Shape(("rcp",), 1),
}

_FULL = {
    "sqrt": Shape(("sqrt",)),
    "rsqrt": Shape(("rsqrt",)),
    "sin": Shape((), 10, 8),
    "cos": Shape((), 10, 9),
    "tan": Shape(("rcp",), 14, 8),
    "sinpi": Shape((), 9, 7),
    "cospi": Shape((), 9, 7),
    "tanpi": Shape(("rcp",), 14, 8),
    "asin": Shape(("sqrt",), 11, 4),
    "acos": Shape(("sqrt",), 11, 5),
    "atan": Shape(("rcp",), 12, 3),
    "atan2": Shape(("rcp",), 14, 10),
    "sinh": Shape(("ex2", "rcp"), 12, 4),
    "cosh": Shape(("ex2", "rcp"), 6, 2),
    "tanh": Shape(("ex2", "rcp"), 8, 3),
    "asinh": Shape(("sqrt", "rcp"), 20, 6),
    "acosh": Shape(("sqrt",), 20, 6),
    "atanh": Shape(("rcp",), 18, 6),
    "exp": Shape(("ex2",), 5, 2),
    "exp2": Shape(("ex2",), 2, 2),
    "exp10": Shape(("ex2",), 6, 2),
    "expm1": Shape(("ex2",), 10, 4),
    "log": Shape((), 12, 8),
    "log2": Shape((), 12, 8),
    "log10": Shape((), 13, 8),
    "log1p": Shape((), 13, 8),
    "pow": Shape(("ex2", "rcp"), 36, 26),
    "powr": Shape(("ex2", "rcp"), 36, 24),
    "pown": Shape(("ex2", "rcp"), 36, 28),
    "rootn": Shape(("ex2", "rcp", "rcp"), 38, 28),
    "cbrt": Shape(("lg2", "ex2"), 8, 6),
    "hypot": Shape(("sqrt",), 6, 8),
    "erf": Shape(("ex2",), 14, 4),
    "erfc": Shape(("ex2", "rcp"), 24, 6),
    "fmod": Shape(("rcp",), 8, 12),
    "remainder": Shape(("rcp",), 9, 14),
    "tgamma": Shape(("ex2", "rcp", "rcp"), 40, 20),
    "lgamma": Shape(("lg2", "rcp"), 40, 20),
    "ldexp": Shape((), 2, 6),
    "ilogb": Shape((), 1, 6),
    "logb": Shape((), 1, 6),
    "frexp": Shape((), 2, 6),
    "frexp_exponent": Shape((), 1, 6),
    "lgamma_sign": Shape((), 2, 4),
    "remquo_quotient": Shape(("rcp",), 8, 12),
}

_NVIDIA = {
    "sin": "llvm.nvvm.sin.approx.f",
    "cos": "llvm.nvvm.cos.approx.f",
    "ex2": "llvm.nvvm.ex2.approx.f",
    "lg2": "llvm.nvvm.lg2.approx.f",
    "sqrt": "llvm.nvvm.sqrt.approx.f",
    "rsqrt": "llvm.nvvm.rsqrt.approx.f",
    "rcp": "llvm.nvvm.rcp.approx.ftz.f",
}
_AMD = {
    "sin": "llvm.amdgcn.sin.f32",
    "cos": "llvm.amdgcn.cos.f32",
    "ex2": "llvm.amdgcn.exp2.f32",
    "lg2": "llvm.amdgcn.log.f32",
    "sqrt": "llvm.amdgcn.sqrt.f32",
    "rsqrt": "llvm.amdgcn.rsq.f32",
    "rcp": "llvm.amdgcn.rcp.f32",
}
_GEOMETRIC = ("dot", "length", "distance", "normalize")
_DOUBLE = {"sqrt": 12, "rsqrt": 10}
"""Double-precision roots are Newton steps from a float's: multiply-adds of them."""


def call(ctx: Context, target: Target, call: Builtin, values: list[ll.Value]) -> ll.Value | None:
    """Emit a function that has a shape; `None` for those that the emulator's own code serves."""
    native = call.name.startswith(("native_", "half_"))
    name = call.name.removeprefix("native_").removeprefix("half_")
    from clmap_lsp.emulator.types import llvm_type

    result = llvm_type(call.type)
    if name.removeprefix("fast_") in _GEOMETRIC and values and element(values[0].type) == FLOAT:
        return _geometric(ctx, target, name, values, result)
    if name in ("min", "max", "clamp") and values and element(values[0].type) in (FLOAT, DOUBLE, HALF):
        return _extreme(ctx, name, values)
    shape = (_NATIVE.get(name) if native else None) or _FULL.get(name)
    if name in ("degrees", "radians"):
        shape = Shape((), 1)
    if shape is None or not values or element(values[0].type) not in (FLOAT, DOUBLE, HALF):
        return None
    found = shape

    def one(*arguments: ll.Value) -> ll.Value:
        return _emit(ctx, target, found, list(arguments), element(result))

    return by_lane(ctx, one, values, result)


def _emit(ctx: Context, target: Target, shape: Shape, values: list[ll.Value], result: ll.Type) -> ll.Value:
    builder = ctx.builder
    if values[0].type == HALF:
        values = [builder.fpext(it, FLOAT) if it.type == HALF else it for it in values]
    kind = values[0].type
    at = values[0]
    others = [it if it.type == kind else builder.sitofp(it, kind) for it in values[1:]]
    if shape.integers:
        at = _integers(ctx, at, shape.integers)
    for number in range(shape.fmas * (3 if kind == DOUBLE else 1)):
        addend = others[number % len(others)] if others else real(0.25 + 0.37 * number, kind)
        at = fused(ctx, at, real(1.1 + 0.013 * number, kind), addend)
    for number, name in enumerate(shape.special):
        if kind == DOUBLE:
            for step in range(_DOUBLE.get(name, 8)):
                at = fused(ctx, at, real(1.7 + 0.01 * step, kind), values[0])
            continue
        source = at if number == 0 else builder.fadd(at, values[0])
        at = ctx.call((_NVIDIA if target.is_nvidia else _AMD)[name], FLOAT, [source])
    if isinstance(result, ll.IntType):
        return builder.bitcast(at, I32) if at.type == FLOAT else builder.fptosi(at, result)
    if at.type == result:
        return at
    return builder.fptrunc(at, result) if result == HALF else builder.fpext(at, result)


def _integers(ctx: Context, value: ll.Value, count: int) -> ll.Value:
    """Emit a chain of integer operations on a number's bits."""
    builder = ctx.builder
    if value.type == DOUBLE:
        value = builder.fptrunc(value, FLOAT)
        return builder.fpext(_integers(ctx, value, count), DOUBLE)
    bits = builder.bitcast(value, I32)
    for number in range(count):
        constant = ll.Constant(I32, 0x3F000 + 77 * number)
        bits = builder.xor(bits, constant) if number % 2 else builder.add(bits, constant)
    return builder.bitcast(bits, FLOAT)


def _extreme(ctx: Context, name: str, values: list[ll.Value]) -> ll.Value:
    """Emit one instruction for a lesser or greater number: GPU compilers need no comparison for it."""
    wide = max((it.type for it in values), key=lanes)

    def of(which: str, left: ll.Value, right: ll.Value) -> ll.Value:
        left, right = (
            it if it.type == wide else operators.splat(ctx, it, lanes(wide)) for it in (left, right)
        )
        return ctx.call(f"llvm.{which}num.{intrinsic_suffix(wide)}", wide, [left, right])

    if name == "clamp":
        return of("min", of("max", values[0], values[1]), values[2])
    return of(name, values[0], values[1])


def _geometric(ctx: Context, target: Target, name: str, values: list[ll.Value], result: ll.Type) -> ll.Value:
    builder = ctx.builder
    left = values[0]
    is_guarded = target.is_nvidia and name != "dot" and not name.startswith("fast_")
    name = name.removeprefix("fast_")
    right = values[1] if name == "dot" else left
    if name == "distance":
        left = right = builder.fsub(values[0], values[1])
    count = lanes(left.type)

    def part(value: ll.Value, lane: int) -> ll.Value:
        return value if count == 1 else builder.extract_element(value, ll.Constant(I32, lane))

    if is_guarded and count > 1:
        return _scaled(ctx, target, name, [part(left, lane) for lane in range(count)], left)
    total = builder.fmul(part(left, 0), part(right, 0))
    for lane in range(1, count):
        total = fused(ctx, part(left, lane), part(right, lane), total)
    if name == "dot":
        return total
    if name == "normalize":
        scale = _emit(ctx, target, Shape(("rsqrt",)), [total], FLOAT)
        wide = scale if count == 1 else operators.splat(ctx, scale, count)
        return builder.fmul(left, wide)
    return _emit(ctx, target, Shape(("sqrt",)), [total], element(result))


_ROUNDED_ROOT = Shape(("rsqrt",), 6, 2)
"""`sqrt.rn.f32`: Newton steps and a test for numbers that are too small for them."""


def _scaled(ctx: Context, target: Target, name: str, parts: list[ll.Value], vector: ll.Value) -> ll.Value:
    """Emit a length, or what divides by it, so that squares cannot overflow: over the largest part first.

    NVIDIA's compiler does so (PTX of driver 580.159.04); `fast_length` and its kin do not.
    """
    builder = ctx.builder
    sizes = [ctx.call("llvm.fabs.f32", FLOAT, [it]) for it in parts]
    largest = sizes[0]
    for size in sizes[1:]:
        largest = builder.select(builder.fcmp_ordered("<", largest, size), size, largest)
    total: ll.Value = real(0.0, FLOAT)
    for size in sizes:
        share = builder.fdiv(size, largest)
        total = fused(ctx, share, share, total)
    length = builder.fmul(largest, _emit(ctx, target, _ROUNDED_ROOT, [total], FLOAT))
    if name != "normalize":
        return length
    return builder.fdiv(vector, operators.splat(ctx, length, len(parts)))

"""Code that turns image coordinates into texel numbers, and weights for linear filtering.

Source: OpenCL API Specification 3.0, "Image addressing and filtering". Coordinates are computed in double
precision, so that no rounding moves one over the edge of a texel.
"""

from __future__ import annotations

from llvmlite import ir

from clmap_lsp.dataclass import dataclass
from clmap_lsp.emulator.context import Context
from clmap_lsp.emulator.conversions import resize
from clmap_lsp.emulator.types import DOUBLE, I1, I64, is_float

_NORMALIZED, _ADDRESSING, _LINEAR = 1, 0xE, 0x20
_NONE, _CLAMP, _REPEAT, _MIRRORED = 0, 4, 6, 8


@dataclass(frozen=True, slots=True)
class Texel:
    """A texel number along one axis (i64, always inside), and whether the border is meant instead (i1)."""

    place: ir.Value
    is_border: ir.Value
    is_outside: ir.Value | None = None
    """Whether the coordinate is outside the image and the sampler has no rule for that."""


@dataclass(frozen=True, slots=True)
class Pair:
    """The two texels along one axis between which a coordinate lies."""

    first: Texel
    second: Texel
    weight: ir.Value
    """Of the second, a double from 0 to below 1."""


@dataclass(frozen=True, slots=True)
class Sampler:
    """A sampler's flags (i64)."""

    flags: ir.Value

    @property
    def may_be_linear(self) -> bool:
        """False if it is known to take the nearest texel."""
        known = isinstance(self.flags, ir.Constant)
        return not known or bool(self.flags.constant & _LINEAR)

    def is_linear(self, ctx: Context) -> ir.Value:
        """Return whether it filters linearly."""
        return self._has(ctx, _LINEAR, _LINEAR)

    def is_normalized(self, ctx: Context) -> ir.Value:
        """Return whether coordinates run from 0 to 1."""
        return self._has(ctx, _NORMALIZED, _NORMALIZED)

    def addresses_by(self, ctx: Context, mode: int) -> ir.Value:
        """Return whether this is the addressing mode."""
        return self._has(ctx, _ADDRESSING, mode)

    def _has(self, ctx: Context, mask: int, wanted: int) -> ir.Value:
        if isinstance(self.flags, ir.Constant):
            return ir.Constant(I1, int(self.flags.constant & mask == wanted))
        bits = ctx.builder.and_(self.flags, ir.Constant(I64, mask))
        return ctx.builder.icmp_signed("==", bits, ir.Constant(I64, wanted))


def nearest(ctx: Context, value: ir.Value, extent: ir.Value, sampler: Sampler) -> Texel:
    """Emit the number of the texel in which a coordinate lies."""
    if not is_float(value.type):
        return _addressed(ctx, resize(ctx, value, I64, signed=True), extent, sampler)
    return _addressed(ctx, _floor(ctx, _unnormalized(ctx, value, extent, sampler))[1], extent, sampler)


def neighbours(ctx: Context, value: ir.Value, extent: ir.Value, sampler: Sampler) -> Pair:
    """Emit the numbers of the texels whose centres are next to a coordinate, and their weights."""
    builder = ctx.builder
    middle = builder.fsub(_unnormalized(ctx, value, extent, sampler), ir.Constant(DOUBLE, 0.5))
    whole, first = _floor(ctx, middle)
    second = builder.add(first, ir.Constant(I64, 1))
    return Pair(
        _addressed(ctx, first, extent, sampler),
        _addressed(ctx, second, extent, sampler),
        builder.fsub(middle, whole),
    )


def layer(ctx: Context, value: ir.Value, count: ir.Value) -> Texel:
    """Emit the layer of an array of images: rounded to even, and never outside."""
    place = value
    if is_float(value.type):
        place = ctx.call("llvm.fptosi.sat.i64.f64", I64, [_call(ctx, "rint", _wide(ctx, value))])
    return Texel(_clamped(ctx, resize(ctx, place, I64, signed=True), count), ir.Constant(I1, 0))


def _unnormalized(ctx: Context, value: ir.Value, extent: ir.Value, sampler: Sampler) -> ir.Value:
    """Return a coordinate in texels as a double; the repeating modes have been applied to it."""
    builder = ctx.builder
    wide = _wide(ctx, value)
    repeated = builder.fsub(wide, _call(ctx, "floor", wide))
    half = builder.fmul(wide, ir.Constant(DOUBLE, 0.5))
    even = builder.fmul(_call(ctx, "rint", half), ir.Constant(DOUBLE, 2.0))
    mirrored = _call(ctx, "fabs", builder.fsub(wide, even))
    shaped = builder.select(sampler.addresses_by(ctx, _REPEAT), repeated, wide)
    shaped = builder.select(sampler.addresses_by(ctx, _MIRRORED), mirrored, shaped)
    scaled = builder.fmul(shaped, builder.uitofp(extent, DOUBLE))
    return builder.select(sampler.is_normalized(ctx), scaled, wide)


def _addressed(ctx: Context, place: ir.Value, extent: ir.Value, sampler: Sampler) -> Texel:
    """Apply what an addressing mode does to texel numbers: repeat wraps by one image, all others clamp."""
    builder = ctx.builder
    below = builder.icmp_signed("<", place, ir.Constant(I64, 0))
    beyond = builder.icmp_signed(">=", place, extent)
    wrapped = builder.select(below, builder.add(place, extent), place)
    wrapped = builder.select(beyond, builder.sub(place, extent), wrapped)
    repeats = sampler.addresses_by(ctx, _REPEAT)
    kept = _clamped(ctx, builder.select(repeats, wrapped, place), extent)
    outside = builder.or_(below, beyond)
    return Texel(
        kept,
        builder.and_(outside, sampler.addresses_by(ctx, _CLAMP)),
        builder.and_(outside, sampler.addresses_by(ctx, _NONE)),
    )


def _clamped(ctx: Context, place: ir.Value, extent: ir.Value) -> ir.Value:
    builder = ctx.builder
    nil, last = ir.Constant(I64, 0), builder.sub(extent, ir.Constant(I64, 1))
    low = builder.select(builder.icmp_signed("<", place, nil), nil, place)
    return builder.select(builder.icmp_signed(">", low, last), last, low)


def _floor(ctx: Context, value: ir.Value) -> tuple[ir.Value, ir.Value]:
    """Return the floor as a double and as an integer."""
    whole = _call(ctx, "floor", value)
    return whole, ctx.call("llvm.fptosi.sat.i64.f64", I64, [whole])


def _wide(ctx: Context, value: ir.Value) -> ir.Value:
    return value if value.type == DOUBLE else ctx.builder.fpext(value, DOUBLE)


def _call(ctx: Context, name: str, value: ir.Value) -> ir.Value:
    return ctx.call(f"llvm.{name}.f64", DOUBLE, [value])

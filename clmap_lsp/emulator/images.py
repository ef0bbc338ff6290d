"""Code for image reads and writes. Images are buffers of texels (see `image_shape.py`).

Every addressing mode is followed; filtering takes the nearest texel, which is exact for integer coordinates
and for `CLK_FILTER_NEAREST`.
Source: OpenCL C Specification 3.0, section 6.15.15; OpenCL API 3.0, "Image addressing and filtering".
"""

from __future__ import annotations

from llvmlite import ir

from clmap_lsp.emulator.context import Context, Pointer
from clmap_lsp.emulator.conversions import resize
from clmap_lsp.emulator.expressions import Expressions
from clmap_lsp.emulator.image_shape import TEXEL_BYTES, dimensions
from clmap_lsp.emulator.layout import FAULT_UNSUPPORTED, SCALARS
from clmap_lsp.emulator.memory import Memory
from clmap_lsp.emulator.types import DOUBLE, FLOAT, HALF, I64, POINTER, is_float, llvm_type, zero
from clmap_lsp.source.ir import Expression, ImageRead, ImageWrite, Read, Variable
from clmap_lsp.source.types import OpaqueType

_NORMALIZED, _ADDRESSING = 1, 0xE
_CLAMP_TO_EDGE, _CLAMP, _REPEAT, _MIRRORED = 2, 4, 6, 8


def read(memory: Memory, expressions: Expressions, statement: ImageRead) -> ir.Value:
    """Emit a read: four channels, or one of a depth image."""
    ctx = memory.ctx
    result = llvm_type(statement.variable.type)
    image = _image(ctx, statement.image)
    if image is None:
        ctx.fault(FAULT_UNSUPPORTED, statement.site)
        return zero(result)
    sampler: ir.Value = ir.Constant(I64, 0)
    if statement.sampler is not None:
        sampler = resize(ctx, expressions.value(statement.sampler), I64, signed=False)
    coordinate = expressions.value(statement.coordinate)
    offset, is_border = _texel(ctx, image, coordinate, sampler, has_sampler=statement.sampler is not None)
    element = result.element if isinstance(result, ir.VectorType) else result
    stored = ir.VectorType(FLOAT if element == HALF else element, 4)
    kept = ctx.slot(stored, "texel")
    ctx.builder.store(zero(stored), kept)
    with ctx.rarely(ctx.builder.not_(is_border), "inside"):
        pointer = Pointer(ctx.plan.numbers[image], offset, TEXEL_BYTES)
        ctx.builder.store(memory.load(pointer, stored, TEXEL_BYTES, TEXEL_BYTES, statement.site), kept)
    texel = ctx.builder.load(kept, typ=stored)
    if element == HALF:
        texel = ctx.builder.fptrunc(texel, ir.VectorType(HALF, 4))
    if not isinstance(result, ir.VectorType):
        return ctx.builder.extract_element(texel, ir.Constant(I64, 0))
    return texel


def write(memory: Memory, expressions: Expressions, statement: ImageWrite) -> None:
    """Emit a write; outside the image it is out of bounds."""
    ctx = memory.ctx
    image = _image(ctx, statement.image)
    if image is None:
        ctx.fault(FAULT_UNSUPPORTED, statement.site)
        return
    coordinate = expressions.value(statement.coordinate)
    offset, _ = _texel(ctx, image, coordinate, ir.Constant(I64, 0), has_sampler=False)
    value = expressions.value(statement.value)
    if not isinstance(value.type, ir.VectorType):
        empty = zero(ir.VectorType(value.type, 4))
        value = ctx.builder.insert_element(empty, value, ir.Constant(I64, 0))
    if value.type.element == HALF:
        value = ctx.builder.fpext(value, ir.VectorType(FLOAT, 4))
    pointer = Pointer(ctx.plan.numbers[image], offset, TEXEL_BYTES)
    memory.store(pointer, value, TEXEL_BYTES, TEXEL_BYTES, statement.site)


def query(ctx: Context, name: str, image: Expression, result: ir.Type) -> ir.Value | None:
    """Emit `get_image_width` and its like; None for what an image here does not have."""
    variable = _image(ctx, image)
    if variable is None:
        return None
    width, height, depth = (_extent(ctx, variable, d) for d in range(3))
    match name:
        case "get_image_width":
            value = width
        case "get_image_height":
            value = height
        case "get_image_depth" | "get_image_array_size":
            last = dimensions(variable.type.name if isinstance(variable.type, OpaqueType) else "") - 1
            value = (width, height, depth)[last]
        case "get_image_dim" if isinstance(result, ir.VectorType):
            whole: ir.Value = zero(result)
            for lane, extent in enumerate((width, height, depth)[: min(result.count, 3)]):
                part = resize(ctx, extent, result.element, signed=False)
                whole = ctx.builder.insert_element(whole, part, ir.Constant(I64, lane))
            return whole
        case _:
            return None
    return resize(ctx, value, result, signed=False)


def _image(ctx: Context, image: Expression) -> Variable | None:
    if isinstance(image, Read) and image.variable in ctx.plan.numbers:
        return image.variable
    return None


def _extent(ctx: Context, image: Variable, d: int) -> ir.Value:
    """Load width, height or depth, which stand where a scalar argument's value would."""

    def make() -> ir.Value:
        base = ctx.entry.inttoptr(ctx.constant_state(SCALARS), POINTER)
        place = ctx.entry.gep(base, [ir.Constant(I64, ctx.scalar_words[image] + d)], source_etype=I64)
        return ctx.entry.load(place, typ=I64)

    return ctx.once(f"extent{d}", ctx.plan.numbers[image], make)


def _texel(
    ctx: Context, image: Variable, coordinate: ir.Value, sampler: ir.Value, *, has_sampler: bool
) -> tuple[ir.Value, ir.Value]:
    """Return the byte offset of a texel, and whether the border colour (zero) is meant instead.

    Without a sampler, coordinates outside give an offset outside the buffer.
    """
    builder = ctx.builder
    kind = image.type
    count = dimensions(kind.name if isinstance(kind, OpaqueType) else "")
    places, outside = [], ir.Constant(ir.IntType(1), 0)
    for d in range(count):
        value = coordinate
        if isinstance(coordinate.type, ir.VectorType):
            value = builder.extract_element(coordinate, ir.Constant(I64, d))
        extent = _extent(ctx, image, d)
        place = _whole(ctx, value, extent, sampler)
        beyond = builder.icmp_unsigned(">=", place, extent)
        if has_sampler:
            place, beyond = _addressed(ctx, place, extent, sampler, beyond)
        places.append(place)
        outside = builder.or_(outside, beyond)
    linear = places[-1]
    for d in range(count - 2, -1, -1):
        linear = builder.add(builder.mul(linear, _extent(ctx, image, d)), places[d])
    offset = builder.mul(linear, ir.Constant(I64, TEXEL_BYTES))
    if has_sampler:
        return offset, outside
    return builder.select(outside, ir.Constant(I64, -TEXEL_BYTES), offset), ir.Constant(ir.IntType(1), 0)


def _whole(ctx: Context, value: ir.Value, extent: ir.Value, sampler: ir.Value) -> ir.Value:
    """Return a coordinate as a texel number."""
    builder = ctx.builder
    if not is_float(value.type):
        return resize(ctx, value, I64, signed=True)
    wide = value if value.type == DOUBLE else builder.fpext(value, DOUBLE)
    bit = builder.and_(sampler, ir.Constant(I64, _NORMALIZED))
    normalized = builder.icmp_signed("!=", bit, ir.Constant(I64, 0))
    scaled = builder.fmul(wide, builder.uitofp(extent, DOUBLE))
    chosen = builder.select(normalized, scaled, wide)
    floor = ctx.call("llvm.floor.f64", DOUBLE, [chosen])
    return ctx.call("llvm.fptosi.sat.i64.f64", I64, [floor])


def _addressed(
    ctx: Context, place: ir.Value, extent: ir.Value, sampler: ir.Value, beyond: ir.Value
) -> tuple[ir.Value, ir.Value]:
    """Apply the sampler's addressing mode; returns the texel number and whether it is the border."""
    builder = ctx.builder
    mode = builder.and_(sampler, ir.Constant(I64, _ADDRESSING))

    def is_mode(number: int) -> ir.Value:
        return builder.icmp_signed("==", mode, ir.Constant(I64, number))

    nil, one = ir.Constant(I64, 0), ir.Constant(I64, 1)
    last = builder.sub(extent, one)
    low = builder.select(builder.icmp_signed("<", place, nil), nil, place)
    edge = builder.select(builder.icmp_signed(">", low, last), last, low)
    wrapped = _modulo(ctx, place, extent)
    double = builder.shl(extent, one)
    folded = _modulo(ctx, place, double)
    back = builder.sub(builder.sub(double, one), folded)
    mirrored = builder.select(builder.icmp_signed("<", folded, extent), folded, back)
    result = builder.select(is_mode(_REPEAT), wrapped, edge)
    result = builder.select(is_mode(_MIRRORED), mirrored, result)
    return result, builder.and_(beyond, is_mode(_CLAMP))


def _modulo(ctx: Context, value: ir.Value, by: ir.Value) -> ir.Value:
    """Return the remainder that is never negative; extents are at least 1."""
    builder = ctx.builder
    rest = builder.srem(value, by)
    return builder.select(builder.icmp_signed("<", rest, ir.Constant(I64, 0)), builder.add(rest, by), rest)

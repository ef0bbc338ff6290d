"""Code for image reads and writes. Images are buffers of texels (see `launch.image`).

A read with linear filtering reads the two, four or eight texels around its coordinate, each an access of its
own; texels of the border colour are not read.
Source: OpenCL C Specification 3.0, section 6.15.15; OpenCL API 3.0, "Image addressing and filtering".
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import product

from llvmlite import ir

from clmap_lsp.emulator.context import Context, Pointer
from clmap_lsp.emulator.conversions import resize
from clmap_lsp.emulator.expressions import Expressions
from clmap_lsp.emulator.image_addressing import Pair, Sampler, Texel, layer, nearest, neighbours
from clmap_lsp.emulator.layout import FAULT_UNSUPPORTED, SCALARS
from clmap_lsp.emulator.memory import Memory
from clmap_lsp.emulator.types import DOUBLE, FLOAT, HALF, I1, I64, POINTER, is_float, llvm_type, zero
from clmap_lsp.launch.image import BEFORE_IMAGE, BEHIND_IMAGE, TEXEL_BYTES, dimensions, format_of, is_array
from clmap_lsp.source.ir import Expression, ImageRead, ImageWrite, Read, Variable
from clmap_lsp.source.types import OpaqueType


def read(memory: Memory, expressions: Expressions, statement: ImageRead) -> ir.Value:
    """Emit a read: four channels, or one of a depth image."""
    ctx = memory.ctx
    result = llvm_type(statement.variable.type)
    image = _image(ctx, statement.image)
    if image is None:
        ctx.fault(FAULT_UNSUPPORTED, statement.site)
        return zero(result)
    element = result.element if isinstance(result, ir.VectorType) else result
    stored = ir.VectorType(FLOAT if element == HALF else element, 4)
    coordinate = expressions.value(statement.coordinate)
    if statement.sampler is None:
        offset = _checked_offset(ctx, image, coordinate)
        pointer = Pointer(ctx.plan.numbers[image], offset, TEXEL_BYTES)
        texel = memory.load(pointer, stored, TEXEL_BYTES, TEXEL_BYTES, statement.site)
    else:
        sampler = _sampler(ctx, expressions.value(statement.sampler))
        texel = _sampled(_Reader(memory, image, stored, statement.site), coordinate, sampler)
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
    offset = _checked_offset(ctx, image, expressions.value(statement.coordinate))
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
    constant = format_of(name, ctx.plan.kernel, variable)
    if constant is not None:
        return ir.Constant(result, constant)
    width, height, depth = (_extent(ctx, variable, d) for d in range(3))
    match name:
        case "get_image_width":
            value = width
        case "get_image_height":
            value = height
        case "get_image_depth" | "get_image_array_size":
            value = (width, height, depth)[dimensions(_type_name(variable)) - 1]
        case "get_image_dim" if isinstance(result, ir.VectorType):
            whole: ir.Value = zero(result)
            for lane, extent in enumerate((width, height, depth)[: min(result.count, 3)]):
                part = resize(ctx, extent, result.element, signed=False)
                whole = ctx.builder.insert_element(whole, part, ir.Constant(I64, lane))
            return whole
        case _:
            return None
    return resize(ctx, value, result, signed=False)


# ------------------------------------------------------------------------------------------------ samplers


class _Reader:
    """Reads the texels of one statement; the border's colour is zero."""

    def __init__(self, memory: Memory, image: Variable, stored: ir.VectorType, site: int) -> None:
        self.memory, self.ctx, self.image, self.stored, self.site = memory, memory.ctx, image, stored, site

    def texel(self, texels: Sequence[Texel], part: int | None = None) -> ir.Value:
        """Emit the read of one texel, given along each axis; `part` numbers those that are filtered.

        One that is outside, with a sampler that promises that none is, is read out of bounds. Filtering
        goes past the last texel with a weight of 0, which is let pass.
        """
        ctx, builder = self.ctx, self.ctx.builder
        border = reduce(builder.or_, [it.is_border for it in texels])
        offset = _offset(ctx, self.image, [it.place for it in texels])
        beyond = [it.is_outside for it in texels if it.is_outside is not None]
        if beyond and part is None:
            offset = builder.select(reduce(builder.or_, beyond), ir.Constant(I64, BEHIND_IMAGE), offset)
        pointer = Pointer(ctx.plan.numbers[self.image], offset, TEXEL_BYTES)

        def load() -> ir.Value:
            return self.memory.load(pointer, self.stored, TEXEL_BYTES, TEXEL_BYTES, self.site, part or 0)

        return ctx.either(border, lambda: zero(self.stored), load, self.stored)


def _sampler(ctx: Context, flags: ir.Value) -> Sampler:
    if isinstance(flags, ir.Constant):
        return Sampler(ir.Constant(I64, flags.constant or 0))
    return Sampler(resize(ctx, flags, I64, signed=False))


def _sampled(reader: _Reader, coordinate: ir.Value, sampler: Sampler) -> ir.Value:
    ctx = reader.ctx

    def one() -> ir.Value:
        return reader.texel(_texels(reader, coordinate, sampler))

    kind = coordinate.type.element if isinstance(coordinate.type, ir.VectorType) else coordinate.type
    if not (sampler.may_be_linear and is_float(kind) and is_float(reader.stored.element)):
        return one()  # Filtering is defined for float coordinates and float texels only.
    return ctx.either(
        sampler.is_linear(ctx), lambda: _filtered(reader, coordinate, sampler), one, reader.stored
    )


def _texels(reader: _Reader, coordinate: ir.Value, sampler: Sampler) -> list[Texel]:
    ctx, image = reader.ctx, reader.image
    n_axes = _axes(image)
    values = _along(ctx, image, coordinate)
    found = [nearest(ctx, values[d], _extent(ctx, image, d), sampler) for d in range(n_axes)]
    if is_array(_type_name(image)):
        found.append(layer(ctx, values[n_axes], _extent(ctx, image, n_axes)))
    return found


def _filtered(reader: _Reader, coordinate: ir.Value, sampler: Sampler) -> ir.Value:
    """Emit the mean of the texels around a coordinate, weighed by nearness."""
    ctx, image, builder = reader.ctx, reader.image, reader.ctx.builder
    n_axes = _axes(image)
    values = _along(ctx, image, coordinate)
    pairs = [neighbours(ctx, values[d], _extent(ctx, image, d), sampler) for d in range(n_axes)]
    last = []
    if is_array(_type_name(image)):
        last.append(layer(ctx, values[n_axes], _extent(ctx, image, n_axes)))
    doubles = ir.VectorType(DOUBLE, 4)
    total: ir.Value = zero(doubles)
    for part, corner in enumerate(product((0, 1), repeat=n_axes)):
        texels = [pair.second if second else pair.first for pair, second in zip(pairs, corner, strict=True)]
        texel = builder.fpext(reader.texel([*texels, *last], part), doubles)
        weight = _weight(ctx, pairs, corner)
        total = builder.fadd(total, builder.fmul(texel, _splat(ctx, weight)))
    return builder.fptrunc(total, reader.stored)


def _weight(ctx: Context, pairs: Sequence[Pair], corner: Sequence[int]) -> ir.Value:
    one = ir.Constant(DOUBLE, 1.0)
    parts = [
        pair.weight if second else ctx.builder.fsub(one, pair.weight)
        for pair, second in zip(pairs, corner, strict=True)
    ]
    return reduce(ctx.builder.fmul, parts)


def _splat(ctx: Context, value: ir.Value) -> ir.Value:
    whole: ir.Value = ir.Constant(ir.VectorType(value.type, 4), ir.Undefined)
    for lane in range(4):
        whole = ctx.builder.insert_element(whole, value, ir.Constant(I64, lane))
    return whole


# ------------------------------------------------------------------------------------------------- places


def _image(ctx: Context, image: Expression) -> Variable | None:
    if isinstance(image, Read) and image.variable in ctx.plan.numbers:
        return image.variable
    return None


def _type_name(image: Variable) -> str:
    return image.type.name if isinstance(image.type, OpaqueType) else ""


def _axes(image: Variable) -> int:
    """Return the number of coordinates that are no layer."""
    name = _type_name(image)
    return dimensions(name) - int(is_array(name))


def _along(ctx: Context, image: Variable, coordinate: ir.Value) -> list[ir.Value]:
    """Return the coordinate along each axis; what a source leaves out (a scalar in two dimensions) is 0."""
    values = _lanes(ctx, coordinate)
    missing = dimensions(_type_name(image)) - len(values)
    if missing > 0:
        ctx.unknowns.append((f"a coordinate of `{image.name}`", image.span))
        values += [zero(values[0].type)] * missing
    return values


def _lanes(ctx: Context, coordinate: ir.Value) -> list[ir.Value]:
    if not isinstance(coordinate.type, ir.VectorType):
        return [coordinate]
    count = coordinate.type.count
    return [ctx.builder.extract_element(coordinate, ir.Constant(I64, lane)) for lane in range(count)]


def _extent(ctx: Context, image: Variable, d: int) -> ir.Value:
    """Load width, height or depth, which stand where a scalar argument's value would."""

    def make() -> ir.Value:
        base = ctx.entry.inttoptr(ctx.constant_state(SCALARS), POINTER)
        place = ctx.entry.gep(base, [ir.Constant(I64, ctx.scalar_words[image] + d)], source_etype=I64)
        return ctx.entry.load(place, typ=I64)

    return ctx.once(f"extent{d}", ctx.plan.numbers[image], make)


def _offset(ctx: Context, image: Variable, places: Sequence[ir.Value]) -> ir.Value:
    """Return the byte offset of a texel."""
    linear = places[-1]
    for d in range(len(places) - 2, -1, -1):
        linear = ctx.builder.add(ctx.builder.mul(linear, _extent(ctx, image, d)), places[d])
    return ctx.builder.mul(linear, ir.Constant(I64, TEXEL_BYTES))


def _checked_offset(ctx: Context, image: Variable, coordinate: ir.Value) -> ir.Value:
    """Return the byte offset of a texel without a sampler; outside the image it is outside the buffer.

    Before the first texel along an axis, where no image reaches, it is `BEFORE_IMAGE`, else `BEHIND_IMAGE`.
    """
    builder = ctx.builder
    places, outside, before = [], ir.Constant(I1, 0), ir.Constant(I1, 0)
    for d, value in enumerate(_along(ctx, image, coordinate)[: dimensions(_type_name(image))]):
        whole = value
        if is_float(value.type):
            wide = value if value.type == DOUBLE else builder.fpext(value, DOUBLE)
            whole = ctx.call("llvm.fptosi.sat.i64.f64", I64, [ctx.call("llvm.floor.f64", DOUBLE, [wide])])
        place = resize(ctx, whole, I64, signed=True)
        outside = builder.or_(outside, builder.icmp_unsigned(">=", place, _extent(ctx, image, d)))
        before = builder.or_(before, builder.icmp_signed("<", place, ir.Constant(I64, 0)))
        places.append(place)
    offset = builder.select(outside, ir.Constant(I64, BEHIND_IMAGE), _offset(ctx, image, places))
    return builder.select(before, ir.Constant(I64, BEFORE_IMAGE), offset)

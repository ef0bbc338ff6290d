"""Image arguments: how many sides they have, how large they are, what their channels hold, and which texels
the coordinates of an access mean.

Source: OpenCL API Specification 3.0, "Image addressing and filtering".
"""

from __future__ import annotations

import math
from typing import Final

from clmap_lsp.dataclass import dataclass
from clmap_lsp.launch.model import BufferArgument, Launch, ScalarArgument
from clmap_lsp.source import ir
from clmap_lsp.source.constants import NAMED_CONSTANTS
from clmap_lsp.source.types import SCALARS, OpaqueType, ScalarType, Type, VectorType, element_of

NO_LAYOUT: Final = "how the device lays out texels, and their format, are not known"
"""Why nothing is said of what an access costs."""
TEXEL_BYTES = 16
"""Four channels of 32 bits, whatever the host's format: float, int or uint as the kernel reads them."""
BEHIND_IMAGE: Final = -TEXEL_BYTES
"""The offset that stands for texels that a larger image may have."""
BEFORE_IMAGE: Final = -2 * TEXEL_BYTES
"""That of texels that none has."""


def dimensions(type_name: str) -> int:
    """Return the number of coordinates of an image type; the layer of an array is one of them."""
    base = {"image1d": 1, "image2d": 2, "image3d": 3}.get(type_name[:7], 2)
    return base + int("array" in type_name)


def is_array(type_name: str) -> bool:
    """True where the last coordinate is the number of a layer."""
    return "array" in type_name


def extents(type_name: str, argument: BufferArgument, texels: int) -> tuple[int, int, int]:
    """Return width, height and depth (or layers); 1 for those that the type does not have.

    An image whose sides the launch does not declare is as nearly square as its `texels` allow.
    """
    if argument.sides:
        width, height, depth = (*argument.sides, 1, 1)[:3]
        return width, height, depth
    count = max(texels, 1)
    match dimensions(type_name):
        case 1:
            return count, 1, 1
        case 2:
            width = math.isqrt(count - 1) + 1
            return width, count // width, 1
        case _:
            side = max(round(count ** (1 / 3)), 1)
            return side, side, max(count // (side * side), 1)


def sides_of(image: ir.Variable, launch: Launch) -> tuple[int, int, int] | None:
    """Return width, height and depth (or layers) of an image in a launch, if the launch says which it is."""
    argument = launch.arguments.get(image.name)
    if not isinstance(image.type, OpaqueType) or not isinstance(argument, BufferArgument):
        return None
    return extents(image.type.name, argument, argument.count)


def texel_type(kernel: ir.Kernel, image: ir.Variable) -> Type:
    """Return what a texel of an image argument is: four floats, ints or uints, as the kernel uses it."""
    for statement in ir.walk(kernel.body):
        match statement:
            case ir.ImageRead(image=ir.Read(variable=used), variable=result) if used is image:
                kind = result.type
            case ir.ImageWrite(image=ir.Read(variable=used), value=value) if used is image:
                kind = value.type
            case _:
                continue
        element = kind.element if isinstance(kind, VectorType) else kind
        if element in (SCALARS["int"], SCALARS["uint"]):
            return VectorType(SCALARS["int" if element == SCALARS["int"] else "uint"], 4)
        break
    return VectorType(SCALARS["float"], 4)


def format_of(query: str, kernel: ir.Kernel, image: ir.Variable) -> int | None:
    """Return what `get_image_channel_order` or `_data_type` gives for an image as it is stored here."""
    if query == "get_image_channel_order":
        is_depth = isinstance(image.type, OpaqueType) and "depth" in image.type.name
        return _constant("CLK_DEPTH" if is_depth else "CLK_RGBA")
    if query != "get_image_channel_data_type":
        return None
    channels = {"int": "CLK_SIGNED_INT32", "uint": "CLK_UNSIGNED_INT32"}
    return _constant(channels.get(str(element_of(texel_type(kernel, image))), "CLK_FLOAT"))


def _constant(name: str) -> int:
    return int(NAMED_CONSTANTS[name][0])


# ------------------------------------------------------------------------------------------------ texels

ROW: Final = 1 << 20
"""Coordinates stand as one number, x + ROW*(y + ROW*z): no image is as wide or as high, nor half as much."""
_NORMALIZED, _LINEAR = 1, 0x20
ADDRESSING, ADDRESS_CLAMP = 0xE, 4
"""The bits of a sampler that say what lies beyond the image, and those of `CLK_ADDRESS_CLAMP`, the border."""
_LONG, _DOUBLE = SCALARS["long"], SCALARS["double"]
QUERIES: Final = ("get_image_width", "get_image_height", "get_image_depth")


@dataclass(frozen=True, slots=True)
class Texels:
    """What one access touches from its place on: `taps` texels along each of `n_filtered` coordinates."""

    n_coordinates: int
    n_filtered: int = 0
    taps: int = 1


def image_of(it: ir.ImageRead | ir.ImageWrite) -> ir.Variable | None:
    """Return the image argument that is accessed; `None` where it is chosen at run time."""
    image = it.image.variable if isinstance(it.image, ir.Read) else None
    is_image = image is not None and isinstance(image.type, OpaqueType) and image.type.is_image
    return image if is_image else None


def asks_sampler(it: ir.ImageRead | ir.ImageWrite) -> bool:
    """Tell whether it depends on the sampler's flags which texels an access means."""
    is_sampled = isinstance(it, ir.ImageRead) and it.sampler is not None
    return is_sampled and _is_float(it.coordinate.type)


def given_flags(sampler: ir.Expression, launch: Launch | None) -> int | None:
    """Return the flags of a sampler that the program spells or the launch gives; `None`: ask its variable."""
    if isinstance(sampler, ir.Constant):
        return _whole(sampler.value)
    if launch is None or not isinstance(sampler, ir.Read) or sampler.variable.name in launch.inferred:
        return None
    argument = launch.arguments.get(sampler.variable.name)
    is_given = sampler.variable.kind is ir.VariableKind.PARAMETER and isinstance(argument, ScalarArgument)
    return _whole(argument.values[0]) if is_given and isinstance(argument, ScalarArgument) else None


def _whole(value: int | float) -> int | None:
    return int(value) if math.isfinite(value) else None


def texels(
    it: ir.ImageRead | ir.ImageWrite, image: ir.Variable, flags: int
) -> tuple[tuple[ir.Expression, ...], Texels]:
    """Return the integer coordinates of the (first) texel of an access, x first, and how many it touches.

    The rule of the sampler for coordinates beyond the image is not part of them. Coordinates that a source
    leaves out are none.

    Args:
        flags: the sampler's, where `asks_sampler`.
    """
    assert isinstance(image.type, OpaqueType)
    name = image.type.name
    n_axes = dimensions(name) - int(is_array(name))
    lanes = _lanes(it.coordinate)[: dimensions(name)]
    if not _is_float(it.coordinate.type):
        return lanes, Texels(len(lanes))
    filtered = bool(flags & _LINEAR) and isinstance(it, ir.ImageRead) and _is_float(it.variable.type)
    placed = tuple(
        _floor(lane, image, d, flags, filtered) if d < n_axes else ir.Convert(lane, _LONG, it.span, "rte")
        for d, lane in enumerate(lanes)
    )
    return placed, Texels(len(lanes), n_axes, 2) if filtered else Texels(len(lanes))


def _floor(lane: ir.Expression, image: ir.Variable, d: int, flags: int, filtered: bool) -> ir.Expression:
    """Return the texel in which a coordinate lies, or the first of the two whose centres it lies between."""
    span = lane.span
    value: ir.Expression = ir.Convert(lane, _DOUBLE, span)
    if flags & _NORMALIZED:
        side = ir.Builtin(QUERIES[d], (ir.Read(image, span),), SCALARS["int"], span)
        value = ir.Binary(ir.BinaryOp.MUL, value, ir.Convert(side, _DOUBLE, span), _DOUBLE, span)
    if filtered:
        value = ir.Binary(ir.BinaryOp.SUB, value, ir.Constant(0.5, _DOUBLE, span), _DOUBLE, span)
    return ir.Convert(value, _LONG, span, "rtn")


def _lanes(coordinate: ir.Expression) -> tuple[ir.Expression, ...]:
    kind = coordinate.type
    if not isinstance(kind, VectorType):
        return (coordinate,)
    return tuple(ir.Swizzle(coordinate, (at,), kind.element, coordinate.span) for at in range(kind.lanes))


def _is_float(kind: Type) -> bool:
    element = element_of(kind)
    return isinstance(element, ScalarType) and element.is_float

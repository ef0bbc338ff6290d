"""Image arguments: how many sides they have, how large they are, what their channels hold."""

from __future__ import annotations

import math

from clmap_lsp.launch.model import BufferArgument
from clmap_lsp.source import ir
from clmap_lsp.source.types import SCALARS, Type, VectorType

TEXEL_BYTES = 16
"""Four channels of 32 bits, whatever the host's format: float, int or uint as the kernel reads them."""


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

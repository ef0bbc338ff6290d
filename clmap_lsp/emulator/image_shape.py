"""How large an image argument is taken to be: launches give only its number of texels."""

from __future__ import annotations

import math

TEXEL_BYTES = 16
"""Four channels of 32 bits, whatever the host's format: float, int or uint as the kernel reads them."""


def dimensions(type_name: str) -> int:
    """Return the number of coordinates of an image type; the layer of an array is one of them."""
    base = {"image1d": 1, "image2d": 2, "image3d": 3}.get(type_name[:7], 2)
    return base + int("array" in type_name)


def shape(type_name: str, texels: int) -> tuple[int, int, int]:
    """Return width, height and depth (or layers) of at most `texels` texels, as nearly equal as they go."""
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

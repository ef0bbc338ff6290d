"""What a microbenchmark must compute, in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from clmap_lsp.aristotle.elements import Element, values_at
from clmap_lsp.aristotle.layout import layout_of, offsets
from clmap_lsp.aristotle.maps import Map


def reference(
    patterns: tuple[Map, ...],
    size: int,
    radii: tuple[int, ...],
    element: Element,
    items: NDArray[np.int64],
) -> NDArray[Any]:
    """Return the sums of chosen work-items, shape (n, lanes).

    Args:
        patterns: one MAP per input array; array k is filled with seed k.
        size: the NDRange is size x size.
        radii: one per pattern.
        items: shape (n, 2) of (t_y, t_x).

    Sums are taken one after the other in the element type, in the order in which kernels read, so that
    results must agree bit for bit, floats too.
    """
    lanes = np.arange(element.lanes, dtype=np.int64)
    total = np.zeros((len(items), element.lanes), dtype=element.dtype)
    for seed, (pattern, radius) in enumerate(zip(patterns, radii, strict=True)):
        layout = layout_of(pattern, size, radius)
        m00, m01, m10, m11 = pattern.matrix
        row = m00 * items[:, 0] + m01 * items[:, 1]
        column = m10 * items[:, 0] + m11 * items[:, 1]
        base = layout.origin + row * layout.pitch + column
        for j, i in offsets(pattern, size, radius):
            index = base + j * layout.pitch + i
            with np.errstate(over="ignore"):
                total += values_at(element, index[:, None] * element.lanes + lanes, seed)
    return total


def all_items(size: int) -> NDArray[np.int64]:
    """Return every work-item's (t_y, t_x), in the order of the output."""
    ty, tx = np.divmod(np.arange(size * size, dtype=np.int64), size)
    return np.stack([ty, tx], axis=1)

"""How the arrays of a microbenchmark lie in memory, and which elements a work-item reads.

Every array has a margin as wide as any kernel may read beyond its base, so that neither the naive nor the
local-memory kernel tests a border: the comparison is of memory alone. Patterns without a neighbourhood have
no margin, and rows as long as the data set, as in the published measurements (power-of-two pitches).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clmap_lsp.aristotle.maps import Intra, Map
from clmap_lsp.dataclass import dataclass

DEFAULT_BLOCK_RADIUS = 3
DEFAULT_NEIGHBOR_RADIUS = 1
# Margins are whole 128-byte lines of 4-byte elements, so that base elements keep their alignment.
_MARGIN_STEP = 32


@dataclass(frozen=True, slots=True)
class Layout:
    """One input array. All in elements."""

    rows: int
    pitch: int
    origin: int
    """Index of element (row 0, column 0)."""

    @property
    def elements(self) -> int:
        """Return the array's length."""
        return self.rows * self.pitch


def default_radius(pattern: Map) -> int:
    """Return the radius of the published measurements: 3 for Block, 1 for Neighbor, else 0."""
    match pattern.intra:
        case Intra.BLOCK:
            return DEFAULT_BLOCK_RADIUS
        case Intra.NEIGHBOR:
            return DEFAULT_NEIGHBOR_RADIUS
        case _:
            return 0


def layout_of(pattern: Map, size: int, radius: int) -> Layout:
    """Return the array for a size x size NDRange.

    Where both ids add into a row or column index, the data reach twice as far in that direction.
    """
    m00, m01, m10, m11 = pattern.matrix
    rows = max(1, m00 + m01) * size
    columns = max(1, m10 + m11) * size
    # The min-approach's skewed tiles reach 3 radii to the side (see generate.py).
    margin = -(-3 * radius // _MARGIN_STEP) * _MARGIN_STEP
    pitch = columns + 2 * margin
    # One more row above and below than the radius: a skewed tile's last rows reach past their box.
    above = 3 * radius
    return Layout(rows + 2 * above, pitch, above * pitch + margin)


def offsets(pattern: Map, size: int, radius: int) -> NDArray[np.int64]:
    """Return what a work-item adds to its base index, shape (n, 2) of (row, column), in order of reading."""
    span = range(-radius, radius + 1)
    match pattern.intra:
        case Intra.SINGLE:
            pairs = [(0, 0)]
        case Intra.ROW:
            pairs = [(0, it) for it in range(size)]
        case Intra.COLUMN:
            pairs = [(it, 0) for it in range(size)]
        case Intra.BLOCK:
            pairs = [(j, i) for j in span for i in span]
        case Intra.NEIGHBOR:
            pairs = [(j, i) for j in span for i in span if j == 0 or i == 0]
    return np.array(pairs, dtype=np.int64)


def reads_per_work_item(pattern: Map, size: int, radius: int) -> int:
    """Return the paper's N: elements that one work-item reads."""
    return len(offsets(pattern, size, radius))


def counted_bytes(patterns: tuple[Map, ...], size: int, radius: dict[Intra, int], element_bytes: int) -> int:
    """Return the bytes that a bandwidth counts: every read as written, and one write a work-item.

    The published figures count the write too (the paper's formula does not); ratios are not affected.
    """
    reads = sum(reads_per_work_item(it, size, radius.get(it.intra, 0)) for it in patterns)
    return (reads + 1) * size * size * element_bytes

"""The 33 memory access patterns (MAPs).

A work-item (t_y, t_x) reads the elements (row, column) = M * (t_y, t_x) + iMAP, with M of zeros and ones (the
eMAP, between work-items) and a set of offsets (the iMAP, within one). Source: the paper, sections 4.2 to 4.4,
figure 3, table 3.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass  # noqa: TID251 - maps have an order.
from enum import Enum
from functools import cache


class Intra(Enum):
    """iMAP: what one work-item reads around its base index."""

    SINGLE = 1
    ROW = 2
    COLUMN = 3
    BLOCK = 4
    NEIGHBOR = 5


Matrix = tuple[int, int, int, int]
"""M00, M01, M10, M11: row from t_y, row from t_x, column from t_y, column from t_x."""

EMAPS: Mapping[int, Matrix] = {
    1: (0, 0, 0, 0),
    2: (0, 0, 0, 1),
    3: (0, 0, 1, 0),
    4: (0, 1, 0, 0),
    5: (1, 0, 0, 0),
    6: (0, 0, 1, 1),
    7: (0, 1, 0, 1),
    8: (1, 0, 0, 1),
    9: (1, 0, 1, 0),
    10: (0, 1, 1, 0),
    11: (1, 1, 0, 0),
    12: (1, 1, 1, 0),
    13: (1, 1, 0, 1),
    14: (1, 0, 1, 1),
    15: (0, 1, 1, 1),
    16: (1, 1, 1, 1),
}


@dataclass(frozen=True, slots=True, order=True)
class Map:
    """One MAP. `number` is the paper's: iMAP, then eMAP in two digits, as in 407."""

    number: int

    def __post_init__(self) -> None:
        if self.number // 100 not in range(1, 6) or self.number % 100 not in EMAPS:
            raise ValueError(f"{self.number} is no MAP: 1 to 5 (iMAP), then 01 to 16 (eMAP), as in 407")

    @property
    def intra(self) -> Intra:
        """Return its iMAP."""
        return Intra(self.number // 100)

    @property
    def emap(self) -> int:
        """Return its eMAP, 1 to 16."""
        return self.number % 100

    @property
    def matrix(self) -> Matrix:
        """Return its eMAP's matrix."""
        return EMAPS[self.emap]

    @property
    def determinant(self) -> int:
        """Return det M: 0 where several work-items share a base index."""
        m00, m01, m10, m11 = self.matrix
        return m00 * m11 - m01 * m10

    @property
    def reuse(self) -> bool:
        """Factor A of the paper's figure 10: work-items of a group read common elements."""
        return self.intra is not Intra.SINGLE or self.determinant == 0

    @property
    def reorder(self) -> bool:
        """Factor B of figure 10: neighbours in t_x lie in different rows, and staging can change that."""
        return self.matrix[1] == 1

    @property
    def paper_verdict(self) -> bool:
        """The measurement-free baseline: gain iff M01 = 1 or the iMAP is Row, Column or Block."""
        return self.reorder or self.intra in (Intra.ROW, Intra.COLUMN, Intra.BLOCK)

    def __str__(self) -> str:
        return f"MAP-{self.number}"


@cache
def all_maps() -> tuple[Map, ...]:
    """Return the 33 MAPs that are neither under- nor over-specified (the paper, section 4.4), by number."""
    return tuple(
        Map(100 * intra.value + emap)
        for intra in Intra
        for emap, matrix in EMAPS.items()
        if _valid(intra, matrix)
    )


def is_catalogued(number: int) -> bool:
    """Return whether a number is one of the 33."""
    return any(it.number == number for it in all_maps())


def parse_map(text: str) -> Map:
    """Return the MAP that `407`, `MAP-407` or `map407` names.

    Raises: ValueError if it is none of the 33.
    """
    digits = text.strip().casefold().removeprefix("map").lstrip("-_ ")
    if not digits.isdecimal() or not is_catalogued(int(digits)):
        known = ", ".join(str(it.number) for it in all_maps())
        raise ValueError(f"{text!r} is none of the 33 MAPs: {known}")
    return Map(int(digits))


def _valid(intra: Intra, matrix: Matrix) -> bool:
    row, column = bool(matrix[0] or matrix[1]), bool(matrix[2] or matrix[3])
    match intra:
        case Intra.ROW:
            return row and not column
        case Intra.COLUMN:
            return column and not row
        case Intra.SINGLE | Intra.BLOCK | Intra.NEIGHBOR:
            return row and column

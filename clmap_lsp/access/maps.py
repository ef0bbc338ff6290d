"""The memory access patterns (MAPs) of the Aristotle paper: eMAP, iMAP, which combine, and what they gain.

Source: J. Fang, H. Sips, A. Varbanescu, Aristotle: a performance impact indicator for the OpenCL kernels
using local memory, Scientific Programming 22(3), 2014, sections 4.2 to 4.4 and 6.4.3.
"""

from __future__ import annotations

from enum import Enum
from typing import Final

from clmap_lsp.dataclass import dataclass

EMatrix = tuple[tuple[int, int], tuple[int, int]]
"""((M00, M01), (M10, M11)): rows are (row, column) of the array, columns are (t_y, t_x)."""

_EMAPS: Final[tuple[EMatrix, ...]] = (
    ((0, 0), (0, 0)),
    ((0, 0), (0, 1)),
    ((0, 0), (1, 0)),
    ((0, 1), (0, 0)),
    ((1, 0), (0, 0)),
    ((0, 0), (1, 1)),
    ((0, 1), (0, 1)),
    ((1, 0), (0, 1)),
    ((1, 0), (1, 0)),
    ((0, 1), (1, 0)),
    ((1, 1), (0, 0)),
    ((1, 1), (1, 0)),
    ((1, 1), (0, 1)),
    ((1, 0), (1, 1)),
    ((0, 1), (1, 1)),
    ((1, 1), (1, 1)),
)
"""Figure 3, numbered from 1."""


class IMap(Enum):
    """What one work-item touches, around its base element."""

    SINGLE = "single"
    ROW = "row"
    COLUMN = "column"
    BLOCK = "block"
    NEIGHBOR = "neighbor"

    @property
    def number(self) -> int:
        """1 to 5, as in MAP names."""
        return list(IMap).index(self) + 1


@dataclass(frozen=True, slots=True)
class Factors:
    """What local memory can gain for a MAP (figure 10 of the paper)."""

    reuse: bool
    """Factor A: work-items of a group touch the same elements."""
    order_change: bool
    """Factor B: staging turns a strided walk over rows into one along rows."""


@dataclass(frozen=True, slots=True)
class Map:
    """One of the 80 combinations of an eMAP and an iMAP."""

    emap: int
    imap: IMap

    @property
    def name(self) -> str:
        """As in the paper: MAP-407."""
        return f"MAP-{self.imap.number}{self.emap:02d}"

    @property
    def matrix(self) -> EMatrix:
        """The matrix M of its eMAP."""
        return _EMAPS[self.emap - 1]

    @property
    def refusal(self) -> str | None:
        """Why the combination is under- or over-specified; `None` for the 33 valid ones (table 3)."""
        (m00, m01), (m10, m11) = self.matrix
        top, bottom = bool(m00 or m01), bool(m10 or m11)
        match self.imap:
            case IMap.ROW:
                if not top:
                    return "under-specified: no work-item id selects the row, so all walk the same row"
                if bottom:
                    return "over-specified: ids choose a column, although each work-item walks its whole row"
            case IMap.COLUMN:
                if not bottom:
                    return "under-specified: no work-item id selects the column, so all walk the same column"
                if top:
                    return "over-specified: ids choose a row, although each work-item walks its whole column"
            case _:
                if not top and not bottom:
                    return "under-specified: no work-item id selects row or column, so all use the same place"
                if not top:
                    return "under-specified: no work-item id selects the row, so all stay in the same row"
                if not bottom:
                    return "under-specified: no work-item id selects the column, so all stay in one column"
        return None

    @property
    def is_valid(self) -> bool:
        """True for the 33 MAPs of table 3."""
        return self.refusal is None

    @property
    def factors(self) -> Factors:
        """Reuse iff the iMAP is not Single or det M = 0; order changes iff M01 = 1."""
        (m00, m01), (m10, m11) = self.matrix
        determinant = m00 * m11 - m01 * m10
        return Factors(self.imap is not IMap.SINGLE or determinant == 0, m01 == 1)


def emap_of(matrix: EMatrix) -> int | None:
    """Return the number 1 to 16 of a matrix of zeros and ones; `None` for any other."""
    return _EMAPS.index(matrix) + 1 if matrix in _EMAPS else None

"""The addresses of one access: sums of a lane's part and of a step for every dimension."""

from __future__ import annotations

from clmap_lsp.dataclass import dataclass
from clmap_lsp.emulator.symbolic.values import Ints

Dims = tuple[tuple[int, int], ...]
"""(coef, count) of dimensions."""


@dataclass(frozen=True, slots=True)
class Progressions:
    """Addresses `lanes[i] + Σ coef_j·t_j` for all t_j below count_j, `times` times each.

    `lanes` are bytes, any number of them, equal ones allowed; `dims` are (coef, count).
    """

    lanes: Ints
    dims: Dims
    times: int = 1

    def n_addresses(self) -> int:
        """Return how many addresses there are, equal ones told apart."""
        n = int(self.lanes.size)
        for _, count in self.dims:
            n *= count
        return n

    def span(self) -> tuple[int, int]:
        """Return the lowest and highest address."""
        low, high = int(self.lanes.min()), int(self.lanes.max())
        for coef, count in self.dims:
            reach = coef * (count - 1)
            low, high = low + min(reach, 0), high + max(reach, 0)
        return low, high

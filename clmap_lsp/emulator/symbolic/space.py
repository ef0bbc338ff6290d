"""The box of work-groups that is run, its lanes, and the dimensions that stay symbolic."""

from __future__ import annotations

from dataclasses import field
from itertools import pairwise, product

import numpy as np
from numpy.typing import NDArray

from clmap_lsp.dataclass import dataclass
from clmap_lsp.emulator.symbolic.control import Budget, NotRegularError, OverBudgetError, Spending, SplitError
from clmap_lsp.emulator.symbolic.recurring import Masks
from clmap_lsp.emulator.symbolic.values import Ints, Sym, of_array
from clmap_lsp.launch.model import Launch

GROUP_DIMENSIONS = 3


@dataclass(frozen=True, slots=True)
class Box:
    """Work-groups `start + step·t`, t below `count`, in each dimension, all of size `local_size`."""

    start: tuple[int, int, int]
    count: tuple[int, int, int]
    local_size: tuple[int, int, int]
    step: tuple[int, int, int] = (1, 1, 1)

    @property
    def n_groups(self) -> int:
        """Number of work-groups."""
        return self.count[0] * self.count[1] * self.count[2]

    def split(self, dimension: int, cuts: tuple[int, ...], modulo: int = 1) -> list[Box]:
        """Cut along one dimension; cuts are steps, rising, inside it. `modulo`: take every so many-th."""
        if modulo > 1:
            whole = self.count[dimension]
            return [
                self._part(dimension, at, -(-(whole - at) // modulo), modulo)
                for at in range(min(modulo, whole))
            ]
        edges = [0, *cuts, self.count[dimension]]
        return [self._part(dimension, low, high - low) for low, high in pairwise(edges)]

    def _part(self, dimension: int, first: int, count: int, step: int = 1) -> Box:
        start, counts, steps = list(self.start), list(self.count), list(self.step)
        start[dimension] += first * self.step[dimension]
        counts[dimension] = count
        steps[dimension] *= step
        return Box(
            (start[0], start[1], start[2]),
            (counts[0], counts[1], counts[2]),
            self.local_size,
            (steps[0], steps[1], steps[2]),
        )


def boxes_of(launch: Launch) -> list[Box]:
    """Return the boxes of a launch: one of full groups, more where the last groups are smaller."""
    parts: list[list[tuple[int, int, int]]] = []
    for d in range(GROUP_DIMENSIONS):
        whole = launch.global_size[d] if d < len(launch.global_size) else 1
        group = launch.local_size[d] if d < len(launch.local_size) else 1
        full, rest = divmod(whole, group)
        segments = [(0, full, group)] if full else []
        parts.append(segments + ([(full, 1, rest)] if rest else []))
    return [
        Box((x[0], y[0], z[0]), (x[1], y[1], z[1]), (x[2], y[2], z[2]))
        for z, y, x in product(parts[2], parts[1], parts[0])
    ]


def box_of_group(launch: Launch, linear_id: int) -> Box:
    """Return the box of one work-group."""
    start, local = [], []
    for d in range(GROUP_DIMENSIONS):
        whole = launch.global_size[d] if d < len(launch.global_size) else 1
        group = launch.local_size[d] if d < len(launch.local_size) else 1
        linear_id, at = divmod(linear_id, -(-whole // group))
        start.append(at)
        local.append(min(group, whole - at * group))
    return Box((start[0], start[1], start[2]), (1, 1, 1), (local[0], local[1], local[2]))


@dataclass(slots=True)
class Space:
    """A box with the loop dimensions that are open at the moment."""

    box: Box
    launch: Launch
    simd_width: int
    spending: Spending
    masks: Masks = field(default_factory=Masks)
    counts: list[int] = field(default_factory=list)
    """Lengths of the dimensions: three of the box, then those of open loops."""
    n_lanes: int = 1
    local_ids: tuple[Sym, ...] = ()

    def __post_init__(self) -> None:
        x, y, z = self.box.local_size
        self.n_lanes = x * y * z
        self.counts = list(self.box.count)
        linear = np.arange(self.n_lanes, dtype=np.int64)
        self.local_ids = (of_array(linear % x), of_array(linear // x % y), of_array(linear // (x * y)))

    @property
    def budget(self) -> Budget:
        """What the whole count may cost."""
        return self.spending.budget

    def launch_size(self, which: tuple[int, ...], dimension: int) -> int:
        """Return a size of the launch; 1 for dimensions that it does not have."""
        return which[dimension] if dimension < len(which) else 1

    def group_id(self, dimension: int) -> Sym:
        """Return `get_group_id`."""
        coefs = ((dimension, self.box.step[dimension]),) if self.counts[dimension] > 1 else ()
        return Sym(self.box.start[dimension], coefs)

    def global_id(self, dimension: int) -> Sym:
        """Return `get_global_id`, the global offset included."""
        group = self.launch_size(self.launch.local_size, dimension)
        given = self.launch.global_offset
        offset = given[dimension] if dimension < len(given) else 0
        local = self.local_ids[dimension]
        coefs = ((dimension, group * self.box.step[dimension]),) if self.counts[dimension] > 1 else ()
        const = self.box.start[dimension] * group + offset + local.const
        return Sym(const, coefs, local.array, local.low, local.high)

    def linear_lanes(self) -> Ints:
        """Return the linear local ids."""
        return np.arange(self.n_lanes, dtype=np.int64)

    def require(self, cells: int, dimensions: set[int]) -> None:
        """Make sure that an array of `cells` is affordable, else cut the longest of its dimensions.

        Raises: SplitError, NotRegularError, OverBudgetError.
        """
        if cells <= self.budget.cells:
            self.spending.spend(cells=cells)
            return
        long = [d for d in dimensions if self.counts[d] > 1]
        if not long:
            return
        groups = [d for d in long if d < GROUP_DIMENSIONS]
        widest = max(groups or long, key=lambda d: self.counts[d])
        if widest >= GROUP_DIMENSIONS:
            raise NotRegularError
        count = self.counts[widest]
        parts = min(count, -(-cells // self.budget.cells))
        if parts > self.budget.boxes:
            raise OverBudgetError(f"more than {self.budget.boxes} parts of the launch")
        raise SplitError(widest, tuple(sorted({count * k // parts for k in range(1, parts)})))


def dims_of(value: Sym) -> set[int]:
    """Return the dimensions that a value depends on."""
    dims = {d for d, _ in value.coefs}
    if value.array is not None:
        dims |= {axis for axis, length in enumerate(reversed(value.array.shape[:-1])) if length > 1}
    return dims


def mask_dims(mask: NDArray[np.bool_]) -> set[int]:
    """Return the dimensions that a mask depends on."""
    return {axis for axis, length in enumerate(reversed(mask.shape[:-1])) if length > 1}

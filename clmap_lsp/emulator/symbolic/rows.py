"""What the engine finds out about an access: the addresses of all work-groups and turns, still compressed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clmap_lsp.dataclass import dataclass
from clmap_lsp.emulator.moved import Moved
from clmap_lsp.emulator.symbolic.values import Sym, affordable
from clmap_lsp.launch.image import Texels
from clmap_lsp.source.ir import Variable
from clmap_lsp.source.span import Span
from clmap_lsp.source.types import AddressSpace

Mask = bool | NDArray[np.bool_]
"""Which work-items take part: all (True), none (False), or an array with the axes of `Sym.array`."""


@dataclass(slots=True, eq=False)
class Rows:
    """All executions of one access in one box: a row of lanes for each combination of the dimensions.

    `offset` is bytes from the start of `root`; `counts` are the lengths of the dimensions that were open.
    `ordinal` (accesses of the same work-item since its last barrier) and `segment` (barriers so far) are kept
    for locality metrics only.
    """

    site: int
    op: str
    """`load`, `store` or `atomic`."""
    root: Variable
    space: AddressSpace
    offset: Sym
    mask: Mask
    counts: tuple[int, ...]
    n_lanes: int
    size: int
    moved: Moved
    span: Span
    local_size: tuple[int, int, int]
    ordinal: Sym | None = None
    segment: Sym | None = None
    texels: Texels | None = None
    """Set for an image: `offset` is then the place of its first texel, as one number (`launch.image.ROW`)."""


@dataclass(slots=True)
class Kept:
    """The memory of the addresses and masks of rows, as they come and go; what several share counts once."""

    n_bytes: int = 0
    users: dict[int, int] = field(default_factory=dict)
    """Of each array, by its identity, which holds as long as a row holds the array."""

    def add(self, row: Rows) -> None:
        """Count one more row."""
        for array in _arrays(row):
            users = self.users.get(id(array), 0)
            self.users[id(array)] = users + 1
            if not users:
                self.n_bytes += array.nbytes

    def drop(self, rows: Iterable[Rows]) -> None:
        """Count some rows no longer, before they go."""
        for row in rows:
            for array in _arrays(row):
                self.users[id(array)] -= 1
                if not self.users[id(array)]:
                    del self.users[id(array)]
                    self.n_bytes -= array.nbytes


def _arrays(row: Rows) -> list[NDArray[Any]]:
    return [it for it in (row.offset.array, row.mask) if isinstance(it, np.ndarray)]


def any_active(mask: Mask) -> bool:
    """Tell whether some work-item takes part."""
    return bool(mask) if isinstance(mask, bool) else bool(mask.any())


def both(left: Mask, right: Mask) -> Mask:
    """Return the work-items of both masks, as `True` or `False` where all agree; raises OverBudgetError."""
    if left is True:
        return right
    if right is True:
        return left
    if left is False or right is False:
        return False
    affordable(left, right)
    return simplified(np.logical_and(left, right))


def either(left: Mask, right: Mask) -> Mask:
    """Return the work-items of either mask."""
    if left is False:
        return right
    if right is False:
        return left
    if left is True or right is True:
        return True
    affordable(left, right)
    return simplified(np.logical_or(left, right))


def without(left: Mask, right: Mask) -> Mask:
    """Return the work-items of `left` that are not in `right`."""
    if right is False:
        return left
    if right is True or left is False:
        return False
    inverse: Any = np.logical_not(right)
    return both(left, inverse)


def simplified(mask: Any) -> Mask:
    """Return a mask as `True` or `False` where all work-items agree."""
    array = np.asarray(mask)
    if array.all():
        return True
    return array if array.any() else False

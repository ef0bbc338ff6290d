"""Parallel spatial locality (PSL): how near together a work-group's simultaneous accesses lie.

A timestep is the ordinal of an access within its work-item since the last barrier; it is no clock. For every
timestep the entropy of the group's addresses is taken with 0 to 10 low bits dropped, averaged over the
group's timesteps, then over groups, and divided by log2(group size). A group without accesses counts as 0.
Source: Chilukuri, Milthorpe, Johnston (IWOCL 2020), section 5.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from clmap_lsp.locality.definition import LEVELS, Definition
from clmap_lsp.locality.entropy import rows_entropies


class PslAccumulator:
    """Takes rows (timesteps) of one work-group after the other; memory does not grow.

    Call `add_rows` as rows become complete, `end_segment` at every barrier (the end of a group is none),
    `end_group` after each group in the order of their linear ids.
    """

    def __init__(self, group_size: int, definition: Definition = Definition.PAPER) -> None:
        """`group_size` is the number of work-items of a full work-group."""
        self._group_size = group_size
        self._definition = definition
        self._segment = np.zeros(LEVELS)
        self._segment_steps = 0
        self._running = np.zeros(LEVELS)
        """Weighted sums over segments: of this group (paper), or of all groups so far (AIWC)."""
        self._running_steps = 0
        self._total = np.zeros(LEVELS)
        self._groups = 0

    def add_rows(self, addresses: NDArray[np.int64], active: NDArray[np.bool_] | None = None) -> None:
        """Add timesteps: `addresses` of shape (timesteps, work-items), `active` where an item has an access.

        Rows without any access are no timesteps and must not be given.
        """
        entropies = rows_entropies(addresses, active, self._definition)
        self.add_entropies(entropies.sum(axis=0), len(entropies))

    def add_entropies(self, entropies: NDArray[np.float64], timesteps: int) -> None:
        """Add the sum, shape (11,), of the entropies of `timesteps` rows that were computed elsewhere."""
        self._segment += entropies
        self._segment_steps += timesteps

    def end_segment(self) -> None:
        """Close the accesses since the last barrier."""
        steps = self._segment_steps
        if self._definition is Definition.AIWC:
            # AIWC divides by steps + 1 and weighs by steps when it joins the segments.
            self._running += self._segment / (steps + 1) * steps
        else:
            self._running += self._segment
        self._running_steps += steps
        self._segment = np.zeros(LEVELS)
        self._segment_steps = 0

    def end_group(self) -> None:
        """Close a work-group."""
        self.end_segment()
        if self._definition is Definition.AIWC:
            self._total += self._running / (self._running_steps + 1)
        else:
            self._total += self._running / max(self._running_steps, 1)
            self._running = np.zeros(LEVELS)
            self._running_steps = 0
        self._groups += 1

    def result(self) -> NDArray[np.float64]:
        """Return the PSL with 0 to 10 low bits dropped, shape (11,); all 0 for groups of one work-item."""
        norm = psl_norm(self._group_size, self._definition)
        if norm == 0 or self._groups == 0:
            return np.zeros(LEVELS)
        return self._total / self._groups / norm


def psl_norm(group_size: int, definition: Definition) -> float:
    """Return the entropy by which PSL is divided, in bits."""
    return math.log2(group_size + 1 if definition is Definition.AIWC else max(group_size, 1))

"""The memory metrics of one launch, collected group by group."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clmap_lsp.dataclass import dataclass
from clmap_lsp.locality.definition import Definition
from clmap_lsp.locality.entropy import EntropyAccumulator, covering, entropy_levels
from clmap_lsp.locality.parallel import PslAccumulator


@dataclass(frozen=True, slots=True)
class AccessCounts:
    """Accesses by space: one load or store of a work-item each. An atomic is one load and one store."""

    global_loads: int = 0
    global_stores: int = 0
    local_loads: int = 0
    local_stores: int = 0
    constant_loads: int = 0

    @property
    def loads(self) -> int:
        """Loads of every space."""
        return self.global_loads + self.local_loads + self.constant_loads

    @property
    def stores(self) -> int:
        """Stores of every space."""
        return self.global_stores + self.local_stores

    @property
    def accesses(self) -> int:
        """Loads and stores."""
        return self.loads + self.stores

    @property
    def relative_local(self) -> float:
        """Share of the accesses that go to local memory, 0..1; 0 without accesses."""
        return (self.local_loads + self.local_stores) / self.accesses if self.accesses else 0.0

    def __add__(self, other: AccessCounts) -> AccessCounts:
        return AccessCounts(
            self.global_loads + other.global_loads,
            self.global_stores + other.global_stores,
            self.local_loads + other.local_loads,
            self.local_stores + other.local_stores,
            self.constant_loads + other.constant_loads,
        )


@dataclass(frozen=True, slots=True)
class Metrics:
    """AIWC's memory metrics. Entropies are bits; `lmae[i]` drops i + 1 low bits, `psl[i]` drops i."""

    accesses: int
    loads: int
    stores: int
    footprint: int
    footprint_90: int
    gmae: float
    lmae: tuple[float, ...]
    psl: tuple[float, ...]
    relative_local: float
    definition: Definition = Definition.PAPER


def metrics_of(
    counts: AccessCounts,
    histogram: tuple[NDArray[np.int64], NDArray[np.int64]],
    psl: NDArray[np.float64],
    definition: Definition = Definition.PAPER,
) -> Metrics:
    """Put a launch's figures together.

    Args:
        counts: accesses by space.
        histogram: distinct addresses, ascending, and accesses to each (see `EntropyAccumulator.histogram`).
        psl: shape (11,), see `PslAccumulator.result`.
    """
    addresses, times = histogram
    levels = entropy_levels(addresses, times).tolist()
    return Metrics(
        accesses=counts.accesses,
        loads=counts.loads,
        stores=counts.stores,
        footprint=len(addresses),
        footprint_90=covering(times),
        gmae=levels[0],
        lmae=tuple(levels[1:]),
        psl=tuple(psl.tolist()),
        relative_local=counts.relative_local,
        definition=definition,
    )


class MetricsAccumulator:
    """Collects everything that `Metrics` needs from rows of one work-group after the other."""

    def __init__(self, group_size: int, definition: Definition = Definition.PAPER) -> None:
        self._definition = definition
        self._addresses = EntropyAccumulator()
        self._psl = PslAccumulator(group_size, definition)
        self._counts = AccessCounts()

    def add_rows(
        self,
        addresses: NDArray[np.int64],
        active: NDArray[np.bool_] | None,
        counts: AccessCounts,
    ) -> None:
        """Add timesteps, shape (timesteps, work-items), and how many accesses they hold by space."""
        self._addresses.add(addresses if active is None else addresses[active])
        self._psl.add_rows(addresses, active)
        self._counts += counts

    def end_segment(self) -> None:
        """A barrier was reached."""
        self._psl.end_segment()

    def end_group(self) -> None:
        """A work-group is done."""
        self._psl.end_group()

    def result(self) -> Metrics:
        """Return the metrics of all groups so far."""
        return metrics_of(self._counts, self._addresses.histogram(), self._psl.result(), self._definition)

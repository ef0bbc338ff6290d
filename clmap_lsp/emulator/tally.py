"""Empties the run-time tables: address counts, and requests with what they cost on a device."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

import numpy as np
import numpy.ma  # So does np.unique when it is first called, in the midst of a kernel's limits.
from numpy.typing import NDArray

from clmap_lsp.dataclass import dataclass
from clmap_lsp.devices.model import DeviceModel, Unknown
from clmap_lsp.devices.rules import Op, global_sectors, local_wavefronts
from clmap_lsp.emulator import allocation
from clmap_lsp.emulator.layout import (
    CARRY_ROOM,
    MIXED_SITE,
    SUB_LANES,
    SUB_REL,
    SUB_REQUESTS,
    SUB_SITE,
)
from clmap_lsp.emulator.site_table import SiteInfo
from clmap_lsp.locality.address_totals import AddressTotals
from clmap_lsp.locality.definition import Definition
from clmap_lsp.locality.entropy import EntropyAccumulator
from clmap_lsp.locality.metrics import AccessCounts, Metrics, metrics_of

Words = NDArray[np.int64]

_ATOMICS = "atomics are counted by the symbolic engine only"
_DENSE_CELLS = 1 << 27
_CHUNK_ROWS = 1 << 15
_LIST_BYTES = 64
"""For each address in a list, while it is put in order."""


class AddressCounts:
    """Accesses per start address: one dense array where the buffers are small enough, else sorted lists."""

    @staticmethod
    def dense_bytes(extents: Mapping[int, int], granule: int) -> int:
        """Return the bytes of a dense array; 0 where lists take less."""
        cells = sum(size // granule + 1 for size in extents.values())
        return 4 * cells if cells <= _DENSE_CELLS else 0

    def __init__(self, extents: Mapping[int, int], granule: int, *, is_dense: bool, room: int) -> None:
        self._room = room
        self._shift = granule.bit_length() - 1
        cells = {it: (size >> self._shift) + 1 for it, size in extents.items()}
        self.starts = allocation.cleared(max(extents, default=0) + 1)
        total = 0
        for trace_id, count in sorted(cells.items()):
            self.starts[trace_id] = total
            total += count
        self._cells = cells
        self.dense = allocation.cleared(total // 2 + 1).view(np.uint32) if is_dense else None
        self.carries = allocation.cleared(CARRY_ROOM if is_dense else 1)
        """Cells of the dense array, once for each 2**32 accesses that it leaves out."""
        self.n_carries = 0
        self._sparse = EntropyAccumulator()
        self.listed = 0
        """Accesses that went into sorted lists, those of one address that came in one part once."""

    def add(self, addresses: Words, counts: Words) -> None:
        """Add accesses to trace addresses, shape (n,) both, where there is no dense array."""
        self.listed += addresses.size
        self._sparse.add(addresses, counts)

    def _wide(self, start: int, end: int) -> NDArray[np.integer]:
        """Return the counts of some cells of the dense array, with what it leaves out."""
        assert self.dense is not None
        carries = self.carries[: self.n_carries]
        carries = carries[(carries >= start) & (carries < end)]
        if not len(carries):
            return self.dense[start:end]
        counts = self.dense[start:end].astype(np.int64)
        np.add.at(counts, carries - start, 1 << 32)
        return counts

    @property
    def is_full(self) -> bool:
        """True if the lists take all the room that there is for them."""
        return _LIST_BYTES * self._sparse.n_held > self._room

    def metrics(self, counts: AccessCounts, psl: NDArray[np.float64], definition: Definition) -> Metrics:
        """Return the run's figures; `psl` has shape (11,)."""
        if self.dense is None:
            return metrics_of(counts, self._sparse.histogram(), psl, definition)
        totals = AddressTotals()
        for trace_id, cells in self._cells.items():
            start = int(self.starts[trace_id])
            totals.take_long(self._wide(start, start + cells), 1 << self._shift)
        return totals.metrics(counts, psl, definition)


@dataclass(slots=True)
class SiteTally:
    """Counts of one trace site; costs are None once a device's rule turned out not to be known."""

    executions: int = 0
    requests: int = 0
    sectors: int | None = 0
    wavefronts: int | None = 0
    reasons: set[str] = field(default_factory=set)


class SiteTallies:
    """Counts of all trace sites."""

    def __init__(self, sites: Sequence[SiteInfo], device: DeviceModel | None) -> None:
        self._device = device
        self._infos = {it.trace_site: it for it in sites}
        self.by_site: dict[int, SiteTally] = {}

    def add(self, subs: Words) -> None:
        """Add interned sub-rows, shape (n, SUB_REL + lanes)."""
        used = subs[(subs[:, SUB_REQUESTS] > 0) & (subs[:, SUB_SITE] != MIXED_SITE)]
        for trace_site in np.unique(used[:, SUB_SITE]).tolist():
            rows = used[used[:, SUB_SITE] == trace_site]
            tally = self.by_site.setdefault(trace_site, SiteTally())
            info = self._infos.get(trace_site)
            n_pieces = (
                len(info.moved.pieces(self._device)) if info is not None and self._device is not None else 1
            )
            tally.requests += int(rows[:, SUB_REQUESTS].sum()) * n_pieces
            tally.executions += int((rows[:, SUB_REQUESTS] * rows[:, SUB_LANES]).sum())
            if info is not None and self._device is not None:
                self._cost(tally, info, rows, self._device)

    def _cost(self, tally: SiteTally, info: SiteInfo, rows: Words, device: DeviceModel) -> None:
        if info.op.startswith("atomic"):
            tally.sectors = tally.wavefronts = None
            tally.reasons.add(_ATOMICS)
            return
        for start in range(0, len(rows), _CHUNK_ROWS):
            part = rows[start : start + _CHUNK_ROWS]
            addresses = part[:, SUB_REL:]
            active = addresses != -1
            addresses = np.where(active, addresses, 0)
            op: Op = "store" if info.is_store else "load"
            for offset, size in info.moved.pieces(device):
                if info.space == "local":
                    counts = local_wavefronts(addresses + offset, active, size, op, device)
                    tally.wavefronts = _summed(tally, tally.wavefronts, counts, part)
                else:
                    counts = global_sectors(addresses + offset, active, size, device, op)
                    tally.sectors = _summed(tally, tally.sectors, counts, part)


def _summed(tally: SiteTally, so_far: int | None, counts: Words | Unknown, rows: Words) -> int | None:
    if isinstance(counts, Unknown):
        tally.reasons.add(counts.reason)
        return None
    if so_far is None:
        return None
    return so_far + int((counts * rows[:, SUB_REQUESTS]).sum())


def expand_pairs(pairs: Words, subs: Words, counts: AddressCounts) -> None:
    """Add the accesses of (sub-row + 1, base, times) rows to the address counts.

    Only for buffers too large for the dense array, which the run-time library fills itself.
    """
    for start in range(0, len(pairs), _CHUNK_ROWS):
        part = pairs[start : start + _CHUNK_ROWS]
        relative = subs[part[:, 0] - 1, SUB_REL:]
        active = relative != -1
        times = np.broadcast_to(part[:, 2:3], relative.shape)[active]
        counts.add((relative + part[:, 1:2])[active], times)

"""From traces of an instrumented launch to AIWC's memory metrics."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from clmap_lsp.dataclass import dataclass
from clmap_lsp.locality.definition import Definition, LocalAddresses, buffer_addresses
from clmap_lsp.locality.metrics import AccessCounts, Metrics, MetricsAccumulator
from clmap_lsp.opencl_device.on_device_job import DeviceJob, TraceJob

if TYPE_CHECKING:
    from clmap_lsp.opencl_device.session import Session

Words = NDArray[np.uint64]
_BARRIER = 0xFFFFFFFF
_ROW_CELLS = 1 << 21
"""Rows of a group are handed on in pieces of so many addresses."""


@dataclass(frozen=True, slots=True)
class Trace:
    """What was collected."""

    metrics: Metrics
    executions: dict[int, int]
    """Accesses by trace number: 2 * site for loads, one more for stores; of the groups that were traced."""
    events: int
    """Of the whole launch, barriers included."""
    groups: int
    """Work-groups that were traced."""
    all_groups: int
    unresolved: int
    """Accesses outside every buffer: left out."""

    @property
    def is_sampled(self) -> bool:
        """Return whether only a part of the groups was traced."""
        return self.groups < self.all_groups


@dataclass(frozen=True, slots=True)
class Grid:
    """Which work-items belong to which work-group."""

    global_size: tuple[int, int, int]
    local_size: tuple[int, int, int]

    @classmethod
    def of(cls, job: DeviceJob) -> Grid:
        """Return the grid of a job."""
        shape = [(*it, 1, 1)[:3] for it in (job.global_size, job.local_size)]
        return cls((shape[0][0], shape[0][1], shape[0][2]), (shape[1][0], shape[1][1], shape[1][2]))

    @property
    def num_groups(self) -> tuple[int, int, int]:
        """Return the number of work-groups in each dimension."""
        x, y, z = (-(-g // s) for g, s in zip(self.global_size, self.local_size, strict=True))
        return x, y, z

    def group_of(self) -> NDArray[np.int64]:
        """Return the linear work-group of every work-item, by global linear id."""
        gx, gy, gz = self.global_size
        lx, ly, lz = self.local_size
        nx, ny, _ = self.num_groups
        x, y, z = (np.arange(it, dtype=np.int64) for it in (gx, gy, gz))
        whole = (z // lz)[:, None, None] * ny + (y // ly)[None, :, None]
        return (whole * nx + (x // lx)[None, None, :]).reshape(-1)

    def items_of(self, group: int) -> NDArray[np.int64]:
        """Return the global linear ids of a group's work-items, by local linear id."""
        nx, ny, _ = self.num_groups
        places = (group % nx, group // nx % ny, group // (nx * ny))
        ranges = [
            np.arange(at * size, min((at + 1) * size, total), dtype=np.int64)
            for at, size, total in zip(places, self.local_size, self.global_size, strict=True)
        ]
        x, y, z = ranges
        gx, gy, _ = self.global_size
        return ((z[:, None, None] * gy + y[None, :, None]) * gx + x[None, None, :]).reshape(-1)


def trace(
    session: Session, job: DeviceJob, arguments: Callable[[], Sequence[Any]], window_events: int
) -> Trace:
    """Collect every access of a launch and work out its metrics.

    The launch is made once to count entries and then once for each window of work-groups whose entries fit
    the trace buffer, each time from fresh inputs.

    Args:
        arguments: makes the kernel's own arguments, buffers filled as at the start.
        window_events: entries that the trace buffer holds, 16 bytes each.
    Raises: DeviceError.
    """
    assert job.trace is not None
    collector = _Collector(session, job, job.trace, arguments)
    counts = collector.count()
    grid = Grid.of(job)
    group_of = grid.group_of()
    by_group = np.bincount(group_of, weights=counts).astype(np.int64)
    chosen = _chosen(by_group, job.max_events)
    sink = _Sink(job, job.trace, grid)
    for window in _windows(chosen, by_group, window_events):
        included = np.isin(group_of, window)
        first = np.zeros(len(counts) + 1, np.uint64)
        np.cumsum(np.where(included, counts, 0), out=first[1:])
        entries, bases = collector.collect(first)
        for group in window.tolist():
            sink.add(group, entries, first, counts, bases[group])
    return Trace(
        sink.metrics.result(),
        dict(sorted(sink.executions.items())),
        int(counts.sum()),
        len(chosen),
        len(by_group),
        sink.unresolved,
    )


def _chosen(by_group: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """Return the groups to trace: all, or evenly spread ones with about `most` entries."""
    every = np.arange(len(by_group), dtype=np.int64)
    total = int(by_group.sum())
    if total <= most:
        return every
    keep = max(1, len(by_group) * most // total)
    return np.unique(np.linspace(0, len(by_group) - 1, keep).astype(np.int64))


def _windows(
    chosen: NDArray[np.int64], by_group: NDArray[np.int64], room: int
) -> Iterator[NDArray[np.int64]]:
    """Cut the groups into runs whose entries fit; a single group may be larger than the room."""
    start = 0
    filled = 0
    for index, group in enumerate(chosen.tolist()):
        size = int(by_group[group])
        if index > start and filled + size > room:
            yield chosen[start:index]
            start, filled = index, 0
        filled += size
    yield chosen[start:]


class _Collector:
    """Launches the instrumented copy."""

    def __init__(
        self, session: Session, job: DeviceJob, copy: TraceJob, arguments: Callable[[], Sequence[Any]]
    ) -> None:
        self._session = session
        self._job = job
        self._arguments = arguments
        # The copy has no macros left, so defines are not for it. It is not timed, and PoCL 3.1 makes code
        # that crashes of two loops with barriers (a scan) when it optimises the copy.
        kept = [it for it in job.options if it.startswith("-cl-std=")]
        program = session.build(copy.source, [*kept, "-cl-opt-disable"])
        self._kernel = session.kernel(program, copy.name)
        self._items = int(np.prod(job.global_size))
        self._groups = int(np.prod(Grid.of(job).num_groups))
        self._buffers = len(copy.buffers)

    def count(self) -> NDArray[np.int64]:
        """Return the number of entries of every work-item."""
        counts, _, _ = self._launch(np.zeros(self._items + 1, np.uint64))
        return counts.astype(np.int64)

    def collect(self, first: Words) -> tuple[Words, Words]:
        """Return entries, shape (entries, 2), and bases, shape (groups, buffers)."""
        _, entries, bases = self._launch(first)
        return entries, bases

    def _launch(self, first: Words) -> tuple[NDArray[np.uint32], Words, Words]:
        session, room = self._session, int(first[-1])
        entries = session.buffer(max(room, 1) * 16)
        session.fill(entries, 0, max(room, 1) * 16)
        starts = session.buffer_from(first)
        counts = session.buffer(self._items * 4)
        bases = session.buffer(max(self._groups * self._buffers, 1) * 8)
        # Kept until the launch is done: the driver holds no reference of ours.
        own = [*self._arguments(), entries, starts, counts, bases]
        session.set_arguments(self._kernel, *own)
        session.launch(
            self._kernel, self._job.global_size, self._job.local_size, self._job.global_offset or None
        )
        session.finish()
        found = session.read(entries, np.uint64, room * 2).reshape(-1, 2) if room else _NOTHING
        at = session.read(bases, np.uint64, self._groups * self._buffers) if self._buffers else _NONE
        return (
            session.read(counts, np.uint32, self._items),
            found,
            at.reshape(self._groups, self._buffers),
        )


_NOTHING = np.zeros((0, 2), np.uint64)
_NONE = np.zeros(0, np.uint64)


class _Sink:
    """Turns a group's entries into timesteps."""

    def __init__(self, job: DeviceJob, copy: TraceJob, grid: Grid) -> None:
        self._grid = grid
        self._view = LocalAddresses(job.local_addresses)
        self._buffers = copy.buffers
        self._numbers = _numbers(copy)
        self.metrics = MetricsAccumulator(int(np.prod(grid.local_size)), Definition(job.definition))
        self.executions = {number: 0 for number, _, _ in copy.sites}
        self.unresolved = 0
        self._kinds = {
            number: f"{space}_{'stores' if store else 'loads'}" for number, space, store in copy.sites
        }
        self._local = np.array([n for n, space, _ in copy.sites if space == "local"], np.int64)

    def add(self, group: int, entries: Words, first: Words, counts: NDArray[np.int64], bases: Words) -> None:
        """Add one work-group."""
        items = self._grid.items_of(group)
        starts, lengths = first[items].astype(np.int64), counts[items]
        item = np.repeat(np.arange(len(items)), lengths)
        within = np.arange(len(item)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        mine = entries[starts[item] + within]
        sites = mine[:, 1].astype(np.int64)
        barrier = sites == _BARRIER
        segments = _running(barrier, within, item)
        addresses, known = self._resolve(mine[:, 0], sites, bases, group)
        self.unresolved += int((~known & ~barrier).sum())
        keep = known & ~barrier
        for segment in range(int((segments + barrier).max(initial=0)) + 1):
            if segment:
                self.metrics.end_segment()
            chosen = keep & (segments == segment)
            if chosen.any():
                self._rows(addresses[chosen], sites[chosen], item[chosen], len(items))
        self.metrics.end_group()

    def _rows(
        self,
        addresses: NDArray[np.int64],
        sites: NDArray[np.int64],
        item: NDArray[np.int64],
        items: int,
    ) -> None:
        # Entries stand work-item by work-item, in program order: the ordinal counts up within each.
        lengths = np.bincount(item, minlength=items)
        ordinal = np.arange(len(item)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        for number, count in zip(*np.unique(sites, return_counts=True), strict=True):
            self.executions[int(number)] += int(count)
        counts = self._counts(sites)
        step = max(1, _ROW_CELLS // items)
        for start in range(0, int(ordinal.max()) + 1, step):
            chosen = (ordinal >= start) & (ordinal < start + step)
            rows = int(ordinal[chosen].max()) - start + 1
            matrix = np.zeros((rows, items), np.int64)
            active = np.zeros((rows, items), np.bool_)
            matrix[ordinal[chosen] - start, item[chosen]] = addresses[chosen]
            active[ordinal[chosen] - start, item[chosen]] = True
            self.metrics.add_rows(matrix, active, counts if start == 0 else AccessCounts())

    def _counts(self, sites: NDArray[np.int64]) -> AccessCounts:
        sums: dict[str, int] = {}
        for number, count in zip(*np.unique(sites, return_counts=True), strict=True):
            kind = self._kinds[int(number)]
            sums[kind] = sums.get(kind, 0) + int(count)
        return AccessCounts(
            sums.get("global_loads", 0),
            sums.get("global_stores", 0) + sums.get("constant_stores", 0),
            sums.get("local_loads", 0),
            sums.get("local_stores", 0),
            sums.get("constant_loads", 0),
        )

    def _resolve(
        self, raw: Words, sites: NDArray[np.int64], bases: Words, group: int
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return virtual addresses, and which accesses lie in a buffer."""
        addresses = raw.astype(np.int64)
        found = np.zeros(len(raw), np.int64)
        known = np.zeros(len(raw), np.bool_)
        in_local = np.isin(sites, self._local)
        for index, (_, is_local, size) in enumerate(self._buffers):
            base = int(bases[index])
            inside = (addresses >= base) & (addresses < base + size) & (in_local == is_local) & ~known
            if inside.any():
                found[inside] = buffer_addresses(
                    addresses[inside] - base,
                    is_local=is_local,
                    buffer=self._numbers[index],
                    group=group,
                    view=self._view,
                )
                known |= inside
        return found, known


def _numbers(copy: TraceJob) -> list[int]:
    """Return each buffer's number among those of its kind."""
    numbers = []
    seen = {True: 0, False: 0}
    for _, is_local, _ in copy.buffers:
        numbers.append(seen[is_local])
        seen[is_local] += 1
    return numbers


def _running(
    barrier: NDArray[np.bool_], within: NDArray[np.int64], item: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return for every entry the number of barriers that its work-item passed before."""
    if not len(barrier):
        return np.zeros(0, np.int64)
    total = np.cumsum(barrier)
    starts = np.flatnonzero(within == 0)
    before: NDArray[np.int64] = total[starts] - barrier[starts]
    offset = np.zeros(int(item.max()) + 1, np.int64)
    offset[item[starts]] = before
    return np.asarray(total - barrier - offset[item], np.int64)

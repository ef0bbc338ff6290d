"""Run the microbenchmarks on a device into a database.

The unit of work is one MAP (or one combination of MAPs) at one size in one cache state: all its kernels are
timed in turn, and their records are kept at once. So an interrupt or a lost device costs one unit, and
running again goes on where it stopped.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from clmap_lsp.aristotle.bench import Bench, VerificationError
from clmap_lsp.aristotle.database import Database
from clmap_lsp.aristotle.elements import Element
from clmap_lsp.aristotle.generate import Approach, Group, Part, generate, is_distinct
from clmap_lsp.aristotle.layout import counted_bytes
from clmap_lsp.aristotle.maps import Intra, Map
from clmap_lsp.aristotle.records import Measurement, Platform
from clmap_lsp.dataclass import dataclass
from clmap_lsp.opencl_device.errors import LaunchError
from clmap_lsp.opencl_device.facts import DeviceFacts
from clmap_lsp.opencl_device.session import Session
from clmap_lsp.opencl_device.statistics import summarise
from clmap_lsp.opencl_device.timing import CacheState, Effort, Timed, Timer

INT_LIMIT = 1 << 31
FLOAT = Element("float")
DEFAULT_GROUP = Group()
"""16 x 16, as in the published measurements."""
DEFAULT_EFFORT = Effort()
METHOD = (
    "OpenCL event times of kernels verified against a reference, variants interleaved, repeated until the"
    " 95 % interval of the median is within 2 % (11 to 41 runs, fewer only where a launch takes very long);"
    " hashed data; cold: a kernel rewrites a buffer of four times the last-level cache before each launch;"
    " warm: the same launch ran just before"
)


@dataclass(frozen=True, slots=True)
class Plan:
    """What to measure."""

    combinations: tuple[tuple[Map, ...], ...]
    """One MAP each, or several for a kernel over several arrays."""
    sizes: tuple[int, ...]
    caches: tuple[CacheState, ...] = (CacheState.COLD, CacheState.WARM)
    element: Element = FLOAT
    group: Group = DEFAULT_GROUP
    block_radius: int = 3
    effort: Effort = DEFAULT_EFFORT
    largest_walk: int = 4096
    """Row and Column read `size` elements a work-item: beyond this size they are left out."""


@dataclass(frozen=True, slots=True)
class Unit:
    """One MAP (or combination) at one size in one cache state."""

    maps: tuple[Map, ...]
    size: int
    cache: CacheState

    @property
    def label(self) -> str:
        """Return it for a person: `MAP-407 1024 cold`."""
        return f"MAP-{'+'.join(str(it.number) for it in self.maps)} {self.size} {self.cache.value}"


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a calibration is."""

    done: int
    total: int
    seconds_left: float | None
    """None before anything is measured."""
    label: str
    note: str = ""
    """What was left out of the last unit, and why."""


def units_of(plan: Plan) -> tuple[Unit, ...]:
    """Return a plan's units: all of one combination together, small sizes first."""
    return tuple(
        Unit(maps, size, cache)
        for maps in plan.combinations
        for size in plan.sizes
        for cache in plan.caches
        if size <= plan.largest_walk or not any(it.intra in (Intra.ROW, Intra.COLUMN) for it in maps)
    )


def variants_of(maps: tuple[Map, ...], plan: Plan) -> list[tuple[Part, ...]]:
    """Return the kernels of one combination.

    One MAP: naive, max and min, bare and padded, where they differ. Several: each array naive or max, all
    ways (2 ** n), as the paper's composer does.
    """
    radius = plan.block_radius if any(it.intra is Intra.BLOCK for it in maps) else None
    if len(maps) == 1:
        choices = [Part(maps[0], approach, pad, radius) for approach in Approach for pad in (False, True)]
        return [(it,) for it in choices if is_distinct(it, plan.group)]
    kernels: list[tuple[Part, ...]] = [()]
    for pattern in maps:
        own = plan.block_radius if pattern.intra is Intra.BLOCK else None
        ways = [Part(pattern, approach, False, own) for approach in (Approach.NAIVE, Approach.MAX)]
        kernels = [(*head, way) for head in kernels for way in ways]
    return kernels


def platform_of(facts: DeviceFacts, model: str = "") -> Platform:
    """Return the platform record of a device."""
    return Platform(
        key=facts.key,
        device=facts.name,
        driver=f"{facts.platform} {facts.driver}",
        vendor=facts.vendor,
        kind=facts.kind.value,
        compute_units=facts.compute_units,
        local_dedicated=facts.local_dedicated,
        cached=True,
        last_level_bytes=facts.cache_bytes,
        model=model,
        year=0,
        method=METHOD,
        source=f"clmap-lsp calibrate; {facts.device_version}",
    )


class Calibration:
    """A plan on a device, into a database."""

    def __init__(
        self, session: Session, database: Database, plan: Plan, model: str = "", *, again: bool = False
    ) -> None:
        self.plan = plan
        self._again = again
        self._session = session
        self._database = database
        self._platform = platform_of(session.facts, model)
        self._bench = Bench(session, plan.element, plan.group)
        self._timer = Timer(session)
        self._kernels: dict[str, Any] = {}
        self._built: tuple[tuple[Map, ...], bool] | None = None
        self._verified: set[tuple[tuple[Map, ...], int]] = set()
        database.put([self._platform])

    def pending(self) -> tuple[Unit, ...]:
        """Return the units that the database does not hold yet."""
        known = set() if self._again else self._database.keys(self._platform.key)
        return tuple(
            unit for unit in units_of(self.plan) if not all(it in known for it in self.keys_of(unit))
        )

    def keys_of(self, unit: Unit) -> tuple[tuple[object, ...], ...]:
        """Return the keys of the records that a unit makes."""
        return tuple(self._key(unit, parts) for parts in self._runnable(unit))

    def run(self, on_progress: Callable[[Progress], None], only: Sequence[Unit] | None = None) -> int:
        """Measure what is pending, or `only` some units. Returns how many records were added.

        Raises: DeviceLostError (all units before are kept), BuildError, VerificationError, DatabaseError.
        """
        pending = self.pending() if only is None else tuple(only)
        total = sum(self._weight(it) for it in pending)
        spent = 0.0
        started = time.monotonic()
        records = 0
        for done, unit in enumerate(pending):
            left = (time.monotonic() - started) / spent * (total - spent) if spent else None
            on_progress(Progress(done, len(pending), left, unit.label))
            try:
                measured = list(self._measure(unit))
            except LaunchError as error:
                on_progress(Progress(done, len(pending), left, unit.label, str(error)))
                measured = []
            records += self._database.put(measured)
            spent += self._weight(unit)
        on_progress(Progress(len(pending), len(pending), 0.0, ""))
        return records

    def _measure(self, unit: Unit) -> Iterator[Measurement]:
        wide = any(
            self._bench.needed_bytes([Part(it, Approach.NAIVE)], unit.size) // self.plan.element.bytes
            >= INT_LIMIT
            for it in unit.maps
        )
        variants = self._runnable(unit)
        self._build(unit.maps, wide)
        launches: dict[str, Timed] = {}
        for parts in variants:
            name = generate(parts, self.plan.element, self.plan.group).name
            launches[name] = self._bench.timed(self._kernels[name], parts, unit.size, wide_index=wide)
        self._verify(unit, launches, variants)
        shape = next(iter(launches.values()))
        overhead = self._timer.overhead(shape.global_size, shape.local_size)
        series = self._timer.compare(launches, unit.cache, self.plan.effort)
        for parts, times in zip(variants, series.values(), strict=True):
            yield self._record(unit, parts, times, overhead)

    def _build(self, maps: tuple[Map, ...], wide: bool) -> None:
        if self._built != (maps, wide):
            self._kernels = self._bench.build(variants_of(maps, self.plan), wide_index=wide)
            self._built = (maps, wide)

    def _runnable(self, unit: Unit) -> list[tuple[Part, ...]]:
        """Return the kernels whose tiles fit the device's local memory."""
        limit = self._session.facts.local_bytes
        return [
            parts
            for parts in variants_of(unit.maps, self.plan)
            if generate(parts, self.plan.element, self.plan.group).local_bytes <= limit
        ]

    def _verify(self, unit: Unit, launches: dict[str, Timed], variants: Sequence[tuple[Part, ...]]) -> None:
        """Check the first kernel (naive) against the reference, and all others against it in full."""
        if (unit.maps, unit.size) in self._verified:
            return
        first: Any = None
        for (name, timed), parts in zip(launches.items(), variants, strict=True):
            result = self._bench.run(timed, unit.size)
            if first is None:
                self._bench.verify(name, result, parts, unit.size)
                first = result
            elif not np.array_equal(first, result):
                self._bench.verify(name, result, parts, unit.size)  # Names the place, if the sample holds it.
                raise VerificationError(f"{name} at size {unit.size}: differs from the naive kernel")
        self._verified.add((unit.maps, unit.size))

    def _record(
        self, unit: Unit, parts: tuple[Part, ...], times: list[float], overhead: float
    ) -> Measurement:
        radii = {it.map.intra: it.reach for it in parts}
        moved = counted_bytes(unit.maps, unit.size, radii, self.plan.element.bytes) / 1e9
        bandwidths = [moved / it for it in times]
        timing = summarise(times)
        platform, maps, approach, padded, _, element, group, radius, cache = self._key(unit, parts)
        return Measurement(
            str(platform), str(maps), str(approach), bool(padded), unit.size, str(element), str(group),
            str(radius), str(cache),
            runs=len(times),
            mean=statistics.fmean(bandwidths),
            deviation=statistics.pstdev(bandwidths),
            minimum=min(bandwidths),
            median=statistics.median(bandwidths),
            maximum=max(bandwidths),
            half_width=timing.half_width,
            overhead_share=overhead / timing.median,
            verified=True,
        )  # fmt: skip

    def _key(self, unit: Unit, parts: Sequence[Part]) -> tuple[object, ...]:
        """Return the fields of `records.MEASUREMENT_KEY`."""
        return (
            self._platform.key,
            "+".join(str(it.number) for it in unit.maps),
            "+".join(it.approach.value for it in parts),
            any(it.padded for it in parts),
            unit.size,
            self.plan.element.name,
            f"{self.plan.group.x}x{self.plan.group.y}",
            "+".join(str(it.reach) for it in parts),
            unit.cache.value,
        )

    def _weight(self, unit: Unit) -> float:
        """Return a unit's expected time in arbitrary units: a constant for launches, and what is read."""
        radii = {Intra.BLOCK: self.plan.block_radius, Intra.NEIGHBOR: 1}
        return 5e8 + counted_bytes(unit.maps, unit.size, radii, self.plan.element.bytes)

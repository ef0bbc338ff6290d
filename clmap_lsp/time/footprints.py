"""Bytes that a launch touches at least once: what the second level has to hold, and device memory to move."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from clmap_lsp.dataclass import dataclass
from clmap_lsp.emulator.symbolic.control import OverBudgetError
from clmap_lsp.time.accesses import LINE_BYTES, SECTOR_BYTES, AccessDemand, Counters

if TYPE_CHECKING:
    from clmap_lsp.compiled.counts import Profile
    from clmap_lsp.emulator.symbolic.rows import Rows


@dataclass(frozen=True, slots=True)
class Place:
    """Where one access of the source goes in global memory, over the launch."""

    site: int
    op: str
    root: int
    """The buffer, by a number."""
    low: float
    high: float
    """First byte and the one after the last."""
    touched: float
    """Bytes of 64-byte pieces, each request's of its own."""
    lines: float
    """Bytes of lines, likewise."""
    stored: float = 0.0
    """Bytes that work-items store."""
    sectors: float = 0.0
    """Sectors of stores."""
    is_regular: bool = False
    """True if work-groups and turns of loops move it by fixed distances: what neighbours share is asked for
    again while the second level still has it."""

    @property
    def span(self) -> float:
        """Bytes from the first to the last."""
        return self.high - self.low

    @property
    def is_partial(self) -> bool:
        """True for stores that leave holes in their sectors."""
        return self.op == "store" and self.stored < 0.9 * min(SECTOR_BYTES * self.sectors, self.span)

    def at_its_best(self, access: AccessDemand) -> Place:
        """Return it with whole lines of which every byte is used."""
        used = min(self.touched, access.requests * SECTOR_BYTES * access.size)
        full = min(self.lines, used) if used < self.touched else self.lines
        return dataclasses.replace(
            self, touched=used, lines=full, sectors=min(self.sectors, self.stored / SECTOR_BYTES)
        )


@dataclass(frozen=True, slots=True)
class Footprint:
    """Sums over the places of a launch."""

    read_bytes: float
    write_bytes: float
    random_sectors: float
    """Sectors whose neighbours are not wanted, beyond the footprint's first touch."""
    partial_sectors: float
    """Sectors that a store request fills in part only; `write_bytes` is of the others."""
    partial_lines: float
    held: float
    """Bytes of distinct lines: what the second level has to hold."""


def places_of(found: Profile, accesses: Sequence[AccessDemand], counters: Counters) -> tuple[Place, ...]:
    """Return the places of all accesses to global memory that are executed."""
    used = {it.site: it for it in accesses}
    roots: dict[object, int] = {}
    places = []
    for site, rows in found.rows.items():
        if site in used and rows and rows[0].space.value in ("global", "constant"):
            root = roots.setdefault(rows[0].root, len(roots))
            counted = [_as_store(it) for it in rows]
            place = _place(site, rows[0].op, counted, root, found.scale, counters)
            places.append(_reckoned(counted, root, used[site]) if place is None else place)
    return tuple(places)


def _as_store(rows: Rows) -> Rows:
    """Return what an atomic touches: it is counted by its operations otherwise."""
    return dataclasses.replace(rows, op="store") if rows.op == "atomic" else rows


def _place(
    site: int, op: str, rows: Sequence[Rows], root: int, scale: float, counters: Counters
) -> Place | None:
    """Return where an access goes; `None` where that is over the budget of all of them together."""
    touched, low, high = 0.0, None, None
    for one in rows:
        try:
            tally = counters.pieces.count(one)
        except OverBudgetError:
            continue
        touched += 64.0 * tally.units * scale
        if tally.first_byte is not None:
            low = tally.first_byte if low is None else min(low, tally.first_byte)
            high = tally.end_byte if high is None else max(high, tally.end_byte)
    if low is None or high is None:
        return None
    lines = LINE_BYTES * scale * sum(counters.whole_lines.count(it).units for it in rows)
    stored = sectors = 0.0
    if op == "store":
        sectors = scale * sum(counters.sectors.count(it).units for it in rows)
        stored = scale * sum(counters.pieces.count(it).executions for it in rows) * rows[0].size
    regular = scale == 1.0 and all(_is_regular(it) for it in rows)
    return Place(site, op, root, low, high, touched, lines, stored, sectors, regular)


def _reckoned(rows: Sequence[Rows], root: int, access: AccessDemand) -> Place:
    """Return where an access goes by what its requests ask for, from its lowest to its highest address."""
    reaches = [_reach(it) for it in rows]
    asked = LINE_BYTES * access.line_cycles
    moved = access.requests * SECTOR_BYTES * access.size
    stored = moved if access.op == "store" else 0.0
    return Place(
        access.site,
        access.op,
        root,
        min(low for low, _ in reaches),
        max(high for _, high in reaches),
        asked,
        asked,
        stored,
        max(stored, asked if stored else 0.0) / SECTOR_BYTES,
        all(_is_regular(it) for it in rows),
    )


def _reach(rows: Rows) -> tuple[float, float]:
    """Return bounds of the first byte and of the one after the last."""
    offset = rows.offset
    ends = [coefficient * (rows.counts[d] - 1) for d, coefficient in offset.coefs]
    low = offset.const + offset.low + sum(min(it, 0) for it in ends)
    return float(low), float(offset.const + offset.high + sum(max(it, 0) for it in ends) + rows.size)


def _is_regular(rows: Rows) -> bool:
    array = rows.offset.array
    return array is None or all(length == 1 for length in array.shape[:-1])


def footprint_of(places: Iterable[Place], accesses: Iterable[AccessDemand]) -> Footprint:
    """Return what places come to; places of one buffer are taken to overlap as far as its bytes go."""
    held: dict[int, _Reach] = {}
    read: dict[int, _Reach] = {}
    written: dict[int, _Reach] = {}
    partial: dict[int, _Reach] = {}
    filled: dict[int, _Reach] = {}
    fetched: dict[int, float] = {}
    used: Mapping[int, AccessDemand] = {it.site: it for it in accesses if it.site >= 0}
    for it in places:
        held.setdefault(it.root, _Reach(it)).add(it, it.lines)
        for op, table in (("load", read), ("store", written)):
            if it.op in (op, "atomic"):
                table.setdefault(it.root, _Reach(it)).add(it, it.touched)
        if it.is_partial:
            # What several stores write to one sector, members of a structure, goes to memory together.
            partial.setdefault(it.root, _Reach(it)).add(it, it.sectors * SECTOR_BYTES)
            filled.setdefault(it.root, _Reach(it)).add(it, it.lines)
        if it.op in ("load", "atomic") and not it.is_regular:
            fetched[it.root] = fetched.get(it.root, 0.0) + used[it.site].l2_sectors
    random = sum(max(0.0, asked - read[root].distinct / SECTOR_BYTES) for root, asked in fetched.items())
    return Footprint(
        sum(it.distinct for it in read.values()),
        sum(it.distinct for root, it in written.items() if root not in partial),
        random,
        sum(it.distinct for it in partial.values()) / SECTOR_BYTES,
        sum(it.distinct for it in filled.values()) / LINE_BYTES,
        sum(it.distinct for it in held.values()),
    )


class _Reach:
    """Bytes asked for of one buffer, and between which they are."""

    def __init__(self, first: Place) -> None:
        self.asked = 0.0
        self.low = first.low
        self.high = first.high

    def add(self, place: Place, asked: float) -> None:
        self.asked += asked
        self.low = min(self.low, place.low)
        self.high = max(self.high, place.high)

    @property
    def distinct(self) -> float:
        return min(self.asked, self.high - self.low)

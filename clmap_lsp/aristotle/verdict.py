"""Gain, loss or similar: what a pair of records says about staging an array.

mbr is the bandwidth with local memory over the one without (the paper, 6.1). It gains above 1.05, loses below
0.95 and is similar between (6.4.5). The authors' Table 5 comes out only if mbr is first truncated to two
decimals, so that 1.0599 counts as similar; without truncation twelve values fall on the other side.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum

from clmap_lsp.aristotle.database import Source
from clmap_lsp.aristotle.maps import Map, all_maps
from clmap_lsp.aristotle.records import Measurement, Platform
from clmap_lsp.dataclass import dataclass

DELTA = 0.05
RECOMMENDED = 1.5
"""Below this mbr the paper (8.3) does not recommend the effort."""
SIGNIFICANT = 3.0
"""Standard errors between the two means. By it 16 of the 29 verdicts of E5-2620 at 128 are by chance."""
BOUND_BY_LAUNCH = 0.5
"""Share of an empty kernel in the faster kernel's time from which launching is what was measured."""


class Verdict(Enum):
    """What local memory does to the bandwidth."""

    GAIN = "gain"
    LOSS = "loss"
    SIMILAR = "similar"


@dataclass(frozen=True, slots=True)
class Record:
    """A naive and a staged kernel's measurements, compared."""

    map: Map
    platform: str
    size: int
    cache: str
    approach: str
    """max, min, or local (published: max)."""
    padded: bool
    naive_gbs: float
    local_gbs: float
    mbr: float
    deviation: float
    """Standard error of mbr."""
    z: float
    """Standard errors between the two bandwidths."""
    runs: int
    overhead_bound: bool

    @property
    def verdict(self) -> Verdict:
        """Return the verdict by the untruncated ratio."""
        return verdict_of(self.mbr)

    @property
    def significant(self) -> bool:
        """Return whether the two bandwidths differ by three standard errors or more."""
        return self.z >= SIGNIFICANT

    @property
    def recommended(self) -> bool:
        """Return whether the gain is worth the effort: 1.5 or more, and not by chance."""
        return self.mbr >= RECOMMENDED and self.significant


def verdict_of(mbr: float, *, truncated: bool = False) -> Verdict:
    """Return the verdict of a ratio, cut to two decimals first if asked."""
    value = math.floor(mbr * 100) / 100 if truncated else mbr
    if value > 1 + DELTA:
        return Verdict.GAIN
    return Verdict.LOSS if value < 1 - DELTA else Verdict.SIMILAR


def compare(naive: Measurement, local: Measurement, *, by_mean: bool) -> Record:
    """Return what two measurements of one MAP say.

    Args:
        by_mean: take mean bandwidths, as the paper does; else medians, which outliers do not move.
    """
    b, best = (naive.mean, local.mean) if by_mean else (naive.median, local.median)
    errors = [it.deviation / math.sqrt(it.runs) for it in (naive, local)]
    apart = math.hypot(*errors)
    mbr = best / b
    relative = math.hypot(errors[0] / naive.mean, errors[1] / local.mean)
    return Record(
        Map(int(naive.maps)), naive.platform, naive.size, naive.cache, local.approach, local.padded,
        b, best, mbr, mbr * relative, abs(best - b) / apart if apart else math.inf,
        min(naive.runs, local.runs),
        max(naive.overhead_share, local.overhead_share) >= BOUND_BY_LAUNCH,
    )  # fmt: skip


def records_of(
    database: Source, platform: Platform, approach: str | None = None, /, **where: str | int | bool
) -> list[Record]:
    """Return all comparisons of a platform, each staged kernel against its naive one.

    Args:
        approach: `max`, `min` or None for all. Published local kernels are the max-approach.
    """
    found = database.measurements(platform=platform.key, **where)
    naive = {_place(it): it for it in found if it.approach == "naive"}
    published = not any(it.half_width for it in found)
    return [
        compare(naive[_place(it)], it, by_mean=published)
        for it in found
        if it.approach in ("max", "min", "local")
        and _place(it) in naive
        and (approach is None or it.approach in (approach, "local"))
    ]


def plain_records(
    database: Source, platform: Platform, size: int, cache: str | None = None
) -> dict[int, Record]:
    """Return the records by MAP number of the kernels that the published data have: max, not padded."""
    chosen = cache or preferred_cache(database, platform)
    found = records_of(database, platform, "max", size=size, cache=chosen, element="float", group="16x16")
    return {it.map.number: it for it in found if not it.padded}


def preferred_cache(database: Source, platform: Platform) -> str:
    """Return the cache state to compare with: cold, or what the published runs have."""
    states = {it.cache for it in database.measurements(platform=platform.key, maps="108", approach="naive")}
    return "cold" if "cold" in states else next(iter(sorted(states)), "cold")


Cell = Mapping[Verdict, int]


def distribution(records: Iterable[Record], *, truncated: bool = False) -> Cell:
    """Return how many MAPs gain, lose or stay similar."""
    counts = Counter(verdict_of(it.mbr, truncated=truncated) for it in records)
    return {it: counts.get(it, 0) for it in Verdict}


# Table 5 of the paper: gain, loss, similar of 33 MAPs by platform, sizes 128 to 4096.
PAPER_PLATFORMS = ("C1060", "C2050", "K20m", "HD7970", "Phi-5110P", "E5-2620", "X5650")
PAPER_SIZES = (128, 256, 512, 1024, 2048, 4096)
_TABLE_5 = """
27 1 5  21 4 8  20 0 13  6 5 22  7 16 10  12 17 4  9 17 7
29 2 2  25 5 3  26 4 3  13 3 17  7 20 6  9 22 2  9 20 4
29 3 1  26 6 1  26 6 1  13 3 17  8 18 7  7 20 6  11 21 1
29 4 0  26 6 1  26 6 1  14 1 18  16 14 3  8 24 1  11 19 3
29 4 0  26 6 1  26 6 1  15 5 13  17 15 1  8 24 1  8 21 4
29 4 0  26 6 1  26 6 1  16 5 12  16 15 2  9 22 2  12 20 1
"""


def paper_table() -> dict[tuple[str, int], tuple[int, int, int]]:
    """Return the paper's Table 5: (gain, loss, similar) by platform and size."""
    rows = [[int(it) for it in line.split()] for line in _TABLE_5.strip().splitlines()]
    return {
        (platform, size): (row[3 * k], row[3 * k + 1], row[3 * k + 2])
        for size, row in zip(PAPER_SIZES, rows, strict=True)
        for k, platform in enumerate(PAPER_PLATFORMS)
    }


@dataclass(frozen=True, slots=True)
class TableCell:
    """One cell of Table 5, from the records and as printed."""

    platform: str
    size: int
    counted: tuple[int, int, int]
    paper: tuple[int, int, int] | None
    """None for platforms that the paper does not have."""

    @property
    def agrees(self) -> bool:
        """Return whether the cell is as printed."""
        return self.counted == self.paper


def table5(database: Source, platforms: Sequence[Platform], *, truncated: bool) -> list[TableCell]:
    """Return Table 5 for some platforms, at every size with a record of each of the 33 MAPs."""
    paper = paper_table()
    cells: list[TableCell] = []
    for platform in platforms:
        cache = preferred_cache(database, platform)
        sizes = sorted(
            {it.size for it in database.measurements(platform=platform.key, maps="108", cache=cache)}
        )
        for size in sizes:
            records = plain_records(database, platform, size, cache)
            if len(records) < len(all_maps()):
                continue
            counts = distribution(records.values(), truncated=truncated)
            counted = (counts[Verdict.GAIN], counts[Verdict.LOSS], counts[Verdict.SIMILAR])
            cells.append(TableCell(platform.key, size, counted, paper.get((platform.key, size))))
    return cells


def _place(it: Measurement) -> tuple[object, ...]:
    return (it.maps, it.size, it.element, it.group, it.radius, it.cache)

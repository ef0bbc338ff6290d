"""What a pattern's requests cost in bandwidth, from a device's measured curve.

The sweep gives the price of spreading a request over more memory: at exponent s a request of 32 lanes touches
2^(5-s) pieces, whose cache lines are known exactly, and the measured bandwidth is what that leaves. Another
pattern is read off the same curve at its own number of lines. It is an estimate: the curve holds for data
that come from beyond the last-level cache, in sweeps where each sector fetched is used up in the end.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from clmap_lsp.aristotle.database import Source
from clmap_lsp.aristotle.nearest import choices
from clmap_lsp.aristotle.records import StridePoint
from clmap_lsp.dataclass import dataclass

LINE_BYTES = 128
SIMD_WIDTH = 32


@dataclass(frozen=True, slots=True)
class Curve:
    """Share of the best bandwidth by cache lines that one request touches, over the fewest possible."""

    platform: str
    peak_gbs: float
    """The best median of the sweep."""
    points: tuple[tuple[float, float], ...]
    """(excess, share): excess 1 is as few lines as can be; falling shares."""
    exact: bool
    """The platform is the device asked for, not the nearest."""
    why: str

    def share(self, excess: float) -> float:
        """Return the share of the best bandwidth at an excess of 1 or more, interpolated in the logarithms.

        Beyond the measured end each further line costs in proportion.
        """
        xs = [math.log(it) for it, _ in self.points]
        ys = [math.log(it) for _, it in self.points]
        x = math.log(max(1.0, excess))
        if x > xs[-1]:
            return math.exp(ys[-1] - (x - xs[-1]))
        return float(math.exp(np.interp(x, xs, ys)))


@dataclass(frozen=True, slots=True)
class Estimate:
    """The estimated cost of a pattern."""

    share: float
    """Of the best bandwidth, 0 to 1."""
    gbs: float
    platform: str
    exact: bool

    def describe(self) -> str:
        """Return it as in `about 27 % of peak bandwidth on H200 (1180 GB/s)`."""
        return f"about {self.share:.0%} of peak bandwidth on {self.platform} ({self.gbs:.0f} GB/s)".replace(
            "%", " %"
        )


def lines_at(exponent: int, loop_bits: int, element_bytes: int) -> int:
    """Return the 128-byte lines that the first request of a sweep touches: 32 consecutive work-items."""
    ids = np.arange(SIMD_WIDTH, dtype=np.int64)
    low = ids & ((1 << exponent) - 1)
    first = (((ids - low) << loop_bits) + low) * element_bytes
    last = first + element_bytes - 1
    return len({int(it) // LINE_BYTES for it in (*first, *last)})


def curve_of(points: Sequence[StridePoint], *, exact: bool = True, why: str = "") -> Curve:
    """Return the curve of one sweep.

    Raises: ValueError without points.
    """
    if not points:
        raise ValueError("no sweep to take a curve from")
    peak = max(it.median for it in points)
    by_excess: dict[float, list[float]] = {}
    for it in points:
        width = 4 * it.vector
        fewest = max(1, -(-SIMD_WIDTH * width // LINE_BYTES))
        lines = lines_at(it.exponent, it.index_bits - it.grid_bits, width)
        by_excess.setdefault(lines / fewest, []).append(it.median / peak)
    shares = [(excess, float(np.median(by_excess[excess]))) for excess in sorted(by_excess)]
    return Curve(points[0].platform, peak, tuple(shares), exact, why)


def device_curve(database: Source, device: str) -> Curve | None:
    """Return the curve of a device model or platform: its own sweep's, or the nearest platform's with why.

    None if no platform of its kind has a sweep.
    """
    for choice in choices(database, device):
        found = database.strides(
            platform=choice.platform.key, op="read", vector=1, cache="cold", order="forward"
        )
        if found:
            bits = max((it.index_bits, it.grid_bits) for it in found)
            sweep = [it for it in found if (it.index_bits, it.grid_bits) == bits]
            return curve_of(sweep, exact=choice.exact, why=choice.why)
    return None


def estimate(curve: Curve, lines_per_request: float, fewest_lines: float = 1.0) -> Estimate:
    """Return what requests over so many 128-byte lines cost.

    Args:
        lines_per_request: the mean over a launch.
        fewest_lines: what the same bytes need at least.
    """
    share = curve.share(lines_per_request / fewest_lines if fewest_lines else 1.0)
    return Estimate(share, share * curve.peak_gbs, curve.platform, curve.exact)


def estimate_from_sectors(
    curve: Curve, sectors_per_request: float, ideal_sectors: float, sector_bytes: int = 32
) -> Estimate:
    """Return the same from sectors, where lines are not counted.

    A pattern that touches more sectors than it must touches at least as many lines as its excess says, up to
    one line for every sector; between, whole lines are assumed.
    """
    if ideal_sectors <= 0 or sectors_per_request <= ideal_sectors:
        return estimate(curve, 1.0)
    per_line = LINE_BYTES / sector_bytes
    fewest = max(1.0, ideal_sectors / per_line)
    return estimate(curve, max(fewest, sectors_per_request), fewest)


def choose_exponent(points: Sequence[StridePoint], exponent: int) -> tuple[StridePoint, StridePoint]:
    """Return a loop's own point of a sweep and the best one: what another split would give.

    Raises: ValueError if the sweep has no such exponent.
    """
    own = next((it for it in points if it.exponent == exponent), None)
    if own is None:
        raise ValueError(f"the sweep has no stride exponent {exponent}")
    return own, max(points, key=lambda it: it.median)

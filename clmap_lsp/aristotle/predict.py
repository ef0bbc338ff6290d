"""Gain or not on a platform without records, from what is known of the device.

What generalises is the kind of device: C2050 and K20m agree in the sign of 33 of 33 MAPs, the two Xeons in
30, a GPU and a CPU in 13 to 18. So the predictor takes the verdict of the recorded platform that is most
alike, if one is alike enough, and the measurement-free rule "gain iff M01 = 1 or the iMAP is Row, Column or
Block" if none is. Its accuracy, every recorded platform predicted from the others only, is part of every
answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from clmap_lsp.aristotle.database import Source
from clmap_lsp.aristotle.maps import Map, all_maps
from clmap_lsp.aristotle.records import Platform
from clmap_lsp.aristotle.verdict import PAPER_PLATFORMS, Record, Verdict, plain_records, verdict_of
from clmap_lsp.dataclass import dataclass

EVALUATED_SIZE = 4096


@dataclass(frozen=True, slots=True)
class Target:
    """What is known of a device to predict for."""

    kind: str
    """gpu, cpu or accelerator."""
    vendor: str
    """Empty if not known."""
    local_dedicated: bool
    cached: bool = True
    year: int = 0
    """0 if not known: taken as new."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """An answer without a record."""

    map: Map
    gain: bool
    mbr: float | None
    """What the platform that was taken reached; None from the rule."""
    basis: str
    """Which platform's records, or the rule."""
    right: int
    """Of `tests` verdicts (gain or not) of recorded platforms predicted in the same way."""
    tests: int

    @property
    def accuracy(self) -> str:
        """Return how far it can be trusted, in words that every answer must carry."""
        return (
            f"predicted, not measured: right for {self.right} of {self.tests} verdicts"
            f" ({self.right / self.tests:.0%}) when recorded platforms were predicted in this way"
        )


@dataclass(frozen=True, slots=True)
class LeftOut:
    """How well one platform is predicted from the others."""

    platform: str
    size: int
    maps: int
    right: int
    baseline_right: int
    """The rule alone."""
    baseline: bool
    """No other platform is alike: the rule was used."""
    taken: str
    """The platform whose verdicts were used, or empty."""


def predict(database: Source, pattern: Map, target: Target, size: int = EVALUATED_SIZE) -> Prediction:
    """Return whether staging an array of this MAP gains on a device like `target`."""
    taken = most_alike(target, database.platforms())
    scores = leave_one_out(database)
    if taken is not None:
        record = _at_nearest_size(database, taken, pattern, size)
        if record is not None:
            fit = [it for it in scores if not it.baseline and it.size == EVALUATED_SIZE] or scores
            return Prediction(
                pattern, record.verdict is Verdict.GAIN, record.mbr,
                f"records of {taken.key}, the most alike",
                sum(it.right for it in fit), sum(it.maps for it in fit),
            )  # fmt: skip
    fit = [it for it in scores if it.size == EVALUATED_SIZE] or scores
    return Prediction(
        pattern, pattern.paper_verdict, None,
        "the rule: gain iff M01 = 1 or the iMAP is Row, Column or Block",
        sum(it.baseline_right for it in fit), max(1, sum(it.maps for it in fit)),
    )  # fmt: skip


def most_alike(target: Target, platforms: Sequence[Platform]) -> Platform | None:
    """Return the recorded platform most like a device, None if none is alike enough.

    Alike enough: the same kind, local memory on chip or not, cached or not; GPUs of the same vendor too,
    since the makers' caches differ more than generations do. Of these the nearest in time.
    """
    alike = [
        it
        for it in platforms
        if it.kind == target.kind
        and it.local_dedicated == target.local_dedicated
        and it.cached == target.cached
        and (target.kind != "gpu" or _same_vendor(it.vendor, target.vendor))
    ]
    year = target.year or 9999
    return min(alike, key=lambda it: (abs((it.year or 9999) - year), it.key), default=None)


def target_of(platform: Platform) -> Target:
    """Return what the predictor may know of a recorded platform."""
    return Target(platform.kind, platform.vendor, platform.local_dedicated, platform.cached, platform.year)


@lru_cache(maxsize=2)
def leave_one_out(database: Source) -> tuple[LeftOut, ...]:
    """Return the predictor's accuracy: every platform predicted from the others, at every size that all 33
    MAPs are recorded at.
    """
    platforms = database.platforms()
    results: list[LeftOut] = []
    for platform in platforms:
        others = [it for it in platforms if it.key != platform.key]
        taken = most_alike(target_of(platform), others)
        for size in sorted({it.size for it in database.measurements(platform=platform.key, maps="204")}):
            truth = _gains(database, platform, size)
            if len(truth) < len(all_maps()):
                continue
            rule = {it.number: it.paper_verdict for it in all_maps()}
            guess = rule if taken is None else rule | _gains(database, taken, size)
            results.append(
                LeftOut(
                    platform.key,
                    size,
                    len(truth),
                    sum(truth[number] == guess[number] for number in truth),
                    sum(truth[number] == rule[number] for number in truth),
                    taken is None,
                    "" if taken is None else taken.key,
                )
            )
    return tuple(results)


def _gains(database: Source, platform: Platform, size: int) -> dict[int, bool]:
    """Return which MAPs gain; published ones by the authors' truncated ratio."""
    cut = platform.key in PAPER_PLATFORMS
    return {
        number: verdict_of(it.mbr, truncated=cut) is Verdict.GAIN
        for number, it in plain_records(database, platform, size).items()
    }


def _at_nearest_size(database: Source, platform: Platform, pattern: Map, size: int) -> Record | None:
    sizes = {
        it.size
        for it in database.measurements(platform=platform.key, maps=str(pattern.number), approach="naive")
    }
    if not sizes:
        return None
    nearest = min(sizes, key=lambda it: (abs(it - size), it))
    return plain_records(database, platform, nearest).get(pattern.number)


def _same_vendor(one: str, other: str) -> bool:
    return (
        bool(one and other) and one.split(maxsplit=1)[0].casefold() == other.split(maxsplit=1)[0].casefold()
    )

"""Would staging this array pay on that device? One answer, with where it is from and how far to trust it."""

from __future__ import annotations

from typing import Any

from clmap_lsp.aristotle.database import Source
from clmap_lsp.aristotle.maps import Map, is_catalogued
from clmap_lsp.aristotle.nearest import Choice, choices
from clmap_lsp.aristotle.predict import Prediction, Target, predict
from clmap_lsp.aristotle.records import Platform
from clmap_lsp.aristotle.verdict import RECOMMENDED, Record, Verdict, preferred_cache, records_of
from clmap_lsp.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Advice:
    """The answer for one MAP on one device."""

    map: Map
    device: str
    """As asked: a device model or a platform."""
    verdict: Verdict | None
    """None if it is predicted not to gain: the predictor cannot tell loss from similar."""
    mbr: float | None
    """Bandwidth with local memory over without, of the best staged kernel; None from the rule alone."""
    record: Record | None
    """The record behind it; None if predicted."""
    choice: Choice | None
    """The platform behind the record."""
    prediction: Prediction | None

    @property
    def recommended(self) -> bool:
        """Return whether the gain is worth the effort: 1.5 or more, measured, and not by chance."""
        return self.record is not None and self.record.recommended

    def describe(self) -> str:
        """Return it in one sentence."""
        if self.record is None or self.choice is None:
            assert self.prediction is not None
            what = "gain" if self.prediction.gain else "no gain"
            size = "" if self.mbr is None else f" (about {self.mbr:.1f}x)"
            return f"{self.map}: {what}{size} by {self.prediction.basis}; {self.prediction.accuracy}"
        it = self.record
        kind = f"{it.approach}-approach" if it.approach != "local" else "local memory"
        parts = [
            f"{self.map} on {it.platform}: {it.verdict.value}, {it.mbr:.2f}x by {kind}"
            f"{', padded,' if it.padded else ''} at {it.size}x{it.size} ({it.cache} cache)"
        ]
        if not it.significant:
            parts.append("not significant")
        if it.overhead_bound and it.verdict is Verdict.GAIN:
            parts.append("the staged kernel is bound by launching, so memory alone may gain more")
        elif it.overhead_bound:
            parts.append("bound by launching, says little about memory")
        if it.verdict is Verdict.GAIN and it.mbr < RECOMMENDED:
            parts.append(f"not recommended below {RECOMMENDED}x")
        if not self.choice.exact:
            parts.append(self.choice.why)
        return "; ".join(parts)


def advise(
    database: Source, number: int, device: str, size: int = 1024, cache: str | None = None
) -> Advice | None:
    """Return what is known of staging an array of one MAP.

    Args:
        number: the MAP's number, as in 407. None is returned for a number that is none of the 33.
        device: a device model's id (`nvidia-hopper`) or a platform's name (`K20m`).
        size: side of the data set; the nearest recorded one is taken, and said.
        cache: cold or warm; None: cold, or what the platform has.
    """
    if not is_catalogued(number):
        return None
    pattern = Map(number)
    for choice in choices(database, device):
        best = best_record(database, choice.platform, pattern, size, cache)
        if best is not None:
            return Advice(pattern, device, best.verdict, best.mbr, best, choice, None)
    prediction = predict(database, pattern, target_of_model(device), size)
    return Advice(
        pattern, device, Verdict.GAIN if prediction.gain else None, prediction.mbr, None, None, prediction
    )


def best_record(
    database: Source, platform: Platform, pattern: Map, size: int, cache: str | None = None
) -> Record | None:
    """Return the record of the best staged kernel (max, min, padded or not) at the nearest recorded size."""
    state = cache or preferred_cache(database, platform)
    found = records_of(
        database, platform, maps=str(pattern.number), cache=state, element="float", group="16x16"
    )
    if not found:
        return None
    nearest = min({it.size for it in found}, key=lambda it: (abs(it - size), it))
    return max((it for it in found if it.size == nearest), key=lambda it: it.mbr)


def target_of_model(device: str) -> Target:
    """Return what a device model's name tells the predictor."""
    vendor = device.split("-", maxsplit=1)[0]
    vendors = {"nvidia": "NVIDIA", "amd": "AMD", "intel": "Intel", "arm": "Arm", "apple": "Apple"}
    if vendor == "cpu":
        return Target("cpu", "", local_dedicated=False)
    # Mali keeps local memory in global memory (Arm's OpenCL guides; see the device models).
    return Target("gpu", vendors.get(vendor, ""), local_dedicated=vendor != "arm")


def record_row(record: Record) -> dict[str, Any]:
    """Return a record as JSON-ready data."""
    return {
        "map": str(record.map),
        "platform": record.platform,
        "size": record.size,
        "cache": record.cache,
        "approach": record.approach,
        "padded": record.padded,
        "naive_gbs": record.naive_gbs,
        "local_gbs": record.local_gbs,
        "mbr": record.mbr,
        "deviation": record.deviation,
        "runs": record.runs,
        "verdict": record.verdict.value,
        "significant": record.significant,
        "recommended": record.recommended,
        "overhead_bound": record.overhead_bound,
    }

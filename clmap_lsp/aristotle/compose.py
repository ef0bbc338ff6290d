"""Which arrays of a kernel to stage: the composing rules of the paper, section 7.

Rule 5.1: what loses alone stays in global memory. Rule 5.2: what gains alone is staged, whatever the others
do. Rules 5.3 and 5.4: of several that gain, the one with the largest weight first, as long as local memory
lasts; the weight of an array is its share of the data times its mbr.
"""

from __future__ import annotations

from collections.abc import Sequence

from clmap_lsp.aristotle.database import Source
from clmap_lsp.aristotle.records import Platform
from clmap_lsp.aristotle.verdict import RECOMMENDED, Record, plain_records
from clmap_lsp.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Candidate:
    """An array that could be staged."""

    name: str
    mbr: float
    """Alone, on the platform."""
    data_bytes: int
    """What the launch reads of it."""
    local_bytes: int
    """What its tile takes of a work-group's local memory."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What to do with one array."""

    name: str
    stage: bool
    weight: float
    mbr: float
    reason: str

    @property
    def recommended(self) -> bool:
        """Return whether the gain is worth the programming effort (the paper, 8.3: mbr above 1.5)."""
        return self.stage and self.mbr >= RECOMMENDED


@dataclass(frozen=True, slots=True)
class Composition:
    """The decisions, those to stage first and in that order."""

    decisions: tuple[Decision, ...]
    local_bytes: int
    """Local memory in use with everything staged that is to be."""

    @property
    def effort(self) -> int:
        """Return the programming effort in the paper's unit: arrays to stage."""
        return sum(it.stage for it in self.decisions)


def compose(candidates: Sequence[Candidate], local_limit: int) -> Composition:
    """Return which arrays to stage, in which order.

    Args:
        local_limit: bytes of local memory that a work-group may still use.
    """
    total = sum(it.data_bytes for it in candidates)
    weights = {it.name: it.mbr * (it.data_bytes / total if total else 0.0) for it in candidates}
    used = 0
    staged: list[Decision] = []
    left: list[Decision] = []
    for it in sorted(candidates, key=lambda it: (-weights[it.name], it.name)):
        weight = weights[it.name]
        if it.mbr <= 1:
            left.append(Decision(it.name, False, weight, it.mbr, "does not gain alone (rule 5.1)"))
        elif used + it.local_bytes > local_limit:
            reason = f"gains, but {it.local_bytes} bytes do not fit: {local_limit - used} are left (rule 5.3)"
            left.append(Decision(it.name, False, weight, it.mbr, reason))
        else:
            used += it.local_bytes
            rule = "5.2" if not staged else "5.4"
            worth = "" if it.mbr >= RECOMMENDED else f"; not recommended below {RECOMMENDED}"
            staged.append(Decision(it.name, True, weight, it.mbr, f"gains alone (rule {rule}){worth}"))
    return Composition((*staged, *left), used)


@dataclass(frozen=True, slots=True)
class Accuracy:
    """How often staging one more array went as its MAP's record alone says."""

    platform: str
    arrays: int
    size: int
    right: int
    """Strict, as in Table 6: any slow-down of a positive MAP fails, any speed-up of a negative one."""
    clear: int
    """The same, but a change within 5 % either way does not fail."""
    tests: int

    @property
    def share(self) -> float:
        """Return the strict accuracy."""
        return self.right / self.tests if self.tests else 0.0

    @property
    def clear_share(self) -> float:
        """Return the accuracy beyond 5 %."""
        return self.clear / self.tests if self.tests else 0.0


def composing_accuracy(database: Source) -> list[Accuracy]:
    """Return the accuracy of the rules for every platform, number of arrays and size with composed kernels.

    Arrays are staged one after the other, first to last (the paper's composer, section 8.1): with n arrays a
    combination of MAPs gives n tests. Kernels that were not run, or failed, are left out.
    """
    return [line for platform in database.platforms() for line in _platform_accuracy(database, platform)]


def _platform_accuracy(database: Source, platform: Platform) -> list[Accuracy]:
    rates: dict[tuple[str, int, str], dict[int, float]] = {}
    for it in database.measurements(platform=platform.key):
        steps = it.approach.split("+")
        staged = sum(step != "naive" for step in steps)
        # Only the composer's chain: l...lg...g.
        if len(steps) > 1 and all(step != "naive" for step in steps[:staged]):
            rates.setdefault((it.maps, it.size, it.cache), {})[staged] = it.median
    singles: dict[tuple[int, str], dict[int, Record]] = {}
    counts: dict[tuple[int, int], list[int]] = {}
    for (maps, size, cache), chain in rates.items():
        if (size, cache) not in singles:
            singles[size, cache] = plain_records(database, platform, size, cache)
        single = singles[size, cache]
        numbers = [int(it) for it in maps.split("+")]
        score = counts.setdefault((len(numbers), size), [0, 0, 0])
        for step, number in enumerate(numbers):
            if number not in single or step not in chain or step + 1 not in chain:
                continue
            change = chain[step + 1] / chain[step]
            positive = single[number].mbr > 1
            score[0] += change >= 1 if positive else change <= 1
            score[1] += change >= 0.95 if positive else change <= 1.05
            score[2] += 1
    return [
        Accuracy(platform.key, arrays, size, right, clear, tests)
        for (arrays, size), (right, clear, tests) in sorted(counts.items())
    ]

"""How much better a version is: the one place that offers, the ladder and the optimiser ask.

The ratio of predicted times decides where the device has timing facts (docs/time.md); elsewhere the ratio of
traffic (passes through the first level of memory) stands for it, and is called traffic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from clmap_lsp.time.model import is_mostly_launch, is_rough

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clmap_lsp.findings import Fix
    from clmap_lsp.fixes.model import Figures, Proposal, Verified
    from clmap_lsp.launch.model import Launch
    from clmap_lsp.time.model import Prediction

LEAST = 1.1
"""A rewrite that is taken without being asked for gains a tenth at least."""

LEAST_FASTER = 1.05
"""Rewrites that are offered for their time alone gain so much at least."""

LEAST_AT_ALL = 1.02
"""What is predicted to gain less gains nothing."""

LEAST_ELSEWHERE = 1.2
"""The same as `LEAST` for other shapes of work-groups and other layouts of buffers: they move what caches
hold, and nine of 123 with a predicted gain below this lost on an H100."""

LEAST_OF_FEW = 3.0
"""The same as `LEAST` where each compute unit has so few SIMD groups that only the order counts into which
the device's compiler puts loads, unless nothing but a layout changes: of 15 such rewrites on an H100 five
that were predicted to gain 1.2 to 2.6 lost (docs/time.md)."""
FEW = 4
"""SIMD groups at once on a compute unit."""


GROWTH = 1.05
"""What a part of the time may grow by and still count as the same."""
MATTERS = 0.25
"""Of the whole time: a part that takes less does not matter."""
LEAST_KEPT = 1.01
"""What is offered for its gain in larger launches takes so many times as long on the one at hand at most."""


class Measures(Protocol):
    """What versions are compared by; see `model.Figures`."""

    @property
    def seconds(self) -> float | None:
        """Predicted, where the device has timing facts."""

    @property
    def untimed(self) -> str:
        """Why there are no seconds; empty where there are."""

    @property
    def cost(self) -> int:
        """Passes through the first level of memory."""

    @property
    def requests(self) -> int:
        """SIMD groups' accesses."""


class Timed(Measures, Protocol):
    """The same, with what the seconds are made of."""

    @property
    def time(self) -> Prediction | None:
        """What the seconds are of."""


def time_ratio(before: Measures, after: Measures) -> float | None:
    """Return the predicted time after a rewrite over that before; `None` where no model of time knows it."""
    if before.seconds is None or after.seconds is None:
        return None
    return after.seconds / before.seconds


def ratio(before: Measures, after: Measures) -> float:
    """Return how many times better `after` is, by time if known, else by traffic; 1 is no better."""
    known = time_ratio(before, after)
    if known:
        return 1 / known
    if after.cost == before.cost:
        return before.requests / after.requests if after.requests else 1.0
    return before.cost / after.cost if after.cost else float(max(before.cost, 1))


def does_not_pay(before: Measures, after: Measures, or_traffic: float = 0.0) -> str | None:
    """Return why a rewrite that is decided by time is not offered; `None` where it gains a twentieth.

    Args:
        or_traffic: how many times less traffic is enough where no time is known; 0 if none is.
    """
    known = time_ratio(before, after)
    if known is None and or_traffic and before.cost >= or_traffic * after.cost:
        return None
    if known is None:
        reason = before.untimed or after.untimed
        return f"whether it pays is a matter of time, which is not known: {reason}"
    return None if known <= 1 / LEAST_FASTER else f"predicted to take {known:.2f} times as long"


def is_unsure(before: Timed, after: Timed, proposal: Proposal) -> str | None:
    """Return why predicted times speak against a rewrite; `None` where they do not, or cannot be judged by.

    They cannot where a model is good for an order only. Where the launch itself takes most of the time, its
    sizes are those of a test: no gain is asked for, but a loss counts.
    """
    known = time_ratio(before, after)
    if known is None or before.time is None or after.time is None:
        return None
    if is_rough(before.time):
        return None
    faster = 1 / known
    if is_mostly_launch(before.time) and faster >= 1 / LEAST_AT_ALL:
        return None
    if faster < LEAST_AT_ALL:
        return f"predicted to take {known:.2f} times as long"
    if faster < _asked(before, before.time, after, after.time, proposal):
        return f"predicted to be {faster:.2f} times as fast, which here may as well be a loss"
    return None


def _asked(before: Timed, was: Prediction, after: Timed, now: Prediction, proposal: Proposal) -> float:
    """Return how many times as fast a rewrite must be predicted to be, so that it is no loss.

    Less where it takes traffic away and nothing in its place: then only the amount is in doubt.
    """
    if not (proposal.moves_data or proposal.in_place) and _is_of_few(now):
        return LEAST_OF_FEW
    is_less = before.cost >= LEAST * after.cost
    if proposal.least_faster == LEAST and is_less and not costs_elsewhere(was, now):
        return LEAST_AT_ALL
    return proposal.least_faster


def costs_elsewhere(before: Prediction, after: Prediction) -> bool:
    """Tell whether some part of the time that matters grows: what one part gains another one may lose."""
    return any(
        seconds > GROWTH * before.parts.get(part, 0.0) and seconds > MATTERS * before.seconds
        for part, seconds in after.parts.items()
    )


def is_faster(before: Measures, after: Measures, times: float) -> bool:
    """Tell whether a version is predicted to be so many times as fast at least."""
    known = time_ratio(before, after)
    return known is not None and known * times <= 1


def is_of_test_size(found: Figures, launch: Launch) -> bool:
    """Tell whether a launch is too small to judge by.

    The launch itself takes most of its time, or its sizes are guesses that leave compute units without work.
    """
    time = found.time
    if time is None or is_rough(time):
        return False
    is_guessed = "global" in launch.inferred
    return is_mostly_launch(time) or (is_guessed and time.demand.groups < time.facts.compute_units)


def is_unsure_in_larger(home: Sequence[Timed], larger: Sequence[Timed], proposal: Proposal) -> str | None:
    """Return why a rewrite is not offered for what it gains on a larger launch; `None` where it is.

    Args:
        home: figures before and after on the launch itself; none where its sizes are guesses.
        larger: the same on a larger one.
    """
    known = time_ratio(*home) if home else None
    if known is not None and known > LEAST_KEPT:
        return f"predicted to take {known:.2f} times as long"
    return is_unsure(larger[0], larger[1], proposal)


def _is_of_few(time: Prediction) -> bool:
    demand = time.demand
    groups = min(-(-demand.groups // time.facts.compute_units), demand.resident.groups)
    return time.bound == "latency" and groups * -(-demand.group_items // time.facts.simd_width) <= FEW


def pays(verified: Verified, fix: Fix) -> bool:
    """True if a rewrite gains a tenth in time or traffic, on the launch and with the buffers at hand."""
    asked = verified.proposal.pays_in_larger or leaves_data(verified, fix)
    return ratio(*_judged(verified)) >= LEAST and not asked


def rank(verified: Verified, fix: Fix) -> tuple[float, int]:
    """Return what sorts rewrites of one kernel, best first; those that leave data to the host last."""
    gained = ratio(*_judged(verified))
    return (1 / gained if leaves_data(verified, fix) else -gained), verified.after.requests


def _judged(verified: Verified) -> tuple[Figures, Figures]:
    """Return the figures that count for who has this launch: those of a larger one if it is a guess."""
    is_known = "global" not in verified.launch.inferred
    return (verified.before, verified.after) if is_known else verified.figures


def leaves_data(verified: Verified, fix: Fix) -> bool:
    """Tell whether the host must lay a buffer out otherwise, and how its code does that is not known."""
    return verified.proposal.moves_data and not fix.host_edits


def words(before: Measures, after: Measures) -> str:
    """Return the gain on the one scale of all titles: `4.2x less traffic`.

    Empty where there is none, or less than the scale shows.
    """
    known = time_ratio(before, after)
    if known is not None:
        times, what = 1 / known if known else 1.0, "faster"
    elif after.cost == before.cost:
        times, what = before.requests / max(after.requests, 1), "fewer accesses"
    else:
        times, what = before.cost / max(after.cost, 1), "less traffic"
    text = f"{times:.1f}"
    return f"{text}x {what}" if times > 1 and text != "1.0" else ""

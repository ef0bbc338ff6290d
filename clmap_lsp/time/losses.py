"""What an access costs in time beyond what it must: the launch again, with that access at its best."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from clmap_lsp.findings import MATTERS_FROM, LostTime
from clmap_lsp.time.atomics import AtomicDemand
from clmap_lsp.time.model import Prediction, is_mostly_launch, is_rough, predict

if TYPE_CHECKING:
    from clmap_lsp.time.demand import Demand


def time_lost(found: Prediction, sites: Collection[int]) -> LostTime:
    """Return what a launch would gain if in every request of these accesses the lanes' elements were side
    by side and aligned (global memory), or in banks of their own (local memory).

    Where data decide how much is asked for, what it loses is settled only if that is nothing at the least and
    at the most, too.
    """
    return _lost(found, lambda demand: demand.at_its_best(sites))


def time_of_atomics(found: Prediction) -> LostTime:
    """Return what a launch would gain if none of its atomics waited for another."""
    return _lost(found, lambda demand: dataclasses.replace(demand, atomics=AtomicDemand()))


def _lost(found: Prediction, change: Callable[[Demand], Demand]) -> LostTime:
    def seconds(demand: Demand) -> float:
        return predict(demand, found.facts).seconds

    lost = found.seconds - seconds(change(found.demand))
    shares = [1.0 - seconds(change(it)) / seconds(it) for it in found.extremes]
    is_known = not found.caveats or (bool(shares) and max(shares) < MATTERS_FROM)
    is_settled = is_known and not (is_rough(found) or is_mostly_launch(found))
    return LostTime(max(0.0, lost), found.seconds, found.bound, is_settled)


def most_by_order(found: Prediction, sites: Collection[int]) -> float:
    """Return how many times as fast a launch would be with lanes side by side in all of these requests."""
    return found.seconds / (found.seconds - time_lost(found, sites).seconds)


def most_by_staging(found: Prediction, sites: Collection[int]) -> float:
    """Return how many times as fast a launch could be at most if some loads asked local memory instead."""
    return found.seconds / predict(found.demand.with_tiles(sites), found.facts).seconds

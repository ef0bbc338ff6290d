"""What an access costs in time beyond what it must: the launch again, with that access at its best."""

from __future__ import annotations

from collections.abc import Collection

from clmap_lsp.findings import LostTime
from clmap_lsp.time.model import Prediction, is_rough, predict


def time_lost(found: Prediction, sites: Collection[int]) -> LostTime:
    """Return what a launch would gain if in every request of these accesses the lanes' elements were side
    by side and aligned (global memory), or in banks of their own (local memory)."""
    best = predict(found.demand.at_its_best(sites), found.facts)
    lost = max(0.0, found.seconds - best.seconds)
    rough = is_rough(found) or bool(found.caveats)
    return LostTime(lost, found.seconds, found.bound, not rough and found.bound != "launch")

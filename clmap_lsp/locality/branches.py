"""How predictable a kernel's branches are, from their outcomes.

The history of an outcome is the work-item's previous outcomes of the same branch, at most 16 of them.
- Yokota branch entropy: the Shannon entropy in bits of the patterns of history and outcome
  (Yokota, Ootsu, Baba, "Introducing Entropies for Representing Program Behavior and Branch Predictor
  Performance", ExpCS 2007; AIWC uses 16 outcomes too).
- Average linear branch entropy: the mean over executions of 2 * min(p, 1 - p), p the share of taken outcomes
  of that branch after that history (De Pestel, Eyerman, Eeckhout, "Linear Branch Entropy", IEEE Trans.
  Computers 66(3), 2017): twice the misses of the best predictor that sees this history.

AIWC's own figures differ: it joins the outcomes of work-items into one string.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clmap_lsp.locality.entropy import covering

HISTORY = 16


@dataclass(frozen=True, slots=True)
class BranchMetrics:
    """Branches of one launch; entropies as in this module's description."""

    unique_branches: int
    branches_90: int
    """The least number of branches that make up 90 % of the branches executed."""
    executions: int
    yokota_entropy: float
    average_linear_entropy: float


class BranchAccumulator:
    """Takes the outcomes of branches, by any hashable key; memory grows with distinct histories only."""

    def __init__(self) -> None:
        self._patterns: dict[object, dict[int, list[int]]] = {}
        self._executions: dict[object, int] = {}

    def add(
        self, branch: object, outcomes: NDArray[np.bool_], lengths: NDArray[np.int64] | None = None
    ) -> None:
        """Add outcomes (True: taken) of one branch.

        Args:
            branch: what tells this branch from others.
            outcomes: shape (work-items, executions), each row one work-item's outcomes in order.
            lengths: shape (work-items,), how many of each row are real. None: all.
        """
        n_items, n_steps = outcomes.shape
        real = np.full(n_items, n_steps) if lengths is None else lengths
        self._executions[branch] = self._executions.get(branch, 0) + int(real.sum())
        table = self._patterns.setdefault(branch, {})
        # A 1 above the oldest outcome tells a short history from one that began with outcomes not taken.
        history = np.ones(n_items, np.int64)
        for step in range(n_steps):
            running = step < real
            taken = outcomes[:, step]
            codes, counts = np.unique(history[running] * 2 + taken[running], return_counts=True)
            for code, count in zip(codes.tolist(), counts.tolist(), strict=True):
                table.setdefault(code >> 1, [0, 0])[code & 1] += count
            history = history * 2 + taken
            too_long = history >= 2 << HISTORY
            history[too_long] = history[too_long] & ((1 << HISTORY) - 1) | (1 << HISTORY)

    def result(self) -> BranchMetrics:
        """Return the metrics of all that was added."""
        executions = np.array(list(self._executions.values()), np.int64)
        total = int(executions.sum())
        pairs = np.array([it for table in self._patterns.values() for it in table.values()], np.float64)
        if total == 0:
            return BranchMetrics(len(executions), 0, 0, 0.0, 0.0)
        shares = pairs[pairs > 0] / total
        return BranchMetrics(
            unique_branches=len(executions),
            branches_90=covering(executions),
            executions=total,
            yokota_entropy=max(0.0, float(-(shares * np.log2(shares)).sum())),
            average_linear_entropy=float(2 * pairs.min(axis=1).sum() / total),
        )

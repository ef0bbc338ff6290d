"""How far a run goes: a budget of executed work, the same on every machine, with processor time around it.

Work is what the kernel executed, weighed by what the emulator takes for it here; it is looked at after fixed
numbers of steps. So where a run ends does not depend on the machine or on what else that is doing, as long as
the machine is not several times slower than those that the rate was measured on.
"""

from __future__ import annotations

import math
import time

from clmap_lsp.dataclass import dataclass

WORK_PER_S = 400_000_000
"""Units of work that a second of a time limit stands for. A unit takes about a nanosecond, so that processors
less than half as fast still end by work."""
_OPERATION = 0.3
_UNTRACED_ACCESS = 6.0
_TRACED_ACCESS = 8.0
_START = 60.0
_UNTRACED_GROUP = 60.0
_TRACED_GROUP = 400.0
_TRACED_ROW = 60.0
"""What the SIMD group costs, however few of its lanes there are."""
_CLEARED_PER_UNIT = 32
"""Bytes of private and local memory."""
_MATCHED_LANE = 10.0
"""An access by a lane that has diverged from its SIMD group's others is looked up by itself."""
_MATCHED_REQUEST = 400.0
_REQUEST_SHAPE = 2_000.0
"""A pattern of a SIMD group's addresses that the metrics had not met lately costs microseconds,"""
_SORTED_LANE = 120.0
"""and so does a row of such patterns, for each of its accesses."""
_STRIDE = 100.0
_LISTED_ADDRESS = 300.0
_SERVED_LANE = 100.0
"""Work-items that wait at different places are sorted out in Python, each time for all of a group."""
_SERVED = 100_000.0
_PLAIN = 2.5
_ROW_SHARE = 0.1
"""What a work-item takes that is run by rows, of what it takes by itself: a tenth to a thirtieth."""
_STEPS = 4_000_000
_LEAST_STEPS, _MOST_STEPS = 1_000, 200_000
ESTIMATE_AT = 0.1
"""Part of the budget after which it is estimated what the whole launch takes."""
_SAMPLE_SHARE = 0.8
"""Of what is left, the part that a sample is meant to take: work-groups differ."""
_MOST_GROUPS = 256
_BLIND_GROUPS = 16
"""Work-groups that are drawn where not even one has ended."""


@dataclass(frozen=True, slots=True)
class Executed:
    """What a run has done so far."""

    operations: int
    accesses: int
    turns: int
    """Of loops."""
    starts: int
    """How often work-items were started, or went on after a barrier."""
    groups: int
    rows: int
    """Accesses of SIMD groups that were traced."""
    matched: int
    """Accesses by lanes that have diverged from their SIMD group's others."""
    matched_requests: int
    """Requests that these are part of."""
    shapes: int
    """Patterns of requests that were counted."""
    sorted_lanes: int
    """Accesses of rows whose entropies were worked out."""
    strides: int
    """Distances that were counted."""
    listed: int
    """Addresses that were put in order, where there is no room for a counter for each."""
    cleared: int
    """Bytes of private and local memory."""
    served: int = 0
    """How often it was sorted out who may go on, where the work-items of a group wait at different places."""
    group_items: int = 0
    in_rows: int = 0
    """Of the starts, those of work-items that were run by rows (see `row_code.py`)."""


@dataclass(frozen=True, slots=True)
class WorkBudget:
    """Work that a run may do."""

    units: float
    traced: bool
    is_plain: bool = False
    """Whether its code is too large to be optimised, and takes that much longer."""

    @classmethod
    def of_seconds(
        cls, seconds: float, *, traced: bool, most: float = math.inf, is_plain: bool = False
    ) -> WorkBudget:
        """Return the budget that a time limit stands for, but `most` units."""
        return cls(min(seconds * WORK_PER_S, most), traced, is_plain)

    def spent(self, it: Executed) -> float:
        """Return the units of what was executed."""
        access = _TRACED_ACCESS if self.traced else _UNTRACED_ACCESS
        group = _TRACED_GROUP if self.traced else _UNTRACED_GROUP
        executed = _OPERATION * it.operations + access * it.accesses + it.turns + _START * it.starts
        executed *= _PLAIN if self.is_plain else 1
        counted = _TRACED_ROW * it.rows + _REQUEST_SHAPE * it.shapes
        counted += _SORTED_LANE * it.sorted_lanes + _STRIDE * it.strides + _LISTED_ADDRESS * it.listed
        counted += _MATCHED_LANE * it.matched + _MATCHED_REQUEST * it.matched_requests
        counted += it.served * (_SERVED + _SERVED_LANE * it.group_items)
        whole = executed + counted + group * it.groups + it.cleared / _CLEARED_PER_UNIT
        return whole * (1 - it.in_rows / max(it.starts, 1) * (1 - _ROW_SHARE))


def slice_steps(operations: int) -> int:
    """Return after how many steps to look at the budget, for a kernel of so many operations."""
    return max(_LEAST_STEPS, min(_MOST_STEPS, _STEPS // max(operations, 1)))


def sample_size(left: float, spent: float, ended: int) -> int:
    """Return how many work-groups to draw where `ended` of them took `spent` units and `left` are left."""
    if ended == 0:
        return _BLIND_GROUPS
    return max(2, min(_MOST_GROUPS, int(_SAMPLE_SHARE * left * ended / max(spent, 1.0))))


class TimeBudget:
    """Seconds of processor time of this thread, for machines far slower than most.

    The clock on the wall ends no run: it goes on while others have the processor. Whoever cannot wait, as an
    editor, ends the process.
    """

    def __init__(self, limit_s: float) -> None:
        self._limit_s = limit_s
        self._cpu, self._wall = time.thread_time(), time.perf_counter()

    def used(self) -> float:
        """Return the processor time spent."""
        return time.thread_time() - self._cpu

    def by_the_clock(self) -> float:
        """Return the seconds that have passed."""
        return time.perf_counter() - self._wall

    def left(self) -> float:
        """Return the seconds left, 0 or less where there are none."""
        return self._limit_s - self.used()

"""Which loops are power-of-two splits of an array over work-items, and what another split would give.

A split with stride exponent s gives each work-item `turns` elements 2^s apart: element number
(id div 2^s) * 2^s * turns + turn * 2^s + id mod 2^s. Exponent 0 is a contiguous chunk; from the number of
work-items on it is a grid stride. Source: clmempatterns (see docs/strides.md).

However the author writes it (masks, shifts, divisions, group and local ids, a running index), the index is a
polynomial over ids and the loop's turn; it is evaluated and compared with the split, so nothing depends on
how it looks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from clmap_lsp.access.environment import uniform_environment
from clmap_lsp.access.evaluate import UnknownValueError, evaluate
from clmap_lsp.access.polynomial import LoopSymbol, Polynomial, global_id, group_id, local_id
from clmap_lsp.aristotle.database import Source
from clmap_lsp.aristotle.nearest import choices
from clmap_lsp.aristotle.records import StridePoint
from clmap_lsp.dataclass import dataclass
from clmap_lsp.source.types import AddressSpace
from clmap_lsp.strides.predict import choose_exponent

if TYPE_CHECKING:
    from clmap_lsp.access.records import Access
    from clmap_lsp.analysis.model import KernelAnalysis
    from clmap_lsp.launch.model import Launch

_ALL_ITEMS = 1 << 14
"""Launches of up to so many work-items are compared whole; of larger ones samples are."""
_LARGEST = 1 << 62
"""Elements beyond which indices no longer fit 64 bits."""
_SAMPLES = 1 << 12
_TURNS = 9


@dataclass(frozen=True, slots=True)
class LoopSplit:
    """One access in a loop that divides an array among work-items by a power-of-two stride."""

    site: int
    buffer: str
    loop: LoopSymbol
    direction: str
    exponent: int
    """Of the stride between turns, in elements."""
    turns: int
    """Elements that each work-item takes; of a grid stride, those of the busiest."""
    items: int
    """Work-items of the launch."""
    element_bytes: int
    first: int = 0
    """Index of the first work-item's first element."""

    @property
    def is_grid_stride(self) -> bool:
        """Return whether all work-items walk side by side."""
        return 1 << self.exponent >= self.items

    def describe(self) -> str:
        """Return it as in `this loop is stride exponent 0: each work-item walks 16 consecutive elements`."""
        stride = 1 << self.exponent
        if self.exponent == 0:
            how = f"each work-item walks {self.turns} consecutive elements"
        elif self.is_grid_stride:
            how = f"all {self.items} work-items walk side by side (grid stride)"
        else:
            how = f"{stride} work-items side by side walk {stride * self.turns} consecutive elements"
        return f"this loop is stride exponent {self.exponent}: {how}"


@dataclass(frozen=True, slots=True)
class SplitAdvice:
    """What a device's sweep says of a split."""

    split: LoopSplit
    own: StridePoint
    """The point of the sweep that stands for the loop."""
    best: StridePoint
    exact: bool
    """The sweep is the device's own."""
    why: str

    @property
    def gain(self) -> float:
        """Return how many times the loop's bandwidth the best split has."""
        return self.best.median / self.own.median

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        return {
            "buffer": self.split.buffer,
            "exponent": self.split.exponent,
            "turns": self.split.turns,
            "work_items": self.split.items,
            "gbs": self.own.median,
            "best_exponent": self.best.exponent,
            "best_gbs": self.best.median,
            "gain": self.gain,
            "platform": self.own.platform,
        }


@dataclass(frozen=True, slots=True)
class Resplit:
    """What a device's sweep says of walking side by side instead of in chunks, or the other way round."""

    op: str
    """`read`, `write` or `copy`: what the loop does with the arrays that it divides."""
    own: StridePoint
    other: StridePoint
    peak: StridePoint
    """The best point of the sweep."""

    @property
    def gain(self) -> float:
        """Return how many times the loop's bandwidth the other split has."""
        return self.other.median / self.own.median

    def describe(self) -> str:
        """Return it as in `about 10 % → 95 % of copy bandwidth on H200`."""
        shares = (f"{it.median / self.peak.median:.0%}".replace("%", " %") for it in (self.own, self.other))
        return f"about {' → '.join(shares)} of {self.op} bandwidth on {self.own.platform}"


def loop_splits(kernel: KernelAnalysis) -> tuple[LoopSplit, ...]:
    """Return the accesses of global memory that walk an array by a power-of-two split, in source order.

    Empty without a launch, and for launches of more than one dimension.
    """
    launch = kernel.launch
    if launch is None or any(it > 1 for it in launch.global_size[1:]) or any(launch.global_offset):
        return ()
    ids = _ids(launch)
    environment = _environment(launch, ids)
    found = [_split_of(it.access, launch, ids, environment) for it in kernel.accesses]
    return tuple(it for it in found if it is not None)


def _split_of(
    access: Access, launch: Launch, ids: NDArray[np.int64], environment: Mapping[Any, Any]
) -> LoopSplit | None:
    if access.space is not AddressSpace.GLOBAL or not access.known or access.cooperative:
        return None
    walked = [it for it in access.loops if it in access.index.leaves]
    if len(walked) != 1 or access.unit != access.size:
        return None
    loop = walked[0]
    try:
        turns = _turns(loop, launch, environment)
        if turns is None:
            return None
        index = _index(access.index, loop, ids, turns, environment)
    except (UnknownValueError, OverflowError):
        return None
    exponent = _exponent(index, ids, turns, launch.work_items)
    if exponent is None:
        return None
    return LoopSplit(
        access.site,
        access.buffer,
        loop,
        access.direction.value,
        exponent,
        turns,
        launch.work_items,
        access.size,
        int(index[0, 0]),
    )


def _ids(launch: Launch) -> NDArray[np.int64]:
    """Return the work-items to compare: all, or the first, the last, and those around powers of two."""
    items = launch.work_items
    if items <= _ALL_ITEMS:
        return np.arange(items, dtype=np.int64)
    powers = 1 << np.arange(items.bit_length(), dtype=np.int64)
    spread = np.linspace(0, items - 1, _SAMPLES, dtype=np.int64)
    near = np.concatenate([powers - 1, powers, powers + 1, 3 * powers])
    ends = np.concatenate([np.arange(_SAMPLES), items - 1 - np.arange(_SAMPLES)])
    every = np.unique(np.concatenate([near, spread, ends]))
    return every[(every >= 0) & (every < items)]


def _environment(launch: Launch, ids: NDArray[np.int64]) -> dict[Any, Any]:
    found: dict[Any, Any] = dict(uniform_environment(launch))
    group = launch.local_size[0]
    for dimension in range(3):
        first = dimension == 0
        found[global_id(dimension)] = ids if first else 0
        found[local_id(dimension)] = ids % group if first else 0
        found[group_id(dimension)] = ids // group if first else 0
    return found


def _turns(loop: LoopSymbol, launch: Launch, environment: Mapping[Any, Any]) -> int | None:
    """Return the turns of the busiest work-item; `None` for fewer than two or an unknown number."""
    if loop.trip is None or loop.exits_early:
        return None
    trips = np.asarray(evaluate(loop.trip, environment))
    most = int(trips.max(initial=0))
    if most * launch.work_items >= _LARGEST:
        return None
    return most if most >= 2 else None


def _index(
    index: Polynomial, loop: LoopSymbol, ids: NDArray[np.int64], turns: int, environment: Mapping[Any, Any]
) -> NDArray[np.int64]:
    """Return the index relative to its least, shape (turns looked at, ids)."""
    # Loops around this one do not move the index: their turn is not in it.
    rows = [
        np.broadcast_to(np.asarray(evaluate(index, {**environment, loop: turn})), ids.shape)
        for turn in _looked_at(turns)
    ]
    return np.stack(rows)


def _looked_at(turns: int) -> list[int]:
    """Return the turns to compare: the first, the last, and powers of two between."""
    some = {0, 1, 2, 3, turns - 2, turns - 1, *(1 << k for k in range(turns.bit_length()))}
    return sorted(it for it in some if 0 <= it < turns)


def _exponent(index: NDArray[np.int64], ids: NDArray[np.int64], turns: int, items: int) -> int | None:
    stride = int(index[1, 0] - index[0, 0])
    if stride < 1 or stride & (stride - 1) or stride * turns >= _LARGEST:
        return None
    at = np.array(_looked_at(turns), dtype=np.int64)[:, None]
    low = ids & (stride - 1)
    high = ids - low
    expected = high * turns + low + at * stride
    if stride >= items:  # One round of all work-items a turn: there is no high part.
        expected = ids + at * stride
        if stride > items:
            return None  # Elements are left out between rounds.
    return stride.bit_length() - 1 if np.array_equal(index - index[0, 0], expected) else None


def split_advice(database: Source, split: LoopSplit, device: str) -> SplitAdvice | None:
    """Return what the sweep of a device (its own, or the nearest with one) says of a split.

    None without a sweep of its kind. The sweep has its own number of work-items: a grid stride is compared
    with the sweep's grid stride, another exponent with the same.
    """
    for choice in choices(database, device):
        sweep = _sweep(database, choice.platform.key, _op((split,)), split.element_bytes)
        if sweep:
            own, best = choose_exponent(sweep, _exponent_in(sweep, split))
            return SplitAdvice(split, own, best, choice.exact, choice.why)
    return None


def resplit(
    database: Source, splits: Sequence[LoopSplit], device: str, *, side_by_side: bool
) -> Resplit | None:
    """Return what one loop's splits, which share an exponent, gain by a grid stride, else by chunks.

    A loop that reads and writes is looked up in the sweep of copies; where a platform has none, in that of
    reads. None without a sweep of the device's kind.
    """
    for choice in choices(database, device):
        for op in dict.fromkeys((_op(splits), "read")):
            sweep = _sweep(database, choice.platform.key, op, splits[0].element_bytes)
            if not sweep:
                continue
            own, peak = choose_exponent(sweep, _exponent_in(sweep, splits[0]))
            return Resplit(op, own, sweep[-1 if side_by_side else 0], peak)
    return None


def _op(splits: Sequence[LoopSplit]) -> str:
    stores = {it.direction == "store" for it in splits}
    return "copy" if len(stores) == 2 else "write" if stores == {True} else "read"


def _exponent_in(sweep: Sequence[StridePoint], split: LoopSplit) -> int:
    last = max(it.exponent for it in sweep)
    return last if split.is_grid_stride else min(split.exponent, last)


def _sweep(database: Source, platform: str, op: str, element_bytes: int) -> Sequence[StridePoint]:
    """Return the largest cold forward sweep with elements of the size, or else of four bytes, by exponent."""
    for vector in (element_bytes // 4, 1):
        found = database.strides(platform=platform, op=op, vector=vector, cache="cold", order="forward")
        if found:
            bits = max((it.index_bits, it.grid_bits) for it in found)
            sweep = [it for it in found if (it.index_bits, it.grid_bits) == bits]
            return sorted(sweep, key=lambda it: it.exponent)
    return []

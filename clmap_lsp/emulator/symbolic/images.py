"""Reads and writes of images: which texels a SIMD group touches, exact.

Coordinates are one number each access (`launch.image.ROW`), so that rows of them are kept as rows of
addresses are. What a group touches does not depend on where in the image it is: a pattern is evaluated once,
however many groups and turns have it. Texels beyond the image, for which the sampler has a rule, count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import field
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from clmap_lsp.dataclass import dataclass
from clmap_lsp.devices import rules
from clmap_lsp.emulator.moved import Moved
from clmap_lsp.emulator.symbolic.control import Spending
from clmap_lsp.emulator.symbolic.counting import dense, in_simd_groups, times_repeated
from clmap_lsp.emulator.symbolic.integers import settled, spread_out
from clmap_lsp.emulator.symbolic.rows import Mask, Rows, both, simplified
from clmap_lsp.emulator.symbolic.space import Space
from clmap_lsp.emulator.symbolic.values import (
    Ints,
    Sym,
    Unknown,
    add,
    exact_bounds,
    merged,
    of_array,
    scale,
)
from clmap_lsp.exactness import Exactness
from clmap_lsp.launch.image import (
    ADDRESS_CLAMP,
    ADDRESSING,
    ROW,
    Texels,
    asks_sampler,
    given_flags,
    image_of,
    texels,
)
from clmap_lsp.source import ir
from clmap_lsp.source.ir import Site
from clmap_lsp.source.types import INT, AddressSpace, ScalarType

if TYPE_CHECKING:
    from clmap_lsp.emulator.symbolic.machine import Live, Machine

_HALF: Final = ROW // 2
_CHUNK: Final = 1 << 12
"""SIMD groups whose texels are listed at once."""
_A_TEXEL: Final = Moved(1, 1, 1)
"""Channels are the host's: how many bytes a texel has is not in a kernel."""

Box = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Spread:
    """Least, mean and greatest of what the requests of an access touch."""

    min: int
    mean: float
    max: int


@dataclass(frozen=True, slots=True)
class ImageCount:
    """What one read or write of an image touches over a launch. Figures are `None` where it is unknown."""

    method: Exactness
    reason: str | None = None
    executions: int = 0
    """Work-items that execute it, each time counted."""
    requests: int = 0
    """SIMD groups that execute it with an active lane, each time counted."""
    texels: Spread | None = None
    """Distinct texels of a request."""
    rows: Spread | None = None
    """Distinct rows of the image (y, z) that a request touches."""
    box: Box | None = None
    """Width, height and depth of the box around the texels of most requests."""


# ------------------------------------------------------------------------------------------------- noting


def note_access(machine: Machine, statement: ir.ImageRead | ir.ImageWrite, live: Live) -> None:
    """Note one read or write. Raises: SplitError, NotRegularError, OverBudgetError."""
    from clmap_lsp.emulator.symbolic.machine import Doubt

    why = live.why or (machine.supposed and machine.supposed.why)
    found = f"whether it runs depends on {why}" if why is not None else _place(machine, statement)
    op, image = "load" if isinstance(statement, ir.ImageRead) else "store", image_of(statement)
    what = AddressSpace.GLOBAL, 1, _A_TEXEL, statement.span
    if isinstance(found, str) or image is None:
        reason = found if isinstance(found, str) else "the image is chosen at run time"
        machine.doubts.append(Doubt(statement.site, op, image, *what, reason, is_image=True))
        return
    offset, touched, inside = found
    mask = both(live.mask, inside)
    if mask is False:
        reason = "all of its coordinates are beyond any image"
        machine.doubts.append(Doubt(statement.site, op, image, *what, reason, is_image=True))
        return
    space, (where, size, moved, span) = machine.space, what
    lanes = tuple(space.counts), space.n_lanes
    machine.keep(
        Rows(
            *(statement.site, op, image, where, offset, mask, *lanes, size, moved, span),
            space.box.local_size,
            texels=touched,
        )
    )


def _place(machine: Machine, statement: ir.ImageRead | ir.ImageWrite) -> tuple[Sym, Texels, Mask] | str:
    """Return the first texel's coordinates as one number and who has one, or why they are not known."""
    image, flags = image_of(statement), 0
    if image is None:
        return "the image is chosen at run time"
    if asks_sampler(statement) and isinstance(statement, ir.ImageRead) and statement.sampler is not None:
        known = _flags(machine, statement.sampler)
        if known is None:
            return "the launch does not give the sampler, which says what the coordinates mean"
        flags = known
    expressions, touched = texels(statement, image, flags)
    total = Sym(0)
    inside: Mask = True
    for expression in reversed(expressions):
        value = machine.evaluator.value(expression)
        kind = expression.type if isinstance(expression.type, ScalarType) else INT
        number = settled(value, kind, machine.space) if isinstance(value, Sym) else None
        if number is None:
            return (
                f"its place depends on {value.reason if isinstance(value, Unknown) else 'what is no number'}"
            )
        number = _affine(number)
        low, high = exact_bounds(number, machine.space.counts)
        if len(expressions) > 1 and not -_HALF <= low <= high < _HALF:
            if not _has_border(machine, statement):
                return "its coordinates reach beyond any image"
            number, here = _clipped(number, machine.space)
            inside = both(inside, here)
        total = add(scale(total, ROW), number)
    return total, touched, inside


def _has_border(machine: Machine, statement: ir.ImageRead | ir.ImageWrite) -> bool:
    """Tell whether what lies beyond the image is the border's colour, so that no texel is read there."""
    sampler = statement.sampler if isinstance(statement, ir.ImageRead) else None
    flags = None if sampler is None else _flags(machine, sampler)
    return flags is not None and flags & ADDRESSING == ADDRESS_CLAMP


def _clipped(number: Sym, space: Space) -> tuple[Sym, Mask]:
    """Return a coordinate, and who is not beyond any image: `INT_MIN` is how kernels ask for the border."""
    shown = spread_out(number, space)
    here = simplified((shown >= -_HALF) & (shown < _HALF))
    return of_array(np.where(here, shown, 0)), here


def _flags(machine: Machine, sampler: ir.Expression) -> int | None:
    known = given_flags(sampler, machine.space.launch)
    if known is not None:
        return known
    value = machine.evaluator.value(sampler)
    return value.const if isinstance(value, Sym) and value.is_uniform else None


def _affine(value: Sym) -> Sym:
    """Take dimensions along which an array rises by one step out of it: floats are always arrays."""
    array, coefs = value.array, value.coefs
    if array is None:
        return value
    for axis in range(array.ndim - 1):
        if array.shape[axis] < 2:
            continue
        steps: Any = np.diff(array, axis=axis)
        step = int(steps.flat[0])
        if bool((steps == step).all()):
            dimension = array.ndim - 2 - axis
            coefs = merged(coefs, ((dimension, step),), 1)
            array = array.take([0], axis=axis)
    rest = of_array(array)
    return Sym(value.const + rest.const, coefs, rest.array, rest.low, rest.high)


# ------------------------------------------------------------------------------------------------ counting


@dataclass(slots=True)
class _Sum:
    executions: int = 0
    requests: int = 0
    texels: Counter[int] = field(default_factory=Counter)
    """How many requests touch so many."""
    rows: Counter[int] = field(default_factory=Counter)
    boxes: Counter[Box] = field(default_factory=Counter)
    reason: str | None = None


@dataclass(slots=True, eq=False)
class ImageCounter:
    """Adds up the texels of the accesses of a launch."""

    simd_width: int
    spending: Spending
    _sums: dict[Site, _Sum] = field(default_factory=dict)

    def doubt(self, site: Site, reason: str) -> None:
        """Note that an access is not known."""
        found = self._sums.setdefault(site, _Sum())
        found.reason = found.reason or reason

    def add(self, rows: Rows, touched: Texels) -> None:
        """Add all executions of an access. Raises: OverBudgetError."""
        found = self._sums.setdefault(rows.site, _Sum())
        self.spending.accesses += 1
        places, mask, rest = dense(rows)
        repeats = times_repeated(rows, rest, places)
        lanes = in_simd_groups(places, self.simd_width)
        active = in_simd_groups(mask, self.simd_width)
        n_touched = touched.taps**touched.n_filtered
        self.spending.spend(cells=lanes.size * n_touched)
        used = active.any(axis=1)
        lanes, active = lanes[used], active[used]
        found.executions += repeats * int(np.count_nonzero(active))
        found.requests += repeats * len(lanes)
        for start in range(0, len(lanes), _CHUNK):
            part = slice(start, start + _CHUNK)
            _add(found, *_filtered(lanes[part], active[part], touched), touched, repeats)

    def finished(self, scaled: Fraction | None, sample: str | None) -> dict[Site, ImageCount]:
        """Return what each access touches, scaled up if it is of a sample (`sample` describes it)."""
        return {site: _finished(it, scaled, sample) for site, it in sorted(self._sums.items())}


def _finished(it: _Sum, scaled: Fraction | None, sample: str | None) -> ImageCount:
    if it.reason is not None:
        return ImageCount(Exactness.UNKNOWN, it.reason)
    by = scaled or Fraction(1)
    return ImageCount(
        Exactness.EXACT if scaled is None else Exactness.SAMPLED,
        sample,
        round(it.executions * by),
        round(it.requests * by),
        _spread(it.texels),
        _spread(it.rows),
        max(it.boxes, key=lambda box: (it.boxes[box], box)) if it.boxes else None,
    )


def _spread(counts: Counter[int]) -> Spread | None:
    if not counts:
        return None
    mean = sum(number * times for number, times in counts.items()) / counts.total()
    return Spread(min(counts), mean, max(counts))


def _filtered(lanes: Ints, active: NDArray[np.bool_], touched: Texels) -> tuple[Ints, NDArray[np.bool_]]:
    """Return the texels of each SIMD group, those that a sampler joins listed one by one."""
    if touched.taps == 1:
        return lanes, active
    steps = [
        sum(at * ROW**axis for axis, at in enumerate(corner))
        for corner in product(range(touched.taps), repeat=touched.n_filtered)
    ]
    return np.concatenate([lanes + it for it in steps], axis=1), np.tile(active, (1, len(steps)))


def _add(found: _Sum, places: Ints, active: NDArray[np.bool_], touched: Texels, times: int) -> None:
    """Count texels, rows and boxes of SIMD groups of shape (groups, texels)."""
    first = np.take_along_axis(places, active.argmax(axis=1)[:, None], axis=1)
    places = np.where(active, places - first, 0)  # What is switched off is where the first is.
    coordinates = list(_coordinates(places, touched.n_coordinates))
    everywhere = np.ones(places.shape, np.bool_)
    row = (places - coordinates[0]) // ROW if len(coordinates) > 1 else np.zeros_like(places)
    box = [it.max(axis=1) - it.min(axis=1) + 1 for it in coordinates]
    box += [np.ones(len(places), np.int64)] * (3 - len(box))
    for counts, kind in ((found.texels, places), (found.rows, row)):
        numbers, many = np.unique(rules.distinct_granules(kind, everywhere, 1, 1), return_counts=True)
        counts.update({int(it): int(n) * times for it, n in zip(numbers, many, strict=True)})
    boxes, many = np.unique(np.stack(box, axis=1), axis=0, return_counts=True)
    for (width, height, depth), n in zip(boxes.tolist(), many.tolist(), strict=True):
        found.boxes[width, height, depth] += n * times


def _coordinates(places: Ints, n: int) -> Iterator[Ints]:
    """Yield x, y and z of places that are no further apart than an image is wide."""
    for _ in range(n - 1):
        low = (places + _HALF) % ROW - _HALF
        yield low
        places = (places - low) // ROW
    yield places

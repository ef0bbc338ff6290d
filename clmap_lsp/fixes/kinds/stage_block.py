"""Stage a block of an array with its border through local memory.

For stencils, convolutions and other loads of neighbours (the Block and Neighbor patterns of Fang et al.,
Aristotle, 2014): every element that some work-item of the group reads is loaded once, the base by its own
work-item and the border besides; then all loads are from the tile.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from clmap_lsp.access.facts import Facts
from clmap_lsp.access.polynomial import (
    ONE,
    ZERO,
    LoopSymbol,
    Op,
    Operation,
    Polynomial,
    WorkItemSymbol,
    global_id,
    local_id,
    varies_in_launch,
)
from clmap_lsp.access.records import Access, Direction
from clmap_lsp.access.wording import words
from clmap_lsp.dataclass import dataclass
from clmap_lsp.fixes import facts
from clmap_lsp.fixes.assumptions import Assumption, elements, overlaps
from clmap_lsp.fixes.group_size import required_size, size_assumed
from clmap_lsp.fixes.model import STAGING_GAIN, Proposal
from clmap_lsp.fixes.scope import Scope, spelt
from clmap_lsp.source import ir
from clmap_lsp.source.types import AddressSpace

if TYPE_CHECKING:
    from clmap_lsp.findings import Edit
    from clmap_lsp.fixes.model import Subject
    from clmap_lsp.fixes.outline import Node

KIND = "stage-block"
NEEDS = "neighbours that read overlapping parts of a buffer at fixed distances"
_FAR = 16
"""Rows that a neighbour may be away."""
LEAST_REUSE = 2.0
"""Loads that one load of the tile must replace."""


@dataclass(frozen=True, slots=True)
class _Axis:
    """One coordinate of the block: it moves with dimension `dimension`; offsets from `low` to `high`."""

    dimension: int
    low: int
    high: int

    def length(self, size: int) -> int:
        """Elements that a group of `size` work-items reads."""
        return size + self.high - self.low


@dataclass(frozen=True, slots=True)
class _Block:
    """What a group reads of one buffer; `axes` outermost first, `pitch` elements from row to row."""

    buffer: str
    accesses: tuple[Access, ...]
    axes: tuple[_Axis, ...]
    moves: tuple[tuple[Polynomial, ...], ...]
    """For each access, what its coordinates add to the work-item's place."""
    pitch: Polynomial


def propose(subject: Subject) -> Iterator[Proposal]:
    """Yield one rewrite for each array of which neighbours read overlapping parts."""
    scope = Scope.of(subject)
    kernel = subject.analysis.kernel
    if scope is None or not facts.whole_groups(subject.launch) or facts.opaque(kernel):
        return
    for parameter, accesses in facts.read_only_buffers(subject):
        block = _block(scope, parameter.name, accesses)
        found = None if block is None else _proposal(scope, block)
        if found is not None:
            yield found


def _block(scope: Scope, buffer: str, accesses: tuple[Access, ...]) -> _Block | None:
    if not all(_stageable(scope, it) for it in accesses):
        return None
    first = _directions(scope, accesses[0].index)
    if first is None:
        return None
    dimensions, pitch = first
    moves = []
    for access in accesses:
        move = _move(access.index, dimensions, pitch)
        if move is None:
            return None
        moves.append(move)
    axes = _axes(dimensions, moves)
    return None if axes is None else _Block(buffer, accesses, axes, tuple(moves), pitch)


def _stageable(scope: Scope, access: Access) -> bool:
    return (
        access.direction is Direction.LOAD
        and access.space is AddressSpace.GLOBAL
        and access.known
        and not access.volatile
        and scope.is_typed(access)
        and facts.plain_element(access.type)
        and access.size == access.type.size
        and scope.text[access.span.start : access.span.end].rstrip().endswith("]")
    )


def _directions(scope: Scope, index: Polynomial) -> tuple[tuple[int, ...], Polynomial] | None:
    """Return the dimensions of rows and columns (or of columns only) and the pitch of rows.

    Neighbours in columns are one element apart, in rows a uniform number of elements.
    """
    steps = {d: index.coefficient(global_id(d)) for d in range(3)}
    if any(it is None or varies_in_launch(it) for it in steps.values()):
        return None
    moving = {d: it for d, it in steps.items() if it}
    columns = [d for d, it in moving.items() if it == ONE]
    rows = [d for d in moving if d not in columns]
    if len(columns) != 1 or len(rows) > 1 or not set(moving) >= set(facts.extended(scope.subject.launch)):
        return None
    pitch = moving[rows[0]] if rows else ONE
    return ((rows[0], columns[0]) if rows else (columns[0],)), pitch or ONE


def _move(index: Polynomial, dimensions: tuple[int, ...], pitch: Polynomial) -> tuple[Polynomial, ...] | None:
    """Return what an index adds to the work-item's row and column; `None` if it is no such sum."""
    column = Polynomial.of(global_id(dimensions[-1]))
    if len(dimensions) == 1:
        rest = index - column
        return (rest,) if _is_plain(rest) else None
    rest = index - column - Polynomial.of(global_id(dimensions[0])) * pitch
    row = ZERO
    for symbol in {it for it in rest.leaves if isinstance(it, LoopSymbol)}:
        step = rest.coefficient(symbol)
        if step is None:
            return None
        if step.value is None or (pitch.value is not None and abs(step.value) >= pitch.value):
            n = _multiple(step, pitch)
            if n is None:
                return None
            row += Polynomial.of(symbol, n)
            rest -= Polynomial.of(symbol) * step
    near = [n for n in range(-_FAR, _FAR + 1) if _is_plain(rest - pitch.scaled(n))]
    if not near:
        return None
    n = min(near, key=lambda it: abs((rest - pitch.scaled(it)).offset))
    return row + n, rest - pitch.scaled(n)


def _multiple(value: Polynomial, pitch: Polynomial) -> int | None:
    return next((n for n in range(-_FAR, _FAR + 1) if value == pitch.scaled(n)), None)


def _is_plain(value: Polynomial) -> bool:
    """True for a number plus multiples of loop turns."""
    return all(
        len(monomial) == 1 and isinstance(monomial[0], LoopSymbol) for monomial in value.terms if monomial
    )


def _axes(dimensions: tuple[int, ...], moves: Sequence[tuple[Polynomial, ...]]) -> tuple[_Axis, ...] | None:
    known = Facts()
    axes = []
    for at, dimension in enumerate(dimensions):
        low, high = [], []
        for move in moves:
            first, last = _range(move[at], known)
            if first is None or last is None:
                return None
            low.append(first)
            high.append(last)
        axes.append(_Axis(dimension, min(low), max(high)))
    return tuple(axes)


def _range(value: Polynomial, known: Facts) -> tuple[int | None, int | None]:
    """Return the least and the greatest value over the turns of loops whose turns are numbers."""
    low = high = value.offset
    for monomial, factor in value.terms.items():
        if not monomial:
            continue
        symbol = monomial[0]
        if len(monomial) != 1 or not isinstance(symbol, LoopSymbol) or symbol.trip is None:
            return None, None
        trip = known.number(symbol.trip)
        if trip is None or trip < 1:
            return None, None
        low += min(0, factor * (trip - 1))
        high += max(0, factor * (trip - 1))
    return low, high


def _proposal(scope: Scope, block: _Block) -> Proposal | None:
    launch = scope.subject.launch
    lengths = [axis.length(launch.local_size[axis.dimension]) for axis in block.axes]
    size = block.accesses[0].size
    for length in lengths:
        size *= length
    if size > facts.room(scope.subject) or _reuse(block, lengths, launch.group_items) < LEAST_REUSE:
        return None
    place = _place(scope, block)
    required = required_size(scope)
    if place is None or required is None:
        return None
    edits = _Writer(scope, block, lengths, place).edits()
    if edits is None:
        return None
    shape = " x ".join(map(str, reversed(lengths)))
    return Proposal(
        KIND,
        f"Stage `{block.buffer}` in blocks of {shape}",
        (*required, *edits),
        ("CM101", "CM103", "CM401"),
        (
            *size_assumed(scope),
            *_corners(scope, block),
            *overlaps(scope.subject.analysis.kernel, [block.buffer], facts.written(scope.subject.analysis)),
        ),
        sites=frozenset(it.site for it in block.accesses),
        least_gain=STAGING_GAIN,
    )


def _corners(scope: Scope, block: _Block) -> tuple[Assumption, ...]:
    """Return that the buffer holds the corners of a block, if the kernel itself does not read them all.

    A cross of five elements reads no corner, and the last row of its array may be cut short.
    """
    full = [(axis.low, axis.high) for axis in block.axes]
    if len(full) == 1 or any([_range(it, Facts()) for it in move] == full for move in block.moves):
        return ()
    ends = []
    for at, axis in enumerate(block.axes):
        highs: list[Polynomial] = []
        for access, move in zip(block.accesses, block.moves, strict=True):
            _, last = _range(move[at], Facts())
            _, high = _limits(scope.general[access.site], axis.dimension)
            if high is not None and last is not None:
                highs.append(high + last)
        size = Polynomial.of(WorkItemSymbol(ir.WorkItemQuery.GLOBAL_SIZE, axis.dimension)) + axis.high
        ends.append(_greatest(highs, len(highs) < len(block.accesses)) or size)
    rows, columns = ends
    count = (rows - 1) * block.pitch + columns
    return (elements(block.buffer, count, words(count)),)


def _reuse(block: _Block, lengths: Sequence[int], group_items: int) -> float:
    """Return how many loads of the kernel one load of the tile replaces."""
    reads = 0
    for access in block.accesses:
        turns = 1
        for loop in access.loops:
            turns *= max((loop.trip.value if loop.trip is not None else None) or 1, 1)
        reads += turns
    elements = 1
    for length in lengths:
        elements *= length
    return reads * group_items / elements


def _place(scope: Scope, block: _Block) -> Node | None:
    """Return the statement before which all work-items still are together and all names are known."""
    returns = [it.span for it in ir.walk(scope.subject.analysis.kernel.body) if isinstance(it, ir.Return)]
    spans = [*(it.span for it in block.accesses), *returns]
    first = min(spans, key=lambda it: it.start)
    return scope.top_level(first.start, first.end)


class _Writer:
    """Writes the tile, its loading and its uses."""

    def __init__(self, scope: Scope, block: _Block, lengths: Sequence[int], place: Node) -> None:
        self.scope, self.block, self.lengths, self.place = scope, block, lengths, place
        self.author = scope.general[block.accesses[0].site].names
        self.lids, self.declarations = scope.local_names(
            place.start, self.author, [it.dimension for it in block.axes]
        )
        self.names = scope.names_at(place.start, self.author)
        self.counters = {it.dimension: scope.fresh("i" if it.dimension == 0 else "j") for it in block.axes}
        self.tile = scope.fresh(f"{block.buffer}_tile")

    def edits(self) -> tuple[Edit, ...] | None:
        """Return the edits; `None` where a bound or an index cannot be written here."""
        load, uses = self._load(), self._uses()
        if load is None or uses is None:
            return None
        shape = "".join(f"[{it}]" for it in self.lengths)
        array = f"__local {self.block.accesses[0].type} {self.tile}{shape};"
        lines = [*self.declarations, array, *load, "barrier(CLK_LOCAL_MEM_FENCE);"]
        return (self.scope.before(self.place, lines), *uses)

    def _load(self) -> list[str] | None:
        unit = self.scope.unit
        lines: list[str] = []
        coordinates, conditions = [], []
        for axis, length in zip(self.block.axes, self.lengths, strict=True):
            counter, lid = self.counters[axis.dimension], self.lids[axis.dimension]
            step = self.scope.subject.launch.local_size[axis.dimension]
            lines.append(
                f"{unit * len(lines)}for (int {counter} = {lid}; {counter} < {length}; {counter} += {step})"
            )
            coordinate = f"{self.names[global_id(axis.dimension)]} - {lid} + {counter}{_signed(axis.low)}"
            coordinates.append(coordinate)
            bounds = self._bounds(axis)
            if bounds is None:
                return None
            conditions += [f"{coordinate} {it}" for it in bounds]
        index = coordinates[-1]
        if len(coordinates) == 2:
            pitch = spelt(self.block.pitch, self.names)
            if pitch is None:
                return None
            pitch = pitch if pitch.isidentifier() or pitch.isdecimal() else f"({pitch})"
            index = f"({coordinates[0]}) * {pitch} + {index}"
        if conditions:
            lines.append(f"{unit * len(lines)}if ({' && '.join(conditions)})")
        element = "".join(f"[{self.counters[it.dimension]}]" for it in self.block.axes)
        lines.append(f"{unit * len(lines)}{self.tile}{element} = {self.block.buffer}[{index}];")
        return lines

    def _bounds(self, axis: _Axis) -> list[str] | None:
        """Return the tests that keep the border inside what the kernel itself reads."""
        at = self.block.axes.index(axis)
        lows, highs = [], []
        for access, move in zip(self.block.accesses, self.block.moves, strict=True):
            first, last = _range(move[at], Facts())
            assert first is not None and last is not None, "ranges were known when the block was made"
            low, high = _limits(self.scope.general[access.site], axis.dimension)
            lows.append(low + first)
            highs.append(None if high is None else high + last)
        tests = []
        if min(lows) != axis.low:
            tests.append(f">= {min(lows)}")
        bounded = [it for it in highs if it is not None]
        if bounded:
            upper = _greatest(bounded, None in highs)
            text = None if upper is None else spelt(upper, self.names)
            if text is None:
                return None
            tests.append(f"< {text}")
        return tests

    def _uses(self) -> list[Edit] | None:
        edits = []
        for access, move in zip(self.block.accesses, self.block.moves, strict=True):
            subscripts = ""
            for axis, distance in zip(self.block.axes, move, strict=True):
                place = Polynomial.of(local_id(axis.dimension)) + distance - axis.low
                named = {**access.names, local_id(axis.dimension): self.lids[axis.dimension]}
                text = spelt(place, named)
                if text is None:
                    return None
                subscripts += f"[{text}]"
            edits.append(self.scope.replaced(access.span.start, access.span.end, f"{self.tile}{subscripts}"))
        return edits


def _greatest(bounds: Sequence[Polynomial], open_ended: bool) -> Polynomial | None:
    """Return the greatest of the bounds; `None` where that differs between launches, or some have none."""
    if not bounds or open_ended:
        return None
    best = bounds[0]
    for other in bounds[1:]:
        distance = (other - best).value
        if distance is None:
            return None
        best = other if distance > 0 else best
    return best


def _signed(value: int) -> str:
    return "" if not value else f" {'+' if value > 0 else '-'} {abs(value)}"


def _limits(access: Access, dimension: int) -> tuple[int, Polynomial | None]:
    """Return the least id of a dimension that makes the access, and the bound that ids stay below."""
    low, high = 0, None
    symbol = Polynomial.of(global_id(dimension))
    for condition in facts.conjuncts(access.guard):
        match condition.atom:
            case Operation(op=Op.LT | Op.LE as op, operands=(left, right)):
                strict = 1 if op is Op.LT else 0
                if left == symbol and not varies_in_launch(right):
                    high = right + (1 - strict)
                elif right == symbol and left.value is not None:
                    low = max(low, left.value + strict)
            case Operation(op=Op.NE, operands=(left, right)) if symbol in (left, right) and ZERO in (
                left,
                right,
            ):
                low = max(low, 1)
            case _ if condition == symbol:
                low = max(low, 1)
    return low, high

"""Stage the arrays that a loop walks through local memory, a tile at a time.

For loops like that of a matrix multiply: the group loads a tile of each array together (allocate, load, use:
the three steps of local memory in Fang et al., Aristotle, 2014), waits, and takes its turns from the tiles.
Turns that do not fill a tile run the loop as it was. Two uses are seen: elements that several work-items of
a group read (the tile is read once for all), and rows that each work-item walks by itself (the tile is
loaded by neighbours side by side).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING

from clmap_lsp.access.facts import Facts
from clmap_lsp.access.polynomial import ONE, Polynomial, global_id, local_id, varies_in_group
from clmap_lsp.access.records import Access, Direction
from clmap_lsp.access.wording import words
from clmap_lsp.dataclass import dataclass
from clmap_lsp.fixes import facts, guarding
from clmap_lsp.fixes.assumptions import finite, overlaps
from clmap_lsp.fixes.group_size import required_size, size_assumed
from clmap_lsp.fixes.loops import CountingLoop, counting_loops
from clmap_lsp.fixes.model import STAGING_GAIN, Proposal
from clmap_lsp.fixes.scope import Scope, tidy
from clmap_lsp.fixes.sums import factors_of, sum_of
from clmap_lsp.hierarchy.units import compute_units
from clmap_lsp.source import ir
from clmap_lsp.source.types import AddressSpace, ScalarType

if TYPE_CHECKING:
    from clmap_lsp.access.polynomial import Atom
    from clmap_lsp.findings import Edit
    from clmap_lsp.fixes.model import Subject
    from clmap_lsp.fixes.outline import Node

KIND = "stage-loop"
NEEDS = (
    "a counting loop, with as many turns for a whole work-group, that loads what its "
    "work-items share or rows of their own"
)
ROW_TILE = 32
"""Turns in a tile of rows: as many as neighbours fetch side by side."""
MAX_TILE = 256
ROW_SIMD_GROUPS = 8
"""SIMD groups a compute unit from which tiles of rows pay.

Barriers leave a compute unit idle that has nothing else to do, and before, each row came from its work-item's
cache. On an H200, rows of 1,024 and 4,096 elements in groups of 64: 0.65 times the speed with 4 SIMD groups,
1.0 with 8, 1.8 with 16, 3.1 with 31 and more.
"""
WASTEFUL = 2.0
"""Rows are staged only if a request costs so many times its ideal."""


@dataclass(frozen=True, slots=True)
class _Tile:
    """One array's tile. `own` is the dimension whose place in the group picks the element, if any does."""

    accesses: tuple[Access, ...]
    own: int | None
    other: int
    rows: bool = False


def propose(subject: Subject) -> Iterator[Proposal]:
    """Yield one rewrite for each loop whose loads several work-items share."""
    scope = Scope.of(subject)
    if scope is None or not facts.whole_groups(subject.launch):
        return
    for loop in counting_loops(scope):
        found = _proposal(scope, loop)
        if found is not None:
            yield found


def _proposal(scope: Scope, loop: CountingLoop) -> Proposal | None:
    if not _may_wait(scope, loop):
        return None
    tiles = _tiles(scope, loop)
    if not tiles:
        return None
    guards = {scope.general[it.site].guard for tile in tiles for it in tile.accesses}
    if len(guards) != 1:
        return None
    (guard,) = guards
    opened = guarding.opened(scope, loop.node) if guard or _leaves(scope) else guarding.NOT_GUARDED
    required = required_size(scope)
    length = _length(scope, loop, tiles)
    if opened is None or required is None or length is None:
        return None
    factors = _filled_with_zeros(scope, loop, tiles)
    writer = _Writer(scope, loop, tiles, length, opened, facts.conjuncts(guard), factors is not None)
    edits = writer.edits()
    if edits is None:
        return None
    promise = _where_rows_pay(scope.subject) if any(it.rows for it in tiles) else ""
    names = " and ".join(f"`{it.accesses[0].buffer}`" for it in tiles)
    return Proposal(
        KIND,
        f"Stage {names} in tiles of {length}",
        (*required, *opened.edits, *edits),
        ("CM101", "CM401"),
        (
            *size_assumed(scope),
            *(finite(it) for it in factors or ()),
            *overlaps(
                scope.subject.analysis.kernel,
                (tile.accesses[0].buffer for tile in tiles),
                facts.written(scope.subject.analysis),
            ),
        ),
        sites=frozenset(it.site for tile in tiles for it in tile.accesses),
        least_gain=STAGING_GAIN,
        promise=promise,
        pays_in_larger=bool(promise),
    )


def _filled_with_zeros(scope: Scope, loop: CountingLoop, tiles: Sequence[_Tile]) -> tuple[str, ...] | None:
    """Return what must be finite for turns past the end to add nothing to the loop's sum, from zeros.

    Then every tile is taken whole, by all work-items. `None` where the loop does more than to add up what the
    tiles hold: turns that are left over run as before.
    """
    mine = {it.site for tile in tiles for it in tile.accesses}
    inside = [it for it in facts.accesses(scope.subject.analysis) if loop.symbol in it.loops]
    accumulated = sum_of(loop)
    if accumulated is None or {it.site for it in inside} != mine or not loop.declares:
        return None  # A counter that lives on has its last value from the turns that it was to take.
    if not all(isinstance(it.type, ScalarType) for it in inside):
        return None
    return factors_of(loop, accumulated[0])


def _where_rows_pay(subject: Subject) -> str:
    """Return from which launches on tiles of rows pay; empty where the present one is among them."""
    units = compute_units(subject.device)
    if units.count is None:
        return f"in launches of {ROW_SIMD_GROUPS} SIMD groups a compute unit or more"
    per_group = -(-subject.launch.group_items // subject.device.simd_width)
    least = -(-ROW_SIMD_GROUPS * units.count // per_group)
    if prod(subject.launch.num_groups) >= least:
        return ""
    return f"in launches of about {least} work-groups or more on {units.product}"


def _may_wait(scope: Scope, loop: CountingLoop) -> bool:
    """True if all work-items of a group make the same turns, and nothing in the loop waits or leaves."""
    statements = list(ir.walk((*loop.statement.test, *loop.statement.body)))
    if facts.synchronises(statements) or any(isinstance(it, (ir.Return, ir.Loop)) for it in statements):
        return False
    if facts.opaque(scope.subject.analysis.kernel):
        return False
    around = next(
        it.loops for it in facts.accesses(scope.subject.analysis) if it.loops and it.loops[-1] == loop.symbol
    )
    return all(
        it.trip is not None and not varies_in_group(it.trip) and not it.exits_early for it in around
    ) and not any(it.kind in ("while", "do", "switch") for it in _around(scope, loop))


def _leaves(scope: Scope) -> bool:
    return any(isinstance(it, ir.Return) for it in ir.walk(scope.subject.analysis.kernel.body))


def _around(scope: Scope, loop: CountingLoop) -> Sequence[Node]:
    return scope.body.path(loop.node.start, loop.node.end)[:-1]


def _tiles(scope: Scope, loop: CountingLoop) -> list[_Tile]:
    subject = scope.subject
    readable = {it.name for it, _ in facts.read_only_buffers(subject)}
    groups: dict[tuple[str, Polynomial], list[Access]] = {}
    for access in facts.accesses(subject.analysis):
        if access.buffer in readable and _stageable(scope, loop, access):
            groups.setdefault((access.buffer, access.index), []).append(access)
    tiles = [it for it in (_tile(scope, loop, tuple(group)) for group in groups.values()) if it is not None]
    if not any(_mean(scope, it) > 1 for it in tiles):
        return []  # One sector a request is what a local load costs too.
    return [it for it in tiles if it.own is not None or _mean(scope, it) > 1]


def _mean(scope: Scope, tile: _Tile) -> float:
    """Return the sectors of a request as it is."""
    found = scope.subject.analysis.access_at(tile.accesses[0].site)
    return 0 if found is None or found.per_request is None else found.per_request.mean


def _stageable(scope: Scope, loop: CountingLoop, access: Access) -> bool:
    if access.direction is not Direction.LOAD or access.space is not AddressSpace.GLOBAL or access.volatile:
        return False
    if not access.loops or access.loops[-1] != loop.symbol or not scope.is_typed(access):
        return False
    if not access.known or not facts.plain_element(access.type) or access.size != access.type.size:
        return False
    if not facts.in_every_turn(loop.statement.body, access.site):
        return False
    if facts.changes_besides(loop.statement, access.site, loop.name):
        return False
    if not scope.text[access.span.start : access.span.end].rstrip().endswith("]"):
        return False  # vloadN and dereferences have no index that can be written anew.
    step = access.index.coefficient(loop.symbol)
    return step is not None and bool(step) and not varies_in_group(step)


def _tile(scope: Scope, loop: CountingLoop, accesses: tuple[Access, ...]) -> _Tile | None:
    launch = scope.subject.launch
    dimensions = facts.extended(launch)
    lanes = facts.lanes_in(accesses[0].index)
    if lanes is None or not dimensions:
        return None
    mine = lanes.intersection(dimensions)
    if len(dimensions) == 2 and len(mine) == 1:
        (own,) = mine
        return _Tile(accesses, own, next(it for it in dimensions if it != own))
    if len(dimensions) != 1:
        return None
    if not mine:
        return _Tile(accesses, None, dimensions[0])
    return _Tile(accesses, dimensions[0], dimensions[0], rows=True) if _rows(scope, accesses[0]) else None


def _rows(scope: Scope, access: Access) -> bool:
    """True if neighbours walk rows of their own, and the index shows how to reach the neighbours' rows."""
    analysis = scope.subject.analysis.access_at(access.site)
    if analysis is None or analysis.per_request is None or analysis.per_request.excess < WASTEFUL:
        return False
    (dimension,) = facts.extended(scope.subject.launch)
    width = access.index.coefficient(global_id(dimension))
    return width is not None and bool(width) and local_id(dimension) not in access.index.leaves


def _length(scope: Scope, loop: CountingLoop, tiles: Sequence[_Tile]) -> int | None:
    """Return the turns of a tile: as many as the group is long, if they are made and the tiles fit."""
    launch, subject = scope.subject.launch, scope.subject
    sizes = [launch.local_size[it] for it in facts.extended(launch)]
    if any(it.rows for it in tiles):
        candidates = [ROW_TILE] if sizes[0] % ROW_TILE == 0 else []
    else:
        candidates = sorted(set(sizes), reverse=True)
    trip = Facts(launch).number(loop.symbol.trip) if loop.symbol.trip is not None else None
    for length in candidates:
        if length > MAX_TILE or length < 4 or (trip is not None and trip < length):
            continue
        if sum(_bytes(scope, it, length) for it in tiles) <= facts.room(subject):
            return length
    return None


def _bytes(scope: Scope, tile: _Tile, length: int) -> int:
    size = tile.accesses[0].size
    if tile.own is None:
        return size * length
    return size * (length + tile.rows) * scope.subject.launch.local_size[tile.own]


class _Writer:
    """Writes the tiled loop."""

    def __init__(
        self,
        scope: Scope,
        loop: CountingLoop,
        tiles: Sequence[_Tile],
        length: int,
        opened: guarding.Opened,
        conditions: tuple[Polynomial, ...],
        zeros: bool,
    ) -> None:
        self.scope, self.loop, self.length, self.opened = scope, loop, length, opened
        trip = loop.symbol.trip
        self.exact = trip is not None and trip.value is not None and trip.value % length == 0
        self.conditions, self.zeros = conditions, zeros and not self.exact
        self.tiles = tiles
        self.sizes = scope.subject.launch.local_size
        self.author = tiles[0].accesses[0].names
        top = scope.top_level(loop.node.start, loop.node.end)
        assert top is not None, "a loop stands in its kernel"
        self.top = top
        dimensions = sorted({d for it in tiles for d in (it.own, it.other) if d is not None})
        self.lids, self.declarations = scope.local_names(top.start, self.author, dimensions)
        self.names = scope.names_at(top.start, self.author)
        self.base = scope.fresh(f"{loop.name}0")

    def edits(self) -> tuple[Edit, ...] | None:
        """Return the edits; `None` where an index cannot be written for another work-item or turn."""
        arrays, loads, uses = [], [], {}
        for tile in self.tiles:
            first = tile.accesses[0]
            name = self.scope.fresh(f"{first.buffer}_tile")
            arrays.append(f"__local {first.type} {name}{self._shape(tile)};")
            written = self._load(tile, name)
            if written is None:
                return None
            loads += written
            use = f"{name}{self._place(tile, f'{self.loop.name} - {self.base}')}"
            uses.update({(it.span.start, it.span.end): use for it in tile.accesses})
        names = " and ".join(dict.fromkeys(it.accesses[0].buffer for it in self.tiles))
        why = f"// The work-group loads {names} in tiles of {self.length} iterations: each element once."
        return (
            self.scope.before(self.top, [*self.declarations, why, *arrays]),
            self.scope.replaced_with_hints(self.loop.node, self._loop(loads, uses)),
        )

    def _shape(self, tile: _Tile) -> str:
        if tile.own is None:
            return f"[{self.length}]"
        if tile.rows:  # One more, so that a column of the tile lies in as many banks as it has rows.
            return f"[{self.sizes[tile.own]}][{self.length + 1}]"
        own, turns = self.sizes[tile.own], self.length
        if self._across(tile):  # It is filled by columns: one more keeps them in different banks.
            return f"[{turns}][{own + 1}]"
        return f"[{turns}][{own}]" if tile.own < tile.other else f"[{own}][{turns}]"

    def _place(self, tile: _Tile, turn: str) -> str:
        """Return the subscripts of the element of one's own place and a turn."""
        if tile.own is None:
            return f"[{turn}]"
        own = self.lids[tile.own]
        return f"[{turn}][{own}]" if not tile.rows and tile.own < tile.other else f"[{own}][{turn}]"

    def _load(self, tile: _Tile, name: str) -> list[str] | None:
        if tile.rows:
            return self._load_rows(tile, name)
        if self._across(tile):
            return self._load_across(tile, name)
        mover, size = self.lids[tile.other], self.sizes[tile.other]
        lines, turn = [], mover
        if self.length != size:
            turn = self.scope.fresh("j")
            lines.append(f"for (int {turn} = {mover}; {turn} < {self.length}; {turn} += {size})")
        source = self._element(tile.accesses[0], {self.loop.name: f"({self.base} + {turn})"})
        if source is None:
            return None
        lids = frozenset(() if tile.own is None else (tile.own,))
        if (condition := self._condition(lids)) is None:
            return None
        element = f"{name}{self._place(tile, turn)}"
        return [*lines, *self._filled(len(lines), element, source, condition, turn)]

    def _filled(self, depth: int, element: str, source: str, condition: str, turn: str) -> list[str]:
        """Return the statement that loads one element of a tile, as deep as the loops around it."""
        unit = self.scope.unit
        if self.zeros:
            inside = f"{self.base} + {turn} < {self.loop.bound}"
            tests = f"{condition} && {inside}" if condition else inside
            return [f"{unit * depth}{element} = {tests} ? {source} : 0;"]
        guard = [f"{unit * depth}if ({condition})"] if condition else []
        return [*guard, f"{unit * (depth + len(guard))}{element} = {source};"]

    def _across(self, tile: _Tile) -> bool:
        """True if work-items that are neighbours would load rows of their own, and may change places."""
        if tile.own is None or tile.own > tile.other or self._id_of(tile) is None:
            return False
        index = tile.accesses[0].index
        side_by_side = index.coefficient(self.loop.symbol) == ONE
        square = self.sizes[tile.own] == self.sizes[tile.other] == self.length
        return side_by_side and square and index.coefficient(global_id(tile.own)) not in (None, ONE)

    def _id_of(self, tile: _Tile) -> str | None:
        """Return the name of the id that picks a tile's element, if the index follows it by its name only."""
        assert tile.own is not None, "some id picks the element"
        scope, access = self.scope, tile.accesses[0]
        known = self.author.get(global_id(tile.own))
        if known is None or known not in scope.declared_before(self.top.start):
            return None
        variables = {
            it.variable.name
            for it in ir.walk(scope.subject.analysis.kernel.body)
            if isinstance(it, ir.Assign) and not it.variable.is_temporary
        }
        used = scope.words(access.span.start, access.span.end) & variables
        return known if known in used and used <= {known, self.loop.name} else None

    def _load_across(self, tile: _Tile, name: str) -> list[str] | None:
        """Return the line that loads a tile with neighbours side by side along the turns."""
        assert tile.own is not None, "rows belong to work-items"
        known, lid, mover = self._id_of(tile), self.lids[tile.own], self.lids[tile.other]
        assert known is not None, "the places are changed by name"
        other = self.scope.fresh(f"{known}_t")
        source = self._element(tile.accesses[0], {self.loop.name: f"({self.base} + {lid})", known: other})
        condition = self._condition(frozenset((tile.own,)), {global_id(tile.own): other})
        if source is None or condition is None:
            return None
        self.declarations.append(f"const int {other} = {known} - {lid} + {mover};")
        return self._filled(0, f"{name}[{lid}][{mover}]", source, condition, lid)

    def _load_rows(self, tile: _Tile, name: str) -> list[str] | None:
        """Return the lines that load rows of the whole group, neighbours side by side in a row."""
        assert tile.own is not None, "rows belong to work-items"
        lid, size, length = self.lids[tile.own], self.sizes[tile.own], self.length
        row = self.scope.fresh("j")
        known = self._id_of(tile)
        if known is None:
            return None
        other = f"({known} - {lid} + {row})"
        turn = lid if size == length else f"{lid} % {length}"
        by = {self.loop.name: f"({self.base} + {turn})", known: other}
        source = self._element(tile.accesses[0], by)
        condition = self._condition(frozenset((tile.own,)), {global_id(tile.own): other})
        if source is None or condition is None:
            return None
        lines = [f"for (int {row} = {lid} / {length}; {row} < {size}; {row} += {size // length})"]
        if size == length:
            lines = [f"for (int {row} = 0; {row} < {size}; {row}++)"]
        return [*lines, *self._filled(1, f"{name}[{row}][{turn}]", source, condition, turn)]

    def _element(self, access: Access, by: dict[str, str]) -> str | None:
        """Return the author's access with identifiers replaced; `None` if one of them is not in its text."""
        for word in by:
            _, n_replaced = self.scope.substituted(access.span.start, access.span.end, {word: word})
            if not n_replaced:
                return None
        text, _ = self.scope.substituted(access.span.start, access.span.end, by)
        return tidy(text)

    def _condition(self, lanes: frozenset[int], named: Mapping[Atom, str] | None = None) -> str | None:
        """Return the part of the guard that depends on these lanes only; `None` if parts are mixed."""
        parts = []
        for condition in self.conditions:
            mine = facts.lanes_in(condition)
            if mine is None or len(mine) > 1:
                return None
            if mine <= lanes:
                parts.append(words(condition, {**self.names, **(named or {})}))
        return None if any("?" in it or "iteration(" in it for it in parts) else " && ".join(parts)

    def _loop(self, loads: list[str], uses: dict[tuple[int, int], str]) -> str:
        scope, loop, unit = self.scope, self.loop, self.scope.unit
        indent, line = scope.indent(loop.node.begins), scope.newline
        base, length = self.base, self.length
        header = (
            [f"for ({loop.type} {base} = {loop.start}; {base} < {loop.bound}; {base} += {length}) {{"]
            if self.exact or self.zeros
            else [
                f"{loop.type} {base} = {loop.start};",
                f"for (; {base} + {length} <= {loop.bound}; {base} += {length}) {{",
            ]
        )
        assert loop.node.head is not None, "a for loop has a head"
        gap = scope.text[loop.node.head[1] + 1 : loop.body.start]
        turns = loop.head(base, f"{base} + {length}")
        if loop.increment is not None:
            uses = {**uses, loop.increment: ""}
        body = scope.rewritten(loop.body.start, loop.body.end, uses)
        hints = scope.hints(loop.node)
        inner = [*hints, turns + guarding.deeper(f"{gap}{body}", unit)]
        rest = [
            *hints,
            *loop.rest(scope, base),
        ]
        if self.opened.name:
            inner, rest = inner if self.zeros else self._guarded(inner), self._guarded(rest)
        wait = "barrier(CLK_LOCAL_MEM_FENCE);"
        whole = self.exact or self.zeros
        lines = [*header, *(unit + it for it in (*loads, wait, *inner, wait)), "}", *(() if whole else rest)]
        return scope.governed(loop.node, f"{line}{indent}".join(lines))

    def _guarded(self, lines: list[str]) -> list[str]:
        """Put the lines of a statement under the condition that was opened."""
        unit = self.scope.unit
        inner = [unit + guarding.deeper(it, unit) for it in lines]
        guard = f"if ({self.opened.name})"
        return [f"{guard} {{", *inner, "}"] if len(lines) > 1 else [guard, *inner]

"""Move tiles through local memory where what is read and what is written lie across each other.

For transposes and permutations of arrays: loads that neighbours in one dimension make side by side, a store
that neighbours in another do. A work-group moves a square tile: it reads along the one, writes along the
other, 16 bytes a work-item at once where rows are aligned, with one column of padding so that the tile's
columns lie in different banks. What is computed on the way stays what it was. A work-group that exchanges
its own elements only (`transpose-tile`) moves four bytes at once, and is bound by how fast work-items start:
by hand on an H200, 4096 x 4096, 0.067 ms for that and 0.037 for tiles of 64 x 64 by vectors of four.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from clmap_lsp.access.polynomial import ONE, Parameter, Polynomial, WorkItemSymbol, global_id
from clmap_lsp.access.records import Access, Direction
from clmap_lsp.dataclass import dataclass
from clmap_lsp.fixes import facts
from clmap_lsp.fixes.assumptions import Assumption, aligned, no_offset, overlaps, unique
from clmap_lsp.fixes.grid import CALL, Grid, Id, covered, grid
from clmap_lsp.fixes.group_size import requires
from clmap_lsp.fixes.model import STAGING_GAIN, Proposal
from clmap_lsp.fixes.scope import Scope, spelt
from clmap_lsp.fixes.unused import pruned
from clmap_lsp.hosts.changes import LaunchChange, Resize
from clmap_lsp.source.types import AddressSpace, ScalarType

if TYPE_CHECKING:
    from clmap_lsp.access.polynomial import Atom
    from clmap_lsp.fixes.model import Subject
    from clmap_lsp.launch.model import Launch

KIND = "move-tile"
NEEDS = "one store a work-item, side by side in another dimension than what it loads"
GROUP = 16
"""Work-items of a group in each direction of the tile."""
MOST_LOADS = 2
"""Loads that go through a tile of their own."""
WIDEST = 16
"""Bytes that a work-item moves at once."""


@dataclass(frozen=True, slots=True)
class _Move:
    """Which loads come through tiles, and the dimensions along which is read and written."""

    grid: Grid
    loads: tuple[Access, ...]
    store: Access
    read: int
    write: int
    lanes: int

    @property
    def side(self) -> int:
        """Rows and columns of a tile."""
        return GROUP * self.lanes

    @property
    def dimensions(self) -> tuple[int, int]:
        """Both dimensions of the tile, in order."""
        return min(self.read, self.write), max(self.read, self.write)


def propose(subject: Subject) -> Iterator[Proposal]:
    """Yield one rewrite for a kernel that stores across the direction in which it loads."""
    if subject.device.has_scratchpad is False or len(subject.launch.global_size) < 2:
        return
    if subject.analysis.kernel.attributes.reqd_work_group_size is not None:
        return
    scope = Scope.of(subject)
    points = None if scope is None else grid(scope)
    if scope is None or points is None or not points.only_bounds():
        return
    move = _move(scope, points)
    if move is None:
        return
    proposal = _proposal(scope, move)
    if proposal is not None:
        yield proposal


def _move(scope: Scope, points: Grid) -> _Move | None:
    found = facts.accesses(scope.subject.analysis)
    stores = [it for it in found if it.direction is not Direction.LOAD]
    if len(stores) != 1 or not all(_plain(scope, it) for it in found):
        return None
    (store,) = stores
    write = _along(store)
    if write is None or any(it.buffer == store.buffer for it in found if it is not store):
        return None
    across = [it for it in found if it is not store and _along(it) not in (None, write)]
    read = {_along(it) for it in across}
    if len(read) != 1 or not 1 <= len(across) <= MOST_LOADS:
        return None
    (dimension,) = read
    assert dimension is not None, "loads without a direction were left out"
    if any(facts.lanes_in(it.index) is None or not {dimension, write} <= _ids(it) for it in (*across, store)):
        return None
    widest = max(it.size for it in (*across, store))
    lanes = 4 if widest <= WIDEST // 4 else 2 if widest <= WIDEST // 2 else 0
    return _Move(points, tuple(across), store, dimension, write, lanes) if lanes else None


def _plain(scope: Scope, access: Access) -> bool:
    return (
        access.space is AddressSpace.GLOBAL
        and access.direction is not Direction.ATOMIC
        and access.known
        and not access.volatile
        and not access.loops
        and scope.is_typed(access)
        and isinstance(access.type, ScalarType)
        and access.unit == access.size
        and all(isinstance(it, Parameter) or it in _POINTS for it in access.index.leaves)
        and spelt(access.index, {}) is not None
    )


_POINTS = frozenset(global_id(it) for it in range(3))


def _ids(access: Access) -> set[int]:
    return {it.dimension for it in access.index.leaves if isinstance(it, WorkItemSymbol)}


def _along(access: Access) -> int | None:
    """Return the dimension whose neighbours touch neighbouring elements."""
    found = [d for d in range(3) if access.index.coefficient(global_id(d)) == ONE]
    return found[0] if len(found) == 1 else None


def _proposal(scope: Scope, move: _Move) -> Proposal | None:
    launch, points, side = scope.subject.launch, move.grid, move.side
    room = sum(side * (side + 1) * it.size for it in move.loads)
    if room > facts.room(scope.subject) or any(launch.global_size[d] < side for d in move.dimensions):
        return None
    assumed = [covered(points.conditions, d, side) for d in move.dimensions]
    text = _Writer(scope, move).text()
    if any(it is None for it in assumed) or text is None:
        return None
    kernel = scope.subject.analysis.kernel
    group = tuple(GROUP if d in move.dimensions else 1 for d in range(len(launch.global_size)))
    start, end = scope.body.children[0].start, scope.line_end(scope.body.children[-1].end)
    one, other = move.dimensions
    return Proposal(
        KIND,
        f"Move tiles of {side} x {side}, {move.lanes} elements at once",
        (*requires(scope, (*group, 1, 1)[:3]), scope.replaced(start, end, text)),
        ("CM101", "CM102"),
        (
            *(it for it in assumed if it is not None),
            no_offset(len(launch.global_size)),
            *overlaps(kernel, (it.buffer for it in move.loads), facts.written(scope.subject.analysis)),
            *_aligned(scope, move),
        ),
        sites=frozenset(it.site for it in (*move.loads, move.store)),
        relaunch=partial(_relaunched, dimensions=move.dimensions, side=side),
        host_change=f"launch {GROUP} x {GROUP} work-items for every {side} x {side} elements in dimensions "
        f"{one} and {other}, rounded up, in groups of {'x'.join(map(str, group))}",
        change=LaunchChange(
            global_size={d: Resize(over=side, each=GROUP) for d in move.dimensions}, local_size=group
        ),
        least_gain=STAGING_GAIN,
    )


def _relaunched(launch: Launch, dimensions: tuple[int, int], side: int) -> Launch:
    sizes = tuple(
        -(-it // side) * GROUP if d in dimensions else it for d, it in enumerate(launch.global_size)
    )
    group = tuple(GROUP if d in dimensions else 1 for d in range(len(sizes)))
    return replace(launch, global_size=sizes, local_size=group)


def _aligned(scope: Scope, move: _Move) -> tuple[Assumption, ...]:
    """Return that the buffers are aligned, where the host may pass pointers: from OpenCL 2.0 on."""
    if scope.subject.options.language in ("CL1.0", "CL1.1", "CL1.2"):
        return ()
    return unique(aligned(it.buffer, it.size * move.lanes) for it in (*move.loads, move.store))


# --------------------------------------------------------------------------------------------------- writing


class _Writer:
    """Writes the whole body anew."""

    def __init__(self, scope: Scope, move: _Move) -> None:
        self.scope, self.move, self.unit = scope, move, scope.unit
        fresh = scope.fresh
        self.lx, self.ly, self.r, self.c = fresh("lx"), fresh("ly"), fresh("r"), fresh("c")
        self.first = {d: fresh(f"{move.grid.ids[d].name}0") for d in move.dimensions}
        self.tiles = {it.site: fresh(f"{it.buffer}_tile") for it in move.loads}
        self.by_vectors, self.results = fresh("by_vectors"), fresh("results")

    def text(self) -> str | None:
        """Return the new body; `None` where rows are never aligned."""
        move, scope, side = self.move, self.scope, self.move.side
        tests = self._tests()
        if tests is None:
            return None
        one, other = move.dimensions
        kinds = dict(zip(self.tiles, (it.type for it in move.loads), strict=True))
        what = "four" if move.lanes == 4 else "two"
        lines = [
            f"// A work-group moves a tile of {side} x {side}, {what} elements at once where rows are "
            "aligned.",
            "// The tile's odd pitch keeps its columns in different banks.",
            *(f"__local {kinds[site]} {it}[{side}][{side + 1}];" for site, it in self.tiles.items()),
            f"const int {self.lx} = get_local_id({one}), {self.ly} = get_local_id({other});",
            f"const int {self.first[one]} = (int)get_group_id({one}) * {side};",
            f"const int {self.first[other]} = (int)get_group_id({other}) * {side};",
            *self._others(),
            *([f"const bool {self.by_vectors} = {' && '.join(tests)};"] if tests else []),
            *self._either(self._loads_by_vectors(), self._loads_one_by_one(), bool(tests)),
            "barrier(CLK_LOCAL_MEM_FENCE);",
            *self._either(self._stores_by_vectors(), self._stores_one_by_one(), bool(tests)),
        ]
        indent = scope.indent(scope.body.children[0].start)
        return pruned(scope, f"{scope.newline}{indent}".join(lines))

    def _either(self, vectors: list[str], single: list[str], is_tested: bool) -> list[str]:
        if not is_tested:
            return vectors
        inner = [self.unit + it for it in vectors], [self.unit + it for it in single]
        return [f"if ({self.by_vectors}) {{", *inner[0], "} else {", *inner[1], "}"]

    def _others(self) -> list[str]:
        """Return the declarations of ids that the tile does not extend in."""
        move = self.move
        return [
            f"const {it.type} {it.name} = get_global_id({d});"
            for d, it in move.grid.ids.items()
            if d not in move.dimensions
        ]

    def _tests(self) -> list[str] | None:
        """Return what must hold so that a tile is full and its rows are aligned."""
        move, last = self.move, self.move.side - 1
        condition = move.grid.condition({d: f"{it} + {last}" for d, it in self.first.items()})
        found = [condition] if condition else []
        for access, along in (*((it, move.read) for it in move.loads), (move.store, move.write)):
            mine = self._aligned(access, along)
            if mine is None:
                return None
            found += mine
        return list(dict.fromkeys(found))

    def _aligned(self, access: Access, along: int) -> list[str] | None:
        """Return the tests that every row of the tile starts at a vector; `None` if some row never does."""
        found: list[str] = []
        lanes = self.move.lanes
        terms = (access.index - Polynomial.of(global_id(along))).terms
        factors = [
            [it.name for it in monomial if isinstance(it, Parameter)]
            for monomial, factor in terms.items()
            if factor % lanes
        ]
        for uniform in sorted(factors, key=len):  # One factor that is a multiple is enough for a product.
            if not uniform:
                return None
            tests = [f"{it} % {lanes} == 0" for it in uniform]
            if not set(tests) & set(found):
                found.append(tests[0])
        return found

    def _element(self, access: Access) -> str:
        """Return an access with ids by the names that stand around it."""
        named: dict[Atom, str] = {global_id(d): it.name for d, it in self.move.grid.ids.items()}
        text = self.scope.source(access.span)
        index = spelt(access.index, named)
        known = {it.name for it in self.scope.subject.analysis.kernel.parameters} | set(named.values())
        if self.scope.words(access.span.start, access.span.end) <= known:
            return text
        return f"{access.buffer}[{index}]"

    def _ids(self, names: dict[int, str]) -> list[str]:
        """Return the declarations of the tile's two ids."""
        ids = self.move.grid.ids
        if len({ids[d].type for d in names}) == 1:
            both = ", ".join(f"{ids[d].name} = {self.first[d]} + {it}" for d, it in names.items())
            return [f"const {ids[next(iter(names))].type} {both};"]
        return [f"const {ids[d].type} {ids[d].name} = {self.first[d]} + {it};" for d, it in names.items()]

    def _loads_by_vectors(self) -> list[str]:
        move, unit, lanes = self.move, self.unit, self.move.lanes
        lines = [f"for (int {self.r} = 0; {self.r} < {move.side}; {self.r} += {GROUP}) {{"]
        inner = self._ids({move.read: f"{lanes} * {self.lx}", move.write: f"{self.r} + {self.ly}"})
        for it in move.loads:
            tile = f"&{self.tiles[it.site]}[{self.r} + {self.ly}][{lanes} * {self.lx}]"
            vector = f"*(__global const {it.type}{lanes} *)&{self._element(it)}"
            inner.append(f"vstore{lanes}({vector}, 0, {tile});")
        return [*lines, *(unit + it for it in inner), "}"]

    def _loads_one_by_one(self) -> list[str]:
        move = self.move
        names = {move.read: f"{self.c} + {self.lx}", move.write: f"{self.r} + {self.ly}"}
        statements = [
            f"{self.tiles[it.site]}[{self.r} + {self.ly}][{self.c} + {self.lx}] = {self._element(it)};"
            for it in move.loads
        ]
        return self._one_by_one(names, statements)

    def _one_by_one(self, names: dict[int, str], statements: list[str]) -> list[str]:
        move, unit = self.move, self.unit
        condition = move.grid.condition({})
        if condition:
            opening, closing = (" {", ["}"]) if len(statements) > 1 else ("", [])
            statements = [f"if ({condition}){opening}", *(unit + it for it in statements), *closing]
        return [
            f"for (int {self.r} = 0; {self.r} < {move.side}; {self.r} += {GROUP})",
            f"{unit}for (int {self.c} = 0; {self.c} < {move.side}; {self.c} += {GROUP}) {{",
            *(unit * 2 + it for it in (*self._ids(names), *statements)),
            f"{unit}}}",
        ]

    def _stores_by_vectors(self) -> list[str]:
        move, unit, lanes = self.move, self.unit, self.move.lanes
        store, ids = move.store, move.grid.ids
        row = Id(ids[move.read].type, ids[move.read].name)
        column = ids[move.write]
        turns = [
            f"const {column.type} {column.name} = {self.first[move.write]} + {lanes} * {self.lx} + {self.c};",
            *self._statements(f"{lanes} * {self.lx} + {self.c}", f"{self.r} + {self.ly}", self.results),
        ]
        target = f"*(__global {store.type}{lanes} *)&"
        place = spelt(
            store.index,
            {
                **{global_id(d): it.name for d, it in ids.items()},
                global_id(move.write): f"({self.first[move.write]} + {lanes} * {self.lx})",
            },
        )
        inner = [
            f"const {row.type} {row.name} = {self.first[move.read]} + {self.r} + {self.ly};",
            f"{store.type} {self.results}[{lanes}];",
            f"for (int {self.c} = 0; {self.c} < {lanes}; {self.c}++) {{",
            *(unit + it for it in turns),
            "}",
            f"{target}{store.buffer}[{place}] = vload{lanes}(0, {self.results});",
        ]
        return [
            f"for (int {self.r} = 0; {self.r} < {move.side}; {self.r} += {GROUP}) {{",
            *(unit + it for it in inner),
            "}",
        ]

    def _stores_one_by_one(self) -> list[str]:
        move = self.move
        names = {move.write: f"{self.c} + {self.lx}", move.read: f"{self.r} + {self.ly}"}
        return self._one_by_one(
            names, self._statements(f"{self.c} + {self.lx}", f"{self.r} + {self.ly}", None)
        )

    def _statements(self, row: str, column: str, results: str | None) -> list[str]:
        """Return the kernel's statements at a point of the tile; `results` takes what is stored, if given."""
        scope, move = self.scope, self.move
        found = []
        for node in move.grid.statements:
            changes = {
                (it.span.start, it.span.end): f"{self.tiles[it.site]}[{row}][{column}]"
                for it in move.loads
                if node.holds(it.span.start, it.span.end)
            }
            store = move.store.span
            if results is not None and node.holds(store.start, store.end):
                changes[store.start, store.end] = f"{results}[{self.c}]"
            for it in CALL.finditer(scope.shown, node.start, node.end):
                if not any(a <= it.start() < b for a, b in changes):
                    changes[it.start(), it.end()] = move.grid.ids[int(it[1])].name
            found.append(re.sub(r"\s*\n\s*", " ", scope.rewritten(node.start, node.end, changes)))
        return found

"""Products whose operands are staged through tiles of local memory, written without the tiles.

The tiled multiply of every textbook: each work-item copies an element of each operand, the group waits, and
an inner loop adds up what the tiles hold. To tile it otherwise, one needs the product behind its tiles. An
element that is read from a tile was copied there by one work-item of the group: with that one's ids in the
place of the reader's, its index in global memory is a function of the reader's ids and of the turns of both
loops as one. What is copied as zero past the ends bounds that one loop.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from clmap_lsp.access.algebra import substitute
from clmap_lsp.access.polynomial import (
    ONE,
    LoopSymbol,
    Op,
    Operation,
    Parameter,
    Polynomial,
    WorkItemSymbol,
    global_id,
    group_id,
    local_id,
    local_size,
    varies_in_launch,
)
from clmap_lsp.access.records import Access, Direction
from clmap_lsp.access.wording import atom_words
from clmap_lsp.analysis.kernel import analyse_kernel
from clmap_lsp.dataclass import dataclass
from clmap_lsp.fixes import facts, grid
from clmap_lsp.fixes.assumptions import Assumption, equal, fixed, multiple, no_offset
from clmap_lsp.fixes.group_size import size_assumed
from clmap_lsp.fixes.loops import CountingLoop, counting_loops
from clmap_lsp.fixes.predict import rewritten
from clmap_lsp.fixes.scope import Scope, spelt
from clmap_lsp.fixes.spelt_out import SpeltOut, Use
from clmap_lsp.launch.model import ScalarArgument
from clmap_lsp.source import ir
from clmap_lsp.source.ir import WorkItemQuery as Query
from clmap_lsp.source.types import AddressSpace

if TYPE_CHECKING:
    from clmap_lsp.access.polynomial import Atom
    from clmap_lsp.fixes.model import Subject
    from clmap_lsp.fixes.outline import Node

_IDS = (global_id(0), global_id(1))
_PRODUCT = re.compile(r"(?<=[\w)])\*(?=[\w(])")
_ATTRIBUTE = re.compile(r"__attribute__\s*\(\s*\(\s*reqd_work_group_size\s*\([^()]*\)\s*\)\s*\)\s*")


def untiled(subject: Subject) -> SpeltOut | None:
    """Return a subject whose kernel reads its operands where they are; `None` where it has no such tiles."""
    scope = Scope.of(subject)
    kernel = subject.analysis.kernel
    if scope is None or len(subject.launch.global_size) != 2 or facts.opaque(kernel) or kernel.frames:
        return None
    if not any(it.space is AddressSpace.LOCAL for it in facts.accesses(subject.analysis)):
        return None
    loops = _Loops.of(scope)
    product = None if loops is None else _Reader(scope, loops).product()
    uses = None if product is None else _uses(scope, product)
    if product is None or uses is None:
        return None
    program = rewritten(subject, [scope.replaced(it.start, it.end, it.text) for it in uses])
    after = None if isinstance(program, str) else program.kernel(subject.analysis.name)
    if isinstance(program, str) or after is None:
        return None
    analysis = analyse_kernel(after, subject.launch, (), subject.device, program.constants)
    made = replace(subject, program=program, analysis=analysis, emulation=None, figures=None)
    return SpeltOut(made, uses, (*product.assumptions, *size_assumed(scope), no_offset(2)))


@dataclass(frozen=True, slots=True)
class _Loops:
    """The loop over tiles and the one over a tile's turns, which is the only one in it."""

    outer: ir.Loop
    tile: LoopSymbol
    inner: CountingLoop
    turns: int
    sizes: Mapping[Atom, int]
    """What the launch has for sizes of work-groups, and for arguments or macros that a tile's length is."""

    @property
    def fixed(self) -> Iterator[Assumption]:
        """Those that the rewrite holds for only."""
        return (fixed(it.name, n) for it, n in self.sizes.items() if isinstance(it, Parameter))

    @classmethod
    def of(cls, scope: Scope) -> _Loops | None:
        """Return the loops of a kernel that has just those two."""
        launch = scope.subject.launch
        found = [it for it in ir.walk(scope.subject.analysis.kernel.body) if isinstance(it, ir.Loop)]
        if len(found) != 2 or not any(it is found[1] for it in found[0].body):
            return None
        inner = next((it for it in counting_loops(scope) if it.statement is found[1]), None)
        if inner is None or inner.symbol.trip is None or not inner.from_zero or inner.increment is not None:
            return None
        around = {it.loops for it in facts.accesses(scope.subject.analysis) if inner.symbol in it.loops}
        sizes: dict[Atom, int] = {local_size(d): it for d, it in enumerate(launch.local_size)}
        for it in inner.symbol.trip.leaves:
            argument = launch.arguments.get(it.name) if isinstance(it, Parameter) else None
            if isinstance(argument, ScalarArgument) and isinstance(argument.values[0], int):
                sizes[it] = argument.values[0]
        turns = substitute(inner.symbol.trip, sizes).value
        if len(around) != 1 or turns is None or turns < 1:
            return None
        ((tile, *more),) = around
        if more != [inner.symbol] or tile.exits_early or tile.trip is None or varies_in_launch(tile.trip):
            return None
        return cls(found[0], tile, inner, turns, sizes)


@dataclass(frozen=True, slots=True)
class _Element:
    """What a work-item copies into a tile, or reads by itself: where it is, and when it is not zero."""

    buffer: str
    index: Polynomial
    conditions: tuple[Polynomial, ...]
    """Each is more than 0."""


@dataclass(frozen=True, slots=True)
class _Product:
    """The kernel as one loop: texts of what is read in it and stored behind it."""

    loops: _Loops
    bound: str
    sum: ir.Variable
    ids: Mapping[int, str]
    limits: Mapping[int, str]
    """What ids of a dimension stay below."""
    texts: Mapping[tuple[int, int], str]
    """Accesses by their places."""
    after: tuple[Node, ...]
    assumptions: tuple[Assumption, ...]


class _Reader:
    """Follows what is read from tiles to where it came from."""

    def __init__(self, scope: Scope, loops: _Loops) -> None:
        self.scope, self.loops = scope, loops
        self.accesses = facts.accesses(scope.subject.analysis)
        self.sides = scope.subject.launch.local_size
        self.by: dict[Atom, Polynomial | int] = {**loops.sizes}
        for d, side in enumerate(self.sides):
            self.by[global_id(d)] = Polynomial.of(group_id(d), side) + Polynomial.of(local_id(d))

    # ------------------------------------------------------------------------------------------ the whole

    def product(self) -> _Product | None:
        """Return the kernel as one loop; `None` for one of any other form."""
        node, outer = self.loops.inner.node, self.scope.node_at(self.loops.outer.span)
        read = [it for it in self.accesses if node.holds(it.span.start, it.span.end)]
        after = None if outer is None else self._after(outer)
        total = self._sum()
        if outer is None or after is None or total is None or not self._in_order(read):
            return None
        behind = [it for it in self.accesses if it.span.start >= outer.end]
        operands = self._each([self._element(it) for it in read])
        sizes = self._sizes(operands or [])
        results = self._each([self._seen(it, sizes) for it in behind])
        if not operands or not results or not all(self.scope.is_typed(it) for it in (*read, *behind)):
            return None
        stored = results[0].conditions
        limits, bound = self._limits(stored), self._bound(self._ends(operands, stored))
        if limits is None or bound is None or any(set(it.conditions) != set(stored) for it in results):
            return None
        ids = {d: self._name(d) for d in (0, 1)}
        texts = {
            (access.span.start, access.span.end): text
            for access, it in zip((*read, *behind), (*operands, *results), strict=True)
            if (text := self._text(it, ids)) is not None
        }
        if len(texts) != len(read) + len(behind):
            return None
        end, assumed = bound
        same = (
            equal(Polynomial.of(it), size, f"{atom_words(it)} == {spelt(size, {})}")
            for it, size in sizes.items()
            if any(it in access.index.leaves for access in behind)
        )
        return _Product(
            self.loops, end, total, ids, limits, texts, after, (*assumed, *same, *self.loops.fixed)
        )

    def _each(self, elements: list[_Element | None]) -> list[_Element] | None:
        """Return elements with global ids and one turn for both loops; `None` unless all can be had so."""
        found = [it for each in elements if each is not None and (it := self._plain(each)) is not None]
        return found if len(found) == len(elements) else None

    def _in_order(self, read: list[Access]) -> bool:
        """True if tiles are filled, then read, with a barrier between, and one before they are filled anew.

        Nothing else is touched in the loop, nor before it.
        """
        body, inner = self.loops.outer.body, self.loops.inner.statement
        at = next(n for n, it in enumerate(body) if it is inner)
        filled = [n for n, it in enumerate(body) if _stores(it)]
        waits = [n for n, it in enumerate(body) if isinstance(it, ir.Barrier) and it.fences_local]
        kernel = self.scope.subject.analysis.kernel
        barriers = [it for it in ir.walk(kernel.body) if isinstance(it, ir.Barrier)]
        if not filled or len(waits) != len(barriers) or filled[-1] > at:
            return False
        before = any(filled[-1] < it < at for it in waits)
        after = any(it > at or it < filled[0] for it in waits)
        mine = [it for it in self.accesses if self.loops.tile in it.loops and it not in read]
        first = self.loops.outer.span.start
        plain = all(
            it.space is (AddressSpace.GLOBAL if it.direction is Direction.LOAD else AddressSpace.LOCAL)
            for it in mine
        )
        return before and after and plain and all(it.span.start > first for it in self.accesses)

    def _sum(self) -> ir.Variable | None:
        """Return the one variable that the inner loop adds to: 0 at first, left alone by the outer."""
        loops, kernel = self.loops, self.scope.subject.analysis.kernel
        own = {it.variable for it in ir.walk(loops.inner.statement.body) if isinstance(it, ir.Declare)}
        found = {
            it.variable
            for it in ir.walk(loops.inner.statement.body)
            if isinstance(it, ir.Assign) and not it.variable.is_temporary and it.variable not in own
        }
        if len(found) != 1:
            return None
        (total,) = found
        first = [it for it in kernel.body if isinstance(it, ir.Assign) and it.variable is total]
        others = [it for it in ir.walk(loops.outer.body) if getattr(it, "variable", None) is total]
        inner = [it for it in ir.walk(loops.inner.statement.body) if getattr(it, "variable", None) is total]
        before = [it for it in first if it.span.start < loops.outer.span.start]
        zero = len(before) == 1 and facts.is_zero(before[0].value)
        return total if zero and len(others) == len(inner) else None

    def _after(self, outer: Node) -> tuple[Node, ...] | None:
        """Return the statements behind the loops, out of their conditions, each of which guards a store."""
        found: list[Node] = []
        children = self.scope.body.children
        pending = list(children[children.index(outer) + 1 :]) if outer in children else []
        own = {it.name for it in self.scope.subject.analysis.kernel.variables if not it.is_temporary}
        stores = [it for it in self.accesses if it.direction is not Direction.LOAD]
        while pending:
            node = pending.pop(0)
            if node.kind == "block":
                pending = [*node.children, *pending]
            elif grid.returns(self.scope, node):
                continue
            elif node.kind == "if" and len(node.children) == 1:
                if not any(node.holds(it.span.start, it.span.end) for it in stores):
                    return None
                pending = [node.children[0], *pending]
            elif node.kind == "simple":
                found.append(node)
            else:
                return None
        blank = {(it.span.start, it.span.end): " " for it in self.accesses}
        total = self._sum()
        for node in found:
            inside = {span: it for span, it in blank.items() if node.holds(*span)}
            text = self.scope.rewritten(node.start, node.end, inside)
            if set(re.findall(r"[A-Za-z_]\w*", text)) & (own - {total.name if total else ""}):
                return None
        return tuple(found) or None

    # ------------------------------------------------------------------------------------------- elements

    def _seen(self, access: Access, sizes: Mapping[Atom, Polynomial]) -> _Element | None:
        """Return what an access touches, and when, in ids of one group."""
        by: dict[Atom, Polynomial | int] = {**self.by, **sizes}
        conditions = []
        for it in facts.conjuncts(access.guard):
            atom = it.atom
            if not isinstance(atom, Operation) or atom.op not in (Op.LT, Op.LE):
                return None
            left, right = atom.operands
            conditions.append(substitute(right - left + (atom.op is Op.LE), by))
        if not access.known or access.volatile or access.unit != access.size:
            return None
        return _Element(access.buffer, substitute(facts.unwrapped(access.index), by), tuple(conditions))

    def _element(self, access: Access) -> _Element | None:
        """Return what an access of the inner loop reads in global memory, in ids of one group."""
        seen = self._seen(access, {})
        if access.direction is not Direction.LOAD or seen is None:
            return None
        if access.space is AddressSpace.GLOBAL:
            return seen
        source = None if seen.conditions else self._source(access.buffer)
        if source is None:
            return None
        tile, origin = source
        copier = self._copier(tile, seen.index)
        if copier is None:
            return None
        conditions = tuple(substitute(it, copier) for it in origin.conditions)
        return _Element(origin.buffer, substitute(origin.index, copier), conditions)

    def _source(self, name: str) -> tuple[Polynomial, _Element] | None:
        """Return where a work-item stores into a tile, and what it loads for that."""
        stores = [it for it in self.accesses if it.buffer == name and it.direction is Direction.STORE]
        tiles = {it.site: name for it in stores}
        site = _copied(self.loops.outer.body, self.loops.inner.statement, tiles)
        load = next((it for it in self.accesses if it.site == site), None)
        if load is None or load.buffer not in self._readable() or len({it.index for it in stores}) != 1:
            return None
        seen = self._seen(load, {})
        if load.type != stores[0].type or not all(it.known and it.unit == it.size for it in stores):
            return None
        return None if seen is None else (substitute(facts.unwrapped(stores[0].index), self.by), seen)

    def _readable(self) -> set[str]:
        return {it.name for it, _ in facts.read_only_buffers(self.scope.subject)}

    def _copier(self, tile: Polynomial, read: Polynomial) -> dict[Atom, Polynomial | int] | None:
        """Return the local ids of the work-item that stores what another one reads.

        Each id of a store is an id, or the turn, of the read. No two work-items store in one place.
        """
        sources: dict[Atom, int] = {local_id(d): side for d, side in enumerate(self.sides)}
        reaches: dict[Atom, int] = {**sources, self.loops.inner.symbol: self.loops.turns}
        found: dict[Atom, Atom] = {}
        rest, steps = read - tile, []
        for mine, side in sources.items():
            step = tile.coefficient(mine)
            if step is None or not step.value:
                return None
            steps.append((step.value, side))
            other = next(
                (
                    it
                    for it, reach in reaches.items()
                    if read.coefficient(it) == step and reach <= side and it not in found.values()
                ),
                None,
            )
            if other is None:
                return None
            found[mine] = other
            rest += Polynomial.of(mine, step.value) - Polynomial.of(other, step.value)
        (small, length), (large, _) = sorted(steps)
        if rest or small <= 0 or small * length > large:
            return None
        return {mine: Polynomial.of(it) for mine, it in found.items()}

    # ---------------------------------------------------------------------------------------------- turns

    def _plain(self, element: _Element) -> _Element | None:
        values = [self._as_one(it) for it in (element.index, *element.conditions)]
        known = [it for it in values if it is not None]
        return _Element(element.buffer, known[0], tuple(known[1:])) if len(known) == len(values) else None

    def _as_one(self, value: Polynomial) -> Polynomial | None:
        tile, turn = self.loops.tile, self.loops.inner.symbol
        pairs: list[tuple[Atom, Atom, int, Atom]] = [(tile, turn, self.loops.turns, turn)]
        pairs += [(group_id(d), local_id(d), side, global_id(d)) for d, side in enumerate(self.sides)]
        for slow, quick, length, whole in pairs:
            of_slow, of_quick = value.coefficient(slow), value.coefficient(quick)
            if of_slow is None or of_quick is None or of_slow != of_quick.scaled(length):
                return None
            value = value - of_slow * Polynomial.of(slow) - of_quick * Polynomial.of(quick)
            value += of_quick * Polynomial.of(whole)
        return value

    def _sizes(self, elements: list[_Element]) -> dict[Atom, Polynomial]:
        """Return the pitches of the operands whose rows a dimension walks, by the size of that dimension."""
        found: dict[Atom, Polynomial] = {}
        for it in elements:
            pitch = it.index.coefficient(self.loops.inner.symbol)
            if pitch is not None and isinstance(pitch.atom, Parameter):
                walked = (d for d, symbol in enumerate(_IDS) if it.index.coefficient(symbol) == ONE)
                found.update({WorkItemSymbol(Query.GLOBAL_SIZE, d): pitch for d in walked})
        return found

    def _limits(self, conditions: tuple[Polynomial, ...]) -> dict[int, str] | None:
        """Return what ids stay below where results are stored; `None` for conditions of another kind."""
        found: dict[int, str] = {}
        for it in conditions:
            ends = {d: it + Polynomial.of(symbol) for d, symbol in enumerate(_IDS)}
            below = {
                d: text for d, end in ends.items() if not varies_in_launch(end) and (text := spelt(end, {}))
            }
            if len(below) != 1 or not found.keys().isdisjoint(below):
                return None
            found.update(below)
        return found

    def _ends(self, operands: list[_Element], stored: tuple[Polynomial, ...]) -> set[Polynomial] | None:
        """Return what the turns stay below, by the conditions of all operands: one, or none.

        `None` where an operand has another condition that does not hold wherever a result is stored.
        """
        turn = Polynomial.of(self.loops.inner.symbol)
        each = [frozenset(it + turn for it in set(one.conditions) - set(stored)) for one in operands]
        if (
            len(set(each)) != 1
            or len(each[0]) > 1
            or any(varies_in_launch(it) or it.loop_symbols for it in each[0])
        ):
            return None
        return set(each[0])

    def _bound(self, ends: set[Polynomial] | None) -> tuple[str, tuple[Assumption, ...]] | None:
        """Return where the turns of all tiles end, and what that assumes: whole tiles, if nothing says."""
        trip, turns = self.loops.tile.trip, self.loops.turns
        assert trip is not None, "it was asked"
        length = _times(substitute(trip, self.loops.sizes), turns)
        if length is None or ends is None:
            return None
        end = next(iter(ends), length - length.offset)
        beyond, text = (length - end).value, spelt(end, {})
        if beyond is None or beyond < 0 or text is None:
            return None
        if ends and beyond >= turns - 1:
            return text, ()
        if beyond >= turns:
            return None
        return text, () if end.value is not None and end.value % turns == 0 else (multiple(end, text, turns),)

    # ----------------------------------------------------------------------------------------------- text

    def _name(self, dimension: int) -> str:
        name = self.accesses[0].names.get(global_id(dimension))
        return name if name is not None else self.scope.fresh(grid.FRESH[dimension])

    def _text(self, element: _Element, ids: Mapping[int, str]) -> str | None:
        names: dict[Atom, str] = {global_id(d): it for d, it in ids.items()}
        names[self.loops.inner.symbol] = self.loops.inner.name
        index = spelt(element.index, names)
        return None if index is None else f"{element.buffer}[{_PRODUCT.sub(' * ', index)}]"


def _stores(statement: ir.Statement) -> bool:
    return any(isinstance(it, ir.Store) for it in ir.walk((statement,)))


def _times(trip: Polynomial, turns: int) -> Polynomial | None:
    """Return the turns of all tiles, but for what rounding takes off: `n + 15` for `(n + 15) / 16` tiles."""
    if trip.value is not None:
        return trip.scaled(turns)
    atom = (trip - trip.offset).atom
    if not isinstance(atom, Operation) or atom.op not in (Op.FLOOR_DIV, Op.TRUNC_DIV):
        return None
    length, divisor = atom.operands
    return length + trip.offset * turns if divisor.value == turns else None


# ---------------------------------------------------------------------------------------------------- values

_ZERO = -1
"""Stands for the number; loads are known by their sites, and `None` is any other value."""
_Values = Mapping[ir.Variable | str, frozenset[int] | None]


def _copied(body: ir.Block, until: ir.Statement, tiles: Mapping[int, str]) -> int | None:
    """Return the site of the load that a tile holds before a statement of a block: always, or else zero.

    Args:
        tiles: the name of the tile, by the sites of the stores into it.
    """
    found = _values(body, {}, until, tiles).get(next(iter(tiles.values()), ""))
    sites = frozenset() if found is None else found - {_ZERO}
    return next(iter(sites)) if len(sites) == 1 else None


def _values(block: ir.Block, before: _Values, until: ir.Statement, tiles: Mapping[int, str]) -> _Values:
    """Return what variables and tiles are behind the statements of a block before `until`.

    One that is a load or zero is the load wherever that is made.
    """
    now = dict(before)
    for statement in block:
        if statement is until:
            break
        match statement:
            case ir.Declare(variable=variable):
                now[variable] = frozenset()
            case ir.Load(variable=variable, site=site):
                now[variable] = frozenset((site,))
            case ir.Assign(variable=variable, value=value):
                now[variable] = _value(value, now)
            case ir.Store(site=site, value=value) if site in tiles:
                now[tiles[site]] = _value(value, now)
            case ir.If(then=then, otherwise=otherwise):
                one, other = (_values(it, now, until, tiles) for it in (then, otherwise))
                now = {it: _either(one.get(it), other.get(it), now.get(it)) for it in {*one, *other}}
            case _:
                for it in ir.walk((statement,)):
                    if isinstance(changed := getattr(it, "variable", None), ir.Variable):
                        now[changed] = None
    return now


def _value(value: ir.Expression, values: _Values) -> frozenset[int] | None:
    match value:
        case ir.Read(variable=variable):
            return values.get(variable)
        case _:
            return frozenset((_ZERO,)) if facts.is_zero(value) else None


def _either(
    one: frozenset[int] | None, other: frozenset[int] | None, before: frozenset[int] | None
) -> frozenset[int] | None:
    """Return a value behind a condition: one of its branches may load it, if the other leaves it zero."""
    if one == other:
        return one
    for loaded, zero in ((one, other), (other, one)):
        if loaded and zero == frozenset((_ZERO,)) and not (loaded - {_ZERO}) & (before or frozenset()):
            return loaded | zero
    return None


# ------------------------------------------------------------------------------------------------------ text


def _uses(scope: Scope, product: _Product) -> tuple[Use, ...] | None:
    """Return what takes the place of the kernel's body, and of the size that it requires of work-groups."""
    body, kernel = scope.body, scope.subject.analysis.kernel
    uses = [Use(body.children[0].start, body.children[-1].end, _body(scope, product), is_kept=True)]
    if kernel.attributes.reqd_work_group_size is not None:
        start = max(scope.shown.rfind(it, 0, scope.subject.analysis.span.start) for it in ";}") + 1
        found = _ATTRIBUTE.search(scope.shown, start, body.start)
        if found is None:
            return None
        uses.insert(0, Use(found.start(), found.end(), "", is_kept=True))
    return tuple(uses)


def _body(scope: Scope, product: _Product) -> str:
    inner, total, unit = product.loops.inner, product.sum, scope.unit

    def text(node: Node) -> str:
        inside = {span: it for span, it in product.texts.items() if node.holds(*span)}
        return scope.rewritten(node.begins, node.end, inside)

    lines = [
        f"{total.type} {total.name} = 0;",
        f"for ({inner.type} {inner.name} = 0; {inner.name} < {product.bound}; {inner.name}++)",
        f"{unit}{text(inner.body)}",
        *(text(it) for it in product.after),
    ]
    if product.limits:
        condition = " && ".join(f"{product.ids[d]} < {it}" for d, it in sorted(product.limits.items()))
        lines = [f"if ({condition}) {{", *(unit + it for it in lines), "}"]
    ids = [f"const int {it} = get_global_id({d});" for d, it in sorted(product.ids.items())]
    return f"{scope.newline}{scope.indent(scope.body.children[0].start)}".join([*ids, *lines])

"""Compute several rows (or planes) a work-item, what neighbouring rows share in registers.

For stencils and convolutions, whose results read what the results beside them read: a work-item that
computes four rows loads each element once for all of them, and starts once. A stencil of nine points loads
18 elements for four results instead of 36. Rows that no result needs are not loaded: what is loaded was
loaded before. Kernels without loops that share nothing can take several rows too, where a launch is bound by
how fast work-items start. Predicted times decide.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from math import gcd
from typing import TYPE_CHECKING

from clmap_lsp.access.algebra import substitute
from clmap_lsp.access.polynomial import (
    ONE,
    ZERO,
    LoopSymbol,
    Op,
    Operation,
    Parameter,
    Polynomial,
    WorkItemSymbol,
    global_id,
    varies_in_launch,
)
from clmap_lsp.access.records import Access, Direction
from clmap_lsp.access.wording import words
from clmap_lsp.dataclass import dataclass
from clmap_lsp.fixes import facts, grid
from clmap_lsp.fixes.assumptions import Assumption, no_offset, overlaps
from clmap_lsp.fixes.guarding import deeper
from clmap_lsp.fixes.loops import CountingLoop, counting_loops
from clmap_lsp.fixes.model import Proposal
from clmap_lsp.fixes.parameters import read_alone
from clmap_lsp.fixes.scope import Scope, spelt, tight
from clmap_lsp.fixes.unused import pruned
from clmap_lsp.hosts.changes import LaunchChange, Resize
from clmap_lsp.source import ir
from clmap_lsp.source.types import AddressSpace, ScalarType

if TYPE_CHECKING:
    from clmap_lsp.access.polynomial import Atom
    from clmap_lsp.fixes.model import Subject
    from clmap_lsp.fixes.outline import Node
    from clmap_lsp.launch.model import Launch

KIND = "several-rows"
NEEDS = "a launch in two dimensions or three whose work-items load what those of the rows beside them load"
COUNTS = (4, 8)
"""Rows a work-item."""
MOST_REGISTERS = 80
"""Words of what a work-item keeps of neighbouring rows; beyond, registers are short."""
LEAST_PITCH = 16
"""A row is so many elements at least, where a number says how many."""
_RETURN = re.compile(r"\breturn\s*;")
_WRITTEN = (Op.MIN, Op.MAX, Op.LT, Op.LE, Op.EQ, Op.NE, Op.LOGICAL_AND, Op.LOGICAL_OR, Op.LOGICAL_NOT)
WORDS = {2: "two", 4: "four", 8: "eight"}


@dataclass(frozen=True, slots=True)
class _Use:
    """A load as part of a patch: `row` rows and `rest` elements from the first work-item's own place.

    A loop may walk over rows, another over neighbouring elements. With both, `clamped` may be the whole index
    if it knows a row by its number alone: `clamp(y + j, 0, height - 1) * width + clamp(x + i, 0, width - 1)`,
    and `inside` the conditions in the loops, which do so too: `y + j >= 0`.
    """

    access: Access
    pitch: Polynomial
    row: int
    rest: Polynomial
    rows: CountingLoop | None = None
    columns: CountingLoop | None = None
    clamped: Polynomial | None = None
    inside: tuple[Polynomial, ...] = ()


@dataclass(frozen=True, slots=True)
class _Patch:
    """What a work-item keeps of one buffer: `n_rows` rows for one result, one more for each further one."""

    uses: tuple[_Use, ...]
    columns: tuple[Polynomial, ...]
    """By column: its distance from a work-item's own; for a loop over columns only the first."""
    first: int
    n_rows: int
    n_columns: int

    @property
    def access(self) -> Access:
        """One of its loads."""
        return self.uses[0].access

    def n_words(self, count: int) -> int:
        """Return the registers that it takes for a number of results."""
        return (self.n_rows + count - 1) * self.n_columns * max(self.access.size // 4, 1)


def propose(subject: Subject) -> Iterator[Proposal]:
    """Yield one rewrite for each dimension and number of rows."""
    n_dimensions = len(subject.launch.global_size)
    scope = Scope.of(subject)
    if subject.device.has_scratchpad is False or scope is None or n_dimensions < 2:
        return  # A CPU's caches hold what rows share, and its compiler makes vectors of neighbours itself.
    if not scope.body.children or not _fits(scope):
        return
    has_loops = any(isinstance(it, ir.Loop) for it in ir.walk(subject.analysis.kernel.body))
    for dimension in range(1, n_dimensions):
        patches = _patches(scope, dimension)
        if not patches and (has_loops or dimension > 1):
            continue  # A loop gives a work-item enough to do.
        for count in COUNTS:
            proposal = _proposal(subject, dimension, count, patches)
            if proposal is not None:
                yield proposal


def _fits(scope: Scope) -> bool:
    """True if a kernel's work-items know of each other nothing but their ids."""
    kernel = scope.subject.analysis.kernel
    if kernel.attributes.reqd_work_group_size is not None or kernel.frames or facts.opaque(kernel):
        return False
    if facts.synchronises(kernel.body) or not grid.knows_only_ids(scope):
        return False
    if not grid.read_once(scope, grid.ids_of(scope)):
        return False
    unfit = (ir.Atomic, ir.ImageRead, ir.ImageWrite, ir.Print, ir.Fence)
    if any(isinstance(it, unfit) for it in ir.walk(kernel.body)):
        return False
    if any(it.kind is ir.VariableKind.LOCAL_OBJECT for it in kernel.variables):
        return False
    for node in scope.body.walk():
        inner = node.kind in ("for", "while", "do", "switch")
        if inner and _RETURN.search(scope.shown, node.start, node.end):
            return False
    found = facts.accesses(scope.subject.analysis)
    returns = [it for it in ir.walk(kernel.body) if isinstance(it, ir.Return)]
    typed = len(_RETURN.findall(scope.shown, scope.body.start, scope.body.end))
    plain = not any(it.volatile or it.buffer == "?" or it.space is AddressSpace.LOCAL for it in found)
    return plain and len(returns) <= typed


def _proposal(subject: Subject, dimension: int, count: int, patches: tuple[_Patch, ...]) -> Proposal | None:
    launch = subject.launch
    scope = Scope.of(subject)
    assert scope is not None, "it was read before"
    if launch.global_size[dimension] < 2 * count or sum(it.n_words(count) for it in patches) > MOST_REGISTERS:
        return None
    bounding = grid.bounding(scope, dimension)
    covered = grid.covered(bounding, dimension, count)
    text = _Writer(scope, dimension, count, patches).text()
    if covered is None or text is None:
        return None
    start, end = scope.body.children[0].start, scope.line_end(scope.body.children[-1].end)
    buffers = _loaded_once(scope, dimension, patches)
    what = "planes" if dimension == 2 else "rows"
    return Proposal(
        KIND,
        f"Compute {count} {what} a work-item, neighbours in registers"
        if patches
        else f"Handle {count} {what} a work-item",
        (*read_alone(scope, buffers), scope.replaced(start, end, text)),
        assumptions=(covered, no_offset(len(launch.global_size)), *_apart(scope, buffers)),
        relaunch=partial(
            _relaunched, dimension=dimension, count=count, rounds=bool(grid.upper_bounds(bounding, dimension))
        ),
        host_change=f"launch one work-item for every {count} in dimension {dimension}, rounded up to whole "
        "work-groups",
        change=LaunchChange(global_size={dimension: Resize(over=count)}),
        sites=frozenset(use.access.site for it in patches for use in it.uses),
        lowers_traffic=False,
        least_gain=0.0,
        by_time=True,
    )


def _loaded_once(scope: Scope, dimension: int, patches: tuple[_Patch, ...]) -> set[str]:
    """Return the buffers of patches, and those of which all rows load the same: filters, for one."""
    if not patches:
        return set()
    same = {
        parameter.name
        for parameter, loads in facts.read_only_buffers(scope.subject)
        if all(global_id(dimension) not in it.index.leaves for it in loads)
    }
    return same | {it.access.buffer for it in patches}


def _apart(scope: Scope, buffers: set[str]) -> tuple[Assumption, ...]:
    return overlaps(scope.subject.analysis.kernel, buffers, facts.written(scope.subject.analysis))


def _relaunched(launch: Launch, dimension: int, count: int, rounds: bool) -> Launch:
    sizes, groups = list(launch.global_size), list(launch.local_size)
    items = -(-sizes[dimension] // count)
    if rounds:
        items = -(-items // groups[dimension]) * groups[dimension]
    else:
        groups[dimension] = gcd(items, groups[dimension])
    sizes[dimension] = items
    return replace(launch, global_size=tuple(sizes), local_size=tuple(groups))


# ---------------------------------------------------------------------------------------------- recognition


def _patches(scope: Scope, dimension: int) -> tuple[_Patch, ...]:
    """Return what results beside each other share, for results along a dimension."""
    readable = {it.name for it, _ in facts.read_only_buffers(scope.subject)}
    loops = {it.symbol: it for it in counting_loops(scope)}
    single: dict[object, list[_Use]] = {}
    found: list[_Patch] = []
    for access in facts.accesses(scope.subject.analysis):
        if access.buffer not in readable or not _is_plain(scope, access):
            continue
        use = _use(access, dimension, loops) or _clamped(scope, access, dimension, loops)
        if use is None:
            continue
        if use.rows is None and use.columns is None:
            single.setdefault((access.buffer, use.pitch, access.guard, str(access.type)), []).append(use)
        elif use.rows is not None:
            found.append(_of_loops(use))
    for uses in single.values():
        found += _of_single(uses)
    return tuple(found)


def _is_plain(scope: Scope, access: Access) -> bool:
    return (
        access.space is AddressSpace.GLOBAL
        and access.direction is Direction.LOAD
        and access.known
        and not access.volatile
        and scope.is_typed(access)
        and isinstance(access.type, ScalarType)
        and access.unit == access.size
        and all(it.loop_symbols or grid.writable(it) for it in facts.conjuncts(access.guard))
    )


def _use(access: Access, dimension: int, loops: Mapping[LoopSymbol, CountingLoop]) -> _Use | None:
    pitch = access.index.coefficient(global_id(dimension))
    if any(it.loop_symbols for it in facts.conjuncts(access.guard)):
        return None
    if pitch is None or not pitch or varies_in_launch(pitch) or not _is_uniform(pitch):
        return None
    if pitch.value is not None and abs(pitch.value) < LEAST_PITCH:
        return None
    rest = access.index - pitch * Polynomial.of(global_id(dimension))
    rows: CountingLoop | None = None
    columns: CountingLoop | None = None
    for symbol in access.loops:
        step = rest.coefficient(symbol)
        loop = loops.get(symbol)
        turns = None if symbol.trip is None else symbol.trip.value
        if step == ZERO:
            continue
        if step is None or loop is None or not turns or symbol.start is None or symbol.start.value is None:
            return None
        if step == pitch and rows is None:
            rows = loop
        elif step == ONE and columns is None:
            columns = loop
        else:
            return None
        rest -= step * Polynomial.of(symbol)
    row = _row(rest, pitch)
    rest -= pitch.scaled(row)
    fine = all(isinstance(it, Parameter) or _is_id(it) for it in rest.leaves) and spelt(rest, {}) is not None
    return _Use(access, pitch, row, rest, rows, columns) if fine else None


def _clamped(
    scope: Scope, access: Access, dimension: int, loops: Mapping[LoopSymbol, CountingLoop]
) -> _Use | None:
    """Return a load by two loops over rows and elements that are held inside the picture."""
    index = access.index
    inside = tuple(it for it in facts.conjuncts(access.guard) if it.loop_symbols)
    walked = [it for it in access.loops if any(it in each.leaves for each in (index, *inside))]
    parts = (atom for each in (index, *inside) for atom in each.walk())
    if len(walked) != 2 or not all(_is_written(scope, it) for it in parts):
        return None
    own = global_id(dimension)
    for rows, columns in (walked, walked[::-1]):
        both = [loops.get(it) for it in (rows, columns)]
        known = [it for it in both if it is not None and _has_turns(it)]
        moved: dict[Atom, Polynomial | int] = {rows: 0, own: Polynomial.of(own) + Polynomial.of(rows)}
        if len(known) == 2 and all(substitute(it, moved) == it for it in (index, *inside)):
            return _Use(access, ZERO, 0, ZERO, known[0], known[1], index, inside)
    return None


def _has_turns(loop: CountingLoop) -> bool:
    symbol = loop.symbol
    start = None if symbol.start is None else symbol.start.value
    return start is not None and symbol.trip is not None and bool(symbol.trip.value)


def _is_written(scope: Scope, atom: Atom) -> bool:
    """True if a part of an index is an `int`, so that `min` and `max` of it are what they were."""
    if isinstance(atom, Operation):
        return atom.op in _WRITTEN
    if isinstance(atom, Parameter):
        kernel = scope.subject.analysis.kernel
        return any(it.name == atom.name and str(it.type) == "int" for it in kernel.parameters)
    return _is_id(atom) or isinstance(atom, LoopSymbol)


def _is_id(leaf: object) -> bool:
    return isinstance(leaf, WorkItemSymbol) and leaf.query is ir.WorkItemQuery.GLOBAL_ID


def _is_uniform(pitch: Polynomial) -> bool:
    return all(isinstance(it, Parameter) for it in pitch.leaves) and spelt(pitch, {}) is not None


def _row(rest: Polynomial, pitch: Polynomial) -> int:
    """Return how many whole rows a distance is, as its largest term says."""
    if pitch.value is not None:
        return (rest.offset + abs(pitch.value) // 2) // pitch.value
    monomial = max((it for it in pitch.terms if it), key=len)
    return rest.terms.get(monomial, 0) // pitch.terms[monomial]


def _of_loops(use: _Use) -> _Patch:
    assert use.rows is not None, "a loop walks over its rows"
    n_columns = 1 if use.columns is None else _turns(use.columns)
    return _Patch((use,), (use.rest,), use.row, _turns(use.rows), n_columns)


def _turns(loop: CountingLoop) -> int:
    value = loop.symbol.trip.value if loop.symbol.trip is not None else None
    assert value is not None, "only loops of so many turns are taken"
    return value


def _of_single(uses: list[_Use]) -> Iterator[_Patch]:
    """Yield the patches of loads that stand alone: columns of which the same rows are read, side by side."""
    rows: dict[Polynomial, set[int]] = {}
    for it in uses:
        rows.setdefault(it.rest, set()).add(it.row)
    extents: dict[tuple[int, int], list[Polynomial]] = {}
    for rest, mine in rows.items():
        first, last = min(mine), max(mine)
        if first < last and len(mine) == last - first + 1:  # Else rows would be loaded that nobody asked for.
            extents.setdefault((first, last), []).append(rest)
    for (first, last), columns in extents.items():
        columns.sort(key=lambda it: (it.offset, str(it)))
        kept = tuple(it for it in uses if it.rest in columns)
        yield _Patch(kept, tuple(columns), first, last - first + 1, len(columns))


# --------------------------------------------------------------------------------------------------- writing


class _Writer:
    """Writes the body anew: what comes before rows differ, what they share, and a loop over rows."""

    def __init__(self, scope: Scope, dimension: int, count: int, patches: tuple[_Patch, ...]) -> None:
        self.scope, self.dimension, self.count, self.patches = scope, dimension, count, patches
        self.unit = scope.unit
        self.ids = grid.ids_of(scope)
        named = self.ids.get(dimension)
        self.name = named.name if named is not None else grid.FRESH[dimension]
        calls = [
            it
            for node in scope.body.children
            if not grid.is_ids(scope, node)
            for it in grid.CALL.finditer(scope.shown, node.start, node.end)
            if int(it[1]) == dimension
        ]
        self.type = "size_t" if calls or named is None else named.type
        self.first, self.r = scope.fresh(f"{self.name}0"), scope.fresh("r")
        self.j, self.c = scope.fresh("j"), scope.fresh("c")
        self.arrays = [scope.fresh(f"{it.access.buffer}_rows") for it in patches]
        self.known: dict[int, str] = {}
        """What other ids are called before the loop over rows."""

    def text(self) -> str | None:
        """Return the new body; `None` where a patch cannot be written."""
        scope, unit = self.scope, self.unit
        hoisted = self._hoisted()
        shared = [line for at in range(len(self.patches)) for line in self._filled(at)]
        kind = self.type if self.type.startswith("const ") else f"const {self.type}"
        lines = [
            *(re.sub(r"\s*\n\s*", " ", it) for it in hoisted.values()),
            f"{kind} {self.first} = get_global_id({self.dimension}) * {self.count};",
            *shared,
            *(["#pragma unroll"] if self.patches else []),
            f"for (int {self.r} = 0; {self.r} < {self.count}; {self.r}++) {{",
            unit + deeper(self._body(hoisted), unit),
            "}",
        ]
        indent = scope.indent(scope.body.children[0].start)
        return pruned(scope, f"{scope.newline}{indent}".join(lines))

    # -------------------------------------------------------------------------------------- what is shared

    def _filled(self, at: int) -> list[str]:
        """Return the lines that load what rows share of one buffer."""
        patch, array, unit = self.patches[at], self.arrays[at], self.unit
        n_rows = patch.n_rows + self.count - 1
        what = "plane" if self.dimension == 2 else "row"
        lines = [
            f"// What {WORDS[self.count]} results of a work-item share of `{patch.access.buffer}` by {what}.",
            f"{patch.access.type} {array}[{n_rows}]"
            + (f"[{patch.n_columns}];" if self._is_wide(patch) else ";"),
        ]
        condition = self._condition(patch)
        turns = self._elements(at)
        head = f"for (int {self.j} = 0; {self.j} < {n_rows}; {self.j}++)"
        if not condition:
            return [*lines, "#pragma unroll", *_under(head, turns, unit)]
        needed = self.scope.fresh("needed")
        a = self.scope.fresh("a")
        test = _under(f"if ({needed}[{self.j}])", turns, unit)
        return [
            *lines,
            f"bool {needed}[{n_rows}] = {{false}};",
            "#pragma unroll",
            f"for (int {self.r} = 0; {self.r} < {self.count}; {self.r}++)",
            f"{unit}for (int {a} = 0; {a} < {patch.n_rows}; {a}++)",
            f"{unit * 2}{needed}[{self.r} + {a}] |= {condition};",
            "#pragma unroll",
            *_under(head, test, unit),
        ]

    def _is_wide(self, patch: _Patch) -> bool:
        return patch.n_columns > 1

    def _named(self) -> dict[Atom, str]:
        found: dict[Atom, str] = {}
        for d in range(3):  # Without a cast: what is compared with it is compared as the author did.
            found[global_id(d)] = self.known.get(d, f"get_global_id({d})")
        return found

    def _condition(self, patch: _Patch) -> str:
        """Return when a row's result loads its elements, as C text; empty for always."""
        named = {**self._named(), global_id(self.dimension): f"({self.first} + {self.r})"}
        parts = [words(it, named) for it in facts.conjuncts(patch.access.guard) if not it.loop_symbols]
        whole = " && ".join(f"({it})" if "||" in it else it for it in parts)
        whole = whole.replace(f"({self.first} + {self.r}) ", f"{self.first} + {self.r} ")
        return f"({whole})" if whole else ""

    def _elements(self, at: int) -> list[str]:
        """Return the lines that load a row's elements."""
        patch, array = self.patches[at], self.arrays[at]
        use = patch.uses[0]
        if use.clamped is not None:
            target = f"{array}[{self.j}]" + (f"[{self.c}]" if self._is_wide(patch) else "")
            text = self._inside(use)
            parts = [text(it) for it in use.inside]
            tests = " && ".join(f"({it})" if "||" in it else it for it in parts)
            load = f"{target} = {patch.access.buffer}[{text(use.clamped)}];"
            return [
                "#pragma unroll",
                f"for (int {self.c} = 0; {self.c} < {patch.n_columns}; {self.c}++)",
                *([f"{self.unit}if ({tests})", f"{self.unit * 2}{load}"] if tests else [self.unit + load]),
            ]
        row = f"{self.first} + {self.j}" + (
            f" {'-' if patch.first < 0 else '+'} {abs(patch.first)}" if patch.first else ""
        )
        pitch = spelt(use.pitch, {}) or ""
        place = f"({row}) * {tight(pitch)}"
        target = f"{array}[{self.j}]"
        if use.rows is not None and self._is_wide(patch):
            element = f"{patch.access.buffer}[{place}{self._plus(use.rest)} + {self.c}]"
            return [
                "#pragma unroll",
                f"for (int {self.c} = 0; {self.c} < {patch.n_columns}; {self.c}++)",
                f"{self.unit}{target}[{self.c}] = {element};",
            ]
        lines = []
        for column, rest in enumerate(patch.columns):
            mine = f"{target}[{column}]" if self._is_wide(patch) else target
            lines.append(f"{mine} = {patch.access.buffer}[{place}{self._plus(rest)}];")
        return lines

    def _inside(self, use: _Use) -> Callable[[Polynomial], str]:
        """Return how an index or a condition of a row's elements is written in C."""
        assert use.rows is not None and use.columns is not None, "two loops walk over it"
        turn = Polynomial.of(Parameter(self.c))
        here: dict[Atom, Polynomial | int] = {use.rows.symbol: 0, use.columns.symbol: turn}
        named: dict[Atom, str] = {}
        for d in range(3):
            kind = self.ids[d].type.removeprefix("const ") if d in self.ids else ""
            text = self.known.get(d, f"get_global_id({d})")
            named[global_id(d)] = text if kind == "int" and d in self.known else f"(int){text}"
        is_int = self.type.removeprefix("const ") == "int"
        row = f"{self.first} + {self.j}"
        named[global_id(self.dimension)] = f"({row})" if is_int else f"(int)({row})"
        return lambda value: words(substitute(value, here), named)

    def _plus(self, rest: Polynomial) -> str:
        text = spelt(rest, self._named()) or "0"
        return "" if text == "0" else f" - {text[1:]}" if re.fullmatch(r"-[\w*]+", text) else f" + {text}"

    # ------------------------------------------------------------------------------------------ rows

    def _hoisted(self) -> dict[Node, str]:
        """Return the declarations at the kernel's start that are the same for all rows, and their text."""
        scope, dimension = self.scope, self.dimension
        given = [
            it.variable.name
            for it in ir.walk(scope.subject.analysis.kernel.body)
            if isinstance(it, ir.Assign) and not it.variable.is_temporary
        ]
        own: set[str] = set()
        found: dict[Node, str] = {}
        for node in scope.body.children:
            if node.kind != "simple":
                break
            names = self._sets(node)
            mine = {int(it[1]) for it in grid.CALL.finditer(scope.shown, node.start, node.end)}
            differs = dimension in mine or bool(scope.words(node.start, node.end) & own)
            if grid.is_ids(scope, node) and mine != {dimension}:
                others = {d: it for d, it in self.ids.items() if d in mine and d != dimension}
                texts = [f"const {it.type} {it.name} = get_global_id({d});" for d, it in others.items()]
                found[node] = (
                    f"{scope.newline}{scope.indent(node.start)}".join(texts)
                    if dimension in mine
                    else scope.source(node)
                )
                self.known.update({d: it.name for d, it in others.items()})
                own |= {self.name} if dimension in mine else set()
                continue
            if differs or not names or any(given.count(it) != 1 for it in names) or self._touches(node):
                own |= names
                continue
            found[node] = scope.source(node)
        return found

    def _sets(self, node: Node) -> set[str]:
        body = self.scope.subject.analysis.kernel.body
        return {
            it.variable.name
            for it in ir.walk(body)
            if isinstance(it, (ir.Assign, ir.Declare, ir.Load))
            and not it.variable.is_temporary
            and node.holds(it.span.start, it.span.end)
        }

    def _touches(self, node: Node) -> bool:
        """True if a statement reaches memory, or may trap where another path would not."""
        inside = [
            it
            for it in ir.walk(self.scope.subject.analysis.kernel.body)
            if it.span.path == self.scope.subject.path and node.holds(it.span.start, it.span.end)
        ]
        return not all(isinstance(it, (ir.Assign, ir.Declare)) for it in inside)

    def _body(self, hoisted: Mapping[Node, str]) -> str:
        """Return the kernel's statements for one row."""
        scope = self.scope
        start, end = scope.body.children[0].start, scope.body.children[-1].end
        here = f"{self.first} + {self.r}"
        changes: dict[tuple[int, int], str] = {}
        for node in scope.body.children:
            if grid.is_ids(scope, node) and self.dimension in self._calls(node):
                named = self.ids[self.dimension]
                kind = named.type if named.type.startswith("const ") else f"const {named.type}"
                changes[node.start, node.end] = f"{kind} {named.name} = {here};"
            elif node in hoisted:
                changes[node.start, self._blank(node.end)] = ""
        for it in grid.CALL.finditer(scope.shown, start, end):
            if int(it[1]) == self.dimension:
                self._add(changes, (it.start(), it.end()), f"({here})")
        for it in _RETURN.finditer(scope.shown, start, end):
            self._add(changes, (it.start(), it.end()), "continue;")
        for at, patch in enumerate(self.patches):
            for use in patch.uses:
                self._add(changes, (use.access.span.start, use.access.span.end), self._kept(at, use))
            for loop in (patch.uses[0].rows, patch.uses[0].columns):
                if loop is not None and not scope.hints(loop.node):
                    changes.update((self._unrolled(loop.node.start),))
        return scope.rewritten(start, end, changes)

    def _unrolled(self, at: int) -> tuple[tuple[int, int], str]:
        """Return the change that gives a loop its pragma on a line of its own, also behind another loop."""
        scope = self.scope
        indent = scope.indent(at)
        before = scope.text[scope.text.rfind("\n", 0, at) + 1 : at]
        if not before.strip():
            return (at, at), f"#pragma unroll{scope.newline}{indent}"
        start = f"{scope.newline}{indent}{self.unit}"
        return (at - len(before) + len(before.rstrip()), at), f"{start}#pragma unroll{start}"

    def _calls(self, node: Node) -> set[int]:
        return {int(it[1]) for it in grid.CALL.finditer(self.scope.shown, node.start, node.end)}

    @staticmethod
    def _add(changes: dict[tuple[int, int], str], place: tuple[int, int], text: str) -> None:
        if not any(a < place[1] and place[0] < b for a, b in changes):
            changes[place] = text

    def _blank(self, at: int) -> int:
        text = self.scope.text
        while at < len(text) and text[at].isspace():
            at += 1
        return at

    def _kept(self, at: int, use: _Use) -> str:
        """Return a load's element as it is kept."""
        patch, array = self.patches[at], self.arrays[at]
        if use.rows is not None:
            place = f"{array}[{self.r} + {_turn(use.rows)}]"
            return place + (
                f"[{_turn(use.columns)}]" if use.columns is not None and self._is_wide(patch) else ""
            )
        shift = use.row - patch.first
        place = f"{array}[{self.r} + {shift}]" if shift else f"{array}[{self.r}]"
        return place + (f"[{patch.columns.index(use.rest)}]" if self._is_wide(patch) else "")


def _turn(loop: CountingLoop) -> str:
    start = loop.symbol.start.value if loop.symbol.start is not None else None
    assert start is not None, "only loops from a number on are taken"
    return loop.name if not start else f"{loop.name} {'-' if start > 0 else '+'} {abs(start)}"


def _under(head: str, lines: list[str], unit: str) -> list[str]:
    """Return lines under a head, in braces where there is more than one statement."""
    if sum(not it.startswith(("#", " ", "\t")) for it in lines) == 1 and not lines[0].startswith("#"):
        return [head, *(unit + it for it in lines)]
    return [f"{head} {{", *(unit + it for it in lines), "}"]

"""Compute several results a work-item from tiles in local memory: products of rows and columns.

For loops like a matrix multiply, of which one operand follows one dimension of ids and the turn, the
other the other dimension and the turn. A group computes a block of results; each work-item keeps some of
each dimension in registers, so that every element read from local memory is used several times. Without it a
tiled product is bound by local memory: on an H200, N = 2048, tiles of 16 give 6.5 TFLOP/s, 128 with 8 x 8
results a work-item 40. What fills the next tile is loaded into registers while this one is used. Tiles are
filled side by side whichever way the operands lie. Sizes need not be multiples of anything: past the last
turn tiles are zero, past the last row or column it is loaded again, for results that nobody stores; with a
condition for each element 1000 x 1000 took a third longer. Each sum is taken in the order that it had.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from clmap_lsp.access.polynomial import (
    ONE,
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
from clmap_lsp.dataclass import dataclass
from clmap_lsp.fixes import facts, grid
from clmap_lsp.fixes.assumptions import Assumption, finite, multiple, no_offset, overlaps, positive
from clmap_lsp.fixes.edits import insert
from clmap_lsp.fixes.loops import CountingLoop, counting_loops
from clmap_lsp.fixes.model import STAGING_GAIN, Proposal
from clmap_lsp.fixes.parameters import read_alone
from clmap_lsp.fixes.scope import Scope, spelt, tidy, tight
from clmap_lsp.fixes.sums import factors_of, sum_of
from clmap_lsp.fixes.untiled import untiled
from clmap_lsp.fixes.unused import named_by_macros
from clmap_lsp.hosts.changes import LaunchChange, Resize
from clmap_lsp.source import ir
from clmap_lsp.source.ir import WorkItemQuery as Query
from clmap_lsp.source.types import AddressSpace, ScalarType

if TYPE_CHECKING:
    from clmap_lsp.findings import Edit
    from clmap_lsp.fixes.model import Subject
    from clmap_lsp.fixes.outline import Node
    from clmap_lsp.launch.model import Launch

KIND = "register-tile"
VECTOR = 4
"""Elements that are read from a tile at once; a work-item's results come in such blocks."""
_VECTORS = ("float", "int", "uint")
"""Types that come by fours: 16 bytes, the widest that a work-item reads at once."""


@dataclass(frozen=True, slots=True)
class Form:
    """A work-item's results, turns in a tile, and work-items of a group in columns and rows."""

    rows: int
    columns: int
    turns: int
    group: tuple[int, int]

    @property
    def sides(self) -> tuple[int, int]:
        """Rows and columns of results of a work-group."""
        return self.rows * self.group[1], self.columns * self.group[0]

    @property
    def items(self) -> int:
        """Work-items of a work-group."""
        return self.group[0] * self.group[1]


FORMS = (Form(4, 4, 16, (16, 8)), Form(8, 4, 16, (16, 16)), Form(8, 8, 8, (16, 16)))
"""The fastest of a hundred on an H200: the first two for products of 1000 x 1000, the last for 2048."""


@dataclass(frozen=True, slots=True)
class _Operand:
    """One of the two loads: the dimension that it follows, and the author's name of that id."""

    access: Access
    dimension: int
    id_name: str
    value_name: str = ""
    """The author's name of what is loaded, if it has one: `float a = A[row * K + k];`."""


@dataclass(frozen=True, slots=True)
class _Product:
    """A kernel that is one product: statements before the loop, the loop, statements after it."""

    loop: CountingLoop
    sum_name: str
    sum_type: str
    turn: Node
    rows: _Operand
    columns: _Operand
    """Neighbours store side by side in its dimension."""
    before: tuple[Node, ...]
    after: tuple[Node, ...]
    bounds: dict[int, Polynomial]
    """What the ids of a dimension stay below, where the kernel says so."""
    factors: tuple[str, ...]
    """Floating-point parameters that multiply the loads: past the ends, zeros are multiplied by them."""


def propose(subject: Subject) -> Iterator[Proposal]:
    """Yield one rewrite for each number of results a work-item, if the kernel is a product, tiled or not."""
    yield from _of(subject)
    plain = untiled(subject)
    if plain is None:
        return
    for proposal in _of(plain.subject):
        typed = plain.typed(proposal)
        if typed is not None:
            yield replace(typed, sites=frozenset())  # Sites are others there.


def _of(subject: Subject) -> Iterator[Proposal]:
    scope = Scope.of(subject)
    kernel = subject.analysis.kernel
    if scope is None or len(subject.launch.global_size) != 2 or facts.opaque(kernel):
        return
    if kernel.attributes.reqd_work_group_size is not None or kernel.frames:
        return
    if any(it.kind is ir.VariableKind.LOCAL_OBJECT for it in kernel.variables):
        return
    loops = [it for it in ir.walk(kernel.body) if isinstance(it, ir.Loop)]
    found = list(counting_loops(scope))
    if len(loops) != 1 or len(found) != 1:
        return
    product = _product(scope, found[0])
    if product is None:
        return
    for form in FORMS:
        proposal = _proposal(scope, product, form)
        if proposal is not None:
            yield proposal


def _proposal(scope: Scope, product: _Product, form: Form) -> Proposal | None:
    operands = (product.rows, product.columns)
    sides = {it.dimension: side for it, side in zip(operands, form.sides, strict=True)}
    room = sum(form.turns * (sides[it.dimension] + VECTOR) * it.access.size for it in operands)
    launch = scope.subject.launch
    if room > facts.room(scope.subject) or any(launch.global_size[d] < side for d, side in sides.items()):
        return None
    edits = _Writer(Scope.of(scope.subject) or scope, product, form).edits()
    if edits is None:
        return None

    def relaunched(launch: Launch) -> Launch:
        sizes = tuple(-(-it // sides[d]) * form.group[d] for d, it in enumerate(launch.global_size))
        return replace(launch, global_size=sizes, local_size=form.group)

    kernel = scope.subject.analysis.kernel
    across, down = form.group
    return Proposal(
        KIND,
        f"Compute {form.rows} x {form.columns} results a work-item from tiles",
        edits,
        ("CM101", "CM104", "CM401", "CM509", "CM510"),
        (
            *(_covered(product, dimension, sides[dimension]) for dimension in (0, 1)),
            no_offset(2),
            *(finite(it) for it in product.factors),
            *overlaps(
                kernel,
                (product.rows.access.buffer, product.columns.access.buffer),
                facts.written(scope.subject.analysis),
            ),
        ),
        sites=frozenset((product.rows.access.site, product.columns.access.site)),
        relaunch=relaunched,
        host_change=f"launch {across} work-items for every {sides[0]} results in dimension 0, {down} for "
        f"every {sides[1]} in dimension 1, rounded up, in groups of {across}x{down}",
        change=LaunchChange(
            global_size={d: Resize(over=sides[d], each=form.group[d]) for d in (0, 1)}, local_size=form.group
        ),
        least_gain=STAGING_GAIN,
    )


def _covered(product: _Product, dimension: int, side: int) -> Assumption:
    """Return that the original computes just what the rewrite does, in one dimension."""
    size = Polynomial.of(WorkItemSymbol(Query.GLOBAL_SIZE, dimension))
    text = f"get_global_size({dimension})"
    bound = product.bounds.get(dimension)
    if bound is None:
        return multiple(size, text, side)
    return positive(size - bound + 1, f"{text} >= {spelt(bound, {})}")


# ---------------------------------------------------------------------------------------------- recognition


def _product(scope: Scope, loop: CountingLoop) -> _Product | None:
    trip = loop.symbol.trip
    parameters = {it.name for it in scope.subject.analysis.kernel.parameters}
    uniform = trip is not None and not varies_in_launch(trip) and loop.from_zero
    if not uniform or not scope.words(*_places(scope, loop)) <= parameters:
        return None
    parts = _parts(scope, loop)
    accumulated = sum_of(loop)
    operands = _operands(scope, loop)
    if parts is None or accumulated is None or operands is None:
        return None
    before, after = parts
    turns = _turn(scope, loop, operands)
    if turns is None:
        return None
    turn, operands = turns
    name, kind = accumulated
    factors = factors_of(loop, name)
    known = {name, "mad", "fma"} | {it.value_name for it in operands}
    if factors is None or not _only(scope, turn, operands, known | parameters):
        return None
    ids = {it.id_name for it in operands}
    if not all(_for_each(scope, it, {name} | ids) for it in (*before, *after)):
        return None
    stores = [
        it
        for it in facts.accesses(scope.subject.analysis)
        if it.direction is not Direction.LOAD and loop.symbol not in it.loops
    ]
    bounds = _bounds(scope, operands, stores)
    if bounds is None or not stores:
        return None
    across = [it for it in operands if stores[-1].index.coefficient(global_id(it.dimension)) == ONE]
    columns = across[0] if across else operands[1]
    rows = operands[0] if columns is operands[1] else operands[1]
    return _Product(loop, name, kind, turn, rows, columns, before, after, bounds, factors)


def _places(scope: Scope, loop: CountingLoop) -> tuple[int, int]:
    """Return where the bound stands, as far as its words go."""
    assert loop.node.head is not None, "a counting loop has a head"
    head = loop.node.head
    at = scope.shown.find(loop.bound.removesuffix(" + 1"), *head)
    return (head[0], head[1]) if at < 0 else (at, at + len(loop.bound.removesuffix(" + 1")))


def _parts(scope: Scope, loop: CountingLoop) -> tuple[tuple[Node, ...], tuple[Node, ...]] | None:
    """Return the statements before and after the loop that make results; `None` for any other kernel."""
    children = list(scope.body.children)
    if loop.node not in children:  # Everything is in one condition: if (row < M && col < N) { … }
        last = children[-1] if children else None
        if last is None or last.kind != "if" or len(last.children) != 1 or last.children[0].kind != "block":
            return None
        children = [*children[:-1], *last.children[0].children]
    if loop.node not in children:
        return None
    at = children.index(loop.node)
    before, after = [], tuple(children[at + 1 :])
    for node in children[:at]:
        if _is_id(scope, node) or grid.returns(scope, node) or _declares_only(scope, node, loop.name):
            continue
        before.append(node)
    if any(it.kind != "simple" for it in (*before, *after)) or not after:
        return None
    return tuple(before), after


_ONE_ID = r"\w+\s*=\s*(?:\(\s*\w+\s*\)\s*)?get_global_id\s*\(\s*[01]\s*\)"
_IDS = re.compile(rf"(?:(?:const\s+)?(?:unsigned\s+)?\w+\s+)?{_ONE_ID}(?:\s*,\s*{_ONE_ID})*\s*;")
"""A declaration of ids, each by its own name."""


def _is_id(scope: Scope, node: Node) -> bool:
    return _IDS.fullmatch(scope.shown, node.start, node.end) is not None


def _declares_only(scope: Scope, node: Node, name: str) -> bool:
    text = scope.shown[node.start : node.end]
    plain = re.fullmatch(r"(?:unsigned\s+)?\w+\s+\w+(?:\s*,\s*\w+)*\s*;", text) is not None
    return plain or re.fullmatch(rf"\w+\s+{name}(?:\s*=\s*0)?\s*;", text) is not None


def _turn(
    scope: Scope, loop: CountingLoop, operands: tuple[_Operand, _Operand]
) -> tuple[Node, tuple[_Operand, _Operand]] | None:
    """Return the statement of the loop that adds, and the operands with the names that others give them."""
    inner = list(loop.body.children) if loop.body.kind == "block" else [loop.body]
    inner = [it for it in inner if loop.increment is None or it.start != loop.increment[0]]
    if not inner or any(it.kind != "simple" for it in inner):
        return None
    names = dict.fromkeys(operands, "")
    for node in inner[:-1]:
        named = next(((it, name) for it in operands if (name := _names(scope, node, it))), None)
        if named is None:
            return None
        names[named[0]] = named[1]
    one, other = (replace(it, value_name=name) for it, name in names.items())
    return inner[-1], (one, other)


def _names(scope: Scope, node: Node, operand: _Operand) -> str | None:
    """Return the variable that a statement declares as an operand and nothing else."""
    span, kind = operand.access.span, re.escape(str(operand.access.type))
    if not node.holds(span.start, span.end) or scope.shown[span.end : node.end].strip() != ";":
        return None
    declared = re.fullmatch(rf"(?:const\s+)?{kind}\s+(\w+)\s*=\s*", scope.shown[node.start : span.start])
    return None if declared is None else declared[1]


def _operands(scope: Scope, loop: CountingLoop) -> tuple[_Operand, _Operand] | None:
    readable = {it.name for it, _ in facts.read_only_buffers(scope.subject)}
    found = []
    for access in facts.accesses(scope.subject.analysis):
        if loop.symbol not in access.loops:
            continue
        operand = _operand(scope, loop, access) if access.buffer in readable else None
        if operand is None:
            return None
        found.append(operand)
    if len(found) != 2 or {it.dimension for it in found} != {0, 1}:
        return None
    return found[0], found[1]


def _operand(scope: Scope, loop: CountingLoop, access: Access) -> _Operand | None:
    if access.space is not AddressSpace.GLOBAL or not access.known or access.volatile:
        return None
    if not scope.is_typed(access) or not isinstance(access.type, ScalarType) or access.unit != access.size:
        return None
    if not facts.in_every_turn(loop.statement.body, access.site):
        return None
    if facts.changes_besides(loop.statement, access.site, loop.name):
        return None
    ids = {it for it in access.index.leaves if isinstance(it, WorkItemSymbol)}
    others = [it for it in access.index.leaves if not isinstance(it, (WorkItemSymbol, Parameter, LoopSymbol))]
    if others or len(ids) != 1:
        return None
    (symbol,) = ids
    name = access.names.get(symbol)
    if symbol not in (global_id(0), global_id(1)) or name is None:
        return None
    words = scope.words(access.span.start, access.span.end)
    parameters = {it.name for it in scope.subject.analysis.kernel.parameters}
    if not {name, loop.name} <= words or not words <= parameters | {name, loop.name}:
        return None
    return _Operand(access, symbol.dimension, name)


def _only(scope: Scope, turn: Node, operands: tuple[_Operand, _Operand], names: set[str]) -> bool:
    """True if the loop's statement adds to the sum, and names nothing besides the loads that varies."""
    blank = {(it.access.span.start, it.access.span.end): " " for it in operands if not it.value_name}
    text = scope.rewritten(turn.start, turn.end, blank)
    return set(re.findall(r"[A-Za-z_]\w*", re.sub(r"\b\d[\w.]*", " ", text))) <= names


def _for_each(scope: Scope, node: Node, names: set[str]) -> bool:
    """True if a statement needs no variables but these, so that it can be made for each result."""
    kernel = scope.subject.analysis.kernel
    own = {it.name for it in kernel.variables if not it.is_temporary}
    own |= {it.variable.name for it in ir.walk(kernel.body) if isinstance(it, (ir.Assign, ir.Declare))}
    return not scope.words(node.start, node.end) & (own - names)


def _bounds(
    scope: Scope, operands: tuple[_Operand, _Operand], stores: list[Access]
) -> dict[int, Polynomial] | None:
    """Return what ids stay below; `None` where conditions are of another kind, or not the same for all."""
    guards = {it.access.guard for it in operands} | {it.guard for it in stores}
    if len(guards) != 1:
        return None
    found: dict[int, Polynomial] = {}
    for condition in facts.conjuncts(next(iter(guards))):
        atom = condition.atom
        if not isinstance(atom, Operation) or atom.op not in (Op.LT, Op.LE):
            return None
        left, right = atom.operands
        symbol = left.atom
        if symbol not in (global_id(0), global_id(1)) or varies_in_launch(right):
            return None
        assert isinstance(symbol, WorkItemSymbol), "an id is one"
        bound = right + (atom.op is Op.LE)
        if symbol.dimension in found or spelt(bound, {}) is None:
            return None
        found[symbol.dimension] = bound
    return found


# --------------------------------------------------------------------------------------------------- writing


def _by_fours(operand: _Operand) -> bool:
    """True if a work-item reads four of its elements at once: those that lie side by side are its own."""
    return str(operand.access.type) in _VECTORS


class _Writer:
    """Writes the whole body anew."""

    def __init__(self, scope: Scope, product: _Product, form: Form) -> None:
        self.scope, self.product, self.form = scope, product, form
        fresh = scope.fresh
        self.k = product.loop.name
        self.base, self.element = fresh(f"{self.k}0"), fresh("element")
        self.r, self.c = fresh("r"), fresh("c")
        self.t = fresh("t")
        some = (spelt(it, {}) or "" for it in product.bounds.values())
        self.some = [it for it in dict.fromkeys(some) if it != product.loop.bound]
        self.end = fresh(f"{self.k}_end") if self.some else product.loop.bound
        self.item, self.lx, self.ly = fresh("item"), fresh("lx"), fresh("ly")
        self.sum = fresh(f"{product.sum_name}s")
        rows, columns = form.sides
        self.sides = {product.rows.dimension: rows, product.columns.dimension: columns}
        self.first = {it.dimension: fresh(f"{it.id_name}0") for it in self._operands}
        self.tiles = {it.dimension: fresh(f"{it.access.buffer}_tile") for it in self._operands}
        self.next = {it.dimension: fresh(f"{it.access.buffer}_next") for it in self._operands}
        self.values = {it.dimension: fresh(f"{it.access.buffer}_values") for it in self._operands}

    @property
    def _operands(self) -> tuple[_Operand, _Operand]:
        return self.product.rows, self.product.columns

    def _counter(self, operand: _Operand) -> str:
        """Return what counts the rows or columns of an operand."""
        return self.r if operand is self.product.rows else self.c

    @property
    def _by_item(self) -> tuple[tuple[_Operand, str, str, int, int], ...]:
        """For rows and columns: the counter of a work-item's results, its place, results, work-items."""
        form = self.form
        return (
            (self.product.rows, self.r, self.ly, form.rows, form.group[1]),
            (self.product.columns, self.c, self.lx, form.columns, form.group[0]),
        )

    def edits(self) -> tuple[Edit, ...] | None:
        """Return the edits; `None` where an element cannot be written for another work-item."""
        product, scope, form = self.product, self.scope, self.form
        first = [self._loads(it, "0") for it in self._operands]
        later = [self._loads(it, f"{self.base} + {form.turns}") for it in self._operands]
        body = scope.body
        if any(it is None for it in first):
            return None
        unit = scope.unit
        across = form.group[0]
        lines = [
            f"// A work-group computes {form.sides[0]} x {form.sides[1]} results, a work-item "
            f"{form.rows} x {form.columns} of them in registers.",
            *(
                f"__local {it.access.type} {self.tiles[it.dimension]}[{form.turns}]"
                f"[{self.sides[it.dimension]} + "
                + (f"{VECTOR}] __attribute__((aligned(16)));" if _by_fours(it) else "1];")
                for it in self._operands
            ),
            # Banks then serve 128 different bytes of the columns' tile in one pass; side by side, another
            # pass would serve them a second time.
            "// Two by two neighbours read the same of the columns' tile, which serves both at once.",
            f"const int {self.item} = get_local_id(1) * {across} + get_local_id(0);",
            f"const int {self.lx} = {self.item} / 2 % {across};",
            f"const int {self.ly} = {self.item} / {2 * across} * 2 + {self.item} % 2;",
            *(
                f"const int {self.first[it.dimension]} = (int)get_group_id({it.dimension}) * "
                f"{self.sides[it.dimension]};"
                for it in self._operands
            ),
            *self._end(),
            f"{product.sum_type} {self.sum}[{form.rows}][{form.columns}] = {{{{0}}}};",
            *self._each(product.before),
            *(
                f"{it.access.type} {self.next[it.dimension]}[{self._turns_to_fill(it)}];"
                for it in self._operands
            ),
            *(line for fill in first for line in fill or ()),
            f"for (int {self.base} = 0; {self.base} < {self.end}; {self.base} += {form.turns}) {{",
            *(unit + line for it in self._operands for line in self._stores(it)),
            f"{unit}barrier(CLK_LOCAL_MEM_FENCE);",
            # On their way while this tile is used.
            f"{unit}if ({self.base} + {form.turns} < {self.end}) {{",
            *(unit * 2 + line for fill in later for line in fill or ()),
            f"{unit}}}",
            *(unit + it for it in self._turns()),
            f"{unit}barrier(CLK_LOCAL_MEM_FENCE);",
            "}",
            *self._each(product.after),
        ]
        start, end = body.children[0].start, body.children[-1].end
        text = f"{scope.newline}{scope.indent(start)}".join(lines)
        read = {it.access.buffer for it in self._operands}
        return (self._required(), *read_alone(scope, read), scope.replaced(start, end, text))

    def _required(self) -> Edit:
        across, down = self.form.group
        at = self.scope.subject.analysis.span.start
        return insert(
            self.scope.subject.path,
            at,
            f"__attribute__((reqd_work_group_size({across}, {down}, 1))){self.scope.newline}",
        )

    def _turns_to_fill(self, operand: _Operand) -> int:
        """Return how many elements of a tile a work-item loads."""
        return self.form.turns * self.sides[operand.dimension] // self.form.items

    def _filling(self, operand: _Operand) -> list[str]:
        """Return the head of a loop over a work-item's share of a tile, neighbours side by side."""
        unit = self.scope.unit
        along_turns = operand.access.index.coefficient(self.product.loop.symbol) == ONE
        inner = self.form.turns if along_turns else self.sides[operand.dimension]
        counter = self._counter(operand)
        quick, slow = (self.k, counter) if along_turns else (counter, self.k)
        return [
            # A fixed number of turns: compilers then have all loads under way at once.
            f"for (int {self.t} = 0; {self.t} < {self._turns_to_fill(operand)}; {self.t}++) {{",
            f"{unit}const int {self.element} = {self.t} * {self.form.items} + {self.item};",
            f"{unit}const int {slow} = {self.element} / {inner}, {quick} = {self.element} % {inner};",
        ]

    def _loads(self, operand: _Operand, base: str) -> list[str] | None:
        """Return the loop that loads a tile's elements from a turn on, zeros past the ends."""
        scope, unit = self.scope, self.scope.unit
        turn = self.k if base == "0" else f"({base} + {self.k})"
        by = {operand.id_name: self._place(operand), self.k: turn}
        element, count = scope.substituted(operand.access.span.start, operand.access.span.end, by)
        if count < 2:
            return None
        test = f"{turn.removeprefix('(').removesuffix(')')} < {self.end}"
        place = f"{self.next[operand.dimension]}[{self.t}]"
        return [*self._filling(operand), f"{unit}{place} = {test} ? {tidy(element)} : 0;", "}"]

    def _place(self, operand: _Operand) -> str:
        """Return the row or column of an element that is loaded; the last one again past the end."""
        place, bound = (
            f"{self.first[operand.dimension]} + {self._counter(operand)}",
            self.product.bounds.get(operand.dimension),
        )
        if bound is None:
            return f"({place})"
        types = {it.name: str(it.type) for it in self.scope.subject.analysis.kernel.parameters}
        if all(isinstance(it, Parameter) and types.get(it.name) == "int" for it in bound.leaves):
            return f"min({place}, {spelt(bound - 1, {})})"
        return f"({place} < {spelt(bound, {})} ? {place} : {spelt(bound - 1, {})})"

    def _end(self) -> list[str]:
        """Return where the turns end: at once if there are no rows or columns of which to load the last."""
        if not self.some:
            return []
        some, loop = " && ".join(f"{tight(it)} > 0" for it in self.some), self.product.loop
        return [f"const {loop.type} {self.end} = {some} ? {loop.bound} : 0;"]

    def _stores(self, operand: _Operand) -> list[str]:
        """Return the loop that puts loaded elements into their tile."""
        tile = f"{self.tiles[operand.dimension]}[{self.k}][{self._counter(operand)}]"
        place = f"{self.next[operand.dimension]}[{self.t}]"
        return [*self._filling(operand), f"{self.scope.unit}{tile} = {place};", "}"]

    def _turns(self) -> list[str]:
        """Return the loop over a tile's turns."""
        product, scope, unit, form = self.product, self.scope, self.scope.unit, self.form
        rows, columns = product.rows, product.columns
        a, b = self.values[rows.dimension], self.values[columns.dimension]
        changes = {
            (it.access.span.start, it.access.span.end): f"{values}[{counter}]"
            for it, values, counter in ((rows, a, self.r), (columns, b, self.c))
            if not it.value_name
        }
        spelt_anew = {
            product.sum_name: f"{self.sum}[{self.r}][{self.c}]",
            rows.value_name: f"{a}[{self.r}]",
            columns.value_name: f"{b}[{self.c}]",
        }
        for found in re.finditer(r"\b[A-Za-z_]\w*", scope.shown[product.turn.start : product.turn.end]):
            if found.group() in spelt_anew:
                at = product.turn.start + found.start()
                changes[at, at + len(found.group())] = spelt_anew[found.group()]
        turn = scope.rewritten(product.turn.start, product.turn.end, changes)
        lines = [f"for (int {self.k} = 0; {self.k} < {form.turns}; {self.k}++) {{"]
        lines.append(f"{unit}{rows.access.type} {a}[{form.rows}];")
        lines.append(f"{unit}{columns.access.type} {b}[{form.columns}];")
        for operand, counter, lid, results, items in self._by_item:
            name = self.values[operand.dimension]
            place = f"{self.tiles[operand.dimension]}[{self.k}]"
            if _by_fours(operand):
                kind = f"{operand.access.type}{VECTOR}"
                lines.append(f"{unit}for (int {counter} = 0; {counter} < {results}; {counter} += {VECTOR})")
                four = f"*(__local const {kind} *)&{place}[{items} * {counter} + {VECTOR} * {lid}]"
                lines.append(f"{unit * 2}vstore{VECTOR}({four}, 0, {name} + {counter});")
            else:
                lines.append(f"{unit}for (int {counter} = 0; {counter} < {results}; {counter}++)")
                lines.append(f"{unit * 2}{name}[{counter}] = {place}[{lid} + {items} * {counter}];")
        lines.append(f"{unit}for (int {self.r} = 0; {self.r} < {form.rows}; {self.r}++)")
        lines.append(f"{unit * 2}for (int {self.c} = 0; {self.c} < {form.columns}; {self.c}++)")
        return [*lines, f"{unit * 3}{turn}", "}"]

    def _each(self, nodes: tuple[Node, ...]) -> list[str]:
        """Return statements that are made for each result, under the kernel's own conditions."""
        product, scope, unit, form = self.product, self.scope, self.scope.unit, self.form
        statements = []
        for node in nodes:
            text = scope.source(node)
            declared = re.match(rf"\s*{re.escape(product.sum_type)}\s+(?={product.sum_name}\b)", text)
            text = text[declared.end() :] if declared else text
            if re.fullmatch(rf"{product.sum_name}\s*=\s*0(?:\.0*)?[fF]?\s*;|{product.sum_name}\s*;", text):
                continue  # As they start anyway.
            statements.append(re.sub(rf"\b{product.sum_name}\b", f"{self.sum}[{self.r}][{self.c}]", text))
        if not statements:
            return []
        tests, ids = [], []
        named = named_by_macros(scope).union(*(re.findall(r"\w+", it) for it in statements))
        for operand, counter, lid, _, items in self._by_item:
            place = f"{self.first[operand.dimension]} + {lid} + {items} * {counter}"
            if _by_fours(operand):
                block = (
                    f"{items} * ({counter} - {counter} % {VECTOR}) + {VECTOR} * {lid} + {counter} % {VECTOR}"
                )
                place = f"{self.first[operand.dimension]} + {block}"
            bound = product.bounds.get(operand.dimension)
            if bound is not None:
                tests.append(f"{operand.id_name} < {spelt(bound, {})}")
            if bound is not None or operand.id_name in named:
                ids.append(f"{unit * 2}const int {operand.id_name} = {place};")
        lines = [
            f"for (int {self.r} = 0; {self.r} < {form.rows}; {self.r}++)",
            f"{unit}for (int {self.c} = 0; {self.c} < {form.columns}; {self.c}++) {{",
            *ids,
        ]
        if not tests:
            return [*lines, *(unit * 2 + it for it in statements), f"{unit}}}"]
        opening, closing = (" {", [f"{unit * 2}}}"]) if len(statements) > 1 else ("", [])
        return [
            *lines,
            f"{unit * 2}if ({' && '.join(tests)}){opening}",
            *(unit * 3 + it for it in statements),
            *closing,
            f"{unit}}}",
        ]

"""Kernels whose work-items are points of a grid: the same statements for each, under one condition.

`if (x >= w || y >= h) return;` and `if (x < w && y < h) { … }` are the same to whoever writes such a kernel
anew: the statements, the ids that they name, and what must hold of the ids.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from clmap_lsp.access.polynomial import (
    ONE,
    Op,
    Operation,
    Parameter,
    Polynomial,
    WorkItemSymbol,
    global_id,
    varies_in_launch,
)
from clmap_lsp.access.wording import words
from clmap_lsp.dataclass import dataclass
from clmap_lsp.fixes import facts
from clmap_lsp.fixes.assumptions import Assumption, multiple, positive
from clmap_lsp.fixes.scope import as_typed, spelt
from clmap_lsp.source import ir
from clmap_lsp.source.ir import WorkItemQuery as Query

if TYPE_CHECKING:
    from clmap_lsp.access.polynomial import Atom
    from clmap_lsp.fixes.outline import Node
    from clmap_lsp.fixes.scope import Scope

CALL = re.compile(r"\bget_global_id\s*\(\s*([012])\s*\)")
_ONE_ID = r"\w+\s*=\s*(?:\(\s*(?:unsigned\s+)?\w+\s*\)\s*)?get_global_id\s*\(\s*[012]\s*\)"
_IDS = re.compile(rf"(?:(?:const\s+)?(?:unsigned\s+)?\w+\s+)?{_ONE_ID}(?:\s*,\s*{_ONE_ID})*\s*;")
"""A declaration of ids, each by its own name."""
_NAMED_ID = re.compile(
    r"\b(\w++)\s*+=\s*+(?:\(\s*(?:unsigned\s+)?\w+\s*\)\s*)?get_global_id\s*\(\s*([012])\s*\)"
)
FRESH = ("x", "y", "z")


@dataclass(frozen=True, slots=True)
class Id:
    """What a kernel calls one of its global ids, and the type that it has there."""

    type: str
    name: str


@dataclass(frozen=True, slots=True)
class Grid:
    """A kernel that does the same at each point."""

    ids: Mapping[int, Id]
    """By dimension: all dimensions of the launch."""
    conditions: tuple[Polynomial, ...]
    """What must all hold of a point, in ids and parameters; nothing is done at any other."""
    statements: tuple[Node, ...]
    """Simple ones, without the declarations of ids."""

    def only_bounds(self) -> bool:
        """True if each condition bounds one id from above: where the last point is inside, all before are."""
        bounding = sum(len(upper_bounds(self.conditions, it)) for it in self.ids)
        return bounding == len(self.conditions)

    def condition(self, names: Mapping[int, str]) -> str:
        """Return the condition at a point as C text; empty where there is none.

        Args:
            names: the ids' text by dimension; those left out are called as the kernel does.
        """
        called: dict[Atom, str] = {global_id(d): names.get(d, it.name) for d, it in self.ids.items()}
        parts = (words(it, called) for it in self.conditions)
        return " && ".join(f"({it})" if "||" in it else it for it in parts)


def ids_of(scope: Scope) -> dict[int, Id]:
    """Return the ids that declarations at the start of a kernel's block name."""
    types = {it.name: str(it.type) for it in _variables(scope)}
    found: dict[int, Id] = {}
    for node in scope.body.children:
        if not is_ids(scope, node):
            continue
        for it in _NAMED_ID.finditer(scope.shown, node.start, node.end):
            found.setdefault(int(it[2]), Id(types.get(it[1], "int"), it[1]))
    return found


def is_ids(scope: Scope, node: Node) -> bool:
    """True if a statement declares ids and nothing else."""
    return _IDS.fullmatch(scope.shown, node.start, node.end) is not None


def knows_only_ids(scope: Scope) -> bool:
    """True if every work-item function of a kernel is a `get_global_id` that is typed in its body."""
    every = ir.all_expressions(scope.subject.analysis.kernel.body)
    return all(_is_typed_id(scope, it) for it in every if isinstance(it, ir.WorkItem))


def _is_typed_id(scope: Scope, it: ir.WorkItem) -> bool:
    if it.query is not Query.GLOBAL_ID or not as_typed(it.span, scope.subject.path):
        return False
    inside = scope.body.start <= it.span.start and it.span.end <= scope.body.end
    return inside and CALL.search(scope.shown, it.span.start, it.span.end) is not None


def read_once(scope: Scope, ids: Mapping[int, Id]) -> bool:
    """True if the names of ids are given their values once, and never another."""
    names = {it.name for it in ids.values()}
    given = [
        it.variable.name for it in ir.walk(scope.subject.analysis.kernel.body) if isinstance(it, ir.Assign)
    ]
    return all(given.count(it) <= 1 for it in names)


def grid(scope: Scope) -> Grid | None:
    """Return a kernel as a grid; `None` for one of any other form."""
    kernel = scope.subject.analysis.kernel
    if facts.opaque(kernel) or kernel.frames or not knows_only_ids(scope):
        return None
    if facts.synchronises(kernel.body) or any(
        isinstance(it, (ir.Atomic, ir.Loop, ir.Switch)) for it in ir.walk(kernel.body)
    ):
        return None
    statements = _statements(scope)
    conditions = common_conditions(scope)
    if statements is None or conditions is None:
        return None
    named = ids_of(scope)
    if not read_once(scope, named):
        return None
    ids = {
        d: named.get(d) or Id("size_t", scope.fresh(FRESH[d]))
        for d in range(len(scope.subject.launch.global_size))
    }
    return Grid(ids, conditions, statements)


def _variables(scope: Scope) -> Iterator[ir.Variable]:
    for it in ir.walk(scope.subject.analysis.kernel.body):
        if isinstance(it, (ir.Assign, ir.Declare)):
            yield it.variable


def _statements(scope: Scope) -> tuple[Node, ...] | None:
    """Return the simple statements that are made at each point, out of their condition."""
    found: list[Node] = []
    pending = list(scope.body.children)
    while pending:
        node = pending.pop(0)
        if is_ids(scope, node) or returns(scope, node):
            continue
        if node.kind == "if" and len(node.children) == 1 and not pending:
            inner = node.children[0]
            pending = list(inner.children) if inner.kind == "block" else [inner]
        elif node.kind == "simple":
            found.append(node)
        else:
            return None
    return tuple(found) or None


def returns(scope: Scope, node: Node) -> bool:
    """True for `if (…) return;`."""
    if node.kind != "if" or len(node.children) != 1:
        return False
    child = node.children[0]
    return "".join(scope.shown[child.start : child.end].split()) in ("return;", "{return;}")


def common_conditions(scope: Scope) -> tuple[Polynomial, ...] | None:
    """Return what holds wherever memory is touched; `None` where it differs, or cannot be written."""
    guards = {it.guard for it in facts.accesses(scope.subject.analysis)}
    if len(guards) != 1:
        return None
    found = facts.conjuncts(next(iter(guards)))
    return found if all(writable(it) for it in found) else None


def writable(condition: Polynomial) -> bool:
    """True if a condition is of global ids and parameters, and can be written as C text."""
    text = words(condition)
    plain = all(
        isinstance(it, Parameter) or (isinstance(it, WorkItemSymbol) and it.query is Query.GLOBAL_ID)
        for it in condition.leaves
    )
    return plain and "?" not in text and "…" not in text


def upper_bounds(conditions: Iterable[Polynomial], dimension: int) -> tuple[Operation, ...]:
    """Return the conditions that hold an id of one dimension below something uniform."""
    found = (it.atom for it in conditions)
    return tuple(it for it in found if isinstance(it, Operation) and _bounds(it, dimension))


def _bounds(condition: Operation, dimension: int) -> bool:
    if condition.op not in (Op.LT, Op.LE):
        return False
    left, right = condition.operands
    rest = left - Polynomial.of(global_id(dimension))
    varies = varies_in_launch(right) or varies_in_launch(rest)
    return not varies and left.coefficient(global_id(dimension)) == ONE


def bounding(scope: Scope, dimension: int) -> tuple[Polynomial, ...]:
    """Return what holds the id of a dimension below something wherever memory is touched."""
    shared: set[Polynomial] | None = None
    for access in facts.accesses(scope.subject.analysis):
        mine = {it for it in facts.conjuncts(access.guard) if upper_bounds((it,), dimension)}
        shared = mine if shared is None else shared & mine
    return tuple(sorted(shared or (), key=str))


def covered(conditions: Iterable[Polynomial], dimension: int, count: int) -> Assumption | None:
    """Return what must hold so that the same is done by work-items rounded up to a multiple of `count`.

    With a bound: that there were enough of them before. `None` where a bound cannot be written.

    Args:
        conditions: those under which memory is touched.
    """
    size = Polynomial.of(WorkItemSymbol(Query.GLOBAL_SIZE, dimension))
    text = f"get_global_size({dimension})"
    bounds = upper_bounds(conditions, dimension)
    if not bounds:
        return multiple(size, text, count)
    left, right = bounds[0].operands
    bound = right - (left - Polynomial.of(global_id(dimension))) + (bounds[0].op is Op.LE)
    written = spelt(bound, {})
    return None if written is None else positive(size - bound + 1, f"{text} >= {written}")

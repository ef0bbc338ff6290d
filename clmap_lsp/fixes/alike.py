"""What an iteration knows besides its element: whether it matters which work-item makes it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeGuard

from clmap_lsp.access.polynomial import GROUP_QUERIES, LANE_QUERIES, Unknown, WorkItemSymbol
from clmap_lsp.dataclass import dataclass
from clmap_lsp.fixes.scope import as_typed
from clmap_lsp.source import ir
from clmap_lsp.source.ir import WorkItemQuery as Query
from clmap_lsp.source.types import AddressSpace, PointerType, points_to_local

if TYPE_CHECKING:
    from clmap_lsp.access.polynomial import Polynomial
    from clmap_lsp.fixes.scope import Scope
    from clmap_lsp.source.span import Span


def differs_along(value: Polynomial) -> bool:
    """True if two work-items of a group may see different values that differ in their first id only."""
    for leaf in value.leaves:
        match leaf:
            case WorkItemSymbol(query=query, dimension=dimension) if query in LANE_QUERIES:
                if not is_across(query, dimension):
                    return True
            case Unknown(varies=True):
                return True
            case _:
                pass
    return False


def is_across(query: Query, dimension: int | None) -> bool:
    """True for an id in another dimension than the first: work-items that change places have the same."""
    return query in (Query.GLOBAL_ID, Query.LOCAL_ID) and dimension in (1, 2)


def always(block: ir.Block) -> Iterator[ir.Statement]:
    """Yield the statements that every work-item makes."""
    for statement in block:
        yield statement
        if isinstance(statement, ir.Scope):
            yield from always(statement.body)


@dataclass(frozen=True, slots=True)
class Known:
    """What the iterations of a loop read besides the texts that say which element is theirs."""

    scope: Scope
    texts: tuple[tuple[int, int], ...]
    own: frozenset[ir.Variable]
    """Variables of an iteration."""
    in_launch: bool = False
    """Work-items of all groups change places, not those of one group that differ in their first id only."""

    def knows_only_its_element(self, loop: ir.Loop) -> bool:
        """True if nothing in the iterations but the texts of the element tells work-items apart."""
        step = {it.span for it in loop.step}
        return all(
            self._is_shared(node, ())
            for statement in ir.walk(loop.body)
            if statement.span not in step
            for expression in ir.expressions(statement)
            for node in ir.nodes(expression)
            if not self._says_which(node.span)
        )

    def _says_which(self, span: Span) -> bool:
        typed = as_typed(span, self.scope.subject.path)
        return typed and any(a <= span.start and span.end <= b for a, b in self.texts)

    def _is_shared(self, node: ir.Expression, seen: tuple[ir.Variable, ...]) -> bool:
        """True if a value is the same for all that change places, or the iteration's own."""
        match node:
            case ir.WorkItem(query=query, dimension=ir.Constant(value=int() as dimension)) if (
                not self.in_launch and is_across(query, dimension)
            ):
                return True
            case ir.WorkItem(query=query):
                return query not in LANE_QUERIES and not (self.in_launch and query in GROUP_QUERIES)
            case ir.ObjectAddress(variable=variable):
                is_local = variable.kind is ir.VariableKind.LOCAL_OBJECT and not self.in_launch
                return variable in self.own or is_local or variable.kind is ir.VariableKind.CONSTANT_OBJECT
            case ir.Read(variable=variable):
                if variable in self.own:
                    return True
                if self.in_launch and points_to_local(variable.type):
                    return False
                return variable not in seen and self._is_set_alike(variable, seen)
            case _:
                return True

    def _gives_alike(self, it: ir.Statement) -> TypeGuard[ir.Assign | ir.Load]:
        """True for assignments, and for loads that all of a group make: none stores there meanwhile."""
        if not isinstance(it, ir.Load):
            return isinstance(it, ir.Assign)
        kind, body = it.pointer.type, self.scope.subject.analysis.kernel.body
        if not isinstance(kind, PointerType) or kind.space is AddressSpace.PRIVATE or it.is_volatile:
            return False
        return not self.in_launch and any(one is it for one in always(body))

    def _is_set_alike(self, variable: ir.Variable, seen: tuple[ir.Variable, ...]) -> bool:
        """True if a variable is set once, or a parameter never, and alike for all that change places."""
        body = self.scope.subject.analysis.kernel.body
        sets = [it for it in ir.walk(body) if getattr(it, "variable", None) is variable]
        values = [
            it.value if isinstance(it, ir.Assign) else it.pointer for it in sets if self._gives_alike(it)
        ]
        if len(values) != (variable.kind is not ir.VariableKind.PARAMETER):
            return False
        return all(isinstance(it, ir.Declare) or self._gives_alike(it) for it in sets) and all(
            self._is_shared(it, (*seen, variable)) for value in values for it in ir.nodes(value)
        )

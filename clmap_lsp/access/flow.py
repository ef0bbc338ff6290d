"""Which variables a piece of a kernel writes, and which values it takes over from before."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from clmap_lsp.dataclass import dataclass
from clmap_lsp.source import ir
from clmap_lsp.source.exposed import exposed_by_turn
from clmap_lsp.source.ir import Block, Expression, Statement, Variable, VariableKind
from clmap_lsp.source.makings import Makings, Wanted, makings_of
from clmap_lsp.source.slicing import PointsTo, roots_of, slice_of
from clmap_lsp.source.types import AddressSpace, PointerType

_NOTHING: Final[frozenset[Variable]] = frozenset()


class Flow:
    """Answers per statement, each worked out once."""

    def __init__(self, kernel: ir.Kernel) -> None:
        self._kernel = kernel
        self._points_to: PointsTo = slice_of(kernel).points_to
        self._stores: dict[int, PrivateStores] = {}
        self._assigned: dict[int, frozenset[Variable]] = {}
        self._reads: dict[int, frozenset[Variable]] = {}
        self._carried: dict[int, frozenset[Variable]] = {}
        self._makings: dict[int, Makings] = {}
        self._kept: list[object] = []
        """Keeps what the ids above name alive."""

    def assigned(self, statement: Statement) -> frozenset[Variable]:
        """Return the registers that it writes and the private objects that it stores to."""
        key = id(statement)
        known = self._assigned.get(key)
        if known is None:
            known = frozenset(self._written(statement))
            for block in ir.blocks(statement):
                known |= self.assigned_in(block)
            self._assigned[key] = known
            self._kept.append(statement)
        return known

    def assigned_in(self, block: Block) -> frozenset[Variable]:
        """Return what the statements of a block write."""
        return _NOTHING.union(*(self.assigned(it) for it in block))

    def reads(self, expression: Expression) -> frozenset[Variable]:
        """Return the registers and parameters that an expression reads."""
        if isinstance(expression, ir.Read):
            return frozenset((expression.variable,))
        if ir.is_leaf(expression):
            return _NOTHING
        known = self._reads.get(id(expression))
        if known is None:
            found: set[Variable] = set()
            ir.variables_read(expression, found)
            known = self._reads[id(expression)] = frozenset(found)
            self._kept.append(expression)
        return known

    def carried(self, loop: ir.Loop) -> frozenset[Variable]:
        """Return the registers that a turn of the loop reads from the turn before."""
        known = self._carried.get(id(loop))
        if known is None:
            found = exposed_by_turn(loop, self._written, self.reads)
            known = self._carried[id(loop)] = self.assigned(loop).intersection(found)
            self._kept.append(loop)
        return known

    def _written(self, statement: Statement) -> tuple[Variable, ...]:
        """Return the registers that a statement writes or declares, and private objects it may store to."""
        if isinstance(statement, ir.Declare):
            return (statement.variable,)
        found = ir.written(statement)
        for pointer in ir.written_through(statement):
            roots = roots_of(pointer, self._points_to)
            found += tuple(it for it in roots if it.kind is VariableKind.PRIVATE_OBJECT)
        return found

    def matters_to(self, loop: ir.Loop, variables: Iterable[Variable]) -> Wanted:
        """Return all that some values at the end of an iteration follow from."""
        known = self._makings.get(id(loop))
        if known is None:
            known = self._makings[id(loop)] = makings_of(self._kernel, loop)
            self._kept.append(loop)
        return known.behind(variables)

    def private_stores(self, loop: ir.Loop) -> PrivateStores:
        """Return what the turns of a loop may do to private memory besides what `assigned` says."""
        known = self._stores.get(id(loop))
        if known is None:
            anywhere = False
            holders: set[Variable] = set()
            for statement in ir.walk((loop,)):
                for pointer in filter(_is_private, ir.written_through(statement)):
                    roots = roots_of(pointer, self._points_to)
                    anywhere = anywhere or not roots
                    if not _is_plain(statement):
                        holders |= roots
            known = self._stores[id(loop)] = PrivateStores(anywhere, frozenset(holders))
            self._kept.append(loop)
        return known


@dataclass(frozen=True, slots=True)
class PrivateStores:
    """How a loop stores to private memory."""

    anywhere: bool
    """Through a pointer of which nobody knows where it leads."""
    holders: frozenset[Variable]
    """Objects into which pointers may be stored, or what may contain some."""


def _is_private(pointer: Expression) -> bool:
    kind = pointer.type
    return isinstance(kind, PointerType) and kind.space in (AddressSpace.PRIVATE, AddressSpace.GENERIC)


def _is_plain(statement: Statement) -> bool:
    """Tell whether a statement stores numbers only."""
    return isinstance(statement, ir.Store) and not isinstance(statement.value.type, PointerType)

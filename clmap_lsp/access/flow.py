"""Which variables a piece of a kernel writes, and which values it takes over from before."""

from __future__ import annotations

from typing import Final

from clmap_lsp.source import ir
from clmap_lsp.source.exposed import exposed_by_turn
from clmap_lsp.source.ir import Block, Expression, Statement, Variable

_NOTHING: Final[frozenset[Variable]] = frozenset()


class Flow:
    """Answers per statement, each worked out once."""

    def __init__(self) -> None:
        self._assigned: dict[int, frozenset[Variable]] = {}
        self._reads: dict[int, frozenset[Variable]] = {}
        self._carried: dict[int, frozenset[Variable]] = {}
        self._kept: list[object] = []
        """Keeps what the ids above name alive."""

    def assigned(self, statement: Statement) -> frozenset[Variable]:
        """Return the registers that it writes and the private objects that it stores to."""
        key = id(statement)
        known = self._assigned.get(key)
        if known is None:
            known = frozenset(_written(statement))
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
        below = ir.operands(expression)
        if not below:
            return _NOTHING
        key = id(expression)
        known = self._reads.get(key)
        if known is None:
            known = self._reads[key] = _NOTHING.union(*(self.reads(it) for it in below))
            self._kept.append(expression)
        return known

    def carried(self, loop: ir.Loop) -> frozenset[Variable]:
        """Return the registers that a turn of the loop reads from the turn before."""
        known = self._carried.get(id(loop))
        if known is None:
            found = exposed_by_turn(loop, _written, self.reads)
            known = self._carried[id(loop)] = self.assigned(loop).intersection(found)
            self._kept.append(loop)
        return known


def _written(statement: Statement) -> tuple[Variable, ...]:
    """Return the registers that a statement writes or declares and the private objects it may store to."""
    if isinstance(statement, ir.Declare):
        return (statement.variable,)
    found = ir.written(statement)
    for pointer in ir.written_through(statement):
        found += _objects_in(pointer)
    return found


def _objects_in(pointer: Expression) -> tuple[Variable, ...]:
    """Return the private objects that a pointer expression names."""
    if isinstance(pointer, ir.ObjectAddress):
        return (pointer.variable,)
    return tuple(it for operand in ir.operands(pointer) for it in _objects_in(operand))

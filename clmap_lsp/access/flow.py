"""Which variables a piece of a kernel writes, and which values it takes over from before."""

from __future__ import annotations

from typing import Final

from clmap_lsp.source import ir
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
            known = self._carried[id(loop)] = self._carried_by(loop)
            self._kept.append(loop)
        return known

    def _carried_by(self, loop: ir.Loop) -> frozenset[Variable]:
        exposed: set[Variable] = set()
        written: set[Variable] = set()
        if loop.tests_first:
            self._expose(loop.test, exposed, written)
            self._expose_expression(loop.condition, exposed, written)
        self._expose(loop.body, exposed, written)
        self._expose(loop.step, exposed, written)
        if not loop.tests_first:
            self._expose(loop.test, exposed, written)
            self._expose_expression(loop.condition, exposed, written)
        return frozenset(exposed) & self.assigned(loop)

    def _expose_expression(
        self, expression: Expression | None, exposed: set[Variable], written: set[Variable]
    ) -> None:
        if expression is not None:
            exposed |= self.reads(expression) - written

    def _expose(self, block: Block, exposed: set[Variable], written: set[Variable]) -> None:
        """Add what the block reads before it writes to `exposed`, what it always writes to `written`."""
        for statement in block:
            for expression in ir.expressions(statement):
                self._expose_expression(expression, exposed, written)
            match statement:
                case ir.If():
                    in_then, in_else = set(written), set(written)
                    self._expose(statement.then, exposed, in_then)
                    self._expose(statement.otherwise, exposed, in_else)
                    written |= in_then & in_else
                case ir.Scope():
                    inside = set(written)
                    self._expose(statement.body, exposed, inside)
                    written |= inside if not _leaves(statement.body) else set(_always_left_with(statement))
                case ir.Loop() | ir.Switch():
                    for inner in ir.blocks(statement):
                        self._expose(inner, exposed, set(written))
                    if isinstance(statement, ir.Loop):
                        self._expose_expression(statement.condition, exposed, written)
                case _:
                    written.update(_written(statement))


def _leaves(block: Block) -> bool:
    return any(isinstance(it, ir.Leave) for it in ir.walk(block))


def _always_left_with(scope: ir.Scope) -> frozenset[Variable]:
    """Return the variables written before every `Leave` of a scope and at its end (its result)."""
    common: frozenset[Variable] | None = None

    def visit(block: Block, written: frozenset[Variable]) -> frozenset[Variable] | None:
        nonlocal common
        for statement in block:
            match statement:
                case ir.Leave(label=label) if label == scope.label:
                    common = written if common is None else common & written
                    return None
                case ir.If():
                    a, b = visit(statement.then, written), visit(statement.otherwise, written)
                    if a is None and b is None:
                        return None
                    written = (
                        a & b if a is not None and b is not None else (a if a is not None else b) or written
                    )
                case ir.Break() | ir.Continue() | ir.Return() | ir.Leave():
                    return None
                case ir.Loop() | ir.Switch() | ir.Scope():
                    for inner in ir.blocks(statement):
                        visit(inner, written)
                case _:
                    written |= frozenset(_written(statement))
        return written

    at_end = visit(scope.body, _NOTHING)
    if common is None:
        return at_end or _NOTHING
    return common & at_end if at_end is not None else common


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

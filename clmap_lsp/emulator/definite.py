"""Which register variables may be read before they are written."""

from __future__ import annotations

from clmap_lsp.source.ir import (
    Assign,
    Block,
    Break,
    Continue,
    Declare,
    Expression,
    Goto,
    If,
    InsertLanes,
    Kernel,
    Label,
    Leave,
    Loop,
    Read,
    Return,
    Scope,
    Statement,
    Switch,
    Swizzle,
    Variable,
    VariableKind,
    expressions,
    operands,
    walk,
)
from clmap_lsp.source.ir import written as written_by
from clmap_lsp.source.types import lanes_of


def maybe_unset(kernel: Kernel) -> frozenset[Variable]:
    """Return the variables that need a run-time flag; the others are written on every way to every read.

    Kernels with `goto` give every variable that is declared without being written next: the flow is not
    followed there.
    """
    flow = _Flow()
    if any(isinstance(it, Goto | Label) for it in walk(kernel.body)):
        return frozenset(
            it.variable
            for it in walk(kernel.body)
            if isinstance(it, Declare) and it.variable.kind is VariableKind.REGISTER
        )
    flow.block(kernel.body, frozenset())
    return frozenset(flow.unset)


_Lane = tuple[Variable, int]
_Set = frozenset[Variable | _Lane]
"""Variables that are written as a whole, and for vectors each written lane too."""
_NOWHERE = None
"""The state after a jump: no way leads here."""


class _Flow:
    """Forward analysis of the variables that are surely written; `None` is unreachable code."""

    def __init__(self) -> None:
        self.unset: set[Variable] = set()
        self.breaks: list[list[_Set]] = []
        self.continues: list[list[_Set]] = []
        self.leaves: dict[int, list[_Set]] = {}

    def block(self, block: Block, known: _Set | None) -> _Set | None:
        for statement in block:
            if known is None:
                return None
            known = self._statement(statement, known)
        return known

    def _statement(self, statement: Statement, known: _Set) -> _Set | None:
        if not isinstance(statement, Loop):
            for expression in expressions(statement):
                self._reads(expression, known)
        match statement:
            case Declare(variable=variable):
                return known - {variable} - _lanes_of(variable)
            case If(then=then, otherwise=otherwise):
                return _meet(self.block(then, known), self.block(otherwise, known))
            case Loop():
                return self._loop(statement, known)
            case Switch():
                return self._switch(statement, known)
            case Scope(label=label, body=body):
                self.leaves[label] = []
                end = self.block(body, known)
                return _meet(end, *self.leaves.pop(label))
            case Break():
                self.breaks[-1].append(known)
                return None
            case Continue():
                self.continues[-1].append(known)
                return None
            case Leave(label=label):
                self.leaves[label].append(known)
                return None
            case Return():
                return None
            case Assign(variable=variable, value=InsertLanes(vector=Read(variable=old), lanes=lanes)) if (
                old is variable
            ):
                known |= {(variable, lane) for lane in lanes}
                return known | {variable} if _lanes_of(variable) <= known else known
            case _:
                for variable in written_by(statement):
                    known |= {variable} | _lanes_of(variable)
                return known

    def _loop(self, loop: Loop, known: _Set) -> _Set | None:
        self.breaks.append([])
        self.continues.append([])
        entry: _Set | None = known
        leaving: _Set | None = None
        if loop.tests_first:
            entry = self._test(loop, entry)
            leaving = entry
        after_body = _meet(self.block(loop.body, entry), *self.continues.pop())
        after_step = self.block(loop.step, after_body)
        if not loop.tests_first:
            leaving = self._test(loop, after_step)
        if loop.condition is None:
            leaving = None
        return _meet(leaving, *self.breaks.pop())

    def _test(self, loop: Loop, known: _Set | None) -> _Set | None:
        known = self.block(loop.test, known)
        if known is not None and loop.condition is not None:
            self._reads(loop.condition, known)
        return known

    def _switch(self, switch: Switch, known: _Set) -> _Set | None:
        self.breaks.append([])
        at: _Set | None = None
        for case in switch.cases:
            at = self.block(case.body, _meet(at, known))
        has_default = any(it.is_default for it in switch.cases)
        return _meet(at, *self.breaks.pop(), *(() if has_default else (known,)))

    def _reads(self, expression: Expression, known: _Set) -> None:
        match expression:
            case Read(variable=variable):
                if variable.kind is VariableKind.REGISTER and variable not in known:
                    self.unset.add(variable)
            case Swizzle(operand=Read(variable=variable), lanes=lanes):
                some = {(variable, lane) for lane in lanes}
                if variable.kind is VariableKind.REGISTER and variable not in known and not some <= known:
                    self.unset.add(variable)
            case InsertLanes(vector=Read(), value=value):
                self._reads(value, known)  # Writing some lanes does not read the others.
            case _:
                for operand in operands(expression):
                    self._reads(operand, known)


def _lanes_of(variable: Variable) -> frozenset[_Lane]:
    """Return the lanes of a vector; a scalar has none."""
    count = lanes_of(variable.type)
    return frozenset((variable, lane) for lane in range(count)) if count > 1 else frozenset()


def _meet(*ways: _Set | None) -> _Set | None:
    open_ways = [it for it in ways if it is not None]
    if not open_ways:
        return None
    return frozenset.intersection(*open_ways)

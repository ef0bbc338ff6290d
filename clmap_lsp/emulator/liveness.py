"""Which register variables are read again behind a barrier: a work-item that waits keeps no others."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from clmap_lsp.dataclass import dataclass
from clmap_lsp.source.control_flow import has_labels
from clmap_lsp.source.ir import (
    Barrier,
    Block,
    Break,
    Continue,
    Declare,
    Expression,
    If,
    Kernel,
    Leave,
    Loop,
    Read,
    Return,
    Scope,
    Statement,
    Switch,
    Variable,
    VariableKind,
    WaitEvents,
    expressions,
    nodes,
    walk,
    written,
)

_MOST_STATEMENTS = 2_000
_DEEPEST = 5
"""Loops in each other, each of which is looked at two or three times by the one around it."""
_NOTHING: Mapping[int, frozenset[Variable]] = MappingProxyType({})


def live_after_waits(kernel: Kernel) -> Mapping[int, frozenset[Variable]]:
    """Return for each wait, by its identity, the variables that may be read behind it as they are.

    Waits that are not among them, of kernels with `goto` or very long ones, may need all variables.
    """
    statements = list(walk(kernel.body))
    if len(statements) > _MOST_STATEMENTS or has_labels(kernel.body):
        return _NOTHING
    if not any(isinstance(it, Barrier | WaitEvents) for it in statements):
        return _NOTHING
    flow = _Backward()
    try:
        flow.block(kernel.body, 0)
    except _TooDeepError:
        return _NOTHING
    return {wait: flow.variables(bits) for wait, bits in flow.after.items()}


@dataclass(frozen=True, slots=True)
class Steady:
    """A wait that comes before all others, and the variables that nothing writes behind it."""

    wait: Statement | None
    variables: frozenset[Variable]


NOTHING_STEADY = Steady(None, frozenset())


def steady_variables(kernel: Kernel) -> Steady:
    """Return what a work-item that has come by its first wait need not keep again at the next ones."""
    for number, statement in enumerate(kernel.body):
        if not any(isinstance(it, Barrier | WaitEvents) for it in walk((statement,))):
            continue
        if not isinstance(statement, Barrier | WaitEvents):
            break  # Somebody may come to a later wait without it.
        behind = list(walk(kernel.body[number + 1 :]))
        changed = {it for one in behind for it in written(one)}
        changed |= {it.variable for it in behind if isinstance(it, Declare)}
        return Steady(statement, frozenset(kernel.variables + kernel.parameters) - changed)
    return NOTHING_STEADY


class _TooDeepError(Exception):
    """Too many loops in each other."""


_Live = int
"""One bit for each variable."""


class _Backward:
    """Goes through a kernel from its end; each method returns what is live before, given what is behind."""

    def __init__(self) -> None:
        self.after: dict[int, _Live] = {}
        self._numbers: dict[Variable, int] = {}
        self._breaks: list[_Live] = []
        self._continues: list[_Live] = []
        self._scopes: dict[int, _Live] = {}
        self._depth = 0

    def variables(self, live: _Live) -> frozenset[Variable]:
        """Return the variables of some bits."""
        return frozenset(it for it, number in self._numbers.items() if live >> number & 1)

    def block(self, block: Block, behind: _Live) -> _Live:
        """A block."""
        for statement in reversed(block):
            behind = self._statement(statement, behind)
        return behind

    def _statement(self, statement: Statement, behind: _Live) -> _Live:
        match statement:
            case If(condition=condition, then=then, otherwise=otherwise):
                either = self.block(then, behind) | self.block(otherwise, behind)
                return either | self._reads(condition)
            case Loop():
                return self._loop(statement, behind)
            case Switch():
                return self._switch(statement, behind)
            case Scope(label=label, body=body):
                self._scopes[label] = behind
                return self.block(body, behind)
            case Break():
                return self._breaks[-1] if self._breaks else 0
            case Continue():
                return self._continues[-1] if self._continues else 0
            case Return():
                return 0
            case Leave(label=label):
                return self._scopes[label]
            case Barrier() | WaitEvents():
                self.after[id(statement)] = self.after.get(id(statement), 0) | behind
            case _:
                pass
        for variable in written(statement):
            behind &= ~self._bit(variable)
        for expression in expressions(statement):
            behind |= self._reads(expression)
        return behind

    def _loop(self, loop: Loop, behind: _Live) -> _Live:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise _TooDeepError
        decided = 0 if loop.condition is None else behind | self._reads(loop.condition)
        turn = body = 0
        while True:
            self._breaks.append(behind)
            step = self.block(loop.step, turn)
            self._continues.append(step)
            body = self.block(loop.body, step)
            self._breaks.pop()
            self._continues.pop()
            before = turn | self.block(loop.test, decided | body)
            if before == turn:
                break
            turn = before
        self._depth -= 1
        return turn if loop.tests_first else body

    def _switch(self, switch: Switch, behind: _Live) -> _Live:
        self._breaks.append(behind)
        entries, following = 0, behind
        for case in reversed(switch.cases):
            following = self.block(case.body, following)
            entries |= following
        self._breaks.pop()
        if not any(it.is_default for it in switch.cases):
            entries |= behind
        return entries | self._reads(switch.value)

    def _reads(self, expression: Expression) -> _Live:
        found = 0
        for it in nodes(expression):
            if isinstance(it, Read):
                found |= self._bit(it.variable)
        return found

    def _bit(self, variable: Variable) -> _Live:
        if variable.kind not in (VariableKind.REGISTER, VariableKind.PARAMETER):
            return 0
        return 1 << self._numbers.setdefault(variable, len(self._numbers))


__all__ = ["NOTHING_STEADY", "Steady", "live_after_waits", "steady_variables"]

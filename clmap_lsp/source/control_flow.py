"""Where control goes in a function: a forward abstract interpreter, for any domain.

A domain says what its states are: what a simple statement and a condition make of one, and what holds where
ways come together. Here stands, once for all domains, which ways there are: the branches of an `If`, the
cases of a `Switch` and those that are fallen into, the end of a loop and its breaks, what goes on at a loop's
step after `continue`, the end of a `Scope` and those who leave it. `None` is the state where nobody comes.

How the many turns of a loop are summed up depends on the domain: `loop` follows one, which is enough where a
second one would say nothing new; others override it and use `head` and `turn`. Jumps to labels are not
followed: a domain asks `has_labels` first.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from clmap_lsp.source import ir
from clmap_lsp.source.ir import Block, Expression, Statement

State = TypeVar("State")


def has_labels(block: Block) -> bool:
    """Tell whether control may come to places that no `Scope` and no `Loop` stands for."""
    return any(isinstance(it, ir.Label | ir.Goto) for it in ir.walk(block))


class Forward(ABC, Generic[State]):
    """Follows a state through the statements of a function, in the order in which they run."""

    def __init__(self) -> None:
        self._breaks: list[list[State]] = []
        self._continues: list[list[State]] = []
        self._leaves: dict[int, list[State]] = {}

    # ------------------------------------------------------------------------------------ the domain

    @abstractmethod
    def simple(self, statement: Statement, state: State) -> State:
        """Return what holds after a statement without blocks that does not jump; may change `state`."""

    @abstractmethod
    def test(self, condition: Expression, wanted: bool, state: State) -> State | None:
        """Return what holds where a condition is `wanted`, `None` where it cannot be; may change `state`."""

    @abstractmethod
    def join(self, states: Sequence[State], after: Statement) -> State:
        """Return what holds after `after`, where these ways come together: at least one; may change them."""

    def asked(self, expression: Expression, state: State) -> None:
        """A switch or `return` reads a value."""

    def copy(self, state: State) -> State:
        """Return a state that may be changed apart from this one."""
        return state

    # ---------------------------------------------------------------------------------- control flow

    def block(self, block: Block, state: State | None) -> State | None:
        """Follow a block; return what holds at its end."""
        for statement in block:
            if state is None:
                return None
            goes = _GOES.get(type(statement))
            state = self.simple(statement, state) if goes is None else goes(self, statement, state)
        return state

    def head(self, loop: ir.Loop, state: State) -> tuple[State | None, State | None]:
        """Follow the test of a loop; return what holds where a turn begins, and where the loop ends."""
        tested = self.block(loop.test, state)
        if tested is None or loop.condition is None:
            return tested, None
        other = self.copy(tested)
        return self.test(loop.condition, True, tested), self.test(loop.condition, False, other)

    def turn(self, loop: ir.Loop, state: State | None) -> tuple[State | None, list[State]]:
        """Follow the body and the step of a loop; return what holds after them, and at each break."""
        self._breaks.append([])
        self._continues.append([])
        end = self.block(loop.body, state)
        end = self.block(loop.step, self.joined([*self._continues.pop(), end], loop))
        return end, self._breaks.pop()

    def loop(self, loop: ir.Loop, state: State) -> State | None:
        """Follow one turn of a loop; return what holds after the loop."""
        begins: State | None = state
        out: State | None = None
        if loop.tests_first:
            begins, out = self.head(loop, state)
        end, ways = self.turn(loop, begins)
        if end is not None and not loop.tests_first:
            _, out = self.head(loop, end)
        return self.joined([*ways, out], loop)

    def joined(self, ways: Sequence[State | None], after: Statement) -> State | None:
        """Return what holds where ways come together, some of which nobody may take."""
        taken = [it for it in ways if it is not None]
        return self.join(taken, after) if len(taken) > 1 else taken[0] if taken else None

    def entered(self, state: State, falling: State | None, it: ir.Switch, before: Block) -> State | None:
        """Return what holds where a case begins: reached from the switch, or out of the case `before` it.

        What falls into that one has been joined with `state` already.
        """
        return self.joined([self.copy(state), falling], it)

    def _if(self, it: ir.If, state: State) -> State | None:
        other = self.copy(state)
        then = self.block(it.then, self.test(it.condition, True, state))
        otherwise = self.block(it.otherwise, self.test(it.condition, False, other))
        return self.joined([then, otherwise], it)

    def _switch(self, it: ir.Switch, state: State) -> State | None:
        self.asked(it.value, state)
        self._breaks.append([])
        falling: State | None = None
        before: Block = ()
        for case in it.cases:
            falling = self.block(case.body, self.entered(state, falling, it, before))
            before = case.body
        past = None if any(case.is_default for case in it.cases) else state
        return self.joined([past, *self._breaks.pop(), falling], it)

    def _scope(self, it: ir.Scope, state: State) -> State | None:
        self._leaves[it.label] = []
        end = self.block(it.body, state)
        return self.joined([end, *self._leaves.pop(it.label)], it)

    def _loop(self, it: ir.Loop, state: State) -> State | None:
        return self.loop(it, state)

    def _break(self, _: ir.Break, state: State) -> None:
        if self._breaks:
            self._breaks[-1].append(state)

    def _continue(self, _: ir.Continue, state: State) -> None:
        if self._continues:
            self._continues[-1].append(state)

    def _leave(self, it: ir.Leave, state: State) -> None:
        if it.label in self._leaves:
            self._leaves[it.label].append(state)

    def _return(self, it: ir.Return, state: State) -> None:
        if it.value is not None:
            self.asked(it.value, state)

    def _goto(self, _: ir.Goto, state: State) -> None:
        """Nobody comes to what follows; where the jump leads is not followed."""


_GOES: dict[type, Callable[[Any, Any, Any], Any]] = {
    ir.If: Forward._if,
    ir.Switch: Forward._switch,
    ir.Scope: Forward._scope,
    ir.Loop: Forward._loop,
    ir.Break: Forward._break,
    ir.Continue: Forward._continue,
    ir.Leave: Forward._leave,
    ir.Return: Forward._return,
    ir.Goto: Forward._goto,
}

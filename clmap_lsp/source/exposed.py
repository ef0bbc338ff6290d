"""Which variables a piece of a function takes from before: those read before they are surely written."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from clmap_lsp.source import ir
from clmap_lsp.source.control_flow import Forward
from clmap_lsp.source.ir import Block, Expression, Statement, Variable

_Written = set[Variable]


def exposed_by(
    block: Block, written: Callable[[Statement], tuple[Variable, ...]] = ir.written
) -> set[Variable]:
    """Return what a block reads before it has written it on every way; `written`: by a statement."""
    domain = _Exposed(written, _reads)
    domain.block(block, set())
    return domain.exposed


def exposed_by_turn(
    loop: ir.Loop,
    written: Callable[[Statement], tuple[Variable, ...]],
    reads: Callable[[Expression], frozenset[Variable]],
) -> set[Variable]:
    """Return what a turn of a loop reads before it has written it, its test included."""
    domain = _Exposed(written, reads)
    domain.loop(loop, set())
    return domain.exposed


class _Exposed(Forward[_Written]):
    """The variables that are written on every way so far."""

    def __init__(
        self,
        written: Callable[[Statement], tuple[Variable, ...]],
        reads: Callable[[Expression], frozenset[Variable]],
    ) -> None:
        super().__init__()
        self.written = written
        self.reads = reads
        self.exposed: set[Variable] = set()

    def simple(self, statement: Statement, state: _Written) -> _Written:
        for expression in ir.expressions(statement):
            self.asked(expression, state)
        state.update(self.written(statement))
        return state

    def copy(self, state: _Written) -> _Written:
        return set(state)

    def test(self, condition: Expression, wanted: bool, state: _Written) -> _Written:
        self.asked(condition, state)
        return state

    def asked(self, expression: Expression, state: _Written) -> None:
        self.exposed |= self.reads(expression) - state

    def join(self, states: Sequence[_Written], after: Statement) -> _Written:
        return set.intersection(*states)


def _reads(expression: Expression) -> frozenset[Variable]:
    return frozenset(it.variable for it in ir.nodes(expression) if isinstance(it, ir.Read))

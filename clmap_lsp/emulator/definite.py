"""Which register variables may be read before they are written."""

from __future__ import annotations

from collections.abc import Sequence

from clmap_lsp.source.control_flow import Forward, has_labels
from clmap_lsp.source.ir import (
    Assign,
    Declare,
    Expression,
    InsertLanes,
    Kernel,
    Read,
    Statement,
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
    if has_labels(kernel.body):
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


class _Flow(Forward[_Set]):
    """Forward analysis of the variables that are surely written; two ways have in common what both write."""

    def __init__(self) -> None:
        super().__init__()
        self.unset: set[Variable] = set()

    def simple(self, statement: Statement, state: _Set) -> _Set:
        for expression in expressions(statement):
            self._reads(expression, state)
        match statement:
            case Declare(variable=variable):
                return state - {variable} - _lanes_of(variable)
            case Assign(variable=variable, value=InsertLanes(vector=Read(variable=old), lanes=lanes)) if (
                old is variable
            ):
                state |= {(variable, lane) for lane in lanes}
                return state | {variable} if _lanes_of(variable) <= state else state
            case _:
                for variable in written_by(statement):
                    state |= {variable} | _lanes_of(variable)
                return state

    def test(self, condition: Expression, wanted: bool, state: _Set) -> _Set:
        self._reads(condition, state)
        return state

    def asked(self, expression: Expression, state: _Set) -> None:
        self._reads(expression, state)

    def join(self, states: Sequence[_Set], after: Statement) -> _Set:
        return frozenset.intersection(*states)

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

"""Code that follows the values of out-of-bounds reads to where they matter.

Such a read gives 0, and the program goes on as if nothing had happened. For each register variable a word
holds the site (plus 1) of the out-of-bounds read that its value came from, or 0. Stores, branches and
addresses that depend on one are reported. Only launches that are known to read out of bounds pay for this.
"""

from __future__ import annotations

from functools import reduce

from llvmlite import ir

from clmap_lsp.emulator.context import Context
from clmap_lsp.emulator.expressions import Expressions
from clmap_lsp.emulator.layout import FAULT_INVALID
from clmap_lsp.emulator.types import I64
from clmap_lsp.source.ir import Expression, Logical, LogicalOp, Read, Select, operands
from clmap_lsp.source.types import VectorType

_NONE = ir.Constant(I64, 0)


class Origins:
    """Emits what values depend on: a word as above, or None where it is surely 0."""

    def __init__(self, ctx: Context, expressions: Expressions) -> None:
        self.ctx = ctx
        self.expressions = expressions

    def of(self, expression: Expression) -> ir.Value | None:
        """Return the out-of-bounds read that a value depends on."""
        if not self.ctx.options.follow_invalid:
            return None
        builder = self.ctx.builder
        match expression:
            case Read(variable=variable):
                slot = self.ctx.slots.get(variable)
                if slot is None or slot.origin is None:
                    return None
                return builder.load(slot.origin, typ=I64)
            case Select(condition=condition, if_true=yes, if_false=no) if not isinstance(
                condition.type, VectorType
            ):
                return self._join(self.of(condition), self._chosen(condition, self.of(yes), self.of(no)))
            case Logical(left=left, right=right, op=op) if not isinstance(left.type, VectorType):
                after = self.of(right)
                chosen = (after, None) if op is LogicalOp.AND else (None, after)
                return self._join(self.of(left), self._chosen(left, *chosen))
            case _:
                return reduce(self._join, map(self.of, operands(expression)), None)

    def check(self, expression: Expression, place: int | None = None) -> None:
        """Report a use of a value that depends on one; `place` is the number of the place of the report."""
        self.report(self.of(expression), self.ctx.place(expression.span) if place is None else place)

    def report(self, origin: ir.Value | None, place: int) -> None:
        """Report a use at a place."""
        if origin is None:
            return
        with self.ctx.rarely(self._is_set(origin), "invalid"):
            self.ctx.fault(FAULT_INVALID, place, origin)

    def _chosen(self, condition: Expression, yes: ir.Value | None, no: ir.Value | None) -> ir.Value | None:
        if yes is None and no is None:
            return None
        return self.ctx.builder.select(self.expressions.condition(condition), yes or _NONE, no or _NONE)

    def _join(self, first: ir.Value | None, second: ir.Value | None) -> ir.Value | None:
        if first is None or second is None:
            return first or second
        return self.ctx.builder.select(self._is_set(first), first, second)

    def _is_set(self, origin: ir.Value) -> ir.Value:
        return self.ctx.builder.icmp_signed("!=", origin, _NONE)

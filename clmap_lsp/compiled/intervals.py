"""The values that loop counters take, as far as constants say it: what a compiler needs to unroll a loop."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from clmap_lsp.dataclass import dataclass
from clmap_lsp.source import ir

if TYPE_CHECKING:
    from clmap_lsp.source.ir import Expression, Variable


@dataclass(frozen=True, slots=True)
class Interval:
    """From the least to the greatest value, both taken."""

    low: float
    high: float


Ranges = Mapping["ir.Variable", Interval]
"""Of the variables that are known."""


def interval(value: Expression, ranges: Ranges) -> Interval | None:
    """Return the values that an integer expression may take, `None` where constants do not say it."""
    match ir.unconverted(value):
        case ir.Constant(value=int(number)):
            return Interval(number, number)
        case ir.Read(variable=variable):
            return ranges.get(variable)
        case ir.Binary(op=op, left=left, right=right) if op in _CORNERS:
            first, second = interval(left, ranges), interval(right, ranges)
            if first is None or second is None:
                return None
            corners = [_CORNERS[op](a, b) for a in (first.low, first.high) for b in (second.low, second.high)]
            return Interval(min(corners), max(corners))
        case _:
            return None


_CORNERS: Mapping[ir.BinaryOp, Callable[[float, float], float]] = {
    ir.BinaryOp.ADD: operator.add,
    ir.BinaryOp.SUB: operator.sub,
    ir.BinaryOp.MUL: operator.mul,
}


def last_value(condition: Expression | None, counter: Variable, stride: int, ranges: Ranges) -> float | None:
    """Return the last value of a counter for which a loop turns, at the most; `None` if that is not known.

    The condition compares the counter, or the counter plus a constant, with what is known; of several that
    must all hold, the first that does so counts.
    """
    match condition:
        case ir.Logical(op=ir.LogicalOp.AND, left=left, right=right):
            found = last_value(left, counter, stride, ranges)
            return last_value(right, counter, stride, ranges) if found is None else found
        case ir.Compare(op=op, left=left, right=right):
            alone = _beside(left, counter, ranges)
            bound = interval(right, ranges)
            if alone is None:
                alone, bound, op = (
                    _beside(right, counter, ranges),
                    interval(left, ranges),
                    _TURNED.get(op, op),
                )
            if alone is None or bound is None:
                return None
            return _limit(op, bound, stride, alone)
        case _:
            return None


def _limit(op: ir.CompareOp, bound: Interval, stride: int, beside: float) -> float | None:
    if stride > 0 and op in (ir.CompareOp.LT, ir.CompareOp.NE):
        return bound.high - 1 - beside
    if stride > 0 and op is ir.CompareOp.LE:
        return bound.high - beside
    if stride < 0 and op in (ir.CompareOp.GT, ir.CompareOp.NE):
        return bound.low + 1 - beside
    if stride < 0 and op is ir.CompareOp.GE:
        return bound.low - beside
    return None


_TURNED = {
    ir.CompareOp.LT: ir.CompareOp.GT,
    ir.CompareOp.LE: ir.CompareOp.GE,
    ir.CompareOp.GT: ir.CompareOp.LT,
    ir.CompareOp.GE: ir.CompareOp.LE,
}


def _beside(value: Expression, counter: Variable, ranges: Ranges) -> float | None:
    """Return what is added to a counter where it is compared; `None` where it is not the counter."""
    match ir.unconverted(value):
        case ir.Read(variable=variable):
            return 0.0 if variable is counter else None
        case ir.Binary(op=ir.BinaryOp.ADD, left=left, right=right):
            first, more = _beside(left, counter, ranges), interval(right, ranges)
            return None if first is None or more is None else first + more.low
        case _:
            return None

"""Loops that do nothing but add up, and what zeros do to their sums."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from clmap_lsp.source import ir
from clmap_lsp.source.types import ScalarType

if TYPE_CHECKING:
    from clmap_lsp.fixes.loops import CountingLoop


def sum_of(loop: CountingLoop) -> tuple[str, str] | None:
    """Return the name and type of the one variable that the loop adds to."""
    named = _named(loop)
    assigned = {
        it.variable
        for it in ir.walk(loop.statement.body)
        if isinstance(it, ir.Assign) and it.variable not in named and it.variable.name != loop.name
    }
    if len(assigned) != 1 or any(isinstance(it, (ir.Store, ir.If)) for it in ir.walk(loop.statement.body)):
        return None
    (variable,) = assigned
    return (variable.name, str(variable.type)) if isinstance(variable.type, ScalarType) else None


def factors_of(loop: CountingLoop, name: str) -> tuple[str, ...] | None:
    """Return what multiplies the loads in the sum; `None` if loads of zeros would change it.

    Tiles are filled with zeros past the ends, and the turns there are taken like all others.
    """
    loaded = {it.variable for it in ir.walk(loop.statement.body) if isinstance(it, ir.Load)}
    named = _named(loop)
    sums = [
        it.value
        for it in ir.walk(loop.statement.body)
        if isinstance(it, ir.Assign) and it.variable.name == name and it.variable not in named
    ]
    factors: set[str] = set()

    def is_sum(value: ir.Expression) -> bool:
        return isinstance(value, ir.Read) and value.variable.name == name

    def is_zero(value: ir.Expression) -> bool:
        """Tell whether a value is zero where all that is loaded is."""
        match value:
            case ir.Read(variable=variable) if variable in named:
                return is_zero(named[variable])
            case ir.Read(variable=variable):
                return variable in loaded
            case ir.Constant(value=number):
                return number == 0
            case ir.Convert(operand=operand) | ir.Unary(op=ir.UnaryOp.NEGATE, operand=operand):
                return is_zero(operand)
            case ir.Binary(op=ir.BinaryOp.ADD | ir.BinaryOp.SUB, left=left, right=right):
                return is_zero(left) and is_zero(right)
            case ir.Binary(op=ir.BinaryOp.MUL, left=left, right=right):
                zeros = (is_zero(left), is_zero(right))
                return any(zeros) and all(
                    zero or is_finite(it) for zero, it in zip(zeros, (left, right), strict=True)
                )
            case _:
                return False

    def is_finite(value: ir.Expression) -> bool:
        """Tell whether zero times a value is zero, if what is noted is finite."""
        match value:
            case ir.Constant():
                return True
            case ir.Convert(operand=operand):
                return is_finite(operand)
            case ir.Read(variable=variable) if variable.kind is ir.VariableKind.PARAMETER:
                if getattr(variable.type, "is_float", False):
                    factors.add(variable.name)
                return True
            case _:
                return False

    def adds(value: ir.Expression) -> bool:
        match value:
            case ir.Binary(op=ir.BinaryOp.ADD, left=left, right=right):
                return (is_sum(left) and is_zero(right)) or (is_sum(right) and is_zero(left))
            case ir.Binary(op=ir.BinaryOp.SUB, left=left, right=right):
                return is_sum(left) and is_zero(right)
            case ir.Builtin(name="mad" | "fma", arguments=(left, right, added)):
                return is_sum(added) and is_zero(left) and is_zero(right)
            case ir.Convert(operand=operand):
                return adds(operand)
            case _:
                return False

    return tuple(sorted(factors)) if len(sums) == 1 and adds(sums[0]) else None


def _named(loop: CountingLoop) -> dict[ir.Variable, ir.Expression]:
    """Return what a turn's temporaries are, and the variables of its own that it sets once."""
    statements = list(ir.walk(loop.statement.body))
    own = {it.variable for it in statements if isinstance(it, ir.Declare)}
    times = Counter(it.variable for it in statements if isinstance(it, ir.Assign))
    return {
        it.variable: it.value
        for it in statements
        if isinstance(it, ir.Assign)
        and (it.variable.is_temporary or (it.variable in own and times[it.variable] == 1))
    }

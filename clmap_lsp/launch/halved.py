"""Loops beside whose counter a distance is halved or doubled: what bounds them is a logarithm of a size."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from clmap_lsp.launch.forms import Forms, is_scalar_parameter
from clmap_lsp.source import ir
from clmap_lsp.source.ir import BinaryOp, Variable
from clmap_lsp.source.types import ScalarType

_HALVES = {(BinaryOp.SHR, 1), (BinaryOp.SHL, 1), (BinaryOp.MUL, 2), (BinaryOp.DIV, 2)}


def logarithms(kernel: ir.Kernel, forms: Forms) -> Mapping[Variable, bool]:
    """Return the scalar parameters that count halvings, each with whether a work-group waits in between.

    Such a loop is a reduction, a butterfly or a scan: as many times as there are bits in what is halved. One
    that also gives the distance anything else, as what runs through bits of words does, is none.
    """
    found: dict[Variable, bool] = {}
    for loop in ir.walk(kernel.body):
        if isinstance(loop, ir.Loop) and loop.condition is not None and _halves(loop):
            waits = any(isinstance(it, ir.Barrier) for it in loop.body)
            for parameter in _counted_to(loop.condition, forms):
                found[parameter] = found.get(parameter, True) and waits
    return found


def _halves(loop: ir.Loop) -> bool:
    """Tell whether each iteration halves or doubles an integer that does not decide when the loop ends."""
    assert loop.condition is not None
    deciding = {it.variable for it in ir.nodes(loop.condition) if isinstance(it, ir.Read)}
    halved = {
        it.variable
        for it in (*loop.body, *loop.step)
        if isinstance(it, ir.Assign) and it.variable not in deciding and _is_half(it.value, it.variable)
    }
    if not halved:
        return False
    assigned = Counter(it.variable for it in ir.walk(loop.body) if isinstance(it, ir.Assign))
    return any(assigned[it] <= 1 for it in halved)


def _is_half(value: ir.Expression, variable: Variable) -> bool:
    value = ir.unconverted(value)
    if not isinstance(value, ir.Binary) or ir.variable_of(value.left) is not variable:
        return False
    by = ir.unconverted(value.right)
    is_integer = isinstance(variable.type, ScalarType) and not variable.type.is_float
    return is_integer and isinstance(by, ir.Constant) and (value.op, by.value) in _HALVES


def _counted_to(condition: ir.Expression, forms: Forms) -> list[Variable]:
    """Return the parameter that a counter is compared with."""
    condition = ir.unconverted(condition)
    if not isinstance(condition, ir.Compare):
        return []
    sides = [forms.origin(ir.unconverted(it)) for it in (condition.left, condition.right)]
    if not any(it in forms.stepped for it in sides):
        return []
    return [it for it in sides if isinstance(it, Variable) and is_scalar_parameter(it)]

"""Scalars that arrays of a fixed length bound: where `k < n` ends a walk of `line[k]`, it is no more.

A guess beyond it would accuse the kernel of leaving an array that its author made long enough.
"""

from __future__ import annotations

from collections.abc import Iterator

from clmap_lsp.launch.forms import Form, Forms, is_scalar_parameter
from clmap_lsp.source import ir
from clmap_lsp.source.ir import CompareOp, Variable, VariableKind
from clmap_lsp.source.types import ArrayType

_KINDS = frozenset((VariableKind.PRIVATE_OBJECT, VariableKind.LOCAL_OBJECT))


def most_of(kernel: ir.Kernel, forms: Forms) -> dict[Variable, int]:
    """Return, by scalar parameter, the most that the arrays which loops up to it go through have room for."""
    found: dict[Variable, int] = {}
    for loop in (it for it in ir.walk(kernel.body) if isinstance(it, ir.Loop)):
        for counter, parameter, beyond in _bounds(loop, forms):
            for room in _rooms(loop.body, counter, forms):
                most = room - beyond
                if most > 0:
                    found[parameter] = min(most, found.get(parameter, most))
    return found


def _bounds(loop: ir.Loop, forms: Forms) -> Iterator[tuple[Variable, Variable, int]]:
    """Yield a loop's counter, the parameter that it stays below, and by how much it may be more than that."""
    if not isinstance(loop.condition, ir.Compare) or loop.condition.op not in (CompareOp.LT, CompareOp.LE):
        return
    counter = forms.origin(ir.unconverted(loop.condition.left))
    bound = forms.form(loop.condition.right)
    if counter is None or counter not in forms.stepped or bound is None:
        return
    last = _alone(bound)
    if last is not None and is_scalar_parameter(last[0]):
        yield counter, last[0], last[1] + (loop.condition.op is CompareOp.LE)


def _rooms(body: ir.Block, counter: Variable, forms: Forms) -> Iterator[int]:
    """Yield how far a counter may go in each array of a fixed length that it goes through by itself."""
    for expression in ir.all_expressions(body):
        if not isinstance(expression, ir.PointerOffset):
            continue
        pointer = ir.unconverted(expression.pointer)
        if not isinstance(pointer, ir.ObjectAddress) or pointer.variable.kind not in _KINDS:
            continue
        array, form = pointer.variable.type, forms.form(expression.index)
        at = _alone(form) if form is not None else None
        if isinstance(array, ArrayType) and array.length is not None and at is not None and at[0] is counter:
            yield array.length - at[1]


def _alone(form: Form) -> tuple[Variable, int] | None:
    """Return the one variable that a form is, and what is added to it."""
    variables = [mono for mono, coef in form.terms.items() if mono and coef == 1]
    if (
        len(variables) != 1
        or len(variables[0]) != 1
        or any(mono not in ((), variables[0]) for mono in form.terms)
    ):
        return None
    (variable,) = variables[0]
    return (variable, int(form.terms.get((), 0))) if isinstance(variable, Variable) else None

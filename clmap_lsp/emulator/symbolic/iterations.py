"""What the iterations of a loop will cost that data end, before they are run one by one.

`for (k = start[row]; k < start[row + 1]; k++) sum += value[k] * x[column[k]];`: each iteration looks as many
indices up as there are work-items. The first of them tell how many iterations there are, so that a launch
that is too large for it is given up before it has been followed for most of what it may cost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from clmap_lsp.emulator.symbolic.values import SEVERAL, Pointer, Sym, Unknown, numbers, subtract
from clmap_lsp.source import ir
from clmap_lsp.source.ir import Variable
from clmap_lsp.source.slicing import reads

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clmap_lsp.emulator.symbolic.machine import Live, Machine

_LEAVING = (ir.Break, ir.Leave, ir.Return, ir.Goto)
_ENDED = (ir.CompareOp.LT, ir.CompareOp.LE, ir.CompareOp.GT, ir.CompareOp.GE)


def foresee(machine: Machine, loop: ir.Loop, live: Live, steps: Mapping[Variable, int]) -> None:
    """Give a loop up whose iterations look up more than may be spent. Raises: OverBudgetError."""
    match loop.condition:
        case ir.Compare(op=op, left=left, right=right) if op in _ENDED:
            pass
        case _:
            return
    for counter, end in ((_read(left), right), (_read(right), left)):
        value = None if counter is None else machine.evaluator.env.get(counter)
        if counter is None or not isinstance(value, Sym) or value.array is None or not steps.get(counter):
            continue
        cells = _looked_up(machine, loop, counter) * value.array.size
        if machine.space.spending.can_spend(cells) and _stays(machine, loop, end):
            far = _distance(machine, value, end, live)
            machine.space.spending.foresee(cells * (far // abs(steps[counter])))
        return


def _read(expression: ir.Expression) -> Variable | None:
    while isinstance(expression, ir.Convert):
        expression = expression.operand
    return expression.variable if isinstance(expression, ir.Read) else None


def _looked_up(machine: Machine, loop: ir.Loop, counter: Variable) -> int:
    """Return how many loads of every iteration have an index that follows the counter, and are needed."""
    if any(isinstance(it, _LEAVING) for it in ir.walk(loop.body + loop.step)):
        return 0
    found = 0
    for statement in loop.body:
        if isinstance(statement, ir.Load) and statement.variable in machine.needs.variables:
            used: set[Variable] = set()
            reads(statement.pointer, used)
            found += counter in used and _is_known(machine, statement.pointer)
    return found


def _is_known(machine: Machine, pointer: ir.Expression) -> bool:
    """Tell whether what is read is there to be looked up."""
    where = machine.evaluator.value(pointer)
    if not isinstance(where, Pointer) or where.root is SEVERAL:
        return False
    return not isinstance(machine.data.contents(where.root), Unknown)


def _stays(machine: Machine, loop: ir.Loop, end: ir.Expression) -> bool:
    """Tell whether what the counter is held against is the same in every iteration."""
    changed = machine.needs.changed[id(loop)]
    used: set[Variable] = set()
    reads(end, used)
    for statement in loop.test:
        if not isinstance(statement, ir.Load):
            return False
        if statement.variable in used:
            used.discard(statement.variable)
            reads(statement.pointer, used)
    return used.isdisjoint(changed)


def _distance(machine: Machine, counter: Sym, end: ir.Expression, live: Live) -> int:
    """Return how far the counter is from its end, at most."""
    last = machine.evaluator.value(end)
    if not isinstance(last, Sym):
        return 0
    far = np.abs(numbers(subtract(last, counter), machine.space.counts))
    return int(np.max(far, where=live.mask, initial=0))

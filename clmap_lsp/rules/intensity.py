"""Whether a kernel waits for its arithmetic rather than for memory, by operations against sectors.

The estimate needs no figures of a device: it tells thousands of operations a sector from a few, no more.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import TYPE_CHECKING

from clmap_lsp.rules.thresholds import COMPUTE_BOUND_FROM
from clmap_lsp.source import ir
from clmap_lsp.source.types import AddressSpace, VectorType

if TYPE_CHECKING:
    from clmap_lsp.analysis.model import KernelAnalysis
    from clmap_lsp.source.span import Span

_ARITHMETIC = (ir.Unary, ir.Binary, ir.Compare, ir.Select, ir.Builtin)


def is_compute_bound(kernel: KernelAnalysis) -> bool:
    """Tell whether a work-item does so much for each sector that memory cannot be what it waits for."""
    launch = kernel.launch
    if launch is None:
        return False
    turns = turns_of_loops(kernel)
    sectors = kernel.totals.sectors / prod(launch.global_size)
    for it in kernel.accesses:
        if (
            it.totals is None and it.access.space is AddressSpace.GLOBAL
        ):  # A sector for each element, at most.
            sectors += prod(turns.get(loop.span, 1) for loop in it.access.loops if loop.span is not None)
    return _of_block(kernel.kernel.body, turns) >= COMPUTE_BOUND_FROM * sectors > 0


def turns_of_loops(kernel: KernelAnalysis) -> dict[Span, int]:
    """Return how many turns the loops make, by place, as far as the launch says."""
    from clmap_lsp.hierarchy.properties import in_launch

    turns = {
        it.span: made
        for it in ir.walk(kernel.kernel.body)
        if isinstance(it, ir.Loop) and (made := _constant_turns(it)) > 1
    }
    for it in (*kernel.accesses, *kernel.unreached):
        for loop in it.access.loops:
            counted = None if loop.trip is None else in_launch(loop.trip, kernel.launch)
            if loop.span is not None and counted is not None:
                turns[loop.span] = max(counted, 0)
    return turns


def _of_block(block: ir.Block, turns: Mapping[Span, int]) -> int:
    """Return at least how many operations a work-item does; loops of unknown turns count once."""
    total = 0
    for it in block:
        total += sum(_of_expression(part) for part in ir.expressions(it))
        inner = [_of_block(part, turns) for part in ir.blocks(it)]
        match it:
            case ir.Loop():
                total += sum(inner) * turns.get(it.span, 1)
            case ir.If() | ir.Switch():
                total += max(inner, default=0)
            case _:
                total += sum(inner)
    return total


def _constant_turns(loop: ir.Loop) -> int:
    """Return how often a loop that counts to a constant runs, if it starts at 0 and steps by 1; else 1."""
    condition = loop.condition
    if len(loop.step) == 1 and isinstance(condition, ir.Compare):
        for side in (condition.right, condition.left):
            if isinstance(side, ir.Constant) and isinstance(side.value, int) and side.value > 0:
                return side.value
    return 1


def _of_expression(expression: ir.Expression) -> int:
    """Count operations on 32 bits; what addresses and conversions take is left out."""
    total = 0
    for it in ir.nodes(expression):
        if isinstance(it, _ARITHMETIC):
            lanes = it.type.lanes if isinstance(it.type, VectorType) else 1
            total += max(lanes, it.type.size // 4)
    return total

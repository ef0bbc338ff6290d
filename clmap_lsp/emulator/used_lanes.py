"""Which components of a vector that is read from memory are used: the others need no value.

`p.v.y` reads all of `v` and uses one component of it. Where a kernel sets the components of a vector in
memory one by one, those that it never uses may have no value.
"""

from __future__ import annotations

from collections.abc import Mapping

from clmap_lsp.source.ir import (
    Expression,
    Kernel,
    Load,
    Read,
    Swizzle,
    Variable,
    expressions,
    operands,
    walk,
)
from clmap_lsp.source.per_kernel import per_kernel
from clmap_lsp.source.types import VectorType

Ranges = tuple[tuple[int, int], ...]
"""Bytes from the first of an access on: where each range begins, and how many there are."""


@per_kernel
def used_lanes(kernel: Kernel) -> Mapping[Variable, Ranges]:
    """Return the bytes that are used of vectors that are loaded, where these are not all of them."""
    loaded = {
        it.variable: set[int]() for it in walk(kernel.body) if isinstance(it, Load) and _lanes(it.variable)
    }
    if loaded:
        for statement in walk(kernel.body):
            for expression in expressions(statement):
                _note(expression, loaded)
    found = {}
    for variable, lanes in loaded.items():
        kind = variable.type
        assert isinstance(kind, VectorType)
        if lanes and len(lanes) * kind.element.size < kind.size:
            found[variable] = _ranges(sorted(lanes), kind.element.size)
    return found


def _lanes(variable: Variable) -> int:
    return variable.type.lanes if isinstance(variable.type, VectorType) else 0


def _note(expression: Expression, loaded: Mapping[Variable, set[int]]) -> None:
    waiting = [expression]
    while waiting:
        match waiting.pop():
            case Swizzle(operand=Read(variable=variable), lanes=lanes) if variable in loaded:
                loaded[variable].update(lanes)
            case Read(variable=variable) if variable in loaded:
                loaded[variable].update(range(_lanes(variable)))
            case other:
                waiting += operands(other)


def _ranges(lanes: list[int], size: int) -> Ranges:
    """Return the bytes of some lanes, neighbours together."""
    found: list[tuple[int, int]] = []
    for lane in lanes:
        if found and found[-1][0] + found[-1][1] == lane * size:
            found[-1] = (found[-1][0], found[-1][1] + size)
        else:
            found.append((lane * size, size))
    return tuple(found)

"""Which local arrays hold copies of global memory, and which loads bring them in."""

from __future__ import annotations

from clmap_lsp.dataclass import dataclass
from clmap_lsp.interruption import checkpoint
from clmap_lsp.source import ir
from clmap_lsp.source.types import points_to_local

_OTHER = -1
"""Stands for a value that is more than a copy: a sum, a constant."""


@dataclass(frozen=True, slots=True)
class StagedArray:
    """A local array that only ever receives values as they were loaded from memory."""

    name: str
    loads: frozenset[ir.Site]
    """The sites of those loads."""


def staged_arrays(kernel: ir.Kernel) -> tuple[StagedArray, ...]:
    """Return the local arrays (declared or parameters) that are filled by copying, in the order of names.

    Constants beside copies (zeros at a border) do not count against it; computed values do: such an array is
    a scratchpad, not a stage.
    """
    values = _values(kernel)
    fed: dict[str, set[ir.Site]] = {}
    for statement in ir.walk(kernel.body):
        match statement:
            case ir.Store(pointer=pointer, value=value) if points_to_local(pointer.type):
                fed.setdefault(_owner(pointer), set()).update(_sources(value, values))
            case ir.AsyncCopy(destination=destination, load_site=site) if points_to_local(destination.type):
                fed.setdefault(_owner(destination), set()).add(site)
            case ir.Atomic(pointer=pointer) if points_to_local(pointer.type):
                fed.setdefault(_owner(pointer), set()).add(_OTHER)
            case _:
                pass
    return tuple(
        StagedArray(name, frozenset(sites))
        for name, sites in sorted(fed.items())
        if name and sites and _OTHER not in sites
    )


def _values(kernel: ir.Kernel) -> dict[ir.Variable, set[ir.Site]]:
    """Return for each register variable the loads that its values come from, unchanged; to a fixed point."""
    found: dict[ir.Variable, set[ir.Site]] = {}
    assigns = [it for it in ir.walk(kernel.body) if isinstance(it, ir.Assign)]
    for statement in ir.walk(kernel.body):
        match statement:
            case ir.Load(variable=variable, site=site):
                found.setdefault(variable, set()).add(site)
            case ir.Atomic(variable=variable) | ir.Collective(variable=variable) if variable is not None:
                found.setdefault(variable, set()).add(_OTHER)
            case _:
                pass
    changed = True
    while changed:
        changed = False
        for it in assigns:
            checkpoint()
            known = found.setdefault(it.variable, set())
            more = _sources(it.value, found) - known
            known |= more
            changed = changed or bool(more)
    return found


def _sources(value: ir.Expression, known: dict[ir.Variable, set[ir.Site]]) -> set[ir.Site]:
    match value:
        case ir.Constant():
            return set()
        case ir.Read(variable=variable):
            return known.get(variable, {_OTHER} if variable.kind is ir.VariableKind.PARAMETER else set())
        case ir.Convert(operand=operand) | ir.Reinterpret(operand=operand):
            return _sources(operand, known)
        case ir.Select(if_true=first, if_false=second):
            return _sources(first, known) | _sources(second, known)
        case _:
            return {_OTHER}


def _owner(pointer: ir.Expression) -> str:
    """Return the name of the array or parameter that an address starts from; empty where it is not plain."""
    match pointer:
        case ir.ObjectAddress(variable=variable) | ir.Read(variable=variable):
            return variable.name
        case ir.PointerOffset(pointer=inner) | ir.FieldAddress(pointer=inner):
            return _owner(inner)
        case ir.PointerCast(operand=inner):
            return _owner(inner)
        case _:
            return ""

"""Local arrays that hold copies of global data."""

from __future__ import annotations

from clmap_lsp.source import ir
from clmap_lsp.source.types import AddressSpace, PointerType


def staged_arrays(kernel: ir.Kernel) -> tuple[ir.Variable, ...]:
    """Return the local arrays into which a value loaded from global memory is stored as it is."""
    loaded: set[ir.Variable] = set()
    found: dict[ir.Variable, None] = {}
    for it in ir.walk(kernel.body):
        match it:
            case ir.Load(variable=variable, pointer=pointer) if _space(pointer) is AddressSpace.GLOBAL:
                loaded.add(variable)
            case ir.Assign(variable=variable, value=ir.Read(variable=source)) if source in loaded:
                loaded.add(variable)
            case ir.Store(pointer=pointer, value=ir.Read(variable=source)) if source in loaded:
                _take(pointer, found)
            case ir.AsyncCopy(destination=pointer):
                _take(pointer, found)
            case _:
                pass
    return tuple(found)


def _take(pointer: ir.Expression, found: dict[ir.Variable, None]) -> None:
    if _space(pointer) is not AddressSpace.LOCAL:
        return
    while parts := ir.operands(pointer):
        pointer = parts[0]
    if isinstance(pointer, (ir.ObjectAddress, ir.Read)):
        found[pointer.variable] = None


def _space(pointer: ir.Expression) -> AddressSpace | None:
    return pointer.type.space if isinstance(pointer.type, PointerType) else None

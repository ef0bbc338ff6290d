"""Barriers that order nothing that another work-item could see.

Only what is certain is reported: barriers in the outermost block of a kernel, between whose neighbours on one
side no memory is touched that work-items share.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clmap_lsp.source import ir
from clmap_lsp.source.types import AddressSpace, PointerType


def needless_barriers(kernel: ir.Kernel) -> Iterator[tuple[ir.Barrier, str]]:
    """Yield the barriers of a kernel that order nothing, each with the reason.

    A barrier orders what the work-items of one group do before it against what they do after it. With nothing
    shared on one side (up to the next barrier that stays) there is nothing to order.
    """
    body = list(_flat(kernel.body))
    if ir.has_goto(kernel) or any(isinstance(it, ir.Return) for it in ir.walk(kernel.body)):
        return
    sharing = [at for at, it in enumerate(body) if _shares(it)]
    first, last = (sharing[0], sharing[-1]) if sharing else (len(body), -1)
    shares = set(sharing)
    preceding: ir.Barrier | None = None  # With no access since.
    for at, it in enumerate(body):
        if isinstance(it, ir.Barrier):
            if it.scope is ir.BarrierScope.WORK_GROUP:
                if first > at:
                    yield it, "no memory that work-items share is touched before it"
                elif last < at:
                    yield it, "no memory that work-items share is touched after it"
                elif preceding is not None and preceding.scope is ir.BarrierScope.WORK_GROUP:
                    yield it, "another barrier precedes it with no access between them"
            preceding = it
        elif at in shares:
            preceding = None


def _flat(block: Sequence[ir.Statement]) -> Iterator[ir.Statement]:
    """Yield the statements of the outermost block, inlined calls opened."""
    for it in block:
        if isinstance(it, ir.Scope):
            yield from _flat(it.body)
        else:
            yield it


def _shares(statement: ir.Statement) -> bool:
    """Tell whether a statement, or one inside it, touches memory that work-items share."""
    return any(map(_touches, ir.walk((statement,))))


def _touches(it: ir.Statement) -> bool:
    match it:
        case ir.Load(pointer=pointer) | ir.Store(pointer=pointer):
            return _is_shared(pointer)
        case ir.CopyObject(destination=destination, source=source):
            return _is_shared(destination) or _is_shared(source)
        case (
            ir.Atomic()
            | ir.AsyncCopy()
            | ir.WaitEvents()
            | ir.Collective()
            | ir.ImageRead()
            | ir.ImageWrite()
            | ir.Call()
            | ir.OpaqueCall()
            | ir.Unsupported()
            | ir.Fence()
        ):
            return True
        case _:
            return False


def _is_shared(pointer: ir.Expression) -> bool:
    kind = pointer.type
    return not isinstance(kind, PointerType) or kind.space not in (
        AddressSpace.PRIVATE,
        AddressSpace.CONSTANT,
    )

"""Reads that a compare-and-exchange checks: how kernels add floats where no atomic does.

`do old = *p; while (atomic_cmpxchg(p, old, f(old)) != old);` reads without an atomic what others change. What
it read is only tried: where another work-item was faster, the exchange fails and the loop goes round again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from clmap_lsp.emulator.result import Fault, FaultKind
from clmap_lsp.source import ir
from clmap_lsp.source.per_kernel import per_kernel
from clmap_lsp.source.span import Span
from clmap_lsp.source.spelling import Spelling, spelling


def unchecked(kernel: ir.Kernel, faults: Iterable[Fault]) -> Iterator[Fault]:
    """Yield faults but the races of a plain read with the exchange at the same address that checks it."""
    for it in faults:
        if it.kind is not FaultKind.DATA_RACE or frozenset((it.span, it.other_span)) not in _checked(kernel):
            yield it


@per_kernel
def _checked(kernel: ir.Kernel) -> frozenset[frozenset[Span | None]]:
    """Return the pairs of a load and a compare-and-exchange at the same address."""
    exchanges: dict[Spelling, list[Span]] = {}
    loads: list[ir.Load] = []
    for statement in ir.walk(kernel.body):
        match statement:
            case ir.Atomic(op=ir.AtomicOp.COMPARE_EXCHANGE, pointer=pointer, span=span):
                exchanges.setdefault(spelling(pointer), []).append(span)
            case ir.Load():
                loads.append(statement)
            case _:
                pass
    if not exchanges:
        return frozenset()
    return frozenset(
        frozenset((load.span, span)) for load in loads for span in exchanges.get(spelling(load.pointer), ())
    )

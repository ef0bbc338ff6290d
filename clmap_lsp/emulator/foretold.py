"""Accesses out of bounds that no run met: told by the addresses of the whole launch.

The symbolic engine knows the lowest and the highest byte of every access. Where a launch is run as a sample,
or not at all, those say what the work-groups do that were left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from clmap_lsp.emulator.result import Fault, FaultKind
from clmap_lsp.emulator.symbolic.counts import SiteCount
from clmap_lsp.launch.contents import buffer_bytes
from clmap_lsp.launch.model import BufferArgument, Launch, LocalArgument
from clmap_lsp.source.ir import Atomic, AtomicOp, Kernel, Site, Variable, walk
from clmap_lsp.source.types import PointerType


def with_foretold(
    faults: Sequence[Fault], kernel: Kernel, launch: Launch, sites: Iterable[SiteCount]
) -> tuple[Fault, ...]:
    """Return the faults of a run, and behind them those that it did not meet."""
    met = {(it.kind, it.span) for it in faults}
    added: dict[tuple[FaultKind, object], Fault] = {}
    for it in foretold(kernel, launch, sites):
        if (it.kind, it.span) not in met:
            added.setdefault((it.kind, it.span), it)
    return (*faults, *added.values())


def foretold(kernel: Kernel, launch: Launch, sites: Iterable[SiteCount]) -> Iterator[Fault]:
    """Yield a fault for every access of which some address lies outside its buffer."""
    atomics = {it.site: it.op for it in walk(kernel.body) if isinstance(it, Atomic)}
    for site in sites:
        size = None if site.root is None else size_of(site.root, launch)
        if size is None or site.first_byte is None or site.end_byte is None or not site.executions:
            continue
        if site.first_byte < 0 or site.end_byte > size:
            for kind in _kinds(site, atomics):
                yield _fault(site, kind, size)


def size_of(root: Variable, launch: Launch) -> int | None:
    """Return the bytes of a buffer or array; `None` if they are not known."""
    if not isinstance(root.type, PointerType):
        return root.type.size
    match launch.arguments.get(root.name):
        case BufferArgument() as argument:
            return buffer_bytes(argument, root.type)
        case LocalArgument(count=count):
            return count * root.type.pointee.size
        case _:
            return None


def _kinds(site: SiteCount, atomics: dict[Site, AtomicOp]) -> Iterator[FaultKind]:
    op = atomics.get(site.site)
    if site.op != "store" and op is not AtomicOp.STORE:
        yield FaultKind.OUT_OF_BOUNDS_READ
    if site.op != "load" and op is not AtomicOp.LOAD:
        yield FaultKind.OUT_OF_BOUNDS_WRITE


def _fault(site: SiteCount, kind: FaultKind, size: int) -> Fault:
    assert site.root is not None
    assert site.first_byte is not None
    assert site.end_byte is not None
    verb = "reads" if kind is FaultKind.OUT_OF_BOUNDS_READ else "writes"
    where = f"down to byte offset {site.first_byte}" if site.first_byte < 0 else ""
    if site.end_byte > size:
        where += f"{' and ' if where else ''}up to byte offset {site.end_byte - 1}"
    what = f"{verb} {where} of `{site.root.name}` of {size} bytes, in a work-group that was not run"
    return Fault(kind, site.span, site.space.value, None, None, what, buffer=site.root.name)

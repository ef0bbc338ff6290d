"""Tables at addresses that data decide, small enough to stay in the first level.

Where the lanes go in such a table nobody knows, but after each unit has fetched it once, they find it there.
What data pick from a table (a cipher's boxes, codes, curves) is all over it, and lanes meet in banks.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from clmap_lsp.launch.model import BufferArgument
from clmap_lsp.source import ir
from clmap_lsp.source.types import AddressSpace, ArrayType, PointerType
from clmap_lsp.time.accesses import LINE_BYTES, LINES_A_CYCLE, SECTOR_BYTES, AccessDemand
from clmap_lsp.time.stream import FULL, Hits

if TYPE_CHECKING:
    from clmap_lsp.launch.model import Launch
    from clmap_lsp.source.ir import Kernel


def object_sizes(kernel: Kernel, launch: Launch) -> dict[int, tuple[str, float]]:
    """Return for accesses, by site, the buffer or the constant array that they go to: name, bytes."""
    sizes = {}
    for statement in ir.walk(kernel.body):
        if not isinstance(statement, (ir.Load, ir.Store, ir.Atomic)):
            continue
        for node in ir.nodes(statement.pointer):
            known = _size(node, launch)
            if known is not None:
                sizes[statement.site] = known
    return sizes


def _size(node: ir.Expression, launch: Launch) -> tuple[str, float] | None:
    if isinstance(node, ir.ObjectAddress) and node.type.space is AddressSpace.CONSTANT:
        kind = node.variable.type
        return (node.variable.name, float(kind.size)) if isinstance(kind, ArrayType) else None
    if isinstance(node, ir.Read):
        buffer, kind = launch.arguments.get(node.variable.name), node.variable.type
        if isinstance(buffer, BufferArgument) and isinstance(kind, PointerType):
            return node.variable.name, float(buffer.count * max(kind.pointee.size, 1))
    return None


def with_kept_tables(
    accesses: Sequence[AccessDemand], sizes: Mapping[int, tuple[str, float]], units: int, cache: float
) -> tuple[AccessDemand, ...]:
    """Return accesses of which those at unknown places of small tables ask the second level once a unit.

    `units` are those that have work; `cache` is what a unit's first level holds.
    """
    tables = [sizes.get(it.site) if _is_lookup(it) else None for it in accesses]
    bytes_of = dict(it for it in tables if it is not None)
    if not bytes_of or sum(bytes_of.values()) > FULL * cache:
        return tuple(accesses)
    asked = dict.fromkeys(bytes_of, 0.0)
    for it, table in zip(accesses, tables, strict=True):
        if table is not None:
            asked[table[0]] += it.l2_sectors
    return tuple(
        it if table is None else _kept(it, asked[table[0]], units, table[1])
        for it, table in zip(accesses, tables, strict=True)
    )


def _is_lookup(it: AccessDemand) -> bool:
    return it.is_guessed and it.op == "load" and it.space in ("global", "constant") and it.requests > 0


def _kept(it: AccessDemand, asked: float, units: int, size: float) -> AccessDemand:
    """Return an access that misses each sector once a unit, with the others of its table."""
    sectors = units * max(size / SECTOR_BYTES, 1.0)
    missed = min(sectors / asked, 1.0) if asked else 1.0
    waits = tuple(min(missed * length, 1.0) for length in (1, 2, 4, 8, 16))
    return dataclasses.replace(
        it,
        line_cycles=max(it.line_cycles, it.requests * _cycles_at_random(size)),
        l2_sectors=it.l2_sectors * missed,
        l2_lines=min(it.l2_lines, units * max(size / LINE_BYTES, 1.0)),
        hits=Hits(1.0 - missed, waits),
    )


_BANKS = 32
_FULLEST = 3.5
"""Of 32 banks to which 32 lanes go at random, the lanes in the fullest, on average."""


def _cycles_at_random(size: float) -> float:
    """Return the cycles of a request whose lanes are at random words of a table of so many bytes."""
    lines = max(size / LINE_BYTES, 1.0)
    touched = lines * (1.0 - (1.0 - 1.0 / lines) ** _BANKS)
    return max(min(size / 4 / _BANKS, _FULLEST), touched / LINES_A_CYCLE, 1.0)

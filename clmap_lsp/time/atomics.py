"""What a launch's atomics ask for: how often they meet each other at an address or a line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from clmap_lsp.compiled.build import Compiled
from clmap_lsp.compiled.counts import Profile
from clmap_lsp.dataclass import dataclass
from clmap_lsp.emulator.symbolic.control import OverBudgetError
from clmap_lsp.launch.model import BufferArgument
from clmap_lsp.source import ir
from clmap_lsp.time.accesses import AccessDemand

if TYPE_CHECKING:
    from clmap_lsp.emulator.symbolic.rows import Rows
    from clmap_lsp.launch.model import Launch


@dataclass(frozen=True, slots=True)
class AtomicDemand:
    """The atomics of a launch."""

    same: float = 0.0
    """Operations on an address right after another one's, summed: lanes, or SIMD groups if uniform."""
    lines: float = 0.0
    """Lines asked for, over all requests."""
    requests: float = 0.0
    spread: float = 1.0
    """How many lines they are spread over."""
    local_cycles: float = 0.0
    """Of local memory, over the launch."""
    stored: float = 0.0
    """Stores of SIMD groups to lines that all of them write: flags that many set."""
    stored_lines: float = 1.0
    """How many such lines there are."""


def atomic_demand(
    accesses: Sequence[AccessDemand], found: Profile, made: Compiled, launch: Launch
) -> AtomicDemand:
    """Return what the atomics among the accesses of a launch ask for."""
    from clmap_lsp.emulator.symbolic.counting import is_uniform_in_group

    spans = _spans(made, launch)
    same = lines = requests = local = 0.0
    spread = 1.0
    merged = _merged(made)
    for it in accesses:
        if it.op != "atomic":
            continue
        rows: list[Rows] = found.rows.get(it.site, [])
        executions = it.requests * 32.0
        if it.space == "local":
            alike = rows and it.site in merged and all(is_uniform_in_group(one.offset) for one in rows)
            local += it.requests * (1.0 if alike else _multiplicity(rows))
            continue
        if not rows:
            addresses, covered = spans.get(it.site, (1e6, 1e5))
            requests += it.requests
            lines += it.requests * min(32.0, covered)
            spread = max(spread, covered)
            same += executions / max(addresses, 1.0)
            continue
        low = min((one.offset.const for one in rows), default=0)
        uniform = bool(rows) and all(one.offset.is_uniform for one in rows)
        addresses, covered = _addresses(rows, low)
        requests += it.requests
        lines += it.l2_lines
        spread = max(spread, covered)
        if uniform:
            same += it.requests
        else:
            same += executions / max(addresses, 1.0)
    return AtomicDemand(same, lines, requests, spread, local, *_flags(accesses, found))


_FLAG_LINES = 32.0
"""Lines up to which stores of all SIMD groups wait for each other; of 128 they do not (`hot.cl`, H100)."""


_MERGED_STORES = 0.25
"""Of SIMD groups that wait for nothing in between, whose stores of one word meet before they leave a unit."""


def _flags(accesses: Sequence[AccessDemand], found: Profile) -> tuple[float, float]:
    """Return the stores of one word by whole SIMD groups that fall on few lines, and on how many."""
    from clmap_lsp.emulator.symbolic.counting import is_uniform_in_group

    stored, spread = 0.0, 1.0
    for it in accesses:
        rows: list[Rows] = found.rows.get(it.site, [])
        if it.op != "store" or it.space != "global" or not rows or it.requests < 1024:
            continue
        if not all(is_uniform_in_group(one.offset) for one in rows):
            continue
        covered = _addresses(rows, min(one.offset.const for one in rows))[1]
        if covered <= _FLAG_LINES:
            stored += it.requests
            spread = max(spread, covered)
    waits = any(it.op == "load" and it.space == "global" for it in accesses)
    return stored * (1.0 if waits else _MERGED_STORES), spread


_BY_MASK = frozenset({ir.AtomicOp.INC, ir.AtomicOp.DEC})
_MERGED = _BY_MASK | {
    ir.AtomicOp.ADD,
    ir.AtomicOp.SUB,
    ir.AtomicOp.MIN,
    ir.AtomicOp.MAX,
    ir.AtomicOp.AND,
    ir.AtomicOp.OR,
    ir.AtomicOp.XOR,
}


def _merged(made: Compiled) -> frozenset[int]:
    """Return the atomics that compilers make one of for a SIMD group at one address.

    Integers whose result nobody uses, and counters: what each lane gets follows from the lanes before it.
    """
    body = made.probed.kernel.body
    used = {it.variable for it in ir.all_expressions(body) if isinstance(it, ir.Read)}
    return frozenset(
        it.site
        for it in ir.walk(body)
        if isinstance(it, ir.Atomic)
        and it.type.is_integer
        and it.op in (_BY_MASK if it.variable in used else _MERGED)
    )


def _spans(made: Compiled, launch: Launch) -> dict[int, tuple[float, float]]:
    """Return for atomics whose places are not known how many addresses and lines their buffers have."""
    spans = {}
    for statement in ir.walk(made.probed.kernel.body):
        if not isinstance(statement, ir.Atomic):
            continue
        for node in ir.nodes(statement.pointer):
            name = node.variable.name if isinstance(node, ir.Read) else ""
            buffer = launch.arguments.get(name)
            if isinstance(buffer, BufferArgument):
                spans[statement.site] = (
                    float(buffer.count),
                    max(buffer.count * statement.type.size / 128, 1.0),
                )
    return spans


def _addresses(rows: list[Rows], low: int) -> tuple[float, float]:
    from clmap_lsp.emulator.symbolic.counting import dense

    first, end = None, None
    for one in rows:
        try:
            addresses, _, rest = dense(one)
        except OverBudgetError:
            return 1e9, 1e7
        reach = sum(abs(c) * (one.counts[d] - 1) for d, c in rest.coefs)
        at = int(addresses.min()) + rest.const
        first = at if first is None else min(first, at)
        end = max(end or 0, int(addresses.max()) + rest.const + reach + one.size)
    width = (end or 4) - (first or 0)
    return max(width / 4.0, 1.0), max(width / 128.0, 1.0)


def _multiplicity(rows: list[Rows]) -> float:
    import numpy as np

    from clmap_lsp.emulator.symbolic.counting import dense

    if not rows:
        return 2.0
    try:
        addresses, _, _ = dense(rows[0])
    except OverBudgetError:
        return 3.0
    lanes = addresses[: min(len(addresses), 256)]
    lanes = lanes[:, : lanes.shape[1] // 32 * 32] if lanes.shape[1] >= 32 else lanes
    worst = []
    for row in lanes.reshape(-1, min(32, lanes.shape[1])):
        worst.append(np.unique(row, return_counts=True)[1].max())
    return float(np.mean(worst))

"""AIWC's memory metrics of a whole launch, exact, from rows of addresses that stay compressed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from clmap_lsp.dataclass import dataclass
from clmap_lsp.emulator.symbolic.classes import Known, box_entropies
from clmap_lsp.emulator.symbolic.control import Bail, BailError, Budget, OverBudgetError, Spending
from clmap_lsp.emulator.symbolic.counting import dense
from clmap_lsp.emulator.symbolic.counts import DEFAULT_BUDGET, run_boxes
from clmap_lsp.emulator.symbolic.exclusive import executions, is_exclusive
from clmap_lsp.emulator.symbolic.histogram import add_region
from clmap_lsp.emulator.symbolic.machine import Machine
from clmap_lsp.emulator.symbolic.memory import Inputs
from clmap_lsp.emulator.symbolic.ordered import ordered_buffers
from clmap_lsp.emulator.symbolic.progressions import Progressions
from clmap_lsp.emulator.symbolic.rows import Rows
from clmap_lsp.emulator.symbolic.space import GROUP_DIMENSIONS, boxes_of, dims_of, mask_dims
from clmap_lsp.emulator.symbolic.timesteps import (
    MAX_CELLS,
    GroupSegments,
    Patterns,
    grouped_entropies,
    n_accesses,
    stays_together,
    together_by_group,
)
from clmap_lsp.emulator.symbolic.values import at_turn
from clmap_lsp.launch.model import Launch
from clmap_lsp.locality.address_totals import AddressTotals
from clmap_lsp.locality.definition import LEVELS, Definition, LocalAddresses, buffer_addresses
from clmap_lsp.locality.metrics import AccessCounts, Metrics
from clmap_lsp.locality.parallel import psl_norm
from clmap_lsp.source.ir import Initializer, Kernel, Variable, VariableKind
from clmap_lsp.source.types import AddressSpace, PointerType, points_to_local

_MAX_UNLIKE_GROUPS = 4096
_WARP_FREE = 32
"""Ordinals and addresses do not depend on the SIMD width; kernels that ask for it are not measured here."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What is known of the addresses of a launch."""

    metrics: Metrics
    exclusive: frozenset[Variable]
    """Buffers that the kernel writes and of which every address belongs to one work-item."""
    ordered: frozenset[Variable]
    """Local buffers of which barriers order all accesses and nothing is read that was not written."""


def measured(
    kernel: Kernel,
    launch: Launch,
    *,
    local_addresses: LocalAddresses = LocalAddresses.SHARED,
    definition: Definition = Definition.PAPER,
    simd_width: int = _WARP_FREE,
    budget: Budget = DEFAULT_BUDGET,
    constants: Iterable[Initializer] = (),
    inputs: Inputs | None = None,
) -> Measured | Bail:
    """Return the metrics of a launch and what they show, or why this engine cannot tell them.

    Every access counts as written. The cost grows with the kernel's text and the footprint, not with the
    number of accesses, as long as the work-items of a group stay together. `inputs` has, and gets, contents
    of buffers.
    """
    try:
        # Work-items of a box had better stay together: guards always split it.
        spending = Spending(replace(budget, mask_cells=0))
        boxes = boxes_of(launch)
        machines = run_boxes(
            kernel, launch, simd_width, spending, constants, boxes, follow_ordinals=True, inputs=inputs
        )
        for machine in machines:
            if machine.doubts:
                doubt = machine.doubts[0]
                return Bail(doubt.reason, doubt.span)
        addresses, exclusive = _address_counts(kernel, machines, local_addresses)
        psl = _psl(kernel, launch, machines, definition, local_addresses)
        ordered = ordered_buffers(kernel, machines)
    except BailError as error:
        return error.bail
    except OverBudgetError as error:
        return Bail(error.reason, kernel.name_span)
    return Measured(addresses.metrics(_access_counts(machines), psl, definition), exclusive, ordered)


def measure(
    kernel: Kernel,
    launch: Launch,
    *,
    local_addresses: LocalAddresses = LocalAddresses.SHARED,
    definition: Definition = Definition.PAPER,
    constants: Iterable[Initializer] = (),
) -> Metrics | Bail:
    """Return the metrics of a launch, or why this engine cannot tell them."""
    found = measured(
        kernel, launch, local_addresses=local_addresses, definition=definition, constants=constants
    )
    return found if isinstance(found, Bail) else found.metrics


# ------------------------------------------------------------------------------------------------- counts


def _access_counts(machines: Iterable[Machine]) -> AccessCounts:
    totals: dict[tuple[AddressSpace, str], int] = {}
    for machine in machines:
        for row in machine.rows:
            key = (row.space, row.op)
            totals[key] = totals.get(key, 0) + executions(row)

    def both(space: AddressSpace, op: str) -> int:
        return totals.get((space, op), 0) + totals.get((space, "atomic"), 0)

    return AccessCounts(
        both(AddressSpace.GLOBAL, "load"),
        both(AddressSpace.GLOBAL, "store"),
        both(AddressSpace.LOCAL, "load"),
        both(AddressSpace.LOCAL, "store"),
        both(AddressSpace.CONSTANT, "load"),
    )


# ---------------------------------------------------------------------------------------------- addresses


def buffer_numbers(kernel: Kernel) -> tuple[dict[Variable, int], dict[Variable, int]]:
    """Return the numbers of global and constant buffers, and those of local ones, each in order from 0."""
    pointers = [it for it in kernel.parameters if isinstance(it.type, PointerType)]
    local = [it for it in pointers if points_to_local(it.type)]
    local += [it for it in kernel.variables if it.kind is VariableKind.LOCAL_OBJECT]
    shared = [it for it in pointers if not points_to_local(it.type)] + list(kernel.constants)
    return {it: n for n, it in enumerate(shared)}, {it: n for n, it in enumerate(local)}


def _bases(kernel: Kernel, view: LocalAddresses) -> dict[Variable, int]:
    """Return the virtual address of every buffer (in the view `DISTINCT`, of the first group's)."""
    shared, local = buffer_numbers(kernel)
    zero = np.zeros(1, np.int64)
    bases = {it: int(buffer_addresses(zero, is_local=False, buffer=n)[0]) for it, n in shared.items()}
    for it, n in local.items():
        bases[it] = int(buffer_addresses(zero, is_local=True, buffer=n, view=view)[0])
    return bases


def _address_counts(
    kernel: Kernel, machines: list[Machine], view: LocalAddresses
) -> tuple[AddressTotals, frozenset[Variable]]:
    """Count the accesses of every address; return also the written buffers that nobody can race for.

    Raises: BailError.
    """
    bases = _bases(kernel, view)
    result = AddressTotals()
    regions: dict[int, list[Progressions]] = {}
    for machine in machines:
        own: dict[int, list[Rows]] = {}
        for row in machine.rows:
            if view is LocalAddresses.DISTINCT and row.space is AddressSpace.LOCAL:
                own.setdefault(bases[row.root], []).append(row)
            else:
                regions.setdefault(bases[row.root], []).extend(_progressions(row))
        for rows in own.values():
            _add_local(result, rows, machine)
    exclusive: set[Variable] = set()
    for base, parts in regions.items():
        before = result.footprint
        _add(result, parts, machines[0], 1)
        found = [[it for it in machine.rows if bases[it.root] == base] for machine in machines]
        rows = [it for box in found for it in box]
        if any(it.op == "store" and it.space is AddressSpace.GLOBAL for it in rows) and is_exclusive(
            found, result.footprint - before
        ):
            exclusive.add(rows[0].root)
    return result, frozenset(exclusive)


def _add(result: AddressTotals, parts: list[Progressions], machine: Machine, copies: int) -> None:
    if parts and not add_region(result, parts, copies):
        raise BailError(Bail("a buffer too large for an exact histogram", machine.kernel.name_span))


def _add_local(result: AddressTotals, rows: list[Rows], machine: Machine) -> None:
    """Add a local buffer that every group of a box has for itself."""
    n_groups = machine.space.box.n_groups
    alike = not any(_group_dims(it) for it in rows)
    if alike:
        _add(result, [part for it in rows for part in _progressions(it, by_group=True)], machine, n_groups)
        return
    if n_groups > _MAX_UNLIKE_GROUPS:
        raise BailError(Bail("local memory that differs between too many work-groups", rows[0].span))
    for group in range(n_groups):
        _add(
            result,
            [part for it in rows for part in _progressions(it, by_group=True, group=group)],
            machine,
            1,
        )


def _group_dims(row: Rows) -> set[int]:
    """Return the group dimensions that the addresses or the mask of an access depend on."""
    mask = row.mask if not isinstance(row.mask, bool) else np.ones(1, bool)
    return {it for it in dims_of(row.offset) | mask_dims(mask) if it < GROUP_DIMENSIONS}


def _progressions(row: Rows, *, by_group: bool = False, group: int | None = None) -> list[Progressions]:
    """Return the addresses of a row's access; `by_group` those of one group, of number `group` in the box."""
    if group is not None:
        row = _of_group(row, group)
    addresses, mask, rest = dense(row)
    lanes = addresses[mask] + rest.const
    if not lanes.size:
        return []
    dims = tuple((coef, row.counts[d]) for d, coef in rest.coefs)
    total = 1
    for d, count in enumerate(row.counts):
        if not (by_group and d < GROUP_DIMENSIONS):
            total *= count
    covered = len(addresses)
    for _, count in dims:
        covered *= count
    times = max(total // covered, 1) * (2 if row.op == "atomic" else 1)
    return [Progressions(lanes, dims, times)]


def _of_group(row: Rows, group: int) -> Rows:
    """Return a row's access as one group of the box makes it."""
    x, y, _ = row.counts[:GROUP_DIMENSIONS]
    at = (group % x, group // x % y, group // (x * y))
    offset, mask = row.offset, row.mask
    for d in range(GROUP_DIMENSIONS):
        offset = at_turn(offset, d, at[d], keeps_axis=True)
        if not isinstance(mask, bool) and mask.ndim >= d + 2:
            axis = mask.ndim - 2 - d
            mask = mask.take([min(at[d], mask.shape[axis] - 1)], axis=axis)
    return replace(row, offset=offset, mask=mask, counts=(1, 1, 1, *row.counts[GROUP_DIMENSIONS:]))


# -------------------------------------------------------------------------------------------------- PSL


def _psl(
    kernel: Kernel, launch: Launch, machines: list[Machine], definition: Definition, view: LocalAddresses
) -> NDArray[np.float64]:
    """Return PSL 0-10. Raises: BailError where work-items diverge in too large a launch."""
    norm = psl_norm(launch.group_items, definition)
    n_groups = 1
    for count in launch.num_groups:
        n_groups *= count
    if norm == 0:
        return np.zeros(LEVELS)
    bases = _bases(kernel, view)
    patterns, known = Patterns(definition), Known()
    total = np.zeros(LEVELS)
    spelt_out: list[GroupSegments] = []
    cells = MAX_CELLS
    for machine in machines:
        found = None
        if definition is Definition.PAPER:
            entropies = box_entropies(machine, bases, known)
            if entropies is not None:
                total += entropies
                continue
        elif stays_together(machine):
            found = together_by_group(machine, patterns)
        if found is None:
            cells -= n_accesses(machine)
            found = grouped_entropies(machine, bases, definition) if cells >= 0 else None
        if found is None:
            what = "divergent work-items" if definition is Definition.PAPER else "AIWC's order of groups"
            raise BailError(Bail(f"{what} in a launch too large to spell out", kernel.name_span))
        spelt_out.append(found)
    total += _paper_sum(spelt_out) if definition is Definition.PAPER else _aiwc_sum(spelt_out)
    return np.asarray(total / n_groups / norm)


def _paper_sum(found: list[GroupSegments]) -> NDArray[np.float64]:
    """Add up the groups' means over all their timesteps; a group without any counts as 0."""
    total = np.zeros(LEVELS)
    for part in found:
        steps = np.maximum(part.steps.sum(axis=1), 1)
        total += (part.entropies.sum(axis=1) / steps[:, None]).sum(axis=0)
    return total


def _aiwc_sum(found: list[GroupSegments]) -> NDArray[np.float64]:
    """Add up as AIWC does with one thread: the segments of all groups before stay in the running mean."""
    if not found:
        return np.zeros(LEVELS)
    ids = np.concatenate([it.group_ids for it in found])
    weighed = np.concatenate(
        [(it.entropies * (it.steps / (it.steps + 1))[..., None]).sum(axis=1) for it in found]
    )
    steps = np.concatenate([it.steps.sum(axis=1) for it in found])
    order = np.argsort(ids)
    running = np.cumsum(weighed[order], axis=0)
    running_steps = np.cumsum(steps[order])
    return np.asarray((running / (running_steps + 1)[:, None]).sum(axis=0))

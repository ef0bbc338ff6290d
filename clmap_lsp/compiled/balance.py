"""How unequally a launch loads its SIMD groups and work-groups."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from clmap_lsp.compiled.machine_code import MachineCode
from clmap_lsp.dataclass import dataclass
from clmap_lsp.emulator.symbolic.rows import Rows

_ROOM = 1 << 23
"""Elements of a mask that is looked at; a larger one is taken as one whose SIMD groups are alike."""


@dataclass(frozen=True, slots=True)
class Balance:
    """Issue slots of the SIMD group and of the work-group with most, over the mean: 1 if all are alike."""

    simd_group: float = 1.0
    work_group: float = 1.0
    in_group: float = 1.0
    """The SIMD group with most of its own work-group, averaged over these: for what waits at barriers."""


def balance_of(boxes: Iterable[Iterable[tuple[int, Rows]]], code: MachineCode, width: int) -> Balance:
    """Return the balance of boxes of work-groups, each given by the rows of its probes and their numbers."""
    costs = _slots_an_execution(code)
    most = most_in_group = total = leading = 0.0
    simd_groups = groups = 0
    for box in boxes:
        loads: NDArray[np.float64] | None = None
        shape = (0, 0, 0, 0)
        for number, rows in box:
            gx, gy, gz = rows.counts[:3]
            shape = (gz, gy, gx, -(-rows.n_lanes // width))
            one = costs.get(number, 0.0) * executions(rows, width)
            loads = one if loads is None else loads + one
        if loads is None:
            continue
        # Axes of 1 stand for as many as the launch has, however large it is: nothing is spelt out.
        in_group = loads.sum(axis=-1) * (shape[3] / loads.shape[3])
        n_groups = shape[0] * shape[1] * shape[2]
        most = max(most, float(loads.max()))
        leading += float(loads.max(axis=-1).sum()) * n_groups / in_group.size * shape[3]
        most_in_group = max(most_in_group, float(in_group.max()))
        total += float(in_group.sum()) * n_groups / in_group.size
        simd_groups += n_groups * shape[3]
        groups += n_groups
    if not total:
        return Balance()
    return Balance(most * simd_groups / total, most_in_group * groups / total, leading / total)


def executions(rows: Rows, width: int) -> NDArray[np.float64]:
    """Return how often each SIMD group executes an access, by (z, y, x, SIMD group); axes of 1 are alike."""
    loops = rows.counts[3:]
    everywhere = float(np.prod(loops, dtype=np.float64)) if loops else 1.0
    mask = rows.mask
    if isinstance(mask, bool) or mask.size > _ROOM:
        return np.full((1, 1, 1, 1), everywhere if mask is not False else 0.0)
    full = mask.reshape((1,) * (len(rows.counts) + 1 - mask.ndim) + mask.shape)
    lanes = full.shape[-1]
    if lanes > 1 and lanes % width:
        full = np.pad(full, [(0, 0)] * (full.ndim - 1) + [(0, -lanes % width)])
    some = full.reshape(*full.shape[:-1], -1, width).any(axis=-1) if lanes > 1 else full
    depth = len(loops)
    met: NDArray[np.float64] = some.sum(axis=tuple(range(depth)), dtype=np.float64)
    for axis, count in enumerate(reversed(loops)):
        if some.shape[axis] == 1:
            met = met * count
    return met


def _slots_an_execution(code: MachineCode) -> Mapping[int, float]:
    """Return the issue slots that one execution of each probe's source block takes, over its copies."""
    slots: dict[int, float] = {}
    copies: dict[int, int] = {}
    for block in code.blocks:
        cost = sum(it.cost + sum(slots for _, slots in it.extra) for it in block.instructions)
        every = sum(block.probes.values())
        for number, count in block.probes.items():
            slots[number] = slots.get(number, 0.0) + cost * count / every
            copies[number] = copies.get(number, 0) + count
    return {number: cost / copies[number] for number, cost in slots.items()}

"""Where the lanes of one SIMD group go: values of ids, sizes and scalars, and the addresses they give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from clmap_lsp.access.evaluate import UnknownValueError, evaluate
from clmap_lsp.access.polynomial import Atom, LoopSymbol, Parameter, WorkItemSymbol
from clmap_lsp.launch.model import ScalarArgument
from clmap_lsp.source.ir import WorkItemQuery as Query

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from clmap_lsp.access.records import Access
    from clmap_lsp.devices.model import DeviceModel
    from clmap_lsp.launch.model import Launch

    Ints = NDArray[np.int64]


def lane_environment(linear: Ints, group: Sequence[int | Ints], launch: Launch) -> dict[Atom, int | Ints]:
    """Return the value of every id, size and integer scalar for work-items of one work-group.

    Args:
        linear: linear local ids, any shape; the values broadcast with it.
        group: the work-group's id, dimension 0 first; missing dimensions are 0. Arrays stand for several
            groups and broadcast with `linear`.
    """
    values: dict[Atom, int | Ints] = {}
    rest = linear
    for dimension in range(3):
        size = launch.local_size[dimension] if dimension < len(launch.local_size) else 1
        total = launch.global_size[dimension] if dimension < len(launch.global_size) else 1
        at = group[dimension] if dimension < len(group) else 0
        offset = launch.global_offset[dimension] if dimension < len(launch.global_offset) else 0
        local, rest = rest % size, rest // size
        by_query: Mapping[Query, int | Ints] = {
            Query.LOCAL_ID: local,
            Query.GROUP_ID: at,
            Query.GLOBAL_ID: local + (at * size + offset),
            Query.GLOBAL_SIZE: total,
            Query.LOCAL_SIZE: size,
            Query.ENQUEUED_LOCAL_SIZE: size,
            Query.NUM_GROUPS: -(-total // size),
            Query.GLOBAL_OFFSET: offset,
        }
        values.update({WorkItemSymbol(query, dimension): it for query, it in by_query.items()})
    for name, argument in launch.arguments.items():
        if isinstance(argument, ScalarArgument) and isinstance(argument.values[0], int):
            values[Parameter(name)] = argument.values[0]
    return values


def first_simd_group(access: Access, launch: Launch, device: DeviceModel) -> tuple[int | None, ...]:
    """Return the byte addresses of one SIMD group's lanes, relative to an aligned base at or below them.

    It is the first SIMD group with an active lane of the first work-group, with every loop at its first
    turn. Lanes that are switched off or do not exist are `None`; the result is empty where the addresses
    cannot be computed.
    """
    import numpy as np

    from clmap_lsp.devices.rules import simd_groups

    if not access.known:
        return ()
    groups = simd_groups(launch.local_size, device)
    active = groups >= 0
    environment = lane_environment(np.where(active, groups, 0), (), launch)
    environment |= {it: 0 for it in access.offset.leaves if isinstance(it, LoopSymbol)}
    environment |= {it: 0 for part in access.guard for it in part.leaves if isinstance(it, LoopSymbol)}
    try:
        addresses = np.broadcast_to(evaluate(access.offset, environment), groups.shape)
        for part in access.guard:
            active = active & (np.broadcast_to(evaluate(part, environment), groups.shape) != 0)
    except UnknownValueError:
        return ()
    busy = np.flatnonzero(active.any(axis=1))
    if not busy.size:
        return ()
    row, on = addresses[busy[0]], active[busy[0]]
    base = int(row[on].min()) // _ALIGNMENT * _ALIGNMENT
    return tuple(int(it) - base if lane else None for it, lane in zip(row, on, strict=True))


_ALIGNMENT = 1024
"""Bytes: a multiple of every granule and bank row of the device models."""

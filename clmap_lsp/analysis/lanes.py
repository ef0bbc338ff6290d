"""Where the lanes of one SIMD group go: values of ids, sizes and scalars, and the addresses they give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
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


_MOST_PICTURED = 1 << 12
"""Bytes of an access; pictures show each sector and each word of it."""


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
    cannot be computed, and where each is that of more bytes than a picture can show.
    """
    if access.size > _MOST_PICTURED:
        return ()
    import numpy as np

    from clmap_lsp.devices.rules import simd_groups

    groups = simd_groups(launch.local_size, device)
    found = _addresses(access, launch, np.where(groups >= 0, groups, 0), 0)
    if found is None:
        return ()
    addresses, active = found[0], found[1] & (groups >= 0)
    busy = np.flatnonzero(active.any(axis=1))
    return _relative(addresses[busy[0]], active[busy[0]]) if busy.size else ()


def first_work_group(access: Access, launch: Launch, turn: int = 0) -> tuple[int | None, ...]:
    """Return the byte addresses of the first work-group, relative to an aligned base at or below them.

    Args:
        turn: of the innermost loop around the access, from 0; loops around that one are at their first.
    Returns: by linear local id (dimension 0 fastest); items that are switched off are `None`; empty where
        the addresses cannot be computed or no item is active.
    """
    import numpy as np

    found = _addresses(access, launch, np.arange(launch.group_items, dtype=np.int64), turn)
    return _relative(*found) if found is not None and found[1].any() else ()


def turns_of(access: Access, launch: Launch) -> int | None:
    """Return the turns that the innermost loop around an access makes in the first work-group, at most.

    1 without a loop; `None` where no closed form is known.
    """
    import numpy as np

    if not access.loops:
        return 1
    trip = access.loops[-1].trip
    if trip is None:
        return None
    values = lane_environment(np.arange(launch.group_items, dtype=np.int64), (), launch)
    values |= {it: 0 for it in trip.leaves if isinstance(it, LoopSymbol)}
    try:
        return max(0, int(np.max(evaluate(trip, values))))
    except UnknownValueError:
        return None


_SAMPLED = 1 << 16
"""Work-items of a launch whose loops are looked at; of larger launches work-groups that are spread evenly."""


def turns_made(access: Access, launch: Launch) -> tuple[int, bool]:
    """Return how often the work-items of a launch execute an access, as far as sizes decide that.

    Returns: the number, and whether it is exact. A loop of which no closed form is known counts as one turn,
    a condition on data as met; loops that others depend on are taken at their first turn, and large launches
    are sampled.
    """
    import numpy as np

    n_groups = prod(launch.num_groups)
    wanted = max(1, min(n_groups, _SAMPLED // launch.group_items))
    chosen = (np.arange(wanted, dtype=np.int64) * n_groups // wanted)[:, None]
    group = []
    rest = chosen
    for count in launch.num_groups:
        group.append(rest % count)
        rest = rest // count
    items = min(launch.group_items, _SAMPLED)
    linear = np.arange(items, dtype=np.int64) * launch.group_items // items
    values = lane_environment(linear, group, launch)
    turns = np.ones((wanted, items), dtype=np.int64)
    is_exact = wanted == n_groups and items == launch.group_items
    for loop in access.loops:
        inner = loop.trip
        is_exact &= inner is not None and not loop.exits_early
        if inner is None:
            continue
        others = {it: 0 for it in inner.leaves if isinstance(it, LoopSymbol)}
        is_exact &= not others
        try:
            turns = turns * np.maximum(evaluate(inner, values | others), 0)
        except UnknownValueError:
            is_exact = False
    own = {it.condition for it in access.loops}
    for part in access.guard:
        try:
            turns = turns * (evaluate(part, values) != 0)
        except UnknownValueError:
            is_exact &= part in own
    mean = float(np.mean(turns, dtype=np.float64))
    return round(mean * launch.group_items * n_groups), is_exact


def _addresses(
    access: Access, launch: Launch, linear: Ints, turn: int
) -> tuple[Ints, NDArray[np.bool_]] | None:
    """Return addresses and who is active in the first work-group, both of the shape of `linear`."""
    import numpy as np

    if not access.known:
        return None
    environment = lane_environment(linear, (), launch)
    parts = (access.offset, *access.guard)
    environment |= {it: 0 for part in parts for it in part.leaves if isinstance(it, LoopSymbol)}
    if access.loops:
        environment[access.loops[-1]] = turn
    active = np.ones(linear.shape, dtype=bool)
    try:
        addresses = np.broadcast_to(evaluate(access.offset, environment), linear.shape)
        for part in access.guard:
            active = active & (np.broadcast_to(evaluate(part, environment), linear.shape) != 0)
    except UnknownValueError:
        return None
    return addresses, active


def _relative(addresses: Ints, active: NDArray[np.bool_]) -> tuple[int | None, ...]:
    base = int(addresses[active].min()) // _ALIGNMENT * _ALIGNMENT
    return tuple(int(it) - base if on else None for it, on in zip(addresses, active, strict=True))


_ALIGNMENT = 1024
"""Bytes: a multiple of every granule and bank row of the device models."""

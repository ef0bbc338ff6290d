"""Values of work-item functions and parameters for the work-items of a launch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from clmap_lsp.access.evaluate import Environment, Evaluator, UnknownValueError
from clmap_lsp.access.polynomial import (
    Atom,
    LoopSymbol,
    Parameter,
    WorkItemSymbol,
    global_id,
    group_id,
    local_id,
    local_size,
)
from clmap_lsp.launch.model import Launch, ScalarArgument
from clmap_lsp.source.ir import WorkItemQuery as Query

if TYPE_CHECKING:
    from clmap_lsp.access.evaluate import Value
    from clmap_lsp.access.records import Access


def uniform_environment(launch: Launch, sub_group_size: int = 32) -> dict[Atom, Value]:
    """Return sizes and scalar arguments: what is the same for every work-item of whole work-groups."""
    found: dict[Atom, Value] = {}
    n = len(launch.global_size)
    found[WorkItemSymbol(Query.WORK_DIM)] = n
    found[WorkItemSymbol(Query.MAX_SUB_GROUP_SIZE)] = sub_group_size
    offsets = (*launch.global_offset, 0, 0, 0)
    for dimension in range(3):
        total = launch.global_size[dimension] if dimension < n else 1
        size = launch.local_size[dimension] if dimension < n else 1
        found[WorkItemSymbol(Query.GLOBAL_SIZE, dimension)] = total
        found[WorkItemSymbol(Query.ENQUEUED_LOCAL_SIZE, dimension)] = size
        found[WorkItemSymbol(Query.LOCAL_SIZE, dimension)] = size
        found[WorkItemSymbol(Query.NUM_GROUPS, dimension)] = -(-total // size)
        found[WorkItemSymbol(Query.GLOBAL_OFFSET, dimension)] = offsets[dimension]
    for name, argument in launch.arguments.items():
        if isinstance(argument, ScalarArgument):
            found.update(_scalar(name, argument))
    return found


def _scalar(name: str, argument: ScalarArgument) -> dict[Atom, Value]:
    values = argument.values
    if argument.members:
        pairs = zip(argument.members, values, strict=True)
        return {Parameter(f"{name}{member}"): value for member, value in pairs}  # type: ignore[misc]
    if len(values) == 1:
        return {Parameter(name): values[0]}  # type: ignore[dict-item]
    lanes = "xyzw" if len(values) <= 4 else [f"s{lane:x}" for lane in range(len(values))]
    return {Parameter(f"{name}.{lane}"): value for lane, value in zip(lanes, values, strict=False)}  # type: ignore[misc]


def launch_environment(launch: Launch) -> dict[Atom, Value]:
    """Return the environment of all work-items: ids are arrays that broadcast to (z, y, x)."""
    ranges = [np.arange(size, dtype=np.int64) for size in launch.global_size]
    return _ids(launch, ranges)


def group_environment(launch: Launch, group: Sequence[int]) -> dict[Atom, Value]:
    """Return the environment of one work-group: ids are arrays of shape (work-items,), dimension 0 fastest.

    The last group of a dimension may be smaller.
    """
    starts = [at * size for at, size in zip(group, launch.local_size, strict=True)]
    ends = [
        min(start + size, total)
        for start, size, total in zip(starts, launch.local_size, launch.global_size, strict=True)
    ]
    grids = np.meshgrid(
        *(np.arange(a, b, dtype=np.int64) for a, b in zip(reversed(starts), reversed(ends), strict=True)),
        indexing="ij",
    )
    flat = [grid.ravel() for grid in reversed(grids)]
    found = _ids(launch, flat, spread=False)
    for dimension, (start, end) in enumerate(zip(starts, ends, strict=True)):
        found[local_size(dimension)] = end - start
    return found


def _ids(launch: Launch, ranges: Sequence[np.ndarray], spread: bool = True) -> dict[Atom, Value]:
    found = uniform_environment(launch)
    offsets = (*launch.global_offset, 0, 0, 0)
    n = len(launch.global_size)
    for dimension in range(3):
        if dimension < n:
            position = ranges[dimension]
            if spread:
                position = position.reshape((-1,) + (1,) * dimension)
            size = launch.local_size[dimension]
            found[global_id(dimension)] = position + offsets[dimension]
            found[local_id(dimension)] = position % size
            found[group_id(dimension)] = position // size
        else:
            found[global_id(dimension)] = found[local_id(dimension)] = found[group_id(dimension)] = 0
    return found


def turns_of(
    access: Access, environment: Environment, limit: int
) -> Iterator[tuple[Mapping[Atom, Value], np.ndarray | None]]:
    """Yield for each combination of turns of an access's loops the environment and the mask of active lanes.

    The mask is `None` where all take part. Loops whose number of turns is not known yield nothing.

    Raises: UnknownValueError if a number of turns depends on something without a value; OverflowError if
    there are more than `limit` combinations.
    """
    yield from _turns(access.loops, dict(environment), None, [limit])


def _turns(
    loops: Sequence[LoopSymbol],
    environment: dict[Atom, Value],
    mask: np.ndarray | None,
    left: list[int],
) -> Iterator[tuple[Mapping[Atom, Value], np.ndarray | None]]:
    if not loops:
        left[0] -= 1
        if left[0] < 0:
            raise OverflowError("more turns than the limit")
        yield environment, mask
        return
    loop, rest = loops[0], loops[1:]
    if loop.trip is None:
        raise UnknownValueError(loop)
    trips = Evaluator(environment)(loop.trip)
    most = int(np.max(trips)) if np.size(trips) else 0
    for turn in range(max(most, 0)):
        active = mask
        if np.ndim(trips):
            taking_part = np.asarray(turn < trips)
            active = taking_part if mask is None else mask & taking_part
        yield from _turns(rest, {**environment, loop: turn}, active, left)

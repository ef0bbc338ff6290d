"""What values the work-item functions have over the work-items of a launch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import prod

from clmap_lsp.source.ir import WorkItemQuery

Range = tuple[int, int]
"""The least and the greatest value."""


def ranges(
    global_size: Sequence[int], local_size: Sequence[int], global_offset: Sequence[int] = ()
) -> Mapping[tuple[WorkItemQuery, int], Range]:
    """Return the range of each work-item function and dimension over all work-items of a launch.

    Dimensions that the launch lacks have size 1 and id 0 (OpenCL C 3.0, section 6.15.1). Ids of sub-groups
    are bounded for SIMD groups of any width; their sizes, which depend on the device, are left out. Functions
    without a dimension stand at 0.
    """
    return _ranges(tuple(global_size), tuple(local_size), tuple(global_offset))


@lru_cache(maxsize=64)
def _ranges(
    global_size: tuple[int, ...], local_size: tuple[int, ...], global_offset: tuple[int, ...]
) -> Mapping[tuple[WorkItemQuery, int], Range]:
    query = WorkItemQuery
    n = len(global_size)
    found: dict[tuple[WorkItemQuery, int], Range] = {(query.WORK_DIM, 0): (n, n)}
    for dimension in range(3):
        inside = dimension < n
        total = global_size[dimension] if inside else 1
        size = local_size[dimension] if inside else 1
        groups = -(-total // size)
        smallest = size if total % size == 0 else total % size
        offset = global_offset[dimension] if dimension < len(global_offset) else 0
        found[query.GLOBAL_ID, dimension] = offset, offset + total - 1
        found[query.GLOBAL_OFFSET, dimension] = offset, offset
        found[query.LOCAL_ID, dimension] = 0, min(size, total) - 1
        found[query.GROUP_ID, dimension] = 0, groups - 1
        found[query.GLOBAL_SIZE, dimension] = total, total
        found[query.NUM_GROUPS, dimension] = groups, groups
        found[query.ENQUEUED_LOCAL_SIZE, dimension] = size, size
        found[query.LOCAL_SIZE, dimension] = min(smallest, total), min(size, total)
    in_group = prod(found[query.LOCAL_ID, dimension][1] + 1 for dimension in range(3))
    found[query.GLOBAL_LINEAR_ID, 0] = 0, prod(global_size) - 1
    for linear in (query.LOCAL_LINEAR_ID, query.SUB_GROUP_ID, query.SUB_GROUP_LOCAL_ID):
        found[linear, 0] = 0, in_group - 1
    return found

"""Which definition of a metric holds, and where local memory is taken to lie."""

from __future__ import annotations

from enum import Enum

import numpy as np
from numpy.typing import NDArray

LEVELS = 11
"""Metrics over addresses are given with 0 to 10 low bits dropped."""

_BUFFER_BITS = 44
_LOCAL_FLAG = 1 << 61
_GROUP_SHIFT = 29
_LOCAL_BUFFER_SHIFT = 22


class Definition(Enum):
    """Whose parallel spatial locality is computed; all other metrics are the same in both.

    Source: Chilukuri, Milthorpe, Johnston, "Characterizing Optimizations to Memory Access Patterns using
    Architecture-Independent Program Features" (IWOCL 2020), section 5; and the code of AIWC.
    """

    PAPER = "paper"
    """As published: p = c / total, mean over timesteps, then over groups, over log2(group size)."""
    AIWC = "aiwc"
    """As AIWC's code counts with one worker thread: every total is one too large, and the segments between
    barriers stay in the running average of all later groups."""


class LocalAddresses(Enum):
    """Which addresses local buffers have."""

    SHARED = "shared"
    """Addresses of their own, the same in every work-group."""
    ALIAS = "alias"
    """Local buffer j has the addresses of global buffer j, in every group (AIWC; the paper's Table 1)."""
    DISTINCT = "distinct"
    """Every work-group has its own."""


def buffer_addresses(
    offsets: NDArray[np.int64],
    *,
    is_local: bool,
    buffer: int,
    group: int = 0,
    view: LocalAddresses = LocalAddresses.SHARED,
) -> NDArray[np.int64]:
    """Return the virtual byte addresses of byte offsets in a buffer.

    Args:
        offsets: any shape; bytes from the buffer's start, none negative.
        is_local: True for `__local`; global and constant memory share one space.
        buffer: the buffer's number: among global and constant buffers, or among local ones.
        group: linear id of the work-group; matters for local buffers in the view `DISTINCT` only.
        view: where local buffers lie.
    Returns: int64, the shape of `offsets`. Every buffer starts at a multiple of 2**22, so that dropping 10
        bits never joins two buffers.
    Raises: ValueError if a number does not fit: 65,536 buffers of 16 TiB; in the view `DISTINCT` 128 local
        buffers of 4 MiB and 2**31 groups.
    """
    if not is_local or view is LocalAddresses.ALIAS:
        return offsets + _placed(buffer, 1 << 16, _BUFFER_BITS)
    if view is LocalAddresses.SHARED:
        return offsets + (_LOCAL_FLAG | _placed(buffer, 1 << 16, _BUFFER_BITS))
    base = _placed(group, 1 << 31, _GROUP_SHIFT) | _placed(buffer, 1 << 7, _LOCAL_BUFFER_SHIFT)
    return offsets + (_LOCAL_FLAG | base)


def _placed(number: int, limit: int, shift: int) -> int:
    if not 0 <= number < limit:
        raise ValueError(f"buffer or group number {number} is outside 0..{limit - 1}")
    return number << shift

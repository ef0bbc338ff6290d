"""Buffers of which every address belongs to one work-item: nobody can race for them.

That is so where the accesses of a launch are as many as the addresses that they touch, or where all accesses
are made at the address of one of them, which is a different one each time that it is made.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from clmap_lsp.emulator.symbolic.counting import dense
from clmap_lsp.emulator.symbolic.rows import Rows, without


def executions(row: Rows) -> int:
    """Return how often an access is made in its box."""
    addresses, mask, _ = dense(row)
    total = 1
    for count in row.counts:
        total *= count
    return int(np.count_nonzero(mask)) * (total // len(addresses))


def is_exclusive(boxes: Sequence[Sequence[Rows]], footprint: int) -> bool:
    """Tell whether no two work-items touch the same byte of a buffer.

    `boxes` are all accesses of it, by the box of work-groups that makes them; `footprint` are the different
    addresses that these have.
    """
    rows = [it for box in boxes for it in box]
    if len({it.root for it in rows}) != 1 or len({it.size for it in rows}) != 1:
        return False
    if any(it.op not in ("load", "store") or it.texels is not None for it in rows):
        return False
    if not all(_on_elements(it) for it in rows):
        return False
    if sum(executions(it) for it in rows) == footprint:
        return True
    leading = 0
    for box in boxes:
        if not box:
            continue
        many = [executions(it) for it in box]
        first = box[int(np.argmax(many))]
        if not all(_goes_along(it, first) for it in box):
            return False
        leading += max(many)
    return leading == footprint


def _on_elements(row: Rows) -> bool:
    """Tell whether all addresses are multiples of the access's size, so that none overlap in part."""
    offset = row.offset
    steps = [offset.const, *(coef for _, coef in offset.coefs)]
    if row.size <= 0 or any(it % row.size for it in steps):
        return False
    return offset.array is None or not bool((offset.array % row.size).any())


def _goes_along(row: Rows, first: Rows) -> bool:
    """Tell whether whoever makes an access at an address is who makes the first one there."""
    if row is first:
        return True
    one, other = row.offset, first.offset
    if one.const != other.const or dict(one.coefs) != dict(other.coefs) or row.counts != first.counts:
        return False
    if one.array is not other.array and (
        one.array is None or other.array is None or not np.array_equal(one.array, other.array)
    ):
        return False
    return row.mask is first.mask or without(row.mask, first.mask) is False

"""Sums over regions of memory, taken in parts."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from clmap_lsp.locality import address_totals
from clmap_lsp.locality.address_totals import BLOCK, AddressTotals

PIECES = st.lists(
    st.tuples(st.sampled_from([0, 0, 1, 1, 3, 70_000]), st.integers(1, 3)), min_size=1, max_size=6
)


@given(PIECES, st.sampled_from([1, 4, 16, 1024]), st.integers(0, 5), st.integers(1, 3))
def test_blocks_whose_addresses_are_touched_alike_are_summed_as_all_others(
    pieces: list[tuple[int, int]], unit: int, rest: int, copies: int
) -> None:
    block = BLOCK // unit
    counts = np.concatenate([np.full(block * many, count, np.uint32) for count, many in pieces])
    counts = np.append(counts, np.full(rest, 7, np.uint32))
    before, address_totals._CHUNK = address_totals._CHUNK, block
    try:
        parts = AddressTotals()
        parts.take_long(counts, unit, copies)
    finally:
        address_totals._CHUNK = before
    whole = AddressTotals()
    whole.take(counts.astype(np.int64), unit, copies)
    assert (parts.total, parts.by_count) == (whole.total, whole.by_count)
    assert np.allclose(parts.sums, whole.sums, rtol=1e-12)

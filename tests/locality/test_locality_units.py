import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clmap_lsp.locality.definition import Definition, LocalAddresses, buffer_addresses
from clmap_lsp.locality.entropy import (
    EntropyAccumulator,
    covering,
    entropy_levels,
    row_entropies,
    rows_entropies,
)
from clmap_lsp.locality.parallel import PslAccumulator
from clmap_lsp.locality.strides import StrideHistogram

addresses = st.lists(st.integers(0, 1 << 14) | st.integers(0, 1 << 61), max_size=70)


def entropy(values, total_plus=0):
    counts, n = Counter(values), len(values) + total_plus
    return -sum(c / n * math.log2(c / n) for c in counts.values())


@given(addresses)
def test_entropies_are_shannons_at_every_level(values):
    array = np.array(values, np.int64)
    by_hand = [entropy([v >> level for v in values]) for level in range(11)]
    assert row_entropies(array) == pytest.approx(by_hand, abs=1e-9)
    distinct, counts = np.unique(array, return_counts=True)
    assert entropy_levels(distinct, counts) == pytest.approx(by_hand, abs=1e-9)


@given(addresses)
def test_aiwc_counts_one_too_many(values):
    by_hand = [entropy([v >> level for v in values], 1) for level in range(11)]
    assert row_entropies(np.array(values, np.int64), Definition.AIWC) == pytest.approx(by_hand, abs=1e-9)


@given(st.lists(st.lists(st.integers(0, 4000), min_size=5, max_size=5), min_size=1, max_size=6), st.data())
def test_inactive_lanes_do_not_count(rows, data):
    array = np.array(rows, np.int64)
    active = np.array([[data.draw(st.booleans()) for _ in row] for row in rows])
    together = rows_entropies(array, active)
    for row, mask, got in zip(array, active, together, strict=True):
        assert got == pytest.approx(row_entropies(row[mask]), abs=1e-12)


@given(addresses, st.integers(1, 99))
def test_covering_is_the_least_number(values, percent):
    counts = np.array(sorted(Counter(values).values()), np.int64)
    k, wanted = covering(counts, percent), -(-sum(counts.tolist()) * percent // 100)
    falling = sorted(counts.tolist(), reverse=True)
    assert sum(falling[:k]) >= wanted
    assert k == 0 or sum(falling[: k - 1]) < wanted


@given(st.lists(addresses, max_size=4))
def test_the_histogram_counts_every_access(parts):
    collected = EntropyAccumulator()
    for part in parts:
        collected.add(np.array(part, np.int64))
        collected.add(np.array([7], np.int64), np.array([3], np.int64))
    got = dict(zip(*(it.tolist() for it in collected.histogram()), strict=True))
    wanted = Counter(value for part in parts for value in part)
    wanted[7] += 3 * len(parts)
    assert got == {key: count for key, count in wanted.items() if count}


def test_settling_in_between_changes_nothing(monkeypatch):
    monkeypatch.setattr("clmap_lsp.locality.entropy._PENDING", 8)
    values = np.random.default_rng(0).integers(0, 50, 1000)
    collected = EntropyAccumulator()
    for part in np.array_split(values, 100):
        collected.add(part)
    got, counts = collected.histogram()
    assert (got == np.unique(values)).all() and (counts == np.bincount(values)[np.unique(values)]).all()


def test_parallel_spatial_locality_by_hand():
    # Two timesteps of 4 items: all apart by 4 bytes (2 bits; 1 with 3 bits dropped), then all at one address.
    rows = np.array([[0, 4, 8, 12], [64, 64, 64, 64]])
    psl = PslAccumulator(4)
    psl.add_rows(rows)
    psl.end_group()
    assert psl.result().tolist() == [0.5, 0.5, 0.5, 0.25] + [0.0] * 7


def test_a_group_without_accesses_counts_as_zero_but_inherits_in_aiwc():
    def measure(definition):
        psl = PslAccumulator(2, definition)
        psl.add_rows(np.array([[0, 4]]))
        psl.end_group()
        one = psl.result()[0]
        psl.end_group()
        return one, psl.result()[0]

    assert measure(Definition.PAPER) == (1.0, 0.5)
    alone, with_empty = measure(Definition.AIWC)
    assert alone == with_empty > 0


def test_groups_of_one_item_have_no_locality():
    psl = PslAccumulator(1)
    psl.add_rows(np.array([[0], [4]]))
    psl.end_group()
    assert psl.result().tolist() == [0.0] * 11


def test_where_local_buffers_lie():
    offsets = np.array([0, 4])

    def at(view, group, is_local=True, buffer=1):
        return buffer_addresses(offsets, is_local=is_local, buffer=buffer, group=group, view=view).tolist()

    shared, alias, distinct = LocalAddresses.SHARED, LocalAddresses.ALIAS, LocalAddresses.DISTINCT
    everywhere_global = at(shared, 0, is_local=False)
    assert at(alias, 3) == everywhere_global
    assert at(shared, 3) == at(shared, 4) != everywhere_global
    assert at(distinct, 3) != at(distinct, 4)
    seen = {tuple(at(distinct, g, buffer=b)) for g in range(5) for b in range(5)}
    assert len(seen) == 25
    with pytest.raises(ValueError, match="outside"):
        at(distinct, 0, buffer=128)


def test_stride_shares():
    histogram = StrideHistogram(max_distinct=2)
    histogram.add(np.array([4, 4, 4, 0, -600, 10_000]), times=2)
    summary = histogram.summary()
    assert summary.count == 12
    assert summary.within == pytest.approx((1 / 6, 4 / 6, 4 / 6, 4 / 6, 5 / 6))
    assert not summary.exact
    assert StrideHistogram().summary().count == 0


def test_nothing_in_nothing_out():
    assert entropy_levels(np.zeros(0, np.int64), np.zeros(0, np.int64)).tolist() == [0.0] * 11

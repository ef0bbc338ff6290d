"""A span that is found out when it is looked at is like any other span."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import pytest

from clmap_lsp.source.span import LazySpan, Span

USE = Span("k.cl", 3, 7, Span("k.h", 10, 12))


@dataclass(eq=False)
class Places:
    asked: list[tuple[int, int]] = field(default_factory=list)

    def between(self, start: int, end: int) -> Span:
        self.asked.append((start, end))
        return USE


def test_it_asks_once_and_only_when_it_is_looked_at():
    places = Places()
    span = LazySpan(places, (1, 2))
    assert places.asked == []
    assert (span.path, span.start, span.end, span.definition) == ("k.cl", 3, 7, USE.definition)
    assert span.cover(Span("k.cl", 1, 4)) == Span("k.cl", 1, 7)
    assert places.asked == [(1, 2)]


def test_it_equals_what_it_stands_for_and_is_found_by_it():
    lazy, other = LazySpan(Places(), (1, 2)), LazySpan(Places(), (5, 6))
    assert lazy == USE == other == lazy
    assert {lazy: 1}[USE] == 1
    assert lazy != Span("k.cl", 3, 7)
    assert repr(lazy) == repr(USE)


def test_copies_and_pickles_are_plain_spans():
    for made in (
        pickle.loads(pickle.dumps(LazySpan(Places(), (1, 2)))),
        copy.deepcopy(LazySpan(Places(), (1, 2))),
    ):
        assert type(made) is Span
        assert made == USE


def test_what_knows_the_places_is_let_go():
    places = Places()
    gone = weakref.ref(places)
    span = LazySpan(places, (1, 2))
    assert span.start == 3
    del places
    gc.collect()
    assert gone() is None
    assert span.end == 7


def test_threads_may_look_at_the_same_time():
    spans = [LazySpan(Places(), (1, 2)) for _ in range(2_000)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: [(it.path, it.start, it.end) for it in spans], range(4)))
    assert found == [[("k.cl", 3, 7)] * len(spans)] * 4


def test_it_has_no_other_attributes():
    with pytest.raises(AttributeError):
        LazySpan(Places(), (1, 2)).column  # noqa: B018

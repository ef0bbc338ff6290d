"""The replay tool: bursts, percentiles, and a short recording against a real server."""

from __future__ import annotations

import asyncio
import random

import pytest

from benchmarks.keystrokes import record, source
from benchmarks.replay import CONTENT_MODIFIED, Player, Sent, last_of_bursts, percentile, table


def test_percentiles_are_nearest_ranks():
    values = [it / 100 for it in range(100)]
    random.Random(1).shuffle(values)
    assert percentile(values, 0.5) == 0.5 and percentile(values, 0.95) == 0.95
    assert percentile([7.0], 0.95) == 7.0


def test_a_burst_ends_where_nothing_follows_soon():
    document = {"textDocument": {"uri": "file:///k.cl", "version": 1}}
    times = [0.0, 0.05, 0.1, 1.0, 1.05]
    events = [{"at": at, "method": "textDocument/didChange", "params": document} for at in times]
    assert last_of_bursts(events) == {2, 4}


def test_the_typed_file_has_the_size_that_was_asked_for():
    text = source(30, 1000)
    assert abs(text.count("\n") - 1000) < 20
    assert text.count("__kernel void") == 30


@pytest.mark.parametrize(
    ("n_changes", "code", "is_error"),
    [(1, CONTENT_MODIFIED, False), (0, CONTENT_MODIFIED, True), (1, -32603, True)],
)
def test_only_what_an_edit_overtook_may_be_refused(n_changes: int, code: int, is_error: bool):
    player = Player([], speed=1.0)
    player.measured.n_changes = n_changes
    player.answered(Sent("hover", 1.0, 0), {"error": {"code": code, "message": "no"}}, 2.0)
    measured = player.measured
    assert measured.errors == (["hover: no"] if is_error else [])
    assert measured.overtaken == ({} if is_error else {"hover": 1})
    assert measured.latencies == ({"hover": [1.0]} if is_error else {})
    assert ("error: hover: no" if is_error else "overtaken by an edit: 1 hover") in table(measured)


def test_a_recording_is_played_and_measured():
    events = record(kernels=3, lines=60, count=6, rate=40.0, burst=3, emulate="off")
    measured = asyncio.run(Player(events, speed=4.0).play())
    assert not measured.errors
    kinds = measured.latencies
    assert len(kinds["textDocument/hover"]) == 2 and kinds["diagnostics after a burst"]
    assert all(it >= 0 for values in kinds.values() for it in values)
    assert "p95 ms" in table(measured)

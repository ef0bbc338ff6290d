"""Whose turn it is: nothing here depends on how fast anything runs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import clmap_lsp
from clmap_lsp.interruption import checkpoint
from clmap_lsp.lazy import lazy_property
from clmap_lsp.server.turns import Band, EndedError, Turns, Urgency

REQUEST = Urgency(Band.REQUEST)


@pytest.fixture
def turns() -> Iterator[Turns]:
    made = Turns()
    yield made
    made.close()


class Long:
    """Work that goes on from checkpoint to checkpoint until it is let go."""

    def __init__(self, name: str, log: list[str]) -> None:
        self.name, self.log = name, log
        self.began, self.released = threading.Event(), threading.Event()

    def __call__(self) -> str:
        self.log.append(f"{self.name} begins")
        self.began.set()
        while not self.released.is_set():
            checkpoint()
        self.log.append(f"{self.name} ends")
        return self.name


class Deaf:
    """Work that nothing interrupts until it is let go: all that is planned meanwhile is compared at once."""

    def __init__(self, name: str, log: list[str]) -> None:
        self.name, self.log = name, log
        self.began, self.released = threading.Event(), threading.Event()

    def __call__(self) -> None:
        self.log.append(f"{self.name} begins")
        self.began.set()
        self.released.wait(60)
        checkpoint()
        self.log.append(f"{self.name} ends")


def note(log: list[str], name: str) -> Callable[[], None]:
    return lambda: log.append(name)


def test_a_request_interrupts_work_that_goes_on_afterwards(turns: Turns):
    log: list[str] = []
    long = Long("large", log)
    large = turns.submit(Urgency.opened(200_000), long)
    long.began.wait(60)
    turns.submit(REQUEST, note(log, "request")).future.result(60)
    assert not large.future.done()
    long.released.set()
    assert large.future.result(60) == "large"
    assert log == ["large begins", "request", "large ends"]


def test_a_small_document_that_is_opened_does_not_wait_for_a_large_one(turns: Turns):
    log: list[str] = []
    long = Long("large", log)
    turns.submit(Urgency.opened(200_000), long)
    long.began.wait(60)
    turns.submit(Urgency.opened(60), note(log, "small")).future.result(60)
    long.released.set()
    assert log[:2] == ["large begins", "small"]


def test_the_document_that_was_edited_last_goes_before_the_others(turns: Turns):
    log: list[str] = []
    first = Long("first", log)
    turns.submit(Urgency.edited(1), first)
    first.began.wait(60)
    second = Long("second", log)
    turns.submit(Urgency.edited(2), second)
    second.began.wait(60)
    late = turns.submit(Urgency.edited(1), note(log, "late"))
    opened = turns.submit(Urgency.opened(10), note(log, "opened"))
    second.released.set()
    first.released.set()
    for it in (late, opened):
        it.future.result(60)
    assert log == ["first begins", "second begins", "second ends", "first ends", "late", "opened"]


def test_work_that_is_ended_stops_at_its_next_checkpoint_and_frees_the_turn(turns: Turns):
    log: list[str] = []
    long = Long("old text", log)
    old = turns.submit(Urgency.edited(1), long)
    long.began.wait(60)
    new = turns.submit(Urgency.edited(1), note(log, "new text"))
    turns.end(old)
    new.future.result(60)
    with pytest.raises(EndedError):
        old.future.result(60)
    assert log == ["old text begins", "new text"]


def test_work_that_pauses_can_be_ended(turns: Turns):
    log: list[str] = []
    below, above = Long("below", log), Long("above", log)
    first = turns.submit(Urgency.opened(100_000), below)
    below.began.wait(60)
    second = turns.submit(REQUEST, above)
    above.began.wait(60)
    turns.end(first)
    above.released.set()
    assert second.future.result(60) == "above"
    with pytest.raises(EndedError):
        first.future.result(60)
    turns.submit(REQUEST, note(log, "next")).future.result(60)


def test_what_has_not_begun_never_begins_once_it_is_ended(turns: Turns):
    log: list[str] = []
    long = Long("running", log)
    turns.submit(REQUEST, long)
    long.began.wait(60)
    waiting = turns.submit(Urgency.edited(1), note(log, "waiting"))
    turns.end(waiting)
    with pytest.raises(EndedError):
        waiting.future.result(60)
    long.released.set()
    turns.submit(Urgency.opened(1), note(log, "last")).future.result(60)
    assert "waiting" not in log


def test_an_error_goes_to_who_waits_and_not_to_the_next(turns: Turns):
    def fails() -> None:
        raise ValueError("wrong")

    failed = turns.submit(REQUEST, fails)
    with pytest.raises(ValueError, match="wrong"):
        failed.future.result(60)
    assert turns.submit(REQUEST, lambda: 1).future.result(60) == 1


def test_three_hundred_opened_documents_do_not_hold_up_one_that_is_edited(turns: Turns):
    log: list[str] = []
    long = Long("first", log)
    turns.submit(Urgency.opened(4_000), long)
    long.began.wait(60)
    opened = [turns.submit(Urgency.opened(4_000), note(log, f"opened {it}")) for it in range(300)]
    turns.submit(Urgency.edited(1), note(log, "edited")).future.result(60)
    assert log == ["first begins", "edited"]
    long.released.set()
    opened[-1].future.result(60)
    assert log[3:] == [f"opened {it}" for it in range(300)]


def test_a_document_that_is_asked_about_goes_before_all_but_the_one_that_was_edited_last(turns: Turns):
    log: list[str] = []
    first = Deaf("first", log)
    turns.submit(Urgency.edited(1), first)
    first.began.wait(60)
    opened = [turns.submit(Urgency.opened(4_000), note(log, f"opened {it}")) for it in range(4)]
    turns.submit(Urgency.edited(2), note(log, "edited"))
    turns.submit(Urgency.edited(3), note(log, "edited last"))
    turns.hasten(opened[2], Urgency.asked(3, 1))
    turns.hasten(opened[3], Urgency.asked(3, 2))
    turns.hasten(opened[3], Urgency.opened(4_000))
    first.released.set()
    opened[1].future.result(60)
    assert log[1:] == [
        *("edited last", "opened 3", "opened 2", "edited", "first ends", "opened 0", "opened 1"),
    ]


def test_work_that_has_begun_and_pauses_is_hastened_too(turns: Turns):
    log: list[str] = []
    large, small = Long("large", log), Long("small", log)
    paused = turns.submit(Urgency.opened(200_000), large)
    large.began.wait(60)
    turns.submit(Urgency.opened(2_000), small)
    small.began.wait(60)
    large.released.set()
    turns.hasten(paused, Urgency.asked(0, 1))
    assert paused.future.result(60) == "large"
    small.released.set()


class Lazy:
    """Works its value out in turns."""

    def __init__(self, make: Callable[[], str]) -> None:
        self.make = make

    @lazy_property
    def value(self) -> str:
        return self.make()


def test_work_that_pauses_inside_a_lazy_property_does_not_stop_the_same_property_of_others(turns: Turns):
    log: list[str] = []
    long = Long("large", log)
    large = turns.submit(Urgency.opened(200_000), lambda: Lazy(long).value)
    long.began.wait(60)
    assert turns.submit(REQUEST, lambda: Lazy(lambda: "small").value).future.result(60) == "small"
    long.released.set()
    assert large.future.result(60) == "large"


def test_nothing_that_may_pause_holds_the_lock_of_a_cached_property():
    package = Path(clmap_lsp.__file__).parent
    users = [it for it in package.rglob("*.py") if "import cached_property" in it.read_text("utf-8")]
    assert users == []


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(Band), st.integers(0, 5), st.booleans()), max_size=40))
def test_one_piece_of_work_runs_at_a_time_and_all_come_to_an_end(plan: list[tuple[Band, int, bool]]):
    turns = Turns()
    running = count()
    inside: list[int] = []
    overlaps: list[int] = []

    def work() -> None:
        mine = next(running)
        for _ in range(3):
            inside.append(mine)
            overlaps.extend([] if len(inside) == 1 else inside)
            inside.remove(mine)
            checkpoint()

    made = [turns.submit(Urgency(band, (order,)), work) for band, order, _ in plan]
    for turn, (_, _, is_ended) in zip(made, plan, strict=True):
        if is_ended:
            turns.end(turn)
    for turn in made:
        assert turn.future.exception(60) is None or isinstance(turn.future.exception(), EndedError)
    turns.close()
    assert not overlaps

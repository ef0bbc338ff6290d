"""What is told of work that is done elsewhere, and what stays of it."""

from __future__ import annotations

import asyncio
import gc
import threading
import weakref

import pytest

from clmap_lsp.interruption import checkpoint
from clmap_lsp.server.turns import Band, EndedError, Turns, Urgency


class Answer:
    """Something that is to go with its last use."""


def test_an_answer_goes_with_its_last_use() -> None:
    """Else each key leaves an index, of tens of thousands of tokens, until the collector looks."""

    async def ask(turns: Turns) -> weakref.ref[Answer]:
        answer = await turns.outcome(turns.submit(Urgency(Band.REQUEST), Answer))
        return weakref.ref(answer)

    async def ask_and_wait() -> weakref.ref[Answer]:
        turns = Turns()
        found = await ask(turns)
        for _ in range(500):  # The thread that did it may hold it for a moment more.
            if found() is None:
                break
            await asyncio.sleep(0.01)
        turns.close()
        return found

    gc.disable()
    try:
        assert asyncio.run(ask_and_wait())() is None
    finally:
        gc.enable()


def test_work_that_nobody_waits_for_any_more_ends_at_its_next_checkpoint() -> None:
    begun, ended = threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        try:
            while True:
                checkpoint()
        finally:
            ended.set()

    async def give_up() -> None:
        turns = Turns()
        task = asyncio.create_task(turns.outcome(turns.submit(Urgency(Band.REQUEST), work)))
        await asyncio.to_thread(begun.wait)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(ended.wait, 60)
        turns.close()

    asyncio.run(give_up())


def test_work_that_fails_or_is_ended_says_so() -> None:
    async def ask() -> None:
        turns = Turns()
        with pytest.raises(ZeroDivisionError):
            await turns.outcome(turns.submit(Urgency(Band.REQUEST), lambda: 1 // 0))
        begun = threading.Event()

        def work() -> None:
            begun.set()
            while True:
                checkpoint()

        turn = turns.submit(Urgency(Band.REQUEST), work)
        task = asyncio.create_task(turns.outcome(turn))
        await asyncio.to_thread(begun.wait)
        turns.end(turn)
        with pytest.raises(EndedError):
            await task
        turns.close()

    asyncio.run(ask())

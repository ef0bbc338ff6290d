"""One piece of work at a time, the most urgent first; what is less urgent pauses at its next checkpoint.

Python runs one thread at a time anyway: several analyses at once would only make each of them late. So work
takes turns. Each piece has a thread of its own, and one of them runs: at every checkpoint (see
`clmap_lsp.interruption`) it lets what is more urgent go before it, and goes on when that is done. Work that
nobody wants any more ends there. What the pieces share is therefore only changed between checkpoints.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import field
from enum import IntEnum
from functools import partial
from typing import Generic, TypeVar

from clmap_lsp.dataclass import dataclass
from clmap_lsp.interruption import Interrupted, interruptible

MAX_THREADS = 24
"""Pieces of work that may have begun at a time: more could not pause for each other."""
KEPT_FREE = 4
"""Threads that only requests may take."""

T = TypeVar("T")


class Band(IntEnum):
    """How urgent work is, by who waits for it."""

    REQUEST = 0
    """Somebody asked, and waits."""
    USED = 1
    """A document that is edited or asked about, the one that was edited last first."""
    OPENED = 2
    """Documents that were opened or must be read again, the small ones first."""


@dataclass(frozen=True, slots=True)
class Urgency:
    """Lower goes first. Within a band, `order` decides what begins first."""

    band: Band
    order: tuple[int, ...] = ()

    @classmethod
    def edited(cls, count: int) -> Urgency:
        """Return that of a document whose last edit was the editor's `count`th."""
        return cls(Band.USED, (-count, 0, 1))

    @classmethod
    def asked(cls, n_edits: int, count: int) -> Urgency:
        """Return that of a document that was asked about after so many edits, by the `count`th request.

        It goes behind the document that was edited last, and before all others.
        """
        return cls(Band.USED, (1 - n_edits, -count, 1))

    def hurried(self) -> Urgency:
        """Return that of a piece of a document's work that goes before the rest of it."""
        return Urgency(self.band, (*self.order[:-1], 0))

    @classmethod
    def opened(cls, n_characters: int) -> Urgency:
        """Return that of a document of a size: its magnitude, so that much smaller ones interrupt it."""
        return cls(Band.OPENED, (n_characters.bit_length() // 2,))

    @property
    def key(self) -> tuple[int, tuple[int, ...]]:
        """What sorts urgencies."""
        return self.band, self.order


class EndedError(Exception):
    """The work was ended before it was done."""


@dataclass(slots=True, eq=False)
class Turn(Generic[T]):
    """One piece of work."""

    urgency: Urgency
    work: Callable[[], T]
    number: int
    future: Future[T] = field(default_factory=Future)
    has_begun: bool = False
    is_ended: bool = False
    """Nobody wants it any more."""
    should_look: bool = False
    """Something more urgent waits, or it is ended: the next checkpoint must look."""
    may_go_on: threading.Event = field(default_factory=threading.Event)

    @property
    def place(self) -> tuple[bool, tuple[int, tuple[int, ...]], int]:
        """What sorts those who wait. What is to end has little left to do."""
        return not (self.is_ended and self.has_begun), self.urgency.key, self.number


class Turns:
    """Runs work by turns."""

    def __init__(self, name: str = "work") -> None:
        self._pool = ThreadPoolExecutor(MAX_THREADS, thread_name_prefix=name)
        self._lock = threading.Lock()
        self._waiting: list[Turn[object]] = []
        self._running: Turn[object] | None = None
        self._n_begun = 0
        self._n_turns = 0
        self._is_closed = False

    def start_threads(self, count: int) -> None:
        """Have so many threads ready: else they are made when the first work is interrupted.

        What each keeps for itself to the end is made with it, before documents are all around.
        """
        all_there = threading.Barrier(count)

        def begin() -> None:
            with interruptible(lambda: None):
                all_there.wait(1.0)

        for _ in range(count):
            self._pool.submit(begin)

    def submit(self, urgency: Urgency, work: Callable[[], T]) -> Turn[T]:
        """Plan a piece of work; its future ends with the result, or with `EndedError`."""
        with self._lock:
            self._n_turns += 1
            turn = Turn(urgency, work, self._n_turns)
            if self._is_closed:
                turn.future.cancel()
                return turn
            self._waiting.append(turn)  # type: ignore[arg-type]
            self._look()
        return turn

    def hasten(self, turn: Turn[T], urgency: Urgency) -> None:
        """Let a piece of work that waits go before others, if it is more urgent now."""
        with self._lock:
            if urgency.key < turn.urgency.key:
                turn.urgency = urgency
                self._look()

    async def outcome(self, turn: Turn[T]) -> T:
        """Return what a piece of work gives; it is ended where nobody waits for that any more.

        Raises: EndedError if it was ended otherwise.
        """
        try:
            return await awaitable(turn.future)
        except asyncio.CancelledError:
            self.end(turn)
            raise

    def end(self, turn: Turn[T]) -> None:
        """End a piece of work: at once if it has not begun, else at its next checkpoint."""
        with self._lock:
            if turn.future.done() or turn.is_ended:
                return
            turn.is_ended = turn.should_look = True
            if not turn.has_begun:
                self._waiting.remove(turn)  # type: ignore[arg-type]
                turn.future.set_exception(EndedError())
            else:
                self._look()

    def close(self) -> None:
        """End everything."""
        with self._lock:
            self._is_closed = True
            waiting = [*self._waiting, *([self._running] if self._running else [])]
        for turn in waiting:
            self.end(turn)
        self._pool.shutdown(wait=False, cancel_futures=True)

    # ------------------------------------------------------------------------- with the lock held

    def _look(self) -> None:
        """Let the most urgent that waits begin or go on, or ask what runs to pause."""
        following = self._next(self._running)
        if following is None:
            return
        if self._running is None:
            self._go(following)
        else:
            self._running.should_look = True

    def _next(self, running: Turn[object] | None) -> Turn[object] | None:
        """Return what should run instead of `running`."""
        full = self._n_begun >= MAX_THREADS
        nearly_full = self._n_begun >= MAX_THREADS - KEPT_FREE
        able = [
            it
            for it in self._waiting
            if it.has_begun or not (full or (nearly_full and it.urgency.band is not Band.REQUEST))
        ]
        best = min(able, key=lambda it: it.place, default=None)
        if best is None or running is None or _goes_before(best, running):
            return best
        return None

    def _go(self, turn: Turn[object]) -> None:
        self._waiting.remove(turn)
        self._running = turn
        turn.should_look = turn.is_ended or self._next(turn) is not None
        if turn.has_begun:
            turn.may_go_on.set()
        else:
            turn.has_begun = True
            self._n_begun += 1
            self._pool.submit(self._run, turn)

    # ---------------------------------------------------------------------------- in the threads

    def _run(self, turn: Turn[object]) -> None:
        result: object = None
        error: BaseException | None = None
        try:
            with interruptible(partial(self._checkpoint, turn)):
                result = turn.work()
        except Interrupted:
            error = EndedError()
        except BaseException as found:
            error = found
        with self._lock:
            self._running = None
            self._n_begun -= 1
            self._look()
        # Told last, so that who waits finds the turns in order; work that was done counts though ended.
        if error is None:
            turn.future.set_result(result)
        else:
            turn.future.set_exception(error)

    def _checkpoint(self, turn: Turn[object]) -> None:
        if not turn.should_look:
            return
        if turn.is_ended:
            raise Interrupted
        with self._lock:
            turn.should_look = False
            following = self._next(turn)
            if following is None:
                return
            turn.may_go_on.clear()
            self._waiting.append(turn)
            self._go(following)
        turn.may_go_on.wait()
        if turn.is_ended:
            raise Interrupted


def _goes_before(one: Turn[object], running: Turn[object]) -> bool:
    """Tell whether one piece of work may interrupt another."""
    if one.is_ended and one.has_begun:
        return running.urgency.band is not Band.REQUEST
    return one.urgency.key < running.urgency.key


def awaitable(work: Future[T]) -> asyncio.Future[T]:
    """Return the same outcome for who waits in the event loop.

    `asyncio.wrap_future` lets each of the two hold the other, so that what an answer rests on (the index of a
    text, of tens of thousands of tokens) stays until the collector looks: a third of a second in the midst of
    typing. It also cancels work that was begun, of which nobody would ever be told.
    """
    loop = asyncio.get_running_loop()
    told: asyncio.Future[T] = loop.create_future()

    def tell(work: Future[T]) -> None:
        if told.done():
            return
        if work.cancelled():
            told.cancel()
        elif (error := work.exception()) is not None:
            told.set_exception(error)
        else:
            told.set_result(work.result())

    def done(work: Future[T]) -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(tell, work)

    work.add_done_callback(done)
    return told

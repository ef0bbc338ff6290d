"""Long work that goes on in a thread of its own, whoever asked for it, one piece at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from clmap_lsp.interruption import LOOK_S, checkpoint, interruptible, is_interruptible, waited_for

T = TypeVar("T")


class Aside:
    """Runs work on what several documents share, which must not be left half done.

    Work that may be interrupted (the server's) goes on in a thread while the one who asked for it pauses at
    checkpoints: something more urgent goes before both, and where nobody wants the answer any more the work
    still ends, so that the next to ask finds it done. Only where somebody waits for the same does it go on
    while the one who asked for it pauses: else the two would wait for each other.
    """

    def __init__(self) -> None:
        self._is_free = threading.Lock()
        self._n_waiting = 0
        """Changed only by who has the turn, and only between checkpoints."""

    def run(self, work: Callable[[], T]) -> T:
        """Return what `work` makes. It must not ask for work of the same `Aside`."""
        if not is_interruptible():
            with self._is_free:
                return work()
        self._take()
        pause = _Pause(self._is_waited_for)

        def piece() -> T:
            try:
                with interruptible(pause.let_others_go):
                    return work()
            finally:
                self._is_free.release()

        return waited_for(piece, pause.holds)

    def run_if_free(self, work: Callable[[], None]) -> None:
        """Do short work now, unless other work goes on."""
        if self._is_free.acquire(blocking=False):
            try:
                work()
            finally:
                self._is_free.release()

    def _take(self) -> None:
        self._n_waiting += 1
        try:
            while not self._is_free.acquire(timeout=LOOK_S):
                checkpoint()
        finally:
            self._n_waiting -= 1

    def _is_waited_for(self) -> bool:
        return self._n_waiting > 0


class _Pause:
    """Lets a piece of work wait while who asked for it does; it goes on where that one is ended."""

    def __init__(self, is_waited_for: Callable[[], bool]) -> None:
        self._is_waited_for = is_waited_for
        self._may_go_on = threading.Event()
        self._may_go_on.set()

    @contextmanager
    def holds(self) -> Iterator[None]:
        """Who asked for the work pauses."""
        self._may_go_on.clear()
        try:
            yield
        finally:
            self._may_go_on.set()

    def let_others_go(self) -> None:
        """Wait, at a checkpoint of the work."""
        while not self._may_go_on.is_set() and not self._is_waited_for():
            self._may_go_on.wait(LOOK_S)

"""Places in long work where it may pause for something more urgent, or end because nobody wants it any more.

What may take long calls `checkpoint` every few milliseconds, and knows nothing more: on the command line that
is a call that does nothing. The language server says what happens there (`server/turns.py`).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TypeVar

T = TypeVar("T")

LOOK_S = 0.005
"""How often who waits for another process looks whether something more urgent should go first."""


class Interrupted(BaseException):
    """Raised at a checkpoint: the work is not wanted any more."""


class _Thread(threading.local):
    pause: Callable[[], None] | None = None


_thread = _Thread()


def checkpoint() -> None:
    """Pause here, or raise `Interrupted`, if whoever runs the work wants it."""
    if (pause := _thread.pause) is not None:
        pause()


def is_interruptible() -> bool:
    """Tell whether somebody may want this thread to pause."""
    return _thread.pause is not None


@contextmanager
def interruptible(pause: Callable[[], None]) -> Iterator[None]:
    """Call `pause` at each checkpoint of this thread within the context."""
    before, _thread.pause = _thread.pause, pause
    try:
        yield
    finally:
        _thread.pause = before


def waited_for(work: Callable[[], T], pausing: Callable[[], AbstractContextManager[None]] = nullcontext) -> T:
    """Return what `work` makes, which waits for a process: in a thread, so that one may pause.

    A compiler takes seconds for a large kernel. Waited for without checkpoints, it would stop all else,
    and who paused within `work` would keep what that holds, a lock perhaps, from those that go first.
    Nobody waits for the thread when the program ends.

    Args:
        pausing: what holds while this one pauses.
    """
    made: list[T] = []
    failed: list[BaseException] = []
    is_done = threading.Event()

    def run() -> None:
        try:
            made.append(work())
        except BaseException as error:
            failed.append(error)
        finally:
            is_done.set()

    threading.Thread(target=run, name="is waited for", daemon=True).start()
    while not is_done.wait(LOOK_S):
        with pausing():
            checkpoint()
    if failed:
        raise failed[0]
    return made[0]

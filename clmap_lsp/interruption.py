"""Places in long work where it may pause for something more urgent, or end because nobody wants it any more.

What may take long calls `checkpoint` every few milliseconds, and knows nothing more: on the command line that
is a call that does nothing. The language server says what happens there (`server/turns.py`).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Interrupted(BaseException):
    """Raised at a checkpoint: the work is not wanted any more."""


class _Thread(threading.local):
    pause: Callable[[], None] | None = None


_thread = _Thread()


def checkpoint() -> None:
    """Pause here, or raise `Interrupted`, if whoever runs the work wants it."""
    if (pause := _thread.pause) is not None:
        pause()


@contextmanager
def interruptible(pause: Callable[[], None]) -> Iterator[None]:
    """Call `pause` at each checkpoint of this thread within the context."""
    before, _thread.pause = _thread.pause, pause
    try:
        yield
    finally:
        _thread.pause = before

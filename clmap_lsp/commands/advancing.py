"""How far long work has come: one line at the terminal, which is gone when it ends."""

from __future__ import annotations

import shutil
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from clmap_lsp.escaping import terminal_line
from clmap_lsp.report.styles import understood

PARALLEL_FROM = 12
"""Below this many files, starting processes costs more than it saves, and mostly nobody waits long."""
_EVERY_S = 0.1
_SHOWN_AFTER_S = 1.0
"""Where there are few files, the line shows once somebody has waited so long."""
_LOOK_S = 0.5
_BAR = 30
"""Columns of the bar."""
_LEAST = 12
"""Columns of a file's name that are worth showing."""


@contextmanager
def progress(total: int, *, doing: str = "checking", forks: bool = False) -> Iterator[Progress]:
    """Yield what hears of each step. It shows on standard error, if that is a terminal.

    Args:
        total: files, or folders.
        doing: what is done to each.
        forks: this process is copied meanwhile, so that it has no second thread: whoever waits calls `look`.
    """
    line = Progress(total, doing, shows=sys.stderr.isatty() and understood())
    ended = threading.Event()
    looking = threading.Thread(target=line.look_until, args=(ended,), daemon=True)
    if line.shows and not forks:
        looking.start()
    try:
        yield line
    finally:
        ended.set()
        if looking.is_alive():
            looking.join()
        line.clear()


class Progress:
    """What is known of work that goes on, and the line that says so."""

    def __init__(self, total: int, doing: str = "checking", *, shows: bool) -> None:
        self.shows = shows
        self._doing = doing
        self._writing = threading.Lock()
        self._total = total
        self._done = 0
        self._began = time.monotonic()
        self._shown = 0.0
        self._working: dict[str, str] = {}
        """The files that are being checked and their kernels, in the order in which they were begun."""

    def hear(self, message: Mapping[str, Any]) -> None:
        """Take which file and kernel are worked on: words of a process that ran somebody's kernel."""
        path, kernel = message.get("path"), message.get("kernel", "")
        if isinstance(path, str) and isinstance(kernel, str):
            self._working[path] = kernel
            self.look()

    def advance(self, path: str = "") -> None:
        """Count a file that is done."""
        self._done += 1
        self._working.pop(path, None)
        self.look()

    def look(self) -> None:
        """Show the line now and then."""
        now = time.monotonic()
        is_awaited = self._total >= PARALLEL_FROM and self._done > 0
        if not self.shows or not (is_awaited or now - self._began >= _SHOWN_AFTER_S):
            return
        if now - self._shown >= _EVERY_S or self._done == self._total:
            self._shown = now
            self._show(self.text(now - self._began, shutil.get_terminal_size().columns - 1))

    def say(self, text: str) -> None:
        """Print a note above the line."""
        self.clear()
        with self._writing:
            sys.stderr.write(text)
            sys.stderr.flush()

    def look_until(self, ended: threading.Event) -> None:
        """Show the line again and again."""
        while not ended.wait(_LOOK_S):
            self.look()

    def clear(self) -> None:
        """Leave the line for what is printed."""
        if self._shown:
            self._show("")

    def text(self, spent: float, columns: int) -> str:
        """Return the line after so many seconds."""
        text = self._doing if self._total == 1 else f"{self._doing} {self._bar(spent)}:"
        for path, kernel in list(self._working.items())[:1]:
            place = terminal_line(path)
            what = f", kernel {terminal_line(kernel)}" if kernel else ""
            room = columns - len(text) - 1
            if len(what) > room - _LEAST:
                what = ""
            if room >= _LEAST:
                text += f" {_end_of(place, room - len(what))}{what}"
        return text[:columns].rstrip(":")

    def _bar(self, spent: float) -> str:
        """Return how many files are done, and about how long the others take."""
        full = _BAR * self._done // self._total
        text = f"[{'#' * full}{'-' * (_BAR - full)}] {self._done}/{self._total}"
        if not self._done:
            return text
        left = round(spent * (self._total - self._done) / self._done)
        return f"{text}, about {left // 60}:{left % 60:02d} left"

    def _show(self, text: str) -> None:
        """Put a text in the place of the line."""
        with self._writing:
            sys.stderr.write(f"\r\x1b[2K{text}")
            sys.stderr.flush()


def _end_of(path: str, columns: int) -> str:
    """Return a path, or its end if it is too long: that tells files apart."""
    return path if len(path) <= columns else f"…{path[1 - columns :]}"

"""How far a long check has come: one line at the terminal, which is gone when it ends."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from clmap_lsp.report.styles import understood

PARALLEL_FROM = 12
"""Below this many files, starting processes costs more than it saves, and nobody waits long."""
_EVERY_S = 0.1
_BAR = 30
"""Columns of the bar."""


@contextmanager
def progress(total: int) -> Iterator[Callable[[], None]]:
    """Yield what is to be called after each step.

    It shows on standard error, if that is a terminal and there is enough to wait for.
    """
    if total < PARALLEL_FROM or not sys.stderr.isatty() or not understood():
        yield lambda: None
        return
    line = _Line(total)
    try:
        yield line.advance
    finally:
        line.show("")


class _Line:
    def __init__(self, total: int) -> None:
        self._total = total
        self._done = 0
        self._began = time.monotonic()
        self._shown = 0.0

    def advance(self) -> None:
        """Count one step, and say so now and then."""
        self._done += 1
        now = time.monotonic()
        if now - self._shown >= _EVERY_S or self._done == self._total:
            self._shown = now
            self.show(self._text(now - self._began))

    def _text(self, spent: float) -> str:
        full = _BAR * self._done // self._total
        left = round(spent * (self._total - self._done) / self._done)
        bar = "#" * full + "-" * (_BAR - full)
        return f"checking [{bar}] {self._done}/{self._total}, about {left // 60}:{left % 60:02d} left"

    def show(self, text: str) -> None:
        """Put a text in the place of the line."""
        sys.stderr.write(f"\r\x1b[2K{text}")
        sys.stderr.flush()

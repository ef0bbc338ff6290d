"""The records as rules and hovers ask for them: each question is asked of the files once a process.

A database connection belongs to the thread that opened it, and an analysis must not wait for disks, so what
was answered is kept and a connection lives for one question only.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from clmap_lsp.aristotle.database import Layers
from clmap_lsp.aristotle.records import Measurement, Platform, StridePoint
from clmap_lsp.aristotle.shipped import open_database


class KnownRecords:
    """Shipped and user records. Any thread may ask.

    Records that are added while the process runs are seen for questions that were not asked before.
    """

    def __init__(self, source: Callable[[], Layers] = open_database) -> None:
        self._source = source
        self._answers: dict[object, list[Any]] = {}

    def platforms(self) -> list[Platform]:
        """Return all platforms, by name. Raises: DatabaseError."""
        return self._answer("platforms", {})

    def measurements(self, **where: str | int | bool) -> list[Measurement]:
        """Return the measurements whose fields have the given values. Raises: DatabaseError."""
        return self._answer("measurements", where)

    def strides(self, **where: str | int | bool) -> list[StridePoint]:
        """Return the stride points whose fields have the given values. Raises: DatabaseError."""
        return self._answer("strides", where)

    def _answer(self, question: str, where: dict[str, str | int | bool]) -> list[Any]:
        key = (question, *sorted(where.items()))
        if key not in self._answers:
            with self._source() as database:
                self._answers[key] = getattr(database, question)(**where)
        return self._answers[key]


@lru_cache(maxsize=2)
def known_records() -> KnownRecords:
    """Return the process's records; like all bounded caches, a server empties it where much is let go of."""
    return KnownRecords()

"""Records in memory, for a Python that was built without SQLite, or a cache folder that cannot be written."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, replace
from operator import attrgetter
from types import TracebackType
from typing import Any, Self

from clmap_lsp.aristotle.database import DatabaseError
from clmap_lsp.aristotle.records import (
    MEASUREMENT_KEY,
    STRIDE_KEY,
    Measurement,
    Platform,
    Record,
    StridePoint,
)

_KEYS: dict[type[Any], tuple[str, ...]] = {
    Platform: ("key",),
    Measurement: MEASUREMENT_KEY,
    StridePoint: STRIDE_KEY,
}


class Records:
    """Records that answer as a database of them does: the last of a key holds, all come by key."""

    def __init__(self, records: Iterable[Record]) -> None:
        found: dict[type[Any], dict[object, Any]] = {it: {} for it in _KEYS}
        by_key = {kind: attrgetter(*names) for kind, names in _KEYS.items()}
        floats = {kind: [it.name for it in fields(kind) if it.type == "float"] for kind in _KEYS}
        for it in records:
            kind = type(it)
            found[kind][by_key[kind](it)] = _with_six_digits(it, floats[kind])
        self._records = {
            kind: [them[key] for key in sorted(them, key=_as_sorted)] for kind, them in found.items()
        }

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Do nothing: no file is open."""

    def platforms(self) -> list[Platform]:
        """Return all platforms, by name."""
        return self._select(Platform, {})

    def measurements(self, **where: str | int | bool) -> list[Measurement]:
        """Return the measurements whose fields have the given values, by key."""
        return self._select(Measurement, where)

    def strides(self, **where: str | int | bool) -> list[StridePoint]:
        """Return the stride points whose fields have the given values, by key."""
        return self._select(StridePoint, where)

    def _select(self, kind: type[Any], where: dict[str, str | int | bool]) -> list[Any]:
        if unknown := set(where) - {it.name for it in fields(kind)}:
            raise DatabaseError(f"{kind.__name__.lower()} records have no field {sorted(unknown)[0]!r}")
        wanted = where.items()
        return [it for it in self._records[kind] if all(getattr(it, name) == value for name, value in wanted)]


def _with_six_digits(record: Any, names: Iterable[str]) -> Any:
    """Return a record as it comes out of a file, where figures have six digits: verdicts rest on those."""
    changed = {
        name: rounded
        for name in names
        if (rounded := float(f"{(value := getattr(record, name)):.6g}")) != value
    }
    return replace(record, **changed) if changed else record


def _as_sorted(key: object) -> tuple[object, ...]:
    # SQLite orders text by its bytes, which for UTF-8 is the order of its characters.
    return key if isinstance(key, tuple) else (key,)

"""The performance database: one SQLite file of platforms, measurements and stride sweeps.

The shipped database and the user's have the same schema. A record put again replaces the old one, so a
calibration that is run twice keeps the newer figures.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

from clmap_lsp.aristotle.records import (
    MEASUREMENT_KEY,
    STRIDE_KEY,
    Measurement,
    Platform,
    Record,
    StridePoint,
    as_row,
)
from clmap_lsp.reading import check_regular

try:
    import sqlite3

    HAS_SQLITE = True
except ImportError:  # Pythons are built without it where its headers are missing, and for browsers.
    HAS_SQLITE = False

SCHEMA_VERSION = 1

_TABLES: dict[type[Any], tuple[str, Sequence[str]]] = {
    Platform: ("platform", ("key",)),
    Measurement: ("measurement", MEASUREMENT_KEY),
    StridePoint: ("stride", STRIDE_KEY),
}
_STORED: dict[str, type | tuple[type, ...]] = {"str": str, "int": int, "float": (float, int), "bool": int}
"""What SQLite gives for a field; it stores what it is given, whatever the column's type is."""
_SQL_TYPES = {"str": "TEXT", "int": "INTEGER", "float": "REAL", "bool": "INTEGER"}


class DatabaseError(Exception):
    """The database cannot be used. One line that says why and what to do."""


class Source(Protocol):
    """Where records come from: one database, or several laid over each other."""

    def __hash__(self) -> int:
        """Databases are told apart by identity."""
        ...

    def platforms(self) -> list[Platform]:
        """Return all platforms, by name."""
        ...

    def measurements(self, **where: str | int | bool) -> list[Measurement]:
        """Return the measurements whose fields have the given values, by key."""
        ...

    def strides(self, **where: str | int | bool) -> list[StridePoint]:
        """Return the stride points whose fields have the given values, by key."""
        ...


class Database:
    """An open database. Use as a context manager, or close it.

    Args:
        path: the file, made if it is missing; None for one in memory.
        read_only: never write, not even the schema.
    Raises: DatabaseError if it is locked, corrupt, newer than this program, or not a database, or if this
        Python has no SQLite.
    """

    def __init__(self, path: Path | None, *, read_only: bool = False) -> None:
        self.path = path
        if not HAS_SQLITE:
            raise DatabaseError(
                f"{self._name}: cannot be used: this Python was built without SQLite (module sqlite3)"
            )
        with self._errors():
            if path is not None and path.exists():
                check_regular(path)
            if path is None:
                self._connection = sqlite3.connect(":memory:")
            elif read_only:
                self._connection = sqlite3.connect(
                    f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=2.0
                )
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                self._connection = sqlite3.connect(path, timeout=2.0)
            self._connection.row_factory = sqlite3.Row
            self._check_schema(read_only)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def put(self, records: Iterable[Record]) -> int:
        """Add records, replacing those with the same key, all or none. Returns how many."""
        count = 0
        with self._errors(), self._connection:
            for record in records:
                table, _ = _TABLES[type(record)]
                row = as_row(record)
                names = _quoted(row)
                marks = ", ".join("?" * len(row))
                self._connection.execute(
                    f"INSERT OR REPLACE INTO {table} ({names}) VALUES ({marks})", tuple(row.values())
                )
                count += 1
        return count

    def platforms(self) -> list[Platform]:
        """Return all platforms, by name."""
        return list(self._select(Platform, {}))

    def measurements(self, **where: str | int | bool) -> list[Measurement]:
        """Return the measurements whose fields have the given values, by key."""
        return list(self._select(Measurement, where))

    def strides(self, **where: str | int | bool) -> list[StridePoint]:
        """Return the stride points whose fields have the given values, by key."""
        return list(self._select(StridePoint, where))

    def keys(self, platform: str) -> set[tuple[object, ...]]:
        """Return the keys of a platform's measurements: what a calibration need not repeat."""
        return {it.key for it in self.measurements(platform=platform)}

    def _select(self, kind: type[Any], where: dict[str, str | int | bool]) -> Iterator[Any]:
        table, key = _TABLES[kind]
        known = {it.name for it in fields(kind)}
        if unknown := set(where) - known:
            raise DatabaseError(f"{table} records have no field {sorted(unknown)[0]!r}")
        condition = " AND ".join(f'"{name}" = ?' for name in where) or "1"
        with self._errors():
            rows = self._connection.execute(
                f"SELECT * FROM {table} WHERE {condition} ORDER BY {_quoted(key)}", tuple(where.values())
            ).fetchall()
        flags = [k for k, it in enumerate(fields(kind)) if str(it.type) == "bool"]
        types = tuple(_STORED[str(it.type)] for it in fields(kind))
        for row in rows:
            values = list(row)
            if not all(map(isinstance, values, types)):
                raise self._is_none(f"a {table} holds values of other types")
            for k in flags:
                values[k] = bool(values[k])
            yield kind(*values)

    def _check_schema(self, read_only: bool) -> None:
        if self._version() != SCHEMA_VERSION:
            with self._connection:  # Two programs may make a file at once: the second waits for the first.
                self._connection.execute("BEGIN" if read_only else "BEGIN IMMEDIATE")
                if self._version() != SCHEMA_VERSION:
                    self._make_tables(read_only)
        self._check_tables()

    def _version(self) -> int:
        (version,) = self._connection.execute("PRAGMA user_version").fetchone()
        if version > SCHEMA_VERSION:
            raise DatabaseError(
                f"{self._name}: made by a newer clmap-lsp (schema {version}, not {SCHEMA_VERSION});"
                " upgrade clmap-lsp or move the file away"
            )
        return int(version)

    def _make_tables(self, read_only: bool) -> None:
        (tables,) = self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if read_only or tables:
            raise DatabaseError(f"{self._name}: not a clmap-lsp database; name another file or move it away")
        for kind, (table, key) in _TABLES.items():
            columns = ", ".join(f'"{it.name}" {_SQL_TYPES[str(it.type)]} NOT NULL' for it in fields(kind))
            self._connection.execute(
                f"CREATE TABLE {table} ({columns}, PRIMARY KEY ({_quoted(key)})) WITHOUT ROWID"
            )
        self._connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")

    def _check_tables(self) -> None:
        """Refuse a file in which names of tables stand for something else.

        A view may have rows without end, a trigger or a computed column may run anything of SQL's.
        """
        found = self._connection.execute("SELECT type, name FROM sqlite_master").fetchall()
        made = {(kind, name) for kind, name in found if not str(name).startswith("sqlite_")}
        if made != {("table", table) for table, _ in _TABLES.values()}:
            raise self._is_none("it has other tables, views or triggers")
        for kind, (table, _) in _TABLES.items():
            columns = self._connection.execute(f"PRAGMA table_xinfo({table})").fetchall()
            if [(it["name"], it["hidden"]) for it in columns] != [(it.name, 0) for it in fields(kind)]:
                raise self._is_none(f"its table {table} has other columns")

    def _is_none(self, why: str) -> DatabaseError:
        return DatabaseError(
            f"{self._name}: no database of clmap-lsp ({why}); name another file or move it away"
        )

    @property
    def _name(self) -> str:
        return "the database in memory" if self.path is None else str(self.path)

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.OperationalError as error:
            if "locked" in str(error) or "busy" in str(error):
                raise DatabaseError(
                    f"{self._name}: another program is using it; try again when it is done"
                ) from (error)
            raise DatabaseError(f"{self._name}: cannot be used ({error})") from error
        except sqlite3.DatabaseError as error:
            raise DatabaseError(
                f"{self._name}: damaged or not a database ({error}); move it away and measure or import again"
            ) from error
        except OSError as error:
            raise DatabaseError(f"{self._name}: {(error.strerror or str(error)).lower()}") from error


def _quoted(names: Iterable[str]) -> str:
    # `group` and `order` are SQL's words too.
    return ", ".join(f'"{it}"' for it in names)


class Open(Source, Protocol):
    """A source that is open, until it is closed."""

    def close(self) -> None:
        """Let go of its file."""
        ...


class Layers:
    """Several databases as one: where two have a record of the same key, the later one's holds."""

    def __init__(self, *layers: Open) -> None:
        self._layers = layers

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close all."""
        for layer in self._layers:
            layer.close()

    def platforms(self) -> list[Platform]:
        """Return all platforms, by name."""
        found = {it.key: it for layer in self._layers for it in layer.platforms()}
        return [found[key] for key in sorted(found)]

    def measurements(self, **where: str | int | bool) -> list[Measurement]:
        """Return the measurements whose fields have the given values."""
        return list({it.key: it for layer in self._layers for it in layer.measurements(**where)}.values())

    def strides(self, **where: str | int | bool) -> list[StridePoint]:
        """Return the stride points whose fields have the given values."""
        return list({it.key: it for layer in self._layers for it in layer.strides(**where)}.values())

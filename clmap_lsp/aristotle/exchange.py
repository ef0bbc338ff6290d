"""Databases as files for people and other programs: CSV (one kind of record a file) and JSON (all)."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from clmap_lsp.aristotle.database import SCHEMA_VERSION, Database, DatabaseError, Source
from clmap_lsp.aristotle.records import Measurement, Platform, Record, StridePoint, as_row, from_row
from clmap_lsp.reading import DATA_BYTES, reason, safe_read
from clmap_lsp.strange_json import parsed

KINDS: dict[str, type[Any]] = {"platforms": Platform, "measurements": Measurement, "strides": StridePoint}


def to_csv(records: Sequence[Record]) -> str:
    """Return records of one kind as CSV with a header."""
    if not records:
        return ""
    out = io.StringIO()
    writer = csv.DictWriter(out, [it.name for it in fields(records[0])], lineterminator="\n")
    writer.writeheader()
    writer.writerows(as_row(it) for it in records)
    return out.getvalue()


def from_csv(text: str, name: str) -> list[Record]:
    """Return the records of a CSV file; its header says of which kind.

    Raises: DatabaseError with file and line.
    """
    reader = csv.DictReader(io.StringIO(text))
    header = set(reader.fieldnames or ())
    kind = next((it for it in KINDS.values() if header == {f.name for f in fields(it)}), None)
    if kind is None:
        raise DatabaseError(
            f"{name}:1: the header is none of platforms, measurements or strides"
            " (clmap-lsp db export shows how they look)"
        )
    records: list[Record] = []
    for row in reader:
        try:
            records.append(from_row(kind, row))
        except ValueError as error:
            raise DatabaseError(f"{name}:{reader.line_num}: {error}") from error
    return records


def from_compact(text: str, name: str) -> list[Record]:
    """Return the measurements of a composed-kernel table: one row a combination, one column an approach.

    Its columns are platform, maps, size, cache, runs, radius, then approaches such as `max+naive` that hold
    median bandwidths. 0 means that the kernel was not run or failed.
    Raises: DatabaseError with file and line.
    """
    records: list[Record] = []
    reader = csv.DictReader(io.StringIO(text))
    approaches = [it for it in reader.fieldnames or () if "+" in it]
    for row in reader:
        try:
            for approach in approaches:
                rate = float(row[approach] or 0)
                if rate:
                    records.append(_composed(row, approach, rate))
        except (KeyError, ValueError) as error:
            raise DatabaseError(f"{name}:{reader.line_num}: {error}") from error
    return records


def to_json(database: Source) -> str:
    """Return a whole database as one JSON document."""
    document = {
        "schema": SCHEMA_VERSION,
        "platforms": [as_row(it) for it in database.platforms()],
        "measurements": [as_row(it) for it in database.measurements()],
        "strides": [as_row(it) for it in database.strides()],
    }
    return json.dumps(document, indent=1) + "\n"


def from_json(text: str, name: str) -> list[Record]:
    """Return the records of a JSON document.

    Raises: DatabaseError with file and place.
    """
    try:
        document = parsed(text)
    except json.JSONDecodeError as error:
        raise DatabaseError(f"{name}:{error.lineno}:{error.colno}: not JSON: {error.msg}") from error
    except ValueError as error:
        raise DatabaseError(f"{name}: not JSON: {error}") from error
    if not isinstance(document, dict) or document.get("schema") != SCHEMA_VERSION:
        raise DatabaseError(f'{name}: not an exported database of schema {SCHEMA_VERSION} (key "schema")')
    records: list[Record] = []
    for label, kind in KINDS.items():
        for number, row in enumerate(document.get(label, [])):
            try:
                records.append(from_row(kind, row))
            except (ValueError, TypeError) as error:
                raise DatabaseError(f"{name}: {label}[{number}]: {error}") from error
    return records


def read_records(paths: Iterable[Path]) -> list[Record]:
    """Return the records of CSV, JSON or SQLite files, by their suffix.

    Raises: DatabaseError for a file that cannot be read, with the place.
    """
    records: list[Record] = []
    for path in paths:
        if path.suffix in (".sqlite", ".db"):
            with Database(path, read_only=True) as other:
                records += [*other.platforms(), *other.measurements(), *other.strides()]
            continue
        try:
            text = safe_read(path, limit=DATA_BYTES, within=None).decode()
        except OSError as error:
            raise DatabaseError(f"{path}: {reason(error)}") from error
        except UnicodeDecodeError as error:
            raise DatabaseError(f"{path}: not UTF-8 text (byte {error.start + 1})") from error
        try:
            records += _from_text(path, text)
        except csv.Error as error:
            raise DatabaseError(f"{path}: not a table: {error}") from error
    return records


def _from_text(path: Path, text: str) -> list[Record]:
    if path.suffix == ".json":
        return from_json(text, str(path))
    if path.stem.startswith("composed"):
        return from_compact(text, str(path))
    return from_csv(text, str(path))


def _composed(row: dict[str, str], approach: str, rate: float) -> Measurement:
    return Measurement(
        platform=row["platform"],
        maps=row["maps"],
        approach=approach,
        padded=False,
        size=int(row["size"]),
        element="float",
        group="16x16",
        radius=row["radius"],
        cache=row["cache"],
        runs=int(row["runs"]),
        mean=rate,
        deviation=0.0,
        minimum=rate,
        median=rate,
        maximum=rate,
        half_width=0.0,
        overhead_share=0.0,
        verified=True,
    )

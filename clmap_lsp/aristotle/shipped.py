"""Where databases are: the one that comes with the package, and the user's own.

The repository holds the shipped records as CSV, so that a change of a figure can be read in a diff. Building
a wheel makes the SQLite file from them and puts it into the package (`hatch_build.py`). In a checkout it is
made once and kept in the user's cache folder, named by a hash of the CSV files. A Python without SQLite reads
the CSV files themselves, which the package holds too.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from functools import cache
from pathlib import Path

from clmap_lsp.aristotle.database import HAS_SQLITE, SCHEMA_VERSION, Database, DatabaseError, Layers
from clmap_lsp.aristotle.exchange import read_records
from clmap_lsp.aristotle.in_memory import Records
from clmap_lsp.reading import DATA_BYTES, safe_read

DATA_FOLDER = Path(__file__).with_name("data")
PACKAGED = DATA_FOLDER / "performance.sqlite"
"""Made by the wheel's build; never in a checkout."""


def user_database_path() -> Path:
    """Return the user's own database; `CLMAP_DATABASE` names another."""
    if named := os.environ.get("CLMAP_DATABASE"):
        return Path(named)
    import platformdirs

    return Path(platformdirs.user_data_dir("clmap-lsp", appauthor=False)) / "performance.sqlite"


def open_user_database() -> Database:
    """Open the user's own database for writing, made if it is missing.

    Raises: DatabaseError.
    """
    return Database(user_database_path())


def open_shipped_database() -> Database | Records:
    """Open the shipped records, read-only. In memory where there is no SQLite, or no cache folder to write.

    Raises: DatabaseError if a data file is damaged.
    """
    if not HAS_SQLITE:
        return _in_memory()
    if PACKAGED.exists():
        return Database(PACKAGED, read_only=True)
    path = _cached_file()
    if path.exists():
        try:
            return Database(path, read_only=True)
        except DatabaseError:
            path.unlink(missing_ok=True)  # A cache: damaged means make it again.
    try:
        build(path)
        return Database(path, read_only=True)
    except OSError:
        return _in_memory()


@cache
def _in_memory() -> Records:
    # Once a process: every question opens the database, and reading the files takes a tenth of a second.
    return Records(read_records(_data_files()))


def open_database() -> Layers:
    """Open shipped and user records together; the user's hold where both have one.

    Raises: DatabaseError.
    """
    user = user_database_path()
    own = [Database(user, read_only=True)] if HAS_SQLITE and user.exists() else []
    return Layers(open_shipped_database(), *own)


def build(path: Path) -> None:
    """Make the SQLite file from the CSV files: beside its place, then moved there, so nobody sees half of it.

    Raises: OSError if the place cannot be written, DatabaseError if a data file is damaged.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
    os.close(handle)
    temporary = Path(name)
    try:
        with Database(temporary) as database:
            database.put(read_records(_data_files()))
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _data_files() -> list[Path]:
    return sorted(DATA_FOLDER.glob("*.csv"))


@cache
def _cached_file() -> Path:
    import platformdirs

    digest = hashlib.sha256(str(SCHEMA_VERSION).encode())
    for path in _data_files():
        digest.update(path.name.encode() + b"\0" + safe_read(path, limit=DATA_BYTES, within=None))
    folder = Path(platformdirs.user_cache_dir("clmap-lsp", appauthor=False))
    return folder / f"performance-{digest.hexdigest()[:16]}.sqlite"

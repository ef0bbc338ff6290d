"""Shows that a change of the code changes no result: dumps what the command line prints, and compares dumps.

    python -m benchmarks.differential dump before.jsonl                     all of fixtures/
    python -m benchmarks.differential dump before.jsonl --corpus DIR --sample 20
                                                            and every 20th file below DIR
    python -m benchmarks.differential compare before.jsonl after.jsonl

Of every file: the findings (`check`), every access with its counts (`analyze`) and, for fixtures, the run of
every kernel (`emulate`). Each file is read in a process of its own, so that no cache of another file and no
crash has a say. Seconds are left out, as are runs that a limit ended: they depend on the machine.
`PYTHONHASHSEED=1` and `=2` before two dumps show that nothing hangs on the order of hashes.
Exit code of `compare`: 0 if equal, 1 with the differences listed.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import resource
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from clmap_lsp.cli import main as clmap
from clmap_lsp.commands.files import SUFFIXES

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
CPU_SECONDS = 60
"""Of one file; what takes longer is not compared."""
MAX_LISTED = 40
_OUTSIDE = frozenset({"seconds"})
Document = Any


def main(arguments: list[str] | None = None) -> int:
    """Run from the command line; return the exit code."""
    options = _arguments(arguments)
    if options.command == "dump":
        _dump(options)
        return 0
    differences = list(compare(_read(options.before), _read(options.after)))
    for line in differences[:MAX_LISTED]:
        print(line)
    if len(differences) > MAX_LISTED:
        print(f"... and {len(differences) - MAX_LISTED} more")
    print(f"{len(differences)} differences")
    return 1 if differences else 0


def _arguments(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.differential",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True)
    dump = commands.add_parser("dump")
    dump.add_argument("output", type=Path)
    dump.add_argument("--corpus", type=Path, action="append", default=[], metavar="DIR")
    dump.add_argument("--sample", type=int, default=1, metavar="N", help="every N-th file of a corpus")
    dump.add_argument("--no-fixtures", action="store_true")
    dump.add_argument("--device", action="append", help="default: generic-gpu and nvidia-hopper")
    both = commands.add_parser("compare")
    both.add_argument("before", type=Path)
    both.add_argument("after", type=Path)
    return parser.parse_args(arguments)


# ---------------------------------------------------------------------------------------------------- dump


def _dump(options: argparse.Namespace) -> None:
    devices = options.device or ["generic-gpu", "nvidia-hopper"]
    with options.output.open("w", encoding="utf-8") as output:
        for name, path, is_fixture in _files(options):
            for command, document in _isolated(path, devices, is_fixture):
                line = {"file": name, "command": command, "document": document}
                output.write(json.dumps(line, sort_keys=True) + "\n")


def _files(options: argparse.Namespace) -> Iterator[tuple[str, Path, bool]]:
    """Yield (name in the dump, path, whether it is a fixture)."""
    if not options.no_fixtures:
        for path in sorted(FIXTURES.rglob("*.cl")):
            yield f"fixtures/{path.relative_to(FIXTURES)}", path, True
    for folder in options.corpus:
        for path in sorted(it for it in folder.rglob("*") if it.suffix in SUFFIXES and it.is_file()):
            name = str(path.relative_to(folder))
            if zlib.crc32(name.encode()) % options.sample == 0:
                yield name, path, False


def _isolated(path: Path, devices: list[str], is_fixture: bool) -> list[tuple[str, Document]]:
    """Return the documents of one file, made in a child process."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
        with os.fdopen(writing, "w", encoding="utf-8") as pipe:
            json.dump(list(_documents(path, devices, is_fixture)), pipe)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8") as pipe:
        text = pipe.read()
    _, status = os.waitpid(child, 0)
    if status:
        return [("all", {"ended by": os.waitstatus_to_exitcode(status)})]
    return [(command, document) for command, document in json.loads(text)]


def _documents(path: Path, devices: list[str], is_fixture: bool) -> Iterator[tuple[str, Document]]:
    os.chdir(path.parent)
    for device in devices if is_fixture else devices[:1]:
        check = ["check", path.name, "--format", "json", "--device", device]
        yield f"check on {device}", _output([*check, "--no-emulate"])
        document = _output(["analyze", path.name, "--format", "json", "--device", device])
        yield f"analyze on {device}", document
        if not is_fixture:
            continue
        yield f"check --emulate on {device}", _output([*check, "--emulate"])
        for name in [it["name"] for file in document["files"] for it in file["kernels"]]:
            run = ["emulate", path.name, "--kernel", name, "--format", "json", "--device", device]
            yield f"emulate {name} on {device}", _output(run)


def _output(arguments: list[str]) -> Document:
    """Return the JSON that a command prints, without what depends on the machine; else its error."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = clmap(arguments)
    if code == 2 and not out.getvalue():
        return {"error": err.getvalue()}
    document = _without_seconds(json.loads(out.getvalue()))
    if isinstance(document, dict) and document.get("stopped"):
        return {"limit": "ended by a limit"}
    return document


def _without_seconds(value: Document) -> Document:
    match value:
        case dict():
            return {key: _without_seconds(it) for key, it in value.items() if key not in _OUTSIDE}
        case list():
            return [_without_seconds(it) for it in value]
        case _:
            return value


# ------------------------------------------------------------------------------------------------- compare


def _read(path: Path) -> dict[tuple[str, str], Document]:
    with path.open(encoding="utf-8") as lines:
        parsed = [json.loads(it) for it in lines]
    return {(it["file"], it["command"]): it["document"] for it in parsed}


def compare(before: dict[tuple[str, str], Document], after: dict[tuple[str, str], Document]) -> Iterator[str]:
    """Yield one line for every place at which two dumps differ."""
    for key in sorted(before.keys() | after.keys()):
        where = f"{key[0]}: {key[1]}"
        if key not in before or key not in after:
            yield f"{where}: only {'after' if key in after else 'before'}"
        else:
            yield from (f"{where}: {it}" for it in _differences("", before[key], after[key]))


def _differences(where: str, before: Document, after: Document) -> Iterator[str]:
    match before, after:
        case dict(), dict():
            for key in sorted(before.keys() | after.keys()):
                absent = "(absent)"
                yield from _differences(f"{where}.{key}", before.get(key, absent), after.get(key, absent))
        case list(), list() if len(before) == len(after):
            for n, (one, two) in enumerate(zip(before, after, strict=True)):
                yield from _differences(f"{where}[{n}]", one, two)
        case _ if before != after:
            yield f"{where}: {_short(before)} -> {_short(after)}"
        case _:
            pass


def _short(value: Document) -> str:
    text = json.dumps(value)
    return text if len(text) <= 160 else text[:157] + "..."


if __name__ == "__main__":
    sys.exit(main())

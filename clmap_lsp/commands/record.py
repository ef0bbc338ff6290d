"""`clmap-lsp record -- PROGRAM …`: write what any program launches."""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from clmap_lsp.errors import UsageError
from clmap_lsp.reading import DATA_BYTES, safe_read

_EXAMPLES = """\
examples:
  clmap-lsp record -- ./program --size 1024
  clmap-lsp record -o run.clrec -- python demo.py
  clmap-lsp check kernels/ --recorded run.clrec
  clmap-lsp check --recorded run.clrec           the kernels that were built, wherever their text came from
"""


def register(subparsers: Any) -> None:
    """Add the parser."""
    parser = subparsers.add_parser(
        "record",
        help="write down what a program launches",
        description="Run any program with an OpenCL layer under it that writes down the sources it builds, "
        "with their options, and every launch with its sizes and arguments. A killed program loses nothing.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("-o", "--output", default="clmap.clrec", metavar="FILE", help="default: clmap.clrec")
    parser.add_argument("program", nargs=argparse.REMAINDER, metavar="-- PROGRAM", help="and its arguments")


def run(args: argparse.Namespace) -> int:
    """Run the command and return the program's exit code, 128 and the signal's number if it was killed."""
    from platformdirs import user_cache_path

    from clmap_lsp.recording.build import layer
    from clmap_lsp.recording.output import check_output

    command = args.program[1:] if args.program[:1] == ["--"] else args.program
    if not command:
        raise UsageError("nothing to record; write clmap-lsp record -- PROGRAM ARGUMENTS")
    if os.name != "posix":
        raise UsageError("recording needs the OpenCL loader of Linux or another Unix")
    output = Path(args.output).absolute()
    before = os.environ.get("OPENCL_LAYERS")
    with _kept(user_cache_path("clmap-lsp") / "layer") as folder:
        own = str(layer(folder))
        layers = f"{before}:{own}" if before else own
        check_output(Path(args.output), f"-o {args.output}")
        output.unlink()
        environment = {**os.environ, "OPENCL_LAYERS": layers, "CLMAP_RECORD": str(output)}
        try:
            code = subprocess.run(command, env=environment, check=False).returncode
        except OSError as error:
            raise UsageError(f"{command[0]}: {(error.strerror or str(error)).lower()}") from None
    _report(output)
    if code > 0:
        sys.stderr.write(f"clmap-lsp: the program ended with exit code {code}\n")
    if code < 0:
        sys.stderr.write(f"clmap-lsp: the program was ended by {signal.Signals(-code).name}\n")
        return 128 - code
    return code


@contextmanager
def _kept(folder: Path) -> Iterator[Path]:
    """Give a folder to keep the layer in; one for this run where the user has none, as in many containers."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        writable = os.access(folder, os.W_OK)
    except OSError:
        writable = False
    if writable:
        yield folder
        return
    with tempfile.TemporaryDirectory(prefix="clmap-layer-") as temporary:
        yield Path(temporary)


def _report(output: Path) -> None:
    from clmap_lsp.recording import RecordingError, read_recording

    try:
        data = safe_read(output, limit=DATA_BYTES, within=None)
        recording = read_recording(data.decode("utf-8", "replace"), str(output))
    except (OSError, RecordingError):
        sys.stderr.write(
            "clmap-lsp: nothing was recorded: the program made no OpenCL program from source, or its OpenCL "
            "loader knows no layers (OPENCL_LAYERS)\n"
        )
        return
    names = {it.kernel for it in recording.launches}
    times = sum(it.times for it in recording.launches)
    sys.stderr.write(
        f"{output.name}: {_many(times, 'launch', 'launches')} of {_many(len(names), 'kernel')}, "
        f"{len(recording.launches)} of them different, {_many(len(recording.sources), 'program')}\n"
    )


def _many(count: int, noun: str, several: str = "") -> str:
    return f"{count} {noun if count == 1 else several or noun + 's'}"

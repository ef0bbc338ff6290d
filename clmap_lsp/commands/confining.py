"""Where commands run kernels: in a confined copy of their process, or in their own if a person says so."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from clmap_lsp.errors import UsageError
from clmap_lsp.escaping import terminal, terminal_lines
from clmap_lsp.workspace import scope_of

if TYPE_CHECKING:
    from clmap_lsp.config import Settings
    from clmap_lsp.worker.forked import Terms

_BASE_MIB = 2048
"""What reading and analysing a file may take beside the launches."""


def add_sandbox_option(parser: argparse._ActionsContainer) -> None:
    """Add `--no-sandbox`."""
    parser.add_argument(
        "--no-sandbox",
        action="store_true",
        help="run kernels in this process, where the system cannot confine another one",
    )


def terms(
    args: argparse.Namespace, files: Iterable[tuple[str, Settings]], *, runs_kernels: bool = True
) -> Terms:
    """Return what a process may use that reads files with their settings, and the options."""
    from clmap_lsp.worker.forked import Terms
    from clmap_lsp.worker.tasks import user_folders

    files = list(files)
    readable: dict[str, None] = dict.fromkeys([*user_folders(), *_named(args)])
    seen: set[tuple[Path, tuple[str, ...]]] = set()
    most_mib = 0
    for path, settings in files:
        most_mib = max(most_mib, settings.emulate.memory_limit_mib)
        key = (Path(path).absolute().parent, settings.opened)
        if key in seen:
            continue
        seen.add(key)
        # Not what the configuration of a repository names: it may be anywhere.
        readable |= dict.fromkeys(scope_of(path, settings.opened).roots)
        if settings.recorded_within is None and settings.recorded is not None:
            readable[settings.recorded] = None
    readable |= dict.fromkeys(path for path, _ in files if Path(path).is_symlink())
    return Terms(tuple(readable), _BASE_MIB + 2 * most_mib, runs_kernels=runs_kernels)


def _named(args: argparse.Namespace) -> list[str]:
    """Return the files and folders that options name."""
    options = vars(args)
    found = [options.get(it) for it in ("config", "sim", "recorded", "previous", "baseline")]
    found += [*options.get("includes", ()), *options.get("prelude", ())]
    contents = [it.partition("=")[2] for it in options.get("arguments", ())]
    found += [it.removeprefix("file:") for it in contents if it.startswith("file:")]
    found += [it.rpartition(",file:")[2].rstrip(")") for it in contents if ",file:" in it]
    return [it for it in found if it]


def confined(
    args: argparse.Namespace,
    files: Iterable[tuple[str, Settings]],
    work: Callable[[], dict[str, object]],
    hears: Callable[[Mapping[str, Any]], None] | None = None,
) -> dict[str, object]:
    """Do something that runs kernels; what it returns is plain data.

    Args:
        hears: takes what the work tells before it ends (`worker.told.tell`).
    Raises: UsageError that it raises, where it is lost, or where kernels are not run here.
    """
    from clmap_lsp.worker import forked
    from clmap_lsp.worker.told import heard_by

    if args.no_sandbox:
        with heard_by(hears):
            return work()
    if not forked.offered():
        raise forked.refusal()
    warm()
    try:
        return dict(forked.once(work, replace(terms(args, files), hears=hears)))
    except forked.LostError as error:
        raise UsageError(f"the process that ran the kernel {error}") from None


def warm() -> None:
    """Load what runs kernels, and compile what is our own of it, while it can still be kept."""
    from clmap_lsp.worker.tasks import warm as load

    load()


def printed(args: argparse.Namespace, found: dict[str, object]) -> int:
    """Print the `text` and `notes` that came of a command in another process, and return its exit `code`."""
    for note in cast("list[str]", found.get("notes", [])):
        sys.stderr.write(terminal(f"clmap-lsp: {note}\n"))
    text = str(found["text"])
    sys.stdout.write(text if getattr(args, "format", "") == "json" else terminal_lines(text))
    code = found["code"]
    return code if isinstance(code, int) else 2

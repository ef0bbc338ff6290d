"""One kernel of one file with its launch, for the commands that rewrite it."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from clmap_lsp.commands.options import SettingsSource, open_file
from clmap_lsp.errors import UsageError

if TYPE_CHECKING:
    from clmap_lsp.emulator.settings import EmulationSettings
    from clmap_lsp.fixes.model import Subject


def asked(args: argparse.Namespace) -> tuple[Subject, EmulationSettings]:
    """Return the kernel that `FILE` and `--kernel` name, analysed on its launch.

    Raises: UsageError if there is no such file, kernel or launch.
    """
    from clmap_lsp.sources import UnreadableError, read_source, read_standard_input
    from clmap_lsp.workbench import Workbench

    name = args.stdin_filename or "<stdin>" if args.path == "-" else args.path
    try:
        text = read_standard_input(name) if args.path == "-" else read_source(args.path)
    except UnreadableError as error:
        raise UsageError(str(error)) from None
    opened = open_file(Workbench(), args, SettingsSource(args).for_path(Path(name)), name, text)
    kernel = opened.kernel(args.kernel)
    opened.launch(kernel)
    analysis = next(it for it in opened.analysis.kernels if it.name == kernel.name)
    return opened.subject(analysis), opened.emulation_settings()

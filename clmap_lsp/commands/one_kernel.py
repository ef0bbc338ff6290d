"""One kernel of one file with its launch, for the commands that rewrite it."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from clmap_lsp.commands.confining import confined, printed
from clmap_lsp.commands.options import asked_file, open_file, refused

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from clmap_lsp.config import Settings
    from clmap_lsp.emulator.settings import EmulationSettings
    from clmap_lsp.fixes.model import Subject


def printed_of(
    args: argparse.Namespace,
    work: Callable[[Subject, EmulationSettings], str],
    hears: Callable[[Mapping[str, Any]], None] | None = None,
) -> int:
    """Print what `work` makes of the kernel that `FILE` and `--kernel` name, analysed on its launch.

    Kernels run in another process, if the system can confine one.

    Args:
        hears: takes what the work tells before it ends.

    Raises: UsageError if there is no such file, kernel or launch, or kernels are not run here.
    """
    name, text, settings = asked_file(args)

    def answered() -> dict[str, object]:
        subject, emulation, notes = _asked(args, settings, name, text)
        return {"text": work(subject, emulation), "code": 0, "notes": notes}

    return printed(args, confined(args, [(name, settings)], answered, hears))


def _asked(
    args: argparse.Namespace, settings: Settings, name: str, text: str
) -> tuple[Subject, EmulationSettings, list[str]]:
    from clmap_lsp.workbench import Workbench

    opened = open_file(Workbench(), args, settings, name, text)
    kernel = opened.kernel(args.kernel)
    launch = opened.launch(kernel)
    analysis = next(it for it in opened.analysis.kernels if it.name == kernel.name)
    notes = refused(opened, kernel.name, launch)
    return opened.subject(analysis), opened.emulation_settings(), notes

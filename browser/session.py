"""What the page asks of clmap-lsp in the browser: commands as on a command line, and the pictures' data."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shlex
from pathlib import Path
from typing import Any

from clmap_lsp.analysis.model import KernelAnalysis
from clmap_lsp.cli import main
from clmap_lsp.devices.model import DeviceModel
from clmap_lsp.report.html_lanes import Picture, pictures

FOLDER = Path("/kernels")
NAME = "kernel.cl"
PICTURES = 8
"""A kernel's costliest ways of walking memory are drawn, no more."""


def look(source: str, device: str, options: str) -> str:
    """Return what the commands say as JSON: text and JSON of `check`, JSON of `analyze`, pictures.

    Args:
        options: launch and build options as on a command line, such as `--global 1024 --arg N=1024`.
    """
    FOLDER.mkdir(exist_ok=True)
    os.chdir(FOLDER)
    # Half of a pair, which a text field may hold, is no character: it is read as one that is unknown.
    Path(NAME).write_bytes(source.encode("utf-8", "replace"))
    try:
        given = ["--device", device, *shlex.split(options)]
    except ValueError as error:
        return json.dumps({"problem": f"options: {str(error).lower()}"})
    analysed, problem, code = command("analyze", NAME, *given, "--format", "json")
    if code == 2 and not analysed:
        return json.dumps({"problem": problem})
    if not analysed.startswith("{"):  # `--help` and the like print something else.
        return json.dumps({"problem": f"options: {options.strip()} cannot be used here"})
    checked, problem, _ = command("check", NAME, *given, "--format", "json")
    said, _, _ = command("check", NAME, *given, "--format", "full", "--color", "never")
    return json.dumps(
        {
            "problem": problem,
            "said": said,
            "check": checked,
            "analysis": analysed,
            "pictures": {} if problem else _pictures(given),
        }
    )


def command(*arguments: str) -> tuple[str, str, int]:
    """Run one command line. Returns what it printed, what it said on standard error, and its exit code."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main(list(arguments))
        except SystemExit as ended:  # argparse: an option that it does not know
            code = ended.code if isinstance(ended.code, int) else 2
    return out.getvalue(), err.getvalue(), code


def _pictures(given: list[str]) -> dict[str, list[dict[str, Any]]]:
    analysed = _analysis(given)
    return {
        kernel.name: [_picture(it) for it in pictures(kernel.accesses, kernel.launch, device, PICTURES)[0]]
        for kernel, device in analysed
    }


def _analysis(given: list[str]) -> list[tuple[KernelAnalysis, DeviceModel]]:
    """Return the kernels as `analyze` sees them: the same options go the same way."""
    from clmap_lsp.commands.options import SettingsSource, open_file
    from clmap_lsp.commands.parser import build_parser
    from clmap_lsp.workbench import Workbench

    arguments = ["analyze", NAME, *given]
    args = build_parser(arguments)[0].parse_args(arguments)
    settings = SettingsSource(args).for_path(Path(NAME))
    opened = open_file(Workbench(), args, settings, NAME, Path(NAME).read_text(encoding="utf-8"))
    return [(it, opened.device) for it in opened.analysis.kernels]


def _picture(it: Picture) -> dict[str, Any]:
    return {
        "accesses": [access.access.place_text for access in it.accesses],
        "caption": it.caption,
        "lanes": it.lanes,
        "elementBytes": it.element_bytes,
        "granule": it.granule,
        "banks": it.banked.banks if it.banked else None,
        "bankBytes": it.banked.bank_bytes if it.banked else None,
    }

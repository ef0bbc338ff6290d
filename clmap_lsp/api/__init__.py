"""The Python API, for notebooks and scripts.

    import clmap_lsp

    report = clmap_lsp.analyze(source, global_size=(256, 256), local_size=(16, 16), args={"N": 256})
    kernel = report["mm"]
    kernel.sectors_per_request, kernel.time, kernel.picture("A"), kernel.fixes()
    clmap_lsp.emulate(source, kernel="mm", ...).psl

Figures are those of the command line; every object shows itself in a notebook, and `to_dict()` gives the JSON
of the command-line contract.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from clmap_lsp.api import given
from clmap_lsp.api.emulation import Emulation
from clmap_lsp.api.fixes import KernelFix
from clmap_lsp.api.given import Arguments, Size
from clmap_lsp.api.pictures import AccessPicture
from clmap_lsp.api.reports import KernelReport, Report
from clmap_lsp.errors import UsageError

if TYPE_CHECKING:
    from clmap_lsp.workbench import OpenedFile

__all__ = [
    "AccessPicture",
    "Emulation",
    "KernelFix",
    "KernelReport",
    "Report",
    "UsageError",
    "analyze",
    "emulate",
]


def analyze(
    source: str | Path,
    *,
    global_size: Size | None = None,
    local_size: Size | None = None,
    args: Arguments | None = None,
    kernel: str | None = None,
    device: str | None = None,
    defines: Mapping[str, object] | None = None,
    include_dirs: str | Path | Sequence[str | Path] = (),
    standard: str | None = None,
) -> Report:
    """Analyse the kernels of a source.

    Where it is a file, its launches, device and build options come from the same places as on the command
    line: the arguments, the nearest `clmap.toml`, `// clmap:` comments, a `.sim` file beside it; what none of
    them says is inferred.

    Args:
        source: OpenCL C, or the path of a file.
        global_size, local_size: work-items in each dimension, dimension 0 first; inferred where missing.
        args: kernel arguments: scalars, or texts such as `"random(N*N)"` (see the command-line contract).
        kernel: look at this kernel only.
        device: a device model; `clmap-lsp devices` lists them.
        defines, include_dirs, standard: build options.

    Raises: UsageError for an argument that cannot be used, a file that cannot be read, or a kernel whose
        launch cannot be made.
    """
    from clmap_lsp.workbench.workbench import selection_of

    opened = _open(source, device, defines, include_dirs, standard, kernel, global_size, local_size, args)
    if kernel is not None:
        opened.kernel(kernel)
    problems = [problem for it in opened.analysis.kernels for problem in it.launch_problems]
    if problems:
        raise UsageError(problems[0])
    return Report(opened, opened.findings(selection_of(opened.settings)))


def emulate(
    source: str | Path,
    *,
    kernel: str | None = None,
    global_size: Size | None = None,
    local_size: Size | None = None,
    args: Arguments | None = None,
    device: str | None = None,
    defines: Mapping[str, object] | None = None,
    include_dirs: str | Path | Sequence[str | Path] = (),
    standard: str | None = None,
    time_limit_s: float | None = None,
    memory_limit_mib: int | None = None,
    sub_group_synchronous: int = 0,
) -> Emulation:
    """Run one kernel in the emulator. Arguments as for `analyze`; `kernel` may be left out if there is one.

    `time_limit_s` (10) says how much the launch may do, `memory_limit_mib` (1024) what it may take.

    `sub_group_synchronous` work-items in a row run in lockstep, as kernels expect that have no barriers
    within a warp.

    Raises: UsageError if there is no such kernel or its launch cannot be run.
    """
    from clmap_lsp.launch.problem import LaunchProblem

    opened = _open(source, device, defines, include_dirs, standard, kernel, global_size, local_size, args)
    names = [it.name for it in opened.program.kernels]
    if kernel is None and len(names) > 1:
        raise UsageError(f"say which kernel, as in kernel={names[0]!r}; there are: {', '.join(names)}")
    found = opened.kernel(kernel)
    launch = opened.launch(found)
    settings = opened.emulation_settings()
    if time_limit_s is not None:
        settings = replace(settings, time_limit_s=given.seconds(time_limit_s))
    if memory_limit_mib is not None:
        settings = replace(settings, memory_limit_mib=given.mebibytes(memory_limit_mib))
    settings = replace(settings, lockstep=given.lockstep(sub_group_synchronous))
    result = opened.run(found, launch, settings)
    if isinstance(result, LaunchProblem):
        raise UsageError(str(result))
    return Emulation(opened.program, launch, result)


def _open(
    source: str | Path,
    device: str | None,
    defines: Mapping[str, object] | None,
    include_dirs: str | Path | Sequence[str | Path],
    standard: str | None,
    kernel: str | None,
    global_size: Size | None,
    local_size: Size | None,
    args: Arguments | None,
) -> OpenedFile:
    from clmap_lsp.config import Settings
    from clmap_lsp.sources import UnreadableError, read_source
    from clmap_lsp.workbench import Workbench
    from clmap_lsp.workbench.configuration import Configurations, with_options

    if not isinstance(source, str | Path):
        raise UsageError(f"source is {type(source).__name__}: give OpenCL C as text, or a path")
    kernel = given.kernel(kernel)
    is_path = given.is_path(source)
    path = str(source) if is_path else "kernel.cl"
    try:
        text = read_source(path) if is_path else str(source)
    except UnreadableError as error:
        raise UsageError(str(error)) from None
    settings = with_options(
        Configurations().for_path(Path(path)) if is_path else Settings(),
        device=given.device(device),
        defines=given.defines(defines),
        include_dirs=given.folders(include_dirs),
        standard=given.standard(standard),
    )
    launch = given.launch(kernel, global_size, local_size, args)
    return Workbench().open_text(path, text, settings, given=launch, only=kernel, looks_beside=is_path)

"""The Python API, for notebooks and scripts.

    import clmap_lsp

    result = clmap_lsp.analyze(source, global_size=(256, 256), local_size=(16, 16), args={"N": 256})
    result["mm"].sectors_per_request
    clmap_lsp.emulate(source, kernel="mm", ...).psl

Figures are those of the command line; every object shows itself as a table in a notebook, and `to_dict()`
gives the JSON of the command-line contract.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clmap_lsp.errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from clmap_lsp.analysis.model import FileAnalysis, KernelAnalysis
    from clmap_lsp.emulator.result import EmulationResult, Fault
    from clmap_lsp.findings import Finding
    from clmap_lsp.launch.model import Launch
    from clmap_lsp.launch.partial import PartialLaunch
    from clmap_lsp.source.program import Program
    from clmap_lsp.workbench import OpenedFile

Size = int | Sequence[int]
Arguments = Mapping[str, "int | float | str"]


class KernelReport:
    """One kernel with its accesses and what they cost for its launch."""

    def __init__(self, program: Program, analysis: KernelAnalysis, findings: tuple[Finding, ...]) -> None:
        self._program = program
        self.analysis = analysis
        self.findings = findings
        """What the rules say about it."""

    @property
    def name(self) -> str:
        """The kernel's name."""
        return self.analysis.name

    @property
    def launch(self) -> Launch | None:
        """The launch that the figures hold for; `None` where none could be made."""
        return self.analysis.launch

    @property
    def sectors(self) -> int:
        """Sectors of global memory, loads and stores."""
        return self.analysis.totals.sectors

    @property
    def wavefronts(self) -> int:
        """Passes of local memory, loads and stores."""
        return self.analysis.totals.wavefronts

    @property
    def sectors_per_request(self) -> float | None:
        """Mean over global loads and stores; `None` without any."""
        totals = self.analysis.totals
        requests = totals.global_load.requests + totals.global_store.requests
        return totals.sectors / requests if requests else None

    @property
    def accesses(self) -> list[dict[str, Any]]:
        """The accesses, in source order, as in `analyze --format json`."""
        from clmap_lsp.report.analysis_json import access_json

        return [access_json(self._program, it) for it in self.analysis.accesses]

    def to_dict(self) -> dict[str, Any]:
        """Return the kernel as in `analyze --format json`."""
        from clmap_lsp.report.analysis_json import kernel_json

        return kernel_json(self._program, self.analysis)

    def __repr__(self) -> str:
        launch = self.launch.describe() if self.launch else "no launch"
        return f"<kernel {self.name}: {launch}, {self.sectors} sectors>"

    def _repr_html_(self) -> str:
        rows = []
        for it in self.analysis.accesses:
            cost = it.per_request
            shown = it.missing_cost if cost is None else f"{cost.mean:.4g} {cost.unit}"
            ideal = "" if cost is None else f"{cost.ideal:.4g}"
            share = "" if it.share is None else f"{it.share:.0%}"
            stride = "" if it.stride.text is None else f"{it.stride.text} bytes"
            where = self._program.position(it.access.span)
            rows.append(
                (
                    f"{where.row}:{where.column}",
                    it.access.direction.value,
                    it.access.place_text,
                    shown,
                    ideal,
                    share,
                    stride,
                )
            )
        launch = self.launch.describe() if self.launch else "; ".join(self.analysis.launch_problems)
        head = ("place", "", "access", "a request", "ideal", "traffic", "stride")
        return f"<h4>{html.escape(self.name)}</h4><p>{html.escape(launch)}</p>{_table(head, rows)}"


class Report:
    """The kernels of one source. Iterates over them; `report["name"]` picks one."""

    def __init__(self, program: Program, analysis: FileAnalysis, findings: tuple[Finding, ...]) -> None:
        self.program = program
        self.analysis = analysis
        self.findings = findings
        self.kernels = tuple(
            KernelReport(program, it, tuple(found for found in findings if found.kernel == it.name))
            for it in analysis.kernels
        )

    def __iter__(self) -> Iterator[KernelReport]:
        return iter(self.kernels)

    def __len__(self) -> int:
        return len(self.kernels)

    def __getitem__(self, name: str) -> KernelReport:
        for it in self.kernels:
            if it.name == name:
                return it
        known = ", ".join(it.name for it in self.kernels) or "none"
        raise KeyError(f"no kernel {name!r}; there are: {known}")

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON of `clmap-lsp analyze`."""
        from clmap_lsp.report.analysis_json import AnalysedFile, file_json

        file = AnalysedFile(self.program.path, self.program, self.analysis)
        return {"schema": 1, "device": self.analysis.device.id, "files": [file_json(file)]}

    def __repr__(self) -> str:
        return f"<report of {len(self)} kernels on {self.analysis.device.id}>"

    def _repr_html_(self) -> str:
        device = html.escape(self.analysis.device.name)
        return f"<p>on {device}</p>" + "".join(it._repr_html_() for it in self.kernels)


@dataclass(frozen=True, eq=False)
class Emulation:
    """One launch in the emulator: metrics, faults, buffers."""

    program: Program
    launch: Launch
    result: EmulationResult

    @property
    def psl(self) -> tuple[float, ...]:
        """Parallel spatial locality by dropped address bits, 0 to 10."""
        return tuple(self.result.metrics.psl)

    @property
    def faults(self) -> tuple[Fault, ...]:
        """What went wrong."""
        return self.result.faults

    def buffer(self, name: str) -> NDArray[np.uint8]:
        """Return a buffer after the launch, as bytes; `.view(np.float32)` and the like read its elements."""
        return self.result.buffers[name].data

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON of `clmap-lsp emulate`."""
        from clmap_lsp.report.emulation_json import emulation_json

        return emulation_json(self.program, self.launch, self.result)

    def __repr__(self) -> str:
        return f"<emulation of {self.result.kernel}: {len(self.faults)} faults, PSL {self.psl[0]:.3f}>"

    def _repr_html_(self) -> str:
        head = ("bits dropped", *map(str, range(len(self.psl))))
        curve = _table(head, [("PSL", *(f"{it:.3f}" for it in self.psl))])
        faults = "".join(f"<li>{html.escape(f'{it.kind.value}: {it.detail}')}</li>" for it in self.faults)
        title = f"<h4>{html.escape(self.result.kernel)}</h4><p>{html.escape(self.launch.describe())}</p>"
        return title + curve + (f"<ul>{faults}</ul>" if faults else "<p>no faults</p>")


def analyze(
    source: str | Path,
    *,
    global_size: Size | None = None,
    local_size: Size | None = None,
    args: Arguments | None = None,
    kernel: str | None = None,
    device: str | None = None,
    defines: Mapping[str, object] | None = None,
    include_dirs: Sequence[str | Path] = (),
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
    return Report(opened.program, opened.analysis, opened.findings(selection_of(opened.settings)))


def emulate(
    source: str | Path,
    *,
    kernel: str | None = None,
    global_size: Size | None = None,
    local_size: Size | None = None,
    args: Arguments | None = None,
    device: str | None = None,
    defines: Mapping[str, object] | None = None,
    include_dirs: Sequence[str | Path] = (),
    standard: str | None = None,
    time_limit_s: float | None = None,
    sub_group_synchronous: int = 0,
) -> Emulation:
    """Run one kernel in the emulator. Arguments as for `analyze`; `kernel` may be left out if there is one.

    `sub_group_synchronous` work-items in a row run in lockstep, as kernels expect that have no barriers
    within a warp.

    Raises: UsageError if there is no such kernel or its launch cannot be run.
    """
    from clmap_lsp.launch.problem import LaunchProblem

    opened = _open(source, device, defines, include_dirs, standard, kernel, global_size, local_size, args)
    found = opened.kernel(kernel)
    launch = opened.launch(found)
    settings = opened.emulation_settings()
    if time_limit_s is not None:
        settings = replace(settings, time_limit_s=time_limit_s)
    if sub_group_synchronous:
        settings = replace(settings, lockstep=sub_group_synchronous)
    result = opened.run(found, launch, settings)
    if isinstance(result, LaunchProblem):
        raise UsageError(str(result))
    return Emulation(opened.program, launch, result)


def _open(
    source: str | Path,
    device: str | None,
    defines: Mapping[str, object] | None,
    include_dirs: Sequence[str | Path],
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

    is_path = isinstance(source, Path) or ("\n" not in source and source.endswith((".cl", ".ocl", ".clc")))
    path = str(source) if is_path else "kernel.cl"
    try:
        text = read_source(path) if is_path else str(source)
    except UnreadableError as error:
        raise UsageError(str(error)) from None
    settings = with_options(
        Configurations().for_path(Path(path)) if is_path else Settings(),
        device=device,
        defines=tuple((name, str(value)) for name, value in (defines or {}).items()),
        include_dirs=tuple(map(str, include_dirs)),
        standard=standard,
    )
    given = _launch(kernel, global_size, local_size, args)
    return Workbench().open_text(path, text, settings, given=given, only=kernel, looks_beside=is_path)


def _launch(
    kernel: str | None, global_size: Size | None, local_size: Size | None, args: Arguments | None
) -> PartialLaunch | None:
    from clmap_lsp.launch.partial import PartialLaunch

    if not (global_size or local_size or args):
        return None
    texts = {name: str(value) for name, value in (args or {}).items()}
    return PartialLaunch(
        kernel, _sizes(global_size), _sizes(local_size), arguments=texts, source="the caller"
    )


def _sizes(size: Size | None) -> tuple[int, ...]:
    if size is None:
        return ()
    return (size,) if isinstance(size, int) else tuple(int(it) for it in size)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    cells = "".join(f"<th>{html.escape(it)}</th>" for it in head)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(it)}</td>" for it in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table>"

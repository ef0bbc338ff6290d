"""The static result for people: each kernel's launch, accesses and totals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clmap_lsp.analysis.model import AccessAnalysis, KernelAnalysis
from clmap_lsp.devices.model import DeviceModel
from clmap_lsp.launch.model import OFFSET, Origin, ScalarArgument
from clmap_lsp.report.analysis_json import AnalysedFile
from clmap_lsp.report.compiled_text import compiled_lines
from clmap_lsp.report.hierarchy_text import hierarchy_lines
from clmap_lsp.source.program import Program
from clmap_lsp.time.facts import time_facts
from clmap_lsp.time.model import Prediction
from clmap_lsp.time.wording import time_line


def render(files: Sequence[AnalysedFile], device: str) -> str:
    """Return the report."""
    lines = [f"device: {device}"]
    for file in files:
        lines += ["", *_file(file)]
    return "\n".join(lines) + "\n"


def _file(file: AnalysedFile) -> Iterator[str]:
    if file.program is None or file.analysis is None:
        yield file.error or f"{file.path}: not read"
        return
    for problem in file.program.problems:
        at = file.program.position(problem.span)
        yield f"{problem.span.path}:{at.row}:{at.column}: {problem.severity.value}: {problem.message}"
    if not file.analysis.kernels:
        yield f"{file.path}: no kernels"
    for at_kernel, kernel in enumerate(file.analysis.kernels):
        if at_kernel:
            yield ""
        yield from _kernel(file.program, kernel, file.analysis.device)


def _kernel(program: Program, kernel: KernelAnalysis, device: DeviceModel) -> Iterator[str]:
    at = program.position(kernel.kernel.name_span)
    yield f"{kernel.kernel.name_span.path}:{at.row}:{at.column}: kernel {kernel.name}"
    if kernel.launch is not None:
        yield f"  launch: {kernel.launch.describe()}{_guessed(kernel)}"
    line = time_line(kernel.time)
    if line is not None and (isinstance(kernel.time, Prediction) or time_facts(device.id) is not None):
        yield f"  time: {line}"
    for problem in kernel.launch_problems:
        yield f"  no launch: {problem}"
    yield from _table([_row(program, it) for it in kernel.accesses])
    yield from _images(program, kernel)
    for it in kernel.unreached:
        at = program.position(it.access.span)
        what = f"`{it.access.place_text}` ({it.access.direction.value})"
        yield f"  line {at.row}: {what}: {it.reason}"
    yield from _totals(kernel)
    yield from (f"  {it}" for it in compiled_lines(program, kernel))
    yield from hierarchy_lines(kernel, device)
    for part in kernel.rests_on:
        if part.kind in ("macro", "float", "contents", "aliasing"):
            yield f"  rests on: {part.describe()} ({part.origin})"
    for note in kernel.notes:
        yield f"  note: {note}"


def _images(program: Program, kernel: KernelAnalysis) -> Iterator[str]:
    for it in kernel.images:
        at = program.position(it.access.span)
        what = f"`{it.access.place_text}` (image {it.access.direction.value})"
        touched = it.request_text
        yield f"  line {at.row}: {what}: {it.missing if touched is None else f'a request touches {touched}'}"


def _guessed(kernel: KernelAnalysis) -> str:
    """Say which parts of a launch that somebody gave nobody gave: `; guessed: n, stride`."""
    launch = kernel.launch
    if launch is None or launch.origin is Origin.INFERRED:
        return ""
    scalars = {name for name, it in launch.arguments.items() if isinstance(it, ScalarArgument)}
    parts = sorted(launch.inferred & {"global", "local", OFFSET, *scalars})
    return f"; guessed: {', '.join(parts)}" if parts else ""


_WIDEST = 48
_HEAD = ("line", "access", "op", "map", "a request", "ideal", "total", "share", "in general")


def _row(program: Program, it: AccessAnalysis) -> tuple[str, ...]:
    cost, totals = it.per_request, it.totals
    unit = "" if cost is None else cost.unit
    amount = (
        "" if totals is None else f"{totals.sectors if unit == 'sectors' else totals.wavefronts:,} {unit}"
    )
    return (
        str(program.position(it.access.span).row),
        it.access.place_text,
        f"{it.access.space.value} {it.access.direction.value}",
        "" if it.classified is None else it.classified.map_name or ", ".join(it.classified.patterns),
        it.missing_cost
        if cost is None
        else f"{cost.mean:.4g} {cost.noun if cost.mean == 1 else unit}{_in_pieces(it)}",
        "" if cost is None else f"{cost.ideal:.4g}",
        amount,
        "" if it.share is None else f"{it.share:.0%}",
        it.in_general or "",
    )


def _in_pieces(it: AccessAnalysis) -> str:
    """Say where an access takes several requests: `, in 4 x 4 B`."""
    if len(it.pieces) < 2:
        return ""
    sizes = dict.fromkeys(it.pieces)
    each = " + ".join(f"{it.pieces.count(size)} x {size} B" for size in sizes)
    return f", in {each}"


def _table(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    if not rows:
        return
    cells = [_HEAD, *rows]
    widths = [
        max(len(it) for row in cells if len(it := row[column]) <= _WIDEST) for column in range(len(_HEAD))
    ]
    for row in cells:
        left = f"  {row[0].ljust(widths[0])}  {row[1].ljust(widths[1])}"
        if len(row[1]) > widths[1]:  # A long index has a line of its own, so that the columns stay.
            yield left
            left = " " * (widths[0] + widths[1] + 4)
        right = zip(row[2:], widths[2:], strict=True)
        yield "  ".join((left, *(cell.ljust(width) for cell, width in right))).rstrip()


def _totals(kernel: KernelAnalysis) -> Iterator[str]:
    totals = kernel.totals
    loads, stores = totals.local_load, totals.local_store
    sums = (
        ("global loads", totals.global_load.sectors, "sectors", totals.global_load.requests, "requests"),
        ("global stores", totals.global_store.sectors, "sectors", totals.global_store.requests, "requests"),
        ("local loads", loads.wavefronts, "wavefronts", loads.instructions, "instructions"),
        ("local stores", stores.wavefronts, "wavefronts", stores.instructions, "instructions"),
    )
    least = "" if totals.complete else "at least "
    for name, count, unit, n_requests, noun in sums:
        if n_requests:
            mean = count / n_requests
            yield f"  {name}: {least}{count:,} {unit} in {n_requests:,} {noun} ({mean:.4g} each)"

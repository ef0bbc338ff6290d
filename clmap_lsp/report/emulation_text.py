"""An emulated launch for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from clmap_lsp.counted import counted
from clmap_lsp.emulator.result import CallPlace, EmulationResult, Fault
from clmap_lsp.launch.model import Launch
from clmap_lsp.locality.strides import StrideSummary
from clmap_lsp.source.program import Program
from clmap_lsp.time.model import Prediction
from clmap_lsp.time.wording import time_line

if TYPE_CHECKING:
    from clmap_lsp.research import OnDevice


def render(
    program: Program,
    launch: Launch,
    result: EmulationResult,
    on_device: OnDevice | None = None,
    time: Prediction | str | None = None,
) -> str:
    """Return the report, with what a device measured at its end."""
    predicted = [f"time: {time_line(time)}"] if isinstance(time, Prediction) else []
    lines = [
        *predicted,
        *_lines(program, launch, result),
        *([] if on_device is None else _device_lines(on_device)),
    ]
    return "\n".join(lines) + "\n"


def _lines(program: Program, launch: Launch, result: EmulationResult) -> Iterator[str]:
    seconds, metrics = result.seconds, result.metrics
    yield f"kernel {result.kernel}: {launch.describe()}"
    yield (
        f"  {result.method.value} run by the {result.engine.value} engine: symbolic engine "
        f"{seconds.symbolic:.2f} s, compiled in {seconds.compile:.2f} s, inputs {seconds.inputs:.2f} s, "
        f"ran {seconds.run:.2f} s, metrics {seconds.metrics:.2f} s"
    )
    yield from _sampling(result)
    yield f"  accesses: {metrics.accesses:,} ({metrics.loads:,} loads, {metrics.stores:,} stores)"
    yield f"  footprint: {metrics.footprint:,} addresses, 90 % of accesses on {metrics.footprint_90:,}"
    yield f"  global memory address entropy: {metrics.gmae:.4f} bits"
    yield f"  local memory address entropy: {_levels(metrics.lmae)}"
    yield f"  parallel spatial locality ({result.definition.value}): {_levels(metrics.psl)}"
    yield f"  local memory share: {metrics.relative_local:.1%}"
    yield from _parallelism(result)
    for site in result.sites:
        at = program.position(site.span)
        costs = [(site.sectors, "sectors"), (site.wavefronts, "wavefronts")]
        cost = ", ".join(f"{n:,} {unit}" for n, unit in costs if n is not None)
        yield (
            f"  {site.span.path}:{at.row}:{at.column}: {site.op} {site.buffer or '?'}: {site.executions:,} "
            f"executions, {site.requests:,} requests{', ' + cost if cost else ''}{_stride(site.strides)}"
        )
    for name, it in result.buffers.items():
        shown = ", ".join(f"{value:g}" for value in it.first)
        yield f"  {name}: {it.count:,} {it.type}: {shown}{', …' if it.count > len(it.first) else ''}"
    yield from (f"  | {line}" for line in "".join(result.printed).splitlines())
    for fault in result.faults:
        at = program.position(fault.span)
        has_ids = fault.work_item is None or fault.role is not None
        where = "" if has_ids else f" by work-item {fault.work_item}"
        times = f" ({fault.occurrences:,} times)" if fault.occurrences > 1 else ""
        what = f"{fault.kind.value}{where}{times}: {fault.detail}{_called(program, fault)}"
        yield f"{fault.span.path}:{at.row}:{at.column}: {what}"
    yield from (f"  note: {it}" for it in result.notes)


def _called(program: Program, fault: Fault) -> str:
    """Say which calls lead to a fault in a function, and to its other side."""
    here, there = (_calls(program, it) for it in (fault.calls, fault.other_calls))
    parts = [f"; {here}"] if here else []
    parts += [f"; for the other, {there}"] if there and there != here else []
    return "".join(parts)


def _calls(program: Program, calls: tuple[CallPlace, ...]) -> str:
    return ", ".join(f"`{it.function}` is called in line {program.position(it.span).row}" for it in calls)


def _stride(found: StrideSummary | None) -> str:
    """The commonest distance between consecutive accesses of a work-item."""
    if found is None or not found.common:
        return ""
    stride, share = found.common[0]
    return f"; strides of {stride:,} bytes{'' if share == 1 else f' ({share:.0%})'}"


def _sampling(result: EmulationResult) -> Iterator[str]:
    """How large a sample is, and its standard errors."""
    found = result.sampling
    if found is not None:
        share = found.accesses_error / max(result.metrics.accesses, 1)
        yield (
            f"  estimated from {found.groups:,} of {found.of_groups:,} work-groups; standard errors: "
            f"accesses {share:.2%}, parallel spatial locality at most {max(found.psl_error):.4f}"
        )


def _parallelism(result: EmulationResult) -> Iterator[str]:
    """AIWC's categories of parallelism and control."""
    found, control = result.parallelism, result.control
    barriers = "" if found.barriers_hit is None else f", {counted(found.barriers_hit, 'barrier')} hit"
    yield f"  work-items: {found.work_items:,} in {counted(found.work_groups, 'group')}{barriers}"
    for name, spread in (
        ("operations", found.operations_to_barrier),
        ("accesses", found.accesses_to_barrier),
    ):
        if spread is not None:
            yield (
                f"  {name} to barrier: {spread.minimum:,} to {spread.maximum:,}, median {spread.median:,.10g}"
            )
    if (width := found.operation_width) is not None:
        yield (
            f"  lanes of an operation: mean {width.mean:.2f}, largest {width.maximum}, "
            f"deviation {width.deviation:.2f}"
        )
    if control is not None and control.unique_branches:
        yield (
            f"  branches: {control.unique_branches} unique, {control.branches_90} make up 90 %; entropy "
            f"{control.yokota_entropy:.4f} (Yokota), {control.average_linear_entropy:.4f} (average linear)"
        )


def _device_lines(measured: OnDevice) -> Iterator[str]:
    yield f"on {measured.device['name']}:"
    for state in ("cold", "warm") if measured.timing is not None else ():
        yield f"  {state}: {measured.time_text(state)}"
    for name, it in measured.outputs.items():
        how = (
            "the same bits"
            if it["exact"]
            else "the same within the tolerance"
            if it["equal"]
            else "DIFFERENT"
        )
        error = (
            "" if it["error"] in (None, 0.0) else f", largest error {it['error']:.1e} of the largest value"
        )
        yield f"  {name}: {how} as the emulator's{error}"
    if measured.trace is not None:
        metrics, kind = measured.trace["metrics"], measured.trace["method"]
        yield f"  traced ({kind}): {metrics['accesses']:,} accesses on {metrics['footprint']:,} addresses"
        yield f"  parallel spatial locality: {_levels(tuple(metrics['psl']))}"
    if measured.trace_problem:
        yield f"  not traced: {measured.trace_problem}"
    yield from (f"  note: {it}" for it in measured.notes)


def _levels(values: tuple[float, ...]) -> str:
    return " ".join(f"{it:.3f}" for it in values)

"""From the raw state of a JIT run to an `EmulationResult`."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping

import numpy as np

from clmap_lsp.emulator import layout as at
from clmap_lsp.emulator.address_space import Buffer
from clmap_lsp.emulator.control import MAX_BRANCHES, TABLE_WORDS
from clmap_lsp.emulator.fault_report import faults_of, stop_of
from clmap_lsp.emulator.jit import JitRun
from clmap_lsp.emulator.lines import lines_of
from clmap_lsp.emulator.lockstep_hint import lockstep_hint
from clmap_lsp.emulator.printing import printed_lines
from clmap_lsp.emulator.report_sampling import factor_of, sampling_notes, sampling_of
from clmap_lsp.emulator.result import (
    AccessView,
    BufferResult,
    ControlFlow,
    EmulationResult,
    Engine,
    Fault,
    LaneWidth,
    Method,
    Parallelism,
    SiteResult,
    Spread,
)
from clmap_lsp.emulator.tally import SiteTally
from clmap_lsp.emulator.unknowns import unsure_places
from clmap_lsp.launch.contents import element_type, numpy_dtype, scalar_leaves
from clmap_lsp.launch.image import TEXEL_BYTES, dimensions, extents, texel_type
from clmap_lsp.launch.model import BufferArgument
from clmap_lsp.locality.entropy import covering
from clmap_lsp.locality.metrics import AccessCounts
from clmap_lsp.source.types import SCALARS, OpaqueType, ScalarType, VectorType

_SHOWN = 8


def result_of(job: JitRun, reason: str) -> EmulationResult:
    """Put everything together."""
    started = time.perf_counter()
    factor = factor_of(job)
    sites = tuple(_sites(job, factor))
    unsure = unsure_places(job.code.plan)
    faults = faults_of(job, unsure)
    hint = lockstep_hint(job, faults)
    metrics = job.counts.metrics(_counts(sites), job.psl, job.settings.definition)
    buffers = {it.name: _buffer(it, job) for it in job.space.buffers if _is_shown(it)}
    job.metrics_s += time.perf_counter() - started
    return EmulationResult(
        kernel=job.kernel.name,
        method=_method(job),
        engine=Engine.JIT,
        engine_reason=reason,
        definition=job.settings.definition,
        local_addresses=job.settings.local_addresses,
        access_view=AccessView.AS_WRITTEN,
        metrics=metrics,
        sites=sites,
        lines=lines_of(job.program, sites),
        buffers=buffers,
        faults=faults,
        seconds=job.seconds,
        parallelism=_parallelism(job, factor),
        control=_control(job, factor),
        operations=_operations(job, factor),
        printed=tuple(printed_lines(job)),
        work=job.work,
        groups_run=min(int(job.state.words[at.GROUP]), int(job.state.words[at.GROUPS])),
        stopped=stop_of(job),
        sampling=sampling_of(job),
        notes=(*_notes(job, is_unsure=bool(unsure)), *([hint] if hint else [])),
    )


def met_faults(job: JitRun) -> tuple[Fault, ...]:
    """Return the faults of a run that another one takes the place of."""
    return faults_of(job, unsure_places(job.code.plan))


def _method(job: JitRun) -> Method:
    if job.is_sampled:
        return Method.SAMPLED
    return Method.TRUNCATED if job.stopped or job.sample is not None else Method.FULL


# ---------------------------------------------------------------------------------------------- accesses


def _sites(job: JitRun, factor: float) -> Iterable[SiteResult]:
    def scaled(count: int | None) -> int | None:
        return None if count is None else round(count * factor)

    for info in job.sites:
        tally = job.tallies.by_site.get(info.trace_site, SiteTally())
        executions = tally.executions
        if info.op.startswith("async"):
            executions = int(job.state.group_copies[info.site])
        has_device = job.settings.device is not None
        local = info.space == "local"
        yield SiteResult(
            site=info.site,
            span=info.span,
            buffer=info.buffer,
            space=info.space,
            op=info.op,
            element_bytes=info.size,
            executions=round(executions * factor),
            requests=round(tally.requests * factor),
            sectors=scaled(tally.sectors) if has_device and not local else None,
            wavefronts=scaled(tally.wavefronts) if has_device and local else None,
            strides=job.strides.summary(info.trace_site),
        )


def _counts(sites: Iterable[SiteResult]) -> AccessCounts:
    """Sum the accesses of work-items; copies by the whole group are listed apart."""
    sums: dict[str, int] = {}
    for site in sites:
        if not site.op.startswith("async"):
            key = f"{site.space}_{site.op.removeprefix('atomic-')}s"
            sums[key] = sums.get(key, 0) + site.executions
    return AccessCounts(
        global_loads=sums.get("global_loads", 0),
        global_stores=sums.get("global_stores", 0) + sums.get("constant_stores", 0),
        local_loads=sums.get("local_loads", 0),
        local_stores=sums.get("local_stores", 0),
        constant_loads=sums.get("constant_loads", 0),
    )


# ----------------------------------------------------------------------------------------------- buffers


def _is_shown(buffer: Buffer) -> bool:
    return buffer.plan.is_argument and buffer.data is not None


def _buffer(buffer: Buffer, job: JitRun) -> BufferResult:
    assert buffer.data is not None
    data = buffer.data[: buffer.size]
    argument = job.launch.arguments.get(buffer.name)
    element = element_type(buffer.plan.variable.type)
    if isinstance(element, OpaqueType):
        element = texel_type(job.kernel, buffer.plan.variable)
    if isinstance(argument, BufferArgument) and argument.element:
        element = SCALARS[argument.element]
    scalar = element.element if isinstance(element, VectorType) else element
    if not isinstance(scalar, ScalarType) or not scalar.size:
        leaves = {leaf for _, leaf in scalar_leaves(element)}
        uniform = leaves.pop() if len(leaves) == 1 else SCALARS["uchar"]
        scalar = uniform if element.size % uniform.size == 0 else SCALARS["uchar"]
    whole = len(data) - len(data) % scalar.size
    values = data[:whole].view(numpy_dtype(scalar))
    slot = int(job.state.words[at.STRIDE_SITES]) + (buffer.trace >> at.TRACE_ID_SHIFT)
    return BufferResult(
        name=buffer.name,
        type=str(element),
        count=len(data) // max(element.size, 1),
        first=tuple(values[:_SHOWN].tolist()),
        last=tuple(values[-_SHOWN:].tolist()),
        data=data,
        strides=job.strides.summary(slot),
    )


# ------------------------------------------------------------------------------------------------ others


def _parallelism(job: JitRun, factor: float) -> Parallelism:
    words = job.state.words
    return Parallelism(
        work_items=job.launch.work_items,
        work_groups=int(np.prod(words[at.NUM_GROUPS : at.NUM_GROUPS + 3])),
        group_items=job.launch.group_items,
        barriers_hit=round(int(words[at.ITEM_BARRIERS]) * factor),
        group_barriers=round(int(words[at.BARRIERS]) * factor),
        simd_width=job.state.sizes.width,
        timesteps=round(int(words[at.ROWS_TOTAL]) * factor),
        operations_to_barrier=_spread(job, 0),
        accesses_to_barrier=_spread(job, 1),
        operation_width=_width(job),
    )


def _spread(job: JitRun, table: int) -> Spread | None:
    """Return how lengths from barrier to barrier spread; None if there were too many to keep."""
    if int(job.state.words[at.SEGMENTS_LOST]):
        return None
    rows = job.state.segments[table]
    rows = rows[rows[:, 0] > 0]
    if not len(rows):
        return None
    rows = rows[np.argsort(rows[:, 0])]
    lengths, until = rows[:, 0] - 1, np.cumsum(rows[:, 1])
    total = int(until[-1])
    middle = [
        int(lengths[np.searchsorted(until, rank, side="right")]) for rank in ((total - 1) // 2, total // 2)
    ]
    return Spread(int(lengths[0]), sum(middle) / 2, int(lengths[-1]))


def _width(job: JitRun) -> LaneWidth | None:
    """Return the lanes of executed operations."""
    times: Counter[int] = Counter()
    for count, stretch in zip(job.state.counters.tolist(), job.code.control.widths, strict=False):
        for lanes, each in stretch.items():
            times[lanes] += count * each
    total = times.total()
    if total == 0:
        return None
    mean = sum(lanes * count for lanes, count in times.items()) / total
    variance = sum((lanes - mean) ** 2 * count for lanes, count in times.items()) / total
    return LaneWidth(mean, max(lanes for lanes, count in times.items() if count), variance**0.5)


def _control(job: JitRun, factor: float) -> ControlFlow | None:
    """Work the branch metrics out of the outcome tables (see `locality.branches`)."""
    if not job.settings.control:
        return None
    tables = job.state.branch_tables[: len(job.code.control.branches) * TABLE_WORDS].reshape(-1, TABLE_WORDS)
    pairs, executions = [], []
    for table in tables:
        outcomes = table.reshape(-1, 2)
        seen = outcomes[outcomes.any(axis=1)]
        if len(seen):
            pairs.append(seen)
            executions.append(int(seen.sum()))
    if not pairs:
        return ControlFlow(0, 0, 0, 0.0, 0.0)
    counts = np.concatenate(pairs).astype(np.float64)
    total = float(counts.sum())
    shares = counts[counts > 0] / total
    return ControlFlow(
        unique_branches=len(executions),
        branches_90=covering(np.array(executions, np.int64)),
        executions=round(total * factor),
        yokota_entropy=max(0.0, float(-(shares * np.log2(shares)).sum())),
        average_linear_entropy=float(2 * counts.min(axis=1).sum() / total),
    )


def _operations(job: JitRun, factor: float) -> Mapping[str, int]:
    """Return executed operations by kind, most frequent first."""
    total: Counter[str] = Counter()
    for times, stretch in zip(job.state.counters.tolist(), job.code.control.stretches, strict=False):
        for name, count in stretch.items():
            total[name] += times * count
    return {name: round(count * factor) for name, count in total.most_common()}


def _notes(job: JitRun, *, is_unsure: bool) -> Iterable[str]:
    yield from job.notes
    yield from sampling_notes(job)
    if (stop := stop_of(job)) is not None:
        yield f"{stop.detail}; figures, outputs and faults are those of what ran until then"
    for buffer in job.space.buffers:
        kind, argument = buffer.plan.variable.type, job.launch.arguments.get(buffer.name)
        if isinstance(kind, OpaqueType) and isinstance(argument, BufferArgument):
            sides = extents(kind.name, argument, buffer.size // TEXEL_BYTES)
            size = "x".join(map(str, sides[: dimensions(kind.name)]))
            how = "has" if argument.sides else "is taken to have"
            yield f"image `{buffer.name}` {how} {size} texels of four 32-bit channels"
    if not job.code.control.complete:
        yield f"only the first {MAX_BRANCHES} branches were recorded"
    if int(job.state.words[at.SIMT_SPLIT]):
        yield "SIMD groups diverged for so long that requests may be counted more than once: upper bounds"
    for name in sorted({name for name, _ in job.code.unknowns}):
        yield f"the value of `{name}` is unknown and was taken for 0"
    if is_unsure:
        yield "accesses and divisions that rest on an unknown value are not judged"
    reasons = {reason for tally in job.tallies.by_site.values() for reason in tally.reasons}
    yield from sorted(reasons)

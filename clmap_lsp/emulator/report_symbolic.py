"""From the symbolic engine's figures to an `EmulationResult`."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

from clmap_lsp.dataclass import dataclass
from clmap_lsp.devices.catalogue import load_model
from clmap_lsp.emulator.foretold import with_foretold
from clmap_lsp.emulator.lines import lines_of
from clmap_lsp.emulator.result import (
    AccessView,
    EmulationResult,
    Engine,
    Method,
    Parallelism,
    Seconds,
    SiteResult,
)
from clmap_lsp.emulator.settings import EmulationSettings
from clmap_lsp.emulator.symbolic import Bail, SymbolicResult, count
from clmap_lsp.emulator.symbolic.counts import SiteCount
from clmap_lsp.emulator.symbolic.measure import measured
from clmap_lsp.emulator.symbolic.memory import Inputs
from clmap_lsp.exactness import Exactness
from clmap_lsp.launch.model import Launch
from clmap_lsp.locality.metrics import Metrics
from clmap_lsp.source.ir import (
    AsyncCopy,
    Collective,
    ImageRead,
    ImageWrite,
    Kernel,
    OpaqueCall,
    Unsupported,
    walk,
)
from clmap_lsp.source.program import Program


@dataclass(frozen=True, slots=True)
class SymbolicFigures:
    """Exact figures of a launch."""

    metrics: Metrics
    counts: SymbolicResult
    exclusive: frozenset[str]
    """Buffers of which every address belongs to one work-item."""
    ordered: frozenset[str]
    """Local buffers whose accesses need not be watched."""
    seconds: float


def symbolic_figures(
    program: Program, kernel: Kernel, launch: Launch, settings: EmulationSettings, inputs: Inputs
) -> SymbolicFigures | str:
    """Return exact figures, or in words why this engine has none; `inputs` gets the contents that it made."""
    started = time.perf_counter()
    for statement in walk(kernel.body):
        if isinstance(statement, OpaqueCall | Unsupported | AsyncCopy | Collective | ImageRead | ImageWrite):
            return "it has statements that only a run can follow"
    device = settings.device if settings.device is not None else load_model()
    found = measured(
        kernel,
        launch,
        local_addresses=settings.local_addresses,
        definition=settings.definition,
        simd_width=device.simd_width,
        constants=program.constants,
        inputs=inputs,
    )
    if isinstance(found, Bail):
        return found.reason
    counts = count(kernel, launch, device, constants=program.constants, inputs=inputs)
    if counts.bail is not None:
        return counts.bail.reason
    for site in counts.sites.values():
        if site.executions is None or site.requests is None:
            return site.reason or "an access's address is not known"
    exclusive = frozenset(it.name for it in found.exclusive if it in kernel.parameters)
    ordered = frozenset(it.name for it in found.ordered)
    return SymbolicFigures(found.metrics, counts, exclusive, ordered, time.perf_counter() - started)


def symbolic_result(
    program: Program,
    kernel: Kernel,
    launch: Launch,
    settings: EmulationSettings,
    figures: SymbolicFigures,
    why: str = "",
) -> EmulationResult:
    """Return a result of figures only; `why` says what kept the launch from being run as well."""
    groups = 1
    for size in launch.num_groups:
        groups *= size
    device = settings.device
    sites = tuple(_sites(figures.counts))
    return EmulationResult(
        kernel=kernel.name,
        method=Method.SYMBOLIC,
        engine=Engine.SYMBOLIC,
        engine_reason="asked for"
        if settings.engine is Engine.SYMBOLIC
        else "its buffers need more memory than the limit",
        definition=settings.definition,
        local_addresses=settings.local_addresses,
        access_view=AccessView.AS_WRITTEN,
        metrics=figures.metrics,
        sites=sites,
        lines=lines_of(program, sites),
        buffers={},
        faults=with_foretold((), kernel, launch, figures.counts.sites.values()),
        seconds=Seconds(0.0, 0.0, 0.0, 0.0, figures.seconds),
        parallelism=Parallelism(
            launch.work_items,
            groups,
            launch.group_items,
            None,
            None,
            device.simd_width if device is not None else 32,
            None,
        ),
        notes=(
            f"{why}{', so ' * bool(why)}nothing was run: outputs, barriers, branches and faults other than "
            "accesses out of bounds are unknown",
        ),
    )


def joined(
    program: Program,
    kernel: Kernel,
    launch: Launch,
    settings: EmulationSettings,
    concrete: EmulationResult,
    figures: SymbolicFigures,
) -> EmulationResult:
    """Put symbolic figures in the place of those that an untraced run does not have."""
    sites = tuple(_sites(figures.counts))
    seconds = concrete.seconds
    notes = list(concrete.notes)
    if (sampling := concrete.sampling) is not None:
        notes = [
            "the figures of accesses are exact for the whole launch; operations, branches and barriers are "
            f"estimated from {sampling.groups} of {sampling.of_groups} work-groups; outputs and faults are "
            "those of these work-groups, and accesses out of bounds those of all",
            *(it for it in notes if not it.startswith("estimated from")),
        ]
    faults = concrete.faults
    if not concrete.is_whole:
        faults = with_foretold(faults, kernel, launch, figures.counts.sites.values())
    if any(it.kind.value.startswith("out-of-bounds") for it in faults):
        notes.append("accesses out of bounds are among those that are counted")
    return replace(
        concrete,
        faults=faults,
        method=Method.SYMBOLIC,
        engine=Engine.SYMBOLIC,
        engine_reason="every address and branch follows from the launch",
        metrics=figures.metrics,
        sites=sites,
        lines=lines_of(program, sites),
        parallelism=replace(concrete.parallelism, timesteps=None),
        sampling=None,
        seconds=replace(seconds, symbolic=figures.seconds),
        notes=tuple(notes),
    )


def _sites(counts: SymbolicResult) -> Iterator[SiteResult]:
    for site in sorted(counts.sites.values(), key=lambda it: it.site):
        halves = ("atomic-load", "atomic-store") if site.op == "atomic" else (site.op,)
        for op in halves:
            yield _site(site, op)


def _site(site: SiteCount, op: str) -> SiteResult:
    known = site.method is Exactness.EXACT
    local = site.space.value == "local"
    return SiteResult(
        site=site.site,
        span=site.span,
        buffer=site.root.name if site.root is not None else None,
        space=site.space.value,
        op=op,
        element_bytes=site.size,
        executions=site.executions or 0,
        requests=site.requests or 0,
        sectors=site.units if known and not local and site.unit == "sectors" else None,
        wavefronts=site.units if known and local else None,
    )

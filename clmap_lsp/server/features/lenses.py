"""Code lenses over each kernel, a few words each: how good it is, how it is launched, what can be run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from lsprotocol import types as lsp

from clmap_lsp.server.app import feature
from clmap_lsp.server.features.refreshing import refresh_lenses, refreshes_lenses
from clmap_lsp.server.outdated import Outdated
from clmap_lsp.time.wording import short_text

if TYPE_CHECKING:
    from clmap_lsp.analysis.model import KernelAnalysis
    from clmap_lsp.server.app import ClmapServer
    from clmap_lsp.server.emulations import Emulation
    from clmap_lsp.server.snapshot import Snapshot
    from clmap_lsp.time.model import Prediction

WORTH_SAYING = 1.05
"""Traffic over the ideal from which on it is told."""
PATIENCE_S = 0.2
"""How long lenses wait for the analysis of the present text."""


def register(server: ClmapServer) -> None:
    """Register the handlers."""
    outdated = Outdated(server, lambda: refresh_lenses(server))

    @feature(server, lsp.TEXT_DOCUMENT_CODE_LENS, lsp.CodeLensOptions(resolve_provider=False))
    async def code_lens(params: lsp.CodeLensParams) -> list[lsp.CodeLens]:
        document = server.documents.get(params.text_document.uri)
        if document is None or not server.client_for(document).code_lens:
            return []
        first_s = PATIENCE_S if refreshes_lenses(server) else None
        snapshot = await server.soon(document.uri, PATIENCE_S, first_s)
        outdated.answered(document.uri, snapshot)
        return [] if snapshot is None else lenses(server, snapshot)


def lenses(server: ClmapServer, snapshot: Snapshot) -> list[lsp.CodeLens]:
    """Return a document's lenses: what to know of each kernel, the launch to pin, then what can be run."""
    places = snapshot.places
    panel = "clmap.showPanel" if "clmap.showPanel" in server.abilities.commands else "clmap.showKernel"
    found = []
    for kernel in snapshot.analysis.kernels:
        if not places.is_here(kernel.kernel.name_span):
            continue
        # Over the declaration's first line: a kernel's name may stand on one of its own.
        where = places.range(kernel.span)
        where = lsp.Range(where.start, where.start)
        name = places.range(kernel.kernel.name_span).start
        arguments: list[Any] = [snapshot.document.uri, {"line": name.line, "character": name.character}]
        found += [
            lsp.CodeLens(where, lsp.Command(title, command, arguments=arguments))
            for title, command in _titles(server, snapshot, kernel, panel)
        ]
    return found


def _titles(
    server: ClmapServer, snapshot: Snapshot, kernel: KernelAnalysis, panel: str
) -> Iterator[tuple[str, str]]:
    emulations = server.emulations
    emulation = emulations.last_of(snapshot, kernel) if emulations else None
    n_fixes = len(emulations.offers(snapshot, kernel)) if emulations else 0
    time = snapshot.times.get(kernel.name)
    yield verdict_title(kernel, time, emulation, n_fixes), panel
    yield launch_title(kernel), "clmap.pin"
    if emulations is None or kernel.launch is None or not server.trusted:
        return
    yield emulation_title(emulation), "clmap.emulate"
    measured = emulations.measured(snapshot, kernel)
    if measured is not None or can_measure():
        yield measured_title(measured), "clmap.measure"


@cache
def can_measure() -> bool:
    """Tell whether the package that speaks to OpenCL is installed; whether it finds a device shows later."""
    return find_spec("pyopencl") is not None


def verdict_title(
    kernel: KernelAnalysis, time: Prediction | None, emulation: Emulation | None, n_fixes: int
) -> str:
    """Return the one number that matters, with a sign for good or bad: faults, else time, else traffic.

    `✗ 2 faults`, `▲ 1.9 ms · 1 fix ready`, `▲ 5.6x traffic`, `✓ ideal traffic`.
    """
    faults = len(emulation.faults) if emulation is not None else 0
    ratio = traffic_ratio(kernel)
    parts = []
    if faults:
        parts.append("1 fault" if faults == 1 else f"{faults} faults")
    if time is not None:
        parts.append(short_text(time))
    if ratio is None:
        parts.append("" if parts else "images: traffic unknown" if kernel.images else "traffic unknown")
    elif ratio >= WORTH_SAYING:
        parts.append(f"{_number(ratio)}x traffic")
    elif not parts:
        parts.append("ideal traffic")
    if n_fixes:
        parts.append("1 fix ready" if n_fixes == 1 else f"{n_fixes} fixes ready")
    bad = ratio is not None and ratio >= WORTH_SAYING
    sign = "✗" if faults else "▲" if bad else "" if ratio is None else "✓"
    return f"{sign} {' · '.join(it for it in parts if it)}".strip()


def launch_title(kernel: KernelAnalysis) -> str:
    """Return the launch in a few words: `256x256/16x16`, with a word where it was guessed."""
    launch = kernel.launch
    if launch is None:
        return "no launch: say how it is launched"
    sizes = ("x".join(map(str, it)) for it in (launch.global_size, launch.local_size))
    guessed = " guessed" if not launch.inferred.isdisjoint(("global", "local")) else ""
    return f"{'/'.join(sizes)}{guessed}"


def traffic_ratio(kernel: KernelAnalysis) -> float | None:
    """Return by what the kernel moves more than it needs to: the worse of global and local memory.

    None where no access is known.
    """
    ratios = []
    for unit in ("sectors", "wavefronts"):
        known = [
            (it.totals.requests, it.per_request)
            for it in kernel.accesses
            if it.totals is not None and it.per_request is not None and it.per_request.unit == unit
        ]
        ideal = sum(cost.ideal * requests for requests, cost in known)
        if ideal:
            ratios.append(sum(cost.mean * requests for requests, cost in known) / ideal)
    return max(ratios, default=None)


def emulation_title(emulation: Emulation | None) -> str:
    """Return the offer to run the kernel in the emulator, or that it ran."""
    if emulation is None:
        return "emulate"
    if emulation.result is None:
        return "not emulated: try again"
    return "emulated" if emulation.ran_to_its_end else "emulated in part: try again"


def measured_title(measured: Mapping[str, Any] | None) -> str:
    """Return what a device made of the kernel, or the offer to run it there."""
    if measured is None:
        return "measure"
    timing = measured.get("timing") or {}
    parts = [f"{timing[it]['median'] * 1e3:.3g} ms {it}" for it in ("cold", "warm") if it in timing]
    if measured.get("outputs"):
        parts.append("as emulated" if measured.get("outputs_equal") else "outputs DIFFER from the emulator's")
    return f"measured {' · '.join(parts)}" if parts else "measured: launched"


def _number(value: float) -> str:
    return f"{value:.0f}" if value >= 10 else f"{value:.1f}".removesuffix(".0")

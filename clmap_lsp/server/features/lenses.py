"""Code lenses over each kernel: its launch, its cost, its locality, its faults; and what to do about it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from lsprotocol import types as lsp

from clmap_lsp.server.app import feature
from clmap_lsp.server.features.refreshing import refresh_lenses
from clmap_lsp.server.outdated import Outdated

if TYPE_CHECKING:
    from clmap_lsp.analysis.model import KernelAnalysis
    from clmap_lsp.server.app import ClmapServer
    from clmap_lsp.server.emulations import Emulation
    from clmap_lsp.server.snapshot import Snapshot

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
        snapshot = await server.soon(document.uri, PATIENCE_S)
        if snapshot is None:
            return []
        outdated.answered(snapshot)
        return lenses(server, snapshot)


def lenses(server: ClmapServer, snapshot: Snapshot) -> list[lsp.CodeLens]:
    """Return the lenses of a document: the launch to pin, the cost to look at, then what can be run."""
    places = snapshot.places
    panel = "clmap.showPanel" if "clmap.showPanel" in server.abilities.commands else "clmap.showKernel"
    found = []
    for kernel in snapshot.analysis.kernels:
        if not places.is_here(kernel.kernel.name_span):
            continue
        where = places.range(kernel.kernel.name_span)
        place = {"line": where.start.line, "character": where.start.character}
        arguments: list[Any] = [snapshot.document.uri, place]
        emulations = server.emulations
        titles = [(launch_title(kernel), "clmap.pin"), (cost_title(kernel), panel)]
        if emulations is not None:
            measured = emulations.measured(snapshot, kernel)
            titles.append((emulation_title(emulations.of(snapshot, kernel)), "clmap.emulate"))
            if measured is not None or (server.trusted and kernel.launch is not None and can_measure()):
                titles.append((measured_title(measured), "clmap.measure"))
        if "clmap.openReport" in server.abilities.commands:
            titles.append(("report", "clmap.openReport"))
        found += [
            lsp.CodeLens(where, lsp.Command(title, name, arguments=arguments))
            for title, name in titles
            if title
        ]
    return found


@cache
def can_measure() -> bool:
    """Tell whether the package that speaks to OpenCL is installed; whether it finds a device shows later."""
    return find_spec("pyopencl") is not None


def launch_title(kernel: KernelAnalysis) -> str:
    """Return the launch in a few words, with its origin."""
    if kernel.launch is None:
        return "no launch: " + (kernel.launch_problems[0] if kernel.launch_problems else "none was found")
    return kernel.launch.describe()


def cost_title(kernel: KernelAnalysis) -> str | None:
    """Return what the kernel's requests cost against the ideal; `None` where nothing is known."""
    parts = []
    for unit, label in (("sectors", "sectors/request"), ("wavefronts", "wavefronts/request")):
        known = [
            (it.totals, it.per_request)
            for it in kernel.accesses
            if it.totals is not None and it.per_request is not None and it.per_request.unit == unit
        ]
        requests = sum(totals.requests for totals, _ in known)
        if not requests:
            continue
        cost = sum(cost.mean * totals.requests for totals, cost in known) / requests
        ideal = sum(cost.ideal * totals.requests for totals, cost in known) / requests
        one = _number(cost) == "1"
        parts.append(f"{_number(cost)} {label.replace('s/', '/') if one else label} (ideal {_number(ideal)})")
    unknown = sum(it.totals is None for it in kernel.accesses)
    if unknown:
        parts.append(f"{unknown} of {len(kernel.accesses)} accesses unknown")
    return " · ".join(parts) or None


def emulation_title(emulation: Emulation | None) -> str:
    """Return what the emulator saw, or the offer to run it."""
    if emulation is None:
        return "emulate"
    if emulation.result is None:
        return f"not emulated: {emulation.failure}"
    metrics = emulation.result.get("metrics") or {}
    psl = metrics.get("psl")
    faults = emulation.faults
    parts = []
    if isinstance(psl, list) and len(psl) > 10:
        parts.append(f"PSL {psl[0]:.2f} at 0 bits, {psl[10]:.2f} at 10")
    parts.append({0: "no faults", 1: "1 fault"}.get(len(faults), f"{len(faults)} faults"))
    return " · ".join(parts)


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
    return f"{value:.2f}".rstrip("0").rstrip(".")

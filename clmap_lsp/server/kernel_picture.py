"""The data behind the panel: accesses with costs and addresses, locality curves, faults, fixes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from clmap_lsp.analysis.lanes import first_simd_group, first_work_group, turns_of
from clmap_lsp.devices.model import BankedLocal
from clmap_lsp.server.convert import Places, offer_data
from clmap_lsp.source.types import AddressSpace

if TYPE_CHECKING:
    from clmap_lsp.analysis.model import AccessAnalysis, KernelAnalysis
    from clmap_lsp.server.app import ClmapServer
    from clmap_lsp.server.emulations import Emulation
    from clmap_lsp.server.snapshot import Snapshot
    from clmap_lsp.source.span import Span


def picture(
    server: ClmapServer, snapshot: Snapshot, kernel: KernelAnalysis, chosen: int | None = None, turn: int = 0
) -> dict[str, Any]:
    """Return a kernel as JSON: `KernelView` in docs/protocol.md.

    Args:
        chosen: the access, by its number, whose whole work-group is wanted.
        turn: of the innermost loop around that access, from 0.
    """
    device = snapshot.analysis.device
    places = snapshot.places
    emulation = server.emulations.of(snapshot, kernel) if server.emulations else None
    others = [
        (it.name, _psl(server.emulations.of(snapshot, it)))
        for it in snapshot.analysis.kernels
        if it is not kernel and server.emulations
    ]
    return {
        "name": kernel.name,
        "launch": kernel.launch.describe() if kernel.launch else "no launch",
        "device": device.id,
        "granuleBytes": device.global_rule.load_granule,
        "banks": device.local_rule.banks if isinstance(device.local_rule, BankedLocal) else None,
        "simdWidth": device.simd_width,
        "localSize": list(kernel.launch.local_size) if kernel.launch else [],
        "totals": {"sectors": kernel.totals.sectors, "wavefronts": kernel.totals.wavefronts},
        "accesses": [_access(snapshot, places, kernel, it) for it in kernel.accesses],
        "psl": _psl(emulation),
        "others": [{"name": name, "psl": psl} for name, psl in others if psl],
        "faults": _faults(snapshot, kernel, emulation),
        "fixes": list(_fixes(server, snapshot, kernel, places)),
        "workGroup": _work_group(kernel, chosen, turn),
    }


def _work_group(kernel: KernelAnalysis, chosen: int | None, turn: int) -> dict[str, Any] | None:
    """Return where the items of the first work-group go at one turn of the loop around an access."""
    if chosen is None or kernel.launch is None or not 0 <= chosen < len(kernel.accesses):
        return None
    access = kernel.accesses[chosen].access
    turns = turns_of(access, kernel.launch)
    turn = max(0, min(turn, (turns or turn + 1) - 1))
    return {
        "access": chosen,
        "turn": turn,
        "turns": turns,
        "loop": access.loops[-1].name if access.loops else None,
        "addresses": list(first_work_group(access, kernel.launch, turn)),
    }


def _fixes(
    server: ClmapServer, snapshot: Snapshot, kernel: KernelAnalysis, places: Places
) -> Iterator[dict[str, Any]]:
    """Yield the verified rewrites of a kernel, the best first, with figures before and after."""
    offers = server.emulations.offers(snapshot, kernel) if server.emulations else ()
    for it in sorted(offers, key=lambda it: it.rank):
        evidence = it.fix.verified or {}
        figures = {when: _moved(evidence.get(when) or {}) for when in ("before", "after")}
        yield {**offer_data(it, places), **figures}


def _moved(totals: Mapping[str, Any]) -> dict[str, Any]:
    return {it: totals.get(it) for it in ("sectors", "wavefronts")}


def _access(snapshot: Snapshot, places: Places, kernel: KernelAnalysis, it: AccessAnalysis) -> dict[str, Any]:
    access, cost = it.access, it.per_request
    where = places.range(access.span)
    apart = "the same element" if it.stride.bytes == 0 else f"{it.stride.text} bytes apart"
    stride = "" if it.stride.text is None else apart
    return {
        "range": {
            "start": {"line": where.start.line, "character": where.start.character},
            "end": {"line": where.end.line, "character": where.end.character},
        },
        "text": _source(snapshot, access.span),
        "buffer": access.buffer,
        "space": access.space.value,
        "op": access.direction.value,
        "unit": "wavefronts" if access.space is AddressSpace.LOCAL else "sectors",
        "mean": None if cost is None else cost.mean,
        "ideal": None if cost is None else cost.ideal,
        "share": it.share or 0.0,
        "stride": stride,
        "map": it.classified.map_name if it.classified else None,
        "formula": it.in_general,
        "lanes": list(first_simd_group(access, kernel.launch, snapshot.analysis.device))
        if kernel.launch
        else [],
        "elementBytes": access.size,
    }


def _source(snapshot: Snapshot, span: Span) -> str:
    file = snapshot.program.files.get(span.path)
    return " ".join(file.text[span.start : span.end].split()) if file else ""


def _psl(emulation: Emulation | None) -> list[float] | None:
    if emulation is None or emulation.result is None:
        return None
    psl = (emulation.result.get("metrics") or {}).get("psl")
    return [float(it) for it in psl] if isinstance(psl, list) and psl else None


def _faults(snapshot: Snapshot, kernel: KernelAnalysis, emulation: Emulation | None) -> list[dict[str, Any]]:
    if emulation is None or emulation.result is None:
        return []
    moved = snapshot.program.position(kernel.span).row - emulation.row
    return [
        {
            "line": int((it.get("location") or {}).get("row", 1)) + moved - 1,
            "text": f"{it.get('kind')}: {it.get('detail', '')}",
        }
        for it in emulation.faults
    ]

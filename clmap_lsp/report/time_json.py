"""A launch's time for JSON (see the command-line contract)."""

from __future__ import annotations

from typing import Any

from clmap_lsp.findings import LostTime
from clmap_lsp.time.model import Prediction


def time_json(found: Prediction | str | None) -> dict[str, Any]:
    """Return `time`, and `time_reason` where it is null."""
    if not isinstance(found, Prediction):
        return {"time": None, "time_reason": found or "nobody asked for it"}
    return {
        "time": {
            "seconds": found.seconds,
            "low": found.low,
            "high": found.high,
            "bound": found.bound,
            "parts": dict(found.parts),
            "resident": {
                "groups": found.resident.groups,
                "simd_groups": found.resident.simd_groups,
                "limit": found.resident.limit,
            },
            "basis": found.basis,
            "caveats": list(found.caveats),
        }
    }


def lost_json(lost: LostTime | None) -> dict[str, Any] | None:
    """Return `time_lost` of a finding; null where nobody can tell."""
    if lost is None:
        return None
    sizes = {"global": lost.sizes} if lost.sizes else {}
    return {"seconds": lost.seconds, "share": lost.share, "launch_seconds": lost.launch_seconds, **sizes}

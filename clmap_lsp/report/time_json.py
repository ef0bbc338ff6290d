"""A launch's time, for JSON (see the command-line contract) and in one line for people."""

from __future__ import annotations

from typing import Any

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


_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))
_NAMES = {
    "issue": "instructions issued",
    "fp32": "single-precision arithmetic",
    "int": "integer arithmetic",
    "fp64": "double-precision arithmetic",
    "sfu": "special functions",
    "l1": "first-level cache and local memory",
    "l2": "second-level cache",
    "dram": "device memory",
    "local": "local atomics",
    "atomics": "atomics",
    "latency": "latency",
    "barrier": "barriers",
    "launch": "starting work-groups",
}


def seconds_text(seconds: float) -> str:
    """Return a time with three digits and its unit: `1.93 ms`."""
    for scale, unit in _UNITS:
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds:.3g} s"


def bound_text(bound: str) -> str:
    """Return in words what bounds a launch."""
    return _NAMES.get(bound, bound)


def time_line(found: Prediction | str | None) -> str | None:
    """Return `1.9 ms (1.5 ms to 2.4 ms), bound by first-level cache and local memory; alone: latency 0.4
    ms`."""
    if found is None:
        return None
    if isinstance(found, str):
        return f"unknown, {found}"
    rest = [it for it in found.parts.items() if it[0] != found.bound][:3]
    then = ", ".join(f"{bound_text(name)} {seconds_text(value)}" for name, value in rest)
    whole = f"{seconds_text(found.seconds)} ({seconds_text(found.low)} to {seconds_text(found.high)})"
    if found.bound == "launch" and found.seconds < _MOSTLY_LAUNCH_S:
        return f"{whole}, mostly the launch itself"
    return f"{whole}, bound by {bound_text(found.bound)}; alone: {then}"


_MOSTLY_LAUNCH_S = 12e-6

"""`clmap-lsp calibrate --time`: measure what a device can do in a second, and keep it for predictions."""

from __future__ import annotations

import json
import sys
import time
from typing import TYPE_CHECKING, Any

from clmap_lsp.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from clmap_lsp.devices.model import DeviceModel
    from clmap_lsp.opencl_device.microbenchmarks import Measured
    from clmap_lsp.opencl_device.session import Session

RUNS = 12
LIMIT_S = 280.0
"""Settings that are left by then are left out; those of which figures come are measured first."""


def calibrate_times(platform: str | None, style: str) -> int:
    """Measure, keep, and say how it went.

    Raises: UsageError if there is no such device, or nothing can be worked out for it.
    """
    from clmap_lsp.devices import load_model, match_device
    from clmap_lsp.opencl_device import DeviceError
    from clmap_lsp.opencl_device.session import Session

    try:
        session = Session(platform)
        facts = session.facts
        extra = {"type": facts.kind.value, "compute_capability": facts.compute_capability}
        name = match_device(facts.vendor, facts.name, extra)
        if name is None:
            raise UsageError(f"{facts.name}: there is no device model of it; see clmap-lsp devices")
        model = load_model(name)
        if model.vendor not in ("NVIDIA", "CPU"):
            raise UsageError(
                f"{facts.name}: times are predicted for NVIDIA's GPUs and for CPUs; how {model.vendor}'s "
                "caches and schedulers work is not modelled yet"
            )
        measured = _measure(session, style)
    except DeviceError as error:
        raise UsageError(str(error)) from None
    document = _worked_out(facts.as_json(), measured, model, facts.name)
    path = _kept(document)
    if style == "json":
        print(
            json.dumps({"schema": 1, "device": name, "file": str(path), "facts": document["facts"]}, indent=2)
        )
    else:
        print(f"{facts.name}: {len(document['facts'])} figures kept in {path}")
        print(f"Times are predicted with --device {name}.")
    return 0


def _measure(session: Session, style: str) -> list[Measured]:
    """Run the microbenchmarks, within the limit."""
    from clmap_lsp.opencl_device import microbenchmarks

    facts = session.facts
    chosen = list(
        microbenchmarks.settings(
            facts.compute_units, facts.global_bytes, doubles=facts.fp64, small=facts.kind.value == "cpu"
        )
    )
    found: list[Measured] = []
    started = time.monotonic()
    for done, setting in enumerate(chosen):
        if time.monotonic() - started > LIMIT_S:
            sys.stderr.write(f"clmap-lsp: {len(chosen) - done} microbenchmarks left out for want of time\n")
            break
        found += microbenchmarks.run(session, [setting], runs=RUNS)
        if style != "json" and sys.stderr.isatty():
            print(f"\r\x1b[2K{done + 1}/{len(chosen)} {setting.name}", end="", file=sys.stderr, flush=True)
    if style != "json" and sys.stderr.isatty():
        print(file=sys.stderr)
    return found


def _worked_out(
    device: dict[str, Any], measured: list[Measured], model: DeviceModel, name: str
) -> dict[str, Any]:
    from clmap_lsp.time.calibration import cpu_facts_of, facts_of

    raw = {"device": device, "microbenchmarks": [it.as_json() for it in measured]}
    try:
        if model.vendor == "CPU":
            return cpu_facts_of(raw, model.id, name)
        return facts_of(raw, model.id, name, _limits(model))
    except (KeyError, ValueError, StopIteration, IndexError) as error:
        raise UsageError(f"{name}: a figure could not be worked out: {error}") from None


def _limits(model: DeviceModel) -> dict[str, tuple[float, str]]:
    """Return what a model's facts say in place of Hopper's."""
    limits = model.limits
    known = {
        "registers": limits.registers_per_compute_unit,
        "max_warps": limits.simd_groups_per_compute_unit,
        "max_groups": limits.groups_per_compute_unit,
        "local_bytes": limits.local_bytes_per_compute_unit,
        "l1_bytes": limits.local_bytes_per_compute_unit,
    }
    return {key: (value, f"device model {model.id}") for key, value in known.items() if value is not None}


def _kept(document: dict[str, Any]) -> Path:
    from clmap_lsp.time.facts import keep

    try:
        return keep(document)
    except OSError as error:
        raise UsageError(f"figures could not be kept: {error}; CLMAP_TIMES names another folder") from None

"""Versions of a kernel timed on a device, in turns, and their outputs held against the first one's."""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clmap_lsp.dataclass import dataclass
from clmap_lsp.opencl_device.errors import DeviceError
from clmap_lsp.opencl_device.on_device import DEFAULT_TIME_LIMIT_S, outputs_in, run_in_child

if TYPE_CHECKING:
    from clmap_lsp.opencl_device.on_device_job import DeviceJob

ROUNDS = 3
"""Each version is timed so often, in turns, so that a clock that falls meets all of them."""
SECONDS = 0.5
"""Of one timed series."""


@dataclass(frozen=True, slots=True)
class Timed:
    """One version on a device: its median warm time in seconds, or why there is none."""

    seconds: float | None
    problem: str = ""


def time_versions(
    jobs: Sequence[DeviceJob],
    platform: str | None,
    *,
    time_limit_s: float = DEFAULT_TIME_LIMIT_S,
    progress: Callable[[str], None] = lambda _: None,
) -> tuple[dict[str, Any], tuple[Timed, ...]]:
    """Return the device, and for each version its time.

    A version whose outputs are not the first one's has none; nor has one that cannot be built or run.

    Raises: DeviceError if the first version, the original, cannot be run.
    """
    device: dict[str, Any] = {}
    reference: dict[str, Any] = {}
    times: list[list[float]] = [[] for _ in jobs]
    problems = [""] * len(jobs)
    for turn in range(ROUNDS):
        for at, job in enumerate(jobs):
            if problems[at]:
                continue
            progress(f"version {at + 1} of {len(jobs)} on the device, round {turn + 1} of {ROUNDS}")
            mine = replace(job, outputs=not turn, max_seconds=SECONDS)
            try:
                found, outputs = _run(mine, platform, time_limit_s)
            except DeviceError as error:
                if not at:
                    raise
                problems[at] = str(error)
                continue
            device = found["device"]
            reference = reference or outputs
            if not turn and at and not _agrees(job, reference, outputs):
                problems[at] = "its outputs differ from the original's"
                continue
            times[at].append(float(found["timing"]["warm"]["median"]))
    return device, tuple(
        Timed(statistics.median(mine) if mine and not problem else None, problem)
        for mine, problem in zip(times, problems, strict=True)
    )


def _run(job: DeviceJob, platform: str | None, limit: float) -> tuple[dict[str, Any], dict[str, Any]]:
    with tempfile.TemporaryDirectory(prefix="clmap-device-") as name:
        folder = Path(name)
        found = run_in_child(job, folder, platform, limit)
        return found, outputs_in(folder)


def _agrees(job: DeviceJob, first: dict[str, Any], outputs: dict[str, Any]) -> bool:
    from clmap_lsp.opencl_device.on_device_run import same_outputs

    shared = {name: it for name, it in first.items() if name in outputs}
    compared = same_outputs(shared, outputs, {it.name: it.scalar for it in job.arguments})
    return all(it["equal"] for it in compared.values())

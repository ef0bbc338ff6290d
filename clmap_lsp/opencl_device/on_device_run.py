"""Run a `DeviceJob`: outputs of a first launch, times cold and warm, and the trace.

Imports neither parser nor compiler: this half works on a machine that has only NumPy and pyopencl.
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clmap_lsp.opencl_device.errors import BuildError, LaunchError
from clmap_lsp.opencl_device.on_device_job import DeviceJob
from clmap_lsp.opencl_device.on_device_trace import trace
from clmap_lsp.opencl_device.session import Session
from clmap_lsp.opencl_device.statistics import summarise
from clmap_lsp.opencl_device.timing import CacheState, Effort, Timed, Timer

WINDOW_SHARE = 8
"""The trace buffer takes at most this part of the largest allocation, and of `WINDOW_BYTES`."""
WINDOW_BYTES = 1 << 30

Outputs = dict[str, NDArray[np.uint8]]


def execute(job: DeviceJob, session: Session) -> tuple[dict[str, Any], Outputs]:
    """Return what happened as JSON-ready data, and the buffers after one launch.

    Raises: DeviceError. A trace that cannot be had is said in `trace_problem`, not raised.
    """
    started = time.monotonic()
    found: dict[str, Any] = {
        "device": session.facts.as_json(),
        "outputs": {},
        "timing": None,
        "trace": None,
        "trace_problem": job.trace_problem,
        "notes": list(job.notes),
    }
    launcher = _Launcher(job, session)
    outputs = launcher.first() if job.outputs else {}
    found["outputs"] = {
        name: {"bytes": len(data), "sha256": hashlib.sha256(data.tobytes()).hexdigest()}
        for name, data in outputs.items()
    }
    if job.time:
        found["timing"] = launcher.times()
        found["notes"].append(
            "timed launches work on what the launch before left in the buffers, as repeated launches do"
        )
    if job.trace is not None:
        _trace_into(found, job, session, launcher)
    found["seconds"] = time.monotonic() - started
    return found, outputs


class _Launcher:
    """The plain kernel with its arguments."""

    def __init__(self, job: DeviceJob, session: Session) -> None:
        self._job = job
        self._session = session
        with _include_folder(job) as options:
            program = session.build(job.source, [*job.options, *options])
        self._kernel = session.kernel(program, job.kernel)
        self._start = {it.name: it.contents() for it in job.arguments if it.kind != "local"}

    def arguments(self) -> list[Any]:
        """Return the kernel's arguments, buffers filled as at the start."""
        made: list[Any] = []
        for it in self._job.arguments:
            if it.kind == "local":
                made.append(self._session.local(max(it.bytes, 1)))
            elif it.kind == "value":
                made.append(self._start[it.name])
            elif it.bytes == 0:
                made.append(None)
            else:
                made.append(self._session.buffer_from(self._start[it.name]))
        return made

    def first(self) -> Outputs:
        """Launch once from fresh inputs and return every buffer."""
        made = self.arguments()
        self._session.set_arguments(self._kernel, *made)
        job = self._job
        self._session.launch(self._kernel, job.global_size, job.local_size, job.global_offset or None)
        self._session.finish()
        return {
            it.name: self._session.read(buffer, np.uint8, it.bytes)
            for it, buffer in zip(job.arguments, made, strict=True)
            if it.kind == "buffer" and it.bytes
        }

    def times(self) -> dict[str, Any]:
        """Return event times, cold and warm, in seconds."""
        job, session = self._job, self._session
        timer = Timer(session)
        timed = Timed(self._kernel, tuple(self.arguments()), job.global_size, job.local_size)
        effort = Effort(max_seconds=job.max_seconds)
        series: dict[str, Any] = {}
        for state in CacheState:
            sample = summarise(timer.compare({"kernel": timed}, state, effort)["kernel"])
            series[state.value] = dataclasses.asdict(sample)
        series["overhead"] = timer.overhead(job.global_size, job.local_size)
        return series


_DEPTH = "a/b/c/d"
"""Where the source is taken to lie in the folder of includes, so that `../` of theirs stays inside."""


@contextmanager
def _include_folder(job: DeviceJob) -> Iterator[list[str]]:
    """Write the included files where the driver's compiler finds them; yield the option that says where.

    Raises: LaunchError if one lies too far up, or nothing can be written.
    """
    if not job.includes:
        yield []
        return
    try:
        with tempfile.TemporaryDirectory(prefix="clmap-") as folder:
            root = Path(folder).resolve()
            for place, text in job.includes:
                path = Path(os.path.normpath(root / _DEPTH / place))
                if not path.is_relative_to(root):
                    raise LaunchError(f"the include {place} lies too far from the source")
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            (root / _DEPTH).mkdir(parents=True, exist_ok=True)
            yield [f"-I{root / _DEPTH}"]
    except OSError as error:
        raise LaunchError(f"the includes cannot be written for the driver: {error}") from error


def _trace_into(found: dict[str, Any], job: DeviceJob, session: Session, launcher: _Launcher) -> None:
    room = min(WINDOW_BYTES, session.facts.max_alloc_bytes // WINDOW_SHARE) // 16
    try:
        result = trace(session, job, launcher.arguments, room)
    except (BuildError, LaunchError) as error:
        found["trace_problem"] = f"the instrumented copy could not be run: {error}"
        return
    found["trace"] = {
        "metrics": {
            **dataclasses.asdict(result.metrics),
            "definition": result.metrics.definition.value,
            "lmae": list(result.metrics.lmae),
            "psl": list(result.metrics.psl),
        },
        "executions": {str(number): count for number, count in result.executions.items()},
        "method": "sampled" if result.is_sampled else "full",
        "events": result.events,
        "groups": result.groups,
        "all_groups": result.all_groups,
        "unresolved": result.unresolved,
    }
    if result.unresolved:
        found["notes"].append(f"{result.unresolved} accesses lie outside every buffer and are left out")


def same_outputs(first: Outputs, second: Outputs, scalars: dict[str, str]) -> dict[str, Any]:
    """Compare buffers: bit for bit for integers, within a tolerance for floats.

    Args:
        scalars: OpenCL's name of each buffer's scalars.
    Returns: for each buffer `equal`, `exact`, and the largest error relative to the largest value.
    """
    return {
        name: _same(first[name], second[name], scalars.get(name, "uchar")) for name in first if name in second
    }


TOLERANCE = {"float": 1e-4, "double": 1e-10, "half": 1e-2}
"""Relative to the buffer's largest value: sums in another order, fused operations, and built-in functions
within OpenCL's error bounds differ by less; a wrong element by more."""


def _same(a: NDArray[np.uint8], b: NDArray[np.uint8], scalar: str) -> dict[str, Any]:
    exact = len(a) == len(b) and bool(np.array_equal(a, b))
    if exact or scalar not in TOLERANCE or len(a) != len(b):
        return {"equal": exact, "exact": exact, "error": 0.0 if exact else None}
    kind = {"float": "<f4", "double": "<f8", "half": "<f2"}[scalar]
    x, y = (it[: len(it) - len(it) % np.dtype(kind).itemsize].view(kind).astype(np.float64) for it in (a, b))
    special = ~(np.isfinite(x) & np.isfinite(y))
    if not np.array_equal(x[special], y[special], equal_nan=True):
        return {"equal": False, "exact": False, "error": None}
    scale = max(float(np.abs(y[~special]).max(initial=0.0)), np.finfo(np.float64).tiny)
    error = float(np.abs(x[~special] - y[~special]).max(initial=0.0)) / scale
    return {"equal": error <= TOLERANCE[scalar], "exact": False, "error": error}

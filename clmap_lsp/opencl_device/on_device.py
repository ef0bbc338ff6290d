"""A kernel's launch on a real device, in a process of its own, beside what the emulator found.

Drivers hang, crash their process and take devices away; here that ends a child process, never the tool. A
launch is only made if the emulator found no access outside a buffer: a device could overwrite anything.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clmap_lsp.dataclass import dataclass
from clmap_lsp.opencl_device.errors import DeviceError, DeviceLostError, DeviceMissingError, LaunchError
from clmap_lsp.opencl_device.on_device_job import NotForDevicesError, make_job
from clmap_lsp.reading import ARRAYS_BYTES, safe_read

if TYPE_CHECKING:
    from clmap_lsp.emulator.result import EmulationResult
    from clmap_lsp.launch.model import Launch
    from clmap_lsp.opencl_device.on_device_job import DeviceJob
    from clmap_lsp.source.ir import Kernel
    from clmap_lsp.source.options import BuildOptions
    from clmap_lsp.source.program import Program

DEFAULT_TIME_LIMIT_S = 60.0
_DANGEROUS = frozenset({"out-of-bounds-read", "out-of-bounds-write", "barrier-divergence", "unsupported"})
_KINDS = {it.__name__: it for it in (DeviceMissingError, DeviceLostError, LaunchError, DeviceError)}


@dataclass(frozen=True, slots=True)
class OnDevice:
    """What a device made of a launch. All data are JSON-ready."""

    device: dict[str, Any]
    timing: dict[str, Any] | None
    """`cold` and `warm`, each with median, deviation, … in seconds, and the launch `overhead`."""
    bytes: int | None
    """What the work-items ask of global memory, by the emulator's or the trace's counts."""
    outputs: dict[str, Any]
    """By buffer: equal, exact, error; see `same_outputs`."""
    trace: dict[str, Any] | None
    trace_problem: str
    notes: tuple[str, ...]

    @property
    def outputs_equal(self) -> bool:
        """Return whether every buffer agrees with the emulator's."""
        return all(it["equal"] for it in self.outputs.values())

    def gbs(self, state: str) -> float | None:
        """Return the effective bandwidth, cold or warm, in decimal GB/s: requested bytes by median time."""
        if self.timing is None or self.bytes is None or not self.timing[state]["median"]:
            return None
        return float(self.bytes / self.timing[state]["median"] * 1e-9)

    def time_text(self, state: str) -> str:
        """Return a time as in `0.412 ms ± 0.003 (41 runs), 5200 GB/s requested`; empty without one."""
        if self.timing is None:
            return ""
        it, gbs = self.timing[state], self.gbs(state)
        rate = "" if gbs is None else f", {gbs:.4g} GB/s requested"
        return f"{it['median'] * 1e3:.4g} ms ± {it['deviation'] * 1e3:.2g} ({it['runs']} runs){rate}"

    def summary(self) -> str:
        """Return it in one line: `NVIDIA H200: 0.41 ms cold, 0.38 ms warm, outputs as emulated`."""
        parts = [] if self.timing is None else [f"{it}: {self.time_text(it)}" for it in ("cold", "warm")]
        if self.outputs:
            parts.append(
                "outputs as emulated" if self.outputs_equal else "outputs DIFFER from the emulator's"
            )
        return f"{self.device['name']}: {'; '.join(parts) or 'launched'}"

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        return {
            "device": self.device,
            "timing": self.timing,
            "requested_bytes": self.bytes,
            "effective_gbs": {state: self.gbs(state) for state in ("cold", "warm")},
            "outputs": self.outputs,
            "outputs_equal": self.outputs_equal,
            "trace": self.trace,
            "trace_problem": self.trace_problem or None,
            "notes": list(self.notes),
        }


def measure(
    program: Program,
    kernel: Kernel,
    launch: Launch,
    options: BuildOptions,
    emulation: EmulationResult,
    *,
    platform: str | None = None,
    trace: bool | None = None,
    time_limit_s: float = DEFAULT_TIME_LIMIT_S,
) -> OnDevice:
    """Launch a kernel on a device.

    Args:
        emulation: of the same launch; outputs are compared with it.
        platform: a device's number or a part of its name; None: the first GPU, else the first device.
        trace: collect addresses too; None: where the emulator's budget did not reach.
        time_limit_s: wall clock for everything; the child is killed after it.
    Raises: DeviceError, one line that says what happened; NotForDevicesError.
    """
    _refuse_dangerous(emulation)
    truncated = emulation.method.value == "truncated"
    wanted = truncated if trace is None else trace
    job = make_job(
        program,
        kernel,
        launch,
        options,
        trace=wanted,
        definition=emulation.definition.value,
        local_addresses=emulation.local_addresses.value,
        max_seconds=min(5.0, time_limit_s / 6),
    )
    with tempfile.TemporaryDirectory(prefix="clmap-device-") as name:
        folder = Path(name)
        found = run_in_child(job, folder, platform, time_limit_s)
        compared = {} if truncated else _compared(job, folder, emulation)
    notes = list(found["notes"])
    if truncated:
        notes.append("outputs are not compared: the emulator did not run to the end")
    return OnDevice(
        found["device"],
        found["timing"],
        _requested(kernel, found["trace"], None if truncated else emulation),
        compared,
        found["trace"],
        found["trace_problem"],
        tuple(notes),
    )


def _refuse_dangerous(emulation: EmulationResult) -> None:
    for fault in emulation.faults:
        if fault.kind.value in _DANGEROUS:
            raise NotForDevicesError(
                f"not launched on a device: the emulator found {fault.kind.value} ({fault.detail}); "
                "fix that first"
            )


def run_in_child(job: DeviceJob, folder: Path, platform: str | None, time_limit_s: float) -> dict[str, Any]:
    """Run a job in a process of its own; outputs are left in `folder` as `outputs.npz`.

    Raises: DeviceError.
    """
    request, reply = folder / "job.json", folder / "result.json"
    request.write_text(json.dumps({"job": job.as_json(), "platform": platform}), encoding="utf-8")
    command = [sys.executable, "-P", "-m", "clmap_lsp.opencl_device.on_device_child", str(folder)]
    with (folder / "stderr").open("wb") as errors:
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=errors,
            stderr=errors,
            start_new_session=os.name == "posix",
        )
        try:
            code = child.wait(time_limit_s)
        except subprocess.TimeoutExpired:
            raise DeviceLostError(
                f"the device did not finish within {time_limit_s:g} s; raise --device-time-limit, or it hangs"
            ) from None
        finally:
            _end(child)
    if reply.exists():
        found: dict[str, Any] = json.loads(safe_read(reply, limit=ARRAYS_BYTES, within=None))
        if "error" in found:
            raise _KINDS.get(found["kind"], DeviceError)(found["error"])
        return found
    raise DeviceLostError(f"the driver ended the measuring process ({_ended(code)}){_last_words(folder)}")


def _end(child: subprocess.Popen[bytes]) -> None:
    """Kill what still runs. A process that is stuck in the driver is not waited for."""
    if child.poll() is not None:
        return
    child.kill()
    with contextlib.suppress(subprocess.TimeoutExpired):
        child.wait(2.0)


def _ended(code: int) -> str:
    import signal

    if code < 0:
        with contextlib.suppress(ValueError):
            return signal.Signals(-code).name
    return f"exit code {code}"


def _last_words(folder: Path) -> str:
    lines = (
        safe_read(folder / "stderr", limit=ARRAYS_BYTES, within=None)
        .decode(errors="replace")
        .strip()
        .splitlines()
    )
    return f": {lines[-1][:200]}" if lines else ""


def outputs_in(folder: Path) -> dict[str, Any]:
    """Return the buffers that a job left in its folder, by name, as flat arrays of scalars."""
    import numpy as np

    data = safe_read(folder / "outputs.npz", limit=ARRAYS_BYTES, within=None)
    with np.load(io.BytesIO(data)) as stored:
        return {name: stored[name] for name in stored.files}


def _compared(job: DeviceJob, folder: Path, emulation: EmulationResult) -> dict[str, Any]:
    from clmap_lsp.opencl_device.on_device_run import same_outputs

    outputs = outputs_in(folder)
    expected = {name: it.data for name, it in emulation.buffers.items()}
    return same_outputs(outputs, expected, {it.name: it.scalar for it in job.arguments})


def _requested(kernel: Kernel, trace: Any, emulation: EmulationResult | None) -> int | None:
    """Return the bytes of all accesses to global and constant memory; None where no counts are complete."""
    if emulation is not None:
        return sum(
            it.executions * it.element_bytes for it in emulation.sites if it.space in ("global", "constant")
        )
    if trace is None or trace["method"] != "full":
        return None
    from clmap_lsp.emulator.plan import make_plan
    from clmap_lsp.emulator.site_table import site_table

    executions: dict[str, int] = trace["executions"]
    return sum(
        executions.get(str(it.trace_site), 0) * it.size
        for it in site_table(make_plan(kernel))
        if it.space in ("global", "constant")
    )

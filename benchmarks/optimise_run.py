"""Time prepared versions of kernels on an OpenCL device, interleaved. Needs NumPy and pyopencl only."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.buffers import agreement, contents

WARM_UPS = 2
ROUNDS = 15
SECONDS_A_CASE = 6.0
METHOD = (
    f"OpenCL profiling events (start to end), medians of up to {ROUNDS} rounds in which every version of a "
    f"kernel runs once, after {WARM_UPS} warm-ups; buffers on the device, outputs compared after one run"
)


def run(document: Mapping[str, Any], only: str = "") -> dict[str, Any]:
    """Time every version of every case; texts are left out of what is returned."""
    import pyopencl as cl

    devices = [device for platform in cl.get_platforms() for device in platform.get_devices()]
    gpus = [it for it in devices if it.type & cl.device_type.GPU]
    context = cl.Context([(gpus or devices)[0]])
    queue = cl.CommandQueue(context, properties=cl.command_queue_properties.PROFILING_ENABLE)
    cases = []
    for case in document["cases"]:
        if only not in case["name"]:
            continue
        start = time.perf_counter()
        cases.append({**case, "versions": _timed(cl, context, queue, case)})
        print(_line(cases[-1]), f"{time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)
    device = context.devices[0]
    return {
        "schema": 1,
        "device": {
            "name": device.name.strip(),
            "version": device.version.strip(),
            "driver": device.driver_version.strip(),
            "platform": device.platform.name.strip(),
            "compute_units": device.max_compute_units,
        },
        "method": METHOD,
        "predicted_for": document["device"],
        "cases": cases,
    }


def _timed(cl: Any, context: Any, queue: Any, case: Mapping[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    runs = []
    reference: dict[str, NDArray[Any]] = {}
    kept: dict[str, NDArray[Any]] = {}
    for version in case["versions"]:
        result = {
            key: value for key, value in version.items() if key not in ("source", "arguments", "titles")
        }
        found.append(result)
        try:
            enqueue, buffers = _made(cl, context, queue, case, version, kept)
            enqueue()
        except cl.Error as error:
            result["error"] = str(error)[:400]
            continue
        outputs = {}
        for name, (buffer, dtype, size) in buffers.items():
            outputs[name] = np.empty(size, dtype)
            cl.enqueue_copy(queue, outputs[name], buffer)
        result["outputs"] = agreement(reference, outputs) if reference else "the reference"
        reference = reference or outputs
        runs.append((result, enqueue, [it[0] for it in buffers.values()]))
    for _ in range(WARM_UPS):
        for _, enqueue, _ in runs:
            enqueue()
    times: dict[int, list[float]] = {id(result): [] for result, _, _ in runs}
    end = time.perf_counter() + SECONDS_A_CASE
    for at in range(ROUNDS):
        for result, enqueue, _ in runs:
            times[id(result)].append(enqueue())
        if at >= 3 and time.perf_counter() > end:
            break
    for result, _, buffers in runs:
        mine = times[id(result)]
        result["milliseconds"], result["runs"] = float(np.median(mine)), len(mine)
        result["fastest"], result["slowest"] = min(mine), max(mine)
        for buffer in buffers:
            buffer.release()
    return found


def _made(
    cl: Any,
    context: Any,
    queue: Any,
    case: Mapping[str, Any],
    version: Mapping[str, Any],
    kept: dict[str, NDArray[Any]],
) -> tuple[Any, dict[str, Any]]:
    """Return what runs a version once, in milliseconds, and its buffers."""
    program = cl.Program(context, version["source"]).build(["-cl-std=CL1.2", *case["options"]])
    kernel = cl.Kernel(program, case["kernel"])
    buffers = {}
    for at, argument in enumerate(version["arguments"]):
        if argument["kind"] == "buffer":
            key = repr([argument[it] for it in ("dtype", "scalars", "fill", "text", "seed")])
            if key not in kept:
                kept[key] = contents(argument)
            data = kept[key]
            flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
            buffer = cl.Buffer(context, flags, hostbuf=data)
            buffers[argument["name"]] = (buffer, data.dtype, data.size)
            kernel.set_arg(at, buffer)
        elif argument["kind"] == "local":
            kernel.set_arg(at, cl.LocalMemory(argument["bytes"]))
        else:
            kernel.set_arg(at, np.frombuffer(bytes.fromhex(argument["hex"]), np.uint8))

    def once() -> float:
        event = cl.enqueue_nd_range_kernel(queue, kernel, version["global"], version["local"])
        event.wait()
        return float(event.profile.end - event.profile.start) * 1e-6

    return once, buffers


def _line(case: Mapping[str, Any]) -> str:
    first = case["versions"][0].get("milliseconds")
    parts = []
    for it in case["versions"][1:]:
        if "error" in it or not first:
            parts.append(it.get("error", "?")[:120])
        else:
            before = case["versions"][0]["predicted"]
            predicted = f"{before / it['predicted']:.2f}" if before else "unknown"
            parts.append(f"{first / it['milliseconds']:.2f} ({predicted})")
    outputs = [it.get("outputs") for it in case["versions"][1:]]
    return f"{case['name']}: {first} ms; {', '.join(parts)}; {outputs}"

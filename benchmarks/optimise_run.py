"""Time prepared versions of kernels on an OpenCL device, interleaved. Needs NumPy and pyopencl only."""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.buffers import agreement, contents

WARM_UPS = 2
ROUNDS = 15
SECONDS_A_CASE = 6.0
AHEAD = 4
"""Cases whose data are made while one is measured."""
METHOD = (
    f"OpenCL profiling events (start to end), medians of up to {ROUNDS} rounds in which every version of a "
    f"kernel runs once, after {WARM_UPS} warm-ups; buffers on the device, outputs compared after one run"
)


def run(
    document: Mapping[str, Any],
    only: str = "",
    *,
    most: int | None = None,
    seconds_a_case: float = SECONDS_A_CASE,
    after_each: Callable[[dict[str, Any]], None] = lambda _: None,
) -> dict[str, Any]:
    """Time every version of every case; texts are left out of what is returned.

    Args:
        most: versions of a case at most, besides those of others that are a yardstick.
        after_each: called with all that is known after each case.
    """
    import pyopencl as cl

    devices = [device for platform in cl.get_platforms() for device in platform.get_devices()]
    gpus = [it for it in devices if it.type & cl.device_type.GPU]
    context = cl.Context([(gpus or devices)[0]])
    queue = cl.CommandQueue(context, properties=cl.command_queue_properties.PROFILING_ENABLE)
    device = context.devices[0]
    result: dict[str, Any] = {
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
        "cases": [],
    }
    chosen = [_shortened(it, most) for it in document["cases"] if only in it["name"]]
    with ThreadPoolExecutor(AHEAD) as pool:
        made = deque(pool.submit(_contents, it) for it in chosen[:AHEAD])
        for at, case in enumerate(chosen):
            start = time.perf_counter()
            kept = made.popleft().result()
            if at + AHEAD < len(chosen):  # While one case runs the next ones' data are made.
                made.append(pool.submit(_contents, chosen[at + AHEAD]))
            result["cases"].append(
                {**case, "versions": _timed(cl, context, queue, case, kept, seconds_a_case)}
            )
            after_each(result)
            line = _line(result["cases"][-1])
            print(line, f"{time.perf_counter() - start:.1f} s", file=sys.stderr, flush=True)
    return result


def _shortened(case: Mapping[str, Any], most: int | None) -> dict[str, Any]:
    own = [it for it in case["versions"] if not it.get("yardstick")]
    return {**case, "versions": own[:most] + [it for it in case["versions"] if it.get("yardstick")]}


def _contents(case: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
    """Return the contents of a case's buffers, each once."""
    kept: dict[str, NDArray[Any]] = {}
    for version in case["versions"]:
        for argument in version["arguments"]:
            if argument["kind"] == "buffer" and _key(argument) not in kept:
                kept[_key(argument)] = contents(argument)
    return kept


def _key(argument: Mapping[str, Any]) -> str:
    return repr([argument[it] for it in ("dtype", "scalars", "fill", "text", "seed")])


def _timed(
    cl: Any,
    context: Any,
    queue: Any,
    case: Mapping[str, Any],
    kept: Mapping[str, NDArray[Any]],
    seconds: float,
) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    runs = []
    reference: dict[str, NDArray[Any]] = {}
    for version in case["versions"]:
        left_out = ("source", "arguments", "titles", "options", "kernel")
        result = {key: value for key, value in version.items() if key not in left_out}
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
    end = time.perf_counter() + seconds
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
    kept: Mapping[str, NDArray[Any]],
) -> tuple[Any, dict[str, Any]]:
    """Return what runs a version once, in milliseconds, and its buffers."""
    options = version.get("options", case["options"])
    program = cl.Program(context, version["source"]).build(["-cl-std=CL1.2", *options])
    kernel = cl.Kernel(program, version.get("kernel", case["kernel"]))
    buffers = {}
    for at, argument in enumerate(version["arguments"]):
        if argument["kind"] == "buffer":
            data = kept[_key(argument)]
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
            predicted = f"{before / it['predicted']:.2f}" if before and it["predicted"] else "unknown"
            parts.append(f"{first / it['milliseconds']:.2f} ({predicted})")
    outputs = [it.get("outputs") for it in case["versions"][1:]]
    return f"{case['name']}: {first} ms; {', '.join(parts)}; {outputs}"

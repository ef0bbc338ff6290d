"""Time prepared kernels on an OpenCL device. Needs only NumPy and pyopencl."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.buffers import agreement, contents

WARM_UPS = 2
LEAST_RUNS = 5
MOST_RUNS = 30
SECONDS_A_KERNEL = 0.4
METHOD = (
    f"OpenCL profiling events (start to end), median of {LEAST_RUNS} to {MOST_RUNS} runs "
    f"(about {SECONDS_A_KERNEL} s a kernel) after {WARM_UPS} warm-ups; buffers on the device"
)


def run(document: Mapping[str, Any], size: str, only: str = "") -> dict[str, Any]:
    """Time every step of every ladder.

    Args:
        document: as `ladder.prepare` gives it.
        size: `large` or `small`, which launch to take.
        only: part of a ladder's name; others are left out.
    """
    import pyopencl as cl

    context = cl.Context([_device(cl)])
    queue = cl.CommandQueue(context, properties=cl.command_queue_properties.PROFILING_ENABLE)
    ladders = []
    for ladder in document["ladders"]:
        if only in ladder["name"]:
            ladders.append({**ladder, "steps": _steps(cl, context, queue, ladder["steps"], size)})
    device = context.devices[0]
    return {
        "schema": 1,
        "device": {
            "name": device.name.strip(),
            "vendor": device.vendor.strip(),
            "version": device.version.strip(),
            "driver": device.driver_version.strip(),
            "platform": device.platform.name.strip(),
            "compute_units": device.max_compute_units,
        },
        "method": METHOD,
        "size": size,
        "predicted_for": document["device"],
        "ladders": ladders,
    }


def _device(cl: Any) -> Any:
    """Return the first GPU, or the first device of any kind."""
    devices = [device for platform in cl.get_platforms() for device in platform.get_devices()]
    gpus = [it for it in devices if it.type & cl.device_type.GPU]
    if not devices:
        raise SystemExit("no OpenCL device was found; install a driver or PoCL")
    return (gpus or devices)[0]


def _steps(cl: Any, context: Any, queue: Any, steps: Sequence[Mapping[str, Any]], size: str) -> list[Any]:
    found: list[dict[str, Any]] = []
    reference: dict[str, NDArray[Any]] = {}
    for step in steps:
        launch = step["launches"][size]
        kept = {key: value for key, value in step.items() if key != "launches"}
        base = found[step["after"]] if step["after"] is not None else None
        try:
            times, outputs = _timed(cl, context, queue, step, launch)
        except cl.Error as error:
            found.append({**kept, "error": str(error)[:400]})
            continue
        reference = reference or outputs
        median = float(np.median(times))
        result = {
            **kept,
            "milliseconds": median,
            "fastest": float(np.min(times)),
            "slowest": float(np.max(times)),
            "runs": len(times),
            "gflops": launch["flops"] / median / 1e6 if launch["flops"] else None,
            "gbytes_per_s": launch["bytes"] / median / 1e6 if launch["bytes"] else None,
            "outputs": agreement(reference, outputs),
        }
        for name, other in (("speedup", base), ("speedup_over_first", found[0] if found else None)):
            if other is not None and "milliseconds" in other:
                result[name] = other["milliseconds"] / median
        found.append(result)
    return found


def _timed(
    cl: Any, context: Any, queue: Any, step: Mapping[str, Any], launch: Mapping[str, Any]
) -> tuple[list[float], dict[str, NDArray[Any]]]:
    program = cl.Program(context, step["source"]).build(step["options"])
    kernel = cl.Kernel(program, step["kernel"])
    buffers: dict[str, tuple[Any, NDArray[Any]]] = {}
    for at, argument in enumerate(launch["arguments"]):
        if argument["kind"] == "buffer":
            data = contents(argument)
            flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
            buffers[argument["name"]] = (cl.Buffer(context, flags, hostbuf=data), data)
            kernel.set_arg(at, buffers[argument["name"]][0])
        elif argument["kind"] == "local":
            kernel.set_arg(at, cl.LocalMemory(argument["bytes"]))
        else:
            kernel.set_arg(at, np.frombuffer(bytes.fromhex(argument["hex"]), np.uint8))

    def once() -> float:
        event = cl.enqueue_nd_range_kernel(queue, kernel, launch["global"], launch["local"])
        event.wait()
        return float(event.profile.end - event.profile.start) * 1e-6

    once()
    outputs = {}
    for name, (buffer, data) in buffers.items():
        outputs[name] = np.empty_like(data)
        cl.enqueue_copy(queue, outputs[name], buffer)
    for _ in range(WARM_UPS - 1):
        once()
    times: list[float] = []
    end = time.perf_counter() + SECONDS_A_KERNEL
    while len(times) < MOST_RUNS and (len(times) < LEAST_RUNS or time.perf_counter() < end):
        times.append(once())
    for buffer, _ in buffers.values():
        buffer.release()
    return times, outputs


def table(document: Mapping[str, Any]) -> str:
    """Return the times as text."""
    device = document["device"]
    lines = [
        f"{device['name']}, driver {device['driver']} ({document['size']} launches)",
        document["method"],
        "",
    ]
    head = f"{'step':<64}{'ms':>10}{'GFLOP/s':>10}{'GB/s':>9}{'step':>8}{'all':>8}  outputs"
    for ladder in document["ladders"]:
        lines += [ladder["name"], head]
        for step in ladder["steps"]:
            mark = "  alone: " if step["alone"] else "  "
            title = (mark + step["title"])[:63]
            if "error" in step:
                lines.append(f"{title:<64} {step['error']}")
                continue
            figures = (
                f"{step['milliseconds']:>10.3f}{_number(step['gflops'], 10)}"
                f"{_number(step['gbytes_per_s'], 9)}"
                f"{_number(step.get('speedup'), 8, 2)}{_number(step.get('speedup_over_first'), 8, 2)}"
            )
            lines.append(f"{title:<64}{figures}  {step['outputs']}")
        lines.append("")
    return "\n".join(lines)


def _number(value: float | None, width: int, digits: int = 1) -> str:
    return f"{'-' if value is None else f'{value:.{digits}f}':>{width}}"

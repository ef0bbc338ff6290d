"""Rewrites that the books name and the search does not offer, and the second level's latency, on a device.

    python -m benchmarks.by_hand --out benchmarks/results/by_hand_h200.json

Every form of a kernel runs once a round, in turns; the figures are medians of rounds by OpenCL's profiling
events, outputs are compared. `docs/optimise.md` and `docs/time.md` say what they mean.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyopencl as cl

ROUNDS = 6
COUNTS = """
__kernel void counts(__global const uchar *data, __global uint *bins, const int each)
{
    __local uint here[BINS * COPIES];
    const int lane = get_local_id(0), lanes = get_local_size(0);
    for (int b = lane; b < BINS * COPIES; b += lanes) here[b] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int e = 0; e < each; e++) {
        const int bin = data[(get_group_id(0) * each + e) * lanes + lane] & (BINS - 1);
        atomic_inc(&here[PLACE]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int bin = lane; bin < BINS; bin += lanes) {
        uint sum = 0;
        for (int copy = 0; copy < COPIES; copy++) sum += here[SUM];
        atomic_add(&bins[bin], sum);
    }
}
"""
LAYOUTS = {
    "beside": ("bin*COPIES+(lane&(COPIES-1))", "bin*COPIES+copy"),
    "apart": ("(lane&(COPIES-1))*BINS+bin", "copy*BINS+bin"),
    "SIMD group": ("((lane/32)&(COPIES-1))*BINS+bin", "copy*BINS+bin"),
}
CHASE = """
__kernel void chase(__global const uint *next, __global uint *out, const uint steps)
{
    uint at = 0;
    for (uint i = 0; i < steps; i++) at = next[at];
    out[0] = at;
}
"""
LOOPS = {
    "column_sum": "s += a[k * n + g];",
    "row_sum": "s += a[g * m + k];",
    "gather": "s += a[ix[k * n + g]];",
    "polynomial": "s = fma(s, a[g], (float)k);",
    "shared_row": "s += a[k] * a[k + g];",
    "two_sums": "s += a[k * n + g]; r += s * 0.5f;",
    "maximum": "const float v = a[k * n + g]; if (v > s) s = v;",
}
BEFORE = {
    "unroll 1": "#pragma unroll 1\n",
    "unroll 8": "#pragma unroll 8\n",
    "hint 4": "__attribute__((opencl_unroll_hint(4))) ",
}


def main() -> int:
    """Measure, and write the figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    context = cl.create_some_context(interactive=False)
    queue = cl.CommandQueue(context, properties=cl.command_queue_properties.PROFILING_ENABLE)
    device = context.devices[0]
    found = {
        "device": device.name,
        "driver": device.driver_version,
        "method": f"OpenCL profiling events, medians of {ROUNDS} rounds in turns; outputs compared",
        "extensions": device.extensions,
        "copies_ms": copies(queue),
        "loops_ms": loops(queue),
        "chase_ns": chase(queue),
    }
    args.out.write_text(json.dumps(found, indent=0) + "\n", "utf-8")
    return 0


def in_turns(forms: dict[str, Callable[[], Any]], output: Callable[[], Any]) -> dict[str, float]:
    """Return the median milliseconds of each form; all must give the same output."""
    times: dict[str, list[float]] = {name: [] for name in forms}
    wanted = None
    for count in range(ROUNDS + 1):
        for name, run in forms.items():
            event = run()
            event.wait()
            if count:
                times[name].append((event.profile.end - event.profile.start) * 1e-6)
                continue
            got = output()
            wanted = got if wanted is None else wanted
            assert np.array_equal(got, wanted), name
    return {name: statistics.median(it) for name, it in times.items()}


def copies(queue: cl.CommandQueue) -> list[dict[str, Any]]:
    """Time histograms with several copies in local memory."""
    count, rng = 1 << 26, np.random.default_rng(3)
    data = {
        "random": rng.integers(0, 256, count, dtype=np.uint8),
        "same": np.full(count, 77, np.uint8),
        "runs": np.repeat(rng.integers(0, 256, count >> 8, dtype=np.uint8), 256),
        "normal": np.clip(rng.normal(128, 20, count), 0, 255).astype(np.uint8),
    }
    found = []
    for what, values in data.items():
        source = _buffer(queue, values)
        for bins in (16, 64, 256):
            result = np.empty(bins, np.uint32)
            target = cl.Buffer(queue.context, cl.mem_flags.READ_WRITE, result.nbytes)
            forms: dict[str, Callable[[], Any]] = {}
            for number in (1, 2, 4, 8, 16, 32):
                for name, (place, total) in LAYOUTS.items() if number > 1 else (("one", ("bin", "bin")),):
                    if bins * number * 4 > 32768:
                        continue
                    options = [f"-DBINS={bins}", f"-DCOPIES={number}", f"-DPLACE={place}", f"-DSUM={total}"]
                    kernel = cl.Kernel(cl.Program(queue.context, COUNTS).build(options), "counts")
                    forms[f"{number} {name}"] = _counting(queue, kernel, source, target, count)
            found.append(
                {"data": what, "bins": bins, "ms": in_turns(forms, partial(_read, queue, target, result))}
            )
    return found


def _counting(queue: Any, kernel: Any, source: Any, target: Any, count: int) -> Callable[[], Any]:
    def run() -> Any:
        cl.enqueue_fill_buffer(queue, target, np.uint32(0), 0, target.size).wait()
        return kernel(queue, (count // 64,), (256,), source, target, np.int32(64))

    return run


def loop(name: str, form: str) -> str:
    """Return a kernel with one loop, as it is, with a hint, or unrolled by hand (`by 4`)."""
    body = LOOPS[name]
    text = f"for (int k = 0; k < m; k++) {{ {body} }}"
    if form.startswith("by "):
        times = int(form[3:])
        parts = " ".join(f"{{ const int k = q + {it}; {body} }}" for it in range(times))
        text = (
            f"int q = 0; for (; q + {times - 1} < m; q += {times}) {{ {parts} }}"
            f" for (; q < m; q++) {{ const int k = q; {body} }}"
        )
    return (
        "__kernel void f(__global const float *a, __global float *b, const int n, const int m,"
        " __global const int *ix)\n{ const int g = get_global_id(0); float s = 0.0f, r = 0.0f;\n"
        f"{BEFORE.get(form, '')}{text}\nb[g] = s + r; }}"
    )


def loops(queue: cl.CommandQueue) -> list[dict[str, Any]]:
    """Time loops as they are, with hints, and unrolled by hand."""
    found = []
    for items, m in ((1 << 20, 61), (1 << 14, 4003), (1 << 12, 4003)):
        values = np.full(items * m + 16, 0.5, np.float32)
        indices = np.random.default_rng(3).integers(0, items * m, items * m, dtype=np.int32)
        a, ix = _buffer(queue, values), _buffer(queue, indices)
        result = np.empty(items, np.float32)
        b = cl.Buffer(queue.context, cl.mem_flags.READ_WRITE, result.nbytes)
        for name in LOOPS:
            forms: dict[str, Callable[[], Any]] = {}
            for form in ("plain", *BEFORE, "by 4", "by 8"):
                kernel = cl.Kernel(cl.Program(queue.context, loop(name, form)).build(), "f")
                kernel.set_args(a, b, np.int32(items), np.int32(m), ix)
                forms[form] = partial(cl.enqueue_nd_range_kernel, queue, kernel, (items,), (128,))
            times = in_turns(forms, partial(_read, queue, b, result))
            found.append({"loop": name, "work_items": items, "iterations": m, "ms": times})
        for it in (a, b, ix):
            it.release()
    return found


def chase(queue: cl.CommandQueue) -> list[dict[str, Any]]:
    """Time one work-item that follows a chain through lines of 128 bytes, by footprint."""
    kernel = cl.Kernel(cl.Program(queue.context, CHASE).build(), "chase")
    target = cl.Buffer(queue.context, cl.mem_flags.READ_WRITE, 4)
    found = []
    for mebibytes in (0.125, 0.5, 1, 4, 8, 16, 20, 24, 28, 32, 40, 48, 56, 64, 96, 128):
        lines = int(mebibytes * 8192)
        order = np.arange(lines)
        following = np.zeros(lines * 32, np.uint32)
        following[order * 32] = np.roll(order, -1).astype(np.uint32) * 32
        chain, steps = _buffer(queue, following), np.uint32(max(2 * lines, 20000))
        times = in_turns(
            {"once more": partial(kernel, queue, (1,), (1,), chain, target, steps)},
            partial(_read, queue, target, np.empty(1, np.uint32)),
        )
        found.append({"mebibytes": mebibytes, "ns": times["once more"] * 1e6 / int(steps)})
        chain.release()
    return found


def _buffer(queue: cl.CommandQueue, values: Any) -> Any:
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    return cl.Buffer(queue.context, flags, hostbuf=values)


def _read(queue: cl.CommandQueue, source: Any, into: Any) -> Any:
    cl.enqueue_copy(queue, into, source).wait()
    return into.copy()


if __name__ == "__main__":
    raise SystemExit(main())

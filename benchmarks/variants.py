"""Variants of one computation on a device, against the order that our estimate gives them.

Two steps, so that the machine with the device needs neither this package nor the fixtures:

    python -m benchmarks.variants --prepare variants.json      here: sources, launches, estimates
    python variants.py --run variants.json --out times.json    there: Python, NumPy, pyopencl
    python -m benchmarks.variants --table times.json           Markdown for docs/memory_selection.md

First the matrix-multiply variants of the Hands-On OpenCL course; then constant against global, image and
local memory for the access patterns that memory selection tells apart, at several sizes.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

ORDER = 1024
"""Rows and columns of the matrices that are timed."""
ESTIMATED_ORDER = 256
REPETITIONS = 9
BUDGET_S = 3.0
"""Seconds after which one case is not repeated any more."""
MATMUL = [
    ("simple", "mm_simple", 0),
    ("row_per_item", "mm_row", 0),
    ("row_private", "mm_row_private", 0),
    ("row_private_column_local", "mm_row_private_local", 0),
    ("blocked", "mm_blocked_swapped", 8),
    ("blocked", "mm_blocked_swapped", 16),
    ("blocked", "mm_blocked_swapped", 32),
]
ITEMS = 1 << 20
READS = 64
SIZES = [256, 1024, 4096, 16384]
"""Elements of the array that is placed in one memory or another."""
PATTERNS = {
    "same address": "(j * 7 + n / 3) % SIZE",
    "linear": "(gid + j * 64) % SIZE",
    "non-unit stride": "(gid * 17 + j) % SIZE",
    "random": "(gid * 1103515245u + j * 12345u) / 65536u % SIZE",
}
MEMORIES = {
    "global": ("__global const float *restrict table", "", "table[at]"),
    "constant": ("__constant float *table", "", "table[at]"),
    "image": ("read_only image1d_buffer_t table", "", "read_imagef(table, (int)at).x"),
    "local": (
        "__global const float *restrict table",
        "__local float kept[SIZE];\n"
        "    for (uint k = get_local_id(0); k < SIZE; k += get_local_size(0))\n"
        "        kept[k] = table[k];\n"
        "    barrier(CLK_LOCAL_MEM_FENCE);",
        "kept[at]",
    ),
}
MOST_CONSTANT_BYTES = 65536
MOST_LOCAL_BYTES = 49152


# ------------------------------------------------------------------------------------------------ prepare


def prepare(device: str, compute_units: int) -> dict[str, Any]:
    return {
        "schema": 1,
        "matmul": [_matmul_case(it, device, compute_units) for it in MATMUL],
        "placement": [
            _placement_case(memory, pattern, size)
            for pattern in PATTERNS
            for size in SIZES
            for memory in MEMORIES
            if _fits(memory, size)
        ],
    }


def _fits(memory: str, size: int) -> bool:
    limit = {"constant": MOST_CONSTANT_BYTES, "local": MOST_LOCAL_BYTES}.get(memory)
    return limit is None or size * 4 <= limit


def _matmul_case(variant: tuple[str, str, int], device: str, compute_units: int) -> dict[str, Any]:
    from clmap_lsp.hierarchy.cost import Estimate, estimate

    file, kernel, block = variant
    path = Path(__file__).parents[1] / "fixtures" / "matmul" / f"{file}.cl"
    text = path.read_text(encoding="utf-8")
    analysis, model = _analysed(text, kernel, block, device)
    found = estimate(analysis, model, compute_units)
    two = block or file == "simple"
    local = [block, block] if block else [16, 16] if two else [64]
    return {
        "name": f"{file} {block}x{block}" if block else file,
        "kernel": kernel,
        "source": text,
        "options": [f"-DBLOCK={block}"] if block else [f"-DMAX_N={ORDER}"],
        "global": [ORDER, ORDER] if two else [ORDER],
        "local": local,
        "local_floats": [block * block] * 2 if block else [ORDER] if "local" in file else [],
        "estimate": found.cost if isinstance(found, Estimate) else None,
        "estimate_reason": None if isinstance(found, Estimate) else found,
    }


def _analysed(text: str, kernel: str, block: int, device: str) -> tuple[Any, Any]:
    from clmap_lsp.analysis.launching import LaunchSources
    from clmap_lsp.analysis.session import AnalysisSession
    from clmap_lsp.devices import load_model
    from clmap_lsp.launch.partial import PartialLaunch, from_options
    from clmap_lsp.source.options import BuildOptions
    from clmap_lsp.source.read import read_program

    options = BuildOptions(defines=(("BLOCK", str(block)),)) if block else BuildOptions()
    program = read_program(text, f"{kernel}.cl", options)
    size = f"{ESTIMATED_ORDER},{ESTIMATED_ORDER}" if block else None
    tiles = [f"{name}=local({block * block})" for name in ("a_block", "b_block")] if block else []
    given = from_options(kernel, size, f"{block},{block}" if block else None, tiles)
    if not isinstance(given, PartialLaunch):
        raise SystemExit(str(given))
    model = load_model(device)
    (found,) = AnalysisSession().analyse(program, model, LaunchSources(given), only=kernel).kernels
    return found, model


def _placement_case(memory: str, pattern: str, size: int) -> dict[str, Any]:
    parameter, staging, read = MEMORIES[memory]
    source = f"""
#define SIZE {size}u
__kernel void placed({parameter}, __global float *restrict out, const uint n)
{{
    {staging}
    const uint gid = get_global_id(0);
    float sum = 0.0f;
    for (uint j = 0; j < n; j++) {{
        const uint at = {PATTERNS[pattern]};
        sum += {read};
    }}
    out[gid] = sum;
}}
"""
    return {"memory": memory, "pattern": pattern, "size": size, "source": source}


# ---------------------------------------------------------------------------------------------------- run


def run(cases: dict[str, Any]) -> dict[str, Any]:
    import pyopencl as cl

    context = cl.Context([cl.get_platforms()[0].get_devices()[0]])
    device = context.devices[0]
    queue = cl.CommandQueue(context, properties=cl.command_queue_properties.PROFILING_ENABLE)
    return {
        "schema": 1,
        "device": device.name.strip(),
        "driver": device.driver_version,
        "compute_units": device.max_compute_units,
        "matmul": _run_matmul(cl, context, queue, cases["matmul"]),
        "placement": [
            _attempt(lambda it=it: _run_placement(cl, context, queue, it), it) for it in cases["placement"]
        ],
    }


def _attempt(work: Any, case: dict[str, Any]) -> dict[str, Any]:
    """Run one case; one that the device refuses says so and keeps the others going."""
    kept = {key: it for key, it in case.items() if key != "source"}
    try:
        return {**kept, **work()}
    except Exception as error:
        return {**kept, "error": f"{type(error).__name__}: {error}"[:300]}


def _times(queue: Any, enqueue: Any) -> dict[str, Any]:
    import statistics

    enqueue().wait()
    times: list[float] = []
    while len(times) < REPETITIONS and (not times or sum(times) < BUDGET_S):
        event = enqueue()
        event.wait()
        times.append((event.profile.end - event.profile.start) * 1e-9)
    return {"seconds": statistics.median(times), "least": min(times), "most": max(times), "n": len(times)}


def _run_matmul(cl: Any, context: Any, queue: Any, cases: list[dict[str, Any]]) -> list[dict[str, Any]]:
    import numpy as np

    rng = np.random.default_rng(0)
    a, b = (rng.random((ORDER, ORDER), dtype=np.float32) for _ in range(2))
    expected = a @ b
    flags = cl.mem_flags
    buffers = [cl.Buffer(context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=it) for it in (a, b)]
    result = cl.Buffer(context, flags.READ_WRITE, a.nbytes)

    def one(case: dict[str, Any]) -> dict[str, Any]:
        kernel = getattr(cl.Program(context, case["source"]).build(options=case["options"]), case["kernel"])
        locals_ = [cl.LocalMemory(4 * it) for it in case["local_floats"]]
        kernel.set_args(*buffers, result, *locals_, np.int32(ORDER))
        times = _times(
            queue, lambda: cl.enqueue_nd_range_kernel(queue, kernel, case["global"], case["local"])
        )
        found = np.empty_like(a)
        cl.enqueue_copy(queue, found, result).wait()
        error = float(np.abs(found - expected).max() / np.abs(expected).max())
        return {**times, "gflops": 2 * ORDER**3 / times["seconds"] * 1e-9, "error_of_result": error}

    return [_attempt(lambda it=it: one(it), it) for it in cases]


def _run_placement(cl: Any, context: Any, queue: Any, case: dict[str, Any]) -> dict[str, Any]:
    import numpy as np

    table = np.random.default_rng(1).random(case["size"], dtype=np.float32)
    flags = cl.mem_flags
    data: Any = cl.Buffer(context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=table)
    if case["memory"] == "image":
        one_channel = cl.ImageFormat(cl.channel_order.R, cl.channel_type.FLOAT)
        # pyopencl 2026 renames it; older versions know the class only.
        make = getattr(cl, "create_image", cl.Image)
        data = make(context, flags.READ_ONLY, one_channel, shape=(case["size"],), buffer=data)
    out = cl.Buffer(context, flags.WRITE_ONLY, 4 * ITEMS)
    kernel = cl.Program(context, case["source"]).build().placed
    kernel.set_args(data, out, np.uint32(READS))
    times = _times(queue, lambda: cl.enqueue_nd_range_kernel(queue, kernel, (ITEMS,), (256,)))
    found = np.empty(ITEMS, np.float32)
    cl.enqueue_copy(queue, found, out).wait()
    # The same sum from every memory shows that they read the same elements.
    return {**times, "gigareads_per_s": ITEMS * READS / times["seconds"] * 1e-9, "sum": float(found.sum())}


# -------------------------------------------------------------------------------------------------- table


def table(cases: dict[str, Any]) -> str:
    """Return the figures as Markdown."""
    lines = [
        f"Measured on {cases['device']} (driver {cases['driver']}, {cases['compute_units']} compute units).",
        "",
    ]
    lines += [
        "| variant | GFLOP/s | milliseconds | measured rank | estimated rank |",
        "|---|---:|---:|---:|---:|",
    ]
    done = [it for it in cases["matmul"] if "error" not in it]
    measured = {it["name"]: n for n, it in enumerate(sorted(done, key=lambda it: it["seconds"]), 1)}
    guessed = [it for it in done if it["estimate"] is not None]
    estimated = {it["name"]: n for n, it in enumerate(sorted(guessed, key=lambda it: it["estimate"]), 1)}
    for it in sorted(done, key=lambda it: it["seconds"]):
        name = it["name"]
        lines.append(
            f"| {name} | {it['gflops']:,.1f} | {it['seconds'] * 1e3:.3f} | {measured[name]} | "
            f"{estimated.get(name, 'unknown')} |"
        )
    lines += ["", "Reads in thousand millions a second:", ""]
    lines += [f"| pattern | elements | {' | '.join(MEMORIES)} |", "|---|---:|" + "---:|" * len(MEMORIES)]
    found = {
        (it["pattern"], it["size"], it["memory"]): f"{it['gigareads_per_s']:,.0f}"
        for it in cases["placement"]
        if it.get("gigareads_per_s") is not None
    }
    for pattern in PATTERNS:
        for size in SIZES:
            shown = " | ".join(found.get((pattern, size, memory), "too large") for memory in MEMORIES)
            lines.append(f"| {pattern} | {size:,} | {shown} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--prepare", metavar="FILE", type=Path)
    parser.add_argument("--run", metavar="FILE", type=Path)
    parser.add_argument("--out", metavar="FILE", type=Path)
    parser.add_argument("--table", metavar="FILE", type=Path)
    parser.add_argument("--device", default="nvidia-hopper", help="the model that estimates are made for")
    parser.add_argument("--compute-units", type=int, default=132, help="of the device, for the estimates")
    args = parser.parse_args()
    if args.prepare is not None:
        args.prepare.write_text(json.dumps(prepare(args.device, args.compute_units)), encoding="utf-8")
    elif args.run is not None and args.out is not None:
        args.out.write_text(
            json.dumps(run(json.loads(args.run.read_text(encoding="utf-8"))), indent=1), encoding="utf-8"
        )
    elif args.table is not None:
        sys.stdout.write(table(json.loads(args.table.read_text(encoding="utf-8"))))
    else:
        parser.error("give --prepare FILE, --run FILE --out FILE, or --table FILE")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

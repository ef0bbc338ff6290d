"""Launch the code that the OpenCL compiler returned through CUDA, once a launch, for a hardware profiler.

    ncu --clock-control none --cache-control none --csv --page raw --metrics … \\
        python -m benchmarks.time_counters cases.json times.json PTX [TRIED]

A launch that the profiler fails on ends the process; run again with the same file TRIED, it goes on behind
that launch.

Needs NumPy and CuPy. NVIDIA's profiler does not see OpenCL launches, and the code is the same.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.time_run import DTYPES, contents

_LONGEST_S = 0.006
"""The profiler launches each kernel about ten times."""


def main() -> int:
    """Launch every case that has code; print its place in the order of launches."""
    import cupy

    jobs = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    times = json.loads(Path(sys.argv[2]).read_text("utf-8"))
    folder = Path(sys.argv[3])
    programs = {row["id"]: row.get("program") for row in times["cases"]}
    tried_path = Path(sys.argv[4]) if len(sys.argv) > 4 else None
    tried = set(tried_path.read_text("utf-8").splitlines()) if tried_path and tried_path.exists() else set()
    modules: dict[str, Any] = {}
    seconds = {row["id"]: row["median"] for row in times["cases"]}
    seen: set[str] = set()
    for job in jobs:
        key = programs.get(job["id"])
        if key is None or any("local" in it for it in job["arguments"]) or job["kernel"] in seen:
            continue
        if not seconds.get(job["id"]) or seconds[job["id"]] > _LONGEST_S:
            continue
        seen.add(job["kernel"])
        if job["kernel"] in tried:
            continue
        if tried_path is not None:
            with tried_path.open("a", encoding="utf-8") as file:
                file.write(job["kernel"] + "\n")
        if key not in modules:
            modules[key] = cupy.cuda.function.Module()
            modules[key].load((folder / f"{key}.ptx").read_bytes())
        function = modules[key].get_function(job["kernel"])
        arguments = []
        for it in job["arguments"]:
            if "buffer" in it:
                arguments.append(cupy.asarray(contents(it)))
            else:
                arguments.append(np.dtype(DTYPES[it["type"]]).type(it["scalar"]))
        local = (*job["local"], 1, 1)[:3]
        grid = tuple(-(-g // x) for g, x in zip((*job["global"], 1, 1)[:3], local, strict=True))
        function(grid, local, arguments)
        cupy.cuda.runtime.deviceSynchronize()
        print(f"launched\t{job['id']}", flush=True)
        del arguments
        cupy.get_default_memory_pool().free_all_blocks()
    return 0


if __name__ == "__main__":
    sys.exit(main())

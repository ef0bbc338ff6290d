"""From how many work-groups on tiles of rows pay: matrix times vector, as it is and staged by the fix.

python -m benchmarks.row_tiles --prepare rows.json       here: both versions of the kernel
python row_tiles.py --run rows.json --out times.json     there: Python, NumPy, pyopencl
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

GROUP = 64
COLUMNS = (256, 1024, 4096)
ROWS = (2048, 8192, 16384, 32768, 65536, 131072, 262144)
REPETITIONS, WARM_UP = 10, 3


def prepare() -> dict[str, str]:
    """Return the kernel as it is and after its fix, by `before` and `after`."""
    from clmap_lsp.analysis.session import AnalysisSession
    from clmap_lsp.devices import load_model
    from clmap_lsp.fixes.edits import apply
    from clmap_lsp.fixes.model import Subject
    from clmap_lsp.fixes.offer import proposals
    from clmap_lsp.source.options import BuildOptions
    from clmap_lsp.source.read import read_program

    path = Path(__file__).parents[1] / "fixtures" / "matvec" / "by_row_and_column.cl"
    text, device = path.read_text(), load_model("nvidia-hopper")
    program = read_program(text, path.name, BuildOptions())
    kernel = AnalysisSession().analyse(program, device).kernel("matvec_row")
    assert kernel is not None
    subject = Subject(program, kernel, device, BuildOptions())
    fix = next(it for it in proposals(subject) if it.kind == "stage-loop")
    return {"before": text, "after": apply(text, fix.edits, path.name)}


def run(versions: dict[str, str]) -> dict[str, Any]:
    """Time both versions, in turns, on the first GPU; medians in milliseconds."""
    import numpy as np
    import pyopencl as cl

    device = next(it for platform in cl.get_platforms() for it in platform.get_devices(cl.device_type.GPU))
    context = cl.Context([device])
    queue = cl.CommandQueue(context, properties=cl.command_queue_properties.PROFILING_ENABLE)
    kernels = {
        name: cl.Kernel(cl.Program(context, text).build(["-cl-std=CL1.2"]), "matvec_row")
        for name, text in versions.items()
    }
    results = []
    for columns in COLUMNS:
        for rows in ROWS:
            buffers = []
            for count, value in ((columns * rows, 1.5), (columns, 0.5), (rows, 0.0)):
                buffers.append(cl.Buffer(context, cl.mem_flags.READ_WRITE, 4 * count))
                cl.enqueue_fill_buffer(queue, buffers[-1], np.array(value, np.float32), 0, 4 * count)
            times: dict[str, list[float]] = {name: [] for name in kernels}
            for _ in range(WARM_UP + REPETITIONS):
                for name, kernel in kernels.items():
                    kernel.set_args(*buffers, np.int32(columns), np.int32(rows))
                    event = cl.enqueue_nd_range_kernel(queue, kernel, (rows,), (GROUP,))
                    event.wait()
                    times[name].append((event.profile.end - event.profile.start) / 1e6)
            medians = {name: float(np.median(it[WARM_UP:])) for name, it in times.items()}
            results.append({"columns": columns, "rows": rows, "work_groups": rows // GROUP, **medians})
            for it in buffers:
                it.release()
    return {"device": device.name, "compute_units": device.max_compute_units, "milliseconds": results}


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--prepare", type=Path)
    parser.add_argument("--run", type=Path)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    if given.prepare is not None:
        given.prepare.write_text(json.dumps(prepare(), indent=1) + "\n")
    if given.run is not None:
        text = json.dumps(run(json.loads(given.run.read_text())), indent=1) + "\n"
        if given.out is None:
            print(text, end="")
        else:
            given.out.write_text(text)


if __name__ == "__main__":
    main()

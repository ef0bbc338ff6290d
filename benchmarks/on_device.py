"""Every kernel of `fixtures/` traced on a device, and the matrix-multiply ladder timed there.

    python -m benchmarks.on_device                          here: prepare, run on the first GPU, print
    python -m benchmarks.on_device --prepare ladder.json    where the package is installed
    python -m benchmarks.on_device --run ladder.json --out results.json [--platform H200]

All of it by the product's own device runner. A trace agrees if accesses, footprints, executions by site,
entropies and parallel spatial locality are the emulator's.

The second half needs NumPy and pyopencl only, so that it runs on a bare machine with a checkout. GFLOP/s are
2 N^3 floating-point operations by the median event time, warm (the same launch has just run) and cold.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

FIXTURES = Path(__file__).parents[1] / "fixtures"
LADDER = "matmul"
SIDES = (1024, 2048)
TRACED_SIDE = 64
COUNTS = ("accesses", "loads", "stores", "footprint", "footprint_90")
REALS = ("gmae", "relative_local")
CURVES = ("psl", "lmae")
TOLERANCE = 1e-9
"""Bits, or share: what sums in another order may differ by."""
SECONDS = 0.7
"""For each timed series: eight kernels or more, two sizes, cold and warm stay below a minute."""


def prepare(sides: tuple[int, ...] = SIDES, traced: int = TRACED_SIDE) -> dict[str, Any]:
    """Return the jobs: every kernel at every side to time, and at a small one to trace with its figures."""
    cases = []
    for path in sorted(FIXTURES.glob("*/*.cl")):
        text = path.read_text(encoding="utf-8")
        if path.parent.name != LADDER:
            cases += _jobs(path.name, text, 0, trace=True)
            continue
        # A launch of only N work-items takes seconds at 2048: those kernels are timed at the least side.
        for side in sides if not path.name.startswith("row_") else sides[:1]:
            cases += _jobs(path.name, _sized(text, side), side, trace=False)
        cases += _jobs(path.name, _sized(text, traced), traced, trace=True)
    return {"schema": 1, "cases": cases}


def _sized(text: str, side: int) -> str:
    """Change the launches that the fixtures' comments give from 256 to another side."""
    text = re.sub(r"global=256,256\b", f"global={side},{side}", text)
    text = re.sub(r"global=256\b", f"global={side}", text)
    return re.sub(r"\bN=256\b", f"N={side}", text)


def _jobs(name: str, text: str, side: int, *, trace: bool) -> list[dict[str, Any]]:
    from clmap_lsp.analysis.launching import LaunchSources, launch_of
    from clmap_lsp.emulator.result import Engine
    from clmap_lsp.emulator.run import emulate
    from clmap_lsp.emulator.settings import EmulationSettings
    from clmap_lsp.launch.model import Launch
    from clmap_lsp.opencl_device.on_device_job import make_job
    from clmap_lsp.source.options import BuildOptions
    from clmap_lsp.source.read import read_program

    options = BuildOptions(defines=(("MAX_N", str(side)),) if side else ())
    program = read_program(text, name, options)
    found = []
    for kernel in program.kernels:
        launch = launch_of(program, kernel, LaunchSources(None, None, {}, None))
        if not isinstance(launch, Launch):
            raise SystemExit(f"{name}: {launch}")
        job = make_job(
            program,
            kernel,
            launch,
            options,
            trace=trace,
            time=not trace,
            outputs=trace,
            max_seconds=SECONDS,
        )
        case: dict[str, Any] = {"file": name, "kernel": kernel.name, "side": side, "job": job.as_json()}
        if trace:
            # The engine that counts by site what it runs, with the atomics and copies of the traced code.
            settings = EmulationSettings(engine=Engine.JIT, time_limit_s=60)
            result = emulate(program, kernel, launch, settings)
            case["emulated"] = {name: getattr(result.metrics, name) for name in (*COUNTS, *REALS)}
            case["emulated"] |= {name: list(getattr(result.metrics, name)) for name in CURVES}
            case["executions"] = {
                str(2 * it.site + it.op.endswith("store")): it.executions
                for it in result.sites
                if not it.op.startswith("async")
            }
        found.append(case)
    return found


def run(prepared: dict[str, Any], platform: str | None) -> dict[str, Any]:
    """Run the jobs on one device; returns a row for each."""
    from clmap_lsp.opencl_device.on_device_job import DeviceJob
    from clmap_lsp.opencl_device.on_device_run import execute
    from clmap_lsp.opencl_device.session import Session

    session = Session(platform)
    started = time.monotonic()
    rows = []
    for case in prepared["cases"]:
        found, _ = execute(DeviceJob.of_json(case["job"]), session)
        rows.append(_row(case, found))
        print(_line(rows[-1]), file=sys.stderr, flush=True)
    return {
        "schema": 1,
        "device": session.facts.as_json(),
        "seconds": time.monotonic() - started,
        "rows": rows,
    }


def _row(case: dict[str, Any], found: dict[str, Any]) -> dict[str, Any]:
    row = {name: case[name] for name in ("file", "kernel", "side")}
    if found["timing"] is not None:
        work = 2.0 * case["side"] ** 3
        row["gflops"] = {state: work / found["timing"][state]["median"] * 1e-9 for state in ("cold", "warm")}
        row["timing"] = found["timing"]
    if "emulated" in case:
        row["emulated"] = case["emulated"]
        row["traced"] = None if found["trace"] is None else found["trace"]["metrics"]
        row["problem"] = found["trace_problem"]
        row["agrees"] = found["trace"] is not None and _agrees(found["trace"], case)
    return row


def _agrees(trace: dict[str, Any], case: dict[str, Any]) -> bool:
    traced, emulated = trace["metrics"], case["emulated"]
    pairs = [(traced[name], emulated[name]) for name in REALS]
    pairs += [pair for name in CURVES for pair in zip(traced[name], emulated[name], strict=True)]
    return (
        all(abs(a - b) < TOLERANCE for a, b in pairs)
        and all(traced[name] == emulated[name] for name in COUNTS)
        and trace["executions"] == case["executions"]
        and trace["unresolved"] == 0
    )


def _line(row: dict[str, Any]) -> str:
    size = f"N={row['side']:<5d}" if row["side"] else " " * 7
    head = f"{row['kernel']:32s} {size}"
    if "gflops" in row:
        return f"{head} {row['gflops']['warm']:10.1f} GFLOP/s warm {row['gflops']['cold']:10.1f} cold"
    problem = f"DIFFERS {row['problem'] or ''}".rstrip()
    return f"{head} trace {'equals the emulator' if row['agrees'] else problem}"


def main() -> int:
    """Prepare, run, or both."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--prepare", type=Path, metavar="FILE")
    parser.add_argument("--run", type=Path, metavar="FILE")
    parser.add_argument("--out", type=Path, metavar="FILE")
    parser.add_argument("--platform")
    parser.add_argument("--sides", default=",".join(map(str, SIDES)), help="N of the timed launches")
    args = parser.parse_args()
    sides = tuple(int(it) for it in args.sides.split(","))
    if args.prepare is not None:
        args.prepare.write_text(json.dumps(prepare(sides)), encoding="utf-8")
        return 0
    if args.run is None:
        with tempfile.TemporaryDirectory() as folder:
            # Through text, as it travels to another machine.
            place = Path(folder) / "ladder.json"
            place.write_text(json.dumps(prepare(sides)), encoding="utf-8")
            prepared = json.loads(place.read_text(encoding="utf-8"))
    else:
        prepared = json.loads(args.run.read_text(encoding="utf-8"))
    results = run(prepared, args.platform)
    if args.out is not None:
        args.out.write_text(json.dumps(results, indent=1), encoding="utf-8")
    return 0 if all(it.get("agrees", True) for it in results["rows"]) else 1


if __name__ == "__main__":
    sys.exit(main())

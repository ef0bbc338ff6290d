"""What bounds a launch, by a hardware profiler's counters, against what is predicted to.

    python -m benchmarks.time_counters prepare > cases.json                                             here
    python -m benchmarks.time_run cases.json --out times.json --ptx PTX --no-microbenchmarks   on the device
    ncu --clock-control none --cache-control none --csv --page raw --log-file counters.csv \\
        --metrics "$(python -m benchmarks.time_counters metrics)" \\
        python -m benchmarks.time_counters run cases.json times.json PTX [TRIED]               on the device
    python -m benchmarks.time_counters reduce cases.json times.json counters.csv… > counters_h200.json  here
    python -m benchmarks.time_counters judge benchmarks/results/counters_h200.json nvidia-h200

`prepare` takes the longest launch of every kernel that the profiler can repeat in a second. `run` launches
the code that the OpenCL compiler returned through CUDA (needs NumPy and CuPy): NVIDIA's profiler does not see
OpenCL launches, and the code is the same. A launch that the profiler fails on ends the process; run again
with the same file TRIED, it goes on behind that launch. What the driver tells OpenCL's kernels of the launch
and CUDA's not (sizes, offsets) is set to zero: `reduce` leaves out launches whose time is then another.
"""

from __future__ import annotations

import csv
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

SHORTEST_S = 9e-6
"""Of shorter launches the profiler sees the start and the end."""
LONGEST_S = 0.006
"""The profiler launches each kernel some twenty times."""

UNITS = {
    "issue": "smsp__issue_active.avg.pct_of_peak_sustained_elapsed",
    "alu": "sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_elapsed",
    "fma": "sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_elapsed",
    "heavy": "sm__inst_executed_pipe_fmaheavy.avg.pct_of_peak_sustained_elapsed",
    "fp64": "sm__inst_executed_pipe_fp64.avg.pct_of_peak_sustained_elapsed",
    "xu": "sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_elapsed",
    "lsu": "sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_elapsed",
    "first": "l1tex__throughput.avg.pct_of_peak_sustained_elapsed",
    "wavefronts": "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed",
    "requests": "l1tex__lsuin_requests.avg.pct_of_peak_sustained_elapsed",
    "tags": "l1tex__f_wavefronts.avg.pct_of_peak_sustained_elapsed",
    "returns": "l1tex__m_xbar2l1tex_read_sectors.avg.pct_of_peak_sustained_elapsed",
    "second": "lts__throughput.avg.pct_of_peak_sustained_elapsed",
    "sectors": "lts__t_sectors.avg.pct_of_peak_sustained_elapsed",
    "lookups": "lts__t_tag_requests.avg.pct_of_peak_sustained_elapsed",
    "memory": "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    "reads": "dram__bytes_read.sum.pct_of_peak_sustained_elapsed",
}
"""Shares of what a unit can do, in per cent of the launch's whole time."""

SUMS = {
    "wavefronts all": "l1tex__data_pipe_lsu_wavefronts.sum",
    "wavefronts local": "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
    "atomics": "lts__t_sectors_op_atom.sum",
    "reductions": "lts__t_sectors_op_red.sum",
    "second sectors": "lts__t_sectors.sum",
    "memory bytes": "dram__bytes.sum",
    "ns": "gpu__time_duration.sum",
    "warps active": "sm__warps_active.avg.pct_of_peak_sustained_active",
    "stalled barrier": "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio",
    "stalled long": "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio",
    "stalled short": "smsp__average_warps_issue_stalled_short_scoreboard_per_issue_active.ratio",
    "stalled mio": "smsp__average_warps_issue_stalled_mio_throttle_per_issue_active.ratio",
    "stalled lg": "smsp__average_warps_issue_stalled_lg_throttle_per_issue_active.ratio",
    "stalled wait": "smsp__average_warps_issue_stalled_wait_per_issue_active.ratio",
    "stalled math": "smsp__average_warps_issue_stalled_math_pipe_throttle_per_issue_active.ratio",
}


def prepare() -> None:
    """Print the jobs: the longest launch of each kernel, without arguments of local memory."""
    from benchmarks.time_cases import cases, job

    measured: dict[str, float] = {}
    for path in sorted((Path(__file__).parent / "results").glob("time_h*.json")):
        for row in json.loads(path.read_text("utf-8"))["cases"]:
            measured[row["id"]] = row["median"] or 0.0
    best: dict[tuple[str, str], tuple[float, dict[str, Any]]] = {}
    for case in cases():
        seconds = measured.get(case.id, 0.0)
        key = (case.family, case.kernel.name)
        if SHORTEST_S <= seconds <= LONGEST_S and (key not in best or best[key][0] < seconds):
            made = job(case)
            if not any("local" in it for it in made["arguments"]):
                best[key] = (seconds, made)
    json.dump([made for _, made in best.values()], sys.stdout)


def run(cases: Path, times: Path, folder: Path, tried_path: Path | None) -> None:
    """Launch every case that has code, once."""
    import cupy
    import numpy as np

    from benchmarks.time_run import DTYPES, contents

    programs = {row["id"]: row.get("program") for row in json.loads(times.read_text("utf-8"))["cases"]}
    tried = set(tried_path.read_text("utf-8").splitlines()) if tried_path and tried_path.exists() else set()
    modules: dict[str, Any] = {}
    for job in json.loads(cases.read_text("utf-8")):
        key = programs.get(job["id"])
        if key is None or job["id"] in tried:
            continue
        if tried_path is not None:
            with tried_path.open("a", encoding="utf-8") as file:
                file.write(job["id"] + "\n")
        if key not in modules:
            modules[key] = cupy.cuda.function.Module()
            code = (folder / f"{key}.ptx").read_text("utf-8").rstrip("\0")
            # Registers that OpenCL's driver sets to the launch's offsets, and CUDA's does not.
            modules[key].load(re.sub(r"%envreg[0-5]\b", "0", code).encode())
        function = modules[key].get_function(job["kernel"])
        arguments = []
        for it in job["arguments"]:
            if "buffer" in it:
                arguments.append(cupy.asarray(contents(it)))
            else:
                arguments.append(np.dtype(DTYPES[it["type"]]).type(it["scalar"]))
        cupy.cuda.runtime.deviceSynchronize()
        # A line of its own in the profiler's output, before the launch that it is of.
        print(f"\nlaunching\t{job['id']}", flush=True)
        function(_grid(job), (*job["local"], 1, 1)[:3], arguments)
        cupy.cuda.runtime.deviceSynchronize()
        del arguments
        cupy.get_default_memory_pool().free_all_blocks()


def _grid(job: Mapping[str, Any]) -> tuple[int, ...]:
    local = (*job["local"], 1, 1)[:3]
    return tuple(-(-g // x) for g, x in zip((*job["global"], 1, 1)[:3], local, strict=True))


def reduce(cases: Path, times: Path, tables: Sequence[Path]) -> dict[str, Any]:
    """Return, by launch, its time and what the profiler's tables say of it, by the names of `UNITS` and
    `SUMS`.

    A row is a launch's if its kernel and its work-groups are those of the next one with them.
    """
    jobs = json.loads(cases.read_text("utf-8"))
    timed = json.loads(times.read_text("utf-8"))
    medians = {row["id"]: row["median"] for row in timed["cases"]}
    names = {metric: name for name, metric in {**UNITS, **SUMS}.items()}
    found: dict[str, dict[str, float]] = {}
    other = []
    for table in tables:
        at = 0
        for row in _rows(table):
            size = (row["Kernel Name"].split("(")[0], row["Grid Size"])
            ahead = range(at, len(jobs))
            place = next((n for n in ahead if (jobs[n]["kernel"], str(_grid(jobs[n]))) == size), None)
            if place is None:
                continue
            at, name = place + 1, jobs[place]["id"]
            values = {key: float(row[metric].replace(",", "")) for metric, key in names.items()}
            alike = (values["ns"] * 1e-9 + _LAUNCH_S) / medians[name]
            if not 1 / _ALIKE < alike < _ALIKE:
                other.append(name)
                continue
            found[name] = {key: round(value, 3) for key, value in values.items()}
            found[name]["seconds"] = medians[name]
    return {"schema": 1, "device": timed["device"], "launches": found, "other in CUDA": other}


_LAUNCH_S = 2.5e-6
"""What OpenCL's event of an empty launch has more than the profiler's time."""
_ALIKE = 1.25


def _rows(table: Path) -> Iterator[dict[str, str]]:
    lines = [it for it in table.read_text("utf-8", "replace").splitlines() if it.startswith('"')]
    for row in csv.DictReader(lines):
        if row["ID"].isdigit():  # The line below the names has the units.
            yield row


BUSY, IDLE = 80.0, 60.0
"""Per cent of its peak from which a unit bounds a launch, and below which none does, by the profiler's own
guide ("Speed Of Light": above 80 to be shifted, below 60 latency)."""
_NEAR = 10.0
"""Per cent within which two units are as busy as each other."""


def busy(counters: Mapping[str, float]) -> dict[str, float]:
    """Return, by bound, how busy its busiest unit is, in per cent."""

    def most(*names: str) -> float:
        return max(counters[it] for it in names)

    issue = most("issue", "alu", "fma", "heavy")
    first = most("wavefronts", "requests", "tags", "first", "returns")
    second = most("second", "sectors", "lookups")
    return {
        "issue": issue,
        "fp32": issue,
        "fp64": counters["fp64"],
        "sfu": counters["xu"],
        "l1": first,
        "local": first,
        "l2": second,
        "atomics": second,
        "dram": counters["memory"],
    }


def is_right(bound: str, counters: Mapping[str, float]) -> bool:
    """True if counters agree that this bounds the launch."""
    shares = busy(counters)
    if bound in ("latency", "barrier", "launch"):
        return max(shares.values()) < IDLE
    if bound == "atomics" and max(shares.values()) < IDLE:  # Those at one address keep no unit busy.
        return counters["atomics"] + counters["reductions"] > 0
    return shares[bound] >= max(shares.values()) - _NEAR


def judge(path: Path, device: str) -> None:
    """Print where counters and predicted bounds agree."""
    from benchmarks.time_cases import cases
    from clmap_lsp.devices import load_model
    from clmap_lsp.time.predict import time_of

    launches = json.loads(path.read_text("utf-8"))["launches"]
    model = load_model(device)
    clear, between, wrong = [], [], []
    for case in cases():
        counters = launches.get(case.id)
        found = counters and time_of(case.kernel, case.launch, model, case.program.constants)
        if not counters or found is None or isinstance(found, str):
            continue
        top = max(busy(counters).values())
        right = is_right(found.bound, counters)
        (between if IDLE <= top < BUSY else clear).append(right)
        if not right:
            shares = {name: round(it) for name, it in busy(counters).items() if it >= top - 30}
            wrong.append(f"{found.bound:8s} {case.id}: {counters['seconds'] * 1e6:.1f} us, {shares}")
    print(*sorted(wrong), sep="\n")
    for name, rows in (("clear", clear), ("between", between), ("all", clear + between)):
        print(f"{name}: {sum(rows)} of {len(rows)} right ({sum(rows) / len(rows):.0%})")


def main() -> int:
    """Do what the first word says."""
    what, *rest = sys.argv[1:]
    paths = [Path(it) for it in rest]
    if what == "prepare":
        prepare()
    elif what == "metrics":
        print(",".join((*UNITS.values(), *SUMS.values())))
    elif what == "run":
        run(paths[0], paths[1], paths[2], paths[3] if len(paths) > 3 else None)
    elif what == "reduce":
        json.dump(reduce(paths[0], paths[1], paths[2:]), sys.stdout, indent=1)
    elif what == "judge":
        judge(paths[0], rest[1])
    else:
        raise SystemExit(__doc__)
    return 0


if __name__ == "__main__":
    sys.exit(main())

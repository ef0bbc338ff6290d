"""Run the microbenchmarks and time the launches of `time_cases` on the first GPU. Needs NumPy and pyopencl
only.

    python -m benchmarks.time_run cases.json --out times.json --ptx FOLDER

Launches are timed in turn, in rounds, each right after one of its own (warm); medians of the rounds. The
SM clock, memory clock and power are sampled meanwhile. `--ptx` keeps what the driver's compiler returned, for
`benchmarks.time_counters`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

DTYPES = {
    "char": "i1",
    "uchar": "u1",
    "short": "i2",
    "ushort": "u2",
    "int": "i4",
    "uint": "u4",
    "long": "i8",
    "ulong": "u8",
    "half": "f2",
    "float": "f4",
    "double": "f8",
}
ROUNDS = 30


def contents(argument: dict[str, Any]) -> Any:
    """Return a buffer's elements."""
    kind, count, fill = np.dtype(DTYPES[argument["type"]]), argument["count"], argument["fill"]
    rng = np.random.default_rng(argument["seed"])
    if fill == "random" and kind.kind == "f":
        return rng.random(count, np.float32 if kind.itemsize == 4 else np.float64).astype(kind, copy=False)
    if fill == "random":
        limits = np.iinfo(kind)
        return rng.integers(limits.min, limits.max, count, kind, endpoint=True)
    if fill == "permutation":
        return rng.permutation(count).astype(kind)
    if fill == "iota":
        return np.arange(count).astype(kind)
    if fill == "formula":
        i = np.arange(count, dtype=np.int64)
        return np.asarray(eval(argument["text"], {"__builtins__": {}}, {"i": i})).astype(kind)
    if fill == "values":
        return np.resize(np.array([float(it) for it in argument["text"].split(",")]), count).astype(kind)
    return np.zeros(count, kind)


class Clocks:
    """Samples of the SM clock, the memory clock and the power, by `nvidia-smi` where it is there."""

    def __init__(self) -> None:
        query = "--query-gpu=clocks.sm,clocks.mem,power.draw"
        command = ["nvidia-smi", query, "--format=csv,noheader,nounits", "-lms", "200"]
        try:
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        except OSError:
            self.process = None

    def stop(self) -> list[list[float]]:
        """Return the samples."""
        if self.process is None:
            return []
        self.process.terminate()
        text = self.process.communicate()[0]
        rows = [line.split(",") for line in text.splitlines() if line.count(",") == 2]
        return [[float(it) for it in row] for row in rows if all(it.strip() for it in row)]


def time_cases(
    session: Any, jobs: list[dict[str, Any]], rounds: int, ptx: Path | None
) -> list[dict[str, Any]]:
    """Build, allocate and time; a launch that fails is a row with its error."""
    specs = {json.dumps(it, sort_keys=True): it for job in jobs for it in job["arguments"] if "buffer" in it}
    unique: dict[str, dict[str, Any]] = {}
    for it in specs.values():
        unique.setdefault(_key(it), it)
    with ThreadPoolExecutor(16) as pool:
        made = dict(zip(unique, pool.map(contents, unique.values()), strict=True))
    print(f"{sum(it.nbytes for it in made.values()) >> 20} MiB of contents", file=sys.stderr, flush=True)
    programs: dict[str, Any] = {}
    rows, ready = [], []
    for number, job in enumerate(jobs):
        row = {"id": job["id"], "kernel": job["kernel"], "family": job["family"], "runs": [], "error": None}
        row |= {
            name: job[name]
            for name in ("before", "kind", "predicted", "bound", "global", "local")
            if name in job
        }
        rows.append(row)
        key = hashlib.sha256((job["source"] + " ".join(job["options"])).encode()).hexdigest()[:16]
        try:
            if key not in programs:
                programs[key] = session.build(
                    job["source"], [*job["options"], "-cl-nv-verbose"] if ptx else job["options"]
                )
            program = programs[key]
            row["program"] = key
            if ptx is not None and not (ptx / f"{key}.ptx").exists():
                (ptx / f"{key}.ptx").write_bytes(program.binaries[0])
                log = program.get_build_info(program.devices[0], 0x1183)
                (ptx / f"{key}.log").write_text(str(log))
            kernel = session.kernel(program, job["kernel"])
            arguments = []
            for it in job["arguments"]:
                if "buffer" in it:
                    arguments.append(session.buffer_from(made[_key(it)]))
                elif "local" in it:
                    arguments.append(session.local(it["local"]))
                else:
                    arguments.append(np.dtype(DTYPES[it["type"]]).type(it["scalar"]))
            session.set_arguments(kernel, *arguments)
            ready.append((number, kernel, arguments))
        except Exception as error:  # Whatever the driver says is the row's answer.
            row["error"] = str(error)[:300]
    print(f"{len(ready)} of {len(jobs)} launches ready", file=sys.stderr, flush=True)
    for turn in range(rounds):
        for number, kernel, _ in ready:
            job, row = jobs[number], rows[number]
            if (len(row["runs"]) >= 7 and float(np.median(row["runs"])) > 0.01) or row["error"]:
                continue
            try:
                session.launch(kernel, job["global"], job["local"])
                events = [
                    session.launch(kernel, job["global"], job["local"]) for _ in range(2 if turn else 1)
                ]
                session.finish()
                row["runs"] += [session.seconds(it) for it in events]
            except Exception as error:
                row["error"] = str(error)[:300]
    for row in rows:
        row["median"] = float(np.median(row["runs"])) if row["runs"] else None
    return rows


def _key(it: dict[str, Any]) -> str:
    return json.dumps([it[name] for name in ("type", "count", "fill", "seed", "text")])


def main() -> int:
    """Measure and write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("cases", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--ptx", type=Path)
    parser.add_argument("--platform")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--no-microbenchmarks", action="store_true")
    args = parser.parse_args()
    from clmap_lsp.opencl_device import microbenchmarks
    from clmap_lsp.opencl_device.session import Session

    if args.ptx is not None:
        args.ptx.mkdir(parents=True, exist_ok=True)
    session = Session(args.platform)
    facts = session.facts
    result: dict[str, Any] = {"schema": 1, "device": facts.as_json(), "started": time.time()}

    def save() -> None:
        result["seconds"] = time.time() - result["started"]
        args.out.write_text(json.dumps(result), encoding="utf-8")

    clocks = Clocks()
    result["cases"] = time_cases(session, json.loads(args.cases.read_text("utf-8")), args.rounds, args.ptx)
    result["case_clocks"] = clocks.stop()
    save()
    print(f"cases timed after {result['seconds']:.0f} s", file=sys.stderr, flush=True)
    if not args.no_microbenchmarks:
        clocks = Clocks()
        small = facts.kind.value == "cpu"
        chosen = list(
            microbenchmarks.settings(facts.compute_units, facts.global_bytes, doubles=facts.fp64, small=small)
        )
        found = microbenchmarks.run(session, chosen)
        result["microbenchmarks"] = [it.as_json() for it in found]
        result["microbenchmark_clocks"] = clocks.stop()
        save()
    print(f"done after {result['seconds']:.0f} s", file=sys.stderr, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

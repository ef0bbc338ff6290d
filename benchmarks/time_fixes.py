"""Rewrites on a device against what is predicted of them: is a predicted gain one, and a loss a loss?

    python -m benchmarks.time_fixes prepare benchmarks/results/time_h200.json nvidia-h200 > fixes.json
    python -m benchmarks.time_run fixes.json --out times.json --no-microbenchmarks      there
    python -m benchmarks.time_fixes judge benchmarks/results/time_fixes_h200.json nvidia-h200
    python -m benchmarks.time_fixes again benchmarks/results/time_fixes_h200.json nvidia-h200 > now.json
    python -m benchmarks.time_fixes repeated now.json benchmarks/results/time_fixes_h200_second.json

`again` predicts what was measured once more, by the model as it is now and on all processors: its output is
for `judge` and `repeated`, which judge what was stored before the first run if they are given that.
Every rewrite whose preconditions hold in the source of a kernel of `time_cases`, on one launch
of each kernel: the longest that takes no more than 20 ms.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.time_cases import Case, cases, job
from clmap_lsp.analysis.kernel import analyse_kernel
from clmap_lsp.devices import DeviceModel, load_model
from clmap_lsp.fixes import gain
from clmap_lsp.fixes.assumptions import Case as Assumed
from clmap_lsp.fixes.edits import OverlapError
from clmap_lsp.fixes.model import Subject
from clmap_lsp.fixes.offer import proposals
from clmap_lsp.fixes.predict import rewritten
from clmap_lsp.source.options import BuildOptions
from clmap_lsp.time.model import Prediction
from clmap_lsp.time.predict import time_of

LONGEST_S = 0.02
OFFERED_FROM = 1.02
_UNITS = 132
"""Compute units of the devices that were measured."""


def chosen(times: Path | None, families: Sequence[str] = ()) -> list[Case]:
    """Return one launch of each kernel; the first one where nothing was measured."""
    measured = {}
    if times is not None:
        measured = {row["id"]: row["median"] for row in json.loads(times.read_text("utf-8"))["cases"]}
    best: dict[tuple[str, str], tuple[float, Case]] = {}
    for case in cases():
        if families and case.family not in families:
            continue
        key = (case.family, case.kernel.name)
        seconds = measured.get(case.id) or 0.0
        if seconds <= LONGEST_S and (key not in best or best[key][0] < seconds):
            best[key] = (seconds, case)
    return [case for _, case in best.values()]


def rewrites(case: Case, device: DeviceModel) -> Iterator[tuple[str, Case]]:
    """Yield the rewrites of a launch that hold in the source, each a launch of its own."""
    options = BuildOptions(defines=case.defines)
    analysis = analyse_kernel(case.kernel, case.launch, (), device, case.program.constants)
    subject = Subject(case.program, analysis, device, options)
    for number, proposal in enumerate(proposals(subject, [])):
        if proposal.is_sketch or not proposal.lowers_traffic or proposal.cures is not None:
            continue
        if any(not it.holds(Assumed(case.launch, options)) for it in proposal.assumptions):
            continue
        try:
            program = rewritten(subject, proposal.edits)
        except OverlapError:
            continue
        kernel = None if isinstance(program, str) else program.kernel(case.kernel.name)
        if kernel is None or isinstance(program, str):
            continue
        launch = proposal.relaunch(case.launch) if proposal.relaunch else case.launch
        name = f"{case.id} | {number} {proposal.kind}"
        yield proposal.kind, replace(case, id=name, program=program, kernel=kernel, launch=launch)


def seconds(case: Case, device: DeviceModel) -> tuple[float, str] | None:
    """Return what is predicted, and the bound."""
    found = time_of(case.kernel, case.launch, device, case.program.constants)
    return (found.seconds, found.bound) if isinstance(found, Prediction) else None


def prepare(times: Path | None, name: str, families: Sequence[str] = ()) -> int:
    """Print every launch, before and after, as jobs for the device, with what is predicted of them now."""
    device = load_model(name)
    jobs = []
    for case in chosen(times, families):
        found = list(rewrites(case, device))
        if not found:
            continue
        first = seconds(case, device)
        for kind, one in [("", case), *found]:
            made = job(one)
            made["before"], made["kind"] = case.id, kind
            known = first if one is case else seconds(one, device)
            made["predicted"], made["bound"] = known if known is not None else (None, None)
            jobs.append(made)
    json.dump(jobs, sys.stdout)
    return 0


def again(times: Path, name: str) -> int:
    """Print what was measured, with what is predicted of it now, without rewrites that are not made now."""
    document = json.loads(times.read_text("utf-8"))
    known = {row["id"]: row for row in document["cases"] if row["median"]}
    todo = [number for number, case in enumerate(cases()) if case.id in known]
    with ProcessPoolExecutor(initializer=_start, initargs=(known, name)) as pool:
        rows = [row for some in pool.map(_again, todo) for row in some]
    json.dump({**document, "cases": rows}, sys.stdout)
    return 0


_known: dict[str, dict[str, Any]] = {}
_cases: list[Case] = []
_device: list[DeviceModel] = []
"""What a process that predicts knows: programs are read once by each."""


def _start(known: dict[str, dict[str, Any]], name: str) -> None:
    _known.update(known)
    _cases.extend(cases())
    _device.append(load_model(name))


def _again(number: int) -> list[dict[str, Any]]:
    case, device = _cases[number], _device[0]
    rows = []
    for kind, one in [("", case), *rewrites(case, device)]:
        row = _known.get(one.id)
        if row is None or row["kind"] != kind or list(one.launch.global_size) != row["global"]:
            continue
        found = seconds(one, device)
        row["predicted"], row["bound"] = found if found is not None else (None, None)
        rows.append(row)
    return rows


def judge(times: Path, name: str) -> int:
    """Print how far predicted and measured ratios agree; `times` has rows with `before` and `kind`."""
    measured = _measured(times)
    rows = _ratios(measured)
    changed = [it for it in rows if _changes(it[1])]
    right = [it for it in changed if _is_right(it)]
    offered = [it for it in rows if it[0] >= OFFERED_FROM]
    bad = [it for it in offered if it[1] < 0.98]
    errors = [abs(it[0] / it[1] - 1) for it in rows]
    print(f"{len(rows)} rewrites of {len({it[3].split(' | ')[0] for it in rows})} launches")
    print(f"mean error of the ratio {np.mean(errors):.1%}, median {np.median(errors):.1%}")
    print(f"sign right: {len(right)} of {len(changed)} that change time by more than 5 %")
    print(f"predicted to gain: {len(offered)}, of which slower than 0.98: {len(bad)}")
    asked = [it for it in offered if it[0] >= _least(measured[it[3]])]
    lost = sum(it[1] < 0.98 for it in asked)
    print(f"as much as fixes ask for: {len(asked)}, of which slower than 0.98: {lost}")
    for it in sorted(set(changed) - set(right)) + sorted(bad):
        print(f"  predicted {it[0]:.2f} measured {it[1]:.2f} ({it[2]}) {it[3]}")
    return 0


def repeated(first: Path, second: Path) -> int:
    """Print which changes a second run of all rewrites repeats, and how many of these have the right sign.

    All are measured again: to repeat the wrong ones alone would only ever take wrong ones away.
    """
    once = {it[3]: it for it in _ratios(_measured(first)) if _changes(it[1])}
    again = _gains(_measured(second))
    both = {name: it for name, it in once.items() if name in again}
    alike = [it for name, it in both.items() if _changes(again[name]) and (again[name] > 1) == (it[1] > 1)]
    right = [it for it in alike if _is_right(it)]
    print(f"{len(both)} change time by more than 5 % in the first run, {len(alike)} in both, alike")
    print(f"sign right: {len(right)} of {len(alike)} ({len(right) / len(alike):.1%})")
    for name, wanted in (("wrong", False), ("right", True)):
        some = [it for it in both.values() if _is_right(it) is wanted]
        kept = sum(it in alike for it in some)
        print(f"{name} in the first run: {len(some)}, of which {len(some) - kept} do not repeat")
    for it in sorted(set(alike) - set(right)):
        print(f"  predicted {it[0]:.2f} measured {it[1]:.2f}, {again[it[3]]:.2f} ({it[2]}) {it[3]}")
    return 0


_Ratio = tuple[float, float, str, str]
"""What a rewrite gains as predicted and as measured, what bounded the original, and the rewrite's name."""


def _measured(times: Path) -> dict[str, dict[str, Any]]:
    rows = json.loads(times.read_text("utf-8"))["cases"]
    return {row["id"]: row for row in rows if row["median"]}


def _gains(measured: Mapping[str, Mapping[str, Any]]) -> dict[str, float]:
    """Return what each rewrite gained as measured, by its name."""
    befores = {name: measured.get(row["before"]) for name, row in measured.items() if row["kind"]}
    return {
        name: before["median"] / measured[name]["median"]
        for name, before in befores.items()
        if before is not None
    }


def _ratios(measured: Mapping[str, Mapping[str, Any]]) -> list[_Ratio]:
    rows = []
    for name, real in _gains(measured).items():
        row = measured[name]
        before = measured[row["before"]]
        if row["predicted"] and before["predicted"]:
            rows.append((before["predicted"] / row["predicted"], real, before["bound"], name))
    return rows


def _changes(ratio: float) -> bool:
    return abs(math.log(ratio)) > math.log(1.05)


def _is_right(it: _Ratio) -> bool:
    return (it[0] > 1) == (it[1] > 1)


def _least(row: Mapping[str, Any]) -> float:
    """Return the predicted gain that `gain.is_unsure` asks for; files of before it know no sizes."""
    elsewhere = row["kind"] in ("group-shape", "transpose-buffer")
    if row["bound"] == "latency" and row["kind"] != "transpose-buffer" and "local" in row:
        shape = list(zip(row["global"], row["local"], strict=True))
        groups = math.prod(-(-whole // each) for whole, each in shape)
        warps = -(-math.prod(row["local"]) // 32)
        if -(-groups // _UNITS) * warps <= gain.FEW:
            return gain.LEAST_OF_FEW
    return gain.LEAST_ELSEWHERE if elsewhere else gain.LEAST


if __name__ == "__main__":
    source = Path(sys.argv[2])
    if sys.argv[1] == "prepare":
        sys.exit(prepare(source if source.is_file() else None, sys.argv[3], sys.argv[4:]))
    if sys.argv[1] == "repeated":
        sys.exit(repeated(source, Path(sys.argv[3])))
    sys.exit((again if sys.argv[1] == "again" else judge)(source, sys.argv[3]))

"""Predicted times against measured ones: errors by bound, and what is left after fitting on other kernels.

    python -m benchmarks.time_validate benchmarks/results/time_h200.json nvidia-h200
    python -m benchmarks.time_validate benchmarks/results/time_h100.json nvidia-h100-sxm
    python -m benchmarks.time_validate benchmarks/results/time_h200.json nvidia-h200 --splits 20

With `--splits` the figures that no microbenchmark isolates are fitted on a third of the kernels (never of the
launches) and judged on the others. The second line of figures is of launches whose kernels were not fitted
on.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.time_cases import cases
from clmap_lsp.devices import load_model
from clmap_lsp.time.calibration import FITTED
from clmap_lsp.time.demand import Demand
from clmap_lsp.time.facts import TimeFacts, time_facts
from clmap_lsp.time.model import predict
from clmap_lsp.time.predict import demand_of

LIMITS = {
    "group_cycles": (100, 1500),
    "group_warp_cycles": (1, 60),
    "latency_dram": (500, 1000),
    "latency_l2": (200, 320),
    "exponent": (1.5, 6),
    "barrier_exponent": (1.2, 5),
    "barrier_cycles": (10, 60),
    "dram_partial_bytes": (100, 250),
    "latency_local": (22, 40),
    "local_atomic_cycles": (2, 10),
}
STEPS = (0.7, 0.85, 0.93, 1.07, 1.15, 1.3, 1.6)
UNSEEN = (
    "unseen",
    *(f"unseen_{it}" for it in ("second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")),
)
"""Families of kernels that nothing is fitted to."""
WORST = 1.0
"""A logarithm beyond which an error counts no more: fitting must not chase what the model lacks."""


@dataclass(frozen=True, slots=True)
class Judged:
    """One launch."""

    id: str
    kernel: tuple[str, str]
    demand: Demand
    measured: float


def launches(times: Path, device: str) -> tuple[list[Judged], list[tuple[str, str]]]:
    """Return the launches that are predicted, and (launch, reason) of the others."""
    measured = {}
    for path in (times, *sorted(times.parent.glob(f"{times.stem}_*.json"))):
        rows = json.loads(path.read_text("utf-8"))["cases"]
        measured.update({row["id"]: row["median"] for row in rows})
    facts = time_facts(device)
    if facts is None:
        raise SystemExit(f"no timing facts of {device}")
    model = load_model(device)
    found, without = [], []
    for case in cases():
        if not measured.get(case.id):
            without.append((case.id, "not measured"))
            continue
        demand = demand_of(case.kernel, case.launch, model, case.program.constants, facts)
        if isinstance(demand, str):
            without.append((case.id, demand))
        else:
            found.append(Judged(case.id, (case.family, case.kernel.name), demand, measured[case.id]))
    return found, without


def error(facts: TimeFacts, judged: Sequence[Judged]) -> float:
    """Return the mean absolute logarithm, each bounded."""
    logs = [abs(math.log(predict(it.demand, facts).seconds / it.measured)) for it in judged]
    return float(np.mean(np.minimum(logs, WORST)))


def fit(start: TimeFacts, judged: Sequence[Judged], rounds: int = 2) -> TimeFacts:
    """Return the facts with fitted figures changed, one after the other, as long as the error falls."""
    best, facts = error(start, judged), start
    for _ in range(rounds):
        for name in FITTED:
            value = getattr(facts, name)
            for step in STEPS:
                low, high = LIMITS[name]
                changed = dataclasses.replace(facts, **{name: min(max(value * step, low), high)})
                now = error(changed, judged)
                if now < best - 1e-6:
                    best, facts = now, changed
    return facts


def summary(facts: TimeFacts, judged: Sequence[Judged]) -> dict[str, float]:
    """Return mean and median error, shares within 15, 25 and 50 %, and rank correlation."""
    predicted = np.array([predict(it.demand, facts).seconds for it in judged])
    real = np.array([it.measured for it in judged])
    errors = np.abs(predicted / real - 1)
    ranks = [np.argsort(np.argsort(it)) for it in (predicted, real)]
    return {
        "launches": len(judged),
        "mean": float(errors.mean()),
        "median": float(np.median(errors)),
        "within 15 %": float((errors < 0.15).mean()),
        "within 25 %": float((errors < 0.25).mean()),
        "within 50 %": float((errors < 0.5).mean()),
        "rank": float(np.corrcoef(*ranks)[0, 1]),
    }


def main() -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("times", type=Path)
    parser.add_argument("device")
    parser.add_argument("--splits", type=int, default=0)
    parser.add_argument("--worst", type=int, default=15)
    args = parser.parse_args()
    facts = time_facts(args.device)
    assert facts is not None
    judged, without = launches(args.times, args.device)
    print(_line("all", summary(facts, judged)))
    for family in UNSEEN:
        some = [it for it in judged if it.kernel[0] == family]
        if some:
            print(_line(family, summary(facts, some)))
    by_bound: dict[str, list[Judged]] = {}
    for it in judged:
        by_bound.setdefault(predict(it.demand, facts).bound, []).append(it)
    for bound, some in sorted(by_bound.items(), key=lambda it: -len(it[1])):
        print(_line(bound, summary(facts, some)))
    order = sorted(judged, key=lambda it: -abs(math.log(predict(it.demand, facts).seconds / it.measured)))
    for it in order[: args.worst]:
        found = predict(it.demand, facts)
        print(f"  {found.seconds / it.measured:5.2f} {it.id}: {it.measured * 1e6:.1f} us, {found.bound}")
    for name, why in without:
        print(f"  no time: {name}: {why}")
    kernels = sorted({it.kernel for it in judged})
    results = []
    for seed in range(args.splits):
        shuffled = kernels[:]
        random.Random(seed).shuffle(shuffled)
        chosen = set(shuffled[: len(shuffled) // 3])
        fitted = fit(facts, [it for it in judged if it.kernel in chosen])
        results.append(summary(fitted, [it for it in judged if it.kernel not in chosen]))
    if results:
        print(_line("unseen", {key: float(np.mean([it[key] for it in results])) for key in results[0]}))
    return 0


def _line(name: str, figures: dict[str, float]) -> str:
    return f"{name:8s} " + ", ".join(f"{key} {value:.3g}" for key, value in figures.items())


if __name__ == "__main__":
    sys.exit(main())

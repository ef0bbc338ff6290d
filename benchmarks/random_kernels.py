"""Count random kernels in four ways, and say what differs; the record in `docs/figures.md` is of such a run.

    python -m benchmarks.random_kernels --first 1000000 --count 5000 [--jit 10] [--jobs 2]

The kernels and the oracle are those of `tests/differential`; `--jit N` runs every Nth kernel in the JIT too.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

BLOCK = 50


def run(first: int, count: int, jit: int) -> Any:
    """Return the verdict over some seeds; an exception of the package is a fault of its kernel."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "differential"))
    from four_ways import Verdict, check  # type: ignore[import-not-found]

    verdict = Verdict()
    for seed in range(first, first + count):
        try:
            check(seed, verdict, jit=bool(jit) and seed % jit == 0)
        except Exception as error:
            verdict.faults.append((seed, "failed", repr(error), None, None))
    return (
        (verdict.kernels, verdict.undefined, verdict.accesses, verdict.unknown, verdict.executed_in_jit),
        dict(verdict.reasons),
        verdict.faults,
    )


def main() -> int:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--jit", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    starts = range(options.first, options.first + options.count, BLOCK)
    totals, reasons, faults = [0] * 5, Counter[str](), []
    with ProcessPoolExecutor(options.jobs) as pool:
        ended = options.first + options.count
        jobs = [pool.submit(run, it, min(BLOCK, ended - it), options.jit) for it in starts]
        for job in jobs:
            figures, why, found = job.result()
            totals = [a + b for a, b in zip(totals, figures, strict=True)]
            reasons.update(why)
            faults += found
    kernels, undefined, accesses, unknown, in_jit = totals
    print(f"{kernels} kernels ({undefined} more have undefined behaviour), {in_jit} in the JIT engine too")
    print(f"{accesses} accesses, {unknown} unknown though they can be computed")
    for reason, times in reasons.most_common():
        print(f"  {times} times: {reason}")
    print(f"{len(faults)} differences")
    for fault in faults[:50]:
        print(" ", str(fault)[:400])
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

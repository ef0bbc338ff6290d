"""`python -m fuzz --driver NAME --minutes M`: fuzz, and print what was found; 1 if anything was."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from fuzz.runner import Outcome, fuzz
from fuzz.targets import DRIVERS


def main() -> int:
    """Run one driver, or all in turn."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("--driver", choices=(*DRIVERS, "all"), default="all")
    parser.add_argument("--minutes", type=float, default=1.0, help="CPU minutes for each driver (default: 1)")
    parser.add_argument("--seed", type=int, default=0, help="another number, other inputs")
    parser.add_argument("--out", type=Path, default=Path("test-artifacts/fuzz"), help="where failures go")
    options = parser.parse_args()
    names = list(DRIVERS) if options.driver == "all" else [options.driver]
    found = False
    for name in names:
        outcome = fuzz(name, options.minutes * 60, options.seed, options.out / name)
        found |= bool(outcome.failures)
        _print(outcome)
    return 1 if found else 0


def _print(outcome: Outcome) -> None:
    print(
        f"{outcome.driver}: {outcome.cases} inputs in {outcome.cpu_s / 60:.2f} CPU minutes, "
        f"{len(outcome.failures)} faults ({outcome.seen} inputs)"
    )
    for failure, data in outcome.failures.items():
        print(f"  {failure}  [{len(data)} bytes]")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())

"""The errors of built-in functions, here and on PoCL, by exact references: the table of `docs/builtins.md`.

    python -m benchmarks.builtins [--count 2000] [--only TEXT] [--skip-pocl]

The functions, their references (mpmath, 240 bits; exact ones by NumPy or fractions) and what OpenCL allows
are those of `tests/emulator/builtin_cases.py`. Errors are in units of the last place, the largest of all.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "emulator"))
from builtin_errors import float_errors, integer_differences  # type: ignore[import-not-found]
from test_builtin_values import Here  # type: ignore[import-not-found]


class OnPoCL:
    """Runs kernels on PoCL."""

    def __init__(self) -> None:
        import pyopencl as cl

        device = next(it for p in cl.get_platforms() if "Portable" in p.name for it in p.get_devices())
        self.queue = cl.CommandQueue(cl.Context([device]))

    def __call__(self, text: str, name: str, buffers: Mapping[str, Any], items: int) -> dict[str, Any]:
        """Return the buffers after a run."""
        import pyopencl as cl

        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
        made = {key: cl.Buffer(self.queue.context, flags, hostbuf=value) for key, value in buffers.items()}
        built = cl.Program(self.queue.context, text).build(options=["-cl-std=CL2.0"])
        cl.Kernel(built, name)(self.queue, (items,), None, *made.values())
        found = {}
        for key, value in buffers.items():
            found[key] = np.empty_like(value)
            cl.enqueue_copy(self.queue, found[key], made[key])
        return found


def errors(run: Any, count: int, only: str) -> dict[str, dict[str, Any]]:
    """Return each function's largest error by type."""
    found: dict[str, dict[str, Any]] = {}
    for kind in ("float", "double"):
        for it in float_errors(run, kind, count, only):
            found.setdefault(it.case.name, {})[kind] = it
    return found


def main() -> int:
    """Print the table; 1 if the emulator is over what is allowed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--only", default="")
    parser.add_argument("--skip-pocl", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        here = Here(Path(folder))
        ours = errors(here, args.count, args.only)
        wrong = [it for kinds in ours.values() for it in kinds.values() if it.ulps > it.allowed]
        integers = [
            text
            for bits in (8, 16, 32, 64)
            for signed in (True, False)
            for _, text in integer_differences(here, bits, signed, args.count)
        ]
    theirs = {} if args.skip_pocl else errors(OnPoCL(), args.count, args.only)
    print("| function | allowed | float | double | PoCL: float | double |\n|---|---|---|---|---|---|")
    for name, kinds in sorted(ours.items()):
        allowed = "/".join(dict.fromkeys(f"{it.allowed:g}" for it in kinds.values()))
        cells = [f"{kinds[it].ulps:.2f}" if it in kinds else "" for it in ("float", "double")]
        pocl = theirs.get(name, {})
        cells += [f"{pocl[it].ulps:.2g}" if it in pocl else "" for it in ("float", "double")]
        print(f"| `{name}` | {allowed} | {' | '.join(cells)} |")
    for it in wrong:
        print(f"over: {it.ulps:.3g}, {it.allowed} are allowed: {it.worst}")
    for text in integers:
        print(f"wrong: {text}")
    return 1 if wrong or integers else 0


if __name__ == "__main__":
    sys.exit(main())

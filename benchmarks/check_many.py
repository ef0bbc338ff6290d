"""How long `clmap-lsp --check` takes over 1,000 kernels: `python benchmarks/check_many.py [KERNELS]`.

The kernels are copies of those in fixtures/, each with names and sizes of its own, so that no result of one
stands for another. Prints seconds of the wall clock and of the processor, for cold caches (the first run) and
warm ones. On a machine that is busy with other work only the latter mean something.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FIXTURES = Path(__file__).parents[1] / "fixtures"
_KERNEL = re.compile(r"(__kernel\s+(?:__attribute__\(\(.*?\)\)\s*)?void\s+)(\w+)", re.DOTALL)


def write_kernels(folder: Path, wanted: int) -> int:
    """Write files until they hold `wanted` kernels; returns how many they hold."""
    sources = [it.read_text(encoding="utf-8") for it in sorted(FIXTURES.rglob("*.cl"))]
    count = number = 0
    while count < wanted:
        text = sources[number % len(sources)]
        own = _KERNEL.sub(rf"\g<1>\g<2>_{number}", text)
        # Another pitch for every copy: figures differ, so that nothing is found in a cache of contents.
        own = own.replace(" N=256", f" N={256 + 16 * (number % 7)}")
        (folder / f"k{number:04}.cl").write_text(own, encoding="utf-8")
        count += len(_KERNEL.findall(text))
        number += 1
    return count


def seconds(folder: Path, output: Path) -> tuple[float, float]:
    """Check the folder once; returns seconds of the wall clock and of the processor."""
    start, before = time.perf_counter(), os.times()
    with output.open("w") as out:
        command = [sys.executable, "-m", "clmap_lsp", "--check", str(folder), "--format", "json"]
        done = subprocess.run(command, stdout=out, check=False)
    assert done.returncode in (0, 1), done.returncode
    after = os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return time.perf_counter() - start, used


def main() -> None:
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    with tempfile.TemporaryDirectory() as name:
        folder, output = Path(name, "kernels"), Path(name, "out.json")
        folder.mkdir()
        count = write_kernels(folder, wanted)
        runs = [seconds(folder, output) for _ in range(3)]
        findings = len(json.loads(output.read_text(encoding="utf-8"))["findings"])
    n_cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    print(f"{count} kernels, {findings} findings, {n_cores} cores, load {os.getloadavg()[0]:.1f}")
    for label, (wall, used) in zip(("first", "second", "third"), runs, strict=True):
        print(f"{label} run: {wall:.2f} s, {used:.2f} s of the processor ({used / n_cores:.2f} s a core)")


if __name__ == "__main__":
    main()

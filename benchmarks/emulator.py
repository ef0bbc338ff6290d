"""Speed of the emulator beside Oclgrind, on the four matrix multiplies and on irregular kernels.

usage: python benchmarks/emulator.py [--sizes 64 128 256] [--skip-oclgrind]

Oclgrind (Debian package `oclgrind`) runs plain, without a plugin, one thread. Ours runs with every metric on.
CPU seconds are of the process that does the work: for ours one emulation in a warm process, twice run, the
better one; for Oclgrind the whole command. Peak memory is that of a fresh process that emulates twice, with
machine code from the cache and without.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from clmap_lsp.devices.catalogue import load_model
from clmap_lsp.emulator.result import EmulationResult, Engine
from clmap_lsp.emulator.run import emulate
from clmap_lsp.emulator.settings import EmulationSettings
from clmap_lsp.launch.model import BufferArgument, Fill, Launch, ScalarArgument
from clmap_lsp.source.program import Program
from clmap_lsp.source.read import read_program

FIXTURES = Path(__file__).parents[1] / "fixtures" / "matmul"
MATMULS = {
    "simple": "mm_simple",
    "coalesced_a": "mm_coalesced_a",
    "coalesced_ab": "mm_coalesced_ab",
    "coalesced_abt": "mm_coalesced_abt",
}
IRREGULAR = """
__kernel void csr(__global const int *start, __global const int *column, __global const float *value,
                  __global const float *x, __global float *y) {
  int row = get_global_id(0);
  float sum = 0.0f;
  for (int k = start[row]; k < start[row + 1]; k++) sum += value[k] * x[column[k]];
  y[row] = sum;
}
__kernel void gather(__global const int *index, __global const float *x, __global float *y) {
  int i = get_global_id(0);
  y[i] = x[index[i]];
}
__kernel void collatz(__global const uint *start, __global uint *steps) {
  int i = get_global_id(0);
  ulong v = start[i];
  uint n = 0;
  while (v > 1) { v = v & 1 ? 3 * v + 1 : v >> 1; n++; }
  steps[i] = n;
}
"""


def matmul(file: str, n: int) -> tuple[Program, Launch]:
    program = read_program((FIXTURES / f"{file}.cl").read_text(), f"{file}.cl")
    arguments = {
        "A": BufferArgument(Fill.RANDOM, n * n),
        "B": BufferArgument(Fill.RANDOM, n * n, seed=1),
        "C": BufferArgument(Fill.ZEROS, n * n),
        "N": ScalarArgument((n,)),
    }
    return program, Launch(MATMULS[file], (n, n), (16, 16), arguments)


def irregular(items: int) -> list[tuple[Program, Launch]]:
    program = read_program(IRREGULAR, "irregular.cl")
    entries = 16 * items
    permutation = BufferArgument(Fill.PERMUTATION, items)
    reals = BufferArgument(Fill.RANDOM, items)
    csr = {
        # Rows of 0 to 31 entries, 16 on average.
        "start": BufferArgument(Fill.FORMULA, items + 1, text="i * 16 + (i * 7919) % 16"),
        "column": BufferArgument(Fill.FORMULA, entries + 32, text=f"(i * 40503) % {items}"),
        "value": BufferArgument(Fill.RANDOM, entries + 32),
        "x": reals,
        "y": BufferArgument(Fill.ZEROS, items),
    }
    gather = {"index": permutation, "x": reals, "y": BufferArgument(Fill.ZEROS, items)}
    collatz = {
        "start": BufferArgument(Fill.FORMULA, items, text="i + 1"),
        "steps": BufferArgument(Fill.ZEROS, items),
    }
    arguments = {"csr": csr, "gather": gather, "collatz": collatz}
    return [(program, Launch(name, (items,), (256,), it)) for name, it in arguments.items()]


def ours(
    program: Program, launch: Launch, settings: EmulationSettings
) -> tuple[float, float, EmulationResult]:
    """Return CPU seconds, wall seconds and the result: the better of two runs."""
    kernel = program.kernel(launch.kernel)
    assert kernel is not None
    best = (float("inf"), float("inf"))
    for _ in range(2):
        cpu, wall = time.process_time(), time.perf_counter()
        result = emulate(program, kernel, launch, settings)
        best = min(best, (time.process_time() - cpu, time.perf_counter() - wall))
    return *best, result


def oclgrind(file: str, n: int) -> float | None:
    """Return the CPU seconds of Oclgrind, or None where it is not installed."""
    tool = shutil.which("oclgrind-kernel")
    if tool is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(FIXTURES / f"{file}.cl", folder)
        size = 4 * n * n
        lines = [f"{file}.cl", MATMULS[file], f"{n} {n} 1", "16 16 1"]
        lines += [f"<size={size} float fill=1.5>", f"<size={size} float fill=0.5>"]
        lines += [f"<size={size} float fill=0>", f"<size=4 int>\n{n}"]
        sim = Path(folder) / "launch.sim"
        sim.write_text("\n".join(lines) + "\n")
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [tool, "--num-threads", "1", sim.name], cwd=folder, check=True, stdout=subprocess.DEVNULL
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def peak_mb(file: str, n: int, cache: str | None = None) -> float:
    """Return the peak memory in MB of a fresh process that emulates one launch.

    `cache` is a folder for machine code; an empty one makes the process compile all of it. The process says
    its own high-water mark: Linux carries `ru_maxrss` over from the process that started it.
    """
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); from emulator import *;"
        "ours(*matmul(sys.argv[2], int(sys.argv[3])), SETTINGS); print(high_water_mb())"
    )
    folder = str(Path(__file__).parent)
    command = [sys.executable, "-c", code, folder, file, str(n)]
    environment = dict(os.environ) if cache is None else {**os.environ, "XDG_CACHE_HOME": cache}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return float(done.stdout)


def high_water_mb() -> float:
    """Return the most memory that this process has had, in MB."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(it for it in status.read_text().splitlines() if it.startswith("VmHWM:"))
        return int(line.split()[1]) / 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1 << 20 if sys.platform == "darwin" else 1 << 10)


def peak_without_cache_mb(file: str, n: int) -> float:
    """Return the peak memory where LLVM has to make all machine code first."""
    with tempfile.TemporaryDirectory() as folder:
        return peak_mb(file, n, folder)


SETTINGS = EmulationSettings(device=load_model(), time_limit_s=120)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="*", default=[64, 128, 256])
    parser.add_argument("--skip-oclgrind", action="store_true")
    options = parser.parse_args()
    jit = replace(SETTINGS, engine=Engine.JIT)
    print("kernel          N     auto cpu  wall    jit cpu  wall    MB  cold   oclgrind  ratio auto  jit")
    for n in options.sizes:
        for file in MATMULS:
            program, launch = matmul(file, n)
            auto_cpu, auto_wall, _ = ours(program, launch, SETTINGS)
            jit_cpu, jit_wall, _ = ours(program, launch, jit)
            theirs = None if options.skip_oclgrind else oclgrind(file, n)
            ratios = ""
            if theirs is not None:
                ratios = f"{theirs:8.2f} {theirs / auto_cpu:12.0f} {theirs / jit_cpu:7.0f}"
            print(
                f"{file:14s} {n:4d} {auto_cpu:9.3f} {auto_wall:7.3f} {jit_cpu:8.3f} {jit_wall:7.3f}"
                f" {peak_mb(file, n):6.0f} {peak_without_cache_mb(file, n):5.0f} {ratios}",
                flush=True,
            )
    program, launch = matmul("coalesced_ab", 2048)
    cpu, wall, result = ours(program, launch, replace(SETTINGS, engine=Engine.SYMBOLIC))
    print(f"coalesced_ab 2048 symbolic: cpu {cpu:.3f} wall {wall:.3f}, {result.metrics.accesses} accesses")
    endless = read_program("__kernel void k(__global int *a) { while (1) a[0] += 1; }", "endless.cl")
    launch = Launch("k", (64,), (64,), {"a": BufferArgument(Fill.ZEROS, 1)})
    result = ours(endless, launch, replace(SETTINGS, time_limit_s=0.5))[2]
    print(f"endless loop with a limit of 0.5 s: ran {result.seconds.run:.3f} s")
    for program, launch in irregular(65_536):
        cpu, wall, result = ours(program, launch, jit)
        accesses = result.metrics.accesses
        print(f"{launch.kernel:10s} 65536 jit: cpu {cpu:.3f} wall {wall:.3f}, {accesses} accesses")


if __name__ == "__main__":
    main()

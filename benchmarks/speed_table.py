"""The product's speed table as Markdown: one command, one run, ratios within the run.

usage: python benchmarks/speed_table.py > table.md

CPU seconds of the process that does the work, all its threads; the better of a few runs. Cost against size is
the time of each size over that of the one before, which is half as large: 2 is linear. Takes less than a
minute. Oclgrind is timed as a command; PoCL in this process, its launch alone and with building before it.
"""

from __future__ import annotations

import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import count, pairwise
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from emulator import FIXTURES, MATMULS, SETTINGS, matmul, oclgrind, ours

from clmap_lsp.analysis.session import AnalysisSession
from clmap_lsp.devices import load_model
from clmap_lsp.emulator.result import Engine
from clmap_lsp.source.read import read_program

os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # Modules are compiled once, as in an installation.
os.environ["POCL_KERNEL_CACHE"] = "0"  # Building is timed, so none of it may come from a disk.
KERNEL = "__kernel void k{0}(__global float *a, __global float *b) {{ int i = get_global_id(0);{1} }}\n"
ACCESS = " a[i * {0}] = b[i + {0}];"


def cpu(work: Callable[[], object], runs: int = 3) -> float:
    best = float("inf")
    for _ in range(runs):
        started = time.process_time()
        work()
        best = min(best, time.process_time() - started)
    return best


def command(*arguments: str) -> float:
    """Return the CPU seconds of a fresh process."""
    best = float("inf")
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *arguments], check=False, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        best = min(best, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return best


def analyse(text: str, session: AnalysisSession | None = None) -> None:
    program = read_program(text, "k.cl")
    (session or AnalysisSession()).analyse(program, load_model("nvidia-hopper"))


def file_of(kernels: int, accesses: int = 2) -> str:
    body = "".join(ACCESS.format(it + 1) for it in range(accesses))
    return "".join(KERNEL.format(it, body) for it in range(kernels))


def processor() -> str:
    """Return the processor's name, where the system tells."""
    about = Path("/proc/cpuinfo")
    lines = about.read_text().splitlines() if about.exists() else []
    return next((it.partition(": ")[2] for it in lines if it.startswith("model name")), platform.processor())


def load() -> str:
    """Return how busy the machine was in the last minute."""
    return f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"


def pocl(file: str, n: int) -> tuple[float, float] | None:
    """Return the CPU seconds of a launch in PoCL, built before and with building; None without PoCL."""
    try:
        import pyopencl as cl
    except ImportError:
        return None
    try:
        found = [it for it in cl.get_platforms() if "Portable" in it.name or "PoCL" in it.name]
    except cl.Error:
        return None
    if not found:
        return None
    context = cl.Context(found[0].get_devices())
    queue = cl.CommandQueue(context)
    data = np.random.default_rng(1).random((n, n), np.float32)
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    buffers = [cl.Buffer(context, flags, hostbuf=data) for _ in range(3)]
    text = (FIXTURES / f"{file}.cl").read_text()

    def launch(kernel: Any) -> None:
        cl.enqueue_nd_range_kernel(queue, kernel, (n, n), (16, 16))
        queue.finish()

    def built() -> Any:
        # A comment makes another program of it: the driver keeps what it has built in this process.
        program = cl.Program(context, f"// {next(numbers)}\n{text}").build(cache_dir=False)
        kernel = cl.Kernel(program, MATMULS[file])
        kernel.set_args(*buffers, np.int32(n))
        return kernel

    numbers = count()
    with_building = cpu(lambda: launch(built()), 2)
    kernel = built()
    launch(kernel)
    return cpu(lambda: launch(kernel), 5), with_building


def growth(name: str, sizes: list[int], text_of: Callable[[int], str]) -> None:
    times = [cpu(lambda size=size: analyse(text_of(size)), 2) for size in sizes]  # type: ignore[misc]
    factors = ", ".join(f"{b / a:.1f}" for a, b in pairwise(times))
    seconds = ", ".join(f"{it * 1e3:.0f}" for it in times)
    print(f"| {name} | {', '.join(map(str, sizes))} | {seconds} | {factors} |", flush=True)


def main() -> None:
    print(
        f"Machine: {processor()} ({platform.machine()}), {os.cpu_count()} cores, {platform.system()}, "
        f"Python {platform.python_version()}; load at the start {load()}.\n"
    )
    print("| what | CPU ms | over an empty Python |\n|---|---|---|")
    empty = command("-c", "pass")
    fixtures = Path(__file__).parents[1] / "fixtures"
    for name, arguments in {
        "empty Python": ("-c", "pass"),
        "`--version`": ("-m", "clmap_lsp", "--version"),
        "check of one file, cold": ("-m", "clmap_lsp", "check", str(fixtures / "matmul" / "simple.cl")),
        "where nothing is found": ("-m", "clmap_lsp", "check", str(fixtures / "stencil" / "five_point.cl")),
    }.items():
        taken = command(*arguments)
        print(f"| {name} | {taken * 1e3:.0f} | {taken / empty:.1f} |", flush=True)
    text = file_of(20)
    session = AnalysisSession()
    cold = cpu(lambda: analyse(text)) / 20
    analyse(text, session)
    warm = cpu(lambda: analyse(text, session)) / 20
    cache = read_program(text, "k.cl").cache
    device, edits = load_model("nvidia-hopper"), count(1000)

    def keystroke() -> None:
        edited = text.replace("i * 1]", f"i * {next(edits)}]", 1)
        session.analyse(read_program(edited, "k.cl", previous=cache), device)

    key = cpu(keystroke, 5)
    print(f"| check of a kernel, cold, in process | {cold * 1e3:.1f} | {cold / empty:.2f} |")
    print(f"| check of a kernel, known | {warm * 1e3:.1f} | {warm / empty:.2f} |")
    print(f"| keystroke in a file of 20 kernels | {key * 1e3:.1f} | {key / empty:.2f} |", flush=True)
    print("\n| emulator, matmul | ours, ms | ours by JIT, ms | Oclgrind over both ", end="")
    print("| PoCL's launch, ms | and building | JIT over both |\n|---|---|---|---|---|---|---|")
    for n in (64, 128):
        program, launch = matmul("simple", n)
        auto, _, _ = ours(program, launch, SETTINGS)
        jit, _, _ = ours(program, launch, replace(SETTINGS, engine=Engine.JIT))
        theirs = oclgrind("simple", n)
        ratio = "not installed" if theirs is None else f"{theirs / auto:.0f} and {theirs / jit:.0f}"
        device = pocl("simple", n)
        beside = "not installed | | |"
        if device is not None:
            ratios = f"{jit / device[0]:.0f} and {jit / device[1]:.2f}"
            beside = f"{device[0] * 1e3:.1f} | {device[1] * 1e3:.0f} | {ratios} |"
        print(f"| N = {n} | {auto * 1e3:.0f} | {jit * 1e3:.0f} | {ratio} | {beside}", flush=True)
    print("\n| grows with | sizes | CPU ms | factor for twice the size |\n|---|---|---|---|")
    growth("kernels in a file", [10, 20, 40, 80], file_of)
    growth("accesses in a kernel", [8, 16, 32, 64], lambda n: file_of(1, n // 2))
    growth("lines of comments", [2000, 4000, 8000, 16000], lambda n: "// text\n" * n + file_of(1))
    growth("NDRange", [4096, 8192, 16384, 32768], lambda n: f"// clmap: global={n} local=64\n" + file_of(1))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"\nPeak memory of this run, PoCL in it: {peak:.0f} MB. Load at the end {load()}.")


if __name__ == "__main__":
    main()

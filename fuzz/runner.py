"""Runs a driver for a while in a process of its own, and keeps every input that fails.

Case number i of a seed is always the same input, so that a process that died or hangs names its input by its
last number. Time is CPU time: a busy machine makes no hangs.
"""

from __future__ import annotations

import faulthandler
import hashlib
import multiprocessing
import os
import random
import time
import traceback
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from pathlib import Path

from clmap_lsp.sandbox.usage import cpu_seconds
from fuzz.slowness import slowness
from fuzz.targets import DRIVERS, Driver

HANG_S = 5.0
"""CPU seconds that one reading of an input may take before it counts as a hang."""
KILL_S = 30.0
"""Processor seconds after which an input's process is ended."""
STUCK_S = 900.0
"""Seconds after which one is ended that waits for something instead."""
_MIB = 2**20
_WARM = (
    b"""__kernel void tile(__global const float *a, __global float *b, __local float *part, int n) {
    int x = get_global_id(0), l = get_local_id(0);
    part[l] = a[x];
    barrier(CLK_LOCAL_MEM_FENCE);
    float sum = 0;
    for (int k = 0; k < n; k++) sum += part[k] * a[k * n + x];
    b[x * n] = sqrt(sum);
}""",
    b"""__kernel void walk(__global const int *next, __global int *out, read_only image2d_t image) {
    int at = get_global_id(0);
    for (int k = 0; k < 64 && at > 0; k += next[at]) at = next[at] + read_imagei(image, (int2)(k, at)).x;
    atomic_add(&out[at % 7], 1);
    out[get_global_id(0)] = undefined
""",
    b'int main() { size_t n = 64; clEnqueueNDRangeKernel(q, clCreateKernel(p, "k", 0), 1, 0, &n, 0, 0, 0, 0);'
    b" }",
    b"import pyopencl as cl\nprg = cl.Program(ctx, '__kernel void k() {}').build()\n"
    b"prg.k(queue, (64,), None)\n",
)
"""Texts that need most of what the targets load late."""


@dataclass(slots=True)
class Outcome:
    """What a run found. `cpu_s` is what the fuzzed processes used, start-up left out."""

    driver: str
    cases: int = 0
    cpu_s: float = 0.0
    failures: dict[str, bytes] = field(default_factory=dict)
    """By what happened, the smallest input that shows it."""
    seen: int = 0


def make_case(driver: Driver, seed: int, number: int) -> bytes:
    """Return input `number` of a seed."""
    return driver.make(random.Random(f"{driver.name}-{seed}-{number}"))


def fuzz(name: str, cpu_s: float, seed: int, folder: Path | None = None, max_cases: int = 1 << 60) -> Outcome:
    """Run a driver for some CPU seconds; failing inputs are also written to `folder`."""
    # As in our workers: threads of a BLAS that wait for work would be taken for the target's processor time.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    outcome, first = Outcome(name), 0
    while outcome.cpu_s < cpu_s and first < max_cases:
        first = _one_process(outcome, cpu_s - outcome.cpu_s, seed, first, max_cases, folder)
    outcome.cases = first
    return outcome


def _one_process(
    outcome: Outcome, cpu_s: float, seed: int, first: int, max_cases: int, folder: Path | None
) -> int:
    """Fuzz in a fresh process until it has used its time or died; returns the next case's number."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_cases, args=(theirs, outcome.driver, seed, first, cpu_s, max_cases))
    process.start()
    theirs.close()
    number, died = first, ""
    while True:
        try:
            if died := _hang(ours, process):
                process.kill()
                break
            number, used, failure = ours.recv()
        except EOFError:
            break
        outcome.cpu_s += used
        if failure:
            _keep(outcome, failure, make_case(DRIVERS[outcome.driver], seed, number), folder)
        number += 1
    process.join(KILL_S)
    if process.exitcode != 0:
        died = died or f"died: exit code {process.exitcode}"
        _keep(outcome, died, make_case(DRIVERS[outcome.driver], seed, number), folder)
        outcome.cpu_s += HANG_S  # Its last case took some time that it could not report.
        number += 1
    ours.close()
    return number


def _hang(pipe: Connection, process: SpawnProcess) -> str:
    """Wait for the process's next word; returns what is wrong where it will say none."""
    assert process.pid is not None
    before, began = cpu_seconds(process.pid), time.monotonic()
    while not pipe.poll(1.0):
        used, waited = cpu_seconds(process.pid), time.monotonic() - began
        if used is not None and before is not None and used - before > KILL_S:
            return f"hang: no end after {KILL_S:g} s of processor time"
        if waited > (STUCK_S if used is not None else KILL_S):
            return f"hang: no end after {waited:.0f} s"
    return ""


def _keep(outcome: Outcome, failure: str, data: bytes, folder: Path | None) -> None:
    outcome.seen += 1
    known = outcome.failures.get(failure)
    if known is not None and len(known) <= len(data):
        return
    outcome.failures[failure] = data
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        digest = hashlib.sha256(failure.encode()).hexdigest()[:12]
        (folder / f"{digest}.txt").write_text(failure + "\n", encoding="utf-8")
        (folder / f"{digest}.input").write_bytes(data)


def _cases(pipe: Connection, name: str, seed: int, first: int, cpu_s: float, max_cases: int) -> None:
    """The fuzzed process: sends (number, CPU seconds, failure) after each case."""
    faulthandler.enable()
    _limit_memory()
    driver = DRIVERS[name]
    for text in (b"", *_WARM):  # What is loaded when it is first needed is not the first case's time.
        failure_of(driver, text)
    began = last = time.process_time()
    for number in range(first, max_cases):
        data = make_case(driver, seed, number)
        before = time.process_time()
        failure = failure_of(driver, data)
        used = time.process_time() - before
        most = HANG_S * driver.readings
        if used > most and used > most * slowness() and not failure:
            failure = f"hang: {name}"
        now = time.process_time()
        pipe.send((number, now - last, failure))
        last = now
        if now - began >= cpu_s:
            return


def failure_of(driver: Driver, data: bytes) -> str:
    """Return what an input does wrong, in a line that is the same for the same fault; empty if nothing."""
    try:
        driver.target(data)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        frames = [it for it in traceback.extract_tb(error.__traceback__) if "clmap_lsp" in it.filename]
        place = f"{Path(frames[-1].filename).name}:{frames[-1].name}:{frames[-1].lineno}" if frames else "?"
        words = " ".join(str(error).split())[:160] if isinstance(error, AssertionError) else ""
        return f"{type(error).__name__} at {place} {words}".strip()
    return ""


def _limit_memory() -> None:
    """Let an input that wants all memory fail as one, instead of ending the machine."""
    if os.name != "posix":
        return
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (6144 * _MIB, hard))

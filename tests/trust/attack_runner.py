"""Runs attack kernels, each in a forked process of its own, and prints what became of them as JSON lines.

usage: python -X faulthandler attack_runner.py [--rows | --single] FILE.cl...

With `--rows`, races are not looked for and nothing is traced, so that regular kernels are run by whole rows
of work-items; with `--single` the same without rows.

Every buffer of the launch and every table of the emulator lies between two pages that may not be touched,
right before the second one: a read or write past the end kills the process. Bytes between the first page and
the buffer are canaries.
"""

from __future__ import annotations

import ctypes
import json
import mmap
import os
import select
import signal
import sys
import time
import traceback
from pathlib import Path
from typing import Any

import numpy as np

LIMIT_S = 30.0
_PAGE = mmap.PAGESIZE
_CANARY = 0xA5
_regions: list[tuple[mmap.mmap, int, str]] = []
_libc = ctypes.CDLL(None, use_errno=True)
_watched: dict[str, bool] = {}
"""Settings of the emulator that differ from its defaults."""
_by_rows: list[bool] = []
"""Whether each run was by rows of work-items."""


def guarded(size: int, what: str) -> np.ndarray:
    """Return zeroed bytes between two pages without access."""
    room = -(-max(size, 1) // 8) * 8
    pages = -(-room // _PAGE)
    region = mmap.mmap(-1, (pages + 2) * _PAGE)
    start = (pages + 1) * _PAGE - room
    region[_PAGE:start] = bytes([_CANARY]) * (start - _PAGE)
    data = np.frombuffer(region, np.uint8)
    for page in (data.ctypes.data, data.ctypes.data + (pages + 1) * _PAGE):
        assert _libc.mprotect(ctypes.c_void_p(page), _PAGE, 0) == 0
    _regions.append((region, start, what))
    return data[start : start + max(size, 1)]


def smashed() -> list[str]:
    """Return what lies behind canaries that were written to."""
    return [what for region, start, what in _regions if set(region[_PAGE:start]) - {_CANARY}]


def guard_emulator() -> None:
    """Make the emulator allocate between guards."""
    from clmap_lsp.emulator import address_space, allocation

    make = address_space._contents

    def contents(*arguments: Any) -> np.ndarray:
        data = make(*arguments)
        kept = guarded(len(data), next(it.variable.name for it in arguments if hasattr(it, "variable")))
        kept[: len(data)] = data
        return kept

    def cleared(words: int) -> np.ndarray:
        caller = sys._getframe(1)
        what = f"{caller.f_code.co_name} line {caller.f_lineno}, {words} words"
        return guarded(8 * max(words, 1), what).view(np.int64)

    address_space._contents = contents
    allocation.cleared = cleared


def set_rows(allowed: bool) -> None:
    """Run all that is regular by rows of work-items, or nothing."""
    from clmap_lsp.emulator import jit

    has_rows = jit._has_rows

    def noted(job: Any) -> bool:
        _by_rows.append(has_rows(job))
        return _by_rows[-1]

    jit._ROWS_FROM, jit._LEAST_ROW = (1, 1) if allowed else (1 << 60, 1)
    jit._has_rows = noted
    _watched.update(trace=False, races=False)


def attack(path: Path) -> dict[str, Any]:
    """Read, analyse and run the kernels of a file."""
    from clmap_lsp.analysis.session import AnalysisSession
    from clmap_lsp.devices import load_model
    from clmap_lsp.emulator.result import Engine, Method
    from clmap_lsp.emulator.run import emulate
    from clmap_lsp.emulator.settings import EmulationSettings
    from clmap_lsp.launch.problem import LaunchError, LaunchProblem
    from clmap_lsp.launch.resolve import resolve
    from clmap_lsp.source.read import read_program

    started = time.process_time()
    program = read_program(path.read_text(encoding="utf-8"), path.name)
    problems = [it.code for it in program.problems]
    if not program.kernels or {"recursion", "nesting", "too-many-loops"} & set(problems):
        return {"outcome": ["unread"], "problems": problems, "seconds": time.process_time() - started}
    kernel = program.kernels[-1]
    AnalysisSession().analyse(program, load_model("nvidia-hopper"))
    analysed = time.process_time()
    launch = resolve(program, kernel)
    refused, result = "", None
    if isinstance(launch, LaunchProblem):
        refused = str(launch)
    else:
        settings = EmulationSettings(
            engine=Engine.JIT,
            device=load_model("nvidia-hopper"),
            time_limit_s=1,
            memory_limit_mib=256,
            **_watched,  # type: ignore[arg-type]
        )
        try:
            result = emulate(program, kernel, launch, settings)
        except LaunchError as error:
            refused = str(error)
    reply: dict[str, Any] = {
        "problems": problems,
        "refused": refused,
        "smashed": smashed(),
        "by_rows": any(_by_rows),
        "seconds": analysed - started,
        "emulation_s": time.process_time() - analysed,
    }
    if result is None:
        return {**reply, "outcome": ["refused"]}
    kinds = sorted({it.kind.value for it in result.faults})
    kinds += ["stopped"] * (result.stopped is not None) + ["sampled"] * (result.method is Method.SAMPLED)
    if not kinds:
        kinds = ["none"] if result.is_whole else ["not whole"]
    buffers = {name: [*it.first, *it.last] for name, it in result.buffers.items()}
    return {**reply, "outcome": kinds, "secret": buffers.get("secret")}


def run_forked(path: Path) -> dict[str, Any]:
    """Run one attack in a fork; what it did to the process is part of the answer."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        _child(path, writing)
    os.close(writing)
    body, deadline = b"", time.monotonic() + LIMIT_S
    while True:
        ready, _, _ = select.select([reading], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            os.kill(pid, signal.SIGKILL)
            break
        chunk = os.read(reading, 65536)
        if not chunk:
            break
        body += chunk
    os.close(reading)
    _, status = os.waitpid(pid, 0)
    reply = json.loads(body) if body else {}
    return {"name": path.stem, "rc": os.waitstatus_to_exitcode(status), **reply}


def _child(path: Path, writing: int) -> None:
    import resource

    size = int(Path("/proc/self/statm").read_text().split()[0]) * _PAGE if Path("/proc").exists() else 2**32
    resource.setrlimit(resource.RLIMIT_AS, (size + 2**31, resource.RLIM_INFINITY))
    try:
        reply = attack(path)
        code = 0
    except BaseException:
        reply = {"outcome": ["raised"], "traceback": traceback.format_exc()[-3000:]}
        code = 3
    os.write(writing, json.dumps(reply, default=str).encode())
    os._exit(code)


def main() -> None:
    import llvmlite.binding  # noqa: F401 - what every attack needs is loaded once, before the forks

    here = Path(__file__).parent
    attack(here / "attacks" / "null_pointer.cl")
    guard_emulator()
    files = [it for it in sys.argv[1:] if not it.startswith("--")]
    if len(files) < len(sys.argv) - 1:
        set_rows("--rows" in sys.argv)
    for path in files:
        print(json.dumps(run_forked(Path(path))), flush=True)


if __name__ == "__main__":
    main()

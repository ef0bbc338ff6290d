"""Inputs that are valid, hostile and of any size: `python -m fuzz.sizes` says which of them take long.

Mutations find what breaks; they hardly ever make a text that is large in one way only. Each family of
`fuzz.families` grows in one way: nested loops, long lines, many macros, parameters, kernels, host files. What
is asked: at most `MOST_S` seconds of processor time for 50 KB, and no growth beyond the length of the text.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from multiprocessing.connection import Connection
from pathlib import Path

from fuzz.families import FAMILIES, Family, Files
from fuzz.slowness import slowness

MOST_S = 2.0
"""Processor seconds for 50 KB, in each stage."""
LAUNCHES_S = 6.0
"""The same for following a whole project's host code, on a command line only: 460,000 statements of it."""
FULL = 50_000
SIZES = (FULL // 4, FULL // 2, FULL)
GROWTH = 3.0
"""For twice the text; 2 is linear, 4 the square. Asked where it takes longer than `NOTICED_S`."""
NOTICED_S = 0.5
KILL_S = 40
_MIB = 1 << 20

Stage = tuple[str, Callable[[], object]]


def _kernel_stages(files: Files, folder: Path) -> Iterator[Stage]:
    """What an editor and `check` do with a file: read, index, analyse, judge; and all of it after an edit."""
    from clmap_lsp.config import Settings
    from clmap_lsp.hosts.launches import launches_of
    from clmap_lsp.rules.selection import Selection
    from clmap_lsp.workbench import Workbench
    from clmap_lsp.workbench.hosts import project_of

    text, path = files["k.cl"], str(folder / "k.cl")
    beside = len(files) > 1
    workbench = Workbench(remembers=True)
    everything = Selection.of(("ALL",))
    opened = []
    yield "index", lambda: workbench.index(path, text, Settings())
    yield (
        "read",
        lambda: opened.append(
            workbench.open_text(path, text, Settings(), looks_beside=beside, reads_hosts=beside)
        ),
    )
    yield "errors", lambda: opened[-1].index
    yield "analyse", lambda: opened[-1].analysis
    yield "findings", lambda: opened[-1].findings(everything)
    middle = len(text) // 2
    edited = text[:middle] + " " + text[middle:]

    def again() -> None:
        found = workbench.open_text(path, edited, Settings(), looks_beside=beside, reads_hosts=beside)
        found.findings(everything)

    yield "edit", again
    if any(not name.endswith((".cl", ".h")) for name in files):
        yield "launches", lambda: launches_of(project_of(str(folder)))


def _toml_stages(files: Files, _: Path) -> Iterator[Stage]:
    from clmap_lsp.config.load import ConfigError, parse

    def read() -> None:
        try:
            settings = parse("clmap.toml", files["clmap.toml"], devices=("nvidia-hopper",), rules=("CM101",))
        except ConfigError as error:
            str(error)
            return
        for name in ("a/b.cl", "a" * 200 + ".cl", "a/" * 100 + "b.cl"):
            settings.excludes(name)

    yield "settings", read


def _sim_stages(files: Files, _: Path) -> Iterator[Stage]:
    from clmap_lsp.launch.problem import LaunchProblem
    from clmap_lsp.launch.sim import bind, read_sim
    from clmap_lsp.source.read import read_program

    def read() -> None:
        sim = read_sim(files["k.sim"], "k.sim")
        if not isinstance(sim, LaunchProblem):
            bind(sim, read_program("__kernel void k(__global float *a) { a[0] = 1; }", "k.cl").kernels[0])

    yield "sim", read


STAGES: dict[str, Callable[[Files, Path], Iterator[Stage]]] = {
    "kernel": _kernel_stages,
    "files": _kernel_stages,
    "toml": _toml_stages,
    "sim": _sim_stages,
}


def seconds(family: Family, size: int) -> dict[str, float]:
    """Return the processor seconds of each stage for one size; one that failed has the reason in its name."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder).resolve()
        (place / ".git").mkdir()
        files = family.make(size)
        for name, text in files.items():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_text(text, encoding="utf-8", errors="surrogatepass")
        found: dict[str, float] = {}
        for stage, work in STAGES[family.target](files, place):
            before, fault = time.process_time(), ""
            try:
                work()
            except Exception as error:
                fault = f": {type(error).__name__}: {str(error)[:80]}"
            found[stage + fault] = time.process_time() - before
        return found


def _child(family: Family, sizes: tuple[int, ...], pipe: Connection) -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (4096 * _MIB, 4096 * _MIB))
    most = int(KILL_S * slowness())
    resource.setrlimit(resource.RLIMIT_CPU, (most, most + 1))
    for size in sizes:
        pipe.send((size, seconds(family, size)))


def measured(family: Family, sizes: tuple[int, ...] = SIZES) -> dict[int, dict[str, float]]:
    """Return the seconds of each stage by size; sizes are left out that were not reached in `KILL_S`."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_child, args=(family, sizes, theirs))
    process.start()
    theirs.close()
    found = {}
    while True:
        try:
            size, took = ours.recv()
        except EOFError:
            break
        found[size] = took
    process.join()
    ours.close()
    return found


def faults(took: Mapping[int, Mapping[str, float]], sizes: tuple[int, ...] = SIZES) -> list[str]:
    """Return what is wrong with these times, in words."""
    found = []
    slow = slowness()
    for size in sizes:
        if size not in took:
            found.append(f"{size} bytes: not done in {KILL_S} s, or died")
            break
        found += [f"{size} bytes: {it}" for it in took[size] if ":" in it]
        for stage, used in took[size].items():
            most = LAUNCHES_S if stage == "launches" else MOST_S
            if used > most * slow * max(size, FULL) / FULL:
                found.append(f"{size} bytes: {stage} {used:.1f} s")
    for small, large in pairwise(sizes):
        for stage, used in took.get(large, {}).items():
            before = took.get(small, {}).get(stage, used)
            if used > NOTICED_S * slow and used > GROWTH * before:
                found.append(f"{small} to {large} bytes: {stage} {before:.2f} to {used:.2f} s")
    return found


def _warm() -> None:
    """Load what is loaded once, before copies of this process are made."""
    seconds(FAMILIES[0], 100)


def main() -> int:
    """Measure all families, or those whose names have a word in them; 1 if any is slow."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.sizes", description=__doc__)
    parser.add_argument("words", nargs="*", help="families with one of these words in their names")
    parser.add_argument("--all", action="store_true", help="print the times of those that are quick too")
    options = parser.parse_args()
    _warm()
    slow = 0
    for family in FAMILIES:
        if options.words and not any(it in family.name for it in options.words):
            continue
        took = measured(family)
        wrong = faults(took)
        slow += bool(wrong)
        if wrong or options.all:
            total = {size: round(sum(it.values()), 2) for size, it in took.items()}
            print(f"{family.name}: {total} {'; '.join(wrong)}", flush=True)
    print(f"{slow} slow families")
    return 1 if slow else 0


if __name__ == "__main__":
    os.environ["PYTHONHASHSEED"] = "0"
    sys.exit(main())

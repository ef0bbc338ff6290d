"""Real sizes: what the command takes, in CPU seconds and peak memory, and what it answers.

usage: python benchmarks/emulator_sizes.py [--only NAME ...] [--memory-limit MB] [--engine auto]

Every launch is a command of its own, so that Python's start and reading the file are in it, with byte code
and machine code from their caches, as from the second command on. Kernels are copied to a folder of their
own: in this one the command would follow the host code of all tests. CPU seconds are user and system of the
command and its children, the peak that of the largest of them.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

REGULAR = Path(__file__).parents[1] / "tests" / "emulator" / "regular.cl"
MORE = Path(__file__).parent / "emulator_sizes.cl"
_MILLION = 1 << 20


@dataclass(frozen=True, slots=True)
class Case:
    """One launch: what it is, the kernel, its sizes and arguments."""

    title: str
    kernel: str
    sizes: tuple[str, str]
    arguments: tuple[str, ...]
    file: Path = REGULAR


def _images(title: str, kernel: str, n: int, *scalars: str, group: str = "16,16") -> Case:
    arguments = (f"a=random({n * n})", f"b=zeros({n * n})", *scalars)
    return Case(f"{title}, {n} x {n}", kernel, (f"{n},{n}", group), arguments)


def _line(title: str, kernel: str, n: int, *arguments: str, file: Path = REGULAR) -> Case:
    return Case(title, kernel, (str(n), "256"), arguments, file)


_N, _PADDED, _SMALL = 16 * _MILLION, 4096, 65_536
CASES = (
    *(_images("guarded stencil", "stencil", n, f"w={n}", f"h={n}") for n in (4096, 8192)),
    _images("clamped stencil", "clamped", 8192, "w=8192", "h=8192"),
    _images("reflected stencil", "reflected", 8192, "w=8192", "h=8192"),
    _line(
        "tree reduction, 16.7 million",
        "reduce",
        _N,
        f"a=random({_N})",
        f"o=zeros({_N // 256})",
        "t=local(256)",
        f"n={_N - 5}",
    ),
    _line(
        "scan, 16.7 million",
        "scan",
        _N,
        f"a=random({_N})",
        f"o=zeros({_N})",
        f"sums=zeros({_N // 256})",
        "t=local(256)",
    ),
    _line(
        "scan of Blelloch, 16.7 million",
        "blelloch",
        _N // 2,
        f"a=random({_N})",
        f"o=zeros({_N})",
        f"sums=zeros({_N // 512})",
        "t=local(512)",
    ),
    _images("transpose", "transpose", 8192, "n=8192"),
    Case(
        "tiled product, N = 4095",
        "mm",
        (f"{_PADDED},{_PADDED}", "16,16"),
        (*(f"{it}=random({4095 * 4095})" for it in "AB"), f"C=zeros({4095 * 4095})", "n=4095"),
    ),
    _line(
        "strided loop, 16.7 million", "strided", _SMALL, f"a=random({_N})", f"o=zeros({_SMALL})", f"n={_N}"
    ),
    _line(
        "triangular loop over a matrix, 8192",
        "triangular",
        8192,
        f"a=random({64 * _MILLION})",
        "o=zeros(8192)",
        "n=8192",
    ),
    _line("triangular loop, 65,536", "prefix", _SMALL, f"a=random({_SMALL})", f"o=zeros({_SMALL})"),
    _line(
        "triangular loop over widely spaced rows, 65,536",
        "triangular",
        _SMALL,
        f"a=random({64 * _MILLION})",
        f"o=zeros({_SMALL})",
        "n=900",
    ),
    _line("bitonic step, a million", "bitonic", _MILLION, f"a=random({_MILLION})", "j=1024", "k=4096"),
    _line(
        "FFT step, a million", "fft", _MILLION // 2, f"x=random({_MILLION})", f"y=zeros({_MILLION})", "p=64"
    ),
    _line(
        "histogram, 16.7 million", "histogram", _N, f"a=random({_N})", "bins=zeros(256)", f"n={_N}", file=MORE
    ),
    _line(
        "histogram with local bins, 16.7 million",
        "local_histogram",
        _N,
        f"a=random({_N})",
        "bins=zeros(256)",
        f"n={_N}",
        file=MORE,
    ),
    _line(
        "CSR, a million rows of 8",
        "csr",
        _MILLION,
        f"start=formula({_MILLION + 1},i*8)",
        f"column=formula({8 * _MILLION},(i*40503)%{_MILLION})",
        f"value=random({8 * _MILLION})",
        f"x=random({_MILLION})",
        f"y=zeros({_MILLION})",
        file=MORE,
    ),
    _line(
        "CSR, a million rows of 0 to 15",
        "csr",
        _MILLION,
        f"start=formula({_MILLION + 1},i*8+(i*7919)%8)",
        f"column=formula({8 * _MILLION + 16},(i*40503)%{_MILLION})",
        f"value=random({8 * _MILLION + 16})",
        f"x=random({_MILLION})",
        f"y=zeros({_MILLION})",
        file=MORE,
    ),
    _line("n-body, 16,384", "nbody", 16_384, "p=random(16384)", "f=zeros(16384)", "n=16384", file=MORE),
    _line(
        "n-body in tiles, 16,384",
        "tiled_nbody",
        16_384,
        "p=random(16384)",
        "f=zeros(16384)",
        "n=16384",
        file=MORE,
    ),
)


def command(case: Case, options: argparse.Namespace, file: Path | None = None) -> list[str]:
    """Return the command line of a case, or of a copy of its file."""
    it = [sys.executable, "-m", "clmap_lsp", "emulate", str(file or case.file), "--kernel", case.kernel]
    it += ["--global", case.sizes[0], "--local", case.sizes[1], "--format", "json"]
    it += ["--engine", options.engine, "--memory-limit", str(options.memory_limit)]
    return it + [f"--arg={argument}" for argument in case.arguments]


def measured(case: Case, options: argparse.Namespace, cache: str) -> tuple[float, float, str]:
    """Return CPU seconds, peak MB and what the answer rests on."""
    environment = {it: value for it, value in os.environ.items() if it != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = cache
    alone = Path(cache) / "kernels"
    alone.mkdir(exist_ok=True)
    copied = Path(shutil.copy(case.file, alone))
    with tempfile.TemporaryFile() as out:
        started = subprocess.Popen(
            command(case, options, copied), stdout=out, stderr=subprocess.STDOUT, env=environment
        )
        _, _, usage = os.wait4(started.pid, 0)
        out.seek(0)
        text = out.read().decode()
    start = text.find("{")
    try:
        document = json.loads(text[start:])
    except ValueError:
        return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, text.strip()[-120:]
    parts = ", ".join(f"{name} {value:.2f}" for name, value in document["seconds"].items())
    answer = f"{document['engine']}, {document['method']}, {document['groups_run']} groups ({parts})"
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, answer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--only", nargs="*", default=[], help="parts of titles")
    parser.add_argument("--memory-limit", type=int, default=1024)
    parser.add_argument("--engine", default="auto")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as cache:
        measured(CASES[0], options, cache)
        for case in CASES:
            if options.only and not any(it in case.title for it in options.only):
                continue
            cpu, peak, answer = measured(case, options, cache)
            print(f"{case.title:40s} {cpu:6.2f} s {peak:6.0f} MB  {answer}", flush=True)


if __name__ == "__main__":
    main()

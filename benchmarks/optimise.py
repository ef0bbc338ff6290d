"""What `optimise` makes of kernels, predicted and measured.

    python -m benchmarks.optimise --corpus FOLDER --prepare versions.json    texts, launches and predictions
    python -m benchmarks.optimise --run versions.json --out times.json       there: NumPy and pyopencl only
    python -m benchmarks.optimise --table times.json                         Markdown for docs/optimise.md

Texts of public kernels are in `versions.json` only, which is not kept; `times.json` has figures.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchmarks.optimise_cases import Case
    from clmap_lsp.fixes.optimise import Step
    from clmap_lsp.launch.model import Argument
    from clmap_lsp.source.types import Type

DEVICE = "nvidia-h200"
OTHERS = 5
"""Versions besides the best one that are measured."""


def main(argv: list[str] | None = None) -> int:
    """Run the benchmark; returns the exit code."""
    parser = argparse.ArgumentParser(prog="benchmarks.optimise", description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", type=Path, help="folder of checkouts, OWNER/NAME")
    parser.add_argument("--prepare", type=Path, metavar="FILE", help="add what is missing in this file")
    parser.add_argument("--run", type=Path, metavar="FILE")
    parser.add_argument("--out", type=Path, metavar="FILE")
    parser.add_argument("--table", type=Path, metavar="FILE")
    parser.add_argument("--device", default=DEVICE, help="device model")
    parser.add_argument("--budget", type=float, default=60.0, metavar="S", help="processor seconds a kernel")
    parser.add_argument("--only", default="")
    args = parser.parse_args(argv)
    if args.prepare:
        prepare(args.prepare, args.corpus, args.device, args.budget, args.only)
    elif args.run:
        from benchmarks.optimise_run import run

        times = run(json.loads(args.run.read_text(encoding="utf-8")), args.only)
        args.out.write_text(json.dumps(times, indent=1) + "\n", encoding="utf-8")
    elif args.table:
        sys.stdout.write(table(json.loads(args.table.read_text(encoding="utf-8"))))
    return 0


def prepare(out: Path, corpus: Path | None, device: str, budget: float, only: str) -> None:
    """Write every case's versions to a file, case by case: what is there already is kept."""
    from benchmarks.optimise_cases import CASES

    document = {"schema": 1, "device": device, "cases": []}
    if out.exists():
        document = json.loads(out.read_text(encoding="utf-8"))
    known = {it["name"] for it in document["cases"]}
    for case in CASES:
        if case.name in known or only not in case.name or not (case.is_own or corpus):
            continue
        try:
            found = _versions(case, corpus, device, budget)
        except Exception as error:  # One kernel that cannot be had leaves the others alone; it is said.
            print(f"{case.name}: {error!r}"[:300], file=sys.stderr, flush=True)
            continue
        document["cases"].append(found)
        out.write_text(json.dumps(document) + "\n", encoding="utf-8")
        first, best = found["versions"][:2]
        gain = f"{first['predicted'] / best['predicted']:.1f}x" if first["predicted"] else "time unknown"
        steps = " + ".join(best["kinds"])
        print(f"{case.name}: {gain}, {steps}, {found['seconds']:.1f} s", file=sys.stderr, flush=True)


def _versions(case: Case, corpus: Path | None, device: str, budget: float) -> dict[str, Any]:
    from clmap_lsp.commands import optimise as command
    from clmap_lsp.commands.options import SettingsSource, open_file
    from clmap_lsp.fixes.optimise import optimise
    from clmap_lsp.sources import read_source
    from clmap_lsp.workbench import Workbench

    parser = argparse.ArgumentParser()
    command.register(parser.add_subparsers())
    root = Path(__file__).resolve().parent.parent if case.is_own else corpus
    assert root is not None, "a public kernel needs the folder of checkouts"
    words = ["optimise", str(root / case.path), *case.command, "--device", device]
    args = parser.parse_args(words)
    path, given = words[1], SettingsSource(args).for_path(Path(words[1]))
    opened = open_file(Workbench(), args, given, path, read_source(path))
    kernel = opened.kernel(case.kernel)
    opened.launch(kernel)
    subject = opened.subject(next(it for it in opened.analysis.kernels if it.name == kernel.name))
    settings = opened.emulation_settings()
    start = time.process_time()
    found = optimise(subject, settings, budget_s=budget)
    seconds = time.process_time() - start
    ways = [found.steps[:1], found.steps, *found.others[:OTHERS]]
    return {
        "name": case.name,
        "own": case.is_own,
        "path": case.path,
        "kernel": case.kernel,
        "options": [it for it in case.options if it.startswith("-D")],
        "seconds": seconds,
        "looked_at": found.n_versions,
        "complete": found.complete,
        "versions": [_version(case, it) for it in ways],
    }


def _version(case: Case, steps: tuple[Step, ...]) -> dict[str, Any]:
    from clmap_lsp.source.options import BuildOptions
    from clmap_lsp.source.read import read_program

    defines = tuple((it[2:].partition("=")[0], it[2:].partition("=")[2] or "1") for it in case.options)
    last = steps[-1]
    kernel = read_program(last.text, case.path, BuildOptions(defines=defines)).kernel(case.kernel)
    assert kernel is not None, "the version was tested"
    return {
        "titles": [it.fix.title for it in steps if it.fix is not None],
        "kinds": [it.proof.proposal.kind for it in steps if it.proof is not None],
        "reorders": any(it.proof.proposal.reorders_sums for it in steps if it.proof is not None),
        "predicted": last.figures.seconds,
        "source": last.text,
        "global": list(last.launch.global_size),
        "local": list(last.launch.local_size),
        "arguments": [
            _argument(it.name, it.type, last.launch.arguments[it.name]) for it in kernel.parameters
        ],
    }


def _argument(name: str, kind: Type, argument: Argument) -> dict[str, Any]:
    from clmap_lsp.launch.contents import buffer_bytes, numpy_dtype, scalar_bytes, scalar_leaves
    from clmap_lsp.launch.model import BufferArgument, LocalArgument, ScalarArgument
    from clmap_lsp.source.types import PointerType

    if isinstance(argument, ScalarArgument):
        return {"name": name, "kind": "scalar", "hex": scalar_bytes(argument, kind).hex()}
    assert isinstance(kind, PointerType), f"{name} has a buffer"
    if isinstance(argument, LocalArgument):
        return {"name": name, "kind": "local", "bytes": argument.count * kind.pointee.size}
    assert isinstance(argument, BufferArgument), f"{name} has no argument"
    dtype = numpy_dtype(next(iter(scalar_leaves(kind.pointee)))[1])
    return {
        "name": name,
        "kind": "buffer",
        "dtype": dtype.str,
        "scalars": buffer_bytes(argument, kind) // dtype.itemsize,
        "fill": argument.fill.value,
        "text": argument.text,
        "seed": argument.seed,
    }


def table(document: Mapping[str, Any]) -> str:
    """Return the figures as Markdown."""
    device = document["device"]
    lines = [
        f"{device['name']}, driver {device['driver']}. {document['method']}",
        "",
        "| kernel | as it is | best | predicted | measured | outputs | by |",
        "|---|---|---|---|---|---|---|",
        *_rows(document),
        "",
    ]
    gains = [gain for _, gain in _gains(document)]
    mean = math.exp(sum(map(math.log, gains)) / len(gains))
    lines.append(
        f"{len(gains)} kernels: geometric mean of the speed-up {mean:.2f}, least {min(gains):.2f}, "
        f"most {max(gains):.0f}."
    )
    return "\n".join(lines) + "\n"


def _gains(document: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], float]]:
    for case in document["cases"]:
        first, best = case["versions"][:2]
        if not best["kinds"]:
            yield case, 1.0  # The original again.
        elif "milliseconds" in first and "milliseconds" in best:
            yield case, first["milliseconds"] / best["milliseconds"]


def _rows(document: Mapping[str, Any]) -> Iterator[str]:
    for case, gain in _gains(document):
        first, best = case["versions"][:2]
        predicted = f"{first['predicted'] / best['predicted']:.1f}" if first["predicted"] else "unknown"
        kinds = ", then ".join(best["kinds"]) or "nothing is offered"
        yield (
            f"| {case['name']} | {first['milliseconds']:.3f} ms | {best['milliseconds']:.3f} ms "
            f"| {predicted} | {gain:.2f} | {best['outputs']} | {kinds} |"
        )


if __name__ == "__main__":
    sys.exit(main())

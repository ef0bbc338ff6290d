"""What `optimise` makes of kernels, predicted and measured.

    python -m benchmarks.optimise --corpus FOLDER --prepare versions.json    texts, launches and predictions
    python -m benchmarks.optimise --run versions.json --out times.json       there: NumPy and pyopencl only
    python -m benchmarks.optimise --update results.json --out times.json     takes over what was run anew
    python -m benchmarks.optimise --table times.json                         Markdown for docs/optimise.md

Texts of public kernels are in `versions.json` only, which is not kept; `times.json` has figures.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.buffers import described

if TYPE_CHECKING:
    from benchmarks.optimise_cases import Case
    from clmap_lsp.fixes.optimise import Found, Step

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
    parser.add_argument("--update", type=Path, metavar="FILE")
    parser.add_argument("--device", default=DEVICE, help="device model")
    parser.add_argument("--budget", type=float, default=60.0, metavar="S", help="processor seconds a kernel")
    parser.add_argument("--only", default="")
    parser.add_argument("--fixtures", action="store_true", help="all fixtures, at their own small launches")
    parser.add_argument(
        "--timed", action="store_true", help="kernels of time_kernels/unseen_second.cl and unseen_optimise.cl"
    )
    parser.add_argument("--most", type=int, metavar="N", help="versions of a case that are run")
    parser.add_argument("--seconds", type=float, default=6.0, help="that the rounds of a case may take")
    parser.add_argument("--first", default="", help="words of names that are run first, by commas")
    parser.add_argument("--search", metavar="NAME", help="print the versions of one case")
    parser.add_argument("--jobs", type=int, default=1, help="processes that search")
    args = parser.parse_args(argv)
    from benchmarks.optimise_cases import CASES, fixtures, timed

    if args.search:
        case = next(it for it in (*CASES, *fixtures(), *timed()) if it.name == args.search)
        sys.stdout.write(json.dumps(_versions(case, args.corpus, args.device, args.budget)))
    elif args.prepare:
        cases = fixtures() if args.fixtures else timed() if args.timed else CASES
        prepare(args.prepare, args.corpus, args.device, args.budget, args.only, args.jobs, cases)
    elif args.run:
        from benchmarks.optimise_run import run

        def keep(times: dict[str, Any]) -> None:
            args.out.write_text(json.dumps(times, indent=1) + "\n", encoding="utf-8")

        document = json.loads(args.run.read_text(encoding="utf-8"))
        first = args.first.split(",") if args.first else []
        document["cases"].sort(key=lambda it: (*(word not in it["name"] for word in first),))
        run(document, args.only, most=args.most, seconds_a_case=args.seconds, after_each=keep)
    elif args.update:
        kept = json.loads(args.update.read_text(encoding="utf-8"))
        new = updated(kept, json.loads(args.out.read_text(encoding="utf-8")), [it.name for it in CASES])
        args.update.write_text(json.dumps(new, indent=1) + "\n", encoding="utf-8")
    elif args.table:
        sys.stdout.write(table(json.loads(args.table.read_text(encoding="utf-8"))))
    return 0


def prepare(
    out: Path, corpus: Path | None, device: str, budget: float, only: str, jobs: int, cases: Sequence[Case]
) -> None:
    """Write every case's versions to a file: what is there already is kept. Each is searched in a process."""
    document: dict[str, Any] = {"schema": 1, "device": device, "cases": []}
    if out.exists():
        document = json.loads(out.read_text(encoding="utf-8"))
    known = {it["name"] for it in document["cases"]}
    asked = [
        it for it in cases if it.name not in known and only in it.name and (it.is_own or corpus is not None)
    ]

    def searched(case: Case) -> dict[str, Any] | None:
        options = ["--device", device, "--budget", str(budget), "--search", case.name]
        options += [] if corpus is None else ["--corpus", str(corpus)]
        words = [sys.executable, "-m", "benchmarks.optimise", *options]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode:  # One kernel that cannot be had leaves the others alone; it is said.
            print(f"{case.name}: {done.returncode}, {done.stderr[-300:]}", file=sys.stderr, flush=True)
            return None
        found: dict[str, Any] = json.loads(done.stdout)
        first, best = found["versions"][:2]
        gained = f"{first['predicted'] / best['predicted']:.1f}x" if first["predicted"] else "time unknown"
        steps, took = " + ".join(best["kinds"]), found["seconds"]
        line = f"{case.name}: {gained}, {steps}, {took:.1f} s, 90 % after {found['nearly']:.1f} s"
        print(line, file=sys.stderr, flush=True)
        return found

    order = [it.name for it in cases]
    with ThreadPoolExecutor(jobs) as pool:
        for found in pool.map(searched, asked):  # Written after each, so that nothing is lost.
            document["cases"] += [] if found is None else [found]
            document["cases"].sort(key=lambda it: order.index(it["name"]))
            out.write_text(json.dumps(document) + "\n", encoding="utf-8")


def _versions(case: Case, corpus: Path | None, device: str, budget: float) -> dict[str, Any]:
    from clmap_lsp.commands import optimise as command
    from clmap_lsp.commands.options import SettingsSource, open_file
    from clmap_lsp.fixes import gain
    from clmap_lsp.fixes.optimise import Watcher, optimise
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
    better: list[tuple[float, float]] = []

    def improved(now: Found) -> None:
        better.append((time.process_time() - start, gain.ratio(now.steps[0].figures, now.steps[-1].figures)))

    found = optimise(subject, settings, budget_s=budget, watcher=Watcher(improved=improved))
    seconds = time.process_time() - start
    last = gain.ratio(found.steps[0].figures, found.steps[-1].figures)
    ways = [found.steps[:1], found.steps, *found.others[:OTHERS]]
    return {
        "name": case.name,
        "own": case.is_own,
        "path": case.path,
        "kernel": case.kernel,
        "options": [it for it in case.options if it.startswith("-D")],
        "seconds": seconds,
        # When what was best by then was 90 % of the answer.
        "nearly": next((at for at, gained in better if gained >= 0.9 * last), 0.0),
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
            described(it.name, it.type, last.launch.arguments[it.name]) for it in kernel.parameters
        ],
    }


def updated(kept: Mapping[str, Any], new: Mapping[str, Any], order: Sequence[str]) -> dict[str, Any]:
    """Return results with the cases of a new run; those that it lacks stay, and are marked."""
    if kept["device"] != new["device"]:
        raise ValueError(f"measured on {kept['device']} and {new['device']}")
    cases = {it["name"]: {**it, "earlier": True} for it in kept["cases"]}
    cases.update({it["name"]: it for it in new["cases"]})
    return {**new, "cases": sorted(cases.values(), key=lambda it: order.index(it["name"]))}


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
        name = f"{case['name']}{' †' if case.get('earlier') else ''}"
        yield (
            f"| {name} | {first['milliseconds']:.3f} ms | {best['milliseconds']:.3f} ms "
            f"| {predicted} | {gain:.2f} | {best['outputs']} | {kinds} |"
        )


if __name__ == "__main__":
    sys.exit(main())

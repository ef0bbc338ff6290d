"""Time what verified fixes do to kernels: every step of a ladder, and every fix on its own.

    python -m benchmarks.ladder --out times.json                  all at once
    python -m benchmarks.ladder --prepare kernels.json            write the kernels (needs no device)
    python -m benchmarks.ladder --run kernels.json --out times.json   time them (NumPy and pyopencl only)

`--size small` takes the fixtures' own launches, for CPUs; the default, `large`, is meant for GPUs.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.buffers import described
from benchmarks.ladder_cases import CASES, FIXTURES, Case

if TYPE_CHECKING:
    from benchmarks.climbing import Rung
    from clmap_lsp.fixes.model import Subject
    from clmap_lsp.launch.model import Argument, Launch
    from clmap_lsp.source.ir import Kernel

NOT_A_STEP = frozenset({"qualify-pointers"})
"""Kinds that promise nothing about traffic are timed on their own only."""


def main(argv: list[str] | None = None) -> int:
    """Run the benchmark; returns the exit code."""
    parser = argparse.ArgumentParser(prog="benchmarks.ladder", description=__doc__.splitlines()[0])
    parser.add_argument("--prepare", metavar="FILE", help="write the kernels here and stop")
    parser.add_argument("--run", metavar="FILE", help="take the kernels from here")
    parser.add_argument("--out", metavar="FILE", help="write the times here, as JSON")
    parser.add_argument("--size", choices=("large", "small"), default="large")
    parser.add_argument("--only", default="", metavar="NAME", help="ladders whose name has this in it")
    parser.add_argument("--device", default="nvidia-hopper", help="device model that chooses the fixes")
    args = parser.parse_args(argv)
    if args.run:
        document = json.loads(Path(args.run).read_text(encoding="utf-8"))
    else:
        document = prepare(args.device, args.only)
    if args.prepare:
        Path(args.prepare).write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
        return 0
    from benchmarks.ladder_run import run, table

    times = run(document, args.size, args.only)
    sys.stdout.write(table(times))
    if args.out:
        Path(args.out).write_text(json.dumps(times, indent=1) + "\n", encoding="utf-8")
    return 0


def prepare(device: str, only: str = "") -> dict[str, Any]:
    """Return every ladder's kernels, launches and predictions as plain data."""
    return {
        "schema": 1,
        "device": device,
        "ladders": [
            {"name": case.name, "fixture": case.path, "steps": list(_steps(case, device))}
            for case in CASES
            if only in case.name
        ],
    }


def _steps(case: Case, device: str) -> Iterator[dict[str, Any]]:
    from benchmarks.climbing import climb
    from clmap_lsp.devices import load_model
    from clmap_lsp.emulator.settings import EmulationSettings
    from clmap_lsp.fixes.offer import offers

    model = load_model(device)
    settings = EmulationSettings(device=model, time_limit_s=60.0)
    subject = _subject(case, device)
    large = _large(case, device)
    kinds = frozenset(case.kinds) if case.kinds else None
    rungs = list(climb(subject, settings, sketches=True, kinds=kinds))
    launch = large
    taken = set()
    for at, rung in enumerate(rungs):
        if rung.proof is not None:
            taken.add(rung.proof.proposal.title if at == 1 else "")
            launch = _relaunched(launch, rung)
        title = "as it is" if rung.fix is None else rung.fix.title
        yield _step(case, subject, title, rung, launch, large, at - 1 if at else None)
    for proof, fix in offers(subject, settings):
        if proof.proposal.title in taken:
            continue
        from benchmarks.climbing import Rung
        from clmap_lsp.fixes.edits import apply

        rung = Rung(apply(subject.text, fix.edits, subject.path), proof.after_launch, proof.after, fix, proof)
        yield _step(case, subject, fix.title, rung, _relaunched(large, rung), large, 0, alone=True)


def _text(case: Case) -> str:
    text = (FIXTURES / case.path).read_text(encoding="utf-8")
    for old, new in case.edit:
        text = text.replace(old, new)
    return text


def _subject(case: Case, device: str, text: str | None = None) -> Subject:
    from clmap_lsp.analysis.session import AnalysisSession
    from clmap_lsp.devices import load_model
    from clmap_lsp.fixes.model import Subject
    from clmap_lsp.source.options import BuildOptions
    from clmap_lsp.source.read import read_program

    model = load_model(device)
    program = read_program(_text(case) if text is None else text, case.path, BuildOptions())
    analysis = AnalysisSession().analyse(program, model, only=case.kernel)
    kernel = analysis.kernel(case.kernel)
    assert kernel is not None and kernel.launch is not None, f"{case.path} has no launch of {case.kernel}"
    return Subject(program, kernel, model, BuildOptions())


def _large(case: Case, device: str) -> Launch:
    """Return the large launch: that of the fixture with other sizes in its comment."""
    from clmap_lsp.launch.model import Launch
    from clmap_lsp.launch.resolve import resolve
    from clmap_lsp.source.options import BuildOptions
    from clmap_lsp.source.read import read_program

    lines = [
        _enlarged(it, case) if it.lstrip().startswith("// clmap:") else it
        for it in _text(case).splitlines(keepends=True)
    ]
    program = read_program("".join(lines), case.path, BuildOptions())
    kernel = program.kernel(case.kernel)
    assert kernel is not None, f"{case.path} has no kernel {case.kernel}"
    launch = resolve(program, kernel)
    assert isinstance(launch, Launch), str(launch)
    return launch


def _enlarged(line: str, case: Case) -> str:
    for old, new in case.large:
        line = line.replace(old, new)
    return line


def _relaunched(launch: Launch, rung: Rung) -> Launch:
    """Return the large launch changed as the fix changes the one it was verified on.

    Data of taken-apart structures are random instead: at this size nothing compares them.
    """
    from dataclasses import replace

    from clmap_lsp.launch.model import BufferArgument, Fill

    assert rung.proof is not None, "the first rung has no fix"
    change = rung.proof.proposal.relaunch
    if change is None:
        return launch
    small, after = rung.proof.launch, rung.proof.after_launch
    if after.arguments.keys() == small.arguments.keys():
        return change(launch)
    factor = launch.work_items // small.work_items
    arguments: dict[str, Argument] = {}
    for name, argument in after.arguments.items():
        if name in launch.arguments:
            arguments[name] = launch.arguments[name]
        elif isinstance(argument, BufferArgument):
            arguments[name] = BufferArgument(Fill.RANDOM, argument.count * factor)
        else:
            arguments[name] = argument
    return replace(launch, arguments=arguments)


def _step(
    case: Case,
    subject: Subject,
    title: str,
    rung: Rung,
    launch: Launch,
    original: Launch,
    after: int | None,
    alone: bool = False,
) -> dict[str, Any]:
    from clmap_lsp.source.options import BuildOptions
    from clmap_lsp.source.read import read_program

    kernel = read_program(rung.text, case.path, BuildOptions()).kernel(case.kernel)
    assert kernel is not None, "the fix was verified"
    totals = rung.figures.totals
    return {
        "title": title,
        "kind": "" if rung.proof is None else rung.proof.proposal.kind,
        "safety": "" if rung.fix is None else rung.fix.safety.value,
        "alone": alone,
        "after": after,
        "kernel": case.kernel,
        "source": rung.text,
        "options": ["-cl-std=CL1.2"],
        "predicted": {
            "launch": rung.launch.describe(),
            "sectors": totals.sectors,
            "wavefronts": totals.wavefronts,
            "requests": rung.figures.requests,
            "lines": rung.figures.lines,
        },
        "launches": {
            "large": _launch(case, kernel, launch, original),
            "small": _launch(case, kernel, rung.launch, subject.launch),
        },
    }


def _launch(case: Case, kernel: Kernel, launch: Launch, original: Launch) -> dict[str, Any]:
    values: dict[str, float] = {"items": original.work_items}
    for name in original.arguments:
        if (value := original.scalar(name)) is not None:
            values[name] = value
    return {
        "global": list(launch.global_size),
        "local": list(launch.local_size),
        "flops": _work(case.flops, values),
        "bytes": _work(case.useful_bytes, values),
        "arguments": [described(it.name, it.type, launch.arguments[it.name]) for it in kernel.parameters],
    }


def _work(expression: str, values: Mapping[str, float]) -> int:
    from clmap_lsp.launch.expression import evaluate

    return int(evaluate(expression, values)) if expression else 0


if __name__ == "__main__":
    sys.exit(main())

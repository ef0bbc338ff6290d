"""Oclgrind's own kernel tests: the same kinds of faults on the same lines, and the same dumped values.

Their files are not part of this repository. Set `CLMAP_OCLGRIND_TESTS` to the folder `tests/kernels` of a
checkout of jrprice/Oclgrind to run them.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from clmap_lsp.emulator.result import Engine
from clmap_lsp.emulator.run import emulate
from clmap_lsp.emulator.settings import EmulationSettings
from clmap_lsp.launch.contents import numpy_dtype
from clmap_lsp.launch.resolve import resolve
from clmap_lsp.launch.sim import bind, read_sim
from clmap_lsp.source.options import BuildOptions
from clmap_lsp.source.read import read_program
from clmap_lsp.source.types import SCALARS

FOLDER = os.environ.get("CLMAP_OCLGRIND_TESTS")
pytestmark = pytest.mark.skipif(FOLDER is None, reason="CLMAP_OCLGRIND_TESTS does not name their tests")

KINDS = {
    "Invalid read from write-only": "read-of-write-only",
    "Invalid write to read-only": "write-to-constant",
    "Invalid read": "out-of-bounds-read",
    "Invalid write": "out-of-bounds-write",
    "data race": "data-race",
    "Uninitialized": "uninitialised-read",
    "divergence": "barrier-divergence",
    "not aligned": "misaligned-access",
    "exceeds static array size": "index-past-array",
    "without waiting for events": "copy-not-waited-for",
    "Invalid wait event": "wait-without-copy",
}
DIFFERENCES = {
    "async_copy/async_copy_unwaited": "the copy is carried out, so it also races with the kernel's writes",
    "wait_event/wait_event_divergent": "different events are told once; all of them are waited for then",
}
OTHER_LINES = DIFFERENCES | {
    "memcheck/async_copy_out_of_bounds": "the copy itself is named, not the wait that completes it",
}


def names():
    if FOLDER is None:
        return []
    return (Path(FOLDER) / "TESTS").read_text().split()


def wanted_kinds(reference):
    found = set()
    for line in reference:
        if line.startswith("ERROR"):
            found.add(next(kind for text, kind in KINDS.items() if text in line))
    return found


def number(text):
    if text.startswith("'"):
        return ord(text[1])
    return int(text, 16) if text.startswith("0x") else float(text)


def oclgrind_faults(name):
    """Run Oclgrind: for each report its kind and the lines that it names (one for each side of a race)."""
    path = Path(FOLDER) / f"{name}.sim"
    options = re.search(r"--build-options (\S+)", path.read_text())
    command = ["oclgrind-kernel", "--data-races", "--uniform-writes", "--uninitialized"]
    command += ["--build-options", options.group(1)] if options else []
    done = subprocess.run(
        [*command, path.name], cwd=path.parent, capture_output=True, text=True, timeout=60, check=False
    )
    found = []
    for row in (done.stderr + done.stdout).splitlines():
        if row and not row[0].isspace():
            kind = next((kind for text, kind in KINDS.items() if text in row), None)
            found.append((kind, set()))
        elif found and (line := re.match(r"\s+At line (\d+)", row)):
            found[-1][1].add(int(line.group(1)))
    return [(kind, lines) for kind, lines in found if kind is not None]


def reference_of(name):
    reference = (Path(FOLDER) / name).with_suffix(".ref")
    return reference.read_text().splitlines() if reference.exists() else []


def emulated(name):
    path = Path(FOLDER) / f"{name}.sim"
    sim = read_sim(path.read_text(), str(path))
    arguments = re.match(r"# ARGS: .*(CL\d\.\d)", path.read_text())
    options = BuildOptions(standard=arguments.group(1) if arguments else "CL1.2")
    source = path.parent / sim.program
    program = read_program(source.read_text(), str(source), options)
    kernel = program.kernel(sim.kernel)
    bound = bind(sim, kernel)
    launch = resolve(program, kernel, given=bound.launch)
    settings = EmulationSettings(
        engine=Engine.JIT, read_only=frozenset(bound.read_only), write_only=frozenset(bound.write_only)
    )
    return program, bound, emulate(program, kernel, launch, settings)


@pytest.mark.parametrize("name", names())
def test_as_oclgrind(name):
    _, bound, result = emulated(name)
    reference = reference_of(name)
    problems = []
    if wanted_kinds(reference) != {it.kind.value for it in result.faults}:
        problems.append("faults")
    elements = {it.parameter: it.element for it in bound.dumps}
    for line in reference:
        dumped = re.match(r"EXACT   (\w+)\[(\d+)\] = (.+)", line)
        if dumped:
            buffer = result.buffers[dumped.group(1)]
            values = buffer.data.view(numpy_dtype(SCALARS[elements[dumped.group(1)]]))
            expected = number(dumped.group(3).strip())
            if values[int(dumped.group(2))] != pytest.approx(expected, rel=1e-5):
                problems.append(line)
    printed = "".join(result.printed).splitlines()
    texts = [
        it[6:]
        for it in reference
        if it[:5] in ("EXACT", "MATCH") and not re.match(r"\w+ +(\w+\[|Argument)", it)
    ]
    if printed and printed != texts:
        problems.append("printf")
    assert bool(problems) == (name in DIFFERENCES), (problems, [it.kind.value for it in result.faults])


@pytest.mark.skipif(shutil.which("oclgrind-kernel") is None, reason="Oclgrind is not installed")
@pytest.mark.parametrize("name", [it for it in names() if wanted_kinds(reference_of(it))])
def test_on_the_same_lines(name):
    theirs = oclgrind_faults(name)
    assert theirs
    program, _, result = emulated(name)
    ours = []
    for fault in result.faults:
        spans = [fault.span, fault.other_span] if fault.other_span else [fault.span]
        ours.append((fault.kind.value, {program.position(it).row for it in spans}))
    # Line 0 is Oclgrind's for code that its compiler merged.
    missing = [
        it for it in theirs if it[1] != {0} and not any(it[0] == kind and it[1] & rows for kind, rows in ours)
    ]
    extra = [
        it for it in ours if not any(it[0] == kind and (rows == {0} or it[1] & rows) for kind, rows in theirs)
    ]
    assert bool(missing or extra) == (name in OTHER_LINES), (missing, extra)


def test_at_least_85_agree_outright():
    known = set(names())
    assert known >= set(OTHER_LINES)
    assert len(known) - len(OTHER_LINES) >= 85

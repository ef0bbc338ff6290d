"""What the package says of a random kernel, by three ways: `analyze`, the symbolic engine, the JIT engine."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from ctypes_oracle import UndefinedError
from random_kernels import Kernel

from clmap_lsp.analysis.session import AnalysisSession
from clmap_lsp.devices import load_model
from clmap_lsp.emulator.result import Engine
from clmap_lsp.emulator.run import emulate
from clmap_lsp.emulator.settings import EmulationSettings
from clmap_lsp.emulator.symbolic import count
from clmap_lsp.exactness import Exactness
from clmap_lsp.launch.problem import LaunchProblem
from clmap_lsp.launch.resolve import resolve
from clmap_lsp.source.read import read_program

DEVICE = load_model("nvidia-hopper")


@dataclass
class Verdict:
    """What was found over some kernels; accesses are (line, operation, buffer) that were executed or not."""

    kernels: int = 0
    undefined: int = 0
    accesses: int = 0
    unknown: int = 0
    executed_in_jit: int = 0
    reasons: dict = field(default_factory=lambda: defaultdict(int))
    faults: list = field(default_factory=list)
    """(seed, way, access, expected, found)"""


def check(seed, verdict, *, jit=False):
    """Compare all ways on the kernel of a seed."""
    made = Kernel(seed)
    try:
        wanted = made.run()
    except UndefinedError:
        verdict.undefined += 1
        return
    verdict.kernels += 1
    program = read_program(made.source, "k.cl")
    if program.problems:
        verdict.faults.append((seed, "reading", program.problems[0].message, None, None))
        return
    expected = {key: (wanted.requests[key], wanted.units[key]) for key in wanted.executions}
    _check_analysis(seed, program, expected, verdict)
    (kernel,) = program.kernels
    launch = resolve(program, kernel)
    assert not isinstance(launch, LaunchProblem)
    _check_engine(seed, program, kernel, launch, wanted, verdict)
    if jit:
        _check_jit(seed, program, kernel, launch, wanted, verdict)


def _row(program, span):
    return program.position(span).row


def _check_analysis(seed, program, expected, verdict):
    (kernel,) = AnalysisSession().analyse(program, DEVICE).kernels
    found, unknown, seen = defaultdict(lambda: [0, 0]), {}, set()
    for it in (*kernel.accesses, *kernel.unreached):
        key = _key(_row(program, it.access.span), it.access.direction.value, it.access.buffer, expected)
        if it.access.site in seen:
            continue
        seen.add(it.access.site)
        if it.method != "exact":
            unknown[key] = it.reason
            continue
        found[key][0] += it.totals.requests
        found[key][1] += it.totals.sectors + it.totals.wavefronts
    verdict.accesses += len(found) + len(unknown)
    for key, reason in unknown.items():
        verdict.unknown += 1
        verdict.reasons[reason] += 1
        found.pop(key, None)
    for key, (requests, units) in found.items():
        wanted = expected.get(key, (0, 0))
        if wanted != (requests, units):
            verdict.faults.append((seed, "analyze", key, wanted, (requests, units)))
    for key, (requests, units) in expected.items():
        if requests and key not in found and key not in unknown:
            verdict.faults.append((seed, "analyze: missing", key, (requests, units), None))


def _key(row, op, buffer, expected):
    """Return the key of an access; one of a pointer that was chosen is of either buffer."""
    either = (row, op, "A or G")
    return either if either in expected else (row, op, buffer)


def _check_engine(seed, program, kernel, launch, wanted, verdict):
    result = count(kernel, launch, DEVICE, constants=program.constants)
    if result.bail is not None:
        return
    found = defaultdict(lambda: [0, 0, 0])
    unknown = set()
    for it in result.sites.values():
        buffer = it.root.name if it.root is not None else "?"
        key = _key(_row(program, it.span), it.op, buffer, wanted.executions)
        if it.method is not Exactness.EXACT:
            unknown.add(key[:2])
            continue
        for at, value in enumerate((it.executions, it.requests, it.units)):
            found[key][at] += value
    for key in wanted.executions:
        if key[:2] in unknown:  # An unknown address may have lost its buffer.
            continue
        right = [wanted.executions[key], wanted.requests[key], wanted.units[key]]
        if found[key] != right:
            verdict.faults.append((seed, "symbolic", key, right, found[key]))


def _check_jit(seed, program, kernel, launch, wanted, verdict):
    verdict.executed_in_jit += 1
    settings = EmulationSettings(engine=Engine.JIT, device=DEVICE, time_limit_s=60)
    result = emulate(program, kernel, launch, settings)
    found = defaultdict(int)
    for it in result.sites:
        found[_key(_row(program, it.span), it.op, it.buffer, wanted.executions)] += it.executions
    for key, right in wanted.executions.items():
        if found[key] != right:
            verdict.faults.append((seed, "jit", key, right, found[key]))

"""Shared by the launch tests."""

from __future__ import annotations

from clmap_lsp.launch import Launch, LaunchProblem, PartialLaunch, resolve
from clmap_lsp.source.ir import Kernel
from clmap_lsp.source.program import Program
from clmap_lsp.source.read import read_program


def read(source: str) -> tuple[Program, Kernel]:
    program = read_program(source, "kernel.cl")
    assert program.kernels, program.problems
    return program, program.kernels[0]


def resolved(source: str, given: PartialLaunch | None = None) -> Launch:
    program, kernel = read(source)
    launch = resolve(program, kernel, given=given)
    assert isinstance(launch, Launch), str(launch)
    return launch


def refused(source: str, given: PartialLaunch | None = None) -> LaunchProblem:
    program, kernel = read(source)
    problem = resolve(program, kernel, given=given)
    assert isinstance(problem, LaunchProblem)
    assert "\n" not in str(problem)
    return problem

"""Helpers of the access tests: kernels from text, accesses by buffer, values for every work-item."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clmap_lsp.access.analyse import analyse
from clmap_lsp.access.classify import Classified, classify
from clmap_lsp.access.environment import launch_environment
from clmap_lsp.access.evaluate import evaluate
from clmap_lsp.access.polynomial import Polynomial
from clmap_lsp.access.records import Access, AccessSummary
from clmap_lsp.launch.model import Launch, ScalarArgument
from clmap_lsp.source.ir import Kernel
from clmap_lsp.source.options import BuildOptions
from clmap_lsp.source.read import read_program


def kernel_of(source: str) -> Kernel:
    """Return the only kernel of a source that has no problems."""
    program = read_program(source, "kernel.cl", BuildOptions())
    assert not program.problems, program.problems
    (kernel,) = program.kernels
    return kernel


def summary_of(source: str, launch: Launch | None = None) -> AccessSummary:
    """Return the analysis of the only kernel of a source."""
    return analyse(kernel_of(source), launch=launch)


def accesses_of(source: str, buffer: str, launch: Launch | None = None) -> tuple[Access, ...]:
    """Return the accesses of one buffer."""
    return summary_of(source, launch).of_buffer(buffer)


def access_of(source: str, buffer: str, launch: Launch | None = None) -> Access:
    """Return the only access of a buffer."""
    (access,) = accesses_of(source, buffer, launch)
    return access


def classified(source: str, buffer: str) -> tuple[Classified, ...]:
    """Return the classes of the accesses of one buffer."""
    return tuple(it for it in classify(summary_of(source)) if it.access.buffer == buffer)


def body(statements: str, parameters: str = "__global float *A, __global float *B, int N, int M") -> str:
    """Return a kernel with ids x, y, lx, ly and these statements."""
    return f"""__kernel void k({parameters}) {{
  int x = get_global_id(0), y = get_global_id(1), lx = get_local_id(0), ly = get_local_id(1);
  {statements}
}}
"""


def launch_of(global_size: tuple[int, ...], local_size: tuple[int, ...], **scalars: int) -> Launch:
    """Return a launch with scalar arguments."""
    arguments = {name: ScalarArgument((value,)) for name, value in scalars.items()}
    return Launch("k", global_size, local_size, arguments)


def values(value: Polynomial, launch: Launch, **turns: int) -> NDArray[np.int64]:
    """Return a polynomial's value for every work-item of a launch, of shape (y, x) for two dimensions.

    `turns` gives loop variables by name.
    """
    environment = dict(launch_environment(launch))
    for leaf in value.leaves:
        if getattr(leaf, "name", None) in turns and leaf not in environment:
            environment[leaf] = turns[leaf.name]  # type: ignore[union-attr]
    shape = tuple(reversed(launch.global_size))
    return np.broadcast_to(evaluate(value, environment), shape)

"""A kernel's LLVM module goes with its last reference: else a server that types looks for cycles in it."""

from __future__ import annotations

import gc

import pytest

from clmap_lsp.compiled.code import generate
from clmap_lsp.compiled.probes import with_probes
from clmap_lsp.compiled.target import Target, amd, nvidia
from clmap_lsp.source.ir import Kernel
from clmap_lsp.source.read import read_program


def kernel_of(n_statements: int) -> Kernel:
    """Return a kernel with loops, branches, local memory and calls."""
    statement = (
        "    if (x > {0}.0f) x = sqrt(x) + in[i + {0}]; else tile[i & 63] += x;\n"
        "    for (int k = 0; k < n; k++) x += tile[k] * {0}.5f;\n"
    )
    text = (
        "__kernel void k(__global float *out, __global const float *in, int n)\n{\n"
        "    __local float tile[64];\n    int i = get_global_id(0);\n    float x = in[i];\n"
        f"{''.join(map(statement.format, range(n_statements)))}    out[i] = x;\n}}\n"
    )
    found = read_program(text, "k.cl").kernel("k")
    assert found is not None
    return found


def left_for_the_collector(kernel: Kernel, target: Target) -> int:
    """Return how many objects only the collector of cycles frees after a module was made."""
    probed = with_probes(kernel)
    generate(probed, target)  # What the first call keeps for ever is none of it.
    gc.collect()
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        generate(probed, target)
        return gc.collect()
    finally:
        if was_enabled:
            gc.enable()


@pytest.mark.parametrize("target", [nvidia("sm_90"), amd("gfx90a")], ids=["nvidia", "amd"])
def test_no_cycle_grows_with_the_kernel(target: Target) -> None:
    few, many = (left_for_the_collector(kernel_of(it), target) for it in (4, 40))
    assert many < few + 400, (few, many)

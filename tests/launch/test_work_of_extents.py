"""How much work a guess of a launch is: a bound in statements, whatever loops stand in each other."""

from __future__ import annotations

import pytest

from clmap_lsp.config import Settings
from clmap_lsp.launch import extents
from clmap_lsp.source.ir import Statement
from clmap_lsp.workbench import Workbench

NAMES = "abcdef"


def kernel(depth: int, repeats: int) -> str:
    """Return a kernel with nests of loops, whose bounds multiply what its buffers hold."""
    names = NAMES[:depth]
    heads = "".join(f"for (int {it} = 0; {it} < n{it}; {it}++) {{ at += {it}; " for it in names)
    index = "x"
    for it in names:
        index = f"({index}) * n{it} + {it}"
    nest = f"{heads} out[{index} + at] += in[{index}]; {'}' * depth}\n"
    bounds = ", ".join(f"int n{it}" for it in names)
    return (
        f"__kernel void k(__global float *out, __global const float *in, {bounds})\n"
        f"{{ int x = get_global_id(0), at = 0;\n{nest * repeats}}}\n"
    )


@pytest.mark.parametrize(("depth", "repeats"), [(3, 2), (6, 60)])
def test_statements_walked_for_a_guess_are_bounded(
    monkeypatch: pytest.MonkeyPatch, depth: int, repeats: int
) -> None:
    walked = 0
    simple = extents._Walker.simple

    def counted(self: extents._Walker, statement: Statement, state: extents._Env) -> extents._Env:
        nonlocal walked
        walked += 1
        return simple(self, statement, state)

    monkeypatch.setattr(extents._Walker, "simple", counted)
    file = Workbench().open_text(
        "k.cl", kernel(depth, repeats), Settings(), looks_beside=False, reads_hosts=False
    )
    (found,) = file.analysis.kernels
    assert found.launch is not None
    assert 0 < walked < 200_000

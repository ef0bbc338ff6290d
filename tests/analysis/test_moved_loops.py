"""What was analysed once and only moved: loops included."""

from __future__ import annotations

from clmap_lsp.config import Settings
from clmap_lsp.rules.intensity import turns_of_loops
from clmap_lsp.workbench import Workbench

HALVING = """// clmap: global=1024 local=256
__kernel void halving(__global float *x, __local float *t)
{
    int l = get_local_id(0);
    t[l] = x[get_global_id(0)];
    for (int s = 128; s > 0; s /= 2)
        if (l < s) t[l] += t[l + s];
    x[get_global_id(0)] = t[l];
}
"""


def test_the_turns_of_loops_move_with_their_kernel() -> None:
    bench = Workbench()
    turns = []
    for path, text in (("a.cl", HALVING), ("b.cl", HALVING), ("a.cl", "// one line more\n" + HALVING)):
        (kernel,) = bench.open_text(path, text, Settings(), looks_beside=False).analysis.kernels
        places = {it.span for access in kernel.accesses for it in access.access.loops}
        assert all(it is not None and it.path == path for it in places)
        turns.append([turns_of_loops(kernel)[it] for it in places if it is not None])
    assert turns[0]
    assert turns[0] == turns[1] == turns[2]

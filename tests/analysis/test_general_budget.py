"""Words for every N are given up where they take too many addresses, other shapes where nobody reads them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from clmap_lsp.analysis import general
from clmap_lsp.analysis.kernel import analyse_kernel
from clmap_lsp.devices import formula, load_model
from clmap_lsp.launch.model import Launch
from clmap_lsp.launch.resolve import resolve
from clmap_lsp.source.ir import Kernel
from clmap_lsp.source.read import read_program

SCATTERED = """\
// clmap: global=64,16,16 local=32,4,2 nx=64 ny=16 nz=16 in=random(nx*ny*nz) out=zeros(nx*ny*nz)
__kernel void k(__global const float *in, __global float *out, const int nx, const int ny, const int nz) {
    const int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    const int row = nx, plane = nx * ny, centre = z * plane + y * row + x;
    out[centre] = ACCESSES;
}
"""


def launched(text: str) -> tuple[Kernel, Launch]:
    program = read_program(text, "k.cl")
    launch = resolve(program, program.kernels[0])
    assert isinstance(launch, Launch)
    return program.kernels[0], launch


def test_many_accesses_share_one_budget(monkeypatch: pytest.MonkeyPatch):
    cells = [0]
    real = formula.Access._totals

    def totals(access: formula.Access, sizes: NDArray[np.int64]) -> object:
        cells[0] += len(sizes) * access.alpha.size
        return real(access, sizes)

    monkeypatch.setattr(formula.Access, "_totals", totals)
    accesses = " + ".join(f"in[centre + {it} * plane - {it + 1} * row]" for it in range(24))
    kernel, launch = launched(SCATTERED.replace("ACCESSES", accesses))
    whole = worked_out(kernel, launch)
    needed = cells[0]
    assert whole > 20
    monkeypatch.setattr(general, "_MAX_CELLS", needed // 2)
    cells[0] = 0
    assert 0 < worked_out(kernel, launch) < whole
    assert cells[0] < 0.6 * needed


def worked_out(kernel: Kernel, launch: Launch) -> int:
    """Return for how many accesses there are words for every N, with nothing kept from before."""
    formula._formula.cache_clear()
    analysis = analyse_kernel(kernel, launch, (), load_model("nvidia-hopper"))
    return sum(it.in_general is not None for it in analysis.accesses)


def test_what_is_only_compared_is_not_counted_in_other_shapes():
    text = "// clmap: global=256,256 local=16,16 N=256\n__kernel void k(__global float *a, int N)"
    kernel, launch = launched(f"{text} {{ a[get_global_id(0) * N + get_global_id(1)] = 1.0f; }}")
    device = load_model("nvidia-hopper")
    shown = analyse_kernel(kernel, launch, (), device)
    compared = analyse_kernel(kernel, launch, (), device, says_general=False)
    assert len(shown.shapes) > 3
    assert compared.shapes == ()
    assert compared.totals == shown.totals
    assert replace(compared, shapes=shown.shapes).swapped == shown.swapped

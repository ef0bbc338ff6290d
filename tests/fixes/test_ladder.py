"""From the slowest matrix multiply to a tiled, coalesced, conflict-free one, by fixes alone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from fixing import SETTINGS, subject_of

from benchmarks.climbing import climb
from clmap_lsp.cli import main

FIXTURES = Path(__file__).parents[2] / "fixtures"
PAPERS = frozenset({"swap-dimensions", "stage-loop", "pad-local"})


def rungs(path: str, kernel: str | None = None, **options):
    text = (FIXTURES / path).read_text(encoding="utf-8")
    return list(climb(subject_of(text, kernel), SETTINGS, **options))


def test_the_matrix_multiply_climbs_to_coalesced_conflict_free_tiles():
    first, swapped, tiled = rungs("matmul/simple.cl", "mm_simple", kinds=PAPERS)
    # 1,048,576 loads of 16 and 1 sectors, 2,048 stores of 16.
    assert first.figures.totals.sectors == 524_288 * (16 + 1) + 2_048 * 16
    assert swapped.fix is not None and swapped.fix.title.startswith("Swap dimensions: 5.7x less")
    assert swapped.figures.totals.sectors == 524_288 * (2 + 2) + 2_048 * 4
    # Every SIMD group loads two half-rows of each tile: 4 sectors, which is what 128 bytes need.
    assert tiled.figures.totals.sectors == 2_048 * (16 * (4 + 4) + 4)
    assert tiled.figures.sectors_per_request == 4
    # One pass for every local access: no conflicts.
    assert tiled.figures.wavefronts_per_request == 1
    assert tiled.figures.totals.wavefronts == 2_048 * (2 * 256 + 2 * 16)
    assert all(it.proof is not None and it.proof.compared == "bit for bit" for it in (swapped, tiled))


@pytest.mark.parametrize(
    ("path", "kernel", "least_gain"),
    [
        ("transpose/naive.cl", None, 2.5),
        ("transpose/tiled.cl", None, 8),
        ("convolution/direct.cl", None, 4.5),  # Constant memory would gain nothing on this device.
        ("reduction/kinds.cl", "reduce_strided", 2.9),
        ("matvec/by_row_and_column.cl", "matvec_row", 8),
        ("strides/splits.cl", "split_chunk", 3.5),
        ("particles/layouts.cl", "update_aos", 7),
        ("particles/nbody_direct.cl", None, 6),
    ],
)
def test_every_ladder_lowers_the_traffic(path: str, kernel: str | None, least_gain: float):
    found = rungs(path, kernel, sketches=True)
    costs = [it.figures.cost for it in found]
    assert costs == sorted(costs, reverse=True)
    assert costs[0] >= least_gain * costs[-1]


@pytest.mark.parametrize("path", ["transpose/padded.cl", "stencil/nine_point.cl", "stencil/five_point.cl"])
def test_kernels_that_are_good_already_stay(path: str):
    """Stencils with coalesced rows have their neighbours in the cache; tiles made them slower on an H200."""
    assert len(rungs(path)) == 1


LARGE = """\
// clmap: global=2048,2048 local=16,16 N=2048 A=random(N*N) B=random(N*N,1) C=zeros(N*N)
__kernel void mm(__global const float *A, __global const float *B, __global float *C, const int N)
{
    int row = get_global_id(0);
    int col = get_global_id(1);
    float sum = 0.0f;
    for (int k = 0; k < N; k++)
        sum += A[row * N + k] * B[k * N + col];
    C[row * N + col] = sum;
}
"""


def test_the_end_of_the_ladder_is_written_as_a_person_would(tmp_path: Path, capfd) -> None:
    """From the simple matrix multiply at N = 2048: the comment keeps its formulas, and paddings add up."""
    path = tmp_path / "mm.cl"
    path.write_text(LARGE)
    assert main(["check", str(path), "--fix", "--unsafe-fixes"]) == 0
    text, (out, said) = path.read_text(), capfd.readouterr()
    assert not re.findall(r"\bCM\d+\b", out), "what it writes draws no finding"
    assert text.startswith("// clmap: global=256,256 local=16,16 N=2048 A=random(N*N)")
    assert text.count("[128 + 4] __attribute__((aligned(16)));") == 2 and "+ 1 + 1" not in text
    assert "the host must change too: launch 16 work-items for every 128 results" in said
    assert "CM503" not in out, "sums indexed by unrolled counters stay in registers"


HOST = """\
#include <CL/cl.h>
int main(void)
{
    cl_program program = clCreateProgramWithSource(context, 1, &text, 0, 0);
    clBuildProgram(program, 1, &device, "", 0, 0);
    cl_kernel kernel = clCreateKernel(program, "add", 0);
    int w = 512, h = 256;
    cl_mem a = clCreateBuffer(context, CL_MEM_READ_WRITE, w * h * sizeof(float), 0, 0);
    clSetKernelArg(kernel, 0, sizeof(cl_mem), &a);
    clSetKernelArg(kernel, 1, sizeof(int), &w);
    clSetKernelArg(kernel, 2, sizeof(int), &h);
    size_t global[2] = {256, 512};
    size_t local[2] = {16, 16};
    clEnqueueNDRangeKernel(queue, kernel, 2, 0, global, local, 0, 0, 0);
}
"""
ADD = """\
__kernel void add(__global float *a, const int w, const int h)
{
    const int y = get_global_id(0);
    const int x = get_global_id(1);
    if (x < w && y < h)
        a[y * w + x] += 1.0f;
}
"""


def test_the_hosts_half_of_a_swap_is_shown_and_made_with_it(tmp_path: Path, monkeypatch, capfd) -> None:
    (tmp_path / "clmap.toml").touch()
    (tmp_path / "main.c").write_text(HOST)
    (tmp_path / "add.cl").write_text(ADD)
    monkeypatch.chdir(tmp_path)
    main(["check", "add.cl", "--diff", "--unsafe-fixes", "--device", "nvidia-hopper"])
    shown = capfd.readouterr().out
    assert "-    size_t global[2] = {256, 512};\n+    size_t global[2] = {512, 256};" in shown
    assert (tmp_path / "main.c").read_text() == HOST and (tmp_path / "add.cl").read_text() == ADD
    main(["check", "add.cl", "--fix", "--unsafe-fixes", "--device", "nvidia-hopper"])
    assert "with it main.c changes: swap the first two entries" in capfd.readouterr().err
    assert "{512, 256}" in (tmp_path / "main.c").read_text()
    assert "x = get_global_id(0)" in (tmp_path / "add.cl").read_text()

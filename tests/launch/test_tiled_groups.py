"""Groups that tiles in local memory leave room for, and what is only taken away from something."""

from __future__ import annotations

from clmap_lsp.launch.model import Launch
from clmap_lsp.launch.plausible import plausible
from clmap_lsp.launch.resolve import resolve
from clmap_lsp.source.ir import Kernel
from clmap_lsp.source.read import read_program

TILES = """\
#define TILE 64
#define GROUP 16
__kernel void k(__global const float *a, __global float *out, int depth)
{
    __local float rows[TILE][8];
    int lx = get_local_id(0), ly = get_local_id(1);
    int left = TILE * get_group_id(0), top = TILE * get_group_id(1);
    float sum = 0;
    for (int part = 0; part < TILE * 8 / (GROUP * GROUP); part++) {
        int id = part * GROUP * GROUP + ly * GROUP + lx;
        rows[id / 8][id % 8] = a[(top + id / 8) * depth + id % 8];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < 8; i++)
        sum += rows[ly][i] * rows[ly + 3 * GROUP][i];
    for (int y = 0; y < TILE / GROUP; y++)
        for (int x = 0; x < TILE / GROUP; x++)
            out[(top + ly + y * GROUP) * depth + left + lx + x * GROUP] = sum;
}
"""
BORDER = """\
__kernel void k(__global const float *a, __global float *out, int pad, int step)
{
    int i = get_global_id(0);
    out[i] = a[i * step - pad];
}
"""


def launched(source: str) -> tuple[Kernel, Launch]:
    program = read_program(source, "k.cl")
    launch = resolve(program, program.kernels[0])
    assert isinstance(launch, Launch)
    return program.kernels[0], launch


def test_work_items_may_have_several_elements_of_a_square_tile() -> None:
    assert launched(TILES)[1].local_size == (16, 16)


def test_larger_tiles_have_square_groups_too() -> None:
    larger = TILES.replace("TILE 64", "TILE 128")
    assert launched(larger)[1].local_size == (16, 16)


def test_what_is_only_taken_away_may_be_nothing() -> None:
    kernel, launch = launched(BORDER)
    others = [dict(it.launch.parsed) for it in plausible(kernel, launch) if it.invented]
    assert any(it.get("pad") is not None and it["pad"].values == (0,) for it in others)
    assert not any(it.get("step") is not None and it["step"].values == (0,) for it in others)

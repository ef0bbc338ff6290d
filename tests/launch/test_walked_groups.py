"""Sizes of groups that loops tell, and images that are filters of others."""

from __future__ import annotations

from clmap_lsp.config import Settings
from clmap_lsp.launch.model import BufferArgument, Launch
from clmap_lsp.workbench import Workbench

TILE = """\
__kernel void k(__global const float *in, __global float *out, int width)
{
    __local float tile[36][20];
    int lx = get_local_id(0), ly = get_local_id(1);
    for (int y = ly; y < 36; y += 32)
        for (int x = lx; x < 20; x += 16)
            tile[y][x] = in[(get_group_id(1) * 32 + y) * width + get_group_id(0) * 16 + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(1) * width + get_global_id(0)] = tile[ly + 4][lx + 5];
}
"""
FILTER = """\
__kernel void k(read_only image2d_t in, read_only image2d_t weights, __global float *out)
{
    const sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_FILTER_NEAREST | CLK_ADDRESS_CLAMP;
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    int w = get_image_width(weights), h = get_image_height(weights);
    float sum = 0;
    for (int y = -h / 2; y <= h / 2; y++)
        for (int x = -w / 2; x <= w / 2; x++)
            sum += read_imagef(in, s, at + (int2)(x, y)).x
                 * read_imagef(weights, s, (int2)(x + w / 2, y + h / 2)).x;
    out[at.y * get_image_width(in) + at.x] = sum;
}
"""


def launch(text: str) -> Launch:
    file = Workbench().open_text("k.cl", text, Settings(), looks_beside=False, reads_hosts=False)
    (kernel,) = file.analysis.kernels
    assert kernel.launch is not None
    return kernel.launch


def test_a_loop_that_a_group_walks_together_tells_its_size():
    """Although the kernel reads beyond its tile, which a smaller group would not."""
    assert launch(TILE).local_size == (16, 32)


def test_an_image_that_loops_walk_on_both_sides_is_small():
    made = launch(FILTER)
    weights, image = made.arguments["weights"], made.arguments["in"]
    assert isinstance(weights, BufferArgument)
    assert weights.sides == (5, 5)
    assert isinstance(image, BufferArgument)
    assert image.sides == made.global_size

"""What a launch touches of its buffers, by intervals: bounds hold, and working them out ends."""

import pytest

from clmap_lsp.launch.extents import Sizes, find_extents
from clmap_lsp.source.read import read_program


def extents_of(body):
    program = read_program(f"__kernel void k(__global int *a, __global int *b) {{ {body} }}", "k.cl")
    (kernel,) = program.kernels
    found = find_extents(kernel, Sizes((64, 1, 1), (16, 1, 1), {}))
    names = {it.name for it in found.unknown}
    return {it.name: end for it, end in found.end.items()}, names


@pytest.mark.parametrize(
    ("body", "end"),
    [
        ("a[get_global_id(0) + 1] = 0;", 65 * 4),
        ("for (int i = 0; i < 10; i++) a[i * 3] = 0;", 28 * 4),
        ("for (int i = 0; i < 4; i++) for (int j = 0; j < 5; j++) a[i * 5 + j] = 0;", 20 * 4),
    ],
)
def test_what_is_touched(body, end):
    assert extents_of(body) == ({"a": end}, set())


def test_loops_in_loops_are_walked_in_time():
    """Each was walked twice: sixty of them would have taken longer than anybody lives."""
    nest = "".join(f"for (int i{at} = 0; i{at} < 8; i{at}++) " for at in range(60))
    ends, unknown = extents_of(f"b[get_local_id(0)] = 1; {nest} a[i0 + i59] = 0;")
    assert ends["b"] == 16 * 4
    assert "a" in unknown or ends["a"] >= 15 * 4


def test_numbers_beyond_64_bits_are_unknown():
    """Forty squares of 3 have half a million million digits."""
    assert extents_of("int v = 3; " + "v *= v; " * 40 + "a[v] = 0;") == ({}, {"a"})
    assert extents_of("long v = 3; " + "v = mad24(v, v, v); " * 40 + "a[v] = 0;") == ({}, {"a"})

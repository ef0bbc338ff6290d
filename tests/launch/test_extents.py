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
        ("for (int i = 10; i-- > 0;) a[i] = 0;", 10 * 4),
        ("int i = 10; while (i--) a[i] = 0;", 10 * 4),
        ("int i = 0; while (i++ < 10) a[i] = 0;", 11 * 4),
        ("for (int i = 10; --i >= 0;) a[i] = 0;", 10 * 4),
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


@pytest.mark.parametrize(
    ("index", "elements"),
    [
        ("c[get_global_id(0)]", 256),
        ("(uchar)b[get_global_id(0)]", 256),
        ("s[get_global_id(0)]", 65_536),
        ("b[get_global_id(0)] & 63", 64),
        ("(uint)b[get_global_id(0)] % 10u", 10),
        ("(uint)b[get_global_id(0)] >> 24", 256),
        ("b[get_global_id(0)] % 10", 10),
    ],
)
def test_types_and_masks_bound_what_data_reach(index, elements):
    parameters = "__global int *a, __global int *b, __global const uchar *c, __global const ushort *s"
    program = read_program(f"__kernel void k({parameters}) {{ a[{index}] = 1; }}", "k.cl")
    found = find_extents(program.kernels[0], Sizes((64, 1, 1), (16, 1, 1), {}))
    by_name = {it.name: end for it, end in found.end.items()}
    assert by_name["a"] == elements * 4
    assert not found.unknown


@pytest.mark.parametrize("index", ["b[get_global_id(0)]", "b[get_global_id(0)] & -2", "b[0] >> 2"])
def test_what_bounds_little_leaves_it_unknown(index):
    assert extents_of(f"a[{index}] = 1;")[1] == {"a"}

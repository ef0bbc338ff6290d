"""Buffers that nobody can race for are found, and only those; a run leaves their shadow out."""

from __future__ import annotations

import pytest
from watching import watched_like_trusting

from clmap_lsp.emulator.symbolic.control import Bail
from clmap_lsp.emulator.symbolic.measure import measured
from clmap_lsp.launch.arguments import parse_argument
from clmap_lsp.launch.model import Launch
from clmap_lsp.source.read import read_program

_X = "int x = get_global_id(0), y = get_global_id(1), l = get_local_id(0);"
CASES = {
    # name: body, the buffers that nobody can race for
    "map": ("o[y * 64 + x] = a[x];", {"o"}),
    "guarded": ("if (x > 0 && y < 61) o[y * 64 + x] = a[x];", {"o"}),
    "in place": ("o[y * 64 + x] = o[y * 64 + x] * 2 + 1;", {"o"}),
    "in place, twice": ("o[y * 64 + x] += 1; if (x < 5) o[y * 64 + x] -= 1;", {"o"}),
    "transposed": ("o[x * 64 + y] = a[y];", {"o"}),
    "two each": ("o[2 * (y * 64 + x)] = 1; o[2 * (y * 64 + x) + 1] = 2;", {"o"}),
    "a loop of its own": ("for (int k = 0; k < 2; k++) o[(k * 64 + y) * 64 + x] = k;", {"o"}),
    "both": ("o[y * 64 + x] = 1; p[x * 64 + y] = 2;", {"o", "p"}),
    "neighbour": ("o[y * 64 + x] = o[y * 64 + x + 1];", set()),
    "mirrored": ("o[y * 64 + x] = 1; o[y * 64 + 63 - x] = 2;", set()),
    "others read": ("o[y * 64 + x] = 1; if (x == 3) o[0] = 1;", set()),
    "a row each": ("o[y] = x;", set()),
    "wrapped": ("o[(y * 64 + x) & 2047] = x;", set()),
    "repeated": ("for (int k = 0; k < 2; k++) o[y * 64 + x] += k;", {"o"}),
    "bytes of words": ("((__global char *)o)[(y * 64 + x) * 4] = 1; o[y * 64 + x] = 2;", set()),
    "overlapping": ("*(__global long *)(o + (y * 64 + x)) = 1;", set()),
    "atomic": ("atomic_inc(&o[y * 64 + x]);", set()),
    "one is, one is not": ("o[y * 64 + x] = 1; p[x] = 2;", {"o"}),
}


def _launch() -> Launch:
    arguments = {"a": "iota(8192)", "o": "zeros(16384)", "p": "zeros(8192)"}
    return Launch("k", (64, 64), (8, 8), {name: parse_argument(it) for name, it in arguments.items()})


def _source(body: str) -> str:
    return f"__kernel void k(__global int *a, __global int *o, __global int *p) {{ {_X} {body} }}"  # one line


@pytest.mark.parametrize("name", CASES)
def test_who_alone_touches_a_buffer(name: str) -> None:
    body, expected = CASES[name]
    program = read_program(_source(body), "k.cl")
    found = measured(program.kernels[0], _launch())
    assert not isinstance(found, Bail)
    assert {it.name for it in found.exclusive} == expected


@pytest.mark.parametrize("name", CASES)
def test_it_is_never_a_buffer_that_somebody_races_for(name: str) -> None:
    """A run with every buffer watched says the same as one that takes the symbolic engine's word."""
    body, expected = CASES[name]
    watched = watched_like_trusting(_source(body), _launch())
    raced = {it.buffer for it in watched.faults if "race" in it.kind.value}
    assert not raced & expected

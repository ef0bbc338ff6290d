"""Local buffers whose accesses barriers order are found, and only those; a run leaves their shadow out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from clmap_lsp.emulator.run import emulate
from clmap_lsp.emulator.settings import EmulationSettings
from clmap_lsp.emulator.symbolic.control import Bail
from clmap_lsp.emulator.symbolic.measure import measured
from clmap_lsp.launch.arguments import parse_argument
from clmap_lsp.launch.model import Launch
from clmap_lsp.source.read import read_program

_B = "barrier(CLK_LOCAL_MEM_FENCE);"
CASES = {
    # name: body, the local buffers that are in order
    "staged": (f"t[l] = a[i]; {_B} o[i] = t[63 - l];", {"t"}),
    "two": (f"t[l] = a[i]; u[l] = i; {_B} o[i] = t[63 - l] + u[l ^ 1];", {"t", "u"}),
    "one of two": (f"t[l] = a[i]; u[l] = i; {_B} o[i] = t[63 - l] + u[l ^ 1]; u[63 - l] = 1;", {"t"}),
    "its own": ("t[l] = a[i]; o[i] = t[l];", {"t"}),
    "a tree": (
        f"t[l] = a[i]; {_B} for (int s = 32; s > 0; s >>= 1) {{ if (l < s) t[l] += t[l + s]; {_B} }}"
        " if (l == 0) o[get_group_id(0)] = t[0];",
        {"t"},
    ),
    "a tree without its last barrier": (
        f"t[l] = a[i]; {_B} for (int s = 32; s > 0; s >>= 1) {{ if (l < s) t[l] += t[l + s]; }}"
        " if (l == 0) o[get_group_id(0)] = t[0];",
        set(),
    ),
    "tiles": (
        f"for (int n = 0; n < 4; n++) {{ t[l] = a[i + n]; {_B} o[i] += t[l ^ n]; {_B} }}",
        {"t"},
    ),
    "tiles without the second barrier": (
        f"for (int n = 0; n < 4; n++) {{ t[l] = a[i + n]; {_B} o[i] += t[l ^ n]; }}",
        set(),
    ),
    "never written": (f"t[l & 31] = l & 31; {_B} o[i] = t[l];", set()),
    "written for the first half": (f"if (l < 32) t[l] = a[i]; {_B} o[i] = t[l & 31];", {"t"}),
    "read before": (f"o[i] = t[l]; t[l] = i; {_B}", set()),
    "written too late": (f"if (l > 0) o[i] = t[l - 1]; {_B} t[l] = i;", set()),
    "the wrong fence": ("t[l] = a[i]; barrier(CLK_GLOBAL_MEM_FENCE); o[i] = t[63 - l];", set()),
    "a fence in a variable": ("t[l] = a[i]; barrier(f); o[i] = t[63 - l];", set()),
    "several write one": (f"t[0] = 1; {_B} o[i] = t[0];", set()),
    "one writes one": (f"if (l == 7) t[0] = 1; {_B} o[i] = t[0];", {"t"}),
    "an atomic": (f"t[l] = 0; {_B} atomic_inc(&t[0]); {_B} o[i] = t[0];", set()),
    "halves of words": (
        f"((__local short *)t)[2 * l] = 1; ((__local short *)t)[2 * l + 1] = 2; {_B} o[i] = t[63 - l];",
        {"t"},
    ),
    "one half of each word": (f"((__local short *)t)[2 * l] = 1; {_B} o[i] = t[63 - l];", set()),
    "by group": (f"t[(l + get_group_id(0)) & 63] = 1; {_B} o[i] = t[l];", set()),
}


def _launch(groups: int = 64) -> Launch:
    arguments = {"a": "iota(8192)", "o": "zeros(8192)", "f": "1"}
    return Launch("k", (64 * groups,), (64,), {name: parse_argument(it) for name, it in arguments.items()})


def _source(body: str) -> str:
    head = "__kernel void k(__global const int *a, __global int *o, uint f) {"
    return f"{head} __local int t[64], u[64]; int i = get_global_id(0), l = get_local_id(0); {body} }}"


@pytest.mark.parametrize("name", CASES)
def test_whose_accesses_are_in_order(name: str) -> None:
    body, expected = CASES[name]
    program = read_program(_source(body), "k.cl")
    found = measured(program.kernels[0], _launch())
    assert not isinstance(found, Bail)
    assert {it.name for it in found.ordered} == expected


@pytest.mark.parametrize("name", CASES)
def test_it_is_never_a_buffer_with_a_fault(name: str) -> None:
    """A run with every buffer watched says the same as one that takes the symbolic engine's word."""
    body, expected = CASES[name]
    program = read_program(_source(body), "k.cl")
    kernel = program.kernels[0]
    watched = emulate(program, kernel, _launch(), EmulationSettings(trace=False))
    trusting = emulate(program, kernel, _launch(), EmulationSettings())
    assert [(it.kind, it.span) for it in watched.faults] == [(it.kind, it.span) for it in trusting.faults]
    assert {k: v.sha256 for k, v in watched.buffers.items()} == {
        k: v.sha256 for k, v in trusting.buffers.items()
    }
    assert not {it.buffer for it in watched.faults} & expected


def test_out_of_bounds_is_still_reported() -> None:
    body = f"t[l + (i == 4095)] = a[i]; {_B} o[i] = t[l];"
    program = read_program(_source(body), "k.cl")
    found = emulate(program, program.kernels[0], _launch(), EmulationSettings())
    assert {it.kind.value for it in found.faults} >= {"out-of-bounds-write"}


def test_buffers_of_one_name_are_watched() -> None:
    """Settings name buffers: those of two scopes with one name cannot be told apart."""
    head = "__kernel void k(__global const int *a, __global int *o, uint f) {"
    body = (
        "int i = get_global_id(0), l = get_local_id(0);"
        f"{{ __local int t[64]; t[l] = a[i]; {_B} o[i] = t[63 - l]; }}"
        f"{{ __local int t[64]; t[0] = l; {_B} o[i] += t[0]; }} }}"
    )
    program = read_program(head + body, "k.cl")
    found = measured(program.kernels[0], _launch())
    assert not isinstance(found, Bail)
    assert not found.ordered


def test_small_launches_are_not_followed() -> None:
    """Following a group costs more than watching a few of them."""
    body, _ = CASES["staged"]
    program = read_program(_source(body), "k.cl")
    for groups, is_found in ((8, False), (32, True)):
        found = measured(program.kernels[0], _launch(groups))
        assert not isinstance(found, Bail)
        assert bool(found.ordered) == is_found


def test_shadow_is_left_out() -> None:
    from clmap_lsp.emulator.context import CodeOptions
    from clmap_lsp.emulator.kernel_code import generate

    body, _ = CASES["a tree"]
    kernel = read_program(_source(body), "k.cl").kernels[0]
    options = CodeOptions(trace=False, exclusive=frozenset({"o"}))
    assert "shadow_read" in generate(kernel, options).text
    assert "shadow" not in generate(kernel, replace(options, ordered=frozenset({"t"}))).text

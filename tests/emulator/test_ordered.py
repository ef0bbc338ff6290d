"""Local buffers whose accesses barriers order are found, and only those; a run leaves their shadow out."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from watching import watched_like_trusting

from clmap_lsp.emulator.result import EmulationResult, Engine
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
    watched = watched_like_trusting(_source(body), _launch())
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


class _Random:
    """Kernels on local memory, of which many have a fault: a barrier too few, or a cell that nobody wrote."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def _index(self) -> str:
        rng = self.rng
        forms = (
            "l",
            "l",
            f"l ^ {rng.choice((1, 3, 32))}",
            f"(l + {rng.choice((1, 5, 63))}) & 63",
            "63 - l",
            f"l * {rng.choice((3, 5))} & 63",
            f"{rng.randrange(64)}",
            f"l >> {rng.choice((1, 2))}",
            f"(l + k) & {rng.choice((63, 31))}",
        )
        return rng.choice(forms)

    def _access(self) -> str:
        rng = self.rng
        buffer = rng.choice("tu")
        conditions = ("l < 32", "l & 1", "l == 9", "get_group_id(0) > 3")
        guard = f"if ({rng.choice(conditions)}) " if rng.random() < 0.5 else ""
        if rng.random() < 0.5:
            return f"{guard}{buffer}[{self._index()}] = v + {rng.randrange(9)};"
        if rng.random() < 0.2:
            return f"{guard}((__local short *){buffer})[2 * ({self._index()}) + {rng.randrange(2)}] = v;"
        return f"{guard}v += {buffer}[{self._index()}];"

    def _stretch(self) -> str:
        rng = self.rng
        body = " ".join(self._access() for _ in range(rng.randint(1, 2)))
        if rng.random() < 0.3:
            inside = f"{_B} " if rng.random() < 0.8 else ""
            body = f"for (int k = 0; k < {rng.randint(2, 4)}; k++) {{ {inside}{body} {inside}}}"
        return body

    def body(self) -> str:
        """Return the statements of a kernel."""
        rng = self.rng
        start = "t[l] = i; u[l] = 1;" if rng.random() < 0.8 else "t[l] = i;"
        lines = [f"int v = a[i], k = 0; {start}"]
        for _ in range(rng.randint(1, 4)):
            lines += [_B if rng.random() < 0.85 else "", self._stretch()]
        return " ".join([*lines, "o[i] = v;"])


@pytest.mark.parametrize("seed", range(40))
def test_random_kernels_are_judged_as_if_all_were_watched(seed: int) -> None:
    body = _Random(random.Random(f"ordered {seed}")).body()
    program = read_program(_source(body), "k.cl")
    kernel = program.kernels[0]
    watched = emulate(program, kernel, _launch(), EmulationSettings(engine=Engine.JIT))
    trusting = emulate(program, kernel, _launch(), EmulationSettings())

    def said(found: EmulationResult) -> object:
        return sorted((it.kind.value, it.span.start, it.buffer or "") for it in found.faults)

    assert said(watched) == said(trusting)
    assert {k: v.sha256 for k, v in watched.buffers.items()} == {
        k: v.sha256 for k, v in trusting.buffers.items()
    }

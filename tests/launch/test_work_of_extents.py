"""How much work a guess of a launch is: a bound in statements, whatever loops stand in each other."""

from __future__ import annotations

import random
from collections.abc import Iterable

import pytest

from clmap_lsp.config import Settings
from clmap_lsp.launch import extents
from clmap_lsp.launch.extents import Extents, Sizes, find_extents
from clmap_lsp.source.control_flow import Forward
from clmap_lsp.source.ir import Statement, Variable
from clmap_lsp.source.read import read_program
from clmap_lsp.workbench import Workbench

NAMES = "abcdef"


def kernel(depth: int, repeats: int) -> str:
    """Return a kernel with nests of loops, whose bounds multiply what its buffers hold."""
    names = NAMES[:depth]
    heads = "".join(f"for (int {it} = 0; {it} < n{it}; {it}++) {{ at += {it}; " for it in names)
    index = "x"
    for it in names:
        index = f"({index}) * n{it} + {it}"
    nest = f"{heads} out[{index} + at] += in[{index}]; {'}' * depth}\n"
    bounds = ", ".join(f"int n{it}" for it in names)
    return (
        f"__kernel void k(__global float *out, __global const float *in, {bounds})\n"
        f"{{ int x = get_global_id(0), at = 0;\n{nest * repeats}}}\n"
    )


@pytest.mark.parametrize(("depth", "repeats"), [(3, 2), (6, 60)])
def test_statements_walked_for_a_guess_are_bounded(
    monkeypatch: pytest.MonkeyPatch, depth: int, repeats: int
) -> None:
    walked = 0
    simple = extents._Walker.simple

    def counted(self: extents._Walker, statement: Statement, state: extents._Env) -> extents._Env:
        nonlocal walked
        walked += 1
        return simple(self, statement, state)

    monkeypatch.setattr(extents._Walker, "simple", counted)
    file = Workbench().open_text(
        "k.cl", kernel(depth, repeats), Settings(), looks_beside=False, reads_hosts=False
    )
    (found,) = file.analysis.kernels
    assert found.launch is not None
    assert 0 < walked < 200_000


def switch(cases: Iterable[str], before: str = "") -> str:
    """Return a kernel with a switch."""
    body = "".join(f"case {n}: {it}\n" for n, it in enumerate(cases))
    return (
        "__kernel void k(__global int *a, __global int *b, int n) {\n"
        f"int x = a[get_global_id(0)], y = 3, z = 0; {before} switch (x) {{\n{body}}}\n b[y + z] = 1; }}\n"
    )


def extents_in(text: str) -> Extents:
    (kernel,) = read_program(text, "k.cl").kernels
    return find_extents(kernel, Sizes((64, 1, 1), (16, 1, 1), {}))


@pytest.mark.parametrize("ending", ["", "break;"])
def test_uniting_what_thousand_cases_leave_takes_no_square_of_them(
    monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    united = 0
    real = extents._Walker._unite

    def counted(
        self: extents._Walker, env: extents._Env, other: extents._Env, variables: Iterable[Variable]
    ) -> None:
        nonlocal united
        variables = list(variables)
        united += len(variables)
        real(self, env, other, variables)

    monkeypatch.setattr(extents._Walker, "_unite", counted)
    extents_in(switch(f"a[{n}] += {n}; {ending}" for n in range(1000)))
    assert 0 < united < 20 * 1000


def test_cases_that_fall_through_reach_what_they_reach_when_all_is_united_at_each(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = random.Random(28)
    statements = [
        *("y = 7;", "z = y + 1;", "a[y] = 1;", "y += 2;", "z = n;", "b[z] = y;", "if (y > 4) z = 2;"),
        *("break;", "for (int i = 0; i < y; i++) a[i + z] = i;", "y = x & 15;", "if (n) break;", ""),
    ]

    def cases() -> list[str]:
        return [" ".join(rng.choices(statements, k=rng.randrange(4))) for _ in range(9)]

    texts = [switch(cases(), rng.choice(("", "z = 5;", "y = n;"))) for _ in range(60)]
    found = [extents_in(it) for it in texts]
    monkeypatch.setattr(extents._Walker, "entered", Forward.entered)

    def told(it: Extents) -> tuple[dict[str, int], set[str]]:
        return {variable.name: end for variable, end in it.end.items()}, {v.name for v in it.unknown}

    assert [told(it) for it in found] == [told(extents_in(it)) for it in texts]

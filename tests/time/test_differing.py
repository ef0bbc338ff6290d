"""How many values an index of a private array has among lanes, and what finding that out takes."""

from __future__ import annotations

import pytest

from clmap_lsp.source import ir
from clmap_lsp.source.read import read_program
from clmap_lsp.time.differing import MANY, Differing


def differing_of(statements: str) -> tuple[Differing, ir.Expression]:
    """Return what is known of a kernel's variables, and its last read of `last`."""
    text = f"__kernel void k(int n, __global int *out) {{ {statements} out[0] = last; }}"
    (kernel,) = read_program(text, "k.cl").kernels
    varying = [it for it in kernel.variables if it.name != "n"]
    reads = (it for it in ir.all_expressions(kernel.body) if isinstance(it, ir.Read))
    *_, last = (it for it in reads if it.variable.name == "last")
    return Differing.of(kernel, varying, {"n": 12}), last


@pytest.mark.parametrize(
    ("statements", "count"),
    [
        ("int last = get_global_id(0) & 3;", 4.0),
        ("int last = 16 + (get_global_id(0) & 5) + n;", 4.0),
        ("int a = get_global_id(0); int last = a % 7;", 7.0),
        ("uint a = get_global_id(0); uint last = a % (uint)n;", 12.0),
        ("int a = out[get_global_id(0)]; int last = (a & 1) + (a & 6);", 5.0),
        ("int last = get_global_id(0);", MANY),
        ("int last = 5 + n;", 1.0),
    ],
)
def test_masks_remainders_and_what_is_alike_bound_it(statements: str, count: float) -> None:
    found, last = differing_of(statements)
    assert found.values(last) == count


def test_chains_of_variables_are_followed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    chain = "".join(f"int v{it} = v{it - 1} + v{it - 1};" for it in range(1, 20))
    found, last = differing_of(f"int v0 = get_global_id(0) & 1; {chain} int last = v19 & 63;")
    calls = 0
    inner = Differing._of_two

    def counted(self: Differing, it: ir.Binary) -> float:
        nonlocal calls
        calls += 1
        return inner(self, it)

    monkeypatch.setattr(Differing, "_of_two", counted)
    assert found.values(last) == 64.0
    assert calls < 40


def test_what_leads_back_to_itself_or_too_far_has_any_value() -> None:
    found, last = differing_of("int last; for (int k = 0; k < 9; k++) last = last * 3 + n;")
    assert found.values(last) == MANY
    chain = "".join(f"int v{it} = v{it - 1} + 1;" for it in range(1, 900))
    found, last = differing_of(f"int v0 = get_global_id(0); {chain} int last = v899;")
    assert found.values(last) == MANY

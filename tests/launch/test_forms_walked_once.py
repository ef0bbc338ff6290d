"""A long sum whose every part is asked about is walked once, not once for each part."""

from __future__ import annotations

import pytest

from clmap_lsp.launch.clues import find_clues
from clmap_lsp.launch.forms import Forms
from clmap_lsp.source import ir
from clmap_lsp.source.read import read_program


def test_each_operation_of_a_long_sum_is_looked_at_once(monkeypatch: pytest.MonkeyPatch):
    terms = " + ".join(f"{it} * i" for it in range(120))
    program = read_program(
        f"__kernel void k(__global int *a) {{ int i = get_global_id(0); a[i] = {terms}; }}", "k.cl"
    )
    kernel = program.kernels[0]
    operations = sum(isinstance(it, ir.Binary) for it in ir.all_expressions(kernel.body))
    asked = []
    real = Forms._binary

    def binary(forms: Forms, expression: ir.Binary) -> object:
        asked.append(expression)
        return real(forms, expression)

    monkeypatch.setattr(Forms, "_binary", binary)
    find_clues(kernel)
    assert 120 < len(asked) <= operations

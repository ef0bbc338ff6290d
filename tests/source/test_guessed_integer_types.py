"""Types that nothing defines: what a name says of counting."""

from __future__ import annotations

import pytest

from clmap_lsp.source.read import read_program


@pytest.mark.parametrize(
    ("name", "taken"),
    [
        ("SIZE_TYPE", "uint"),
        ("INDEX_TYPE", "int"),
        ("IndexType", "int"),
        ("idx_t", "int"),
        ("OFFSET_T", "int"),
        ("ROW_COUNT_TYPE", "uint"),
        ("VALUE_TYPE", "float"),
        ("SCALAR", "float"),
        ("DOUBLE_INDEX", "double"),
    ],
)
def test_types_that_count_are_integers(name: str, taken: str) -> None:
    """`const SIZE_TYPE n` was a float, and guards by it held one work-item."""
    text = f"""__kernel void k(__global {name} *a, const {name} n) {{
      if (get_global_id(0) < n) a[get_global_id(0)] = n; }}"""
    program = read_program(text, "k.cl")
    assert str(program.kernels[0].parameters[1].type) == taken

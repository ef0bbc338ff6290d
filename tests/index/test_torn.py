"""Text that no compiler takes: told of, and read to its end."""

from __future__ import annotations

import pytest

from clmap_lsp.cli import main

KERNEL = "__kernel void f(__global float *x)\n{{\n    {0}\n    x[get_global_id(0)] = 1.0f;\n}}\n"


@pytest.mark.parametrize("torn", ["##", "# define", "## NEVER x;", "@", "`", "%:%:", "?:", ".."])
def test_what_begins_no_statement_is_an_error_at_its_place(torn: str, tmp_path, capsys) -> None:
    path = tmp_path / "k.cl"
    path.write_text(KERNEL.format(torn))
    assert main(["check", str(path)]) == 1
    assert f"{path}:3:" in capsys.readouterr().out


@pytest.mark.parametrize(
    "statement",
    ["for (int k = 0; k < 1e99999; k++) x[k] = 1;", "int t[1e99999]; x[0] = t[0];", "x[(int)1e99999] = 1;"],
)
def test_constants_without_an_end_are_read(statement: str, tmp_path, capsys) -> None:
    path = tmp_path / "k.cl"
    path.write_text(KERNEL.format(statement))
    assert main(["check", str(path)]) in (0, 1)

"""Files of which not all is read: said once, as information."""

from __future__ import annotations

from pathlib import Path

import pytest

from clmap_lsp.cli import main


def test_what_unrolled_macros_cut_off_is_one_note(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    steps = "#define R0(x) (x) = (x) * 5 + 1;\n"
    steps += "".join(f"#define R{it + 1}(x) R{it}(x) R{it}(x) R{it}(x) R{it}(x)\n" for it in range(8))
    path = tmp_path / "k.cl"
    path.write_text(
        f"{steps}__kernel void k(__global uint *a)\n{{\n    uint x = a[0];\n    R8(x)\n    a[0] = x;\n}}\n"
    )
    assert main(["check", str(path), "--format", "concise"]) == 0
    (line, *_) = capsys.readouterr().out.splitlines()
    assert "CM008" in line
    assert "`R8` expands to more than" in line
    assert "CM001" not in line


def test_errors_of_a_text_that_is_read_are_still_errors(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "k.cl"
    path.write_text("__kernel void k(__global uint *a)\n{\n    a[0] = 1;\n")
    assert main(["check", str(path)]) == 1
    assert "CM001" in capsys.readouterr().out

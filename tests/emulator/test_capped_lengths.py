"""What lies behind the end that a guessed buffer was given to fit into memory is no fault of a kernel."""

from __future__ import annotations

from pathlib import Path

import pytest

from clmap_lsp.cli import main

TURNED = """\
{comment}__kernel void turned(__global const float *in, __global float *out, int rows, int columns)
{{
    for (int y = get_global_id(1); y < rows; y += get_global_size(1))
        for (int x = get_global_id(0); x < columns; x += get_global_size(0))
            out[y + x * rows] = in[x + y * columns];
}}
"""


def _checked(tmp_path: Path, capsys: pytest.CaptureFixture[str], comment: str) -> str:
    (tmp_path / "turned.cl").write_text(TURNED.format(comment=comment))
    main(["check", str(tmp_path), "--emulate", "--guesses"])
    return capsys.readouterr().out


def test_nothing_is_told_of_what_was_cut_off(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = _checked(tmp_path, capsys, "// clmap: rows=16384 columns=16384\n")
    assert "CM102" in said
    assert "CM301" not in said, said


def test_what_each_dimension_strides_over_is_some_times_its_size(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "rows = 1024, columns = 1024" in _checked(tmp_path, capsys, "")

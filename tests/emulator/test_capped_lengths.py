"""What lies behind the end that a guessed buffer was given to fit into memory is no fault of a kernel."""

from __future__ import annotations

from pathlib import Path

import pytest

from clmap_lsp.cli import main

TURNED = """\
{comment}__kernel void turned(__global const TYPE *in, __global TYPE *out, int rows, int columns)
{{
    for (int y = get_global_id(1); y < rows; y += get_global_size(1))
        for (int x = get_global_id(0); x < columns; x += get_global_size(0))
            out[y + x * rows] = in[x + y * columns];
}}
"""


def _checked(tmp_path: Path, capsys: pytest.CaptureFixture[str], comment: str, type_name: str) -> str:
    (tmp_path / "turned.cl").write_text(TURNED.format(comment=comment).replace("TYPE", type_name))
    main(["check", str(tmp_path), "--emulate", "--guesses", "--hints"])
    return capsys.readouterr().out


def test_nothing_is_told_of_what_was_cut_off(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nor of what was computed of it. 339 MB a buffer; guessed ones take 256 MiB at most."""
    said = _checked(tmp_path, capsys, "// clmap: rows=2304 columns=2304\n", "float16")
    assert "1 emulated" in said
    assert "CM3" not in said, said


def test_what_each_dimension_strides_over_is_some_times_its_size(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "rows = 1024, columns = 1024" in _checked(tmp_path, capsys, "", "float")

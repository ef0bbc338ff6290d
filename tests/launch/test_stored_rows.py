"""Pitches that are guessed keep what work-items store apart: no race comes from the guess."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from clmap_lsp.cli import main

HEAD = "__kernel void k(__global float *s, __global const float *a, int width, int height) {\n"
COLUMN = "  int x = get_group_id(0) * 8 + get_local_id(1);\n"
TIMES = "  for (int y = 0; y < height; y++)\n    "
SIZES = ("--global", "4096,8,1", "--local", "32,8,1")


def analysed(path: Path, capsys: pytest.CaptureFixture[str], body: str) -> dict[str, object]:
    path.write_text(HEAD + body + "}\n")
    main(["analyze", str(path), "--format", "json", *SIZES])
    ((kernel,),) = (it["kernels"] for it in json.loads(capsys.readouterr().out)["files"])
    arguments: dict[str, object] = kernel["launch"]["args"]
    return arguments


@pytest.mark.parametrize(
    "store",
    [
        "s[(y * width + x) * 32 + get_local_id(0)] += 1;",
        "s[(y * width + width - 1 - x) * 32 + get_local_id(0)] = 1;",
        "s[((height - 1 - y) * width + x) * 32 + get_local_id(0)] = 1;",
        "{ __global float *row = s + y * width * 32; row[x * 32 + get_local_id(0)] = 1; }",
        "if (height > 3) s[(y * width + x) * 32 + get_local_id(0)] = 1;",
    ],
)
def test_rows_are_as_long_as_what_their_work_items_store(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], store: str
) -> None:
    body = COLUMN + TIMES + store
    assert analysed(tmp_path / "k.cl", capsys, body)["width"] == 4096 // 32 * 8
    main(["check", str(tmp_path / "k.cl"), "--emulate", "--format", "json", *SIZES])
    assert "CM302" not in {it["code"] for it in json.loads(capsys.readouterr().out)["findings"]}


def test_elements_between_work_items_count_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    body = COLUMN + TIMES + "for (int k = 0; k < 4; k++) s[y * width + x * 4 + k] = 1;"
    assert analysed(tmp_path / "k.cl", capsys, body)["width"] == 4 * 1024


def test_tiles_of_which_each_work_item_stores_a_part_stay_whole(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    body = (
        "  int x = get_group_id(0) * 64 + get_local_id(1);\n" + TIMES + "for (int k = 0; k < 64; k += 8)"
        " s[y * width + x + k] = 1;"
    )
    assert analysed(tmp_path / "k.cl", capsys, body)["width"] == 64 * 128


@pytest.mark.parametrize(
    "body",
    [
        COLUMN + "  float t = 0;\n" + TIMES + "t += a[y * width + x];\n  s[x] = t;",
        COLUMN + "  if (x >= 60) return;\n" + TIMES + "s[y * width + x] = 1;",
        COLUMN + TIMES + "if (x < 60) s[y * width + x] = 1;",
        COLUMN + "  for (int y = 0; y < height; y++) { if (x > 60) break; s[y * width + x] = 1; }",
    ],
)
def test_what_is_only_read_or_guarded_says_nothing_of_a_pitch(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], body: str
) -> None:
    assert analysed(tmp_path / "k.cl", capsys, body)["width"] == 64


def test_a_pitch_that_is_given_stays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kernel = tmp_path / "k.cl"
    kernel.write_text(HEAD + COLUMN + TIMES + "s[(y * width + x) * 32 + get_local_id(0)] += 1;\n}\n")
    main(["check", str(kernel), "--emulate", "--format", "json", *SIZES, "--arg", "width=64"])
    assert "CM302" in {it["code"] for it in json.loads(capsys.readouterr().out)["findings"]}

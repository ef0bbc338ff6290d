"""Sizes that guards compare with what is made of ids, but is no polynomial of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from clmap_lsp.cli import main

WINDOWS = """\
__kernel void windows(__global const float *in, __global float *out, int height, int width, int ker, int pad)
{
    int from = pad ? ker / 2 - pad : ker / 2;
    int y = get_global_id(1) + from, x = get_global_id(0) + from;
    for (int i = 0; i < ker * ker; i++) {
        int row = y + i / ker - ker / 2, column = x + i % ker - ker / 2;
        float value = 0;
        if (row >= 0 && row < height && column >= 0 && column < width) value = in[row * width + column];
        out[(i * (height - from) + y - from) * (width - from) + x - from] = value;
    }
}
"""


def arguments(path: Path, capsys: pytest.CaptureFixture[str], *options: str) -> dict[str, int]:
    main(["analyze", str(path), "--format", "json", *options])
    ((kernel,),) = (it["kernels"] for it in json.loads(capsys.readouterr().out)["files"])
    found: dict[str, int] = kernel["launch"]["args"]
    return found


def test_windows_that_start_before_a_border_are_as_many_as_pixels(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "k.cl"
    path.write_text(WINDOWS)
    found = arguments(path, capsys)
    assert (found["height"], found["width"], found["ker"]) == (256, 256, 5)
    known = arguments(path, capsys, "--global", "512,128", "--local", "16,16")
    assert (known["height"], known["width"]) == (128, 512)
    main(["check", str(path), "--emulate", "--format", "json"])
    assert not [it for it in json.loads(capsys.readouterr().out)["findings"] if it["code"] == "CM301"]


@pytest.mark.parametrize(
    "guard",
    [
        "at[i] < n",  # Data: no size of the ids.
        "(i > 7 ? i : get_global_id(1)) < n",  # Of two dimensions.
        "(i > 7 ? i : 7) == n",
    ],
)
def test_other_comparisons_tell_no_size(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], guard: str
) -> None:
    path = tmp_path / "k.cl"
    path.write_text(
        "__kernel void k(__global const int *at, __global int *out, int n) {\n"
        f"  int i = get_global_id(0);\n  if ({guard}) out[i + 64 * get_global_id(1)] = 1;\n}}\n"
    )
    assert arguments(path, capsys, "--global", "64,64", "--local", "8,8")["n"] != 64


def test_what_bounds_a_loop_too_stays_as_short_as_loops_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "k.cl"
    path.write_text(
        "__kernel void k(__global int *out, int n) {\n  int groups = get_num_groups(0);\n"
        "  for (int i = 0; i < (n + groups - 1) / groups; i++) {\n"
        "    int at = (i > 3 ? get_group_id(0) : 0) + i * groups;\n"
        "    if (at < n) out[at * 64] = 1;\n  }\n}\n"
    )
    assert arguments(path, capsys)["n"] == 256

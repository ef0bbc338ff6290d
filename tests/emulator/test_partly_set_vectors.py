"""Vectors read before all their components were written; lanes that small groups leave idle; small sides."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from clmap_lsp.cli import main


def findings(path: Path, capsys: pytest.CaptureFixture[str], *options: str) -> list[dict[str, Any]]:
    main(["check", str(path), "--format", "json", *options])
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["findings"]
    return found


@pytest.mark.parametrize(
    ("width", "written", "severity", "words"),
    [
        (4, "v.x = 1; v.y = 2; v.z = 3;", "information", "`.w` of the vector: not written yet"),
        (8, "v.odd = 1;", "information", "`.s0`, `.s2`, `.s4`, `.s6` of the vector: not written yet"),
        (4, "", "warning", "the variable has no value yet"),
        (4, "v.lo = 1; v.hi = 2;", "", ""),
    ],
)
def test_a_vector_read_as_a_whole_names_what_it_lacks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], width: int, written: str, severity: str, words: str
) -> None:
    kernel = tmp_path / "k.cl"
    kernel.write_text(
        f"__kernel void k(__global float{width} *o) {{\n"
        f"  float{width} v;\n  {written}\n  o[get_global_id(0)] = v;\n}}\n"
    )
    found = [it for it in findings(kernel, capsys, "--emulate") if it["code"] == "CM304"]
    assert [it["severity"] for it in found] == ([severity] if severity else [])
    assert all(it["message"].startswith(words) for it in found)


@pytest.mark.parametrize("space", ["__private", "__local"])
@pytest.mark.parametrize(
    ("written", "severity", "words"),
    [
        ("a[1].xyz = (float3)(1, 2, 3);", "information", "`a[1].s3` of the vector: not written yet"),
        ("a[1].yw = 1;", "information", "`a[1]` of the vector: not written yet"),
        ("a[0] = 1;", "warning", "`a[1]` was never written"),
        ("a[1].xy = 1; a[1].hi = 2;", "", ""),
        ("if (get_local_id(0) < 9) a[1].xyz = 5;", "information", "`a[1].s3` of the vector: not written yet"),
        ("if (get_local_id(0) > 9) a[1].xyz = 5;", "warning", "`a[1]` was never written"),
    ],
)
def test_so_does_a_vector_in_memory(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], space: str, written: str, severity: str, words: str
) -> None:
    """Where it is not written at all for some work-items, that is what is told."""
    if space == "__local":
        written = written.replace("a[", "t[get_local_id(0)][")
        words = words.replace("a[1]", "t[0][1]")
    declared = "__local float4 t[16][2];" if space == "__local" else "float4 a[2];"
    kernel = tmp_path / "k.cl"
    kernel.write_text(
        "// clmap: global=16 local=16 o=zeros(16)\n"
        f"__kernel void k(__global float4 *o) {{\n  {declared}\n  {written}\n"
        f"  o[get_global_id(0)] = {'t[get_local_id(0)]' if space == '__local' else 'a'}[1];\n}}\n"
    )
    found = [it for it in findings(kernel, capsys, "--emulate") if it["code"] == "CM304"]
    assert [it["severity"] for it in found] == ([severity] if severity else [])
    assert all(it["message"].startswith(words) for it in found)


@pytest.mark.parametrize(
    ("size", "group", "severity", "words"),
    [
        ("1048576", "1", "warning", "Work-groups of 1 work-item leave 97 % of the lanes idle"),
        ("20000", "1", "warning", "Work-groups of 1 work-item leave 97 %"),
        ("4096", "1", "information", "Work-groups of 1 work-item leave 97 %"),
        ("512,512", "2,8", "information", "Work-groups of 2x8 (16 work-items) leave 50 %"),
        ("1024,1024", "2,8", "warning", "Work-groups of 2x8 (16 work-items) leave 50 %"),
        ("1048560", "48", "information", "Work-groups of 48 work-items leave 25 %"),
    ],
)
def test_lanes_that_stay_idle_are_a_warning_where_there_are_many_of_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], size: str, group: str, severity: str, words: str
) -> None:
    kernel = tmp_path / "k.cl"
    kernel.write_text("__kernel void k(__global float *o) { o[get_global_id(0)] = 1; }\n")
    sizes = ("--global", size, "--local", group)
    (found,) = [it for it in findings(kernel, capsys, *sizes) if it["code"] == "CM505"]
    assert found["severity"] == severity
    assert found["message"].startswith(words)


def test_sides_of_filters_and_tiles_are_not_as_long_as_images(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kernel = tmp_path / "k.cl"
    kernel.write_text(
        """\
__kernel void window(__global const float *a, __global float *o, int width, int windowSize, int tileSize) {
  int x = get_global_id(0), y = get_global_id(1);
  float sum = 0;
  for (int d = -windowSize / 2; d <= windowSize / 2; d++) sum += a[y * width + clamp(x + d, 0, width - 1)];
  for (int k = 0; k < tileSize; k++) sum += a[y * width + k];
  o[y * width + x] = sum;
}
"""
    )
    main(["analyze", str(kernel), "--format", "json"])
    launch = json.loads(capsys.readouterr().out)["files"][0]["kernels"][0]["launch"]
    assert {name: launch["args"][name] for name in ("width", "windowSize", "tileSize")} == {
        "width": 256,
        "windowSize": 5,
        "tileSize": 16,
    }


def test_what_the_emulator_finds_says_what_it_rests_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kernel = tmp_path / "k.cl"
    kernel.write_text("__kernel void k(__global int *o, int n) { o[get_global_id(0) - n] = 1; }\n")
    (found,) = [it for it in findings(kernel, capsys, "--emulate", "--arg", "n=7") if it["code"] == "CM301"]
    rests = {it["name"]: it["origin"] for it in found["rests_on"]}
    assert rests["global size"] == "guessed"

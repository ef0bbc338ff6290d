"""Findings from records of other kernels say what the kernel's own time leaves of them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from clmap_lsp import cli

PRODUCT = """\
// clmap: global=1024,1024 local=16,16 N=1024 A=random(N*N) B=random(N*N) C=zeros(N*N)
__kernel void product(__global const float *A, __global const float *B, __global float *C, const int N)
{
    const int x = get_global_id(0), y = get_global_id(1);
    float sum = 0.0f;
    for (int k = 0; k < N; k++)
        sum += A[y * N + k] * B[k * N + x];
    C[y * N + x] = sum;
}
"""
ROWS = """\
// clmap: global=65536 local=64 columns=512 m=random(33554432) sums=zeros(65536)
__kernel void rows(__global const float *m, __global float *sums, const int columns)
{
    const int r = get_global_id(0);
    float sum = 0.0f;
    for (int c = 0; c < columns; c++)
        sum += m[r * columns + c];
    sums[r] = sum;
}
"""


def found(
    folder: Path,
    text: str,
    capsys: pytest.CaptureFixture[str],
    device: str = "nvidia-h200",
    select: str = "CM1,CM4",
) -> dict[str, dict[str, Any]]:
    """Return the findings of a text by code."""
    (folder / "k.cl").write_text(text)
    options = ["--hints", "--format", "json", "--device", device, "--select", select, "--fail-on", "never"]
    cli.main(["check", str(folder / "k.cl"), *options])
    return {it["code"]: it for it in json.loads(capsys.readouterr().out)["findings"]}


def at_most(finding: dict[str, Any]) -> float:
    said = re.search(r"most ([\d.]+) times as fast on NVIDIA H200", finding["message"])
    assert said is not None, finding["message"]
    return float(said[1])


def test_a_record_that_the_kernels_own_time_denies_is_a_hint(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """On an H200 the tiled product is slower than this one."""
    told = found(tmp_path, PRODUCT, capsys)["CM401"]
    assert told["severity"] == "hint" and "Not here" in told["message"]
    assert at_most(told) < 1.5


def test_where_nothing_is_known_of_time_the_record_speaks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = found(tmp_path, PRODUCT, capsys, "nvidia-hopper")["CM401"]
    assert told["severity"] == "information" and "as fast" not in told["message"]


def test_one_finding_speaks_of_what_the_same_accesses_lose(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = found(tmp_path, ROWS, capsys)
    assert told["CM101"]["severity"] == "warning" and "Loses" in told["CM101"]["message"]
    for code in ("CM401", "CM403"):
        assert told[code]["severity"] == "hint" and "Not here" not in told[code]["message"]
        assert at_most(told[code]) > 1.5


def test_an_ignored_finding_leaves_the_word_to_the_record(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = found(tmp_path, ROWS, capsys, select="CM4")
    assert {code: it["severity"] for code, it in told.items()} == dict.fromkeys(
        ("CM401", "CM403"), "information"
    )

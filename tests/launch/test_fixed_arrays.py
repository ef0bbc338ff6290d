"""Guessed lengths fit the arrays that loops up to them go through."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from clmap_lsp.cli import main

KERNEL = """\
#define LEVELS 35
__kernel void k(__global const float *a, __global float *b, int n, int m)
{
    %s float line[LEVELS + 1];
    int i = get_global_id(0);
    for (int k = 0; %s; k++) line[%s] = a[i * LEVELS + k];
    barrier(CLK_LOCAL_MEM_FENCE);
    float sum = 0;
    for (int k = 0; k < m; k++) sum += line[5];
    b[i] = sum;
}
"""


@pytest.mark.parametrize(
    ("space", "condition", "index", "most"),
    [
        ("", "k < n", "k", 36),
        ("", "k <= n", "k", 35),
        ("__local", "k < n - 1", "k", 37),
        ("", "k < n", "k + 1", 35),
        ("", "k < n", "k % 7", None),
    ],
)
def test_a_guessed_length_is_what_arrays_have_room_for(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    space: str,
    condition: str,
    index: str,
    most: int | None,
) -> None:
    path = tmp_path / "k.cl"
    path.write_text(KERNEL % (space, condition, index))
    main(["analyze", str(path), "--format", "json"])
    launch = json.loads(capsys.readouterr().out)["files"][0]["kernels"][0]["launch"]
    guess = launch["args"]["n"]
    assert guess == most if most is not None else guess > 36
    assert launch["args"]["m"] > 36
    main(["check", str(path), "--emulate", "--format", "json"])
    found = json.loads(capsys.readouterr().out)["findings"]
    assert "CM301" not in {it["code"] for it in found}


def test_a_length_that_is_given_stays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "k.cl"
    path.write_text(KERNEL % ("", "k < n", "k"))
    main(["check", str(path), "--emulate", "--arg", "n=40", "--format", "json"])
    assert "CM301" in {it["code"] for it in json.loads(capsys.readouterr().out)["findings"]}

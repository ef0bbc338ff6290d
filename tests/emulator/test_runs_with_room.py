"""Runs with longer buffers draw on one budget: a launch that is enlarged again and again takes no longer."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from clmap_lsp.cli import main
from clmap_lsp.config import Settings
from clmap_lsp.emulator.result import EmulationResult
from clmap_lsp.emulator.roomier import with_room
from clmap_lsp.emulator.run import emulate
from clmap_lsp.launch.model import Launch
from clmap_lsp.workbench import Workbench

READS_ON = """__kernel void k(__global const float *m, __global float *out, int cols)
{
    int r = get_global_id(0);
    float s = 0;
    bool more = true;
    for (int i = 0; more; i++) { s += m[r * cols + i]; more = i + 1 < cols; }
    out[r] = s;
}"""


@pytest.mark.parametrize(
    ("whole", "share", "given"),
    [(True, 0.6, [1.0, 1.0, 0.4]), (True, 0.01, [1.0] * 6), (False, 1.0, [1.0, 0.5])],
)
def test_all_runs_of_a_launch_draw_on_one_budget(whole: bool, share: float, given: list[float]):
    opened = Workbench().open_text("k.cl", READS_ON, Settings(), looks_beside=False, reads_hosts=False)
    kernel = opened.program.kernels[0]
    launch = opened.launch(kernel)
    first = emulate(opened.program, kernel, launch, opened.emulation_settings())
    assert first.is_whole
    (fault,) = (it for it in first.faults if it.buffer == "m")
    asked: list[float] = []

    def run(it: Launch, budget: float) -> EmulationResult:
        """Leave the buffer however long it is, after a share of the budget."""
        asked.append(budget / 1000)
        beyond = replace(fault, offset=4 * it.arguments["m"].count)
        groups = first.groups_run if whole else 0
        return replace(first, faults=(beyond,), work=share * 1000, groups_run=groups)

    with_room(kernel, launch, run, 1000)
    assert asked == pytest.approx(given, abs=0.1)


@pytest.mark.parametrize(
    ("place", "severity"), [("id % 96, id / 96", "information"), ("-1 - id, 0", "error")]
)
def test_sides_of_images_that_nobody_gave_accuse_no_kernel(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], place: str, severity: str
) -> None:
    path = tmp_path / "k.cl"
    path.write_text(
        "__kernel void k(__write_only image2d_t to) {\n  int id = get_global_id(0);\n"
        f"  write_imagef(to, (int2)({place}), (float4)(1));\n}}\n"
    )
    main(["check", str(path), "--emulate", "--format", "json", "--global", "2097152", "--local", "64"])
    found = [it for it in json.loads(capsys.readouterr().out)["findings"] if it["code"] == "CM301"]
    assert [it["severity"] for it in found] == [severity]
    assert found[0]["message"].startswith("if `to` is as small as was inferred") == (
        severity == "information"
    )

"""Buffers that hold one number each, which is a size, a pitch or how often a loop turns."""

from __future__ import annotations

from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

from clmap_lsp.cli import main
from clmap_lsp.config import Settings
from clmap_lsp.launch.model import BufferArgument, Fill, Launch
from clmap_lsp.workbench import Workbench

VOLUME = """\
__kernel void k(__global const float *in, __global int *height, __global int *width, __global int *taps,
                __global float *out)
{
    int h = *height, w = width[0], n = *taps;
    int c = get_global_id(0), y = get_global_id(1), x = get_global_id(2);
    int i = c * (h * w) + y * w + x;
    out[i] = 0;
    for (int t = 0; t < n; t++)
        out[i] += in[i + t];
}
"""
GUARD = """\
__kernel void k(__global const float *in, __global float *out, __constant int *n)
{
    int i = get_global_id(0);
    if (i < *n)
        out[i] = in[i];
}
"""


def launched(source: str) -> Launch:
    opened = Workbench().open_text("k.cl", source, Settings())
    launch = opened.analysis.kernels[0].launch
    assert isinstance(launch, Launch)
    return launch


def held(launch: Launch, name: str) -> str | None:
    argument = launch.arguments[name]
    assert isinstance(argument, BufferArgument)
    return argument.text if argument.fill is Fill.FORMULA and argument.count == 1 else None


def test_sizes_are_as_large_as_the_launch_and_turns_are_few() -> None:
    launch = launched(VOLUME)
    assert launch.global_size == (64, 64, 64)
    assert [held(launch, it) for it in ("height", "width", "taps")] == ["64", "64", "4"]


def test_no_work_items_meet_where_a_buffer_says_the_pitch(tmp_path: Path) -> None:
    report = StringIO()
    (tmp_path / "k.cl").write_text(VOLUME)
    with redirect_stdout(report):
        main(["check", "--emulate", str(tmp_path / "k.cl")])
    assert "CM302" not in report.getvalue()


def test_a_guard_by_a_buffer_lets_all_ids_through() -> None:
    launch = launched(GUARD)
    assert held(launch, "n") == str(launch.global_size[0])


def test_a_buffer_that_is_written_or_walked_is_no_number() -> None:
    written = GUARD.replace("__constant int *n", "__global int *n").replace("out[i] = in[i];", "n[0] = i;")
    walked = GUARD.replace("i < *n", "i < *n + n[i]")
    assert held(launched(written), "n") is None
    assert held(launched(walked), "n") is None

"""A launch on a device from command line and worker; what goes wrong with devices ends a child only."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from clmap_lsp.analysis.session import AnalysisSession
from clmap_lsp.cli import main
from clmap_lsp.config import Settings
from clmap_lsp.devices import load_model
from clmap_lsp.opencl_device import DeviceLostError, DeviceMissingError
from clmap_lsp.opencl_device import on_device as room
from clmap_lsp.opencl_device.find import list_devices
from clmap_lsp.opencl_device.on_device_job import make_job
from clmap_lsp.opencl_device.on_device_run import same_outputs
from clmap_lsp.source.options import BuildOptions
from clmap_lsp.source.read import read_program
from clmap_lsp.worker import tasks
from clmap_lsp.worker.messages import as_data, kernel_task

TWICE = """#include "factor.h"
// clmap: global=256 local=64 in=random(256) out=zeros(256)
__kernel void twice(__global const float *in, __global float *out)
{
    out[get_global_id(0)] = FACTOR * in[get_global_id(0)];
}
"""
BEYOND = """// clmap: global=256 local=64 out=zeros(255)
__kernel void beyond(__global float *out) { out[get_global_id(0)] = 1.0f; }
"""


@pytest.fixture
def platform() -> None:
    try:
        list_devices()
    except DeviceMissingError as error:
        pytest.skip(str(error))


@pytest.fixture
def kernel_file(tmp_path: Path) -> Path:
    (tmp_path / "factor.h").write_text("#define FACTOR 2.0f\n")
    path = tmp_path / "twice.cl"
    path.write_text(TWICE)
    return path


@pytest.mark.pocl
def test_emulate_on_device_sets_both_side_by_side(
    platform: None, kernel_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["emulate", str(kernel_file), "--format", "json", "--on-device", "--trace-on-device"]
    assert main(arguments) == 0
    data = json.loads(capsys.readouterr().out)
    measured = data["on_device"]
    assert measured["outputs_equal"] and set(measured["outputs"]) == {"in", "out"}
    assert measured["trace"]["metrics"]["psl"] == pytest.approx(data["metrics"]["psl"], abs=1e-9)
    assert measured["requested_bytes"] == 256 * 8
    for state in ("cold", "warm"):
        assert measured["timing"][state]["runs"] >= 3
        assert measured["effective_gbs"][state] > 0
    assert main([*arguments[:2], "--on-device"]) == 0
    text = capsys.readouterr().out
    assert "cold: " in text and "warm: " in text and "out: the same bits as the emulator's" in text


@pytest.mark.pocl
def test_what_cannot_be_done_is_said_in_one_line_with_exit_code_2(
    platform: None, kernel_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    beyond = tmp_path / "beyond.cl"
    beyond.write_text(BEYOND)
    for arguments, said in (
        ([str(kernel_file), "--on-device", "no such device"], "no OpenCL device matches"),
        ([str(kernel_file), "--on-device", "--device-time-limit", "0.01"], "did not finish within 0.01 s"),
        ([str(kernel_file), "--on-device", "--device-time-limit", "-1"], "above 0"),
        ([str(kernel_file), "--trace-on-device"], "needs --on-device"),
        ([str(beyond), "--on-device"], "out-of-bounds-write"),
    ):
        assert main(["emulate", *arguments]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert said in err and err.count("\n") == 1


def test_a_driver_that_ends_the_process_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = read_program(BEYOND, "beyond.cl")
    (kernel,) = AnalysisSession().analyse(program, load_model("cpu")).kernels
    assert kernel.launch is not None
    job = make_job(program, kernel.kernel, kernel.launch, BuildOptions())
    script = tmp_path / "python"
    script.write_text("#!/bin/sh\necho 'driver: all is lost' >&2\nkill -SEGV $$\n")
    script.chmod(0o755)
    monkeypatch.setattr(room.sys, "executable", str(script))
    with pytest.raises(DeviceLostError, match=r"SIGSEGV.*all is lost"):
        room.run_in_child(job, tmp_path, None, 30.0)


@pytest.mark.pocl
def test_the_worker_measures_and_says_why_not(platform: None) -> None:
    for text, device in ((TWICE, None), (BEYOND, None), (TWICE, "no such device")):
        files = {"k.cl": text, "factor.h": "#define FACTOR 2.0f\n"}
        program = read_program(text, "k.cl", read_file=files.get)
        (kernel,) = AnalysisSession().analyse(program, load_model("generic-gpu")).kernels
        task = kernel_task(program, kernel, Settings(), "key", 10.0)
        request = as_data(replace(task, device_time_limit_s=60.0, platform=device))
        if text is TWICE and device is None:
            reply = tasks.run(tasks.ON_DEVICES, "measure", request, lambda *_: None)
            assert reply["on_device"]["outputs_equal"]
            assert "outputs as emulated" in reply["text"]
        else:
            with pytest.raises(tasks.CannotDoError, match=r"out-of-bounds|no OpenCL device matches"):
                tasks.run(tasks.ON_DEVICES, "measure", request, lambda *_: None)


def test_outputs_are_compared_by_bits_or_within_a_tolerance() -> None:
    def raw(*values: float, kind: str = "<f4") -> np.ndarray:
        return np.array(values, kind).view(np.uint8)

    def verdict(a: np.ndarray, b: np.ndarray, scalar: str) -> tuple[bool, bool]:
        found = same_outputs({"x": a}, {"x": b}, {"x": scalar})["x"]
        return found["equal"], found["exact"]

    assert verdict(raw(1, 2), raw(1, 2), "float") == (True, True)
    assert verdict(raw(1, 2), raw(1, 2.00001), "float") == (True, False)
    assert verdict(raw(1, 2), raw(1, 2.1), "float") == (False, False)
    nan, inf = float("nan"), float("inf")
    assert verdict(raw(nan, inf, 2), raw(nan, inf, 2.00001), "float") == (True, False)
    assert verdict(raw(1, nan), raw(1, 2), "float") == (False, False)
    assert verdict(raw(1, 2, kind="<i4"), raw(1, 3, kind="<i4"), "int") == (False, False)

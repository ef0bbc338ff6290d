"""Findings about registers are those of the compiled kernel: arrays that it keeps or drops, residency."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from clmap_lsp import cli
from clmap_lsp.compiled import build
from clmap_lsp.compiled.target import nvidia
from clmap_lsp.devices import load_model
from clmap_lsp.hierarchy.occupancy import resident
from clmap_lsp.source.read import read_program

ARRAYS = """\
// clmap: global=4096 local=64 n=64 in=random(4096) out=zeros(4096)
__kernel void never_read(__global const float *restrict in, __global float *restrict out, const int n)
{
    float kept[64];
    kept[n & 63] = in[0];
    out[get_global_id(0)] = in[get_global_id(0)];
}
// clmap: global=4096 local=64 n=64 in=random(4096) out=zeros(4096)
__kernel void in_memory(__global const float *restrict in, __global float *restrict out, const int n)
{
    float kept[64];
    for (int k = 0; k < 64; k++)
        kept[k] = in[(get_global_id(0) + k) & 4095];
    float sum = 0.0f;
    for (int k = 0; k < n; k++)
        sum += kept[(k * 7) & 63] * (float)k;
    out[get_global_id(0)] = sum;
}
"""
UNROLLED = """\
// clmap: global=4096 local=64 in=random(4096) out=zeros(4096)
__kernel void unrolled(__global const float *restrict in, __global float *restrict out)
{
    float kept[40];
    for (int k = 0; k < 40; k++)
        kept[k] = in[(get_global_id(0) + k) & 4095];
    float sum = 0.0f;
    for (int k = 0; k < 40; k++)
        sum += kept[39 - k] * (float)k;
    out[get_global_id(0)] = sum;
}
"""


def findings(
    folder: Path, text: str, capsys: pytest.CaptureFixture[str], code: str, device: str
) -> list[dict[str, Any]]:
    (folder / "k.cl").write_text(text)
    arguments = ["check", str(folder / "k.cl"), "--select", code, "--hints", "--format", "json"]
    cli.main([*arguments, "--device", device, "--fail-on", "never"])
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["findings"]
    return found


@pytest.mark.parametrize("device", ["nvidia-hopper", "amd-cdna3"])
def test_arrays_that_nobody_reads_are_no_finding(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], device: str
) -> None:
    found = findings(tmp_path, ARRAYS, capsys, "CM503", device)
    assert [it["kernel"] for it in found] == ["in_memory"]
    size = {"nvidia-hopper": 256, "amd-cdna3": 260}[device]
    assert f"{size} bytes a work-item lie in memory" in found[0]["message"]


def test_arrays_that_one_back_end_unrolls_are_no_finding_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert findings(tmp_path, UNROLLED, capsys, "CM503", "amd-cdna3") == []


def test_without_a_back_end_the_source_decides(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = findings(tmp_path, ARRAYS, capsys, "CM503", "arm-mali-valhall")
    assert {it["kernel"] for it in found} == {"never_read", "in_memory"}
    assert all("As compiled" not in it["message"] for it in found)


def test_what_lies_in_memory_is_told_without_writing_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(build, "assembly", lambda text, _: asked.append(text))
    found = findings(tmp_path, ARRAYS, capsys, "CM503", "nvidia-hopper")
    assert [it["kernel"] for it in found] == ["in_memory"] and not asked


@pytest.mark.parametrize(
    "arrays",
    [
        "float a[5]; char b[3]; double c[7];",
        "char b[13]; float4 a[3]; uchar c[1];",
        "struct { char tag; double value; } a[3]; short b[5]; char3 c[2];",
        "int a[3][5]; ulong b[2]; char c[2][3][7];",
    ],
)
def test_what_lies_in_memory_is_as_much_as_in_the_code_that_is_written(arrays: str) -> None:
    text = f"""__kernel void k(__global const char *in, __global char *out, int n, int m) {{ {arrays}
        for (int i = 0; i < (int)sizeof(a); i++) ((char *)a)[i] = in[i];
        for (int i = 0; i < (int)sizeof(b); i++) ((char *)b)[i] = in[i + n];
        for (int i = 0; i < (int)sizeof(c); i++) ((char *)c)[i] = in[i + m];
        out[0] = ((char *)a)[n] + ((char *)b)[m] + ((char *)c)[n + m]; }}"""
    program = read_program(text, "k.cl")
    kernel = program.kernels[0]
    alone = build.in_memory(kernel, nvidia("sm_90"), program.constants)
    found = build.compiled(kernel, nvidia("sm_90"), program.constants)
    assert isinstance(found, build.Compiled), found
    assert alone == found.code.private_bytes > 0


def test_registers_hold_work_groups_down() -> None:
    device = load_model("nvidia-hopper")
    without = resident(device, 256, 0)
    assert without.groups is not None
    for registers in (16, 32, 33, 64, 128, 255):
        found = resident(device, 256, 0, registers)
        taken = -(-registers // 8) * 8 * 256
        assert found.groups == min(without.groups, 65536 // taken)
    assert resident(device, 256, 0, 255).limit.startswith("a work-item takes 255 registers")

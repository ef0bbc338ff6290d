"""Time that findings are about: what an access loses, and findings that lose none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from clmap_lsp import cli
from clmap_lsp.config import Settings
from clmap_lsp.findings import Finding, Severity
from clmap_lsp.rules.selection import Selection
from clmap_lsp.server.documents import Document
from clmap_lsp.server.hover_text import kernel_text
from clmap_lsp.server.snapshot import Snapshot
from clmap_lsp.time.model import Prediction
from clmap_lsp.time.wording import parts_text, seconds_text
from clmap_lsp.workbench import OpenedFile, Workbench

COPY = """// clmap: global={n} local=256 s={s}
kernel void copy(global const float *restrict a, global float *restrict b, int s) {{
    int i = get_global_id(0);
    b[i] = a[{index}];
}}
"""


ROOTS = """// clmap: global={n} local=256
kernel void roots(global const float *restrict a, global float *restrict b) {{
    int i = get_global_id(0);
    float r = i;
    for (int k = 0; k < 64; k++) r = native_sqrt(r + 1.5f);
    b[i] = r + a[i * 2];
}}
"""


def opened(text: str, device: str = "nvidia-h200") -> OpenedFile:
    return Workbench().open_text("k.cl", text, Settings(device=device))


def found(text: str, device: str = "nvidia-h200") -> tuple[tuple[Finding, ...], Prediction | str]:
    file = opened(text, device)
    findings = tuple(it for it in file.findings(Selection.of()) if it.code[:3] in ("CM1", "CM2"))
    return findings, next(iter(file.times().values()), "none")


def copy_of(index: str, n: int = 1 << 24, s: int = 1) -> str:
    return COPY.format(n=n, s=s, index=index)


def seconds(text: str) -> float:
    time = found(text)[1]
    assert isinstance(time, Prediction), time
    return time.seconds


@pytest.mark.parametrize("stride", [2, 8, 32])
def test_what_a_stride_loses_is_what_it_takes_longer_than_no_stride(stride: int) -> None:
    findings, time = found(copy_of("i * s", s=stride))
    (finding,) = findings
    assert finding.time is not None and isinstance(time, Prediction)
    real = time.seconds - seconds(copy_of("i"))
    assert finding.time.seconds == pytest.approx(real, rel=0.15)
    assert finding.time.launch_seconds == time.seconds
    assert f"Loses {seconds_text(finding.time.seconds)} of" in finding.message


def test_a_finding_whose_count_matters_and_whose_time_does_not_is_a_hint_that_says_so() -> None:
    n = 1 << 24
    text = f"""// clmap: global={n} local=256
    kernel void roots(global const float *a, global float *b) {{
        int i = get_global_id(0);
        float s = i;
        for (int k = 0; k < 2000; k++) s = native_sqrt(s + 1.5f);
        b[i] = s + a[i * 16];
    }}"""
    (finding,), time = found(text)
    assert isinstance(time, Prediction) and time.bound in ("sfu", "fp32")
    assert finding.severity is Severity.HINT
    assert "Hardly any time" in finding.message
    # On a device whose times nobody knows, thousands of operations a sector tell as much.
    assert found(text, "generic-gpu")[0][0].severity is Severity.HINT
    assert found(text.replace("2000", "2"), "generic-gpu")[0][0].severity is Severity.WARNING


def test_a_launch_that_is_mostly_overhead_lowers_nothing() -> None:
    (finding,), time = found(copy_of("i * s", n=4096, s=32))
    assert isinstance(time, Prediction) and time.bound == "launch"
    assert finding.severity is Severity.WARNING
    assert "the launch itself takes most of it" in finding.message


def test_a_finding_that_loses_nothing_on_a_launch_of_a_real_size_either_is_a_hint() -> None:
    text = ROOTS.format(n=2048)
    (finding,), time = found(text)
    assert isinstance(time, Prediction) and time.bound == "launch"
    assert finding.severity is Severity.HINT
    assert "Hardly any time" in finding.message and "with 4,194,304 work-items" in finding.message


def test_one_work_group_is_a_kernel_s_own_design() -> None:
    """With more of them it might lose nothing; nobody knows whether it bears more."""
    assert "Hardly any time" in found(ROOTS.format(n=512))[0][0].message
    assert "the launch itself takes most of it" in found(ROOTS.format(n=256))[0][0].message


def test_guards_that_end_elsewhere_say_nothing_of_a_larger_launch() -> None:
    """Only 300 of its work-items do anything, however many there are: the launch takes all the time."""
    text = copy_of("i * 32", n=4096).replace("b[i] =", "if (i < 300) b[i] =")
    (finding,), _ = found(text)
    assert finding.severity is Severity.WARNING
    assert "the launch itself takes most of it" in finding.message


def test_bank_conflicts_lose_what_padding_gains() -> None:
    def tile(pad: int) -> str:
        return f"""// clmap: global=131072 local=1024 n=2048
        kernel void walk(global float *b, int n) {{
            local float t[32 * {32 + pad}];
            int l = get_local_id(0), x = l % 32, y = l / 32;
            t[y * {32 + pad} + x] = l;
            barrier(CLK_LOCAL_MEM_FENCE);
            float s = 0;
            for (int k = 0; k < n; k++) s += t[x * {32 + pad} + ((y + k) & 31)];
            b[get_global_id(0)] = s;
        }}"""

    (finding,), time = found(tile(0))
    assert finding.code == "CM201" and finding.time is not None and isinstance(time, Prediction)
    assert finding.time.seconds == pytest.approx(time.seconds - seconds(tile(1)), rel=0.2)


def test_members_of_a_struct_lose_together_what_each_alone_does_not() -> None:
    text = f"""typedef struct {{ float x, y, z, w; }} body;
    // clmap: global={1 << 22} local=256
    kernel void sum(global const body *p, global float *b) {{
        int i = get_global_id(0);
        b[i] = p[i].x + p[i].z;
    }}"""
    findings, time = found(text)
    assert isinstance(time, Prediction)
    for it in findings:
        assert it.time is not None and 0 <= it.time.seconds < time.seconds


def test_json_gives_the_time_lost(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "k.cl"
    path.write_text(copy_of("i * s", s=32), encoding="utf-8")
    cli.main(["check", str(path), "--device", "nvidia-h200", "--format", "json"])
    (finding,) = json.loads(capsys.readouterr().out)["findings"]
    lost = finding["time_lost"]
    assert 0 < lost["seconds"] < lost["launch_seconds"]
    assert lost["share"] == pytest.approx(lost["seconds"] / lost["launch_seconds"])
    cli.main(["check", str(path), "--device", "nvidia-hopper", "--format", "json"])
    (finding,) = json.loads(capsys.readouterr().out)["findings"]
    assert finding["time_lost"] is None


def test_an_editor_need_not_wait_for_times() -> None:
    workbench = Workbench(remembers=True)
    text = copy_of("i * s", s=32)

    def open_it(text: str) -> OpenedFile:
        return workbench.open_text("k.cl", text, Settings(device="nvidia-h200"))

    file = open_it(text)
    assert file.times(waits=False) == {}
    assert all(it.time is None for it in file.findings(Selection.of(), predicts=False))
    assert file.times()
    moved = open_it(f"// a line more\n{text}")
    assert moved.times(waits=False)  # An edit elsewhere leaves them alone.
    assert any(it.time for it in moved.findings(Selection.of(), predicts=False))


def test_every_part_says_what_it_is_made_of() -> None:
    time = found(copy_of("i * s", s=32))[1]
    assert isinstance(time, Prediction)
    shown = {name: why for name, _, why in parts_text(time)}
    assert len(shown) == len(time.parts) and all(shown.values())
    assert "132 compute units at 1.98 GHz" in shown["first-level cache"]


def test_the_hover_of_a_kernel_gives_its_time_and_parts() -> None:
    file = opened(copy_of("i * s", s=32))
    times = {name: it for name, it in file.times().items() if isinstance(it, Prediction)}
    document = Document("file:///k.cl", "opencl", 1, file.program.main_file.text)
    snapshot = Snapshot(document, file.settings, file.program, file.analysis, (), times=times)
    text = kernel_text(snapshot, file.analysis.kernels[0], None)
    assert f"- time: {seconds_text(times['copy'].seconds)}" in text
    assert "  - first-level cache: " in text and "lines a request" in text
    bare = Snapshot(document, file.settings, file.program, file.analysis, ())
    assert "- time" not in kernel_text(bare, file.analysis.kernels[0], None)


def test_of_a_guessed_launch_what_is_lost_is_said_of_a_real_size(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """On 256x256 work-items the launch itself takes most of the time of a transpose, and hides the loss."""
    path = tmp_path / "transpose.cl"
    path.write_text(
        "__kernel void transpose(__global float *out, __global const float *in, int w, int h) {\n"
        "    int x = get_global_id(0), y = get_global_id(1);\n"
        "    if (x < w && y < h) out[x * h + y] = in[y * w + x];\n}\n"
    )
    check = ["check", str(path), "--device", "nvidia-h200", "--format"]
    cli.main([*check, "json"])
    document = json.loads(capsys.readouterr().out)
    (finding,) = [it for it in document["findings"] if it["code"] == "CM102"]
    lost = finding["time_lost"]
    assert lost["global"] == "4096x4096"
    assert lost["share"] > 0.4 and lost["launch_seconds"] > 50e-6
    cli.main([*check, "full"])
    assert " with 4096x4096, predicted." in capsys.readouterr().out
    # A size that is given is taken at its word.
    cli.main([*check, "json", "--global", "256,256", "--local", "16,16", "--arg", "w=256", "--arg", "h=256"])
    document = json.loads(capsys.readouterr().out)
    lost = [it["time_lost"] for it in document["findings"] if it["code"] == "CM102"]
    assert all("global" not in it and it["launch_seconds"] < 20e-6 for it in lost)


HISTOGRAM = """// clmap: global=8192 local=256 n=2097152 image=random(2097152) bins=zeros(256)
kernel void histogram(global const uchar *image, global uint *bins, int n) {
    for (int i = get_global_id(0); i < n; i += get_global_size(0))
        atomic_inc(&bins[image[i]]);
}
"""
IN_LOCAL_MEMORY = """// clmap: global=8192 local=256 n=2097152 image=random(2097152) bins=zeros(256)
kernel void histogram(global const uchar *image, global uint *bins, int n) {
    local uint own[256];
    own[get_local_id(0)] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = get_global_id(0); i < n; i += get_global_size(0))
        atomic_inc(&own[image[i]]);
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&bins[get_local_id(0)], own[get_local_id(0)]);
}
"""


def test_contended_atomics_say_what_they_take_of_the_launch() -> None:
    file = opened(HISTOGRAM)
    (told,) = (it for it in file.findings(Selection.of()) if it.code == "CM512")
    assert told.time is not None and "Atomics take" in told.message
    assert told.time.share > 0.5
    assert told.time.launch_seconds == pytest.approx(seconds(HISTOGRAM))
    assert told.time.launch_seconds - told.time.seconds < seconds(IN_LOCAL_MEMORY)

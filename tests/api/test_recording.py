"""A pyopencl program's launches end up in clmap.toml, and findings name them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from warm import clmap

import clmap_lsp
from clmap_lsp.opencl_device.recording import RecordedLaunch, with_launches
from clmap_lsp.recording import read_recording

SOURCE = """\
__kernel void scale(__global float *x, const float factor, const int n)
{
    int i = get_global_id(0);
    if (i < n) x[i * 4] *= factor;
}
__kernel void turn(__global const float *a, __global float *b, const int N)
{
    b[get_global_id(0) * N + get_global_id(1)] = a[get_global_id(1) * N + get_global_id(0)];
}
__kernel void sums(__global const float *a, __global float *b, __local float *part)
{
    int l = get_local_id(0);
    part[l] = a[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l == 0) { float s = 0; for (int i = 0; i < 64; i++) s += part[i]; b[get_group_id(0)] = s; }
}
"""


def test_tables_are_renewed_and_the_rest_is_kept():
    before = 'device = "nvidia-hopper"\n\n[launch.f]\nglobal = [1]\n\n[launch.g]\nglobal = [2]\n'
    after = with_launches(before, {"f": RecordedLaunch("f", (8, 8), (4, 4), {"N": "8", "a": "random(64)"})})
    assert after.startswith('device = "nvidia-hopper"\n\n[launch.g]\nglobal = [2]')
    assert after.count("[launch.f]") == 1 and 'args = { N = 8, a = "random(64)" }' in after


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("no/clmap.toml", "there is no folder"),
        ("no/run.clrec", "no such file"),
        ("notes.clrec", "it is no recording that could be written over"),
        ("folder.toml", "not a regular file"),
        ("folder", "not a regular file"),
        ("latin.toml", "it is no text"),
        ("", "give the path of a file"),
    ],
)
def test_a_place_that_cannot_be_written_is_refused_before_the_program_runs(
    tmp_path: Path, name: str, why: str
):
    """The program ran for nothing, or a file that was no recording was gone."""
    pytest.importorskip("pyopencl")
    (tmp_path / "notes.clrec").write_text("notes\n")
    (tmp_path / "latin.toml").write_bytes(b"# caf\xe9\n")
    (tmp_path / "folder.toml").mkdir()
    (tmp_path / "folder").mkdir()
    with pytest.raises(clmap_lsp.UsageError, match=why), clmap_lsp.record(name and str(tmp_path / name)):
        pytest.fail("the program ran")
    assert (tmp_path / "notes.clrec").read_text() == "notes\n"


def test_a_recording_can_be_made_again(tmp_path: Path):
    pytest.importorskip("pyopencl")
    path = tmp_path / "run.clrec"
    path.write_text('{"event": "program", "program": 1, "source": ""}\n')
    with clmap_lsp.record(path) as launches:
        pass
    assert launches == {} and path.read_text() == ""


@pytest.mark.pocl
def test_a_program_of_three_kernels(tmp_path: Path):
    cl = pytest.importorskip("pyopencl")
    try:
        context = cl.Context([cl.get_platforms()[0].get_devices()[0]])
    except (cl.Error, IndexError):
        pytest.skip("no OpenCL platform")
    queue = cl.CommandQueue(context)
    flags = cl.mem_flags
    (tmp_path / "k.cl").write_text(SOURCE)
    with clmap_lsp.record(tmp_path / "clmap.toml") as launches:
        program = cl.Program(context, SOURCE).build()
        a = cl.Buffer(context, flags.READ_WRITE, 64 * 64 * 4)
        b = cl.Buffer(context, flags.READ_WRITE, 64 * 64 * 4)
        program.scale(queue, (1024,), (64,), a, np.float32(2.5), np.int32(1000))
        program.scale(queue, (512,), (64,), a, np.float32(2.5), np.int32(500))
        turn = program.turn
        turn.set_args(a, b, np.int32(64))
        cl.enqueue_nd_range_kernel(queue, turn, (64, 64), (32, 8))
        program.sums(queue, (256,), (64,), a, b, cl.LocalMemory(64 * 4))
        queue.finish()
    assert sorted(launches) == ["scale", "sums", "turn"]
    assert launches["scale"].global_size == (1024,) and launches["scale"].times == 2
    done = clmap("--check", "--format", "json", str(tmp_path / "k.cl"))
    findings = json.loads(done.stdout)["findings"]
    assert any("1024 in groups of 64" in it["message"] and "configured" in it["message"] for it in findings)
    assert any(it["kernel"] == "turn" and "64x64 in groups of 32x8" in it["message"] for it in findings)


@pytest.fixture
def queue():
    cl = pytest.importorskip("pyopencl")
    try:
        context = cl.Context([cl.get_platforms()[0].get_devices()[0]])
    except (cl.Error, IndexError):
        pytest.skip("no OpenCL platform")
    return cl.CommandQueue(context)


@pytest.mark.pocl
def test_arrays_are_a_base_and_an_offset(tmp_path: Path, queue):
    import pyopencl.array as arrays
    from pyopencl.elementwise import ElementwiseKernel

    with clmap_lsp.record(tmp_path / "clmap.toml") as launches:
        x = arrays.to_device(queue, np.arange(1000, dtype=np.float32))
        y = arrays.zeros_like(x)
        arguments = "float *y, const float *x, float a"
        scale = ElementwiseKernel(queue.context, arguments, "y[i] = a * x[i]", "scale")
        scale(y, x, np.float32(3))
    assert launches["scale"].arguments == {
        "y__base": "random(1000)",
        "y__offset": "0",
        "x__base": "random(1000)",
        "x__offset": "0",
        "a": "3.0",
        "n": "1000",
    }


@pytest.mark.pocl
def test_reductions_and_scans(tmp_path: Path, queue):
    pytest.importorskip("mako", reason="pyopencl writes these kernels with Mako")
    import pyopencl.array as arrays
    from pyopencl.reduction import ReductionKernel
    from pyopencl.scan import InclusiveScanKernel

    with clmap_lsp.record(tmp_path / "run.clrec") as launches:
        x = arrays.to_device(queue, np.arange(5000, dtype=np.int32))
        total = ReductionKernel(
            queue.context, np.int32, "0", "a + b", "x[i]", "__global const int *x", name="total"
        )
        assert total(x).get() == 5000 * 4999 // 2
        InclusiveScanKernel(queue.context, np.int32, "a + b", "0", name_prefix="sums")(x)
    assert "total_stage1" in launches and len(launches) >= 3
    recording = read_recording((tmp_path / "run.clrec").read_text(), "run")
    assert {it.kernel for it in recording.launches} == set(launches)
    for it in recording.launches:
        assert it.kernel in recording.sources[it.program]
        assert None not in it.arguments


@pytest.mark.pocl
def test_kernels_of_one_name_in_two_programs_are_told_apart(tmp_path: Path, queue):
    import pyopencl as cl

    texts = [f"__kernel void k(__global int *a) {{ a[get_global_id(0)] = {it} * N; }}" for it in (1, 2)]
    buffer = cl.Buffer(queue.context, cl.mem_flags.READ_WRITE, 4096)
    for path in ("run.clrec", "clmap.toml"):
        with clmap_lsp.record(tmp_path / path):
            for size, text in zip((64, 128), texts, strict=True):
                cl.Program(queue.context, text).build(options=["-DN=3"]).k(queue, (size,), (32,), buffer)
    recording = read_recording((tmp_path / "run.clrec").read_text(), "run")
    found = {recording.sources[it.program]: it.global_size for it in recording.launches}
    assert found == {texts[0]: (64,), texts[1]: (128,)}
    assert all("-DN=3" in it.options for it in recording.launches)
    written = (tmp_path / "clmap.toml").read_text()
    assert "# 2 programs have a kernel of this name" in written
    assert "# also 64 in groups of 32 (1 times)" in written
    (tmp_path / "k.cl").write_text(texts[0])
    (tmp_path / "clmap.toml").unlink()
    recording = ("--recorded", str(tmp_path / "run.clrec"))
    done = clmap("analyze", "--format", "json", str(tmp_path / "k.cl"), *recording)
    assert json.loads(done.stdout)["files"][0]["kernels"][0]["launch"]["global"] == [64]

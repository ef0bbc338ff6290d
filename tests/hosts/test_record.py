"""`clmap-lsp record`: what a program under the layer launches, and what other commands make of it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from clmap_lsp.recording import RecordingError, read_recording


def _can_compile() -> bool:
    """Tell whether there is a C compiler with OpenCL's headers (Debian: opencl-c-headers)."""
    if (compiler := shutil.which("cc")) is None:
        return False
    source = "#include <CL/cl_layer.h>\n"
    return (
        subprocess.run(
            [compiler, "-E", "-"], input=source.encode(), capture_output=True, check=False
        ).returncode
        == 0
    )


pytestmark = pytest.mark.skipif(
    not _can_compile(), reason="the layer needs a C compiler and OpenCL's headers"
)

PROGRAM = '''
import os, signal, sys
import numpy as np, pyopencl as cl
device = cl.get_platforms()[0].get_devices()[0]
ctx = cl.Context([device])
queue = cl.CommandQueue(ctx)
source = """
__kernel void scale(__global float *a, const int n, float factor, __local float *t)
{
    int i = get_global_id(0) * STRIDE;
    if (i < n) a[i] *= factor;
}
"""
program = cl.Program(ctx, source).build(options=["-DSTRIDE=8"])
buffer = cl.Buffer(ctx, cl.mem_flags.READ_WRITE, 4096)
kernel = program.scale
for size in (64, 128, 64):
    kernel(queue, (size,), (32,), buffer, np.int32(1000), np.float32(2.5), cl.LocalMemory(256))
queue.finish()
if "die" in sys.argv:
    os.kill(os.getpid(), signal.SIGKILL)
'''


def clmap(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "clmap_lsp", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


def recorded(folder: Path, *arguments: str) -> Path:
    (folder / "program.py").write_text(PROGRAM)
    file = folder / "run.clrec"
    done = clmap("record", "-o", str(file), "--", sys.executable, str(folder / "program.py"), *arguments)
    assert done.returncode == (137 if "die" in arguments else 0), done.stderr
    assert "3 launches of 1 kernel, 2 of them different, 1 program\n" in done.stderr
    return file


@pytest.mark.pocl
@pytest.mark.parametrize("argument", ["live", "die"])
def test_every_launch_is_written_and_survives_a_kill(tmp_path: Path, argument: str) -> None:
    file = recorded(tmp_path, argument)
    recording = read_recording(file.read_text(), file.name)
    assert [(it.global_size, it.local_size, it.times) for it in recording.launches] == [
        ((64,), (32,), 2),
        ((128,), (32,), 1),
    ]
    assert "-DSTRIDE=8" in recording.launches[0].options


@pytest.mark.pocl
def test_other_commands_use_it(tmp_path: Path) -> None:
    file = recorded(tmp_path)
    source = next(iter(read_recording(file.read_text(), file.name).sources.values()))
    (tmp_path / "scale.cl").write_text(source)
    done = clmap("analyze", str(tmp_path / "scale.cl"), "--recorded", str(file), "--format", "json")
    launch: dict[str, Any] = json.loads(done.stdout)["files"][0]["kernels"][0]["launch"]
    assert (launch["global"], launch["local"], launch["origin"]) == ([128], [32], "recorded")
    assert launch["args"] == {"a": "random(1024)", "n": 1000, "factor": 2.5, "t": "local(64)"}
    strings = clmap("check", "--recorded", str(file), "--format", "json")
    findings = json.loads(strings.stdout)["findings"]
    assert {it["kernel"] for it in findings} == {"scale"}
    assert all("launch recorded" in it["message"] for it in findings if it["code"].startswith("CM1"))


def test_a_line_that_was_cut_short_is_left_out() -> None:
    lines = [
        '{"event":"program","program":1,"source":"kernel void k() {}"}',
        '{"event":"kernel","kernel":2,"program":1,"name":"k"}',
        '{"event":"launch","kernel":2,"global":[8],"local":null,"offset":null,"args":[]}',
        '{"event":"launch","kern',
    ]
    recording = read_recording("\n".join(lines), "run")
    assert [(it.kernel, it.global_size, it.local_size) for it in recording.launches] == [("k", (8,), ())]
    with pytest.raises(RecordingError, match="run:1: not a recording"):
        read_recording("hello\n{}\n", "run")


def test_nothing_to_record_says_so(tmp_path: Path) -> None:
    done = clmap("record", "-o", str(tmp_path / "x"), "--", sys.executable, "-c", "pass")
    assert done.returncode == 0
    assert "nothing was recorded" in done.stderr
    assert clmap("record").returncode == 2


def test_a_program_that_fails_before_it_launches_says_that_it_failed(tmp_path: Path) -> None:
    done = clmap("record", "-o", str(tmp_path / "x"), "--", sys.executable, "-c", "raise SystemExit(3)")
    assert done.returncode == 3
    assert "nothing was recorded" in done.stderr
    assert done.stderr.endswith("the program ended with exit code 3\n")


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ("nosuch/x", "no such file or directory"),
        (".", "a folder, not a regular file"),
        ("k.cl", "it is no recording"),
        ("/dev/null", "a device, not a regular file"),
        ("x" * 300, "file name too long"),
    ],
)
def test_what_cannot_be_written_is_told_before_the_program_runs(
    tmp_path: Path, output: str, said: str
) -> None:
    (tmp_path / "k.cl").write_text("kernel void k() {}")
    program = [sys.executable, "-c", "open('ran', 'w')"]
    command = [sys.executable, "-m", "clmap_lsp", "record", "-o", output, "--", *program]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith(f"clmap-lsp: -o {output}: {said}")
    assert len(done.stderr.splitlines()) == 1
    assert [it.name for it in tmp_path.iterdir()] == ["k.cl"]
    assert Path("/dev/null").is_char_device()


def test_an_older_recording_is_written_over(tmp_path: Path) -> None:
    (tmp_path / "x").write_text('{"event":"program","program":1,"source":"kernel void k() {}"}\n')
    done = clmap("record", "-o", str(tmp_path / "x"), "--", sys.executable, "-c", "pass")
    assert done.returncode == 0
    assert not (tmp_path / "x").exists()


def test_a_user_without_a_folder_for_caches_records_all_the_same(tmp_path: Path) -> None:
    """As in containers, where the user has no home; a file in the way refuses root too."""
    (tmp_path / "home").write_text("")
    (tmp_path / "host.py").write_text(PROGRAM)
    nowhere = {"HOME": str(tmp_path / "home"), "XDG_CACHE_HOME": str(tmp_path / "home" / "cache")}
    program = ["env", f"HOME={tmp_path}", f"XDG_CACHE_HOME={tmp_path}", sys.executable, "host.py"]
    recorded = tmp_path / "run.clrec"
    command = [sys.executable, "-m", "clmap_lsp", "record", "-o", str(recorded), "--", *program]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, **nowhere},
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert read_recording(recorded.read_text(), "run.clrec").launches

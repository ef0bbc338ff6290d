"""Kernels of one name in several strings of a host file, one of which is built at a time."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from clmap_lsp.cli import main

KERNEL = """\
__kernel void shifted(__global const float *in, __global float *out, int width)
{{
    int y = get_global_id(0) - {pad};
    int x = get_global_id(1) - {pad};
    out[y * width + x] = {factor} * in[y * width + x];
}}
"""
HOST = f'''\
import sys
import numpy as np
import pyopencl as cl

pad = int(sys.argv[2])
plain = """
{KERNEL.replace("{factor}", "1.0f")}""".format(pad=pad)
doubled = """
{KERNEL.replace("{factor}", "2.0f")}""".format(pad=pad)
ctx = cl.create_some_context()
queue = cl.CommandQueue(ctx)
image = np.zeros((256, 256), dtype=np.float32)
src = cl.Buffer(ctx, cl.mem_flags.COPY_HOST_PTR, hostbuf=image)
dst = cl.Buffer(ctx, cl.mem_flags.WRITE_ONLY, image.nbytes)
program = cl.Program(ctx, [plain, doubled][int(sys.argv[1])]).build()
program.shifted(queue, (256, 256), (16, 16), src, dst, np.int32(256), global_offset=[pad, pad])
'''


@pytest.fixture
def host(tmp_path: Path) -> str:
    (tmp_path / "run.py").write_text(HOST)
    return str(tmp_path / "run.py")


def test_each_string_has_its_kernel(host: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["analyze", host, "--format", "json"]) == 0
    (file,) = json.loads(capsys.readouterr().out)["files"]
    kernels = file["kernels"]
    assert [it["name"] for it in kernels] == ["shifted", "shifted#1"]
    sizes = [it["launch"] for it in kernels]
    assert [it["global"] for it in sizes] == [[256, 256]] * 2
    assert [it["args"]["width"] for it in sizes] == [256] * 2


def test_the_global_offset_is_that_of_all(host: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Without it each would write before its buffers, which no run does."""
    main(["check", "--emulate", "--select", "CM301", host])
    assert "warning" not in capsys.readouterr().out

"""What counts a launch says where no driver would make it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from clmap_command import clmap

KERNEL = "__kernel void f(__global float *a) { a[get_global_id(1) * 128 + get_global_id(0)] = 1.0f; }\n"
ODD = ("--global", "100,100", "--local", "16,16")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "k.cl").write_text(KERNEL)
    return tmp_path


@pytest.mark.parametrize("command", ["analyze", "emulate", "fixes"])
def test_a_launch_that_opencl_1_refuses_is_counted_and_told(command: str, folder: Path) -> None:
    done = clmap(command, "k.cl", *ODD, "--format", "json", cwd=folder)
    assert "the global size 100 is not a multiple of the local size 16; launch 112" in done.stderr
    assert done.stderr.count("\n") == 1
    assert json.loads(done.stdout)
    assert clmap(command, "k.cl", *ODD, "-cl-std=CL2.0", cwd=folder).stderr == ""
    assert clmap(command, "k.cl", "--global", "64,64", "--local", "16,16", cwd=folder).stderr == ""


def test_a_group_that_no_device_takes_is_not_called_a_lack_of_memory(folder: Path) -> None:
    sizes = ("--global", "128,128", "--local", "128,128", "--memory-limit", "16")
    done = clmap("emulate", "k.cl", *sizes, "--device", "nvidia-h200", cwd=folder)
    assert "work-groups of 128x128 have 16384 work-items; nvidia-h200 runs at most 1024" in done.stderr
    assert "memory" not in done.stderr


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("random(10", "'(' was never closed"),
        ("random(10))", "unmatched ')'"),
        ("2 +", "arithmetic expression;"),
    ],
)
def test_a_bracket_that_is_missing_is_named(value: str, why: str, folder: Path) -> None:
    done = clmap("emulate", "k.cl", "--arg", f"a={value}", cwd=folder)
    assert done.returncode == 2
    assert why in done.stderr


def test_a_reason_is_printed_once(folder: Path) -> None:
    """Several forms of a kind of rewrite are often declined for one reason."""
    (folder / "b.cl").write_text(
        "// clmap: global=64,64 local=8,8 w=64 s=zeros(64*64) d=zeros(64*64)\n"
        "__kernel void b(__global float *d, __global const float *s, int w) {\n"
        "    int x = get_global_id(0), y = get_global_id(1);\n    float sum = 0;\n"
        "    for (int r = -2; r <= 2; r++) sum += s[(y + r) * w + x];\n    d[x * w + y] = sum;\n}\n"
    )
    lines = clmap("fixes", "b.cl", cwd=folder).stdout.partition("declined")[2].splitlines()
    reasons = [it for it in lines if ": " in it]
    assert reasons
    assert len(reasons) == len(set(reasons))

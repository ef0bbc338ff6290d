"""The limit on a launch's memory is one of the process: what estimates miss does not pass it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits a process's data")

_GREEDY = """
import json
import numpy as np
from clmap_lsp.emulator.memory_limit import limited, room_left
kept, found = [], {}
try:
    with limited(LIMIT):
        assert room_left() <= LIMIT << 20
        while True:
            kept.append(np.ones(1 << 20))
except MemoryError:
    found["stopped_at"] = len(kept) * 8
status = open("/proc/self/status").read()  # What getrusage says holds for the parent too.
found["peak"] = int(status.split("VmHWM:")[1].split()[0]) >> 10
kept.append(np.ones(LIMIT << 17))
print(json.dumps(found))
"""


@pytest.mark.parametrize("limit", [160, 400])
def test_a_process_cannot_pass_its_limit_and_may_afterwards(limit: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _GREEDY.replace("LIMIT", str(limit))],
        capture_output=True,
        text=True,
        check=True,
    )
    found = json.loads(done.stdout)
    assert limit / 2 < found["stopped_at"] <= limit
    assert found["peak"] <= limit + 100


def test_limits_inside_each_other_keep_the_lower_one() -> None:
    program = """
from clmap_lsp.emulator.memory_limit import limited, room_left
with limited(300):
    outer = room_left()
    with limited(5000):
        assert room_left() <= outer
    with limited(100):
        assert room_left() < outer
    assert abs(room_left() - outer) < 1 << 22
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_random_numbers_are_there_where_no_library_can_be_loaded_any_more() -> None:
    """NumPy loads their module when it is first asked for: an `ImportError` beside large machine code."""
    program = """
import numpy as np
from clmap_lsp.emulator.memory_limit import limited
kept = []
with limited(160):
    try:
        while True:
            kept.append(bytearray(1 << 16))
    except MemoryError:
        kept.pop()
    np.random.default_rng
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def emulated_in_150_mib(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Emulate a launch that needs more, though all its addresses follow from the source."""
    (folder / "k.cl").write_text(
        "__kernel void k(__global int *a) { int i = get_global_id(0); a[(i * 97) & 0x1ffffff] += i; }"
    )
    command = ["emulate", str(folder / "k.cl"), "--kernel", "k", "--global", "4096", "--local", "64"]
    command += ["--arg", "a=zeros(33554432)", "--memory-limit", "150", *options]
    return subprocess.run(
        [sys.executable, "-m", "clmap_lsp", *command], capture_output=True, text=True, check=False
    )


def test_what_is_known_without_a_run_is_told_with_why_nothing_ran(tmp_path: Path) -> None:
    done = emulated_in_150_mib(tmp_path, "--format", "json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["method"], found["groups_run"], found["buffers"]) == ("symbolic", 0, {})
    assert found["metrics"]["accesses"] == 2 * 4096
    (note,) = found["notes"]
    assert "150 MB" in note
    assert "raise the memory limit" in note
    assert (
        "nothing was run: outputs, barriers, branches and faults other than accesses out of bounds are"
        in note
    )


def test_a_launch_over_the_limit_is_refused_with_a_cure(tmp_path: Path) -> None:
    done = emulated_in_150_mib(tmp_path, "--engine", "jit")
    assert done.returncode == 2
    assert "over the limit of 150 MB" in done.stderr or "more than the limit of 150 MB" in done.stderr
    assert "raise the memory limit" in done.stderr


CSR = """
__kernel void csr(__global const int *start, __global const int *column, __global const float *value,
                  __global const float *x, __global float *y) {
  int row = get_global_id(0);
  float sum = 0.0f;
  for (int k = start[row]; k < start[row + 1]; k++) sum += value[k] * x[column[k]];
  y[row] = sum;
}
"""


@pytest.mark.parametrize(("limit", "methods"), [(250, {"sampled"}), (300, {"sampled", "full"})])
def test_what_cannot_be_followed_whole_is_sampled_within_the_limit(
    tmp_path: Path, limit: int, methods: set[str]
) -> None:
    (tmp_path / "csr.cl").write_text(CSR)
    rows, entries = 1 << 20, 1 << 23
    buffers = {
        "start": f"formula({rows + 1},i*8)",
        "column": f"formula({entries},(i*40503)%{rows})",
        "value": f"random({entries})",
        "x": f"random({rows})",
        "y": f"zeros({rows})",
    }
    command = [
        "emulate",
        str(tmp_path / "csr.cl"),
        "--global",
        str(rows),
        "--local",
        "256",
        "--format",
        "json",
    ]
    for name, text in buffers.items():
        command += ["--arg", f"{name}={text}"]
    program = f"""
import sys
from clmap_lsp.cli import main
code = main({[*command, "--memory-limit", str(limit)]!r})
status = open("/proc/self/status").read()
print(status.split("VmHWM:")[1].split()[0], file=sys.stderr)
sys.exit(code)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["method"] in methods
    if found["method"] == "sampled":
        assert found["sampling"]["groups"] >= 2
        assert any("memory" in it and "limits" in it for it in found["notes"])
    assert int(done.stderr.split()[-1]) >> 10 <= limit + 100

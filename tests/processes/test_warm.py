"""What is forked does what is started does: tests that use one for the other see what users see."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import warm

KERNEL = "__kernel void k(__global int *a) { a[get_global_id(0) * 32] = 1; }\n"
pytestmark = pytest.mark.skipif(not warm.POSSIBLE, reason="processes are started here")


@pytest.mark.parametrize(
    "arguments",
    [
        ("check", "k.cl"),
        ("check", "k.cl", "--format", "json", "--emulate", "--jobs", "2"),
        ("check", "k.cl", "--stdin-filename", "other.cl", "-"),
        ("check", "missing.cl"),
        ("fixes", "k.cl"),
        ("--version",),
        ("--help",),
        ("--nothing",),
    ],
    ids=" ".join,
)
def test_streams_and_exit_code_are_those_of_a_start(arguments: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "k.cl").write_text(KERNEL)
    environment = {"CLMAP_CACHE_DIR": str(tmp_path / "cache"), "COLUMNS": "90", "CLMAP_DEVICE": ""}
    made = [
        run(*arguments, stdin=KERNEL.encode(), cwd=tmp_path, environment=environment)
        for run in (warm.run, warm.started)
    ]
    seen = [(it.returncode, it.stdout, it.stderr) for it in made]
    assert seen[0] == seen[1]
    assert seen[0][1] or seen[0][2]


def test_nothing_of_one_run_is_left_for_the_next(tmp_path: Path) -> None:
    probe = (
        "import os, sys\n"
        "print(os.getcwd(), os.environ.get('SEEN'), sys.argv, len(os.listdir('/proc/self/fd')))\n"
    )
    shown = []
    for name in ("a", "b"):
        folder = tmp_path / name
        folder.mkdir()
        with (folder / "out").open("w+b") as out:
            streams = (out.fileno(), out.fileno(), out.fileno())
            environment = {"SEEN": name} if name == "a" else {}
            assert warm.Process(probe, (name,), streams, folder, environment).wait(60) == 0
            out.seek(0)
            shown.append(out.read().decode().split())
    assert shown[0][:2] == [str(tmp_path / "a"), "a"]
    assert shown[1][:2] == [str(tmp_path / "b"), "None"]
    assert [it[-1] for it in shown] == ["4", "4"]  # Three streams, and the folder that is listed.


def test_limits_are_those_of_the_run_alone(tmp_path: Path) -> None:
    import resource

    probe = "import resource; print(resource.getrlimit(resource.RLIMIT_NOFILE))"
    shown = []
    for limits in (((resource.RLIMIT_NOFILE, (64, 65)),), ()):
        with (tmp_path / "out").open("w+b") as out:
            streams = (out.fileno(), out.fileno(), out.fileno())
            assert warm.Process(probe, (), streams, tmp_path, os.environ, limits).wait(60) == 0
            out.seek(0)
            shown.append(out.read().decode().strip())
    assert shown == ["(64, 65)", str(resource.getrlimit(resource.RLIMIT_NOFILE))]


def test_how_a_run_ended_is_told() -> None:
    client = warm.server("import sys; sys.stdin.read(); sys.exit(7)")
    assert client.poll() is None
    with pytest.raises(subprocess.TimeoutExpired):
        client.wait(0)
    assert client.stdin is not None
    client.stdin.close()
    assert client.wait(60) == 7
    killed = warm.server("import time; time.sleep(600)")
    killed.kill()
    assert killed.wait(60) == -signal.SIGKILL
    assert killed.poll() == -signal.SIGKILL


def test_runs_end_with_the_process_that_asked_for_them() -> None:
    script = (
        "import sys; sys.path[:0] = [sys.argv[1]]; import warm;"
        "print(warm.server('import time; time.sleep(600)').pid, flush=True)"
    )
    command = [sys.executable, "-c", script, str(Path(__file__).parent)]
    pid = int(subprocess.run(command, capture_output=True, check=True, timeout=60).stdout)
    end = time.monotonic() + 60
    while time.monotonic() < end:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.01)
    raise AssertionError("it runs on")

"""Machines that lack what others have, and folders larger than anybody looks at: nothing is lost."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from tests.drills.test_drills import SIMPLE, clmap, findings

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits and mounts of Linux")


Unlimited = Callable[[tuple[str, ...]], subprocess.CompletedProcess[str]]


def limited(which: int, value: int):
    return lambda: resource.setrlimit(which, (value, value))


@pytest.fixture(scope="module")
def unlimited(tmp_path_factory: pytest.TempPathFactory) -> Unlimited:
    """Check the same files without a limit, once for each set of options."""
    folder = tmp_path_factory.mktemp("unlimited")
    for name in "ab":
        (folder / f"{name}.cl").write_text(SIMPLE.replace("k(", f"{name}("))
    return cache(lambda options: clmap("check", ".", "--format", "json", *options, cwd=folder))


@pytest.mark.parametrize(
    ("which", "value"),
    [
        (resource.RLIMIT_NOFILE, 12),
        (resource.RLIMIT_STACK, 256 << 10),
        (resource.RLIMIT_AS, 400 << 20),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_MEMLOCK, 0),
    ],
    ids=["open files", "stack", "address space", "core", "locked memory"],
)
@pytest.mark.parametrize(
    "options", [(), ("--jobs", "2"), ("--emulate",)], ids=["plain", "parallel", "emulated"]
)
def test_a_low_limit_costs_no_finding(
    tmp_path: Path, unlimited: Unlimited, which: int, value: int, options: tuple[str, ...]
):
    for name in "ab":
        (tmp_path / f"{name}.cl").write_text(SIMPLE.replace("k(", f"{name}("))
    full = unlimited(options)
    lean = clmap("check", ".", "--format", "json", *options, cwd=tmp_path, limit=limited(which, value))
    assert lean.returncode == full.returncode, lean.stderr
    assert findings(lean) == findings(full) != []


@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("unshare") is None, reason="mounts need root")
def test_without_shared_memory_files_are_checked_all_the_same(tmp_path: Path):
    """What `multiprocessing` locks with lies in `/dev/shm`."""
    for name in "ab":
        (tmp_path / f"{name}.cl").write_text(SIMPLE.replace("k(", f"{name}("))
    inside = 'mount -t tmpfs -o ro none /dev/shm && exec "$@"'
    command = [sys.executable, "-m", "clmap_lsp", "check", ".", "--format", "json", "--jobs", "2"]
    lean = subprocess.run(
        ["unshare", "--mount", "sh", "-c", inside, "sh", *command],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=120,
        check=False,
    )
    if "unshare failed" in lean.stderr or "mount:" in lean.stderr:
        pytest.skip("this container forbids mounts")
    assert findings(lean) == findings(clmap("check", ".", "--format", "json", cwd=tmp_path)) != []


def test_folders_500_deep_are_walked(tmp_path: Path):
    """Its path has 1,000 characters."""
    deep = tmp_path.joinpath(*"d" * 500)
    deep.mkdir(parents=True)
    (deep / "k.cl").write_text(SIMPLE)
    found = findings(clmap("check", ".", "--format", "json", cwd=tmp_path))
    assert [Path(str(it["filename"])).name for it in found if it["code"] == "CM102"] == ["k.cl"]


@pytest.mark.parametrize("n", [int(os.environ.get("CLMAP_DRILL_FILES", "2000"))])
def test_many_small_files_are_all_looked_at(tmp_path: Path, n: int):
    for number in range(n):
        folder = tmp_path / str(number // 1000)
        folder.mkdir(exist_ok=True)
        text = SIMPLE.replace("k(", f"k{number}(") if number % 500 == 0 else f"// {number}\n"
        (folder / f"{number}.cl").write_text(text)
    found = findings(clmap("check", ".", "--format", "json", "--select", "CM102", cwd=tmp_path))
    assert len(found) == (n + 499) // 500


def test_an_unsearchable_folder_is_one_warning_and_costs_no_other_file(tmp_path: Path):
    (tmp_path / "k.cl").write_text(SIMPLE)
    os.mkfifo(tmp_path / "pipe.cl")
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "gone.cl").symlink_to(tmp_path / "nothing")
    done = clmap("check", ".", "--format", "json", cwd=tmp_path)
    assert [it["filename"] for it in findings(done) if it["code"] == "CM102"] == ["k.cl"]

"""Checking on a Dask cluster: three worker processes on loopback, one of them killed."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

distributed = pytest.importorskip("distributed", reason="the optional extra is not installed")

FIXTURES = Path(__file__).parents[2] / "fixtures"
N_FILES = int(os.environ.get("CLMAP_CLUSTER_FILES", "240"))


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tree")
    texts = [it.read_text() for it in sorted(FIXTURES.rglob("*.cl")) if it.stat().st_size < 1500]
    for number in range(N_FILES):
        # Every file is another, so that no result of one stands for another.
        text = texts[number % len(texts)].replace("get_global_id(0)", f"get_global_id(0) + {number % 7}")
        (folder / f"k{number:05}.cl").write_text(text)
    (folder / "broken.cl").write_text("__kernel void f(__global int *a) { a[0] = ; }\n")
    return folder


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[tuple[str, list[subprocess.Popen[str]]]]:
    def start(module: str, *arguments: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", module, *arguments]
        return subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=tmp_path)

    scheduler = start(
        "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard"
    )
    assert scheduler.stderr is not None
    address = ""
    for line in scheduler.stderr:
        if found := re.search(r"(tcp://127\.0\.0\.1:\d+)", line):
            address = found[1]
            break
    options = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--local-directory", str(tmp_path))
    workers = [start("distributed.cli.dask_worker", address, *options, "--name", str(it)) for it in range(3)]
    try:
        with distributed.Client(address, set_as_default=False) as client:
            client.wait_for_workers(3, timeout=60)
        yield address, workers
    finally:
        for process in (*workers, scheduler):
            process.kill()
            process.wait()
            assert process.stderr is not None
            process.stderr.close()


def check(tree: Path, *options: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "clmap_lsp", "check", ".", "--format", "json", *options]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tree)


def wait_for_its_second_task(address: str, name: str) -> None:
    """Wait until a worker has ended a task and has others to do, however fast it is."""
    seen: set[object] = set()
    end = time.monotonic() + 300
    with distributed.Client(address, set_as_default=False) as client:
        while time.monotonic() < end:
            workers = client.scheduler_info()["workers"]
            # On a busy machine a worker may be away for a moment.
            its = next((it for it, about in workers.items() if str(about["name"]) == name), "")
            now = set(client.processing().get(its, ()))
            if now and seen - now:
                return
            seen |= now
            time.sleep(0.005)
    raise AssertionError("it had no second task")


def test_results_are_those_of_a_local_run_though_a_worker_dies(
    tree: Path, cluster: tuple[str, list[subprocess.Popen[str]]]
):
    address, workers = cluster
    local, complaint = check(tree, "--jobs", "1").communicate(timeout=900)
    assert complaint == ""
    run = check(tree, "--scheduler", address)
    wait_for_its_second_task(address, "1")
    workers[1].send_signal(signal.SIGKILL)
    assert run.poll() is None, "the run ended before its worker could be killed"
    there, complaint = run.communicate(timeout=900)
    assert complaint == ""
    assert there == local
    assert run.returncode == 1


def test_a_scheduler_that_is_not_there_is_one_clear_line(tree: Path):
    run = check(tree, "--scheduler", "tcp://127.0.0.1:9")
    out, complaint = run.communicate(timeout=120)
    assert (run.returncode, out) == (2, "")
    assert len(complaint.splitlines()) == 1
    assert "dask scheduler" in complaint

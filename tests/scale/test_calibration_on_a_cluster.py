"""Calibration on a Dask cluster whose workers have different devices, one of them killed."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from clmap_lsp.aristotle.database import Database

distributed = pytest.importorskip("distributed", reason="the optional extra is not installed")
pytest.importorskip("pyopencl", reason="the optional extra is not installed")

PLAN = ("--maps", "110,407", "--sizes", "32,64", "--cache", "warm", "--seconds", "0.2")
Start = Callable[[str], subprocess.Popen[str]]


def platforms_of(drivers: str) -> str:
    """Return what PoCL shows with these drivers; a driver is a device."""
    done = subprocess.run(
        [sys.executable, "-m", "clmap_lsp", "platforms", "--format", "json"],
        capture_output=True, text=True, check=False, env={**os.environ, "POCL_DEVICES": drivers},
    )  # fmt: skip
    return done.stdout


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[tuple[str, Start]]:
    """Start a scheduler; the second part starts a worker whose PoCL has one driver."""
    if platforms_of("pthread") == platforms_of("basic"):
        pytest.skip("PoCL is not here, or too new to be told its drivers")
    processes: list[subprocess.Popen[str]] = []

    def start(module: str, *arguments: str, **environment: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", module, *arguments]
        process = subprocess.Popen(
            command, stderr=subprocess.PIPE, text=True, cwd=tmp_path, env={**os.environ, **environment}
        )
        processes.append(process)
        return process

    scheduler = start(
        "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard"
    )
    assert scheduler.stderr is not None
    found = (re.search(r"(tcp://127\.0\.0\.1:\d+)", line) for line in scheduler.stderr)
    address = next(it[1] for it in found if it)
    options = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--local-directory", str(tmp_path))

    def worker(driver: str) -> subprocess.Popen[str]:
        return start("distributed.cli.dask_worker", address, *options, POCL_DEVICES=driver)

    try:
        yield address, worker
    finally:
        for process in processes:
            process.kill()
            process.wait()
            assert process.stderr is not None
            process.stderr.close()


def wait_for(address: str, count: int) -> None:
    with distributed.Client(address, set_as_default=False) as client:
        client.wait_for_workers(count, timeout=90)


def calibrate(tmp_path: Path, address: str, *options: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "clmap_lsp", "calibrate", *PLAN, "--scheduler", address]
    return subprocess.Popen(
        [*command, "--database", str(tmp_path / "found.sqlite"), *options],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path,
    )  # fmt: skip


def test_every_device_is_measured_once_and_known_records_are_not_measured_again(
    tmp_path: Path, cluster: tuple[str, Start]
):
    address, worker = cluster
    for driver in ("pthread", "basic", "basic"):  # Two on one device: one of them measures.
        worker(driver)
    wait_for(address, 3)
    out, complaint = (run := calibrate(tmp_path, address, "--format", "json")).communicate(timeout=240)
    assert (run.returncode, complaint) == (0, "")
    devices = json.loads(out)["devices"]
    assert len(devices) == 2
    with Database(tmp_path / "found.sqlite", read_only=True) as database:
        for it in devices:
            kept = database.measurements(platform=it["device"])
            assert len(kept) == it["records"] > 0
            assert {(m.maps, m.size, m.cache) for m in kept} == {
                (maps, size, "warm") for maps in ("110", "407") for size in (32, 64)
            }
            assert all(m.verified and m.median > 0 for m in kept)
    out, _ = calibrate(tmp_path, address, "--format", "json").communicate(timeout=240)
    assert [it["records"] for it in json.loads(out)["devices"]] == [0, 0]


def test_a_worker_that_dies_costs_no_record_and_the_rest_is_done_by_the_next_run(
    tmp_path: Path, cluster: tuple[str, Start]
):
    address, worker = cluster
    worker("pthread")
    victim = worker("basic")
    wait_for(address, 2)
    run = calibrate(tmp_path, address)
    assert run.stderr is not None
    for line in run.stderr:  # Each line is a unit that is kept.
        if "basic" in line:
            victim.send_signal(signal.SIGKILL)
            break
    out, complaint = run.communicate(timeout=240)
    assert "Traceback" not in complaint
    assert run.returncode == 2
    assert "are left: run the same again" in complaint
    with Database(tmp_path / "found.sqlite", read_only=True) as database:
        before = {it.key for it in database.measurements()}
    assert before
    worker("basic")
    wait_for(address, 2)
    out, _ = (run := calibrate(tmp_path, address, "--format", "json")).communicate(timeout=240)
    assert run.returncode == 0
    with Database(tmp_path / "found.sqlite", read_only=True) as database:
        after = [it.key for it in database.measurements()]
    assert before < set(after)
    assert len(after) == len(before) + sum(it["records"] for it in json.loads(out)["devices"])

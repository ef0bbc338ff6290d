"""The worker process: results, limits, kills, crashes, fairness."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from clmap_lsp.config import EmulateSettings
from clmap_lsp.launch import BufferArgument, Fill, Launch, Origin
from clmap_lsp.launch.model import Argument
from clmap_lsp.source.options import BuildOptions
from clmap_lsp.worker import pool as pools
from clmap_lsp.worker.messages import KernelTask, as_data
from clmap_lsp.worker.pool import Task, TaskFailedError, WorkerCrashedError, WorkerPool

SUM = """\
__kernel void add(__global const int *a, __global int *b) {
    int i = get_global_id(0);
    b[i] = a[i] + i;
}
"""
ENDLESS = """\
__kernel void spin(__global volatile int *a) {
    int i = 0;
    while (a[0] == 0) i++;
    a[1] = i;
}
"""


def message(
    text: str, kernel: str, key: str = "k", limit_s: float = 10.0, **arguments: Argument
) -> KernelTask:
    launch = Launch(kernel, (64,), (16,), arguments, Origin.GIVEN)
    limits = EmulateSettings(True, limit_s, 256)
    return KernelTask(key, "k.cl", {"k.cl": text}, BuildOptions(), "generic-gpu", kernel, launch, limits)


def payload(text: str, kernel: str, key: str = "k", **arguments: Argument) -> dict[str, Any]:
    return as_data(message(text, kernel, key, **arguments))


def adding(key: str = "k") -> dict[str, Any]:
    return payload(SUM, "add", key, a=BufferArgument(Fill.IOTA, 64), b=BufferArgument(Fill.ZEROS, 64))


def spinning(limit_s: float = 10.0) -> dict[str, Any]:
    return as_data(message(ENDLESS, "spin", "spin", limit_s, a=BufferArgument(Fill.ZEROS, 2)))


@pytest.fixture(autouse=True)
def cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CLMAP_CACHE_DIR", str(tmp_path))
    return tmp_path


@pytest.fixture
async def pool() -> AsyncIterator[WorkerPool]:
    found = WorkerPool()
    yield found
    await found.close()


def task(data: dict[str, Any], owner: str = "me", limit_s: float = 20.0) -> Task:
    return Task("emulate", owner, data, data["key"], limit_s)


async def test_a_kernel_runs_and_its_result_comes_back(pool: WorkerPool):
    reply = await pool.run(task(adding()))
    assert reply["emulation"]["buffers"]["b"]["first"] == [0, 2, 4, 6, 8, 10, 12, 14]
    assert reply["findings"] == []


async def test_results_are_kept_on_disk(pool: WorkerPool, cache_folder: Path):
    first = await pool.run(task(adding("a" * 64)))
    assert list(cache_folder.glob("*/*.json"))
    assert await pool.run(task(adding("a" * 64))) == first


async def test_a_damaged_cache_entry_costs_only_another_run(pool: WorkerPool, cache_folder: Path):
    first = await pool.run(task(adding("b" * 64)))
    (entry,) = cache_folder.glob("*/*.json")
    entry.write_text('{"key":')
    again = await pool.run(task(adding("b" * 64)))
    assert again["emulation"]["buffers"] == first["emulation"]["buffers"]


async def test_what_cannot_be_done_is_said_in_one_line(pool: WorkerPool):
    with pytest.raises(TaskFailedError, match="no kernel `nobody`"):
        await pool.run(task({**adding(), "kernel": "nobody"}))
    assert (await pool.run(task(adding())))["emulation"]["faults"] == []


async def test_an_endless_loop_ends_at_its_limit_with_a_fault(pool: WorkerPool):
    reply = await pool.run(task(spinning(0.5)))
    assert [it["code"] for it in reply["findings"]] == ["CM309"]


async def test_a_task_that_overruns_is_killed_and_the_next_one_runs(pool: WorkerPool):
    await pool.run(task(adding()))
    with pytest.raises(TaskFailedError, match="stopped after"):
        await pool.run(task(spinning(60.0), limit_s=0.3))
    assert (await pool.run(task(adding())))["emulation"]["faults"] == []


async def spinning_now(pool: WorkerPool, limit_s: float = 60.0) -> asyncio.Future[dict[str, Any]]:
    """Start a task that never ends by itself; returns once its process works on it."""
    begun = asyncio.Event()
    one = task(spinning(60.0), limit_s=limit_s)
    one.on_progress = lambda *_: begun.set()
    work = asyncio.ensure_future(pool.run(one))
    await begun.wait()
    return work


async def test_cancelling_kills_at_once(pool: WorkerPool):
    await pool.run(task(adding()))
    work = await spinning_now(pool)
    victim = pool.pid
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(work, 50)
    assert victim is not None
    with pytest.raises(ProcessLookupError):
        os.kill(victim, 0)
    assert (await pool.run(task(adding())))["emulation"]["faults"] == []


async def killed_at_work(pool: WorkerPool, times: int, spin_s: float = 60.0) -> dict[str, Any]:
    """Run a task that spins for so long, and kill its process so many times in the middle of it."""
    at_work: asyncio.Queue[int | None] = asyncio.Queue()
    one = task(spinning(spin_s))
    one.on_progress = lambda *_: at_work.put_nowait(pool.pid)
    work = asyncio.ensure_future(pool.run(one))
    victims: set[int] = set()
    while len(victims) < times:
        pid = await at_work.get()
        assert pid is not None
        if pid not in victims:  # Else it had said more of its work before it was killed.
            victims.add(pid)
            os.kill(pid, signal.SIGKILL)
    return await work


async def test_a_worker_that_is_killed_twice_is_reported_and_replaced(pool: WorkerPool):
    await pool.run(task(adding()))
    with pytest.raises(WorkerCrashedError, match="SIGKILL"):
        await killed_at_work(pool, 2)
    assert (await pool.run(task(adding())))["emulation"]["faults"] == []


async def test_a_worker_that_is_killed_once_is_not_the_kernels_fault(pool: WorkerPool):
    """Systems kill processes when memory is short, and people by mistake: the kernel gets another try."""
    await pool.run(task(adding()))
    reply = await killed_at_work(pool, 1, spin_s=0.5)
    assert [it["code"] for it in reply["findings"]] == ["CM309"]


async def test_content_that_crashes_again_and_again_is_left_alone(pool: WorkerPool):
    for _ in range(pools.MAX_CRASHES):
        with pytest.raises(WorkerCrashedError):
            await killed_at_work(pool, 2)
    with pytest.raises(WorkerCrashedError, match="crashed 3 times"):
        await pool.run(task(spinning(60.0)))
    assert (await pool.run(task(adding())))["emulation"]["faults"] == []


async def test_a_spare_that_died_is_not_the_kernels_fault(pool: WorkerPool):
    await pool.run(task(adding()))
    while pool._spare is None or not pool._spare.done():
        await asyncio.sleep(0.02)
    assert pool.pid is not None
    for pid in (pool.pid, pool._spare.result().process.pid):
        os.kill(pid, signal.SIGKILL)
    assert (await pool.run(task(adding("c" * 64))))["emulation"]["faults"] == []


async def test_owners_take_turns_and_the_preferred_one_is_first(pool: WorkerPool):
    await pool.run(task(adding()))
    order: list[str] = []

    async def run(owner: str, key: str) -> None:
        await pool.run(task(adding(key), owner))
        order.append(owner)

    pool.preferred_owner = "c"
    jobs = [run("a", "1"), run("a", "2"), run("b", "3"), run("b", "4"), run("c", "5")]
    await asyncio.gather(*jobs)
    assert order[0] == "c" or order[:2] == ["a", "c"]
    assert order.index("b") < len(order) - 1 - order[::-1].index("a")


async def test_closing_leaves_no_process(pool: WorkerPool):
    await pool.run(task(adding()))
    victim = pool.pid
    await pool.close()
    assert victim is not None
    with pytest.raises(ProcessLookupError):
        os.kill(victim, 0)


async def test_a_worker_that_is_stopped_costs_its_task_alone(pool: WorkerPool):
    await pool.run(task(adding()))
    work = await spinning_now(pool, limit_s=2.0)
    victim = pool.pid
    assert victim is not None
    os.kill(victim, signal.SIGSTOP)
    with pytest.raises(TaskFailedError, match="stopped after") as said:
        await work
    assert "\n" not in str(said.value)
    with pytest.raises(ProcessLookupError):
        os.kill(victim, 0)
    assert (await pool.run(task(adding())))["emulation"]["faults"] == []

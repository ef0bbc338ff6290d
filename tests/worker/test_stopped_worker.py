"""A worker that stands still: its task ends in one line, and the next one runs."""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from test_pool import adding, spinning_now, task

from clmap_lsp.worker.pool import TaskFailedError, WorkerPool


@pytest.fixture(autouse=True)
def cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CLMAP_CACHE_DIR", str(tmp_path))
    return tmp_path


@pytest.fixture
async def pool() -> AsyncIterator[WorkerPool]:
    found = WorkerPool()
    yield found
    await found.close()


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

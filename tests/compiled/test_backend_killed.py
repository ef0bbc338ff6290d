"""LLVM's process may be killed by others: that says nothing of the module that it was asked for."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator

import pytest

from clmap_lsp.compiled import backend
from clmap_lsp.compiled.backend import BackendError, _Child

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals")
REQUEST = {"triple": "nvptx64-nvidia-cuda", "cpu": "sm_80", "features": "", "text": ""}


@pytest.fixture
def child() -> Iterator[_Child]:
    made = _Child()
    yield made
    made.stop()


def kill(child: _Child, how: int) -> None:
    process = child.process
    assert process is not None
    os.kill(process.pid, how)
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_killed_between_two_requests_it_is_started_anew(child: _Child, how: int) -> None:
    first = child.ask(REQUEST)
    kill(child, how)
    assert child.ask(REQUEST) == first


def test_killed_at_a_request_it_is_asked_once_more(child: _Child, monkeypatch: pytest.MonkeyPatch) -> None:
    first = child.ask(REQUEST)
    start, n_started = child.start, 0

    def start_and_kill() -> object:
        nonlocal n_started
        n_started += 1
        process = start()
        if n_started == 1:
            os.kill(process.pid, signal.SIGSTOP)  # Else it may answer first.
            threading.Timer(0.2, os.kill, (process.pid, signal.SIGKILL)).start()
        return process

    monkeypatch.setattr(child, "start", start_and_kill)
    assert child.ask(REQUEST) == first
    assert n_started == 2


def test_a_fault_of_its_own_is_told_at_once(child: _Child, monkeypatch: pytest.MonkeyPatch) -> None:
    child.ask(REQUEST)
    start, n_started = child.start, 0

    def start_and_abort() -> object:
        nonlocal n_started
        n_started += 1
        process = start()
        os.kill(process.pid, signal.SIGSTOP)
        os.kill(process.pid, signal.SIGABRT)
        os.kill(process.pid, signal.SIGCONT)
        return process

    monkeypatch.setattr(child, "start", start_and_abort)
    with pytest.raises(BackendError, match="fatal error"):
        child.ask(REQUEST)
    assert n_started == 1


def test_one_that_is_killed_each_time_is_given_up(child: _Child, monkeypatch: pytest.MonkeyPatch) -> None:
    start = child.start

    def start_and_kill() -> object:
        process = start()
        process.kill()
        return process

    monkeypatch.setattr(child, "start", start_and_kill)
    with pytest.raises(backend.BackendError, match="was killed"):
        child.ask(REQUEST)

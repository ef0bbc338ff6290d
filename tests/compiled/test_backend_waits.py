"""LLVM takes seconds for a large kernel: who waits for it lets others go first, and can be ended."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator

import pytest

from clmap_lsp.compiled.backend import _Child
from clmap_lsp.server.turns import Band, EndedError, Turns, Urgency

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals")
REQUEST = {"triple": "nvptx64-nvidia-cuda", "cpu": "sm_80", "features": "", "text": ""}
PATIENCE_S = 60.0


@pytest.fixture
def stopped() -> Iterator[_Child]:
    """A process that takes a question and does not answer until it is told to go on."""
    child = _Child()
    child.ask(REQUEST)
    assert child.process is not None
    os.kill(child.process.pid, signal.SIGSTOP)
    yield child
    child.close()


def go_on(child: _Child) -> None:
    assert child.process is not None
    os.kill(child.process.pid, signal.SIGCONT)


def test_a_request_goes_before_what_waits_for_llvm(stopped: _Child) -> None:
    turns = Turns()
    compiling = turns.submit(Urgency(Band.OPENED), lambda: stopped.ask(REQUEST))
    asked = turns.submit(Urgency(Band.REQUEST), lambda: "answered")
    assert asked.future.result(PATIENCE_S) == "answered"
    assert not compiling.future.done()
    go_on(stopped)
    assert compiling.future.result(PATIENCE_S)
    turns.close()


def test_a_request_that_asks_llvm_itself_does_not_wait_for_who_pauses(stopped: _Child) -> None:
    turns = Turns()
    compiling = turns.submit(Urgency(Band.OPENED), lambda: stopped.ask(REQUEST))
    asked = turns.submit(Urgency(Band.REQUEST), lambda: stopped.ask(REQUEST))
    go_on(stopped)
    assert asked.future.result(PATIENCE_S) == compiling.future.result(PATIENCE_S)
    turns.close()


def test_what_waits_for_llvm_can_be_ended(stopped: _Child) -> None:
    turns = Turns()
    compiling = turns.submit(Urgency(Band.OPENED), lambda: stopped.ask(REQUEST))
    while not compiling.has_begun:
        pass
    turns.end(compiling)
    with pytest.raises(EndedError):
        compiling.future.result(PATIENCE_S)
    turns.close()

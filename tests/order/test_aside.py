"""Work that documents share goes on aside: who asked for it pauses, and no two wait for each other."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from clmap_lsp import interruption
from clmap_lsp.config import Settings
from clmap_lsp.interruption import Interrupted, checkpoint, interruptible
from clmap_lsp.server.turns import Band, EndedError, Turns, Urgency
from clmap_lsp.workbench.aside import Aside
from clmap_lsp.workbench.hosts import HostFiles

SOON_S = 60.0
KERNEL = (
    "__kernel void {0}(__global float *a, int n) {{ if (get_global_id(0) < n) a[get_global_id(0)] = n; }}\n"
)
HOST = """#include <CL/cl.h>
static size_t counted(size_t n) { for (int i = 0; i < 4000; i++) n = (n * 3 + i) % 1024; return n; }
int main() {
    size_t size = counted(1) + counted(2) + counted(3), global = 256;
    clEnqueueNDRangeKernel(queue, clCreateKernel(program, "first", 0), 1, 0, &global, 0, 0, 0, 0);
    clEnqueueNDRangeKernel(queue, clCreateKernel(program, "second", 0), 1, 0, &global, 0, 0, 0, 0);
}
"""
URGENT, USED, OPENED = Urgency(Band.REQUEST), Urgency.edited(1), Urgency.opened(1000)


@pytest.fixture
def turns() -> Iterator[Turns]:
    turns = Turns("test")
    yield turns
    turns.close()


class Steps:
    """Work of steps, which goes on until it is let go."""

    def __init__(self) -> None:
        self.has_begun = threading.Event()
        self.may_end = threading.Event()
        self.count = 0

    def __call__(self) -> int:
        while not self.may_end.is_set():
            self.count += 1
            self.has_begun.set()
            checkpoint()
            time.sleep(0.001)
        return self.count


def asking(aside: Aside, work: Callable[[], int]) -> Callable[[], int]:
    return lambda: aside.run(work)


def test_what_is_more_urgent_does_not_wait_for_work_aside(turns: Turns) -> None:
    aside, steps = Aside(), Steps()
    asked = turns.submit(OPENED, asking(aside, steps))
    assert steps.has_begun.wait(SOON_S)
    assert turns.submit(URGENT, lambda: 7).future.result(SOON_S) == 7
    assert not asked.future.done()
    steps.may_end.set()
    assert asked.future.result(SOON_S) == steps.count


def test_work_aside_waits_while_something_more_urgent_runs(turns: Turns) -> None:
    aside, steps, urgent = Aside(), Steps(), Steps()
    asked = turns.submit(OPENED, asking(aside, steps))
    assert steps.has_begun.wait(SOON_S)
    first = turns.submit(URGENT, urgent)
    assert urgent.has_begun.wait(SOON_S)
    time.sleep(0.05)  # Its step of the moment ends.
    before = steps.count
    time.sleep(0.1)
    assert steps.count == before
    urgent.may_end.set()
    first.future.result(SOON_S)
    steps.may_end.set()
    assert asked.future.result(SOON_S) == steps.count


def test_who_waits_for_the_same_lets_the_work_go_on(turns: Turns) -> None:
    aside, steps = Aside(), Steps()
    less = turns.submit(OPENED, asking(aside, steps))
    assert steps.has_begun.wait(SOON_S)
    more = turns.submit(USED, asking(aside, lambda: 3))
    before = steps.count
    while steps.count < before + 20 and not less.future.done():
        time.sleep(0.001)
    steps.may_end.set()
    assert more.future.result(SOON_S) == 3
    assert less.future.result(SOON_S) == steps.count


def test_work_that_nobody_wants_any_more_still_ends(turns: Turns) -> None:
    aside, steps = Aside(), Steps()
    asked = turns.submit(OPENED, asking(aside, steps))
    assert steps.has_begun.wait(SOON_S)
    turns.end(asked)
    with pytest.raises(EndedError):
        asked.future.result(SOON_S)
    steps.may_end.set()
    assert turns.submit(USED, asking(aside, lambda: 5)).future.result(SOON_S) == 5


def test_what_the_work_raises_is_raised_where_it_was_asked_for(turns: Turns) -> None:
    def fails() -> int:
        raise ValueError("no")

    aside = Aside()
    with pytest.raises(ValueError, match="no"):
        aside.run(fails)
    with pytest.raises(ValueError, match="no"):
        turns.submit(USED, asking(aside, fails)).future.result(SOON_S)
    assert aside.run(lambda: 1) == 1


def test_host_code_is_read_whole_where_an_older_text_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "main.c").write_text(HOST)
    kernel = str(tmp_path / "k.cl")
    text = KERNEL.format("first") + KERNEL.format("second")
    (tmp_path / "k.cl").write_text(text)
    expected = HostFiles().facts(kernel, text, Settings())
    assert expected.launches.keys() == {"first", "second"}
    files, n_paused = HostFiles(), 0
    monkeypatch.setattr(interruption, "LOOK_S", 0.0)

    def give_up() -> None:
        nonlocal n_paused
        n_paused += 1
        raise Interrupted

    with pytest.raises(Interrupted), interruptible(give_up):
        files.facts(kernel, text, Settings())
    assert n_paused == 1
    with interruptible(lambda: None):
        found = files.facts(kernel, text, Settings())
    assert found.launches == expected.launches


def test_a_closed_kernel_file_is_read_from_the_disk_again(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "main.c").write_text(HOST)
    kernel = tmp_path / "k.cl"
    kernel.write_text(KERNEL.format("first"))
    other = tmp_path / "other.cl"
    other.write_text(KERNEL.format("second"))
    files = HostFiles()
    typed = KERNEL.format("second")
    assert files.facts(str(kernel), typed, Settings()).launches.keys() == {"second"}
    files.forget(str(kernel))
    assert files.facts(str(kernel), kernel.read_text(), Settings()).launches.keys() == {"first"}
    files.forget(str(kernel))

    assert files.facts(str(other), typed, Settings()).launches.keys() == {"second"}

"""Kernels of headless commands run in confined copies of their process: asked from inside, and lost."""

from __future__ import annotations

import ctypes
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from forked import run

from clmap_lsp.commands import checking
from clmap_lsp.errors import UsageError
from clmap_lsp.report.model import FileReport
from clmap_lsp.rules.selection import Selection
from clmap_lsp.sandbox import confined, filters
from clmap_lsp.worker import forked
from clmap_lsp.worker.forked import LostError, Terms, each, once

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or confined.this_machine() is None, reason="copies of a process, seccomp"
)
KERNEL = """\
// clmap: global=64 local=64 a=iota(64) N=8
__kernel void turn(__global float *a, int N) {
    int i = get_global_id(0);
    a[i] = a[(i % N) * N + i / N] + a[i + 1];
}
"""


def outcome(work: Callable[[], object], terms: Terms | None = None) -> str:
    """Do something in a copy; returns the name of what it raised there, or `done`."""

    def tried() -> dict[str, Any]:
        try:
            work()
        except Exception as error:
            return {"raised": type(error).__name__}
        return {"raised": "done"}

    return str(once(tried, terms or Terms(memory_mib=512))["raised"])


@pytest.mark.parametrize(
    "work",
    [
        lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM),
        os.fork,
        lambda: os.execv("/bin/true", ["true"]),
        lambda: subprocess.run(["/bin/true"], check=True),
        lambda: os.kill(os.getppid(), signal.SIGTERM),
        lambda: Path("/tmp/clmap-attack").write_text("x"),
        Path("/tmp/clmap-attack-folder").mkdir,
        Path("/etc/hostname").read_text,
        Path("/proc/self/environ").read_bytes,
        lambda: os.open(f"/proc/{os.getppid()}/mem", os.O_RDONLY),
        lambda: Path().chmod(0o777),
        lambda: os.utime("/tmp", (0, 0)),
        lambda: os.setpriority(os.PRIO_PROCESS, os.getppid(), 19),
    ],
    ids=lambda it: None,
)
def test_a_copy_may_do_nothing_to_others(work: Callable[[], object]):
    assert outcome(work) == "PermissionError"


def test_a_copy_has_what_it_needs():
    assert outcome(lambda: __import__("colorsys")) == "done"
    assert outcome(lambda: threading.Thread(target=int).start()) == "done"


def test_a_copy_reads_what_it_was_given(tmp_path: Path):
    (tmp_path / "a").write_text("x")
    assert outcome((tmp_path / "a").read_text) == "PermissionError"
    assert outcome((tmp_path / "a").read_text, Terms((str(tmp_path),))) == "done"


def test_a_copy_has_no_more_than_its_memory():
    with pytest.raises(LostError, match="ran out of memory"):
        once(lambda: {"x": len(bytearray(2**30))}, Terms(memory_mib=256))


def test_nothing_but_answers_leaves_a_copy(capfd: pytest.CaptureFixture[str]):
    held = os.open("/dev/null", os.O_WRONLY)

    def speaks() -> dict[str, Any]:
        print("\x1b]0;x\x07")
        os.write(1, b"one")
        os.write(2, b"two")
        with pytest.raises(OSError, match="Bad file"):
            os.write(held, b"x")
        return {}

    once(speaks, Terms())
    assert capfd.readouterr() == ("", "")


def test_an_error_of_usage_is_one():
    def refuse() -> dict[str, Any]:
        raise UsageError("so not")

    with pytest.raises(UsageError, match="so not"):
        once(refuse, Terms())


LOSSES: dict[str, tuple[Callable[[], Any], str]] = {
    "fault": (lambda: ctypes.string_at(0), "SIGSEGV"),
    "abort": (os.abort, "SIGABRT"),
    "exit": (lambda: os._exit(3), "exit code 3"),
    "exception": (lambda: {}["x"], "internal error: KeyError"),
    "recursion": (lambda: {"x": json.loads("[" * 100_000)}, "internal error: RecursionError"),
    "no data": (lambda: {"x": object()}, "exit code 1"),
}


@pytest.mark.parametrize("name", LOSSES)
def test_a_lost_copy_is_said_in_one_line(name: str):
    work, words = LOSSES[name]
    with pytest.raises(LostError, match=words) as caught:
        once(work, Terms())
    assert "\n" not in str(caught.value)


def spin() -> dict[str, Any]:
    while True:
        pass


def test_processor_time_is_limited(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(forked, "_LOOK_S", 0.05)
    with pytest.raises(LostError, match=r"ended after 0\.2 s of processor time"):
        once(spin, Terms(job_s=0.2))


def test_a_copy_that_does_nothing_is_ended(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(forked, "_LOOK_S", 0.05)
    monkeypatch.setattr(forked, "STUCK_S", 0.3)
    with pytest.raises(LostError, match="it did nothing"):
        once(lambda: {"x": time.sleep(600)}, Terms())


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (b"\0\0\0\5[1,2]", "not an object"),
        (b"\0\0\0\3abc", "not JSON"),
        (b"\xff\xff\xff\xff", "a frame of 4294967295 bytes"),
        (b"\0\0\0\2{}", "no message"),
        (b'\0\0\0\x0c{"result":1}', "no message"),
        (b"\0\0", "did nothing"),
        (b'\0\0\0\x10{"ask":"system"}' * 50 + b"\0\0\0\2{}", "no message"),
    ],
)
def test_the_words_of_a_copy_that_was_taken_over_are_data(
    said: bytes, words: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(forked, "_LOOK_S", 0.05)
    # A busy machine may take a while until what the copy wrote is read: only silence is to end by the clock.
    monkeypatch.setattr(forked, "STUCK_S", 0.3 if words == "did nothing" else 120)

    def speak() -> dict[str, Any]:
        for number in range(63, 2, -1):  # It does not know which of its files leads to its parent.
            try:
                os.write(number, said)
                break
            except OSError:
                continue
        time.sleep(600)
        return {}

    with pytest.raises(LostError, match=words):
        once(speak, Terms())


def test_a_file_that_ends_its_process_leaves_the_others_alone(monkeypatch: pytest.MonkeyPatch):
    from clmap_lsp.config import Settings

    real = checking._checked

    def checked(job: checking.CheckJob) -> FileReport:
        if job.path == "3.cl":
            os.abort()
        return real(job)

    monkeypatch.setattr(checking, "_checked", checked)
    jobs = [checking.CheckJob(f"{it}.cl", Settings(), Selection.of(), text=KERNEL) for it in range(14)]
    reports = checking.check_all(jobs, 2, None, Terms(runs_kernels=False))
    assert [it.path for it in reports] == [it.path for it in jobs]
    assert reports[3].error == "3.cl: the process that checked it ended with signal SIGABRT"
    assert len({it.findings for it in reports if it.error is None and not it.findings}) <= 1
    assert [it.error for it in reports if it.path != "3.cl"] == [None] * 13


def test_outcomes_come_with_their_numbers():
    assert sorted((n, it["square"]) for n, it in each(lambda n: {"square": n * n}, 9, 3, Terms())) == [
        (n, n * n) for n in range(9)
    ]


@pytest.mark.parametrize(
    "words",
    [
        ["check", "--emulate", "--format", "json"],
        ["check", "--diff", "--unsafe-fixes"],
        ["emulate", "--format", "json"],
        ["fixes", "--format", "json"],
        ["report", "-o", "-"],
    ],
    ids=lambda it: it[0],
)
def test_commands_say_the_same_without_a_sandbox(tmp_path: Path, words: list[str]):
    (tmp_path / "k.cl").write_text(KERNEL)
    inside, outside = (run(tmp_path, *words, *more, "k.cl") for more in ([], ["--no-sandbox"]))
    assert inside.returncode == outside.returncode
    assert inside.stdout.strip()
    assert without_times(inside.stdout) == without_times(outside.stdout)


def without_times(text: str) -> str:
    return re.sub(r'"seconds": \{[^}]*\}|compiled in [^\n]*|[^\n]* UTC[^\n]*', "", text)


@pytest.mark.parametrize("words", [["check", "--emulate"], ["emulate"], ["report", "-o", "-"], ["fixes"]])
def test_where_nothing_is_confined_no_kernel_runs(
    tmp_path: Path, words: list[str], monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "k.cl").write_text(KERNEL)
    monkeypatch.setattr(filters, "install", lambda *_: False)
    done = run(tmp_path, *words, "k.cl")
    assert done.returncode == 2
    assert done.stderr.startswith("clmap-lsp: kernels are not run: this system cannot keep a process from")
    assert "--no-sandbox runs them all the same" in done.stderr
    assert run(tmp_path, *words, "--no-sandbox", "k.cl").returncode in (0, 1)
    assert run(tmp_path, "check", "k.cl").returncode in (0, 1)


def test_how_a_copy_ended_is_told_to_all_who_ask():
    """One that died before its job was sent was asked for twice: `no child processes` ended the command."""
    copy = forked._Copy(lambda _: {}, Terms(runs_kernels=False), 0)
    try:
        os.kill(copy._pid, signal.SIGKILL)
        while copy._ended() == "its answers closed":
            pass
        assert [copy._ended() for _ in range(2)] == ["signal SIGKILL"] * 2
    finally:
        copy.end()

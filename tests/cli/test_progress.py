"""Who waits at a terminal is told which file and kernel take so long; nobody else is."""

from __future__ import annotations

import io
from contextlib import redirect_stderr
from pathlib import Path

import pytest
from clmap_command import SIMPLE, clmap

from clmap_lsp.cli import main
from clmap_lsp.commands import advancing
from clmap_lsp.commands.advancing import Progress

SPINS = """\
__kernel void tagged(__global uint *counts, __global const uint *keys, const int n)
{
    __local volatile uint held[128];
    const int l = get_local_id(0);
    held[l] = 0;
    for (int i = get_global_id(0); i < n; i += get_global_size(0)) {
        uint mine;
        const uint key = keys[i] % 128;
        do {
            mine = (held[key] & 0xffffff) + 1 | l << 24;
            held[key] = mine;
        } while (held[key] != mine);
    }
    counts[get_group_id(0) * 128 + l] = held[l];
}
"""


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.delenv("NO_COLOR", raising=False)
    return Terminal()


@pytest.fixture
def hours(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """What the clock says to the line."""
    now = [100.0]
    monkeypatch.setattr(advancing.time, "monotonic", lambda: now[0])
    return now


def test_one_file_that_takes_long_is_named_with_its_kernel(terminal: Terminal, hours: list[float]) -> None:
    line = Progress(1, shows=True)
    line.hear({"path": "lib/slow.cl", "kernel": "mm"})
    assert terminal.getvalue() == ""
    hours[0] += 1.5
    with redirect_stderr(terminal):
        line.look()
    assert "checking lib/slow.cl, kernel mm" in terminal.getvalue()


def test_the_file_that_was_begun_first_is_the_one_that_is_waited_for(hours: list[float]) -> None:
    line = Progress(20, shows=False)
    for path, kernel in (("a.cl", "f"), ("b.cl", "g"), ("a.cl", "h")):
        line.hear({"path": path, "kernel": kernel})
    assert line.text(1.0, 200).endswith(": a.cl, kernel h")
    line.advance("a.cl")
    assert line.text(1.0, 200).endswith("0:19 left: b.cl, kernel g")


@pytest.mark.parametrize("columns", range(20, 120, 7))
def test_the_line_is_never_wider_than_the_terminal(columns: int) -> None:
    line = Progress(3, shows=False)
    line.hear({"path": "a/long/way/down/to/the/file_that_takes_long.cl", "kernel": "k" * 50})
    assert len(line.text(0.0, columns)) <= columns


@pytest.mark.parametrize("command", [["analyze"], ["launches"], ["check"]])
def test_whatever_reads_folders_says_which(
    command: list[str], terminal: Terminal, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(advancing, "_SHOWN_AFTER_S", 0.0)
    (tmp_path / "spins.cl").write_text(SPINS)
    with redirect_stderr(terminal):
        assert main([*command, str(tmp_path)]) in (0, 1)
    assert tmp_path.name in terminal.getvalue()
    assert terminal.getvalue().endswith("\r\x1b[2K")  # Nothing is left of it.


def test_a_note_stands_on_a_line_of_its_own(terminal: Terminal, hours: list[float]) -> None:
    line = Progress(1, "analysing", shows=True)
    with redirect_stderr(terminal):
        hours[0] += 1.5
        line.hear({"path": "a.cl"})
        line.say("clmap-lsp: a note\n")
    assert terminal.getvalue().endswith("analysing a.cl\r\x1b[2Kclmap-lsp: a note\n")


def test_what_a_process_says_that_ran_a_kernel_ends_no_line() -> None:
    line = Progress(3, shows=False)
    line.hear({"path": "a\n\x1b[2Jb.cl", "kernel": "k\r"})
    line.hear({"path": 7, "kernel": "k"})
    text = line.text(0.0, 200)
    assert text.isprintable()


@pytest.mark.parametrize("options", [["--no-sandbox"], []])
def test_a_check_of_one_file_says_what_it_is_at(
    options: list[str], terminal: Terminal, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(advancing, "_SHOWN_AFTER_S", 0.0)
    monkeypatch.setattr(advancing, "_EVERY_S", 0.0)
    path = tmp_path / "spins.cl"
    path.write_text(SPINS)
    with redirect_stderr(terminal):
        assert main(["check", str(path), "--emulate", "--time-limit", "0.05", *options]) in (0, 1)
    assert "checking " in terminal.getvalue()
    assert "spins.cl, kernel tagged" in terminal.getvalue()
    assert "\r\x1b[2Kclmap-lsp: rewrites not tried" in terminal.getvalue()  # The line is gone by then.


def test_rewrites_that_were_not_tried_are_said_with_what_tries_more(tmp_path: Path) -> None:
    path = tmp_path / "spins.cl"
    path.write_text(SPINS)
    done = clmap("check", str(path), "--emulate", "--time-limit", "0.02", "--format", "json")
    (line,) = done.stderr.splitlines()
    assert line.startswith("clmap-lsp: rewrites not tried: ")
    assert " of tagged; " in line
    assert "--time-limit" in line
    assert clmap("check", SIMPLE, "--emulate").stderr == ""

"""What other people's files say is shown as it stands, and does nothing."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from forked import run
from hypothesis import example, given
from hypothesis import strategies as st

from clmap_lsp.escaping import code_span, markdown, terminal, terminal_lines, workflow_data, workflow_property

posix = pytest.mark.skipif(os.name != "posix", reason="names with control characters")
HOSTILE = st.text(st.sampled_from("ab `![]()<>\\*_#:/\x1b\x07\x9b\n\r\t&;|~-=1.\u202e\ufeff%,@"), max_size=40)
ACTIVE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]")


@given(HOSTILE)
def test_a_terminal_gets_nothing_that_it_acts_on(text: str):
    assert not ACTIVE.search(terminal(text))


@given(HOSTILE)
def test_line_ends_are_all_that_a_patch_keeps(text: str):
    shown = terminal_lines(text)
    assert not ACTIVE.search(shown.replace("\r\n", "\n"))
    assert shown.replace("\r\n", "\n") == terminal(text.replace("\r\n", "\n"))


@given(HOSTILE)
def test_a_span_of_code_ends_where_it_ends(text: str):
    span = code_span(text)
    fence = re.match(r"`+", span)
    assert fence is not None
    inner = span[len(fence[0]) : -len(fence[0])]
    assert span.endswith(fence[0])
    assert all(len(it) < len(fence[0]) for it in re.findall(r"`+", inner))
    assert "\n" not in span


def outside_of_code(text: str) -> str:
    """Return Markdown without its spans of code and without what is escaped, as CommonMark reads it."""
    shown, at = [], 0
    while at < len(text):
        if text[at] == "\\" and at + 1 < len(text):
            at += 2
            continue
        run_ = re.match(r"`+", text[at:])
        if run_:
            close = re.search(rf"(?<!`){run_[0]}(?!`)", text[at + len(run_[0]) :])
            at += len(run_[0]) + (close.end() if close else 0)
            continue
        shown.append(text[at])
        at += 1
    return "".join(shown)


@given(HOSTILE)
@example("no launch: line 1: `a`![x](https://evil.example/q.png)`b`` is no size")
@example("`<img src=https://evil.example/x>`")
@example("a` [x](command:evil) `b")
@example("\\`[x](y)")
def test_a_message_makes_no_links_images_tags_or_headings(text: str):
    left = outside_of_code(markdown(text))
    assert not re.search(r"[\[\]<>!*_#`|~]", left), left
    assert "://" not in left


@given(HOSTILE)
def test_a_workflow_command_is_one_line(text: str):
    assert "\n" not in workflow_data(text)
    assert not set("\n:,") & set(workflow_property(text))


BEL = "\x1b]0;owned\x07\x1b[2J\x9b31m"


@posix
@pytest.mark.parametrize("style", ["full", "concise", "github"])
def test_nothing_of_a_kernel_reaches_the_terminal_raw(tmp_path: Path, style: str):
    (tmp_path / ".git").mkdir()
    text = (
        f"#error {BEL}\n__kernel void k(__global int *a) {{ a[get_global_id(0)*32] = {BEL} x; }} // {BEL}\n"
    )
    (tmp_path / f"{BEL.replace('/', '')}.cl").write_text(text)
    done = run(tmp_path, "check", ".", "--format", style, "--color", "never")
    assert done.stdout
    assert not ACTIVE.search(done.stdout + done.stderr)


@posix
def test_what_a_kernel_prints_reaches_the_terminal_as_text(tmp_path: Path):
    (tmp_path / ".git").mkdir()
    kernel = (
        '__kernel void k(__global int *a) { a[0] = 1; printf("\\033]0;owned\\007 %s\\n", "\\033[2J"); }\n'
    )
    (tmp_path / "k.cl").write_text("// clmap: global=1 local=1 a=zeros(1)\n" + kernel)
    done = run(tmp_path, "emulate", "k.cl")
    assert "owned" in done.stdout
    assert not ACTIVE.search(done.stdout + done.stderr)


@posix
def test_an_error_message_is_text(tmp_path: Path):
    done = run(tmp_path, "check", BEL)
    assert done.returncode == 2
    assert not ACTIVE.search(done.stderr)

"""What other people's files say is shown as it stands, and does nothing."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from forked import run
from hypothesis import example, given
from hypothesis import strategies as st

from clmap_lsp.escaping import (
    code_block,
    code_span,
    markdown,
    plain_markdown,
    terminal,
    terminal_line,
    terminal_lines,
    workflow_data,
    workflow_property,
)

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


@given(HOSTILE)
@example("x\n```\n![x](https://evil.example)")
def test_a_block_of_code_ends_where_it_ends(text: str):
    first, *inner, last = code_block(text, "opencl").split("\n")
    assert first == f"{last}opencl"
    assert set(last) == {"`"}
    assert all(last not in it for it in inner)
    assert not ACTIVE.search("".join(inner))


@given(HOSTILE)
def test_a_line_is_one_line_and_no_command(text: str):
    shown = terminal_line(text)
    assert not ACTIVE.search(shown)
    assert "\n" not in shown
    assert not shown.lstrip().startswith(("::", "##["))


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


HOSTILE_COMMENT = """// \x1b[2J <img src=x> ![y](https://evil.example/q.png) www.evil.example
#define NOTE "\x1b[2J" \\
```\\
![x](https://evil.example)
int f(int x) { return NOTE; }
"""


def test_a_hover_shows_comments_and_macros_as_they_stand():
    from clmap_lsp.index.describe import describe
    from clmap_lsp.index.reading import read_index

    index = read_index(HOSTILE_COMMENT, "k.cl")
    used = index.occurrence_at(HOSTILE_COMMENT.index("NOTE;"))
    assert used is not None
    shown = describe(index, used.symbol)
    assert not ACTIVE.search(shown)
    fence = shown.split("opencl\n")[0]
    block, rest = shown.removeprefix(fence).split(f"\n{fence}")[:2]
    assert "![x](https:" in block
    assert "://evil" not in rest
    assert "www.evil" not in rest
    assert plain_markdown("<img src=x>") in rest


@posix
def test_what_host_code_launches_is_listed_as_text(tmp_path: Path):
    (tmp_path / "k.cl").write_text("__kernel void k(__global float *a) { a[0] = 1; }\n")
    host = """#include <CL/cl.h>
int main(int argc, char **argv) {
 clBuildProgram(p, 0, 0, "-DX=\x1b[2J -DY=::error::owned", 0, 0);
 size_t g = f("\x1b[2J\x9b31m");
 clEnqueueNDRangeKernel(q, clCreateKernel(p, "k", 0), 1, 0, &g, 0, 0, 0, 0);
 clEnqueueNDRangeKernel(q, unknown, 1, 0, &g, 0, 0, 0, 0);
}
"""
    (tmp_path / "\x1b[2J.c").write_text(host)
    (tmp_path / "a\n::error::owned.c").write_text(host)
    done = run(tmp_path, "launches", ".")
    assert done.returncode == 0, done.stderr
    assert not ACTIVE.search(done.stdout)
    assert not any(it.startswith("::") for it in done.stdout.splitlines())
    assert "\\x1b[2J" in done.stdout

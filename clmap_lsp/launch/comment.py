"""Launches in the source: `// clmap: global=256,256 local=16,16 N=256 A=random(N*N)`.

A comment holds for the kernel whose text it stands in, or else for the next kernel after it. `kernel=NAME`
names one. Several lines of one kernel are taken together.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from clmap_lsp.dataclass import dataclass
from clmap_lsp.interruption import checkpoint
from clmap_lsp.launch.model import Origin
from clmap_lsp.launch.partial import PartialLaunch, parse_size
from clmap_lsp.launch.problem import LaunchError, LaunchProblem
from clmap_lsp.source.ir import Kernel
from clmap_lsp.source.program import Program

_COMMENT = re.compile(r"(?://|/\*)[ \t]*clmap:[ \t]*([^\r\n]*)")
_WORD = re.compile(r"\s*([A-Za-z_]\w*)\s*=\s*")
_SIZES = {"global": "global_size", "local": "local_size", "offset": "global_offset"}
_DIRECTIVES = ("ignore", "disable", "enable", "off", "on")


@dataclass(frozen=True, slots=True)
class LaunchComment:
    """One comment: `start` and `end` are offsets of its text after `clmap:`."""

    start: int
    end: int
    text: str


def launch_comments(text: str) -> list[LaunchComment]:
    """Return the launch comments of a file in order; other `// clmap:` directives are left out."""
    found = []
    for match in _COMMENT.finditer(text):
        body = match[1].split("*/")[0].rstrip()
        if _WORD.match(body) and not body.startswith(_DIRECTIVES):
            found.append(LaunchComment(match.start(1), match.start(1) + len(body), body))
    return found


def from_comments(program: Program, kernel: Kernel) -> PartialLaunch | LaunchProblem | None:
    """Return what the comments of the main file say of a kernel; `None` if they say nothing."""
    file = program.main_file
    if "clmap:" not in file.text:
        return None
    mine = _by_kernel(program).get(kernel.name)
    if not mine:
        return None
    parts: dict[str, str] = {}
    row = file.position(mine[0].start).row
    for comment in mine:
        here = file.position(comment.start).row
        try:
            for name, value in split_assignments(comment.text):
                if parts.setdefault(name, value) != value:
                    raise LaunchError(
                        f"{name} is given twice, as {parts[name]} and {value}", "keep one of them"
                    )
        except LaunchError as error:
            return error.at(f"line {here}")
    parts.pop("kernel", None)
    try:
        sizes = {
            name: parse_size(parts.pop(key), 0 if key == "offset" else 1)
            for key, name in _SIZES.items()
            if key in parts
        }
    except LaunchError as error:
        return error.at(f"line {row}")
    return PartialLaunch(
        kernel.name,
        sizes.get("global_size", ()),
        sizes.get("local_size", ()),
        sizes.get("global_offset", ()),
        parts,
        origin=Origin.CONFIGURED,
        source=f"line {row}",
    )


def pinned(program: Program, kernel: Kernel, text: str) -> tuple[int, int, str] | None:
    """Return the edit (start, end, new text) of the main file that makes its comments say `text` of a kernel.

    Args:
        text: a whole comment, as of `as_comment`.

    Returns: `None` where the kernel comes from another file or several comments speak of it.
    """
    file = program.main_file
    mine = _by_kernel(program).get(kernel.name, ())
    if kernel.span.path != program.path or len(mine) > 1:
        return None
    if mine:
        return mine[0].start, mine[0].end, text.removeprefix("// clmap: ")
    start = file.line_starts[file.position(kernel.span.start).row - 1]
    line = file.text[start : kernel.span.start]
    return None if line.strip() else (start, start, f"{line}{text}\n")


def resized(program: Program, kernel: Kernel, sizes: Mapping[str, str]) -> tuple[int, int, str] | None:
    """Return the edit (start, end, new text) that gives the sizes in a kernel's only comment other values.

    Args:
        sizes: `global`, `local` or `offset`, with its new text. What the comment says besides stays as typed.

    Returns: `None` where not just one comment speaks of the kernel, or it does not give all of the sizes.
    """
    mine = _by_kernel(program).get(kernel.name, ())
    if kernel.span.path != program.path or len(mine) != 1:
        return None
    text = mine[0].text
    for name, size in sizes.items():
        text, count = re.subn(rf"(?<!\S){name}\s*=\s*\S+", f"{name}={size}", text)
        if count != 1:
            return None
    return mine[0].start, mine[0].end, text


@lru_cache(maxsize=2)  # Every kernel of a program asks, one after the other.
def _by_kernel(program: Program) -> Mapping[str, Sequence[LaunchComment]]:
    found: dict[str, list[LaunchComment]] = {}
    for comment in launch_comments(program.main_file.text):
        checkpoint()
        name = _kernel_of(comment, program.kernels, program.path)
        if name is not None:
            found.setdefault(name, []).append(comment)
    return found


def _kernel_of(comment: LaunchComment, kernels: Sequence[Kernel], path: str) -> str | None:
    named = re.search(r"\bkernel\s*=\s*(\w+)", comment.text)
    if named:
        return named[1]
    here = [it for it in kernels if it.span.path == path]
    for kernel in here:
        if kernel.span.start <= comment.start < kernel.span.end:
            return kernel.name
    after = [it for it in here if it.span.start >= comment.end]
    return min(after, key=lambda it: it.span.start).name if after else None


def split_assignments(text: str) -> list[tuple[str, str]]:
    """Split `name=value name=value` at the blanks that stand in no parentheses.

    Raises: LaunchError where a word is no assignment.
    """
    pairs = []
    at = 0
    while text[at:].strip():
        word = _WORD.match(text, at)
        if not word:
            raise LaunchError(
                f"`{text[at:].split(maxsplit=1)[0]}` is not NAME=VALUE", "write global=256 local=64 N=256"
            )
        end = _value_end(text, word.end())
        pairs.append((word[1], text[word.end() : end].strip()))
        at = end
    return pairs


def _value_end(text: str, at: int) -> int:
    depth = 0
    while at < len(text):
        depth += (text[at] in "([") - (text[at] in ")]")
        if depth <= 0 and text[at].isspace():
            break
        at += 1
    return at

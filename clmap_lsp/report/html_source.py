"""A kernel's source for the report: line by line, coloured, accesses marked, each line with its traffic."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from clmap_lsp.dataclass import dataclass
from clmap_lsp.source.types import AddressSpace

if TYPE_CHECKING:
    from clmap_lsp.analysis.model import AccessAnalysis, KernelAnalysis
    from clmap_lsp.findings import Finding
    from clmap_lsp.source.program import Program
    from clmap_lsp.source.span import SourceFile

_OPENCL_WORDS = frozenset(
    {
        *("__kernel", "kernel", "__global", "global", "__local", "local", "__constant", "constant"),
        *("__private", "private", "restrict", "half", "uchar", "ushort", "uint", "ulong", "bool", "size_t"),
        *("__read_only", "__write_only", "__read_write", "read_only", "write_only", "read_write"),
    }
)
_COSTLY = 1.25
"""Times the ideal from which an access is marked as costly, as for the rules of uncoalesced accesses."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of characters of one look: `style` holds CSS classes, `title` what the access costs."""

    text: str
    style: str
    title: str = ""


@dataclass(slots=True)
class Line:
    """One line with what its accesses move."""

    row: int
    pieces: list[Piece]
    share: float = 0.0
    """Of the kernel's global traffic; 0 to 1."""
    local_share: float = 0.0
    costs: list[str] = field(default_factory=list)
    excess: float = 1.0
    """Times the ideal of the worst access."""
    findings: list[Finding] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Consecutive lines of one file."""

    path: str
    lines: tuple[Line, ...]


def excerpts(program: Program, kernel: KernelAnalysis, findings: Iterable[Finding]) -> list[Excerpt]:
    """Return the kernel, and the lines of helpers and headers outside it that touch memory for it."""
    wanted: dict[str, set[int]] = {}
    touched = [it.access.span for it in kernel.accesses] + [it.access.span for it in kernel.images]
    for span in (kernel.span, *touched):
        file = program.files.get(span.path)
        if file is not None:
            last = file.position(max(span.start, span.end - 1)).row
            wanted.setdefault(span.path, set()).update(range(file.position(span.start).row, last + 1))
    by_place = [it for it in findings if it.span.path in wanted]
    return [
        Excerpt(path, tuple(_line(program.files[path], row, kernel, by_place) for row in rows))
        for path, found in wanted.items()
        for rows in _runs(sorted(found))
    ]


def _runs(rows: Sequence[int]) -> list[list[int]]:
    runs: list[list[int]] = []
    for row in rows:
        if runs and row == runs[-1][-1] + 1:
            runs[-1].append(row)
        else:
            runs.append([row])
    return runs


def _line(file: SourceFile, row: int, kernel: KernelAnalysis, findings: Sequence[Finding]) -> Line:
    start = file.line_starts[row - 1]
    text = file.line(row).rstrip("\r\n")
    here = [
        it
        for it in kernel.accesses
        if it.access.span.path == file.path and start <= it.access.span.start < start + len(text) + 1
    ]
    line = Line(row, _pieces(file, start, text, here))
    for it in _by_site(here):
        if it.access.space is AddressSpace.LOCAL:
            line.local_share += it.share or 0.0
        else:
            line.share += it.share or 0.0
        if it.per_request is not None:
            line.costs.append(cost_text(it))
            line.excess = max(line.excess, it.per_request.excess)
    line.costs += [
        it.request_text or it.missing
        for it in kernel.images
        if it.access.span.path == file.path and file.position(it.access.span.start).row == row
    ]
    line.findings = [
        it for it in findings if it.span.path == file.path and file.position(it.span.start).row == row
    ]
    return line


def _by_site(accesses: Iterable[AccessAnalysis]) -> list[AccessAnalysis]:
    """Return one entry of each site: a choice between buffers is two accesses, but its cost is one."""
    return list({it.access.site: it for it in accesses}.values())


def cost_text(it: AccessAnalysis) -> str:
    """Return `16 sectors, 4 would do`."""
    cost = it.per_request
    if cost is None:
        return "never executed" if it.is_never_executed else "unknown"
    noun = cost.noun if cost.mean == 1 else cost.unit
    ideal = f", {cost.ideal:.4g} would do" if cost.excess > 1.005 else ""
    return f"{cost.mean:.4g} {noun}{ideal}"


def _pieces(file: SourceFile, start: int, text: str, accesses: Sequence[AccessAnalysis]) -> list[Piece]:
    """Cut a line where its colour changes or an access begins or ends."""
    looks = [""] * len(text)
    for at, length, style in _tokens(file.text).get(file.position(start).row, ()):
        looks[at : at + length] = [style] * len(looks[at : at + length])
    marks: list[AccessAnalysis | None] = [None] * len(text)
    # The innermost last, so that it shows: `a[b[i]]` has one access inside another.
    for it in sorted(accesses, key=lambda it: it.access.span.start - it.access.span.end):
        span = it.access.span
        for at in range(max(0, span.start - start), min(len(text), span.end - start)):
            marks[at] = it
    pieces: list[Piece] = []
    begin = 0
    for at in range(1, len(text) + 1):
        if at == len(text) or (looks[at], marks[at]) != (looks[begin], marks[begin]):
            pieces.append(_piece(text[begin:at], looks[begin], marks[begin]))
            begin = at
    return [it for it in pieces if it.text]


def _piece(text: str, look: str, access: AccessAnalysis | None) -> Piece:
    if access is None:
        return Piece(text, look)
    cost = access.per_request
    state = "unknown" if cost is None else "costly" if cost.excess >= _COSTLY else "fine"
    title = f"{access.access.direction.value} of {access.access.buffer}: {cost_text(access)} a request"
    return Piece(text, f"{look} access {state}".strip(), title)


@lru_cache(maxsize=8)
def _tokens(text: str) -> dict[int, list[tuple[int, int, str]]]:
    """Return (column, length, CSS class) of the coloured tokens by row; columns count from 0."""
    from pygments.lexers import get_lexer_by_name
    from pygments.token import Comment, Keyword, Literal, Name

    found: dict[int, list[tuple[int, int, str]]] = {}
    # The first family that a token belongs to.
    looks: tuple[tuple[Any, str], ...] = (
        (Comment.Preproc, "p"),
        (Comment.PreprocFile, "p"),
        (Comment, "c"),
        (Keyword, "k"),
        (Literal, "n"),
        (Name.Function, "f"),
    )
    row, column = 1, 0
    lexer = get_lexer_by_name("c", stripnl=False, ensurenl=False)
    for kind, value in lexer.get_tokens(text):
        style = next((look for family, look in looks if kind in family), "")
        if value in _OPENCL_WORDS:
            style = "k"
        elif value.startswith("get_"):
            style = "f"
        for number, part in enumerate(value.split("\n")):
            if number:
                row, column = row + 1, 0
            if style and part:
                found.setdefault(row, []).append((column, len(part), style))
            column += len(part)
    return found

"""Findings for people: message, source excerpt with carets, related places, fix.

The layout is built as styled pieces; a pipe gets their text, a colour terminal the styles too.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path

from clmap_lsp.counted import counted
from clmap_lsp.escaping import terminal, terminal_path
from clmap_lsp.findings import Finding, Severity
from clmap_lsp.links import rule_url
from clmap_lsp.report.model import CheckReport, FileReport
from clmap_lsp.report.pins import line_of
from clmap_lsp.report.styles import joined
from clmap_lsp.source.span import SourceFile, Span

Piece = tuple[str, str]
"""Text and its style; an empty style is plain."""

_STYLES = {
    Severity.ERROR: "bold red",
    Severity.WARNING: "bold yellow",
    Severity.INFORMATION: "bold cyan",
    Severity.HINT: "dim",
}
_TAB = 4
_MAX_LINE = 200
"""Columns of a source line that are shown; longer ones are cut around the finding."""


def render(report: CheckReport) -> str:
    """Return the report as plain text."""
    return "".join(text for text, _ in pieces(report))


def render_styled(report: CheckReport) -> str:
    """Return the report with colours and links."""
    return joined(pieces(report))


def pieces(report: CheckReport) -> Iterator[Piece]:
    """Yield the report's pieces: each finding, then a summary line."""
    for part, style in _raw_pieces(report):
        yield terminal(part), style


def _raw_pieces(report: CheckReport) -> Iterator[Piece]:
    for file, finding in report.pairs():
        yield from _finding(file, finding)
        yield "\n", ""
    yield from _summary(report)


def _finding(file: FileReport, finding: Finding) -> Iterator[Piece]:
    at = file.start(finding.span)
    yield f"{terminal_path(finding.span.path)}:{at.row}:{at.column}", f"bold link {_link(finding.span.path)}"
    yield ": ", ""
    yield finding.severity.value, _STYLES[finding.severity]
    yield f" {finding.code} ", f"bold link {rule_url(finding.code)}"
    yield finding.name, "bold"
    yield (f" in kernel {finding.kernel}\n" if finding.kernel else "\n"), "dim"
    for line in finding.message.splitlines():
        yield f"  {line}\n", ""
    yield from _excerpt(file.sources.get(finding.span.path), finding.span, _STYLES[finding.severity])
    for related in finding.related:
        place = file.start(related.span)
        yield "  = ", "cyan"
        yield (
            f"{terminal_path(related.span.path)}:{place.row}:{place.column}",
            f"link {_link(related.span.path)}",
        )
        yield f": {related.message}\n", ""
    if finding.fix is not None:
        yield "  = fix", "green"
        yield f" ({finding.fix.safety.value}): {finding.fix.title}\n", ""
        if finding.fix.assumptions:
            yield f"    it assumes: {', '.join(finding.fix.assumptions)}\n", ""
        if finding.fix.host_change:
            yield f"    the host must change too: {finding.fix.host_change}\n", ""
        for text in finding.fix.host_diff.splitlines():
            yield f"      {text}\n", "dim"


def _excerpt(source: SourceFile | None, span: Span, style: str) -> Iterator[Piece]:
    if source is None or not source.text:
        return
    start, end = source.position(span.start), source.position(max(span.end - 1, span.start))
    line = source.line(start.row)
    last = end.column if end.row == start.row else len(line)
    first_column = start.column - 1
    cut = max(0, first_column - _MAX_LINE // 2) if len(line) > _MAX_LINE else 0
    shown, before = _cells(line[cut : cut + _MAX_LINE]), _cells(line[cut:first_column])
    marked = _cells(line[first_column : min(last, cut + _MAX_LINE)])
    number = str(start.row)
    gutter = " " * len(number)
    yield f"  {gutter} |\n", "dim"
    yield f"  {number} | ", "dim"
    yield f"{'…' if cut else ''}{shown}{'…' if len(line) > cut + _MAX_LINE else ''}\n", ""
    yield f"  {gutter} | ", "dim"
    yield " " * (_width(before) + (1 if cut else 0)), ""
    yield "^" * max(_width(marked), 1), style
    yield ("…\n" if end.row > start.row else "\n"), style


def _cells(text: str) -> str:
    """Return text as a terminal may show it: tabs as blanks, control characters as their pictures."""
    text = text.replace("\t", " " * _TAB)
    return "".join(it if it.isprintable() else "\N{REPLACEMENT CHARACTER}" for it in text)


def _width(text: str) -> int:
    """Return the columns that a terminal gives the text."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(it) else 2 if unicodedata.east_asian_width(it) in "WF" else 1
        for it in text
    )


def _summary(report: CheckReport) -> Iterator[Piece]:
    read = [it for it in report.files if it.error is None]
    if not read:
        return
    scope = f"{counted(sum(it.n_kernels for it in read), 'kernel')} in {counted(len(read), 'file')}"
    if len(read) < len(report.files):
        scope += f", {len(report.files) - len(read)} not read"
    emulated = _emulated(read)
    counts = [
        (counted(n, noun), _STYLES[severity])
        for severity, noun in (
            (Severity.ERROR, "error"),
            (Severity.WARNING, "warning"),
            (Severity.INFORMATION, "note"),
            (Severity.HINT, "hint"),
        )
        if (n := report.count(severity))
    ]
    guessed = line_of(report)
    if not counts:
        hints = sum(it.n_hints for it in read)
        but = f" but {counted(hints, 'hint')}, which --hints prints" if hints else ""
        yield f"Nothing found{but}: {scope}{emulated}.\n", "green"
        yield guessed, "dim"
        return
    for at, piece in enumerate(counts):
        yield (", " if at else ""), ""
        yield piece
    fixable = sum(it.fix is not None for _, it in report.pairs())
    more = f"; {report.n_left_out} more are not shown" if report.n_left_out else ""
    yield f": {scope}{f'; {fixable} with a fix' if fixable else ''}{more}{emulated}.\n", ""
    yield guessed, "dim"


def _emulated(files: Sequence[FileReport]) -> str:
    """Say how many kernels were run; where none were to be, how to ask for it."""
    if not any(it.n_kernels for it in files):
        return ""
    numbers = [it.n_emulated for it in files if it.n_emulated is not None]
    return f"; {sum(numbers)} emulated" if numbers else "; not emulated, --emulate looks for races"


def _link(path: str) -> str:
    return Path(path).absolute().as_uri()

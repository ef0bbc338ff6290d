"""What the index's errors mean for functions: which are broken, by themselves or by what they call."""

from __future__ import annotations

import re
from collections import Counter

from clmap_lsp.dataclass import record
from clmap_lsp.index.index import Index, PlacedIssue
from clmap_lsp.index.model import CALLABLE, Symbol
from clmap_lsp.source.ir import Severity
from clmap_lsp.source.normalise import span_of_token
from clmap_lsp.source.span import Span


@record(frozen=True, slots=True)
class TextEdit:
    """Replace the text of a span."""

    span: Span
    text: str


OF_THE_HOST_FROM = 3
"""Places that use a name which nothing declares, from which it is taken for the host's though one in sight is
near it: a slip of the hand stands once, or was copied."""


def errors(index: Index) -> list[PlacedIssue]:
    """Return what a compiler would refuse the program for, whatever the host defines."""
    found = [it for it in index.issues if it.issue.severity is Severity.ERROR]
    unknown = {it.issue.name for it in found if it.issue.code == "undeclared" and it.issue.name}
    if not unknown:
        return found
    used = Counter(filter(unknown.__contains__, index.texts))
    used |= Counter(
        filter(unknown.__contains__, re.findall(r"\w+", index.text))
    )  # Branches that are inactive.
    hosts = {name for name, count in used.items() if count >= OF_THE_HOST_FROM}
    return [it for it in found if it.issue.code != "undeclared" or it.issue.name not in hosts]


def broken_functions(index: Index, refused: list[PlacedIssue]) -> frozenset[str]:
    """Return the names of functions that do not compile, and of those that call one of them."""
    units = {id(it.unit): it.unit.unit for it in refused}  # One may have thousands of each.
    broken = {
        symbol.name
        for unit in units.values()
        for symbol in unit.symbols
        if symbol.kind in CALLABLE and symbol.is_definition
    }
    if not broken:
        return frozenset()
    callers: dict[str, set[str]] = {}
    for placed in index.units:
        for call in placed.unit.calls:
            if isinstance(call.callee, Symbol) and call.function is not None:
                callers.setdefault(call.callee.name, set()).add(call.function.name)
    waiting = list(broken)
    while waiting:
        for caller in callers.get(waiting.pop(), ()):
            if caller not in broken:
                broken.add(caller)
                waiting.append(caller)
    return frozenset(broken)


def edits(index: Index, it: PlacedIssue) -> tuple[TextEdit, ...]:
    """Return what the problem's fix changes; nothing where that stands in a macro."""
    from clmap_lsp.source.embedded import is_host

    if it.issue.fix is None:
        return ()
    in_string = is_host(index.path)
    if in_string and any("\n" in edit.text for edit in it.issue.fix.edits):
        return ()  # Most literals have no lines of their own.
    found: list[TextEdit] = []
    for edit in it.issue.fix.edits:
        start, end = it.unit.start + edit.start, it.unit.start + edit.end
        if edit.text.startswith("#"):
            place = span_of_token(index.tokens[start])
            text = index.files[place.path].text
            line = text.rfind("\n", 0, place.start) + 1
            if place.start > line and in_string:
                return ()  # The line begins with the host's code, or with a quote.
            if line == 0 and text.startswith("\ufeff"):  # The mark stays the first of the file.
                line = 1
            first_end = text.find("\n")
            newline = "\r\n" if first_end > 0 and text[first_end - 1] == "\r" else "\n"
            found.append(TextEdit(Span(place.path, line, line), edit.text + newline))
        elif start < end or edit.text.endswith(" "):
            if start >= len(index.tokens) or index.tokens[start].use is not None:
                return ()
            span = span_of_token(index.tokens[start])
            stop = span.end if start < end else span.start
            found.append(TextEdit(Span(span.path, span.start, stop), edit.text))
        else:
            if start == 0 or index.tokens[start - 1].use is not None:
                return ()
            before = span_of_token(index.tokens[start - 1])
            found.append(TextEdit(Span(before.path, before.end, before.end), edit.text))
    return tuple(found)

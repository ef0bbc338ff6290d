"""Whether an edit elsewhere in a file can have changed what a name stands for.

Who asks for a definition while somebody types should not wait until all is read anew. An edit of a statement
that opens and closes no scope, in a line without comments and literals that is no directive, changes what the
statement declares, and what the line's macros do; the same holds of a line in the middle of a macro's body.
What is half written in it may keep a reader from the rest; that changes no meaning. Where it cannot be told
from the text at once, a meaning may have changed.
"""

from __future__ import annotations

import re

from clmap_lsp.index.index import Index, Occurrence
from clmap_lsp.index.model import Kind, MacroDefinition, Symbol
from clmap_lsp.source.difference import Difference
from clmap_lsp.source.lexer import words as texts_of

MAX_EDITED = 4_000
"""Characters of the edited lines up to which they are looked at."""
_WORD = re.compile(r"[^\W\d][\w$]*")
# Scopes, directives, comments, literals; heads that declare or hold more than one `;`; where kernels begin.
_MORE_THAN_A_STATEMENT = re.compile(
    r"""[{}\#"'\\]|//|/\*|\*/|\?\?|%:|<%|%>
    |\b(?:for|typedef|struct|union|enum|extern|_{0,2}kernel)\b""",
    re.VERBOSE,
)
# Comments and literals, which may go on, directives, and where kernels begin.
_MORE_THAN_LINES = re.compile(r"""^[ \t]*\#|["'\\]|//|/\*|\*/|\?\?|%:|<%|%>|\b_{0,2}kernel\b""", re.MULTILINE)
_MORE_THAN_BLANKS = re.compile(r"""[\#"'\\]|//|/\*|\*/|\?\?|%:""")


def means_the_same(index: Index, found: Occurrence, apart: Difference, new: str) -> bool:
    """Tell whether a name of an indexed text is sure to stand for the same after an edit elsewhere.

    Args:
        found: the name, by its place in the indexed text.
        apart: where that text and the new one differ.
        new: the new text.
    """
    symbol = found.symbol
    if found.use is not None or not found.is_spelled or not _is_found_by_name(index, symbol):
        return False
    old_lines = _lines(index.text, apart.start, apart.old_end)
    new_lines = _lines(new, apart.start, apart.new_end)
    if old_lines is None or new_lines is None:
        return False
    edited = index.text[slice(*old_lines)], new[slice(*new_lines)]
    statements = _statements(*edited, apart.start - old_lines[0], old_lines[1] - apart.old_end)
    parameters: tuple[str, ...] = ()
    if _is_continued(index.text, old_lines[0]):
        macro = _macro_around(index, *old_lines)
        if macro is None or len({_GOES_ON.search(it) is None for it in edited}) > 1:
            return False
        edited = _GOES_ON.sub("", edited[0]), _GOES_ON.sub("", edited[1])
        parameters = (*(macro.parameters or ()), "__VA_ARGS__")
    if not any(map(_MORE_THAN_BLANKS.search, edited)) and texts_of(edited[0]) == texts_of(edited[1]):
        return True
    declared = index.full_span(index.definition(symbol))
    if declared is None:
        return False
    if declared.path == index.path and symbol.kind not in _WITH_BODIES:
        first, last = old_lines
        if declared.start <= last and declared.end >= first:
            return False
    if any(map(_MORE_THAN_LINES.search, edited)) or any(map(_MORE_THAN_A_STATEMENT.search, statements)):
        return False
    words = {word for text in statements for word in _WORD.findall(text)}
    if not words.isdisjoint(parameters):
        return False  # They may stand for the name.
    around = words.union(*map(_WORD.findall, edited))  # A macro may take of its line what it is given.
    return symbol.name not in words and not _macros_make(index, around, symbol.name)


def _statements(old: str, new: str, shared: int, tail: int) -> tuple[str, str]:
    """Return the edited statements of two versions of some lines, as far as they stand in these.

    Args:
        shared: characters that the lines begin with in common.
        tail: those that they end with.
    """
    start = max(map(old[:shared].rfind, ";{}")) + 1
    behind = _END_OF_STATEMENT.search(old, len(old) - tail)
    rest = 0 if behind is None else len(old) - behind.start()
    return old[start : len(old) - rest], new[start : len(new) - rest]


_END_OF_STATEMENT = re.compile("[;{}]")
_WITH_BODIES = (Kind.KERNEL, Kind.FUNCTION, Kind.STRUCT, Kind.UNION, Kind.ENUM)


def _is_found_by_name(index: Index, symbol: Symbol) -> bool:
    """Tell whether a name alone decides: not so of members and overloaded functions."""
    if symbol.kind is Kind.MEMBER or symbol.overloads is not None:
        return False
    last = index.scope.ordinary.get(symbol.name)
    return last is None or last.overloads is None


def _lines(text: str, start: int, end: int) -> tuple[int, int] | None:
    """Return where the lines around a stretch of a text start and end; `None` where they are long."""
    first = text.rfind("\n", 0, start) + 1
    last = text.find("\n", end)
    last = len(text) if last < 0 else last
    return None if last - first > MAX_EDITED else (first, last)


_GOES_ON = re.compile(r"\\[ \t\r]*\Z")


def _is_continued(text: str, first: int) -> bool:
    """Tell whether a line goes on with the one before it."""
    line = text[max(first - MAX_EDITED, 0) : first].rstrip("\r\n")
    return _GOES_ON.search(line) is not None


def _macro_around(index: Index, first: int, last: int) -> MacroDefinition | None:
    """Return the macro whose definition goes on in a line."""
    macros = (it.macro for it in index.macros if it.macro is not None)
    return next(
        (
            it
            for it in macros
            if it.span.path == index.path and it.span.start < first and last <= it.span.end + 1
        ),
        None,
    )


def _macros_make(index: Index, words: set[str], name: str) -> bool:
    """Tell whether macros that are among these words, or in the bodies of such, may make a name."""
    bodies: dict[str, list[str]] = {}
    for it in index.macros:
        if it.macro is not None:
            bodies.setdefault(it.name, []).append(it.macro.body)
    waiting = [it for it in words if it in bodies]
    seen = set(waiting)
    while waiting:
        for body in bodies[waiting.pop()]:
            inner = set(_WORD.findall(body))
            if name in inner or _MORE_THAN_A_STATEMENT.search(body):
                return True
            waiting += [it for it in inner if it in bodies and it not in seen]
            seen |= inner
    return False

"""Whether an edit elsewhere in a file can have changed what a name stands for.

Who asks for a definition while somebody types should not wait until all is read anew. An edit of a statement
that opens and closes no scope, in a line without comments and literals that is no directive, changes what the
statement declares, and what the line's macros do; the same holds of a line in the middle of a macro's body.
What is half written in it may keep a reader from the rest; that changes no meaning. Where it cannot be told
from the text at once, a meaning may have changed.
"""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet

from clmap_lsp.dataclass import dataclass
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
    names = _names(index, found)
    edit = _edit(index, apart, new)
    if names is None or edit is None:
        return False
    if edit.is_of_blanks:
        return True
    if not _keeps(index, found.symbol, edit):
        return False
    if found.symbol.kind is Kind.MACRO:  # Only directives change what it is.
        names -= {found.symbol.name}
    return not names or not _may_hold(index, edit, names)


def _names(index: Index, found: Occurrence) -> frozenset[str] | None:
    """Return the names that a meaning hangs on; `None` where it hangs on more than names."""
    symbol = found.symbol
    if not _is_found_by_name(index, symbol):
        return None
    if index.text[found.start : found.end] != symbol.name:  # `##` made it of what the last use gives.
        around = _macro_around(index, found.start, found.end)
        return None if around is None else frozenset((symbol.name, around.name))
    if found.use is not None and not _stands_for_itself(index, found):
        return None
    return frozenset((symbol.name,))


@dataclass(frozen=True, slots=True)
class _Edit:
    """What an edit makes of some lines, before and after it."""

    at: tuple[int, int]
    """Where the lines stand in the indexed text."""
    lines: tuple[str, str]
    """Without what goes on in the next line, where they are of a macro."""
    statements: tuple[str, str]
    """As far as they stand in these lines."""
    macro: MacroDefinition | None
    """In whose body they stand."""

    @property
    def is_of_blanks(self) -> bool:
        """Tell whether the same words stand in the lines."""
        old, new = self.lines
        return not any(map(_MORE_THAN_BLANKS.search, self.lines)) and texts_of(old) == texts_of(new)


def _edit(index: Index, apart: Difference, new: str) -> _Edit | None:
    """Return the lines of an edit; `None` where they are too many, or a macro ends in them."""
    at = _lines(index.text, apart.start, apart.old_end)
    after = _lines(new, apart.start, apart.new_end)
    if at is None or after is None:
        return None
    lines = index.text[slice(*at)], new[slice(*after)]
    statements = _statements(*lines, apart.start - at[0], at[1] - apart.old_end)
    if not _is_continued(index.text, at[0]):
        return _Edit(at, lines, statements, None)
    macro = _macro_around(index, *at)
    if macro is None or len({_GOES_ON.search(it) is None for it in lines}) > 1:
        return None
    if any(_GOES_ON.search(line) is None for it in lines for line in it.split("\n")[:-1]):
        return None
    return _Edit(at, (_GOES_ON.sub("", lines[0]), _GOES_ON.sub("", lines[1])), statements, macro)


def _keeps(index: Index, symbol: Symbol, edit: _Edit) -> bool:
    """Tell whether a symbol stays declared where it is, and the lines hold nothing but statements."""
    target = index.definition(symbol)
    if index.name_span(target) is None:
        return False
    if symbol.kind not in _WITH_BODIES and index.is_declared_by(target, *edit.at):
        return False
    return not any(map(_MORE_THAN_LINES.search, edit.lines))


def _may_hold(index: Index, edit: _Edit, names: frozenset[str]) -> bool:
    """Tell whether the statements of an edit may declare or change one of some names, or a macro in them."""
    given: set[str] = set()
    statements = edit.statements
    if edit.macro is not None:
        arguments = _given(index, edit.macro, edit.lines, names)
        if arguments is None:
            return True
        given = arguments
        statements = _PASTES.sub(" ", statements[0]), _PASTES.sub(" ", statements[1])
    if any(map(_MORE_THAN_A_STATEMENT.search, statements)):
        return True
    words = {word for text in statements for word in _WORD.findall(text)} | given
    in_lines = words.union(*map(_WORD.findall, edit.lines))  # A macro may take of its line what it is given.
    return not names.isdisjoint(words) or _macros_make(index, in_lines, names)


def _given(
    index: Index, macro: MacroDefinition, edited: tuple[str, str], names: AbstractSet[str]
) -> set[str] | None:
    """Return the words that lines of a macro may hold beside those that stand there: arguments, macros.

    `None` where it cannot be told, or one of the names may be put together of pieces.
    """
    parameters = {*(macro.parameters or ()), "__VA_ARGS__"}
    found: set[str] = set()
    if any(not parameters.isdisjoint(_WORD.findall(it)) for it in edited):
        arguments = _arguments(index, macro)
        if arguments is None:
            return None
        found |= arguments
    for chain in (it[0] for text in edited for it in _PASTED.finditer(text)):
        pieces = [it for it in _PASTES.split(chain) if it not in parameters]
        if any(all(it in name for it in pieces) for name in names):
            return None
        found.update(it.name for it in index.macros if all(piece in it.name for piece in pieces))
    return found


_PASTES = re.compile(r"(?<!\s)\s*+##\s*+")
_PASTED = re.compile(r"(?<![\w$])[\w$]++(?:\s*+##\s*+[\w$]++)+")


def _arguments(index: Index, macro: MacroDefinition) -> set[str] | None:
    """Return the words that uses of a macro in this file give it; `None` where other macros do."""
    found: set[str] = set()
    for token, symbol in index.macro_uses:
        if symbol.macro is not macro:
            continue
        if token.path != index.path or _macro_around(index, token.start, token.end) is not None:
            return None
        behind = index.text[token.end : token.end + MAX_EDITED]
        found.update(_WORD.findall(behind[: _behind_bracket(behind)]))
    return found


def _behind_bracket(text: str) -> int:
    """Return where the bracket ends that a text begins with."""
    depth = 0
    for it in _BRACKETS.finditer(text):
        depth += 1 if it[0] == "(" else -1
        if depth <= 0:
            return it.end()
    return len(text)


_BRACKETS = re.compile(r"[()]")


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


def _stands_for_itself(index: Index, found: Occurrence) -> bool:
    """Tell whether a name in the body of a macro is no parameter of it: all its uses make the same of it."""
    macro = _macro_around(index, found.start, found.end)
    return macro is not None and found.symbol.name not in (*(macro.parameters or ()), "__VA_ARGS__")


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


def _macros_make(index: Index, words: AbstractSet[str], names: AbstractSet[str]) -> bool:
    """Tell whether macros that are among these words, or in the bodies of such, may make one of the names."""
    bodies: dict[str, list[str]] = {}
    for it in index.macros:
        if it.macro is not None:
            bodies.setdefault(it.name, []).append(it.macro.body)
    waiting = [it for it in words if it in bodies]
    seen = set(waiting)
    while waiting:
        for body in bodies[waiting.pop()]:
            inner = set(_WORD.findall(body))
            if not names.isdisjoint(inner) or _MORE_THAN_A_STATEMENT.search(body):
                return True
            waiting += [it for it in inner if it in bodies and it not in seen]
            seen |= inner
    return False

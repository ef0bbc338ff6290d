"""Preprocessing tokens of one file, with their places as typed.

The file is cut by one regular expression that takes the white space before a token together with it, so that
the work a token costs in Python stays small. Comments, line continuations and NUL bytes are white space.
Source: ISO/IEC 9899:1999, 5.1.1.2 (translation phases) and 6.4 (lexical elements).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

from clmap_lsp.source.difference import Difference, difference

NO_GAP, SPACE, NEW_LINE = 0, 1, 2
"""What stands before a token: nothing, white space, or a line end (the token starts a line)."""


class Use:
    """The outermost use of a macro in the file that is being read; `end` grows while arguments are read."""

    __slots__ = ("end", "path", "start")

    def __init__(self, path: str, start: int, end: int) -> None:
        self.path = path
        self.start = start
        self.end = end


class Token(NamedTuple):
    """A preprocessing token. `path`, `start` and `end` say where its text is typed.

    `use` is set on text that came out of a macro's body; a macro's argument keeps its own place. `painted`
    marks a name that must not be expanded again (ISO C 6.10.3.4).
    """

    text: str
    start: int
    end: int
    gap: int
    path: str
    use: Use | None = None
    painted: bool = False


@dataclass(frozen=True, slots=True)
class Chunk:
    """Consecutive lines without directives. `texts[i]` is the text of `tokens[i]`."""

    tokens: list[Token]
    texts: list[str]
    notes: dict[object, Any] = field(default_factory=dict, repr=False, compare=False)
    """What was found out about the chunk; those of an included file serve every file that includes it."""


@dataclass(frozen=True, slots=True)
class Directive:
    """One directive: its tokens after `#`, and where it starts (`#`) and ends (before the line end)."""

    tokens: list[Token]
    start: int
    end: int

    @property
    def name(self) -> str:
        """Return the directive's name; empty for the null directive."""
        return self.tokens[0].text if self.tokens else ""


@dataclass(frozen=True, slots=True)
class LexedFile:
    """A file as chunks of text and directives, in order."""

    path: str
    items: list[Chunk | Directive] = field(repr=False)


# The order of the alternatives matters: a comment before `/`, a number before `.`, long operators first.
_COMMENT = r"//(?:[^\\\r\n]|\\(?:\r\n|[\s\S]))*|/\*(?:[^*]|\*(?!/))*(?:\*/|\Z)"
_SPLICE = r"\\[ \t]*(?:\r\n|\n|\r)"
_GAP = rf"(?:[ \t\f\v\0\r\n\ufeff]+|{_SPLICE}|{_COMMENT})*"
_WORD = r"[^\W\d][\w$]*"
_NUMBER = r"\.?\d(?:[eEpP][+-]|[\w.])*"
_STRING = r'"(?:[^"\\\r\n]|\\(?:\r\n|[\s\S]))*"'
_CHARACTER = r"'(?:[^'\\\r\n]|\\(?:\r\n|[\s\S]))+'"
_OPERATOR = r"<<=|>>=|\.\.\.|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|\#\#|::|[\s\S]"
_PLACEHOLDER = r"@[^\W\d]\w*"
_TOKEN = re.compile(rf"({_GAP})({_WORD}|{_NUMBER}|{_STRING}|{_CHARACTER}|{_PLACEHOLDER}|{_OPERATOR}|\Z)")
_ONE = re.compile(rf"(?:{_WORD}|{_NUMBER}|{_STRING}|{_CHARACTER}|{_OPERATOR})")
_CONTINUATION = re.compile(_SPLICE)
_GLUED = re.compile(r"[^\s]\\[ \t]*(?:\r\n|\n|\r)[^\s]")
_NOT_A_LINE_END = re.compile(rf"{_SPLICE}|{_COMMENT}")
_LARGE_CHARACTERS = 1 << 12


def lex(path: str, text: str) -> LexedFile:
    """Return the chunks and directives of a file; never raises. Files are remembered by content."""
    return _lex_large(path, text) if len(text) > _LARGE_CHARACTERS else _lex_small(path, text)


def lex_fragment(path: str, text: str) -> list[Token]:
    """Return the tokens of a text in which `#` starts no directive."""
    return _tokens(path, text)


def is_one_token(text: str) -> bool:
    """Tell whether a text is exactly one preprocessing token, as the result of `##` must be."""
    match = _ONE.match(text)
    return match is not None and match.end() == len(text) and text not in ('"', "'")


def is_name(text: str) -> bool:
    """Tell whether a token is an identifier or keyword."""
    return text.isidentifier() or (text[0].isidentifier() and "$" in text)


def _lex(path: str, text: str) -> LexedFile:
    return _items(path, _tokens(path, text))


def _lex_like_before(path: str, text: str) -> LexedFile:
    """Cut a text that may differ little from the last one of its file."""
    before = _last.pop(path, None)
    tokens = _tokens(path, text) if before is None else _tokens_of_edited(path, text, *before)
    _last[path] = text, tokens
    while len(_last) > _KEPT_FILES:
        _last.pop(next(iter(_last)), None)
    return _items(path, tokens)


_KEPT_FILES = 8
_last: dict[str, tuple[str, list[Token]]] = {}
"""The last text of each large file with its tokens, youngest last."""


def _items(path: str, tokens: list[Token]) -> LexedFile:
    items: list[Chunk | Directive] = []
    starts = [i for i, token in enumerate(tokens) if token.text == "#" and token.gap == NEW_LINE]
    at = 0
    for start in starts:
        if start < at:
            continue
        if at < start:
            items.append(_chunk(tokens[at:start]))
        end = start + 1
        while end < len(tokens) and tokens[end].gap != NEW_LINE:
            end += 1
        items.append(Directive(tokens[start + 1 : end], tokens[start].start, tokens[end - 1].end))
        at = end
    if at < len(tokens):
        items.append(_chunk(tokens[at:]))
    return LexedFile(path, items)


_lex_small = lru_cache(maxsize=64)(_lex)
# A token takes about 150 bytes, and every keystroke makes another text: of large files, few are kept.
_lex_large = lru_cache(maxsize=16)(_lex_like_before)


def _chunk(tokens: list[Token]) -> Chunk:
    return Chunk(tokens, [token.text for token in tokens])


def _tokens(path: str, text: str) -> list[Token]:
    if "\\" in text and _GLUED.search(text):
        return _tokens_of_spliced(path, text)
    tokens: list[Token] = []
    append = tokens.append
    new = tuple.__new__
    at = 0
    first = True
    for gap_text, word in _TOKEN.findall(text):
        gap = NO_GAP
        if gap_text:
            at += len(gap_text)
            gap = _GAPS.get(gap_text) or _gap(gap_text)
        if first:
            gap, first = NEW_LINE, False
        if not word:
            break
        end = at + len(word)
        if word[0] in "\"'" and "\\" in word:
            word = _CONTINUATION.sub("", word)  # noqa: PLW2901
        # Calling the class costs twice as much, and this line is where a file's time goes.
        append(new(Token, (word, at, end, gap, path, None, False)))
        at = end
    return tokens


def _tokens_of_edited(path: str, text: str, old: str, before: list[Token]) -> list[Token]:
    """Cut a text as `_tokens` does, by the tokens of an earlier text where the two are alike.

    What a token is depends on no more than the rest of its line, lines that a backslash joins being one. And
    where both texts have a token's end at the same place of their common rest, the same tokens follow.
    """
    if "\\" in text and _GLUED.search(text):
        return _tokens_of_spliced(path, text)
    if "\\" in old and _GLUED.search(old):
        return _tokens(path, text)
    apart = difference(old, text)
    kept = bisect_right(before, _line_start(text, apart.start), key=_end)
    tokens = before[:kept]
    rest = _cut_until_alike(path, text, tokens, before, apart)
    moved, new = len(text) - len(old), tuple.__new__
    if moved == 0:
        return tokens + rest
    tokens += [new(Token, (it, a + moved, b + moved, gap, path, None, False)) for it, a, b, gap, *_ in rest]
    return tokens


def _cut_until_alike(
    path: str, text: str, tokens: list[Token], before: list[Token], apart: Difference
) -> list[Token]:
    """Append the tokens behind those that are there; return the old ones that follow, at their old places."""
    at = tokens[-1].end if tokens else 0
    moved = apart.new_end - apart.old_end
    while True:
        match = _TOKEN.match(text, at)
        assert match is not None  # The last alternative is the end of the text.
        gap_text, word = match.groups()
        if not word:
            return []
        gap = (_GAPS.get(gap_text) or _gap(gap_text)) if gap_text else NO_GAP
        start, at = match.span(2)
        if word[0] in "\"'" and "\\" in word:
            word = _CONTINUATION.sub("", word)
        tokens.append(Token(word, start, at, gap if tokens else NEW_LINE, path))
        if at >= apart.new_end:
            follows = bisect_right(before, at - moved, key=_end)
            if follows and before[follows - 1].end == at - moved:
                return before[follows:]


def _end(token: Token) -> int:
    return token.end


def _line_start(text: str, offset: int) -> int:
    """Return where the line of an offset starts, with the lines before it that end in a backslash."""
    start = text.rfind("\n", 0, offset) + 1
    while start:
        before = text.rfind("\n", 0, start - 1) + 1
        if not text[before:start].rstrip().endswith("\\"):
            break
        start = before
    return start


_GAPS = {" ": SPACE, "\n": NEW_LINE, "\r\n": NEW_LINE, "\t": SPACE, "  ": SPACE}


def _gap(text: str) -> int:
    if "\n" not in text and "\r" not in text:
        return SPACE
    if "/" in text or "\\" in text:
        text = _NOT_A_LINE_END.sub(" ", text)
        return NEW_LINE if "\n" in text or "\r" in text else SPACE
    return NEW_LINE


def _tokens_of_spliced(path: str, text: str) -> list[Token]:
    """Join continued lines first (phase 2), then cut; places are mapped back to the text as typed."""
    pieces: list[str] = []
    joined_starts, typed_starts = [0], [0]
    at = length = 0
    for match in _CONTINUATION.finditer(text):
        pieces.append(text[at : match.start()])
        length += match.start() - at
        at = match.end()
        joined_starts.append(length)
        typed_starts.append(at)
    pieces.append(text[at:])

    def typed(offset: int) -> int:
        piece = bisect_right(joined_starts, offset) - 1
        return typed_starts[piece] + offset - joined_starts[piece]

    return [
        token._replace(start=typed(token.start), end=typed(token.end - 1) + 1)
        for token in _tokens(path, "".join(pieces))
    ]

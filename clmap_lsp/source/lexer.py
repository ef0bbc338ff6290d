"""Preprocessing tokens, with their places as typed.

A text is cut by one regular expression that takes the white space before a token together with it, so that
the work a token costs in Python stays small. Comments, line continuations and NUL bytes are white space.
Source: ISO/IEC 9899:1999, 5.1.1.2 (translation phases) and 6.4 (lexical elements).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import deque
from collections.abc import Callable
from itertools import islice
from operator import itemgetter
from typing import NamedTuple

from clmap_lsp.interruption import checkpoint
from clmap_lsp.lazy import lazy_pattern
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


text_of = itemgetter(Token._fields.index("text"))
"""Returns the text of a token, for the loops that run in C."""


class Cut(NamedTuple):
    """A text that was cut into tokens, and where it starts in its file."""

    text: str
    at: int
    tokens: list[Token]


# The order of the alternatives matters: a comment before `/`, a number before `.`, long operators first.
COMMENT = r"//(?:[^\\\r\n]|\\(?:\r\n|[\s\S]))*|/\*(?:[^*]|\*(?!/))*(?:\*/|\Z)"
SPLICE = r"\\[ \t]*(?:\r\n|\n|\r)"
GAP = rf"(?:[ \t\f\v\0\r\n\ufeff]+|{SPLICE}|{COMMENT})*"
_WORD = r"[^\W\d][\w$]*"
_NUMBER = r"\.?\d(?:[eEpP][+-]|[\w.])*"
# A literal with 64 escapes that is not closed is one token to the end of its line: each of the quotes that it
# escapes would else be looked at as the start of another one, and the time grow with the square of the line.
STRING = (
    r'(?:"(?:[^"\\\r\n]|\\(?:\r\n|[\s\S]))*"'
    r'|"(?:[^"\\\r\n]*+\\(?:\r\n|[\s\S])){64}(?:[^"\\\r\n]|\\(?:\r\n|[\s\S]))*+)'
)
CHARACTER = (
    r"(?:'(?:[^'\\\r\n]|\\(?:\r\n|[\s\S]))+'"
    r"|'(?:[^'\\\r\n]*+\\(?:\r\n|[\s\S])){64}(?:[^'\\\r\n]|\\(?:\r\n|[\s\S]))*+)"
)
_OPERATOR = r"<<=|>>=|\.\.\.|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|\#\#|::|[\s\S]"
_PLACEHOLDER = r"@[^\W\d]\w*"
_ANY = rf"({_WORD}|{_NUMBER}|{STRING}|{CHARACTER}|{_PLACEHOLDER}|{_OPERATOR}|\Z)"
_TOKEN = re.compile(rf"({GAP}){_ANY}")
_ONE = lazy_pattern(rf"(?:{_WORD}|{_NUMBER}|{STRING}|{CHARACTER}|{_OPERATOR})")
_CONTINUATION = re.compile(SPLICE)
_GLUED = re.compile(r"\\(?<=\S\\)[ \t]*(?:\r\n|\n|\r)\S")  # `re` finds the one character fastest.
_NOT_A_LINE_END = lazy_pattern(rf"{SPLICE}|{COMMENT}")
_TOKENS_AT_ONCE = 4_096
_WORDS = re.compile(rf"{GAP}{_ANY}")
_NOT_CODE = lazy_pattern(rf"{COMMENT}|{STRING}|{CHARACTER}")
_NAME = re.compile(_WORD)
_ONLY_GAP = re.compile(GAP)


def words(text: str) -> list[str]:
    """Return the texts of a text's tokens; twice as fast as the tokens."""
    found: list[str] = _WORDS.findall(text)
    while found and not found[-1]:  # the end of the text
        found.pop()
    return [_spelled(it) for it in found] if "\\" in text else found


def words_at(text: str, at: int, count: int) -> list[str]:
    """Return the texts of up to `count` tokens from `at` on, where a token ends."""
    return [_spelled(it[1]) for it in islice(_WORDS.finditer(text, at), count) if it[1]]


def name_at(text: str, at: int) -> str | None:
    """Return the text of the token behind `at`, where a token ends, if it is a name."""
    match = _NAME.match(text, gap_end(text, at))
    return None if match is None else match[0]


def open_comment(text: str) -> int | None:
    """Return where a comment starts that nothing ends."""
    at = text.rfind("/*")
    if at < 0 or text.find("*/", at + 2) >= 0:
        return None
    last = deque(_NOT_CODE.finditer(text), maxlen=1)
    found = last.pop() if last else None
    if found is None or found.end() < len(text) or found[0].endswith("*/", 2):
        return None
    return found.start() if found[0].startswith("/*") else None


def gap_end(text: str, at: int) -> int:
    """Return where the token behind `at` starts, where one ends; the length where none follows."""
    match = _ONLY_GAP.match(text, at)
    assert match is not None  # A gap may be empty.
    return match.end()


def is_one_token(text: str) -> bool:
    """Tell whether a text is exactly one preprocessing token, as the result of `##` must be."""
    match = _ONE.match(text)
    return match is not None and match.end() == len(text) and text not in ('"', "'")


def is_name(text: str) -> bool:
    """Tell whether a token is an identifier or keyword."""
    return text.isidentifier() or ("$" in text and text[0].isidentifier())


def cut(path: str, text: str, at: int) -> list[Token]:
    """Return the tokens of a text that starts at `at` in its file; no continued line joins what is glued."""
    tokens: list[Token] = []
    append = tokens.append
    new = tuple.__new__
    first = at == 0
    for number, (gap_text, word) in enumerate(_TOKEN.findall(text)):
        if not number % _TOKENS_AT_ONCE:
            checkpoint()
        gap = NO_GAP
        if gap_text:
            at += len(gap_text)
            gap = _GAPS.get(gap_text) or _gap(gap_text)
        if first:
            gap, first = NEW_LINE, False
        if not word:
            break
        end = at + len(word)
        # Calling the class costs twice as much, and this line is where a file's time goes.
        append(new(Token, (_spelled(word) if word[0] in "\"'" else word, at, end, gap, path, None, False)))
        at = end
    return tokens


def cut_edited(path: str, text: str, at: int, before: Cut) -> list[Token]:
    """Cut a text as `cut` does, by the tokens of an earlier text where the two are alike.

    What a token is depends on no more than the rest of its line, lines that a backslash joins being one. And
    where both texts have a token's end at the same place of their common rest, the same tokens follow.
    """
    apart = difference(before.text, text)
    kept = _kept(before, text, apart.start)
    tokens = moved(before.tokens[:kept], at - before.at)
    rest = _cut_until_alike(path, text, at, tokens, before, apart)
    return tokens + moved(rest, at - before.at + len(text) - len(before.text))


def _kept(before: Cut, text: str, edited: int) -> int:
    """Return how many of the tokens before an edit cannot follow from it.

    In a line that backslashes join of many, these are all of those before its own, unless a quote is open.
    """
    line, whole = text.rfind("\n", 0, edited) + 1, _line_start(text, edited)
    kept = bisect_right(before.tokens, before.at + line, key=_end)
    if line == whole:
        return kept
    first = bisect_right(before.tokens, before.at + whole, key=_end)
    if any(map(_is_open_quote, before.tokens[first:kept])):
        return first
    return kept


def _is_open_quote(token: Token) -> bool:
    text = token[0]
    return text[0] in "\"'" and (len(text) == 1 or text[-1] != text[0])


def _cut_until_alike(
    path: str, text: str, start: int, tokens: list[Token], before: Cut, apart: Difference
) -> list[Token]:
    """Append the tokens behind those that are there; return the old ones that follow, at their old places."""
    at = tokens[-1].end - start if tokens else 0
    moved = before.at + apart.old_end - apart.new_end
    while True:
        match = _TOKEN.match(text, at)
        assert match is not None  # The last alternative is the end of the text.
        gap_text, word = match.groups()
        if not word:
            return []
        gap = (_GAPS.get(gap_text) or _gap(gap_text)) if gap_text else NO_GAP
        at = match.end()
        is_first = start == 0 and not tokens
        place = start + at - len(word), start + at
        tokens.append(Token(_spelled(word), *place, NEW_LINE if is_first else gap, path))
        if at >= apart.new_end:
            follows = bisect_right(before.tokens, at + moved, key=_end)
            if follows and before.tokens[follows - 1].end == at + moved:
                return before.tokens[follows:]


def moved(tokens: list[Token], by: int) -> list[Token]:
    """Return tokens of a file as they are where text before them grew by so many characters."""
    new = tuple.__new__
    if by == 0:
        return tokens
    # To take each apart costs more than to ask it for five of its parts.
    return [new(Token, (it[0], it[1] + by, it[2] + by, it[3], it[4], None, False)) for it in tokens]


def _spelled(word: str) -> str:
    """Return the text of a token without the line continuations in it; only strings keep any until here."""
    return _CONTINUATION.sub("", word) if word[0] in "\"'" and "\\" in word else word


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


def joined(text: str) -> tuple[str, Callable[[int], int] | None]:
    """Join continued lines (phase 2) where that matters: where they glue tokens together.

    Return the text to be cut, and what maps its offsets to the text as typed; `None` where that is the same.
    """
    steps: list[Callable[[int], int]] = []
    while "\\" in text and _GLUED.search(text):
        text, step = _joined_once(text)
        steps.append(step)

    def typed(offset: int) -> int:
        for step in reversed(steps):
            offset = step(offset)
        return offset

    return text, typed if steps else None


def _joined_once(text: str) -> tuple[str, Callable[[int], int]]:
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

    return "".join(pieces), typed

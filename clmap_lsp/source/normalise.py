"""Prints preprocessed OpenCL C tokens as plain C that tree-sitter-c takes; `syntax.py` says in which form."""

from __future__ import annotations

import re
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import field
from itertools import accumulate, compress, count
from typing import overload

from clmap_lsp.dataclass import dataclass
from clmap_lsp.interruption import checkpoint
from clmap_lsp.source.lexer import NEW_LINE, Token
from clmap_lsp.source.preprocess import PRAGMA
from clmap_lsp.source.span import Span
from clmap_lsp.source.syntax import Removed
from clmap_lsp.source.vocabulary import (
    ATTRIBUTE_WORDS,
    NAMED_TYPES,
    PRIMITIVE_TYPES,
    QUALIFIERS,
    STATEMENT_KEYWORDS,
)

REMOVED = "\x01"
"""The first character of a word that is to be taken out like a qualifier: an undefined macro."""

_QUALIFIER, _ATTRIBUTE, _OPEN, _PRAGMA, _PRAGMA_OPERATOR, _ODD, _MAYBE_QUALIFIER = range(1, 8)

_BASE_ACTIONS: dict[str, int] = {
    **dict.fromkeys(QUALIFIERS, _QUALIFIER),
    **dict.fromkeys(ATTRIBUTE_WORDS, _ATTRIBUTE),
    **dict.fromkeys(("pipe", "generic"), _MAYBE_QUALIFIER),
    "(": _OPEN,
    "_Pragma": _PRAGMA_OPERATOR,
}
_ALSO_BEFORE_OPERAND = frozenset({"&&", "&", "*", "+", "-", "++", "--"})
"""What may stand between a bracketed operand and another one, or before the operand of a cast."""
_OPENING = frozenset("([{")
_BRACKETS = frozenset("()[]{}")
_STARTS_DECLARATOR = frozenset({")", "*", "[", "("})
_HALF = re.compile(r"(\.?\d[\w.+-]*?)[hH]\Z")
_BEFORE_A_CAST = STATEMENT_KEYWORDS | {"sizeof", "alignof", "_Alignof", "__alignof__"}


class TokenSpans(Sequence[Span]):
    """The places of tokens as typed, made when asked for: most are never needed."""

    __slots__ = ("_following", "_starts", "_tokens")

    def __init__(self, tokens: Sequence[Token], starts: Sequence[int]) -> None:
        """Take the tokens, and where each starts in the normalised text."""
        self._tokens = tokens
        self._starts = starts
        self._following = (*starts[1:], sys.maxsize)

    def __len__(self) -> int:
        return len(self._tokens)

    @overload
    def __getitem__(self, index: int) -> Span: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Span]: ...
    def __getitem__(self, index: int | slice) -> Span | Sequence[Span]:
        if isinstance(index, slice):
            return TokenSpans(self._tokens[index], self._starts[index])
        return span_of_token(self._tokens[index])

    def between(self, start: int, end: int) -> Span:
        """Return the smallest span of the tokens in the normalised text `[start, end)`."""
        first = bisect_right(self._starts, start) - 1
        if first < 0:
            return self.between(self._starts[0], end)
        if self._following[first] < end:
            return self._covering(first, bisect_left(self._starts, end, first + 2) - 1)
        token = self._tokens[first]
        if token.use is None:
            return Span(token.path, token.start, token.end)
        return span_of_token(token)

    def uses_within(self, start: int, end: int, place: Span) -> bool:
        """Tell whether every macro use that made tokens of `[start, end)` is typed inside of `place`."""
        first, last = bisect_left(self._starts, start), bisect_left(self._starts, end)
        uses = {token.use for token in self._tokens[first:last]} - {None}
        return all(
            it is not None and it.path == place.path and place.start <= it.start and it.end <= place.end
            for it in uses
        )

    def _covering(self, first: int, last: int) -> Span:
        start, end = self._tokens[first], self._tokens[last]
        use = start.use
        path, at = start.path, start.start
        if use is end.use and path == end.path and at <= end.start:
            typed = Span(path, at, end.end if end.end > start.end else start.end)
            return typed if use is None else Span(use.path, use.start, use.end, typed)
        return span_of_token(start).cover(span_of_token(end))


def span_of_token(token: Token) -> Span:
    """Return the place of a token: its own, or that of the macro use that it came out of."""
    typed = Span(token.path, token.start, token.end)
    use = token.use
    return typed if use is None else Span(use.path, use.start, use.end, typed)


@dataclass(slots=True)
class Roles:
    """What normalisation has to know of the names of a file."""

    types: frozenset[str] = frozenset()
    """Names of types, besides the built-in ones."""


@dataclass(slots=True)
class Normalised:
    """Plain C text and the tables of what was taken out; see `SyntaxTree`."""

    text: str
    tokens: list[Token]
    starts: list[int]
    qualifiers: list[Removed] = field(default_factory=list)
    attributes: list[Removed] = field(default_factory=list)
    pragmas: list[Removed] = field(default_factory=list)
    elaborated: set[int] = field(default_factory=set)
    spellings: dict[int, str] = field(default_factory=dict)


def normalise(tokens: list[Token], texts: list[str], roles: Roles) -> Normalised:
    """Print tokens, whose texts are given, as plain C. Never raises."""
    return _Normaliser(tokens, texts, roles).run()


class _Normaliser:
    def __init__(self, tokens: list[Token], texts: list[str], roles: Roles) -> None:
        self.tokens = tokens
        self.texts = texts
        self.types = roles.types
        self.out = Normalised("", [], [])
        self.parts: list[str] = []
        self.at = 0
        self.length = 0
        self.waiting: list[tuple[list[Removed], str, tuple[str, ...]]] = []
        self.doubled: set[int] = set()
        """Closing brackets that are printed twice, as the opening ones are."""
        self.ends: dict[int, int] | None = None
        self.actions = dict(_BASE_ACTIONS)
        for word in set(self.texts):
            if not word.isascii() or (word[-1] in "hH" and _HALF.match(word)):
                self.actions[word] = _ODD
            elif word.startswith(PRAGMA):
                self.actions[word] = _PRAGMA
            elif word[0] == REMOVED and len(word) > 1:
                self.actions[word] = _QUALIFIER

    def run(self) -> Normalised:
        texts, actions, out = self.texts, self.actions, self.out
        texts += ("", "")
        special = [
            index
            for index in compress(count(), map(actions.__contains__, texts))
            if texts[index] != "(" or self.may_mislead(index)
        ]
        del texts[-2:]
        if self.doubled:
            special = sorted({*special, *self.doubled})
        for index in special:
            if index < self.at:
                continue
            checkpoint()
            self.keep_all(index)
            if texts[index] != ")":
                self.act(actions[texts[index]])
            else:
                self.keep(self.tokens[index], ")")
        self.keep_all(len(texts))
        self.length += 1
        self.flush()
        out.text = "".join(self.parts)
        return out

    def keep_all(self, end: int) -> None:
        """Append the tokens before `end` as they are; most of a file goes this way."""
        tokens = self.tokens[self.at : end]
        self.at = max(self.at, end)
        if not tokens:
            return
        if self.waiting:
            self.length += 1
            self.flush()
            self.length -= 1
        parts = ["\n" + it.text if it.gap == NEW_LINE else " " + it.text for it in tokens]
        self.parts += parts
        self.out.tokens += tokens
        ends = list(accumulate(map(len, parts), initial=self.length + 1))
        self.out.starts += ends[:-1]
        self.length = ends[-1] - 1

    def may_mislead(self, index: int) -> bool:
        """Tell whether the `(` at `index` may open what the grammar does not take for what it is."""
        _, word, following = self.texts[index : index + 3]
        return (
            word in NAMED_TYPES
            or word in QUALIFIERS
            or word in self.types
            or (following in _STARTS_DECLARATOR and self.looks_like_a_cast(index))
        )

    def flush(self) -> None:
        for table, word, arguments in self.waiting:
            table.append(Removed(self.length, word, arguments))
        self.waiting.clear()

    def keep(self, token: Token, text: str) -> int:
        """Append a token under a text of its own; return its offset."""
        self.parts.append("\n" if token.gap == NEW_LINE else " ")
        self.length += 1
        if self.waiting:
            self.flush()
        offset = self.length
        self.out.tokens.append(token)
        self.out.starts.append(offset)
        self.parts.append(text)
        self.length += len(text)
        return offset

    def act(self, action: int) -> None:
        token = self.tokens[self.at]
        if action == _OPEN:
            self.open()
        elif action != _ODD and self.at > 0 and self.texts[self.at - 1] in (".", "->"):
            # A member may be called `global` or `kernel`.
            self.keep(token, token.text)
            self.at += 1
        elif action == _QUALIFIER:
            self.waiting.append((self.out.qualifiers, token.text.lstrip(REMOVED).strip("_"), ()))
            self.at += 1
        elif action == _ATTRIBUTE:
            self.attribute()
        elif action == _PRAGMA:
            self.waiting.append((self.out.pragmas, token.text, ()))
            self.at += 1
        elif action == _PRAGMA_OPERATOR:
            self.pragma_operator()
        elif action == _MAYBE_QUALIFIER:
            if self.next_is_a_type():
                self.waiting.append((self.out.qualifiers, token.text, ()))
            else:
                self.keep(token, token.text)
            self.at += 1
        else:
            self.odd(token)
            self.at += 1

    def next_is_a_type(self) -> bool:
        word = self.texts[self.at + 1] if self.at + 1 < len(self.texts) else ""
        return self.is_type(word) or word in QUALIFIERS or word in ("struct", "union", "enum")

    def is_type(self, word: str) -> bool:
        return word in NAMED_TYPES or word in PRIMITIVE_TYPES or word in self.types

    def open(self) -> None:
        """Keep `(`; where it opens `(T)` with a type that the grammar does not know, put `struct` in."""
        token = self.tokens[self.at]
        if self.ends is not None and self.ends.get(self.at) in self.doubled:
            self.keep(token, "(")
            return
        self.keep(token, "(")
        self.at += 1
        name = self.cast_type(self.at)
        if name is None or not self.may_cast():
            return
        while self.at < name:
            self.waiting.append((self.out.qualifiers, self.texts[self.at].strip("_"), ()))
            self.at += 1
        typed = self.tokens[name]
        offset = self.keep(typed._replace(end=typed.start), "struct")
        self.out.elaborated.add(offset)

    def looks_like_a_cast(self, at: int) -> bool:
        """Tell whether the grammar may take the operand that `(` opens, and what follows, for a cast.

        It knows no types, and sees one in every name that only `*`, `[...]` and `(...)` follow: `(n) - 1`,
        `(a[i]) & m` and `(x * (y * z)) - 1` are casts to it. Nothing in two pairs of brackets is one.
        """
        texts = self.texts
        before = texts[at - 1] if at else ""
        if before == "]" or (before.isidentifier() and before not in _BEFORE_A_CAST):
            return False
        if not self.is_plain_name(texts[at + 1]):
            return False
        ends = self.ends = self.ends or _closing_brackets(texts)
        end = ends.get(at)
        if end is None or texts[end] != ")" or texts[end + 1] not in _ALSO_BEFORE_OPERAND:
            return False
        inner = at + 2
        while inner < end:
            text = texts[inner]
            if text in ("(", "["):
                inner = ends.get(inner, end)
            elif text != "*" and text not in QUALIFIERS:
                return False
            inner += 1
        self.doubled.add(end)
        return True

    def is_plain_name(self, name: str) -> bool:
        is_name = name.isascii() and name.isidentifier() and name not in self.actions
        return is_name and not self.is_type(name) and name not in QUALIFIERS

    def cast_type(self, at: int) -> int | None:
        """Return the index of T in `T )`, qualifiers around it allowed, where T needs `struct`."""
        texts, count = self.texts, len(self.texts)
        while at < count and texts[at] in QUALIFIERS:
            at += 1
        if at >= count or texts[at] in PRIMITIVE_TYPES:
            return None
        if texts[at] not in NAMED_TYPES and texts[at] not in self.types:
            return None
        end = at + 1
        while end < count and texts[end] in QUALIFIERS:
            end += 1
        return at if end < count and texts[end] == ")" else None

    def may_cast(self) -> bool:
        """Tell whether a `(` that was just kept can open a cast, seen from the token before it."""
        if len(self.out.tokens) < 2:
            return True
        before = self.out.tokens[-2].text
        return before in _BEFORE_A_CAST or not (before.isidentifier() or before == "]")

    def attribute(self) -> None:
        """Take out `__attribute__((a, b(c)))`, one entry an attribute."""
        end = self.closing(self.at + 1)
        if end is None:
            self.at += 1
            return
        inside = range(self.at + 2, end)
        if len(inside) >= 2 and self.texts[self.at + 2] == "(" and self.texts[end - 1] == ")":
            inside = range(self.at + 3, end - 1)
        at = inside.start
        while at < inside.stop:
            name = self.texts[at]
            arguments: tuple[str, ...] = ()
            if at + 1 < inside.stop and self.texts[at + 1] == "(":
                close = self.closing(at + 1) or inside.stop
                arguments = self.arguments(range(at + 2, min(close, inside.stop)))
                at = close
            if name.isidentifier():
                self.waiting.append((self.out.attributes, name.strip("_"), arguments))
            at += 1
        self.at = end + 1

    def arguments(self, inside: range) -> tuple[str, ...]:
        """Split at the commas of the outermost level."""
        found: list[list[str]] = [[]]
        depth = 0
        for index in inside:
            text = self.texts[index]
            depth += (text == "(") - (text == ")")
            if text == "," and depth == 0:
                found.append([])
            else:
                if found[-1] and self.tokens[index].gap:
                    found[-1].append(" ")
                found[-1].append(text)
        return tuple("".join(it) for it in found) if inside else ()

    def closing(self, at: int, limit: int | None = None) -> int | None:
        if at >= len(self.texts) or self.texts[at] != "(":
            return None
        depth = 0
        end = len(self.texts) if limit is None else min(len(self.texts), at + limit)
        for index in range(at, end):
            text = self.texts[index]
            if text == "(":
                depth += 1
            elif text == ")":
                depth -= 1
                if depth == 0:
                    return index
        return None

    def pragma_operator(self) -> None:
        """Take `_Pragma("...")` for the pragma that it stands for (ISO C 6.10.9)."""
        texts, at = self.texts, self.at
        if texts[at + 1 : at + 2] == ["("] and texts[at + 3 : at + 4] == [")"] and texts[at + 2][0] == '"':
            inner = texts[at + 2][1:-1].replace('\\"', '"').replace("\\\\", "\\")
            self.waiting.append((self.out.pragmas, f"{PRAGMA} {inner}", ()))
            self.at += 4
            return
        self.keep(self.tokens[at], texts[at])
        self.at += 1

    def odd(self, token: Token) -> None:
        """Print a half literal without its suffix, and a name outside ASCII under a name inside it."""
        text = token.text
        match = _HALF.match(text) if text.isascii() else None
        if match is not None:
            plain = match.group(1)
            if not any(it in plain for it in ".eExX"):
                plain += ".0"
        elif text[0] in "\"'":
            plain = text.encode("ascii", "replace").decode("ascii")
        elif text.isidentifier():
            plain = "".join(it if it.isascii() else f"_u{ord(it):x}_" for it in text)
        else:
            plain = "?"
        self.out.spellings[self.keep(token, plain)] = text


def _closing_brackets(texts: list[str]) -> dict[int, int]:
    """Return for each bracket that opens the index of the one that closes it."""
    ends: dict[int, int] = {}
    opened: list[int] = []
    for index in compress(count(), map(_BRACKETS.__contains__, texts)):
        if texts[index] in _OPENING:
            opened.append(index)
        elif opened:
            ends[opened.pop()] = index
    return ends


def typedef_names(texts: list[str]) -> Iterable[str]:
    """Yield the names that `typedef` gives in a list of token texts."""
    at = -1
    while True:
        try:
            at = texts.index("typedef", at + 1)
        except ValueError:
            return
        yield from _declared(texts, at + 1)


def _declared(texts: list[str], at: int) -> Iterable[str]:
    braces = parens = 0
    name = ""
    inside_attribute = 0
    for index in range(at, min(len(texts), at + 20_000)):
        text = texts[index]
        if text == "{":
            braces += 1
        elif text == "}":
            braces -= 1
        elif braces:
            continue
        elif text in ATTRIBUTE_WORDS:
            inside_attribute = parens + 1
        elif text == "(":
            parens += 1
            if index + 2 < len(texts) and texts[index + 1] in ("*", "^") and not inside_attribute:
                yield texts[index + 2]
                return
        elif text in (")", "]"):
            parens -= 1
            if parens < inside_attribute:
                inside_attribute = 0
        elif parens:
            continue
        elif text in (";", ","):
            if name:
                yield name
            name = ""
            if text == ";":
                return
        elif text.isidentifier():
            if text not in QUALIFIERS:
                name = text
        elif text == "[":
            parens += 1

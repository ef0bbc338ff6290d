"""The statements of a kernel as typed: where each starts and ends, and what it is.

The IR has no statements without effects and no braces; edits need both. This reads the text itself, before
preprocessing, so text whose structure comes out of macros has no outline. Of conditional compilation it sees
what the build at hand takes.

A pragma, or an attribute before a loop, belongs to the statement after it: nothing comes between them. So a
statement starts with its pragmas, and `begins` behind them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from clmap_lsp.dataclass import dataclass

HIDDEN = re.compile(
    r'//[^\n]*|/\*.*?(?:\*/|\Z)|"(?:\\.|[^"\\\n])*+(?:"|(?=\n)|\\?\Z)'
    r"|'(?:\\.|[^'\\\n])*+(?:'|(?=\n)|\\?\Z)",
    re.DOTALL,
)
"""Comments, strings and characters; what is not closed runs to its end, so that no text takes long."""
_WORD = re.compile(r"[A-Za-z_]\w*")
_DIRECTIVE = re.compile(r"^[ \t]*#(?![ \t]*pragma\b[^\n]*[^\\\n]$)", re.MULTILINE)
"""A directive that changes the structure: any but a pragma on one line."""
_CONDITION = re.compile(
    r"^[ \t]*#[ \t]*(?:if|ifdef|ifndef|elif|else|endif)\b(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE
)
_DEFINITION = re.compile(r"^[ \t]*#[ \t]*(?:define|undef)\b(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)
"""Directives that say nothing of the structure themselves."""
_PREFIX = re.compile(r"#[^\n]*|__attribute__\b\s*(?=\()")
_HEADED = ("if", "for", "while", "switch")
_PAIRS = {"(": ")", "[": "]", "{": "}"}


@dataclass(frozen=True, slots=True)
class Node:
    """One statement. Offsets are those of the text; `head` is what stands between the parentheses."""

    kind: str
    """`block`, `if`, `for`, `while`, `do`, `switch` or `simple`."""
    start: int
    end: int
    children: tuple[Node, ...] = ()
    """A block's statements; what an `if` or loop governs (`if`: then, else)."""
    head: tuple[int, int] | None = None
    behind: int | None = None
    """Where the statement itself begins, if pragmas or attributes stand before it."""

    @property
    def begins(self) -> int:
        """Where the statement itself begins."""
        return self.start if self.behind is None else self.behind

    def holds(self, start: int, end: int) -> bool:
        """True if the range lies inside it."""
        return self.start <= start and end <= self.end

    def walk(self) -> Iterator[Node]:
        """Yield it and all statements inside, in the order of the text."""
        yield self
        for child in self.children:
            yield from child.walk()

    def path(self, start: int, end: int) -> tuple[Node, ...]:
        """Return the statements around a range, outermost first, this one included."""
        inner = next((it for it in self.children if it.holds(start, end)), None)
        return (self,) if inner is None else (self, *inner.path(start, end))


class _UnreadableError(Exception):
    pass


def masked(text: str) -> str:
    """Return the text with comments, strings and character constants blanked, at the same offsets."""
    return HIDDEN.sub(lambda it: re.sub(r"[^\n]", " ", it.group()), text)


def of_one_build(text: str, inactive: Iterable[tuple[int, int]]) -> str:
    """Return the text with comments blanked, and conditional compilation with what it leaves out."""
    shown = masked(text)
    for start, end in inactive:
        shown = shown[:start] + re.sub(r"[^\n]", " ", shown[start:end]) + shown[end:]
    return _CONDITION.sub(lambda it: re.sub(r"[^\n]", " ", it.group()), shown)


def outline(shown: str, start: int, end: int) -> Node | None:
    """Return the body of the function at `[start, end)`, or `None` where its text has no clear structure.

    Args:
        shown: the text of the file `of_one_build`.
    """
    shown = _DEFINITION.sub(lambda it: re.sub(r"[^\n]", " ", it.group()), shown)
    body = shown.find("{", _after_parameters(shown, start), end)
    if body < 0 or _DIRECTIVE.search(shown[body:end].replace("\r", " ")):
        return None
    try:
        return _Reader(shown, end).statement(body)
    except (_UnreadableError, IndexError):
        return None


def _after_parameters(text: str, start: int) -> int:
    """Return the offset after the parameter list: past attributes and their parentheses too."""
    at = text.find("(", start)
    while at >= 0:
        depth, close = 0, at
        while close < len(text):
            depth += {"(": 1, ")": -1}.get(text[close], 0)
            close += 1
            if not depth:
                break
        if text[close:].lstrip().startswith("{"):
            return close
        at = text.find("(", close)
    return start


class _Reader:
    def __init__(self, text: str, end: int) -> None:
        self.text = text
        self.end = end

    def statement(self, at: int) -> Node:
        at = self._skip(at)
        if prefix := _PREFIX.match(self.text, at):
            after = prefix.end() if self.text[at] == "#" else self._closing(prefix.end()) + 1
            statement = self.statement(after)
            return replace(statement, start=at, behind=statement.begins)
        if self.text[at] == "{":
            return self._block(at)
        found = _WORD.match(self.text, at)
        word = found.group() if found else ""
        if word in _HEADED:
            return self._headed(at, word)
        if word == "do":
            return self._do(at)
        return Node("simple", at, self._to_semicolon(at))

    def _block(self, at: int) -> Node:
        children, inside = [], self._skip(at + 1)
        while self.text[inside] != "}":
            children.append(self.statement(inside))
            inside = self._skip(children[-1].end)
        return Node("block", at, inside + 1, tuple(children))

    def _headed(self, at: int, word: str) -> Node:
        opening = self._skip(at + len(word))
        if self.text[opening] != "(":
            raise _UnreadableError
        close = self._closing(opening)
        first = self.statement(close + 1)
        children: tuple[Node, ...] = (first,)
        after = self._skip(first.end) if first.end < self.end else self.end
        if word == "if" and re.match(r"else\b", self.text[after : after + 5]):
            children = (first, self.statement(after + 4))
        return Node(word, at, children[-1].end, children, (opening + 1, close))

    def _do(self, at: int) -> Node:
        body = self.statement(at + 2)
        opening = self.text.index("(", body.end)
        close = self._closing(opening)
        return Node("do", at, self._to_semicolon(close + 1), (body,), (opening + 1, close))

    def _to_semicolon(self, at: int) -> int:
        while (char := self.text[at]) != ";":
            if char in _PAIRS:
                at = self._closing(at)
            elif char in ")]}":
                raise _UnreadableError
            at += 1
            if at >= self.end:
                raise _UnreadableError
        return at + 1

    def _closing(self, at: int) -> int:
        """Return the offset of the bracket that closes the one at `at`."""
        wanted = [_PAIRS[self.text[at]]]
        while wanted:
            at += 1
            if at >= self.end:
                raise _UnreadableError
            char = self.text[at]
            if char in _PAIRS:
                wanted.append(_PAIRS[char])
            elif char in ")]}" and char != wanted.pop():
                raise _UnreadableError
        return at

    def _skip(self, at: int) -> int:
        while at < self.end and self.text[at].isspace():
            at += 1
        if at >= self.end:
            raise _UnreadableError
        return at

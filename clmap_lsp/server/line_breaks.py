"""Puts the line breaks of function heads back that clang-format took out or put in.

Without a limit of columns it leaves lines as they are broken, but not before the parameters of a function: it
joins a line with `__kernel` alone and the next, and splits off the type where parameters take several lines.
"""

from __future__ import annotations

from clmap_lsp.source.lexer import NEW_LINE, Token, cut


def with_heads_of(before: str, after: str) -> str:
    """Return a formatted text with the heads of its declarations broken into lines as they were.

    Args:
        before: the text as typed.
        after: the same tokens, formatted.
    """
    old, new = cut("", before, 0), cut("", after, 0)
    if not new or [it.text for it in old] != [it.text for it in new]:
        return after
    line_end = "\r\n" if "\r\n" in after else "\n"
    made = _Text()
    made.add(after[: new[0].start])
    heads = _Heads()
    shift = 0
    for at, token in enumerate(new[:-1]):
        following = new[at + 1]
        made.add(after[token.start : token.end])
        heads.take(token)
        gap, typed = after[token.end : following.start], before[old[at].end : old[at + 1].start]
        is_plain = not (gap + typed).strip()
        if heads.is_in_head and is_plain and following.text not in ("{", ";"):
            if "\n" in typed and "\n" not in gap:
                gap = line_end
            elif "\n" in gap and "\n" not in typed:
                gap = " " if typed else ""
        elif heads.is_in_parameters and is_plain and "\n" in gap:
            lines, indent = gap[: gap.rindex("\n") + 1], gap[gap.rindex("\n") + 1 :]
            gap = lines + (indent + " " * shift if shift > 0 else indent[: max(len(indent) + shift, 0)])
        made.add(gap)
        if not heads.is_in_parameters:
            shift = made.column - _column(after, following) if heads.is_in_head else 0
    made.add(after[new[-1].start :])
    return "".join(made.parts)


def _column(text: str, token: Token) -> int:
    """Return how many characters stand before a token in its line."""
    return token.start - text.rfind("\n", 0, token.start) - 1


class _Text:
    """A text that is put together, and how long its last line is so far."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.column = 0

    def add(self, part: str) -> None:
        """Append a piece."""
        self.parts.append(part)
        self.column = len(part) - part.rfind("\n") - 1 + (0 if "\n" in part else self.column)


class _Heads:
    """Follows whether tokens stand in the head of a declaration of the file, or between its brackets."""

    def __init__(self) -> None:
        self._braces = self._brackets = 0
        self._is_directive = False
        self._has_begun = False
        self._before = ""
        self._groups: list[int] = []
        """The braces that were open at each `#if`: its branches are read one instead of the other."""

    def take(self, token: Token) -> None:
        """Go past a token."""
        if token.gap == NEW_LINE:
            self._is_directive = token.text == "#"
        if self._is_directive:
            self._has_begun = False
            if self._before == "#":
                self._branch(token.text)
            self._before = token.text
            return
        match token.text:
            case "{":
                self._braces += 1
            case "}":
                self._braces = max(self._braces - 1, 0)
            case "(" | "[":
                self._brackets += 1
            case ")" | "]":
                self._brackets = max(self._brackets - 1, 0)
        self._has_begun = token.text not in (";", "{", "}")

    def _branch(self, directive: str) -> None:
        if directive in ("if", "ifdef", "ifndef"):
            self._groups.append(self._braces)
        elif self._groups and directive in ("else", "elif"):
            self._braces = self._groups[-1]
        elif self._groups and directive == "endif":
            self._groups.pop()

    @property
    def is_in_head(self) -> bool:
        """Behind a word of a declaration, outside of brackets."""
        return self._has_begun and self._braces == 0 and self._brackets == 0

    @property
    def is_in_parameters(self) -> bool:
        """Between the brackets of a declaration."""
        return self._braces == 0 and self._brackets > 0 and not self._is_directive

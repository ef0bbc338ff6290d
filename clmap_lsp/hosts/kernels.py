"""Kernels by name: where they are defined and what their parameters are called, by their text alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_COMMENT = re.compile(r"//(?:[^\n\\]|\\.)*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_KERNEL = re.compile(r"(?<![\w.])(?:__kernel|kernel|KERNEL)(?![\w.])")
_NAMED = re.compile(r"([A-Za-z_]\w*)\s*\(|[;{}()]")
_MORE = re.compile(r"\s*[A-Za-z_][\w\s*]*\(")
_ATTRIBUTE = re.compile(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)")
_WORD = re.compile(r"[A-Za-z_]\w*")
_BRACKET = re.compile(r"[();{]")
_LONGEST_HEAD = 2000
"""Characters between `kernel` and its parameters, return type and macros."""
_LONGEST_PARAMETERS = 20_000


@dataclass(frozen=True, slots=True)
class KernelParameter:
    """One parameter; `type` is the text in front of its name."""

    name: str
    type: str

    @property
    def is_local(self) -> bool:
        """True for a pointer to local memory."""
        return bool({"local", "__local"} & set(_WORD.findall(self.type)))


@dataclass(frozen=True, slots=True)
class KernelText:
    """A kernel's head as it stands in a text; `row` is 1-based in that text."""

    name: str
    parameters: tuple[KernelParameter, ...]
    row: int


def kernels_in(text: str) -> Iterator[KernelText]:
    """Yield the kernels that a text defines, in order, in linear time. Macros are not expanded."""
    plain = _COMMENT.sub(lambda it: re.sub(r"[^\n]", " ", it[0]), text)
    plain = _ATTRIBUTE.sub(lambda it: re.sub(r"[^\n]", " ", it[0]), plain)
    closing = _closings(plain)
    row, counted, behind = 1, 0, 0
    for match in _KERNEL.finditer(plain):
        if match.end() < behind:
            continue
        head = _head(plain, match.end(), closing)
        if head is None:
            continue
        name, start, end = head
        after = plain[end + 1 : end + 200].lstrip()
        if not after.startswith("{") and after.startswith((";", ",")):
            continue
        row += plain.count("\n", counted, match.start())
        counted, behind = match.start(), end
        yield KernelText(name, tuple(_parameters(plain[start:end])), row)


def _head(text: str, at: int, closing: dict[int, int]) -> tuple[str, int, int] | None:
    """Return a kernel's name, and where its parameters start and end; macros with arguments may go before."""
    limit = at + _LONGEST_HEAD
    while (match := _NAMED.search(text, at, limit)) is not None and match[1] is not None:
        end = closing.get(match.end() - 1)
        if end is None or end - match.end() > _LONGEST_PARAMETERS:
            return None
        if not _MORE.match(text, end + 1, end + _LONGEST_HEAD):
            return match[1], match.end(), end
        at = end + 1
    return None


def _closings(text: str) -> dict[int, int]:
    """Return the place of the parenthesis that closes each one, within one statement."""
    found: dict[int, int] = {}
    opened: list[int] = []
    for match in _BRACKET.finditer(text):
        match match[0]:
            case "(":
                opened.append(match.start())
            case ")":
                if opened:
                    found[opened.pop()] = match.start()
            case _:
                opened.clear()
    return found


def _parameters(text: str) -> Iterator[KernelParameter]:
    depth, start = 0, 0
    for index, character in enumerate(text + ","):
        depth += (character in "([<") - (character in ")]>")
        if character == "," and depth == 0:
            piece = text[start:index].strip()
            start = index + 1
            words = list(_WORD.finditer(re.sub(r"\[[^\]]*\]", lambda it: " " * len(it[0]), piece)))
            if piece and words and piece != "void":
                last = words[-1]
                yield KernelParameter(last[0], piece[: last.start()].strip())

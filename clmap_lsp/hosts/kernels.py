"""Kernels by name: where they are defined and what their parameters are called, by their text alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_COMMENT = re.compile(r"//(?:[^\n\\]|\\.)*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_KERNEL = re.compile(r"(?<![\w.])(?:__kernel|kernel|KERNEL)(?![\w.])")
_HEAD = re.compile(r"(?:[^;{}()]|\([^;{}]*?\)(?=\s*(?:\)|\w|__)))*?\b([A-Za-z_]\w*)\s*\(")
_ATTRIBUTE = re.compile(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)")
_WORD = re.compile(r"[A-Za-z_]\w*")


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
    """Yield the kernels that a text defines, in order. Macros are not expanded."""
    plain = _COMMENT.sub(lambda it: re.sub(r"[^\n]", " ", it[0]), text)
    plain = _ATTRIBUTE.sub(lambda it: re.sub(r"[^\n]", " ", it[0]), plain)
    for match in _KERNEL.finditer(plain):
        head = _HEAD.match(plain, match.end())
        if head is None or head.end() - match.end() > 2000:
            continue
        end = _closing(plain, head.end())
        behind = plain[end + 1 : end + 200].lstrip() if end is not None else ""
        if end is None or not (behind.startswith("{") or not behind.startswith((";", ","))):
            continue
        parameters = tuple(_parameters(plain[head.end() : end]))
        yield KernelText(head[1], parameters, plain.count("\n", 0, match.start()) + 1)


def _closing(text: str, at: int) -> int | None:
    depth = 1
    for index in range(at, min(len(text), at + 20_000)):
        character = text[index]
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return index
        if character in "{;":
            return None
    return None


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

"""Kernels by name: where they are defined and what their parameters are called, by their text alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from clmap_lsp.dataclass import dataclass
from clmap_lsp.lazy import lazy_pattern
from clmap_lsp.source.chained import without_joints

_COMMENT = lazy_pattern(r"//(?:[^\n\\]|\\.)*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_KERNEL = lazy_pattern(r"(?<![\w.])(?:__kernel|kernel|KERNEL)(?![\w.])")
_NAMED = lazy_pattern(r"(?<!\w)([A-Za-z_]\w*+)\s*+\(|[;{}()]")
_MORE = lazy_pattern(r"\s*[A-Za-z_][\w\s*]*\(")
_ATTRIBUTE = lazy_pattern(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)")
_FILLED_IN = lazy_pattern(r"\$\{[^{}\n]*\}")
"""What a template has in the place of a type or a number."""
_DIRECTIVE = lazy_pattern(r"^[ \t]*#[^\n]*", re.MULTILINE)
_WORD = lazy_pattern(r"[A-Za-z_]\w*")
_MARK = lazy_pattern(r"[;{}()]")
_BRACKET = lazy_pattern(r"[();{]")
_OPAQUE = lazy_pattern(r"\b(?:image\w*_t|sampler_t|pipe|queue_t|event_t)\b")
_LONGEST_HEAD = 2000
"""Characters between `kernel` and its parameters, return type and macros."""
_LONGEST_PARAMETERS = 20_000


@dataclass(frozen=True, slots=True)
class KernelParameter:
    """One parameter; `type` is the text in front of its name."""

    name: str
    type: str

    @property
    def is_value(self) -> bool:
        """False for what points to memory or stands for an image: hosts know no number for it."""
        return "*" not in self.type and _OPAQUE.search(self.type) is None

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
    has_conditions: bool = False
    """Which parameters it has depends on the build."""

    @property
    def has_all_parameters(self) -> bool:
        """False where a macro stands for some, or `#if` leaves some out."""
        return not self.has_conditions and all(it.type for it in self.parameters)

    def takes(self, count: int) -> bool:
        """Tell whether a call of so many arguments may be one of this kernel."""
        return not self.has_all_parameters or len(self.parameters) == count


@lru_cache(maxsize=4)
def kernels_in(text: str) -> tuple[KernelText, ...]:
    """Return the kernels that a text defines, in order, in linear time. Macros are not expanded.

    An editor's text is looked through by several that ask.
    """
    return tuple(_kernels_in(without_joints(text)))


def _kernels_in(text: str) -> Iterator[KernelText]:
    plain = _COMMENT.sub(_blanked, text)
    plain = _ATTRIBUTE.sub(_blanked, plain)
    plain = _FILLED_IN.sub(_blanked, plain) if "${" in plain else plain
    closing: dict[int, int] = {}
    row, counted, behind, statement, mark = 1, 0, 0, 0, 0
    for match in _KERNEL.finditer(plain):
        if match.end() < behind:
            continue
        if mark < match.end():
            found = _MARK.search(plain, match.end())
            if found is None:
                return
            mark = found.start()
        if plain[mark] != "(" or mark - match.end() > _LONGEST_HEAD:
            continue
        if match.end() > statement:
            closing, statement = _closings(plain, match.end())
        head = _head(plain, match.end(), closing)
        if head is None:
            behind = mark
            continue
        name, start, end = head
        after = plain[end + 1 : end + 200].lstrip()
        if not after.startswith("{") and after.startswith((";", ",")):
            continue
        row += plain.count("\n", counted, match.start())
        counted, behind = match.start(), end
        yield KernelText(name, _parameters(plain[start:end]), row, "#" in plain[start:end])


def _blanked(match: re.Match[str]) -> str:
    return "\n".join(" " * len(it) for it in match[0].split("\n"))


def _head(text: str, at: int, closing: dict[int, int]) -> tuple[str, int, int] | None:
    """Return a kernel's name, and where its parameters start and end; macros with arguments may go before."""
    limit = at + _LONGEST_HEAD
    given = _MARK.search(text, at, limit)
    if given is not None and given[0] == "(" and not text[at : given.start()].strip():
        at = closing.get(given.start(), at - 1) + 1  # `KERNEL(64) name(…)`: a macro that is given the group.
    while (match := _NAMED.search(text, at, limit)) is not None and match[1] is not None:
        end = closing.get(match.end() - 1)
        if end is None or end - match.end() > _LONGEST_PARAMETERS:
            return None
        if not _MORE.match(text, end + 1, end + _LONGEST_HEAD):
            return match[1], match.end(), end
        at = end + 1
    return None


def _closings(text: str, at: int) -> tuple[dict[int, int], int]:
    """Return where each parenthesis of the rest of a statement is closed, and where the statement ends.

    Parentheses that a head opens stand behind its `kernel`.
    """
    found: dict[int, int] = {}
    opened: list[int] = []
    for match in _BRACKET.finditer(text, at):
        match match[0]:
            case "(":
                opened.append(match.start())
            case ")":
                if opened:
                    found[opened.pop()] = match.start()
            case _:
                return found, match.start()
    return found, len(text)


def _without_bounds(piece: str) -> str:
    """Return a declaration with blanks for the bounds of arrays; a bracket that nothing closes stays."""
    parts, at = [], 0
    while (begin := piece.find("[", at)) >= 0 and (end := piece.find("]", begin)) >= 0:
        parts += [piece[at:begin], " " * (end + 1 - begin)]
        at = end + 1
    return "".join(parts) + piece[at:]


@lru_cache(maxsize=1024)
def _parameters(text: str) -> tuple[KernelParameter, ...]:
    return tuple(_parameters_of(_DIRECTIVE.sub("", text)))


def _parameters_of(text: str) -> Iterator[KernelParameter]:
    depth, start = 0, 0
    for index, character in enumerate(text + ","):
        depth += (character in "([<") - (character in ")]>")
        if character == "," and depth == 0:
            piece = text[start:index].strip()
            start = index + 1
            words = list(_WORD.finditer(_without_bounds(piece)))
            if piece and words and piece != "void":
                last = words[-1]
                is_array = "[" in piece[last.end() :]
                yield KernelParameter(last[0], piece[: last.start()].strip() + (" *" if is_array else ""))

"""Programs that C++ puts together from macros' arguments and strings: `R(kernel void f)+"("+R(...)`.

A macro makes a string of its argument where the file defines it so (`#define R(...) #__VA_ARGS__`), or where
a kernel stands in one: nothing else of C++ can take it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from clmap_lsp.dataclass import dataclass
from clmap_lsp.lazy import lazy_pattern
from clmap_lsp.source.host_tokens import RAW_STRING, SKIPPED, STRING_BODY, STRING_END

_TOKEN = lazy_pattern(
    rf'{SKIPPED}|{RAW_STRING}|"(?P<string>{STRING_BODY}){STRING_END}'
    r"|(?<!\w)(?P<kernel>(?:__kernel|kernel)\s++(?=void\s|__attribute__))"
    r"|(?<!\w)(?P<name>[A-Za-z_]\w*+)(?:\s*+\()?|[()]",
    re.DOTALL,
)
# As `_TOKEN`, without names and raw strings; each alternative starts with one certain character, so that `re`
# passes over what lies between the fastest way.
_BRACKETS = lazy_pattern(
    rf'{SKIPPED}|"{STRING_BODY}{STRING_END}|\(|\)'
    r"|_(?<!\w_)_kernel\s++(?=void\s|__attribute__)|k(?<!\wk)ernel\s++(?=void\s|__attribute__)",
    re.DOTALL,
)
_KERNEL = lazy_pattern(r"(?<!\w)(?:__kernel|kernel)\s+(?:void|__attribute__)(?!\w)")
_DEFINED = lazy_pattern(
    r"^[ \t]*#[ \t]*define[ \t]+(?P<name>\w+)\((?P<parameter>[\w.]*)\)(?P<body>[^\n]*)", re.MULTILINE
)
_DEFINES = lazy_pattern(r"#[ \t]*+define[ \t]++\Z")
_FAR = 80
_NO_MACROS = frozenset(("if", "while", "for", "switch", "return", "sizeof", "catch", "defined"))
_JOINT = lazy_pattern(r"\)[ \t]*\+\s*[\"A-Za-z_]")
_NOT_LINE_END = lazy_pattern(r"[^\n]")
_BETWEEN = lazy_pattern(r"(?:[\s+]|//[^\n]*+|/\*.*?(?:\*/|\Z))*+", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a program's text in its host file: inside of the brackets, or of the quotes."""

    start: int
    end: int
    is_string: bool
    outer: tuple[int, int]
    """With the macro's name and the brackets, or with the quotes."""


def chains(text: str) -> Iterator[list[Piece]]:
    """Yield the pieces of each program that macros make, by themselves or together with strings."""
    if not _KERNEL.search(text):
        return
    names = _stringifying(text)
    run: list[Piece] = []
    for piece in _pieces(text, names) if names else ():
        if run and _BETWEEN.fullmatch(text, run[-1].outer[1], piece.outer[0]) is None:
            yield from _whole(run)
            run = []
        run.append(piece)
    yield from _whole(run)


def without_joints(text: str) -> str:
    """Blank what stands between pieces: `R(kernel void f)+"("+R(int n)` reads as one text."""
    if _JOINT.search(text) is None:
        return text
    parts: list[str] = []
    at = 0
    for chain in chains(text):
        for before, piece in pairwise(chain):
            parts += (text[at : before.end], _NOT_LINE_END.sub(" ", text[before.end : piece.start]))
            at = piece.start
    return "".join((*parts, text[at:]))


def _whole(run: list[Piece]) -> Iterator[list[Piece]]:
    if any(not it.is_string for it in run):
        yield run


def _stringifying(text: str) -> frozenset[str]:
    """Return the names of macros that make strings of their arguments."""
    found = set()
    for match in _DEFINED.finditer(text):
        parameter = "__VA_ARGS__" if match["parameter"] == "..." else match["parameter"].removesuffix("...")
        if parameter and re.search(rf"(?<!#)#[ \t]*{parameter}(?!\w)", match["body"]):
            found.add(match["name"])
    if not _has_kernel_in_brackets(text):
        return frozenset(found)
    open_: list[str] = []
    """Of each bracket that is open, the innermost name that one stands behind."""
    for match in _TOKEN.finditer(text):
        if match["kernel"] is not None:
            found.update(it for it in open_[-1:] if it)
        elif match[0][-1] == "(" and match["raw"] is None:
            is_macro = match["name"] is not None and match["name"] not in _NO_MACROS
            open_.append(match["name"] if is_macro else open_[-1] if open_ else "")
        elif match[0] == ")" and open_:
            open_.pop()
    return frozenset(found)


def _has_kernel_in_brackets(text: str) -> bool:
    """Tell whether a kernel may stand in brackets; it is asked of every text, and most have none."""
    if 'R"' in text:
        return True
    depth = 0
    for token in _BRACKETS.findall(text):
        if token == "(":
            depth += 1
        elif token == ")":
            depth -= depth > 0
        elif depth and token[0] in "k_":
            return True
    return False


def _pieces(text: str, names: Sequence[str] | frozenset[str]) -> Iterator[Piece]:
    """Yield strings, and the arguments of macros by some names, in the order of the text."""
    depth, opened, start = 0, 0, 0
    """Brackets inside of a macro's argument, none outside; where its name and its argument start."""
    for match in _TOKEN.finditer(text):
        token = match[0]
        if depth:
            depth += (token[-1] == "(" and match["name"] is not None) + (token == "(") - (token == ")")
            if depth == 0:
                yield Piece(start, match.start(), is_string=False, outer=(opened, match.end()))
        elif match["string"] is not None:
            yield Piece(*match.span("string"), is_string=True, outer=match.span())
        elif match["name"] in names and token[-1] == "(" and not _is_defined(text, match.start()):
            depth, opened, start = 1, match.start(), match.end()


def _is_defined(text: str, at: int) -> bool:
    """Tell whether a name is the one that a `#define` is about."""
    return _DEFINES.search(text, max(at - _FAR, 0), at) is not None

"""Macros that the text defines only where the build does not: `#ifndef N`, `#define N 512`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from clmap_lsp.lazy import lazy_pattern

if TYPE_CHECKING:
    from clmap_lsp.source.ir import Kernel
    from clmap_lsp.source.program import Program

_DIRECTIVE = lazy_pattern(
    r"^[ \t]*+#[ \t]*+(?P<word>if|ifdef|ifndef|elif|else|endif|define)\b(?P<rest>(?:\\\r?\n|[^\n])*+)",
    re.MULTILINE,
)
_UNDEFINED = lazy_pattern(r"!\s*+defined\s*+\(?\s*+(\w++)")
_SIZE = lazy_pattern(r"reqd_work_group_size(?:__)?\s*+\(((?:(?!\)\s*\)).){0,500})", re.DOTALL)
_MOST_DIGITS = 9
"""Of a size."""
_WORD = lazy_pattern(r"[A-Za-z_]\w*+")
_COMMENT = lazy_pattern(r"//[^\n]*+|/\*.*?(?:\*/|\Z)", re.DOTALL)


def defaults_of(text: str) -> Iterator[tuple[str, str, int]]:
    """Yield each macro that a text defines where it is not defined, at any depth of conditions.

    That is its name, what it stands for, and where the directive begins.
    """
    asked: list[str] = []
    known: Counter[str] = Counter()  # How often each is asked for: conditions may be thousands deep.
    for match in _DIRECTIVE.finditer(text):
        rest = match["rest"]
        match match["word"]:
            case "if" | "ifdef" | "ifndef" as word:
                asked.append(_undefined(word, rest))
                known[asked[-1]] += 1
            case "define" if (name := _first(rest)) and known[name]:
                yield name, rest.strip()[len(name) :].strip(), match.start()
            case "else" | "elif" if asked:
                known[asked[-1]] -= 1
                asked[-1] = ""
                known[""] += 1
            case "endif" if asked:
                known[asked.pop()] -= 1


def _undefined(word: str, rest: str) -> str:
    """Return the macro that a condition asks to be undefined; nothing where it asks something else."""
    if word == "ifndef":
        return _first(rest)
    name = _UNDEFINED.search(rest) if word == "if" else None
    return "" if name is None else name[1]


def defaults_of_group(program: Program, kernel: Kernel) -> Mapping[str, str]:
    """Return the macros with such a default that the work-group size in a kernel's attribute goes through."""
    file = program.files.get(kernel.name_span.path)
    if file is None:
        return {}
    before = _COMMENT.sub(" ", file.text[: kernel.name_span.start])
    head = before[max(before.rfind(it) for it in ";}") + 1 :]
    size = _SIZE.search(head)  # Where none is there, a macro of the head stands for the attribute.
    text = head if size is None else size[1]
    reached = _reached(text, _bodies(it.text for it in program.files.values()))
    return {
        name: value
        for path, it in program.files.items()
        for name, value, at in defaults_of(it.text)
        if name in reached and not _is_inactive(program, path, at)
    }


def default_numbers(program: Program) -> Mapping[str, int]:
    """Return the macros that the file itself gives such a default which is a number, and is what they are."""
    path = program.path
    return {
        name: int(value)
        for name, value, at in defaults_of(program.main_file.text)
        if value.isdecimal() and len(value) <= _MOST_DIGITS and not _is_inactive(program, path, at)
    }


def _is_inactive(program: Program, path: str, at: int) -> bool:
    return any(it.path == path and it.start <= at < it.end for it in program.inactive)


def _bodies(texts: Iterable[str]) -> Mapping[str, list[str]]:
    found: dict[str, list[str]] = {}
    for match in (it for text in texts for it in _DIRECTIVE.finditer(text) if it["word"] == "define"):
        name, _, body = match["rest"].strip().partition(" ")
        found.setdefault(name, []).append(body)
    return found


def _reached(text: str, bodies: Mapping[str, list[str]]) -> frozenset[str]:
    """Return the words of a text, and those of the macros that they name, and so on."""
    waiting, found = _WORD.findall(text), set[str]()
    while waiting:
        word = waiting.pop()
        if word not in found:
            found.add(word)
            waiting += (it for body in bodies.get(word, ()) for it in _WORD.findall(body))
    return frozenset(found)


def _first(rest: str) -> str:
    word = _WORD.search(rest)
    return "" if word is None else word[0]

"""Other builds of a kernel: conditions of the preprocessor that choose what its text means.

`#ifdef DOUBLE` before `typedef double real;`, or two definitions of a macro that the kernel uses: a rewrite
was derived from the branch that this build takes. What chooses between branches, and may be set by a build,
is an assumption of every rewrite.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from clmap_lsp.fixes.assumptions import as_built, unique
from clmap_lsp.source.branches import Guard, guarded_items
from clmap_lsp.source.lexer import is_name
from clmap_lsp.source.pieces import Chunk, Directive

if TYPE_CHECKING:
    from clmap_lsp.fixes.assumptions import Assumption
    from clmap_lsp.fixes.model import Subject

_NAMED = re.compile(
    r"\btypedef\b(?P<type>[^;{]{0,999}+);|\}\s*(?P<record>\w+)\s*;|\b(?:struct|union|enum)\s+(?P<tag>\w+)\s*\{"
    r"|\b(?P<function>\w++)\s*+\([^;{}()]*+\)\s*+\{|\bconstant\b(?P<table>[^;=]{0,999}+)="
)
"""What a text at file scope names for others: types, functions, tables. Of some it is the last word."""
_LENGTHS = re.compile(r"\[[^\[\]]*+\]")
_LAST_WORD = re.compile(r"(?<!\w)\w++(?=\s*\Z)")


def conditions(subject: Subject, used: Collection[str], settled: Collection[str]) -> tuple[Assumption, ...]:
    """Return what a build must be like for the kernel's text to mean what it means here.

    Args:
        used: words that the kernel reaches, through macros and functions too.
        settled: macros that proposals are made for every value of, or whose value is an assumption anyway.
    """
    return unique(_conditions(subject, subject.texts, set(used), set(settled)))


def _conditions(
    subject: Subject, files: Mapping[str, str], used: set[str], settled: set[str]
) -> Iterator[Assumption]:
    own = subject.analysis.span
    for path, text in files.items():
        if "#" not in text:
            continue
        items = list(guarded_items(path, text))
        own_guard = _include_guard(items)
        for item, all_guards in items:
            guards = [it for it in all_guards if it.directive is not own_guard and not _is_settled(it)]
            if not guards:
                continue
            if path == own.path and own.start <= item.start < own.end:
                for guard in guards:  # Its own text is what this build takes of it.
                    if guard.directive.start >= own.start and _asked(guard):  # `#if 0` is so in every build.
                        yield _as_here(subject, guard)
                continue
            if isinstance(item, Directive):
                found = _defined(item)
                kept = {found} & used if found else set()
            else:
                kept = {name for name in _names(item.text) if name in used}
            for guard in _without_defaults(guards, kept):
                if not _asked(guard) <= settled:
                    yield _as_here(subject, guard)


def _include_guard(items: Sequence[tuple[Chunk | Directive, tuple[Guard, ...]]]) -> Directive | None:
    """Return the `#ifndef SHARED_H` that holds a whole file, with `#define SHARED_H` first."""
    found = [it for it, _ in items if isinstance(it, Directive)]
    texts = [[it.text for it in directive.tokens] for directive in found[:2]]
    if (
        len(texts) < 2
        or texts[0][:1] != ["ifndef"]
        or texts[1][:1] != ["define"]
        or texts[1][1:] != texts[0][1:2]
    ):
        return None
    after = [
        it
        for it, guards in items
        if isinstance(it, Chunk) and not any(g.directive is found[0] for g in guards)
    ]
    return None if any(it.text.strip() for it in after) else found[0]


_IN_EVERY_BUILD = frozenset(("__OPENCL_VERSION__", "__OPENCL_C_VERSION__", "__cplusplus"))
"""What compilers of OpenCL C define, or never do."""


def _is_settled(guard: Guard) -> bool:
    words = [it.text for it in guard.directive.tokens]
    return words[:1] in (["ifdef"], ["ifndef"]) and set(words[1:]) <= _IN_EVERY_BUILD


def _asked(guard: Guard) -> set[str]:
    return {it.text for it in guard.directive.tokens[1:] if is_name(it.text)} - {"defined"}


def _as_here(subject: Subject, guard: Guard) -> Assumption:
    return as_built(_asked(guard), _worded(subject, guard), subject.options)


def _defined(directive: Directive) -> str | None:
    tokens = directive.tokens
    return tokens[1].text if directive.name == "define" and len(tokens) > 1 else None


def _names(text: str) -> Iterator[str]:
    for found in _NAMED.finditer(text):
        for head in filter(None, found.groups()):
            yield from _LAST_WORD.findall(_LENGTHS.sub("", head))


def _without_defaults(guards: Iterable[Guard], kept: set[str]) -> Iterator[Guard]:
    """Yield the guards of something that the kernel uses; `#ifndef N` around `#define N 1` is no choice."""
    if not kept:
        return
    for guard in guards:
        words = [it.text for it in guard.directive.tokens]
        if words[:1] == ["ifndef"] and set(words[1:]) <= kept:
            continue  # Include guards and defaults: what a build gives instead is another value of the name.
        yield guard


def _worded(subject: Subject, guard: Guard) -> str:
    """Return the state of a condition in words: `-D DOUBLE`, `no -D DOUBLE`, `#if LEVEL > 2 as here`."""
    words = [it.text for it in guard.directive.tokens]
    if words[:1] in (["ifdef"], ["ifndef"]) and len(words) > 1:
        name = words[1]
        value = dict(subject.options.defines).get(name)
        if value is not None and name not in subject.options.undefines:
            return f"-D {name}" if value == "1" else f"-D {name}={value}"
        return f"no -D {name}"
    return f"`#{' '.join(words)}` as in this build"

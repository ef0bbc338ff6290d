"""Kernels in inactive branches, and the `-D` options that would make them active.

Hosts choose between kernels of one file with `-D`. Where a file, read without options, has no active kernel
or runs into `#error`, values for the undefined names in its conditions are searched so that one is active.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice, product

from clmap_lsp.dataclass import dataclass
from clmap_lsp.source.condition_words import answered
from clmap_lsp.source.conditions import BadConditionError, evaluate
from clmap_lsp.source.lexer import Token, is_name
from clmap_lsp.source.macros import Expander, Macro, TooManyTokensError
from clmap_lsp.source.pieces import Chunk, Directive, lex
from clmap_lsp.source.span import Span
from clmap_lsp.source.vocabulary import KERNEL_WORDS

MAX_NAMES = 6
_TRIAL_TOKENS = 100_000
"""What all trials together may expand; conditions of programs expand to a few tokens each."""
MAX_TRIALS = 3000
_CONDITION_TOKENS = 500
"""Tokens of one condition, and what its macros may make in a trial; a longer one is not tried."""

_INTEGER = re.compile(r"(\d+)[uUlL]*\Z")
_OPENING = frozenset({"if", "ifdef", "ifndef"})
_NEXT = frozenset({"elif", "elifdef", "elifndef", "else"})


@dataclass(frozen=True, slots=True)
class Guard:
    """One condition that must hold (`wanted`) or must not, for a text to be active."""

    directive: Directive
    wanted: bool


@dataclass(frozen=True, slots=True)
class HiddenKernel:
    """A kernel in an inactive branch of the main file; `start` is the offset of its `__kernel`."""

    name: str
    start: int
    guards: tuple[Guard, ...]


Assignment = dict[str, str | None]
"""Values for names; `None` leaves a name undefined."""


def hidden_kernels(path: str, text: str, inactive: Iterable[Span]) -> list[HiddenKernel]:
    """Return the kernels that stand in the inactive text of a file, with what guards them."""
    spans = [(it.start, it.end) for it in inactive]
    if not spans:
        return []
    found: dict[str, HiddenKernel] = {}
    chunks = list(_guarded(path, text))
    for at, (chunk, guards) in enumerate(chunks):
        start = chunk.start
        if not any(low <= start < high for low, high in spans) or not _has_kernel(chunk):
            continue
        for name, offset in _kernels(chunk, chunks[at + 1 : at + 4]):
            found.setdefault(name, HiddenKernel(name, offset, guards))
    return list(found.values())


def guards_at(path: str, text: str, offset: int) -> tuple[Guard, ...]:
    """Return what must hold for the directive or text at `offset` to be active."""
    stack: list[list[Guard]] = []
    before: Chunk | Directive | None = None
    for item in lex(path, text).items:
        if isinstance(item, Directive):
            if item.start >= offset:
                break
            _follow(stack, item, before)
        before = item
    return tuple(guard for group in stack for guard in group)


def solve(
    guards: Iterable[Guard], macros: dict[str, Macro], *, fail: Guard | None = None, fixed: Iterable[str] = ()
) -> Assignment | None:
    """Search values for undefined names so that all guards hold, and `fail` (if given) does not.

    `macros` are those at the end of the file; `fixed` names stay undefined. `None` where nothing fits.
    """
    wanted = list(guards)
    if fail is not None:
        wanted.append(Guard(fail.directive, not fail.wanted))
    names = [it for it in free_names(wanted, macros) if it not in fixed]
    if not names or len(names) > MAX_NAMES:
        return None
    values = _values(wanted)
    expander = Expander(macros, limit=_TRIAL_TOKENS, use_limit=_CONDITION_TOKENS)
    for trial in islice(product(values, repeat=len(names)), MAX_TRIALS):
        assignment = dict(zip(names, trial, strict=True))
        if all(_holds(guard, macros, expander, assignment) for guard in wanted):
            return _least(assignment, lambda it: all(_holds(g, macros, expander, it) for g in wanted))
    return None


def _least(assignment: Assignment, fits: Callable[[Assignment], bool]) -> Assignment:
    """Let names that only have to be defined stand for themselves: they may be types, or anything else."""
    for name, value in assignment.items():
        if value == "1" and fits(less := {**assignment, name: name}):
            assignment = less
    return assignment


def guarded_items(path: str, text: str) -> Iterator[tuple[Chunk | Directive, tuple[Guard, ...]]]:
    """Yield the texts and directives of a file, active or not, each with what guards it."""
    stack: list[list[Guard]] = []
    before: Chunk | Directive | None = None
    for item in lex(path, text).items:
        yield item, tuple(guard for group in stack for guard in group)
        if isinstance(item, Directive):
            _follow(stack, item, before)
        before = item


def _guarded(path: str, text: str) -> Iterator[tuple[Chunk, tuple[Guard, ...]]]:
    for item, guards in guarded_items(path, text):
        if isinstance(item, Chunk):
            yield item, guards


def _follow(stack: list[list[Guard]], directive: Directive, before: Chunk | Directive | None) -> None:
    """Keep the guards of the groups that are open after a directive; `before` is what stands before it."""
    name = directive.name
    if isinstance(before, Directive) and stack and _lets_in_once(before, directive):
        stack[-1] = []
    elif name in _OPENING:
        stack.append([Guard(directive, True)])
    elif name in _NEXT and stack:
        group = [Guard(it.directive, False) for it in stack[-1]]
        if name != "else":
            group.append(Guard(directive, True))
        stack[-1] = group
    elif name == "endif" and stack:
        stack.pop()


def _lets_in_once(opening: Directive, directive: Directive) -> bool:
    """Tell whether `#ifndef NAME_H` and `#define NAME_H` follow each other: a file's guard against itself."""
    if opening.name != "ifndef" or directive.name != "define" or len(directive.tokens) != 2:
        return False
    return [it.text for it in opening.tokens[1:]] == [it.text for it in directive.tokens[1:]]


def _has_kernel(chunk: Chunk) -> bool:
    # Most chunks are never cut into tokens for this.
    return any(word in chunk.text for word in KERNEL_WORDS) and not KERNEL_WORDS.isdisjoint(chunk.texts)


def _kernels(chunk: Chunk, following: list[tuple[Chunk, tuple[Guard, ...]]]) -> Iterator[tuple[str, int]]:
    """Yield the names of the functions that `kernel` introduces; a head may go on behind directives."""
    texts = chunk.texts + [text for other, _ in following for text in other.texts[:80]]
    for index, text in enumerate(chunk.texts):
        if text not in KERNEL_WORDS:
            continue
        at = index + 1
        depth = 0
        while at < min(len(texts), index + 160):
            word = texts[at]
            if word in (";", "{", "}"):
                break
            is_attribute = texts[at - 1].startswith("__attribute")
            if word == "(" and depth == 0 and is_name(texts[at - 1]) and not is_attribute:
                yield texts[at - 1], chunk.tokens[index].start
                break
            depth += (word == "(") - (word == ")")
            at += 1


def free_names(guards: Iterable[Guard], macros: dict[str, Macro]) -> list[str]:
    """Return the names in conditions that no macro defines, directly or inside the macros they use."""
    names: dict[str, None] = {}
    waiting = [token for guard in guards for token in guard.directive.tokens[1:]]
    seen: set[str] = set()
    while waiting:
        token = waiting.pop(0)
        text = token.text
        if not is_name(text) or text in seen or text == "defined" or text.startswith("__has_"):
            continue
        seen.add(text)
        macro = macros.get(text)
        if macro is None or [it.text for it in macro.body] == [text]:
            names[text] = None
        else:
            waiting += macro.body
    return list(names)


def _values(guards: Iterable[Guard]) -> list[str | None]:
    """Return values worth trying: undefined, 1, and the integers of the conditions with their neighbours."""
    numbers: dict[int, None] = {1: None, 0: None}
    for guard in guards:
        for token in guard.directive.tokens[1:]:
            if match := _INTEGER.match(token.text):
                value = int(match.group(1)[:18])
                numbers |= dict.fromkeys((value, value + 1, max(value - 1, 0)))
    return [None, *(str(it) for it in islice(numbers, 12))]


def _holds(guard: Guard, macros: dict[str, Macro], expander: Expander, assignment: Assignment) -> bool:
    directive = guard.directive
    words = directive.tokens[1:]
    if not words or len(words) > _CONDITION_TOKENS:
        return False

    def is_defined(token: Token) -> bool:
        value = assignment.get(token.text, "")
        return value is not None if token.text in assignment else token.text in macros

    if directive.name in ("ifdef", "ifndef", "elifdef", "elifndef"):
        return (is_defined(words[0]) != directive.name.endswith("ndef")) == guard.wanted
    try:
        expanded = expander.expand_list(answered(words, is_defined))
        tokens = [it._replace(text=assignment.get(it.text) or it.text) for it in expanded]
        return (evaluate(tokens)[0].value != 0) == guard.wanted
    except (BadConditionError, TooManyTokensError):
        return False

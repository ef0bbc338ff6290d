"""Stretches of the text that belong together: to fold, and to select more and more."""

from __future__ import annotations

import re
from collections.abc import Iterator

from clmap_lsp.dataclass import record
from clmap_lsp.index.index import Index
from clmap_lsp.index.selecting import expression_ranges
from clmap_lsp.source.lexer import COMMENT

_OPEN, _CLOSE = "([{", ")]}"
_CONDITION = re.compile(r"^[ \t]*#[ \t]*(if|ifdef|ifndef|elif|else|endif)\b", re.MULTILINE)
_REGION = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+(region|endregion)\b", re.MULTILINE)
_COMMENTS = re.compile(rf'"(?:[^"\\\n]|\\.)*+"?|({COMMENT})')


@record(frozen=True, slots=True)
class Fold:
    """Lines that can be folded; `kind` is `region`, `comment` or `imports`, or `None` for code."""

    start: int
    """An offset in the first line."""
    end: int
    """An offset in the last line that is hidden."""
    kind: str | None


def folds(index: Index) -> list[Fold]:
    """Return what can be folded: bodies, conditional groups, comments, macros, regions, runs of includes."""
    text = index.text
    found = [*_braces(index), *_conditions(text), *_comments(text), *_includes(index)]
    found += [*_regions(text), *_macros(index)]
    return [it for it in found if "\n" in text[it.start : it.end]]


def _braces(index: Index) -> Iterator[Fold]:
    waiting: list[int] = []
    text = index.text
    for token in index.tokens:
        if token.path != index.path or token.use is not None:
            continue
        if token.text == "{":
            waiting.append(token.start)
        elif token.text == "}" and waiting:
            line_start = text.rfind("\n", 0, token.start)
            yield Fold(waiting.pop(), line_start if line_start > 0 else token.start, None)


def _conditions(text: str) -> Iterator[Fold]:
    waiting: list[int] = []
    for match in _CONDITION.finditer(text):
        word = match[1]
        if word not in ("if", "ifdef", "ifndef") and waiting:
            yield Fold(waiting.pop(), match.start() - 1, "region")
        if word != "endif":
            waiting.append(match.start())


def _regions(text: str) -> Iterator[Fold]:
    """Yield what stands between `#pragma region` and `#pragma endregion`."""
    waiting: list[int] = []
    for match in _REGION.finditer(text):
        if match[1] == "region":
            waiting.append(match.start())
        elif waiting:
            yield Fold(waiting.pop(), match.end(), "region")


def _macros(index: Index) -> Iterator[Fold]:
    """Yield the definitions of macros; those of one line are no folds."""
    for symbol in index.macros:
        if symbol.macro is not None and symbol.macro.span.path == index.path:
            yield Fold(symbol.macro.span.start, symbol.macro.span.end, None)


def _comments(text: str) -> Iterator[Fold]:
    run: list[tuple[int, int]] = []
    for match in _COMMENTS.finditer(text):
        if match[1] is None:
            continue
        start, end = match.span()
        if match[1].startswith("/*"):
            yield Fold(start, end, "comment")
            continue
        if run and text[run[-1][1] : start].strip() == "" and text.count("\n", run[-1][1], start) == 1:
            run.append((start, end))
            continue
        if len(run) > 1:
            yield Fold(run[0][0], run[-1][1], "comment")
        run = [(start, end)]
    if len(run) > 1:
        yield Fold(run[0][0], run[-1][1], "comment")


def _includes(index: Index) -> Iterator[Fold]:
    here = [it.span for it in index.includes if it.span.path == index.path]
    if len(here) > 1:
        yield Fold(here[0].start, here[-1].end, "imports")


def selections(index: Index, offset: int) -> list[tuple[int, int]]:
    """Return ranges around an offset, each inside of the next: name, brackets, line, statement, function."""
    text = index.text
    found: list[tuple[int, int]] = []
    word = re.compile(r"[\w$]+")
    for match in word.finditer(text, text.rfind("\n", 0, offset) + 1):
        if match.start() > offset:
            break
        if match.end() >= offset:
            found.append(match.span())
    brackets: list[tuple[str, int]] = []
    starts: list[int] = []
    typed = [it for it in index.tokens if it.path == index.path and it.use is None]
    found += expression_ranges(typed, offset)
    for token in typed:
        if token.text in _OPEN and len(token.text) == 1:
            brackets.append((token.text, token.start))
            if token.text == "{":
                starts.append(token.end)
        elif token.text in _CLOSE and len(token.text) == 1 and brackets:
            _, start = brackets.pop()
            if start < offset < token.end or start == offset:
                found += [(start + 1, token.start), (start, token.end)]
    line_start = text.rfind("\n", 0, offset) + 1
    line_end = text.find("\n", offset)
    line = text[line_start : line_end if line_end >= 0 else len(text)]
    indent = len(line) - len(line.lstrip())
    found.append((line_start + indent, line_start + len(line.rstrip())))
    for placed in index.units:
        span = index.cover(placed.start, placed.end) if placed.end > placed.start else None
        if span is None or span.path != index.path or not span.start <= offset <= span.end:
            continue
        found.append((span.start, span.end))
        for at, piece in placed.unit.pieces[1:]:
            if piece.n_tokens and not placed.is_cut:
                statement = index.cover(placed.start + at, placed.start + at + piece.n_tokens)
                found.append((statement.start, statement.end))
    found.append((0, len(text)))
    return _nested(found, offset)


def _nested(found: list[tuple[int, int]], offset: int) -> list[tuple[int, int]]:
    """Keep ranges that hold the offset and each other."""
    kept: list[tuple[int, int]] = []
    for start, end in sorted(set(found), key=lambda it: it[1] - it[0]):
        is_around = start <= offset <= end and start < end
        if is_around and (not kept or (start <= kept[-1][0] and kept[-1][1] <= end)):
            kept.append((start, end))
    return kept

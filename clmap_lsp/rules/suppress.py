"""Suppression comments.

`// clmap: ignore[CM101, bank-conflict] reason` silences the rules on its own line, or, if it stands alone, on
the next line that is not a comment. `// clmap: ignore-file[CM103] reason` silences them in its file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice

from clmap_lsp.dataclass import dataclass
from clmap_lsp.source.span import SourceFile, Span

_TOKEN = re.compile(
    r"""
    (?P<comment>//(?:[^\r\n\\]|\\\r\n|\\.)*|/\*.*?(?:\*/|\Z))
    |"(?:[^"\\\n]|\\.)*+(?:"|(?=\n)|\\?\Z)|'(?:[^'\\\n]|\\.)*+(?:'|(?=\n)|\\?\Z)
    """,
    re.VERBOSE | re.DOTALL,
)
_MARK = re.compile(r"\A(?://|/\*)[\s*]*clmap:\s*ignore(?P<whole>-file)?(?:\s*\[(?P<codes>[^\]\n]*)\])?")
_WORD = re.compile(r"[^\s,]+")
MAX_CODES = 256
"""Codes of one comment that are read: four times as many as there are rules."""


@dataclass(frozen=True, slots=True)
class SuppressedCode:
    """One code or name in the brackets, with its place."""

    word: str
    span: Span


@dataclass(frozen=True, slots=True)
class Suppression:
    """One comment. `row` is the 1-based line that it silences; `None` means the whole file."""

    span: Span
    codes: tuple[SuppressedCode, ...]
    row: int | None
    stands_alone: bool


def suppressions(file: SourceFile) -> tuple[Suppression, ...]:
    """Return the suppression comments of one file as typed, in order."""
    if "clmap:" not in file.text or "ignore" not in file.text:
        return ()
    return tuple(_suppressions(file))


def _suppressions(file: SourceFile) -> Iterator[Suppression]:
    comments = [it for it in _TOKEN.finditer(file.text) if it["comment"] is not None]
    ends = {it.start(): it.end() for it in comments}
    for comment in comments:
        mark = _MARK.match(comment[0])
        if mark is None:
            continue
        start = comment.start()
        codes: tuple[SuppressedCode, ...] = ()
        if mark["codes"] is not None:
            base = start + mark.start("codes")
            words = islice(_WORD.finditer(mark["codes"]), MAX_CODES)
            codes = tuple(
                SuppressedCode(it[0], Span(file.path, base + it.start(), base + it.end())) for it in words
            )
        row = file.position(start).row
        before = file.text[file.line_starts[row - 1] : start]
        alone = not before.strip() and not _rest_of_line(file.text, comment.end()).strip()
        yield Suppression(
            span=Span(file.path, start, comment.end()),
            codes=codes,
            row=None if mark["whole"] else _next_code_row(file, comment.end(), ends) if alone else row,
            stands_alone=alone,
        )


def _rest_of_line(text: str, at: int) -> str:
    end = text.find("\n", at)
    return text[at : end if end >= 0 else len(text)]


def _next_code_row(file: SourceFile, at: int, ends: Mapping[int, int]) -> int:
    """Return the first row after `at` that holds more than white space and comments."""
    text = file.text
    while at < len(text):
        if at in ends:
            at = ends[at]
        elif text[at].isspace():
            at += 1
        else:
            break
    return file.position(at).row

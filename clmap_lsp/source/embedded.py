"""Kernels inside host programs: strings of C, C++ and Python, and what macros of C and C++ make strings of.

What is found is text in the host file: every character that is handed on knows its place there.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import PurePath
from typing import Literal

from clmap_lsp.dataclass import dataclass
from clmap_lsp.lazy import lazy_pattern
from clmap_lsp.source.chained import Piece, chains
from clmap_lsp.source.host_tokens import RAW_STRING, SKIPPED, STRING_BODY, STRING_END
from clmap_lsp.source.span import Span
from clmap_lsp.source.wrapped import stringified, without_new_lines

HostLanguage = Literal["c", "cpp", "python"]

LANGUAGES: dict[str, HostLanguage] = {
    **dict.fromkeys((".c", ".m"), "c"),
    **dict.fromkeys((".cc", ".cpp", ".cxx", ".c++", ".h", ".hh", ".hpp", ".hxx", ".mm"), "cpp"),
    **dict.fromkeys((".py", ".pyi"), "python"),
}
"""The host language of a file by its suffix."""

_KERNEL = lazy_pattern(r"(?<!\w)(?:__kernel|kernel)(?!\w)[^;{}(\"']{0,2000}+\(", re.DOTALL)
_METAL = lazy_pattern(
    r"\busing\s+namespace\s+metal\b|<metal_\w+>|\[\[\s*(?:buffer|texture|thread|simdgroup|position)"
)
"""What shaders of Metal have, whose kernels begin as those of OpenCL do."""
_CODE = lazy_pattern(r"[{}]|^[ \t]*#[ \t]*[a-z]|=[^=;\n][^=;\n]*+;|\)\s*;|\btypedef\b", re.MULTILINE)
"""What OpenCL C of several lines has, and help, licences and queries of a database have not."""
_C_STRING = f'"{STRING_BODY}{STRING_END}'
_CPP_TOKEN = lazy_pattern(rf"{SKIPPED}|{RAW_STRING}|(?P<string>{_C_STRING})", re.DOTALL)
_C_TOKEN = lazy_pattern(rf"{SKIPPED}|(?P<string>{_C_STRING})", re.DOTALL)
_PYTHON_TOKEN = lazy_pattern(
    r"#[^\n]*|(?<!\w)(?P<prefix>[rRbBuUfF]{0,2})"
    r"(?:(?P<triple>\"\"\"|''')(?P<long>(?:[^\\\"']++|\\.|(?!(?P=triple))[\"'])*+)(?:(?P=triple)|\\?\Z)"
    r"|(?P<quote>[\"'])(?P<short>(?:[^\\\n\"']++|\\.|(?!(?P=quote))[\"'])*+)(?:(?P=quote)|(?=\n)|\\?\Z))",
    re.DOTALL,
)
_C_ESCAPE = lazy_pattern(
    r"\\(?:\r\n|\n|x[0-9a-fA-F]+|[0-7]{1,3}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)", re.DOTALL
)
_FIELD = lazy_pattern(r"\{\{|\}\}|\{(?P<value>[^{}\n!:]*+)[^{}\n]*+\}")
_FORMAT_FIELD = lazy_pattern(r"\{\{|\}\}|\{[ \t]*+(?:\w[\w.\[\]]*+)?(?:![rsa])?(?::[^{}\n]*+)?[ \t]*+\}")
_BRACE = lazy_pattern(r"[{}]")
_JOINED_LINE = lazy_pattern(r"\\\r?\n")
_PYTHON_COMMENT = lazy_pattern(r"(?<!\S)#[^\n]*")
_ABOUT = lazy_pattern(r"(?<!\w)__(?:doc|license|copyright|author)__\s*+=\s*+\(?\s*+\Z")
_BEFORE_VALUES = ("=", "(", ",", "+", "[", "{", "%", "return", "yield", '"', "'")
_LONGEST_ESCAPE = 10
_IS_STRING = lazy_pattern(r'(?:\s++|//[^\n]*+|/\*(?:[^*]|\*(?!/))*+\*/)*+"')
"""Starts a file that the host includes where it wants a string: `const char *source =` above, `;` below."""
_ASSIGNED = lazy_pattern(r'=\s*"')
_CHAR = lazy_pattern(r"(?<!\w)char(?!\w)")
_NO_DECLARATION = lazy_pattern(r'[;"#/]')
_SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "\n": "", "\r\n": ""}


def is_host(path: str) -> bool:
    """Tell whether a file is host code by its name: its kernels stand in strings."""
    return PurePath(path).suffix.lower() in LANGUAGES


@dataclass(frozen=True, slots=True)
class EmbeddedSource:
    """OpenCL C found in a host file.

    `text` is what the compiler would get. Piece i of it starts at `text_starts[i]`, and stands in the host
    file from `host_starts[i]` on; inside a piece the characters are the same.
    """

    start: int
    """Where the text starts in the host file, behind the opening quote."""
    end: int
    text: str
    text_starts: Sequence[int]
    host_starts: Sequence[int]

    def host_offset(self, offset: int) -> int:
        """Return the place in the host file of an offset in `text`."""
        piece = max(bisect_right(self.text_starts, offset) - 1, 0)
        limit = self.host_starts[piece + 1] if piece + 1 < len(self.host_starts) else self.end
        return min(self.host_starts[piece] + offset - self.text_starts[piece], limit)

    def host_span(self, span: Span, path: str) -> Span:
        """Return the place in the host file `path` of a span of `text`."""
        start = self.host_offset(span.start)
        # The end is that of the last character, so that a span never runs into the next literal.
        end = self.host_offset(span.end - 1) + 1 if span.end > span.start else start
        definition = None if span.definition is None else self.host_span(span.definition, path)
        return Span(path, start, end, definition)


def find_embedded(text: str, language: HostLanguage) -> list[EmbeddedSource]:
    """Return the strings of a host file that hold OpenCL kernels, in the order of the file. Never raises."""
    found = _strings(text, language)
    programs = _with_macros(_made(text, language), found)
    return [it for it in programs if _holds_kernel(it.text)]


def _holds_kernel(text: str) -> bool:
    """Tell whether a text has a kernel, be it half written.

    A message may speak of `kernel scale(...)`, and what is put together as the program runs has parts.
    """
    match = _KERNEL.search(text)
    if match is None or _METAL.search(text):
        return False
    if "{" in text[match.end() :]:
        return True
    return ("__kernel" in match[0] or "void" in text) and "\n" in text.strip()


def _strings(text: str, language: HostLanguage) -> Iterator[EmbeddedSource]:
    match language:
        case "python":
            return _python(text)
        case "cpp":
            return _c(text, _CPP_TOKEN)
        case _:
            return _c(text, _C_TOKEN)


def _made(text: str, language: HostLanguage) -> list[EmbeddedSource]:
    """Return what macros make strings of."""
    made = _chained(text, language)
    return made + [it for it in _stringified(text, language) if not _within(it, made)]


def _with_macros(made: Sequence[EmbeddedSource], strings: Iterable[EmbeddedSource]) -> list[EmbeddedSource]:
    """Return strings, and what macros make strings of, in the order of the file, each character once."""
    return sorted((*(it for it in strings if not _within(it, made)), *made), key=lambda it: it.start)


def _within(source: EmbeddedSource, others: Sequence[EmbeddedSource]) -> bool:
    return any(it.start <= source.start < it.end for it in others)


def _chained(text: str, language: HostLanguage) -> list[EmbeddedSource]:
    """Return the programs that macros and strings of C and C++ make together."""
    return [_of_pieces(text, it) for it in (chains(text) if language != "python" else ())]


def _of_pieces(text: str, pieces: Sequence[Piece]) -> EmbeddedSource:
    made = _Pieces()
    for it in pieces:
        if it.is_string:
            made.add_escaped(text, it.start, it.end)
        else:
            made.add(without_new_lines(text[it.start : it.end]), it.start)
    return made.source(pieces[0].start, pieces[-1].end)


def _stringified(text: str, language: HostLanguage) -> list[EmbeddedSource]:
    """Return what macros of C and C++ make strings of."""
    return [
        EmbeddedSource(start, end, without_new_lines(text[start:end]), (0,), (start,))
        for start, end in (stringified(text) if language != "python" else ())
    ]


def kernels_of_host(text: str, path: str) -> tuple[str, int]:
    """Return the OpenCL C in the strings of a host file, all else blanked, and how many strings that were.

    Strings without a kernel count where they have several lines of code: hosts put them before the others.
    A text that is no host's, or holds no kernel, comes back as it is, with 0; so does a `.cl` file without.
    """
    own = LANGUAGES.get(PurePath(path).suffix.lower())
    holds_strings = own is None and (_assigns_string(text) or _IS_STRING.match(text) is not None)
    language, is_host = own or ("c" if holds_strings else None), own is not None
    if language is None:
        return text, 0
    found, made = list(_strings(text, language)), _made(text, language)
    if not any(_holds_kernel(it.text) for it in _with_macros(made, found)):
        return text, 0
    programs = [it for it in found if _holds_kernel(it.text) or _may_go_before(it.text)]
    if is_host:  # A kernel file that is one such macro may define the macros that stand in it.
        programs = _with_macros(made, programs)
    blank = re.sub(r"[^\n]", " ", text)
    parts: list[str] = []
    at = 0
    for it in programs:
        parts += (blank[at : it.start], _in_place(it))
        at = it.end
    return "".join((*parts, blank[at:])), len(programs)


def _may_go_before(text: str) -> bool:
    """Tell whether a string without a kernel may be what a host puts before others."""
    return "\n" in text.strip() and not _METAL.search(text) and _CODE.search(text) is not None


def _is_value(text: str, start: int) -> bool:
    """Tell whether a string of Python is a value that code may be; one that stands alone is a comment."""
    before = text[max(start - 300, 0) : start]
    if _ABOUT.search(before):
        return False
    lines = [_PYTHON_COMMENT.sub("", it) for it in before.split("\n")]
    said = "\n".join(lines).rstrip(" \t\r\n\f\v\\")
    return said.endswith(_BEFORE_VALUES) or (said.endswith(":") and said.count("\n") == len(lines) - 1)


def _assigns_string(text: str) -> bool:
    """Tell whether a text gives a `char` variable a string."""
    at = 0
    while match := _ASSIGNED.search(text, at):
        line = text.rfind("\n", 0, match.start()) + 1
        span = line, match.start()
        if _CHAR.search(text, *span) and not _NO_DECLARATION.search(text, *span):
            return True
        at = text.find("\n", match.start()) + 1  # Another one in this line would have a quote before it.
        if at == 0:
            break
    return False


def _in_place(source: EmbeddedSource) -> str:
    """Return a string's text with each character where it stands in its file: of an escape, at its end."""
    made = [" "] * (source.end - source.start)
    hosts = (*source.host_starts[1:], source.end)
    ends = (*source.text_starts[1:], len(source.text))
    for start, end, host, stop in zip(source.text_starts, ends, source.host_starts, hosts, strict=True):
        last = stop if end - start == 1 and stop - host <= _LONGEST_ESCAPE else host + end - start
        made[last - (end - start) - source.start : last - source.start] = source.text[start:end]
    return "".join(made)


def _c(text: str, pattern: re.Pattern[str]) -> Iterator[EmbeddedSource]:
    """Yield literals, and runs of them that the compiler or the program puts together, escapes resolved."""
    run: list[re.Match[str]] = []
    last = 0
    for match in pattern.finditer(text):
        is_literal = any(match.groupdict().get(it) is not None for it in ("string", "raw"))
        is_comment = match.group()[0] == "/"
        between = text[last : match.start()]
        if run and not ((is_literal or is_comment) and _goes_on(text, run[0].start(), between)):
            yield _joined(text, run)
            run = []
        last = match.end()
        if is_literal:
            run.append(match)
    if run:
        yield _joined(text, run)


_BETWEEN_C = lazy_pattern(r"[ \t\r\n\\]*+(?:\)?\s*+\+\s*+(?:(?:std::)?string\s*+\(\s*+)?)?")
_ADDED = lazy_pattern(r"\)?\s*+;?\s*+(?P<name>\w++)\s*+\+=\s*+\(?\s*+")
_ADDED_TO = lazy_pattern(r"(?P<name>(?<!\w)\w++)\s*+\+?=\s*+(?:(?:std::)?string\s*+)?\(?\s*+\Z")
_LONGEST_NAME = 80


def _goes_on(text: str, first: int, between: str) -> bool:
    """Tell whether a literal is put together with the one before it.

    Args:
        first: where the first literal of the run starts.
        between: what stands between the two: nothing, a `+`, or a `+=` to what the first was assigned to.
    """
    if _BETWEEN_C.fullmatch(between):
        return True
    added = _ADDED.fullmatch(between) if "+=" in between else None
    if added is None:
        return False
    assigned = _ADDED_TO.search(text, max(first - _LONGEST_NAME, 0), first)
    return assigned is not None and assigned["name"] == added["name"]


def _joined(text: str, run: list[re.Match[str]]) -> EmbeddedSource:
    pieces = _Pieces()
    bodies = [_body_in_c(it) for it in run]
    is_format = _is_format(text, bodies)
    for match, (start, end) in zip(run, bodies, strict=True):
        add = pieces.add_escaped if match["string"] is not None else pieces.add_raw
        if is_format:
            pieces.add_formatted(text, start, end, add)
        else:
            add(text, start, end)
    return pieces.source(bodies[0][0], bodies[-1][1])


def _is_format(text: str, bodies: Sequence[tuple[int, int]]) -> bool:
    """Tell whether a string is meant for `str.format` or `std::format`: each brace of the code is doubled.

    Where it is formatted may be far away; a brace that stands alone makes it a template of another kind.
    """
    if not any(text.find("{{", *it) >= 0 for it in bodies):
        return False
    said = "".join(text[start:end] for start, end in bodies)
    return _BRACE.search(_FORMAT_FIELD.sub("", said)) is None


def _body_in_c(match: re.Match[str]) -> tuple[int, int]:
    if match["string"] is None:
        return match.span("raw")
    return match.start() + 1, match.end() - 1


def _python(text: str) -> Iterator[EmbeddedSource]:
    """Yield string literals, and runs of them that Python puts together, with what is filled in named."""
    for run in _python_runs(text):
        first = run[0]
        if first["triple"] and not _is_value(text, first.start()):
            continue
        pieces = _Pieces()
        plain = [it.span(_body_of(it)) for it in run if "f" not in it["prefix"].lower()]
        is_format = _is_format(text, plain)
        for match in run:
            start, end = match.span(_body_of(match))
            prefix = match["prefix"].lower()
            is_raw = "r" in prefix or "\\" not in text[start:end]
            add = pieces.add_raw if is_raw else pieces.add_escaped
            if is_format or "f" in prefix:
                pieces.add_formatted(text, start, end, add)
            else:
                add(text, start, end)
        yield pieces.source(first.start(_body_of(first)), run[-1].end(_body_of(run[-1])))


def _body_of(match: re.Match[str]) -> str:
    return "long" if match["triple"] else "short"


def _python_runs(text: str) -> Iterator[list[re.Match[str]]]:
    """Yield literals with those that follow, with only white space, comments, a `+` or a `+=` between.

    Without these a line end is between them only inside of brackets: elsewhere it ends what is assigned.
    """
    run: list[re.Match[str]] = []
    depth = last = 0
    for match in _PYTHON_TOKEN.finditer(text):
        between = text[last : match.start()]
        last = match.end()
        depth = max(depth + sum(map(between.count, "([{")) - sum(map(between.count, ")]}")), 0)
        ends_line = depth == 0 and "\n" in _JOINED_LINE.sub("", between)
        said = between.strip(" \t\r\n\\")
        is_added = "+=" in said and _goes_on(text, run[0].start() if run else 0, between)
        if run and not is_added and (ends_line or said not in ("", "+")):
            yield run
            run = []
        if match[_body_of(match)] is not None:
            run.append(match)
    if run:
        yield run


class _Pieces:
    """Text put together from pieces of a host file."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.text_starts: list[int] = []
        self.host_starts: list[int] = []
        self.length = 0

    def add(self, part: str, host: int) -> None:
        if part:
            self.parts.append(part)
            self.text_starts.append(self.length)
            self.host_starts.append(host)
            self.length += len(part)

    def add_raw(self, text: str, start: int, end: int) -> None:
        self.add(text[start:end], start)

    def add_formatted(self, text: str, start: int, end: int, add: Callable[[str, int, int], None]) -> None:
        """Add a formatted string of Python: a name stands for each value that is filled in."""
        at = start
        for match in _FIELD.finditer(text, start, end):
            add(text, at, match.start())
            if match["value"] is None:
                self.add(match[0][0], match.start())
            else:
                name = re.sub(r"\W", "_", match["value"].strip()) or "_"
                self.add(name if not name[0].isdecimal() else "_" + name, match.start() + 1)
            at = match.end()
        add(text, at, end)

    def add_escaped(self, text: str, start: int, end: int) -> None:
        at = start
        for match in _C_ESCAPE.finditer(text, start, end):
            self.add(text[at : match.start()], at)
            self.add(_unescaped(match.group()), match.start())
            at = match.end()
        self.add(text[at:end], at)

    def source(self, start: int, end: int) -> EmbeddedSource:
        if not self.parts:
            return EmbeddedSource(start, end, "", (0,), (start,))
        return EmbeddedSource(start, end, "".join(self.parts), self.text_starts, self.host_starts)


def _unescaped(escape: str) -> str:
    body = escape[1:]
    if body in _SIMPLE:
        return _SIMPLE[body]
    if body[0] in "xuU" and len(body) > 1:
        code = int(body[1:], 16)
    elif body[0] in "01234567":
        code = int(body, 8)
    else:
        return body
    return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else "?"

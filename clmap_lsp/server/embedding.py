"""Kernels in strings of C, C++ and Python files, seen through the same eyes as kernels of their own files.

The host file's text is masked: everything outside the strings becomes blanks, and so does what escapes take
beyond the character that they stand for. The masked text is as long as the host's, so every place in it is
the place in the host file. All strings of one file are read as one source.
"""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

from clmap_lsp.source.embedded import LANGUAGES, HostLanguage, find_embedded

if TYPE_CHECKING:
    from clmap_lsp.server.documents import Document
    from clmap_lsp.source.embedded import EmbeddedSource

_OPENCL_LANGUAGES = frozenset({"opencl", "opencl-c", "ocl", "cl"})
OPENCL_SUFFIXES = frozenset({".cl", ".ocl", ".clh", ".clc", ".opencl", ".clcpp"})
INCLUDED_SUFFIXES = frozenset({".h", ".hpp", ".inc", ".def", *OPENCL_SUFFIXES})
"""Of files that OpenCL C files include."""
_HOST_LANGUAGES: dict[str, HostLanguage] = {
    "c": "c",
    "objective-c": "c",
    "cpp": "cpp",
    "c++": "cpp",
    "objective-cpp": "cpp",
    "python": "python",
}


def is_opencl(document: Document) -> bool:
    """Tell whether a document is OpenCL C, by its language or its suffix."""
    return document.language_id in _OPENCL_LANGUAGES or _suffix(document) in OPENCL_SUFFIXES


def host_language(document: Document) -> HostLanguage | None:
    """Return the language of a document that may hold kernels in its strings."""
    return _HOST_LANGUAGES.get(document.language_id) or LANGUAGES.get(_suffix(document))


def kernel_text(document: Document) -> str:
    """Return the OpenCL C of a document, every character at its place in the document."""
    if is_opencl(document):
        return document.text
    language = host_language(document)
    return "" if language is None else masked(document.text, language)


def is_beside_kernels(document: Document, offset: int) -> bool:
    """Tell whether a place of a document is host code: in no string that holds kernels."""
    language = None if is_opencl(document) else host_language(document)
    if language is None:
        return False
    return not any(it.start <= offset <= it.end for it in find_embedded(document.text, language))


def masked(text: str, language: HostLanguage) -> str:
    """Return a host file's text with everything blank but the kernels in its strings.

    Line ends stay between the strings, so that one string's last `//` comment or directive does not swallow
    the next; within a string that was put together from several literals only its own line ends count.
    """
    out = [it if it in "\r\n" else " " for it in text]
    for source in find_embedded(text, language):
        _fill(out, text, source)
    return "".join(out)


def _fill(out: list[str], text: str, source: EmbeddedSource) -> None:
    out[source.start : source.end] = " " * (source.end - source.start)
    stops = [*source.text_starts[1:], len(source.text)]
    for host, start, stop in zip(source.host_starts, source.text_starts, stops, strict=True):
        part = source.text[start:stop]
        # An escape takes more than its character. A line end goes first, so that a backslash right before it
        # still joins the lines; any other character goes behind, so that it touches what follows.
        is_escape = len(part) == 1 and text[host] == "\\"
        at = host + 1 if is_escape and part != "\n" else host
        out[at : at + len(part)] = part


def _suffix(document: Document) -> str:
    return PurePath(document.path).suffix.lower()

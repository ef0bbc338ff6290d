"""Find kernel files."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from clmap_lsp.commands.same_kernels import kernels_of
from clmap_lsp.errors import UsageError
from clmap_lsp.escaping import terminal
from clmap_lsp.reading import Found, walk
from clmap_lsp.source.embedded import LANGUAGES, find_embedded
from clmap_lsp.sources import UnreadableError, read_source
from clmap_lsp.workspace import scope_of

SUFFIXES = frozenset({".cl", ".clc", ".ocl", ".opencl", ".clcpp"})
"""Files that a directory walk takes for kernels; a file named on the command line may be called anything."""
MAX_HOST_FILES = 20_000
"""Host files below a directory that are searched for kernels in strings."""


def kernel_files(paths: Iterable[str], excluded: Callable[[Path], bool]) -> list[str]:
    """Return the files that the paths mean, each once: files as named, directories walked in sorted order.

    Below a directory, what has no kernels and is included by others is left to these. Host files count that
    hold whole kernels in strings, unless all of these stand in kernel files as well. Where there are no
    kernel files, host files with parts of kernels count too, and those of C that are kernels.

    Directories whose names start with a dot are left out, and links to directories are not followed. Links to
    files outside the workspace, pipes and devices are left out with a line on standard error.

    Raises: UsageError for a path that is not there, or a directory without kernels.
    """
    found: dict[str, None] = {}
    for path in paths:
        if path == "-" or Path(path).is_file():
            _refuse_other_languages(path)
            found[path] = None
        elif Path(path).is_dir():
            below = _below(path, excluded)
            if not below:
                raise UsageError(
                    f"{path}: no kernels below this directory, in files that end in .cl, .clc or .ocl or in "
                    "strings of host code"
                )
            found.update(dict.fromkeys(_without_parts(below)))
        elif Path(path).exists():
            found[path] = None
        else:
            raise UsageError(f"{path}: no such file or directory")
    return list(found)


def _below(folder: str, excluded: Callable[[Path], bool]) -> list[str]:
    """Return the kernel files below a folder, and the host files that hold kernels which these do not.

    Of host files that may not be opened nothing is said where there are kernel files: few have kernels.
    """
    found = list(walk(folder, SUFFIXES | LANGUAGES.keys(), scope_of(str(Path(folder, "any")))))
    hosts = [it for it in found if Path(it.path).suffix.lower() in LANGUAGES]
    others = [it for it in found if Path(it.path).suffix.lower() not in LANGUAGES]
    kernels = [it for it in _opened(others) if not (excluded(Path(it)) or _is_variant(Path(it)))]
    if not kernels:
        return [it for it in _opened(hosts) if not excluded(Path(it)) and _holds_kernels(it)]
    searched = [it.path for it in hosts if not (it.refused or excluded(Path(it.path)))][:MAX_HOST_FILES]
    in_strings = {it: own for it in searched if (own := kernels_of(_programs_of(it)))}
    known = kernels_of(map(_text, kernels)) if in_strings else frozenset()
    wanted = {*kernels, *(it for it, own in in_strings.items() if not own <= known)}
    return [it.path for it in found if it.path in wanted]


def _opened(found: Iterable[Found]) -> Iterator[str]:
    for it in found:
        if it.refused:
            sys.stderr.write(terminal(f"clmap-lsp: {it.path}: left out ({it.refused})\n"))
        else:
            yield it.path


_COMMENTS = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_KERNEL = re.compile(r"kernel", re.IGNORECASE)
_HEAD = re.compile(
    r"(?<!\\\n)(?<!\\\r\n)^[ \t]*(?:__)?kernel(?![\w.])[^;{}()\"']{0,200}\bvoid\b", re.MULTILINE
)
"""How a kernel begins in a file of its own that is called `kernels.c`, as some courses do; in the body of a
macro it is text that the host builds."""
_DIRECTIVES = re.compile(r"^[ \t]*#[ \t]*(?:include|define)\b(.*)", re.MULTILINE)
_FILE_NAMES = re.compile(r"(?<![\w.+-])[\w.+-]+\.\w+")


_OTHERS = {
    ".cu": "CUDA",
    ".cuh": "CUDA",
    ".hip": "HIP",
    ".metal": "Metal",
    ".glsl": "GLSL",
    ".comp": "GLSL",
    ".hlsl": "HLSL",
    ".wgsl": "WGSL",
}
"""Kernels in other languages by suffix: errors at every `<<<` would not say that this is the wrong tool."""
_OF_OPENCL = re.compile(r"\b(?:get_global_id|get_group_id)\b|\b__kernel\b")
"""What a source for several languages, chosen by macros, has for OpenCL."""


def _refuse_other_languages(path: str) -> None:
    language = _OTHERS.get(Path(path).suffix.lower())
    if language is None:
        return
    try:
        text = read_source(path)
    except UnreadableError:
        return  # The check says why.
    if not _OF_OPENCL.search(text):
        raise UsageError(f"{path}: {language}, not OpenCL C: nothing here can be checked")


def _without_parts(paths: Sequence[str]) -> Iterator[str]:
    """Yield all but files without kernels that others include, perhaps inside of a function: they are checked
    there. A name in a macro counts, too: `#define COMPARE "part.cl"`."""
    bare: set[str] = set()
    named: set[str] = set()
    for path in paths:
        try:
            text = read_source(path)
        except UnreadableError:
            continue  # The check says why.
        own = Path(path).name
        named.update(
            it for line in _DIRECTIVES.findall(text) for it in _FILE_NAMES.findall(line) if it != own
        )
        if not _KERNEL.search(_COMMENTS.sub(" ", text)):
            bare.add(path)
    whole = [it for it in paths if it not in bare or Path(it).name not in named]
    yield from whole or paths


def _is_variant(path: Path) -> bool:
    """Tell a file of the host that has a variant for OpenCL, `Makefile.OpenCL` or `dock.cpp.OpenCL`."""
    return path.suffix.lower() == ".opencl" and ("." in path.stem or path.stem.lower() == "makefile")


def _holds_kernels(path: str) -> bool:
    """Tell whether a file that a host's suffix has holds kernels, in strings or as its own text."""
    text = _text(path)
    if "kernel" not in text:
        return False
    language = LANGUAGES[Path(path).suffix.lower()]
    is_kernels = language != "python" and _HEAD.search(_COMMENTS.sub(" ", text)) is not None
    return is_kernels or bool(find_embedded(text, language))


def _programs_of(path: str) -> Iterator[str]:
    """Yield the programs with kernels in the strings of a host file."""
    text = _text(path)
    if "kernel" in text:
        yield from (it.text for it in find_embedded(text, LANGUAGES[Path(path).suffix.lower()]))


def _text(path: str) -> str:
    """Return the text of a file, or nothing where it cannot be read: the check says why."""
    try:
        return read_source(path)
    except UnreadableError:
        return ""

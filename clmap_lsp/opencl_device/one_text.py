"""The text that a driver gets: the one that was emulated, whatever else the driver's compiler defines.

A kernel could do one thing under `#ifdef __POCL__` and another in the emulator. So the text starts with the
macros that it asks about as they were here, and what reaches around OpenCL C is refused wherever it stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from clmap_lsp.source.options import BuildOptions
from clmap_lsp.source.predefined import predefined_text
from clmap_lsp.source.vocabulary import ASSEMBLY_WORDS

_SPLICE = re.compile(r"\\[ \t]*(?:\r\n|\n|\r)")
_HIDDEN_DIRECTIVE = re.compile(r"(?:#|%:)[ \t]*/\*|^[ \t]*/\*[^\n]*\*/[ \t]*(?:#|%:)", re.MULTILINE)
_DIRECTIVE = re.compile(r"^[^\n]*(?:#|%:)[^\n]*$", re.MULTILINE)
_NAME = re.compile(r"[A-Za-z_]\w*")
_ATTRIBUTE = re.compile(r"__attribute(?:__)?\s*\(\s*\(\s*([^()]*)")
_KNOWN_ATTRIBUTES = frozenset(
    [
        "reqd_work_group_size",
        "work_group_size_hint",
        "vec_type_hint",
        "intel_reqd_sub_group_size",
        "aligned",
        "packed",
        "unused",
        "always_inline",
        "noinline",
        "opencl_unroll_hint",
        "endian",
        "nosvm",
        "const",
        "pure",
    ]
)
_WORDS = frozenset(
    [
        "define",
        "undef",
        "include",
        "if",
        "ifdef",
        "ifndef",
        "elif",
        "elifdef",
        "elifndef",
        "else",
        "endif",
        "pragma",
        "error",
        "warning",
        "line",
        "defined",
        "__FILE__",
        "__LINE__",
        "__func__",
        "__attribute__",
        "__attribute",
        "__kernel",
        "__global",
        "__local",
        "__constant",
        "__private",
        "__generic",
        "__read_only",
        "__write_only",
        "__read_write",
        "__restrict",
        "__const",
        "__volatile",
        "__inline",
        "OPENCL",
        "EXTENSION",
        "enable",
        "disable",
        "all",
        "FP_CONTRACT",
        "unroll",
    ]
)


def macros_as_here(text: str, included: Iterable[str], options: BuildOptions) -> tuple[str, str]:
    """Return what goes before the text for the driver, and nothing; or nothing, and why no driver gets it."""
    texts = [_SPLICE.sub("", it) for it in (text, *included)]
    if problem := next((it for one in texts for it in _problems(one)), ""):
        return "", problem
    ours = dict(_definitions(options))
    head = []
    for name in sorted(set().union(*(_asked_about(it) for it in texts)) - _WORDS - _own(options)):
        if name.startswith("CLK_") or (name in ours and not name.startswith(("__", "cl_", "CL_"))):
            return "", f"a condition asks about `{name}`, whose value is the driver's own"
        if name.startswith(("FLT_", "DBL_", "HALF_", "M_", "INT_", "LONG_", "CHAR_")):
            continue  # The language fixes their values.
        head.append(f"#undef {name}\n" + (f"#define {name} {ours[name]}\n" if name in ours else ""))
    return f"{''.join(head)}#line 1\n", ""


def _problems(text: str) -> Iterator[str]:
    for word in _NAME.findall(text):
        if word in ASSEMBLY_WORDS:
            yield f"it holds assembly (`{word}`)"
        elif word.startswith(("__builtin_", "__nvvm_", "__spirv_", "_cl_", "__pocl", "__sync_", "__c11_")):
            yield f"it calls what is inside a compiler (`{word}`)"
    for found in _ATTRIBUTE.finditer(text):
        for name in found[1].split(","):
            if name and name.strip("_") not in _KNOWN_ATTRIBUTES:
                yield f"its attribute `{name}` is not known"
    if _HIDDEN_DIRECTIVE.search(text):
        yield "a comment stands inside one of its directives"
    if "??=" in text:
        yield "it holds trigraphs"


def _asked_about(text: str) -> set[str]:
    """Return the names that stand in directives, and those that only compilers define."""
    lines = " ".join(_DIRECTIVE.findall(text))
    return {*_NAME.findall(lines), *(it for it in _NAME.findall(text) if it.startswith("__"))}


def _definitions(options: BuildOptions) -> Iterator[tuple[str, str]]:
    for line in predefined_text(options.language).splitlines():
        name, _, body = line.partition(" ")
        if name.isidentifier():
            yield name, body


def _own(options: BuildOptions) -> set[str]:
    """Return the names that the options define: the driver gets these by options too."""
    return {name for name, _ in (*options.predefined, *options.defines)}

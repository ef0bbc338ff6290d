"""Build options: what `clBuildProgram` gets."""

from __future__ import annotations

from clmap_lsp import defaults
from clmap_lsp.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """`-D`, `-I`, `-cl-std` and what the device's compiler predefines.

    `defines` are `(name, value)`; a define without a value has "1", as in C compilers. `undefines` are `-U`.
    `include_dirs` are searched after the folder of the including file.
    """

    defines: tuple[tuple[str, str], ...] = ()
    undefines: tuple[str, ...] = ()
    include_dirs: tuple[str, ...] = ()
    standard: str | None = None
    """As after `-cl-std=`: `CL1.1`, `CL1.2`, `CL2.0`, `CL3.0`, `CLC++`, `CLC++2021`; `None`: nobody said."""
    predefined: tuple[tuple[str, str], ...] = ()
    """Macros of the device, such as `__NV_CL_C_VERSION` or `__IMAGE_SUPPORT__`."""
    prelude: tuple[str, ...] = ()
    """Files that are read before each source, as `-include` does: what a host puts before its kernels."""

    @property
    def language(self) -> str:
        """The version of OpenCL C that counts: the one that was said, else the default."""
        return self.standard or defaults.STANDARD

    @property
    def is_cpp(self) -> bool:
        """The version that counts is one of C++ for OpenCL."""
        return names_cpp(self.language)


def names_cpp(standard: str) -> bool:
    """Tell whether a standard is one of C++ for OpenCL, not of C."""
    return standard.startswith("CLC++")


def is_cpp(path: str, standard: str | None) -> bool:
    """Tell whether a file is in C++ for OpenCL: its build says so, or, if that says nothing, its name."""
    return path.endswith(".clcpp") if standard is None else names_cpp(standard)


def defines_in(options: str) -> tuple[tuple[str, str], ...]:
    """Return the macros that build options define to what is known: `{…}` is what the run decides."""
    words = options.split()
    found = []
    depth = 0
    for index, word in enumerate(words):
        is_open = depth > 0
        depth = max(depth + word.count("{") - word.count("}"), 0)
        if is_open:
            continue
        if word == "-D" and index + 1 < len(words):
            text = words[index + 1]
        elif word.startswith("-D") and len(word) > 2:
            text = word[2:]
        else:
            continue
        name, equals, value = text.partition("=")
        if name.isidentifier() and "{" not in text:
            found.append((name, value if equals else "1"))
    return tuple(found)

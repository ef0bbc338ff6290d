"""Build options: what `clBuildProgram` gets."""

from __future__ import annotations

from dataclasses import dataclass

from clmap_lsp import defaults


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """`-D`, `-I`, `-cl-std` and what the device's compiler predefines.

    `defines` are `(name, value)`; a define without a value has "1", as in C compilers. `undefines` are `-U`.
    `include_dirs` are searched after the folder of the including file.
    """

    defines: tuple[tuple[str, str], ...] = ()
    undefines: tuple[str, ...] = ()
    include_dirs: tuple[str, ...] = ()
    standard: str = defaults.STANDARD
    """As after `-cl-std=`: `CL1.1`, `CL1.2`, `CL2.0`, `CL3.0`, `CLC++`, `CLC++2021`."""
    predefined: tuple[tuple[str, str], ...] = ()
    """Macros of the device, such as `__NV_CL_C_VERSION` or `__IMAGE_SUPPORT__`."""
    prelude: tuple[str, ...] = ()
    """Files that are read before each source, as `-include` does: what a host puts before its kernels."""

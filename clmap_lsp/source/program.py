"""A translation unit after lowering."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING

from clmap_lsp.dataclass import dataclass
from clmap_lsp.source.ir import Function, Guess, Initializer, Kernel, Problem
from clmap_lsp.source.span import Position, SourceFile, Span

if TYPE_CHECKING:
    from clmap_lsp.source.reuse import ProgramCache


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """What one `.cl` file, with its includes and options, says.

    Invariant: building a program never raises on its text; what could not be read is in `problems`, and the
    kernels that could be read are in `kernels`.
    """

    path: str
    files: Mapping[str, SourceFile]
    functions: Mapping[str, Function]
    kernels: tuple[Kernel, ...]
    constants: tuple[Initializer, ...]
    problems: tuple[Problem, ...] = ()
    guesses: tuple[Guess, ...] = ()
    inactive: tuple[Span, ...] = field(default=(), repr=False)
    cache: ProgramCache | None = field(default=None, repr=False)
    """What the next reading of the file may use again; see `read_program`."""

    @property
    def main_file(self) -> SourceFile:
        """The file that was asked for, as typed."""
        return self.files[self.path]

    def kernel(self, name: str) -> Kernel | None:
        """Return the kernel `name`, if it was understood."""
        return next((it for it in self.kernels if it.name == name), None)

    def position(self, span: Span) -> Position:
        """Return the row and column where a span starts."""
        return self.files[span.path].position(span.start)

    def end_position(self, span: Span) -> Position:
        """Return the row and column just past a span."""
        return self.files[span.path].position(span.end)

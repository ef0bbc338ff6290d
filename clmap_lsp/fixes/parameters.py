"""Kernel parameters as typed."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from clmap_lsp.dataclass import dataclass
from clmap_lsp.fixes.edits import insert
from clmap_lsp.source.types import PointerType

if TYPE_CHECKING:
    from clmap_lsp.findings import Edit
    from clmap_lsp.fixes.scope import Scope
    from clmap_lsp.source import ir

GLOBAL = r"\b(?:__)?global\b"


@dataclass(frozen=True, slots=True)
class TypedParameter:
    """A parameter and where its declaration stands, without the comma."""

    variable: ir.Variable
    start: int
    end: int

    def word(self, scope: Scope, pattern: str) -> re.Match[str] | None:
        """Return the first match of a pattern in the declaration, with offsets of the file."""
        return re.compile(pattern).search(scope.shown, self.start, self.end)


def read_alone(scope: Scope, names: Collection[str]) -> Iterator[Edit]:
    """Yield edits that promise compilers of some pointers that nothing they point to changes meanwhile.

    For rewrites that assume it anyway: loads may then be under way across barriers.
    """
    for parameter in pointer_parameters(scope):
        if parameter.variable.name not in names:
            continue
        space = parameter.word(scope, GLOBAL)
        if space is not None and parameter.word(scope, r"\bconst\b") is None:
            yield insert(scope.subject.path, space.end(), " const")
        yield from restricted(scope, parameter)


def restricted(scope: Scope, parameter: TypedParameter) -> Iterator[Edit]:
    """Yield the edit that adds `restrict` where it is missing, behind a star spaced as its author does."""
    star = parameter.word(scope, r"\*\s*")
    if star is not None and parameter.word(scope, r"\b(?:__)?restrict\b") is None:
        text = "* restrict " if star.end() - star.start() > 1 else "*restrict "
        yield scope.replaced(star.start(), star.end(), text)


def pointer_parameters(scope: Scope) -> Iterator[TypedParameter]:
    """Yield the pointer parameters of a kernel whose declarations are plain text of the file."""
    close = scope.shown.rfind(")", 0, scope.body.start)
    for variable in scope.subject.analysis.kernel.parameters:
        span = variable.span
        if not isinstance(variable.type, PointerType) or span.definition is not None:
            continue
        if span.path != scope.subject.path or not scope.subject.analysis.span.start <= span.start < close:
            continue
        name = re.compile(rf"\b{re.escape(variable.name)}\b").search(scope.shown, span.start, close)
        if name is None:
            continue
        opening = max(scope.shown.rfind(it, 0, name.start()) for it in "(,")
        found = TypedParameter(variable, opening + 1, name.end())
        if "*" in scope.shown[found.start : found.end]:
            yield found

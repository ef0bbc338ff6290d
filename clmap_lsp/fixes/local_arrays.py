"""Local arrays of which every use is in sight."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from clmap_lsp.dataclass import dataclass
from clmap_lsp.fixes import facts
from clmap_lsp.fixes.reaching import Reached, reached
from clmap_lsp.fixes.scope import Scope, as_typed
from clmap_lsp.source import ir
from clmap_lsp.source.types import ArrayType, points_to_local

if TYPE_CHECKING:
    from clmap_lsp.access.records import Access
    from clmap_lsp.source.types import Type


@dataclass(frozen=True, slots=True)
class LocalArray:
    """A local array with all its accesses.

    `declared` and `uses` are ranges of the text inside brackets: of the declaration, and of each place.
    """

    variable: ir.Variable
    element: Type
    lengths: tuple[int, ...]
    """Empty where the host gives the size."""
    declared: tuple[tuple[int, int], ...]
    uses: tuple[tuple[tuple[int, int], ...], ...]
    """Empty where the array is reached from other places than the kernel's own text, too."""
    accesses: tuple[Access, ...]
    reached: Reached | None = None
    """Those places, of an array with one dimension."""


def local_arrays(scope: Scope) -> Iterator[LocalArray]:
    """Yield the local arrays and pointers that are used by plain subscripts only, in the kernel or not."""
    kernel = scope.subject.analysis.kernel
    if facts.opaque(kernel):
        return
    for variable in (*kernel.variables, *kernel.parameters):
        found = None
        if variable.kind is ir.VariableKind.LOCAL_OBJECT and isinstance(variable.type, ArrayType):
            found = _declared_array(scope, variable, variable.type)
        elif points_to_local(variable.type):
            found = _with_uses(scope, variable, variable.type.pointee, (), ())
            found = found or _elsewhere(scope, variable, variable.type.pointee, (), ())
        if found is not None:
            yield found


def _declared_array(scope: Scope, variable: ir.Variable, array: ArrayType) -> LocalArray | None:
    lengths = []
    inner: Type = array
    while isinstance(inner, ArrayType):
        if inner.length is None:
            return None
        lengths.append(inner.length)
        inner = inner.element
    if not as_typed(variable.span, scope.subject.path):
        return None
    declared = scope.subscripts(variable.span.end, len(lengths))
    if declared is None:
        return None
    found = _with_uses(scope, variable, inner, tuple(lengths), declared)
    return found or _elsewhere(scope, variable, inner, tuple(lengths), declared)


def _elsewhere(
    scope: Scope,
    variable: ir.Variable,
    element: Type,
    lengths: tuple[int, ...],
    declared: tuple[tuple[int, int], ...],
) -> LocalArray | None:
    """Return an array that macros or functions reach, too: row by row, or by one index that is in sight."""
    accesses = tuple(it for it in facts.accesses(scope.subject.analysis) if it.root is variable)
    if not accesses or any(it.size != element.size for it in accesses):
        return None
    if len(lengths) > 1:
        by_rows = all(len(it.subscripts) == len(lengths) for it in accesses)
        return LocalArray(variable, element, lengths, declared, (), accesses) if by_rows else None
    found = reached(scope, variable, element)
    return None if found is None else LocalArray(variable, element, lengths, declared, (), accesses, found)


def _with_uses(
    scope: Scope,
    variable: ir.Variable,
    element: Type,
    lengths: tuple[int, ...],
    declared: tuple[tuple[int, int], ...],
) -> LocalArray | None:
    """Return the array if every mention of its name is an access with all its subscripts."""
    accesses = tuple(it for it in facts.accesses(scope.subject.analysis) if it.root is variable)
    if not accesses or not all(scope.is_typed(it) and it.size == element.size for it in accesses):
        return None
    starts = {it.span.start for it in accesses}
    mentions = [at for at in scope.mentions(variable.name) if at != variable.span.start]
    if set(mentions) != starts:
        return None
    uses = []
    for at in sorted(starts):
        found = scope.subscripts(at + len(variable.name), max(len(lengths), 1))
        if found is None or any(_has_effects(scope.shown[a:b]) for a, b in found):
            return None
        uses.append(found)
    return LocalArray(variable, element, lengths, declared, tuple(uses), accesses)


def _has_effects(text: str) -> bool:
    return any(it in text for it in ("++", "--", "=", ",", "?"))

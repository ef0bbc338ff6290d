"""Rows that a kernel stores: a pitch that was guessed is no shorter than what its work-items write beside it.

`a[i*pitch + x]` with an `x` that goes further than `pitch` writes one element in two rows: a race that no
program has, and every finding on such a launch would be the guess's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from clmap_lsp.dataclass import dataclass
from clmap_lsp.launch.forms import Form, Forms, Id, Monomial, add, is_scalar_parameter
from clmap_lsp.source import ir
from clmap_lsp.source.ir import Variable
from clmap_lsp.source.per_kernel import per_kernel


@dataclass(frozen=True, slots=True)
class StoredRow:
    """One store: elements from row to row for each one of the pitch, and what the ids add along a row."""

    elements: int
    along: Mapping[Monomial, int]

    def needed(self, most: Callable[[Id], int | None]) -> int | None:
        """Return a pitch that keeps the rows apart; `most` gives the highest value of an id.

        It is a multiple of the largest step: a tile's work-items store several elements each.
        """
        span, steps = 0, []
        for mono, coef in self.along.items():
            reached = abs(coef)
            for atom in mono:
                highest = most(atom) if isinstance(atom, Id) else None
                if highest is None:
                    return None
                reached *= highest
            span += reached
            steps.append(abs(coef))
        coarsest = max(steps)
        return -(-(span // coarsest + 1) * coarsest // self.elements)


@per_kernel
def stored_rows(kernel: ir.Kernel) -> Mapping[Variable, tuple[StoredRow, ...]]:
    """Return the stored rows by the scalar parameter that is their pitch; remembered, not to be changed.

    Only stores that all work-items make: what stands behind a condition on ids may not go as far as these.
    """
    forms = Forms.of(kernel)
    if any(_leaves(it, forms) for it in ir.walk(kernel.body)):
        return {}
    found: dict[Variable, list[StoredRow]] = {}
    for store in _stores(kernel.body, forms):
        form = _index(store.pointer, forms)
        if form is None:
            continue
        pitches = [it for it in form.atoms() if isinstance(it, Variable) and is_scalar_parameter(it)]
        for pitch in sorted(pitches, key=lambda it: it.name):
            row = _row(form, pitch)
            if row is not None:
                found.setdefault(pitch, []).append(row)
    return {pitch: tuple(rows) for pitch, rows in found.items()}


def _row(form: Form, pitch: Variable) -> StoredRow | None:
    """Return the row of a store, if `pitch` multiplies ids or counters alone, and ids go along it."""
    elements: list[int] = []
    turned: set[object] = set()
    along: dict[Monomial, int] = {}
    for mono, coef in form.terms.items():
        if all(is_scalar_parameter(it) for it in mono):
            continue  # The same for all work-items: where they start.
        others = [it for it in mono if it is not pitch]
        if len(others) == len(mono):
            if all(isinstance(it, Id) for it in mono):
                along[mono] = coef
        elif len(others) < len(mono) - 1 or any(is_scalar_parameter(it) for it in others):
            return None
        else:
            turned.update(others)
            elements.append(abs(coef))
    if not elements or not along or any(it in turned for mono in along for it in mono):
        return None
    return StoredRow(min(elements), along)


def _stores(block: ir.Block, forms: Forms) -> Iterator[ir.Store]:
    """Yield the stores that no condition on ids decides about."""
    for statement in block:
        if isinstance(statement, ir.Store):
            yield statement
        if not _asks_ids(statement, forms):
            for inner in ir.blocks(statement):
                yield from _stores(inner, forms)


def _leaves(statement: ir.Statement, forms: Forms) -> bool:
    """Tell whether some work-items may leave where a condition on their ids says so."""
    return _asks_ids(statement, forms) and ir.may_leave(statement)


def _asks_ids(statement: ir.Statement, forms: Forms) -> bool:
    """Tell whether a statement decides by ids, or by what is not followed, what runs."""
    match statement:
        case ir.If(condition=condition) | ir.Switch(value=condition):
            pass
        case ir.Loop(condition=ir.Compare() | ir.Logical() as condition):
            pass
        case _:
            return False
    found = forms.compared(condition) or [forms.form(condition)]
    return any(it is None or any(isinstance(atom, Id) for atom in it.atoms()) for it in found)


def _index(pointer: ir.Expression, forms: Forms) -> Form | None:
    """Return the index of a pointer, in elements; `None` where it has none, or they have several sizes."""
    total: Form | None = None
    stride = 0
    for part in _offsets(pointer, forms):
        form = forms.form(part.index)
        if form is None or (total is not None and part.stride != stride):
            return None
        total = form if total is None else add(total, form)
        stride = part.stride
    return total


def _offsets(pointer: ir.Expression, forms: Forms) -> Iterator[ir.PointerOffset]:
    """Yield the steps of a pointer, the last first, also through pointers that are set once."""
    for _ in range(_MOST_STEPS):
        if isinstance(pointer, ir.PointerOffset):
            yield pointer
            pointer = pointer.pointer
            continue
        variable = ir.variable_of(pointer)
        values = forms.assigned.get(variable, ()) if variable is not None else ()
        if len(values) != 1 or variable in forms.stepped:
            return
        pointer = values[0]


_MOST_STEPS = 16

"""All that the engine looks at of a kernel, as one value: kernels of one value cost the same.

Most of what a person types changes data that no address and no branch follows from, or moves what stands
behind it. What counts take from a kernel is its slice: places, names of registers and arithmetic on data are
no part of it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Iterable
from operator import attrgetter
from typing import Any, get_args

from clmap_lsp.emulator.symbolic.needs import Needs, needs_of
from clmap_lsp.source import ir
from clmap_lsp.source.ir import Variable, VariableKind
from clmap_lsp.source.per_kernel import per_kernel

_PLACES = frozenset({"span", "is_volatile", "text"})
_STATEMENTS = frozenset(get_args(ir.Statement))
_EXPRESSIONS = frozenset(get_args(ir.Expression))


@per_kernel
def seen_of(kernel: ir.Kernel) -> int:
    """Return the value of a kernel, in time linear in its size; remembered."""
    needs = needs_of(kernel)
    reader = _Reader(needs, kernel.constants)
    parameters = tuple(reader.variable(it) for it in kernel.parameters)
    names = tuple(it.name for it in kernel.parameters)
    return hash((names, parameters, reader.block(kernel.body), tuple(sorted(reader.moved, key=_first))))


def _first(entry: tuple[Hashable, ...]) -> Any:
    return entry[0]


class _Reader:
    """Writes statements down as tuples; variables by their number in order of first use."""

    def __init__(self, needs: Needs, constants: Iterable[Variable]) -> None:
        self._needs = needs
        self._constants = {it: place for place, it in enumerate(constants)}
        self._hashes: dict[int, int] = {}
        self._numbers: dict[Variable, tuple[Hashable, ...]] = {}
        self.moved: list[tuple[Hashable, ...]] = [(site, it) for site, it in needs.moved.items()]

    def variable(self, variable: Variable) -> tuple[Hashable, ...]:
        """Return what stands for a variable; reasons name arguments and arrays."""
        found = self._numbers.get(variable)
        if found is None:
            is_named = variable.is_object or variable.kind is VariableKind.PARAMETER
            name = variable.name if is_named else ""
            number = len(self._numbers), self._constants.get(variable, -1)
            is_needed = variable in self._needs.variables or variable in self._needs.objects
            found = self._numbers[variable] = (
                *number,
                variable.kind,
                self._hash(variable.type),
                name,
                is_needed,
            )
        return found

    def block(self, block: ir.Block) -> Hashable:
        """Return what stands for a block: assignments that nothing follows from are left out."""
        return tuple([self.statement(it) for it in block if not self._is_data(it)])

    def _is_data(self, statement: ir.Statement) -> bool:
        if type(statement) is ir.Declare:
            return statement.variable not in self._needs.variables
        return self._needs.is_data(statement)

    def statement(self, statement: ir.Statement) -> Hashable:
        """Return what stands for a statement."""
        if isinstance(statement, ir.Load) and statement.variable not in self._needs.variables:
            return ir.Load, statement.site, self.value(statement.pointer), statement.size
        if isinstance(statement, ir.Store) and not self._needs.keeps(statement):
            return ir.Store, statement.site, self.value(statement.pointer), statement.size
        return self.value(statement)

    def _hash(self, what: Hashable) -> int:
        """Return the hash of a type or name; the same object is met again and again."""
        found = self._hashes.get(id(what))
        if found is None:
            found = self._hashes[id(what)] = hash((type(what), what))
        return found

    def value(self, what: Any) -> Hashable:
        """Return what stands for an expression, a statement, or a part of one."""
        if type(what) is Variable:
            return self.variable(what)
        if type(what) is tuple:
            is_block = bool(what) and type(what[0]) in _STATEMENTS
            return self.block(what) if is_block else tuple([self.value(it) for it in what])
        parts = _PARTS.get(type(what))
        if parts is None:
            return repr(what) if type(what) is float else self._hash(what)
        return (type(what), *[self.value(it(what)) for it in parts])


_PARTS: dict[type, tuple[attrgetter[Any], ...]] = {
    kind: tuple(attrgetter(it.name) for it in dataclasses.fields(kind) if it.name not in _PLACES)
    for kind in (*_STATEMENTS, *_EXPRESSIONS, ir.SwitchCase)
}
"""What gets the parts of each kind of node."""

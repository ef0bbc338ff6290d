"""Every place where a kernel reaches the elements of an array, in the functions that it calls too.

Functions stay as they are, for those who call them with other arrays: where one subscripts the array that it
was handed, the kernel gets a copy of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from clmap_lsp.dataclass import dataclass
from clmap_lsp.fixes.edits import insert
from clmap_lsp.fixes.scope import as_typed
from clmap_lsp.source import ir
from clmap_lsp.source.types import PointerType

if TYPE_CHECKING:
    from clmap_lsp.findings import Edit
    from clmap_lsp.fixes.scope import Scope
    from clmap_lsp.source.types import Type

_WORD = re.compile(r"[A-Za-z_]\w*")
_FIRST = re.compile(r"(?<![\w)\].])[ \t]*\*[ \t]*\Z")
"""Before a pointer: it is dereferenced, not multiplied with."""
_ARGUMENT = re.compile(r"[(,]\s*\Z")
_ENDS = re.compile(r"\s*[,)]")

Range = tuple[int, int]
Written = Callable[[str], str]
"""From the text of an index to that of the new one."""


@dataclass(frozen=True, slots=True)
class Reached:
    """Where a function's text, and what it calls, names elements of an array."""

    indices: tuple[Range, ...]
    """What stands in the brackets."""
    calls: tuple[tuple[int, str], ...] = ()
    """Where it calls functions that get a copy, and their names."""
    callees: tuple[tuple[ir.Function, Reached], ...] = ()
    """Those functions, callees first."""

    def edits(self, scope: Scope, written: Written) -> list[Edit]:
        """Return the edits that give every index another text, and the copies that this needs."""
        names = {it.name: scope.unused(f"{it.name}_conflict_free") for it, _ in self.callees}
        edits = [
            scope.replaced(start, end, text)
            for (start, end), text in self._changes(scope, written, names).items()
        ]
        copies = [_copied(scope, it, reached, written, names) for it, reached in self.callees]
        if copies:
            gap = scope.newline * 2
            at = _with_comments(scope, scope.subject.analysis.span.start)
            edits.append(insert(scope.subject.path, at, gap.join(copies) + gap))
        return edits

    def _changes(self, scope: Scope, written: Written, names: dict[str, str]) -> dict[Range, str]:
        found = {(at, at + len(name)): names[name] for at, name in self.calls}
        for start, end in self.indices:
            old = scope.text[start:end]
            if old.strip() != "0" and (new := written(old)) != old:
                found[start, end] = new
        return found


def _copied(
    scope: Scope, function: ir.Function, reached: Reached, written: Written, names: dict[str, str]
) -> str:
    """Return the text of a function under its new name."""
    span, name = function.span, function.name_span
    changes = {(name.start, name.end): names[function.name], **reached._changes(scope, written, names)}
    return scope.rewritten(_start_of(scope, span.start), span.end, changes)


def _start_of(scope: Scope, at: int) -> int:
    """Return where a definition starts, with the qualifiers and attributes before it on its line or above."""
    return max(scope.shown.rfind(it, 0, at) for it in ";}\n") + 1 if scope.shown[:at].strip() else at


def _with_comments(scope: Scope, at: int) -> int:
    """Return where a definition starts, with the attributes and comments on the lines right above it."""
    at = scope.text.rfind("\n", 0, at) + 1
    while at:
        above = scope.text.rfind("\n", 0, at - 1) + 1
        line, shown = scope.text[above : at - 1].strip(), scope.shown[above : at - 1].strip()
        if not line or line.startswith("#") or line.endswith("\\") or shown.endswith((";", "}")):
            break
        at = above
    return at


def reached(scope: Scope, variable: ir.Variable, element: Type) -> Reached | None:
    """Return where a kernel reaches elements of a local array of its own; `None` where it does more."""
    kernel = scope.subject.program.functions.get(scope.subject.analysis.name)
    if kernel is None:
        return None
    mine = next((it for it in (*kernel.variables, *kernel.parameters) if _is_same(it, variable)), None)
    return None if mine is None else _Reader(scope, element).function(kernel, mine)


def _is_same(one: ir.Variable, other: ir.Variable) -> bool:
    return one.name == other.name and one.span == other.span


class _Reader:
    def __init__(self, scope: Scope, element: Type) -> None:
        self.scope, self.element = scope, element
        self.inside: list[str] = []

    def function(self, function: ir.Function, variable: ir.Variable) -> Reached | None:
        """Return where a function reaches the elements behind one of its arrays or pointers."""
        passed = self._passed(function, variable)
        if passed is None or function.body is None or function.name in self.inside:
            return None
        wholes, elements = passed
        if not all(self._takes_one(*it) for it in elements):
            return None
        indices = self._indices(function, variable)
        if indices is None:
            return None
        self.inside.append(function.name)
        callees: dict[str, tuple[ir.Function, Reached]] = {}
        calls: list[tuple[int, str]] = []
        for call, parameter in wholes:
            callee = self.scope.subject.program.functions[call.function]
            found = self.function(callee, parameter)
            if found is None or not self._is_of_file(callee) or callee.is_kernel:
                return None
            if (found.indices or found.callees) and callees.get(callee.name, (None, found))[1] == found:
                callees.update({it.name: (it, inner) for it, inner in found.callees})
                callees[callee.name] = callee, found
                calls.append((call.span.start, callee.name))
            elif found.indices or found.callees:
                return None  # It is handed two arrays, and would need two copies.
        self.inside.pop()
        if any(not self.scope.text.startswith(name, at) for at, name in calls):
            return None
        return Reached(indices, tuple(dict.fromkeys(calls)), tuple(callees.values()))

    def _is_of_file(self, function: ir.Function) -> bool:
        spans = (function.span, function.name_span)
        return all(as_typed(it, self.scope.subject.path) for it in spans)

    def _takes_one(self, call: ir.Call, parameter: ir.Variable) -> bool:
        """True if a function does with a pointer nothing but to reach the one element that it points to."""
        function = self.scope.subject.program.functions[call.function]
        if function.body is None or function.name in self.inside:
            return False
        for statement in ir.walk(function.body):
            for pointer, rest in _pointers(statement):
                if _mentions(rest, parameter):
                    return False
                if pointer is None or not _mentions((pointer,), parameter):
                    continue
                if not _is_base(pointer, parameter) or not self._is_whole(statement):
                    return False
                if isinstance(statement, ir.Call):
                    callee = self.scope.subject.program.functions.get(statement.function)
                    at = statement.arguments.index(pointer)
                    if callee is None or not self._takes_one(statement, callee.parameters[at]):
                        return False
        return True

    def _is_whole(self, statement: ir.Statement) -> bool:
        """True if what a statement reads or writes is one element."""
        return getattr(statement, "size", self.element.size) == self.element.size

    def _passed(
        self, function: ir.Function, variable: ir.Variable
    ) -> tuple[list[tuple[ir.Call, ir.Variable]], list[tuple[ir.Call, ir.Variable]]] | None:
        """Return the calls that are handed the array, and those handed an element's address.

        `None` where it is used for anything else, or from text that is not the file's own.
        """
        places = self._mentions(function, variable)
        wholes: list[tuple[ir.Call, ir.Variable]] = []
        elements: list[tuple[ir.Call, ir.Variable]] = []
        for statement in ir.walk(function.body or ()):
            for pointer, rest in _pointers(statement):
                if _mentions(rest, variable):
                    return None
                if pointer is None or not _mentions((pointer,), variable):
                    continue
                span = statement.span
                if not as_typed(span, self.scope.subject.path):
                    return None
                if not any(span.start <= it < span.end for it in places):
                    return None  # A macro names it.
                if not (_is_base(pointer, variable) or self._is_element(pointer, variable)):
                    return None
                if isinstance(statement, ir.Call):
                    callee = self.scope.subject.program.functions.get(statement.function)
                    if callee is None or callee.body is None:
                        return None
                    parameter = callee.parameters[statement.arguments.index(pointer)]
                    (wholes if _is_base(pointer, variable) else elements).append((statement, parameter))
                elif not self._is_whole(statement):
                    return None
        return wholes, elements

    def _is_element(self, pointer: ir.Expression, variable: ir.Variable) -> bool:
        inner = _same_pointer(pointer)
        return (
            isinstance(inner, ir.PointerOffset)
            and _is_base(inner.pointer, variable)
            and inner.stride == self.element.size
            and not _mentions((inner.index,), variable)
        )

    def _mentions(self, function: ir.Function, variable: ir.Variable) -> list[int]:
        """Return where a function's text names a variable, but for its declaration."""
        start, end = function.name_span.end, function.span.end
        if variable.kind is ir.VariableKind.PARAMETER:
            start = variable.span.end
        return [
            it.start()
            for it in _WORD.finditer(self.scope.shown, start, end)
            if it.group() == variable.name and it.start() != variable.span.start
        ]

    def _indices(self, function: ir.Function, variable: ir.Variable) -> tuple[Range, ...] | None:
        """Return the subscripts of a name in a function's text; `None` where it stands without one."""
        scope, found = self.scope, []
        for at in self._mentions(function, variable):
            before, end = scope.shown[max(at - 40, 0) : at], at + len(variable.name)
            inside = scope.subscripts(end, 1)
            if inside is not None:
                found.append(inside[0])
            elif _FIRST.search(before) is None and not (
                _ARGUMENT.search(before) and _ENDS.match(scope.shown, end)
            ):
                return None
        if any(scope.has_effects(*it) for it in found):
            return None
        return tuple(found)


def _pointers(statement: ir.Statement) -> Iterator[tuple[ir.Expression | None, tuple[ir.Expression, ...]]]:
    """Yield each pointer that a statement reaches memory by or hands over, and the expressions beside it."""
    match statement:
        case ir.Load(pointer=pointer):
            yield pointer, ()
        case ir.Store(pointer=pointer, value=value):
            yield pointer, (value,)
        case ir.Atomic(pointer=pointer, operands=operands):
            yield pointer, operands
        case ir.Call(arguments=arguments):
            for it in arguments:
                yield it, ()
        case _:
            yield None, tuple(ir.expressions(statement))


def _same_pointer(value: ir.Expression) -> ir.Expression:
    """Return a pointer without casts that leave what it points to as it is."""
    while (
        isinstance(value, ir.PointerCast)
        and isinstance(value.type, PointerType)
        and isinstance(value.operand.type, PointerType)
        and value.type.pointee == value.operand.type.pointee
    ):
        value = value.operand
    return value


def _is_base(value: ir.Expression, variable: ir.Variable) -> bool:
    it = _same_pointer(value)
    return isinstance(it, (ir.Read, ir.ObjectAddress)) and it.variable is variable


def _mentions(values: tuple[ir.Expression, ...], variable: ir.Variable) -> bool:
    return any(
        isinstance(it, (ir.Read, ir.ObjectAddress)) and it.variable is variable
        for value in values
        for it in ir.nodes(value)
    )

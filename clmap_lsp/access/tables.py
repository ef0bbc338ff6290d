"""Values of constants that are known when a kernel is compiled: `__constant int steps[] = {1, 2, 4}`."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from itertools import pairwise

from clmap_lsp.access.polynomial import Polynomial
from clmap_lsp.access.real import number
from clmap_lsp.access.values import Scalar, Value, Vector
from clmap_lsp.source.ir import Initializer, Variable, VariableKind
from clmap_lsp.source.types import AddressSpace, ArrayType, ScalarKind, ScalarType, Type, VectorType

_LONGEST = 1 << 16
"""Elements of the tables that are looked through for a pattern."""
_SHORT = 64
"""Elements of the arrays that are followed element by element when they are copied."""
_FLOATS = {16: "<e", 32: "<f", 64: "<d"}


class Tables:
    """The constants of one program, by variable."""

    def __init__(self, constants: Iterable[Initializer] = ()) -> None:
        self._data = {
            it.variable: it.data
            for it in constants
            if it.data is not None and not it.addresses and it.variable.kind is VariableKind.CONSTANT_OBJECT
        }
        self._rows: dict[tuple[Variable, ScalarType], tuple[int, int] | None] = {}

    def read(self, root: Variable, space: AddressSpace, offset: Polynomial, kind: Type) -> Value | None:
        """Return what a load of a type at a byte offset gives; `None` where it is not known.

        At a varying index it is known of tables whose elements rise evenly, inside of the table: a kernel
        that reads outside of one has no defined result.
        """
        data = self._data.get(root)
        if data is None or space is not AddressSpace.CONSTANT:
            return None
        match kind, offset.value:
            case ScalarType(), int(at):
                return _scalar(data, at, kind)
            case VectorType(element=element, lanes=lanes), int(at):
                parts = [_scalar(data, at + lane * element.size, element) for lane in range(lanes)]
                known = tuple(it for it in parts if it is not None)
                return Vector(known) if len(known) == lanes else None
            case ScalarType(), _ if kind.is_integer and _innermost(root.type) == kind:
                return self._rising(root, data, offset, kind)
            case _:
                return None

    def elements(self, root: Variable, start: int, size: int) -> Iterator[tuple[int, int, Polynomial]]:
        """Yield (distance from `start`, size, value) of the integers in some bytes of a short array."""
        data, kind = self._data.get(root), _innermost(root.type)
        if data is None or not isinstance(kind, ScalarType) or not kind.is_integer:
            return
        if size > _SHORT * kind.size or start % kind.size or start + size > len(data):
            return
        for at in range(0, size - kind.size + 1, kind.size):
            yield at, kind.size, Polynomial.constant(_integer(data, start + at, kind))

    def _rising(self, root: Variable, data: bytes, offset: Polynomial, kind: ScalarType) -> Polynomial | None:
        index = offset.exact_quotient(Polynomial.constant(kind.size))
        if index is None:
            return None
        key = root, kind
        if key not in self._rows:
            self._rows[key] = _first_and_step(_elements(data, kind))
        row = self._rows[key]
        return None if row is None else Polynomial.constant(row[0]) + index * Polynomial.constant(row[1])


def _first_and_step(elements: tuple[int, ...]) -> tuple[int, int] | None:
    """Return the first element and the distance of neighbours, where all distances are equal."""
    if not elements:
        return None
    step = elements[1] - elements[0] if len(elements) > 1 else 0
    is_even = all(b - a == step for a, b in pairwise(elements))
    return (elements[0], step) if is_even else None


def _elements(data: bytes, kind: ScalarType) -> tuple[int, ...]:
    if not kind.is_integer or len(data) > _LONGEST * kind.size:
        return ()
    return tuple(_integer(data, at, kind) for at in range(0, len(data), kind.size))


def _scalar(data: bytes, at: int, kind: ScalarType) -> Scalar | None:
    if not 0 <= at <= len(data) - kind.size:
        return None
    if kind.is_integer:
        return Polynomial.constant(_integer(data, at, kind))
    form = _FLOATS.get(kind.bits) if kind.kind is ScalarKind.FLOAT else None
    return None if form is None else number(struct.unpack_from(form, data, at)[0])


def _integer(data: bytes, at: int, kind: ScalarType) -> int:
    return int.from_bytes(data[at : at + kind.size], "little", signed=kind.is_signed)


def _innermost(kind: Type) -> Type:
    while isinstance(kind, ArrayType):
        kind = kind.element
    return kind

"""Which bytes each access moves, as compilers execute it: components, whole vectors, structs, packed members.

The IR says what the source says: `A[x].s3` reads a vector of which one component is used, `A[x].s3 = 1`
writes four bytes. Compilers move the one component in the first case, and write the whole vector back in the
second. Alignment is what they can see of the address, which for arrays of local memory is more than the
language promises. Source: counters of an NVIDIA H200 (tests/data/hardware_truth/nvidia_h200_wide.json).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from math import gcd

from clmap_lsp.dataclass import dataclass
from clmap_lsp.devices import rules
from clmap_lsp.devices.model import DeviceModel
from clmap_lsp.source import ir
from clmap_lsp.source.ir import Site, Variable, VariableKind
from clmap_lsp.source.types import ScalarType, VectorType

LOCAL_ALIGNMENT = 16
"""Bytes at which compilers place arrays of local memory."""


@dataclass(frozen=True, slots=True)
class AtomicForm:
    """What decides how an atomic is executed, besides its addresses.

    `adds_one` is an addition of 1, `adds` any addition or subtraction of a 32-bit integer; `keeps` tells
    whether somebody wants the old value.
    """

    op: ir.AtomicOp
    bits: int
    adds: bool
    adds_one: bool
    keeps: bool


@dataclass(frozen=True, slots=True)
class Moved:
    """`size` bytes from `start` bytes behind the access's address, in elements of `element` bytes.

    `stored` is the bytes that are written where that is less than the type's size: 12 of a float3.
    """

    size: int
    element: int
    alignment: int
    start: int = 0
    stored: int | None = None
    lanes: frozenset[int] | None = None
    """The components of a loaded vector that are used; `None`: all."""
    atomic: AtomicForm | None = None

    def pieces(self, device: DeviceModel) -> tuple[tuple[int, int], ...]:
        """Return the (offset, bytes) of the instructions that it takes, relative to the access's address."""
        used, element = self.lanes, self.element
        if used is not None and len(used) == 1:
            (lane,) = used
            return ((lane * element, element),)
        by_elements = device.global_rule.max_access_elements is not None
        size = self.stored if by_elements and self.stored is not None else self.size
        found = rules.pieces(size, device, self.alignment, element)
        if used is not None:
            found = tuple(part for it in found for part in _used_parts(it, used, element))
        return tuple((at + self.start, n) for at, n in found)


def _used_parts(piece: tuple[int, int], used: frozenset[int], element: int) -> tuple[tuple[int, int], ...]:
    """Return what is left of an instruction of which some components are used.

    Two neighbours are one instruction, two others two; of three the whole is moved.
    """
    start, size = piece
    mine = sorted(n * element for n in used if start <= n * element < start + size)
    if not mine or size <= 2 * element or len(mine) > 2:
        return (piece,) if mine else ()
    if len(mine) == 2 and mine[1] - mine[0] == element and (mine[0] - start) % (2 * element) == 0:
        return ((mine[0], 2 * element),)
    return tuple((at, element) for at in mine)


def moved_by(statements: Iterable[ir.Statement]) -> Mapping[Site, Moved]:
    """Return what every access of a kernel moves.

    Args:
        statements: all of the kernel's, those of nested blocks included.
    """
    everything = tuple(statements)
    uses: _Uses | None = None
    found = {}
    for statement in everything:
        for touch in ir.touches(statement):
            if isinstance(statement, ir.Atomic):
                uses = uses or _Uses(everything)
                form = _form(statement, keeps=uses.is_read(statement.variable))
                found[touch.site] = replace(_plain(touch), atomic=form)
            elif _is_wide(statement, touch):
                uses = uses or _Uses(everything)
                found[touch.site] = uses.moved(statement, touch)
            else:
                found[touch.site] = _plain(touch)
    return found


_ADDITIONS = frozenset((ir.AtomicOp.ADD, ir.AtomicOp.SUB, ir.AtomicOp.INC, ir.AtomicOp.DEC))


def _form(it: ir.Atomic, *, keeps: bool) -> AtomicForm:
    adds = it.op in _ADDITIONS and it.type.is_integer and it.type.bits == 32
    one = it.op is ir.AtomicOp.ADD and isinstance(it.operands[0], ir.Constant) and it.operands[0].value == 1
    return AtomicForm(it.op, it.type.bits, adds, adds and (one or it.op is ir.AtomicOp.INC), keeps)


def _is_wide(statement: ir.Statement, touch: ir.Touch) -> bool:
    """Tell whether an access may be more than one plain scalar."""
    if isinstance(touch.type, VectorType) or touch.alignment < touch.size:
        return True
    return isinstance(statement, ir.Store) and statement.component is not None


def _plain(touch: ir.Touch) -> Moved:
    kind = touch.type
    element = kind.element.size if isinstance(kind, VectorType) else touch.size
    return Moved(touch.size, element, min(touch.alignment, touch.size & -touch.size) or 1)


class _Uses:
    """What is made of each variable of a kernel."""

    def __init__(self, statements: Iterable[ir.Statement]) -> None:
        self.values: dict[Variable, list[ir.Expression | None]] = {}
        """What each variable is given, `None` where that is no expression."""
        self.lanes: dict[Variable, set[int] | None] = {}
        """The components of it that are used alone; `None` where it is used as a whole."""
        self.copies: dict[Variable, list[Variable]] = {}
        for statement in statements:
            value = statement.value if isinstance(statement, ir.Assign) else None
            for variable in ir.written(statement):
                self.values.setdefault(variable, []).append(value)
            if isinstance(statement, ir.Assign) and isinstance(statement.value, ir.Read):
                self.copies.setdefault(statement.value.variable, []).append(statement.variable)
                continue
            for expression in ir.expressions(statement):
                self._note(expression)

    def _note(self, expression: ir.Expression) -> None:
        waiting = [expression]
        while waiting:
            it = waiting.pop()
            if isinstance(it, ir.Read):
                self.lanes[it.variable] = None
            elif isinstance(it, ir.Swizzle) and isinstance(it.operand, ir.Read):
                known = self.lanes.setdefault(it.operand.variable, set())
                if known is not None:
                    known.update(it.lanes)
            else:
                waiting += ir.operands(it)

    def is_read(self, variable: Variable | None) -> bool:
        """Tell whether somebody reads a variable."""
        return variable in self.lanes or variable in self.copies

    def moved(self, statement: ir.Statement, touch: ir.Touch) -> Moved:
        """Return what one access moves."""
        found = _plain(touch)
        if found.alignment < touch.size:
            found = replace(found, alignment=max(found.alignment, self._visible(touch)))
        if isinstance(statement, ir.Store):
            return (
                _stored(touch, found) if statement.component is None else _written_back(statement.component)
            )
        if (
            isinstance(statement, ir.Load)
            and isinstance(touch.type, VectorType)
            and not statement.is_volatile
        ):
            used = self._used(statement.variable)
            if used is not None and len(used) < touch.type.lanes:
                return replace(found, lanes=frozenset(used))
        return found

    def _used(self, variable: Variable) -> set[int] | None:
        """Return the components that are used of a variable, through copies; `None`: it as a whole."""
        found = set(self.lanes.get(variable, set()) or ())
        if variable in self.lanes and self.lanes[variable] is None:
            return None
        for copy in self.copies.get(variable, ()):
            if len(self.values.get(copy, ())) != 1 or copy is variable:
                return None
            below = self._used(copy)
            if below is None:
                return None
            found |= below
        return found or None

    def _visible(self, touch: ir.Touch) -> int:
        """Return the alignment of an address in local memory that its expression shows.

        An index of 32 bits, which is converted to 64, shows it only where it is a multiple of two or more:
        `vload4(i, p)` by an int i was seen not to be merged, by `i*2` and by a `size_t` it was.
        """
        pointer = touch.pointer
        if isinstance(touch.type, VectorType) and isinstance(pointer, ir.PointerOffset):
            index = pointer.index
            index = ir.unconverted(index)
            narrow = isinstance(index.type, ScalarType) and index.type.bits < 64
            if narrow and self._multiple(index) % 2:
                return 1
        seen = self._aligned(pointer)
        return seen & -seen

    def _aligned(self, pointer: ir.Expression) -> int:
        match pointer:
            case ir.ObjectAddress(variable=variable) if variable.kind is VariableKind.LOCAL_OBJECT:
                return LOCAL_ALIGNMENT
            case ir.PointerOffset():
                return gcd(self._aligned(pointer.pointer), pointer.stride * self._multiple(pointer.index))
            case ir.FieldAddress():
                return gcd(self._aligned(pointer.pointer), pointer.field.offset)
            case ir.PointerCast(operand=operand):
                return self._aligned(operand)
            case ir.Read(variable=variable) if (value := self._only(variable)) is not None:
                return self._aligned(value)
            case _:
                return 1

    def _only(self, variable: Variable) -> ir.Expression | None:
        values = self.values.get(variable, ())
        return values[0] if len(values) == 1 and variable.kind is VariableKind.REGISTER else None

    def _multiple(self, index: ir.Expression) -> int:
        """Return a number that an index is a multiple of, as far as one sees (0: it is 0)."""
        match index:
            case ir.Constant(value=int(value)):
                return abs(value)
            case ir.Convert(operand=operand):
                return self._multiple(operand)
            case ir.Binary(op=ir.BinaryOp.MUL):
                return self._multiple(index.left) * self._multiple(index.right)
            case ir.Binary(op=ir.BinaryOp.SHL, right=ir.Constant(value=count)) if 0 <= count < 32:
                return self._multiple(index.left) << int(count)
            case ir.Binary(op=ir.BinaryOp.ADD | ir.BinaryOp.SUB):
                return gcd(self._multiple(index.left), self._multiple(index.right))
            case ir.Read(variable=variable) if (only := self._only(variable)) is not None:
                return self._multiple(only)
            case _:
                return 1


def _stored(touch: ir.Touch, found: Moved) -> Moved:
    """Return a store, which of three components leaves the place of the fourth alone."""
    kind = touch.type
    if isinstance(kind, VectorType) and kind.lanes == 3 and touch.size > 3 * kind.element.size:
        return replace(found, stored=3 * kind.element.size)
    return found


def _written_back(component: ir.Component) -> Moved:
    """Return the whole vector, for a store to some of its components."""
    whole = component.vector
    element = whole.element.size
    stored = 3 * element if whole.lanes == 3 else None
    return Moved(whole.size, element, whole.alignment, start=-component.first * element, stored=stored)

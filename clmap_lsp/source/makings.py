"""What the values that a loop gives are made of, structures taken apart by their members.

A cipher's context holds how many bytes it has taken beside the state that it mixes: its counters do not
follow from that state.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Final

from clmap_lsp.dataclass import dataclass
from clmap_lsp.interruption import checkpoint
from clmap_lsp.source import ir
from clmap_lsp.source.ir import Expression, Statement, Variable, VariableKind
from clmap_lsp.source.per_kernel import per_kernel
from clmap_lsp.source.slicing import PointsTo, reads, roots_of, slice_of
from clmap_lsp.source.types import AddressSpace, PointerType, StructType

_START: Final = -1
"""The place in an object at which it begins."""
_ANYWHERE: Final = -2
_READ_WHOLE: Final = -3
"""Stands for all that an object holds: its members, and what was stored anywhere into it."""
_EVERYTHING: Final = "all private objects"
"""Stands for what is read through a pointer of which nobody knows where it leads."""

Part = tuple[Variable, int]
"""A member of a private object, by its offset; or one of the above."""
Places = Mapping[Variable, frozenset[Part]]
"""The parts of private objects that registers may point into."""
_NOWHERE: Final[frozenset[Part]] = frozenset()


@dataclass(frozen=True, slots=True)
class Wanted:
    """The values that matter to what is asked of a loop."""

    values: frozenset[object]
    """Registers, and parts of private objects."""
    targets: Mapping[int, frozenset[Part]]
    """The parts that stores write, by the ids of the statements; without those that may write anything."""

    def needs(self, statement: ir.Assign | ir.Load | ir.Store) -> bool:
        """Tell whether what a statement writes matters."""
        if not isinstance(statement, ir.Store):
            return statement.variable in self.values
        targets = self.targets.get(id(statement))
        return targets is None or not self.values.isdisjoint(targets)


@dataclass(frozen=True, slots=True)
class Makings:
    """What the values that the statements of a loop give are made of."""

    of: Mapping[object, set[object]]
    """By register or part of a private object, with what chooses the places that are read and written."""
    always: frozenset[object]
    """What decides which way an iteration goes, or what is forgotten in it."""
    targets: Mapping[int, frozenset[Part]]

    def behind(self, variables: Iterable[Variable]) -> Wanted:
        """Return what some values at the end of an iteration follow from, themselves included."""
        found: set[object] = {*variables, *self.always}
        waiting = list(found)
        while waiting:
            fresh = self.of.get(waiting.pop(), set()) - found
            found |= fresh
            waiting.extend(fresh)
        return Wanted(frozenset(found), self.targets)


def makings_of(kernel: ir.Kernel, loop: ir.Loop) -> Makings:
    """Look through a loop for what its values are made of, in time linear in its size."""
    reader = _Reader(slice_of(kernel).points_to, _places(kernel))
    for statement in ir.walk((loop,)):
        checkpoint()
        reader.take(statement)
    return Makings(reader.of, frozenset(reader.always), reader.targets)


class _Reader:
    def __init__(self, points_to: PointsTo, places: Places) -> None:
        self.points_to = points_to
        self.places = places
        self.of: defaultdict[object, set[object]] = defaultdict(set)
        self.always: set[object] = set()
        self.targets: dict[int, frozenset[Part]] = {}

    def take(self, statement: Statement) -> None:
        """Note what a statement's values are made of."""
        match statement:
            case ir.Declare():
                pass
            case ir.Assign(variable=variable, value=value):
                self.of[variable] |= _read(value)
            case ir.Load(variable=variable, pointer=pointer):
                self.of[variable] |= _read(pointer)
                self.of[variable].update(map(self._source, self._parts(pointer)))
                if self._leads_anywhere(pointer):
                    self.of[variable].add(_EVERYTHING)
            case ir.Store():
                self._store(statement)
            case _:
                self._other(statement)

    def _store(self, it: ir.Store) -> None:
        made_of = _read(it.pointer) | _read(it.value)
        if not roots_of(it.pointer, self.points_to):  # It may replace anything.
            self.always |= made_of
            return
        parts = self.targets[id(it)] = frozenset(map(self._target, self._parts(it.pointer)))
        for part in parts:
            self.of[part] |= made_of

    def _other(self, statement: Statement) -> None:
        """Take all that a statement reads for what always matters: branches, calls, copies."""
        for expression in ir.expressions(statement):
            self.always |= _read(expression)
        if isinstance(statement, ir.CopyObject):
            sources: set[object] = {*map(self._source, self._parts(statement.source))}
            if self._leads_anywhere(statement.source):
                sources.add(_EVERYTHING)
            for root, _ in self._parts(statement.destination):
                self.of[self._target((root, _ANYWHERE))] |= sources
        if isinstance(statement, ir.Loop):  # What counts its iterations gives them their name.
            self.always.update(it for inner in ir.walk(statement.step) for it in ir.written(inner))

    def _parts(self, pointer: Expression) -> frozenset[Part]:
        return _parts_of(pointer, self.places) if isinstance(pointer.type, PointerType) else _NOWHERE

    def _leads_anywhere(self, pointer: Expression) -> bool:
        kind = pointer.type
        is_private = isinstance(kind, PointerType) and kind.space in _PRIVATE
        return is_private and not roots_of(pointer, self.points_to)

    def _source(self, part: Part) -> Part:
        """Return what stands for all that a load from a part may see."""
        root, place = self._target(part)
        return (root, place) if place >= 0 else (root, _READ_WHOLE)

    def _target(self, part: Part) -> Part:
        """Return what stands for what a store to a part changes."""
        root, place = part
        known = part if place >= 0 else (root, _ANYWHERE)
        if place >= 0:
            self.of[known].add((root, _ANYWHERE))
        self.of[root, _READ_WHOLE].add(known)
        self.of[_EVERYTHING].add((root, _READ_WHOLE))
        return known


_PRIVATE: Final = frozenset({AddressSpace.PRIVATE, AddressSpace.GENERIC})


def _read(expression: Expression) -> set[object]:
    found: set[Variable] = set()
    reads(expression, found)
    return {*found}


@per_kernel
def _places(kernel: ir.Kernel) -> Places:
    """Flow the parts that pointers lead to through the assignments of a kernel's registers."""
    found: dict[Variable, frozenset[Part]] = {}
    users: defaultdict[Variable, list[ir.Assign]] = defaultdict(list)
    waiting: list[ir.Assign] = []
    for it in ir.walk(kernel.body):
        if isinstance(it, ir.Assign) and isinstance(it.variable.type, PointerType):
            waiting.append(it)
            read: set[Variable] = set()
            reads(it.value, read)
            for variable in read:
                users[variable].append(it)
    while waiting:
        checkpoint()
        it = waiting.pop()
        before = found.get(it.variable, _NOWHERE)
        now = before | _parts_of(it.value, found)
        if len(now) > len(before):
            found[it.variable] = now
            waiting.extend(users[it.variable])
    return found


def _parts_of(pointer: Expression, places: Places) -> frozenset[Part]:
    """Return the parts of private objects that a pointer may lead into."""
    match pointer:
        case ir.ObjectAddress(variable=variable):
            return frozenset({(variable, _START)}) if _is_private(variable) else _NOWHERE
        case ir.Read(variable=variable):
            return places.get(variable, _NOWHERE)
        case ir.PointerCast(operand=inner):
            return _parts_of(inner, places)
        case ir.PointerOffset(pointer=inner, index=index):
            stays = isinstance(index, ir.Constant) and index.value == 0
            parts = _parts_of(inner, places)
            if stays:
                return parts
            return frozenset((root, place if place >= 0 else _ANYWHERE) for root, place in parts)
        case ir.FieldAddress(pointer=inner):
            return frozenset(_member(pointer, root, place) for root, place in _parts_of(inner, places))
        case ir.Select():
            return _parts_of(pointer.if_true, places) | _parts_of(pointer.if_false, places)
        case _:
            parts = _NOWHERE.union(*(_parts_of(it, places) for it in ir.operands(pointer)))
            return frozenset((root, _ANYWHERE) for root, _ in parts)


def _member(it: ir.FieldAddress, root: Variable, place: int) -> Part:
    """Return the part that a member is of what begins at a place: of a structure as it was declared."""
    kind = it.pointer.type
    if place >= 0:
        return root, place
    is_whole = place == _START and isinstance(kind, PointerType) and kind.pointee == root.type
    if (
        is_whole
        and isinstance(root.type, StructType)
        and _is_plain(root.type)
        and it.field in root.type.fields
    ):
        return root, it.field.offset
    return root, _ANYWHERE


def _is_plain(kind: StructType) -> bool:
    """Tell whether no member shares its bytes with another."""
    return not kind.is_union and all(it.bits is None for it in kind.fields)


def _is_private(variable: Variable) -> bool:
    return variable.kind is VariableKind.PRIVATE_OBJECT

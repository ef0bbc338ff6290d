"""The work-items of a group in step, with what each of them gathered on its way through the kernel.

Work-items that take each other's elements gather other parts of the same total. They may where nothing leaves
a work-group but the total: parts go through a tree of pairs in local memory, whatever way it is typed, or are
added up by atomics. The kernel is executed here for all work-items of a group in step, with the set of parts
that each value holds in place of the value. A value that holds all of them, each once, is the total and no
longer counts as made of parts. Whatever else a value with parts is used for shows who gathered them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from clmap_lsp.access.polynomial import Parameter, WorkItemSymbol
from clmap_lsp.dataclass import dataclass
from clmap_lsp.fixes.alike import differs_along
from clmap_lsp.fixes.whole_numbers import both_or_either, compared, computed, fitting, unary
from clmap_lsp.source import ir
from clmap_lsp.source.types import AddressSpace, PointerType, ScalarType

if TYPE_CHECKING:
    from clmap_lsp.fixes.reductions import Total
    from clmap_lsp.fixes.scope import Scope
    from clmap_lsp.source.types import Type

MOST_STEPS = 400_000
"""Statements of single work-items that one proof takes."""
_ATOMIC = {
    "+": (ir.AtomicOp.ADD, ir.AtomicOp.SUB),
    "min": (ir.AtomicOp.MIN,),
    "max": (ir.AtomicOp.MAX,),
    "&": (ir.AtomicOp.AND,),
    "|": (ir.AtomicOp.OR,),
    "^": (ir.AtomicOp.XOR,),
}
_COLLECTIVE = {
    "+": "work_group_reduce_add",
    "min": "work_group_reduce_min",
    "max": "work_group_reduce_max",
}
_OPERATORS = ("+", "&", "|", "^")
_FUSED = ("mad", "fma", "mad24")
_LOCAL = (AddressSpace.LOCAL, AddressSpace.GENERIC)


class SeenError(Exception):
    """It shows who gathered what, or nobody can tell."""


@dataclass(frozen=True, slots=True)
class _Parts:
    """A value that holds what some work-items gathered: a bit for each of them."""

    mask: int


@dataclass(frozen=True, slots=True)
class _Place:
    """An address: bytes from the start of a memory object, where known."""

    root: ir.Variable
    offset: int | None


_Value = int | _Parts | _Place | None
"""`None` is a value that holds no parts and is not known."""


class Group:
    """The work-items of one group, in step.

    Those with other ids in other dimensions do the same beside them. `placed` tells if parts were put in
    places of local memory, so that the group's size mattered.
    """

    def __init__(self, scope: Scope, loop: ir.Loop, total: Total, size: int) -> None:
        self.scope, self.loop, self.total, self.size = scope, loop, total, size
        self.operation = _operation(total)
        self.all = (1 << size) - 1
        self.values: dict[ir.Variable, dict[int, _Value]] = {}
        self.cells: dict[ir.Variable, dict[int, int]] = {}
        """The parts in local memory, by byte."""
        self.widths: dict[ir.Variable, int] = {}
        self.placed = False
        self.steps = 0

    # ------------------------------------------------------------------------------------ statements

    def run(self, block: ir.Block, lanes: list[int], *, maybe: bool) -> None:
        """Execute a block for some work-items.

        Args:
            maybe: nobody knows which of them execute it.
        """
        for statement in block:
            self.steps += len(lanes)
            if self.steps > MOST_STEPS:
                raise SeenError
            if lanes:
                self._statement(statement, lanes, maybe)

    def _statement(self, it: ir.Statement, lanes: list[int], maybe: bool) -> None:
        match it:
            case ir.Assign(variable=variable, value=value):
                self._set(variable, {lane: self.value(value, lane) for lane in lanes}, maybe)
            case ir.Load(variable=variable, pointer=pointer, size=size):
                found = {lane: self._loaded(pointer, lane, size) for lane in lanes}
                self._set(variable, found, maybe)
            case ir.Store():
                stored = [(self.value(it.pointer, lane), self.value(it.value, lane)) for lane in lanes]
                for place, kept in stored:
                    self._store(it, place, kept, maybe)
            case ir.If(condition=condition, then=then, otherwise=otherwise):
                self._branch(condition, then, otherwise, lanes, maybe)
            case ir.Loop():
                self._repeat(it, lanes, maybe)
            case ir.Scope(body=body):
                self._enter(body, lanes, maybe)
            case ir.Atomic():
                self._count(it, lanes, maybe)
            case ir.Collective():
                self._together(it, lanes, maybe)
            case ir.Declare(variable=variable):
                self._set(variable, dict.fromkeys(lanes), maybe)
            case ir.Barrier() | ir.Fence() | ir.WaitEvents():
                pass
            case _:
                self._unknown((it,))

    def _set(self, variable: ir.Variable, new: dict[int, _Value], maybe: bool) -> None:
        mine = self.values.setdefault(variable, {})
        for lane, value in new.items():
            old = mine.get(lane)
            differs = maybe and old != value
            if differs and (isinstance(old, _Parts) or isinstance(value, _Parts)):
                raise SeenError
            mine[lane] = None if differs else value

    def _branch(
        self, condition: ir.Expression, then: ir.Block, otherwise: ir.Block, lanes: list[int], maybe: bool
    ) -> None:
        tests = {lane: self._plain(condition, lane) for lane in lanes}
        if any(not isinstance(it, int) for it in tests.values()):
            self.run(then, [lane for lane in lanes if tests[lane] != 0], maybe=True)
            self.run(otherwise, [lane for lane in lanes if tests[lane] in (0, None)], maybe=True)
            return
        self.run(then, [lane for lane in lanes if tests[lane]], maybe=maybe)
        self.run(otherwise, [lane for lane in lanes if not tests[lane]], maybe=maybe)

    def _repeat(self, loop: ir.Loop, lanes: list[int], maybe: bool) -> None:
        if loop is self.loop:
            if maybe or len(lanes) != self.size:
                raise SeenError
            self._unknown((loop,), besides=self.total.variable)
            self.values[self.total.variable] = {lane: self._made(1 << lane) for lane in lanes}
            return
        inside = (*loop.test, *loop.body, *loop.step)
        if not self._involves(inside):
            self._unknown(inside)
            return
        if any(isinstance(it, (ir.Break, ir.Continue, ir.Return, ir.Leave)) for it in ir.walk(inside)):
            raise SeenError
        first = not loop.tests_first
        while lanes:
            self.run(loop.test, lanes, maybe=maybe)
            tests = {lane: 1 if first else self._tested(loop, lane) for lane in lanes}
            if any(not isinstance(it, int) for it in tests.values()):
                self._repeat_unknown(inside, lanes)
                return
            lanes, first = [lane for lane in lanes if tests[lane]], False
            self.run((*loop.body, *loop.step), lanes, maybe=maybe)

    def _tested(self, loop: ir.Loop, lane: int) -> _Value:
        return 1 if loop.condition is None else self._plain(loop.condition, lane)

    def _repeat_unknown(self, inside: ir.Block, lanes: list[int]) -> None:
        """Execute a loop that nobody knows the turns of: what it changes is unknown, and parts stay."""
        for variable in self._changed(inside):
            mine = self.values.get(variable, {})
            self.values[variable] = {k: it if isinstance(it, _Parts) else None for k, it in mine.items()}
        self.run(inside, lanes, maybe=True)

    def _enter(self, body: ir.Block, lanes: list[int], maybe: bool) -> None:
        """Execute what a function does; one that is left early is not followed where it handles parts."""
        left = [it for it in ir.walk(body) if isinstance(it, ir.Leave)]
        if not left or (len(left) == 1 and body[-1] is left[0]):
            self.run(body[:-1] if left else body, lanes, maybe=maybe)
        else:
            self._unknown(body)

    def _unknown(self, block: ir.Block, besides: ir.Variable | None = None) -> None:
        """Take note that nobody knows what a block does, which must have nothing to do with parts."""
        if self._involves(block, besides):
            raise SeenError
        for variable in self._changed(block):
            self.values[variable] = {}

    def _changed(self, block: ir.Block) -> set[ir.Variable]:
        return {variable for it in ir.walk(block) for variable in ir.written(it)}

    def _involves(self, block: ir.Block, besides: ir.Variable | None = None) -> bool:
        """True if a block may touch a variable or memory that holds parts, or is where they are gathered."""
        holding = {
            variable
            for variable, mine in self.values.items()
            if variable is not besides and any(isinstance(it, _Parts) for it in mine.values())
        }
        filled = any(self.cells.values())
        for it in ir.walk(block):
            if it is self.loop and besides is None:
                return True
            if holding and holding & set(ir.written(it)):
                return True
            if filled and any(touch.space in _LOCAL for touch in _touched(it)):
                return True
        return bool(holding) and any(
            isinstance(node, ir.Read) and node.variable in holding
            for expression in ir.all_expressions(block)
            for node in ir.nodes(expression)
        )

    # ---------------------------------------------------------------------------------------- memory

    def _loaded(self, pointer: ir.Expression, lane: int, size: int) -> _Value:
        cells = self._cells(pointer.type, self.value(pointer, lane), size)
        if not cells:
            return None
        place = self.value(pointer, lane)
        if not isinstance(place, _Place) or place.offset is None:
            raise SeenError
        mask = cells.get(place.offset)
        return None if mask is None else _Parts(mask)

    def _store(self, it: ir.Store, place: _Value, value: _Value, maybe: bool) -> None:
        cells = self._cells(it.pointer.type, place, it.size)
        known = isinstance(place, _Place) and place.offset is not None
        if isinstance(value, _Parts):
            if cells is None or not known or maybe or it.component or it.bits:
                raise SeenError
            assert isinstance(place, _Place) and place.offset is not None, "it is known"
            cells[place.offset] = value.mask
            self.widths[place.root] = it.size
            self.placed = True
        elif cells:
            if not known or maybe or it.component:
                raise SeenError
            assert isinstance(place, _Place) and place.offset is not None, "it is known"
            cells.pop(place.offset, None)

    def _cells(self, kind: object, place: _Value, size: int) -> dict[int, int] | None:
        """Return the parts in the memory object of an address; `None` for memory that never holds any."""
        if not isinstance(kind, PointerType) or kind.space not in _LOCAL:
            return None
        if not isinstance(place, _Place):
            if any(self.cells.values()):
                raise SeenError
            return None
        mine = self.cells.setdefault(place.root, {})
        if mine and self.widths[place.root] != size:
            raise SeenError
        return mine

    def _count(self, it: ir.Atomic, lanes: list[int], maybe: bool) -> None:
        operands = [[self.value(one, lane) for one in it.operands] for lane in lanes]
        mask = self._union([one for mine in operands for one in mine])
        if mask:
            counts = it.op in _ATOMIC.get(self.operation, ())
            used = it.variable is not None and self._reads(it.variable)
            if not counts or used or mask != self.all or not self._same_for_group(it):
                raise SeenError
        elif any(self._cells(it.pointer.type, self.value(it.pointer, k), it.type.size) for k in lanes):
            raise SeenError
        if it.variable is not None:
            self._set(it.variable, dict.fromkeys(lanes), maybe)

    def _same_for_group(self, it: ir.Atomic) -> bool:
        """True if all that differ in their first id make an atomic once, or none does, on one element."""
        access = self.scope.general[it.site]
        values = (access.index, *access.guard)
        return (
            access.known
            and not access.loops
            and not any(
                differs_along(value)
                or not all(isinstance(leaf, (WorkItemSymbol, Parameter)) for leaf in value.leaves)
                for value in values
            )
        )

    def _reads(self, variable: ir.Variable) -> bool:
        return any(
            isinstance(it, ir.Read) and it.variable is variable
            for expression in ir.all_expressions(self.scope.subject.analysis.kernel.body)
            for it in ir.nodes(expression)
        )

    def _together(self, it: ir.Collective, lanes: list[int], maybe: bool) -> None:
        mask = self._union([self.value(one, lane) for lane in lanes for one in it.arguments])
        joins = it.name == _COLLECTIVE.get(self.operation) and mask == self.all and not maybe
        if mask and not joins:
            raise SeenError
        if it.variable is not None:
            self._set(it.variable, dict.fromkeys(lanes), maybe)

    def _union(self, values: Sequence[_Value]) -> int:
        """Return all parts in some values, which hold each of them once at most."""
        mask = 0
        for value in values:
            if isinstance(value, _Parts):
                if mask & value.mask and self.operation in ("+", "^"):
                    raise SeenError
                mask |= value.mask
        return mask

    # --------------------------------------------------------------------------------------- values

    def _made(self, mask: int) -> _Value:
        """Return a value with parts; with all of them it is the total, as it was with other parts."""
        return None if mask == self.all else _Parts(mask)

    def _plain(self, expression: ir.Expression, lane: int) -> int | None:
        """Return a value that must not tell parts: what is decided by it would."""
        found = self.value(expression, lane)
        if isinstance(found, _Parts):
            raise SeenError
        return found if isinstance(found, int) else None

    def value(self, it: ir.Expression, lane: int) -> _Value:
        """Return what a work-item's expression gives."""
        match it:
            case ir.Constant(value=value):
                return int(value) if isinstance(value, int) else None
            case ir.Read(variable=variable):
                if variable.kind is ir.VariableKind.PARAMETER and isinstance(variable.type, PointerType):
                    return self.values.get(variable, {}).get(lane, _Place(variable, 0))
                return self.values.get(variable, {}).get(lane)
            case ir.ObjectAddress(variable=variable):
                return _Place(variable, 0)
            case ir.PointerOffset(pointer=pointer, index=index, stride=stride):
                return self._moved(self.value(pointer, lane), self._plain(index, lane), stride)
            case ir.WorkItem(query=query):
                return self._asked(it, query, lane)
            case ir.Convert(operand=operand):
                found = self.value(operand, lane)
                if isinstance(found, _Parts) and not self._keeps(operand.type, it.type):
                    raise SeenError
                return fitting(found, it) if isinstance(found, int) else found
            case ir.Binary(left=left, right=right):
                return self._binary(it, self.value(left, lane), self.value(right, lane))
            case ir.Builtin(arguments=arguments):
                return self._built_in(it, [self.value(one, lane) for one in arguments])
            case ir.Select(condition=condition, if_true=one, if_false=other):
                return _chosen(self._plain(condition, lane), self.value(one, lane), self.value(other, lane))
            case ir.Compare(op=op, left=left, right=right):
                return compared(op, self._plain(left, lane), self._plain(right, lane))
            case ir.Logical(op=op, left=left, right=right):
                return both_or_either(op, self._plain(left, lane), self._plain(right, lane))
            case ir.Unary(op=op, operand=operand):
                return unary(op, it, self._plain(operand, lane))
            case _:
                if any(isinstance(self.value(one, lane), _Parts) for one in ir.operands(it)):
                    raise SeenError
                return None

    def _keeps(self, old: Type, new: Type) -> bool:
        """True if parts may be converted before they are joined.

        Sums of integers wrap to what parts that wrapped add up to; floats are rounded sooner or later.
        """
        if old == new:
            return True
        if (
            not isinstance(old, ScalarType)
            or not isinstance(new, ScalarType)
            or self.operation not in _OPERATORS
        ):
            return False
        return (old.is_integer and new.is_integer and new.size <= old.size) or (
            old.is_float and new.is_float and self.operation == "+"
        )

    def _asked(self, it: ir.WorkItem, query: ir.WorkItemQuery, lane: int) -> _Value:
        if not isinstance(it.dimension, ir.Constant) or it.dimension.value != 0:
            return None
        return {ir.WorkItemQuery.LOCAL_ID: lane, ir.WorkItemQuery.LOCAL_SIZE: self.size}.get(query)

    def _moved(self, place: _Value, by: _Value, stride: int) -> _Value:
        if not isinstance(place, _Place):
            return None
        known = isinstance(by, int) and place.offset is not None
        return _Place(place.root, place.offset + by * stride if known else None)  # type: ignore[operator]

    def _binary(self, it: ir.Binary, left: _Value, right: _Value) -> _Value:
        if isinstance(left, _Parts) or isinstance(right, _Parts):
            takes = self.operation == "+" and it.op is ir.BinaryOp.SUB and not isinstance(right, _Parts)
            if it.op.value != self.operation and not takes:
                raise SeenError
            return self._made(self._union((left, right)))
        if not isinstance(left, int) or not isinstance(right, int):
            return None
        found = computed(it.op, left, right)
        return None if found is None else fitting(found, it)

    def _built_in(self, it: ir.Builtin, values: list[_Value]) -> _Value:
        if any(isinstance(one, _Parts) for one in values):
            fused = it.name in _FUSED and self.operation == "+"
            fused = fused and not any(isinstance(one, _Parts) for one in values[:2])
            if not fused and (it.name != self.operation or len(values) != 2):
                raise SeenError
            return self._made(self._union(values))
        if it.name in ("min", "max") and len(values) == 2 and all(isinstance(one, int) for one in values):
            return min(values) if it.name == "min" else max(values)  # type: ignore[type-var]
        return None


def _operation(total: Total) -> str:
    """Return how parts are joined: of integers, a condition for taking one says no more than a function."""
    if total.is_float or not total.operation.startswith("if"):
        return total.operation
    return "max" if ">" in total.operation else "min"


def _chosen(test: _Value, one: _Value, other: _Value) -> _Value:
    if isinstance(test, int):
        return one if test else other
    if one != other and (isinstance(one, _Parts) or isinstance(other, _Parts)):
        raise SeenError
    return one if one == other else None


def _touched(statement: ir.Statement) -> Iterator[PointerType]:
    """Yield the pointers by which a statement touches memory."""
    pointers = [it.pointer for it in ir.touches(statement)]
    for it in pointers:
        if isinstance(it.type, PointerType):
            yield it.type

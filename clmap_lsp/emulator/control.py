"""Counts of operations and outcomes of branches, gathered by the generated code.

Operations are counted by stretches of straight code: one counter for each, times what stands in it. A branch
keeps its last 16 outcomes for each work-item, and counts outcome by history in a table that is read directly;
the tables are only as large in memory as histories differ.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import field

from llvmlite import ir

from clmap_lsp.dataclass import dataclass
from clmap_lsp.emulator.context import Context
from clmap_lsp.emulator.layout import BRANCH_TABLES, COUNTERS, F_MEMORY, F_OPERATIONS
from clmap_lsp.emulator.suspension import Suspension
from clmap_lsp.emulator.types import I64, POINTER
from clmap_lsp.locality.branches import HISTORY
from clmap_lsp.source.ir import (
    AsyncCopy,
    Atomic,
    Barrier,
    Binary,
    Break,
    Builtin,
    Collective,
    Compare,
    Continue,
    Convert,
    CopyObject,
    Expression,
    FieldAddress,
    Goto,
    ImageRead,
    ImageWrite,
    Label,
    Leave,
    Load,
    Logical,
    Loop,
    PointerOffset,
    Reinterpret,
    Return,
    Select,
    Statement,
    Store,
    Switch,
    Unary,
    WaitEvents,
    expressions,
    operands,
    walk,
)
from clmap_lsp.source.span import Span
from clmap_lsp.source.types import ScalarType, Type, VectorType, element_of, lanes_of

TABLE_WORDS = 2 << (HISTORY + 1)
"""Two counts for each history; a 1 above the oldest outcome marks how many there are."""
MAX_BRANCHES = 64
_MOST_IN_REGISTERS = 12
"""Stretches whose counts are added to the table once all work-items of a call have run. Each call takes the
time to add them all."""


@dataclass(slots=True)
class ControlPlan:
    """What the counters mean."""

    stretches: list[Counter[str]] = field(default_factory=list)
    """For each counter the operations of one execution."""
    widths: list[Counter[int]] = field(default_factory=list)
    """For each counter the operations of one execution by the lanes of their result."""
    branches: list[Span] = field(default_factory=list)
    complete: bool = True
    """False if there are more branches than are recorded."""


Operations = tuple[Counter[str], Counter[int]]
"""How many of each kind there are, and with how many lanes."""


class Counters:
    """Emits the counting code."""

    def __init__(self, ctx: Context, suspension: Suspension) -> None:
        self.ctx = ctx
        self.suspension = suspension
        self.plan = ControlPlan()
        self._current: int | None = None
        """The number of the stretch that is being emitted."""
        self.lengths: list[ir.Value] = []
        """What the work-item executed since the last barrier: operations, and those that load or store."""
        self._counts: list[ir.Value] = []
        """The slots of the first stretches' counters."""
        self._apart: Operations | None = None
        """What is counted for other stretches at the moment."""
        self._weights: list[tuple[ir.Constant, ir.Constant]] = []
        """Of each stretch, what it adds to them: known once all of it was emitted."""

    def settle(self) -> None:
        """Put in how much the stretches weigh."""
        for weights, stretch in zip(self._weights, self.plan.stretches, strict=True):
            weights[0].constant, weights[1].constant = stretch.total(), memory_operations(stretch)

    def enter(self) -> None:
        """A new stretch starts; its counter is made once there is something to count."""
        self._current = None

    def split(self) -> int | None:
        """Control parts for a while; return the stretch that may go on where it comes back together."""
        return self._current

    def rejoin(self, statement: Statement, before: int | None) -> None:
        """Control comes back together after `statement`: a new stretch if not all who came to it get here, or
        some of them waited in it.
        """
        self._current = None if before is None or _may_not_come_back(statement) else before

    def statement(self, statement: Statement) -> None:
        """Count a statement's own operations, not those of its blocks."""
        if not self.ctx.options.control or isinstance(statement, Loop):
            return
        for name, lanes in _operations(statement):
            self._add(name, lanes)

    def condition(self, expression: Expression) -> None:
        """Count a loop's condition."""
        if self.ctx.options.control:
            for name, lanes in _in_expression(expression):
                self._add(name, lanes)

    @contextmanager
    def apart(self, is_apart: bool) -> Iterator[Operations]:
        """Give what is counted inside to whoever adds it to other stretches, if it is to be kept apart."""
        operations: Operations = Counter(), Counter()
        self._apart = operations if is_apart else None
        yield operations
        self._apart = None

    def add(self, operations: Operations, *stretches: int) -> None:
        """Count operations whenever one of some stretches runs: a loop's test that runs with what comes
        before the loop, and with the end of each turn, needs no counter.
        """
        for number in stretches:
            self.plan.stretches[number] += operations[0]
            self.plan.widths[number] += operations[1]

    def stretch(self) -> int:
        """Return the number of the present stretch."""
        if self._current is None:
            self._current = len(self.plan.stretches)
            self.plan.stretches.append(Counter())
            self.plan.widths.append(Counter())
            self._count_stretch(self._current)
            self._lengthen()
        return self._current

    def _add(self, name: str, lanes: int = 1) -> None:
        if self._apart is not None:
            operations, widths = self._apart
        else:
            number = self.stretch()
            operations, widths = self.plan.stretches[number], self.plan.widths[number]
        operations[name] += 1
        widths[lanes] += 1

    def _lengthen(self) -> None:
        builder = self.ctx.builder
        self.lengths = self.lengths or [self.suspension.shared(it) for it in (F_OPERATIONS, F_MEMORY)]
        self._weights.append((ir.Constant(I64, 0), ir.Constant(I64, 0)))
        for slot, weight in zip(self.lengths, self._weights[-1], strict=True):
            builder.store(builder.add(builder.load(slot, typ=I64), weight), slot)

    def _count_stretch(self, number: int) -> None:
        """Count one execution of a stretch: of the first ones in registers, until the work-items have run."""
        if number >= _MOST_IN_REGISTERS:
            self._increment(COUNTERS, ir.Constant(I64, number))
            return
        slot = self.ctx.slot(I64, f"count.{number}")
        self._counts.append(slot)
        builder = self.ctx.builder
        builder.store(builder.add(builder.load(slot, typ=I64), ir.Constant(I64, 1)), slot)

    def open(self, entry: ir.IRBuilder) -> None:
        """Emit what comes before all work-items."""
        if self._counts:
            self.ctx.constant_state(COUNTERS)
        for slot in self._counts:
            entry.store(ir.Constant(I64, 0), slot)

    def close(self, end: ir.IRBuilder) -> None:
        """Emit what comes after the last work-item."""
        for number, slot in enumerate(self._counts):
            base = end.inttoptr(self.ctx.constant_state(COUNTERS), POINTER)
            place = end.gep(base, [ir.Constant(I64, number)], source_etype=I64)
            end.store(end.add(end.load(place, typ=I64), end.load(slot, typ=I64)), place)

    def _increment(self, table: int, index: ir.Value) -> None:
        builder = self.ctx.builder
        base = builder.inttoptr(self.ctx.constant_state(table), POINTER)
        place = builder.gep(base, [index], source_etype=I64)
        count = builder.load(place, typ=I64)
        builder.store(builder.add(count, ir.Constant(I64, 1)), place)

    def branch(self, condition: ir.Value, span: Span) -> None:
        """Record the outcome of a branch."""
        if not self.ctx.options.control:
            return
        self._add("branch")
        if len(self.plan.branches) >= MAX_BRANCHES:
            self.plan.complete = False
            return
        number = len(self.plan.branches)
        self.plan.branches.append(span)
        # A 1 stands above the oldest outcome.
        history = self.suspension.new_word("history", 1)
        builder = self.ctx.builder
        before = builder.load(history, typ=I64)
        taken = builder.zext(condition, I64)
        after = builder.or_(builder.shl(before, ir.Constant(I64, 1)), taken)
        index = builder.add(after, ir.Constant(I64, number * TABLE_WORDS))
        self._increment(BRANCH_TABLES, index)
        full = builder.icmp_unsigned(">=", after, ir.Constant(I64, 2 << HISTORY))
        cut = builder.or_(
            builder.and_(after, ir.Constant(I64, (1 << HISTORY) - 1)), ir.Constant(I64, 1 << HISTORY)
        )
        builder.store(builder.select(full, cut, after), history)


def memory_operations(stretch: Counter[str]) -> int:
    """Return the loads and stores of a stretch, private memory included.

    An atomic is one of each, an image read one load, however many texels it takes.
    """
    plain = sum(stretch[name] for name in ("load", "store", "image read", "image write"))
    return plain + sum(2 * count for name, count in stretch.items() if name.startswith("atomic "))


_Operation = tuple[str, int]
"""Kind, and the lanes of its result."""


def _operations(statement: Statement) -> Iterator[_Operation]:
    for expression in expressions(statement):
        yield from _in_expression(expression)
    match statement:
        case Load(variable=variable):
            yield "load", lanes_of(variable.type)
        case Store(value=value):
            yield "store", lanes_of(value.type)
        case CopyObject():
            yield "load", 1
            yield "store", 1
        case ImageRead(variable=variable):
            yield "image read", lanes_of(variable.type)
        case ImageWrite(value=value):
            yield "image write", lanes_of(value.type)
        case Collective(name=name, variable=result):
            yield name, 1 if result is None else lanes_of(result.type)
        case Atomic(op=op):
            yield f"atomic {op.value}", 1
        case Barrier():
            yield "barrier", 1
        case Switch():
            yield "switch", 1
        case _:
            pass


def _in_expression(expression: Expression) -> Iterator[_Operation]:
    for operand in operands(expression):
        yield from _in_expression(operand)
    name = _name(expression)
    if name is not None:
        yield name, lanes_of(expression.type)


def _name(expression: Expression) -> str | None:
    match expression:
        case Binary(op=binary, type=kind):
            return f"{binary.value} {_kind(kind)}"
        case Unary(op=unary, type=kind):
            return f"unary {unary.value} {_kind(kind)}"
        case Compare(left=left):
            return f"compare {_kind(left.type)}"
        case Logical():
            return "logic"
        case Select():
            return "select"
        case Convert() | Reinterpret():
            return "convert"
        case PointerOffset() | FieldAddress():
            return "address"
        case Builtin(name=name):
            return name
        case _:
            return None


def _kind(kind: Type) -> str:
    """Return the class of a type: `int`, `float`, `int vector`, `pointer`."""
    element = element_of(kind)
    if not isinstance(element, ScalarType):
        return "pointer"
    name = "float" if element.is_float else "int"
    return f"{name} vector" if isinstance(kind, VectorType) else name


def _may_not_come_back(statement: Statement) -> bool:
    """Tell whether a work-item that comes to a statement may end elsewhere than behind it, or wait in it."""
    others = (Break, Continue, Return, Leave, Goto, Label, Barrier, WaitEvents, Collective, AsyncCopy)
    return any(isinstance(it, others) for it in walk((statement,)))


__all__ = [
    "MAX_BRANCHES",
    "TABLE_WORDS",
    "ControlPlan",
    "Counters",
    "memory_operations",
]

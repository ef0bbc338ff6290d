"""Code for rows of work-items at once, of kernels that are short and regular.

Where a kernel has no loops, and no address or condition depends on what it loads, a row of work-items is
first looked at: `inspect` works out all addresses and conditions and tells whether anything in the row is a
fault. If nothing is, `execute` runs the row without a check. Both are plain loops over the row, which LLVM
can make vector code of. A row with a fault is run by the ordinary code, one work-item after the other.

Work-items come in another order than elsewhere, so that kernels whose work-items may race are left out.
"""

from __future__ import annotations

from dataclasses import field, replace
from functools import partial

from llvmlite import ir

from clmap_lsp.dataclass import dataclass
from clmap_lsp.emulator.context import CodeOptions, Context, Pointer
from clmap_lsp.emulator.control import MAX_BRANCHES, TABLE_WORDS, Counters
from clmap_lsp.emulator.expressions import may_fault
from clmap_lsp.emulator.kernel_code import make_slots
from clmap_lsp.emulator.layout import (
    BRANCH_TABLES,
    COUNTERS,
    F_GLOBAL_ID,
    KIND_CONSTANT,
    KIND_GLOBAL,
    ROW_ITEMS,
    ROW_LENGTHS,
    WEIGHTS,
)
from clmap_lsp.emulator.memory import Memory, check_size
from clmap_lsp.emulator.plan import Plan, make_plan, pointer_target
from clmap_lsp.emulator.statements import Statements
from clmap_lsp.emulator.suspension import Suspension
from clmap_lsp.emulator.types import I1, I64, POINTER, zero
from clmap_lsp.emulator.used_lanes import Ranges
from clmap_lsp.source.ir import (
    Assign,
    Builtin,
    Constant,
    Declare,
    Expression,
    If,
    Kernel,
    Leave,
    Load,
    PointerOffset,
    Read,
    Return,
    Scope,
    Statement,
    Store,
    Variable,
    WorkItem,
    WorkItemQuery,
    expressions,
    nodes,
    walk,
)
from clmap_lsp.source.types import PointerType, ScalarType

_QUERIES = {WorkItemQuery.GLOBAL_ID, WorkItemQuery.GLOBAL_SIZE, WorkItemQuery.GLOBAL_OFFSET}
_STATEMENTS = (Declare, Assign, Load, Store, If, Return, Scope, Leave)
_MOST_STATEMENTS = 200


def generate_rows(kernel: Kernel, options: CodeOptions) -> str | None:
    """Return a module with `inspect` and `execute`, both `i64(state, frame)`; None for other kernels."""
    plan = make_plan(kernel)
    if not _is_regular(kernel, plan, options):
        return None
    module = ir.Module(name="rows", context=ir.Context())
    for name, executes in (("inspect", False), ("execute", True)):
        _Row(module, kernel, plan, options, name, executes=executes).emit()
    return str(module)


# ------------------------------------------------------------------------------------------- which kernels


def _is_regular(kernel: Kernel, plan: Plan, options: CodeOptions) -> bool:
    if options.trace or options.lockstep or options.follow_invalid:
        return False
    if options.read_only or options.write_only or options.unwritten:
        return False
    if any(it.kind not in (KIND_GLOBAL, KIND_CONSTANT) or it.is_image for it in plan.buffers):
        return False
    watched = options.races and options.watch_global
    if watched and (plan.written is None or any(_may_race(plan, number, options) for number in plan.written)):
        return False
    statements = list(walk(kernel.body))
    if len(statements) > _MOST_STATEMENTS or not all(isinstance(it, _STATEMENTS) for it in statements):
        return False
    if any(it.is_object or not isinstance(it.type, PointerType | ScalarType) for it in kernel.parameters):
        return False
    loaded = _loaded(kernel)
    return all(
        _is_regular_statement(it, plan, loaded) and all(map(_is_regular_expression, expressions(it)))
        for it in statements
    )


def _may_race(plan: Plan, number: int, options: CodeOptions) -> bool:
    buffer = plan.buffers[number - 1]
    return not (buffer.is_argument and buffer.variable.name in options.exclusive)


def _loaded(kernel: Kernel) -> set[Variable]:
    """Return the variables whose values depend on what was loaded."""
    statements = list(walk(kernel.body))
    found = {it.variable for it in statements if isinstance(it, Load)}
    grew = True
    while grew:
        grew = False
        for it in statements:
            if isinstance(it, Assign) and it.variable not in found and _reads(it.value, found):
                found.add(it.variable)
                grew = True
    return found


def _reads(expression: Expression, variables: set[Variable]) -> bool:
    return any(isinstance(it, Read) and it.variable in variables for it in nodes(expression))


def _is_regular_statement(statement: Statement, plan: Plan, loaded: set[Variable]) -> bool:
    """Tell whether addresses, conditions and what may fault do not depend on loads."""
    match statement:
        case If(condition=condition) if _reads(condition, loaded):
            return False
        case Load(pointer=pointer, bits=bits) | Store(pointer=pointer, bits=bits):
            target = pointer_target(pointer, plan.targets, plan.numbers)
            if bits is not None or target is None or target < 1 or _reads(pointer, loaded):
                return False
        case _:
            pass
    return not any(_reads(it, loaded) and _may_fault(it) for it in expressions(statement))


def _may_fault(expression: Expression) -> bool:
    """Tell whether a fault in an expression may depend on what it reads."""
    return may_fault(expression) or any(isinstance(it, PointerOffset) for it in nodes(expression))


def _is_regular_expression(expression: Expression) -> bool:
    for it in nodes(expression):
        if isinstance(it, WorkItem):
            if not isinstance(it.dimension, Constant | None):
                return False
            first = it.dimension is None or int(it.dimension.value) == 0
            if first and it.query not in (*_QUERIES, WorkItemQuery.WORK_DIM, WorkItemQuery.NUM_GROUPS):
                return False
        if isinstance(it, Builtin) and it.name.startswith(("get_", "sub_group", "work_group")):
            return False
    return True


# ------------------------------------------------------------------------------------------------- the code


@dataclass(slots=True)
class _RowContext(Context):
    """Where a row is run: the first id grows from work-item to work-item, faults are noted only."""

    executes: bool = False
    first_id: ir.Value | None = None
    bad: ir.Value | None = None
    """The slot that says whether anything in the row is a fault."""
    pointers: dict[int, ir.Value] = field(default_factory=dict)

    @property
    def steady(self) -> ir.IRBuilder:
        """One frame serves the whole row."""
        return self.entry

    def constant_frame(self, index: int) -> ir.Value:
        if index == F_GLOBAL_ID:
            assert self.first_id is not None
            return self.first_id
        return Context.constant_frame(self, index)

    def fault(self, kind: int, place: int, first: ir.Value | int = 0, second: ir.Value | int = 0) -> None:
        if not self.executes:
            self.note(ir.Constant(I1, 1))

    def note(self, condition: ir.Value) -> None:
        """Note a fault where a condition holds."""
        before = self.builder.load(self.bad, typ=I64)
        self.builder.store(self.builder.or_(before, self.builder.zext(condition, I64)), self.bad)


class _RowSuspension(Suspension):
    """A row never stops before its end."""

    def __init__(self, ctx: _RowContext, latch: ir.Block) -> None:
        self.ctx = ctx
        self.saved = []
        self.words = []
        self.live = {}
        self.points = []
        self.finish = latch

    def new_word(self, name: str, start: int = 0) -> ir.Value:
        return self.ctx.slot(I64, name)


class _RowMemory(Memory):
    """Accesses: looked at, or made without a check."""

    def __init__(self, ctx: _RowContext, scopes: dict[int, tuple[ir.Value, ir.Value]]) -> None:
        self.row = ctx
        self.scopes = scopes
        unused = ctx.slot(I64, "unused")
        super().__init__(ctx, unused, unused)

    def load(
        self,
        pointer: Pointer,
        kind: ir.Type,
        size: int,
        alignment: int,
        site: int,
        part: int = 0,
        *,
        bits: int | None = None,
        used: Ranges | None = None,
    ) -> ir.Value:
        check_size(kind, size)
        if not self.row.executes:
            self._look(pointer, size, alignment, site)
            return zero(kind)
        value = self.row.builder.load(self._place(pointer), align=1, typ=kind)
        self._mark(value, pointer)
        return value

    def store(
        self,
        pointer: Pointer,
        value: ir.Value,
        size: int,
        alignment: int,
        site: int,
        *,
        bits: int | None = None,
    ) -> None:
        check_size(value.type, size)
        if not self.row.executes:
            self._look(pointer, size, alignment, site)
            plan = self.plans[_number(pointer)]
            if plan.kind == KIND_CONSTANT:
                self.row.note(ir.Constant(I1, 1))
            return
        self._mark(self.row.builder.store(value, self._place(pointer), align=1), pointer)

    def _look(self, pointer: Pointer, size: int, alignment: int, site: int) -> None:
        good = self._in_bounds(self.target(pointer), pointer, size)
        self.row.note(self.row.builder.not_(good))
        if alignment > pointer.alignment:
            low = self.row.builder.and_(pointer.offset, ir.Constant(I64, alignment - 1))
            self.row.note(self.row.builder.icmp_signed("!=", low, ir.Constant(I64, 0)))

    def _place(self, pointer: Pointer) -> ir.Value:
        number = _number(pointer)
        base = self.row.once(
            "pointer", number, lambda: self.row.entry.inttoptr(self.target(pointer).base, POINTER)
        )
        return self.row.builder.gep(base, [pointer.offset], source_etype=ir.IntType(8))

    def _mark(self, access: ir.Instruction, pointer: Pointer) -> None:
        """Say that other buffers are elsewhere: an access that is in bounds stays in its own."""
        mine, others = self.scopes[_number(pointer)]
        access.set_metadata("alias.scope", mine)
        access.set_metadata("noalias", others)


def _number(pointer: Pointer) -> int:
    assert isinstance(pointer.number, int)
    return pointer.number


class _RowCounters(Counters):
    """Counts in registers, written down at the end of the row; operations of each work-item in a list."""

    def __init__(self, ctx: _RowContext, suspension: Suspension) -> None:
        super().__init__(ctx, suspension)
        self.row = ctx
        self.slots: list[ir.Value] = []
        self.outcomes: list[tuple[ir.Value, ir.Value]] = []
        """For each branch how often it was met and taken."""
        self.lengths = [ctx.slot(I64, name) for name in ("operations", "memory")]

    def _count_stretch(self, number: int) -> None:
        self.slots.append(self._slot(f"count.{number}"))
        self._add_to(self.slots[-1], ir.Constant(I64, 1))

    def _lengthen(self) -> None:
        for part, slot in enumerate(self.lengths):
            at = 2 * (len(self.slots) - 1) + part
            self._add_to(slot, self.row.once("weight", at, partial(self._weight, at)))

    def _weight(self, at: int) -> ir.Value:
        entry = self.row.entry
        table = entry.inttoptr(self.row.constant_state(WEIGHTS), POINTER)
        return entry.load(entry.gep(table, [ir.Constant(I64, at)], source_etype=I64), typ=I64)

    def _slot(self, name: str) -> ir.Value:
        slot = self.row.slot(I64, name)
        self.row.entry.store(ir.Constant(I64, 0), slot)
        return slot

    def _add_to(self, slot: ir.Value, value: ir.Value) -> None:
        builder = self.row.builder
        builder.store(builder.add(builder.load(slot, typ=I64), value), slot)

    def branch(self, condition: ir.Value, span: object) -> None:
        if not self.row.options.control:
            return
        self._add("branch")
        if len(self.outcomes) >= MAX_BRANCHES:
            return
        number = len(self.outcomes)
        self.outcomes.append((self._slot(f"met.{number}"), self._slot(f"taken.{number}")))
        self._add_to(self.outcomes[-1][0], ir.Constant(I64, 1))
        self._add_to(self.outcomes[-1][1], self.row.builder.zext(condition, I64))

    def begin_item(self, builder: ir.IRBuilder) -> None:
        """A work-item starts."""
        for slot in self.lengths:
            builder.store(ir.Constant(I64, 0), slot)

    def end_item(self, turn: ir.Value) -> None:
        """A work-item ends: list what it executed."""
        builder = self.row.builder
        table = self.row.once(
            "lengths", 0, lambda: self.row.entry.inttoptr(self.row.constant_state(ROW_LENGTHS), POINTER)
        )
        both = [builder.load(it, typ=I64) for it in self.lengths]
        packed = builder.or_(builder.shl(both[0], ir.Constant(I64, 32)), both[1])
        builder.store(packed, builder.gep(table, [turn], source_etype=I64))

    def end_row(self) -> None:
        """Add what was counted to the tables."""
        for number, slot in enumerate(self.slots):
            self._settle(COUNTERS, number, self.row.builder.load(slot, typ=I64))
        for number, (met, taken) in enumerate(self.outcomes):
            builder = self.row.builder
            times = builder.load(taken, typ=I64)
            # The first outcome of a branch: a 1 that stands for "none before", and the outcome.
            self._settle(BRANCH_TABLES, number * TABLE_WORDS + 3, times)
            self._settle(
                BRANCH_TABLES, number * TABLE_WORDS + 2, builder.sub(builder.load(met, typ=I64), times)
            )

    def _settle(self, table: int, index: int, value: ir.Value) -> None:
        builder = self.row.builder
        base = builder.inttoptr(self.row.constant_state(table), POINTER)
        place = builder.gep(base, [ir.Constant(I64, index)], source_etype=I64)
        builder.store(builder.add(builder.load(place, typ=I64), value), place)


class _Row:
    """One of the two functions."""

    def __init__(
        self,
        module: ir.Module,
        kernel: Kernel,
        plan: Plan,
        options: CodeOptions,
        name: str,
        *,
        executes: bool,
    ) -> None:
        self.kernel = kernel
        function = ir.Function(module, ir.FunctionType(I64, [POINTER, POINTER]), name)
        entry, self.head, self.item, self.body, self.latch, self.end = (
            function.append_basic_block(it) for it in ("entry", "head", "item", "body", "latch", "end")
        )
        options = replace(options, control=options.control and executes)
        state, frame = function.args
        self.ctx = _RowContext(
            plan, options, module, function, ir.IRBuilder(self.body), ir.IRBuilder(entry), state, frame
        )
        self.ctx.executes = executes
        self.ctx.places.extend([kernel.name_span] * kernel.n_sites)
        self.ctx.item = ir.IRBuilder(self.item)
        self.memory = _RowMemory(self.ctx, _scopes(module, plan) if executes else {})

    def emit(self) -> None:
        ctx, head = self.ctx, ir.IRBuilder(self.head)
        ctx.bad = ctx.slot(I64, "bad")
        ctx.entry.store(ir.Constant(I64, 0), ctx.bad)
        count = ctx.constant_state(ROW_ITEMS)
        first = ctx.entry.load(
            ctx.entry.gep(ctx.frame, [ir.Constant(I64, F_GLOBAL_ID)], source_etype=I64), typ=I64
        )
        turn = head.phi(I64)
        turn.add_incoming(ir.Constant(I64, 0), ctx.entry.block)
        ctx.first_id = head.add(first, turn)
        head.branch(self.item)
        suspension = _RowSuspension(ctx, self.latch)
        make_slots(ctx, self.kernel, suspension)
        counters = _RowCounters(ctx, suspension)
        assert ctx.item is not None
        counters.begin_item(ctx.item)
        Statements(ctx, suspension, self.memory, counters).emit(self.kernel.body)
        if not ctx.builder.block.is_terminated:
            ctx.builder.branch(self.latch)
        ctx.item.branch(self.body)
        ctx.builder.position_at_end(self.latch)
        if ctx.options.control:
            counters.end_item(turn)
        after = ctx.builder.add(turn, ir.Constant(I64, 1))
        turn.add_incoming(after, ctx.builder.block)
        ctx.builder.cbranch(ctx.builder.icmp_signed("<", after, count), self.head, self.end)
        ctx.builder.position_at_end(self.end)
        if ctx.options.control:
            counters.end_row()
        ctx.builder.ret(ctx.builder.load(ctx.bad, typ=I64))
        ctx.entry.branch(self.head)
        for block in ctx.function.blocks:
            if not block.is_terminated:
                ir.IRBuilder(block).branch(self.latch)


def _scopes(module: ir.Module, plan: Plan) -> dict[int, tuple[ir.Value, ir.Value]]:
    """Return for each buffer the lists of its own scope and of all others'."""
    domain = module.add_metadata([ir.MetaDataString(module, "buffers")])
    scopes = {
        it.number: module.add_metadata([ir.MetaDataString(module, f"buffer {it.number}"), domain])
        for it in plan.buffers
    }
    return {
        number: (
            module.add_metadata([mine]),
            module.add_metadata([it for other, it in scopes.items() if other != number]),
        )
        for number, mine in scopes.items()
    }

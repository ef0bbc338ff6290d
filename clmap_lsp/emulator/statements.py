"""Code for the IR's statements: one resumable state machine for each work-item.

A work-item stops at barriers and collectives, and at loop heads where its trace ring is nearly full or the
fuel is used up. All of these leave through one block that stores the variables into the frame, and come back
through one block that loads them again.
"""

from __future__ import annotations

from typing import assert_never

from llvmlite import ir

from clmap_lsp.emulator import atomics, collectives, copies, images, printing
from clmap_lsp.emulator.context import LANE_MASK, Context, Pointer, Slot, lane_mask
from clmap_lsp.emulator.control import Counters
from clmap_lsp.emulator.conversions import resize
from clmap_lsp.emulator.expressions import Expressions, decode, encode, number_value
from clmap_lsp.emulator.invalid import Origins
from clmap_lsp.emulator.layout import (
    ALL_FENCES,
    AT_BARRIER,
    AT_COLLECTIVE,
    AT_STEP,
    F_TURNS,
    FAULT_UNKNOWN_FUNCTION,
    FAULT_UNSUPPORTED,
    FENCE_EVENTS,
    FENCE_GLOBAL,
    FENCE_IMAGE,
    FENCE_LOCAL,
    KEY_FACTOR,
    KEY_SHIFT,
    KIND_PRIVATE,
    OUT_OF_FUEL,
    RING_FULL,
    TURN_DEPTH,
)
from clmap_lsp.emulator.memory import Memory, order_bits
from clmap_lsp.emulator.plan import pointer_target
from clmap_lsp.emulator.result import CallPlace
from clmap_lsp.emulator.suspension import Suspension
from clmap_lsp.emulator.types import I64, POINTER, llvm_type, zero
from clmap_lsp.emulator.used_lanes import used_lanes
from clmap_lsp.source.ir import (
    RECURSION,
    Assign,
    AsyncCopy,
    Atomic,
    Barrier,
    BarrierScope,
    Block,
    Break,
    Call,
    Collective,
    Continue,
    CopyObject,
    Declare,
    Expression,
    Fence,
    Goto,
    If,
    ImageRead,
    ImageWrite,
    InsertLanes,
    Label,
    Leave,
    Load,
    Loop,
    OpaqueCall,
    Print,
    Read,
    Return,
    Scope,
    Statement,
    Store,
    Switch,
    Unsupported,
    Variable,
    VariableKind,
    WaitEvents,
    walk,
)
from clmap_lsp.source.types import PointerType


class Statements:
    """Emits blocks of statements."""

    def __init__(self, ctx: Context, suspension: Suspension, memory: Memory, counters: Counters) -> None:
        self.ctx = ctx
        self.suspension = suspension
        self.memory = memory
        self.counters = counters
        self.expressions = Expressions(ctx)
        self.origins = Origins(ctx, self.expressions)
        self.used_lanes = used_lanes(ctx.plan.kernel)
        self.loop_ends: list[ir.Block] = []
        """Where `break` goes: ends of loops and switches."""
        self.loop_steps: list[ir.Block] = []
        """Where `continue` goes."""
        self._loops = 0
        """How many loops stand around."""
        self.scopes: dict[int, ir.Block] = {}
        self.labels: dict[str, ir.Block] = {}

    def emit(self, block: Block) -> None:
        """Emit a block. Code after a jump is emitted too, because a label may stand in it."""
        for statement in block:
            if self.ctx.builder.block.is_terminated:
                self.ctx.builder.position_at_end(self.ctx.block("unreached"))
            self.counters.statement(statement)
            self._statement(statement)

    def _statement(self, statement: Statement) -> None:  # noqa: PLR0915  (one flat table over the IR)
        ctx, value = self.ctx, self.expressions.value
        match statement:
            case Declare(variable=variable):
                self._declare(variable)
            case Assign(variable=variable, value=expression):
                new, origin = self.expressions.evaluate(expression), self.origins.of(expression)
                self.assign(variable, new, _own_lanes(variable, expression), origin)
            case Load():
                self._load(statement)
            case Store():
                self._step(statement.pointer)
                pointer = self.expressions.accessed(statement.pointer)
                stored = value(statement.value)
                self.origins.check(statement.pointer, statement.site)
                self.origins.check(statement.value, statement.site)
                where = statement.size, statement.alignment, statement.site
                self.memory.store(pointer, stored, *where, bits=statement.bits)
            case CopyObject():
                self._step(statement.source, statement.destination)
                copies.copy_object(self.memory, self.expressions, statement)
            case Atomic():
                self._step(statement.pointer)
                old = atomics.emit(self.memory, self.expressions, self.origins, statement)
                if statement.variable is not None:
                    self.assign(statement.variable, old, origin=self.memory.origin)
            case AsyncCopy():
                event = copies.async_copy(self.memory, self.expressions, self.suspension, statement)
                if statement.event is not None:
                    self.assign(statement.event, event)
            case Barrier():
                self._barrier(statement)
            case WaitEvents(site=site):
                copies.wait_events(self.memory, self.expressions, statement)
                self._wait(site, ir.Constant(I64, ALL_FENCES | FENCE_EVENTS), after=statement)
            case Fence(order=order):
                if self.ctx.options.races and self.ctx.plan.has_orders:
                    bits = ir.Constant(I64, order_bits(order))
                    self.ctx.call("order_fence", I64, [self.ctx.state, self.ctx.frame, bits])
            case ImageRead():
                self.assign(statement.variable, images.read(self.memory, self.expressions, statement))
            case ImageWrite():
                images.write(self.memory, self.expressions, statement)
            case Collective():
                collectives.emit(self.ctx, self.suspension, self.expressions, statement, self.assign)
            case Print():
                printing.emit(ctx, self.expressions, statement)
            case Call(site=site, variable=result) | OpaqueCall(site=site, variable=result):
                is_recursion = isinstance(statement, OpaqueCall) and statement.reason == RECURSION
                ctx.fault(FAULT_UNKNOWN_FUNCTION, site, int(is_recursion))
                if result is not None and not result.is_object:  # A structure stays as it is.
                    self.assign(result, zero(llvm_type(result.type)))
            case Unsupported(site=site):
                ctx.fault(FAULT_UNSUPPORTED, site)
            case If():
                self._if(statement)
            case Loop():
                self._loop(statement)
            case Switch():
                self._switch(statement)
            case Break():
                ctx.builder.branch(self.loop_ends[-1] if self.loop_ends else self.suspension.finish)
            case Continue():
                ctx.builder.branch(self.loop_steps[-1] if self.loop_steps else self.suspension.finish)
            case Return():
                ctx.builder.branch(self.suspension.finish)
            case Scope():
                self._scope(statement)
            case Leave(label=label):
                ctx.builder.branch(self.scopes[label])
            case Label(name=name):
                self._label(name)
            case Goto(name=name):
                ctx.builder.branch(self._label_block(name))
            case _:
                assert_never(statement)

    # ----------------------------------------------------------------------------------------- variables

    def assign(
        self,
        variable: Variable,
        value: ir.Value | Pointer,
        lanes: tuple[int, ...] | None = None,
        origin: ir.Value | None = None,
    ) -> None:
        """Write a register variable; `lanes` are those that get a value of their own, None for all."""
        ctx = self.ctx
        slot = ctx.slots[variable]
        if slot.origin is not None:
            ctx.builder.store(zero(I64) if origin is None else origin, slot.origin)
        if slot.initialised is not None:
            self._mark_set(slot, lanes)
        if isinstance(variable.type, PointerType):
            pointer = value if isinstance(value, Pointer) else decode(ctx, value)
            ctx.builder.store(pointer.offset, slot.place)
            if slot.number is not None:
                ctx.builder.store(number_value(pointer), slot.number)
            return
        plain = encode(ctx, value) if isinstance(value, Pointer) else value
        ctx.builder.store(plain, slot.place)

    def _mark_set(self, slot: Slot, lanes: tuple[int, ...] | None) -> None:
        builder = self.ctx.builder
        assert slot.initialised is not None
        mask: ir.Value = ir.Constant(LANE_MASK, lane_mask(range(16) if lanes is None else lanes))
        if lanes is not None:
            mask = builder.or_(builder.load(slot.initialised, typ=LANE_MASK), mask)
        builder.store(mask, slot.initialised)

    def _declare(self, variable: Variable) -> None:
        ctx = self.ctx
        slot = ctx.slots.get(variable)
        if slot is not None and slot.initialised is not None:
            ctx.builder.store(ir.Constant(LANE_MASK, 0), slot.initialised)
        is_private = variable.kind is VariableKind.PRIVATE_OBJECT and variable in ctx.plan.numbers
        if is_private and ctx.options.uninitialised:
            start = Pointer(ctx.plan.numbers[variable], ir.Constant(I64, 0))
            self.memory.fill(self.memory.target(start).init, ir.Constant(I64, variable.type.size), 0)

    def _step(self, *pointers: Expression) -> None:
        """In lockstep, stop before an access of memory that others may see: all of them make it together."""
        plan = self.ctx.plan
        if not self.ctx.options.lockstep:
            return
        targets = {pointer_target(it, plan.targets, plan.numbers) for it in pointers}
        private = {it.number for it in plan.buffers if it.kind == KIND_PRIVATE}
        if not targets <= private:
            self.suspension.stop(AT_STEP)

    def _load(self, statement: Load) -> None:
        self._step(statement.pointer)
        pointer = self.expressions.accessed(statement.pointer)
        self.origins.check(statement.pointer, statement.site)
        kind = llvm_type(statement.variable.type)
        where = statement.size, statement.alignment, statement.site
        used = self.used_lanes.get(statement.variable)
        used = None if used == ((0, statement.size),) else used
        value = self.memory.load(pointer, kind, *where, bits=statement.bits, used=used)
        self.assign(statement.variable, value, origin=self.memory.origin)

    # -------------------------------------------------------------------------------------- synchronising

    def _barrier(self, statement: Barrier) -> None:
        fences = self._fences(statement)
        if statement.scope is BarrierScope.SUB_GROUP:
            self._wait(statement.site, fences, AT_COLLECTIVE)
        else:
            self._wait(statement.site, fences, after=statement)

    def _fences(self, statement: Barrier) -> ir.Value:
        if statement.flags is not None:
            flags = resize(self.ctx, self.expressions.value(statement.flags), I64, signed=False)
            return self.ctx.builder.and_(flags, ir.Constant(I64, ALL_FENCES))
        fences = FENCE_LOCAL if statement.fences_local else 0
        fences |= FENCE_GLOBAL if statement.fences_global else 0
        return ir.Constant(I64, fences | (FENCE_IMAGE if statement.fences_image else 0))

    def _wait(
        self, site: int, fences: ir.Value, status: int = AT_BARRIER, after: Statement | None = None
    ) -> None:
        builder = self.ctx.builder
        packed = builder.or_(builder.shl(fences, ir.Constant(I64, 32)), ir.Constant(I64, site))
        self.suspension.at(packed)
        self.suspension.stop(status, after)
        self.counters.enter()

    # ------------------------------------------------------------------------------------------- branches

    def _if(self, statement: If) -> None:
        ctx = self.ctx
        self.origins.check(statement.condition)
        condition = self.expressions.condition(statement.condition)
        self.counters.branch(condition, statement.span)
        then, end = ctx.block("then"), ctx.block("endif")
        other = ctx.block("else") if statement.otherwise else end
        before = self.counters.split()
        ctx.builder.cbranch(condition, then, other)
        self._branch_into(then, statement.then, end)
        if statement.otherwise:
            self._branch_into(other, statement.otherwise, end)
        ctx.builder.position_at_end(end)
        self.counters.rejoin(statement, before)

    def _branch_into(self, start: ir.Block, body: Block, end: ir.Block) -> bool:
        """Emit a block with a stretch of its own; tell whether control comes out of its end."""
        self.ctx.builder.position_at_end(start)
        self.counters.enter()
        return self._go_on(body, end)

    def _go_on(self, body: Block, end: ir.Block) -> bool:
        self.emit(body)
        if self.ctx.builder.block.is_terminated:
            return False
        self.ctx.builder.branch(end)
        return True

    def _loop(self, statement: Loop) -> None:
        ctx, is_plain = self.ctx, self.ctx.options.control and _is_plain(statement)
        ways_in = [self.counters.stretch()] if is_plain and statement.tests_first else []
        before = self.counters.split()
        outer_key = self.memory.key
        if ctx.options.trace:
            key = self.suspension.new_word("turn")
            outer = ctx.builder.load(outer_key, typ=I64)
            ctx.builder.store(ctx.builder.mul(outer, ir.Constant(I64, KEY_FACTOR)), key)
            self.memory.key = key
        test, body, step, end = (ctx.block(f"loop.{it}") for it in ("test", "body", "step", "end"))
        turn, latch = ctx.block("loop.turn"), ctx.block("loop.latch")
        first = ctx.block("loop.first")
        self._loops += 1
        self._note_turn(0)
        ctx.builder.branch(first)
        ctx.builder.position_at_end(first)
        # `do` skips the first test; both start a turn at `first` or `turn`.
        self._count_turn()
        ctx.builder.branch(test if statement.tests_first else body)
        ctx.builder.position_at_end(turn)
        self._count_turn()
        ctx.builder.branch(test)

        ctx.builder.position_at_end(test)
        self.counters.enter()
        with self.counters.apart(is_plain) as tested:
            self._test(statement, body, end)
        self.loop_ends.append(end)
        self.loop_steps.append(step)
        goes_on = self._branch_into(body, statement.body, step)
        self.loop_steps.pop()
        if not goes_on or any(isinstance(it, Continue) for it in walk(statement.body)):
            self.counters.enter()  # Else nothing but the body's end leads to the step: it is one stretch.
        ctx.builder.position_at_end(step)
        self.emit(statement.step)
        if is_plain:
            self.counters.add(tested, *ways_in, self.counters.stretch())
        if not ctx.builder.block.is_terminated:
            ctx.builder.branch(latch)
        ctx.builder.position_at_end(latch)
        if ctx.options.lockstep:  # Who comes here first waits for those who are still in the turn.
            self.suspension.stop(AT_STEP)
        ctx.builder.branch(turn)
        self.loop_ends.pop()
        self._loops -= 1
        self.memory.key = outer_key
        ctx.builder.position_at_end(end)
        self.counters.rejoin(statement, before)

    def _test(self, loop: Loop, body: ir.Block, end: ir.Block) -> None:
        """Emit what decides on a turn."""
        ctx = self.ctx
        self.emit(loop.test)
        if loop.condition is not None and not ctx.builder.block.is_terminated:
            self.counters.condition(loop.condition)
            self.origins.check(loop.condition)
            condition = self.expressions.condition(loop.condition)
            self.counters.branch(condition, loop.span)
            ctx.builder.cbranch(condition, body, end)
        elif not ctx.builder.block.is_terminated:
            ctx.builder.branch(body)

    def _count_turn(self) -> None:
        """Start one turn: a new key, one unit of fuel, and a stop where fuel or ring are used up."""
        self._add_to_key(1 << KEY_SHIFT)
        self._note_turn(1)
        self._check_limits()

    def _note_turn(self, step: int) -> None:
        """Count the turns of the innermost loop, anew with 0, where work-items may come to calls alone."""
        ctx, depth = self.ctx, self._loops - 1
        if not ctx.plan.has_divergent_calls or depth >= TURN_DEPTH:
            return
        before = ctx.frame_word(F_TURNS + depth) if step else ir.Constant(I64, 0)
        turns = ctx.builder.add(before, ir.Constant(I64, step))
        ctx.builder.store(turns, ctx.frame_place(F_TURNS + depth))

    def _add_to_key(self, step: int) -> None:
        """Tell apart what is traced from here on; who traces nothing has no keys."""
        ctx = self.ctx
        if ctx.options.trace:
            key = ctx.builder.load(self.memory.key, typ=I64)
            ctx.builder.store(ctx.builder.add(key, ir.Constant(I64, step)), self.memory.key)

    def _check_limits(self) -> None:
        ctx = self.ctx
        fuel = ctx.builder.sub(ctx.builder.load(self.suspension.fuel, typ=I64), ir.Constant(I64, 1))
        ctx.builder.store(fuel, self.suspension.fuel)
        if not ctx.options.trace:
            with ctx.rarely(ctx.builder.icmp_signed("<", fuel, ir.Constant(I64, 0)), "pause"):
                self.suspension.stop(OUT_OF_FUEL)
            return
        # Looked at again on coming back: a turn with more accesses than are taken out would fill the ring.
        limits = ctx.block("limits")
        ctx.builder.branch(limits)
        ctx.builder.position_at_end(limits)
        fuel = ctx.builder.load(self.suspension.fuel, typ=I64)
        empty = ctx.builder.icmp_signed("<", fuel, ir.Constant(I64, 0))
        entry = ctx.builder.load(self.memory.trace_place, typ=POINTER)
        full = ctx.builder.icmp_unsigned(">=", entry, self.suspension.ring_limit)
        with ctx.rarely(ctx.builder.or_(empty, full), "pause"):
            status = ctx.builder.select(full, ir.Constant(I64, RING_FULL), ir.Constant(I64, OUT_OF_FUEL))
            self.suspension.stop(status)
            ctx.builder.branch(limits)

    def _switch(self, statement: Switch) -> None:
        ctx = self.ctx
        self.origins.check(statement.value)
        value = self.expressions.value(statement.value)
        blocks = [ctx.block("case") for _ in statement.cases]
        end = ctx.block("switch.end")
        default = end
        for case, block in zip(statement.cases, blocks, strict=True):
            default = block if case.is_default else default
        before = self.counters.split()
        chooser = ctx.builder.switch(value, default)
        seen: set[int] = set()
        bits = value.type.width
        for case, block in zip(statement.cases, blocks, strict=True):
            for number in case.values:
                wrapped = number & ((1 << bits) - 1)
                if wrapped not in seen:
                    seen.add(wrapped)
                    signed = wrapped - (1 << bits) if wrapped >> (bits - 1) else wrapped
                    chooser.add_case(ir.Constant(value.type, signed), block)
        self.loop_ends.append(end)
        for index, (case, block) in enumerate(zip(statement.cases, blocks, strict=True)):
            self._branch_into(block, case.body, blocks[index + 1] if index + 1 < len(blocks) else end)
        self.loop_ends.pop()
        ctx.builder.position_at_end(end)
        self.counters.rejoin(statement, before)

    def _scope(self, statement: Scope) -> None:
        end = self.ctx.block("scope.end")
        self.scopes[statement.label] = end
        before = len(self.ctx.calls)
        if statement.function:
            self.ctx.calls.append(CallPlace(statement.function, statement.span))
        self.emit(statement.body)
        del self.ctx.calls[before:]
        if not self.ctx.builder.block.is_terminated:
            self.ctx.builder.branch(end)
        self.ctx.builder.position_at_end(end)
        self.counters.rejoin(statement, self.counters.split())

    # --------------------------------------------------------------------------------------------- labels

    def _label_block(self, name: str) -> ir.Block:
        if name not in self.labels:
            self.labels[name] = self.ctx.block(f"label.{len(self.labels)}")
        return self.labels[name]

    def _label(self, name: str) -> None:
        ctx = self.ctx
        block = self._label_block(name)
        ctx.builder.branch(block)
        ctx.builder.position_at_end(block)
        # A label may be the head of a loop made of gotos: it counts as a turn, with a step of its own.
        self._add_to_key((KEY_FACTOR >> 1 | 1) << KEY_SHIFT)
        self._check_limits()
        self.counters.enter()

    def finish_labels(self) -> None:
        """End blocks of labels that were never defined."""
        for block in self.labels.values():
            if not block.is_terminated and not block.instructions:
                ir.IRBuilder(block).branch(self.suspension.finish)


def _is_plain(loop: Loop) -> bool:
    """Tell whether every turn of a loop ends with its test, and nothing else leads there but the way in."""
    inside = walk(loop.body + loop.step)
    return (
        loop.condition is not None
        and all(isinstance(it, Assign | Declare | Load) for it in loop.test)
        and not any(isinstance(it, Break | Continue | Return | Leave | Goto | Label) for it in inside)
    )


def _own_lanes(variable: Variable, value: Expression) -> tuple[int, ...] | None:
    """Return the lanes that `v.xy = ...` writes; None for a write of the whole variable."""
    match value:
        case InsertLanes(vector=Read(variable=old), lanes=lanes) if old is variable:
            return lanes
        case _:
            return None

"""The loop over work-items around a kernel's code.

What holds for all of them, such as where buffers lie, is looked up once, before it.
"""

from __future__ import annotations

from llvmlite import ir

from clmap_lsp.emulator.context import Context
from clmap_lsp.emulator.control import Counters
from clmap_lsp.emulator.layout import (
    ABSENT,
    AT_BARRIER,
    DONE,
    F_LINEAR,
    F_STATUS,
    FRAME_BYTES,
    FUEL,
    OUT_OF_FUEL,
    PASS_DIFFERS,
    PASS_FIRST,
    PASS_MEMORY,
    PASS_OPERATIONS,
    RELEASED,
    RING_FULL,
    RUNNABLE,
    RUNNING,
    STEPS,
    STOPPED_AT,
)
from clmap_lsp.emulator.suspension import Suspension
from clmap_lsp.emulator.types import I64, POINTER

_START_FUEL = 4


class Turns:
    """Blocks of the loop; `close` emits them once the code of a work-item is there."""

    def __init__(self, function: ir.Function) -> None:
        self._function = function
        names = ("entry", "head", "judge", "fuelled", "item", "next", "end", "full", "note", "skipped", "dry")
        self._blocks = {name: function.append_basic_block(name) for name in names}
        self.entry, self.item = (ir.IRBuilder(self._blocks[it]) for it in ("entry", "item"))
        self.frame: ir.Value = ir.IRBuilder(self._blocks["head"]).phi(POINTER)
        """Of the present work-item."""

    def close(self, ctx: Context, suspension: Suspension, counters: Counters, dispatch: ir.Block) -> None:
        """Emit the loop."""
        entry, blocks = self.entry, self._blocks
        state, first, count = self._function.args
        starts = ctx.slot(I64, "starts")
        entry.store(ir.Constant(I64, 0), starts)
        entry.store(ir.Constant(I64, DONE), suspension.status)
        entry.store(entry.load(_word(entry, state, FUEL), typ=I64), suspension.fuel)
        step = ctx.constant_state(FRAME_BYTES)
        behind = entry.gep(first, [entry.mul(count, step)], source_etype=ir.IntType(8))
        kept = _Pass(ctx, suspension, self._function, counters, starts) if ctx.is_quick else None
        counters.open(entry)
        entry.branch(blocks["head"])

        head = ir.IRBuilder(blocks["head"])
        self.frame.add_incoming(first, entry.block)
        head.cbranch(head.icmp_unsigned("!=", self.frame, behind), blocks["judge"], blocks["end"])

        judge = ir.IRBuilder(blocks["judge"])
        status = judge.load(_word(judge, self.frame, F_STATUS), typ=I64)
        runs = judge.icmp_signed("==", status, ir.Constant(I64, RUNNABLE))
        if kept is not None:
            runs = judge.or_(runs, judge.icmp_signed("==", status, kept.released))
        judge.cbranch(runs, blocks["fuelled"], blocks["skipped"])
        skipped = ir.IRBuilder(blocks["skipped"])
        if kept is not None:
            skipped.store(ir.Constant(I64, ABSENT), kept.differs)
        skipped.branch(blocks["next"])

        self._emit_start(suspension)
        if kept is None or not counters.lengths:
            _add_one(self.item, starts)
        self.item.branch(dispatch)
        self._emit_stop(ctx, suspension, kept)
        self._emit_waited(suspension, kept)

        after = ir.IRBuilder(blocks["next"])
        self.frame.add_incoming(after.gep(self.frame, [step], source_etype=ir.IntType(8)), after.block)
        after.branch(blocks["head"])

        end = ir.IRBuilder(blocks["end"])
        end.store(end.load(suspension.fuel, typ=I64), _word(end, state, FUEL))
        counters.close(end)
        if kept is not None:
            kept.close(end)
        before = end.load(_word(end, state, STEPS), typ=I64)
        end.store(end.add(before, end.load(starts, typ=I64)), _word(end, state, STEPS))
        end.ret(end.load(suspension.status, typ=I64))

    def _emit_start(self, suspension: Suspension) -> None:
        """Take the fuel for a start, or go to the end where none is left."""
        builder, state = ir.IRBuilder(self._blocks["fuelled"]), self._function.args[0]
        fuel = builder.load(suspension.fuel, typ=I64)
        none = builder.icmp_signed("<=", fuel, ir.Constant(I64, 0))
        builder.cbranch(none, self._blocks["dry"], self._blocks["item"])
        dry = ir.IRBuilder(self._blocks["dry"])
        dry.store(ir.Constant(I64, OUT_OF_FUEL), suspension.status)
        linear = dry.load(_word(dry, self.frame, F_LINEAR), typ=I64)
        dry.store(linear, _word(dry, state, STOPPED_AT))
        dry.branch(self._blocks["end"])
        item = self.item
        item.store(item.sub(fuel, ir.Constant(I64, _START_FUEL)), suspension.fuel)

    def _emit_stop(self, ctx: Context, suspension: Suspension, kept: _Pass | None) -> None:
        """Note where a work-item has stopped. In lockstep, that is left to who runs one of them at a time."""
        builder, state = ir.IRBuilder(suspension.stopped), self._function.args[0]
        if kept is not None:
            kept.count_start(builder, suspension)
        if ctx.options.lockstep:
            builder.branch(self._blocks["end"])
        else:
            chooser = builder.switch(builder.load(suspension.status, typ=I64), self._blocks["note"])
            chooser.add_case(ir.Constant(I64, OUT_OF_FUEL), self._blocks["dry"])
            chooser.add_case(ir.Constant(I64, RING_FULL), self._blocks["full"])
        note = ir.IRBuilder(self._blocks["note"])
        status = note.load(suspension.status, typ=I64)
        note.store(status, _word(note, self.frame, F_STATUS))
        if kept is not None:
            kept.note(note, status)
        note.branch(self._blocks["next"])
        full = ir.IRBuilder(self._blocks["full"])
        running = full.load(_word(full, state, RUNNING), typ=I64)
        full.store(full.add(running, ir.Constant(I64, 1)), _word(full, state, RUNNING))
        full.branch(self._blocks["next"])

    def _emit_waited(self, suspension: Suspension, kept: _Pass | None) -> None:
        """Emit where a work-item of a quick pass comes to that waits or has ended, as most do."""
        unlike, waited = ir.IRBuilder(suspension.unlike), ir.IRBuilder(suspension.waited)
        if kept is not None:
            kept.note_other_place(unlike)
            kept.note_length(waited)
        unlike.branch(suspension.waited)
        waited.branch(self._blocks["next"])


class _Pass:
    """What a pass over the work-items of a group knows at its end: whether all have stopped at one place, and
    how much those in a row executed since the barrier before.
    """

    def __init__(
        self,
        ctx: Context,
        suspension: Suspension,
        function: ir.Function,
        counters: Counters,
        starts: ir.Value,
    ) -> None:
        self._ctx, self._state, entry = ctx, function.args[0], ctx.entry
        self._place, self._starts = suspension.place, starts
        self._lengths = counters.lengths
        self.released = ctx.constant_state(RELEASED)
        self._first, self.differs = suspension.first, suspension.differs
        # Kept in memory: registers are short, and these two change seldom.
        self._same = [_word(entry, self._state, it) for it in (PASS_OPERATIONS, PASS_MEMORY)]
        self._many = ctx.slot(I64, "many")
        for slot, word in ((self._first, PASS_FIRST), (self.differs, PASS_DIFFERS)):
            entry.store(entry.load(_word(entry, self._state, word), typ=I64), slot)
        for slot in (*self._same, self._many):
            entry.store(ir.Constant(I64, 0), slot)

    def count_start(self, builder: ir.IRBuilder, suspension: Suspension) -> None:
        """Count the start of a work-item that now stops, if that is not done with what it executed."""
        if self._lengths:
            status = builder.load(suspension.status, typ=I64)
            with builder.if_then(builder.icmp_signed("!=", status, ir.Constant(I64, AT_BARRIER))):
                _add_one(builder, self._starts)

    def note(self, builder: ir.IRBuilder, status: ir.Value) -> None:
        """Note that a work-item has stopped in one of the other ways."""
        with builder.if_then(builder.icmp_signed("==", status, ir.Constant(I64, AT_BARRIER)), likely=False):
            self.note_length(builder)
        place, first = builder.load(self._place, typ=I64), builder.load(self._first, typ=I64)
        with builder.if_then(builder.icmp_signed("!=", first, place), likely=False):
            self.note_other_place(builder)

    def note_other_place(self, builder: ir.IRBuilder) -> None:
        """Note that a work-item has stopped elsewhere than those before it, if any did."""
        first = builder.load(self._first, typ=I64)
        is_first = builder.icmp_signed("==", first, ir.Constant(I64, ABSENT))
        same = builder.select(is_first, builder.load(self.differs, typ=I64), ir.Constant(I64, ABSENT))
        builder.store(same, self.differs)
        builder.store(builder.load(self._place, typ=I64), self._first)

    def note_length(self, builder: ir.IRBuilder) -> None:
        """Count a work-item with those before it, if it executed as much."""
        if not self._lengths:
            return
        found = [builder.load(it, typ=I64) for it in self._lengths]
        unlike = [
            builder.icmp_signed("!=", it, builder.load(same, typ=I64))
            for it, same in zip(found, self._same, strict=True)
        ]
        with builder.if_then(builder.or_(*unlike), likely=False):
            self._count(builder)
            for it, same in zip(found, self._same, strict=True):
                builder.store(it, same)
        _add_one(builder, self._many)

    def _count(self, builder: ir.IRBuilder) -> None:
        """Count the work-items that executed as much as each other."""
        many = builder.load(self._many, typ=I64)
        with builder.if_then(builder.icmp_signed("!=", many, ir.Constant(I64, 0))):
            self._ctx.builder = builder
            same = [builder.load(it, typ=I64) for it in self._same]
            self._ctx.call("note_alike", I64, [self._state, *same, many])
            builder.store(builder.add(builder.load(self._starts, typ=I64), many), self._starts)
            builder.store(ir.Constant(I64, 0), self._many)

    def close(self, builder: ir.IRBuilder) -> None:
        """Write down what is known at the end of the pass, or where it is interrupted."""
        if self._lengths:
            self._count(builder)
        for slot, word in ((self._first, PASS_FIRST), (self.differs, PASS_DIFFERS)):
            builder.store(builder.load(slot, typ=I64), _word(builder, self._state, word))


def _add_one(builder: ir.IRBuilder, slot: ir.Value) -> None:
    builder.store(builder.add(builder.load(slot, typ=I64), ir.Constant(I64, 1)), slot)


def _word(builder: ir.IRBuilder, base: ir.Value, index: int) -> ir.Value:
    return builder.gep(base, [ir.Constant(I64, index)], source_etype=I64)

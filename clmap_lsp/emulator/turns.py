"""The loop over work-items around a kernel's code.

What holds for all of them, such as where buffers lie, is looked up once, before it.
"""

from __future__ import annotations

from llvmlite import ir

from clmap_lsp.emulator.context import Context
from clmap_lsp.emulator.layout import (
    DONE,
    F_LINEAR,
    F_STATUS,
    FRAME_BYTES,
    FUEL,
    OUT_OF_FUEL,
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
        names = ("entry", "head", "judge", "fuelled", "item", "next", "end", "full", "note")
        self._blocks = {name: function.append_basic_block(name) for name in names}
        self.entry, self.item = (ir.IRBuilder(self._blocks[it]) for it in ("entry", "item"))
        self.frame: ir.Value = ir.IRBuilder(self._blocks["head"]).phi(POINTER)
        """Of the present work-item."""

    def close(self, ctx: Context, suspension: Suspension, dispatch: ir.Block) -> None:
        """Emit the loop."""
        entry, blocks = self.entry, self._blocks
        state, first, count = self._function.args
        starts = ctx.slot(I64, "starts")
        entry.store(ir.Constant(I64, 0), starts)
        entry.store(ir.Constant(I64, DONE), suspension.status)
        entry.store(entry.load(_word(entry, state, FUEL), typ=I64), suspension.fuel)
        step = ctx.constant_state(FRAME_BYTES)
        behind = entry.gep(first, [entry.mul(count, step)], source_etype=ir.IntType(8))
        entry.branch(blocks["head"])

        head = ir.IRBuilder(blocks["head"])
        self.frame.add_incoming(first, entry.block)
        head.cbranch(head.icmp_unsigned("!=", self.frame, behind), blocks["judge"], blocks["end"])

        judge = ir.IRBuilder(blocks["judge"])
        status = judge.load(_word(judge, self.frame, F_STATUS), typ=I64)
        runs = judge.icmp_signed("==", status, ir.Constant(I64, RUNNABLE))
        judge.cbranch(runs, blocks["fuelled"], blocks["next"])

        self._emit_start(starts, suspension)
        self.item.branch(dispatch)
        self._emit_stop(ctx, suspension)

        after = ir.IRBuilder(blocks["next"])
        self.frame.add_incoming(after.gep(self.frame, [step], source_etype=ir.IntType(8)), after.block)
        after.branch(blocks["head"])

        end = ir.IRBuilder(blocks["end"])
        end.store(end.load(suspension.fuel, typ=I64), _word(end, state, FUEL))
        before = end.load(_word(end, state, STEPS), typ=I64)
        end.store(end.add(before, end.load(starts, typ=I64)), _word(end, state, STEPS))
        end.ret(end.load(suspension.status, typ=I64))

    def _emit_start(self, starts: ir.Value, suspension: Suspension) -> None:
        """Take the fuel for a start, or go to the end where none is left."""
        builder, state = ir.IRBuilder(self._blocks["fuelled"]), self._function.args[0]
        fuel = builder.load(suspension.fuel, typ=I64)
        builder.store(ir.Constant(I64, OUT_OF_FUEL), suspension.status)
        linear = builder.load(_word(builder, self.frame, F_LINEAR), typ=I64)
        builder.store(linear, _word(builder, state, STOPPED_AT))
        none = builder.icmp_signed("<=", fuel, ir.Constant(I64, 0))
        builder.cbranch(none, self._blocks["end"], self._blocks["item"])
        item = self.item
        item.store(item.sub(fuel, ir.Constant(I64, _START_FUEL)), suspension.fuel)
        item.store(item.add(item.load(starts, typ=I64), ir.Constant(I64, 1)), starts)

    def _emit_stop(self, ctx: Context, suspension: Suspension) -> None:
        """Note where a work-item has stopped. In lockstep, that is left to who runs one of them at a time."""
        builder, state = ir.IRBuilder(suspension.stopped), self._function.args[0]
        if ctx.options.lockstep:
            builder.branch(self._blocks["end"])
        else:
            chooser = builder.switch(builder.load(suspension.status, typ=I64), self._blocks["note"])
            chooser.add_case(ir.Constant(I64, OUT_OF_FUEL), self._blocks["end"])
            chooser.add_case(ir.Constant(I64, RING_FULL), self._blocks["full"])
        note = ir.IRBuilder(self._blocks["note"])
        note.store(note.load(suspension.status, typ=I64), _word(note, self.frame, F_STATUS))
        note.branch(self._blocks["next"])
        full = ir.IRBuilder(self._blocks["full"])
        running = full.load(_word(full, state, RUNNING), typ=I64)
        full.store(full.add(running, ir.Constant(I64, 1)), _word(full, state, RUNNING))
        full.branch(self._blocks["next"])


def _word(builder: ir.IRBuilder, base: ir.Value, index: int) -> ir.Value:
    return builder.gep(base, [ir.Constant(I64, index)], source_etype=I64)

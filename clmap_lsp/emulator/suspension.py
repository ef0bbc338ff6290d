"""Where a work-item stops, and how it comes back."""

from __future__ import annotations

from llvmlite import ir

from clmap_lsp.emulator.context import LANE_MASK, Context, Slot
from clmap_lsp.emulator.layout import (
    DONE,
    F_COUNT,
    F_RESUME,
    F_RING,
    F_SAVED,
    RING_ROWS,
)
from clmap_lsp.emulator.types import I1, I64, POINTER


class Suspension:
    """The blocks around the body: entry, restoring, saving, the end.

    Invariant: every slot that may hold a value across a stop is in `saved`.
    """

    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx
        self.saved: list[tuple[ir.Value, ir.Type]] = []
        self.status = ctx.slot(I64, "status")
        self.resume = ctx.slot(I64, "resume")
        self.fuel = ctx.slot(I64, "fuel")
        self.trace = ctx.slot(POINTER, "trace")
        self.start = ctx.block("start")
        self.leave = ctx.block("leave")
        self.finish = ctx.block("finish")
        self.stopped = ctx.block("stopped")
        """Where it goes from both of these, with its status."""
        self.points: list[ir.Block] = []
        self.words: list[ir.Value] = []
        self._shared: list[tuple[ir.Value, int]] = []
        """Slots that are words of the frame while the work-item does not run."""
        self.ring_limit = self._ring_limit()

    def _ring_limit(self) -> ir.Value:
        steady = self.ctx.steady
        ring = self.ctx.constant_frame(F_RING)
        rows = steady.mul(self.ctx.constant_state(RING_ROWS), ir.Constant(I64, 16))
        return steady.inttoptr(steady.add(ring, rows), POINTER)

    def new_word(self, name: str) -> ir.Value:
        """Make a slot of 64 bits that survives stops; it starts as 0."""
        slot = self.ctx.slot(I64, name)
        self.saved.append((slot, I64))
        self.words.append(slot)
        return slot

    def shared(self, index: int) -> ir.Value:
        """Make a slot for a word of the frame that others read and change where the work-item stops."""
        slot = self.ctx.slot(I64, "shared")
        self._shared.append((slot, index))
        return slot

    def keep(self, slot: Slot) -> None:
        """Let a variable survive stops."""
        self.saved.append((slot.place, slot.kind))
        if slot.number is not None:
            self.saved.append((slot.number, I64))
        if slot.initialised is not None:
            self.saved.append((slot.initialised, LANE_MASK))
        if slot.origin is not None:
            self.saved.append((slot.origin, I64))

    def stop(self, status: ir.Value | int) -> None:
        """Emit a stop with `status`; what is emitted next runs when the work-item comes back."""
        builder = self.ctx.builder
        after = self.ctx.block("resumed")
        self.points.append(after)
        builder.store(ir.Constant(I64, status) if isinstance(status, int) else status, self.status)
        builder.store(ir.Constant(I64, len(self.points)), self.resume)
        builder.branch(self.leave)
        builder.position_at_end(after)

    def close(self, dispatch: ir.Block) -> int:
        """Emit the surrounding blocks; return the bytes that a frame needs for the saved variables."""
        places, size = self._layout()
        self._emit_dispatch(dispatch, places)
        self._emit_leave(places)
        self._emit_finish()
        return size

    def _layout(self) -> tuple[list[int], int]:
        places, at = [], F_SAVED * 8
        for _, kind in self.saved:
            size = _bytes(kind)
            at = -(-at // min(size, 16)) * min(size, 16)
            places.append(at)
            at += size
        return places, -(-at // 16) * 16

    def _place(self, builder: ir.IRBuilder, at: int) -> ir.Value:
        return builder.gep(self.ctx.frame, [ir.Constant(I64, at)], source_etype=ir.IntType(8))

    def _emit_dispatch(self, dispatch: ir.Block, places: list[int]) -> None:
        builder = ir.IRBuilder(dispatch)
        ctx = self.ctx
        count = builder.load(builder.gep(ctx.frame, [ir.Constant(I64, F_COUNT)], source_etype=I64), typ=I64)
        ring = builder.add(ctx.constant_frame(F_RING), builder.mul(count, ir.Constant(I64, 16)))
        builder.store(builder.inttoptr(ring, POINTER), self.trace)
        for slot, index in self._shared:
            builder.store(builder.load(self._place(builder, 8 * index), typ=I64), slot)
        point = builder.load(builder.gep(ctx.frame, [ir.Constant(I64, F_RESUME)], source_etype=I64), typ=I64)
        restore = ctx.block("restore")
        fresh = ctx.block("fresh")
        builder.cbranch(builder.icmp_signed("==", point, ir.Constant(I64, 0)), fresh, restore)
        builder.position_at_end(fresh)
        for word in self.words:
            builder.store(ir.Constant(I64, 0), word)
        builder.branch(self.start)
        builder.position_at_end(restore)
        for (slot, kind), at in zip(self.saved, places, strict=True):
            memory_kind = ir.IntType(8) if kind == I1 else kind
            value = builder.load(self._place(builder, at), align=1, typ=memory_kind)
            builder.store(builder.trunc(value, I1) if kind == I1 else value, slot)
        chooser = builder.switch(point, self.finish)
        for index, block in enumerate(self.points):
            chooser.add_case(ir.Constant(I64, index + 1), block)

    def _emit_leave(self, places: list[int]) -> None:
        builder = ir.IRBuilder(self.leave)
        for (slot, kind), at in zip(self.saved, places, strict=True):
            value = builder.load(slot, typ=kind)
            value = builder.zext(value, ir.IntType(8)) if kind == I1 else value
            builder.store(value, self._place(builder, at), align=1)
        builder.store(builder.load(self.resume, typ=I64), self._place(builder, F_RESUME * 8))
        self._store_shared(builder)
        builder.branch(self.stopped)

    def _emit_finish(self) -> None:
        builder = ir.IRBuilder(self.finish)
        self._store_shared(builder)
        builder.store(ir.Constant(I64, DONE), self.status)
        builder.branch(self.stopped)

    def _store_shared(self, builder: ir.IRBuilder) -> None:
        ctx = self.ctx
        end = builder.ptrtoint(builder.load(self.trace, typ=POINTER), I64)
        used = builder.udiv(builder.sub(end, ctx.constant_frame(F_RING)), ir.Constant(I64, 16))
        builder.store(used, self._place(builder, F_COUNT * 8))
        for slot, index in self._shared:
            builder.store(builder.load(slot, typ=I64), self._place(builder, 8 * index))


def _bytes(kind: ir.Type) -> int:
    from clmap_lsp.emulator.types import bits, lanes

    if kind == I1:
        return 1
    size = bits(kind) * lanes(kind) // 8
    return 1 << (size - 1).bit_length()

"""Code for what nearly all accesses of watched memory come to: nothing to report.

`runtime_checks` says what is right for every access. Here stands what that comes to for one granule of a
known buffer where all that it would look at is in order; everything else is left to it.
"""

from __future__ import annotations

from collections.abc import Callable

from llvmlite import ir

from clmap_lsp.dataclass import dataclass
from clmap_lsp.emulator.context import Context, Pointer
from clmap_lsp.emulator.layout import (
    EPOCH_GLOBAL,
    EPOCH_GROUP,
    EPOCH_IMAGE,
    EPOCH_LOCAL,
    F_GLOBAL_LINEAR,
    ITEM_BITS,
    ITEM_MASK,
    KIND_LOCAL,
    W_ATOMIC,
    W_ATOMICS,
    W_FOREIGN,
    W_READER,
    W_READERS,
    W_SITES,
    W_WRITER,
    WRITTEN_WORDS,
)
from clmap_lsp.emulator.plan import BufferPlan
from clmap_lsp.emulator.types import I1, I64, POINTER


def is_quick(ctx: Context, buffer: BufferPlan, size: int) -> bool:
    """Tell whether accesses of `size` bytes can be checked here."""
    plan = ctx.plan
    is_fine = plan.has_sub_group_barriers or plan.has_orders or ctx.options.lockstep
    return not is_fine and size == plan.granules[buffer.number]


@dataclass(slots=True)
class QuickCheck:
    """One access of one granule."""

    ctx: Context
    buffer: BufferPlan
    shadow: ir.Value
    pointer: Pointer
    site: int
    slow: Callable[[], None]
    """Emits the call of what is right for every access."""
    _cell: ir.Value | None = None

    def read(self) -> None:
        """Emit the check of a plain read."""
        good = self._all(self._in_order(W_WRITER, *self._atomics()), self._is_set(), self._is_aligned())
        reader = self._word(W_READER)
        if not self._is_local:
            # One of an earlier group is kept elsewhere.
            here = self._builder.icmp_unsigned(">=", reader, self._start)
            good = self._all(good, self._builder.or_(here, self._is(reader, 0)))
        self._choose(good, lambda: self._note_reader(reader))

    def write(self) -> None:
        """Emit the check of a plain write."""
        readers = self.ctx.plan.cell_words(self.buffer.number) > WRITTEN_WORDS
        words = (W_WRITER, *((W_READER, W_READERS, W_FOREIGN) if readers else ()), *self._atomics())
        self._choose(self._all(self._in_order(*words), self._is_aligned()), self._note_writer)

    def atomic_read(self) -> None:
        """Emit the check of an atomic's read."""
        good = self._all(self._in_order(W_WRITER), self._is_set(), self._is_aligned())
        self._choose(good, lambda: None)

    def atomic_write(self) -> None:
        """Emit the check of an atomic's write."""
        words = (W_WRITER, W_READER, W_READERS, W_FOREIGN)
        self._choose(self._all(self._in_order(*words), self._is_aligned()), self._note_atomic)

    # ------------------------------------------------------------------------------------- what is noted

    def _note_reader(self, reader: ir.Value) -> None:
        """Note the first reader of an epoch, and one other: enough to find every conflict with a writer."""
        builder = self._builder
        again, first, end = (self.ctx.block(f"reader.{it}") for it in ("again", "first", "end"))
        builder.cbranch(builder.icmp_unsigned(">=", reader, self._now), again, first)
        builder.position_at_end(first)
        builder.store(self._me, self._place(W_READER))
        self._note_site(16)
        builder.branch(end)
        builder.position_at_end(again)
        with self.ctx.rarely(builder.icmp_signed("!=", reader, self._me), "other.reader"):
            lacks = builder.icmp_unsigned("<", self._word(W_READERS), self._now)
            with self.ctx.rarely(lacks, "second.reader"):
                builder.store(self._me, self._place(W_READERS))
        builder.branch(end)
        builder.position_at_end(end)

    def _note_writer(self) -> None:
        self._builder.store(self._me, self._place(W_WRITER))
        self._note_site(0)

    def _note_atomic(self) -> None:
        builder, before = self._builder, self._word(W_ATOMIC)
        item = builder.and_(before, ir.Constant(I64, ITEM_MASK))
        others = builder.icmp_signed("!=", item, self._item)
        with self.ctx.rarely(self._all(others, builder.not_(self._is(before, 0))), "other.atomic"):
            builder.store(before, self._place(W_ATOMICS))
        builder.store(self._me, self._place(W_ATOMIC))
        # As the run-time library does: what stands above an atomic's site is dropped.
        low = builder.and_(self._word(W_SITES), ir.Constant(I64, 0xFFFFFFFF))
        builder.store(builder.or_(low, ir.Constant(I64, self.site << 32)), self._place(W_SITES))

    def _note_site(self, shift: int) -> None:
        builder = self._builder
        kept = builder.and_(self._word(W_SITES), ir.Constant(I64, ~(0xFFFF << shift)))
        builder.store(builder.or_(kept, ir.Constant(I64, self.site << shift)), self._place(W_SITES))

    # ------------------------------------------------------------------------------------ what is in order

    def _choose(self, good: ir.Value, note: Callable[[], None]) -> None:
        builder = self._builder
        quick, slow, end = (self.ctx.block(f"check.{it}") for it in ("quick", "slow", "end"))
        builder.cbranch(good, quick, slow)
        builder.position_at_end(slow)
        self.slow()
        builder.branch(end)
        builder.position_at_end(quick)
        note()
        builder.branch(end)
        builder.position_at_end(end)

    def _in_order(self, *words: int) -> ir.Value:
        """Tell whether nothing, this work-item or someone before the last barrier is all that words name."""
        return self._all(*(self._is_before(self._word(it)) for it in words))

    def _is_before(self, access: ir.Value) -> ir.Value:
        builder = self._builder
        mine = builder.icmp_signed("==", access, self._me)
        if self._is_local:
            return builder.or_(builder.icmp_unsigned("<", access, self._now), mine)
        since = builder.sub(access, self._start)
        earlier = builder.icmp_unsigned("<", since, self._span)
        return builder.or_(builder.or_(earlier, self._is(access, 0)), mine)

    def _is_set(self) -> ir.Value:
        """Tell whether the group has written local memory, and anybody what the host left unwritten."""
        written = [self._word(it) for it in (W_WRITER, *self._atomics()[:1])]
        builder = self._builder
        if self._is_local:
            found = [builder.icmp_unsigned(">=", it, self._start) for it in written]
        elif self.buffer.is_argument and self.buffer.variable.name in self.ctx.options.unwritten:
            found = [builder.not_(self._is(it, 0)) for it in written]
        else:
            return ir.Constant(I1, 1)
        return found[0] if len(found) == 1 else builder.or_(found[0], found[1])

    def _is_aligned(self) -> ir.Value:
        granule = self.ctx.plan.granules[self.buffer.number]
        if self.pointer.alignment >= granule:
            return ir.Constant(I1, 1)
        return self._is(self._builder.and_(self.pointer.offset, ir.Constant(I64, granule - 1)), 0)

    def _atomics(self) -> tuple[int, ...]:
        return (W_ATOMIC, W_ATOMICS) if self.ctx.plan.has_atomics else ()

    # ---------------------------------------------------------------------------------------------- words

    @property
    def _builder(self) -> ir.IRBuilder:
        return self.ctx.builder

    def _all(self, first: ir.Value, *others: ir.Value) -> ir.Value:
        for other in others:
            first = self._builder.and_(first, other)
        return first

    def _is(self, value: ir.Value, number: int) -> ir.Value:
        return self._builder.icmp_signed("==", value, ir.Constant(I64, number))

    def _place(self, index: int) -> ir.Value:
        if self._cell is None:
            builder = self._builder
            shift = self.ctx.plan.granules[self.buffer.number].bit_length() - 1
            index_of = builder.lshr(self.pointer.offset, ir.Constant(I64, shift))
            size = 8 * self.ctx.plan.cell_words(self.buffer.number)
            at = builder.add(self.shadow, builder.mul(index_of, ir.Constant(I64, size)))
            self._cell = builder.inttoptr(at, POINTER)
        return self._builder.gep(self._cell, [ir.Constant(I64, index)], source_etype=I64)

    def _word(self, index: int) -> ir.Value:
        return self._builder.load(self._place(index), typ=I64)

    @property
    def _is_local(self) -> bool:
        return self.buffer.kind == KIND_LOCAL

    @property
    def _epoch(self) -> int:
        return EPOCH_LOCAL if self._is_local else EPOCH_IMAGE if self.buffer.is_image else EPOCH_GLOBAL

    @property
    def _item(self) -> ir.Value:
        return self.ctx.constant_frame(F_GLOBAL_LINEAR)

    def _stamped(self, epoch: int) -> ir.Value:
        """Return an epoch where it stands in the shadow."""
        ctx = self.ctx
        now = ctx.constant_state(epoch)
        return ctx.once("stamp", epoch, lambda: ctx.entry.shl(now, ir.Constant(I64, ITEM_BITS)))

    @property
    def _now(self) -> ir.Value:
        return self._stamped(self._epoch)

    @property
    def _start(self) -> ir.Value:
        return self._stamped(EPOCH_GROUP)

    @property
    def _span(self) -> ir.Value:
        now, start = self._now, self._start
        return self.ctx.once("span", self._epoch, lambda: self.ctx.entry.sub(now, start))

    @property
    def _me(self) -> ir.Value:
        now, item, ctx = self._now, self._item, self.ctx
        return ctx.once("me", self._epoch, lambda: ctx.steady.or_(now, item))


__all__ = ["QuickCheck", "is_quick"]

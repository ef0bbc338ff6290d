"""Where a work-item stops, and how it comes back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from llvmlite import ir

from clmap_lsp.dataclass import dataclass
from clmap_lsp.emulator.context import LANE_MASK, Context, Slot
from clmap_lsp.emulator.layout import (
    AT_BARRIER,
    DONE,
    F_COUNT,
    F_RESUME,
    F_RING,
    F_SAVED,
    F_SITE,
    F_STATUS,
    RING_ROWS,
)
from clmap_lsp.emulator.liveness import NOTHING_STEADY, Steady
from clmap_lsp.emulator.types import I1, I64, POINTER
from clmap_lsp.source.ir import Statement, Variable

_MOST_WAITS = 32
"""Waits with ways of their own out and back."""


@dataclass(frozen=True, slots=True)
class _Wait:
    """A stop at which only some variables are kept."""

    number: int
    live: frozenset[Variable]
    part: int
    keeps_steady: bool
    place: ir.Value
    leaves: ir.Block
    comes_back: ir.Block


@dataclass(frozen=True, slots=True)
class _Word:
    """A slot of 64 bits that survives stops."""

    slot: ir.Value
    start: int
    part: int


class Suspension:
    """The blocks around the body: entry, restoring, saving, the end.

    Invariant: every slot that may hold a value across a stop is in `saved`, with its variable if it has one.
    `live` are the variables that are needed behind a wait, for those of which that is known.
    """

    def __init__(
        self, ctx: Context, live: Mapping[int, frozenset[Variable]], steady: Steady = NOTHING_STEADY
    ) -> None:
        self.ctx = ctx
        self.live = live
        self.steady = steady
        self.part = 0
        """The number of the kernel's outermost statement that is being emitted."""
        self.saved: list[tuple[ir.Value, ir.Type, Variable | None]] = []
        self._waits: list[_Wait] = []
        self.status = ctx.slot(I64, "status")
        self.resume = ctx.slot(I64, "resume")
        self.fuel = ctx.slot(I64, "fuel")
        self.trace = ctx.slot(POINTER, "trace")
        self.start = ctx.block("start")
        self.leave = ctx.block("leave")
        self.finish = ctx.block("finish")
        self.stopped = ctx.block("stopped")
        """Where it goes from both of these, with its status."""
        self.place = ctx.slot(I64, "place")
        """In a quick pass, where a work-item has stopped: what `place_of` packs, and its site and fences."""
        self.first, self.differs = ctx.slot(I64, "first"), ctx.slot(I64, "differs")
        """In a quick pass, where its first work-item stopped, and whether others stopped elsewhere."""
        self.waited = ctx.block("waited")
        """Where a quick pass goes from a barrier and from the end, with all noted but what was executed."""
        self.unlike = ctx.block("unlike")
        """As `waited`, from a `place` that is not that of the work-items before."""
        self.points: list[ir.Block] = []
        self._barriers: set[int] = set()
        """The points behind barriers."""
        self.words: list[_Word] = []
        self._shared: list[tuple[ir.Value, int]] = []
        """Slots that are words of the frame while the work-item does not run."""
        self.ring_limit = self._ring_limit()

    def _ring_limit(self) -> ir.Value:
        steady = self.ctx.steady
        ring = self.ctx.constant_frame(F_RING)
        rows = steady.mul(self.ctx.constant_state(RING_ROWS), ir.Constant(I64, 16))
        return steady.inttoptr(steady.add(ring, rows), POINTER)

    def new_word(self, name: str, start: int = 0) -> ir.Value:
        """Make a slot of 64 bits that survives stops, for the outermost statement that is being emitted."""
        slot = self.ctx.slot(I64, name)
        self.saved.append((slot, I64, None))
        self.words.append(_Word(slot, start, self.part))
        return slot

    def shared(self, index: int) -> ir.Value:
        """Make a slot for a word of the frame that others read and change where the work-item stops."""
        slot = self.ctx.slot(I64, "shared")
        self._shared.append((slot, index))
        return slot

    def keep(self, variable: Variable, slot: Slot) -> None:
        """Let a variable survive stops."""
        self.saved.append((slot.place, slot.kind, variable))
        if slot.number is not None:
            self.saved.append((slot.number, I64, variable))
        if slot.initialised is not None:
            self.saved.append((slot.initialised, LANE_MASK, variable))
        if slot.origin is not None:
            self.saved.append((slot.origin, I64, variable))

    def at(self, packed: ir.Value) -> None:
        """Note in the frame at which site, with which fences, the work-item is about to stop."""
        self.ctx.builder.store(packed, self.ctx.frame_place(F_SITE))
        if self.ctx.is_quick:
            self.ctx.builder.store(packed, self.place)

    def stop(self, status: ir.Value | int, wait: Statement | None = None) -> None:
        """Emit a stop with `status`; what is emitted next runs when the work-item comes back.

        For a `wait`, only what is needed behind it is kept, if that is known.
        """
        builder = self.ctx.builder
        after = self.ctx.block("resumed")
        self.points.append(after)
        if isinstance(status, int) and self.ctx.is_quick:
            place = builder.load(self.place, typ=I64)
            builder.store(builder.xor(place, ir.Constant(I64, place_of(status))), self.place)
        if status == AT_BARRIER:
            self._barriers.add(len(self.points))
        live = self.live.get(id(wait)) if wait is not None else None
        if live is not None and len(self._waits) < _MOST_WAITS:
            leaves, back = self.ctx.block("waits"), self.ctx.block("back")
            place = builder.load(self.place, typ=I64)
            keeps_steady = wait is self.steady.wait
            self._waits.append(_Wait(len(self.points), live, self.part, keeps_steady, place, leaves, back))
            builder.branch(leaves)
        else:
            builder.store(ir.Constant(I64, status) if isinstance(status, int) else status, self.status)
            builder.store(ir.Constant(I64, len(self.points)), self.resume)
            builder.branch(self.leave)
        builder.position_at_end(after)

    def close(self, dispatch: ir.Block) -> int:
        """Emit the surrounding blocks; return the bytes that a frame needs for the saved variables."""
        places, size = self._layout()
        self._emit_dispatch(dispatch, places)
        self._emit_leave(places)
        for wait in self._waits:
            self._emit_wait(wait, places)
        self._emit_finish()
        return size

    def _layout(self) -> tuple[list[int], int]:
        places, at = [], F_SAVED * 8
        for _, kind, _ in self.saved:
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
        if ctx.options.trace:
            count = builder.load(self._place(builder, 8 * F_COUNT), typ=I64)
            ring = builder.add(ctx.constant_frame(F_RING), builder.mul(count, ir.Constant(I64, 16)))
            builder.store(builder.inttoptr(ring, POINTER), self.trace)
        point = builder.load(self._place(builder, 8 * F_RESUME), typ=I64)
        restore = ctx.block("restore")
        fresh = ctx.block("fresh")
        ways = builder.switch(point, restore)
        ways.add_case(ir.Constant(I64, 0), fresh)
        for wait in self._waits:
            ways.add_case(ir.Constant(I64, wait.number), wait.comes_back)
        builder.position_at_end(fresh)
        for word in self.words:
            builder.store(ir.Constant(I64, word.start), word.slot)
        self._clear_shared(builder)
        builder.branch(self.start)
        builder.position_at_end(restore)
        self._restore(builder, zip(self.saved, places, strict=True))
        for slot, index in self._shared:
            builder.store(builder.load(self._place(builder, 8 * index), typ=I64), slot)
        chooser = builder.switch(point, self.finish)
        separate = {it.number for it in self._waits}
        for number, block in enumerate(self.points, 1):
            if number not in separate:
                chooser.add_case(ir.Constant(I64, number), self._behind(number, block))

    def _behind(self, number: int, block: ir.Block) -> ir.Block:
        """Return where a work-item goes on that keeps all variables; behind a barrier it starts anew."""
        if number not in self._barriers or not self.ctx.is_quick:
            return block
        anew = self.ctx.block("anew")
        builder = ir.IRBuilder(anew)
        self._clear_shared(builder)
        builder.branch(block)
        return anew

    def _restore(self, builder: ir.IRBuilder, some: Iterable[_Placed]) -> None:
        for (slot, kind, _), at in some:
            memory_kind = ir.IntType(8) if kind == I1 else kind
            value = builder.load(self._place(builder, at), align=1, typ=memory_kind)
            builder.store(builder.trunc(value, I1) if kind == I1 else value, slot)

    def _save(self, builder: ir.IRBuilder, some: Iterable[_Placed]) -> None:
        for (slot, kind, _), at in some:
            value = builder.load(slot, typ=kind)
            value = builder.zext(value, ir.IntType(8)) if kind == I1 else value
            builder.store(value, self._place(builder, at), align=1)

    def _emit_leave(self, places: list[int]) -> None:
        builder = ir.IRBuilder(self.leave)
        self._save(builder, zip(self.saved, places, strict=True))
        builder.store(builder.load(self.resume, typ=I64), self._place(builder, F_RESUME * 8))
        self._store_shared(builder)
        builder.branch(self.stopped)

    def _emit_wait(self, wait: _Wait, places: list[int]) -> None:
        """Emit the ways out and back of a wait: only of quick passes, where the frame shares nothing."""
        builder = ir.IRBuilder(wait.leaves)
        kept = list(self._kept(wait, places))
        there = frozenset[Variable]() if wait.keeps_steady else self.steady.variables
        self._save(builder, (it for it in kept if it[0][2] not in there))
        builder.store(ir.Constant(I64, wait.number), self._place(builder, F_RESUME * 8))
        self._note_place(builder, AT_BARRIER, wait.place)
        builder = ir.IRBuilder(wait.comes_back)
        self._restore(builder, kept)
        for word in self.words:
            if word.part != wait.part:
                builder.store(ir.Constant(I64, word.start), word.slot)
        self._clear_shared(builder)
        builder.branch(self.points[wait.number - 1])

    def _kept(self, wait: _Wait, places: list[int]) -> Iterator[_Placed]:
        """Yield what is needed behind a wait: words in the same outermost statement, to which nothing leads
        back from behind it.
        """
        words = {id(it.slot): it.part for it in self.words}
        for entry, at in zip(self.saved, places, strict=True):
            if entry[2] in wait.live if entry[2] is not None else words[id(entry[0])] == wait.part:
                yield entry, at

    def _note_place(self, builder: ir.IRBuilder, status: int, place: ir.Value) -> None:
        """Note in a quick pass that a work-item has stopped, and whether it is where those before it are."""
        builder.store(ir.Constant(I64, status), self._place(builder, F_STATUS * 8))
        others = self.ctx.block("elsewhere")
        same = builder.icmp_signed("==", builder.load(self.first, typ=I64), place)
        builder.cbranch(same, self.waited, others)
        builder.position_at_end(others)
        builder.store(place, self.place)
        builder.branch(self.unlike)

    def _clear_shared(self, builder: ir.IRBuilder) -> None:
        """In a quick pass, a work-item starts anew behind a barrier; else the frame says what was before."""
        for slot, index in self._shared:
            was = ir.Constant(I64, 0)
            if not self.ctx.is_quick:
                was = builder.load(self._place(builder, 8 * index), typ=I64)
            builder.store(was, slot)

    def _emit_finish(self) -> None:
        builder = ir.IRBuilder(self.finish)
        if self.ctx.is_quick:
            self._note_place(builder, DONE, ir.Constant(I64, place_of(DONE)))
            return
        self._store_shared(builder)
        builder.store(ir.Constant(I64, DONE), self.status)
        builder.branch(self.stopped)

    def _store_shared(self, builder: ir.IRBuilder) -> None:
        ctx = self.ctx
        if ctx.options.trace:
            end = builder.ptrtoint(builder.load(self.trace, typ=POINTER), I64)
            used = builder.udiv(builder.sub(end, ctx.constant_frame(F_RING)), ir.Constant(I64, 16))
            builder.store(used, self._place(builder, F_COUNT * 8))
        for slot, index in self._shared:
            builder.store(builder.load(slot, typ=I64), self._place(builder, 8 * index))


def place_of(status: int) -> int:
    """Return a status where it stands in the word that says where a work-item has stopped."""
    word = status << 60
    return word - (1 << 64) if word >> 63 else word


_Placed = tuple[tuple[ir.Value, ir.Type, Variable | None], int]
"""What is saved, and where in the frame."""


def _bytes(kind: ir.Type) -> int:
    from clmap_lsp.emulator.types import bits, lanes

    if kind == I1:
        return 1
    size = bits(kind) * lanes(kind) // 8
    return 1 << (size - 1).bit_length()

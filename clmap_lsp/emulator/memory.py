"""Code for accesses to memory: bounds, alignment, race and initialisation checks, and the trace.

An access that is out of bounds is reported and left out of the trace; a read then gives 0 and a write is
dropped. Every other access goes to the machine address `base + offset` of its buffer.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace

from llvmlite import ir

from clmap_lsp.dataclass import dataclass
from clmap_lsp.emulator.context import Context, Pointer
from clmap_lsp.emulator.expressions import number_value
from clmap_lsp.emulator.layout import (
    BUFFERS,
    E_BASE,
    E_INIT,
    E_PRIVATE,
    E_SHADOW,
    E_SIZE,
    E_TRACE,
    ENTRY_WORDS,
    FAULT_MISALIGNED,
    FAULT_OOB_READ,
    FAULT_OOB_WRITE,
    FAULT_UNINITIALISED,
    FAULT_WRITE_CONSTANT,
    FAULT_WRITE_ONLY,
    FENCE_IMAGE,
    FENCE_LOCAL,
    KIND_CONSTANT,
    KIND_GLOBAL,
    KIND_LOCAL,
    KIND_PRIVATE,
)
from clmap_lsp.emulator.plan import BufferPlan
from clmap_lsp.emulator.quick_checks import QuickCheck, is_quick
from clmap_lsp.emulator.types import I8, I64, POINTER, bits, bytes_of, lanes, zero
from clmap_lsp.emulator.used_lanes import Ranges
from clmap_lsp.launch.problem import LaunchError
from clmap_lsp.source.ir import Ordering

_KEEPS, _SET_ONLY = 8, 16
"""Flags of a read: it need not be set before; it is looked at for that alone."""


_MOST_OF_OBJECT = 1 << 23


def _part_flags(at: int, size: int) -> int:
    """Return flags that say of what a read is a part; of very large objects nothing is said."""
    return at << 8 | size << 32 if size < _MOST_OF_OBJECT else 0


def check_size(kind: ir.Type, size: int) -> None:
    """Refuse code that would touch more bytes than are checked against the buffer: a fault of ours."""
    if bytes_of(kind) > size:
        raise LaunchError(
            f"the kernel cannot run: an access of {size} bytes would move {bytes_of(kind)}",
            "report it with the kernel",
        )


@dataclass(frozen=True, slots=True)
class Target:
    """A buffer as code sees it: machine base, bytes, trace address, shadow; each an i64."""

    base: ir.Value
    size: ir.Value
    trace: ir.Value
    shadow: ir.Value
    init: ir.Value
    known: BufferPlan | None


class Memory:
    """Emits accesses."""

    def __init__(self, ctx: Context, trace_place: ir.Value, key: ir.Value) -> None:
        self.ctx = ctx
        self.trace_place = trace_place
        """Slot: machine address of the next free trace entry."""
        self.key = key
        """Slot: the loop-turn key of the present place, already shifted past the site bits."""
        self.plans = {it.number: it for it in ctx.plan.buffers}
        self.origin: ir.Value | None = None
        """Where out-of-bounds reads are followed: site + 1 if the last read emitted was one, else 0."""

    # ----------------------------------------------------------------------------------------- accesses

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
        """Emit a read of `size` bytes as LLVM type `kind`; `part` (0 to 7) numbers those of one statement.

        Of a vector only the bytes that are `used` have to be set.
        """
        check_size(kind, size)
        ctx = self.ctx
        target = self.target(pointer)
        good = self._in_bounds(target, pointer, size)
        inside, bad, end = ctx.block("load"), ctx.block("load.bad"), ctx.block("load.end")
        ctx.builder.cbranch(good, inside, bad)
        ctx.builder.position_at_end(bad)
        self._out_of_bounds(FAULT_OOB_READ, pointer, site, size)
        ctx.builder.branch(end)
        ctx.builder.position_at_end(inside)
        self.check_alignment(pointer, alignment, site)
        self.trace(target, pointer, 2 * site, part)
        self.before_read(target, pointer, size, site, bits=bits, used=used)
        value = ctx.builder.load(self.address(target, pointer), align=1, typ=kind)
        leave = ctx.builder.block
        ctx.builder.branch(end)
        ctx.builder.position_at_end(end)
        phi = ctx.builder.phi(kind)
        phi.add_incoming(value, leave)
        phi.add_incoming(zero(kind), bad)
        if ctx.options.follow_invalid:
            self.origin = ctx.builder.phi(I64)
            self.origin.add_incoming(ir.Constant(I64, 0), leave)
            self.origin.add_incoming(ir.Constant(I64, site + 1), bad)
        return phi

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
        """Emit a write of the first `size` bytes of `value`, of which `bits` change where that is said."""
        check_size(value.type, size)
        ctx = self.ctx
        target = self.target(pointer)
        with self.checked(target, pointer, size, [FAULT_OOB_WRITE], site):
            self.check_alignment(pointer, alignment, site)
            self.trace(target, pointer, 2 * site + 1)
            address = self.address(target, pointer)
            self.before_write(target, pointer, size, site, value, address, bits=bits)
            ctx.builder.store(value, address, align=1)

    def checked(
        self, target: Target, pointer: Pointer, size: int, faults: Sequence[int], site: int
    ) -> _Checked:
        """Emit what follows only where `size` bytes are in bounds; report the faults elsewhere."""
        return _Checked(self, self._in_bounds(target, pointer, size), faults, pointer, site, size)

    def target(self, pointer: Pointer) -> Target:
        """Look a pointer's buffer up: in registers where it is known, else in the table."""
        ctx = self.ctx
        if not isinstance(pointer.number, int):
            return self._dynamic_target(pointer.number)
        number = pointer.number

        def word(index: int) -> ir.Value:
            return ctx.entry_word(BUFFERS, number, index, ENTRY_WORDS)

        plan = self.plans.get(number)
        base = word(E_BASE)
        init: ir.Value = ir.Constant(I64, 0)
        if plan is not None and plan.kind == KIND_PRIVATE:
            base = ctx.once("private", number, lambda: ctx.steady.add(word(E_BASE), self._frame_address()))
            init = ctx.once("init", number, lambda: ctx.steady.add(word(E_INIT), self._frame_address()))
        return Target(base, word(E_SIZE), word(E_TRACE), word(E_SHADOW), init, plan)

    def _frame_address(self) -> ir.Value:
        return self.ctx.once("frame address", 0, lambda: self.ctx.steady.ptrtoint(self.ctx.frame, I64))

    def _dynamic_target(self, number: ir.Value) -> Target:
        builder = self.ctx.builder
        count = ir.Constant(I64, len(self.plans) + 1)
        safe = builder.select(builder.icmp_unsigned("<", number, count), number, ir.Constant(I64, 0))
        table = builder.inttoptr(self.ctx.constant_state(BUFFERS), POINTER)
        first = builder.mul(safe, ir.Constant(I64, ENTRY_WORDS))

        def word(index: int) -> ir.Value:
            place = builder.gep(table, [builder.add(first, ir.Constant(I64, index))], source_etype=I64)
            return builder.load(place, typ=I64)

        frame = builder.and_(word(E_PRIVATE), self._frame_address())
        init_offset = word(E_INIT)
        has_init = builder.icmp_signed("!=", init_offset, ir.Constant(I64, 0))
        init = builder.select(has_init, builder.add(init_offset, frame), ir.Constant(I64, 0))
        return Target(
            builder.add(word(E_BASE), frame), word(E_SIZE), word(E_TRACE), word(E_SHADOW), init, None
        )

    def address(self, target: Target, pointer: Pointer) -> ir.Value:
        """Return the machine address of an access that is in bounds."""
        return self.ctx.builder.inttoptr(self.ctx.builder.add(target.base, pointer.offset), POINTER)

    # ------------------------------------------------------------------------------------------- checks

    def _in_bounds(self, target: Target, pointer: Pointer, size: int) -> ir.Value:
        ctx = self.ctx
        if isinstance(pointer.number, int):
            room = ctx.room(pointer.number, size, target.size)
        else:
            fits = ctx.builder.sub(target.size, ir.Constant(I64, size - 1))
            positive = ctx.builder.icmp_signed(">", fits, ir.Constant(I64, 0))
            room = ctx.builder.select(positive, fits, ir.Constant(I64, 0))
        return ctx.builder.icmp_unsigned("<", pointer.offset, room)

    def _out_of_bounds(self, fault: int, pointer: Pointer, site: int, size: int) -> None:
        packed = self.ctx.builder.or_(
            self.ctx.builder.shl(number_value(pointer), ir.Constant(I64, 32)), ir.Constant(I64, size)
        )
        self.ctx.fault(fault, site, pointer.offset, packed)

    def check_alignment(self, pointer: Pointer, alignment: int, site: int) -> None:
        """Emit the report of an address that is less aligned than the access demands."""
        if alignment <= pointer.alignment:
            return
        ctx = self.ctx
        low = ctx.builder.and_(pointer.offset, ir.Constant(I64, alignment - 1))
        with ctx.rarely(ctx.builder.icmp_signed("!=", low, ir.Constant(I64, 0)), "misaligned"):
            packed = ctx.builder.or_(
                ctx.builder.shl(number_value(pointer), ir.Constant(I64, 32)), ir.Constant(I64, alignment)
            )
            ctx.fault(FAULT_MISALIGNED, site, pointer.offset, packed)

    # -------------------------------------------------------------------------------------------- trace

    def trace(self, target: Target, pointer: Pointer, trace_site: int, part: int = 0) -> None:
        """Append an entry to the work-item's ring: the start address, and site with loop-turn key."""
        if not self.ctx.options.trace:
            return
        if target.known is None:
            traced = self.ctx.builder.icmp_signed("!=", target.trace, ir.Constant(I64, -1))
            with self.ctx.rarely(traced, "trace"):
                self._append(target, pointer, trace_site, part)
        elif target.known.kind != KIND_PRIVATE:
            self._append(target, pointer, trace_site, part)

    def _append(self, target: Target, pointer: Pointer, trace_site: int, part: int) -> None:
        builder = self.ctx.builder
        entry = builder.load(self.trace_place, typ=POINTER)
        builder.store(builder.add(target.trace, pointer.offset), entry)
        turn = builder.load(self.key, typ=I64)
        if part:  # As far from every loop turn's key as can be, so that lanes of one part are matched.
            turn = builder.xor(turn, ir.Constant(I64, (part << 61) - (part >> 2 << 64)))
        key = builder.or_(turn, ir.Constant(I64, trace_site & 0xFFFF))
        builder.store(key, builder.gep(entry, [ir.Constant(I64, 1)], source_etype=I64))
        after = builder.gep(entry, [ir.Constant(I64, 2)], source_etype=I64)
        builder.store(after, self.trace_place)

    # ------------------------------------------------------------------------------------------- shadows

    def before_read(
        self,
        target: Target,
        pointer: Pointer,
        size: int,
        site: int,
        *,
        atomic: bool = False,
        bits: int | None = None,
        used: Ranges | None = None,
        part_of: tuple[int, int] = (0, 0),
    ) -> None:
        """Emit the race and initialisation checks of a read.

        Of a bit-field only `bits` must be set, and of a vector the bytes that are `used`. Where it is
        `part_of` an object that is copied, that is where in it, and the object's size.
        """
        if target.known is not None and target.known.variable.name in self.ctx.options.write_only:
            self.ctx.fault(FAULT_WRITE_ONLY, site, pointer.offset, number_value(pointer))
        if bits is None:
            for start, count in used or ((0, size),):
                self._private_read(target, self._further(pointer, start), count, site)
        elif bits:
            self._private_bits_read(target, pointer, size, site, bits)
        if used is None or (target.known is not None and is_quick(self.ctx, target.known, size)):
            flags = _KEEPS if bits == 0 else _part_flags(*part_of)
            self._check("shadow_read", target, pointer, size, site, atomic, flags=flags)
            return
        self._shadow("shadow_read", target, pointer, size, site, atomic, None, None, flags=_KEEPS)
        if self.ctx.options.uninitialised:
            for start, count in used:
                part = self._further(pointer, start)
                self._shadow("shadow_read", target, part, count, site, atomic, None, None, flags=_SET_ONLY)

    def _further(self, pointer: Pointer, start: int) -> Pointer:
        if not start:
            return pointer
        offset = self.ctx.builder.add(pointer.offset, ir.Constant(I64, start))
        return replace(pointer, offset=offset, alignment=min(pointer.alignment, start & -start))

    def _check(
        self,
        function: str,
        target: Target,
        pointer: Pointer,
        size: int,
        site: int,
        atomic: bool,
        value: ir.Value | None = None,
        address: ir.Value | None = None,
        *,
        flags: int = 0,
    ) -> None:
        """Emit a check: in place where it most often comes to nothing, else as a call."""

        def call() -> None:
            self._shadow(function, target, pointer, size, site, atomic, value, address, flags=flags)

        known = target.known
        if (
            known is None
            or flags == _KEEPS
            or not self._has_checks(known)
            or not is_quick(self.ctx, known, size)
        ):
            call()
            return
        check = QuickCheck(self.ctx, known, target.shadow, pointer, site, call)
        if function == "shadow_read":
            (check.atomic_read if atomic else check.read)()
        else:
            (check.atomic_write if atomic else check.write)()

    def _has_checks(self, plan: BufferPlan) -> bool:
        options = self.ctx.options
        return (options.races or options.uninitialised) and self.has_shadow(plan)

    def before_write(
        self,
        target: Target,
        pointer: Pointer,
        size: int,
        site: int,
        value: ir.Value | None,
        address: ir.Value,
        *,
        atomic: bool = False,
        bits: int | None = None,
    ) -> None:
        """Emit the race check of a write and mark the bytes as initialised."""
        known = target.known
        if known is not None and (
            known.kind == KIND_CONSTANT or known.variable.name in self.ctx.options.read_only
        ):
            self.ctx.fault(FAULT_WRITE_CONSTANT, site, pointer.offset, number_value(pointer))
        self._private_write(target, pointer, size, bits)
        self._check("shadow_write", target, pointer, size, site, atomic, value, address)

    def _shadow(
        self,
        function: str,
        target: Target,
        pointer: Pointer,
        size: int,
        site: int,
        atomic: bool,
        value: ir.Value | None,
        address: ir.Value | None,
        *,
        flags: int = 0,
    ) -> None:
        ctx = self.ctx
        known = target.known
        if not (ctx.options.races or ctx.options.uninitialised):
            return
        if known is not None and not self.has_shadow(known):
            return
        where = 0
        if known is not None:
            where = FENCE_LOCAL if known.kind == KIND_LOCAL else FENCE_IMAGE if known.is_image else 0
        flags |= (1 if atomic else 0) | (0 if known is not None else 2)
        arguments = [
            ctx.state,
            ctx.frame,
            target.shadow,
            pointer.offset,
            ir.Constant(I64, size | site << 32),
            ir.Constant(I64, flags << 8 | where),
            number_value(pointer),
        ]
        if function == "shadow_write":
            arguments.append(self._same_value(value, address))
        if known is None:
            has = ctx.builder.icmp_signed("!=", target.shadow, ir.Constant(I64, 0))
            with ctx.rarely(has, "shadow"):
                ctx.call(function, I64, arguments)
        else:
            ctx.call(function, I64, arguments)

    def order(self, function: str, target: Target, pointer: Pointer, order: Ordering) -> None:
        """Emit what an atomic's read or write (`order_read`, `order_write`) orders besides itself."""
        ctx, known = self.ctx, target.known
        if not (ctx.options.races and ctx.plan.has_orders):
            return
        if known is not None and not self.has_shadow(known):
            return
        arguments = [ctx.state, ctx.frame]
        if function == "order_read":
            arguments += [target.shadow, pointer.offset, number_value(pointer)]
        arguments.append(ir.Constant(I64, order_bits(order)))
        has = ctx.builder.icmp_signed("!=", target.shadow, ir.Constant(I64, 0))
        with ctx.rarely(has, "order"):
            ctx.call(function, I64, arguments)

    def _same_value(self, value: ir.Value | None, address: ir.Value | None) -> ir.Value:
        """Return 1 where the write leaves memory as it is: such writes do not race with each other."""
        if value is None or address is None or isinstance(value.type, ir.ArrayType):
            return ir.Constant(I64, 0)
        builder = self.ctx.builder
        width = _byte_width(value.type)
        whole = ir.IntType(8 * width)
        old = builder.load(address, align=1, typ=whole)
        new = builder.bitcast(value, whole)
        return builder.zext(builder.icmp_signed("==", old, new), I64)

    def has_shadow(self, plan: BufferPlan) -> bool:
        """True if a buffer's accesses must be watched: it is shared and the kernel may write it."""
        if plan.kind == KIND_LOCAL:
            return plan.variable.name not in self.ctx.options.ordered
        if plan.is_argument and plan.variable.name in self.ctx.options.unwritten:
            return True
        written = self.ctx.plan.written
        return (
            plan.kind == KIND_GLOBAL
            and self.ctx.options.races
            and self.ctx.options.watch_global
            and not (plan.is_argument and plan.variable.name in self.ctx.options.exclusive)
            and (written is None or plan.number in written)
        )

    def _private_read(self, target: Target, pointer: Pointer, size: int, site: int) -> None:
        ctx = self.ctx
        known = target.known
        if not self._keeps_track(target) or not size:
            return
        arguments = [
            ctx.state,
            ctx.frame,
            ctx.builder.add(target.init, pointer.offset),
            ir.Constant(I64, size | site << 32),
            number_value(pointer),
            pointer.offset,
        ]
        if known is not None and size <= 16:
            whole = ir.IntType(8 * size)
            place = ctx.builder.inttoptr(arguments[2], POINTER)
            state = ctx.builder.load(place, align=1, typ=whole)
            unset = ctx.builder.icmp_signed("!=", state, ir.Constant(whole, -1))
            with ctx.rarely(unset, "unset"):
                ctx.call("private_read", I64, arguments)
        elif known is not None:
            ctx.call("private_read", I64, arguments)
        else:
            has = ctx.builder.icmp_signed("!=", target.init, ir.Constant(I64, 0))
            with ctx.rarely(has, "private"):
                ctx.call("private_read", I64, arguments)

    def _private_bits_read(self, target: Target, pointer: Pointer, size: int, site: int, bits: int) -> None:
        """Emit the check that the bits of a bit-field were set, of which the shadow has one for each."""
        ctx = self.ctx
        if not self._keeps_track(target):
            return
        with self._where_tracked(target, "private"):
            state = ctx.builder.load(self._set_bits(target, pointer), align=1, typ=ir.IntType(8 * size))
            mask = ir.Constant(state.type, bits)
            unset = ctx.builder.icmp_unsigned("!=", ctx.builder.and_(state, mask), mask)
            with ctx.rarely(unset, "unset"):
                ctx.fault(FAULT_UNINITIALISED, site, pointer.offset, number_value(pointer))

    def _private_write(self, target: Target, pointer: Pointer, size: int, bits: int | None = None) -> None:
        ctx = self.ctx
        if not self._keeps_track(target):
            return
        with self._where_tracked(target, "private"):
            if bits is None:
                start = ctx.builder.add(target.init, pointer.offset)
                self.fill(start, ir.Constant(I64, size), 255)
                return
            place = self._set_bits(target, pointer)
            state = ctx.builder.load(place, align=1, typ=ir.IntType(8 * size))
            ctx.builder.store(ctx.builder.or_(state, ir.Constant(state.type, bits)), place, align=1)

    def _keeps_track(self, target: Target) -> bool:
        """Tell whether it may be private memory, of which is known what was written."""
        known = target.known
        return self.ctx.options.uninitialised and (known is None or known.kind == KIND_PRIVATE)

    def _where_tracked(self, target: Target, name: str) -> AbstractContextManager[object]:
        """Emit what follows only where it is private memory."""
        if target.known is not None:
            return nullcontext()
        has = self.ctx.builder.icmp_signed("!=", target.init, ir.Constant(I64, 0))
        return self.ctx.rarely(has, name)

    def _set_bits(self, target: Target, pointer: Pointer) -> ir.Value:
        return self.ctx.builder.inttoptr(self.ctx.builder.add(target.init, pointer.offset), POINTER)

    def fill(self, start: ir.Value, count: ir.Value, byte: int) -> None:
        """Emit a memset at a machine address."""
        ctx = self.ctx
        pointer = ctx.builder.inttoptr(start, POINTER)
        value = ir.Constant(I8, byte - 256 if byte > 127 else byte)
        ctx.call("llvm.memset.p0.i64", ir.VoidType(), [pointer, value, count, ir.Constant(ir.IntType(1), 0)])


class _Checked:
    """A `with` block whose code runs only where the access is in bounds."""

    def __init__(
        self, memory: Memory, good: ir.Value, faults: Sequence[int], pointer: Pointer, site: int, size: int
    ) -> None:
        self.memory, self.good, self.faults = memory, good, faults
        self.pointer, self.site, self.size = pointer, site, size

    def __enter__(self) -> None:
        ctx = self.memory.ctx
        inside, bad = ctx.block("access"), ctx.block("access.bad")
        self.end = ctx.block("access.end")
        ctx.builder.cbranch(self.good, inside, bad)
        ctx.builder.position_at_end(bad)
        for fault in self.faults:
            self.memory._out_of_bounds(fault, self.pointer, self.site, self.size)
        ctx.builder.branch(self.end)
        ctx.builder.position_at_end(inside)

    def __exit__(self, *_: object) -> None:
        ctx = self.memory.ctx
        ctx.builder.branch(self.end)
        ctx.builder.position_at_end(self.end)


def order_bits(order: Ordering) -> int:
    """Return an order as the run-time library takes it."""
    return int(order.acquires) | int(order.releases) << 1 | int(order.is_wide) << 2


def _byte_width(kind: ir.Type) -> int:
    return max(bits(kind) * lanes(kind) // 8, 1)

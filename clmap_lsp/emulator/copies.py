"""Code for copies of whole objects and for asynchronous work-group copies."""

from __future__ import annotations

from llvmlite import ir

from clmap_lsp.emulator.context import Context, Pointer
from clmap_lsp.emulator.conversions import resize
from clmap_lsp.emulator.expressions import Expressions, number_value
from clmap_lsp.emulator.layout import (
    AT_COLLECTIVE,
    COPY_ARGUMENTS,
    F_EXCHANGE,
    F_LINEAR,
    FAULT_OOB_READ,
    FAULT_OOB_WRITE,
    KIND_PRIVATE,
    LAST_EVENT,
)
from clmap_lsp.emulator.memory import Memory, Target
from clmap_lsp.emulator.suspension import Suspension
from clmap_lsp.emulator.types import I1, I64, POINTER
from clmap_lsp.launch.contents import scalar_leaves
from clmap_lsp.source.ir import AsyncCopy, CopyObject, Expression, WaitEvents
from clmap_lsp.source.types import ArrayType, StructType, Type, has_union

_MOST_PARTS, _MOST_LEAVES = 16, 4096
"""Beyond these, copies of an object are not checked for parts without a value."""


def copy_object(memory: Memory, expressions: Expressions, statement: CopyObject) -> None:
    """Emit one load and one store of the whole object; padding keeps being uninitialised."""
    size = statement.type.size
    if size == 0:
        return
    source = expressions.pointer(statement.source)
    destination = expressions.pointer(statement.destination)
    origin, goal = memory.target(source), memory.target(destination)
    with memory.checked(origin, source, size, [FAULT_OOB_READ], statement.load_site):
        memory.trace(origin, source, 2 * statement.load_site)
        if origin.known is None or origin.known.kind != KIND_PRIVATE:
            _check_read(memory, origin, source, statement)
        with memory.checked(goal, destination, size, [FAULT_OOB_WRITE], statement.store_site):
            memory.trace(goal, destination, 2 * statement.store_site + 1)
            address = memory.address(goal, destination)
            memory.before_write(goal, destination, size, statement.store_site, None, address)
            _move(memory, address, memory.address(origin, source), size)
            _copy_initialised(memory, origin, source, goal, destination, size)


def _check_read(memory: Memory, origin: Target, source: Pointer, statement: CopyObject) -> None:
    """Emit the checks of what is read. Nobody writes padding, so that it may stay without a value."""
    parts = _parts(statement.type)
    if not parts:
        # Nothing is said of values that it may lack, but that others may write it meanwhile.
        memory.before_read(origin, source, statement.type.size, statement.load_site, bits=0)
        return
    for offset, size in parts:
        at = memory.ctx.builder.add(source.offset, ir.Constant(I64, offset))
        part = Pointer(source.number, at, min(source.alignment, offset & -offset or source.alignment))
        memory.before_read(origin, part, size, statement.load_site, part_of=(offset, statement.type.size))


def _parts(kind: Type) -> list[tuple[int, int]]:
    """Return offset and size of an object's parts between its padding; none if there are too many.

    One with unions is one part.
    """
    if has_union(kind) or _held_bytes(kind) == kind.size:
        return [(0, kind.size)]
    found: list[tuple[int, int]] = []
    for number, (offset, scalar) in enumerate(scalar_leaves(kind)):
        if number == _MOST_LEAVES or len(found) > _MOST_PARTS:
            return []
        start, size = found[-1] if found else (0, -1)
        if start + size == offset:
            found[-1] = start, size + scalar.size
        elif start + size < offset:
            found.append((offset, scalar.size))
        # Else a bit-field in the unit of the one before.
    return found or [(0, kind.size)]


def _held_bytes(kind: Type) -> int:
    """Return the bytes of an object that are not padding."""
    match kind:
        case ArrayType(element=element, length=length):
            return (length or 0) * _held_bytes(element)
        case StructType(fields=fields):
            return sum(_held_bytes(it.type) for it in fields if it.bits is None)
        case _:
            return kind.size


def _move(memory: Memory, to: ir.Value, origin: ir.Value, size: int) -> None:
    arguments = [to, origin, ir.Constant(I64, size), ir.Constant(I1, 0)]
    memory.ctx.call("llvm.memmove.p0.p0.i64", ir.VoidType(), arguments)


def _copy_initialised(
    memory: Memory, origin: Target, source: Pointer, goal: Target, destination: Pointer, size: int
) -> None:
    """Between private objects the state of every byte is copied along."""
    ctx = memory.ctx
    private = [it.known is not None and it.known.kind == KIND_PRIVATE for it in (origin, goal)]
    if not ctx.options.uninitialised or not all(private):
        return
    to = ctx.builder.inttoptr(ctx.builder.add(goal.init, destination.offset), POINTER)
    start = ctx.builder.inttoptr(ctx.builder.add(origin.init, source.offset), POINTER)
    _move(memory, to, start, size)


def async_copy(
    memory: Memory, expressions: Expressions, suspension: Suspension, statement: AsyncCopy
) -> ir.Value:
    """Emit a group's copy and return its event.

    Every work-item comes to it with the same arguments; the first carries it out.
    """
    ctx = memory.ctx
    source = expressions.pointer(statement.source)
    destination = expressions.pointer(statement.destination)
    count, stride, *box = _shape(ctx, expressions, statement)
    arguments = [
        number_value(destination),
        destination.offset,
        number_value(source),
        source.offset,
        count,
        stride,
        ir.Constant(I64, max(statement.element.size, 1)),  # Of nothing, any number would fit.
        ir.Constant(I64, statement.load_site | statement.store_site << 32),
        ir.Constant(I64, 0) if statement.joins is None else expressions.value(statement.joins),
        *box,
    ]
    assert len(arguments) == COPY_ARGUMENTS
    for index, argument in enumerate(arguments):
        ctx.builder.store(argument, ctx.frame_place(F_EXCHANGE + index))
    suspension.at(ir.Constant(I64, statement.load_site))
    suspension.stop(AT_COLLECTIVE)
    first = ctx.builder.icmp_signed("==", ctx.constant_frame(F_LINEAR), ir.Constant(I64, 0))
    with ctx.rarely(first, "group.copy"):
        ctx.call("copy_for_group", I64, [ctx.state, ctx.frame])
    return ctx.state_word(LAST_EVENT)


def _shape(ctx: Context, expressions: Expressions, statement: AsyncCopy) -> list[ir.Value]:
    """Return elements of a line, stride, and the box: without one, a plane of one line."""

    def whole(value: Expression | None, otherwise: int) -> ir.Value:
        if value is None:
            return ir.Constant(I64, otherwise)
        return resize(ctx, expressions.value(value), I64, signed=False)

    box = [whole(it, 0) for it in statement.box] or [ir.Constant(I64, it) for it in (1, 1, 0, 0, 0, 0)]
    return [whole(statement.count, 0), whole(statement.stride, 1), *box]


def wait_events(memory: Memory, expressions: Expressions, statement: WaitEvents) -> None:
    """Emit the note of which events a work-item waits for."""
    if statement.count is None or statement.events is None:
        return
    ctx = memory.ctx
    pointer = expressions.pointer(statement.events)
    target = memory.target(pointer)
    count = resize(ctx, expressions.value(statement.count), I64, signed=True)
    site = ir.Constant(I64, statement.site)
    arguments = [target.base, target.size, pointer.offset, count, number_value(pointer), site]
    ctx.call("wait_events", I64, [ctx.state, ctx.frame, *arguments])

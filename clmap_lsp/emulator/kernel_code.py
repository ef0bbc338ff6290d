"""From a kernel to the LLVM module of its work-item function.

The function is `i64 kernel(state, frame, count)`: it runs so many work-items, whose frames lie side by side,
one after the other from where its frame says until it waits or ends. It returns one of the statuses of
`layout.py`, that of the last one that ran; OUT_OF_FUEL if it did not come to all of them.
"""

from __future__ import annotations

from collections.abc import Mapping

from llvmlite import ir

from clmap_lsp.dataclass import dataclass
from clmap_lsp.emulator.context import LANE_MASK, CodeOptions, Context, Pointer, Slot, calls_to
from clmap_lsp.emulator.control import ControlPlan, Counters
from clmap_lsp.emulator.definite import maybe_unset
from clmap_lsp.emulator.layout import SCALARS
from clmap_lsp.emulator.liveness import live_after_waits, steady_variables
from clmap_lsp.emulator.memory import Memory
from clmap_lsp.emulator.plan import Plan, make_plan
from clmap_lsp.emulator.result import CallPlace
from clmap_lsp.emulator.statements import Statements
from clmap_lsp.emulator.suspension import Suspension
from clmap_lsp.emulator.turns import Turns
from clmap_lsp.emulator.types import I1, I64, POINTER, llvm_type, zero
from clmap_lsp.source.ir import Block, Kernel, Scope, Variable, VariableKind, blocks
from clmap_lsp.source.span import Span
from clmap_lsp.source.types import OpaqueType, PointerType

SCALAR_BYTES = 1024
"""Room of one argument by value; OpenCL devices need to take 1024 bytes of arguments (embedded: 256)."""


@dataclass(frozen=True, slots=True)
class KernelCode:
    """Generated code, before it is turned into machine code."""

    text: str
    plan: Plan
    saved_bytes: int
    """Of a frame, up to the private objects."""
    places: tuple[Span, ...]
    calls_to: tuple[tuple[CallPlace, ...], ...]
    """The calls that lead to each of them, from the kernel inwards."""
    unknowns: tuple[tuple[str, Span], ...]
    scalars: Mapping[Variable, int]
    """For each scalar argument its number in the table of scalars."""
    control: ControlPlan
    options: CodeOptions


def generate(kernel: Kernel, options: CodeOptions) -> KernelCode:
    """Return the LLVM module of a kernel as text."""
    plan = make_plan(kernel)
    module = ir.Module(name="kernel", context=ir.Context())
    function = ir.Function(module, ir.FunctionType(I64, [POINTER, POINTER, I64]), "kernel")
    turns = Turns(function)
    dispatch = function.append_basic_block("dispatch")
    ctx = Context(
        plan, options, module, function, ir.IRBuilder(dispatch), turns.entry, function.args[0], turns.frame
    )
    ctx.item = turns.item
    for span, calls in _sites(kernel):
        ctx.places.append(span)
        ctx.calls_to.append(calls)
    suspension = Suspension(ctx, live_after_waits(kernel) if ctx.is_quick else {}, steady_variables(kernel))
    root_key = suspension.new_word("key") if options.trace else ctx.slot(I64, "no.key")
    scalars = make_slots(ctx, kernel, suspension)
    memory = Memory(ctx, suspension.trace, root_key)
    counters = Counters(ctx, suspension)
    statements = Statements(ctx, suspension, memory, counters)
    ctx.builder.position_at_end(suspension.start)
    _initialise_parameters(ctx, kernel, scalars)
    _copy_struct_parameters(ctx, memory, kernel, scalars)
    for suspension.part, statement in enumerate(kernel.body):
        statements.emit((statement,))
    if not ctx.builder.block.is_terminated:
        ctx.builder.branch(suspension.finish)
    statements.finish_labels()
    counters.settle()
    saved = suspension.close(dispatch)
    turns.close(ctx, suspension, counters, dispatch)
    for block in function.blocks:
        if not block.is_terminated:
            ir.IRBuilder(block).branch(suspension.finish)
    return KernelCode(
        str(module),
        plan,
        saved,
        tuple(ctx.places),
        tuple(ctx.calls_to),
        tuple(ctx.unknowns),
        scalars,
        counters.plan,
        options,
    )


def _sites(kernel: Kernel) -> list[tuple[Span, tuple[CallPlace, ...]]]:
    """Return for each site its place, and the calls that lead there."""
    found: list[tuple[Span, tuple[CallPlace, ...]]] = [(kernel.name_span, ())] * kernel.n_sites
    waiting: list[tuple[Block, tuple[CallPlace, ...]]] = [(kernel.body, ())]
    while waiting:
        block, calls = waiting.pop()
        for statement in block:
            for name in ("site", "load_site", "store_site"):
                site = getattr(statement, name, None)
                if site is not None:
                    found[site] = statement.span, calls_to(statement.span, calls)
            inside = calls
            if isinstance(statement, Scope) and statement.function:
                inside = (*calls, CallPlace(statement.function, statement.span))
            waiting += [(it, inside) for it in blocks(statement)]
    return found


def make_slots(ctx: Context, kernel: Kernel, suspension: Suspension) -> dict[Variable, int]:
    """Give every register variable and argument its slot."""
    unset = maybe_unset(kernel) if ctx.options.uninitialised else frozenset()
    scalars: dict[Variable, int] = {}
    for parameter in kernel.parameters:
        is_pointer = isinstance(parameter.type, PointerType)
        if not is_pointer:
            scalars[parameter] = len(scalars)
            ctx.scalar_words[parameter] = scalars[parameter] * SCALAR_BYTES // 8
        if parameter.is_object:
            continue
        if parameter in ctx.plan.assigned:
            _add_slot(ctx, parameter, suspension)
        elif is_pointer:
            number = ctx.plan.numbers[parameter]
            ctx.slots[parameter] = Slot(I64, ir.Constant(I64, 0), target=number)
        elif parameter not in ctx.plan.numbers or isinstance(parameter.type, OpaqueType):
            kind = llvm_type(parameter.type)
            if not isinstance(kind, ir.ArrayType):
                ctx.slots[parameter] = Slot(kind, _load_scalar(ctx, ctx.entry, scalars[parameter], kind))
    for variable in _registers(kernel):
        slot = _add_slot(ctx, variable, suspension)
        if variable in unset:
            slot.initialised = ctx.slot(LANE_MASK, f"set.{variable.name}")
            suspension.saved.append((slot.initialised, LANE_MASK, variable))
            ctx.fresh.store(ir.Constant(LANE_MASK, 0), slot.initialised)
    return scalars


def _registers(kernel: Kernel) -> list[Variable]:
    found = {it: None for it in kernel.variables if it.kind is VariableKind.REGISTER}
    return list(found)


def _add_slot(ctx: Context, variable: Variable, suspension: Suspension) -> Slot:
    kind = llvm_type(variable.type)
    place = ctx.slot(kind, variable.name)
    slot = Slot(kind, place)
    if isinstance(variable.type, PointerType):
        slot.target = ctx.plan.targets.get(variable)
        if slot.target is None:
            slot.number = ctx.slot(I64, f"{variable.name}.buffer")
            ctx.fresh.store(zero(I64), slot.number)
    if ctx.options.follow_invalid:
        slot.origin = ctx.slot(I64, f"{variable.name}.origin")
        ctx.fresh.store(zero(I64), slot.origin)
    ctx.fresh.store(zero(kind), place)
    ctx.slots[variable] = slot
    suspension.keep(variable, slot)
    return slot


def _load_scalar(ctx: Context, builder: ir.IRBuilder, number: int, kind: ir.Type) -> ir.Value:
    base = builder.inttoptr(ctx.constant_state(SCALARS), POINTER)
    place = builder.gep(base, [ir.Constant(I64, number * SCALAR_BYTES)], source_etype=ir.IntType(8))
    return builder.load(place, align=1, typ=kind)


def _initialise_parameters(ctx: Context, kernel: Kernel, scalars: Mapping[Variable, int]) -> None:
    """Put the launch's values into the slots of arguments that the kernel assigns to."""
    for parameter in kernel.parameters:
        slot = ctx.slots.get(parameter)
        if slot is None or isinstance(slot.place, ir.LoadInstr | ir.Constant):
            continue
        if isinstance(parameter.type, PointerType):
            ctx.builder.store(ir.Constant(I64, 0), slot.place)
            if slot.number is not None:
                ctx.builder.store(ir.Constant(I64, ctx.plan.numbers[parameter]), slot.number)
        else:
            ctx.builder.store(_load_scalar(ctx, ctx.builder, scalars[parameter], slot.kind), slot.place)


def _copy_struct_parameters(
    ctx: Context, memory: Memory, kernel: Kernel, scalars: Mapping[Variable, int]
) -> None:
    """Put arguments that live in memory, such as structs, into their private objects."""
    for parameter in kernel.parameters:
        number = ctx.plan.numbers.get(parameter)
        if number is None or parameter not in scalars or isinstance(parameter.type, OpaqueType):
            continue
        size = min(parameter.type.size, SCALAR_BYTES)
        target = memory.target(Pointer(number, ir.Constant(I64, 0)))
        origin = ctx.builder.add(
            ctx.constant_state(SCALARS), ir.Constant(I64, scalars[parameter] * SCALAR_BYTES)
        )
        arguments = [ctx.builder.inttoptr(it, POINTER) for it in (target.base, origin)]
        arguments += [ir.Constant(I64, size), ir.Constant(I1, 0)]
        ctx.call("llvm.memmove.p0.p0.i64", ir.VoidType(), arguments)
        if ctx.options.uninitialised:
            memory.fill(target.init, ir.Constant(I64, parameter.type.size), 255)

"""A copy of a kernel that also writes down which addresses it accesses.

The copy is made from the kernel's IR: every access of the source is one statement there, with a site, also
those that come out of macros, compound assignments and helper functions. What the copy computes is what the
kernel computes; each access to global, constant or local memory appends (address, site) to its work-item's
part of a trace buffer, and each barrier a mark.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import assert_never

from clmap_lsp.dataclass import dataclass
from clmap_lsp.opencl_device.instrument_expressions import (
    ExpressionText,
    InstrumentError,
    space_text,
    type_text,
)
from clmap_lsp.source import ir
from clmap_lsp.source.program import Program
from clmap_lsp.source.types import (
    AddressSpace,
    OpaqueType,
    PointerType,
    StructType,
    Type,
    VectorType,
    points_to_local,
)

__all__ = ["BARRIER_MARK", "InstrumentError", "Instrumented", "instrument"]

BARRIER_MARK = 0xFFFFFFFF
"""Stands in a trace for a barrier, in the place of a site.

Behind the kernel's own arguments the copy takes four more: entries (ulong2), each work-item's first entry
(one more than there are work-items), its number of entries, and base addresses by work-group and buffer.
"""

_HEAD = """\
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#ifdef cl_khr_fp16
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#endif
#ifdef cl_khr_int64_base_atomics
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#endif
#define CLMAP_NOTE(site, address) do { \\
  if (clmap_at < clmap_end) clmap_trace[clmap_at] = (ulong2)((ulong)(address), (ulong)(site)); \\
  ++clmap_at; } while (0)
#define CLMAP_DONE clmap_counts[clmap_item] = (uint)(clmap_at - clmap_first[clmap_item])
"""
_ITEM = """\
  const ulong clmap_item = (get_global_id(0) - get_global_offset(0)) + get_global_size(0)
    * ((get_global_id(1) - get_global_offset(1)) + get_global_size(1)
    * (get_global_id(2) - get_global_offset(2)));
  const ulong clmap_group = get_group_id(0) + get_num_groups(0) * (get_group_id(1)
    + get_num_groups(1) * get_group_id(2));
  ulong clmap_at = clmap_first[clmap_item];
  const ulong clmap_end = clmap_first[clmap_item + 1];
"""


@dataclass(frozen=True, slots=True)
class TracedSite:
    """One half of an access: number 2 * site for its load, one more for its store."""

    number: int
    space: str
    is_store: bool


@dataclass(frozen=True, slots=True)
class TracedBuffer:
    """A buffer whose base address the copy reports, in the order in which it does."""

    name: str
    is_local: bool
    size: int | None
    """Bytes; None for arguments, whose size the launch gives."""


@dataclass(frozen=True, slots=True)
class Instrumented:
    """The copy: its source, and what its trace's numbers mean."""

    source: str
    name: str
    sites: tuple[TracedSite, ...]
    buffers: tuple[TracedBuffer, ...]


def instrument(program: Program, kernel: ir.Kernel) -> Instrumented:
    """Return the copy of a kernel.

    Raises: InstrumentError where the kernel does something whose addresses cannot be followed on a device:
        images, unknown functions or values, generic pointers.
    """
    return _Copy(program, kernel).make()


class _Copy:
    def __init__(self, program: Program, kernel: ir.Kernel) -> None:
        self._program = program
        self._kernel = kernel
        self._names = _names(kernel)
        self._text = ExpressionText(self._names)
        self._sites: list[TracedSite] = []
        self._loops = 0

    def make(self) -> Instrumented:
        kernel = self._kernel
        buffers = list(self._buffers())
        body = list(self._block(kernel.body, "  "))
        parameters = [self._parameter(it) for it in kernel.parameters] + [
            "__global ulong2 *clmap_trace",
            "__global const ulong *clmap_first",
            "__global uint *clmap_counts",
            "__global ulong *clmap_bases",
        ]
        name = f"clmap_traced_{kernel.name}"
        lines = [_HEAD, *self._constants(), *self._structs()]
        lines += [f"__kernel void {name}({', '.join(parameters)})", "{", _ITEM, *self._declarations()]
        lines.append("  if (get_local_id(0) + get_local_id(1) + get_local_id(2) == 0) {")
        for index, (_, address) in enumerate(buffers):
            lines.append(f"    clmap_bases[clmap_group * {len(buffers)} + {index}] = (ulong)({address});")
        lines += ["  }", *body, "  CLMAP_DONE;", "}", ""]
        return Instrumented("\n".join(lines), name, tuple(self._sites), tuple(it for it, _ in buffers))

    # ---------------------------------------------------------------------------------- declarations

    def _parameter(self, it: ir.Variable) -> str:
        match it.type:
            case PointerType(space=AddressSpace.LOCAL):
                # A driver places a local argument by its element's alignment: NVIDIA's put `uchar` arrays
                # at odd addresses, and the copy's wider accesses ended the queue (driver 580.159).
                return f"__local ulong16 *{self._names[it]}{_AS_GIVEN}"
            case PointerType(space=space):
                return f"{space_text(space)} uchar *{self._names[it]}"
            case StructType():
                return f"clmap_struct_{self._names[it]} {self._names[it]}"
            case _:
                return f"{type_text(it.type)} {self._names[it]}"

    def _structs(self) -> Iterator[str]:
        for it in self._kernel.parameters:
            if isinstance(it.type, StructType):
                yield (
                    f"typedef struct {{ uchar bytes[{it.type.size}]; }}"
                    f" __attribute__((aligned({it.type.alignment}))) clmap_struct_{self._names[it]};"
                )

    def _constants(self) -> Iterator[str]:
        data_of = {it.variable: it.data for it in self._program.constants}
        for it in self._kernel.constants:
            data = data_of.get(it)
            if data is None:
                raise InstrumentError(f"the contents of `{it.name}` are not known")
            listed = ",".join(map(str, data))
            yield f"__constant uchar {self._names[it]}[{len(data)}] {_ALIGNED} = {{{listed}}};"

    def _declarations(self) -> Iterator[str]:
        for it in self._kernel.parameters:
            if points_to_local(it.type):
                name = self._names[it]
                yield f"  __local uchar *{name} = (__local uchar *){name}{_AS_GIVEN};"
        for it in self._kernel.variables:
            name, size = self._names[it], max(it.type.size, 1)
            if it.kind is ir.VariableKind.LOCAL_OBJECT:
                yield f"  __local uchar {name}[{size}] {_ALIGNED};"
            elif it.is_object:
                yield f"  uchar {name}[{size}] {_ALIGNED};"
            elif not isinstance(it.type, OpaqueType):
                yield f"  {type_text(it.type)} {name};"

    def _buffers(self) -> Iterator[tuple[TracedBuffer, str]]:
        kernel = self._kernel
        for it in kernel.parameters:
            if isinstance(it.type, PointerType):
                local = it.type.space is AddressSpace.LOCAL
                yield TracedBuffer(it.name, local, None), self._names[it]
        for it in kernel.constants:
            yield TracedBuffer(it.name, False, it.type.size), self._names[it]
        locals_ = [it for it in kernel.variables if it.kind is ir.VariableKind.LOCAL_OBJECT]
        for it in sorted(locals_, key=lambda it: (it.span.start, it.name)):
            yield TracedBuffer(it.name, True, max(it.type.size, 1)), self._names[it]

    # ------------------------------------------------------------------------------------ statements

    def _block(self, block: ir.Block, indent: str) -> Iterator[str]:
        for statement in block:
            yield from (indent + line for line in self._statement(statement, indent))

    def _statement(self, it: ir.Statement, indent: str) -> Iterator[str]:
        text, names = self._text, self._names
        match it:
            case ir.Declare() | ir.Print():
                return
            case ir.Assign(variable=variable, value=value):
                if not isinstance(variable.type, OpaqueType):
                    yield f"{names[variable]} = {text(value)};"
            case ir.Load(variable=variable):
                if not isinstance(variable.type, OpaqueType):  # Copies are waited for at once, events unused.
                    yield self._load(it)
            case ir.Store(value=value):
                if not isinstance(value.type, OpaqueType):
                    yield self._store(it)
            case ir.CopyObject():
                yield self._copy(it)
            case ir.Atomic():
                yield self._atomic(it)
            case ir.AsyncCopy():
                yield self._async(it)
            case ir.WaitEvents():
                yield _barrier("CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE")
            case ir.Barrier():
                yield from self._barrier(it)
            case ir.Fence():
                yield "mem_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);"
            case ir.Collective(variable=result, name=name, arguments=arguments):
                call = f"{name}({', '.join(text(argument) for argument in arguments)});"
                yield call if result is None else f"{names[result]} = {call}"
            case ir.If() | ir.Loop() | ir.Switch() | ir.Scope():
                yield from self._nested(it)
            case ir.Break():
                yield "break;"
            case ir.Continue():
                yield "continue;"
            case ir.Return():
                yield "{ CLMAP_DONE; return; }"
            case ir.Leave(label=label):
                yield f"goto clmap_end_{label};"
            case ir.Label(name=name):
                yield f"clmap_label_{_word(name)}: ;"
            case ir.Goto(name=name):
                yield f"goto clmap_label_{_word(name)};"
            case ir.ImageRead() | ir.ImageWrite():
                raise InstrumentError("images are not followed")
            case ir.Call(function=name) | ir.OpaqueCall(name=name):
                raise InstrumentError(f"the function `{name}` is not known")
            case ir.Unsupported(text=words, reason=reason):
                raise InstrumentError(f"`{words}` was not understood: {reason}")
            case _:
                assert_never(it)

    def _nested(self, it: ir.If | ir.Loop | ir.Switch | ir.Scope) -> Iterator[str]:
        match it:
            case ir.If(condition=condition, then=then, otherwise=otherwise):
                yield f"if ({self._text(condition)}) {{"
                yield from self._block(then, "  ")
                if otherwise:
                    yield "} else {"
                    yield from self._block(otherwise, "  ")
                yield "}"
            case ir.Loop():
                yield from self._loop(it)
            case ir.Switch(value=value, cases=cases):
                yield f"switch ({self._text(value)}) {{"
                for case in cases:
                    yield from (f"case {number}:" for number in case.values)
                    if case.is_default:
                        yield "default:"
                    yield ";"
                    yield from self._block(case.body, "  ")
                yield "}"
            case ir.Scope(label=label, body=body):
                ends = isinstance(body[-1], ir.Leave) if body else False
                inner = body[:-1] if ends else body
                yield "{"
                yield from self._block(inner, "  ")
                yield "}"
                if any(isinstance(one, ir.Leave) and one.label == label for one in ir.walk(inner)):
                    yield f"clmap_end_{label}: ;"

    def _loop(self, it: ir.Loop) -> Iterator[str]:
        """`continue` must run the step: where there is one, the step opens the next turn instead."""
        leave = [] if it.condition is None else [f"  if (!{self._text(it.condition)}) break;"]
        test = [*self._block(it.test, "  "), *leave]
        step, body = list(self._block(it.step, "  ")), list(self._block(it.body, "  "))
        if it.tests_first and not any(isinstance(one, ir.Continue) for one in ir.walk(it.body)):
            yield from ("for (;;) {", *test, *body, *step, "}")
            return
        self._loops += 1
        again = f"clmap_again_{self._loops}"
        yield from ("{", f"int {again} = 0;", "for (;;) {")
        if it.tests_first:
            yield from (f"  if ({again}) {{", *step, "  }", f"  {again} = 1;", *test)
        else:
            yield from (f"  if ({again}) {{", *step, *test, "  }", f"  {again} = 1;")
        yield from (*body, "}", "}")

    # -------------------------------------------------------------------------------------- accesses

    def _note(self, site: int, pointer: ir.Expression, *, store: bool) -> str:
        """Return the statement that traces an access through `clmap_p`; none for private memory."""
        space = _space(pointer)
        if space is AddressSpace.PRIVATE:
            return ""
        number = 2 * site + int(store)
        self._sites.append(TracedSite(number, space.value, store))
        return f"CLMAP_NOTE({number}u, clmap_p); "

    def _at(self, pointer: ir.Expression) -> str:
        return f"{space_text(_space(pointer))} uchar *clmap_p = {self._text(pointer)}; "

    def _load(self, it: ir.Load) -> str:
        space = space_text(_space(it.pointer))
        value = _read(it.variable.type, it.size, it.alignment, space, it.is_volatile)
        note = self._note(it.site, it.pointer, store=False)
        return f"{{ {self._at(it.pointer)}{note}{self._names[it.variable]} = {value}; }}"

    def _store(self, it: ir.Store) -> str:
        space = space_text(_space(it.pointer))
        kind = it.value.type
        value = self._text(it.value)
        if isinstance(kind, PointerType):
            write = f"*({space} ulong *)clmap_p = (ulong){value};"
        elif _is_plain(kind, it.size, it.alignment):
            volatile = "volatile " if it.is_volatile else ""
            write = f"*({space} {volatile}{type_text(kind)} *)clmap_p = {value};"
        elif isinstance(kind, VectorType):
            write = f"vstore{kind.lanes}({value}, 0, ({space} {kind.element} *)clmap_p);"
        else:
            raise InstrumentError("a store of less alignment than its type is not followed")
        return f"{{ {self._at(it.pointer)}{self._note(it.site, it.pointer, store=True)}{write} }}"

    def _copy(self, it: ir.CopyObject) -> str:
        source = f"{space_text(_space(it.source))} uchar *clmap_from"
        load = self._note(it.load_site, it.source, store=False).replace("clmap_p", "clmap_from")
        store = self._note(it.store_site, it.destination, store=True)
        return (
            f"{{ {source} = {self._text(it.source)}; {load}{self._at(it.destination)}{store}"
            f"for (int clmap_k = 0; clmap_k < {it.type.size}; ++clmap_k)"
            " clmap_p[clmap_k] = clmap_from[clmap_k]; }"
        )

    def _atomic(self, it: ir.Atomic) -> str:
        space = space_text(_space(it.pointer))
        notes = ""
        if it.op is not ir.AtomicOp.STORE:
            notes += self._note(it.site, it.pointer, store=False)
        if it.op is not ir.AtomicOp.LOAD:
            notes += self._note(it.site, it.pointer, store=True)
        place = f"(volatile {space} {it.type} *)clmap_p"
        call = _atomic_call(it, place, [self._text(operand) for operand in it.operands])
        result = "" if it.variable is None else f"{self._names[it.variable]} = "
        return f"{{ {self._at(it.pointer)}{notes}{result}{call}; }}"

    def _async(self, it: ir.AsyncCopy) -> str:
        """Copy at once: that changes no address. Copies by the whole group are not traced."""
        if it.box:
            return self._box(it)
        name, stride = "async_work_group_copy", ""
        if it.stride is not None:
            name, stride = "async_work_group_strided_copy", f", (size_t){self._text(it.stride)}"
        to, origin = self._sides(it)
        call = f"{name}({to}, {origin}, (size_t){self._text(it.count)}{stride}, 0)"
        return f"{{ event_t clmap_e = {call}; wait_group_events(1, &clmap_e); }}"

    def _box(self, it: ir.AsyncCopy) -> str:
        """Copy planes and lines by themselves: few devices have the functions for that."""
        names = ("lines", "planes", "from_line", "from_plane", "to_line", "to_plane")
        sizes = "".join(
            f"size_t clmap_{name} = {self._text(side)}; " for name, side in zip(names, it.box, strict=True)
        )
        to, origin = self._sides(it)
        call = (
            f"async_work_group_copy({to} + clmap_z * clmap_to_plane + clmap_y * clmap_to_line, "
            f"{origin} + clmap_z * clmap_from_plane + clmap_y * clmap_from_line, "
            f"(size_t){self._text(it.count)}, 0)"
        )
        return (
            f"{{ {sizes}for (size_t clmap_z = 0; clmap_z < clmap_planes; clmap_z++) "
            "for (size_t clmap_y = 0; clmap_y < clmap_lines; clmap_y++) "
            f"{{ event_t clmap_e = {call}; wait_group_events(1, &clmap_e); }} }}"
        )

    def _sides(self, it: ir.AsyncCopy) -> tuple[str, str]:
        """Return where a copy goes to and where it comes from."""
        element = type_text(it.element)
        to = f"({space_text(_space(it.destination))} {element} *){self._text(it.destination)}"
        return to, f"(const {space_text(_space(it.source))} {element} *){self._text(it.source)}"

    def _barrier(self, it: ir.Barrier) -> Iterator[str]:
        flags = [
            word
            for word, is_set in (
                ("CLK_LOCAL_MEM_FENCE", it.fences_local),
                ("CLK_GLOBAL_MEM_FENCE", it.fences_global),
            )
            if is_set
        ]
        if it.scope is ir.BarrierScope.SUB_GROUP:
            yield f"sub_group_barrier({' | '.join(flags) or '0'});"
        else:
            yield _barrier(" | ".join(flags) or "0")


_ALIGNED = "__attribute__((aligned(128)))"
_AS_GIVEN = "_given"


def _barrier(flags: str) -> str:
    return f"CLMAP_NOTE({BARRIER_MARK}u, 0); barrier({flags});"


def _space(pointer: ir.Expression) -> AddressSpace:
    if not isinstance(pointer.type, PointerType):
        raise InstrumentError("an address that is no pointer is not followed")
    return pointer.type.space


def _is_plain(kind: Type, size: int, alignment: int) -> bool:
    return size == kind.size and alignment >= kind.alignment


def _read(kind: Type, size: int, alignment: int, space: str, volatile: bool) -> str:
    qualified = f"{space} const {'volatile ' if volatile else ''}"
    if isinstance(kind, PointerType):
        return f"({type_text(kind)})*({qualified}ulong *)clmap_p"
    if _is_plain(kind, size, alignment):
        return f"*({qualified}{type_text(kind)} *)clmap_p"
    if isinstance(kind, VectorType):
        return f"vload{kind.lanes}(0, ({space} const {kind.element} *)clmap_p)"
    raise InstrumentError("a load of less alignment than its type is not followed")


_OPERATIONS: Mapping[ir.AtomicOp, str] = {
    ir.AtomicOp.ADD: "add",
    ir.AtomicOp.SUB: "sub",
    ir.AtomicOp.INC: "inc",
    ir.AtomicOp.DEC: "dec",
    ir.AtomicOp.EXCHANGE: "xchg",
    ir.AtomicOp.STORE: "xchg",
    ir.AtomicOp.COMPARE_EXCHANGE: "cmpxchg",
    ir.AtomicOp.MIN: "min",
    ir.AtomicOp.MAX: "max",
    ir.AtomicOp.AND: "and",
    ir.AtomicOp.OR: "or",
    ir.AtomicOp.XOR: "xor",
}


def _atomic_call(it: ir.Atomic, place: str, operands: list[str]) -> str:
    if it.type.is_float and it.op not in (ir.AtomicOp.EXCHANGE, ir.AtomicOp.STORE):
        raise InstrumentError(f"atomic {it.op.value} of {it.type} is not followed")
    prefix = "atom" if it.type.bits == 64 else "atomic"
    if it.op is ir.AtomicOp.LOAD:
        return f"{prefix}_or({place}, ({it.type})0)"
    arguments = ", ".join([place, *operands])
    return f"{prefix}_{_OPERATIONS[it.op]}({arguments})"


def _names(kernel: ir.Kernel) -> dict[ir.Variable, str]:
    """Return a word for every variable: its own with a number, so that scopes cannot clash."""
    every = (*kernel.parameters, *kernel.constants, *kernel.variables)
    return {it: f"v{index}_{_word(it.name)}" for index, it in enumerate(dict.fromkeys(every))}


def _word(name: str) -> str:
    return re.sub(r"\W", "_", name, flags=re.ASCII)

"""The kernel IR as plain LLVM IR for a GPU: nothing is checked, traced or suspended.

Expressions are those of the emulator, with real pointers in the place of (buffer, offset). Each instruction
carries a debug location whose line is the number of its statement and whose column is its site plus one; each
block of statements starts with an LLVM pseudo-probe. Both survive optimisation: the machine code tells which
access each instruction is of, and how many copies of each block unrolling has made.
"""

from __future__ import annotations

import re
from dataclasses import field
from typing import Any, assert_never, cast

from llvmlite import ir as ll

from clmap_lsp.compiled import math_shapes
from clmap_lsp.compiled.collectives import sub_group_call
from clmap_lsp.compiled.private_arrays import constant_tables, private_object, unrolled_completely
from clmap_lsp.compiled.probes import ProbedKernel, symbol_of
from clmap_lsp.compiled.target import Target
from clmap_lsp.dataclass import dataclass
from clmap_lsp.emulator import operators
from clmap_lsp.emulator.context import CodeOptions, Context, Pointer, Slot, Value
from clmap_lsp.emulator.conversions import resize
from clmap_lsp.emulator.expressions import Expressions
from clmap_lsp.emulator.types import I8, I16, I32, I64, bits, integer, is_float, llvm_type, zero
from clmap_lsp.emulator.well_typed import first_misfit
from clmap_lsp.interruption import checkpoint
from clmap_lsp.source import ir
from clmap_lsp.source.ir import WorkItemQuery
from clmap_lsp.source.span import Span
from clmap_lsp.source.types import (
    AddressSpace,
    OpaqueType,
    PointerType,
    ScalarType,
    Type,
    element_of,
)

_ALLOCA = re.compile(r"^(.* = alloca .*)$", re.MULTILINE)
_VOLATILE = "volatile!"
_COPIED_BY_VALUE = 256
"""Bytes: larger structs are copied by a loop of LLVM's."""


class NotCompiledError(Exception):
    """The kernel has something that this room does not compile; the text names it."""


@dataclass(frozen=True, slots=True)
class GpuCode:
    """LLVM IR as text, with what its debug locations and probes stand for."""

    text: str
    spans: tuple[Span, ...]
    """By statement number, from 1: where it stands in the source; 0 is nothing."""
    owners: tuple[int, ...]
    """By statement number: the probe of the block that it stands in."""
    unknown: tuple[str, ...]
    """Functions without a body here: their cost is missing."""


def generate(
    kernel: ProbedKernel,
    target: Target,
    constants: tuple[ir.Initializer, ...] = (),
    *,
    module_name: str = "kernel",
) -> GpuCode:
    """Return the module of one kernel. Raises: NotCompiledError."""
    if first_misfit(kernel.kernel) is not None:
        raise NotCompiledError("types do not fit: no compiler of OpenCL C takes it so")
    generator = _Generator(kernel, target, constants, module_name)
    try:
        return generator.run()
    finally:
        generator.let_go()


@dataclass(slots=True)
class _GpuContext(Context):
    target: Target = field(kw_only=True)
    objects: dict[ir.Variable, ll.Value] = field(default_factory=dict)
    read_only: dict[ir.Variable, ll.Value] = field(default_factory=dict)


class _GpuExpressions(Expressions):
    """Evaluates to plain values; a `Pointer` holds an LLVM pointer as its offset."""

    ctx: _GpuContext

    def value(self, expression: ir.Expression) -> ll.Value:
        """Evaluate; pointers come as integers."""
        found = self.evaluate(expression)
        return self.ctx.builder.ptrtoint(found.offset, I64) if isinstance(found, Pointer) else found

    def pointer(self, expression: ir.Expression) -> Pointer:
        """Evaluate to a pointer."""
        found = self.evaluate(expression)
        if isinstance(found, Pointer):
            return found
        wide = resize(self.ctx, found, I64, signed=False) if isinstance(found.type, ll.IntType) else zero(I64)
        return Pointer(0, self.ctx.builder.inttoptr(wide, self._kind(expression.type)))

    def _kind(self, kind: Type) -> ll.Type:
        return pointer_kind(kind, self.ctx.target)

    def evaluate(self, expression: ir.Expression) -> Value:
        """Evaluate an expression."""
        builder = self.ctx.builder
        match expression:
            case ir.ObjectAddress(variable=variable):
                return Pointer(0, self.ctx.objects[variable])
            case ir.FieldAddress(pointer=pointer, field=member):
                return Pointer(0, self._moved(self.pointer(pointer).offset, ll.Constant(I64, member.offset)))
            case ir.Constant(type=PointerType() as kind, value=number):
                return Pointer(0, builder.inttoptr(ll.Constant(I64, int(number)), self._kind(kind)))
            case ir.Convert(operand=operand, rounding=None | "rtz", saturate=False) if _cuts(
                operand.type, expression.type
            ):
                value = self.value(operand)
                kind = llvm_type(expression.type)
                if isinstance(kind, ll.VectorType) and not isinstance(value.type, ll.VectorType):
                    value = operators.splat(self.ctx, value, kind.count)
                to_signed = _is_signed(expression.type)
                return builder.fptosi(value, kind) if to_signed else builder.fptoui(value, kind)
            case ir.Builtin(name=name) if name.startswith("get_image_"):
                return zero(llvm_type(expression.type))
            case ir.Builtin():
                values = [self.value(it) for it in expression.arguments]
                found = math_shapes.call(self.ctx, self.ctx.target, expression, values)
                return found if found is not None else super().evaluate(expression)
            case _:
                return super().evaluate(expression)

    def _read(self, expression: ir.Read, *, check: bool = True) -> Value:
        variable = expression.variable
        value = self.ctx.read_only.get(variable)
        if value is None:
            slot = self.ctx.slots[variable]
            value = self.ctx.builder.load(slot.place, typ=slot.kind)
        return Pointer(0, value) if isinstance(variable.type, PointerType) else value

    def _check_set(self, expression: ir.Read, lanes: Any) -> None:
        return

    def _moved(self, base: ll.Value, distance: ll.Value) -> ll.Value:
        return self.ctx.builder.gep(base, [distance], inbounds=True, source_etype=I8)

    def _offset(self, expression: ir.PointerOffset) -> Pointer:
        base = self.pointer(expression.pointer)
        signed = _is_signed(expression.index.type)
        index = resize(self.ctx, self.value(expression.index), I64, signed=signed)
        if expression.stride in (1, 2, 4, 8, 16):
            kind = ll.IntType(8 * expression.stride)
            moved = self.ctx.builder.gep(base.offset, [index], inbounds=True, source_etype=kind)
            return Pointer(0, moved)
        return Pointer(
            0, self._moved(base.offset, self.ctx.builder.mul(index, ll.Constant(I64, expression.stride)))
        )

    def _select_pointer(self, expression: ir.Select) -> Pointer:
        condition = self.condition(expression.condition)
        then, other = self.pointer(expression.if_true).offset, self.pointer(expression.if_false).offset
        return Pointer(0, self.ctx.builder.select(condition, then, self._as(other, then.type)))

    def _as(self, value: ll.Value, kind: ll.Type) -> ll.Value:
        return as_pointer(self.ctx.builder, value, kind)

    def _compare_pointers(self, expression: ir.Compare) -> ll.Value:
        builder = self.ctx.builder
        left, right = (
            builder.ptrtoint(self.pointer(it).offset, I64) for it in (expression.left, expression.right)
        )
        return operators.compare(self.ctx, expression.op, left, right, signed=False)

    def _pointer_cast(self, expression: ir.PointerCast) -> Value:
        value = self.evaluate(expression.operand)
        if isinstance(expression.type, PointerType):
            if isinstance(value, Pointer):
                return Pointer(0, self._as(value.offset, self._kind(expression.type)))
            return Pointer(0, self.ctx.builder.inttoptr(value, self._kind(expression.type)))
        whole = self.ctx.builder.ptrtoint(value.offset, I64) if isinstance(value, Pointer) else value
        kind = llvm_type(expression.type)
        return resize(self.ctx, whole, kind, signed=False) if isinstance(kind, ll.IntType) else zero(kind)

    def _binary(self, expression: ir.Binary) -> ll.Value:
        divides = expression.op in (ir.BinaryOp.DIV, ir.BinaryOp.REM)
        kind = llvm_type(expression.type)
        if expression.op in _NEVER_WRAPS and _is_signed(expression.type):
            both = self.value(expression.left), self.value(expression.right)
            return getattr(self.ctx.builder, _NEVER_WRAPS[expression.op])(*both, flags=("nsw",))
        if not divides or is_float(kind):
            found = super()._binary(expression)
            if divides and isinstance(found, ll.Instruction):
                found.set_metadata("fpmath", self.ctx.module.add_metadata([ll.Constant(ll.FloatType(), 2.5)]))
            return found
        left, right = self.value(expression.left), self.value(expression.right)
        signed = _is_signed(expression.type)
        builder = self.ctx.builder
        if expression.op is ir.BinaryOp.DIV:
            return builder.sdiv(left, right) if signed else builder.udiv(left, right)
        return builder.srem(left, right) if signed else builder.urem(left, right)

    def _query(self, query: WorkItemQuery, d: int) -> ll.Value:
        return _WorkItems(self.ctx).query(query, d)


_NEVER_WRAPS = {ir.BinaryOp.ADD: "add", ir.BinaryOp.SUB: "sub", ir.BinaryOp.MUL: "mul"}
"""Signed operations whose overflow is undefined (C99, 6.5): loops up to `k <= i` end, and can be unrolled."""


def _is_signed(kind: Type) -> bool:
    element = element_of(kind)
    return isinstance(element, ScalarType) and element.is_signed


def pointer_kind(kind: Type, target: Target) -> ll.Type:
    """Return the LLVM type of a pointer to some address space."""
    space = kind.space if isinstance(kind, PointerType) else AddressSpace.GENERIC
    return ll.PointerType(addrspace=target.spaces[space])


def as_pointer(builder: ll.IRBuilder, value: ll.Value, kind: ll.Type) -> ll.Value:
    """Bring a pointer into another address space."""
    return value if value.type.addrspace == kind.addrspace else builder.addrspacecast(value, kind)


def _cuts(source: Type, wanted: Type) -> bool:
    first, second = element_of(source), element_of(wanted)
    return (
        isinstance(first, ScalarType)
        and isinstance(second, ScalarType)
        and first.is_float
        and second.is_integer
        and second.bits > 8
    )


@dataclass(frozen=True, slots=True)
class _LoopHint:
    """How often to unroll a loop, as metadata that names itself, which llvmlite cannot express."""

    number: int
    count: int
    """0: completely."""

    def get_reference(self) -> str:
        """Return the name of the node."""
        return f"!{90000 + 2 * self.number}"

    def definition(self) -> str:
        """Return the lines that define it."""
        own, hint = 90000 + 2 * self.number, 90001 + 2 * self.number
        what = f'!"llvm.loop.unroll.count", i32 {self.count}' if self.count else '!"llvm.loop.unroll.full"'
        return f"!{own} = distinct !{{!{own}, !{hint}}}\n!{hint} = !{{{what}}}\n"


class _WorkItems:
    """The work-item functions as special registers, or as the dispatch packet has them."""

    def __init__(self, ctx: _GpuContext) -> None:
        self.ctx = ctx

    def query(self, query: WorkItemQuery, d: int) -> ll.Value:
        """Return the value of one, 64 bits wide."""
        ones = query in (
            WorkItemQuery.GLOBAL_SIZE,
            WorkItemQuery.LOCAL_SIZE,
            WorkItemQuery.NUM_GROUPS,
            WorkItemQuery.ENQUEUED_LOCAL_SIZE,
        )
        if d > 2:
            return ll.Constant(I64, int(ones))
        builder = self.ctx.builder
        match query:
            case WorkItemQuery.WORK_DIM:
                return ll.Constant(I64, 2)
            case WorkItemQuery.GLOBAL_ID:
                return builder.zext(self._global_id(d), I64)
            case WorkItemQuery.LOCAL_ID:
                return builder.zext(self._local_id(d), I64)
            case WorkItemQuery.GROUP_ID:
                return builder.zext(self._group_id(d), I64)
            case WorkItemQuery.GLOBAL_OFFSET:
                return builder.zext(self._global_offset(d), I64)
            case WorkItemQuery.GLOBAL_SIZE:
                return builder.zext(self._global_size(d), I64)
            case WorkItemQuery.LOCAL_SIZE | WorkItemQuery.ENQUEUED_LOCAL_SIZE:
                return builder.zext(self._local_size(d), I64)
            case WorkItemQuery.NUM_GROUPS:
                return builder.zext(self._groups(d), I64)
            case WorkItemQuery.LOCAL_LINEAR_ID:
                return builder.zext(self._linear(), I64)
            case WorkItemQuery.GLOBAL_LINEAR_ID:
                row = builder.mul(self._global_id(1), self._global_size(0))
                return builder.zext(builder.add(row, self._global_id(0)), I64)
            case WorkItemQuery.SUB_GROUP_ID:
                return builder.zext(builder.lshr(self._linear(), ll.Constant(I32, self._shift())), I64)
            case WorkItemQuery.SUB_GROUP_LOCAL_ID:
                mask = (1 << self._shift()) - 1
                return builder.zext(builder.and_(self._linear(), ll.Constant(I32, mask)), I64)
            case _:
                return ll.Constant(I64, 1 << self._shift())

    def _shift(self) -> int:
        return 5 if self.ctx.target.is_nvidia else 6

    def _special(self, name: str) -> ll.Value:
        prefix = "llvm.nvvm.read.ptx.sreg." if self.ctx.target.is_nvidia else "llvm.amdgcn."
        return self.ctx.call(prefix + name, I32, [])

    def _local_id(self, d: int) -> ll.Value:
        return self._special(f"tid.{'xyz'[d]}" if self.ctx.target.is_nvidia else f"workitem.id.{'xyz'[d]}")

    def _group_id(self, d: int) -> ll.Value:
        return self._special(f"ctaid.{'xyz'[d]}" if self.ctx.target.is_nvidia else f"workgroup.id.{'xyz'[d]}")

    def _local_size(self, d: int) -> ll.Value:
        if self.ctx.target.is_nvidia:
            return self._special(f"ntid.{'xyz'[d]}")
        return self.ctx.builder.zext(self._packet(4 + 2 * d, I16), I32)

    def _groups(self, d: int) -> ll.Value:
        if self.ctx.target.is_nvidia:
            return self._special(f"nctaid.{'xyz'[d]}")
        return self.ctx.builder.udiv(self._global_size(d), self._local_size(d))

    def _global_size(self, d: int) -> ll.Value:
        if self.ctx.target.is_nvidia:
            return self.ctx.builder.mul(self._groups(d), self._local_size(d))
        return self._packet(12 + 4 * d, I32)

    def _global_offset(self, d: int) -> ll.Value:
        if self.ctx.target.is_nvidia:  # Where NVIDIA's OpenCL keeps it.
            return self._special(f"envreg{3 + d}")
        return ll.Constant(I32, 0)

    def _global_id(self, d: int) -> ll.Value:
        builder = self.ctx.builder
        start = builder.mul(self._group_id(d), self._local_size(d))
        return builder.add(builder.add(start, self._local_id(d)), self._global_offset(d))

    def _linear(self) -> ll.Value:
        builder = self.ctx.builder
        plane = builder.add(builder.mul(self._local_id(2), self._local_size(1)), self._local_id(1))
        return builder.add(builder.mul(plane, self._local_size(0)), self._local_id(0))

    def _packet(self, at: int, kind: ll.Type) -> ll.Value:
        builder = self.ctx.builder
        base = self.ctx.call("llvm.amdgcn.dispatch.ptr", ll.PointerType(addrspace=4), [])
        place = builder.gep(base, [ll.Constant(I64, at)], source_etype=I8)
        return builder.load(place, align=kind.width // 8, typ=kind)


class _Generator:
    """Emits one kernel."""

    def __init__(
        self, probed: ProbedKernel, target: Target, constants: tuple[ir.Initializer, ...], module_name: str
    ) -> None:
        self.probed, self.kernel, self.target, self.constants = probed, probed.kernel, target, constants
        self.module = ll.Module(name=module_name, context=ll.Context())
        self.module.triple = target.triple
        self.spans: list[Span] = [self.kernel.name_span]
        self.owners: list[int] = [0]
        self.owner = 0
        self.loop_ends: list[ll.Block] = []
        self.loop_steps: list[ll.Block] = []
        self.scopes: dict[int, ll.Block] = {}
        self.labels: dict[str, ll.Block] = {}
        self.hints: list[_LoopHint] = []
        self.in_memory = _addressed(self.kernel).intersection(self.kernel.parameters)
        self.tables = constant_tables(self.kernel) if target.is_nvidia else {}
        self.completely = unrolled_completely(self.kernel) if target.is_nvidia else frozenset()

    # --------------------------------------------------------------------------------------------- frame

    def run(self) -> GpuCode:
        """Emit everything."""
        kinds = [self._parameter_kind(it) for it in self.kernel.parameters]
        function = ll.Function(self.module, ll.FunctionType(ll.VoidType(), kinds), symbol_of(self.kernel))
        function.calling_convention = "ptx_kernel" if self.target.is_nvidia else "amdgpu_kernel"
        self._attributes(function)
        entry_block, start = function.append_basic_block("entry"), function.append_basic_block("start")
        entry, builder = ll.IRBuilder(entry_block), ll.IRBuilder(start)
        options = CodeOptions(trace=False, races=False, uninitialised=False, control=False)
        nothing = ll.Constant(I64, 0)
        self.ctx = _GpuContext(
            cast(Any, None),
            options,
            self.module,
            function,
            builder,
            entry,
            nothing,
            nothing,
            target=self.target,
        )
        self.expressions = _GpuExpressions(self.ctx)
        self._debug(function)
        self.finish = function.append_basic_block("finish")
        self._variables(function)
        self._block(self.kernel.body)
        if not builder.block.is_terminated:
            builder.branch(self.finish)
        entry.branch(start)
        ll.IRBuilder(self.finish).ret_void()
        for block in function.blocks:
            if not block.is_terminated:
                ll.IRBuilder(block).branch(self.finish)
        unknown = tuple(dict.fromkeys(name for name, _ in self.ctx.unknowns))
        return GpuCode(self._text(), tuple(self.spans), tuple(self.owners), unknown)

    def let_go(self) -> None:
        """Take the module apart: what refers to each other in it would wait for the collector of cycles.

        That of a kernel of 200 KB is 600,000 objects, and to look at them stops the server for a second.
        """
        for function in self.module.functions:
            for block in function.blocks:
                block.instructions.clear()
                block.terminator = None
            function.blocks.clear()
        for kept in ("globals", "metadata", "namedmetadata", "_metadatacache"):
            getattr(self.module, kept).clear()

    def _text(self) -> str:
        for function in self.module.functions:
            for block in function.blocks:
                checkpoint()
                for instruction in block.instructions:
                    str(instruction)  # It keeps its text: that of the whole is put together in no time.
        text = str(self.module)
        if not self.target.is_nvidia:
            text = _ALLOCA.sub(r"\1, addrspace(5)", text)
        for marker in ("load", "store"):
            text = text.replace(f"{marker} {_VOLATILE}", f"{marker} volatile ")
        return text + "".join(it.definition() for it in self.hints)

    def _parameter_kind(self, parameter: ir.Variable) -> ll.Type:
        kind = parameter.type
        if isinstance(kind, PointerType):
            return pointer_kind(kind, self.target)
        if isinstance(kind, OpaqueType):
            return I64
        return _words(kind) if parameter in self.in_memory else llvm_type(kind)

    def _attributes(self, function: ll.Function) -> None:
        for argument, parameter in zip(function.args, self.kernel.parameters, strict=True):
            kind = parameter.type
            argument.name = parameter.name
            if not isinstance(kind, PointerType) or kind.space is AddressSpace.PRIVATE:
                continue
            argument.attributes.align = max(1, min(kind.pointee.alignment, 16))
            if kind.is_restrict:
                argument.add_attribute("noalias")
        required = self.kernel.attributes.reqd_work_group_size
        self.required = None if required is None else required[0] * required[1] * required[2]

    def _debug(self, function: ll.Function) -> None:
        module = self.module
        file = module.add_debug_info("DIFile", {"filename": "kernel.cl", "directory": ""})
        unit = module.add_debug_info(
            "DICompileUnit",
            {
                "language": ll.DIToken("DW_LANG_C99"),
                "file": file,
                "producer": "clmap-lsp",
                "runtimeVersion": 0,
                "isOptimized": True,
                "emissionKind": ll.DIToken("DebugDirectivesOnly"),
            },
            is_distinct=True,
        )
        kind = module.add_debug_info("DISubroutineType", {"types": module.add_metadata([None])})
        self.subprogram = module.add_debug_info(
            "DISubprogram",
            {
                "name": self.kernel.name,
                "file": file,
                "line": 1,
                "type": kind,
                "unit": unit,
                "spFlags": ll.DIToken("DISPFlagDefinition"),
            },
            is_distinct=True,
        )
        function.set_metadata("dbg", self.subprogram)
        module.add_named_metadata("llvm.dbg.cu", unit)
        flags = [ll.Constant(I32, 2), "Debug Info Version", ll.Constant(I32, 3)]
        module.add_named_metadata("llvm.module.flags", module.add_metadata(flags))
        known = [ll.Constant(I64, 1), ll.Constant(I64, 1), self.kernel.name]
        module.add_named_metadata("llvm.pseudo_probe_desc", module.add_metadata(known))

    def _locate(self, site: int | None) -> None:
        column = 0 if site is None else min(site + 1, 65535)
        self.ctx.builder.debug_metadata = self.module.add_debug_info(
            "DILocation", {"line": len(self.spans) - 1, "column": column, "scope": self.subprogram}
        )

    # ----------------------------------------------------------------------------------------- variables

    def _variables(self, function: ll.Function) -> None:
        entry = self.ctx.entry
        assigned = _assigned(self.kernel)
        data = {it.variable: it for it in self.constants}
        for argument, parameter in zip(function.args, self.kernel.parameters, strict=True):
            if parameter in self.in_memory:
                place = self._stack(argument.type, parameter.type.alignment)
                entry.store(argument, place)
                self.ctx.objects[parameter] = place
            elif parameter in assigned:
                slot = self._slot(argument.type, parameter.name)
                entry.store(argument, slot.place)
                self.ctx.slots[parameter] = slot
            else:
                self.ctx.read_only[parameter] = argument
        for variable in self.kernel.variables:
            match variable.kind:
                case ir.VariableKind.REGISTER:
                    kind = (
                        pointer_kind(variable.type, self.target)
                        if isinstance(variable.type, PointerType)
                        else llvm_type(variable.type)
                    )
                    self.ctx.slots[variable] = self._slot(kind, variable.name)
                case ir.VariableKind.PRIVATE_OBJECT if variable in self.tables:
                    table = self._global(variable, 4, self.tables[variable])
                    self.ctx.objects[variable] = as_pointer(entry, table, ll.PointerType())
                case ir.VariableKind.PRIVATE_OBJECT:
                    kind = ll.ArrayType(I8, max(variable.type.size, 1))
                    self.ctx.objects[variable] = self._stack(kind, variable.type.alignment)
                case ir.VariableKind.LOCAL_OBJECT:
                    self.ctx.objects[variable] = self._global(variable, 3, None)
                case _:
                    pass
        for variable in self.kernel.constants:
            known = data.get(variable)
            self.ctx.objects[variable] = self._global(variable, 4, known.data if known is not None else None)

    def _slot(self, kind: ll.Type, name: str) -> Slot:
        return Slot(kind, self._stack(kind, 1, name))

    def _stack(self, kind: ll.Type, alignment: int, name: str = "") -> ll.Value:
        place = self.ctx.entry.alloca(kind, name=name)
        place.align = max(alignment, 4)
        place.type = ll.PointerType(addrspace=self.target.spaces[AddressSpace.PRIVATE])
        return place

    def _global(self, variable: ir.Variable, space: int, data: bytes | None) -> ll.Value:
        kind = ll.ArrayType(I8, max(variable.type.size, 1))
        made = ll.GlobalVariable(
            self.module, kind, self.module.get_unique_name(f"{variable.name}.object"), addrspace=space
        )
        made.linkage = "internal"
        made.align = 16
        if space == 4:
            made.global_constant = data is not None
            made.initializer = ll.Constant(kind, bytearray(data) if data is not None else None)
            made.linkage = "internal" if data is not None else "external"
            if data is None:
                made.initializer = None
        else:
            made.initializer = ll.Constant(kind, ll.Undefined)
        made.type = ll.PointerType(addrspace=space)
        return made

    # ---------------------------------------------------------------------------------------- statements

    def _block(self, block: ir.Block) -> None:
        outer = self.owner
        for statement in block:
            checkpoint()
            if self.ctx.builder.block.is_terminated:
                self.ctx.builder.position_at_end(self.ctx.block("unreached"))
            if isinstance(statement, ir.Load) and (number := self.probed.number(statement)) is not None:
                self.owner = number
            self._next(statement.span)
            self._locate(_site(statement))
            self._statement(statement)
        self.owner = outer

    def _owner_of(self, block: ir.Block) -> int:
        first = block[0] if block else None
        number = self.probed.number(first) if isinstance(first, ir.Load) else None
        return self.owner if number is None else number

    def _next(self, span: Span) -> None:
        self.spans.append(span)
        self.owners.append(self.owner)

    def _statement(self, statement: ir.Statement) -> None:  # noqa: PLR0915  (one flat table over the IR)
        builder = self.ctx.builder
        match statement:
            case ir.Assign(variable=variable, value=value):
                self._assign(variable, self.expressions.evaluate(value))
            case ir.Load():
                self._load(statement)
            case ir.Store():
                self._store(statement)
            case ir.CopyObject():
                self._copy(statement)
            case ir.Atomic():
                self._atomic(statement)
            case ir.Barrier() | ir.WaitEvents():
                self._barrier()
            case ir.AsyncCopy():
                self._async_copy(statement)
            case ir.If():
                self._if(statement)
            case ir.Loop():
                self._loop(statement)
            case ir.Switch():
                self._switch(statement)
            case ir.Break():
                builder.branch(self.loop_ends[-1] if self.loop_ends else self.finish)
            case ir.Continue():
                builder.branch(self.loop_steps[-1] if self.loop_steps else self.finish)
            case ir.Return():
                builder.branch(self.finish)
            case ir.Scope(label=label, body=body):
                self._scope(label, body)
            case ir.Leave(label=label):
                builder.branch(self.scopes[label])
            case ir.Label(name=name):
                builder.branch(self._label(name))
                builder.position_at_end(self._label(name))
            case ir.Goto(name=name):
                builder.branch(self._label(name))
            case ir.ImageRead() | ir.ImageWrite():
                raise NotCompiledError("images are not compiled")
            case ir.Collective():
                self._collective(statement)
            case ir.Call(function=name):
                raise NotCompiledError(f"a call of {name} that was not inlined")
            case ir.OpaqueCall(name=name):
                raise NotCompiledError(f"{name} has no body here")
            case ir.Unsupported(reason=reason):
                raise NotCompiledError(reason)
            case ir.Print():
                self.ctx.unknowns.append(("printf", statement.span))
            case ir.Declare() | ir.Fence():
                pass
            case _:
                assert_never(statement)

    def _assign(self, variable: ir.Variable, value: Value) -> None:
        slot = self.ctx.slots.get(variable)
        if slot is None:
            return
        plain = value.offset if isinstance(value, Pointer) else value
        kind = slot.kind
        if isinstance(kind, ll.PointerType):
            if isinstance(plain.type, ll.IntType):
                plain = self.ctx.builder.inttoptr(plain, kind)
            plain = as_pointer(self.ctx.builder, plain, kind)
        elif isinstance(plain.type, ll.PointerType):
            plain = self.ctx.builder.ptrtoint(plain, I64)
        if plain.type != kind:
            raise NotCompiledError("types do not fit")
        self.ctx.builder.store(plain, slot.place)

    def _probe(self, number: int) -> None:
        words = [ll.Constant(I64, 1), ll.Constant(I64, number), ll.Constant(I32, 0), ll.Constant(I64, -1)]
        self.ctx.call("llvm.pseudoprobe", ll.VoidType(), words)

    def _load(self, statement: ir.Load) -> None:
        builder = self.ctx.builder
        if (number := self.probed.number(statement)) is not None:
            self._probe(number)
            return
        place = self.expressions.pointer(statement.pointer).offset
        kind = statement.variable.type
        if isinstance(kind, PointerType):
            value = builder.load(place, align=8, typ=pointer_kind(kind, self.target))
            self._assign(statement.variable, Pointer(0, value))
            return
        shape = llvm_type(kind)
        value = builder.load(place, align=max(statement.alignment, 1), typ=shape)
        if statement.is_volatile:
            _make_volatile(value)
        self._assign(statement.variable, value)

    def _store(self, statement: ir.Store) -> None:
        if self.tables and private_object(statement.pointer) in self.tables:
            return  # It is there from the start.
        builder = self.ctx.builder
        place = self.expressions.pointer(statement.pointer).offset
        value = self.expressions.evaluate(statement.value)
        plain = value.offset if isinstance(value, Pointer) else value
        is_three = isinstance(plain.type, ll.VectorType) and plain.type.count == 3
        if is_three and statement.size == 4 * bits(plain.type.element) // 8:  # `vstore3` writes three.
            plain = self.expressions._swizzle(plain, (0, 1, 2, 2))
        stored = builder.store(plain, place, align=max(statement.alignment, 1))
        if statement.is_volatile:
            _make_volatile(stored)

    def _copy(self, statement: ir.CopyObject) -> None:
        kind = statement.type
        source = self.expressions.pointer(statement.source).offset
        destination = self.expressions.pointer(statement.destination).offset
        builder = self.ctx.builder
        align = max(kind.alignment, 1)
        if kind.size <= _COPIED_BY_VALUE:
            shape = _words(kind)
            builder.store(builder.load(source, align=align, typ=shape), destination, align=align)
            return
        name = f"llvm.memcpy.p{destination.type.addrspace}.p{source.type.addrspace}.i64"
        arguments = [destination, source, ll.Constant(I64, kind.size), ll.Constant(ll.IntType(1), 0)]
        known = self.module.globals.get(name) or ll.Function(
            self.module, ll.FunctionType(ll.VoidType(), [it.type for it in arguments]), name
        )
        builder.call(known, arguments)

    def _atomic(self, statement: ir.Atomic) -> None:
        builder = self.ctx.builder
        place = self.expressions.pointer(statement.pointer).offset
        kind = llvm_type(statement.type)
        operands = [self.expressions.value(it) for it in statement.operands]
        old = self._atomic_value(statement, place, kind, operands, builder)
        if statement.variable is not None and old is not None:
            self._assign(statement.variable, old)

    def _atomic_value(
        self,
        statement: ir.Atomic,
        place: ll.Value,
        kind: ll.Type,
        operands: list[ll.Value],
        builder: ll.IRBuilder,
    ) -> ll.Value | None:
        match statement.op:
            case ir.AtomicOp.LOAD:
                return builder.load_atomic(place, "monotonic", statement.type.size, typ=kind)
            case ir.AtomicOp.STORE:
                builder.store_atomic(operands[0], place, "monotonic", statement.type.size)
                return None
            case ir.AtomicOp.COMPARE_EXCHANGE:
                found = builder.cmpxchg(place, operands[0], operands[1], "monotonic", "monotonic")
                return builder.extract_value(found, 0)
            case ir.AtomicOp.INC | ir.AtomicOp.DEC:
                one = integer(1, kind)
                name = "add" if statement.op is ir.AtomicOp.INC else "sub"
                return builder.atomic_rmw(name, place, one, "monotonic")
            case other:
                name = other.value
                if is_float(kind):
                    name = {"add": "fadd", "sub": "fsub", "min": "fmin", "max": "fmax"}.get(name, name)
                elif name in ("min", "max") and not statement.type.is_signed:
                    name = "u" + name
                return builder.atomic_rmw(name, place, operands[0], "monotonic")

    def _barrier(self) -> None:
        if self.target.is_nvidia:
            self.ctx.call("llvm.nvvm.barrier0", ll.VoidType(), [])
            return
        self.ctx.builder.fence("acq_rel")
        self.ctx.call("llvm.amdgcn.s.barrier", ll.VoidType(), [])

    def _collective(self, statement: ir.Collective) -> None:
        values = [self.expressions.value(it) for it in statement.arguments]
        found = sub_group_call(self.ctx, self.target, statement, values)
        if found is None or statement.variable is None:
            raise NotCompiledError(f"{statement.name} is not compiled")
        self._assign(statement.variable, found)

    def _async_copy(self, statement: ir.AsyncCopy) -> None:
        """The work-items of the group take turns, element by element."""
        ctx, builder = self.ctx, self.ctx.builder
        items = _WorkItems(ctx)
        source = self.expressions.pointer(statement.source).offset
        target = self.expressions.pointer(statement.destination).offset
        count = resize(ctx, self.expressions.value(statement.count), I64, signed=False)
        stride = (
            None
            if statement.stride is None
            else resize(ctx, self.expressions.value(statement.stride), I64, signed=False)
        )
        to_local = target.type.addrspace == 3
        size = statement.element.size
        kind = ll.IntType(8 * size) if size <= 8 else ll.VectorType(I32, size // 4)
        if size > 8 and size % 4:
            raise NotCompiledError(f"copies of elements of {size} bytes are not compiled")
        alignment = min(size & -size, 16)
        box = [resize(ctx, self.expressions.value(it), I64, signed=False) for it in statement.box]
        total = builder.mul(count, builder.mul(box[0], box[1])) if box else count
        step = builder.mul(items.query(WorkItemQuery.LOCAL_SIZE, 0), items.query(WorkItemQuery.LOCAL_SIZE, 1))
        first = items.query(WorkItemQuery.LOCAL_LINEAR_ID, 0)
        before = builder.block
        test, body, end = ctx.block("copy.test"), ctx.block("copy.body"), ctx.block("copy.end")
        builder.branch(test)
        builder.position_at_end(test)
        at = builder.phi(I64)
        at.add_incoming(first, before)
        builder.cbranch(builder.icmp_unsigned("<", at, total), body, end)
        builder.position_at_end(body)
        far = at if stride is None else builder.mul(at, stride)
        places = (far, at) if to_local else (at, far)
        if box:
            places = _in_box(builder, at, count, box)
        self._locate(statement.load_site)
        read = self.expressions._moved(source, builder.mul(places[0], ll.Constant(I64, size)))
        value = builder.load(read, align=alignment, typ=kind)
        self._locate(statement.store_site)
        write = self.expressions._moved(target, builder.mul(places[1], ll.Constant(I64, size)))
        builder.store(value, write, align=alignment)
        at.add_incoming(builder.add(at, step), builder.block)
        builder.branch(test)
        builder.position_at_end(end)
        if statement.event is not None:
            self._assign(statement.event, zero(llvm_type(statement.event.type)))

    # -------------------------------------------------------------------------------------------- branches

    def _if(self, statement: ir.If) -> None:
        ctx = self.ctx
        condition = self.expressions.condition(statement.condition)
        then, end = ctx.block("then"), ctx.block("endif")
        other = ctx.block("else") if statement.otherwise else end
        ctx.builder.cbranch(condition, then, other)
        self._into(then, statement.then, end)
        if statement.otherwise:
            self._into(other, statement.otherwise, end)
        ctx.builder.position_at_end(end)

    def _into(self, start: ll.Block, body: ir.Block, end: ll.Block) -> None:
        self.ctx.builder.position_at_end(start)
        self._block(body)
        if not self.ctx.builder.block.is_terminated:
            self.ctx.builder.branch(end)

    def _loop(self, statement: ir.Loop) -> None:
        ctx = self.ctx
        number = len(self.spans) - 1
        test, body, step, end = (ctx.block(f"loop.{it}") for it in ("test", "body", "step", "end"))
        ctx.builder.branch(test if statement.tests_first else body)
        ctx.builder.position_at_end(test)
        self._block(statement.test)
        outer, self.owner = self.owner, self._owner_of(statement.body)
        self._next(self.spans[number])
        self._locate(None)
        if statement.condition is not None and not ctx.builder.block.is_terminated:
            ctx.builder.cbranch(self.expressions.condition(statement.condition), body, end)
        elif not ctx.builder.block.is_terminated:
            ctx.builder.branch(body)
        self.loop_ends.append(end)
        self.loop_steps.append(step)
        self._into(body, statement.body, step)
        self.loop_steps.pop()
        ctx.builder.position_at_end(step)
        self._block(statement.step)
        self.owner = outer
        if not ctx.builder.block.is_terminated:
            branch = ctx.builder.branch(test)
            count = 0 if id(statement) in self.completely else statement.unroll
            if count is not None:
                branch.set_metadata("llvm.loop", self._unrolled(count))
        self.loop_ends.pop()
        ctx.builder.position_at_end(end)

    def _unrolled(self, count: int) -> _LoopHint:
        self.hints.append(_LoopHint(len(self.hints), count))
        return self.hints[-1]

    def _switch(self, statement: ir.Switch) -> None:
        ctx = self.ctx
        value = self.expressions.value(statement.value)
        blocks = [ctx.block("case") for _ in statement.cases]
        end = ctx.block("switch.end")
        default = end
        for case, block in zip(statement.cases, blocks, strict=True):
            default = block if case.is_default else default
        chooser = ctx.builder.switch(value, default)
        seen: set[int] = set()
        for case, block in zip(statement.cases, blocks, strict=True):
            for number in case.values:
                wrapped = integer(number, value.type)
                if wrapped.constant not in seen:
                    seen.add(wrapped.constant)
                    chooser.add_case(wrapped, block)
        self.loop_ends.append(end)
        for index, (case, block) in enumerate(zip(statement.cases, blocks, strict=True)):
            self._into(block, case.body, blocks[index + 1] if index + 1 < len(blocks) else end)
        self.loop_ends.pop()
        ctx.builder.position_at_end(end)

    def _scope(self, label: int, body: ir.Block) -> None:
        end = self.ctx.block("scope.end")
        self.scopes[label] = end
        self._block(body)
        if not self.ctx.builder.block.is_terminated:
            self.ctx.builder.branch(end)
        self.ctx.builder.position_at_end(end)

    def _label(self, name: str) -> ll.Block:
        if name not in self.labels:
            self.labels[name] = self.ctx.block(f"label.{len(self.labels)}")
        return self.labels[name]


def _site(statement: ir.Statement) -> int | None:
    for name in ("site", "load_site"):
        site = getattr(statement, name, None)
        if site is not None:
            return int(site)
    return None


def _make_volatile(instruction: Any) -> None:
    """Mark a load or store; llvmlite has no word for it, so that the text is changed at the end."""
    plain = instruction.descr

    def descr(buffer: list[str]) -> None:
        start = len(buffer)
        plain(buffer)
        name = instruction.opname
        buffer[start] = buffer[start].replace(f"{name} ", f"{name} {_VOLATILE}", 1)

    instruction.descr = descr


def _words(kind: Type) -> ll.Type:
    """Return a type of memory as an array of the widest words that its alignment allows."""
    word = min(max(kind.alignment, 1), 8)
    return ll.ArrayType(ll.IntType(8 * word), max(kind.size // word, 1))


def _addressed(kernel: ir.Kernel) -> set[ir.Variable]:
    """Return what is reached through its address: structs, and whatever `&` is taken of."""
    return {node.variable for node in ir.all_expressions(kernel.body) if isinstance(node, ir.ObjectAddress)}


def _assigned(kernel: ir.Kernel) -> set[ir.Variable]:
    return {variable for statement in ir.walk(kernel.body) for variable in ir.written(statement)}


__all__ = ["GpuCode", "NotCompiledError", "generate"]


def _in_box(
    builder: ll.IRBuilder, at: ll.Value, count: ll.Value, box: list[ll.Value]
) -> tuple[ll.Value, ll.Value]:
    """Return where an element of a copy of lines and planes comes from, and where it goes to."""
    lines, _, from_line, from_plane, to_line, to_plane = box
    element, row = builder.urem(at, count), builder.udiv(at, count)
    line, plane = builder.urem(row, lines), builder.udiv(row, lines)

    def place(per_line: ll.Value, per_plane: ll.Value) -> ll.Value:
        return builder.add(element, builder.add(builder.mul(line, per_line), builder.mul(plane, per_plane)))

    return place(from_line, from_plane), place(to_line, to_plane)

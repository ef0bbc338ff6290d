"""Compile functions written in the words of `words.py` to LLVM IR.

Types are inferred: parameters and results by annotation, locals by their first assignment. A local lives in a
stack slot; LLVM's SROA turns slots into registers.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from llvmlite import ir

from clmap_lsp.dataclass import dataclass

I64 = ir.IntType(64)
I32 = ir.IntType(32)
I8 = ir.IntType(8)
I1 = ir.IntType(1)
F64 = ir.DoubleType()
POINTER = ir.PointerType()


@dataclass(frozen=True, slots=True)
class Pointer:
    """A pointer type by its element in memory."""

    element: ir.Type


_TYPES: Mapping[str, ir.Type | Pointer] = {
    "int": I64,
    "float": F64,
    "bool": I1,
    "Words": Pointer(I64),
    "HalfWords": Pointer(I32),
    "Bytes": Pointer(I8),
    "Doubles": Pointer(F64),
}
_POINTERS = {
    "words": Pointer(I64),
    "half_words": Pointer(I32),
    "byte_pointer": Pointer(I8),
    "doubles": Pointer(F64),
}
_COMPARE = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}


class NativeError(ValueError):
    """Library code that the compiler does not take."""


def compile_functions(
    functions: Sequence[Callable[..., Any]], name: str, constants: Mapping[str, int]
) -> ir.Module:
    """Return a module with one external function for each of `functions`, under their Python names.

    `constants` replace the values of global names.
    """
    module = ir.Module(name=name, context=ir.Context())
    declared = {it.__name__: _declare(module, it) for it in functions}
    for function in functions:
        _FunctionCompiler(module, function, declared, constants).compile()
    return module


def _declare(module: ir.Module, function: Callable[..., Any]) -> ir.Function:
    hints = inspect.get_annotations(function)
    result = hints.pop("return")
    kind = ir.FunctionType(_llvm(_type(result)), [_llvm(_type(it)) for it in hints.values()])
    return ir.Function(module, kind, function.__name__)


def _type(annotation: Any) -> ir.Type | Pointer:
    name = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "None")
    if name == "None":
        return I64
    return _TYPES[name]


def _llvm(kind: ir.Type | Pointer) -> ir.Type:
    return POINTER if isinstance(kind, Pointer) else kind


@dataclass(frozen=True, slots=True)
class _Value:
    llvm: ir.Value
    kind: ir.Type | Pointer


class _FunctionCompiler:
    """One function. Every `_visit` method emits code at the builder's place."""

    def __init__(
        self,
        module: ir.Module,
        function: Callable[..., Any],
        declared: Mapping[str, ir.Function],
        constants: Mapping[str, int],
    ) -> None:
        self.module = module
        self.declared = declared
        self.globals = {**function.__globals__, **constants}
        tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
        assert isinstance(tree, ast.FunctionDef)
        self.tree = tree
        self.function = declared[function.__name__]
        self.hints = inspect.get_annotations(function)
        self.slots: dict[str, tuple[ir.Value, ir.Type | Pointer]] = {}
        self.loops: list[tuple[ir.Block, ir.Block]] = []
        self.entry = self.function.append_basic_block("entry")
        self.builder = ir.IRBuilder(self.function.append_basic_block("body"))

    def compile(self) -> None:
        for argument, name in zip(self.function.args, self.tree.args.args, strict=True):
            self._assign(name.arg, _Value(argument, _type(self.hints[name.arg])))
        self._block(self.tree.body)
        if not self.builder.block.is_terminated:
            self.builder.ret(ir.Constant(self.function.function_type.return_type, 0))
        ir.IRBuilder(self.entry).branch(self.function.blocks[1])

    # ----------------------------------------------------------------------------------------- statements

    def _block(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            if self.builder.block.is_terminated:
                return
            self._statement(statement)

    def _statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Assign(targets=[target], value=value):
                self._store(target, self._value(value))
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._store(target, self._value(value))
            case ast.AugAssign(target=target, op=op, value=value):
                self._store(target, self._binary(op, self._value(_as_load(target)), self._value(value)))
            case ast.If():
                self._if(node)
            case ast.While():
                self._while(node)
            case ast.For():
                self._for(node)
            case ast.Return(value=value):
                self.builder.ret(self._value(value).llvm if value else ir.Constant(I64, 0))
            case ast.Break():
                self.builder.branch(self.loops[-1][1])
            case ast.Continue():
                self.builder.branch(self.loops[-1][0])
            case ast.Expr(value=ast.Constant()) | ast.Pass():
                pass
            case ast.Expr(value=value):
                self._value(value)
            case _:
                raise NativeError(f"{self.tree.name}: {ast.unparse(node)}")

    def _store(self, target: ast.expr, value: _Value) -> None:
        match target:
            case ast.Name(id=name):
                self._assign(name, value)
            case ast.Subscript(value=base, slice=index):
                pointer = self._value(base)
                assert isinstance(pointer.kind, Pointer)
                element = pointer.kind.element
                stored = value.llvm
                if isinstance(element, ir.IntType) and element.width < 64:
                    stored = self.builder.trunc(stored, element)
                self.builder.store(stored, self._address(pointer, index))
            case _:
                raise NativeError(ast.unparse(target))

    def _assign(self, name: str, value: _Value) -> None:
        if name not in self.slots:
            slot = ir.IRBuilder(self.entry).alloca(_llvm(value.kind), name=name)
            self.slots[name] = (slot, value.kind)
        slot, kind = self.slots[name]
        if kind == I64 and value.kind == I1:
            value = _Value(self.builder.zext(value.llvm, I64), I64)
        if kind != value.kind:
            raise NativeError(f"{self.tree.name}: `{name}` changes its type")
        self.builder.store(value.llvm, slot)

    def _if(self, node: ast.If) -> None:
        condition = self._truth(node.test)
        then, end = self._new("then"), self._new("endif")
        other = self._new("else") if node.orelse else end
        self.builder.cbranch(condition, then, other)
        self._into(then, node.body, end)
        if node.orelse:
            self._into(other, node.orelse, end)
        self.builder.position_at_end(end)

    def _into(self, block: ir.Block, body: Sequence[ast.stmt], end: ir.Block) -> None:
        self.builder.position_at_end(block)
        self._block(body)
        if not self.builder.block.is_terminated:
            self.builder.branch(end)

    def _while(self, node: ast.While) -> None:
        head, body, end = self._new("while"), self._new("do"), self._new("done")
        self.builder.branch(head)
        self.builder.position_at_end(head)
        self.builder.cbranch(self._truth(node.test), body, end)
        self.loops.append((head, end))
        self._into(body, node.body, head)
        self.loops.pop()
        self.builder.position_at_end(end)

    def _for(self, node: ast.For) -> None:
        match node:
            case ast.For(target=ast.Name(id=name), iter=ast.Call(func=ast.Name(id="range"), args=arguments)):
                values = [self._value(it) for it in arguments]
            case _:
                raise NativeError(ast.unparse(node))
        start = values[0] if len(values) > 1 else _Value(ir.Constant(I64, 0), I64)
        stop = values[1] if len(values) > 1 else values[0]
        step = values[2].llvm if len(values) > 2 else ir.Constant(I64, 1)
        self._assign(name, start)
        slot = self.slots[name][0]
        head, body, turn, end = (self._new(it) for it in ("for", "do", "next", "done"))
        self.builder.branch(head)
        self.builder.position_at_end(head)
        now = self.builder.load(slot, typ=I64)
        self.builder.cbranch(self.builder.icmp_signed("<", now, stop.llvm), body, end)
        self.loops.append((turn, end))
        self._into(body, node.body, turn)
        self.loops.pop()
        self.builder.position_at_end(turn)
        self.builder.store(self.builder.add(self.builder.load(slot, typ=I64), step), slot)
        self.builder.branch(head)
        self.builder.position_at_end(end)

    def _new(self, name: str) -> ir.Block:
        block: ir.Block = self.function.append_basic_block(name)
        return block

    # ---------------------------------------------------------------------------------------- expressions

    def _value(self, node: ast.expr) -> _Value:
        match node:
            case ast.Constant(value=bool() as flag):
                return _Value(ir.Constant(I1, int(flag)), I1)
            case ast.Constant(value=int() as number):
                return _Value(ir.Constant(I64, _wrap(number)), I64)
            case ast.Constant(value=float() as real):
                return _Value(ir.Constant(F64, real), F64)
            case ast.Name(id=name):
                return self._name(name)
            case ast.Subscript(value=base, slice=index):
                return self._load(self._value(base), index)
            case ast.BinOp(left=left, op=op, right=right):
                return self._binary(op, self._value(left), self._value(right))
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as number)):
                return _Value(ir.Constant(I64, _wrap(-number)), I64)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                value = self._value(operand)
                negated = self.builder.fneg(value.llvm) if value.kind == F64 else self.builder.neg(value.llvm)
                return _Value(negated, value.kind)
            case ast.UnaryOp(op=ast.Invert(), operand=operand):
                return _Value(self.builder.not_(self._value(operand).llvm), I64)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return _Value(self.builder.not_(self._truth(operand)), I1)
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return self._compare(_COMPARE[type(op)], self._value(left), self._value(right))
            case ast.BoolOp():
                return self._logic(node)
            case ast.IfExp(test=test, body=then, orelse=other):
                first, second = self._value(then), self._value(other)
                return _Value(self.builder.select(self._truth(test), first.llvm, second.llvm), first.kind)
            case ast.Call(func=ast.Name(id=name), args=arguments):
                return self._call(name, [self._value(it) for it in arguments])
            case _:
                raise NativeError(f"{self.tree.name}: {ast.unparse(node)}")

    def _name(self, name: str) -> _Value:
        if name in self.slots:
            slot, kind = self.slots[name]
            return _Value(self.builder.load(slot, typ=_llvm(kind)), kind)
        value = self.globals[name]
        if isinstance(value, float):
            return _Value(ir.Constant(F64, value), F64)
        return _Value(ir.Constant(I64, _wrap(int(value))), I64)

    def _address(self, pointer: _Value, index: ast.expr) -> ir.Value:
        assert isinstance(pointer.kind, Pointer)
        return self.builder.gep(pointer.llvm, [self._value(index).llvm], source_etype=pointer.kind.element)

    def _load(self, pointer: _Value, index: ast.expr) -> _Value:
        assert isinstance(pointer.kind, Pointer)
        element = pointer.kind.element
        value = self.builder.load(self._address(pointer, index), typ=element)
        if isinstance(element, ir.IntType):
            return _Value(self.builder.zext(value, I64) if element.width < 64 else value, I64)
        return _Value(value, F64)

    def _binary(self, op: ast.operator, left: _Value, right: _Value) -> _Value:
        builder = self.builder
        if F64 in (left.kind, right.kind):
            real = {ast.Add: builder.fadd, ast.Sub: builder.fsub, ast.Mult: builder.fmul}
            real[ast.Div] = builder.fdiv
            return _Value(real[type(op)](left.llvm, right.llvm), F64)
        whole = {
            ast.Add: builder.add,
            ast.Sub: builder.sub,
            ast.Mult: builder.mul,
            ast.FloorDiv: builder.udiv,
            ast.Mod: builder.urem,
            ast.LShift: builder.shl,
            ast.RShift: builder.lshr,
            ast.BitAnd: builder.and_,
            ast.BitOr: builder.or_,
            ast.BitXor: builder.xor,
        }
        return _Value(whole[type(op)](left.llvm, right.llvm), I64)

    def _compare(self, op: str, left: _Value, right: _Value) -> _Value:
        if left.kind == F64:
            return _Value(self.builder.fcmp_ordered(op, left.llvm, right.llvm), I1)
        return _Value(self.builder.icmp_signed(op, left.llvm, right.llvm), I1)

    def _truth(self, node: ast.expr) -> ir.Value:
        value = self._value(node)
        if value.kind == I1:
            return value.llvm
        return self.builder.icmp_signed("!=", value.llvm, ir.Constant(I64, 0))

    def _logic(self, node: ast.BoolOp) -> _Value:
        """Short circuits: the later operands may only be valid where the earlier ones hold."""
        is_and = isinstance(node.op, ast.And)
        end = self._new("logic")
        incoming: list[tuple[ir.Value, ir.Block]] = []
        for operand in node.values[:-1]:
            value = self._truth(operand)
            incoming.append((ir.Constant(I1, int(not is_and)), self.builder.block))
            onward = self._new("operand")
            self.builder.cbranch(value, *((onward, end) if is_and else (end, onward)))
            self.builder.position_at_end(onward)
        incoming.append((self._truth(node.values[-1]), self.builder.block))
        self.builder.branch(end)
        self.builder.position_at_end(end)
        phi = self.builder.phi(I1)
        for value, block in incoming:
            phi.add_incoming(value, block)
        return _Value(phi, I1)

    def _call(self, name: str, arguments: list[_Value]) -> _Value:
        values = [it.llvm for it in arguments]
        if name in _POINTERS:
            return _Value(self.builder.inttoptr(values[0], POINTER), _POINTERS[name])
        match name:
            case "below":
                return _Value(self.builder.icmp_unsigned("<", *values), I1)
            case "log2":
                return _Value(self.builder.call(self._intrinsic("llvm.log2"), values), F64)
            case "float":
                return _Value(self.builder.sitofp(values[0], F64), F64)
            case "int":
                return _Value(self.builder.zext(values[0], I64), I64)
            case "min" | "max":
                return _Value(self._extreme(name, *values), I64)
            case "call_kernel" | "call_rows":
                kind = ir.FunctionType(I64, [it.type for it in values[1:]])
                target = self.builder.inttoptr(values[0], POINTER)
                return _Value(_call_pointer(self.builder, target, kind, values[1:]), I64)
        callee = self.declared[name]
        result = self.builder.call(callee, values)
        return _Value(result, _type(self._result_hint(name)))

    def _result_hint(self, name: str) -> Any:
        return inspect.get_annotations(self.globals[name])["return"]

    def _extreme(self, name: str, left: ir.Value, right: ir.Value) -> ir.Value:
        keeps_left = self.builder.icmp_signed("<" if name == "min" else ">", left, right)
        return self.builder.select(keeps_left, left, right)

    def _intrinsic(self, name: str) -> ir.Function:
        return self.module.declare_intrinsic(name, [F64])


def _call_pointer(
    builder: ir.IRBuilder, target: ir.Value, kind: ir.FunctionType, arguments: Sequence[ir.Value]
) -> ir.Value:
    """Call through an opaque pointer; llvmlite's `call` wants to see the function type on the callee."""
    return builder.call(_Callee(target, kind), arguments)


class _Callee(ir.Value):  # type: ignore[misc]
    """A pointer value that carries the type of the function it points to."""

    def __init__(self, pointer: ir.Value, kind: ir.FunctionType) -> None:
        self.pointer = pointer
        self.type = pointer.type
        self.function_type = kind

    def get_reference(self) -> str:
        reference: str = self.pointer.get_reference()
        return reference


def _as_load(target: ast.expr) -> ast.expr:
    """Read the target of an augmented assignment."""
    match target:
        case ast.Name(id=name):
            return ast.Name(id=name, ctx=ast.Load())
        case ast.Subscript(value=base, slice=index):
            return ast.Subscript(value=base, slice=index, ctx=ast.Load())
    raise NativeError(ast.unparse(target))


def _wrap(value: int) -> int:
    """Bring an integer into the signed 64-bit range."""
    value &= (1 << 64) - 1
    return value - (1 << 64) if value >> 63 else value

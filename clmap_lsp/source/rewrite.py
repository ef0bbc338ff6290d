"""Copies of IR with other variables, sites or places.

`Rewriter` copies statements and expressions node by node; what changes is up to the subclass: inlining
renames variables and numbers sites anew, and a function that an edit has moved gets new places.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from clmap_lsp.interruption import checkpoint
from clmap_lsp.source.ir import (
    Assign,
    AsyncCopy,
    Atomic,
    Barrier,
    Binary,
    Block,
    Break,
    Builtin,
    Call,
    Collective,
    Compare,
    Constant,
    Continue,
    Convert,
    CopyObject,
    Declare,
    Expression,
    Fence,
    FieldAddress,
    Goto,
    If,
    ImageRead,
    ImageWrite,
    InsertLanes,
    Label,
    Leave,
    Load,
    Logical,
    Loop,
    ObjectAddress,
    OpaqueCall,
    PointerCast,
    PointerOffset,
    Print,
    Read,
    Reinterpret,
    Return,
    Scope,
    Select,
    Site,
    Statement,
    Store,
    Switch,
    SwitchCase,
    Swizzle,
    Unary,
    Undefined,
    Unsupported,
    Variable,
    VectorLiteral,
    WaitEvents,
    WorkItem,
)
from clmap_lsp.source.span import Span


class Rewriter:
    """Copies IR; override `variable`, `span`, `site` and `label` to change it on the way."""

    def variable(self, variable: Variable) -> Variable:
        """Return what stands for a variable."""
        return variable

    def span(self, span: Span) -> Span:
        """Return what stands for a place."""
        return span

    def site(self, site: Site) -> Site:
        """Return what stands for a site."""
        return site

    def label(self, name: str) -> str:
        """Return what stands for a goto label."""
        return name

    def result(self, variable: Variable | None) -> Variable | None:
        """Return what stands for the variable of a result, if there is one."""
        return None if variable is None else self.variable(variable)

    def expression(self, value: Expression) -> Expression:
        """Copy an expression."""
        return EXPRESSIONS[type(value)](self, value)

    def optional(self, value: Expression | None) -> Expression | None:
        """Copy an expression that may be missing."""
        return None if value is None else self.expression(value)

    def expressions(self, values: tuple[Expression, ...]) -> tuple[Expression, ...]:
        """Copy several expressions."""
        return tuple([self.expression(it) for it in values])

    def statement(self, statement: Statement) -> Statement:
        """Copy a statement with the blocks inside it."""
        return _STATEMENTS[type(statement)](self, statement)

    def block(self, block: Block) -> Block:
        """Copy a block."""
        checkpoint()
        return tuple([self.statement(it) for it in block])


# `Any` below: each function is reached only through the table entry of its own class.
_ExpressionCopy = Callable[[Rewriter, Any], Expression]
_StatementCopy = Callable[[Rewriter, Any], Statement]


def _select(r: Rewriter, it: Select) -> Expression:
    x = r.expression
    return Select(x(it.condition), x(it.if_true), x(it.if_false), it.type, r.span(it.span))


def _convert(r: Rewriter, it: Convert) -> Expression:
    return Convert(r.expression(it.operand), it.type, r.span(it.span), it.rounding, it.saturate)


def _offset(r: Rewriter, it: PointerOffset) -> Expression:
    x = r.expression
    return PointerOffset(x(it.pointer), x(it.index), it.stride, it.type, r.span(it.span))


def _insert(r: Rewriter, it: InsertLanes) -> Expression:
    x = r.expression
    return InsertLanes(x(it.vector), it.lanes, x(it.value), it.type, r.span(it.span))


def _pair(
    cls: Callable[[Any, Expression, Expression, Any, Span], Expression],
) -> _ExpressionCopy:
    def copy(r: Rewriter, it: Any) -> Expression:
        x = r.expression
        return cls(it.op, x(it.left), x(it.right), it.type, r.span(it.span))

    return copy


EXPRESSIONS: dict[type, _ExpressionCopy] = {
    Constant: lambda r, it: Constant(it.value, it.type, r.span(it.span)),
    Read: lambda r, it: Read(r.variable(it.variable), r.span(it.span)),
    ObjectAddress: lambda r, it: ObjectAddress(r.variable(it.variable), it.type, r.span(it.span)),
    WorkItem: lambda r, it: WorkItem(it.query, r.optional(it.dimension), it.type, r.span(it.span)),
    Unary: lambda r, it: Unary(it.op, r.expression(it.operand), it.type, r.span(it.span)),
    Binary: _pair(Binary),
    Compare: _pair(Compare),
    Logical: _pair(Logical),
    Select: _select,
    Convert: _convert,
    Reinterpret: lambda r, it: Reinterpret(r.expression(it.operand), it.type, r.span(it.span)),
    PointerCast: lambda r, it: PointerCast(r.expression(it.operand), it.type, r.span(it.span), it.or_null),
    VectorLiteral: lambda r, it: VectorLiteral(r.expressions(it.parts), it.type, r.span(it.span)),
    Swizzle: lambda r, it: Swizzle(r.expression(it.operand), it.lanes, it.type, r.span(it.span)),
    InsertLanes: _insert,
    PointerOffset: _offset,
    FieldAddress: lambda r, it: FieldAddress(r.expression(it.pointer), it.field, it.type, r.span(it.span)),
    Builtin: lambda r, it: Builtin(it.name, r.expressions(it.arguments), it.type, r.span(it.span)),
    Undefined: lambda r, it: Undefined(it.name, it.type, r.span(it.span)),
}


# In a statement, sites are asked for in the order of the fields, which is the order of evaluation.


def _load(r: Rewriter, it: Load) -> Statement:
    site, variable = r.site(it.site), r.variable(it.variable)
    pointer = r.expression(it.pointer)
    return Load(site, variable, pointer, it.size, it.alignment, r.span(it.span), it.is_volatile, it.bits)


def _store(r: Rewriter, it: Store) -> Statement:
    site, pointer = r.site(it.site), r.expression(it.pointer)
    value = r.expression(it.value)
    span = r.span(it.span)
    return Store(site, pointer, value, it.size, it.alignment, span, it.is_volatile, it.component, it.bits)


def _copy(r: Rewriter, it: CopyObject) -> Statement:
    load, store, x = r.site(it.load_site), r.site(it.store_site), r.expression
    return CopyObject(load, store, x(it.destination), x(it.source), it.type, r.span(it.span))


def _atomic(r: Rewriter, it: Atomic) -> Statement:
    site, result, pointer = r.site(it.site), r.result(it.variable), r.expression(it.pointer)
    operands, span = r.expressions(it.operands), r.span(it.span)
    return Atomic(site, result, it.op, pointer, operands, it.type, span, it.order)


def _async(r: Rewriter, it: AsyncCopy) -> Statement:
    load, store, x = r.site(it.load_site), r.site(it.store_site), r.expression
    to, from_, count, stride = x(it.destination), x(it.source), x(it.count), r.optional(it.stride)
    event, joins = r.result(it.event), r.optional(it.joins)
    box, span = r.expressions(it.box), r.span(it.span)
    return AsyncCopy(load, store, event, to, from_, count, stride, it.element, span, joins, box)


def _wait(r: Rewriter, it: WaitEvents) -> Statement:
    return WaitEvents(r.site(it.site), r.span(it.span), r.optional(it.count), r.optional(it.events))


def _barrier(r: Rewriter, it: Barrier) -> Statement:
    site, flags = r.site(it.site), r.optional(it.flags)
    return Barrier(site, it.scope, it.fences_local, it.fences_global, r.span(it.span), flags, it.fences_image)


def _image_read(r: Rewriter, it: ImageRead) -> Statement:
    site, variable, image = r.site(it.site), r.variable(it.variable), r.expression(it.image)
    sampler, coordinate = r.optional(it.sampler), r.expression(it.coordinate)
    return ImageRead(site, variable, image, sampler, coordinate, r.span(it.span))


def _image_write(r: Rewriter, it: ImageWrite) -> Statement:
    site, x = r.site(it.site), r.expression
    return ImageWrite(site, x(it.image), x(it.coordinate), x(it.value), r.span(it.span))


def _collective(r: Rewriter, it: Collective) -> Statement:
    arguments = r.expressions(it.arguments)
    return Collective(r.site(it.site), r.result(it.variable), it.name, arguments, r.span(it.span))


def _call(r: Rewriter, it: Call) -> Statement:
    arguments = r.expressions(it.arguments)
    return Call(r.site(it.site), r.result(it.variable), it.function, arguments, r.span(it.span))


def _opaque(r: Rewriter, it: OpaqueCall) -> Statement:
    arguments = r.expressions(it.arguments)
    return OpaqueCall(r.site(it.site), r.result(it.variable), it.name, arguments, r.span(it.span), it.reason)


def _loop(r: Rewriter, it: Loop) -> Statement:
    test, condition, body, step = (
        r.block(it.test),
        r.optional(it.condition),
        r.block(it.body),
        r.block(it.step),
    )
    return Loop(test, condition, body, step, it.tests_first, r.span(it.span), it.unroll)


def _if(r: Rewriter, it: If) -> Statement:
    return If(r.expression(it.condition), r.block(it.then), r.block(it.otherwise), r.span(it.span))


def _switch(r: Rewriter, it: Switch) -> Statement:
    cases = tuple([SwitchCase(case.values, case.is_default, r.block(case.body)) for case in it.cases])
    return Switch(r.expression(it.value), cases, r.span(it.span))


_STATEMENTS: dict[type, _StatementCopy] = {
    Declare: lambda r, it: Declare(r.variable(it.variable), r.span(it.span)),
    Assign: lambda r, it: Assign(r.variable(it.variable), r.expression(it.value), r.span(it.span)),
    Load: _load,
    Store: _store,
    CopyObject: _copy,
    Atomic: _atomic,
    AsyncCopy: _async,
    WaitEvents: _wait,
    Barrier: _barrier,
    Fence: lambda r, it: Fence(r.site(it.site), r.span(it.span), it.order),
    ImageRead: _image_read,
    ImageWrite: _image_write,
    Collective: _collective,
    Print: lambda r, it: Print(r.site(it.site), it.format, r.expressions(it.arguments), r.span(it.span)),
    Call: _call,
    OpaqueCall: _opaque,
    Unsupported: lambda r, it: Unsupported(r.site(it.site), it.text, it.reason, r.span(it.span)),
    If: _if,
    Loop: _loop,
    Switch: _switch,
    Break: lambda r, it: Break(r.span(it.span)),
    Continue: lambda r, it: Continue(r.span(it.span)),
    Return: lambda r, it: Return(r.optional(it.value), r.span(it.span)),
    Scope: lambda r, it: Scope(it.label, r.block(it.body), it.function, r.span(it.span)),
    Leave: lambda r, it: Leave(it.label, r.span(it.span)),
    Label: lambda r, it: Label(r.label(it.name), r.span(it.span)),
    Goto: lambda r, it: Goto(r.label(it.name), r.span(it.span)),
}

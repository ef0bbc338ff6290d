"""Which places of a kernel rest on values that nobody knows.

The emulator takes the result of an unknown function, and an undefined name, for 0 and goes on. What follows
from that 0 (all work-items writing to element 0, a division by it) is no fault of the kernel.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field

from clmap_lsp.dataclass import dataclass
from clmap_lsp.emulator.plan import Plan, pointer_target
from clmap_lsp.source.ir import (
    AsyncCopy,
    Atomic,
    Binary,
    BinaryOp,
    CopyObject,
    Expression,
    ImageRead,
    ImageWrite,
    Load,
    OpaqueCall,
    Read,
    Statement,
    Store,
    Undefined,
    Variable,
    expressions,
    nodes,
    walk,
    written,
)
from clmap_lsp.source.span import Span
from clmap_lsp.source.types import PointerType

_DIVISIONS = frozenset({BinaryOp.DIV, BinaryOp.REM})


def unsure_places(plan: Plan) -> frozenset[Span]:
    """Return the places of accesses whose address, and of divisions whose divisor, rests on such a value."""
    statements = tuple(walk(plan.kernel.body))
    rests = _Rests(plan)
    if not any(isinstance(it, OpaqueCall) or rests.any_of(expressions(it)) for it in statements):
        return frozenset()
    before = -1
    while rests.size != before:
        before = rests.size
        for statement in statements:
            rests.follow(statement)
    places = {it.span for it in statements if rests.any_of(_addresses(it))}
    for statement in statements:
        for expression in expressions(statement):
            divisions = (it for it in nodes(expression) if isinstance(it, Binary) and it.op in _DIVISIONS)
            places.update(it.span for it in divisions if rests.on_unknown(it.right))
    return frozenset(places)


@dataclass(slots=True)
class _Rests:
    """What rests on an unknown value; forward, without regard to order, so that it only ever grows."""

    plan: Plan
    variables: set[Variable] = field(default_factory=set)
    buffers: set[int | None] = field(default_factory=set)
    """Numbers of buffers that hold such a value; `None` stands for one that is not known."""

    @property
    def size(self) -> int:
        return len(self.variables) + len(self.buffers)

    def on_unknown(self, expression: Expression) -> bool:
        """Tell whether an expression's value rests on one."""
        return any(
            isinstance(it, Undefined) or (isinstance(it, Read) and it.variable in self.variables)
            for it in nodes(expression)
        )

    def any_of(self, values: tuple[Expression, ...]) -> bool:
        return any(self.on_unknown(it) for it in values)

    def target(self, pointer: Expression) -> int | None:
        return pointer_target(pointer, self.plan.targets, self.plan.numbers)

    def follow(self, statement: Statement) -> None:
        """Take in what a statement passes on."""
        rests = self.any_of(expressions(statement))
        match statement:
            case OpaqueCall(arguments=arguments):
                rests = True
                # What the function writes through its pointers is as unknown as its result.
                self.buffers.update(self.target(it) for it in arguments if isinstance(it.type, PointerType))
            case Load(pointer=pointer):
                rests = rests or self.target(pointer) in self.buffers
            case Store(pointer=pointer, value=value) if self.on_unknown(value):
                self.buffers.add(self.target(pointer))
            case (
                CopyObject(destination=destination, source=source)
                | AsyncCopy(destination=destination, source=source)
            ) if rests or self.target(source) in self.buffers:
                self.buffers.add(self.target(destination))
            case Atomic(pointer=pointer, operands=values):
                if self.any_of(values):
                    self.buffers.add(self.target(pointer))
                rests = rests or self.target(pointer) in self.buffers
            case _:
                pass
        if rests:
            self.variables.update(written(statement))


_ADDRESSES: dict[type, Callable[..., tuple[Expression, ...]]] = {
    Load: lambda it: (it.pointer,),
    Store: lambda it: (it.pointer,),
    CopyObject: lambda it: (it.destination, it.source),
    AsyncCopy: lambda it: (it.destination, it.source, it.count, *it.box),
    Atomic: lambda it: (it.pointer,),
    ImageRead: lambda it: (it.coordinate,),
    ImageWrite: lambda it: (it.coordinate,),
}


def _addresses(statement: Statement) -> tuple[Expression, ...]:
    of = _ADDRESSES.get(type(statement))
    return () if of is None else of(statement)

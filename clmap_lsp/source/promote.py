"""Private scalars that helpers wrote through pointers, back in registers once the helpers are inlined.

`void ids(int *x) { *x = get_global_id(0); }` makes `int x; ids(&x);` live in memory while functions stand
alone. After inlining every use is a plain load or store of the whole variable; then it is a variable again,
so that what it holds can be followed. A variable of which any other use is left stays in memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from clmap_lsp.source.ir import (
    Assign,
    Block,
    CallFrame,
    Expression,
    Load,
    ObjectAddress,
    Read,
    Site,
    Statement,
    Store,
    Variable,
    VariableKind,
    expressions,
    nodes,
    walk,
)
from clmap_lsp.source.rewrite import Rewriter
from clmap_lsp.source.types import PointerType, ScalarType, VectorType


def promotable(body: Block, variables: Sequence[Variable]) -> frozenset[Variable]:
    """Return the private scalars and vectors that are only loaded and stored as a whole."""
    kept = {
        it
        for it in variables
        if it.kind is VariableKind.PRIVATE_OBJECT
        and isinstance(it.type, ScalarType | VectorType | PointerType)
    }
    for statement in walk(body) if kept else ():
        kept.difference_update(_other_uses(statement))
    return frozenset(kept)


def _other_uses(statement: Statement) -> Iterator[Variable]:
    """Yield the objects whose address a statement uses for anything but a whole load or store."""
    match statement:
        case Load(variable=variable, pointer=ObjectAddress() as address, is_volatile=False):
            if variable.type != address.variable.type:
                yield address.variable
            return
        case Store(pointer=ObjectAddress() as address, value=value, is_volatile=False):
            if value.type != address.variable.type:
                yield address.variable
            yield from _addresses(value)
            return
        case _:
            for expression in expressions(statement):
                yield from _addresses(expression)


def _addresses(value: Expression) -> Iterator[Variable]:
    return (it.variable for it in nodes(value) if isinstance(it, ObjectAddress))


class Promoter(Rewriter):
    """Copies a kernel body with some objects as registers, and with sites that are dense again."""

    def __init__(self, objects: frozenset[Variable], frames: Mapping[Site, tuple[CallFrame, ...]]) -> None:
        self.registers = {it: replace(it, kind=VariableKind.REGISTER) for it in objects}
        self.old_frames = frames
        self.frames: dict[Site, tuple[CallFrame, ...]] = {}
        self.n_sites = 0

    def variable(self, variable: Variable) -> Variable:
        """Return the register of a promoted object."""
        return self.registers.get(variable, variable)

    def expression(self, value: Expression) -> Expression:
        """Keep expressions: a promoted object stands in none, as only whole loads and stores name it."""
        return value

    def expressions(self, values: tuple[Expression, ...]) -> tuple[Expression, ...]:
        """Keep expressions, as above."""
        return values

    def site(self, site: Site) -> Site:
        """Number sites anew; the way to them stays."""
        fresh = self.n_sites
        self.n_sites += 1
        if site in self.old_frames:
            self.frames[fresh] = self.old_frames[site]
        return fresh

    def statement(self, statement: Statement) -> Statement:
        """Make loads and stores of promoted objects assignments."""
        match statement:
            case Load(variable=variable, pointer=ObjectAddress(variable=target), span=span):
                if target in self.registers:
                    return Assign(variable, Read(self.registers[target], span), span)
            case Store(pointer=ObjectAddress(variable=target), value=value, span=span):
                if target in self.registers:
                    return Assign(self.registers[target], value, span)
            case _:
                pass
        return super().statement(statement)

"""Backward slice of a kernel: the registers and private objects that addresses and branches depend on.

Most of what a cipher or a stencil computes is data that no address ever sees; the abstract interpreters leave
it out. Of kernels of thousands of statements they leave out as well what is computed from data for branches
only (a digest that is held against a target): nobody could tell how these go.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Final

from clmap_lsp.dataclass import dataclass
from clmap_lsp.interruption import checkpoint
from clmap_lsp.source import ir
from clmap_lsp.source.ir import Expression, Statement, Variable, VariableKind
from clmap_lsp.source.per_kernel import per_kernel
from clmap_lsp.source.types import PointerType

PointsTo = Mapping[Variable, frozenset[Variable]]
"""The buffers and objects that a register may point into; a register that is not listed points into none."""

_NOTHING: frozenset[Variable] = frozenset()
LARGE: Final = 1_000
"""Statements from which on branches on what is computed from data are not followed: ciphers, unrolled."""


@dataclass(frozen=True, slots=True)
class Slice:
    """What decides where a kernel goes and which memory it touches."""

    variables: frozenset[Variable]
    """Registers and parameters."""
    objects: frozenset[Variable]
    """Private arrays and structs whose contents matter."""
    points_to: PointsTo
    given_up: frozenset[Variable] = _NOTHING
    """What branches of a very large kernel depend on, and is computed from memory: neither of the above."""

    def roots(self, pointer: Expression) -> frozenset[Variable]:
        """Return what a pointer expression may point into."""
        return roots_of(pointer, self.points_to)


@per_kernel
def slice_of(kernel: ir.Kernel) -> Slice:
    """Return the slice of a kernel, in time linear in its size; remembered."""
    listed = list(ir.walk(kernel.body))
    points_to = _points_to(kernel, listed)
    return _closed(listed, points_to, len(listed) >= LARGE)


reads = ir.variables_read


def roots_of(pointer: Expression, points_to: PointsTo) -> frozenset[Variable]:
    """Return what a pointer expression may point into."""
    found: set[Variable] = set()
    for source in _sources(pointer):
        found |= {source.variable} if isinstance(source, ir.ObjectAddress) else _pointees(source, points_to)
    return frozenset(found)


def _pointees(read: ir.Read, points_to: PointsTo) -> frozenset[Variable]:
    return points_to.get(read.variable, _NOTHING)


def _sources(pointer: Expression) -> Iterable[ir.Read | ir.ObjectAddress]:
    """Yield the registers and objects that a pointer is made of; what only moves it is none of them."""
    stack = [pointer]
    while stack:
        one = stack.pop()
        match one:
            case ir.Read() | ir.ObjectAddress():
                yield one
            case ir.PointerOffset(pointer=inner) | ir.FieldAddress(pointer=inner):
                stack.append(inner)
            case _:
                stack.extend(ir.operands(one))


def _points_to(kernel: ir.Kernel, statements: list[Statement]) -> PointsTo:
    """Flow buffers and objects through the assignments of registers."""
    found: defaultdict[Variable, set[Variable]] = defaultdict(set)
    users: defaultdict[Variable, list[Variable]] = defaultdict(list)
    for parameter in kernel.parameters:
        if isinstance(parameter.type, PointerType):
            found[parameter] = {parameter}
    for statement in statements:
        checkpoint()
        if isinstance(statement, ir.Assign):
            for source in _sources(statement.value):
                if isinstance(source, ir.ObjectAddress):
                    found[statement.variable].add(source.variable)
                else:
                    users[source.variable].append(statement.variable)
    waiting = list(found)
    while waiting:
        variable = waiting.pop()
        for user in users.get(variable, ()):
            if not found[variable] <= found[user]:
                found[user] |= found[variable]
                waiting.append(user)
    return {variable: frozenset(roots) for variable, roots in found.items()}


def _closed(statements: list[Statement], points_to: PointsTo, is_large: bool) -> Slice:
    """Follow what addresses and branches read back to where it was computed."""
    seeds: set[Variable] = set()
    branches: set[Variable] = set()
    read: set[Variable] = set()
    """Registers that memory is read into."""
    behind: defaultdict[Variable, set[Variable]] = defaultdict(set)
    """By register or private object: what its value is made of."""
    for statement in statements:
        checkpoint()
        match statement:
            case ir.Load(variable=variable, pointer=pointer):
                reads(pointer, seeds)
                sources = _private(pointer, points_to)
                behind[variable] |= sources
                if not sources:
                    read.add(variable)
            case ir.Store(pointer=pointer, value=value):
                reads(pointer, seeds)
                for target in _private(pointer, points_to):
                    reads(value, behind[target])
            case ir.CopyObject(destination=destination, source=source):
                _read_all(statement, seeds)
                for target in _private(destination, points_to):
                    behind[target] |= _private(source, points_to)
            case ir.Atomic(pointer=pointer):
                reads(pointer, seeds)
            case ir.ImageRead(coordinate=coordinate, sampler=sampler):
                reads(coordinate, seeds)
                if sampler is not None:
                    reads(sampler, seeds)
            case ir.ImageWrite(coordinate=coordinate):
                reads(coordinate, seeds)
            case ir.If():
                _read_all(statement, branches)
            case ir.AsyncCopy() | ir.Loop() | ir.Switch():
                _read_all(statement, seeds)
            case _:
                for variable in ir.written(statement):
                    _read_all(statement, behind[variable])
    _follow(behind, seeds)
    given_up = _computed_from(read, behind) - seeds if is_large else set()
    seeds |= branches - given_up
    _follow(behind, seeds, given_up)
    objects = frozenset(it for it in seeds if _is_private(it))
    return Slice(frozenset(seeds) - objects, objects, points_to, frozenset(given_up))


def _follow(
    behind: Mapping[Variable, set[Variable]], found: set[Variable], but: AbstractSet[Variable] = _NOTHING
) -> None:
    """Add to some variables all that they are made of, `but` those."""
    waiting = list(found)
    while waiting:
        fresh = behind.get(waiting.pop(), _NOTHING) - found - but
        found |= fresh
        waiting.extend(fresh)


def _computed_from(read: set[Variable], behind: Mapping[Variable, set[Variable]]) -> set[Variable]:
    """Return what some values go into, by any number of steps; not the values themselves."""
    users: defaultdict[Variable, set[Variable]] = defaultdict(set)
    for variable, sources in behind.items():
        for source in sources:
            users[source].add(variable)
    found = set().union(*(users.get(it, _NOTHING) for it in read))
    _follow(users, found)
    return found


def _read_all(statement: Statement, into: set[Variable]) -> None:
    for expression in ir.expressions(statement):
        reads(expression, into)


def _private(pointer: Expression, points_to: PointsTo) -> set[Variable]:
    return {it for it in roots_of(pointer, points_to) if _is_private(it)}


def _is_private(variable: Variable) -> bool:
    return variable.kind is VariableKind.PRIVATE_OBJECT

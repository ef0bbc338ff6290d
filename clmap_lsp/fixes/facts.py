"""Questions about a kernel that several kinds of rewrite ask."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from clmap_lsp.access.analyse import analyse
from clmap_lsp.access.polynomial import (
    LANE_QUERIES,
    Carried,
    Indirect,
    LoopSymbol,
    Op,
    Operation,
    Polynomial,
    Unknown,
    WorkItemSymbol,
)
from clmap_lsp.access.records import Direction
from clmap_lsp.access.wording import NameTable
from clmap_lsp.source import ir
from clmap_lsp.source.types import AddressSpace, PointerType, ScalarType, VectorType

if TYPE_CHECKING:
    from clmap_lsp.access.records import Access
    from clmap_lsp.analysis.model import KernelAnalysis
    from clmap_lsp.fixes.model import Subject
    from clmap_lsp.launch.model import Launch
    from clmap_lsp.source.types import Type


@lru_cache(maxsize=4)
def of_kernel(kernel: ir.Kernel) -> tuple[Access, ...]:
    """Return the accesses of a kernel as they are on every launch (see `accesses`)."""
    found = analyse(kernel).accesses
    sets = Counter(set_names(kernel.body))
    names = NameTable()
    names.update((atom, it) for atom, it in (found[0].names.items() if found else ()) if sets[it] <= 1)
    return tuple(replace(it, names=names) for it in found)


def set_names(block: Iterable[ir.Statement]) -> Iterator[str]:
    """Yield the name of a variable that has one wherever a block sets it."""
    for it in ir.walk(tuple(block)):
        variable = None if isinstance(it, ir.Declare) else getattr(it, "variable", None)
        if isinstance(variable, ir.Variable) and not variable.is_temporary:
            yield variable.name


def accesses(analysis: KernelAnalysis) -> tuple[Access, ...]:
    """Return the accesses of a kernel as they are on every launch, in the order of the source.

    Those of the analysis itself are sharpened by the launch's values; what they show may not hold on another.
    A variable that is set twice names nothing: what it holds depends on the place.
    """
    return of_kernel(analysis.kernel)


def tests_first(subject: Subject, symbol: LoopSymbol) -> bool:
    """True if a loop makes no turn where its number of turns is not positive: it is no `do` loop."""
    loops = (it for it in ir.walk(subject.analysis.kernel.body) if isinstance(it, ir.Loop))
    return any(it.span == symbol.span and it.tests_first for it in loops)


def variables_read(statements: Iterable[ir.Statement]) -> set[ir.Variable]:
    """Return the variables that statements read, those inside of them left aside."""
    return {
        variable
        for statement in statements
        for expression in ir.expressions(statement)
        for variable in read_in(expression)
    }


def read_in(expression: ir.Expression) -> set[ir.Variable]:
    """Return the variables that an expression reads."""
    return {it.variable for it in ir.nodes(expression) if isinstance(it, ir.Read)}


def stepped_before(kernel: ir.Kernel, access: Access) -> bool:
    """True if a variable by which an access's index goes has left what it was at the head of its loop."""
    spans = {it.span for it in access.loops}
    around = [it for it in ir.walk(kernel.body) if isinstance(it, ir.Loop) and it.span in spans]
    for leaf in access.index.leaves:
        if not isinstance(leaf, (LoopSymbol, Carried)):
            continue
        for loop in around:
            if isinstance(leaf, LoopSymbol) and leaf.span != loop.span:
                continue
            before = (it for it in ir.walk(loop.body) if it.span.start < access.span.start)
            if leaf.name in {*set_names(loop.test), *set_names(before)}:
                return True
    return False


def extended(launch: Launch) -> tuple[int, ...]:
    """Return the dimensions in which a work-group is longer than 1."""
    return tuple(d for d, size in enumerate(launch.local_size) if size > 1)


def whole_groups(launch: Launch) -> bool:
    """True if every work-group is full."""
    return all(g % x == 0 for g, x in zip(launch.global_size, launch.local_size, strict=True))


def lanes_in(value: Polynomial) -> frozenset[int] | None:
    """Return the dimensions whose local position a value depends on; `None` where that is not known."""
    found = set()
    for leaf in value.leaves:
        match leaf:
            case WorkItemSymbol(query=ir.WorkItemQuery.GLOBAL_ID | ir.WorkItemQuery.LOCAL_ID, dimension=d):
                found.add(d)
            case WorkItemSymbol(query=query) if query in LANE_QUERIES:
                return None
            case Unknown() | Indirect():
                return None
            case _:
                pass
    return frozenset(found)


def unwrapped(index: Polynomial) -> Polynomial:
    """Return an index as it is while no unsigned part of it passes 2 to the power 32."""
    plain = Polynomial({})
    for monomial, coefficient in index.terms.items():
        match monomial:
            case (Operation(op=Op.WRAP_UNSIGNED, operands=(inner, _)),):
                plain += inner.scaled(coefficient)
            case _:
                plain += Polynomial({monomial: coefficient})
    return plain


def written(analysis: KernelAnalysis) -> frozenset[str]:
    """Return the buffers that are stored to; `?` is one whose owner is not known."""
    return frozenset(it.buffer for it in accesses(analysis) if it.direction is not Direction.LOAD)


def read_only_buffers(subject: Subject) -> Iterator[tuple[ir.Variable, tuple[Access, ...]]]:
    """Yield the global pointer parameters that are only read, each with its accesses, all of them known."""
    found = accesses(subject.analysis)
    stored = written(subject.analysis)
    if "?" in stored or subject.analysis.notes or opaque(subject.analysis.kernel):
        return
    for parameter in subject.analysis.kernel.parameters:
        if not isinstance(parameter.type, PointerType) or parameter.type.space is not AddressSpace.GLOBAL:
            continue
        mine = tuple(it for it in found if it.buffer == parameter.name)
        if mine and parameter.name not in stored and all(it.unknown is None for it in mine):
            yield parameter, mine


def opaque(kernel: ir.Kernel) -> bool:
    """True if the kernel does something that analysis does not follow: unknown calls, `goto`."""
    kinds = (ir.OpaqueCall, ir.Unsupported, ir.AsyncCopy)
    return ir.has_goto(kernel) or any(isinstance(it, kinds) for it in ir.walk(kernel.body))


def in_every_turn(block: ir.Block, site: int) -> bool:
    """True if a block makes the access of a site whenever it runs: under no condition and in no inner loop.

    Conditions that came out of macros or short circuits count like those that are typed.
    """
    for statement in block:
        if site in _sites(statement):
            return True
        if isinstance(statement, ir.Scope):
            if in_every_turn(statement.body, site):
                return True
        elif ir.may_leave(statement):
            return False
    return False


def changes_besides(loop: ir.Loop, site: int, counter: str) -> bool:
    """True if an access's address depends on a variable that the loop assigns, other than its counter.

    Such an address cannot be written for another turn by putting another counter into its text.
    """
    assigned: dict[ir.Variable, list[ir.Statement]] = {}
    found: list[ir.Expression] = []
    for statement in ir.walk((*loop.test, *loop.body, *loop.step)):
        match statement:
            case ir.Assign(variable=variable) | ir.Load(variable=variable):
                assigned.setdefault(variable, []).append(statement)
            case _:
                pass
        if site in _sites(statement):
            found += ir.expressions(statement)[:1]
    seen: set[ir.Variable] = set()
    while found:
        for node in ir.nodes(found.pop()):
            if not isinstance(node, ir.Read) or node.variable in seen or node.variable not in assigned:
                continue
            seen.add(node.variable)
            if node.variable.is_temporary:
                found += (it for made in assigned[node.variable] for it in ir.expressions(made))
            elif node.variable.name != counter:
                return True
    return False


def _sites(statement: ir.Statement) -> tuple[int, ...]:
    match statement:
        case ir.Load(site=site) | ir.Store(site=site) | ir.Atomic(site=site):
            return (site,)
        case ir.CopyObject(load_site=one, store_site=other):
            return one, other
        case _:
            return ()


def synchronises(block: Iterable[ir.Statement]) -> bool:
    """True if a block has a barrier or anything that a whole group does together."""
    kinds = (ir.Barrier, ir.WaitEvents, ir.Collective, ir.AsyncCopy)
    return any(isinstance(it, kinds) for it in ir.walk(tuple(block)))


def conjuncts(guard: Iterable[Polynomial]) -> tuple[Polynomial, ...]:
    """Return the conditions that must all hold, one by one."""
    found: list[Polynomial] = []
    for part in guard:
        atom = part.atom
        if isinstance(atom, Operation) and atom.op is Op.LOGICAL_AND:
            found += conjuncts(atom.operands)
        else:
            found.append(part)
    return tuple(found)


def is_zero(value: ir.Expression) -> bool:
    """True for the number 0, of whatever type."""
    value = ir.unconverted(value)
    return isinstance(value, ir.Constant) and value.value == 0


def plain_element(value: Type) -> bool:
    """True for numbers and vectors of numbers, which a tile can hold by their names."""
    match value:
        case VectorType(lanes=lanes):
            return lanes != 3
        case ScalarType():
            return value.size > 0
        case _:
            return False


def local_bytes(kernel: ir.Kernel, launch: Launch) -> int:
    """Return the bytes of local memory that a work-group has already."""
    from clmap_lsp.launch.model import LocalArgument

    total = sum(it.type.size for it in kernel.variables if it.kind is ir.VariableKind.LOCAL_OBJECT)
    for parameter in kernel.parameters:
        argument = launch.arguments.get(parameter.name)
        if isinstance(argument, LocalArgument) and isinstance(parameter.type, PointerType):
            total += argument.count * parameter.type.pointee.size
    return total


def room(subject: Subject) -> int:
    """Return the bytes of local memory that a work-group may still take; of 32 KiB if no limit is known."""
    limit = subject.device.limits.local_bytes_per_group or 32 * 1024
    return limit - local_bytes(subject.analysis.kernel, subject.launch)


def is_read_besides(statement: ir.Statement, variable: ir.Variable) -> bool:
    """True if a statement reads a variable otherwise than to give it a value made of its own."""
    reads = sum(
        isinstance(it, ir.Read) and it.variable is variable
        for expression in ir.expressions(statement)
        for it in ir.nodes(expression)
    )
    return reads > (1 if isinstance(statement, ir.Assign) and statement.variable is variable else 0)

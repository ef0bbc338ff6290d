"""What of a kernel has to be computed to know its addresses and branches, and what data never has to be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from functools import cache

from clmap_lsp.dataclass import dataclass
from clmap_lsp.emulator.moved import Moved, moved_by
from clmap_lsp.source import ir
from clmap_lsp.source.ir import Variable
from clmap_lsp.source.per_kernel import per_kernel
from clmap_lsp.source.slicing import PointsTo, reads, roots_of, slice_of
from clmap_lsp.source.types import AddressSpace, PointerType


@dataclass(slots=True)
class Needs:
    """For one kernel: the variables and private objects that addresses and branches depend on."""

    variables: set[Variable] = field(default_factory=set)
    objects: set[Variable] = field(default_factory=set)
    written: set[Variable] = field(default_factory=set)
    """Buffers and arrays that the kernel (or a call it makes) may write."""
    handed_on: dict[int, frozenset[Variable]] = field(default_factory=dict)
    """By identity of a loop: needed variables that a turn writes, and of which somebody may read what they
    held before: a turn reads them first, or does not write them for all and they are read afterwards."""
    changed: dict[int, frozenset[Variable]] = field(default_factory=dict)
    """By identity of a loop: needed variables that a turn writes."""
    stores_private: set[int] = field(default_factory=set)
    """Identities of loops that write needed private objects."""
    moved: Mapping[ir.Site, Moved] = field(default_factory=dict)
    """The bytes that each access moves."""
    points_to: PointsTo = field(default_factory=dict)

    def is_data(self, statement: ir.Statement) -> bool:
        """Tell whether a statement only computes what no address and no branch follows from."""
        return type(statement) is ir.Assign and statement.variable not in self.variables

    def keeps(self, store: ir.Store) -> bool:
        """Tell whether what is stored may be read again for an address or a branch."""
        kind = store.pointer.type
        is_shared = isinstance(kind, PointerType) and kind.space is not AddressSpace.PRIVATE
        if not self.objects or is_shared:
            return False
        return not self.objects.isdisjoint(roots_of(store.pointer, self.points_to))

    def read_in(self, statement: ir.Statement) -> tuple[ir.Expression, ...]:
        """Return the expressions of a statement that anything follows from."""
        if self.is_data(statement):
            return ()
        if type(statement) is ir.Store and not self.keeps(statement):
            return (statement.pointer,)
        return ir.expressions(statement)


@per_kernel
def needs_of(kernel: ir.Kernel) -> Needs:
    """Analyse a kernel, in time linear in its size; remembered."""
    statements = list(ir.walk(kernel.body))
    needed = slice_of(kernel)
    needs = Needs(
        set(needed.variables), set(needed.objects), moved=moved_by(statements), points_to=needed.points_to
    )
    for statement in statements:
        for pointer in ir.written_through(statement):
            needs.written |= needed.roots(pointer)
    readers = cache(lambda: _readers(needs, statements))
    for statement in statements:
        if isinstance(statement, ir.Loop):
            _loop(needs, statement, needed.points_to, readers)
    return needs


def _readers(needs: Needs, statements: Iterable[ir.Statement]) -> Counter[Variable]:
    """Count the statements that read each variable, those left out that nothing follows from."""
    readers: Counter[Variable] = Counter()
    for statement in statements:
        found: set[Variable] = set()
        for expression in needs.read_in(statement):
            reads(expression, found)
        readers.update(found)
    return readers


# --------------------------------------------------------------------------------------------------- loops


def _loop(needs: Needs, loop: ir.Loop, points_to: PointsTo, readers: Callable[[], Counter[Variable]]) -> None:
    exposed: set[Variable] = set()
    written: set[Variable] = set()
    for block in (loop.test, loop.body, loop.step):
        _expose(needs, block, set(written), exposed)
        written |= _surely_written(block)
        if block is loop.test and loop.condition is not None:
            _read_exposed(loop.condition, written, exposed)
    changed: set[Variable] = set()
    inside = tuple(ir.walk(loop.test + loop.body + loop.step))
    for statement in inside:
        changed.update(ir.written(statement))
        if any(needs.objects & roots_of(it, points_to) for it in ir.written_through(statement)):
            needs.stores_private.add(id(loop))
    changed &= needs.variables
    kept = changed - written
    if kept:
        within = _readers(needs, (loop, *inside))
        kept = {it for it in kept if readers()[it] > within[it]}
    needs.handed_on[id(loop)] = frozenset(exposed & changed | kept)
    needs.changed[id(loop)] = frozenset(changed)


def _surely_written(block: ir.Block) -> set[Variable]:
    """Return what is written for all who enter a block, those included that leave it on the way."""
    written: set[Variable] = set()
    for statement in block:
        match statement:
            case ir.If(then=then, otherwise=otherwise):
                written |= _surely_written(then) & _surely_written(otherwise)
            case ir.Scope(body=body):
                written |= _surely_written(body)
            case ir.Declare(variable=variable):
                written.add(variable)
            case _:
                written.update(ir.written(statement))
        if _leaves(statement):
            break
    return written


def _leaves(statement: ir.Statement) -> bool:
    """True if somebody may go on elsewhere than behind a statement."""
    match statement:
        case ir.Scope(label=label, body=body):
            return any(
                _ends(it) and not (isinstance(it, ir.Leave) and it.label == label) for it in ir.walk(body)
            )
        case ir.Loop():
            return any(isinstance(it, ir.Return | ir.Leave | ir.Goto) for it in ir.walk((statement,)))
        case _:
            return ir.may_leave(statement)


def _ends(statement: ir.Statement) -> bool:
    return isinstance(statement, ir.Return | ir.Leave | ir.Goto | ir.Break | ir.Continue)


def _read_exposed(expression: ir.Expression, written: set[Variable], exposed: set[Variable]) -> None:
    found: set[Variable] = set()
    reads(expression, found)
    exposed |= found - written


def _expose(needs: Needs, block: ir.Block, written: set[Variable], exposed: set[Variable]) -> None:
    """Collect what a block may read before writing it; `written` grows by what it surely writes."""
    for statement in block:
        for expression in needs.read_in(statement):
            _read_exposed(expression, written, exposed)
        match statement:
            case ir.If(then=then, otherwise=otherwise):
                one, two = set(written), set(written)
                _expose(needs, then, one, exposed)
                _expose(needs, otherwise, two, exposed)
                written |= one & two
            case ir.Loop(test=test, body=body, step=step):
                inside = set(written)
                for part in (test, body, step):
                    _expose(needs, part, inside, exposed)
            case ir.Switch(cases=cases):
                for case in cases:
                    _expose(needs, case.body, set(written), exposed)
            case ir.Scope(body=body):
                inside = set(written)
                _expose(needs, body, inside, exposed)
                if not any(isinstance(it, ir.Leave | ir.Return) for it in ir.walk(body)):
                    written |= inside
            case ir.Declare(variable=variable):
                written.add(variable)
            case _:
                written.update(ir.written(statement))

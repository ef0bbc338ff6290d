"""What of a kernel has to be computed to know its addresses and branches, and what data never has to be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from clmap_lsp.emulator.moved import Moved, moved_by
from clmap_lsp.interruption import checkpoint
from clmap_lsp.source import ir
from clmap_lsp.source.ir import Variable, VariableKind


@dataclass(slots=True)
class Needs:
    """For one kernel: the variables and private objects that addresses and branches depend on."""

    variables: set[Variable] = field(default_factory=set)
    objects: set[Variable] = field(default_factory=set)
    written: set[Variable] = field(default_factory=set)
    """Buffers and arrays that the kernel (or a call it makes) may write."""
    exposed: dict[int, frozenset[Variable]] = field(default_factory=dict)
    """By identity of a loop: needed variables that a turn may read before it writes them."""
    changed: dict[int, frozenset[Variable]] = field(default_factory=dict)
    """By identity of a loop: needed variables that a turn writes."""
    stores_private: set[int] = field(default_factory=set)
    """Identities of loops that write needed private objects."""
    moved: Mapping[ir.Site, Moved] = field(default_factory=dict)
    """The bytes that each access moves."""


def find_needs(kernel: ir.Kernel) -> Needs:
    """Analyse a kernel; linear in its size but for a few rounds to a fixed point."""
    statements = list(ir.walk(kernel.body))
    roots = _points_to(kernel, statements)
    needs = Needs(moved=moved_by(statements))
    for statement in statements:
        _seed(needs, statement)
        for pointer in ir.written_through(statement):
            needs.written |= _roots_of(pointer, roots)
    _close(needs, statements, roots)
    for statement in statements:
        if isinstance(statement, ir.Loop):
            _loop(needs, statement, roots)
    return needs


def reads(expression: ir.Expression, into: set[Variable]) -> None:
    """Add the variables that an expression reads."""
    stack = [expression]
    while stack:
        one = stack.pop()
        if isinstance(one, ir.Read):
            into.add(one.variable)
        else:
            stack.extend(ir.operands(one))


def _seed(needs: Needs, statement: ir.Statement) -> None:
    match statement:
        case ir.Load(pointer=pointer) | ir.Store(pointer=pointer) | ir.Atomic(pointer=pointer):
            reads(pointer, needs.variables)
        case ir.CopyObject() | ir.AsyncCopy() | ir.If() | ir.Loop() | ir.Switch():
            for expression in ir.expressions(statement):
                reads(expression, needs.variables)
        case _:
            pass


def _points_to(kernel: ir.Kernel, statements: list[ir.Statement]) -> dict[Variable, set[Variable]]:
    """Return what every pointer variable may point into, by flowing roots through assignments."""
    roots: dict[Variable, set[Variable]] = {it: {it} for it in kernel.parameters}
    assigns = [it for it in statements if isinstance(it, ir.Assign)]
    growing = True
    while growing:
        growing = False
        for statement in assigns:
            checkpoint()
            found = _roots_of(statement.value, roots)
            known = roots.setdefault(statement.variable, set())
            if not found <= known:
                known |= found
                growing = True
    return roots


def _roots_of(expression: ir.Expression, roots: dict[Variable, set[Variable]]) -> set[Variable]:
    match expression:
        case ir.Read(variable=variable):
            return roots.get(variable, set())
        case ir.ObjectAddress(variable=variable):
            return {variable}
        case ir.PointerOffset(pointer=pointer) | ir.FieldAddress(pointer=pointer):
            return _roots_of(pointer, roots)
        case _:
            return set().union(*(_roots_of(it, roots) for it in ir.operands(expression)))


def _close(needs: Needs, statements: list[ir.Statement], roots: dict[Variable, set[Variable]]) -> None:
    growing = True
    while growing:
        before = len(needs.variables) + len(needs.objects)
        for statement in statements:
            match statement:
                case ir.Assign(variable=variable, value=value) if variable in needs.variables:
                    reads(value, needs.variables)
                case ir.Load(variable=variable, pointer=pointer) if variable in needs.variables:
                    needs.objects |= {it for it in _roots_of(pointer, roots) if _is_private(it)}
                case ir.Store(pointer=pointer, value=value):
                    if needs.objects & _roots_of(pointer, roots):
                        reads(value, needs.variables)
                case ir.CopyObject(destination=destination, source=source):
                    if needs.objects & _roots_of(destination, roots):
                        needs.objects |= {it for it in _roots_of(source, roots) if _is_private(it)}
                case _:
                    pass
        growing = len(needs.variables) + len(needs.objects) > before


def _is_private(variable: Variable) -> bool:
    return variable.kind is VariableKind.PRIVATE_OBJECT


# --------------------------------------------------------------------------------------------------- loops


def _loop(needs: Needs, loop: ir.Loop, roots: dict[Variable, set[Variable]]) -> None:
    exposed: set[Variable] = set()
    written: set[Variable] = set()
    for block in (loop.test, loop.body, loop.step):
        _expose(block, written, exposed)
        if block is loop.test and loop.condition is not None:
            _read_exposed(loop.condition, written, exposed)
    changed: set[Variable] = set()
    for statement in ir.walk(loop.test + loop.body + loop.step):
        changed.update(ir.written(statement))
        if any(needs.objects & _roots_of(it, roots) for it in ir.written_through(statement)):
            needs.stores_private.add(id(loop))
    needs.exposed[id(loop)] = frozenset(exposed & needs.variables)
    needs.changed[id(loop)] = frozenset(changed & needs.variables)


def _read_exposed(expression: ir.Expression, written: set[Variable], exposed: set[Variable]) -> None:
    found: set[Variable] = set()
    reads(expression, found)
    exposed |= found - written


def _expose(block: ir.Block, written: set[Variable], exposed: set[Variable]) -> None:
    """Collect what a block may read before writing it; `written` grows by what it surely writes."""
    for statement in block:
        for expression in ir.expressions(statement):
            _read_exposed(expression, written, exposed)
        match statement:
            case ir.If(then=then, otherwise=otherwise):
                one, two = set(written), set(written)
                _expose(then, one, exposed)
                _expose(otherwise, two, exposed)
                written |= one & two
            case ir.Loop(test=test, body=body, step=step):
                inside = set(written)
                for part in (test, body, step):
                    _expose(part, inside, exposed)
            case ir.Switch(cases=cases):
                for case in cases:
                    _expose(case.body, set(written), exposed)
            case ir.Scope(body=body):
                inside = set(written)
                _expose(body, inside, exposed)
                if not any(isinstance(it, ir.Leave | ir.Return) for it in ir.walk(body)):
                    written |= inside
            case ir.Declare(variable=variable):
                written.add(variable)
            case _:
                written.update(ir.written(statement))

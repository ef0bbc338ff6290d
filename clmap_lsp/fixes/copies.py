"""Arrays that hold a copy of global memory, read where they were copied from.

`for (k = 0; k < n; k++) row[k] = a[i * n + k];` and then `row[k]` in all loops: a copy in private memory, or
one in local memory that a work-group makes together. It holds a work-item to one row, or a group to one
column, and hides the array from what spreads loops over work-items or tiles them. Where nothing stores to the
array, `a[i * n + k]` says the same.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from clmap_lsp.access.polynomial import LoopSymbol, Polynomial, local_id, local_size
from clmap_lsp.access.records import Access, Direction
from clmap_lsp.analysis.kernel import analyse_kernel
from clmap_lsp.dataclass import dataclass
from clmap_lsp.fixes import facts
from clmap_lsp.fixes.assumptions import overlaps
from clmap_lsp.fixes.barriers import without_barriers
from clmap_lsp.fixes.model import Proposal
from clmap_lsp.fixes.predict import rewritten
from clmap_lsp.fixes.scope import Scope, as_typed, tight
from clmap_lsp.fixes.spelt_out import SpeltOut, Use
from clmap_lsp.fixes.unused import line_of, without_unused
from clmap_lsp.source import ir
from clmap_lsp.source.types import AddressSpace, ArrayType, PointerType

if TYPE_CHECKING:
    from clmap_lsp.fixes.model import Subject
    from clmap_lsp.fixes.outline import Node
    from clmap_lsp.source.types import Type

_COPIED = re.compile(
    r"(?P<name>[A-Za-z_]\w*)\s*\[\s*(?P<counter>[A-Za-z_]\w*)\s*\]\s*=\s*(?P<value>[^=;].*?)\s*;", re.DOTALL
)
_BLANK = re.compile(r"[ \t]*\r?\n")
_ASSIGNED = re.compile(r"\s*=(?!=)")


@dataclass(frozen=True, slots=True)
class _Copy:
    """An array, the loop that fills it, and the text that an element was copied from."""

    variable: ir.Variable
    source: str
    """The global array."""
    node: Node
    counter: str
    value: tuple[int, int]
    uses: tuple[tuple[int, int, tuple[int, int]], ...]
    """Where it is read, and the inside of each subscript."""
    declared: Node | None
    """The statement that declares it; `None` for a parameter."""


def read_in_place(subject: Subject) -> SpeltOut | None:
    """Return a subject whose kernel reads global arrays where they are; `None` where it copies none."""
    scope = Scope.of(subject)
    if scope is None or facts.opaque(subject.analysis.kernel):
        return None
    copies = list(_copies(scope))
    if not copies:
        return None
    edits = [edit for it in copies for edit in _edits(scope, it)]
    edits += without_barriers(scope, {it.variable for it in copies})
    made = without_unused(scope, Proposal("", "", tuple(scope.replaced(*it) for it in edits)))
    uses = tuple(Use(it.span.start, it.span.end, it.text, is_kept=True) for it in made.edits)
    program = rewritten(subject, made.edits)
    kernel = None if isinstance(program, str) else program.kernel(subject.analysis.name)
    if isinstance(program, str) or kernel is None:
        return None
    stored = facts.written(subject.analysis)
    assumed = overlaps(subject.analysis.kernel, {it.source for it in copies}, stored)
    analysis = analyse_kernel(kernel, subject.launch, (), subject.device, program.constants)
    after = replace(subject, program=program, analysis=analysis, emulation=None, figures=None)
    return SpeltOut(after, tuple(sorted(uses, key=lambda it: it.start)), assumed)


def _copies(scope: Scope) -> Iterator[_Copy]:
    taken: set[str] = set()
    stored = facts.written(scope.subject.analysis)
    if "?" in stored:
        return
    for access in facts.accesses(scope.subject.analysis):
        if access.direction is not Direction.LOAD or access.space is not AddressSpace.GLOBAL:
            continue
        if access.buffer in stored or not scope.is_typed(access):
            continue
        found = _copy(scope, access)
        if found is not None and found.variable.name not in taken:
            taken.add(found.variable.name)
            yield found


def _copy(scope: Scope, access: Access) -> _Copy | None:
    """Return the copy that a load is made for, in the innermost loop around it."""
    symbol = access.loops[-1] if access.loops else None
    if symbol is None or symbol.span is None or symbol.exits_early or access.unknown is not None:
        return None
    node = scope.node_at(symbol.span)
    loop = next(
        (it for it in ir.walk(_body(scope)) if isinstance(it, ir.Loop) and it.span == symbol.span), None
    )
    if node is None or loop is None or node.kind != "for" or not as_typed(loop.span, scope.subject.path):
        return None
    only = _only(node.children[0])
    found = None if only is None else _COPIED.fullmatch(scope.shown, only.begins, only.end)
    if found is None or found["counter"] != symbol.name:
        return None
    variable = _array(scope, found["name"])
    if variable is None or not _fills(access, symbol, variable) or not _just_copies(loop, access, variable):
        return None
    value = found.span("value")
    uses = _uses(scope, variable, node)
    if uses is None or not _stays(scope, node, value, symbol.name) or not _is_free(scope, node, symbol.name):
        return None
    if any(it.name == access.buffer and _is_volatile(it) for it in scope.subject.analysis.kernel.parameters):
        return None
    is_parameter = variable in scope.subject.analysis.kernel.parameters
    declared = None if is_parameter else _declaration(scope, variable)
    if declared is None and not is_parameter:
        return None
    return _Copy(variable, access.buffer, node, symbol.name, value, uses, declared)


def _is_volatile(variable: ir.Variable) -> bool:
    return isinstance(variable.type, PointerType) and variable.type.is_volatile


def _body(scope: Scope) -> ir.Block:
    return scope.subject.analysis.kernel.body


def _only(node: Node) -> Node | None:
    """Return the one statement of a loop's body."""
    if node.kind == "block":
        return node.children[0] if len(node.children) == 1 else None
    return node if node.kind == "simple" else None


def _array(scope: Scope, name: str) -> ir.Variable | None:
    """Return the private or local array of one dimension that has a name, if nothing else has it."""
    kernel = scope.subject.analysis.kernel
    named = [it for it in (*kernel.variables, *kernel.parameters) if it.name == name]
    if len(named) != 1:
        return None
    kind = named[0].type
    if isinstance(kind, ArrayType):
        return named[0] if not isinstance(kind.element, ArrayType) else None
    is_local = isinstance(kind, PointerType) and kind.space is AddressSpace.LOCAL
    return named[0] if is_local and named[0] in kernel.parameters else None


def _fills(access: Access, symbol: LoopSymbol, variable: ir.Variable) -> bool:
    """Tell whether each work-item copies all elements from the first on, or a group what all of it read."""
    if symbol.start is None or symbol.step is None:
        return False
    if variable.kind is ir.VariableKind.PRIVATE_OBJECT:
        return symbol.start.value == 0 and symbol.step.value == 1
    dimension = next((d for d in range(3) if symbol.start == Polynomial.of(local_id(d))), None)
    if dimension is None or symbol.step != Polynomial.of(local_size(dimension)):
        return False
    # The counter is `local_id + local_size * turn`: besides it, nothing may differ within a group.
    by = access.offset.coefficient(local_id(dimension))
    if by is None:
        return False
    counter = Polynomial.of(local_id(dimension)) + Polynomial.of(local_size(dimension)) * Polynomial.of(
        symbol
    )
    rest = access.offset - by * counter
    loops = [it for it in rest.leaves if isinstance(it, LoopSymbol)]
    values = [rest, by, *(part for it in loops for part in (it.start, it.step))]
    return symbol not in loops and all(it is not None and facts.lanes_in(it) == frozenset() for it in values)


def _just_copies(loop: ir.Loop, access: Access, variable: ir.Variable) -> bool:
    """Tell whether a loop loads an element, stores it as it is, and does nothing else."""
    body = [it for it in ir.walk(loop.body) if not isinstance(it, ir.Declare)]
    match body:
        case [ir.Load() as load, ir.Store(value=ir.Read(variable=stored)) as store] if (
            load.variable is stored
        ):
            is_whole = stored.type == _element(variable.type)
            return load.site == access.site and is_whole and _of(store, variable)
        case _:
            return False


def _element(kind: Type) -> Type | None:
    if isinstance(kind, ArrayType):
        return kind.element
    return kind.pointee if isinstance(kind, PointerType) else None


def _uses(
    scope: Scope, variable: ir.Variable, node: Node
) -> tuple[tuple[int, int, tuple[int, int]], ...] | None:
    """Return where an array is read; `None` if it is used otherwise, or elsewhere than behind its loop."""
    outer = scope.block_statement(node.start, node.end)
    if outer is None or outer[1] is not node:
        return None
    found = []
    for at in scope.mentions(variable.name):
        if at == variable.span.start or node.holds(at, at + 1):
            continue
        inside = scope.subscripts(at + len(variable.name), 1)
        if inside is None or not node.end <= at < outer[0].end:
            return None
        ((start, end),) = inside
        if scope.has_effects(start, end) or _ASSIGNED.match(scope.shown, end + 1):
            return None
        found.append((at, end + 1, (start, end)))
    reached = [
        it
        for it in ir.walk(_body(scope))
        if isinstance(it, (ir.Load, ir.Store, ir.Atomic)) and _of(it, variable)
    ]
    loads = [it for it in reached if isinstance(it, ir.Load)]
    # What is typed once is made once: no macro, no pointer and no helper reaches it.
    is_all = len(loads) == len(found) and len(reached) == len(loads) + 1
    return tuple(found) if found and is_all else None


def _of(statement: ir.Load | ir.Store | ir.Atomic, variable: ir.Variable) -> bool:
    nodes = ir.nodes(statement.pointer)
    return any(isinstance(it, (ir.Read, ir.ObjectAddress)) and it.variable is variable for it in nodes)


def _stays(scope: Scope, node: Node, value: tuple[int, int], counter: str) -> bool:
    """Tell whether what an element was copied from means the same wherever it is read.

    Its names are set where they are declared, or count a loop around; no other variable has them.
    """
    kernel = scope.subject.analysis.kernel
    known = Counter(it.name for it in (*kernel.parameters, *kernel.variables))
    sets = Counter(facts.set_names(kernel.body))
    parameters = {it.name for it in kernel.parameters}
    if scope.has_effects(*value):
        return False
    for name in scope.words(*value) - {counter}:
        if known[name] > 1 or (known[name] == 0 and name not in _QUERIES):
            return False
        if known[name] and sets[name] > (0 if name in parameters else 1) and not _counts(scope, node, name):
            return False
    return True


_QUERIES = frozenset(
    {f"get_{it}" for it in ("group_id", "global_id", "local_id", "global_size", "local_size", "num_groups")}
)


def _counts(scope: Scope, node: Node, name: str) -> bool:
    """Tell whether a variable is the counter of one loop around a statement, and of no other."""
    loops = [it for it in ir.walk(_body(scope)) if isinstance(it, ir.Loop)]
    setting = [it for it in loops if name in set(facts.set_names((*it.step,)))]
    if len(setting) != 1 or not (setting[0].span.start <= node.start and node.end <= setting[0].span.end):
        return False
    return name not in set(facts.set_names(setting[0].body))


def _is_free(scope: Scope, node: Node, counter: str) -> bool:
    """Tell whether nobody reads what the filling loop leaves in its counter."""
    assert node.head is not None, "a for loop has a head"
    first = scope.shown[node.head[0] : node.head[1]].partition(";")[0]
    if len(re.findall(r"\w+", first.partition("=")[0])) > 1:
        return True  # It declares its counter.
    later = [it for it in scope.mentions(counter) if it >= node.end]
    if later:
        return _ASSIGNED.match(scope.shown, later[0] + len(counter)) is not None
    return not any(it.kind in ("for", "while", "do") for it in scope.body.path(node.start, node.end)[:-1])


def _declaration(scope: Scope, variable: ir.Variable) -> Node | None:
    """Return the statement that declares an array, if it declares nothing else."""
    found = scope.block_statement(variable.span.start, variable.span.end)
    if found is None or found[1].kind != "simple":
        return None
    inside = scope.subscripts(variable.span.end, 1)
    text = scope.shown[found[1].start : found[1].end]
    is_alone = (
        inside is not None and "," not in text and scope.shown[inside[0][1] + 1 : found[1].end].strip() == ";"
    )
    return found[1] if is_alone else None


def _edits(scope: Scope, copy: _Copy) -> Iterator[tuple[int, int, str]]:
    yield *_lines_of(scope, copy.node), ""
    if copy.declared is not None:
        yield *_lines_of(scope, copy.declared), ""
    for start, end, (a, b) in copy.uses:
        index = scope.text[a:b].strip()
        alone = re.search(rf"\[\s*{copy.counter}\s*\]", scope.shown[slice(*copy.value)]) is not None
        text, _ = scope.substituted(*copy.value, {copy.counter: index if alone else tight(index)})
        yield start, end, text


def _lines_of(scope: Scope, node: Node) -> tuple[int, int]:
    """Return what goes with a statement: an empty line behind it, too, if it would come first or second."""
    start, end = line_of(scope, node)
    before = scope.text[:start].rstrip(" \t")
    is_first = before.endswith(("\n\n", "\r\n\r\n")) or before.rstrip().endswith("{")
    blank = _BLANK.match(scope.text, end)
    return start, blank.end() if is_first and blank is not None else end

"""Global ids that a kernel works out itself: `get_group_id(0) * get_local_size(0) + get_local_id(0)`.

So CUDA's kernels are ported. Where that is all that a kernel wants to know of its group, it is one that knows
its id only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from clmap_lsp.fixes.scope import as_typed
from clmap_lsp.source import ir
from clmap_lsp.source.ir import WorkItemQuery as Query

if TYPE_CHECKING:
    from clmap_lsp.fixes.model import Subject
    from clmap_lsp.source.span import Span

_OF_ONE_SIZE = ("CL1.0", "CL1.1", "CL1.2")
"""From OpenCL 2.0 on the last work-group may be smaller, and its size says nothing of where it starts."""


def worked_out(subject: Subject) -> Iterator[tuple[Span, int]]:
    """Yield where a kernel's own text works out a global id, and of which dimension."""
    kernel = subject.analysis.kernel
    if subject.options.language not in _OF_ONE_SIZE:
        return
    values = _set_once(kernel)
    for statement in ir.walk(kernel.body):
        for expression in ir.expressions(statement):
            is_set = isinstance(statement, ir.Assign) and not statement.variable.is_temporary
            for node in _outermost(expression):
                dimension = _dimension(node, values)
                whole = (
                    is_set and _plain(expression) is node
                )  # Of a macro, then, too, all that it stands for.
                is_own = as_typed(node.span, subject.path) or (whole and node.span.path == subject.path)
                fits = whole or getattr(node.type, "size", 0) == 8
                inside = kernel.span.start <= node.span.start and node.span.end <= kernel.span.end
                if dimension is not None and fits and is_own and inside:
                    yield node.span, dimension


def _outermost(expression: ir.Expression) -> Iterator[ir.Binary | ir.Builtin]:
    return (it for it in ir.nodes(expression) if isinstance(it, (ir.Binary, ir.Builtin)))


def _set_once(kernel: ir.Kernel) -> Mapping[ir.Variable, ir.Expression]:
    statements = [it for it in ir.walk(kernel.body) if not isinstance(it, ir.Declare)]
    times = Counter(v for it in statements if (v := getattr(it, "variable", None)) is not None)
    return {
        it.variable: it.value for it in statements if isinstance(it, ir.Assign) and times[it.variable] == 1
    }


def _dimension(value: ir.Expression, values: Mapping[ir.Variable, ir.Expression]) -> int | None:
    """Return the dimension whose global id a sum is."""
    match value:
        case ir.Binary(op=ir.BinaryOp.ADD, left=left, right=right):
            pairs = [(left, right), (right, left)]
        case ir.Builtin(name="mad24" | "mad", arguments=(one, other, added)):
            return _of_product(one, other, added, values)
        case _:
            return None
    for product, local in pairs:
        match _known(product, values):
            case (
                ir.Binary(op=ir.BinaryOp.MUL, left=one, right=other)
                | ir.Builtin(name="mul24", arguments=(one, other))
            ):
                found = _of_product(one, other, local, values)
                if found is not None:
                    return found
            case _:
                pass
    return None


def _of_product(
    one: ir.Expression,
    other: ir.Expression,
    local: ir.Expression,
    values: Mapping[ir.Variable, ir.Expression],
) -> int | None:
    asked = [_query(it, values) for it in (one, other, local)]
    for dimension in range(3):
        group, size = (Query.GROUP_ID, dimension), (Query.LOCAL_SIZE, dimension)
        if asked[2] == (Query.LOCAL_ID, dimension) and asked[:2] in ([group, size], [size, group]):
            return dimension
    return None


def _query(value: ir.Expression, values: Mapping[ir.Variable, ir.Expression]) -> tuple[Query, int] | None:
    match _known(value, values):
        case ir.WorkItem(query=query, dimension=None):
            return query, 0
        case ir.WorkItem(query=query, dimension=ir.Constant(value=int(dimension))):
            return query, dimension
        case _:
            return None


def _known(value: ir.Expression, values: Mapping[ir.Variable, ir.Expression]) -> ir.Expression:
    """Return what a value is, through variables that are set once and conversions of integers."""
    for _ in range(8):
        value = _plain(value)
        if not isinstance(value, ir.Read) or value.variable not in values:
            break
        value = values[value.variable]
    return value


def _plain(value: ir.Expression) -> ir.Expression:
    while isinstance(value, ir.Convert) and not getattr(value.type, "is_float", True):
        value = value.operand
    return value

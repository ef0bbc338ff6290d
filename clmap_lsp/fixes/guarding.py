"""Conditions around a loop that a barrier must be moved out of.

A kernel that starts with `if (row >= N) return;`, or has its work inside `if (row < N) { … }`, cannot take a
barrier there: the condition becomes a variable, and only what needs it stays under it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clmap_lsp.dataclass import dataclass
from clmap_lsp.fixes.scope import as_typed
from clmap_lsp.source import ir
from clmap_lsp.source.types import ScalarType

if TYPE_CHECKING:
    from clmap_lsp.findings import Edit
    from clmap_lsp.fixes.outline import Node
    from clmap_lsp.fixes.scope import Scope

NAME = "inside"


@dataclass(frozen=True, slots=True)
class Opened:
    """How a loop comes out of its condition: `name` is the new variable; empty where there was none."""

    name: str
    edits: tuple[Edit, ...]

    def under(self, text: str) -> str:
        """Return a statement's first line under the condition."""
        return f"if ({self.name})" if self.name else text


NOT_GUARDED = Opened("", ())


def opened(scope: Scope, loop: Node) -> Opened | None:
    """Return how a guarded loop is opened; `None` where the kernel's form is another."""
    path = scope.body.path(loop.start, loop.end)
    conditions = [it for it in path if it.kind == "if"]
    returns = [it for it in ir.walk(scope.subject.analysis.kernel.body) if isinstance(it, ir.Return)]
    if conditions:
        return _out_of_block(scope, conditions[0], loop) if len(conditions) == 1 and not returns else None
    return _past_return(scope, loop) if len(returns) == 1 else None


def _past_return(scope: Scope, loop: Node) -> Opened | None:
    """Turn `if (outside) return;` into a variable, and put what follows the loop under it."""
    at = next((n for n, it in enumerate(scope.body.children) if it is loop), None)
    if at is None:
        return None
    earlier = [it for it in scope.body.children[:at] if it.kind == "if" and only_returns(scope, it)]
    if len(earlier) != 1:
        return None
    guard = earlier[0]
    between = scope.body.children[scope.body.children.index(guard) + 1 : at]
    rest = scope.body.children[at + 1 :]
    if not all(_harmless(scope, it) for it in between) or guard.head is None:
        return None
    name = scope.fresh(NAME)
    edits = [scope.replaced(guard.start, guard.end, f"const bool {name} = {negated(scope, guard.head)};")]
    return _with_rest(scope, name, edits, rest)


def _out_of_block(scope: Scope, guard: Node, loop: Node) -> Opened | None:
    """Turn `if (inside) {` into a variable and a plain block, and put what follows the loop under it."""
    block = guard.children[0]
    if guard not in scope.body.children or len(guard.children) != 1 or block.kind != "block":
        return None
    at = next((n for n, it in enumerate(block.children) if it is loop), None)
    if at is None or not all(_harmless(scope, it) for it in block.children[:at]) or guard.head is None:
        return None
    name = scope.fresh(NAME)
    head = scope.text[guard.head[0] : guard.head[1]]
    opening = f"const bool {name} = {head};{scope.newline}{scope.indent(guard.start)}"
    edits = [scope.replaced(guard.start, block.start, opening)]
    return _with_rest(scope, name, edits, block.children[at + 1 :])


def _with_rest(scope: Scope, name: str, edits: list[Edit], rest: tuple[Node, ...]) -> Opened | None:
    if not rest:
        return Opened(name, tuple(edits))
    start, end = rest[0].start, rest[-1].end
    if (
        any(
            isinstance(it, (ir.Barrier, ir.Declare)) and start <= it.span.start < end
            for it in ir.walk(scope.subject.analysis.kernel.body)
        )
        and len(rest) == 1
    ):
        return None
    indent = scope.indent(start)
    inner = indented(scope, start, end)
    if len(rest) == 1:
        text = f"if ({name}){scope.newline}{indent}{scope.unit}{inner}"
    else:
        text = f"if ({name}) {{{scope.newline}{indent}{scope.unit}{inner}{scope.newline}{indent}}}"
    edits.append(scope.replaced(start, end, text))
    return Opened(name, tuple(edits))


def indented(scope: Scope, start: int, end: int) -> str:
    """Return the text of a range with every line but its first one step deeper."""
    return deeper(scope.text[start:end], scope.unit)


def deeper(text: str, by: str) -> str:
    """Return text with every line but its first indented further; blank lines stay."""
    first, *others = text.split("\n")
    return "\n".join([first, *(f"{by}{it}" if it.strip() else it for it in others)])


_OPPOSITE = {"<": ">=", ">=": "<", ">": "<=", "<=": ">", "==": "!=", "!=": "=="}


def negated(scope: Scope, head: tuple[int, int]) -> str:
    """Return the opposite of a condition: `row < M && col < N` for `row >= M || col >= N`, else `!(…)`."""
    typed = scope.text[slice(*head)]
    for statement in ir.walk(scope.subject.analysis.kernel.body):
        if isinstance(statement, ir.If) and as_typed(statement.condition.span, scope.subject.path):
            span = statement.condition.span
            if head[0] <= span.start and span.end <= head[1] and scope.source(span) == typed.strip():
                return _opposite(scope, statement.condition) or f"!({typed})"
    return f"!({typed})"


def _opposite(scope: Scope, value: ir.Expression) -> str | None:
    """Return what is true where a condition of integers is not; `None` for one that is not so plain."""
    while isinstance(value, ir.Convert):
        value = value.operand
    match value:
        case ir.Logical(op=ir.LogicalOp.OR, left=left, right=right):
            parts = [_opposite(scope, it) for it in (left, right)]
            return None if None in parts else " && ".join(it or "" for it in parts)
        case ir.Compare(op=op, left=left, right=right):
            if not all(isinstance(it.type, ScalarType) and it.type.is_integer for it in (left, right)):
                return None  # A number that is none is neither less nor not less.
            if not as_typed(value.span, scope.subject.path):
                return None
            texts = scope.source(value.span).split(op.value)
            if len(texts) != 2 or any("&" in it or "|" in it or "?" in it for it in texts):
                return None
            return f"{texts[0].strip()} {_OPPOSITE[op.value]} {texts[1].strip()}"
        case _:
            return None


def only_returns(scope: Scope, node: Node) -> bool:
    """True if an `if` does nothing but to leave the kernel."""
    text = scope.shown[node.children[0].start : node.children[0].end]
    return len(node.children) == 1 and "".join(text.split()) in ("return;", "{return;}")


def _harmless(scope: Scope, node: Node) -> bool:
    """True if all work-items may run a statement, those outside the guard too.

    It assigns variables: it neither reaches memory, private arrays included, nor loops, nor divides integers.
    """
    inside = [
        it
        for it in ir.walk(scope.subject.analysis.kernel.body)
        if it.span.path == scope.subject.path and node.holds(it.span.start, it.span.end)
    ]
    return all(
        isinstance(it, (ir.Assign, ir.Declare, ir.If, ir.Scope))
        and not any(_traps(value) for value in ir.expressions(it))
        for it in inside
    )


def _traps(value: ir.Expression) -> bool:
    return any(
        isinstance(it, ir.Binary)
        and it.op in (ir.BinaryOp.DIV, ir.BinaryOp.REM)
        and not getattr(it.type, "is_float", False)
        and not (isinstance(it.right, ir.Constant) and it.right.value)
        for it in ir.nodes(value)
    )

"""Names that authors give to an index inside of a loop: `const int at = row * n + k;` and then `a[at]`.

Who looks for the loop's counter in a subscript finds it where such a name is written out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from clmap_lsp.fixes.scope import as_typed
from clmap_lsp.fixes.unused import line_of
from clmap_lsp.source import ir
from clmap_lsp.source.types import ScalarType

if TYPE_CHECKING:
    from clmap_lsp.fixes.outline import Node
    from clmap_lsp.fixes.scope import Scope

_DECLARED = re.compile(
    r"(?:const\s+)?(?:unsigned\s+)?\w+\s+(?P<name>\w+)\s*=\s*(?P<value>[^=].*?)\s*;", re.DOTALL
)
_PLAIN = (ir.Read, ir.Constant, ir.Binary, ir.Convert, ir.WorkItem, ir.Unary)


def written_out(scope: Scope) -> Iterator[tuple[int, int, str]]:
    """Yield what replaces which range, so that loops subscript by what such names stand for."""
    for loop in ir.walk(scope.subject.analysis.kernel.body):
        if not isinstance(loop, ir.Loop) or not as_typed(loop.span, scope.subject.path):
            continue
        node = scope.node_at(loop.span)
        if node is None or not node.children or node.children[0].kind != "block":
            continue
        for statement in node.children[0].children:
            yield from _of(scope, loop, node.children[0], statement)


def _of(scope: Scope, loop: ir.Loop, body: Node, node: Node) -> Iterator[tuple[int, int, str]]:
    found = _DECLARED.fullmatch(scope.shown, node.start, node.end) if node.kind == "simple" else None
    if found is None or scope.source(node).count("\n") or not _stays(scope, loop, found["name"], node):
        return
    name, value = found["name"], scope.text[slice(*found.span("value"))]
    places = [it for it in scope.mentions(name) if node.end <= it < body.end]
    if len([it for it in scope.mentions(name) if body.start <= it < body.end]) != len(places) + 1:
        return
    alone = [(scope.shown[:it].rstrip()[-1:], scope.shown[it + len(name) :].lstrip()[:1]) for it in places]
    if ("[", "]") not in alone:
        return
    yield *line_of(scope, node), ""
    for it, around in zip(places, alone, strict=True):
        yield it, it + len(name), value if around == ("[", "]") else f"({value})"


def _stays(scope: Scope, loop: ir.Loop, name: str, node: Node) -> bool:
    """True if a variable of a loop's body is an integer that keeps the value it is declared with.

    And so do all that it is worked out from, until the next iteration.
    """
    statements = list(ir.walk(loop.body))
    own = [it.variable for it in statements if isinstance(it, ir.Declare) and it.variable.name == name]
    if len(own) != 1 or own[0].kind is not ir.VariableKind.REGISTER:
        return False
    changed = Counter(v for it in statements if (v := set_by(it)) is not None)
    sets = [it for it in statements if set_by(it) is own[0]]
    if len(sets) != 1 or not isinstance(sets[0], ir.Assign) or not node.holds(*_span(sets[0])):
        return False
    value = sets[0].value
    whole = (
        isinstance(value.type, ScalarType) and not value.type.is_float and not isinstance(value, ir.Convert)
    )
    return whole and all(
        isinstance(it, _PLAIN)
        and as_typed(it.span, scope.subject.path)
        and not (isinstance(it, ir.Read) and changed[it.variable])
        for it in ir.nodes(value)
    )


def set_by(statement: ir.Statement) -> ir.Variable | None:
    """Return the variable that a statement sets, be it a temporary one."""
    return None if isinstance(statement, ir.Declare) else getattr(statement, "variable", None)


def _span(statement: ir.Statement) -> tuple[int, int]:
    return statement.span.start, statement.span.end

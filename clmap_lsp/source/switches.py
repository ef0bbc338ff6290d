"""`switch`: its labels, and the jumps that one becomes whose labels stand inside of other statements.

`Switch` holds one block for each case. C lets a `case` stand anywhere below its switch, as in Duff's device;
such a switch becomes a `Switch` of jumps, and its body stands behind it with a label for each case.
Source: ISO/IEC 9899:1999, 6.8.1 and 6.8.4.2; ranges of cases are GNU's and clang's.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from clmap_lsp.source.constants import integer_value
from clmap_lsp.source.conversions import convert
from clmap_lsp.source.dialect import CASE_RANGE
from clmap_lsp.source.expressions import named_children
from clmap_lsp.source.ir import Block, Expression, Goto, Label, Severity, Switch, SwitchCase
from clmap_lsp.source.lowering import STATEMENTS, Lowering, handles
from clmap_lsp.source.types import INT, ScalarType

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_RANGE = 4096
"""Values of one `case a ... b`; the IR lists them."""

_BODIES = frozenset(
    {"if_statement", "else_clause", "for_statement", "while_statement", "do_statement", "labeled_statement"}
)


@handles(STATEMENTS, "switch_statement")
def _switch(low: Lowering, node: Node) -> None:
    parts = named_children(node)
    if len(parts) < 2:
        return
    value = low.scalar(parts[0])
    if not (isinstance(value.type, ScalarType) and value.type.is_integer and value.type.bits >= INT.bits):
        value = convert(value, INT)
    body = parts[1]
    items = [it for it in body.children if it.is_named] if body.type == "compound_statement" else [body]
    if _is_flat(items):
        low.emit(Switch(value, _cases(low, items, value), low.span(node)))
    else:
        _jumps(low, node, body, value)


def _is_flat(items: list[Node]) -> bool:
    """Tell whether every label of a switch stands directly in its body, and the body begins with one."""
    first = next((at for at, it in enumerate(items) if it.type == "case_statement"), len(items))
    if any(it.type != "declaration" for it in items[:first]):
        return False
    return not any(_labels_below(it, within=it.type == "case_statement") for it in items)


def _labels_below(node: Node, *, within: bool) -> bool:
    """Tell whether a label of the same switch stands below a node; `within`, its own cases do not count."""
    for child in node.children:
        if child.type == "case_statement":
            if not within or _labels_below(child, within=True):
                return True
        elif child.type != "switch_statement" and child.is_named and _labels_below(child, within=False):
            return True
    return False


# ------------------------------------------------------------------------------------------------- cases


def _cases(low: Lowering, items: list[Node], value: Expression) -> tuple[SwitchCase, ...]:
    cases: list[SwitchCase] = []
    with low.scope():
        for item in items:
            if item.type == "case_statement":
                _case(low, item, value, cases)
            elif cases:
                last = cases[-1]
                with low.nested() as out:
                    low.statement(item)
                cases[-1] = SwitchCase(last.values, last.is_default, (*last.body, *out))
            else:
                low.statement(item)
    return _merged(cases)


def _case(low: Lowering, node: Node, value: Expression, cases: list[SwitchCase]) -> None:
    values, is_default = _label(low, node, value)
    nested: list[SwitchCase] = []
    with low.nested() as out:
        for child in _labelled(node):
            if child.type == "case_statement":  # `case 1: case 2: ...` nests in some versions of the grammar
                _case(low, child, value, nested)
            else:
                low.statement(child)
    cases.append(SwitchCase(values, is_default, tuple(out)))
    cases.extend(nested)


def _labelled(node: Node) -> list[Node]:
    """Return what stands behind the colon of a `case_statement`."""
    children = node.children
    at = next((index for index, it in enumerate(children) if it.type == ":"), len(children) - 1)
    return children[at + 1 :]


def _label(low: Lowering, node: Node, value: Expression) -> tuple[tuple[int, ...], bool]:
    """Return the values of a label, and whether it is `default`."""
    children = node.children
    if children[0].type == "default" or len(children) < 2:
        return (), True
    label = children[1]
    ends = [label]
    if label.type == "call_expression" and low.text(label.children[0]) == CASE_RANGE:
        ends = named_children(label.children[-1])
    with low.nested():
        numbers = [integer_value(convert(low.scalar(it), value.type)) for it in ends]
    first, last = numbers[0], numbers[-1]
    if first is None or last is None:
        low.unsupported(label, "case label is not a constant")
        return (), False
    if last - first >= MAX_RANGE:
        low.unsupported(label, f"a range of more than {MAX_RANGE} cases")
        return (), False
    if last < first:
        message = f"the range of this case is empty: {first} is more than {last}"
        low.report("empty-range", Severity.WARNING, message, low.span(label))
    return tuple(range(first, last + 1)), False


def _merged(cases: list[SwitchCase]) -> tuple[SwitchCase, ...]:
    """Join `case 1: case 2:` into one case of two values."""
    merged: list[SwitchCase] = []
    for case in cases:
        if merged and not merged[-1].body:
            last = merged.pop()
            is_default = last.is_default or case.is_default
            merged.append(SwitchCase(last.values + case.values, is_default, case.body))
        else:
            merged.append(case)
    return tuple(merged)


# ------------------------------------------------------------------------------------------------- jumps


def _jumps(low: Lowering, node: Node, body: Node, value: Expression) -> None:
    """Jump to the label of the case, and behind the body where none fits."""
    span = low.span(node)
    end = _fresh_label(low)
    low.switch_ends[node.start_byte] = end
    cases: list[SwitchCase] = []
    for item in _own_cases(body):
        label = low.switch_labels[item.start_byte] = _fresh_label(low)
        values, is_default = _label(low, item, value)
        if values or is_default:
            jump: Block = (Goto(label, low.span(item.children[0])),)
            cases.append(SwitchCase(values, is_default, jump))
    if not any(it.is_default for it in cases):
        cases.append(SwitchCase((), True, (Goto(end, span),)))
    low.emit(Switch(value, tuple(cases), span))
    low.statement(body)
    low.emit(Label(end, span))


def _own_cases(node: Node) -> Iterator[Node]:
    """Yield the labels of a switch in the order of the text."""
    for child in node.children:
        if child.type == "case_statement":
            yield child
        if child.is_named and child.type != "switch_statement":
            yield from _own_cases(child)


def _fresh_label(low: Lowering) -> str:
    number = len(low.switch_ends) + len(low.switch_labels)
    name = f"clmap_case_{number}"
    low.labels.add(name)
    return name


@handles(STATEMENTS, "case_statement")
def _jump_target(low: Lowering, node: Node) -> None:
    """Lower a label that a jump leads to, and what follows it."""
    name = low.switch_labels.get(node.start_byte)
    if name is None:
        low.unsupported(node.children[0], "a case label outside switches")
    else:
        low.emit(Label(name, low.span(node.children[0])))
    following = [it for it in _labelled(node) if it.is_named]
    parent = node.parent
    if parent is not None and parent.type in _BODIES and len(following) > 1:
        # The grammar takes all that follows for the body of `if (x) case 1: a; b;`, where C takes `a;`.
        low.unsupported(following[1], "a statement behind a labelled body without braces")
        following = following[:1]
    for child in following:
        low.statement(child)

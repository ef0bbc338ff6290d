"""Declarations that a rewrite leaves without a use go with it, as an author would have them go."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from clmap_lsp.fixes.edits import OverlapError, apply
from clmap_lsp.fixes.outline import masked
from clmap_lsp.source import ir

if TYPE_CHECKING:
    from clmap_lsp.findings import Edit
    from clmap_lsp.fixes.model import Proposal
    from clmap_lsp.fixes.outline import Node
    from clmap_lsp.fixes.scope import Scope

_WORD = re.compile(r"[A-Za-z_]\w*")
_DEFINE = re.compile(r"^[ \t]*#[ \t]*define\b(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)
_DECLARED = re.compile(
    r"(?:(?:const|unsigned|signed)\s+)*[A-Za-z_]\w*\s+(?=[A-Za-z_]\w*\s*(?:[=;,]|$))(?P<variables>.*);",
    re.DOTALL,
)
_VARIABLE = re.compile(r"\s*([A-Za-z_]\w*)\s*(?:=(?!=).*)?", re.DOTALL)


def without_unused(scope: Scope, proposal: Proposal) -> Proposal:
    """Return a rewrite that removes the variables, too, of which only the declaration is left."""
    try:
        left = _words_after(scope, proposal)
    except OverlapError:
        return proposal  # It is rejected for that where it is verified.
    declared = list(_declarations(scope, proposal))
    removed: dict[int, Edit] = {}
    while True:
        found = [it for names, it in declared if it.start not in removed and _unused(scope, left, names, it)]
        if not found:
            break
        for node in found:
            removed[node.start] = scope.replaced(*_line_of(scope, node), "")
            left -= _words(scope, node)
    return replace(proposal, edits=(*proposal.edits, *removed.values())) if removed else proposal


def _words_after(scope: Scope, proposal: Proposal) -> Counter[str]:
    """Count the words of the kernel as rewritten."""
    span, path = scope.subject.analysis.span, scope.subject.path
    before = sum(_grown(it) for it in proposal.edits if it.span.path == path and it.span.end <= span.start)
    inside = sum(
        _grown(it) for it in proposal.edits if it.span.path == path and span.start < it.span.end <= span.end
    )
    text = masked(apply(scope.text, proposal.edits, path))
    return Counter(_WORD.findall(text[span.start + before : span.end + before + inside]))


def _grown(edit: Edit) -> int:
    return len(edit.text) - (edit.span.end - edit.span.start)


def _words(scope: Scope, node: Node) -> Counter[str]:
    return Counter(_WORD.findall(scope.shown[node.start : node.end]))


def _unused(scope: Scope, left: Counter[str], names: tuple[str, ...], node: Node) -> bool:
    """True if a declaration alone names its variables, which it was not before."""
    own = _words(scope, node)
    return all(left[it] == own[it] < len(scope.mentions(it)) for it in names)


def _declarations(scope: Scope, proposal: Proposal) -> Iterator[tuple[tuple[str, ...], Node]]:
    """Yield the variables of each declaration that does nothing besides, and that no edit touches."""
    in_macros = _named_by_macros(scope)
    for node in scope.body.walk():
        if node.kind != "simple" or any(_meets(it, *_line_of(scope, node)) for it in proposal.edits):
            continue
        found = _DECLARED.fullmatch(scope.shown[node.begins : node.end])
        variables = [] if found is None else [_VARIABLE.fullmatch(it) for it in _parts(found["variables"])]
        names = tuple(it[1] for it in variables if it is not None)
        if not names or len(names) < len(variables) or in_macros.intersection(names):
            continue
        if _is_pure(scope, node, names):
            yield names, node


def _named_by_macros(scope: Scope) -> frozenset[str]:
    texts = (it.text for it in scope.subject.program.files.values())
    return frozenset(word for text in texts for it in _DEFINE.findall(text) for word in _WORD.findall(it))


def _meets(edit: Edit, start: int, end: int) -> bool:
    return edit.span.start < end and start < max(edit.span.end, edit.span.start + 1)


def _parts(text: str) -> list[str]:
    """Return what commas outside of brackets separate."""
    parts, depth = [""], 0
    for char in text:
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(char, 0)
        if char == "," and not depth:
            parts.append("")
        else:
            parts[-1] += char
    return parts


def _is_pure(scope: Scope, node: Node, names: tuple[str, ...]) -> bool:
    """True if a statement does nothing but to give variables of its own a value."""
    return all(
        isinstance(it, ir.Declare)
        or (isinstance(it, ir.Assign) and (it.variable.is_temporary or it.variable.name in names))
        or (isinstance(it, ir.Load) and not it.is_volatile)
        for it in ir.walk(scope.subject.analysis.kernel.body)
        if it.span.path == scope.subject.path and node.holds(it.span.start, it.span.end)
    )


def _line_of(scope: Scope, node: Node) -> tuple[int, int]:
    """Return the range to remove with a statement: its lines, where nothing else stands on them."""
    start, end = scope.text.rfind("\n", 0, node.start) + 1, scope.line_end(node.end)
    end += len(scope.newline) if scope.text.startswith(scope.newline, end) else 0
    alone = not scope.text[start : node.start].strip() and scope.text[:end].endswith("\n")
    return (start, end) if alone else (node.start, node.end)

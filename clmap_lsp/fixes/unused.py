"""Declarations that a rewrite leaves without a use go with it, as an author would have them go."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING

from clmap_lsp.dataclass import dataclass
from clmap_lsp.fixes.edits import OverlapError, apply
from clmap_lsp.fixes.outline import masked, outline
from clmap_lsp.fixes.scope import EFFECT
from clmap_lsp.source import ir
from clmap_lsp.source.types import AddressSpace, PointerType

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
_VARIABLE = re.compile(r"\s*([A-Za-z_]\w*)\s*(?:=(?!=)(?P<value>.*))?", re.DOTALL)
_MACRO = re.compile(r"[ \t]*#[ \t]*define\s+(?P<name>[A-Za-z_]\w*)(?P<rest>.*)", re.DOTALL)
_MARKED = re.compile(r"\s*__attribute__")
_PARAMETERS = re.compile(r"\([^()]*\)")
_CALL = re.compile(r"\b([A-Za-z_]\w*+)\s*+\(")
_PURE = frozenset({"sizeof", "mul24", "mad24", "min", "max", "clamp", "get_work_dim", "get_num_groups"}) | {
    f"get_{which}_{what}"
    for which in ("global", "local", "group", "enqueued_local")
    for what in ("id", "size", "offset", "linear_id")
}
"""Built-in functions of which indices are made."""


def without_unused(scope: Scope, proposal: Proposal) -> Proposal:
    """Return a rewrite that removes the variables, too, of which only the declaration is left."""
    try:
        left = _words_after(scope, proposal)
    except OverlapError:
        return proposal  # It is rejected for that where it is verified.
    declared = list(_declarations(scope, proposal))
    idle: set[_Part] = set()
    while True:
        parts = (part for _, them in declared for part in them if part not in idle)
        found = next((it for it in parts if left[it.name] == it.words[it.name] < it.mentions), None)
        if found is None:
            break
        idle.add(found)
        left -= found.words
    removed = tuple(_without(scope, node, parts, idle) for node, parts in declared if idle & {*parts})
    added = (*removed, *_left_to_the_host(scope, proposal, left))
    return replace(proposal, edits=(*proposal.edits, *added)) if added else proposal


def _left_to_the_host(scope: Scope, proposal: Proposal, left: Counter[str]) -> Iterator[Edit]:
    """Yield what marks local memory that has no use left; without it the host's other arguments move."""
    for it in scope.subject.analysis.kernel.parameters:
        is_local = isinstance(it.type, PointerType) and it.type.space is AddressSpace.LOCAL
        if not is_local or it.span.path != scope.subject.path or it.span.definition is not None:
            continue
        at = it.span.end
        is_left = left[it.name] == 1 < len(scope.mentions(it.name))
        is_edited = any(edit.span.start <= at <= edit.span.end for edit in proposal.edits)
        if is_left and not is_edited and not _MARKED.match(scope.shown, at):
            yield scope.replaced(at, at, " __attribute__((unused))")


@dataclass(frozen=True, slots=True)
class _Part:
    """One variable of a declaration, with its value."""

    name: str
    start: int
    end: int
    words: Counter[str] = field(compare=False)
    mentions: int
    """In the kernel as typed."""


def _without(scope: Scope, node: Node, parts: Sequence[_Part], idle: set[_Part]) -> Edit:
    """Return the edit that takes variables out of a declaration, all of it where none is left."""
    kept = [it for it in parts if it not in idle]
    if not kept:
        return scope.replaced(*line_of(scope, node), "")
    text = ",".join(scope.text[it.start : it.end] for it in kept).strip()
    return scope.replaced(parts[0].start, parts[-1].end, text)


def pruned(scope: Scope, text: str) -> str:
    """Return a body that a rewrite spells anew without the variables that nothing in it names any more.

    Args:
        text: the statements between the kernel's braces. Where they have no clear structure they come back
            as they are.
    """
    kept = named_by_macros(scope)
    impure = _impure_macros(scope)
    opening = "(){"
    while True:
        whole = f"{opening}{text}\n}}"
        shown = masked(whole)
        body = outline(shown, 0, len(shown))
        if body is None:
            return text
        found = next(
            (
                (node, rest)
                for block in body.walk()
                if block.kind == "block"
                for node in block.children
                if (rest := _rest(scope, (whole, shown), block, node, kept, impure)) is not None
            ),
            None,
        )
        if found is None:
            return text
        node, rest = found
        start, end = (node.start, node.end) if rest else _whole_lines(whole, shown, node, len(opening))
        text = (whole[len(opening) : start] + rest + whole[end:-2]).lstrip(" \t\r\n")


def _rest(
    scope: Scope,
    texts: tuple[str, str],
    block: Node,
    node: Node,
    kept: frozenset[str],
    impure: frozenset[str],
) -> str | None:
    """Return what is left of a declaration without its unused variables; `None` where all have a use."""
    whole, shown = texts
    found = _DECLARED.fullmatch(shown[node.start : node.end]) if node.kind == "simple" else None
    parts = [] if found is None else comma_parts(found["variables"])
    variables = [it for it in map(_VARIABLE.fullmatch, parts) if it is not None]
    if found is None or len(variables) < len(parts):
        return None
    around = Counter(_WORD.findall(shown[block.start : block.end]))
    macros = _macro_names(scope)
    typed, at = [], node.start + found.start("variables")
    for part in parts:  # What stands in quotes is blank in the text that is shown.
        typed.append(whole[at : at + len(part)])
        at += len(part) + 1
    used = [
        part
        for part, it in zip(typed, variables, strict=True)
        if around[it[1]] > 1
        or len(scope.mentions(it[1])) == 1  # The author's own.
        or it[1] in kept
        or _has_effect(it["value"] or "", macros, impure)
    ]
    if len(used) == len(parts):
        return None
    return f"{found[0][: found.start('variables')]}{','.join(used).strip()};" if used else ""


def _has_effect(text: str, macros: frozenset[str], impure: frozenset[str]) -> bool:
    """True if an expression may do more than have a value."""
    words = set(_WORD.findall(text))
    return (
        EFFECT.search(text) is not None
        or bool(words & impure)
        or not set(_CALL.findall(text)) <= _PURE | macros
    )


def _macros(scope: Scope) -> list[tuple[str, str]]:
    texts = [found for it in scope.subject.texts.values() for found in _DEFINE.findall(it)]
    found = [(it["name"], masked(it["rest"])) for it in map(_MACRO.match, texts) if it is not None]
    return [*found, *((name, str(value or "")) for name, value in scope.subject.options.defines)]


def _macro_names(scope: Scope) -> frozenset[str]:
    return frozenset(name for name, _ in _macros(scope))


def _impure_macros(scope: Scope) -> frozenset[str]:
    """Return the macros that may do more than have a value, by themselves or by others."""
    macros, names = _macros(scope), _macro_names(scope)
    impure: frozenset[str] = frozenset()
    while True:
        found = frozenset(name for name, text in macros if _has_effect(text, names, impure))
        if found == impure:
            return impure
        impure = found


def _whole_lines(text: str, shown: str, node: Node, first: int) -> tuple[int, int]:
    """Return the range of a statement with its lines, where nothing else stands on them."""
    start = max(text.rfind("\n", 0, node.start) + 1, first)
    end = text.index("\n", node.end) + 1
    behind = text[node.end : end]
    alone = not text[start : node.start].strip() and not shown[node.end : end].strip()
    is_closed = behind.count("/*") <= behind.count("*/")
    return (start, min(end, len(text) - 2)) if alone and is_closed else (node.start, node.end)


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


def _declarations(scope: Scope, proposal: Proposal) -> Iterator[tuple[Node, tuple[_Part, ...]]]:
    """Yield the variables of each declaration that does nothing besides, and that no edit touches."""
    in_macros = named_by_macros(scope)
    for node in scope.body.walk():
        if node.kind != "simple" or any(_meets(it, *line_of(scope, node)) for it in proposal.edits):
            continue
        parts = tuple(_parts(scope, node))
        names = tuple(it.name for it in parts)
        if names and not in_macros.intersection(names) and _is_pure(scope, node, names):
            yield node, parts


def _parts(scope: Scope, node: Node) -> Iterator[_Part]:
    """Yield the variables of a declaration; none of any other statement."""
    found = _DECLARED.fullmatch(scope.shown[node.begins : node.end])
    texts = [] if found is None else comma_parts(found["variables"])
    variables = [_VARIABLE.fullmatch(it) for it in texts]
    if found is None or None in variables:
        return
    at = node.begins + found.start("variables")
    for text, variable in zip(texts, variables, strict=True):
        assert variable is not None, "each was looked at"
        name = variable[1]
        yield _Part(name, at, at + len(text), Counter(_WORD.findall(text)), len(scope.mentions(name)))
        at += len(text) + 1


def named_by_macros(scope: Scope) -> frozenset[str]:
    """Return what macros name besides their own parameters: a use of the macro may be a use of it."""
    named: set[str] = set()
    for name, text in _macros(scope):
        own = _PARAMETERS.match(text)
        named |= {name, *_WORD.findall(text)} - set(_WORD.findall(own[0]) if own else ())
    return frozenset(named)


def _meets(edit: Edit, start: int, end: int) -> bool:
    return edit.span.start < end and start < max(edit.span.end, edit.span.start + 1)


def comma_parts(text: str) -> list[str]:
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


def line_of(scope: Scope, node: Node) -> tuple[int, int]:
    """Return the range to remove with a statement: its lines, where nothing else stands on them."""
    start, end = scope.text.rfind("\n", 0, node.start) + 1, scope.line_end(node.end)
    end += len(scope.newline) if scope.text.startswith(scope.newline, end) else 0
    alone = not scope.text[start : node.start].strip() and scope.text[:end].endswith("\n")
    return (start, end) if alone else (node.start, node.end)

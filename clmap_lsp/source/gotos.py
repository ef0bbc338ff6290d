"""`goto` as structured statements, where its label allows.

A jump forward to a label of the same block or of one around it leaves a `Scope` that ends at the label; jumps
back to such a label make a `Loop`. Jumps into other blocks, and loops that a `break` of a loop around them
leaves, stay `Goto` and `Label`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import field

from clmap_lsp.dataclass import dataclass
from clmap_lsp.source.ir import (
    Block,
    Break,
    Continue,
    Goto,
    If,
    Label,
    Leave,
    Loop,
    Scope,
    Statement,
    Switch,
    SwitchCase,
    blocks,
    walk,
)
from clmap_lsp.source.nesting import MAX_NESTING, nesting_of
from clmap_lsp.source.rewrite import Rewriter
from clmap_lsp.source.span import Span

MAX_LABELS = 64
"""Of one block; with more it stays as it is. Each may become a scope around all that stands before it."""


def structured(body: Block) -> Block:
    """Return the body of a kernel, with scopes and loops in place of the jumps that they can stand for."""
    if not any(isinstance(it, Label) for it in walk(body)):
        return body
    labels = [it.label for it in walk(body) if isinstance(it, Scope)]
    jumps = Counter(it.name for it in walk(body) if isinstance(it, Goto))
    work = _Structuring(jumps, max(labels, default=0))
    made = work.block(body).statements
    return _Leaving(work.names).block(made) if nesting_of(made).depth <= MAX_NESTING else body


@dataclass(slots=True)
class _Row:
    """Statements of one block in their order, each with the jumps out of it that are still open."""

    statements: Block
    jumps: Counter[str]


@dataclass(slots=True)
class _Open:
    """A label that jumps from behind lead to."""

    label: Label
    at: int
    """How many statements of the block stand before it."""
    missing: int
    """The jumps that are still to come."""


@dataclass(slots=True)
class _Structuring:
    jumps: Mapping[str, int]
    """All of the kernel, by label."""
    n_labels: int
    names: dict[int, str] = field(default_factory=dict)
    """The goto label that each new scope stands for."""

    def block(self, block: Block) -> _Row:
        """Structure a block, the blocks inside it first."""
        rows = [self._inside(it) for it in block]
        n_labels = sum(isinstance(it, Label) for it in block)
        if not 0 < n_labels <= MAX_LABELS:
            return _joined(rows)
        after = _joined(rows).jumps
        out: list[_Row] = []
        waiting: list[_Open] = []
        for row in rows:
            after.subtract(row.jumps)
            statement = row.statements[0]
            if isinstance(statement, Label):
                self._label(statement, after[statement.name], out, waiting)
                continue
            out.append(row)
            for it in waiting:
                it.missing -= row.jumps[it.label.name]
            while waiting and not waiting[-1].missing:
                self._close(waiting.pop(), out)
        return _joined(out)

    def _inside(self, statement: Statement) -> _Row:
        """Structure the blocks inside a statement."""
        if isinstance(statement, Goto):
            return _Row((statement,), Counter((statement.name,)))
        found = [self.block(it) for it in blocks(statement)]
        return _Row((_with_blocks(statement, [it.statements for it in found]),), _joined(found).jumps)

    def _label(self, label: Label, after: int, out: list[_Row], waiting: list[_Open]) -> None:
        name = label.name
        before = [at for at, it in enumerate(out) if it.jumps[name]]
        if sum(out[at].jumps[name] for at in before) + after != self.jumps.get(name, 0):
            out.append(_Row((label,), Counter()))  # Somebody jumps here from another block.
            return
        if before:
            first = before[0]
            while waiting and waiting[-1].at > first:
                self._give_up(waiting.pop(), out)
            self._wrap(out, first, name, label.span)
        if after:
            waiting.append(_Open(label, len(out), after))

    def _close(self, head: _Open, out: list[_Row]) -> None:
        """Make a loop of all behind a label, whose last jump is there."""
        inside = _joined(out[head.at :])
        name, span = head.label.name, head.label.span
        if _leaves_loop(inside.statements):
            self._give_up(head, out)
            return
        del out[head.at :]
        match inside.statements[-1]:
            case If(condition=condition, then=(Goto(name=to),), otherwise=()) if (
                to == name and inside.jumps[name] == 1
            ):
                loop = Loop((), condition, inside.statements[:-1], (), False, span)
                out.append(_Row((loop,), inside.jumps))
                self._wrap(out, head.at, name, span)
            case last:
                end = () if isinstance(last, Goto) else (Break(span),)
                out.append(_Row((*inside.statements, *end), inside.jumps))
                self._wrap(out, head.at, name, span)
                turn = out.pop()
                out.append(_Row((Loop((), None, turn.statements, (), True, span),), turn.jumps))

    def _wrap(self, out: list[_Row], first: int, name: str, span: Span) -> None:
        """Put all from a statement on into a scope that jumps to a label leave."""
        inside = _joined(out[first:])
        self.n_labels += 1
        self.names[self.n_labels] = name
        jumps = Counter({it: n for it, n in inside.jumps.items() if it != name})
        out[first:] = [_Row((Scope(self.n_labels, inside.statements, "", span),), jumps)]

    def _give_up(self, head: _Open, out: list[_Row]) -> None:
        """Leave a label where it stands."""
        out.insert(head.at, _Row((head.label,), Counter()))


def _joined(rows: list[_Row]) -> _Row:
    jumps = Counter[str]()
    for it in rows:
        jumps.update(it.jumps)
    return _Row(tuple(it for row in rows for it in row.statements), jumps)


def _with_blocks(statement: Statement, parts: list[Block]) -> Statement:
    """Return a statement with other blocks inside it, in the order of `blocks`."""
    match statement:
        case If(condition=condition, span=span):
            return If(condition, parts[0], parts[1], span)
        case Loop(condition=condition, tests_first=first, span=span, unroll=unroll):
            return Loop(parts[0], condition, parts[1], parts[2], first, span, unroll)
        case Switch(value=value, cases=cases, span=span):
            made = (SwitchCase(it.values, it.is_default, to) for it, to in zip(cases, parts, strict=True))
            return Switch(value, tuple(made), span)
        case Scope(label=label, function=function, span=span):
            return Scope(label, parts[0], function, span)
        case _:
            return statement


def _leaves_loop(block: Block, *, in_switch: bool = False) -> bool:
    """Tell whether a `break` or `continue` belongs to a statement around a block."""
    for it in block:
        match it:
            case Break():
                if not in_switch:
                    return True
            case Continue():
                return True
            case Loop():
                pass
            case _:
                inside = in_switch or isinstance(it, Switch)
                if any(_leaves_loop(part, in_switch=inside) for part in blocks(it)):
                    return True
    return False


class _Leaving(Rewriter):
    """Lets jumps leave the innermost new scope around them that stands for their label."""

    def __init__(self, names: Mapping[int, str]) -> None:
        self.names = names
        self.around: dict[str, int] = {}

    def statement(self, statement: Statement) -> Statement:
        match statement:
            case Scope(label=label) if label in self.names:
                outer = self.around
                self.around = {**outer, self.names[label]: label}
                made = super().statement(statement)
                self.around = outer
                return made
            case Goto(name=name, span=span) if name in self.around:
                return Leave(self.around[name], span)
            case _:
                return super().statement(statement)

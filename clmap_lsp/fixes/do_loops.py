"""`do` loops written as `while` loops, where their test is known to be true before the first iteration.

    do { s += a[k]; k++; } while (k < n);       while (k < n) { s += a[k]; k++; }
    do { s += a[k]; } while (++k < n);          while (k < n) { s += a[k]; k++; }

Where the launch decides whether `k < n` holds at first, that is assumed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from clmap_lsp.access.polynomial import ONE, LoopSymbol, Op, Operation, Polynomial, varies_in_launch
from clmap_lsp.fixes import facts
from clmap_lsp.fixes.assumptions import positive
from clmap_lsp.fixes.index_names import set_by
from clmap_lsp.fixes.plain_loops import PlainLoop
from clmap_lsp.fixes.scope import as_typed, spelt
from clmap_lsp.source import ir

if TYPE_CHECKING:
    from clmap_lsp.fixes.assumptions import Assumption
    from clmap_lsp.fixes.outline import Node
    from clmap_lsp.fixes.scope import Scope

_NAME = r"[A-Za-z_]\w*"
_TEST = re.compile(
    rf"\s*(?:(?P<stepped>\+\+\s*)?(?P<name>{_NAME})\s*(?:<=?|!=)|(?P<low>(?!\+\+)[\w\s*+()-]*?\w|\))\s*>=?)"
    rf"\s*(?P<rest>[\w\s*+()-]+?)\s*",
)
"""`k < n`, `k <= n - 1`, `k != n`, `++k < n`; `n > k`."""
_LAST_STEP = re.compile(rf"\s*(?:({_NAME})\s*\+\+|\+\+\s*({_NAME})|({_NAME})\s*\+=\s*1)\s*;?\s*")


def while_loops(scope: Scope) -> Iterator[PlainLoop]:
    """Yield what makes a `while` of each `do` that counts up by 1 to a bound."""
    for loop in ir.walk(scope.subject.analysis.kernel.body):
        if not isinstance(loop, ir.Loop) or loop.tests_first or not as_typed(loop.span, scope.subject.path):
            continue
        node, symbol = scope.node_at(loop.span), _symbol(scope, loop)
        if node is None or node.kind != "do" or node.head is None or symbol is None:
            continue
        found = _while(scope, loop, node, symbol)
        if found is not None:
            yield found


def _symbol(scope: Scope, loop: ir.Loop) -> LoopSymbol | None:
    found = (it for access in facts.accesses(scope.subject.analysis) for it in access.loops)
    return next((it for it in found if it.span == loop.span), None)


def _while(scope: Scope, loop: ir.Loop, node: Node, symbol: LoopSymbol) -> PlainLoop | None:
    assert node.head is not None, "a do loop has a test"
    test = scope.shown[slice(*node.head)]
    found, body = _TEST.fullmatch(test), node.children[0]
    assumed = _true_at_first(symbol)
    if found is None or assumed is None or body.kind != "block":
        return None
    name = found["name"] or found["rest"].strip()
    bound = found["rest"] if found["name"] else found["low"]
    if name != symbol.name or not _is_counter(scope, loop, node, name, set(re.findall(_NAME, bound))):
        return None
    leaves = any(isinstance(it, (ir.Continue, ir.Break)) for it in ir.walk(loop.body))
    last = body.children[-1] if body.children else None
    step = None if last is None else _LAST_STEP.fullmatch(scope.shown[last.begins : last.end])
    closing = body.end - 1
    edits = [(node.begins, node.begins + len("do"), f"while ({test.strip()})"), (body.end, node.end, "")]
    if found["stepped"]:
        if leaves:
            return None  # `continue` steps, too.
        edits[0] = (*edits[0][:2], f"while ({test.replace('++', '', 1).strip()})")
        edits.insert(1, (closing, closing, _last_line(scope, body, f"{name}++;")))
    elif step is None or name not in step.groups() or leaves:
        return None
    return PlainLoop(tuple(edits), False, assumed)


def _true_at_first(symbol: LoopSymbol) -> tuple[Assumption, ...] | None:
    """Return what must hold for a test to be true before the first turn; `None` where no launch can say."""
    trip, start = symbol.trip, symbol.start
    usable = symbol.step is not None and symbol.step.value == 1 and not symbol.exits_early
    if trip is None or start is None or not usable or trip == ONE:
        return None
    atom = trip.atom
    if not isinstance(atom, Operation) or atom.op is not Op.MAX:
        return ()  # Its turns are known to be more than none.
    if ONE not in atom.operands:
        return None
    (turns,) = (it for it in atom.operands if it != ONE)
    if varies_in_launch(turns) or any(isinstance(it, LoopSymbol) for it in turns.leaves):
        return None
    text = _in_words(turns)
    return None if text is None else (positive(turns, text),)


def _in_words(turns: Polynomial) -> str | None:
    text = spelt(turns, {})
    return None if text is None else f"{text} > 0"


def _is_counter(scope: Scope, loop: ir.Loop, node: Node, name: str, bound: set[str]) -> bool:
    """True if a loop steps its counter once, does not change its bound, and no macro mentions either."""
    sets = [v for it in ir.walk((*loop.test, *loop.body, *loop.step)) if (v := set_by(it)) is not None]
    names = [it.name for it in sets if isinstance(it, ir.Variable) and not it.is_temporary]
    taken = any(scope.shown[:it].rstrip().endswith("&") for it in scope.mentions(name))
    hidden = scope.hidden(loop)
    return (
        names.count(name) == 1
        and not bound & {*names, name}
        and not ({name} | bound) & hidden
        and not taken
        and not any("volatile" in str(it) for it in sets)
        and node.behind is None
    )


def _last_line(scope: Scope, body: Node, text: str) -> str:
    """Return a statement before a block's closing brace, on a line of its own where the brace has one."""
    closing = body.end - 1
    indent = scope.indent(closing)
    if scope.text[:closing].endswith("\n" + indent):
        return f"{scope.unit}{text}{scope.newline}{indent}"
    return f"{text} "

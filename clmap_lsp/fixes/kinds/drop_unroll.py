"""Take away how often a loop is to be unrolled, where the compiler by itself has more loads under way.

The number in `#pragma unroll N` and `opencl_unroll_hint(N)` is an upper bound, too: with few SIMD groups,
loops that wait for memory run at a ninth (1) to two thirds (8) of the speed that NVIDIA compilers give them
without.
Whether a loop does is a matter of time. Hints without a number ask for complete unrolling, and stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from clmap_lsp.fixes.model import Proposal
from clmap_lsp.fixes.scope import Scope

if TYPE_CHECKING:
    from clmap_lsp.fixes.model import Subject
    from clmap_lsp.fixes.outline import Node

KIND = "drop-unroll"
NEEDS = "a loop with a hint that says how often to unroll it"
_LINE = re.compile(r"(?<![ \t])[ \t]*+#[ \t]*pragma[ \t]+(?:GCC[ \t]+)?unroll[ \t(]+(\d+)[ \t)]*(?:\r?\n|$)")
_ATTRIBUTE = re.compile(
    r"__attribute__\s*\(\(\s*(?:__)?opencl_unroll_hint(?:__)?\s*\(\s*(\d+)\s*\)\s*\)\)\s*"
)


def propose(subject: Subject) -> Iterator[Proposal]:
    """Yield a rewrite for each hint, and one that takes all away."""
    scope = Scope.of(subject)
    if scope is None:
        return
    found = [(it, hint) for it in scope.body.walk() for hint in _hints(scope, it)]
    for node, hint in found:
        line = scope.text.count("\n", 0, node.begins) + 1
        yield _without(scope, f"Leave unrolling the loop of line {line} to the compiler", [hint])
    if len(found) > 1:
        yield _without(scope, "Leave unrolling loops to the compiler", [hint for _, hint in found])


def _without(scope: Scope, title: str, hints: list[tuple[int, int]]) -> Proposal:
    edits = tuple(scope.replaced(start, end, "") for start, end in hints)
    return Proposal(KIND, title, edits, lowers_traffic=False, by_time=True)


def _hints(scope: Scope, node: Node) -> Iterator[tuple[int, int]]:
    """Yield where the hints before a statement stand, a pragma with its line."""
    start = scope.text.rfind("\n", 0, node.start) + 1
    for pattern, first in ((_LINE, start), (_ATTRIBUTE, node.start)):
        for it in pattern.finditer(scope.shown, first, node.begins):
            yield it.span()

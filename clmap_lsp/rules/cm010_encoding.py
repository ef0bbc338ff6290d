"""A file whose bytes are not UTF-8.

## What it does

Names the first byte of a kernel file that is not UTF-8. Each byte is then read as one character.

## Why is this bad?

Mostly it is not: such bytes stand in comments, as the sign of a copyright or a name, and compilers pass over
them. In a string or a name they mean something else to each reader, and columns behind them may differ
between editors.

## Example

A file saved as Latin-1 with `(c)` as one byte, 0xA9, in its first comment.

## Use instead

The same file saved as UTF-8.
"""

from __future__ import annotations

from collections.abc import Iterator

from clmap_lsp.findings import Finding, Severity
from clmap_lsp.rules.context import RuleContext, from_problem
from clmap_lsp.rules.meta import RuleMeta, Scope

RULE = RuleMeta("CM010", "not-utf-8", Severity.INFORMATION, problems=("encoding",), scope=Scope.FILE)


def check(context: RuleContext) -> Iterator[Finding]:
    """Yield the first byte that is not UTF-8."""
    yield from (from_problem(RULE, it) for it in context.problems(RULE))

"""A value that loses part of itself where it is converted without a word.

## What it does

Shows where a floating-point number becomes an integer, `double` becomes `float`, or an integer one of fewer
bits, and nobody wrote a conversion. Not shown: sizes and numbers of work-items that become `int`, values that
are known to fit, and constants that stay what they are.

## Why is this bad?

The fraction, the precision or the upper bits are lost. And `0.5 * x` computes with `double`, which most GPUs
do at a small part of their speed and some not at all, before the result becomes `float` again: the edit
writes such constants as `float`.

## Example

```c
__kernel void halve(__global float *values)
{
    values[get_global_id(0)] = 0.5 * values[get_global_id(0)];
}
```

## Use instead

```c
__kernel void halve(__global float *values)
{
    values[get_global_id(0)] = 0.5f * values[get_global_id(0)];
}
```
"""

from __future__ import annotations

from collections.abc import Iterator

from clmap_lsp.findings import Finding, Severity
from clmap_lsp.rules.context import RuleContext, from_issue
from clmap_lsp.rules.meta import Needs, RuleMeta, Scope

RULE = RuleMeta("CM016", "implicit-narrowing", Severity.HINT, scope=Scope.FILE, needs=Needs.INDEX)


def check(context: RuleContext) -> Iterator[Finding]:
    """Yield the conversions of the file itself."""
    if context.index is not None:
        for it in context.index.issues:
            if it.issue.code == "narrowing" and it.span.path == context.program.path:
                yield from_issue(RULE, context.index, it)

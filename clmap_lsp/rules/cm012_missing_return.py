"""A function that may end without the value that it promises.

## What it does

Reports a function with a result whose end can be reached without a `return`.

## Why is this bad?

The caller gets whatever stood in a register. Compilers only warn of it.

## Example

```c
float side(float x)
{
    if (x > 0.0f)
        return 1.0f;
}

__kernel void sides(__global float *values)
{
    values[get_global_id(0)] = side(values[get_global_id(0)]);
}
```

## Use instead

```c
float side(float x)
{
    if (x > 0.0f)
        return 1.0f;
    return -1.0f;
}

__kernel void sides(__global float *values)
{
    values[get_global_id(0)] = side(values[get_global_id(0)]);
}
```
"""

from __future__ import annotations

from collections.abc import Iterator

from clmap_lsp.findings import Finding, Severity
from clmap_lsp.rules.context import RuleContext, from_issue
from clmap_lsp.rules.meta import Needs, RuleMeta, Scope

RULE = RuleMeta("CM012", "missing-return", Severity.WARNING, scope=Scope.FILE, needs=Needs.INDEX)


def check(context: RuleContext) -> Iterator[Finding]:
    """Yield the functions whose end can be reached."""
    if any(it.code == "template-text" for it in context.program.problems):
        return  # What a host program fills in may return.
    if context.index is not None:
        for it in context.index.issues:
            if it.issue.code == "missing-return":
                yield from_issue(RULE, context.index, it)

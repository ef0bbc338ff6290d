"""A variable or parameter that nothing reads.

## What it does

Shows variables that are never read, and parameters that are never used, faintly.

## Why is this bad?

It is often a rest of an earlier version, or the sign that another variable is read in its place.

## Example

```c
__kernel void fill(__global float *values, float value)
{
    float scaled = 2.0f * value;
    values[get_global_id(0)] = value;
}
```

## Use instead

```c
__kernel void fill(__global float *values, float value)
{
    values[get_global_id(0)] = value;
}
```
"""

from __future__ import annotations

from collections.abc import Iterator

from clmap_lsp.findings import Finding, Severity
from clmap_lsp.rules.context import RuleContext, from_issue
from clmap_lsp.rules.meta import Needs, RuleMeta, Scope

RULE = RuleMeta("CM013", "unused-variable", Severity.HINT, scope=Scope.FILE, needs=Needs.INDEX)


def check(context: RuleContext) -> Iterator[Finding]:
    """Yield what is declared and not used in the file itself; headers are for others too."""
    if context.index is not None:
        for it in context.index.issues:
            if it.issue.code == "unused" and it.span.path == context.program.path:
                yield from_issue(RULE, context.index, it, unnecessary=True)

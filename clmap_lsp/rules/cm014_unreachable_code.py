"""Code that control never comes to.

## What it does

Shows statements behind a `return`, `break`, `continue` or `goto` in the same block, faintly.

## Why is this bad?

It does nothing, and it reads as if it did.

## Example

```c
__kernel void fill(__global float *values, float value)
{
    values[get_global_id(0)] = value;
    return;
    values[0] = 0.0f;
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
from clmap_lsp.rules.causes import is_beyond_c
from clmap_lsp.rules.context import RuleContext, from_issue
from clmap_lsp.rules.meta import Needs, RuleMeta, Scope

RULE = RuleMeta("CM014", "unreachable-code", Severity.HINT, scope=Scope.FILE, needs=Needs.INDEX)


def check(context: RuleContext) -> Iterator[Finding]:
    """Yield the first statement of each stretch that is never reached."""
    if context.index is not None and not is_beyond_c(context.program):  # A lambda returns to its function.
        for it in context.index.issues:
            if it.issue.code == "unreachable" and it.span.path == context.program.path:
                yield from_issue(RULE, context.index, it, unnecessary=True)

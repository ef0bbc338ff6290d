"""A name that nothing defines.

## What it does

Reports a name that neither the file, its includes nor the build options define. The message says what was
taken in its place so that analysis could go on.

## Why is this bad?

The program does not compile as it stands. Most often the host defines the name with `-D` when it builds the
program: tell clmap-lsp the same, with `-D NAME=VALUE` or with `defines` in the `[build]` table of
`clmap.toml`, and the figures hold for what really runs.

## Example

```c
__kernel void fill(__global float *x)
{
    x[get_global_id(0) * STRIDE] = 0.0f;
}
```

## Use instead

```c
#ifndef STRIDE
#define STRIDE 1
#endif

__kernel void fill(__global float *x)
{
    x[get_global_id(0) * STRIDE] = 0.0f;
}
```
"""

from __future__ import annotations

from collections.abc import Iterator

from clmap_lsp.findings import Finding, Severity
from clmap_lsp.rules.context import RuleContext, from_problem
from clmap_lsp.rules.meta import RuleMeta, Scope

RULE = RuleMeta("CM003", "undefined-name", Severity.WARNING, problems=("undefined-name",), scope=Scope.FILE)


def check(context: RuleContext) -> Iterator[Finding]:
    """Yield the names that had to be guessed."""
    yield from (from_problem(RULE, it) for it in context.problems(RULE))

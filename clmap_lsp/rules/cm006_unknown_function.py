"""A call of a function that is not known.

## What it does

Reports calls of functions that neither the program nor OpenCL C defines, and calls that cannot be followed,
such as recursion.

## Why is this bad?

What the function reads, writes and returns is unknown. Accesses whose index depends on its result are
analysed as far as possible and called unknown otherwise. It is information only: the function may well be
in another source of the same program.

## Example

```c
__kernel void f(__global float *x)
{
    x[get_global_id(0)] = frobnicate(x[get_global_id(0)]);
}
```

## Use instead

```c
float frobnicate(float value) { return value * value + 1.0f; }

__kernel void f(__global float *x)
{
    x[get_global_id(0)] = frobnicate(x[get_global_id(0)]);
}
```
"""

from __future__ import annotations

from collections.abc import Iterator

from clmap_lsp.findings import Finding, Severity
from clmap_lsp.rules.causes import hides_its_names
from clmap_lsp.rules.context import RuleContext, from_problem
from clmap_lsp.rules.meta import RuleMeta, Scope

RULE = RuleMeta(
    "CM006",
    "unknown-function",
    Severity.HINT,
    problems=("unknown-function", "recursion"),
    scope=Scope.FILE,
)


def check(context: RuleContext) -> Iterator[Finding]:
    """Yield the calls that cannot be followed."""
    hidden = hides_its_names(context.program)
    for it in context.problems(RULE):
        if not (hidden and it.code == "unknown-function"):
            yield from_problem(RULE, it)

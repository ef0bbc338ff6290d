"""Code that conditional compilation leaves out.

## What it does

Marks the text that `#if`, `#ifdef` and their like leave out with the build options in use. Editors show it
faded; headless reports leave it out unless hints are asked for.

## Why is this bad?

It is not; but nothing is said about that code, and a macro that is missing from the configuration shows
itself this way.

## Example

```c
__kernel void scale(__global float *x)
{
#ifdef DOUBLE_IT
    x[get_global_id(0)] *= 2.0f;
#endif
}
```

## Use instead

```c
#define DOUBLE_IT
__kernel void scale(__global float *x)
{
#ifdef DOUBLE_IT
    x[get_global_id(0)] *= 2.0f;
#endif
}
```
"""

from __future__ import annotations

from collections.abc import Iterator

from clmap_lsp.findings import Finding, Severity
from clmap_lsp.rules.context import RuleContext
from clmap_lsp.rules.meta import RuleMeta, Scope

RULE = RuleMeta("CM005", "inactive-code", Severity.HINT, scope=Scope.FILE)


def check(context: RuleContext) -> Iterator[Finding]:
    """Yield the inactive regions of the file itself; those of headers are theirs."""
    for span in context.program.inactive:
        if span.path == context.program.path:
            yield RULE.finding(
                span, "left out by the preprocessor with these build options", unnecessary=True
            )

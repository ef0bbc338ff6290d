"""Names that nothing defines.

## What it does

Reports the names that neither the file, its includes nor the build options define: one finding a file, at the
first of them. The message says what was taken in their place so that analysis could go on, and ends with a
line for `clmap.toml` that defines them. It is a hint: the host most likely defines them. `check` says below
the findings how many names were guessed, and which of them are types, as all figures rest on how large these
are; with `--hints` it tells of types once, in the first file that uses one, with the names of all files.
Nothing is reported where an include is missing (CM002), the build decides on an `#error`, or the text is a
template: that is the cause then.

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
from clmap_lsp.rules.causes import about_names, hides_its_names, undefined_names
from clmap_lsp.rules.context import RuleContext
from clmap_lsp.rules.meta import RuleMeta, Scope

_TYPES = frozenset(("type", "vector type"))
"""What decides how large elements are, and so every figure of theirs."""
RULE = RuleMeta("CM003", "undefined-name", Severity.HINT, problems=("undefined-name",), scope=Scope.FILE)


def check(context: RuleContext) -> Iterator[Finding]:
    """Yield one finding about all names of a file that had to be guessed, at the first of them."""
    refused = {it.issue.name for it in context.refused}
    names = {name: it for name, it in undefined_names(context.program).items() if name not in refused}
    if not names or hides_its_names(context.program):
        return
    types = [it.name for it in context.program.guesses if it.role in _TYPES and it.name in names]
    names = {it: names[it] for it in dict.fromkeys((*types, *names))}
    message, related = about_names(names)
    first = next(iter(names.values())).problem
    data = {"types": types, "names": {it.name: it.value for it in names.values()}}
    yield RULE.finding(first.span, message, related=related, data=data)

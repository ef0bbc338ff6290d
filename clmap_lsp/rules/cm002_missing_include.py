"""An included file that is not found.

## What it does

Reports an `#include` whose file is neither beside the including file nor in an include folder. Where a file
of that name lies in a folder above it in the workspace, or in one beside such a folder (`include`, `common`,
`kernels`, ...), it is read, and the finding names it. It is information either way: hosts give folders, and
put files together.

## Why is this bad?

What the file defines is unknown, so types and constants have to be guessed, and every figure that depends on
them is less sure. Name its folder with `-I DIR`, or with `include` in the `[build]` table of `clmap.toml`.

## Example

```c
#include "no_such_header.h"

__kernel void copy(__global const float *a, __global float *b)
{
    b[get_global_id(0)] = a[get_global_id(0)];
}
```

## Use instead

```c
__kernel void copy(__global const float *a, __global float *b)
{
    b[get_global_id(0)] = a[get_global_id(0)];
}
```
"""

from __future__ import annotations

from collections.abc import Iterator

from clmap_lsp.findings import Finding, Severity
from clmap_lsp.rules.causes import about_include
from clmap_lsp.rules.context import RuleContext, from_problem
from clmap_lsp.rules.meta import RuleMeta, Scope

RULE = RuleMeta(
    "CM002",
    "missing-include",
    Severity.INFORMATION,
    problems=("missing-include", "found-include"),
    scope=Scope.FILE,
)


def check(context: RuleContext) -> Iterator[Finding]:
    """Yield the includes that were not found."""
    explained = False
    for problem in context.problems(RULE):
        if problem.code == "missing-include" and not explained:
            explained = True
            problem = about_include(problem, context.program)  # noqa: PLW2901
        yield from_problem(RULE, problem)

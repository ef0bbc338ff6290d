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

from clmap_lsp.findings import Finding, Related, Severity
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
    """Yield one finding for what was not found, one for each file that was found elsewhere.

    What a kernel's own text includes is information; what only a header includes is a hint, since most such
    headers are the host's as well, and the build switches that part of them off. So are headers that
    PyOpenCL brings along.
    """
    missing = []
    for problem in context.problems(RULE):
        if problem.code == "missing-include":
            missing.append(problem)
        else:
            yield from_problem(RULE, problem)
    if not missing:
        return
    own = [it for it in missing if it.span.path == context.program.path and "`pyopencl-" not in it.message]
    first = about_include((own or missing)[0], context.program)
    others = tuple(Related(it.span, it.message.split(";")[0]) for it in missing if it.span != first.span)
    yield RULE.finding(
        first.span,
        first.message,
        severity=Severity.INFORMATION if own else Severity.HINT,
        related=(*(Related(*it) for it in first.related), *others),
    )

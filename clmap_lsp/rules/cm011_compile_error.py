"""A program that reads well and does not compile.

## What it does

Reports what a compiler refuses though it can be read: names that nothing declares and that are one letter
from one in sight, arguments that do not fit a call, values of types that cannot meet, pointers that change
their address space, members that a type has not. A name that may come from the host's `-D` is no error: see
CM003.

## Why is this bad?

`clBuildProgram` fails at run time, on the user's machine. The kernel that holds the error, and those that
call a function with one, are not analysed further.

## Example

```c
__kernel void scale(__global float *values, float factor)
{
    values[get_global_id(0)] *= facto;
}
```

## Use instead

```c
__kernel void scale(__global float *values, float factor)
{
    values[get_global_id(0)] *= factor;
}
```
"""

from __future__ import annotations

from collections.abc import Iterator

from clmap_lsp.findings import Finding, Severity
from clmap_lsp.rules.context import RuleContext, from_issue
from clmap_lsp.rules.meta import Needs, RuleMeta, Scope

RULE = RuleMeta("CM011", "compile-error", Severity.ERROR, scope=Scope.FILE, needs=Needs.INDEX)


# By CM016 and CM017.
_TOLD_ELSEWHERE = frozenset({"syntax-error", "extension"})


def check(context: RuleContext) -> Iterator[Finding]:
    """Yield the errors of names and types."""
    for it in context.refused:
        if it.issue.code not in _TOLD_ELSEWHERE and context.index is not None:
            yield from_issue(RULE, context.index, it)
    for it in context.doubts("suspicious"):
        yield RULE.finding(it.span, it.issue.message, severity=Severity.WARNING)
    for it in context.doubts("ambiguous"):
        said = f"{it.issue.message}: several overloads fit alike, and compilers made of clang refuse it"
        yield RULE.finding(it.span, said, severity=Severity.WARNING)
    generic = context.needs_generic()
    if generic and context.index is not None:
        more = f" ({len(generic)} such places)" if len(generic) > 1 else ""
        said = (
            f"if this is built as OpenCL C 1.2: {generic[0].issue.message}{more}. Nothing says which version "
            'it is; in 2.0 and 3.0 pointers are generic: standard = "CL2.0" under [build] in clmap.toml'
        )
        yield RULE.finding(generic[0].span, said, severity=Severity.INFORMATION, data={"cause": "standard"})

"""Text that is not OpenCL C.

## What it does

Reports text that cannot be read as OpenCL C with the build options in use. The kernels of the file that can
be read are analysed all the same; of one that does not compile nothing else is said.

## Why is this bad?

The device's compiler will refuse the program at run time, and no figure can be given for the kernel that
holds the error. Often the cause is a build option that is missing: a macro that the host passes with `-D`.

## Example

```c
__kernel void scale(__global float *x, float factor)
{
    x[get_global_id(0)] *= factor
}
```

## Use instead

```c
__kernel void scale(__global float *x, float factor)
{
    x[get_global_id(0)] *= factor;
}
```
"""

from __future__ import annotations

from collections.abc import Iterator

from clmap_lsp.findings import Finding, Severity
from clmap_lsp.rules.causes import syntax_problems
from clmap_lsp.rules.context import RuleContext, from_issue, from_problem
from clmap_lsp.rules.meta import Needs, RuleMeta, Scope

_DIRECTIVES = ("bad-directive", "bad-condition", "unclosed-macro", "macro-arguments", "open-comment")
"""What is wrong before there is anything to be parsed."""
RULE = RuleMeta(
    "CM001",
    "syntax-error",
    Severity.ERROR,
    problems=("syntax-error", *_DIRECTIVES),
    scope=Scope.FILE,
    needs=Needs.INDEX,
)


def check(context: RuleContext) -> Iterator[Finding]:
    """Yield the syntax errors, in a compiler's words where the text can be read that far.

    Where its structure was not found, undefined names may be the cause: one place, as information.
    """
    refused = context.refused
    codes = _DIRECTIVES if refused else RULE.problems
    yield from (from_problem(RULE, it) for it in syntax_problems(context.program, codes))
    lines: set[tuple[str, int]] = set()
    for it in refused:
        if it.issue.code == "syntax-error" and context.index is not None:
            line = it.span.path, context.program.position(it.span).row
            if line not in lines:  # What follows on the same line follows from the first.
                yield from_issue(RULE, context.index, it)
            lines.add(line)

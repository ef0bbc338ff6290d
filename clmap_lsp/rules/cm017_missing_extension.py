"""Something of an extension that no pragma enables.

## What it does

Reports, once for each extension, what needs a pragma before it: variables, parameters and results of type
`half`, and halves read or written directly (`cl_khr_fp16`); `double` before OpenCL C 1.2 (`cl_khr_fp64`);
writes to images of three dimensions before 2.0 (`cl_khr_3d_image_writes`); and, as hints, atomics of 64 bits
and sub-group functions. Information only in a text that uses names which nothing defines: what its host puts
before it may have the pragma, too.

## Why is this bad?

The specification asks for the pragma. Some compilers do without, others refuse the program.

## Example

```c
__kernel void twice(__global half *values)
{
    values[get_global_id(0)] *= 2;
}
```

## Use instead

```c
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
__kernel void twice(__global half *values)
{
    values[get_global_id(0)] *= 2;
}
```
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from clmap_lsp.findings import Finding, Severity
from clmap_lsp.rules.context import RuleContext, from_issue
from clmap_lsp.rules.meta import Needs, RuleMeta, Scope

RULE = RuleMeta("CM017", "missing-extension", Severity.WARNING, scope=Scope.FILE, needs=Needs.INDEX)


_WEAKER = {Severity.ERROR: Severity.INFORMATION, Severity.WARNING: Severity.INFORMATION}


def check(context: RuleContext) -> Iterator[Finding]:
    """Yield the first use of each extension that nothing enables."""
    if context.index is None:
        return
    is_part = bool(context.program.guesses)
    for it in context.index.issues:
        if it.issue.code == "extension":
            finding = from_issue(RULE, context.index, it)
            yield _of_a_part(finding) if is_part else finding


def _of_a_part(finding: Finding) -> Finding:
    """Return what holds unless the host puts the pragma before the text, as it does other names."""
    message = f"{finding.message}, unless what defines the file's other names has it"
    return replace(finding, message=message, severity=_WEAKER.get(finding.severity, finding.severity))

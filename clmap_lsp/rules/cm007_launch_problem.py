"""A launch that cannot be used.

## What it does

Reports a configured or commented launch that is wrong or does not fit the kernel, a kernel for which no
launch could be worked out or of which guesses keep next to all work-items from running, work-groups that
the device model cannot run, and global sizes that are no multiple of the local size where the OpenCL
version refuses them (before 2.0; OpenCL 1.2, section 5.8). A required work-group size that is too large only
where the build leaves a macro's default in the text alone is information.

## Why is this bad?

Sectors and bank conflicts depend on the launch. Without one, nothing exact can be said about the kernel.

## Example

```c
// clmap: global=4096 local=0
__kernel void copy(__global const float *a, __global float *b)
{
    b[get_global_id(0)] = a[get_global_id(0)];
}
```

## Use instead

```c
// clmap: global=4096 local=128
__kernel void copy(__global const float *a, __global float *b)
{
    b[get_global_id(0)] = a[get_global_id(0)];
}
```
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from clmap_lsp.analysis.model import KernelAnalysis
from clmap_lsp.findings import Finding, Severity
from clmap_lsp.launch.model import Launch, Origin, ScalarArgument
from clmap_lsp.launch.refused import refusals
from clmap_lsp.launch.resolve import MOST_ITEMS
from clmap_lsp.rules.causes import is_doubtful
from clmap_lsp.rules.context import RuleContext, is_switched_off
from clmap_lsp.rules.meta import RuleMeta, Scope
from clmap_lsp.source.text_defaults import defaults_of_group

RULE = RuleMeta("CM007", "launch-problem", Severity.WARNING, scope=Scope.FILE)


def check(context: RuleContext) -> Iterator[Finding]:
    """Yield what is wrong with the kernels' launches."""
    device = context.analysis.device
    most = device.limits.max_work_group_size
    for kernel in context.kernels():
        for problem in kernel.launch_problems:
            yield _unusable(context, kernel, problem)
        if is_switched_off(kernel, device):
            yield _switched_off(kernel)
        if (reason := context.not_emulated.get(kernel.name)) is not None:
            message = f"the launch cannot be run in the emulator: {reason}"
            is_text_open = is_doubtful(context.program)  # The kernel that somebody builds may well run.
            severity = Severity.HINT if is_text_open else _of_a_limit(kernel.launch)
            yield RULE.finding(kernel.kernel.name_span, message, kernel=kernel.name, severity=severity)
        if kernel.launch is not None:
            for reason in refusals(kernel.launch, device.id, most, context.standard):
                yield RULE.finding(kernel.kernel.name_span, reason, kernel=kernel.name)


def _unusable(context: RuleContext, kernel: KernelAnalysis, problem: str) -> Finding:
    """Return what is wrong with a launch: what is only where the build leaves a macro alone is no warning."""
    required = kernel.kernel.attributes.reqd_work_group_size
    is_of_attribute = required is not None and math.prod(required) > MOST_ITEMS
    defaults = defaults_of_group(context.program, kernel.kernel) if is_of_attribute else {}
    defaults = {name: value for name, value in defaults.items() if name not in context.set_by_build}
    if not defaults:
        return RULE.finding(kernel.kernel.name_span, problem, kernel=kernel.name)
    values = ", ".join(f"{name} ({value})" for name, value in defaults.items())
    return RULE.finding(
        kernel.kernel.name_span,
        f"if the build leaves the default of {values}: {problem}",
        kernel=kernel.name,
        severity=Severity.INFORMATION,
    )


def _of_a_limit(launch: Launch | None) -> Severity:
    """Return how much it matters that a launch cannot be run here: what nobody asked for is no fault."""
    if launch is None or launch.origin in (Origin.GIVEN, Origin.CONFIGURED):
        return RULE.severity
    return Severity.HINT if "global" in launch.inferred else Severity.INFORMATION


def _switched_off(kernel: KernelAnalysis) -> Finding:
    launch = kernel.launch
    assert launch is not None
    guessed = [
        f"{name}={value}"
        for name, value in launch.arguments.items()
        if name in launch.inferred and isinstance(value, ScalarArgument)
    ]
    guessed += [f"{it.name}={it.value}" for it in kernel.guesses if it.role == "constant" and it.value]
    listed = ", ".join(guessed[:4]) + (f" and {len(guessed) - 4} more" if len(guessed) > 4 else "")
    return RULE.finding(
        kernel.kernel.name_span,
        f"`{kernel.name}` is not judged: with what is guessed of its launch ({listed}) next to none of its "
        "work-items access memory; say it in a comment `// clmap: global=… local=… …` or in clmap.toml",
        kernel=kernel.name,
        severity=Severity.HINT,
    )

"""Kernels that ended the process that emulated them.

## What it does

Says that the process in which the editor emulates kernels died in the middle of this one: it was killed, ran
out of the memory it may use, or hit an error of the emulator. After three times the kernel is left alone
until it changes.

## Why is this bad?

There are no figures and no faults from the emulator for this kernel. A launch with smaller buffers in a
`// clmap:` comment often helps; if it does not, the kernel is worth an issue at this project.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from clmap_lsp.findings import Finding, Severity
from clmap_lsp.rules.meta import Needs, RuleMeta, Scope

if TYPE_CHECKING:
    from clmap_lsp.rules.context import RuleContext

RULE = RuleMeta("CM300", "emulation-crashed", Severity.INFORMATION, scope=Scope.FILE, needs=Needs.EMULATION)


def check(context: RuleContext) -> Iterator[Finding]:
    """Yield the kernels whose emulation crashed."""
    for kernel in context.kernels():
        if (how := context.crashed.get(kernel.name)) is not None:
            yield RULE.finding(
                kernel.kernel.name_span, f"`{kernel.name}` could not be emulated: {how}.", kernel=kernel.name
            )

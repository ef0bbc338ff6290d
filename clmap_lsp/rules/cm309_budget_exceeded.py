"""Kernels whose emulation ended before the kernel did.

## What it does

Says that the emulator came to its limit of work before the kernel came to its end, and that so few
work-groups had ended by then that nothing could be estimated from them. Figures of such a run hold for the
part that ran.
A launch that is merely large is estimated from some of its work-groups, without this finding.

## Why is this bad?

A loop may never end; or the launch is larger than the emulator's budget, and figures are incomplete. A
smaller launch in a `// clmap:` comment or a larger `time_limit` in `clmap.toml` gives whole figures.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from clmap_lsp.findings import Finding, Severity
from clmap_lsp.rules.meta import Needs, RuleMeta

if TYPE_CHECKING:
    from clmap_lsp.emulator.result import EmulationResult
    from clmap_lsp.source.ir import Kernel

RULE = RuleMeta("CM309", "budget-exceeded", Severity.INFORMATION, needs=Needs.EMULATION)


def check(kernel: Kernel, result: EmulationResult) -> Iterator[Finding]:
    """Yield the runs that were cut."""
    if (stop := result.stopped) is not None:
        yield RULE.finding(kernel.name_span, f"{stop.detail} (emulated).", kernel=kernel.name)

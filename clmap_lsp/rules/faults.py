"""What the rules about emulator faults share: one finding for each place and kind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from clmap_lsp.findings import Finding, Related

if TYPE_CHECKING:
    from clmap_lsp.emulator.result import EmulationResult, Fault, FaultKind
    from clmap_lsp.rules.context import RuleContext
    from clmap_lsp.rules.meta import RuleMeta


def results(context: RuleContext) -> Iterator[tuple[str, EmulationResult]]:
    """Yield the kernels that ran, with what happened."""
    yield from (context.emulations or {}).items()


def findings(context: RuleContext, rule: RuleMeta, kinds: frozenset[FaultKind]) -> Iterator[Finding]:
    """Yield a finding for each fault of these kinds."""
    for name, result in results(context):
        for fault in result.faults:
            if fault.kind in kinds:
                yield _finding(rule, name, fault)


def _finding(rule: RuleMeta, kernel: str, fault: Fault) -> Finding:
    related: tuple[Related, ...] = ()
    if fault.other_span is not None:
        related = (Related(fault.other_span, f"the other access{_of(fault.other_work_item)}"),)
    times = f"; {fault.occurrences:,} times in this launch" if fault.occurrences > 1 else ""
    return rule.finding(
        fault.span,
        f"{fault.detail}{_of(fault.work_item)}{times} (emulated).",
        kernel=kernel,
        related=related,
        data={"kind": fault.kind.value, "occurrences": fault.occurrences},
    )


def _of(item: tuple[int, int, int] | None) -> str:
    return "" if item is None else f", work-item ({', '.join(map(str, item))})"

"""Findings that rest on records of other kernels, held against the predicted time of the kernel itself.

A record says what staging or another split gained in a kernel that does nothing but read. What it can gain
here is bounded by what the accesses take of the kernel's own time. There is one answer: where these bounds
deny a record, the finding is a hint; and where another finding says what the same accesses lose, that one
speaks, as the rewrites that mend it are tried and timed one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from clmap_lsp.dataclass import dataclass
from clmap_lsp.findings import Finding, Severity
from clmap_lsp.workbench.timing import ACCESS_RULES, LOUD, Enlarged, accesses_of

if TYPE_CHECKING:
    from clmap_lsp.analysis.model import KernelAnalysis
    from clmap_lsp.time.model import Prediction


@dataclass(frozen=True, slots=True)
class _Record:
    """A rule that rests on records."""

    least: float
    """Times as fast, from which it speaks."""
    bound: Callable[[Prediction, Collection[int]], float]
    """How many times as fast a launch could be with the best of some accesses."""
    if_all: str
    """What the bound supposes."""


def _by_staging(time: Prediction, sites: Collection[int]) -> float:
    from clmap_lsp.time.losses import most_by_staging

    return most_by_staging(time, sites)


def _by_order(time: Prediction, sites: Collection[int]) -> float:
    from clmap_lsp.time.losses import most_by_order

    return most_by_order(time, sites)


_RECORDS = {
    "CM401": _Record(1.5, _by_staging, "all that is asked of `{buffer}` in local memory"),
    "CM403": _Record(1.3, _by_order, "all work-items that read `{buffer}` side by side"),
}
RECORDED_RULES = frozenset(_RECORDS)


def held_against_times(
    findings: Sequence[Finding],
    kernels: Sequence[KernelAnalysis],
    times: Mapping[str, Prediction | str],
    enlarged: Callable[[KernelAnalysis], Enlarged | None],
) -> tuple[Finding, ...]:
    """Say of findings from records how much the kernel's own time lets them gain; lower those it denies.

    Args:
        findings: those of `with_time_lost`.
        enlarged: gives a kernel's time on a launch of a real size, where its own is a guess or a test's.
    """
    by_name = {it.name: it for it in kernels}
    louder: dict[str, set[int]] = {}
    for it in findings:
        kernel = by_name.get(it.kernel or "")
        is_told = it.time is not None and it.severity in LOUD
        if kernel is not None and it.code in ACCESS_RULES and is_told:
            louder.setdefault(kernel.name, set()).update(one.access.site for one in accesses_of(it, kernel))
    result = []
    for finding in findings:
        record, kernel = _RECORDS.get(finding.code), by_name.get(finding.kernel or "")
        time = times.get(finding.kernel or "")
        if record is None or kernel is None or time is None or isinstance(time, str):
            result.append(finding)
        else:
            told = louder.get(kernel.name, set())
            result.append(_held(finding, record, kernel, _times(time, enlarged(kernel)), told))
    return tuple(result)


def _times(time: Prediction, larger: Enlarged | None) -> tuple[Prediction, ...]:
    if larger is None:
        return (time,)
    return (larger.time,) if larger.is_instead else (time, larger.time)


def _held(
    finding: Finding,
    record: _Record,
    kernel: KernelAnalysis,
    times: Sequence[Prediction],
    told: Collection[int],
) -> Finding:
    from clmap_lsp.time.model import is_rough

    at = next((it.access for it in kernel.accesses if it.access.span == finding.span), None)
    settled = [it for it in times if not (is_rough(it) or it.caveats)]
    if at is None or not settled:
        return finding
    sites = {it.access.site for it in kernel.accesses if it.access.buffer == at.buffer}
    most = max(record.bound(it, sites) for it in settled)
    supposed = record.if_all.format(buffer=at.buffer)
    is_denied = most < record.least
    line = f"{'Not here: at' if is_denied else 'At'} most {most:.2g} times as fast on {settled[0].facts.name}"
    line += f", with {supposed} (predicted)."
    is_lowered = is_denied or not sites.isdisjoint(told)
    severity = Severity.HINT if is_lowered and finding.severity is Severity.INFORMATION else finding.severity
    return replace(finding, message=f"{finding.message}\n{line}", severity=severity)

"""What the rules about emulator faults share: one finding for each place and kind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from clmap_lsp.findings import Finding, Related, Severity
from clmap_lsp.source.ir import blocks
from clmap_lsp.source.per_kernel import per_kernel

if TYPE_CHECKING:
    from clmap_lsp.emulator.result import EmulationResult, Fault, FaultKind
    from clmap_lsp.rules.meta import RuleMeta
    from clmap_lsp.source.ir import Kernel
    from clmap_lsp.source.span import Span

_OUTSIDE = "out-of-bounds"
_MOST_CALLS = 6


def findings(
    kernel: Kernel, result: EmulationResult, rule: RuleMeta, kinds: frozenset[FaultKind]
) -> Iterator[Finding]:
    """Yield a finding for each fault of these kinds; what only follows from another is told with that one.

    Faults of one buffer are one finding that all hang on the same guess, or on races of it, or that
    statements in a row have for being outside: the taps of a stencil.
    """
    groups: dict[object, list[Fault]] = {}
    for fault in result.faults:
        if fault.kind in kinds and cause_of(fault, result) is None:
            key = _doubt(fault, result) or _taps(kernel, fault) or fault.span
            groups.setdefault(key, []).append(fault)
    for first, *others in groups.values():
        found = finding_of(kernel, result, rule, first)
        by_others = (it for other in others if other.span == first.span for it in _called(other))
        more = [it for it in dict.fromkeys(by_others) if it not in found.related]
        found = replace(found, related=(*found.related, *more[:_MOST_CALLS]))
        yield _also_in(found, [it for it in others if it.span != first.span])


def _doubt(fault: Fault, result: EmulationResult) -> object:
    """Return what a fault stands and falls with, together with others; None if it stands alone."""
    if fault.grounds.is_guess:
        return fault.buffer, fault.grounds, fault.condition
    if fault.role is None and fault.other_span is not None and fault.buffer is not None:
        races = (it for it in result.faults if it.role is not None and it.buffer == fault.buffer)
        if any(fault.other_span in (it.span, it.other_span) for it in races):
            return fault.buffer, fault.grounds, "race"
    return None


def _taps(kernel: Kernel, fault: Fault) -> object:
    """Return what accesses outside of a buffer share in statements that run one after the other."""
    block = _blocks(kernel).get(fault.span) if fault.kind.value.startswith(_OUTSIDE) else None
    return None if block is None or fault.buffer is None else (fault.kind, fault.buffer, fault.grounds, block)


@per_kernel
def _blocks(kernel: Kernel) -> dict[Span, int]:
    """Return the number of the block that each statement stands in."""
    found: dict[Span, int] = {}
    waiting = [kernel.body]
    number = 0
    while waiting:
        number += 1
        for statement in waiting.pop():
            found[statement.span] = number
            waiting += blocks(statement)
    return found


def _also_in(found: Finding, others: Sequence[Fault]) -> Finding:
    """Return a finding that names further places of the same doubt."""
    if not others:
        return found
    related = tuple(Related(it.span, f"also here: {it.happened}") for it in others)
    more = "one more place" if len(others) == 1 else f"{len(others)} more places"
    message = f"{found.message} So it is in {more}."
    return replace(found, message=message, related=(*found.related, *related))


def cause_of(fault: Fault, result: EmulationResult) -> Fault | None:
    """Return the read out of bounds whose value a fault is the use of, if it is one: one bug, met twice."""
    from clmap_lsp.emulator.result import FaultKind

    if fault.kind is not FaultKind.UNINITIALISED_READ or fault.other_span is None:
        return None
    reads = (it for it in result.faults if it.kind is FaultKind.OUT_OF_BOUNDS_READ)
    return next((it for it in reads if it.span == fault.other_span), None)


def _declared(kernel: Kernel, fault: Fault) -> tuple[Related, ...]:
    """Return where the buffer or array that an access missed is declared: its size is half of the story."""
    if fault.buffer is None or not fault.kind.value.startswith(_OUTSIDE):
        return ()
    named = (it for it in (*kernel.parameters, *kernel.variables) if it.name == fault.buffer)
    return tuple(Related(it.span, f"`{it.name}` is declared here") for it in islice(named, 1))


def finding_of(
    kernel: Kernel, result: EmulationResult, rule: RuleMeta, fault: Fault, others: Sequence[Fault] = ()
) -> Finding:
    """Return the finding about a fault, and about others that are the same mistake in other places."""
    related = _declared(kernel, fault)
    if fault.other_span is not None:
        related += (Related(fault.other_span, _other(fault)),)
    related += _called(fault)
    uses = (it for it in result.faults if cause_of(it, result) is fault)
    related += tuple(
        Related(it.span, f"the value that was read is used here{_of(it.work_item)}") for it in uses
    )
    told = {fault.span, fault.other_span}
    for it in others:
        if it.span not in told and it.role is not None:
            told.add(it.span)
            related += (Related(it.span, f"`{it.buffer}` is {it.role.done} here in the same race"),)
    more = len(told - {fault.span, fault.other_span})
    also = f" {more} more accesses of `{fault.buffer}` race with these." if more > 1 else ""
    also = f" One more access of `{fault.buffer}` races with these." if more == 1 else also
    times = f"; {fault.occurrences:,} times in this launch" if fault.occurrences > 1 else ""
    found = rule.finding(
        fault.span,
        f"{fault.detail}{'' if fault.role is not None else _of(fault.work_item)}{times} (emulated).{also}",
        kernel=kernel.name,
        severity=_severity(rule, fault),
        related=related,
        data={"kind": fault.kind.value, "occurrences": fault.occurrences},
    )
    if not fault.grounds.is_guess:
        return found
    return replace(found, holds="if", condition=fault.condition)


def _called(fault: Fault) -> tuple[Related, ...]:
    """Return the calls that lead to a fault in a function, and to its other side."""
    calls = dict.fromkeys((*fault.calls, *fault.other_calls))
    return tuple(Related(it.span, f"`{it.function}` is called here") for it in islice(calls, _MOST_CALLS))


def _severity(rule: RuleMeta, fault: Fault) -> Severity:
    """Return how loud a fault is: nothing is an error on a guess."""
    from clmap_lsp.emulator.result import PARTLY_SET, Grounds

    if fault.detail.endswith(PARTLY_SET):
        return Severity.INFORMATION  # What pads, mostly, and goes along in a copy.
    if fault.grounds is Grounds.CONTENTS:
        return Severity.HINT
    if fault.grounds is Grounds.GUESS:
        return Severity.INFORMATION
    if fault.grounds is Grounds.PLAUSIBLE and rule.severity is Severity.ERROR:
        return Severity.WARNING
    return rule.severity


def _other(fault: Fault) -> str:
    """Return what the other place of a fault is."""
    if fault.other_role is None or fault.other_work_group is None:
        return f"the other access{_of(fault.other_work_item)}"
    item, group = (", ".join(map(str, it or ())) for it in (fault.other_work_item, fault.other_work_group))
    who, what = f"work-item ({item})" if item else "the copy", fault.element or fault.buffer
    return f"{who} of group ({group}) {fault.other_role.value} `{what}` here"


def _of(item: tuple[int, int, int] | None) -> str:
    return "" if item is None else f", work-item ({', '.join(map(str, item))})"

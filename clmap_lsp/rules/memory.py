"""What rules said of kernels before: findings follow a kernel's content, their places follow the text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from clmap_lsp.analysis.content import new_places, places_of
from clmap_lsp.dataclass import dataclass
from clmap_lsp.findings import Finding, Related
from clmap_lsp.interruption import checkpoint
from clmap_lsp.rules.meta import Needs, Scope

if TYPE_CHECKING:
    from clmap_lsp.analysis.model import KernelAnalysis
    from clmap_lsp.rules.context import RuleContext
    from clmap_lsp.rules.meta import Rule
    from clmap_lsp.source.span import Span


def is_per_kernel(rule: Rule) -> bool:
    """Tell whether what a rule says of a kernel follows from the kernel's analysis alone."""
    return rule.meta.scope is Scope.KERNEL and rule.meta.needs is Needs.ANALYSIS


@dataclass(frozen=True, slots=True)
class _Known:
    """What was said of a kernel where it stands, by code of the rule.

    Work that pauses between two rules goes on with its own: that of a kernel that has moved is another.
    """

    kernel: KernelAnalysis
    by_rule: dict[str, tuple[Finding, ...]]


class KernelFindings:
    """Keeps what the rules said of kernels, by what the kernels' analyses follow from: an editor's memory.

    A session marks its analyses with their content; an edit elsewhere leaves it as it is, and only moves
    the places. Not safe for several threads at once.
    """

    def __init__(self, limit: int = 128) -> None:
        self._known: dict[object, _Known] = {}
        self._limit = limit
        self.n_checked = 0
        """Calls of rules so far; for tests and debug information."""

    def forget_all(self) -> None:
        """Drop what is kept of all kernels."""
        self._known.clear()

    def check(self, rules: Sequence[Rule], context: RuleContext) -> Iterator[Finding]:
        """Yield what rules that see one kernel only say of the kernels of a file."""
        kernels = list(context.judged_kernels())
        for kernel in kernels:
            known = self._of(kernel)
            for rule in rules:
                checkpoint()
                found = known.by_rule.get(rule.meta.code)
                if found is None:
                    self.n_checked += 1
                    found = tuple(rule.check(kernel, context.analysis.device))
                    known.by_rule[rule.meta.code] = found
                yield from found
        while len(self._known) > max(self._limit, 2 * len(kernels)):
            del self._known[next(iter(self._known))]

    def forget(self, path: str) -> None:
        """Drop what was said of a file's kernels."""
        for key in [key for key, it in self._known.items() if it.kernel.span.path == path]:
            del self._known[key]

    def _of(self, kernel: KernelAnalysis) -> _Known:
        """Return what is known of a kernel where it stands now."""
        if kernel.content is None:
            return _Known(kernel, {})
        known = self._known.pop(kernel.content, None)
        if known is None:
            known = _Known(kernel, {})
        elif known.kernel is not kernel:
            known = _moved(known, kernel)
        self._known[kernel.content] = known  # As the youngest.
        return known


def _moved(known: _Known, kernel: KernelAnalysis) -> _Known:
    """Return what is known of a kernel that moved, without rules whose findings cannot be followed."""
    if not any(known.by_rule.values()):
        return _Known(kernel, dict(known.by_rule))
    places = new_places(places_of(known.kernel.kernel), places_of(kernel.kernel))
    by_rule = {}
    for code, findings in known.by_rule.items():
        try:
            by_rule[code] = tuple([_at_new_place(it, places) for it in findings])
        except KeyError:
            continue
    return _Known(kernel, by_rule)


def _at_new_place(finding: Finding, places: Mapping[Span, Span]) -> Finding:
    """Return a finding at its new place.

    Raises: KeyError if one of its places is not among `places`.
    """
    if finding.fix is not None:
        raise KeyError  # An edit has places of its own.
    related = tuple([Related(places[it.span], it.message) for it in finding.related])
    rest = None if finding.rest is None else _at_new_place(finding.rest, places)
    return replace(finding, span=places[finding.span], related=related, rest=rest)

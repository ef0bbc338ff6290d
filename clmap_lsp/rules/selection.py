"""Which rules speak, and how loudly."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field, replace

from clmap_lsp.dataclass import dataclass
from clmap_lsp.findings import Finding
from clmap_lsp.rules.meta import Needs, Rule, RuleMeta
from clmap_lsp.rules.registry import all_rules, suggestion
from clmap_lsp.source.ir import Severity


class UnknownRuleError(ValueError):
    """A selector that selects nothing."""

    def __init__(self, word: str) -> None:
        super().__init__(f'unknown rule "{word}"{suggestion(word)}')


@dataclass(frozen=True, slots=True)
class Selection:
    """The rules that speak; `severity` by code."""

    codes: frozenset[str]
    severity: Mapping[str, Severity] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        select: Iterable[str] = ("ALL",),
        ignore: Iterable[str] = (),
        severity: Mapping[str, Severity] | None = None,
    ) -> Selection:
        """Resolve selectors: codes, code prefixes, names, `ALL`. What is ignored stays ignored.

        Raises: UnknownRuleError.
        """
        chosen = _codes(select) - _codes(ignore)
        levels = {code: level for word, level in (severity or {}).items() for code in _codes([word])}
        return cls(chosen, levels)

    def rules(self) -> tuple[Rule, ...]:
        """Return the rules that speak, by code."""
        return tuple(it for it in all_rules() if it.meta.code in self.codes)

    def without_verdicts(self) -> Selection:
        """Return it without the rules that must have seen all that is to be seen of a file."""
        left_out = {it.meta.code for it in self.rules() if it.meta.needs is Needs.FINDINGS}
        return replace(self, codes=self.codes - left_out)

    def graded(self, finding: Finding) -> Finding:
        """Return the finding with the severity that was configured."""
        level = self.severity.get(finding.code)
        return finding if level is None else replace(finding, severity=level)


def _codes(words: Iterable[str]) -> frozenset[str]:
    out: set[str] = set()
    for word in words:
        matches = {it.meta.code for it in all_rules() if _selects(word, it.meta)}
        if not matches:
            raise UnknownRuleError(word)
        out |= matches
    return frozenset(out)


def _selects(word: str, meta: RuleMeta) -> bool:
    if word == "ALL" or word.lower() == meta.name:
        return True
    return word.upper().startswith("CM") and meta.code.startswith(word.upper())

"""`--statistics`: findings counted by rule."""

from __future__ import annotations

from collections import Counter

from clmap_lsp.report.model import CheckReport


def counts_by_rule(report: CheckReport) -> list[tuple[tuple[str, str], int]]:
    """Return ((code, name), count), most frequent first."""
    counts = Counter((it.code, it.name) for _, it in report.pairs())
    return sorted(counts.items(), key=lambda it: (-it[1], it[0]))


def render(report: CheckReport) -> str:
    """Return `count CODE name` lines, most frequent first."""
    counts = counts_by_rule(report)
    width = len(str(counts[0][1])) if counts else 1
    return "".join(f"{count:{width}d}  {code}  {name}\n" for (code, name), count in counts)

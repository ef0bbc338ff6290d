"""Sums of access sites by source line."""

from __future__ import annotations

from collections.abc import Iterable

from clmap_lsp.emulator.result import LineCounts, SiteResult
from clmap_lsp.source.program import Program


def lines_of(program: Program, sites: Iterable[SiteResult]) -> tuple[LineCounts, ...]:
    """Sum the sites of each source line, in the order of files and lines."""
    by_line: dict[tuple[str, int], list[SiteResult]] = {}
    for site in sites:
        row = program.position(site.span).row
        by_line.setdefault((site.span.path, row), []).append(site)
    return tuple(_line(path, row, found) for (path, row), found in sorted(by_line.items()))


def _line(path: str, row: int, found: list[SiteResult]) -> LineCounts:
    spaces: dict[str, int] = {}
    for site in found:
        spaces[site.space] = spaces.get(site.space, 0) + site.executions
    return LineCounts(
        path,
        row,
        loads=sum(it.executions for it in found if it.op.endswith("load")),
        stores=sum(it.executions for it in found if it.op.endswith("store")),
        spaces=spaces,
        requests=sum(it.requests for it in found),
        sectors=_sum_known(it.sectors for it in found if it.space != "local"),
        wavefronts=_sum_known(it.wavefronts for it in found if it.space == "local"),
    )


def _sum_known(values: Iterable[int | None]) -> int | None:
    """Sum; unknown if one is."""
    total = 0
    for value in values:
        if value is None:
            return None
        total += value
    return total

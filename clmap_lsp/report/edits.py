"""Apply fixes to text: which of them, and how often."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from clmap_lsp.dataclass import dataclass
from clmap_lsp.findings import Edit, Fix, FixSafety
from clmap_lsp.fixes import edits as edits_of_text
from clmap_lsp.fixes.edits import unified_diff

__all__ = ["Applied", "apply", "unified_diff"]


@dataclass(frozen=True, slots=True)
class Applied:
    """New text by path, and the fixes that went into it."""

    texts: Mapping[str, str]
    fixes: tuple[Fix, ...]


def apply(fixes: Iterable[Fix], texts: Mapping[str, str], *, unsafe: bool = False) -> Applied:
    """Apply fixes to the texts of their files; of fixes that overlap the first is taken, whole or not at all.

    Safe fixes only, unless `unsafe`; sketches (`DISPLAY`) never. The same fix asked for twice is done once.
    A fix that knows its edits of host code comes with them.
    """
    allowed = {FixSafety.SAFE, FixSafety.UNSAFE} if unsafe else {FixSafety.SAFE}
    taken: dict[str, list[Edit]] = {}
    applied: list[Fix] = []
    for fix in fixes:
        if fix.safety not in allowed or not fix.edits:
            continue
        edits = (*fix.edits, *fix.host_edits)
        if all(it in taken.get(it.span.path, ()) for it in edits):
            continue
        if any(it.span.path not in texts or _overlaps(it, taken.get(it.span.path, ())) for it in edits):
            continue
        applied.append(fix)
        for edit in edits:
            if edit not in taken.setdefault(edit.span.path, []):
                taken[edit.span.path].append(edit)
    return Applied(
        {path: edits_of_text.apply(texts[path], edits, path) for path, edits in taken.items()}, tuple(applied)
    )


def _overlaps(edit: Edit, others: Sequence[Edit]) -> bool:
    return any(
        other != edit
        and edit.span.start < max(other.span.end, other.span.start + 1)
        and other.span.start < max(edit.span.end, edit.span.start + 1)
        for other in others
    )

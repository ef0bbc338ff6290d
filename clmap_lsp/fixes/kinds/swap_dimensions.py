"""Swap the work-item dimensions 0 and 1: neighbours then walk the other index.

Edit: in the kernel's own text, every work-item function of dimension 0 asks for dimension 1 and the other way
round. The host must swap the first two entries of the global and the local size; where they are equal,
nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from clmap_lsp.findings import Edit, FixSafety
from clmap_lsp.fixes.edits import replace as replaced
from clmap_lsp.fixes.model import Proposal
from clmap_lsp.source.span import Span

if TYPE_CHECKING:
    from clmap_lsp.fixes.model import Subject
    from clmap_lsp.launch.model import Launch

KIND = "swap-dimensions"
_CALL = re.compile(
    r"\bget_(?:global_id|local_id|group_id|global_size|local_size|enqueued_local_size|num_groups"
    r"|global_offset)\s*\(\s*([0-9A-Za-z_]+)\s*\)"
)
_COMMENT_OR_STRING = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)
_LINEAR = re.compile(r"\bget_(?:global_linear_id|local_linear_id|sub_group\w*)\b|\bsub_group_\w+")


def propose(subject: Subject) -> Iterator[Proposal]:
    """Yield the swap where it lowers the kernel's traffic and the source shows every id."""
    analysis, launch = subject.analysis, subject.launch
    swapped = analysis.swapped
    if swapped is None or len(launch.global_size) < 2 or analysis.kernel.frames:
        return  # A helper's text may serve other kernels too.
    before, after = analysis.totals, swapped.totals
    if (after.sectors, after.wavefronts) >= (before.sectors, before.wavefronts):
        return
    span = analysis.span
    required = analysis.kernel.attributes.reqd_work_group_size
    if span.path != subject.path or required not in (None, _square(launch)):
        return
    edits = _edits(subject, span)
    if not edits:
        return
    yield Proposal(
        KIND,
        "Swap dimensions",
        FixSafety.SAFE if _is_square(launch) and launch.origin.value != "inferred" else FixSafety.UNSAFE,
        edits,
        ("CM104", "CM101", "CM102", "CM103"),
        relaunch=None if _is_square(launch) else _swapped_launch,
        host_change=None if _is_square(launch) else "swap the first two entries of the global and local size",
    )


def _edits(subject: Subject, span: Span) -> tuple[Edit, ...]:
    text = _COMMENT_OR_STRING.sub(lambda it: " " * len(it.group()), subject.text[span.start : span.end])
    if _LINEAR.search(text):
        return ()  # The order of work-items is the program's business there.
    found = list(_CALL.finditer(text))
    if any(it.group(1) not in ("0", "1", "2") for it in found):
        return ()  # A dimension that is computed or comes out of a macro.
    return tuple(
        replaced(
            Span(span.path, span.start + it.start(1), span.start + it.end(1)),
            "1" if it.group(1) == "0" else "0",
        )
        for it in found
        if it.group(1) != "2"
    )


def _is_square(launch: Launch) -> bool:
    offset = launch.global_offset or (0, 0)
    return (
        launch.global_size[0] == launch.global_size[1]
        and launch.local_size[0] == launch.local_size[1]
        and offset[0] == offset[1]
    )


def _square(launch: Launch) -> tuple[int, int, int] | None:
    if not _is_square(launch):
        return None
    x, y, z = (*launch.local_size, 1)[:3]
    return x, y, z


def _swapped_launch(launch: Launch) -> Launch:
    def swap(sizes: tuple[int, ...]) -> tuple[int, ...]:
        return (sizes[1], sizes[0], *sizes[2:]) if len(sizes) > 1 else sizes

    return replace(
        launch,
        global_size=swap(launch.global_size),
        local_size=swap(launch.local_size),
        global_offset=swap(launch.global_offset),
    )

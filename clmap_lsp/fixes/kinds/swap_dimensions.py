"""Swap the work-item dimensions 0 and 1: neighbours then walk the other index.

Edit: in the kernel's own text, every work-item function of dimension 0 asks for dimension 1 and the other way
round. The host must swap the first two entries of the global and the local size. That a launch is square
hides it and does not lift it, so that the swap is never safe.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from clmap_lsp.findings import Edit
from clmap_lsp.fixes.edits import replace as replaced
from clmap_lsp.fixes.model import Proposal
from clmap_lsp.fixes.outline import masked
from clmap_lsp.fixes.scope import as_typed
from clmap_lsp.hosts.changes import LaunchChange
from clmap_lsp.source import ir
from clmap_lsp.source.ir import WorkItemQuery as Query
from clmap_lsp.source.span import Span

if TYPE_CHECKING:
    from clmap_lsp.fixes.model import Subject
    from clmap_lsp.launch.model import Launch

KIND = "swap-dimensions"
NEEDS = "get_global_id(0) and get_global_id(1), each by itself, with the other one along the rows"
_CALL = re.compile(r"(?<!\w)\w++\s*+\(\s*([0-9]+)u?\s*\)")


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
    edits = _edits(subject)
    if not edits:
        return
    yield Proposal(
        KIND,
        "Swap dimensions",
        edits,
        ("CM104", "CM101", "CM102", "CM103"),
        relaunch=_swapped_launch,
        host_change="swap the first two entries of the global and local size",
        change=LaunchChange(order=(1, 0, 2)[: len(launch.global_size)]),
    )


_SYMMETRIC = frozenset(
    {
        Query.GLOBAL_ID,
        Query.LOCAL_ID,
        Query.GROUP_ID,
        Query.GLOBAL_SIZE,
        Query.LOCAL_SIZE,
        Query.ENQUEUED_LOCAL_SIZE,
        Query.NUM_GROUPS,
        Query.GLOBAL_OFFSET,
    }
)


def _edits(subject: Subject) -> tuple[Edit, ...]:
    """Return the edits of every dimension that the kernel asks for; none if one is not typed in its text.

    What macros ask for counts, as do linear ids, in which the order of work-items is the program's business.
    """
    edits: dict[tuple[int, int], Edit] = {}
    for node in ir.all_expressions(subject.analysis.kernel.body):
        if not isinstance(node, ir.WorkItem) or node.query is Query.WORK_DIM:
            continue
        edit = _edit(subject, node)
        if edit is None:
            return ()
        if edit.text != "2":
            edits[edit.span.start, edit.span.end] = edit
    return tuple(edits.values())


def _edit(subject: Subject, node: ir.WorkItem) -> Edit | None:
    """Return the edit that asks for the other dimension; `None` where its text does not show it."""
    dimension = node.dimension
    if node.query not in _SYMMETRIC or not as_typed(node.span, subject.path):
        return None
    call = _CALL.fullmatch(masked(subject.text[node.span.start : node.span.end]))
    dimension = dimension and ir.unconverted(dimension)
    if call is None or not isinstance(dimension, ir.Constant) or call[1] != str(dimension.value):
        return None
    at = node.span.start
    text = {"0": "1", "1": "0"}.get(call[1], call[1])
    return replaced(Span(subject.path, at + call.start(1), at + call.end(1)), text)


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

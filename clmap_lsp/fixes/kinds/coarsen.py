"""Let a work-item handle several elements, a whole launch apart, so that neighbours stay side by side.

It pays where a launch is bound by how fast work-groups start, or by what every work-item does before it
comes to its element; predicted times decide, as traffic stays what it was.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from clmap_lsp.fixes import elements
from clmap_lsp.fixes.model import Proposal
from clmap_lsp.fixes.scope import Scope
from clmap_lsp.source import ir

if TYPE_CHECKING:
    from clmap_lsp.fixes.model import Subject

KIND = "coarsen"
NEEDS = "one dimension, no loop, no barrier, and nothing of the launch but get_global_id(0)"
COUNTS = (4, 16)
"""Elements a work-item."""


def propose(subject: Subject) -> Iterator[Proposal]:
    """Yield one rewrite for each number of elements a work-item."""
    scope = Scope.of(subject)
    if scope is None or not scope.body.children:
        return
    kernel = subject.analysis.kernel
    if kernel.attributes.reqd_work_group_size is not None or any(
        isinstance(it, (ir.Atomic, ir.Loop)) for it in ir.walk(kernel.body)
    ):
        return  # A loop gives a work-item enough to do.
    found = elements.elements(scope)
    if found is None:
        return
    launch = subject.launch
    for count in COUNTS:
        if count * launch.local_size[0] > launch.global_size[0]:
            continue
        mine = Scope.of(subject)
        assert mine is not None, "it was read before"
        start, end = mine.body.children[0].start, mine.body.children[-1].end
        lines = elements.repeated(mine, mine.text[start:end], count)
        text = f"{mine.newline}{mine.indent(start)}".join(lines)
        yield Proposal(
            KIND,
            f"Handle {count} elements a work-item",
            (mine.replaced(start, end, text),),
            assumptions=found.assumptions(launch, count),
            relaunch=partial(elements.relaunched, count=count),
            host_change=f"launch one work-item for every {count} elements, rounded up to whole work-groups",
            lowers_traffic=False,
            least_gain=0.0,
            by_time=True,
        )

"""Whether anybody can tell which work-item of a group gathered what, where only all of it together counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from clmap_lsp.fixes.assumptions import group_size, power_of_two_group
from clmap_lsp.fixes.in_step import Group, SeenError

if TYPE_CHECKING:
    from clmap_lsp.fixes.assumptions import Assumption
    from clmap_lsp.fixes.reductions import Total
    from clmap_lsp.fixes.scope import Scope
    from clmap_lsp.source import ir

LARGEST_GROUP = 1024
"""Work-items of the largest group that a proof for every power of two looks at."""


def joined_by_group(scope: Scope, loop: ir.Loop, totals: Sequence[Total]) -> tuple[Assumption, ...] | None:
    """Return what must hold of work-groups for only the totals of whole groups to be seen behind a loop.

    `None` if more is seen. Parts that only go to atomics and group functions are joined whatever the size.
    """
    kernel, launch = scope.subject.analysis.kernel, scope.subject.launch
    required = kernel.attributes.reqd_work_group_size
    sizes = (*launch.local_size, 1, 1) if required is None else required
    here = _shown(scope, loop, totals, sizes[0])
    if here is None or (here and sizes[1:3] != (1, 1)):
        return None
    if required is not None or not here:
        return ()
    if sizes[0] & (sizes[0] - 1) or sizes[0] > LARGEST_GROUP:
        return (group_size(sizes[:1]),)
    others = (1 << it for it in range(LARGEST_GROUP.bit_length()))
    if all(_shown(scope, loop, totals, it) is not None for it in others):
        return (power_of_two_group(LARGEST_GROUP),)
    return (group_size(sizes[:1]),)


def _shown(scope: Scope, loop: ir.Loop, totals: Sequence[Total], size: int) -> bool | None:
    """Return if a group puts parts in places of local memory; `None` if it shows who gathered them."""
    placed = False
    for total in totals:
        group = Group(scope, loop, total, size)
        try:
            group.run(scope.subject.analysis.kernel.body, list(range(size)), maybe=False)
        except SeenError:
            return None
        placed |= group.placed
    return placed

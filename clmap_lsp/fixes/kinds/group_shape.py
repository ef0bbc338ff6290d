"""Launch in work-groups of another shape, so that a SIMD group's work-items walk along rows.

For kernels whose results know nothing of work-groups: no local memory, no barrier, no work-item function but
global ids and sizes. The kernel's text gets the shape as a hint, which binds nobody; the host launches so.
Sizes that are no multiples of it are rounded up where the kernel guards what it touches.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import replace
from functools import partial
from math import prod
from typing import TYPE_CHECKING

from clmap_lsp.fixes import facts, gain, grid
from clmap_lsp.fixes.group_size import hints
from clmap_lsp.fixes.model import Proposal
from clmap_lsp.fixes.predict import figures_of
from clmap_lsp.fixes.scope import Scope
from clmap_lsp.hosts.changes import LaunchChange, Resize
from clmap_lsp.source import ir
from clmap_lsp.source.ir import WorkItemQuery as Query
from clmap_lsp.source.types import AddressSpace

if TYPE_CHECKING:
    from clmap_lsp.fixes.assumptions import Assumption
    from clmap_lsp.fixes.model import Subject
    from clmap_lsp.launch.model import Launch

KIND = "group-shape"
NEEDS = (
    "a kernel that does not use its place in the work-group, whose rows are read in "
    "groups that are too narrow"
)
SHAPES = {
    1: ((64,), (128,), (256,), (512,)),
    2: ((32, 8), (64, 4), (16, 16), (32, 4), (256, 1), (8, 32), (32, 16), (32, 32)),
    3: ((32, 4, 2), (32, 8, 1), (64, 4, 1), (8, 8, 4)),
}
"""By the number of dimensions; of those that move as little, the first."""
BEST = 2
"""Shapes that are offered, the best first."""
GAIN = 1.1
_ALIKE = frozenset({Query.GLOBAL_ID, Query.GLOBAL_SIZE, Query.GLOBAL_OFFSET, Query.WORK_DIM})
"""What a work-item gets whatever group it is in."""


def propose(subject: Subject) -> Iterator[Proposal]:
    """Yield the shapes that move least, the best first."""
    if not subject.analysis.totals.complete:
        return
    counted = []
    for proposal in shapes(subject):
        launch = proposal.launched(subject.launch)
        after = figures_of(subject.program, subject.analysis.kernel, launch, subject.device)
        if after.totals.complete:
            counted.append((after.cost, proposal))
    for _, proposal in sorted(counted, key=lambda it: it[0])[:BEST]:
        yield proposal


def shapes(subject: Subject) -> Iterator[Proposal]:
    """Yield every other shape that fits the launch; nothing is counted."""
    scope = Scope.of(subject)
    attributes = subject.analysis.kernel.attributes
    if scope is None or attributes.reqd_work_group_size or attributes.work_group_size_hint:
        return
    if not _knows_no_groups(subject.analysis.kernel):
        return
    for shape in SHAPES.get(len(subject.launch.global_size), ()):
        fits = prod(shape) <= (subject.device.limits.max_work_group_size or 256)
        rounded = _rounded(scope, shape)
        if not fits or rounded is None or shaped(subject.launch, shape, rounded) == subject.launch:
            continue
        text = "x".join(map(str, shape))
        more = ", global sizes rounded up to whole ones" if rounded else ""
        yield Proposal(
            KIND,
            f"Launch in work-groups of {text}",
            hints(scope, shape),
            ("CM101", "CM102", "CM103", "CM104"),
            sites=frozenset(it.site for it in facts.accesses(subject.analysis)),
            relaunch=partial(shaped, shape=shape, rounded=frozenset(rounded)),
            assumptions=tuple(rounded.values()),
            host_change=f"launch in work-groups of {text}{more}",
            change=LaunchChange(
                local_size=shape, global_size={d: Resize(over=shape[d], each=shape[d]) for d in rounded}
            ),
            least_gain=GAIN,
            least_faster=gain.LEAST_ELSEWHERE,
            choice=KIND,
        )


def shaped(launch: Launch, shape: tuple[int, ...], rounded: Container[int]) -> Launch:
    """Return a launch in groups of another shape; the same one where they do not fill what is not rounded."""
    whole = tuple(-(-size // group) * group for size, group in zip(launch.global_size, shape, strict=True))
    fits = all(it == whole[d] or d in rounded for d, it in enumerate(launch.global_size))
    return replace(launch, global_size=whole, local_size=shape) if fits else launch


def _rounded(scope: Scope, shape: tuple[int, ...]) -> dict[int, Assumption] | None:
    """Return what must hold in the dimensions whose sizes are rounded up; `None` where they cannot be."""
    kernel, found = scope.subject.analysis.kernel, {}
    for d, size in enumerate(scope.subject.launch.global_size):
        if size % shape[d] == 0:
            continue
        bounding = grid.bounding(scope, d)
        covered = grid.covered(bounding, d, shape[d]) if bounding else None
        if covered is None or any(_is_size(it) for it in ir.all_expressions(kernel.body)):
            return None
        found[d] = covered
    return found


def _is_size(it: ir.Expression) -> bool:
    return isinstance(it, ir.WorkItem) and it.query is Query.GLOBAL_SIZE


def _knows_no_groups(kernel: ir.Kernel) -> bool:
    """True if a kernel does the same in work-groups of any shape."""
    local = any(
        it.kind is ir.VariableKind.LOCAL_OBJECT or getattr(it.type, "space", None) is AddressSpace.LOCAL
        for it in (*kernel.variables, *kernel.parameters)
    )
    if local or facts.opaque(kernel) or facts.synchronises(kernel.body):
        return False
    return all(it.query in _ALIKE for it in ir.all_expressions(kernel.body) if isinstance(it, ir.WorkItem))

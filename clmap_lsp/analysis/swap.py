"""The same kernel with the work-items' dimensions 0 and 1 swapped.

`get_global_id(0)` becomes `get_global_id(1)` and the other way round, likewise for every work-item function,
and the launch's sizes change places. Each work-item then does what another did before, so results are the
same; only which work-items share a SIMD group is different.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from clmap_lsp.launch.model import Launch
from clmap_lsp.source import ir
from clmap_lsp.source.per_kernel import per_kernel

_LINEAR = frozenset(
    {
        ir.WorkItemQuery.GLOBAL_LINEAR_ID,
        ir.WorkItemQuery.LOCAL_LINEAR_ID,
        ir.WorkItemQuery.SUB_GROUP_ID,
        ir.WorkItemQuery.SUB_GROUP_LOCAL_ID,
    }
)
"""Functions whose values follow the order of lanes: what they are after the change has no simple form."""


class _CannotSwapError(Exception):
    pass


def swapped(kernel: ir.Kernel, launch: Launch) -> tuple[ir.Kernel, Launch] | None:
    """Return kernel and launch with dimensions 0 and 1 swapped.

    `None` where there is nothing to swap (one dimension) or the kernel depends on the order of lanes, by
    linear ids, sub-group functions or a dimension that is not a constant.
    """
    if len(launch.global_size) < 2 or min(launch.global_size[:2]) == 1:
        return None
    (changed,) = _swapped_kernel(kernel)
    if changed is None:
        return None
    return (
        changed,
        dataclasses.replace(
            launch,
            global_size=_changed_round(launch.global_size),
            local_size=_changed_round(launch.local_size),
            global_offset=_changed_round(launch.global_offset) if launch.global_offset else (),
        ),
    )


@per_kernel
def _swapped_kernel(kernel: ir.Kernel) -> tuple[ir.Kernel | None]:
    """Return the kernel with its dimensions swapped: one for all launches, so that counts of it are known."""
    try:
        body = tuple(_rewritten(it) for it in kernel.body)
    except _CannotSwapError:
        return (None,)
    attributes = kernel.attributes
    if (required := attributes.reqd_work_group_size) is not None:
        attributes = dataclasses.replace(
            attributes, reqd_work_group_size=(required[1], required[0], required[2])
        )
    return (dataclasses.replace(kernel, body=body, attributes=attributes),)


def _changed_round(sizes: tuple[int, ...]) -> tuple[int, ...]:
    return (sizes[1], sizes[0], *sizes[2:])


def _rewritten(node: Any) -> Any:
    """Return a statement, expression, block or switch case with its work-item functions swapped."""
    if isinstance(node, ir.Collective):
        raise _CannotSwapError
    if isinstance(node, ir.WorkItem):
        return _work_item(node)
    if isinstance(node, tuple):
        return _all(node)
    if not _is_node(node):
        return node
    changes = {}
    for name in _child_fields(type(node)):
        before = getattr(node, name)
        after = _rewritten(before)
        if after is not before:
            changes[name] = after
    return dataclasses.replace(node, **changes) if changes else node


def _all(items: Any) -> Any:
    changed = tuple(_rewritten(it) for it in items)
    return changed if any(a is not b for a, b in zip(changed, items, strict=True)) else items


def _work_item(node: ir.WorkItem) -> ir.WorkItem:
    if node.query in _LINEAR:
        raise _CannotSwapError
    match node.dimension:
        case None:
            return node
        case ir.Constant(value=0 | 1 as value) as constant:
            return dataclasses.replace(node, dimension=dataclasses.replace(constant, value=1 - int(value)))
        case ir.Constant():
            return node
        case _:
            raise _CannotSwapError


_NODES = (*ir.Statement.__args__, *ir.Expression.__args__, ir.SwitchCase)
_FIELDS: dict[type, tuple[str, ...]] = {}


def _is_node(node: object) -> bool:
    return isinstance(node, _NODES)


def _child_fields(kind: type) -> tuple[str, ...]:
    """Return the fields of a node that may hold nodes; variables, types and places hold none."""
    if kind not in _FIELDS:
        skipped = {"span", "type", "variable", "site", "load_site", "store_site", "field", "event", "element"}
        _FIELDS[kind] = tuple(it.name for it in dataclasses.fields(kind) if it.name not in skipped)
    return _FIELDS[kind]

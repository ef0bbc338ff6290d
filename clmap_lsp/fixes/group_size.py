"""Rewrites that hold for one work-group size only: the size becomes part of the kernel."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from clmap_lsp.fixes.assumptions import Assumption, group_size
from clmap_lsp.fixes.edits import insert

if TYPE_CHECKING:
    from clmap_lsp.findings import Edit
    from clmap_lsp.fixes.scope import Scope


def required_size(scope: Scope) -> tuple[Edit, ...] | None:
    """Return the edits that make the launch's work-group size the kernel's required one.

    A launch with another size then fails instead of giving wrong results. Empty where the kernel requires it
    already; `None` where it requires another, so that the launch is no launch of it.
    """
    subject = scope.subject
    wanted = (*subject.launch.local_size, 1, 1)[:3]
    required = subject.analysis.kernel.attributes.reqd_work_group_size
    if required is not None:
        return () if required == wanted else None
    return requires(scope, wanted)


def requires(scope: Scope, size: tuple[int, ...]) -> tuple[Edit, ...]:
    """Return the edits that make a work-group size the required one of a kernel that has none yet."""
    return _attributed(scope, "reqd_work_group_size", size)


def hints(scope: Scope, size: tuple[int, ...]) -> tuple[Edit, ...]:
    """Return the edits that tell compiler and readers which size a kernel is meant for; none is refused."""
    return _attributed(scope, "work_group_size_hint", size)


def _attributed(scope: Scope, name: str, size: tuple[int, ...]) -> tuple[Edit, ...]:
    subject = scope.subject
    sizes = ", ".join(map(str, (*size, 1, 1)[:3]))
    attribute = f"__attribute__(({name}({sizes})))"
    at = subject.analysis.span.start
    line = scope.text.rfind("\n", 0, at) + 1
    if re.fullmatch(r"(?:__)?kernel\s+", scope.shown[line:at]):
        return (insert(subject.path, line, f"{attribute}{scope.newline}"),)
    return (insert(subject.path, at, f"{attribute} "),)


def size_assumed(scope: Scope) -> tuple[Assumption, ...]:
    """Return the work-group size that is assumed, if the kernel did not require it before.

    The host need not change for it: it is the launch's own, and another makes the launch fail.
    """
    if scope.subject.analysis.kernel.attributes.reqd_work_group_size is not None:
        return ()
    return (group_size(scope.subject.launch.local_size),)

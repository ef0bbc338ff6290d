"""Which of the kernels kept in fields of one name an object of some class can hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clmap_lsp.hosts.interpreter.state import Raised
    from clmap_lsp.hosts.project import HostProject, KeptKernel


def kept_for(project: HostProject, raised: Raised, name: str) -> Sequence[KeptKernel]:
    """Return the kernels kept in fields of a name, but for those in fields of classes that have nothing to do
    with the one whose method launches: many classes call their field `kernel`."""
    kept = project.kernels_in_fields.get(name, ())
    if not raised.of_this or raised.path.endswith(".py"):
        return kept
    return [it for it in kept if not _is_own_of_another(project, it, name, raised)]


def _is_own_of_another(project: HostProject, kept: KeptKernel, name: str, raised: Raised) -> bool:
    """Tell whether a kernel was put into the field of an object whose class has it from elsewhere."""
    if not kept.of_this or kept.owner == raised.owner:
        return False
    one = _declaring(project, raised.owner, raised.path, name)
    two = _declaring(project, kept.owner, kept.path, name)
    return None not in (one, two) and one != two


def _declaring(project: HostProject, owner: str, near: str, name: str) -> str | None:
    """Return the class that has a field of a name, of a class and its bases."""
    for it in project.with_bases(owner, near):
        cls = project.class_named(it, near)
        if cls is not None and any(field.name == name for field in cls.fields):
            return it
    return None

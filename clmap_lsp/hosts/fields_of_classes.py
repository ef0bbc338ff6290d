"""Which of the kernels kept in fields and variables of one name a launch can take out of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from clmap_lsp.hosts.values import Pointer, file_of_variable

if TYPE_CHECKING:
    from clmap_lsp.hosts.interpreter.state import Raised
    from clmap_lsp.hosts.project import HostProject, KeptKernel


def kept_for(project: HostProject, raised: Raised, name: str) -> Sequence[KeptKernel]:
    """Return the kernels kept in fields of a name, but for those in fields of classes that have nothing to do
    with the one whose method launches, and in variables of another program: many are called `kernel`."""
    kept = project.kernels_in_fields.get(name, ())
    own = file_of_variable(raised.kernel.place) if isinstance(raised.kernel, Pointer) else ""
    if own:
        return [it for it in kept if not _is_of_another_program(project, it, own)]
    if not raised.of_this or raised.path.endswith(".py"):
        return kept
    return [it for it in kept if not _is_own_of_another(project, it, name, raised)]


def _is_of_another_program(project: HostProject, kept: KeptKernel, own: str) -> bool:
    """Tell whether two variables are those of two files with a `main` each, which share none."""
    other = kept.variable_of
    return bool(other) and other != own and _is_program(project, own) and _is_program(project, other)


def _is_program(project: HostProject, path: str) -> bool:
    file = project.file(path)
    return file is not None and any(it.name == "main" and not it.owner for it in file.module.functions)


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

"""Give all kernels of a file one array for each member of their structures.

Neighbouring work-items that read one member of an array of structures are a whole structure apart; in an
array of that member they are side by side. A buffer has one layout for all kernels that are given it: every
kernel of the file that points to the structure is rewritten, each tested on launches of its own with their
data taken apart before and put together after, or none is.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import TYPE_CHECKING, TypedDict

from clmap_lsp.fixes import facts
from clmap_lsp.fixes.assumptions import Assumption, apart
from clmap_lsp.fixes.callers import Use, use_of
from clmap_lsp.fixes.model import Companion, Proposal
from clmap_lsp.fixes.scope import Scope
from clmap_lsp.fixes.taken_apart import ApartKernel, KeptWholeError, pointed_at, taken_apart, titled
from clmap_lsp.hosts.changes import StructureChange, StructureMember

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from clmap_lsp.findings import Edit
    from clmap_lsp.fixes.model import Restore, Subject
    from clmap_lsp.launch.model import Launch
    from clmap_lsp.source.types import StructType


class Tested(TypedDict):
    """What a proposal says of how one kernel is tested."""

    relaunch: Callable[[Launch], Launch]
    repack: Callable[[Launch, Launch], Launch]
    restore: Restore


KIND = "structure-of-arrays"
NEEDS = "a buffer of structures of which members are accessed one by one"


def propose(subject: Subject) -> Iterator[Proposal]:
    """Yield one rewrite of all kernels for each structure that this one points to."""
    for struct in pointed_at(subject.analysis.kernel):
        names = [it.name for it in subject.analysis.kernel.parameters if _points_to(it.type, struct)]
        title = f"Take {titled(names)} apart, an array for each member"
        try:
            yield _proposal(subject, struct, title)
        except KeptWholeError as error:
            yield Proposal(KIND, title, (), refused=str(error))


def _points_to(kind: object, struct: StructType) -> bool:
    return getattr(kind, "pointee", None) == struct


def _proposal(subject: Subject, struct: StructType, title: str) -> Proposal:
    if len(struct.fields) < 2:
        raise KeptWholeError(f"`{struct}` has one member: an array of it is one of that member already")
    mine, edits = _rewritten(subject, struct)
    kernels, together = [mine], []
    for kernel in subject.program.kernels:
        if kernel.name == mine.kernel.name or struct not in pointed_at(kernel):
            continue
        other = subject.companion(kernel.name)
        if other is None:
            raise KeptWholeError(f"kernel `{kernel.name}` must follow, and no launch of it is known")
        try:
            theirs, more = _rewritten(other, struct)
        except KeptWholeError as error:
            raise KeptWholeError(f"kernel `{kernel.name}` must follow, but {error}") from error
        proposal = Proposal(KIND, title, (), assumptions=_apart(theirs), **_tested(theirs))
        together.append(Companion(kernel.name, proposal))
        kernels.append(theirs)
        edits += more
    names = {it.name for it in mine.parameters}
    return Proposal(
        KIND,
        title,
        tuple(edits),
        ("CM101", "CM102", "CM103"),
        sites=frozenset(it.site for it in facts.accesses(subject.analysis) if it.buffer in names),
        host_change=_host_change(kernels),
        change=_change(struct, kernels),
        together=tuple(together),
        assumptions=(*_apart(mine), *_elsewhere(together)),
        **_tested(mine),
    )


def _tested(kernel: ApartKernel) -> Tested:
    """Return what a test of one kernel needs: its launches and data before and after."""
    return {"relaunch": kernel.relaunched, "repack": kernel.repacked, "restore": kernel.restored}


def _apart(kernel: ApartKernel) -> tuple[Assumption, ...]:
    """Return the assumption that no two of a kernel's buffers of structures are one."""
    return tuple(apart(*it) for it in combinations(sorted(it.name for it in kernel.parameters), 2))


def _elsewhere(together: Sequence[Companion]) -> Iterator[Assumption]:
    """Yield what the other kernels assume, which are tested with that."""
    for it in together:
        for each in it.proposal.assumptions:
            yield Assumption(f"{each.text} in `{it.kernel}`", lambda _: True)


def _rewritten(subject: Subject, struct: StructType) -> tuple[ApartKernel, list[Edit]]:
    """Return a kernel with its structures taken apart, and the edits of it."""
    scope = Scope.of(subject)
    if scope is None or facts.opaque(subject.analysis.kernel):
        raise KeptWholeError("its text or what it calls is not followed")
    if use_of(subject) is not Use.NONE:
        raise KeptWholeError("it is declared apart from its definition, or called like a function")
    found = taken_apart(scope, struct)
    return found, [edit for it in found.parameters for edit in it.edits(scope)]


def _host_change(kernels: Sequence[ApartKernel]) -> str:
    parts = []
    for kernel in kernels:
        for it in kernel.parameters:
            where = f" of `{kernel.kernel.name}`" if len(kernels) > 1 else ""
            parts.append(f"{titled([each.name for each in it.arrays])} instead of `{it.name}`{where}")
    return f"keep a buffer of its own for each member: {'; '.join(parts)}"


def _change(struct: StructType, kernels: Sequence[ApartKernel]) -> StructureChange:
    """Return what host code is asked for."""
    places = {it.name: at for at, it in enumerate(struct.fields)}
    return StructureChange(
        struct.size,
        tuple(StructureMember(it.name, str(it.type), it.offset, it.type.size) for it in struct.fields),
        {
            kernel.kernel.name: {
                it.name: tuple((places[each.field.name], each.name) for each in it.arrays)
                for it in kernel.parameters
            }
            for kernel in kernels
        },
    )

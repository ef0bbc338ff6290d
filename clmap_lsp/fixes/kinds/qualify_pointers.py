"""Say what is true of pointers: `const` for what is only read, `restrict` for what does not overlap.

`const` follows from the kernel. `restrict` is a promise of the host: it holds on the launch, whose buffers
are all different, and must hold wherever the kernel is launched.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from clmap_lsp.fixes import facts
from clmap_lsp.fixes.assumptions import overlaps
from clmap_lsp.fixes.edits import insert
from clmap_lsp.fixes.model import Proposal
from clmap_lsp.fixes.parameters import GLOBAL, pointer_parameters, restricted
from clmap_lsp.fixes.scope import Scope
from clmap_lsp.source import ir
from clmap_lsp.source.types import AddressSpace, PointerType

if TYPE_CHECKING:
    from clmap_lsp.findings import Edit
    from clmap_lsp.fixes.model import Subject

KIND = "qualify-pointers"
NEEDS = "a pointer that is only read, or several without restrict"


def propose(subject: Subject) -> Iterator[Proposal]:
    """Yield one rewrite that adds every `const`, and one that adds every `restrict`."""
    scope = Scope.of(subject)
    if scope is None or subject.analysis.kernel.frames:
        return  # A helper that takes the pointer would need the qualifier too.
    yield from _const(scope)
    yield from _restrict(scope)


def _const(scope: Scope) -> Iterator[Proposal]:
    readable = {it for it, _ in facts.read_only_buffers(scope.subject)}
    edits: list[Edit] = []
    names = []
    for parameter in pointer_parameters(scope):
        space = parameter.word(scope, GLOBAL)
        if parameter.variable in readable and space and not parameter.word(scope, r"\bconst\b"):
            if _copied(scope, parameter.variable):
                continue  # A pointer without const that takes its value would lose it.
            edits.append(insert(scope.subject.path, space.end(), " const"))
            names.append(f"`{parameter.variable.name}`")
    if edits:
        yield Proposal(KIND, f"Add const to {', '.join(names)}", tuple(edits), lowers_traffic=False)


def _copied(scope: Scope, variable: ir.Variable) -> bool:
    """True if some pointer variable of the kernel is made from the parameter."""
    return (
        any(
            isinstance(it, ir.Assign)
            and isinstance(it.variable.type, PointerType)
            and not it.variable.is_temporary
            for it in ir.walk(scope.subject.analysis.kernel.body)
        )
        and len(scope.mentions(variable.name)) > 1
    )


def _restrict(scope: Scope) -> Iterator[Proposal]:
    edits: list[Edit] = []
    pointers = [
        it
        for it in pointer_parameters(scope)
        if isinstance(it.variable.type, PointerType) and it.variable.type.space is AddressSpace.GLOBAL
    ]
    if len(pointers) < 2 or not facts.written(scope.subject.analysis):
        return  # Nothing that is stored could change what is loaded.
    for parameter in pointers:
        edits += restricted(scope, parameter)
    if edits:
        yield Proposal(
            KIND,
            "Add restrict to pointers",
            tuple(edits),
            assumptions=overlaps(
                scope.subject.analysis.kernel,
                (it.variable.name for it in pointers),
                facts.written(scope.subject.analysis),
            ),
            host_change="never pass overlapping buffers to this kernel",
            lowers_traffic=False,
        )

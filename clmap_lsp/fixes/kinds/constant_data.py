"""Put small data that all work-items read alike into constant memory.

Constant memory serves one address to a whole SIMD group at once; loads that differ between work-items are
served one after the other there, so only loads without an id in their index qualify. The host passes the
same buffer as before. On devices whose caches do the same for global memory nothing is gained, and nothing is
proposed: what leaves the count of global loads there comes back as as many loads of constant memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from clmap_lsp.access.polynomial import varies_in_group
from clmap_lsp.fixes import facts
from clmap_lsp.fixes.assumptions import at_most, overlaps
from clmap_lsp.fixes.model import Proposal
from clmap_lsp.fixes.parameters import pointer_parameters
from clmap_lsp.fixes.scope import Scope
from clmap_lsp.hierarchy.selection import Memory, moot
from clmap_lsp.launch.model import BufferArgument
from clmap_lsp.source import ir
from clmap_lsp.source.types import PointerType

if TYPE_CHECKING:
    from clmap_lsp.fixes.model import Subject

KIND = "constant-data"
NEEDS = "a small buffer that all work-items read at one index, on a device whose constant memory is faster"
LEAST_LIMIT = 64 * 1024
"""Bytes of one constant buffer that every full-profile device has (OpenCL 3.0, clGetDeviceInfo)."""


def propose(subject: Subject) -> Iterator[Proposal]:
    """Yield one rewrite for each buffer that qualifies."""
    scope = Scope.of(subject)
    if scope is None or subject.analysis.kernel.frames or moot(Memory.CONSTANT, subject.device) is not None:
        return
    if any(_keeps_pointer(it) for it in ir.walk(subject.analysis.kernel.body)):
        return  # A pointer variable of the kernel would need another address space too.
    readable = dict(facts.read_only_buffers(subject))
    limit = subject.device.limits.constant_bytes or LEAST_LIMIT
    for parameter in pointer_parameters(scope):
        accesses = readable.get(parameter.variable, ())
        space = parameter.word(scope, r"\b(__)?global\b")
        argument = subject.launch.arguments.get(parameter.variable.name)
        if not accesses or space is None or not isinstance(argument, BufferArgument):
            continue
        kind = parameter.variable.type
        element = max(kind.pointee.size if isinstance(kind, PointerType) else 1, 1)
        size = argument.count * element
        if not 0 < size <= limit or any(not it.known or varies_in_group(it.index) for it in accesses):
            continue
        yield Proposal(
            KIND,
            f"Put `{parameter.variable.name}` into constant memory",
            (scope.replaced(space.start(), space.end(), f"{space[1] or ''}constant"),),
            ("CM501",),
            (
                at_most(
                    parameter.variable.name,
                    limit // element,
                    f"{parameter.variable.name} has {limit:,} bytes at most",
                ),
                *overlaps(
                    subject.analysis.kernel, [parameter.variable.name], facts.written(subject.analysis)
                ),
            ),
            sites=frozenset(it.site for it in accesses),
        )


def _keeps_pointer(statement: ir.Statement) -> bool:
    return (
        isinstance(statement, ir.Assign)
        and isinstance(statement.variable.type, PointerType)
        and not statement.variable.is_temporary
    )

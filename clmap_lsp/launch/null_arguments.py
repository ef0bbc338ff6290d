"""A kernel as it runs with null pointers for some arguments: they compare as null, and lead nowhere."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from clmap_lsp.launch.model import BufferArgument, Fill
from clmap_lsp.source.conversions import null_pointer
from clmap_lsp.source.ir import Assign, Expression, Kernel, Read, Variable, walk, written
from clmap_lsp.source.rewrite import Rewriter
from clmap_lsp.source.types import PointerType

if TYPE_CHECKING:
    from clmap_lsp.launch.model import Launch


class _Nulls(Rewriter):
    """Puts null where parameters are read."""

    def __init__(self, parameters: frozenset[Variable]) -> None:
        self.parameters = parameters

    def expression(self, value: Expression) -> Expression:
        """Copy an expression."""
        if isinstance(value, Read) and value.variable in self.parameters:
            assert isinstance(value.type, PointerType)
            return null_pointer(value.type, value.span)
        return super().expression(value)


def with_null_arguments(kernel: Kernel, launch: Launch) -> Kernel:
    """Return the kernel with the null pointers of a launch in place of its parameters."""
    null = [
        it
        for it in kernel.parameters
        if isinstance(it.type, PointerType)
        and isinstance(argument := launch.arguments.get(it.name), BufferArgument)
        and argument.fill is Fill.NULL
    ]
    if not null:
        return kernel
    changed = {variable for statement in walk(kernel.body) for variable in written(statement)}
    body = _Nulls(frozenset(it for it in null if it not in changed)).block(kernel.body)
    first = [
        Assign(it, null_pointer(it.type, it.span), it.span)
        for it in null
        if it in changed and isinstance(it.type, PointerType)
    ]
    return replace(kernel, body=(*first, *body))

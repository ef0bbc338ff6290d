"""Code for sub-group and work-group functions.

A work-item leaves its operands in its frame and stops; once all work-items of the group (or sub-group) wait
at the same call, Python works the results out (`rendezvous.py`), and each takes its own from its frame.
"""

from __future__ import annotations

from collections.abc import Callable

from llvmlite import ir

from clmap_lsp.emulator.context import Context, Pointer
from clmap_lsp.emulator.conversions import resize
from clmap_lsp.emulator.expressions import Expressions
from clmap_lsp.emulator.group_functions import is_known
from clmap_lsp.emulator.layout import AT_COLLECTIVE, F_EXCHANGE
from clmap_lsp.emulator.suspension import Suspension
from clmap_lsp.emulator.types import I64, llvm_type, zero
from clmap_lsp.source.ir import Collective, Variable

EXCHANGE_WORDS = 16


def emit(
    ctx: Context,
    suspension: Suspension,
    expressions: Expressions,
    statement: Collective,
    assign: Callable[[Variable, ir.Value | Pointer], None],
) -> None:
    """Emit a collective function; one that is not known yields 0 and is noted as unknown."""
    known = is_known(statement)
    at = 0
    for argument in statement.arguments:
        value = expressions.value(argument)
        words = 1 if isinstance(value.type, ir.IntType) else max(argument.type.size // 8, 1)
        if at + words > EXCHANGE_WORDS or isinstance(value.type, ir.ArrayType):
            break
        if isinstance(value.type, ir.IntType) and value.type.width < 64:
            value = resize(ctx, value, I64, signed=False)
        ctx.builder.store(value, ctx.frame_place(F_EXCHANGE + at), align=8)
        at += words
    suspension.at(ir.Constant(I64, statement.site))
    suspension.stop(AT_COLLECTIVE)
    if statement.variable is not None:
        kind = llvm_type(statement.variable.type)
        if isinstance(kind, ir.ArrayType) or not known:
            ctx.unknowns.append((statement.name, statement.span))
            assign(statement.variable, zero(kind))
            return
        assign(statement.variable, ctx.builder.load(ctx.frame_place(F_EXCHANGE), align=8, typ=kind))

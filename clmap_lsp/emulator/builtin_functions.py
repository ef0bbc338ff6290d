"""Pure built-in functions: a table from OpenCL name to code.

Functions of `float` and `half` are worked out in double precision and rounded once, which is within every
error bound of OpenCL. Vectors go lane by lane; scalars among vector arguments serve every lane.
Source: OpenCL C Specification 3.0, sections 6.15.2 (math), 6.15.3 (integer), 6.15.4 (common), 6.15.5
(geometric), 6.15.6 (relational) and 6.15.13 (vectors); 7.4 (relative error as ulps).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from llvmlite import ir

from clmap_lsp.emulator import (
    builtin_geometric,
    builtin_integer,
    builtin_math,
    builtin_relational,
    builtin_vector,
)
from clmap_lsp.emulator.builtin_support import Arguments
from clmap_lsp.emulator.context import Context
from clmap_lsp.emulator.types import llvm_type, zero
from clmap_lsp.source.ir import Builtin

Emitter = Callable[[Arguments], ir.Value]

_TABLES: tuple[Mapping[str, Emitter], ...] = (
    builtin_math.TABLE,
    builtin_integer.TABLE,
    builtin_relational.TABLE,
    builtin_geometric.TABLE,
    builtin_vector.TABLE,
)
_TABLE: Mapping[str, Emitter] = {name: emit for table in _TABLES for name, emit in table.items()}


def call_builtin(ctx: Context, call: Builtin, values: list[ir.Value]) -> ir.Value:
    """Emit a built-in function; one that is not known yields 0 and is noted as unknown."""
    emit = _TABLE.get(call.name) or _TABLE.get(call.name.removeprefix("native_").removeprefix("half_"))
    result = llvm_type(call.type)
    if emit is None:
        ctx.unknowns.append((call.name, call.span))
        return zero(result)
    return emit(Arguments(ctx, call, values, result))


def is_known(name: str) -> bool:
    """True if the emulator can work the function out."""
    return name in _TABLE or name.removeprefix("native_").removeprefix("half_") in _TABLE

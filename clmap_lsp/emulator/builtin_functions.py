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
from clmap_lsp.emulator.well_typed import alike, is_float, is_integer, is_number
from clmap_lsp.source.ir import Builtin
from clmap_lsp.source.types import VectorType, lanes_of

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
    """Emit a built-in function; one that is not known, or not with such arguments, yields 0 and is noted."""
    name = call.name if call.name in _TABLE else _plain(call.name)
    emit = _TABLE.get(name)
    result = llvm_type(call.type)
    if emit is None or not _takes(name, call):
        ctx.unknowns.append((call.name, call.span))
        return zero(result)
    return emit(Arguments(ctx, call, values, result))


def is_known(name: str) -> bool:
    """True if the emulator can work the function out."""
    return name in _TABLE or _plain(name) in _TABLE


def _plain(name: str) -> str:
    return name.removeprefix("native_").removeprefix("half_")


_OF_TWO_KINDS = frozenset(("ldexp", "pown", "rootn"))
_OF_ANY_NUMBER = frozenset(("min", "max", "clamp", "select", "bitselect"))
_OF_INTEGERS = frozenset((*builtin_integer.TABLE, "any", "all", "nan"))


def _takes(name: str, call: Builtin) -> bool:
    """Tell whether there is such a function; arguments of unknown types are taken by few."""
    kinds = [argument.type for argument in call.arguments]
    if not all(is_number(kind) for kind in kinds):
        return False
    lanes = {lanes_of(kind) for kind in kinds}
    if name in builtin_vector.TABLE:
        *sources, mask = kinds
        wanted = 2 if name == "shuffle2" else 1
        return len(sources) == wanted and alike(*sources) and is_integer(mask) and lanes_of(mask) > 1
    if len(lanes - {1}) > 1 or (len(lanes) > 1 and not isinstance(call.type, VectorType)):
        return False
    if name in _OF_TWO_KINDS:
        return is_float(kinds[0]) and all(is_integer(kind) for kind in kinds[1:])
    if name in _OF_INTEGERS:
        return all(is_integer(kind) for kind in kinds)
    if name == "select":
        return alike(call.type, *kinds[:2]) and is_integer(kinds[2])
    if name in _OF_ANY_NUMBER:
        return alike(*kinds)
    return all(is_float(kind) for kind in kinds) and (name != "cross" or lanes <= {3, 4})

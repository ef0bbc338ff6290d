"""Functions that rearrange the lanes of vectors.

Source: OpenCL C Specification 3.0, section 6.15.13 (miscellaneous vector functions).
"""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir

from clmap_lsp.emulator.builtin_support import Arguments, Emitter
from clmap_lsp.emulator.conversions import resize
from clmap_lsp.emulator.types import I64, lanes, zero


def _shuffle(it: Arguments) -> ir.Value:
    *sources, mask = it.values
    if not all(isinstance(value.type, ir.VectorType) for value in (*it.values, zero(it.result))):
        it.ctx.unknowns.append((it.call.name, it.call.span))  # There is no such function.
        return zero(it.result)
    parts = [part for source in sources for part in _padded(it, source)]
    whole: ir.Value = zero(it.result)
    for lane in range(lanes(it.result)):
        at = ir.Constant(I64, lane)
        chosen = resize(it.ctx, it.builder.extract_element(mask, at), I64, signed=False)
        whole = it.builder.insert_element(whole, _element(it, parts, chosen), at)
    return whole


def _padded(it: Arguments, source: ir.Value) -> list[ir.Value]:
    """Return the lanes of a vector; one of three has a fourth, which is undefined and taken for 0."""
    count = source.type.count
    parts = [it.builder.extract_element(source, ir.Constant(I64, lane)) for lane in range(count)]
    return [*parts, zero(source.type.element)] if count == 3 else parts


def _element(it: Arguments, parts: Sequence[ir.Value], chosen: ir.Value) -> ir.Value:
    """Return one of a power of two of values; higher bits of the choice do not count."""
    pool = ir.Constant(ir.VectorType(parts[0].type, len(parts)), ir.Undefined)
    for lane, part in enumerate(parts):
        pool = it.builder.insert_element(pool, part, ir.Constant(I64, lane))
    low = it.builder.and_(chosen, ir.Constant(I64, len(parts) - 1))
    return it.builder.extract_element(pool, low)


TABLE: dict[str, Emitter] = {"shuffle": _shuffle, "shuffle2": _shuffle}

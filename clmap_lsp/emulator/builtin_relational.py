"""Relational functions: int results for scalars, 0 or -1 a lane for vectors."""

from __future__ import annotations

from llvmlite import ir

from clmap_lsp.emulator.builtin_support import Arguments, Emitter
from clmap_lsp.emulator.operators import any_lane, from_bits, sign_bits, truth
from clmap_lsp.emulator.types import bits, integer, is_float, like, zero


def _comparison(op: str, *, ordered: bool = True) -> Emitter:
    def emit(it: Arguments) -> ir.Value:
        left, right = it.values
        compare = it.builder.fcmp_ordered if ordered else it.builder.fcmp_unordered
        return from_bits(it.ctx, compare(op, left, right), it.result)

    return emit


def _pattern(it: Arguments) -> tuple[ir.Value, ir.Value]:
    """Return the bits of a float, and those without the sign."""
    value = it.values[0]
    kind = like(ir.IntType(bits(value.type)), value.type)
    whole = it.builder.bitcast(value, kind)
    return whole, it.builder.and_(whole, integer((1 << (bits(kind) - 1)) - 1, kind))


_EXPONENTS = {16: 0x7C00, 32: 0x7F800000, 64: 0x7FF0000000000000}
_LEAST_NORMAL = {16: 0x0400, 32: 0x00800000, 64: 0x0010000000000000}


def _isfinite(it: Arguments) -> ir.Value:
    _, size = _pattern(it)
    inf = integer(_EXPONENTS[bits(size.type)], size.type)
    return from_bits(it.ctx, it.builder.icmp_unsigned("<", size, inf), it.result)


def _isinf(it: Arguments) -> ir.Value:
    _, size = _pattern(it)
    inf = integer(_EXPONENTS[bits(size.type)], size.type)
    return from_bits(it.ctx, it.builder.icmp_unsigned("==", size, inf), it.result)


def _isnan(it: Arguments) -> ir.Value:
    value = it.values[0]
    return from_bits(it.ctx, it.builder.fcmp_unordered("uno", value, value), it.result)


def _isnormal(it: Arguments) -> ir.Value:
    _, size = _pattern(it)
    width = bits(size.type)
    below = it.builder.icmp_unsigned("<", size, integer(_EXPONENTS[width], size.type))
    above = it.builder.icmp_unsigned(">=", size, integer(_LEAST_NORMAL[width], size.type))
    return from_bits(it.ctx, it.builder.and_(below, above), it.result)


def _signbit(it: Arguments) -> ir.Value:
    whole, _ = _pattern(it)
    return from_bits(it.ctx, sign_bits(it.ctx, whole), it.result)


def _any(it: Arguments) -> ir.Value:
    flags = any_lane(it.ctx, sign_bits(it.ctx, it.values[0]))
    return it.builder.zext(flags, it.result)


def _all(it: Arguments) -> ir.Value:
    clear = it.builder.not_(sign_bits(it.ctx, it.values[0]))
    return it.builder.zext(it.builder.not_(any_lane(it.ctx, clear)), it.result)


def _select(it: Arguments) -> ir.Value:
    """select(a, b, c): b where c holds, by its sign bit in vectors."""
    a, b, c = it.values
    flags = sign_bits(it.ctx, c) if isinstance(c.type, ir.VectorType) else truth(it.ctx, c)
    return it.builder.select(flags, b, a)


def _bitselect(it: Arguments) -> ir.Value:
    a, b, c = it.values
    kind = like(ir.IntType(bits(a.type)), a.type)
    first, second, mask = (it.builder.bitcast(x, kind) if is_float(x.type) else x for x in (a, b, c))
    keep = it.builder.and_(first, it.builder.not_(mask))
    merged = it.builder.or_(keep, it.builder.and_(second, mask))
    return it.builder.bitcast(merged, a.type) if is_float(a.type) else merged


TABLE: dict[str, Emitter] = {
    "isequal": _comparison("=="),
    "isnotequal": _comparison("!=", ordered=False),
    "isgreater": _comparison(">"),
    "isgreaterequal": _comparison(">="),
    "isless": _comparison("<"),
    "islessequal": _comparison("<="),
    "islessgreater": _comparison("!="),
    "isordered": _comparison("ord"),
    "isunordered": _comparison("uno", ordered=False),
    "isfinite": _isfinite,
    "isinf": _isinf,
    "isnan": _isnan,
    "isnormal": _isnormal,
    "signbit": _signbit,
    "any": _any,
    "all": _all,
    "select": _select,
    "bitselect": _bitselect,
}

__all__ = ["TABLE", "zero"]

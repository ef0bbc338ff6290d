"""Geometric functions, with sums in double precision."""

from __future__ import annotations

from llvmlite import ir

from clmap_lsp.emulator.builtin_support import Arguments, Emitter, to_double
from clmap_lsp.emulator.operators import narrowed, splat
from clmap_lsp.emulator.types import DOUBLE, I64, element, is_float, zero


def _parts(it: Arguments, value: ir.Value) -> list[ir.Value]:
    if not isinstance(value.type, ir.VectorType):
        return [to_double(it, value)]
    return [
        to_double(it, it.builder.extract_element(value, ir.Constant(I64, lane)))
        for lane in range(value.type.count)
    ]


def _sum_of_products(it: Arguments, left: ir.Value, right: ir.Value) -> ir.Value:
    total: ir.Value = ir.Constant(DOUBLE, 0.0)
    for a, b in zip(_parts(it, left), _parts(it, right), strict=True):
        total = it.builder.fadd(total, it.builder.fmul(a, b))
    return total


def _narrow(it: Arguments, value: ir.Value, kind: ir.Type) -> ir.Value:
    return narrowed(it.ctx, value, kind)


def _dot(it: Arguments) -> ir.Value:
    if not is_float(it.values[0].type):
        return _integer_dot(it)
    return _narrow(it, _sum_of_products(it, *it.values), it.result)


def _integer_dot(it: Arguments) -> ir.Value:
    """The packed and vector dot products of cl_khr_integer_dot_product (vector forms)."""
    total: ir.Value = zero(it.result)
    for lane in range(it.values[0].type.count):
        at = ir.Constant(I64, lane)
        parts = []
        for index, value in enumerate(it.values):
            one = it.builder.extract_element(value, at)
            widen = it.builder.sext if it.signed(index) else it.builder.zext
            parts.append(widen(one, it.result))
        total = it.builder.add(total, it.builder.mul(*parts))
    return total


def _length_of(it: Arguments, value: ir.Value) -> ir.Value:
    return it.ctx.call("llvm.sqrt.f64", DOUBLE, [_sum_of_products(it, value, value)])


def _length(it: Arguments) -> ir.Value:
    return _narrow(it, _length_of(it, it.values[0]), it.result)


def _distance(it: Arguments) -> ir.Value:
    difference = it.builder.fsub(it.values[0], it.values[1])
    return _narrow(it, _length_of(it, difference), it.result)


def _normalize(it: Arguments) -> ir.Value:
    """x / |x|; the zero vector stays what it is."""
    value = it.values[0]
    length = _length_of(it, value)
    is_zero = it.builder.fcmp_ordered("==", length, ir.Constant(DOUBLE, 0.0))
    inverse = it.builder.fdiv(ir.Constant(DOUBLE, 1.0), length)
    scale = it.builder.select(is_zero, ir.Constant(DOUBLE, 1.0), inverse)
    kind = element(value.type)
    results = [_narrow(it, it.builder.fmul(part, scale), kind) for part in _parts(it, value)]
    if not isinstance(value.type, ir.VectorType):
        return results[0]
    whole: ir.Value = ir.Constant(value.type, ir.Undefined)
    for lane, part in enumerate(results):
        whole = it.builder.insert_element(whole, part, ir.Constant(I64, lane))
    return whole


def _cross(it: Arguments) -> ir.Value:
    a, b = (_parts(it, value) for value in it.values)
    kind = element(it.result)
    whole: ir.Value = splat(it.ctx, zero(kind), it.result.count)
    for lane in range(3):
        first, second = (lane + 1) % 3, (lane + 2) % 3
        product = it.builder.fsub(it.builder.fmul(a[first], b[second]), it.builder.fmul(a[second], b[first]))
        whole = it.builder.insert_element(whole, _narrow(it, product, kind), ir.Constant(I64, lane))
    return whole


TABLE: dict[str, Emitter] = {
    "dot": _dot,
    "length": _length,
    "distance": _distance,
    "normalize": _normalize,
    "fast_length": _length,
    "fast_distance": _distance,
    "fast_normalize": _normalize,
    "cross": _cross,
}

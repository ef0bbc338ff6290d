"""Expressions built with Python's operators, and dot products of packed bytes made of them."""

from __future__ import annotations

import operator
from functools import reduce

from clmap_lsp.source.constants import wrap
from clmap_lsp.source.conversions import compare, convert, select
from clmap_lsp.source.conversions import typed_binary as binary
from clmap_lsp.source.ir import BinaryOp, Builtin, CompareOp, Constant, Expression, Swizzle
from clmap_lsp.source.span import Span
from clmap_lsp.source.types import INT, UINT, ScalarType, Type, element_of, lanes_of


class Term:
    """An expression with Python's operators; both operands of one have the left one's type."""

    __slots__ = ("span", "value")

    def __init__(self, value: Expression, span: Span) -> None:
        self.value, self.span = value, span

    def like(self, other: Term | int) -> Term:
        """Return a number, or another term, in the type of this one."""
        if isinstance(other, int):
            kind = element(self.value)
            constant = Constant(wrap(other, kind), kind, self.span)
            return Term(convert(constant, self.value.type, self.span), self.span)
        return other.to(self.value.type)

    def to(self, target: Type) -> Term:
        """Return the term converted."""
        return Term(convert(self.value, target, self.span), self.span)

    def _with(self, op: BinaryOp, other: Term | int) -> Term:
        right = self.like(other).value
        return Term(binary(op, self.value, right, self.value.type, self.span), self.span)

    def __add__(self, other: Term | int) -> Term:
        return self._with(BinaryOp.ADD, other)

    def __sub__(self, other: Term | int) -> Term:
        return self._with(BinaryOp.SUB, other)

    def __mul__(self, other: Term | int) -> Term:
        return self._with(BinaryOp.MUL, other)

    def __and__(self, other: Term | int) -> Term:
        return self._with(BinaryOp.AND, other)

    def __or__(self, other: Term | int) -> Term:
        return self._with(BinaryOp.OR, other)

    def __xor__(self, other: Term | int) -> Term:
        return self._with(BinaryOp.XOR, other)

    def __lshift__(self, other: Term | int) -> Term:
        return self._with(BinaryOp.SHL, other)

    def __rshift__(self, other: Term | int) -> Term:
        return self._with(BinaryOp.SHR, other)

    def call(self, name: str, other: Term) -> Term:
        """Return a pure built-in function of two terms that gives their type."""
        arguments = (self.value, self.like(other).value)
        return Term(Builtin(name, arguments, self.value.type, self.span), self.span)

    def if_zero(self, zero: Term | int, other: Term) -> Term:
        """Return `self == 0 ? zero : other`, lane by lane, in the type of `other`."""
        is_zero = compare(CompareOp.EQ, self.value, self.like(0).value, self.span)
        return Term(select(is_zero, other.like(zero).value, other.value, self.span), self.span)

    def lane(self, number: int) -> Term:
        """Return a lane of a vector."""
        return Term(Swizzle(self.value, (number,), element(self.value), self.span), self.span)

    def byte(self, number: int) -> Term:
        """Return a byte, without its sign."""
        return self >> 8 * number & 255


def element(value: Expression) -> ScalarType:
    """Return the type of an expression's lanes."""
    found = element_of(value.type)
    assert isinstance(found, ScalarType)
    return found


def total(terms: list[Term]) -> Term:
    """Return the sum."""
    return reduce(operator.add, terms)


def products(a: list[Term], b: list[Term], result: ScalarType) -> Term:
    """Return the sum of products, worked out in the result's type."""
    return total([x.to(result) * y.to(result) for x, y in zip(a, b, strict=True)])


def dot(arguments: list[Expression], span: Span) -> Expression | None:
    """Return `dot` of two vectors of four bytes, None for other arguments: int, or uint of two unsigned."""
    if len(arguments) != 2 or not all(_is_bytes(it.type) for it in arguments):
        return None
    result = INT if any(element(it).is_signed for it in arguments) else UINT
    a, b = (Term(it, span) for it in arguments)
    return products([a.lane(n) for n in range(4)], [b.lane(n) for n in range(4)], result).value


def _is_bytes(type_: Type) -> bool:
    element = element_of(type_)
    return (
        lanes_of(type_) == 4 and isinstance(element, ScalarType) and element.is_integer and element.bits == 8
    )

"""Operations of OpenCL C on whole numbers of which some are not known."""

from __future__ import annotations

from clmap_lsp.source import ir
from clmap_lsp.source.types import ScalarType


def fitting(value: int, it: ir.Expression) -> int | None:
    """Return an integer as its type holds it."""
    kind = it.type
    if not isinstance(kind, ScalarType) or kind.is_float or not kind.bits:
        return None
    value &= (1 << kind.bits) - 1
    return value - (1 << kind.bits) if kind.is_signed and value >> (kind.bits - 1) else value


def computed(op: ir.BinaryOp, left: int, right: int) -> int | None:
    """Return what an operation gives; `None` where C does not say."""
    match op:
        case ir.BinaryOp.ADD:
            return left + right
        case ir.BinaryOp.SUB:
            return left - right
        case ir.BinaryOp.MUL:
            return left * right
        case ir.BinaryOp.DIV | ir.BinaryOp.REM if right:
            quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
            return quotient if op is ir.BinaryOp.DIV else left - quotient * right
        case ir.BinaryOp.SHL if 0 <= right < 64:
            return left << right
        case ir.BinaryOp.SHR if 0 <= right < 64:
            return left >> right
        case ir.BinaryOp.AND:
            return left & right
        case ir.BinaryOp.OR:
            return left | right
        case ir.BinaryOp.XOR:
            return left ^ right
        case _:
            return None


def compared(op: ir.CompareOp, left: int | None, right: int | None) -> int | None:
    """Return 1 if a comparison holds, else 0; `None` where a number is not known."""
    if not isinstance(left, int) or not isinstance(right, int):
        return None
    return int(
        {
            ir.CompareOp.EQ: left == right,
            ir.CompareOp.NE: left != right,
            ir.CompareOp.LT: left < right,
            ir.CompareOp.LE: left <= right,
            ir.CompareOp.GT: left > right,
            ir.CompareOp.GE: left >= right,
        }[op]
    )


def both_or_either(op: ir.LogicalOp, left: int | None, right: int | None) -> int | None:
    """Return 1 if a condition holds, else 0; one side may be enough to know it."""
    known = [bool(it) for it in (left, right) if isinstance(it, int)]
    decides = op is ir.LogicalOp.OR
    if decides in known:
        return int(decides)
    return int(not decides) if len(known) == 2 else None


def unary(op: ir.UnaryOp, it: ir.Expression, value: int | None) -> int | None:
    """Return what an operation on one number gives."""
    if not isinstance(value, int):
        return None
    if op is ir.UnaryOp.LOGICAL_NOT:
        return int(not value)
    return fitting(-value if op is ir.UnaryOp.NEGATE else ~value, it)

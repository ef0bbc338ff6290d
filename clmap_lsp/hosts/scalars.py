"""Which expressions of Python are one number, whatever their parts are worth."""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet

from clmap_lsp.hosts.tree import Binary, Call, Conditional, Expr, Member, Name, Num, Opaque, Unary

_ONE = frozenset(
    (
        *("int", "float", "abs", "round", "ord", "len", "min", "max", "sum", "bool"),
        *("sin", "cos", "tan", "sqrt", "exp", "log", "log2", "floor", "ceil", "fabs", "pow"),
        *("randint", "randrange", "random", "uniform", "normal", "gauss", "rand", "randn"),
        *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
        *("float16", "float32", "float64"),
    )
)
_MOST_GIVEN = {"randint": 2, "uniform": 2, "normal": 2, "gauss": 2, "random": 0, "rand": 0, "randn": 0}
"""What more they are given is a shape."""
_VECTOR = re.compile(r"make_(?:u?(?:char|short|int|long)|half|float|double)(?:2|3|4|8|16)")
"""One of OpenCL's vectors: an array of NumPy has it as one item."""
_SIZES = frozenset(("size", "shape"))


def is_one_number(expression: Expr, counting: AbstractSet[str]) -> bool:
    """Tell whether an expression is one number; `counting` are variables that are."""
    match expression:
        case Num():
            return True
        case Name(name):
            return name in counting
        case Unary(_, operand):
            return is_one_number(operand, counting)
        case Binary(_, left, right):
            return is_one_number(left, counting) and is_one_number(right, counting)
        case Conditional(_, yes, no):
            return is_one_number(yes, counting) and is_one_number(no, counting)
        case Call(Name(name) | Member(name=name), arguments, keywords):
            return _gives_one(name, arguments, counting) and not _SIZES & keywords.keys()
        case _:
            return False


def _gives_one(name: str, arguments: tuple[Expr, ...], counting: AbstractSet[str]) -> bool:
    """Tell whether a call gives one number: NumPy's functions give as many as they are given."""
    if _VECTOR.fullmatch(name):
        return True
    if any(isinstance(it, Opaque) for it in arguments):
        return False
    if name not in _ONE or len(arguments) > _MOST_GIVEN.get(name, len(arguments)):
        return False
    return name in ("len", "ord") or all(is_one_number(it, counting) for it in arguments)

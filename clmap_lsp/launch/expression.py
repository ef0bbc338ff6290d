"""Arithmetic in argument texts: `N*N`, `((i*37)%1009)/64.0`.

Python's operators and meaning (unbounded integers, `/` gives a float, `//` and `%` floor), evaluated over the
parsed tree, never by `eval`: the texts may come from a file that somebody else wrote.
"""

from __future__ import annotations

import ast
import math
import operator
import re
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import repeat
from typing import TYPE_CHECKING, Any, TypeVar

from clmap_lsp.launch.problem import LaunchError

if TYPE_CHECKING:
    from numpy.typing import NDArray

Number = int | float
_T = TypeVar("_T")

_MAX_TEXT = 1000
_MAX_BITS = 4096
_EXACT = 1 << 53
"""Integers below it are exact as doubles, so that NumPy's `/` equals Python's."""
_WIDE = 1 << 62

_FUNCTIONS: dict[str, Callable[..., Number]] = {
    "abs": abs,
    "min": min,
    "max": max,
    "int": int,
    "float": float,
    "sqrt": math.sqrt,
    "sin": math.sin,
    "cos": math.cos,
    "exp": math.exp,
    "floor": math.floor,
    "ceil": math.ceil,
}


def evaluate(text: str, names: Mapping[str, Number]) -> Number:
    """Return the value of an expression over `names`.

    Raises: LaunchError if it is no arithmetic expression, uses another name, or has no value.
    """
    return _guarded(text, lambda: _scalar(_parse(text), names, text))


def evaluate_over_index(
    text: str, count: int, names: Mapping[str, Number], *, first: int = 0
) -> NDArray[Any]:
    """Return the values of an expression in `i` for i = first … count-1, as int64, float64 or Python objects.

    The same numbers as Python gives for every `i` on its own; NumPy is used where it provably agrees.
    Raises: LaunchError as `evaluate`.
    """
    return _guarded(text, lambda: _array(text, first, count, names))


def python_work(text: str, count: int) -> int:
    """Return how many operations Python does one by one for so many values; 0 where NumPy does them.

    Raises: LaunchError if it is no arithmetic expression.
    """
    import numpy as np

    tree = _parse(text)
    try:
        with np.errstate(all="ignore"):
            _vector(tree, {"i": np.arange(max(count - 1, 0), count, dtype=np.int64)}, text)
    except (_NotInNumpyError, ZeroDivisionError, OverflowError, ValueError, TypeError):
        return count * sum(isinstance(it, ast.expr) for it in ast.walk(tree))
    return 0


def names_in(text: str) -> frozenset[str]:
    """Return the names that an expression uses, functions left out."""
    tree = _parse(text)
    called = {id(it.func) for it in ast.walk(tree) if isinstance(it, ast.Call)}
    return frozenset(it.id for it in ast.walk(tree) if isinstance(it, ast.Name) and id(it) not in called)


@lru_cache(maxsize=256)
def _parse(text: str) -> ast.expr:
    if len(text) > _MAX_TEXT:
        raise LaunchError(f"an expression of {len(text)} characters is too long", "use file:PATH")
    try:
        with warnings.catch_warnings():  # Python warns of literals such as `1if`, on stderr.
            warnings.simplefilter("ignore", SyntaxWarning)
            return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        bracket = isinstance(error, SyntaxError) and re.search("never closed|unmatched", error.msg)
        why = f": {error.msg}" if bracket else ""  # type: ignore[union-attr]
        raise LaunchError(
            f"`{text}` is not an arithmetic expression{why}", "write it as in Python: 2*N + 1"
        ) from error


def _guarded(text: str, work: Callable[[], _T]) -> _T:
    try:
        return work()
    except ZeroDivisionError as error:
        raise LaunchError(f"`{text}` divides by zero") from error
    except (OverflowError, ValueError, TypeError, RecursionError, MemoryError) as error:
        raise LaunchError(f"`{_short(text)}` has no value: {_short(str(error))}") from error


def _short(text: str) -> str:
    return text if len(text) <= 120 else text[:117] + "..."


def _scalar(node: ast.expr, names: Mapping[str, Number], text: str) -> Number:
    match node:
        case ast.Constant(value=bool(value)):
            return int(value)
        case ast.Constant(value=int(value) | float(value)):
            return value
        case ast.Name(id=name):
            if name not in names:
                known = ", ".join(sorted(names)) or "none"
                raise LaunchError(f"`{text}` uses `{name}`, which has no value here", f"known names: {known}")
            return names[name]
        case ast.UnaryOp(op=op, operand=operand):
            negated: Number = _unary(op, _scalar(operand, names, text), text)
            return negated
        case ast.BinOp(left=left, op=op, right=right):
            result: Number = _binary(op, _scalar(left, names, text), _scalar(right, names, text), text)
            if isinstance(result, complex):
                raise ValueError("it is a complex number")
            return result
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return _scalar(body if _scalar(test, names, text) else orelse, names, text)
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return int(_compare(op, _scalar(left, names, text), _scalar(right, names, text), text))
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in _FUNCTIONS:
            return _FUNCTIONS[name](*(_scalar(it, names, text) for it in args))
        case _:
            raise LaunchError(
                f"`{ast.unparse(node)}` in `{text}` is not arithmetic",
                f"allowed: numbers, names, operators and {', '.join(_FUNCTIONS)}",
            )


def _unary(op: ast.unaryop, value: Any, text: str) -> Any:
    match op:
        case ast.USub():
            return -value
        case ast.UAdd():
            return value
        case ast.Invert():
            return ~value
        case _:
            raise LaunchError(f"`not` in `{text}` is not arithmetic")


def _compare(op: ast.cmpop, left: Any, right: Any, text: str) -> Any:
    match op:
        case ast.Lt():
            return left < right
        case ast.LtE():
            return left <= right
        case ast.Gt():
            return left > right
        case ast.GtE():
            return left >= right
        case ast.Eq():
            return left == right
        case ast.NotEq():
            return left != right
        case _:
            raise LaunchError(f"the comparison in `{text}` is not arithmetic")


def _binary(op: ast.operator, left: Any, right: Any, text: str) -> Any:
    match op:
        case ast.Add():
            return left + right
        case ast.Sub():
            return left - right
        case ast.Mult():
            _check_bits(_bits(left) + _bits(right), text)
            return left * right
        case ast.Div():
            return left / right
        case ast.FloorDiv():
            return left // right
        case ast.Mod():
            return left % right
        case ast.Pow():
            _check_bits(_bits(left) * (abs(right) if isinstance(right, int) else 1), text)
            return left**right
        case ast.LShift():
            _check_bits(_bits(left) + right, text)
            return left << right
        case ast.RShift():
            return left >> right
        case ast.BitAnd():
            return left & right
        case ast.BitOr():
            return left | right
        case ast.BitXor():
            return left ^ right
        case _:
            raise LaunchError(f"`@` in `{text}` is not arithmetic")


def _bits(value: Number) -> int:
    return value.bit_length() if isinstance(value, int) else 64


def _check_bits(bits: int, text: str) -> None:
    if bits > _MAX_BITS:
        raise LaunchError(f"`{text}` grows beyond {_MAX_BITS} bits")


# ------------------------------------------------------------------------------------------ over an index


class _NotInNumpyError(Exception):
    """NumPy might round or wrap where Python does not."""


def _array(text: str, first: int, count: int, names: Mapping[str, Number]) -> NDArray[Any]:
    import numpy as np

    tree = _parse(text)
    try:
        with np.errstate(all="raise"):
            value, _ = _vector(tree, {**names, "i": np.arange(first, count, dtype=np.int64)}, text)
        return np.broadcast_to(np.asarray(value), (count - first,)).copy()
    except (_NotInNumpyError, FloatingPointError):
        found = _each(tree, {**names, "i": range(first, count)}, text)
        values = list(found) if isinstance(found, Sequence) else [found] * (count - first)
        wide = any(isinstance(it, int) and abs(it) >= _WIDE for it in values)
        mixed = wide or len({type(it) for it in values}) > 1  # NumPy would make doubles of both.
        return np.array(values, dtype=object if mixed else None)


_PLAIN: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}
"""Operators whose results are not much longer than their operands: nothing is to be checked."""


def _each(node: ast.expr, names: Mapping[str, Any], text: str) -> Number | Sequence[Number]:
    """Return the value for every `i` in `names["i"]`, or the one value where it does not depend on `i`.

    As `_scalar`, with the tree walked once instead of once for each value.
    """
    places: Sequence[int] = names["i"]
    match node:
        case ast.Name(id="i"):
            return places
        case ast.BinOp(left=left_node, op=op, right=right_node):
            left, right = _each(left_node, names, text), _each(right_node, names, text)
            plain = _PLAIN.get(type(op))
            if isinstance(left, Sequence) or isinstance(right, Sequence):
                columns = _column(left, places), _column(right, places)
                if plain is not None:
                    return list(map(plain, *columns))
                made = [_binary(op, a, b, text) for a, b in zip(*columns, strict=True)]
                if any(isinstance(it, complex) for it in made):
                    raise ValueError("it is a complex number")
                return made
            return _scalar(node, names, text)
        case ast.UnaryOp(op=sign, operand=operand) if isinstance(sign, ast.USub | ast.UAdd):
            value = _each(operand, names, text)
            if not isinstance(value, Sequence):
                return _scalar(node, names, text)
            return list(map(operator.neg, value)) if isinstance(sign, ast.USub) else value
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in _FUNCTIONS:
            found = [_each(it, names, text) for it in args]
            if not any(isinstance(it, Sequence) for it in found):
                return _scalar(node, names, text)
            return list(map(_FUNCTIONS[name], *(_column(it, places) for it in found)))
        case ast.Constant() | ast.Name():
            return _scalar(node, names, text)
        case _:  # Of a choice, only the side that is taken may be worked out.
            return [_scalar(node, {**names, "i": i}, text) for i in places]


def _column(value: Number | Sequence[Number], places: Sequence[int]) -> Iterable[Number]:
    return value if isinstance(value, Sequence) else repeat(value, len(places))


def _vector(node: ast.expr, names: Mapping[str, Any], text: str) -> tuple[Any, int]:
    """Return a value and, for integers, a bound of its magnitude."""
    import numpy as np

    match node:
        case ast.Constant() | ast.Name() if not (isinstance(node, ast.Name) and node.id == "i"):
            value = _scalar(node, {name: it for name, it in names.items() if name != "i"}, text)
            return value, _bound(abs(value)) if isinstance(value, int) else 0
        case ast.Name():
            places = names["i"]
            return places, int(places[-1]) + 1 if len(places) else 1
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            value, bound = _vector(operand, names, text)
            return -value, bound
        case ast.BinOp(left=left_node, op=op, right=right_node):
            left, left_bound = _vector(left_node, names, text)
            right, right_bound = _vector(right_node, names, text)
            whole = all(isinstance(it, int) or getattr(it, "dtype", None) == np.int64 for it in (left, right))
            if not whole:
                return _vector_float(op, left, right, text), 0
            return _vector_int(op, (left, left_bound), (right, right_bound))
        case _:
            raise _NotInNumpyError


def _vector_float(op: ast.operator, left: Any, right: Any, text: str) -> Any:
    if not isinstance(op, ast.Add | ast.Sub | ast.Mult | ast.Div):
        raise _NotInNumpyError
    return _binary(op, left, right, text)


def _vector_int(op: ast.operator, one: tuple[Any, int], two: tuple[Any, int]) -> tuple[Any, int]:
    import numpy as np

    (left, a), (right, b) = one, two
    match op:
        case ast.Add() | ast.Sub():
            bound = _bound(a + b)
        case ast.Mult():
            bound = _bound(a * b)
        case ast.Div():
            if max(a, b) >= _EXACT or np.any(np.asarray(right) == 0):
                raise _NotInNumpyError
            return left / right, 0
        case ast.FloorDiv() | ast.Mod():
            if np.any(np.asarray(right) == 0):
                raise ZeroDivisionError
            bound = a + b
        case ast.BitAnd() | ast.BitOr() | ast.BitXor():
            bound = _bound(1 << max(a, b).bit_length())
        case ast.RShift() if isinstance(right, int) and 0 <= right < 63:
            bound = a
        case ast.LShift() if isinstance(right, int) and 0 <= right < 62:
            bound = _bound(a << right)
        case _:
            raise _NotInNumpyError
    return _binary_plain(op, left, right), bound


def _binary_plain(op: ast.operator, left: Any, right: Any) -> Any:
    """As `_binary`, where bounds are known already (arrays have no `bit_length`)."""
    match op:
        case ast.Mult():
            return left * right
        case ast.LShift():
            return left << right
        case _:
            return _binary(op, left, right, "")


def _bound(value: int) -> int:
    if value >= _WIDE:
        raise _NotInNumpyError
    return value

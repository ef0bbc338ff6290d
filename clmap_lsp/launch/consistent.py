"""Guesses that agree with each other, as far as host code says how they hang together.

Host code often leaves all numbers of a launch open and still says much: `global = roundUp(n, 256)`, `n` as an
argument, `4 * group` bytes of local memory. What is guessed of one of them then gives the others.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from clmap_lsp.launch.model import Argument, Launch, LocalArgument, Origin, ScalarArgument
from clmap_lsp.launch.partial import Formulas, PartialLaunch
from clmap_lsp.source import ir
from clmap_lsp.source.types import AddressSpace, PointerType, ScalarType, points_to_local

_LONGEST = 200
"""Characters of a formula that is read."""
_MOST = 1 << 40
_MOST_ITEMS, _MOST_GROUP, _MOST_LOCAL = 1 << 24, 1024, 1 << 20
_WIDEST_SHIFT = 40
_MOST_NUMBERS = 4
"""Of a formula, which are tried."""
_FEW = 8
"""Smaller guesses are not what sizes are made of."""
_OPERATIONS: Final[Mapping[type[ast.operator], Callable[[int, int], int]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.floordiv,  # Of whole numbers, as C's.
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
}


def agreeing(kernel: ir.Kernel, launch: Launch, formulas: Formulas) -> PartialLaunch | None:
    """Return what the guesses of a launch make of what host code computes; None where that is nothing."""
    one = _of_one_group(kernel, launch, formulas)
    known = {one: launch.local_size[0]} if one is not None else dict(_bindings(launch, formulas))
    known |= _factors(launch, formulas, known)
    known |= solved(launch, formulas, known)
    sizes = _sizes(launch, formulas.global_size, known, _MOST_ITEMS, "global")
    local = _sizes(launch, formulas.local_size, known, _MOST_GROUP, "local")
    parsed: dict[str, Argument] = {}
    for parameter in kernel.parameters:
        text = formulas.arguments.get(parameter.name)
        value = _value(text, known) if text is not None and parameter.name in launch.inferred else None
        argument = None if value is None else _argument(parameter, value)
        if argument is not None:
            parsed[parameter.name] = argument
    offset = launch.global_offset or tuple(_offset(it, known) for it in formulas.offset)
    fits = all(size % group == 0 for size, group in zip(sizes, local, strict=False))
    is_same = sizes == launch.global_size and local == launch.local_size and not parsed
    if (is_same and offset == launch.global_offset) or not fits:
        return None
    # The others stay as they are: with sizes that are given, they would be guessed otherwise.
    guessed = {
        name: it
        for name, it in launch.arguments.items()
        if name in launch.inferred and isinstance(it, ScalarArgument)
    }
    return PartialLaunch(
        kernel.name, sizes, local, offset, parsed={**guessed, **parsed}, origin=Origin.INFERRED
    )


def _of_one_group(kernel: ir.Kernel, launch: Launch, formulas: Formulas) -> str | None:
    """Return what all work-items of a launch are counted by, where local memory is as long as they.

    Groups that share it are one group then, whose size the host leaves to the driver.
    """
    if launch.inferred.isdisjoint({"global", "local"}) or any(formulas.local_size):
        return None
    atom = _atom(_parsed(formulas.global_size[0])) if len(formulas.global_size) == 1 else None
    texts = (formulas.arguments.get(it.name) for it in kernel.parameters if points_to_local(it.type))
    counted = {each for it in texts if it is not None for each in _atoms(_parsed(it))}
    return atom if atom in counted else None


def _offset(text: str, known: Mapping[str, int]) -> int:
    """Return where global ids may start, by a formula in which what nobody knows is 0."""
    value = _computed(text, known, unknown=0)
    return value if value is not None and 0 <= value < _MOST else 0


def _bindings(launch: Launch, formulas: Formulas) -> Iterator[tuple[str, int]]:
    """Yield what names of the host program are taken for, what binds least first.

    A size is bound by the argument of its name before the other way round: there are clues for arguments.
    """
    for sizes, texts in (
        (launch.global_size, formulas.global_size),
        (launch.local_size, formulas.local_size),
    ):
        for size, text in zip(sizes, texts, strict=False):
            if (atom := _atom(_parsed(text))) is not None:
                yield atom, size
    counted = {it for text in formulas.global_size for it in _atoms(_parsed(text))}
    for name, text in formulas.arguments.items():
        argument, atom = launch.arguments.get(name), _atom(_parsed(text))
        if not isinstance(argument, ScalarArgument) or atom is None:
            continue
        value = argument.values[0]
        if isinstance(value, int) and value > 0 and (value >= _FEW or atom not in counted):
            yield atom, value


def _factors(launch: Launch, formulas: Formulas, known: Mapping[str, int]) -> dict[str, int]:
    """Return two names whose product is a guessed size, about as large: an image as one line."""
    if "global" not in launch.inferred:
        return {}
    for size, text in zip(launch.global_size, formulas.global_size, strict=False):
        match _parsed(text):
            case ast.BinOp(left=left, op=ast.Mult(), right=right):
                one, two = _atom(left), _atom(right)
                if one is not None and two is not None and one != two and not {one, two} & known.keys():
                    side = 1 << (max(size.bit_length() - 1, 0) + 1) // 2
                    return {one: side, two: max(size // side, 1)}
    return {}


def solved(launch: Launch, formulas: Formulas, known: Mapping[str, int]) -> dict[str, int]:
    """Return what is left open in the formula of a guessed size, where that is one thing: `n / 4` is 256."""
    found: dict[str, int] = {}
    if "global" not in launch.inferred:
        return found
    for size, text in zip(launch.global_size, formulas.global_size, strict=False):
        tree = _parsed(text)
        open_ = {it for it in _atoms(tree) if it not in known and it not in found}
        if tree is None or len(open_) != 1:
            continue
        (atom,) = open_
        numbers = {known.get(it, 0) or found.get(it, 0) for it in _atoms(tree)} | _numbers(tree)
        for value in _candidates(size, numbers):
            if value > 0 and _evaluated(tree, {**known, **found, atom: value}, None) == size:
                found[atom] = value
                break
    return found


def _numbers(tree: ast.expr) -> set[int]:
    return {it.value for it in ast.walk(tree) if isinstance(it, ast.Constant) and type(it.value) is int}


def _candidates(size: int, numbers: set[int]) -> Iterator[int]:
    """Yield what an unknown may be for a formula to come to a size: the size, taken by the numbers in it."""
    yield size
    for number in sorted(numbers)[:_MOST_NUMBERS]:
        yield from (size * number, size + number, size - number)
        if number > 0:
            yield size // number
        if 0 <= number < _WIDEST_SHIFT:
            yield from (size << number, size >> number)


def _sizes(
    launch: Launch, texts: tuple[str, ...], known: Mapping[str, int], most: int, name: str
) -> tuple[int, ...]:
    """Return sizes with what follows from the names put in; those of before where that is no size."""
    before = launch.global_size if name == "global" else launch.local_size
    if name not in launch.inferred or len(texts) != len(before):
        return before
    found = [_value(text, known) if text else None for text in texts]
    return tuple(it if it and it <= most else old for it, old in zip(found, before, strict=True))


def _argument(parameter: ir.Variable, value: int) -> Argument | None:
    match parameter.type:
        case PointerType(space=AddressSpace.LOCAL, pointee=pointee):
            count = value // max(pointee.size, 1)
            return LocalArgument(count) if 0 < count < _MOST_LOCAL else None
        case ScalarType(is_float=False):
            return ScalarArgument((value,))
        case _:
            return None


def _atoms(tree: ast.expr | None) -> Iterator[str]:
    """Yield what a formula computes with: names, elements, calls."""
    if (atom := _atom(tree)) is not None:
        yield atom
    elif isinstance(tree, ast.BinOp):
        yield from _atoms(tree.left)
        yield from _atoms(tree.right)


def _value(text: str, known: Mapping[str, int]) -> int | None:
    """Return what a formula comes to; None where a name or an operation in it is not known."""
    value = _computed(text, known)
    return value if value is not None and 0 < value < _MOST else None


def _computed(text: str, known: Mapping[str, int], unknown: int | None = None) -> int | None:
    tree = _parsed(text)
    return None if tree is None else _evaluated(tree, known, unknown)


def _parsed(text: str) -> ast.expr | None:
    if not text or len(text) > _LONGEST:
        return None
    try:
        return ast.parse(text.replace("->", "."), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None


def _evaluated(node: ast.expr, known: Mapping[str, int], unknown: int | None) -> int | None:
    """Return what a formula comes to; `unknown` stands for the parts of it that nobody knows."""
    if (atom := _atom(node)) is not None:
        return known.get(atom, unknown)
    match node:
        case ast.Constant(value=int(value)) if abs(value) < _MOST:
            return int(value)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATIONS:
            sides = _evaluated(left, known, unknown), _evaluated(right, known, unknown)
            if sides[0] is None or sides[1] is None or not _is_defined(op, sides[1]):
                return None
            value = _OPERATIONS[type(op)](sides[0], sides[1])
            return value if abs(value) < _MOST else None
        case _:
            return unknown


def _is_defined(op: ast.operator, right: int) -> bool:
    match op:
        case ast.Div() | ast.FloorDiv() | ast.Mod():
            return right != 0
        case ast.LShift() | ast.RShift():
            return 0 <= right < _WIDEST_SHIFT
        case _:
            return True


def _atom(node: ast.expr | None) -> str | None:
    """Return what stands for a value that nothing here computes, as it is written: `a.b`, `sizes[i - 1]`."""
    return (
        ast.unparse(node) if isinstance(node, ast.Name | ast.Attribute | ast.Subscript | ast.Call) else None
    )

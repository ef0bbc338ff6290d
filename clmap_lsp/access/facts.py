"""What is known about the symbols of one kernel: intervals of values, with or without a launch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from clmap_lsp.access.polynomial import (
    Atom,
    Indirect,
    LoopSymbol,
    Op,
    Operation,
    Parameter,
    Polynomial,
    WorkItemSymbol,
    parts_first,
)
from clmap_lsp.launch.work_items import ranges
from clmap_lsp.source.ir import WorkItemQuery

if TYPE_CHECKING:
    from clmap_lsp.launch.model import Launch

Interval = tuple[int | None, int | None]
"""Lowest and highest value, both included; `None` where there is no bound."""

EVERYTHING: Final[Interval] = (None, None)
_TRUTH: Final[Interval] = (0, 1)
_SIZES: Final = frozenset(
    {
        WorkItemQuery.WORK_DIM,
        WorkItemQuery.GLOBAL_SIZE,
        WorkItemQuery.LOCAL_SIZE,
        WorkItemQuery.ENQUEUED_LOCAL_SIZE,
        WorkItemQuery.NUM_GROUPS,
        WorkItemQuery.SUB_GROUP_SIZE,
        WorkItemQuery.MAX_SUB_GROUP_SIZE,
        WorkItemQuery.NUM_SUB_GROUPS,
        WorkItemQuery.ENQUEUED_NUM_SUB_GROUPS,
    }
)


class Facts:
    """Intervals of symbols, and of polynomials over them.

    Args:
        launch: bounds ids and sizes, and gives scalar arguments their values, for *deciding* only: the
            polynomials themselves keep their symbols.
        group_size: `reqd_work_group_size`, which holds for every launch.
    """

    def __init__(self, launch: Launch | None = None, group_size: tuple[int, int, int] | None = None) -> None:
        self.launch = launch
        self.group_size = group_size
        self.scalars: Mapping[str, int] = _integer_scalars(launch)
        self._symbols = _launch_intervals(launch, group_size)
        self._cache: dict[Polynomial, Interval] = {}
        self._atoms: dict[Atom, Interval] = {}
        self._with_turn: dict[LoopSymbol, list[Operation]] = {}
        """The operations in `_atoms` that hold a loop's turn."""

    def interval(self, value: Polynomial) -> Interval:
        """Return bounds that hold for every work-item and turn."""
        number = value.value
        if number is not None:
            return number, number
        known = self._cache.get(value)
        if known is None:
            known = self._cache[value] = self._sum(value)
        return known

    def is_non_negative(self, value: Polynomial) -> bool:
        """True if it is proved to be at least 0."""
        low = self.interval(value)[0]
        return low is not None and low >= 0

    def number(self, value: Polynomial) -> int | None:
        """Return the one value that it can have, if there is one."""
        low, high = self.interval(value)
        return low if low == high else None

    def describe(self, turn: LoopSymbol) -> None:
        """Take over what has become known about a loop's turns; values that held them are worked out anew."""
        self._atoms[turn] = self._of_atom(turn)
        self._cache.clear()
        for known in self._with_turn.pop(turn, ()):
            self._atoms.pop(known, None)

    def atom_interval(self, atom: Atom) -> Interval:
        """Return the bounds of one atom."""
        known = self._atoms.get(atom)
        if known is None:
            for part in parts_first(Polynomial.of(atom), self._atoms.__contains__):
                self._keep(part)
            known = self._atoms.get(atom)
        return self._keep(atom) if known is None else known

    def _keep(self, atom: Atom) -> Interval:
        bounds = self._atoms[atom] = self._of_atom(atom)
        if isinstance(atom, Operation):
            for turn in atom.loop_symbols:
                self._with_turn.setdefault(turn, []).append(atom)
        return bounds

    # ------------------------------------------------------------------------------------ details

    def _sum(self, value: Polynomial) -> Interval:
        low: int | None = 0
        high: int | None = 0
        for monomial, coefficient in value.terms.items():
            bounds: Interval = (1, 1)
            for atom in monomial:
                bounds = _times(bounds, self.atom_interval(atom))
            if len(monomial) == 2 and monomial[0] == monomial[1]:
                bounds = meet(bounds, (0, None))
            a, b = _times(bounds, (coefficient, coefficient))
            low = None if low is None or a is None else low + a
            high = None if high is None or b is None else high + b
            if low is None and high is None:
                break
        return low, high

    def _of_atom(self, atom: Atom) -> Interval:
        match atom:
            case WorkItemSymbol(query=query):
                default = (1, None) if query in _SIZES else (0, None)
                return self._symbols.get((query, atom.dimension), default)
            case Parameter():
                value = self.scalars.get(atom.name)
                if value is not None:
                    return value, value
                return (0, None) if atom.unsigned else EVERYTHING
            case LoopSymbol(trip=trip):
                high = None if trip is None else self.interval(trip)[1]
                return 0, (None if high is None else max(high - 1, 0))
            case Indirect(unsigned=True):
                return 0, None
            case Operation():
                return self._of_operation(atom)
            case _:
                return EVERYTHING

    def _of_operation(self, it: Operation) -> Interval:
        intervals = [self.interval(operand) for operand in it.operands]
        match it.op:
            case Op.LT | Op.LE | Op.EQ | Op.NE | Op.LOGICAL_AND | Op.LOGICAL_OR | Op.LOGICAL_NOT:
                return _TRUTH
            case Op.FLOOR_DIV | Op.TRUNC_DIV:
                return _quotient(intervals[0], intervals[1], it.op is Op.TRUNC_DIV)
            case Op.MOD:
                return _modulo(intervals[0], intervals[1])
            case Op.REM:
                low, high = _modulo((0, None), intervals[1])
                if intervals[0][0] is not None and intervals[0][0] >= 0:
                    return meet((low, high), (0, intervals[0][1]))
                return None if high is None else -high, high
            case Op.MIN:
                (a, b), (c, d) = intervals
                return _least(a, c), _lower(b, d)
            case Op.MAX:
                (a, b), (c, d) = intervals
                return _higher(a, c), _greatest(b, d)
            case Op.ABS:
                return _absolute(intervals[0])
            case Op.SELECT:
                return join(intervals[1], intervals[2])
            case Op.AND:
                return _masked(intervals)
            case Op.OR | Op.XOR:
                return _bitwise(intervals)
            case Op.SHL:
                return _shifted(intervals)
            case Op.SHR:
                low, high = intervals[0]
                if low is not None and low >= 0:
                    return 0, high
                return EVERYTHING
            case Op.POW:
                return (1, None) if (intervals[0][0] or 0) >= 1 else EVERYTHING
            case Op.PRODUCT:
                return _times(intervals[0], intervals[1])
            case Op.WRAP_UNSIGNED:
                bits = it.operands[1].value or 0
                return 0, (1 << bits) - 1
            case Op.WRAP_SIGNED:
                bits = it.operands[1].value or 0
                return -(1 << (bits - 1)), (1 << (bits - 1)) - 1
            case Op.POPCOUNT | Op.CLZ:
                return 0, 64
            case _:
                return EVERYTHING


def join(a: Interval, b: Interval) -> Interval:
    """Return the smallest interval that holds both."""
    return _least(a[0], b[0]), _greatest(a[1], b[1])


def meet(a: Interval, b: Interval) -> Interval:
    """Return what both intervals have in common."""
    return _higher(a[0], b[0]), _lower(a[1], b[1])


def _least(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else min(a, b)


def _greatest(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else max(a, b)


def _lower(a: int | None, b: int | None) -> int | None:
    return b if a is None else a if b is None else min(a, b)


def _higher(a: int | None, b: int | None) -> int | None:
    return b if a is None else a if b is None else max(a, b)


def _times(a: Interval, b: Interval) -> Interval:
    if a == (1, 1):
        return b
    if b == (1, 1):
        return a
    (al, ah), (bl, bh) = a, b
    if al is not None and al >= 0 and bl is not None and bl >= 0:
        if ah == 0 or bh == 0:
            return 0, 0
        return al * bl, (None if ah is None or bh is None else ah * bh)
    if al is not None and ah is not None and al == ah:
        return _scaled(b, al)
    if bl is not None and bh is not None and bl == bh:
        return _scaled(a, bl)
    if al is None or ah is None or bl is None or bh is None:
        return EVERYTHING
    corners = (al * bl, al * bh, ah * bl, ah * bh)
    return min(corners), max(corners)


def _scaled(a: Interval, factor: int) -> Interval:
    if factor == 0:
        return 0, 0
    low = None if a[0] is None else a[0] * factor
    high = None if a[1] is None else a[1] * factor
    return (low, high) if factor > 0 else (high, low)


def _quotient(a: Interval, b: Interval, truncates: bool) -> Interval:
    if b[0] is None or b[0] < 1:
        return (0, a[1]) if a[0] is not None and a[0] >= 0 and truncates is False else EVERYTHING

    def divided(value: int, by: int) -> int:
        return -(-value // by) if truncates and value < 0 else value // by

    def bound(value: int | None, for_low: bool) -> int | None:
        if value is None:
            return None
        if (value < 0) == for_low:
            return divided(value, b[0] or 1)
        return divided(value, b[1]) if b[1] is not None else (0 if value >= 0 or truncates else -1)

    return bound(a[0], True), bound(a[1], False)


def _modulo(a: Interval, b: Interval) -> Interval:
    if b[0] is None or b[0] < 1:
        return (0, a[1]) if a[0] is not None and a[0] >= 0 else EVERYTHING
    high = None if b[1] is None else b[1] - 1
    if a[0] is not None and a[0] >= 0:
        high = _lower(high, a[1])
    return 0, high


def _absolute(a: Interval) -> Interval:
    low, high = a
    if low is not None and low >= 0:
        return a
    if low is None or high is None:
        return 0, None
    return 0, max(-low, high)


def _masked(intervals: list[Interval]) -> Interval:
    highs = [high for low, high in intervals if low is not None and low >= 0]
    if not highs:
        return EVERYTHING
    bounded = [high for high in highs if high is not None]
    return 0, (min(bounded) if bounded else None)


def _bitwise(intervals: list[Interval]) -> Interval:
    if any(low is None or low < 0 for low, _ in intervals):
        return EVERYTHING
    highs = [high for _, high in intervals if high is not None]
    if len(highs) < len(intervals):
        return 0, None
    return 0, (1 << max(highs).bit_length()) - 1


def _shifted(intervals: list[Interval]) -> Interval:
    (low, high), (_, most) = intervals
    if low is None or low < 0:
        return EVERYTHING
    if most is not None and most < 0:
        return EVERYTHING  # A negative count means nothing here: C's is taken modulo the width before.
    if high is None or most is None or most > 62:
        return 0, None
    return 0, high << most


def _integer_scalars(launch: Launch | None) -> dict[str, int]:
    from clmap_lsp.launch.model import ScalarArgument

    found = {}
    for name, argument in (launch.arguments if launch is not None else {}).items():
        if isinstance(argument, ScalarArgument) and argument.members:
            for member, value in zip(argument.members, argument.values, strict=True):
                if isinstance(value, int):
                    found[f"{name}{member}"] = value
        elif isinstance(argument, ScalarArgument):
            if len(argument.values) == 1 and isinstance(argument.values[0], int):
                found[name] = argument.values[0]
            elif len(argument.values) > 1:
                for lane, value in zip("xyzw", argument.values, strict=False):
                    if isinstance(value, int):
                        found[f"{name}.{lane}"] = value
    return found


def _launch_intervals(
    launch: Launch | None, group_size: tuple[int, int, int] | None
) -> dict[tuple[WorkItemQuery, int], Interval]:
    query = WorkItemQuery
    found: dict[tuple[WorkItemQuery, int], Interval] = {}
    if launch is None:
        for dimension, size in enumerate(group_size or ()):
            found[query.LOCAL_ID, dimension] = 0, size - 1
            found[query.LOCAL_SIZE, dimension] = found[query.ENQUEUED_LOCAL_SIZE, dimension] = size, size
        return found
    return dict(ranges(launch.global_size, launch.local_size, launch.global_offset))

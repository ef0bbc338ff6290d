"""Words for counts that depend on a size: `8 sectors if N % 8 == 0, else 9`, `gcd(N, 32) wavefronts`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from math import gcd

Number = Fraction | int

_MAX_LENGTH = 90
"""Characters of a list of residues that a person would still read."""
_MAX_EXCEPTIONS = 6
_MAX_RUNS = 4


def describe_counts(
    table: Sequence[Number],
    small: Sequence[Number],
    *,
    first: int,
    settled: int,
    unit: str,
    symbol: str,
    is_brief: bool,
) -> str:
    """Return the words for `table[N % len(table)]` from `settled` on and `small` from `first` until then.

    With `is_brief`, lists that a person would not read are summed up as ranges, and fractions are rounded.
    """
    writer = _Writer(unit, symbol, is_brief)
    if settled <= first:
        return writer.settled(table, " for every " + symbol)
    if len(table) == 1 and (line := _line(small, first, table[0])):
        return writer.growing(line, table[0], first, settled)
    if len(table) == 1:
        main = writer.settled(table, f" for {symbol} >= {settled}")
    else:
        main = f"for {symbol} >= {settled}: {writer.settled(table, '')}"
    return f"{main}; {writer.exceptions(small, first, settled)}"


class _Writer:
    def __init__(self, unit: str, symbol: str, is_brief: bool) -> None:
        self._unit = unit
        self._symbol = symbol
        self._is_brief = is_brief

    def number(self, value: Number) -> str:
        if value.denominator == 1:
            return str(value.numerator)
        exact = f"{float(value):.4f}".rstrip("0")
        if Fraction(exact) == value:
            return exact
        return f"{float(value):.3g}" if self._is_brief else f"{value.numerator}/{value.denominator}"

    def counted(self, value: Number) -> str:
        return f"{self.number(value)} {singular(self._unit) if value == 1 else self._unit}"

    def settled(self, table: Sequence[Number], where: str) -> str:
        """Words for the residue table."""
        values = Counter(table)
        if len(values) == 1:
            return self.counted(table[0]) + where
        if form := _gcd_form(table, self._symbol):
            factor, text, least = form
            scaled = text if factor == 1 else f"{self.number(factor)} * {text}"
            if self._is_brief:
                return self._least_and(table, scaled)
            return f"{scaled if least is None else f'max({self.number(least)}, {scaled})'} {self._unit}"
        clauses = self._clauses(table)
        if self._is_brief and sum(map(len, clauses)) > _MAX_LENGTH:
            return self._good_case(table)
        return ", ".join(clauses)

    def _least_and(self, table: Sequence[Number], text: str) -> str:
        """Name where the count is lowest, and the words for all other sizes."""
        low = min(table)
        others = [at for at, value in enumerate(table) if value != low]
        where = self._condition(others, len(table))
        if where.startswith(f"{self._symbol} % 2 == "):
            parity = "odd" if where.endswith("0") else "even"
            return f"{self.counted(low)} if {self._symbol} is {parity}, else {text}"
        return f"{self.counted(low)} unless {where}, then {text}"

    def _good_case(self, table: Sequence[Number]) -> str:
        """Name where the count is lowest, and how high it gets: `1 if N is a multiple of 8, else up to 2`."""
        low, high, n = min(table), max(table), len(table)
        best = {at for at, value in enumerate(table) if value == low}
        steps = ((step, at) for step in range(1, n + 1) if n % step == 0 for at in range(step))
        step, at = next(it for it in steps if best.issuperset(range(it[1], n, it[0])))
        where = f"is a multiple of {step}" if at == 0 else f"% {step} == {at}"
        top, mean = self.number(high), f"{float(sum(table) / n):.3g}"
        return f"{self.counted(low)} if {self._symbol} {where}, else up to {top}, {mean} on average"

    def _clauses(self, table: Sequence[Number]) -> list[str]:
        """Write `v if N % d == r` for each value, the lowest first, and `else` for the most frequent one.

        Where the lowest is the most frequent one, it is `v`, and the others are `but w if N % d == r`.
        """
        common = max(Counter(table).items(), key=lambda it: (it[1], it[0]))[0]
        others = sorted(set(table) - {common})
        is_best = common < others[0]
        counts = [self.number(it) for it in others]
        if not is_best:
            counts[0] = self.counted(others[0])
        clauses = [
            f"{count} if {self._condition([at for at, it in enumerate(table) if it == value], len(table))}"
            for count, value in zip(counts, others, strict=True)
        ]
        if is_best:
            return [self.counted(common), f"but {clauses[0]}", *clauses[1:]]
        return [*clauses, f"else {self.number(common)}"]

    def _condition(self, residues: list[int], period: int) -> str:
        for divisor in range(1, period + 1):
            if period % divisor == 0 and residues == list(range(residues[0] % divisor, period, divisor)):
                return f"{self._symbol} % {divisor} == {residues[0] % divisor}"
        return f"{self._symbol} % {period} in {{{', '.join(runs(residues))}}}"

    def exceptions(self, small: Sequence[Number], first: int, settled: int) -> str:
        """Words for the values of N before the table holds."""
        if first + len(small) < settled:
            return f"a smaller {self._symbol} is counted by itself"
        groups: dict[Number, list[int]] = {}
        for at, value in enumerate(small):
            groups.setdefault(value, []).append(first + at)
        texts = [(value, runs(sizes)) for value, sizes in groups.items()]
        is_long = len(texts) > _MAX_EXCEPTIONS or any(len(it) > _MAX_RUNS for _, it in texts)
        if self._is_brief and is_long:
            low = min(small)
            where = f"{self._symbol} = {runs(groups[low])[0]}"
            return f"{self.number(low)} ({where}) to {self.number(max(small))} for a smaller {self._symbol}"
        return ", ".join(
            f"{self.number(value)} for {self._symbol} = {' or '.join(it)}" for value, it in texts
        )

    def growing(self, line: tuple[Number, Number], top: Number, first: int, settled: int) -> str:
        """Words for a count that grows with N up to a limit."""
        slope, start = line
        if self._is_brief:
            least, name = self.counted(slope * first + start), self._symbol
            return f"{least} if {name} == {first}, growing to {self.number(top)} at {name} = {settled}"
        text = self._symbol if slope == 1 else f"{self.number(slope)} * {self._symbol}"
        if start:
            text += f" {'+' if start > 0 else '-'} {self.number(start if start > 0 else -start)}"
        return f"min({text}, {self.number(top)}) {self._unit}"


def _line(small: Sequence[Number], first: int, top: Number) -> tuple[Number, Number] | None:
    """Return (slope, start) if the values before the limit `top` grow as slope * N + start, up to it."""
    if len(small) < 2:
        return None
    slope = small[1] - small[0]
    start = small[0] - slope * first
    grown = all(value == min(slope * (first + at) + start, top) for at, value in enumerate(small))
    return (slope, start) if slope > 0 and grown and slope * (first + len(small)) + start >= top else None


def _gcd_form(table: Sequence[Number], symbol: str) -> tuple[Number, str, Number | None] | None:
    """Return (c, text, None) for c * `gcd(N + b, k)`, (1, text, low) for a table of `max(low, text)`."""
    low, high = min(table), max(table)
    if len(set(table)) < 3 or low <= 0:
        return None
    peak = table.index(high)
    for size in dict.fromkeys((int(high / low), len(table))):
        factor = Fraction(high) / size
        over, under = factor.numerator, factor.denominator
        if len(table) % size or (factor < 1 and over != 1):
            continue
        shift = -peak % size
        shift -= size if shift > size // 2 else 0
        if any(
            value * under != max(low * under, over * gcd(at + shift, size)) for at, value in enumerate(table)
        ):
            continue
        moved = symbol if not shift else f"{symbol} {'+' if shift > 0 else '-'} {abs(shift)}"
        text = f"gcd({moved}, {size})"
        if factor >= low:
            return factor, text, None
        scaled = f"{factor} * {text}" if factor > 1 else f"{text} / {under}" if factor < 1 else text
        return 1, scaled, low
    return None


def runs(values: Sequence[int]) -> list[str]:
    """Return ascending whole numbers as `3` and, from three in a row on, `5..8`."""
    texts: list[str] = []
    start = 0
    for at, value in enumerate(values):
        if at + 1 == len(values) or values[at + 1] != value + 1:
            is_run = at - start >= 2
            texts += [f"{values[start]}..{value}"] if is_run else [str(it) for it in values[start : at + 1]]
            start = at + 1
    return texts


def singular(unit: str) -> str:
    """Return the singular of a unit: `pass` of `passes`, `sector` of `sectors`."""
    return unit[:-2] if unit.endswith("sses") else unit.removesuffix("s")

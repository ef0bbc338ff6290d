"""From rows of addresses to requests, sectors and wavefronts.

What an access of one row costs depends on its lanes' pattern and on where its base stands within a granule.
The pattern is evaluated once for each residue of the base that occurs; how often each occurs over all groups
and turns is a convolution of the dimensions' residues, so that cost does not grow with the size of a launch.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import field, replace
from fractions import Fraction
from functools import lru_cache
from math import gcd
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clmap_lsp.caches import droppable
from clmap_lsp.dataclass import dataclass
from clmap_lsp.devices import rules
from clmap_lsp.devices.model import BankedLocal, CachedLocal, DeviceModel, Unknown
from clmap_lsp.emulator.symbolic.control import Spending
from clmap_lsp.emulator.symbolic.recurring import contents
from clmap_lsp.emulator.symbolic.rows import Rows
from clmap_lsp.emulator.symbolic.space import dims_of
from clmap_lsp.emulator.symbolic.values import Ints, Sym, affordable, spread
from clmap_lsp.interruption import checkpoint
from clmap_lsp.source.ir import AtomicOp
from clmap_lsp.source.types import AddressSpace

_CONSTANT_MODULUS = 256
_CHEAP_CELLS = 1 << 12
_MOST_SMALL = 512
_MASK_LOOKED_AT = 64
"""Elements of a mask that are looked at in the time that an address takes."""
_small: dict[tuple[DeviceModel, tuple[Any, ...]], tuple[Tally, ...]] = droppable({})
"""What cheap patterns cost: those of the kernels of one file are much the same."""


@dataclass(slots=True)
class Tally:
    """Counts of one access, added up over rows. `units` are sectors, wavefronts or constant-memory passes."""

    executions: int = 0
    requests: int = 0
    units: int = 0
    ideal: int = 0
    """Units that the same bytes would take side by side."""
    least: int | None = None
    most: int = 0
    unknown: str | None = None
    first_byte: int | None = None
    end_byte: int = 0

    def add(self, other: Tally, times: int = 1) -> None:
        """Add `times` the counts of another tally."""
        self.executions += times * other.executions
        self.requests += times * other.requests
        self.units += times * other.units
        self.ideal += times * other.ideal
        if other.least is not None:
            self.least = other.least if self.least is None else min(self.least, other.least)
        self.most = max(self.most, other.most)
        self.unknown = self.unknown or other.unknown
        if other.first_byte is not None:
            first = other.first_byte
            self.first_byte = first if self.first_byte is None else min(self.first_byte, first)
            self.end_byte = max(self.end_byte, other.end_byte)

    def add_piece(self, units: Ints, ideal: Ints, used: NDArray[np.bool_]) -> None:
        """Add what one instruction costs, each of shape (SIMD groups,); `used`: those with a lane active."""
        if not used.any():
            return
        self.units += int(units[used].sum())
        self.ideal += int(ideal[used].sum())
        least = int(units[used].min())
        self.least = least if self.least is None else min(self.least, least)
        self.most = max(self.most, int(units[used].max()))

    def moved(self, by: int) -> Tally:
        """Return the counts of the same pattern so many bytes further on."""
        if not by or self.first_byte is None:
            return self
        return replace(self, first_byte=self.first_byte + by, end_byte=self.end_byte + by)

    def scaled(self, by: Fraction) -> Tally:
        """Return the counts of a sample scaled up to what it was taken from."""

        def times(number: int) -> int:
            return round(number * by)

        return replace(
            self,
            executions=times(self.executions),
            requests=times(self.requests),
            units=times(self.units),
            ideal=times(self.ideal),
        )


@dataclass(slots=True, eq=False)
class Counter:
    """Counts rows for one device; equal patterns are evaluated once."""

    device: DeviceModel
    spending: Spending
    _cache: dict[tuple[Any, ...], tuple[Tally, ...]] | None = None
    _whole: dict[Hashable, tuple[int, Tally]] = field(default_factory=dict)
    """Counts of rows that differ from others in where they begin alone, and where those begin."""

    def count(self, rows: Rows) -> Tally:
        """Return the exact counts of all executions in `rows`. Raises: OverBudgetError."""
        checkpoint()
        self.spending.accesses += 1
        modulus = self._modulus(rows)
        key = _alike(rows, modulus)
        at, known = self._whole.get(key, (0, None))
        if known is None:
            at, known = rows.offset.const, self._counted(rows, modulus)
            self._whole[key] = at, known
        elif not isinstance(rows.mask, bool):
            self.spending.spend(cells=rows.mask.size // _MASK_LOOKED_AT)
        return known.moved(rows.offset.const - at)

    def _counted(self, rows: Rows, modulus: int) -> Tally:
        addresses, mask, rest = dense(rows)
        least = int(addresses.min())
        base = rest.const + least
        if least:  # Arrays may be large: what changes nothing makes no copy.
            addresses = addresses - least
        histogram = residues(base, [(c, rows.counts[d]) for d, c in rest.coefs], modulus)
        total = Tally()
        multiplicity = sum(times for _, times in histogram)
        per_residue = self._patterns(rows, addresses, mask, [it for it, _ in histogram])
        for tally, (_, times) in zip(per_residue, histogram, strict=True):
            total.add(tally, times)
        repeats = times_repeated(rows, rest, addresses) // multiplicity
        whole = Tally()
        whole.add(total, repeats)
        _extent(whole, rows, addresses, mask, rest, base)
        return whole

    def _modulus(self, rows: Rows) -> int:
        """Return a number of bytes by which a shift of all lanes changes nothing."""
        match rows.space, self.device.local_rule:
            case AddressSpace.LOCAL, BankedLocal(banks=banks, bank_bytes=width, rows_joined=joined):
                if joined > 1:  # Which words share a row depends on where the aligned rows begin.
                    return banks * width * joined
                return width * (2 if rows.moved.size > width else 1)
            case AddressSpace.LOCAL, CachedLocal(line_bytes=line):
                return line
            case AddressSpace.CONSTANT, _:
                return _CONSTANT_MODULUS
            case _:
                rule = self.device.global_rule
                granule = rule.load_granule if rows.op == "load" else rule.store_granule
                return granule or 1

    def _patterns(
        self, rows: Rows, addresses: Ints, mask: NDArray[np.bool_], found: list[int]
    ) -> tuple[Tally, ...]:
        if self._cache is None:
            self._cache = {}
        cells = len(addresses) * _whole_groups(addresses.shape[1], self.device.simd_width)
        costs = cells > _CHEAP_CELLS
        key = (
            addresses.tobytes(),
            mask.tobytes(),
            addresses.shape,
            tuple(found),
            rows.moved,
            rows.op,
            rows.op == "atomic" and is_uniform_in_group(rows.offset),
            rows.space,
        )
        known = self._cache.get(key)
        self.spending.spend(cells=cells * (len(found) if known is None else 1) if costs else 0)
        if known is None:
            self.spending.count_pattern()
            known = None if costs else _small.get((self.device, key))
            if known is None:
                known = tuple(self._evaluate(rows, addresses, mask, found))
            self._cache[key] = known
            if not costs:
                if len(_small) == _MOST_SMALL:
                    _small.clear()
                _small[self.device, key] = known
        return known

    def _evaluate(
        self, rows: Rows, addresses: Ints, mask: NDArray[np.bool_], found: list[int]
    ) -> list[Tally]:
        """Return the counts of a pattern of shape (rows, lanes) for each residue, by instructions."""
        width = self.device.simd_width
        lanes, active = in_simd_groups(addresses, width), in_simd_groups(mask, width)
        pieces = rows.moved.pieces(self.device)
        requests = int(np.count_nonzero(active.any(axis=1))) * len(pieces)
        executions = int(np.count_nonzero(active))
        shifted = (np.array(found, np.int64)[:, None, None] + lanes).reshape(-1, lanes.shape[1])
        repeated = np.broadcast_to(active, (len(found), *active.shape)).reshape(-1, lanes.shape[1])
        tallies = [Tally(executions, requests) for _ in found]
        for offset, size in pieces:
            units = self._units(rows, size, shifted + offset, repeated)
            if isinstance(units, Unknown):
                return [Tally(executions, requests, unknown=units.reason) for _ in found]
            ideal = self._ideal(rows, size, lanes, active)
            for tally, part in zip(tallies, units.reshape(len(found), -1), strict=True):
                tally.add_piece(part, ideal, active.any(axis=1))
        return tallies

    def _units(
        self, rows: Rows, size: int, addresses: Ints, active: NDArray[np.bool_]
    ) -> NDArray[np.int64] | Unknown:
        if rows.op == "atomic":
            return self._atomic_units(rows, size, addresses, active)
        op: rules.Op = "load" if rows.op == "load" else "store"
        match rows.space:
            case AddressSpace.LOCAL:
                return rules.local_wavefronts(addresses, active, size, op, self.device)
            case AddressSpace.CONSTANT:
                return rules.constant_passes(addresses, active, size, self.device)
            case _:
                return rules.global_sectors(addresses, active, size, self.device, op)

    def _atomic_units(
        self, rows: Rows, size: int, addresses: Ints, active: NDArray[np.bool_]
    ) -> NDArray[np.int64] | Unknown:
        """Count an atomic as it was measured; what was not measured is unknown."""
        form = rows.moved.atomic
        if form is None or form.op in (AtomicOp.LOAD, AtomicOp.STORE):
            return Unknown(rules.NO_ATOMICS)
        # Compilers see that the whole group has one address: its SIMD groups' lanes are summed up first.
        summed = form.adds and is_uniform_in_group(rows.offset)
        if rows.space is not AddressSpace.LOCAL:
            return rules.atomic_sectors(addresses, active, size, self.device, summed_first=summed)
        if form.bits != 32:
            return Unknown("an atomic of this width on local memory is a loop of tries")
        turns = 2 if form.op is AtomicOp.COMPARE_EXCHANGE else 1
        shares = form.adds_one and not form.keeps
        found = rules.atomic_wavefronts(addresses, active, self.device, shares_words=shares, turns=turns)
        return np.minimum(found, 1) if summed and not isinstance(found, Unknown) else found

    def _ideal(self, rows: Rows, size: int, addresses: Ints, active: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return per SIMD group the units that its distinct elements would take, side by side and aligned."""
        distinct = rules.distinct_granules(addresses, active, 1, 1)
        op: rules.Op = "load" if rows.op == "load" else "store"
        if rows.space is AddressSpace.CONSTANT:
            return np.minimum(distinct, 1)
        best = _ideal_table(self.device, rows.space is AddressSpace.LOCAL, size, op)
        return np.zeros(len(distinct), np.int64) if best is None else best[distinct]


def _alike(rows: Rows, modulus: int) -> Hashable:
    """Return what the counts of an access follow from, but for where its addresses begin."""
    offset, mask = rows.offset, rows.mask
    return (
        (rows.op, rows.space, rows.moved, rows.n_lanes, rows.counts, offset.const % modulus, offset.coefs),
        is_uniform_in_group(offset),
        contents(offset.array),
        contents(mask),
    )


def in_simd_groups(array: Any, width: int) -> Any:
    """Cut (rows, lanes) into SIMD groups: (rows * groups, width); the last is filled up, inactive."""
    n_lanes = array.shape[1]
    whole = _whole_groups(n_lanes, width)
    if whole != n_lanes:
        array = np.pad(array, ((0, 0), (0, whole - n_lanes)))
    return array.reshape(-1, width)


def _whole_groups(lanes: int, width: int) -> int:
    """Return the lanes of as many SIMD groups as a work-group takes, the idle ones of the last included."""
    return -(-lanes // width) * width


def is_uniform_in_group(value: Sym) -> bool:
    """Tell whether all lanes of a work-group have one number."""
    return value.array is None or value.array.shape[-1] == 1


@lru_cache(maxsize=256)
def _ideal_table(device: DeviceModel, is_local: bool, size: int, op: rules.Op) -> NDArray[np.int64] | None:
    """Return the ideal units of 0 … `simd_width` distinct elements; `None` if no rule is known."""
    lanes = np.arange(device.simd_width + 1, dtype=np.int64)
    best = (
        rules.ideal_wavefronts(lanes, size, device, op)
        if is_local
        else rules.ideal_sectors(lanes, size, device, op)
    )
    return None if isinstance(best, Unknown) else np.asarray(best)


def dense(rows: Rows) -> tuple[Ints, NDArray[np.bool_], Sym]:
    """Return addresses and mask of shape (rows, lanes), and what of the offset stays symbolic.

    Raises: OverBudgetError.
    """
    mask = rows.mask
    mask_dims = (
        set()
        if isinstance(mask, bool)
        else {axis for axis, length in enumerate(reversed(mask.shape[:-1])) if length > 1}
    )
    own = dims_of(Sym(0, (), rows.offset.array))
    value = spread(rows.offset, (own | mask_dims) & {d for d, _ in rows.offset.coefs}, rows.counts)
    array = value.array if value.array is not None else np.zeros(1, np.int64)
    active = np.asarray(mask)
    affordable(array, active, np.empty(rows.n_lanes, np.bool_))
    shape = np.broadcast_shapes(array.shape, active.shape, (rows.n_lanes,))
    addresses = np.broadcast_to(array, shape).reshape(-1, rows.n_lanes)
    flags = np.broadcast_to(active, shape).reshape(-1, rows.n_lanes)
    return addresses, np.ascontiguousarray(flags), Sym(value.const, value.coefs)


def times_repeated(rows: Rows, rest: Sym, addresses: Ints) -> int:
    """Return how many rows there are for each row of the dense part."""
    total = 1
    for count in rows.counts:
        total *= count
    return total // len(addresses)


def _extent(tally: Tally, rows: Rows, addresses: Ints, mask: NDArray[np.bool_], rest: Sym, base: int) -> None:
    if not tally.executions:
        return
    low = high = base
    for dimension, coef in rest.coefs:
        reach = coef * (rows.counts[dimension] - 1)
        low, high = low + min(reach, 0), high + max(reach, 0)
    active = addresses if mask.all() else addresses[mask]
    tally.first_byte = low + int(active.min())
    tally.end_byte = high + int(active.max()) + rows.size


@lru_cache(maxsize=4096)
def _residue_counts(
    base: int, dims: tuple[tuple[int, int], ...], modulus: int
) -> tuple[tuple[int, int], ...]:
    histogram = {base % modulus: 1}
    for coef, count in dims:
        period = modulus // gcd(coef, modulus)
        whole, rest = divmod(count, period)
        shifts = [(coef * t % modulus, whole + (t < rest)) for t in range(min(period, count))]
        spread_out: dict[int, int] = {}
        for residue, times in histogram.items():
            for shift, more in shifts:
                at = (residue + shift) % modulus
                spread_out[at] = spread_out.get(at, 0) + times * more
        histogram = spread_out
    return tuple(sorted(histogram.items()))


def residues(base: int, dims: Sequence[tuple[int, int]], modulus: int) -> tuple[tuple[int, int], ...]:
    """Return (residue, how often) of base + Σ coef·t modulo `modulus`, over all t below each count.

    `dims` are (coef, count). A coefficient that is a multiple of the modulus only multiplies all counts.
    """
    reduced = tuple(sorted((coef % modulus, count) for coef, count in dims if coef % modulus))
    whole = 1
    for coef, count in dims:
        if coef % modulus == 0:
            whole *= count
    found = _residue_counts(base % modulus, reduced, modulus)
    return tuple((residue, times * whole) for residue, times in found)

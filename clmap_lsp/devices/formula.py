"""What an access costs for every value of a size N: a residue table, and its words.

With lane addresses alpha + N * beta, two lanes whose beta differ are far apart once N is large enough, and
then never share a granule or a word; two lanes with equal beta keep their distance. So from some N on the
count depends on N modulo a divisor of the granule (global memory) or of the bank row (local memory) only. One
period is tabulated, and every smaller N is counted by itself.

Buffers are taken to be aligned to the granule or bank row, as OpenCL's allocations are.
"""

from __future__ import annotations

import math
from dataclasses import field
from fractions import Fraction
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from clmap_lsp.dataclass import dataclass
from clmap_lsp.devices.model import BankedLocal, CachedLocal, ConstantRule, DeviceModel, Unknown
from clmap_lsp.devices.rules import Op, constant_passes, global_sectors, local_wavefronts, pieces
from clmap_lsp.devices.words import describe_counts

Space = Literal["global", "local", "constant"]
Counts = NDArray[np.int64]

_TABULATED = 1 << 14
"""Small N that are counted ahead of time; beyond, `evaluate` counts the one that is asked for."""
_LEAST_TABULATED = 1 << 10
_CELLS = 1 << 22


@dataclass(frozen=True, slots=True)
class Access:
    """One access of one or several SIMD groups, with addresses that are affine in N.

    `alpha` (bytes) and `beta` (bytes per N) are int64 of shape (rows, lanes); `active` is bool, same shape.
    `pieces` are the (offset, bytes) of its instructions (None: as `rules.pieces` cuts `width_bytes`); each is
    an execution of its own.
    """

    alpha: NDArray[np.int64]
    beta: NDArray[np.int64]
    active: NDArray[np.bool_]
    width_bytes: int
    op: Op
    space: Space
    device: DeviceModel
    pieces: tuple[tuple[int, int], ...] | None = None

    @property
    def instructions(self) -> tuple[tuple[int, int], ...]:
        """The (offset, bytes) of each."""
        return self.pieces if self.pieces is not None else pieces(self.width_bytes, self.device)

    def totals(self, sizes: NDArray[np.int64]) -> Counts | Unknown:
        """Count for every N in `sizes`: the sum over the rows, shape (len(sizes),)."""
        rows, lanes = self.alpha.shape
        step = max(1, _CELLS // max(1, rows * lanes))
        parts = [self._totals(sizes[at : at + step]) for at in range(0, len(sizes), step)]
        known = [it for it in parts if not isinstance(it, Unknown)]
        if len(known) < len(parts):
            return next(it for it in parts if isinstance(it, Unknown))
        return np.concatenate(known) if known else np.zeros(0, np.int64)

    def _totals(self, sizes: NDArray[np.int64]) -> Counts | Unknown:
        rows, lanes = self.alpha.shape
        addresses = (self.alpha + sizes[:, None, None] * self.beta).reshape(-1, lanes)
        active = np.broadcast_to(self.active, (len(sizes), rows, lanes)).reshape(-1, lanes)
        counts = count(addresses, active, self)
        if isinstance(counts, Unknown):
            return counts
        total: Counts = counts.reshape(len(sizes), rows).sum(axis=1)
        return total


def count(addresses: NDArray[np.int64], active: NDArray[np.bool_], access: Access) -> Counts | Unknown:
    """Apply the device's rule for the access's space and operation, instruction by instruction."""
    total = np.zeros(len(addresses), np.int64)
    for offset, size in access.instructions:
        counts = _count_piece(addresses + offset, active, size, access)
        if isinstance(counts, Unknown):
            return counts
        total += counts
    return total


def _count_piece(
    addresses: NDArray[np.int64], active: NDArray[np.bool_], size: int, access: Access
) -> Counts | Unknown:
    match access.space:
        case "global":
            return global_sectors(addresses, active, size, access.device, access.op)
        case "constant":
            return constant_passes(addresses, active, size, access.device)
        case "local":
            return local_wavefronts(addresses, active, size, access.op, access.device)


def unit_of(space: Space, device: DeviceModel) -> str:
    """Return what counts of a space are, in the plural: `sectors`, `wavefronts`, `cache lines`, `passes`."""
    if space == "local":
        return "cache lines" if isinstance(device.local_rule, CachedLocal) else "wavefronts"
    if space == "constant" and device.constant_rule is ConstantRule.PER_ADDRESS:
        return "passes"
    return "sectors"


@dataclass(frozen=True, slots=True)
class Formula:
    """The count for every N from `first` on.

    `table[N % len(table)]` holds for N >= `settled`, `small[N - first]` before that (as far as it was
    tabulated). Counts are sums over `requests` executions with an active lane.
    """

    access: Access = field(repr=False)
    first: int
    settled: int
    table: tuple[int, ...]
    small: tuple[int, ...]
    requests: int
    unit: str
    symbol: str = "N"
    cells: int = field(default=0, repr=False)
    """How many addresses were looked at to find it."""

    def evaluate(self, n: int) -> int:
        """Return the count for N = n, summed over the SIMD-group executions given.

        Raises: ValueError if the device's rule does not say for this n (below `first` only).
        """
        if n >= self.settled:
            return self.table[n % len(self.table)]
        if 0 <= n - self.first < len(self.small):
            return self.small[n - self.first]
        counts = self.access.totals(np.array([n], np.int64))
        if isinstance(counts, Unknown):
            raise ValueError(counts.reason)
        return int(counts[0])

    def mean(self, n: int) -> float:
        """Return the count for N = n of one execution, on average."""
        return self.evaluate(n) / self.requests if self.requests else 0.0

    @property
    def is_tabulated(self) -> bool:
        """True if every N is in the tables, so that the words say all."""
        return self.first + len(self.small) >= self.settled

    def describe(self) -> str:
        """Return it as a person would say it, long lists summed up: `8 sectors if N % 8 == 0, else 9`."""
        return self._words(is_brief=True)

    def describe_fully(self) -> str:
        """Return it with every exception and residue written out, and fractions exact."""
        return self._words(is_brief=False)

    def _words(self, *, is_brief: bool) -> str:
        if not self.requests:
            return "never executed"
        return _words(
            self.table, self.small, self.requests, self.first, self.settled, self.unit, self.symbol, is_brief
        )


@lru_cache(maxsize=4096)
def _words(
    table: tuple[int, ...],
    small: tuple[int, ...],
    requests: int,
    first: int,
    settled: int,
    unit: str,
    symbol: str,
    is_brief: bool,
) -> str:
    return describe_counts(
        _each(table, requests),
        _each(small, requests),
        first=first,
        settled=settled,
        unit=unit,
        symbol=symbol,
        is_brief=is_brief,
    )


def _each(totals: tuple[int, ...], requests: int) -> list[Fraction | int]:
    """Return the counts of one request; whole numbers stay integers, which are much faster than fractions."""
    if all(it % requests == 0 for it in totals):
        return [it // requests for it in totals]
    return [Fraction(it, requests) for it in totals]


def formula_for(access: Access, *, symbol: str = "N", first: int = 1) -> Formula | Unknown:
    """Find the count of an access for every N >= `first`.

    Returns: a `Formula`; `Unknown` where the device's rule does not give the count for some N.
    """
    shape = access.alpha.shape
    arrays = (access.alpha, access.beta)
    alpha, beta = (np.where(access.active, it, 0).astype(np.int64).tobytes() for it in arrays)
    mask = np.ascontiguousarray(access.active, bool).tobytes()
    fixed = (access.width_bytes, access.op, access.space, access.device, access.pieces)
    return _formula(shape, alpha, beta, mask, fixed, symbol, first)


@lru_cache(maxsize=2048)
def _formula(
    shape: tuple[int, int],
    alpha: bytes,
    beta: bytes,
    mask: bytes,
    fixed: tuple[int, Op, Space, DeviceModel, tuple[tuple[int, int], ...] | None],
    symbol: str,
    first: int,
) -> Formula | Unknown:
    access = Access(
        np.frombuffer(alpha, np.int64).reshape(shape),
        np.frombuffer(beta, np.int64).reshape(shape),
        np.frombuffer(mask, bool).reshape(shape),
        *fixed,
    )
    modulus, reach = _grain(access)
    if modulus is None:
        counts = access.totals(np.array([first], np.int64))
        return counts if isinstance(counts, Unknown) else Unknown("the granule is not published")
    period = _period(access, modulus)
    settled = max(first, _apart_from(access, reach))
    aligned = -(-settled // period) * period
    n_small = settled - first
    # Four million elements at most: the more rows, the fewer small N are counted ahead of time.
    tabulated = min(_TABULATED, max(_LEAST_TABULATED, _CELLS // max(1, shape[0] * shape[1])))
    sizes = np.arange(first, first + min(n_small, tabulated), dtype=np.int64)
    asked = np.concatenate([sizes, np.arange(aligned, aligned + period)])
    counts = access.totals(asked)
    if isinstance(counts, Unknown):
        return counts
    small, table = counts[: len(sizes)], _shortest(counts[len(sizes) :])
    if n_small <= tabulated:
        differs = np.flatnonzero(small != table[sizes % len(table)])
        settled = first + (int(differs[-1]) + 1 if len(differs) else 0)
        small = small[: settled - first]
    return Formula(
        access=access,
        first=first,
        settled=settled,
        table=tuple(table.tolist()),
        small=tuple(small.tolist()),
        requests=int(access.active.any(axis=1).sum()) * len(access.instructions),
        unit=unit_of(access.space, access.device),
        symbol=symbol,
        cells=len(asked) * access.alpha.size,
    )


def _grain(access: Access) -> tuple[int | None, int]:
    """Return the modulus in bytes on which counts can depend, and the distance at which lanes can share."""
    device = access.device
    if access.space == "local":
        match device.local_rule:
            case BankedLocal() as banked:
                row = banked.banks * banked.bank_bytes * banked.rows_joined
                # Lanes share a word, or on Kepler words of one joined row: no farther apart than the row.
                return row, banked.bank_bytes if banked.rows_joined == 1 else row
            case CachedLocal(line_bytes):
                return line_bytes, line_bytes
            case Unknown():
                return None, 0
    if access.space == "constant" and device.constant_rule is ConstantRule.PER_ADDRESS:
        return 1, 1
    rule = device.global_rule
    granule = rule.store_granule if access.op == "store" and access.space == "global" else rule.load_granule
    return granule, granule or 0


def _period(access: Access, modulus: int) -> int:
    steps = {math.gcd(it, modulus) for it in set(access.beta[access.active].tolist())}
    return math.lcm(*(modulus // step for step in steps))


def _apart_from(access: Access, reach: int) -> int:
    """Return an N from which lanes with different beta never come within `reach` plus the element's width."""
    latest = 0
    for alpha, beta, active in zip(access.alpha, access.beta, access.active, strict=True):
        a, b = alpha[active], beta[active]
        speed = np.abs(b[:, None] - b)
        moving = speed > 0
        if not bool(moving.any()):
            continue
        distance = np.abs(a[:, None] - a) + reach + access.width_bytes
        latest = max(latest, int((-(-distance[moving] // speed[moving])).max()))
    return latest


def _shortest(table: Counts) -> Counts:
    """Return the shortest table that repeats to the same one."""
    size = len(table)
    for period in range(1, size):
        if size % period == 0 and bool(np.all(table.reshape(-1, period) == table[:period])):
            return table[:period]
    return table

"""Exact counts of what one SIMD-group access costs: granules of global memory, passes of local memory.

Every function takes many SIMD-group executions at once: `addresses` is an int64 array of shape (n, lanes),
in bytes from a base that is aligned to the granule (global) or to the whole bank row (local), and `active` a
bool array of the same shape. Lane i is the i-th work-item of its SIMD group. Results are int64 arrays of
shape (n,), 0 for a row without an active lane, or `Unknown` where the device's rule is not published.

Sources: the models' own facts; NVIDIA's rules were checked against hardware counters (tests/devices).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from clmap_lsp.devices.model import (
    BankedLocal,
    CachedLocal,
    ConstantRule,
    DeviceModel,
    Merge,
    PhaseRule,
    Unknown,
)
from clmap_lsp.devices.patterns import count_by_pattern

Addresses = NDArray[np.int64]
Mask = NDArray[np.bool_]
Counts = NDArray[np.int64]
Op = Literal["load", "store"]

_CHUNK_CELLS = 1 << 20
"""Cells worked on at once: 8 MiB of int64 stays near the caches, and memory stays bounded for any n."""
_PAST_ALL = np.iinfo(np.int64).max


def simd_groups(local_size: Sequence[int], device: DeviceModel) -> NDArray[np.int64]:
    """Return the linear local ids of each SIMD group of a work-group of `local_size` (dimension 0 first).

    Returns: shape (number of SIMD groups, `device.simd_width`); lanes past the work-group's end are -1.
    Source: OpenCL 3.0 API, 3.2.1 (linear local id); a SIMD group holds consecutive linear ids (CUDA C++
    Programming Guide, "SIMT architecture"; other vendors' compilers do likewise).
    """
    items = 1
    for size in local_size:
        items *= size
    n_groups = -(-items // device.simd_width)
    ids = np.arange(n_groups * device.simd_width, dtype=np.int64)
    ids[items:] = -1
    return ids.reshape(n_groups, device.simd_width)


def pieces(
    width_bytes: int, device: DeviceModel, alignment: int | None = None, element: int | None = None
) -> tuple[tuple[int, int], ...]:
    """Return the (offset, bytes) of the instructions that one access of `width_bytes` becomes.

    An instruction moves 1, 2, 4, 8 or 16 bytes at an address aligned to that, and on some devices no more
    than four components of `element` bytes; `alignment` is that of the address (default: the largest power of
    two that divides the width). A float16 is four 16-byte pieces, a char16 on NVIDIA four 4-byte pieces, a
    28-byte struct of floats seven 4-byte pieces. Devices without such a limit (CPUs) take any width at once.
    """
    limit = device.global_rule.max_access_bytes
    if limit is None:
        return ((0, width_bytes),)
    most = device.global_rule.max_access_elements
    if most is not None and element is not None:
        limit = min(limit, most * element)
    aligned = alignment if alignment is not None else width_bytes & -width_bytes
    found: list[tuple[int, int]] = []
    at = 0
    while at < width_bytes:
        size = min(limit, aligned, 1 << (width_bytes - at).bit_length() - 1)
        found.append((at, size))
        at += size
    return tuple(found)


def global_sectors(
    addresses: Addresses,
    active: Mask,
    width_bytes: int,
    device: DeviceModel,
    op: Op = "load",
    *,
    alignment: int | None = None,
) -> Counts | Unknown:
    """Count the aligned granules that the active lanes' bytes touch, per row.

    Elements wider than one instruction moves are counted piece by piece (see `pieces`), as the hardware does.
    """
    rule = device.global_rule
    granule = rule.load_granule if op == "load" else rule.store_granule
    if granule is None:
        return Unknown(f"the size of a memory transaction of {device.name} is not published")
    parts = pieces(width_bytes, device, alignment)

    def count(rows: Addresses, mask: Mask) -> Counts | Unknown:
        return _sectors(rows, mask, parts, granule, device)

    return count_by_pattern(addresses, active, granule, count)


def _sectors(
    addresses: Addresses,
    active: Mask,
    parts: tuple[tuple[int, int], ...],
    granule: int,
    device: DeviceModel,
) -> Counts | Unknown:
    rule = device.global_rule
    total = np.zeros(len(addresses), np.int64)
    for offset, size in parts:
        at = addresses + offset
        counts = _in_parts(at, active, size, granule, rule.split.get(size, 1))
        disputed = rule.disputed_split.get(size, 1)
        if disputed > 1 and bool(np.any(counts != _in_parts(at, active, size, granule, disputed))):
            return Unknown(f"{device.name}: how {size * 8}-bit global accesses are split is not settled")
        total += counts
    return total


def _in_parts(addresses: Addresses, active: Mask, size: int, granule: int, parts: int) -> Counts:
    """Count granules for each of `parts` equal runs of lanes, and add."""
    total = np.zeros(len(addresses), np.int64)
    step = addresses.shape[1] // parts
    for start in range(0, addresses.shape[1], step):
        lanes = slice(start, start + step)
        total += distinct_granules(addresses[:, lanes], active[:, lanes], size, granule)
    return total


def distinct_granules(addresses: Addresses, active: Mask, width_bytes: int, granule: int) -> Counts:
    """Count per row the aligned blocks of `granule` bytes that hold a byte of an active lane's element."""
    result = np.empty(len(addresses), np.int64)
    for rows in _chunks(addresses):
        result[rows] = _union_of_intervals(addresses[rows], active[rows], width_bytes, granule)
    return result


def _union_of_intervals(addresses: Addresses, active: Mask, width_bytes: int, granule: int) -> Counts:
    """Sort the lanes' intervals [first, last] of granules; each adds what lies past all before it."""
    straddles = granule % width_bytes != 0 or bool(np.any(addresses % width_bytes))
    if not straddles:
        first = np.where(active, addresses // granule, _PAST_ALL)
        return _distinct(first)
    start = np.where(active, addresses, _PAST_ALL - width_bytes)
    start.sort(axis=1)
    low, high = start // granule, (start + (width_bytes - 1)) // granule
    reached = np.empty_like(high)
    reached[:, 0] = low[:, 0] - 1
    reached[:, 1:] = high[:, :-1]  # Starts ascend and widths are equal, so ends ascend too.
    added = high - np.maximum(reached, low - 1)
    covered: Counts = np.where(start != _PAST_ALL - width_bytes, added, 0).sum(axis=1, dtype=np.int64)
    return covered


def _distinct(values: Addresses) -> Counts:
    """Count the distinct values per row other than `_PAST_ALL`; sorts `values` in place where needed."""
    if not bool(np.all(values[:, 1:] >= values[:, :-1])):
        values.sort(axis=1)
    new = values != _PAST_ALL
    new[:, 1:] &= values[:, 1:] != values[:, :-1]
    counts: Counts = np.count_nonzero(new, axis=1).astype(np.int64)
    return counts


def local_wavefronts(
    addresses: Addresses,
    active: Mask,
    width_bytes: int,
    op: Op,
    device: DeviceModel,
    *,
    alignment: int | None = None,
) -> Counts | Unknown:
    """Count per row the passes that the local memory's banks need, or cache lines where it has no banks.

    Elements of other widths than 1, 2, 4, 8, 16 bytes are served piece by piece (see `pieces`).
    """
    rule = device.local_rule
    match rule:
        case Unknown():
            return rule
        case CachedLocal(line_bytes):
            return distinct_granules(addresses, active, width_bytes, line_bytes)
        case BankedLocal():
            pass
    parts = pieces(width_bytes, device, alignment)

    def count(rows: Addresses, mask: Mask) -> Counts | Unknown:
        return _wavefronts(rows, mask, parts, op, device, rule)

    return count_by_pattern(addresses, active, rule.banks * rule.bank_bytes * rule.rows_joined, count)


def _wavefronts(
    addresses: Addresses,
    active: Mask,
    parts: tuple[tuple[int, int], ...],
    op: Op,
    device: DeviceModel,
    rule: BankedLocal,
) -> Counts | Unknown:
    total = np.zeros(len(addresses), np.int64)
    for offset, size in parts:
        phases = (rule.load_phases if op == "load" else rule.store_phases)[max(size, 4)]
        if isinstance(phases, Unknown):
            return phases
        for rows in _chunks(addresses, words=max(size // 4, 1)):
            counts = _phased(addresses[rows] + offset, active[rows], size, op=op, rule=rule, phases=phases)
            if isinstance(counts, Unknown):
                return Unknown(f"{device.name}: {counts.reason}")
            total[rows] += counts
    return total


def _phased(
    addresses: Addresses, active: Mask, width: int, *, op: Op, rule: BankedLocal, phases: PhaseRule
) -> Counts | Unknown:
    """Serve the phases one after the other, merging two where the rule says so."""

    def passes(lanes: list[int], rows: slice | Counts = slice(None)) -> Counts:
        degree = _degrees(addresses[rows][:, lanes], active[rows][:, lanes], width, op, rule)
        return degree + phases.extra * (degree > 0)

    groups = [list(it) for it in phases.groups] or [list(range(addresses.shape[1]))]
    total = np.zeros(len(addresses), np.int64)
    if phases.merge is Merge.NONE:
        for group in groups:
            total += passes(group)
        return total
    whole = _shares_with_neighbour(addresses, active) if phases.merge is Merge.GROUP else None
    for first, second in zip(groups[::2], groups[1::2], strict=True):
        both = first + second
        merges = whole if whole is not None else _shares_with_neighbour(addresses[:, both], active[:, both])
        counts = passes(first) + passes(second)
        total += counts
        rows = np.flatnonzero(merges)
        if not len(rows):
            continue
        together = passes(both, rows)
        if phases.merge is Merge.UNKNOWN and bool(np.any(together != counts[rows])):
            return Unknown(
                f"the merging of {width * 8}-bit local accesses that share addresses is not published"
            )
        total[rows] += together - counts[rows]
    return total


def _shares_with_neighbour(addresses: Addresses, active: Mask) -> Mask:
    """Test for merging: every active lane agrees with lane xor 1 (or that is inactive), or all with xor 2."""
    lanes = np.arange(addresses.shape[1])
    result = np.zeros(len(addresses), bool)
    for distance in (1, 2):
        other = lanes ^ distance
        agrees = ~active | ~active[:, other] | (addresses == addresses[:, other])
        result |= agrees.all(axis=1)
    return result


def _degrees(addresses: Addresses, active: Mask, width: int, op: Op, rule: BankedLocal) -> Counts:
    """Return per row the largest number of accesses that one bank must serve one after the other."""
    words, valid = _words(addresses, active, width, rule.bank_bytes)
    row_words = rule.banks * rule.rows_joined
    keys = words if rule.rows_joined == 1 else words // row_words * rule.banks + words % rule.banks
    if op == "load" or rule.same_word_store_free:
        keys = np.where(valid, keys, _PAST_ALL)
        if not bool(np.all(keys[:, 1:] >= keys[:, :-1])):
            keys.sort(axis=1)
        valid = keys != _PAST_ALL
        valid[:, 1:] &= keys[:, 1:] != keys[:, :-1]
    n_rows = len(keys)
    slots = (keys % rule.banks + np.arange(n_rows)[:, None] * rule.banks)[valid]
    per_bank = np.bincount(slots, minlength=n_rows * rule.banks).reshape(n_rows, rule.banks)
    degrees: Counts = per_bank.max(axis=1)
    return degrees


def _words(addresses: Addresses, active: Mask, width: int, word_bytes: int) -> tuple[Addresses, Mask]:
    """Return the words each lane touches, lane after lane, and which of them are real."""
    first = addresses // word_bytes
    last = (addresses + (width - 1)) // word_bytes
    count = int((last - first).max(initial=0)) + 1
    if count == 1:
        return first, active
    steps = np.arange(count)
    words = first[:, :, None] + steps
    valid = active[:, :, None] & (words <= last[:, :, None])
    return words.reshape(len(words), -1), valid.reshape(len(words), -1)


def constant_passes(
    addresses: Addresses,
    active: Mask,
    width_bytes: int,
    device: DeviceModel,
    alignment: int | None = None,
) -> Counts | Unknown:
    """Count per row what a read of `__constant` memory costs: passes, or granules where it moves as global.

    On NVIDIA a pass serves one address; AMD's one scalar load counts as 1, its vector loads as granules.
    """
    match device.constant_rule:
        case ConstantRule.PER_ADDRESS:
            return distinct_granules(addresses, active, 1, 1) * len(pieces(width_bytes, device, alignment))
        case ConstantRule.AS_GLOBAL:
            return global_sectors(addresses, active, width_bytes, device, "load", alignment=alignment)
        case ConstantRule.UNIFORM_OR_VECTOR:
            vector = global_sectors(addresses, active, width_bytes, device, "load", alignment=alignment)
            uniform = distinct_granules(addresses, active, 1, 1) == 1
            return vector if isinstance(vector, Unknown) else np.where(uniform, np.int64(1), vector)
        case ConstantRule.UNKNOWN:
            return Unknown(f"how {device.name} reads constant memory is not published")


def atomic_sectors(
    addresses: Addresses, active: Mask, width_bytes: int, device: DeviceModel, *, summed_first: bool
) -> Counts | Unknown:
    """Count per row the sectors that an atomic on global memory moves.

    Lanes that share an address take turns; each turn moves the distinct granules of its lanes. With
    `summed_first` the lanes of a SIMD group, which all have one address, are added up before: one turn.
    Source: an NVIDIA H200's counters (tests/data/hardware_truth/nvidia_h200_atomics.json).
    """
    granule = device.global_rule.load_granule
    if not device.global_rule.atomics_by_turns or granule is None:
        return Unknown(NO_ATOMICS)
    if summed_first:
        return requests(active)
    order = np.where(active, addresses, _PAST_ALL)
    order.sort(axis=1)
    lanes = np.arange(order.shape[1])
    starts = np.ones(order.shape, bool)
    starts[:, 1:] = order[:, 1:] != order[:, :-1]
    turn = lanes - np.maximum.accumulate(np.where(starts, lanes, 0), axis=1)
    first = order // granule
    keys = np.where(order == _PAST_ALL, _PAST_ALL, (first - first[:, :1]) * addresses.shape[1] + turn)
    keys.sort(axis=1)
    return _distinct(keys)


NO_ATOMICS = "what atomics cost has not been measured on this device"


def atomic_wavefronts(
    addresses: Addresses, active: Mask, device: DeviceModel, *, shares_words: bool, turns: int = 1
) -> Counts | Unknown:
    """Count per row the passes of a 4-byte atomic on local memory: the most lanes that one bank has.

    With `shares_words` lanes of one word count once, as for additions of one whose result nobody wants;
    `turns` passes are made for each (two for a compare and exchange). Source: as `atomic_sectors`.
    """
    rule = device.local_rule
    if not device.global_rule.atomics_by_turns or not isinstance(rule, BankedLocal):
        return Unknown(NO_ATOMICS)
    words = np.where(active, addresses // rule.bank_bytes, _PAST_ALL)
    words.sort(axis=1)
    valid = words != _PAST_ALL
    if shares_words:
        valid[:, 1:] &= words[:, 1:] != words[:, :-1]
    n_rows = len(words)
    slots = (words % rule.banks + np.arange(n_rows)[:, None] * rule.banks)[valid]
    per_bank = np.bincount(slots, minlength=n_rows * rule.banks).reshape(n_rows, rule.banks)
    return np.asarray(per_bank.max(axis=1) * turns, np.int64)


def requests(active: Mask) -> Counts:
    """Return 1 for every row with an active lane, else 0."""
    return np.asarray(active.any(axis=1), np.int64)


def ideal_sectors(
    active_lanes: NDArray[np.int64] | int, width_bytes: int, device: DeviceModel, op: Op = "load"
) -> Counts | Unknown:
    """Return the fewest granules that hold `active_lanes` elements of their own, packed and aligned."""
    rule = device.global_rule
    granule = rule.load_granule if op == "load" else rule.store_granule
    if granule is None:
        return Unknown(f"the size of a memory transaction of {device.name} is not published")
    lanes = np.atleast_1d(np.asarray(active_lanes, np.int64))
    fewest: Counts = -(-lanes * width_bytes // granule)
    return fewest


def ideal_wavefronts(
    active_lanes: NDArray[np.int64] | int, width_bytes: int, device: DeviceModel, op: Op = "load"
) -> Counts | Unknown:
    """Return the passes of a walk without conflicts: the first `active_lanes` lanes, each at its own element.

    Every piece of a wide element is taken as its own packed walk.
    """
    ids = np.arange(device.simd_width, dtype=np.int64)
    active = ids < np.arange(device.simd_width + 1)[:, None]
    table = np.zeros(device.simd_width + 1, np.int64)
    for _, size in pieces(width_bytes, device):
        counts = local_wavefronts(np.broadcast_to(ids * size, active.shape), active, size, op, device)
        if isinstance(counts, Unknown):
            return counts
        table += counts
    return table[np.atleast_1d(np.asarray(active_lanes, np.int64))]


def _chunks(addresses: Addresses, words: int = 1) -> Iterator[slice]:
    rows = max(1, _CHUNK_CELLS // max(1, addresses.shape[1] * words))
    for start in range(0, len(addresses), rows):
        yield slice(start, start + rows)

"""What the work-items of a group or sub-group get from the functions that they call together.

Source: OpenCL C Specification 3.0, sections 6.15.17 (work-group functions) and 6.15.19 (sub-group functions);
the extensions cl_khr_subgroup_ballot, _clustered_reduce, _non_uniform_arithmetic, _non_uniform_vote, _rotate,
_shuffle and _shuffle_relative; cl_intel_subgroups.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from clmap_lsp.dataclass import dataclass
from clmap_lsp.launch.contents import numpy_dtype
from clmap_lsp.source.ir import Collective
from clmap_lsp.source.types import ScalarType

Words = NDArray[np.int64]
Lanes = NDArray[np.generic]


@dataclass(frozen=True, slots=True)
class Members:
    """Who takes part in a call, by rising lane."""

    lanes: Words
    """The numbers in the sub-group, or linear local ids in a work-group."""
    size: int
    """Lanes of the sub-group or work-items of the work-group, absent ones included."""
    operands: Words
    """Shape (members, words): the arguments, one after the other."""
    group_size: tuple[int, int, int]


_ARITHMETIC = re.compile(
    r"(?:(?P<clustered>clustered|non_uniform)_)?(?P<form>reduce|scan_inclusive|scan_exclusive)_"
    r"(?P<logical>logical_)?(?P<op>add|mul|min|max|and|or|xor)"
)
_MOVES = {"broadcast", "non_uniform_broadcast", "broadcast_first", "rotate", "clustered_rotate"}
_MOVES |= {"shuffle", "shuffle_xor", "shuffle_up", "shuffle_down"}
_VOTES = {"all", "any", "elect", "non_uniform_all", "non_uniform_any", "non_uniform_all_equal"}
_BALLOTS = {"ballot", "inverse_ballot"} | {
    f"ballot_{it}"
    for it in ("bit_count", "bit_extract", "inclusive_scan", "exclusive_scan", "find_lsb", "find_msb")
}
_DIVERGENT = re.compile(
    r"sub_group_(non_uniform_|ballot|inverse_ballot|elect|shuffle|rotate|broadcast_first|clustered_)"
    r"|intel_sub_group_shuffle"
)


def short_name(name: str) -> str:
    """Return a function's name without the group it is of."""
    return name.removeprefix("intel_").removeprefix("work_group_").removeprefix("sub_group_")


def is_known(call: Collective) -> bool:
    """True if `answer` works this call out."""
    name = short_name(call.name)
    if name in _MOVES or name in _BALLOTS:
        return bool(call.arguments)
    scalar = bool(call.arguments) and isinstance(call.arguments[0].type, ScalarType)
    if _ARITHMETIC.fullmatch(name):
        return scalar
    return name == "elect" or (name in _VOTES and scalar)


def may_diverge(name: str) -> bool:
    """True if not all work-items of a sub-group have to come to the call."""
    return _DIVERGENT.match(name) is not None


def answer(call: Collective, members: Members) -> Words:
    """Return each member's result as words, shape (members, words)."""
    name = short_name(call.name)
    if name in _MOVES:
        return _moved(call, name, members)
    if name in _BALLOTS:
        return _balloted(call, name, members)
    if name == "elect":
        return _as_words((np.arange(len(members.lanes)) == 0).astype(np.int32))
    kind = call.arguments[0].type
    assert isinstance(kind, ScalarType)
    values = _scalars(members.operands[:, 0], kind)
    arithmetic = _ARITHMETIC.fullmatch(name)
    if arithmetic is None:
        return _as_words(np.full(len(values), _vote(name, values), np.int32))
    if arithmetic["logical"]:
        values = (values != 0).astype(values.dtype)
    if arithmetic["clustered"] == "clustered":
        cluster = members.lanes // np.maximum(members.operands[0, 1] & 0xFFFFFFFF, 1)
        result = np.empty_like(values)
        for number in np.unique(cluster):
            mine = cluster == number
            result[mine] = _arithmetic(arithmetic["form"], arithmetic["op"], values[mine])
        return _as_words(result)
    return _as_words(_arithmetic(arithmetic["form"], arithmetic["op"], values))


def _scalars(words: Words, kind: ScalarType) -> Lanes:
    dtype = numpy_dtype(kind)
    raw = np.ascontiguousarray(words).view(np.uint8).reshape(len(words), 8)
    values: Lanes = raw[:, : dtype.itemsize].copy().view(dtype).ravel()
    return values


def _as_words(values: Lanes) -> Words:
    raw = np.zeros((len(values), 8), np.uint8)
    raw[:, : values.dtype.itemsize] = np.ascontiguousarray(values).view(np.uint8).reshape(len(values), -1)
    return raw.view(np.int64)


# ------------------------------------------------------------------------------------- arithmetic and votes

_REDUCERS: Mapping[str, Callable[[Lanes], Lanes]] = {
    "add": np.add.accumulate,
    "mul": np.multiply.accumulate,
    "min": np.minimum.accumulate,
    "max": np.maximum.accumulate,
    "and": np.bitwise_and.accumulate,
    "or": np.bitwise_or.accumulate,
    "xor": np.bitwise_xor.accumulate,
}


def _arithmetic(form: str, op: str, values: Lanes) -> Lanes:
    running = _REDUCERS[op](values)
    match form:
        case "reduce":
            return np.full(len(values), running[-1])
        case "scan_inclusive":
            return running
        case _:
            first = np.full(1, _identity(op, values.dtype), values.dtype)
            shifted: Lanes = np.concatenate([first, running[:-1]])
            return shifted


def _identity(op: str, dtype: np.dtype[np.generic]) -> int | float:
    if op in ("min", "max"):
        if dtype.kind == "f":
            return float("inf") if op == "min" else float("-inf")
        bounds = np.iinfo(dtype.name)
        return int(bounds.max if op == "min" else bounds.min)
    if op == "and":
        return -1 if dtype.kind == "i" else int(np.iinfo(dtype.name).max)
    return 1 if op == "mul" else 0


def _vote(name: str, values: Lanes) -> int:
    match name.removeprefix("non_uniform_"):
        case "all":
            return int(bool(np.all(values != 0)))
        case "any":
            return int(bool(np.any(values != 0)))
        case _:
            return int(bool(np.all(values == values[0])))


# ---------------------------------------------------------------------------------------------------- moves


def _moved(call: Collective, name: str, members: Members) -> Words:
    """Return what each member reads of another; of one that is absent, its own value (it is undefined)."""
    words = max(call.arguments[0].type.size // 8, 1)
    values = members.operands[:, :words]
    if call.name.startswith("intel_") and name in ("shuffle_up", "shuffle_down"):
        return _intel_relative(name, members, words)
    lanes = members.lanes
    argument = (
        members.operands[:, words].astype(np.uint32).astype(np.int64)
        if len(call.arguments) > 1
        else np.zeros(len(lanes), np.int64)
    )
    match name:
        case "broadcast" if call.name.startswith("work_group_"):
            source = np.full(len(lanes), _linear(members, words, len(call.arguments) - 1))
        case "broadcast" | "non_uniform_broadcast":
            source = np.full(len(lanes), argument[0])
        case "broadcast_first":
            source = np.full(len(lanes), lanes[0])
        case "shuffle":
            source = argument
        case "shuffle_xor":
            source = lanes ^ argument
        case "shuffle_up":
            source = lanes - argument
        case "shuffle_down":
            source = lanes + argument
        case _:
            size = members.size
            if name == "clustered_rotate":
                size = max(int(members.operands[0, words + 1] & 0xFFFFFFFF), 1)
            source = lanes // size * size + (lanes + argument) % size
    return values[_positions(lanes, source)]


def _linear(members: Members, words: int, dimensions: int) -> int:
    """Return the linear local id that a broadcast in a work-group names."""
    place = [int(it) for it in members.operands[0, words : words + dimensions]]
    x, y, z = (*place, 0, 0, 0)[:3]
    width, height, _ = members.group_size
    return (z * height + y) * width + x


def _positions(lanes: Words, source: Words) -> NDArray[np.intp]:
    """Return where lanes stand among the members; members whose source is absent get themselves."""
    found = np.searchsorted(lanes, source)
    inside = np.minimum(found, len(lanes) - 1)
    present = lanes[inside] == source
    return np.where(present, inside, np.arange(len(lanes)))


def _intel_relative(name: str, members: Members, words: int) -> Words:
    """Shuffle over two values laid end to end: (current, next) downwards, (previous, current) upwards."""
    lanes, size = members.lanes, members.size
    first, second = members.operands[:, :words], members.operands[:, words : 2 * words]
    delta = members.operands[:, 2 * words].astype(np.uint32).astype(np.int64)
    place = lanes + delta if name == "shuffle_down" else lanes + size - delta
    low = first[_positions(lanes, place)]
    high = second[_positions(lanes, place - size)]
    return np.where((place < size)[:, None], low, high)


# -------------------------------------------------------------------------------------------------- ballots


def _balloted(call: Collective, name: str, members: Members) -> Words:
    """Work on masks of 128 bits, a bit for each lane."""
    lanes = members.lanes.tolist()
    if name == "ballot":
        kind = call.arguments[0].type
        assert isinstance(kind, ScalarType)
        votes = _scalars(members.operands[:, 0], kind) != 0
        mask = sum(1 << lane for lane, vote in zip(lanes, votes.tolist(), strict=True) if vote)
        return np.tile(np.frombuffer(mask.to_bytes(16, "little"), np.int64), (len(lanes), 1))
    results = []
    for lane, row in zip(lanes, members.operands, strict=True):
        whole = int.from_bytes(np.ascontiguousarray(row[:2]).tobytes(), "little")
        used = whole & ((1 << members.size) - 1)
        match name.removeprefix("ballot_"):
            case "inverse_ballot":
                found = whole >> lane & 1
            case "bit_extract":
                found = whole >> (int(row[2]) & 127) & 1
            case "bit_count":
                found = used.bit_count()
            case "inclusive_scan":
                found = (used & ((2 << lane) - 1)).bit_count()
            case "exclusive_scan":
                found = (used & ((1 << lane) - 1)).bit_count()
            case "find_lsb":
                found = (used & -used).bit_length() - 1 if used else 0
            case _:
                found = max(used.bit_length() - 1, 0)
        results.append(found)
    return _as_words(np.array(results, np.int32))

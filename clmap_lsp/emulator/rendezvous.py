"""What happens when the work-items of a group wait at different places: collectives, divergent barriers."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from clmap_lsp.emulator import layout as at
from clmap_lsp.emulator.kernel_code import KernelCode
from clmap_lsp.emulator.machine_state import MachineState
from clmap_lsp.launch.contents import numpy_dtype
from clmap_lsp.source.ir import AsyncCopy, Barrier, BarrierScope, Collective, Kernel, walk
from clmap_lsp.source.types import ScalarType, element_of

Words = NDArray[np.int64]
Lanes = NDArray[np.generic]
_SITE = 0xFFFFFFFF


def resolve(state: MachineState, code: KernelCode, kernel: Kernel) -> list[tuple[int, int, int, int]]:
    """Let waiting work-items go on; return (site, work-item, group, other site) of divergent ones."""
    words = state.words
    items = int(words[at.ITEMS])
    frames = state.frames.reshape(state.sizes.items, -1)[:items]
    if _serve_collectives(frames, state.sizes.width, kernel):
        words[at.PHASE] = at.PHASE_ROUND
        return []
    status = frames[:, at.F_STATUS]
    waits = np.flatnonzero((status == at.AT_BARRIER) | (status == at.AT_COLLECTIVE))
    first = int(waits[0])
    sites = frames[waits, at.F_SITE] & _SITE
    different = sites[sites != sites[0]]
    other = int(different[0]) if len(different) else -1
    divergent = [(int(sites[0]), int(frames[first, at.F_GLOBAL_LINEAR]), int(words[at.GROUP]), other)]
    barriers = waits[status[waits] == at.AT_BARRIER]
    collectives = waits[status[waits] == at.AT_COLLECTIVE]
    fences = 0
    if not len(collectives):
        fences = int(np.bitwise_or.reduce(frames[barriers, at.F_SITE] >> 32))
        frames[barriers, at.F_STATUS] = at.RUNNABLE
    else:
        # Those at a barrier go on waiting: the others may still come to it.
        # Incomplete collectives: each work-item takes its own operand for the result; copies are left out.
        copies = [it.load_site for it in walk(kernel.body) if isinstance(it, AsyncCopy)]
        skipped = waits[np.isin(frames[waits, at.F_SITE] & _SITE, copies)]
        if len(skipped) < int(np.count_nonzero(status != at.DONE)):
            frames[skipped, at.F_EXCHANGE + 4] = 0
        frames[collectives, at.F_STATUS] = at.RUNNABLE
    words[at.PASSED] += 1
    if fences & 1:
        words[at.EPOCH_LOCAL] = words[at.PASSED]
    if fences & 2:
        words[at.EPOCH_GLOBAL] = words[at.PASSED]
    words[at.PHASE] = at.PHASE_ROUND
    return divergent


def _serve_collectives(frames: Words, width: int, kernel: Kernel) -> bool:
    """Serve every complete collective; True if there was one."""
    calls = {it.site: it for it in walk(kernel.body) if isinstance(it, Collective)}
    copies = {it.load_site for it in walk(kernel.body) if isinstance(it, AsyncCopy)}
    scopes = {it.site: it for it in walk(kernel.body) if isinstance(it, Barrier)}
    served = False
    for members in _scopes_of(frames, width):
        live = members[frames[members, at.F_STATUS] != at.DONE]
        waits = live[frames[live, at.F_STATUS] == at.AT_COLLECTIVE]
        if not len(waits) or len(waits) != len(live):
            continue
        sites = np.unique(frames[waits, at.F_SITE] & _SITE)
        if len(sites) != 1:
            continue
        site = int(sites[0])
        call = calls.get(site)
        is_group_wide = site in copies or (call is not None and call.name.startswith("work_group_"))
        if is_group_wide != (len(members) == len(frames)) and len(frames) > width:
            continue
        if site in scopes and scopes[site].scope is not BarrierScope.SUB_GROUP:
            continue
        if site in copies:
            # The whole group makes one copy: everyone is there, with the same arguments.
            arguments = frames[waits, at.F_EXCHANGE : at.F_EXCHANGE + 8]
            if len(waits) != len(frames) or (arguments != arguments[0]).any():
                continue
        if call is not None:
            _work_out(frames, waits, call)
        frames[waits, at.F_STATUS] = at.RUNNABLE
        served = True
    return served


def _scopes_of(frames: Words, width: int) -> list[NDArray[np.intp]]:
    """Return the whole group, then its sub-groups, as indices of work-items."""
    everyone = np.arange(len(frames))
    groups = [everyone[start : start + width] for start in range(0, len(frames), width)]
    return [everyone, *groups] if len(groups) > 1 else groups


# ------------------------------------------------------------------------------------------------ results


def _work_out(frames: Words, members: NDArray[np.intp], call: Collective) -> None:
    """Put each member's result where its operand was."""
    name = call.name.removeprefix("intel_")
    kind = element_of(call.arguments[0].type) if call.arguments else None
    result = element_of(call.variable.type) if call.variable is not None else None
    if not isinstance(kind, ScalarType) or not isinstance(result, ScalarType):
        return
    dtype = numpy_dtype(kind)
    exchange = frames[:, at.F_EXCHANGE : at.F_EXCHANGE + 16]
    operands = np.ascontiguousarray(exchange[members]).view(np.uint8).reshape(len(members), -1)
    values = operands[:, : dtype.itemsize].copy().view(dtype).ravel()
    others = exchange[members, 1] & 0xFFFFFFFF
    answer = _answer(name, values, others, members)
    stored = np.ascontiguousarray(answer.astype(numpy_dtype(result)))
    bytes_ = np.zeros((len(members), 8), np.uint8)
    bytes_[:, : stored.dtype.itemsize] = stored.view(np.uint8).reshape(len(members), -1)
    frames[members, at.F_EXCHANGE] = bytes_.view(np.int64).ravel()


_REDUCERS: Mapping[str, Callable[[Lanes], Lanes]] = {
    "add": np.add.accumulate,
    "mul": np.multiply.accumulate,
    "min": np.minimum.accumulate,
    "max": np.maximum.accumulate,
    "and": np.bitwise_and.accumulate,
    "or": np.bitwise_or.accumulate,
    "xor": np.bitwise_xor.accumulate,
}


def _answer(name: str, values: Lanes, others: Words, members: NDArray[np.intp]) -> Lanes:
    """Return each member's result.

    Source: OpenCL C Specification 3.0, sections 6.15.17 (work-group functions), 6.15.19 (sub-group
    functions); cl_khr_subgroup_shuffle, cl_khr_subgroup_ballot, cl_khr_subgroup_non_uniform_vote.
    """
    count = len(values)
    lane = np.arange(count)
    short = name.removeprefix("work_group_").removeprefix("sub_group_").removeprefix("non_uniform_")
    kind, _, op = short.rpartition("_")
    running = _REDUCERS.get(op)
    if running is not None and "scan" in kind:
        inclusive: Lanes = running(values)
        if "exclusive" not in kind:
            return inclusive
        first = np.full(1, _identity(op, values.dtype), values.dtype)
        shifted: Lanes = np.concatenate([first, inclusive[:-1]])
        return shifted
    if running is not None and "reduce" in kind:
        total: Lanes = np.full(count, running(values)[-1])
        return total
    match short:
        case "all" | "elect_all":
            return np.full(count, int(bool(np.all(values != 0))))
        case "any":
            return np.full(count, int(bool(np.any(values != 0))))
        case "all_equal":
            return np.full(count, int(bool(np.all(values == values[0]))))
        case "elect":
            first_lane: Lanes = (lane == 0).astype(np.int64)
            return first_lane
        case "broadcast_first":
            return np.full(count, values[0])
        case "broadcast":
            source = int(others[0])
            return np.full(count, values[source] if source < count else values[0])
        case _:
            moved: Lanes = values[_source_lanes(short, lane, others)]
            return moved


def _source_lanes(name: str, lane: Words, others: Words) -> Words:
    """Return the lane that each member reads in a shuffle, held inside the group."""
    source = {
        "shuffle": others,
        "shuffle_xor": lane ^ others,
        "shuffle_up": lane - others,
        "shuffle_down": lane + others,
    }.get(name, lane)
    held: Words = np.clip(source, 0, len(lane) - 1)
    return held


def _identity(op: str, dtype: np.dtype[np.generic]) -> int | float:
    if op in ("min", "max"):
        if dtype.kind == "f":
            return float("inf") if op == "min" else float("-inf")
        bounds = np.iinfo(dtype.name)
        return int(bounds.max if op == "min" else bounds.min)
    if op == "and":
        return -1 if dtype.kind == "i" else int(np.iinfo(dtype.name).max)
    return 1 if op == "mul" else 0

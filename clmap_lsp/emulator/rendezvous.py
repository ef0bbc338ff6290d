"""What happens when the work-items of a group wait at different places: collectives, divergent barriers."""

from __future__ import annotations

from itertools import count
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clmap_lsp.emulator import layout as at
from clmap_lsp.emulator.collectives import EXCHANGE_WORDS
from clmap_lsp.emulator.group_functions import Members, answer, is_known, may_diverge
from clmap_lsp.emulator.kernel_code import KernelCode
from clmap_lsp.emulator.machine_state import MachineState
from clmap_lsp.source.ir import (
    AsyncCopy,
    Barrier,
    BarrierScope,
    Block,
    Collective,
    Kernel,
    Loop,
    blocks,
    walk,
)
from clmap_lsp.source.per_kernel import per_kernel

Words = NDArray[np.int64]
_Place = tuple[int, ...]
"""The numbers, in the order of the source, of the loops around a call and of the call itself."""
_SITE = 0xFFFFFFFF
_EPOCHS = {at.FENCE_LOCAL: at.EPOCH_LOCAL, at.FENCE_GLOBAL: at.EPOCH_GLOBAL, at.FENCE_IMAGE: at.EPOCH_IMAGE}


class _Meetings(NamedTuple):
    """Where the work-items of a kernel wait for each other, by site."""

    calls: dict[int, Collective]
    copies: frozenset[int]
    sub_group_barriers: frozenset[int]
    barriers: frozenset[int]
    places: dict[int, _Place]
    """Of the calls."""


@per_kernel
def _meetings(kernel: Kernel) -> _Meetings:
    """Return where work-items wait: some kernels make them wait in every turn of a loop."""
    statements = list(walk(kernel.body))
    calls = {it.site: it for it in statements if isinstance(it, Collective)}
    barriers = [it for it in statements if isinstance(it, Barrier)]
    return _Meetings(
        calls,
        frozenset(it.load_site for it in statements if isinstance(it, AsyncCopy)),
        frozenset(it.site for it in barriers if it.scope is BarrierScope.SUB_GROUP),
        frozenset(it.site for it in barriers),
        _places(kernel.body) if calls else {},
    )


class Divergence(NamedTuple):
    """Work-items of a group that did not come to a place together."""

    site: int
    other_site: int
    """Where others of them wait; -1 where they have ended, or come with other arguments."""
    is_uneven: bool
    """All of them came, but not with the same arguments."""
    work_item: int
    group: int


def resolve(state: MachineState, code: KernelCode, kernel: Kernel) -> list[Divergence]:
    """Let waiting work-items go on; return what is wrong with how they came to where they wait."""
    words = state.words
    items = int(words[at.ITEMS])
    frames = state.frames.reshape(state.sizes.items, -1)[:items]
    incomplete: list[Divergence] = []
    meetings = _meetings(kernel)
    if _serve_collectives(state, frames, meetings, incomplete) or _serve_divergent(state, frames, meetings):
        words[at.PHASE] = at.PHASE_ROUND
        return incomplete
    status = frames[:, at.F_STATUS]
    waits = np.flatnonzero((status == at.AT_BARRIER) | (status == at.AT_COLLECTIVE))
    first = int(waits[0])
    sites = frames[waits, at.F_SITE] & _SITE
    different = sites[sites != sites[0]]
    other = int(different[0]) if len(different) else -1
    copies = meetings.copies
    # A barrier that all reach comes here only where their fences differ: it is taken for all of these.
    uneven = other < 0 and len(waits) == items and (int(sites[0]) in copies or _all_at_barrier(status))
    item, group = int(frames[first, at.F_GLOBAL_LINEAR]), int(words[at.GROUP])
    divergent = [Divergence(int(sites[0]), other, uneven, item, group)]
    barriers = waits[status[waits] == at.AT_BARRIER]
    collectives = waits[status[waits] == at.AT_COLLECTIVE]
    fences = 0
    if not len(collectives):
        fences = int(np.bitwise_or.reduce(frames[barriers, at.F_SITE] >> 32))
        frames[barriers, at.F_STATUS] = at.RUNNABLE
    else:
        # Those at a barrier go on waiting: the others may still come to it.
        # Incomplete collectives: each work-item takes its own operand for the result; copies are left out.
        skipped = waits[np.isin(frames[waits, at.F_SITE] & _SITE, list(copies))]
        if len(skipped) < int(np.count_nonzero(status != at.DONE)):
            frames[skipped, at.X_COUNT] = 0
        frames[collectives, at.F_STATUS] = at.RUNNABLE
    words[at.PASSED] += 1
    for fence, epoch in _EPOCHS.items():
        if fences & fence:
            words[epoch] = words[at.PASSED]
    words[at.RELEASE_COPIES] = int(bool(fences & at.FENCE_EVENTS))
    words[at.PHASE] = at.PHASE_ROUND
    return divergent


def _all_at_barrier(status: Words) -> bool:
    return bool((status == at.AT_BARRIER).all())


def _serve_divergent(state: MachineState, frames: Words, meetings: _Meetings) -> bool:
    """Serve who came to a call that need not be met by the whole sub-group; True if there was one.

    Of each sub-group only those that have come least far: those behind a branch wait for who is in it, and
    those in a later turn of a loop for who is in an earlier one, as hardware has it.
    """
    calls = {site: it for site, it in meetings.calls.items() if may_diverge(it.name)}
    places = meetings.places
    served = False
    if not calls:
        return served
    for start in range(0, len(frames), state.sizes.width):
        members = np.arange(start, min(start + state.sizes.width, len(frames)))
        waits = members[frames[members, at.F_STATUS] == at.AT_COLLECTIVE]
        sites = (frames[waits, at.F_SITE] & _SITE).tolist()
        found = [_how_far(places[it], frames[k]) for it, k in zip(sites, waits, strict=True) if it in calls]
        if not found:
            continue
        least = min(found)
        here = [
            k
            for it, k in zip(sites, waits, strict=True)
            if it in calls and _how_far(places[it], frames[k]) == least
        ]
        _work_out(state, frames, np.array(here), calls[int(frames[here[0], at.F_SITE]) & _SITE])
        frames[here, at.F_STATUS] = at.RUNNABLE
        served = True
    return served


def _places(body: Block) -> dict[int, _Place]:
    """Return the place of every call of a group."""
    found: dict[int, _Place] = {}
    numbers = count()

    def visit(block: Block, around: _Place) -> None:
        for statement in block:
            number = next(numbers)
            if isinstance(statement, Collective):
                found[statement.site] = (*around, number)
            inside = (*around, number) if isinstance(statement, Loop) else around
            for part in blocks(statement):
                visit(part, inside)

    visit(body, ())
    return found


def _how_far(place: _Place, frame: Words) -> tuple[int, ...]:
    """Return where a work-item waits, with the turns of the loops around it: earlier ones are less."""
    *loops, call = place
    turns = [int(frame[at.F_TURNS + k]) if k < at.TURN_DEPTH else 0 for k in range(len(loops))]
    return (*(it for both in zip(loops, turns, strict=True) for it in both), call)


def _serve_collectives(
    state: MachineState, frames: Words, meetings: _Meetings, incomplete: list[Divergence]
) -> bool:
    """Serve every complete collective; True if there was one.

    Barriers of sub-groups and collectives that work-items which have ended should have come to are put into
    `incomplete`.
    """
    width = state.sizes.width
    calls, copies, places = meetings.calls, meetings.copies, meetings.places
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
        if site in meetings.barriers:
            if site not in meetings.sub_group_barriers:
                continue
            _pass_sub_group(state, frames, waits)
        if site in copies:
            # The whole group makes one copy: everyone is there, with the same arguments.
            arguments = frames[waits, at.F_EXCHANGE : at.F_EXCHANGE + at.COPY_ARGUMENTS]
            if len(waits) != len(frames) or (arguments != arguments[0]).any():
                continue
        if call is not None:
            if may_diverge(call.name) and len({_how_far(places[site], frames[it]) for it in waits}) > 1:
                continue  # They are in different turns of a loop.
            _work_out(state, frames, waits, call)
        if len(live) != len(members) and (
            site in meetings.barriers or (call is not None and not may_diverge(call.name))
        ):
            item, group = int(frames[waits[0], at.F_GLOBAL_LINEAR]), int(state.words[at.GROUP])
            incomplete.append(Divergence(site, -1, False, item, group))
        frames[waits, at.F_STATUS] = at.RUNNABLE
        served = True
    return served


def _pass_sub_group(state: MachineState, frames: Words, waits: NDArray[np.intp]) -> None:
    """Order what the work-items of a sub-group did before its barrier with what they do after it."""
    fences = int(np.bitwise_or.reduce(frames[waits, at.F_SITE] >> 32))
    state.words[at.PASSED] += 1
    for place, fence in enumerate(_EPOCHS):
        if fences & fence:
            state.sub_epochs[int(waits[0]) // state.sizes.width, place] = state.words[at.PASSED]


def _scopes_of(frames: Words, width: int) -> list[NDArray[np.intp]]:
    """Return the whole group, then its sub-groups, as indices of work-items."""
    everyone = np.arange(len(frames))
    groups = [everyone[start : start + width] for start in range(0, len(frames), width)]
    return [everyone, *groups] if len(groups) > 1 else groups


def _work_out(state: MachineState, frames: Words, waits: NDArray[np.intp], call: Collective) -> None:
    """Put each member's result where its operand was."""
    if not is_known(call):
        return
    is_group_wide = call.name.startswith("work_group_")
    width = len(frames) if is_group_wide else state.sizes.width
    sides = [int(it) for it in state.words[at.GROUP_SIZE : at.GROUP_SIZE + 3]]
    exchange = frames[:, at.F_EXCHANGE : at.F_EXCHANGE + EXCHANGE_WORDS]
    members = Members(
        waits.astype(np.int64) % width, width, exchange[waits].copy(), (sides[0], sides[1], sides[2])
    )
    result = answer(call, members)
    exchange[waits, : result.shape[1]] = result

"""Run-time library: what atomics and fences order between work-items (OpenCL C 3.0, section 6.15.12.3).

Compiled by `native`. A work-item that releases *publishes* all that it has done so far; one that acquires
from an atomic by which another has published is ordered with all that anybody published until then. That is
more than what stands behind the one atomic: who hears from one lock is taken to have heard from all. So no
race is told that an order rules out, and some are let pass.

Work-groups run one after the other: what an earlier group published is published before a later one acquires.
"""

from __future__ import annotations

from clmap_lsp.emulator.layout import (
    ACQUIRED,
    ACQUIRED_WIDELY,
    BUFFERS,
    COPY_ITEM,
    E_CELL_BYTES,
    E_GRANULE,
    ENTRY_WORDS,
    EPOCH_GLOBAL,
    EPOCH_GROUP,
    F_ACQUIRED,
    F_ACQUIRED_WIDELY,
    F_FENCED,
    F_FENCED_WIDELY,
    F_GLOBAL_LINEAR,
    F_HEARD,
    FRAME_BYTES,
    FRAMES,
    GLOBAL_SIZE,
    GROUP_ID,
    ITEM_MASK,
    ITEMS,
    LOCAL_SIZE,
    NUM_GROUPS,
    PASSED,
    PUBLISHED,
    PUBLISHED_GROUPS,
    PUBLISHED_ITEMS,
    W_ATOMIC,
    W_ATOMICS,
)
from clmap_lsp.emulator.native.words import Words, words


def order_read(s: Words, frame: Words, shadow: int, offset: int, number: int, flags: int) -> int:
    """Note that an atomic is read. Bits of `flags`: acquires, releases, between work-groups too."""
    table = words(s[BUFFERS] + number * ENTRY_WORDS * 8)
    cell = words(shadow + (offset >> table[E_GRANULE]) * table[E_CELL_BYTES])
    writer = cell[W_ATOMIC]
    if writer != 0 and (writer & ITEM_MASK) == frame[F_GLOBAL_LINEAR]:
        writer = cell[W_ATOMICS]
    if writer == 0 or has_published(s, writer & ITEM_MASK) == 0:
        return 0
    frame[F_HEARD] = s[PASSED]
    if (flags & 1) != 0:
        acquire(s, frame, flags)
    return 0


def order_write(s: Words, frame: Words, flags: int) -> int:
    """Note that an atomic is written: it publishes by its own order, or for the last fence that releases."""
    if (flags & 2) != 0:
        publish(s, frame, s[PASSED], (flags >> 2) & 1)
        s[PASSED] += 1
        return 0
    if frame[F_FENCED] != 0:
        publish(s, frame, frame[F_FENCED], 0)
    if frame[F_FENCED_WIDELY] != 0:
        publish(s, frame, frame[F_FENCED_WIDELY], 1)
    return 0


def order_fence(s: Words, frame: Words, flags: int) -> int:
    """Note a fence, with the bits of an atomic."""
    if (flags & 2) != 0:
        frame[F_FENCED] = s[PASSED]
        if (flags & 4) != 0:
            frame[F_FENCED_WIDELY] = s[PASSED]
        s[PASSED] += 1
    if (flags & 1) != 0 and frame[F_HEARD] != 0:
        acquire(s, frame, flags)
    return 0


def acquire(s: Words, frame: Words, flags: int) -> None:
    """Order what is published so far before what the work-item does from now on."""
    frame[F_ACQUIRED] = frame[F_HEARD]
    if (flags & 4) != 0:
        frame[F_ACQUIRED_WIDELY] = frame[F_HEARD]


def publish(s: Words, frame: Words, when: int, is_wide: int) -> None:
    """Release what the work-item did until `when`, and what its group did before its last barrier."""
    if frame[F_GLOBAL_LINEAR] < s[PUBLISHED_ITEMS]:
        at = words(s[PUBLISHED] + frame[F_GLOBAL_LINEAR] * 16)
        at[0] = max(at[0], when)
        if is_wide != 0:
            at[1] = max(at[1], when)
    if is_wide != 0:
        groups = words(s[PUBLISHED_GROUPS])
        number = (s[GROUP_ID + 2] * s[NUM_GROUPS + 1] + s[GROUP_ID + 1]) * s[NUM_GROUPS] + s[GROUP_ID]
        groups[number] = max(groups[number], min(when, s[EPOCH_GLOBAL]))


def has_published(s: Words, item: int) -> int:
    """Return 1 if a work-item has released anything; of those for which there is no room all have."""
    if item >= s[PUBLISHED_ITEMS]:
        return 1
    at = words(s[PUBLISHED] + item * 16)
    return int(at[0] != 0)


def pass_orders(s: Words) -> None:
    """What one work-item has acquired, all of its group have, once they passed a barrier."""
    if s[PUBLISHED] == 0:
        return
    for item in range(s[ITEMS]):
        frame = words(s[FRAMES] + item * s[FRAME_BYTES])
        s[ACQUIRED] = max(s[ACQUIRED], frame[F_ACQUIRED])
        s[ACQUIRED_WIDELY] = max(s[ACQUIRED_WIDELY], frame[F_ACQUIRED_WIDELY])


def comes_after(s: Words, frame: Words, when: int, other: int) -> int:
    """Return 1 if an access that another work-item made at `when` is ordered before what this one does."""
    if (other & COPY_ITEM) != 0:
        return 0
    if when >= s[EPOCH_GROUP]:
        return published(s, other, when, max(frame[F_ACQUIRED], s[ACQUIRED]), 0)
    acquired = max(frame[F_ACQUIRED_WIDELY], s[ACQUIRED_WIDELY])
    if acquired == 0:
        return 0
    groups = words(s[PUBLISHED_GROUPS])
    if when < groups[group_of(s, other)]:
        return 1
    return published(s, other, when, acquired, 1)


def published(s: Words, other: int, when: int, acquired: int, wide: int) -> int:
    """Return 1 if a work-item released what it did at `when`, and that was acquired."""
    if acquired == 0:
        return 0
    if other >= s[PUBLISHED_ITEMS]:
        return 1
    at = words(s[PUBLISHED] + other * 16)
    released = at[wide]
    return int(released >= when and released <= acquired)


def group_of(s: Words, item: int) -> int:
    """Return the linear number of a work-item's group."""
    rest = item
    number = 0
    step = 1
    for d in range(3):
        place = rest % s[GLOBAL_SIZE + d]
        rest = rest // s[GLOBAL_SIZE + d]
        number += place // s[LOCAL_SIZE + d] * step
        step = step * s[NUM_GROUPS + d]
    return number

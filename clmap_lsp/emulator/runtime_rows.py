"""Run-time library: launches of which whole rows of work-items are run at once (see `row_code.py`).

Compiled by `native`. Work-groups that lie side by side are taken together, their rows one after the other.
"""

from __future__ import annotations

from clmap_lsp.emulator.layout import (
    EXECUTE,
    F_GLOBAL_LINEAR,
    F_LINEAR,
    F_LOCAL_ID,
    F_RESUME,
    F_STATUS,
    FINISHED,
    FRAMES,
    FUEL,
    GLOBAL_SIZE,
    GROUP,
    GROUP_ID,
    GROUP_SIZE,
    GROUPS,
    GROUPS_WITHOUT_ACCESS,
    INSPECT,
    KERNEL,
    LOCAL_SIZE,
    NUM_GROUPS,
    OFFSET,
    PAUSED,
    ROW_GROUPS,
    ROW_ITEMS,
    ROW_LENGTHS,
    ROW_SLOW,
    RUNNABLE,
    SEGMENT_SLOTS,
    SEGMENTS,
    STEPS,
    WEIGHTS,
)
from clmap_lsp.emulator.native.words import Words, call_kernel, call_rows, words
from clmap_lsp.emulator.runtime_groups import count_segments, weigh


def run_rows(s: Words) -> int:
    """Run until all groups are done, or until the fuel is used up."""
    while s[GROUP] < s[GROUPS]:
        if s[FUEL] <= 0:
            return PAUSED
        number = s[GROUP]
        for d in range(3):
            s[GROUP_ID + d] = number % s[NUM_GROUPS + d]
            number = number // s[NUM_GROUPS + d]
            rest = s[GLOBAL_SIZE + d] - s[GROUP_ID + d] * s[LOCAL_SIZE + d]
            s[GROUP_SIZE + d] = min(s[LOCAL_SIZE + d], rest)
        groups = min(s[ROW_GROUPS], s[NUM_GROUPS] - s[GROUP_ID])
        start = s[GROUP_ID] * s[LOCAL_SIZE]
        s[ROW_ITEMS] = min(groups * s[LOCAL_SIZE], s[GLOBAL_SIZE] - start)
        for z in range(s[GROUP_SIZE + 2]):
            for y in range(s[GROUP_SIZE + 1]):
                run_row(s, start, y, z)
        items = s[ROW_ITEMS] * s[GROUP_SIZE + 1] * s[GROUP_SIZE + 2]
        s[STEPS] += items
        s[FUEL] -= 4 * items
        s[GROUP] += groups
        s[GROUPS_WITHOUT_ACCESS] += groups
        if s[WEIGHTS] != 0:
            weigh(s)
    return FINISHED


def run_row(s: Words, start: int, y: int, z: int) -> None:
    """Run one row; `start` is the first work-item's place in the launch, `y` and `z` are local ids."""
    frame = words(s[FRAMES])
    begin_row_item(s, frame, start, y, z)
    if call_rows(s[INSPECT], s, frame) != 0:
        run_row_by_items(s, start, y, z)
        return
    call_rows(s[EXECUTE], s, frame)
    if s[WEIGHTS] != 0:
        note_lengths(s)


def begin_row_item(s: Words, frame: Words, x: int, y: int, z: int) -> None:
    """Set the first frame to the start of the kernel for the work-item at `x` in the launch."""
    global_y = s[GROUP_ID + 1] * s[LOCAL_SIZE + 1] + y
    global_z = s[GROUP_ID + 2] * s[LOCAL_SIZE + 2] + z
    local_x = x % s[LOCAL_SIZE]
    width = min(s[LOCAL_SIZE], s[GLOBAL_SIZE] - x + local_x)
    frame[F_RESUME] = 0
    frame[F_STATUS] = RUNNABLE
    frame[F_LINEAR] = (z * s[GROUP_SIZE + 1] + y) * width + local_x
    frame[F_LOCAL_ID] = local_x
    frame[F_LOCAL_ID + 1] = y
    frame[F_LOCAL_ID + 2] = z
    frame[F_LOCAL_ID + 3] = s[OFFSET] + x
    frame[F_LOCAL_ID + 4] = s[OFFSET + 1] + global_y
    frame[F_LOCAL_ID + 5] = s[OFFSET + 2] + global_z
    frame[F_GLOBAL_LINEAR] = (global_z * s[GLOBAL_SIZE + 1] + global_y) * s[GLOBAL_SIZE] + x


def run_row_by_items(s: Words, start: int, y: int, z: int) -> None:
    """Run a row in which something is a fault by the ordinary code, which reports it."""
    frame = words(s[FRAMES])
    s[ROW_SLOW] += s[ROW_ITEMS]
    first_group = s[GROUP]
    first_id = s[GROUP_ID]
    width = s[GROUP_SIZE]
    fuel = s[FUEL]
    steps = s[STEPS]
    s[FUEL] = 1 << 62  # What a row takes is counted once it is run.
    for index in range(s[ROW_ITEMS]):
        x = start + index
        s[GROUP_ID] = x // s[LOCAL_SIZE]
        s[GROUP] = first_group + s[GROUP_ID] - first_id
        s[GROUP_SIZE] = min(s[LOCAL_SIZE], s[GLOBAL_SIZE] - s[GROUP_ID] * s[LOCAL_SIZE])
        begin_row_item(s, frame, x, y, z)
        call_kernel(s[KERNEL], s, frame, 1)
    s[FUEL] = fuel
    s[STEPS] = steps
    s[GROUP] = first_group
    s[GROUP_ID] = first_id
    s[GROUP_SIZE] = width


def note_lengths(s: Words) -> None:
    """Count how much each work-item of a row executed: those in a row that did as much at once."""
    lengths = words(s[ROW_LENGTHS])
    items = s[ROW_ITEMS]
    first = 0
    while first < items:
        last = first + 1
        while last < items and lengths[last] == lengths[first]:
            last += 1
        count_segments(s, s[SEGMENTS], lengths[first] >> 32, last - first)
        count_segments(s, s[SEGMENTS] + SEGMENT_SLOTS * 16, lengths[first] & 0xFFFFFFFF, last - first)
        first = last

"""Run-time library: runs the work-items of one group after the other, from barrier to barrier.

Compiled by `native`. `run` returns to Python whenever its fuel is used up, the metric tables need emptying,
or the work-items of a group wait in a way that only Python can resolve; called again, it goes on where it
stopped.
"""

from __future__ import annotations

from clmap_lsp.emulator.layout import (
    ABSENT,
    ACQUIRED,
    ACQUIRED_WIDELY,
    AIWC_SEGMENT,
    AIWC_STEPS,
    AIWC_SUM,
    AIWC_TOTAL,
    AT_BARRIER,
    AT_STEP,
    BARRIERS,
    BUFFERS,
    COUNTERS,
    CURSOR,
    DIVERGED,
    DONE,
    E_GROUP_STEP,
    E_TRACE,
    ENTRY_WORDS,
    EPOCH_GLOBAL,
    EPOCH_GROUP,
    EPOCH_IMAGE,
    EPOCH_LOCAL,
    F_ACCESSES,
    F_ACQUIRED,
    F_COUNT,
    F_GLOBAL_ID,
    F_GLOBAL_LINEAR,
    F_HEARD,
    F_LINEAR,
    F_LOCAL_ID,
    F_MEMORY,
    F_OPERATIONS,
    F_RESUME,
    F_RING,
    F_SITE,
    F_STATUS,
    FENCE_EVENTS,
    FENCE_GLOBAL,
    FENCE_IMAGE,
    FENCE_LOCAL,
    FINISHED,
    FLUSH,
    FRAME_BYTES,
    FRAMES,
    FRAMES_FOR,
    FUEL,
    G_ACCESSES,
    G_OPERATIONS,
    G_PSL,
    GLOBAL_SIZE,
    GROUP,
    GROUP_ID,
    GROUP_LIST,
    GROUP_ROWS,
    GROUP_SIZE,
    GROUP_TIMESTEPS,
    GROUP_WORDS,
    GROUPS,
    GROUPS_WITHOUT_ACCESS,
    INIT_BYTES,
    INIT_OFFSET,
    ITEM_BARRIERS,
    ITEM_MASK,
    ITEMS,
    KERNEL,
    LEVELS,
    LOCAL_BASE,
    LOCAL_BYTES,
    LOCAL_ENTRIES,
    LOCAL_SIZE,
    MEMORY_SEEN,
    N_COUNTERS,
    N_LOCAL_ENTRIES,
    N_SUBS,
    NEEDS_FLUSH,
    NUM_GROUPS,
    OFFSET,
    OPERATIONS_SEEN,
    OUT_OF_FUEL,
    PASS_DIFFERS,
    PASS_FIRST,
    PASSED,
    PAUSED,
    PHASE,
    PHASE_CONSUME,
    PHASE_ROUND,
    PHASE_SEGMENT,
    PHASE_START,
    PSL,
    PSL_GROUP,
    PUBLISHED,
    QUICK,
    RECORD,
    RECORDING,
    RELEASE_COPIES,
    RELEASED,
    RING,
    RING_BYTES,
    RING_FULL,
    ROWS_LEFT,
    RUNNABLE,
    RUNNING,
    SEGMENT_SLOTS,
    SEGMENTS,
    SEGMENTS_LOST,
    STEP_AT,
    STEP_ITEM,
    STOPPED_AT,
    STUCK,
    SYNC_WIDTH,
    TIMESTEPS,
    TRACE_ON,
    WEIGHTS,
)
from clmap_lsp.emulator.native.words import Words, call_kernel, doubles, words
from clmap_lsp.emulator.runtime_copies import end_copies, end_wait, release_copies
from clmap_lsp.emulator.runtime_orders import pass_orders
from clmap_lsp.emulator.runtime_trace import close_requests, consume, fitting_rows, rows_ready, state_address


def run(s: Words) -> int:
    """Run until all groups are done, or until Python must act."""
    while s[GROUP] < s[GROUPS]:
        if s[PHASE] == PHASE_START:
            begin_group(s)
            s[PHASE] = PHASE_ROUND
        if s[PHASE] == PHASE_ROUND:
            if s[RELEASE_COPIES] != 0:
                s[RELEASE_COPIES] = 0
                release_copies(s)
            if not run_round(s):
                return PAUSED
            s[PHASE] = PHASE_CONSUME
            s[RELEASED] = RUNNABLE
            if s[RECORD] != 0:
                return RECORDING
        if s[PHASE] == PHASE_CONSUME:
            if s[TRACE_ON] != 0:
                if s[ROWS_LEFT] == 0:
                    s[ROWS_LEFT] = rows_ready(s, s[RUNNING])
                if not consume_all(s):
                    return FLUSH
            s[CURSOR] = 0
            s[PHASE] = PHASE_SEGMENT if s[RUNNING] == 0 else PHASE_ROUND
            s[RUNNING] = 0
            if s[NEEDS_FLUSH] != 0:
                return FLUSH
        if s[PHASE] == PHASE_SEGMENT:
            waits = waiting(s)
            if waits < 0:
                return STUCK
            end_segment(s)
            if waits == 0:
                note_segments(s)
                end_copies(s)
                end_group(s)
                s[GROUP] += 1
                s[PHASE] = PHASE_START
            else:
                release(s)
                s[PHASE] = PHASE_ROUND
            if s[NEEDS_FLUSH] != 0:
                return FLUSH
    return FINISHED


def consume_all(s: Words) -> bool:
    """Take what is ready out of the rings; False if the tables must be emptied before the rest of it."""
    while s[ROWS_LEFT] > 0:
        rows = min(s[ROWS_LEFT], fitting_rows(s))
        if rows <= 0 or s[NEEDS_FLUSH] != 0:
            s[NEEDS_FLUSH] = 1
            return False
        consume(s, rows)
        s[ROWS_LEFT] -= rows
        s[FUEL] -= rows * s[ITEMS] // 4
    return True


def run_round(s: Words) -> bool:
    """Run every runnable work-item until it waits, ends or fills its ring; False if the fuel ran out."""
    if s[SYNC_WIDTH] != 0:
        return run_in_lockstep(s)
    if s[CURSOR] == 0:
        s[PASS_FIRST] = ABSENT
        s[PASS_DIFFERS] = 0
    frame = words(s[FRAMES] + s[CURSOR] * s[FRAME_BYTES])
    if call_kernel(s[KERNEL], s, frame, s[ITEMS] - s[CURSOR]) == OUT_OF_FUEL:
        s[CURSOR] = s[STOPPED_AT]
        return False
    s[CURSOR] = s[ITEMS]
    return True


def run_in_lockstep(s: Words) -> bool:
    """As `run_round`, `SYNC_WIDTH` work-items in lockstep: those go on that stand earliest in the kernel.

    So who leaves a branch or a loop waits for the others, and all make their next access together. Places are
    numbered in the order of the source, loops from their test to their step.
    """
    while s[CURSOR] < s[ITEMS]:
        last = min(s[CURSOR] + s[SYNC_WIDTH], s[ITEMS])
        if s[STEP_AT] == 0:
            s[STEP_AT] = earliest(s, s[CURSOR], last)
            s[STEP_ITEM] = s[CURSOR]
        if s[STEP_AT] == 0:
            s[CURSOR] = last
        while s[STEP_AT] != 0 and s[STEP_ITEM] < last:
            frame = words(s[FRAMES] + s[STEP_ITEM] * s[FRAME_BYTES])
            if frame[F_STATUS] == RUNNABLE and frame[F_RESUME] + 1 == s[STEP_AT]:
                if s[FUEL] <= 0:
                    return False
                status = call_kernel(s[KERNEL], s, frame, 1)
                if status == OUT_OF_FUEL:
                    return False
                if status != AT_STEP:
                    frame[F_STATUS] = status
            s[STEP_ITEM] += 1
        s[STEP_AT] = 0
    return True


def earliest(s: Words, first: int, last: int) -> int:
    """Return 1 + the earliest place at which one of some work-items can go on; 0 if none can.

    Those whose rings are full go on when these have been emptied.
    """
    found = 0
    for item in range(first, last):
        frame = words(s[FRAMES] + item * s[FRAME_BYTES])
        if frame[F_STATUS] == RUNNABLE and (found == 0 or frame[F_RESUME] + 1 < found):
            found = frame[F_RESUME] + 1
    if found != 0:
        return found
    for item in range(first, last):
        frame = words(s[FRAMES] + item * s[FRAME_BYTES])
        if frame[F_STATUS] == RING_FULL:
            frame[F_STATUS] = RUNNABLE
            s[RUNNING] += 1
    return 0


def weigh(s: Words) -> None:
    """Sum up what the counters say was executed."""
    counters = words(s[COUNTERS])
    weights = words(s[WEIGHTS])
    operations = 0
    memory = 0
    for index in range(s[N_COUNTERS]):
        operations += counters[index] * weights[2 * index]
        memory += counters[index] * weights[2 * index + 1]
    s[OPERATIONS_SEEN] = operations
    s[MEMORY_SEEN] = memory


def note_segments(s: Words) -> None:
    """Count how much each work-item of the group executed since the last barrier: as much as the one before
    it, mostly.
    """
    if s[WEIGHTS] == 0 or s[QUICK] != 0:
        return
    alike = 0
    operations = 0
    memory = 0
    for item in range(s[ITEMS]):
        frame = words(s[FRAMES] + item * s[FRAME_BYTES])
        if alike > 0 and (frame[F_OPERATIONS] != operations or frame[F_MEMORY] != memory):
            note_alike(s, operations, memory, alike)
            alike = 0
        operations = frame[F_OPERATIONS]
        memory = frame[F_MEMORY]
        alike += 1
        frame[F_OPERATIONS] = 0
        frame[F_MEMORY] = 0
    if alike > 0:
        note_alike(s, operations, memory, alike)


def note_alike(s: Words, operations: int, memory: int, many: int) -> int:
    """Count so many work-items that executed as much as each other since the last barrier."""
    count_segments(s, s[SEGMENTS], operations, many)
    count_segments(s, s[SEGMENTS] + SEGMENT_SLOTS * 16, memory, many)
    return 0


def count_segments(s: Words, start: int, length: int, many: int) -> None:
    """Add to the times of a length."""
    table = words(start)
    slot = (length * 40503) & (SEGMENT_SLOTS - 1)
    for _ in range(SEGMENT_SLOTS):
        if table[2 * slot] == 0:
            table[2 * slot] = length + 1
        if table[2 * slot] == length + 1:
            table[2 * slot + 1] += many
            return
        slot = (slot + 1) & (SEGMENT_SLOTS - 1)
    s[SEGMENTS_LOST] = 1


def waiting(s: Words) -> int:
    """Return 0 if all work-items are done, 1 if all wait at one barrier, -1 for anything else."""
    first = words(s[FRAMES])
    status = first[F_STATUS]
    site = first[F_SITE]
    if (s[QUICK] == 0 or s[PASS_DIFFERS] != 0) and not stands_with_all(s, status, site):
        return -1
    if status == DONE:
        return 0
    if status == AT_BARRIER:
        return 1
    return -1


def stands_with_all(s: Words, status: int, site: int) -> bool:
    """Return whether all work-items have a status, and wait at the same site if they wait."""
    for item in range(1, s[ITEMS]):
        frame = words(s[FRAMES] + item * s[FRAME_BYTES])
        if frame[F_STATUS] != status or (status != DONE and frame[F_SITE] != site):
            return False
    return True


def release(s: Words) -> None:
    """Let everyone pass the barrier that all wait at: the memory that its fences name is in order now."""
    first = words(s[FRAMES])
    fences = first[F_SITE] >> 32
    if (fences & FENCE_EVENTS) != 0:
        end_wait(s, first[F_SITE] & ITEM_MASK)
    pass_barrier(s, fences)
    s[BARRIERS] += 1
    note_segments(s)
    s[ITEM_BARRIERS] += s[ITEMS]
    if s[QUICK] != 0:
        s[RELEASED] = AT_BARRIER
        return
    for item in range(s[ITEMS]):
        frame = words(s[FRAMES] + item * s[FRAME_BYTES])
        frame[F_STATUS] = RUNNABLE


def pass_barrier(s: Words, fences: int) -> None:
    """Start a new epoch of the memory that `fences` name."""
    s[PASSED] += 1
    if (fences & FENCE_LOCAL) != 0:
        s[EPOCH_LOCAL] = s[PASSED]
    if (fences & FENCE_GLOBAL) != 0:
        s[EPOCH_GLOBAL] = s[PASSED]
        pass_orders(s)
    if (fences & FENCE_IMAGE) != 0:
        s[EPOCH_IMAGE] = s[PASSED]


def end_segment(s: Words) -> None:
    """Close what belongs to the stretch between two barriers."""
    if s[TRACE_ON] == 0:
        return
    close_requests(s)
    sums = doubles(state_address(s))
    steps = float(s[TIMESTEPS])
    for level in range(LEVELS):
        sums[AIWC_SUM + level] += sums[AIWC_SEGMENT + level] / (steps + 1.0) * steps
        sums[AIWC_SEGMENT + level] = 0.0
    s[AIWC_STEPS] += s[TIMESTEPS]
    s[TIMESTEPS] = 0
    diverged = words(s[DIVERGED])
    for sub in range(s[N_SUBS]):
        diverged[sub] = 0


def begin_group(s: Words) -> None:
    """Set the ids of the next group's work-items and clear its private and local memory."""
    number = s[GROUP]
    if s[GROUP_LIST] != 0:
        chosen = words(s[GROUP_LIST])
        number = chosen[s[GROUP]]
    for d in range(3):
        s[GROUP_ID + d] = number % s[NUM_GROUPS + d]
        number = number // s[NUM_GROUPS + d]
        s[GROUP_SIZE + d] = min(s[LOCAL_SIZE + d], s[GLOBAL_SIZE + d] - s[GROUP_ID + d] * s[LOCAL_SIZE + d])
    s[ITEMS] = s[GROUP_SIZE] * s[GROUP_SIZE + 1] * s[GROUP_SIZE + 2]
    s[PASSED] += 1
    s[EPOCH_GROUP] = s[PASSED]
    s[EPOCH_LOCAL] = s[PASSED]
    s[EPOCH_GLOBAL] = s[PASSED]
    s[EPOCH_IMAGE] = s[PASSED]
    s[ACQUIRED] = 0
    s[ACQUIRED_WIDELY] = 0
    begin_items(s)
    local = words(s[LOCAL_BASE])
    for index in range(s[LOCAL_BYTES] // 8):
        local[index] = 0
    table = words(s[BUFFERS])
    numbers = words(s[LOCAL_ENTRIES])
    if s[GROUP] > 0:
        for index in range(s[N_LOCAL_ENTRIES]):
            at = numbers[index] * ENTRY_WORDS
            table[at + E_TRACE] += table[at + E_GROUP_STEP]
    s[CURSOR] = 0
    s[RUNNING] = 0


def begin_items(s: Words) -> None:
    """Set every frame of the group to the start of the kernel."""
    is_same = True
    for d in range(3):
        if s[FRAMES_FOR + d] != s[GROUP_SIZE + d]:
            is_same = False
        s[FRAMES_FOR + d] = s[GROUP_SIZE + d]
    if not is_same:
        set_local_ids(s)
    first = s[GROUP_ID] * s[LOCAL_SIZE]
    second = s[GROUP_ID + 1] * s[LOCAL_SIZE + 1]
    third = s[GROUP_ID + 2] * s[LOCAL_SIZE + 2]
    start = s[INIT_OFFSET] // 8
    for item in range(s[ITEMS]):
        frame = words(s[FRAMES] + item * s[FRAME_BYTES])
        x = first + frame[F_LOCAL_ID]
        y = second + frame[F_LOCAL_ID + 1]
        z = third + frame[F_LOCAL_ID + 2]
        frame[F_RESUME] = 0
        frame[F_STATUS] = RUNNABLE
        frame[F_OPERATIONS] = 0
        frame[F_MEMORY] = 0
        frame[F_GLOBAL_ID] = s[OFFSET] + x
        frame[F_GLOBAL_ID + 1] = s[OFFSET + 1] + y
        frame[F_GLOBAL_ID + 2] = s[OFFSET + 2] + z
        frame[F_GLOBAL_LINEAR] = (z * s[GLOBAL_SIZE + 1] + y) * s[GLOBAL_SIZE] + x
        for index in range(s[INIT_BYTES] // 8):
            frame[start + index] = 0
    if s[QUICK] == 0 or s[PUBLISHED] != 0:
        begin_accesses(s)


def begin_accesses(s: Words) -> None:
    """Forget what the frames say of accesses in the trace, and of atomics that order others."""
    for item in range(s[ITEMS]):
        frame = words(s[FRAMES] + item * s[FRAME_BYTES])
        frame[F_COUNT] = 0
        frame[F_ACCESSES] = 0
        for place in range(F_ACQUIRED, F_HEARD + 1):
            frame[place] = 0


def set_local_ids(s: Words) -> None:
    """Set what is the same in the frames of all groups of these sides."""
    x = 0
    y = 0
    z = 0
    for item in range(s[ITEMS]):
        frame = words(s[FRAMES] + item * s[FRAME_BYTES])
        frame[F_RING] = s[RING] + item * s[RING_BYTES]
        frame[F_LINEAR] = item
        frame[F_LOCAL_ID] = x
        frame[F_LOCAL_ID + 1] = y
        frame[F_LOCAL_ID + 2] = z
        x += 1
        if x == s[GROUP_SIZE]:
            x = 0
            y += 1
            if y == s[GROUP_SIZE + 1]:
                y = 0
                z += 1


def end_group(s: Words) -> None:
    """Add the group's mean entropies to the sums over groups."""
    sums = doubles(state_address(s))
    steps = s[GROUP_TIMESTEPS]
    if s[GROUP_ROWS] != 0:
        note_group(s)
    for level in range(LEVELS):
        if steps > 0:
            sums[PSL + level] += sums[PSL_GROUP + level] / float(steps)
        sums[PSL_GROUP + level] = 0.0
        sums[AIWC_TOTAL + level] += sums[AIWC_SUM + level] / float(s[AIWC_STEPS] + 1)
    if steps == 0:
        s[GROUPS_WITHOUT_ACCESS] += 1
    s[GROUP_TIMESTEPS] = 0


def note_group(s: Words) -> None:
    """Write down what a group of a sample did."""
    sums = doubles(state_address(s))
    start = s[GROUP_ROWS] + s[GROUP] * GROUP_WORDS * 8
    record = words(start)
    means = doubles(start)
    for item in range(s[ITEMS]):
        frame = words(s[FRAMES] + item * s[FRAME_BYTES])
        record[G_ACCESSES] += frame[F_ACCESSES]
    if s[WEIGHTS] != 0:
        weigh(s)
    record[G_OPERATIONS] = s[OPERATIONS_SEEN]
    if s[GROUP_TIMESTEPS] > 0:
        for level in range(LEVELS):
            means[G_PSL + level] = sums[PSL_GROUP + level] / float(s[GROUP_TIMESTEPS])

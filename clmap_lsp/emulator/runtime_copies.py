"""Run-time library: copies by the whole group, and the events that they are waited for by.

Compiled by `native`. The data moves when a copy is started. Until a wait for its event ends, the shadow says
of both sides that the copy touches them later than everything else (`PENDING`), so that whatever comes before
the wait races with it.
"""

from __future__ import annotations

from clmap_lsp.emulator.layout import (
    BUFFERS,
    C_COUNT,
    C_EVENT,
    C_FROM,
    C_FROM_AT,
    C_FROM_LINE,
    C_FROM_PLANE,
    C_FROM_STEP,
    C_LINES,
    C_PER_LINE,
    C_PLANES,
    C_SITES,
    C_SIZE,
    C_TO,
    C_TO_AT,
    C_TO_LINE,
    C_TO_PLANE,
    C_TO_STEP,
    C_WAITED,
    COPIES,
    COPY_ROOM,
    COPY_WORDS,
    E_BASE,
    E_CELL_BYTES,
    E_GRANULE,
    E_KIND,
    E_SHADOW,
    E_SIZE,
    ENTRY_WORDS,
    EVENTS_MADE,
    F_EVENTS,
    FAULT_COPY_OVERLAPS,
    FAULT_EVENTS,
    FAULT_KINDS,
    FAULT_NO_COPY,
    FAULT_OOB_READ,
    FAULT_OOB_WRITE,
    FAULT_UNWAITED,
    FRAME_BYTES,
    FRAMES,
    FUEL,
    GROUP_COPIES,
    ITEM_BITS,
    ITEM_MASK,
    ITEMS,
    KIND_LOCAL,
    KIND_PRIVATE,
    LAST_EVENT,
    N_COPIES,
    PENDING,
    W_FOREIGN,
    W_SITES,
    W_WRITER,
    X_COUNT,
    X_FROM,
    X_FROM_AT,
    X_FROM_LINE,
    X_FROM_PLANE,
    X_JOINS,
    X_LINES,
    X_PLANES,
    X_SITES,
    X_SIZE,
    X_STRIDE,
    X_TO,
    X_TO_AT,
    X_TO_LINE,
    X_TO_PLANE,
)
from clmap_lsp.emulator.native.words import Words, below, byte_pointer, words
from clmap_lsp.emulator.runtime_checks import epoch, report, shadow_read, shadow_write, stamp, who

BY_GROUP = 1 << 10
"""Flag of an access that the group makes, not the work-item."""


def copy_for_group(s: Words, frame: Words) -> int:
    """Make the copy that a work-item wrote down in its frame.

    Its stride holds for the side in global memory; the event is shared that it joins, if that is one.
    """
    s[LAST_EVENT] = frame[X_JOINS]
    if frame[X_JOINS] <= 0 or frame[X_JOINS] > s[EVENTS_MADE]:
        s[EVENTS_MADE] += 1
        s[LAST_EVENT] = s[EVENTS_MADE]
    # Where the table is full, the copy is taken as done; its record is the one past the table.
    record = words(s[COPIES] + s[N_COPIES] * COPY_WORDS * 8)
    describe_copy(s, frame, record)
    record[C_COUNT] = 0
    if lines_overlap(s, frame, record) == 0:
        copy_box(s, frame, record)
    copies = words(s[GROUP_COPIES])
    copies[record[C_SITES] & ITEM_MASK] += record[C_COUNT]
    copies[record[C_SITES] >> 32] += record[C_COUNT]
    s[FUEL] -= record[C_COUNT]
    if s[N_COPIES] < COPY_ROOM:
        s[N_COPIES] += 1
        mark_copy(s, frame, record, PENDING)
    return 0


def describe_copy(s: Words, frame: Words, record: Words) -> None:
    """Fill a copy's record."""
    goal = words(s[BUFFERS] + frame[X_TO] * ENTRY_WORDS * 8)
    size = frame[X_SIZE]
    record[C_EVENT] = s[LAST_EVENT]
    record[C_SITES] = frame[X_SITES]
    record[C_WAITED] = 0
    record[C_SIZE] = size
    record[C_FROM] = frame[X_FROM]
    record[C_FROM_AT] = frame[X_FROM_AT]
    record[C_FROM_STEP] = size
    record[C_TO] = frame[X_TO]
    record[C_TO_AT] = frame[X_TO_AT]
    record[C_TO_STEP] = size
    if goal[E_KIND] == KIND_LOCAL:
        record[C_FROM_STEP] = size * frame[X_STRIDE]
    else:
        record[C_TO_STEP] = size * frame[X_STRIDE]
    record[C_PER_LINE] = frame[X_COUNT]
    record[C_LINES] = frame[X_LINES]
    record[C_PLANES] = frame[X_PLANES]
    record[C_FROM_LINE] = size * frame[X_FROM_LINE]
    record[C_FROM_PLANE] = size * frame[X_FROM_PLANE]
    record[C_TO_LINE] = size * frame[X_TO_LINE]
    record[C_TO_PLANE] = size * frame[X_TO_PLANE]


def lines_overlap(s: Words, frame: Words, record: Words) -> int:
    """Report lines that are longer than from one to the next, and planes; return 1 if there are such.

    That is undefined. What is not so ends: each element lies beyond the one before.
    """
    site = record[C_SITES] & ITEM_MASK
    count = frame[X_COUNT]
    if count == 0 or frame[X_LINES] == 0 or frame[X_PLANES] == 0:
        return 0
    if frame[X_LINES] != 1 and (below(frame[X_FROM_LINE], count) or below(frame[X_TO_LINE], count)):
        report(s, frame, site * FAULT_KINDS + FAULT_COPY_OVERLAPS, count, 0)
        return 1
    from_plane = (frame[X_LINES] - 1) * frame[X_FROM_LINE] + count
    to_plane = (frame[X_LINES] - 1) * frame[X_TO_LINE] + count
    if frame[X_PLANES] != 1 and (
        below(frame[X_FROM_PLANE], from_plane) or below(frame[X_TO_PLANE], to_plane)
    ):
        report(s, frame, site * FAULT_KINDS + FAULT_COPY_OVERLAPS, max(from_plane, to_plane), 1)
        return 1
    return 0


def copy_box(s: Words, frame: Words, record: Words) -> None:
    """Move the elements and check both sides, up to the first one that is outside its buffer."""
    if record[C_PER_LINE] == 0 or record[C_LINES] == 0:
        return
    plane = 0
    while below(plane, record[C_PLANES]):
        line = 0
        while below(line, record[C_LINES]):
            at = record[C_FROM_AT] + plane * record[C_FROM_PLANE] + line * record[C_FROM_LINE]
            dest = record[C_TO_AT] + plane * record[C_TO_PLANE] + line * record[C_TO_LINE]
            if copy_line(s, frame, record, at, dest) == 0:
                return
            line += 1
        plane += 1


def copy_line(s: Words, frame: Words, record: Words, start: int, goal_start: int) -> int:
    """Move one line; return 0 if it does not end inside both buffers."""
    goal = words(s[BUFFERS] + record[C_TO] * ENTRY_WORDS * 8)
    source = words(s[BUFFERS] + record[C_FROM] * ENTRY_WORDS * 8)
    load_site = record[C_SITES] & ITEM_MASK
    store_site = record[C_SITES] >> 32
    size = record[C_SIZE]
    # Private memory is each work-item's own: a group's copy has no place there, and its base is no address.
    source_room = max(source[E_SIZE] - size + 1, 0) if source[E_KIND] != KIND_PRIVATE else 0
    goal_room = max(goal[E_SIZE] - size + 1, 0) if goal[E_KIND] != KIND_PRIVATE else 0
    from_flags = int(source[E_KIND] == KIND_LOCAL) | BY_GROUP
    to_flags = int(goal[E_KIND] == KIND_LOCAL) | BY_GROUP
    done = 0
    while below(done, record[C_PER_LINE]):
        at = start + done * record[C_FROM_STEP]
        dest = goal_start + done * record[C_TO_STEP]
        if not below(at, source_room):
            what = (record[C_FROM] << 32) | size
            report(s, frame, load_site * FAULT_KINDS + FAULT_OOB_READ, at, what)
            return 0
        if not below(dest, goal_room):
            what = (record[C_TO] << 32) | size
            report(s, frame, store_site * FAULT_KINDS + FAULT_OOB_WRITE, dest, what)
            return 0
        read = byte_pointer(source[E_BASE] + at)
        write = byte_pointer(goal[E_BASE] + dest)
        for index in range(size):
            write[index] = read[index]
        if source[E_SHADOW] != 0:
            what = size | (load_site << 32)
            shadow_read(s, frame, source[E_SHADOW], at, what, from_flags, record[C_FROM])
        if goal[E_SHADOW] != 0:
            what = size | (store_site << 32)
            shadow_write(s, frame, goal[E_SHADOW], dest, what, to_flags, record[C_TO], 0)
        done += 1
        record[C_COUNT] += 1
    return 1


def mark_copy(s: Words, frame: Words, record: Words, when: int) -> None:
    """Put the epoch `when` to all that a copy reads and writes; 0 stands for the present one."""
    s[FUEL] -= record[C_COUNT]
    left = record[C_COUNT]
    plane = 0
    line = 0
    while left > 0:
        count = left
        if below(record[C_PER_LINE], left):
            count = record[C_PER_LINE]
        at = record[C_FROM_AT] + plane * record[C_FROM_PLANE] + line * record[C_FROM_LINE]
        dest = record[C_TO_AT] + plane * record[C_TO_PLANE] + line * record[C_TO_LINE]
        mark_line(s, frame, record, when, at, dest, count)
        left -= count
        line += 1
        if line == record[C_LINES]:
            line = 0
            plane += 1


def mark_line(
    s: Words, frame: Words, record: Words, when: int, start: int, goal_start: int, count: int
) -> None:
    """As `mark_copy`, for the first `count` elements of a line."""
    item = who(s, frame, BY_GROUP)
    source = words(s[BUFFERS] + record[C_FROM] * ENTRY_WORDS * 8)
    goal = words(s[BUFFERS] + record[C_TO] * ENTRY_WORDS * 8)
    from_epoch = when if when != 0 else stamp(s, epoch(s, int(source[E_KIND] == KIND_LOCAL)))
    to_epoch = when if when != 0 else stamp(s, epoch(s, int(goal[E_KIND] == KIND_LOCAL)))
    for index in range(count):
        if source[E_SHADOW] != 0:
            at = start + index * record[C_FROM_STEP]
            granule = source[E_GRANULE]
            for place in range(at >> granule, ((at + record[C_SIZE] - 1) >> granule) + 1):
                cell = words(source[E_SHADOW] + place * source[E_CELL_BYTES])
                if when != 0 or cell[W_FOREIGN] >> ITEM_BITS == PENDING:
                    cell[W_FOREIGN] = (from_epoch << ITEM_BITS) | item
                    cell[W_SITES] = (cell[W_SITES] & ~0xFFFF0000) | ((record[C_SITES] & 0xFFFF) << 16)
        if goal[E_SHADOW] != 0:
            at = goal_start + index * record[C_TO_STEP]
            granule = goal[E_GRANULE]
            for place in range(at >> granule, ((at + record[C_SIZE] - 1) >> granule) + 1):
                cell = words(goal[E_SHADOW] + place * goal[E_CELL_BYTES])
                if when != 0 or cell[W_WRITER] >> ITEM_BITS == PENDING:
                    cell[W_WRITER] = (to_epoch << ITEM_BITS) | item


def wait_events(
    s: Words, frame: Words, base: int, size: int, offset: int, count: int, number: int, site: int
) -> int:
    """Note that a work-item waits for `count` events at byte `offset` of a buffer of `size` bytes."""
    frame[F_EVENTS] = 0
    index = 0
    while below(index, count):
        at = offset + index * 8
        if not below(at, max(size - 7, 0)):
            report(s, frame, site * FAULT_KINDS + FAULT_OOB_READ, at, (number << 32) | 8)
            return 0
        listed = words(base + at)
        event = listed[0]
        code = (event + 1) * 0x9E3779B97F4A7C15
        frame[F_EVENTS] += code ^ (code >> 29)
        found = 0
        for copy in range(s[N_COPIES]):
            record = words(s[COPIES] + copy * COPY_WORDS * 8)
            if record[C_EVENT] == event:
                record[C_WAITED] = 1
                found = 1
        if found == 0:
            was_waited_for = int(event > 0 and event <= s[EVENTS_MADE])
            report(s, frame, site * FAULT_KINDS + FAULT_NO_COPY, was_waited_for, 0)
        index += 1
    return 0


def end_wait(s: Words, site: int) -> None:
    """Let a group whose work-items all wait for events have them."""
    first = words(s[FRAMES])
    other = 0
    for item in range(1, s[ITEMS]):
        frame = words(s[FRAMES] + item * s[FRAME_BYTES])
        if frame[F_EVENTS] != first[F_EVENTS] and other == 0:
            other = item
    if other != 0:
        report(s, words(s[FRAMES] + other * s[FRAME_BYTES]), site * FAULT_KINDS + FAULT_EVENTS, 0, 0)
    release_copies(s)


def release_copies(s: Words) -> None:
    """Take the copies as done whose events a work-item waits for."""
    first = words(s[FRAMES])
    kept = 0
    for copy in range(s[N_COPIES]):
        record = words(s[COPIES] + copy * COPY_WORDS * 8)
        if record[C_WAITED] != 0:
            mark_copy(s, first, record, 0)
        else:
            place = words(s[COPIES] + kept * COPY_WORDS * 8)
            for index in range(COPY_WORDS):
                place[index] = record[index]
            kept += 1
    s[N_COPIES] = kept


def end_copies(s: Words) -> None:
    """Report the copies that a group never waited for, at its end."""
    first = words(s[FRAMES])
    for copy in range(s[N_COPIES]):
        record = words(s[COPIES] + copy * COPY_WORDS * 8)
        report(s, first, (record[C_SITES] & ITEM_MASK) * FAULT_KINDS + FAULT_UNWAITED, 0, 0)
        record[C_WAITED] = 1
    release_copies(s)

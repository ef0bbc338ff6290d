"""Run-time library: fault reports, race detection, initialisation.

Compiled by `native`. A *granule* is the largest unit that every access of a buffer is a multiple of. Each
granule of watched memory has up to seven words of shadow: the last plain writer, sites, the first and a
second plain reader since the last barrier, a reader of an earlier group or a copy under way, and the last two
atomic writers. A writer or reader is `epoch << 32 | work-item`; a new epoch starts at every group and at
every barrier whose fences name the memory.
"""

from __future__ import annotations

from clmap_lsp.emulator.layout import (
    ABSENT,
    ALL_WORDS,
    BUFFERS,
    COPY_ITEM,
    E_CELL_BYTES,
    E_GRANULE,
    E_KIND,
    E_NOINIT,
    ENTRY_WORDS,
    EPOCH_GLOBAL,
    EPOCH_GROUP,
    EPOCH_IMAGE,
    EPOCH_LOCAL,
    F_GLOBAL_LINEAR,
    F_LINEAR,
    FAULT_COUNT,
    FAULT_KINDS,
    FAULT_RACE_RW,
    FAULT_RACE_WW,
    FAULT_ROOM,
    FAULT_TALLY,
    FAULT_UNINITIALISED,
    FAULT_WORDS,
    FAULTS,
    FAULTS_PER_SITE,
    FENCE_IMAGE,
    FENCE_LOCAL,
    GLOBAL_SIZE,
    GROUP,
    GROUP_ID,
    GROUP_SIZE,
    ITEM_BITS,
    ITEM_MASK,
    ITEMS,
    KIND_LOCAL,
    LOCAL_SIZE,
    PARTLY,
    PASSED,
    PENDING,
    PUBLISHED,
    RACES_FINELY,
    RACES_ON,
    SUB_EPOCHS,
    SYNC_WIDTH,
    UNINIT_ON,
    W_ATOMIC,
    W_ATOMICS,
    W_FOREIGN,
    W_READER,
    W_READERS,
    W_SITES,
    W_WRITER,
    WIDTH,
    WRITTEN_WORDS,
)
from clmap_lsp.emulator.native.words import Words, byte_pointer, words
from clmap_lsp.emulator.runtime_orders import comes_after


def report(s: Words, frame: Words, code: int, first: int, second: int) -> int:
    """Note a fault; `code` is place * FAULT_KINDS + kind. Only the first few of a place are kept in full."""
    tally = words(s[FAULT_TALLY])
    tally[code] += 1
    if tally[code] > FAULTS_PER_SITE or s[FAULT_COUNT] >= s[FAULT_ROOM]:
        return 0
    entry = words(s[FAULTS] + s[FAULT_COUNT] * FAULT_WORDS * 8)
    entry[0] = code
    entry[1] = frame[F_GLOBAL_LINEAR]
    entry[2] = s[GROUP]
    entry[3] = first
    entry[4] = second
    entry[5] = ABSENT
    entry[6] = ABSENT
    s[FAULT_COUNT] += 1
    return 1


def report_race(s: Words, frame: Words, kind: int, site: int, where: int, other: int) -> int:
    """Note a race: `where` is buffer << 48 | offset, `other` is the other site << 32 | its work-item.

    Bit 60 of `other` says that the present access is the one that writes.
    """
    tally = words(s[FAULT_TALLY])
    code = site * FAULT_KINDS + kind
    if tally[code] >= FAULTS_PER_SITE:
        tally[code] += 1
        return 0
    if report(s, frame, code, where & ((1 << 48) - 1), where >> 48) != 0:
        entry = words(s[FAULTS] + (s[FAULT_COUNT] - 1) * FAULT_WORDS * 8)
        entry[5] = other & ITEM_MASK
        entry[6] = (other >> 32) & 0xFFFF
        entry[7] = (other >> 60) & 1
    return 0


def in_same_sub_group(s: Words, frame: Words, other: int) -> int:
    """Return 1 if another work-item, by global linear id, is of the sub-group of the one that runs.

    Where work-items run in lockstep, as many as do so are taken for one.
    """
    rest = other
    local = 0
    step = 1
    for d in range(3):
        place = rest % s[GLOBAL_SIZE + d]
        rest = rest // s[GLOBAL_SIZE + d]
        if place // s[LOCAL_SIZE + d] != s[GROUP_ID + d]:
            return 0
        local += place % s[LOCAL_SIZE + d] * step
        step = step * s[GROUP_SIZE + d]
    width = s[SYNC_WIDTH] if s[SYNC_WIDTH] != 0 else s[WIDTH]
    return int(local // width == frame[F_LINEAR] // width)


def shadow_read(
    s: Words, frame: Words, shadow: int, offset: int, size_site: int, flags: int, number: int
) -> int:
    """Check a read of shared memory.

    Bit 0 of `flags` is local memory, bit 2 an image, bit 8 an atomic, bit 10 a copy by the whole group, bit
    11 what a store of a bit-field keeps and need not be written before, bit 12 a part that is looked at for
    that alone; with bit 9 the buffer's number says which memory it is. Of a part of an object that is copied
    the next 24 bits are where it is in it, the rest are the size of the object.
    """
    granule = granule_of(s, number)
    bytes_of_cell = cell_bytes(s, number)
    size = size_site & ITEM_MASK
    site = size_site >> 32
    is_local = lies_in_local(s, flags, number)
    atomic = (flags >> 8) & 1
    memory = is_local | (flags & FENCE_IMAGE)
    now = epoch(s, memory)
    since = sub_group_epoch(s, frame, memory)
    item = who(s, frame, flags)
    me = (stamp(s, now) << ITEM_BITS) | item
    unset = (flags >> 11) & 1
    is_part = (flags >> 12) & 1
    quiet = is_misaligned(offset, granule) | is_part
    for index in range(offset >> granule, ((offset + size - 1) >> granule) + 1):
        cell = words(shadow + index * bytes_of_cell)
        if s[UNINIT_ON] != 0 and unset == 0 and is_fresh(s, cell, number, is_local):
            report_fresh(s, frame, shadow, offset, size_site, flags, number, is_local)
            unset = 1
        if s[RACES_ON] != 0 and quiet == 0:
            found = unordered(s, frame, cell[W_WRITER], now, since, item, is_local)
            other_site = cell[W_SITES] & 0xFFFF
            if found == ABSENT and atomic == 0 and bytes_of_cell == ALL_WORDS * 8:
                found = unordered(s, frame, cell[W_ATOMIC], now, since, item, is_local)
                if found == ABSENT:
                    found = unordered(s, frame, cell[W_ATOMICS], now, since, item, is_local)
                other_site = (cell[W_SITES] >> 32) & 0xFFFF
            if found != ABSENT:
                place = (number << 48) | offset
                report_race(s, frame, FAULT_RACE_RW, site, place, (other_site << 32) | found)
                quiet = 1
        if atomic == 0 and is_part == 0 and cell[W_READER] != me:
            note_reader(s, cell, me, now, site)
    return 0


def is_fresh(s: Words, cell: Words, number: int, is_local: int) -> bool:
    """Return whether nobody has written a granule: none of the group, in local memory."""
    newest = cell[W_WRITER]
    if cell_bytes(s, number) == ALL_WORDS * 8:
        newest = max(newest, cell[W_ATOMIC])
    if is_local != 0:
        return newest >> ITEM_BITS < s[EPOCH_GROUP]
    return newest == 0 and is_unwritten(s, number)


def report_fresh(
    s: Words,
    frame: Words,
    shadow: int,
    offset: int,
    size_site: int,
    flags: int,
    number: int,
    is_local: int,
) -> None:
    """Report a read of granules that nobody wrote: by the first of them where others were written."""
    granule = granule_of(s, number)
    first = offset >> granule
    last = (offset + (size_site & ITEM_MASK) - 1) >> granule
    missing = ABSENT
    written = 0
    object_size = flags >> 40
    if object_size != 0:
        start = offset - ((flags >> 16) & 0xFFFFFF)
        for index in range(start >> granule, ((start + object_size - 1) >> granule) + 1):
            if not is_fresh(s, words(shadow + index * cell_bytes(s, number)), number, is_local):
                written = 1
    for index in range(first, last + 1):
        if not is_fresh(s, words(shadow + index * cell_bytes(s, number)), number, is_local):
            written = 1
        elif missing == ABSENT:
            missing = index
    where = max(missing << granule, offset) if written != 0 else offset
    code = (size_site >> 32) * FAULT_KINDS + FAULT_UNINITIALISED
    report(s, frame, code, where, number + PARTLY * written)


def who(s: Words, frame: Words, flags: int) -> int:
    """Return who makes an access: the work-item, or its group's copy where the group has others."""
    if (flags >> 10) & 1 == 0 or s[ITEMS] == 1:
        return frame[F_GLOBAL_LINEAR]
    return frame[F_GLOBAL_LINEAR] | COPY_ITEM


def granule_of(s: Words, number: int) -> int:
    """Return log2 of the bytes of a buffer's granules."""
    table = words(s[BUFFERS] + number * ENTRY_WORDS * 8)
    return table[E_GRANULE]


def cell_bytes(s: Words, number: int) -> int:
    """Return the bytes of a buffer's cells of shadow."""
    table = words(s[BUFFERS] + number * ENTRY_WORDS * 8)
    return table[E_CELL_BYTES]


def is_misaligned(offset: int, granule: int) -> int:
    """Return 1 for an access that begins inside a granule: what it shares with neighbours is not known."""
    return int(offset & ((1 << granule) - 1) != 0)


def lies_in_local(s: Words, flags: int, number: int) -> int:
    """Return 1 for local memory, where the code does not know also by the buffer that a pointer leads to."""
    if (flags >> 9) & 1 == 0:
        return flags & 1
    table = words(s[BUFFERS] + number * ENTRY_WORDS * 8)
    return int(table[E_KIND] == KIND_LOCAL)


def epoch(s: Words, memory: int) -> int:
    """Return the present epoch of global memory (0), local memory or images (their fences)."""
    if memory == FENCE_LOCAL:
        return s[EPOCH_LOCAL]
    if memory == FENCE_IMAGE:
        return s[EPOCH_IMAGE]
    return s[EPOCH_GLOBAL]


def stamp(s: Words, now: int) -> int:
    """Return when an access is made; at least its epoch, and more finely where sub-groups have barriers."""
    if s[RACES_ON] == RACES_FINELY:
        return s[PASSED]
    return now


def sub_group_epoch(s: Words, frame: Words, memory: int) -> int:
    """Return what stamps earlier accesses by work-items of the same sub-group have that are ordered."""
    if s[SYNC_WIDTH] != 0:
        return PENDING
    if s[RACES_ON] != RACES_FINELY:
        return 0
    epochs = words(s[SUB_EPOCHS] + frame[F_LINEAR] // s[WIDTH] * 24)
    if memory == FENCE_LOCAL:
        return epochs[0]
    if memory == FENCE_IMAGE:
        return epochs[2]
    return epochs[1]


def is_unwritten(s: Words, number: int) -> bool:
    """Return whether the host left a buffer without contents."""
    table = words(s[BUFFERS] + number * ENTRY_WORDS * 8)
    return table[E_NOINIT] != 0


def unordered(s: Words, frame: Words, access: int, now: int, since: int, item: int, is_local: int) -> int:
    """Return the work-item of an access if it is another one's and no barrier lies between, else ABSENT.

    `now` is the epoch, `since` that of the sub-group.
    """
    when = access >> ITEM_BITS
    other = access & ITEM_MASK
    if access == 0 or (other == item and when != PENDING):
        return ABSENT
    if when < now and (is_local != 0 or when >= s[EPOCH_GROUP]):
        return ABSENT
    if when < since and in_same_sub_group(s, frame, other) != 0:
        return ABSENT
    if s[PUBLISHED] != 0 and comes_after(s, frame, when, other) != 0:
        return ABSENT
    return other


def note_reader(s: Words, cell: Words, me: int, now: int, site: int) -> None:
    """Remember a reader: the first of an epoch, another one of it, and one of an earlier group."""
    reader = cell[W_READER]
    when = reader >> ITEM_BITS
    if when >= now:
        # Where sub-groups have barriers the last one is kept, which is the least ordered.
        if cell[W_READERS] >> ITEM_BITS < now or s[RACES_ON] == RACES_FINELY:
            cell[W_READERS] = me
        return
    if reader != 0 and when < s[EPOCH_GROUP] and cell[W_FOREIGN] >> ITEM_BITS != PENDING:
        cell[W_FOREIGN] = reader
    cell[W_READER] = me
    cell[W_SITES] = (cell[W_SITES] & ~0xFFFF0000) | (site << 16)


def shadow_write(
    s: Words,
    frame: Words,
    shadow: int,
    offset: int,
    size_site: int,
    flags: int,
    number: int,
    same: int,
) -> int:
    """Check a write of shared memory and note its writer.

    Two writes of the same value do not race with each other; they do with reads.
    """
    granule = granule_of(s, number)
    bytes_of_cell = cell_bytes(s, number)
    size = size_site & ITEM_MASK
    site = size_site >> 32
    is_local = lies_in_local(s, flags, number)
    atomic = (flags >> 8) & 1
    memory = is_local | (flags & FENCE_IMAGE)
    now = epoch(s, memory)
    since = sub_group_epoch(s, frame, memory)
    item = who(s, frame, flags)
    me = (stamp(s, now) << ITEM_BITS) | item
    place = (number << 48) | offset
    quiet = is_misaligned(offset, granule)
    for index in range(offset >> granule, ((offset + size - 1) >> granule) + 1):
        cell = words(shadow + index * bytes_of_cell)
        if quiet == 0 and s[RACES_ON] != 0:
            found = ABSENT
            if same == 0:
                others = int(atomic == 0 and bytes_of_cell == ALL_WORDS * 8)
                found = conflicting_writer(s, frame, cell, now, since, item, is_local, others)
            if found != ABSENT:
                report_race(s, frame, FAULT_RACE_WW, site, place, found)
                quiet = 1
            found = ABSENT
            if bytes_of_cell != WRITTEN_WORDS * 8:
                found = conflicting_reader(s, frame, cell, now, since, item, is_local)
            if found != ABSENT and quiet == 0:
                race = (((cell[W_SITES] >> 16) & 0xFFFF) << 32) | found | (1 << 60)
                report_race(s, frame, FAULT_RACE_RW, site, place, race)
                quiet = 1
        if atomic == 0:
            cell[W_WRITER] = me
            cell[W_SITES] = (cell[W_SITES] & ~0xFFFF) | site
        else:
            if cell[W_ATOMIC] != 0 and (cell[W_ATOMIC] & ITEM_MASK) != item:
                cell[W_ATOMICS] = cell[W_ATOMIC]
            cell[W_ATOMIC] = me
            cell[W_SITES] = (cell[W_SITES] & 0xFFFFFFFF) | (site << 32)
    return 0


def conflicting_writer(
    s: Words, frame: Words, cell: Words, now: int, since: int, item: int, is_local: int, atomics: int
) -> int:
    """Return site << 32 | work-item of a writer that is not ordered with this write, or ABSENT.

    With `atomics` those that wrote atomically count too.
    """
    found = unordered(s, frame, cell[W_WRITER], now, since, item, is_local)
    if found != ABSENT:
        return ((cell[W_SITES] & 0xFFFF) << 32) | found
    if atomics == 0:
        return ABSENT
    found = unordered(s, frame, cell[W_ATOMIC], now, since, item, is_local)
    if found == ABSENT:
        found = unordered(s, frame, cell[W_ATOMICS], now, since, item, is_local)
    if found != ABSENT:
        return (((cell[W_SITES] >> 32) & 0xFFFF) << 32) | found
    return ABSENT


def conflicting_reader(
    s: Words, frame: Words, cell: Words, now: int, since: int, item: int, is_local: int
) -> int:
    """Return a work-item other than `item` that read the granule unordered with it, or ABSENT."""
    found = unordered(s, frame, cell[W_READER], now, since, item, is_local)
    if found == ABSENT:
        found = unordered(s, frame, cell[W_READERS], now, since, item, is_local)
    if found == ABSENT:
        found = unordered(s, frame, cell[W_FOREIGN], now, since, item, is_local)
    return found


def private_read(s: Words, frame: Words, init: int, size_site: int, number: int, offset: int) -> int:
    """Report a read of private bytes that were never written, by the first of them."""
    size = size_site & ITEM_MASK
    state = byte_pointer(init)
    missing = size
    written = 0
    for index in range(size):
        if state[index] != 0:
            written = 1
        elif missing == size:
            missing = index
    if missing < size:
        code = (size_site >> 32) * FAULT_KINDS + FAULT_UNINITIALISED
        report(s, frame, code, offset + missing * written, number + PARTLY * written)
    return 0

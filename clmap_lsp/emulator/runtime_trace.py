"""Run-time library: from the trace rings to rows, SIMD requests, entropies and address counts.

Compiled by `native`. A *row* is what the work-items of a group access at one ordinal since their last
barrier; a *sub-row* is one SIMD group's part of it. Equal sub-rows (relative to a base) are stored once, so
that everything that depends on lane addresses is worked out once for each distinct pattern; that keeps the
cost of a metric near one table look-up for 32 accesses.
"""

from __future__ import annotations

from clmap_lsp.emulator.layout import (
    ABSENT,
    AIWC_SEGMENT,
    CARRIES,
    CARRY_COUNT,
    CARRY_ROOM,
    CELL_STARTS,
    CELLS,
    DIVERGED,
    F_ACCESSES,
    F_COUNT,
    F_RING,
    FRAME_BYTES,
    FRAMES,
    GRANULE_SHIFT,
    GROUP,
    GROUP_TIMESTEPS,
    ITEMS,
    LANE_STRIDE,
    LEVELS,
    LOG_TERMS,
    MATCHED_LANES,
    MATCHED_REQUESTS,
    MIXED_SITE,
    N_PAIR_SITES,
    N_SUBS,
    NEEDS_FLUSH,
    PAIR_COUNT,
    PAIR_MASK,
    PAIR_SITES,
    PAIR_STORE,
    PAIR_TABLE,
    PAIR_WORDS,
    PRIMES,
    PSL_GROUP,
    RECENT_ROOM,
    RECENT_SUBS,
    RING_POINTERS,
    RING_ROWS,
    ROW_AIWC,
    ROW_COUNT,
    ROW_ENTROPY,
    ROW_HASH,
    ROW_MASK,
    ROW_N,
    ROW_PARTS,
    ROW_PARTS_BUFFER,
    ROW_ROOM,
    ROW_STORE,
    ROW_SUBS,
    ROW_TABLE,
    ROWS_TOTAL,
    SCRATCH,
    SIMT_COUNT,
    SIMT_LIST,
    SIMT_MASK,
    SIMT_SPLIT,
    SIMT_TABLE,
    SORT_COUNTS,
    SORTED_LANES,
    STATE_SELF,
    STRIDE_COUNT,
    STRIDE_HEADS,
    STRIDE_LANES,
    STRIDE_MASK,
    STRIDE_ON,
    STRIDE_SITES,
    STRIDE_SLOTS,
    STRIDE_TABLE,
    STRIDE_WORDS,
    SUB_CAPACITY,
    SUB_COUNT,
    SUB_HASH,
    SUB_LANES,
    SUB_LOST,
    SUB_MASK,
    SUB_REL,
    SUB_REQUESTS,
    SUB_ROOM,
    SUB_ROWS,
    SUB_SITE,
    SUB_STORE,
    SUB_TABLE,
    TIMESTEPS,
    TRACE_ID_SHIFT,
)
from clmap_lsp.emulator.native.words import Doubles, HalfWords, Words, below, doubles, half_words, log2, words

PAIRS_JUDGED = 4096
"""Sub-rows of a site after which it is clear whether pairs of pattern and base come again there."""
LANES = 32
"""Lanes of a SIMD group: the library is compiled once for each width, so that loops over lanes unroll."""


def consume(s: Words, rows: int) -> None:
    """Take the first `rows` entries out of every ring of the group."""
    n_subs = s[N_SUBS]
    parts = words(s[ROW_PARTS_BUFFER])
    s[SUB_ROWS] += rows * n_subs
    for sub in range(n_subs):
        consume_sub(s, sub, rows, n_subs)
    for row in range(rows):
        low = ABSENT
        n_lanes = 0
        at = row * n_subs * 2
        s[ROW_SUBS] = s[ROW_PARTS_BUFFER] + at * 8
        for sub in range(n_subs):
            number = parts[at + 2 * sub]
            if number != ABSENT:
                entry = words(s[SUB_STORE] + number * (SUB_REL + LANES) * 8)
                n_lanes += entry[SUB_LANES]
                if below(parts[at + 2 * sub + 1], low):
                    low = parts[at + 2 * sub + 1]
        if n_lanes > 0:
            add_row(s, n_subs, low, n_lanes)
    for item in range(s[ITEMS]):
        frame = words(s[FRAMES] + item * s[FRAME_BYTES])
        count = frame[F_COUNT]
        taken = min(count, rows)
        ring = words(frame[F_RING])
        for index in range((count - taken) * 2):
            ring[index] = ring[taken * 2 + index]
        frame[F_COUNT] = count - taken
        frame[F_ACCESSES] += taken


def fitting_rows(s: Words) -> int:
    """Return how many rows can be taken whatever is in them, the end of the segment included.

    A row makes a sub-row for each SIMD group. Where the lanes have diverged, each lane may also make a
    request of its own: these wait in the table of matched requests, and become sub-rows when it is closed.
    """
    room = s[SUB_CAPACITY] - s[SUB_COUNT] - s[SIMT_COUNT]
    return room // (s[N_SUBS] + s[ITEMS])


def consume_sub(s: Words, sub: int, rows: int, n_subs: int) -> None:
    """Intern one SIMD group's part of every row, and count its requests and addresses."""
    rings = words(s[RING_POINTERS])
    lanes = words(s[SCRATCH])
    parts = words(s[ROW_PARTS_BUFFER])
    diverged = words(s[DIVERGED])
    full = find_rings(s, sub, rings)
    for row in range(rows):
        at = (row * n_subs + sub) * 2
        found = LANES
        if row < full and diverged[sub] == 0:
            low = ABSENT
            first = words(rings[0] + row * 16)
            key = first[1]
            same = 0
            for lane in range(LANES):
                ring = words(rings[lane] + row * 16)
                address = ring[0]
                same = same | (key ^ ring[1])
                lanes[lane] = address
                if below(address, low):
                    low = address
            lanes[LANES] = low
            lanes[LANES + 1] = key & MIXED_SITE
            if same != 0:
                found = gather(s, sub, row, lanes)
        else:
            found = gather(s, sub, row, lanes)
        parts[at] = ABSENT
        if found > 0:
            base = lanes[LANES] & ~1023
            site = lanes[LANES + 1]
            number = intern(s, lanes, base, site, found)
            if site != MIXED_SITE:
                entry = words(s[SUB_STORE] + number * (SUB_REL + LANES) * 8)
                entry[SUB_REQUESTS] += 1
            count_addresses(s, lanes, number, base, site, found)
            if s[STRIDE_ON] != 0 and site != MIXED_SITE:
                stride_row(s, sub, site, number, base, lanes, found)
                stride_row(s, sub, s[STRIDE_SITES] + (base >> TRACE_ID_SHIFT), number, base, lanes, found)
            parts[at] = number
            parts[at + 1] = base


def find_rings(s: Words, sub: int, rings: Words) -> int:
    """List the rings of a SIMD group; return the number of rows in which every lane has an access."""
    first = sub * LANES
    last = min(first + LANES, s[ITEMS])
    full = 1 << 40
    if last - first < LANES:
        full = 0
    for lane in range(last - first):
        frame = words(s[FRAMES] + (first + lane) * s[FRAME_BYTES])
        rings[lane] = frame[F_RING]
        full = min(full, frame[F_COUNT])
    return full


def gather(s: Words, sub: int, row: int, lanes: Words) -> int:
    """Put the addresses of one sub-row into `lanes`, and its least address and site behind them.

    Returns the number of lanes with an access. Where lanes differ in site or loop turn, the SIMD group is
    marked as diverged: its accesses are then matched by key instead of by row.
    """
    first = sub * LANES
    last = min(first + LANES, s[ITEMS])
    frame_bytes = s[FRAME_BYTES]
    at = s[FRAMES] + first * frame_bytes
    low = ABSENT
    key = ABSENT
    same = 0
    found = 0
    for lane in range(last - first):
        frame = words(at)
        at += frame_bytes
        address = ABSENT
        if row < frame[F_COUNT]:
            ring = words(frame[F_RING] + row * 16)
            address = ring[0]
            if found == 0:
                key = ring[1]
            same = same | (key ^ ring[1])
            found += 1
            if below(address, low):
                low = address
        lanes[lane] = address
    for lane in range(max(last - first, 0), LANES):
        lanes[lane] = ABSENT
    lanes[LANES] = low
    lanes[LANES + 1] = key & MIXED_SITE
    diverged = words(s[DIVERGED])
    if found > 0 and same != 0:
        diverged[sub] = 1
    if found > 0 and diverged[sub] != 0:
        lanes[LANES + 1] = MIXED_SITE
        s[MATCHED_LANES] += found
        at = s[FRAMES] + first * frame_bytes
        for lane in range(last - first):
            frame = words(at)
            at += frame_bytes
            if row < frame[F_COUNT]:
                ring = words(frame[F_RING] + row * 16)
                match_lane(s, sub, lane, ring[1], ring[0])
                if s[STRIDE_ON] != 0:
                    stride_lane(s, sub, lane, ring[1] & MIXED_SITE, ring[0])
                    stride_lane(s, sub, lane, s[STRIDE_SITES] + (ring[0] >> TRACE_ID_SHIFT), ring[0])
    return found


def intern(s: Words, lanes: Words, base: int, site: int, found: int) -> int:
    """Return the number of the sub-row pattern of `lanes`, relative to `base`, at `site`.

    An absent lane counts as relative address -1.
    """
    size = (SUB_REL + LANES) * 8
    start = ((lanes[0] - base) >> 2) + ((lanes[LANES - 1] - base) >> 1) + site * 0x9E3779B1
    recent = words(s[RECENT_SUBS] + (start & (RECENT_ROOM - 1)) * 8)
    if recent[0] < s[SUB_COUNT]:  # Rows of a stream have the same few patterns in turn.
        entry = words(s[SUB_STORE] + recent[0] * size)
        lately = words(s[SUB_STORE] + recent[0] * size + SUB_REL * 8)
        if entry[SUB_SITE] == site and same_lanes(lately, lanes, base, found) != 0:
            return recent[0]
    number = find_sub(s, lanes, base, site, found)
    recent[0] = number
    return number


def find_sub(s: Words, lanes: Words, base: int, site: int, found: int) -> int:
    """As `intern`, by a hash of all lanes."""
    code = hash_lanes(lanes, half_words(s[PRIMES]), base, found) + site * 0x9E3779B97F4A7C15
    code = code ^ (code >> 32)
    table = words(s[SUB_TABLE])
    mask = s[SUB_MASK]
    size = (SUB_REL + LANES) * 8
    slot = code & mask
    while table[slot] != 0:
        entry = words(s[SUB_STORE] + (table[slot] - 1) * size)
        if (
            entry[SUB_HASH] == code
            and entry[SUB_SITE] == site
            and same_lanes(words(s[SUB_STORE] + (table[slot] - 1) * size + SUB_REL * 8), lanes, base, found)
            != 0
        ):
            return table[slot] - 1
        slot = (slot + 1) & mask
    number = s[SUB_COUNT]
    if number >= s[SUB_CAPACITY]:
        s[SUB_LOST] = 1
        return 0
    s[SUB_COUNT] = number + 1
    if s[SUB_COUNT] > s[SUB_ROOM]:
        s[NEEDS_FLUSH] = 1
    table[slot] = number + 1
    entry = words(s[SUB_STORE] + number * size)
    entry[SUB_HASH] = code
    entry[SUB_SITE] = site
    entry[SUB_REQUESTS] = 0
    entry[SUB_LANES] = found
    for lane in range(LANES):
        entry[SUB_REL + lane] = lanes[lane] - base
        if lanes[lane] == ABSENT:
            entry[SUB_REL + lane] = ABSENT
    return number


def hash_lanes(lanes: Words, primes: HalfWords, base: int, found: int) -> int:
    """Return a sum of products of 32-bit numbers, which vector units have; equality is checked afterwards."""
    code = 0
    if found == LANES:
        for lane in range(LANES):
            relative = lanes[lane] - base
            code += ((relative ^ (relative >> 32)) & 0xFFFFFFFF) * primes[lane]
    else:
        for lane in range(LANES):
            relative = ABSENT if lanes[lane] == ABSENT else lanes[lane] - base
            code += ((relative ^ (relative >> 32)) & 0xFFFFFFFF) * primes[lane]
    return code * 0x9E3779B97F4A7C15


def same_lanes(pattern: Words, lanes: Words, base: int, found: int) -> int:
    """Return 1 if `lanes` relative to `base` are the stored pattern."""
    differs = 0
    if found == LANES:
        for lane in range(LANES):
            differs = differs | (pattern[lane] ^ (lanes[lane] - base))
    else:
        for lane in range(LANES):
            relative = ABSENT if lanes[lane] == ABSENT else lanes[lane] - base
            differs = differs | (pattern[lane] ^ relative)
    return int(differs == 0)


def count_addresses(s: Words, lanes: Words, number: int, base: int, site: int, found: int) -> None:
    """Count the addresses of a sub-row, by itself where those of its site do not come again.

    A pair of pattern and base that comes once is found, kept and emptied for nothing.
    """
    if s[CELLS] == 0 or site >= s[N_PAIR_SITES]:
        count_pair(s, number, base)
        return
    tally = words(s[PAIR_SITES] + site * 16)
    if tally[1] >= PAIRS_JUDGED and tally[0] * 2 > tally[1]:
        if found == LANES and lie_together(lanes, base) != 0:
            count_full(s, lanes, base)
        else:
            count_lanes(s, lanes)
        return
    before = s[PAIR_COUNT]
    count_pair(s, number, base)
    if tally[1] < PAIRS_JUDGED:
        tally[1] += 1
        if s[PAIR_COUNT] != before:
            tally[0] += 1


def lie_together(lanes: Words, base: int) -> int:
    """Return 1 if all lanes of a full sub-row are addresses of the same buffer."""
    differs = 0
    for lane in range(LANES):
        differs = differs | (lanes[lane] ^ base)
    return int(differs >> TRACE_ID_SHIFT == 0)


def count_full(s: Words, lanes: Words, base: int) -> None:
    """Add a full sub-row, all of one buffer, to the dense array of accesses per address."""
    starts = words(s[CELL_STARTS])
    cells = half_words(s[CELLS])
    shift = s[GRANULE_SHIFT]
    buffer = base >> TRACE_ID_SHIFT
    start = starts[buffer] - ((buffer << TRACE_ID_SHIFT) >> shift)
    for lane in range(LANES):
        add_to_cell(s, cells, start + (lanes[lane] >> shift), 1)


def count_lanes(s: Words, lanes: Words) -> None:
    """Add a sub-row to the dense array of accesses per address."""
    starts = words(s[CELL_STARTS])
    cells = half_words(s[CELLS])
    shift = s[GRANULE_SHIFT]
    for lane in range(LANES):
        address = lanes[lane]
        if address != ABSENT:
            cell = (address & ((1 << TRACE_ID_SHIFT) - 1)) >> shift
            add_to_cell(s, cells, starts[address >> TRACE_ID_SHIFT] + cell, 1)


def add_to_cell(s: Words, cells: HalfWords, cell: int, times: int) -> None:
    """Add to one address's count, of which 32 bits are kept in place."""
    value = cells[cell] + times
    cells[cell] = value
    if value >> 32 != 0:
        carry(s, cell, value >> 32)


def carry(s: Words, cell: int, times: int) -> None:
    """Note that a count has gone past 32 bits: seldom, as each time takes minutes."""
    carries = words(s[CARRIES])
    for _ in range(times):
        if s[CARRY_COUNT] < CARRY_ROOM:
            carries[s[CARRY_COUNT]] = cell
            s[CARRY_COUNT] += 1


def count_pair(s: Words, number: int, base: int) -> None:
    """Count one more occurrence of a sub-row at a base: the address histogram in compressed form."""
    table = half_words(s[PAIR_TABLE])
    mask = s[PAIR_MASK]
    code = (number + 1) * 0x9E3779B97F4A7C15 + base * 0x2545F4914F6CDD1D
    slot = (code ^ (code >> 31)) & mask
    while table[slot] != 0:
        pair = words(s[PAIR_STORE] + (table[slot] - 1) * PAIR_WORDS * 8)
        if pair[0] == number + 1 and pair[1] == base:
            pair[2] += 1
            return
        slot = (slot + 1) & mask
    pair = words(s[PAIR_STORE] + s[PAIR_COUNT] * PAIR_WORDS * 8)
    pair[0] = number + 1
    pair[1] = base
    pair[2] = 1
    s[PAIR_COUNT] += 1
    table[slot] = s[PAIR_COUNT]
    if s[PAIR_COUNT] * 2 > mask:
        if s[CELLS] != 0:
            expand_pairs(s)
        else:
            s[NEEDS_FLUSH] = 1


def expand_pairs(s: Words) -> None:
    """Add all counted pairs to the dense array of accesses per address, and forget them.

    They come as they were met, so that the rows of a loop, whose lanes each go on along a line, find those
    lines of the array in the cache.
    """
    starts = words(s[CELL_STARTS])
    cells = half_words(s[CELLS])
    shift = s[GRANULE_SHIFT]
    for index in range(s[PAIR_COUNT]):
        pair = words(s[PAIR_STORE] + index * PAIR_WORDS * 8)
        entry = words(s[SUB_STORE] + (pair[0] - 1) * (SUB_REL + LANES) * 8)
        base = pair[1]
        times = pair[2]
        for lane in range(LANES):
            if entry[SUB_REL + lane] != ABSENT:
                address = base + entry[SUB_REL + lane]
                cell = (address & ((1 << TRACE_ID_SHIFT) - 1)) >> shift
                add_to_cell(s, cells, starts[address >> TRACE_ID_SHIFT] + cell, times)
    table = half_words(s[PAIR_TABLE])
    for slot in range(s[PAIR_MASK] + 1):
        table[slot] = 0
    s[PAIR_COUNT] = 0


def match_lane(s: Words, sub: int, lane: int, key: int, address: int) -> None:
    """Put one access of a diverged SIMD group to the others of the same site and loop turn."""
    table = words(s[SIMT_TABLE])
    mask = s[SIMT_MASK]
    size = 2 + LANES
    code = (key ^ (sub * 0x2545F4914F6CDD1D)) * 0x9E3779B97F4A7C15
    slot = (code ^ (code >> 32)) & mask
    while table[slot * size] != 0:
        if table[slot * size] == sub + 1 and table[slot * size + 1] == key:
            table[slot * size + 2 + lane] = address
            return
        slot = (slot + 1) & mask
    table[slot * size] = sub + 1
    table[slot * size + 1] = key
    for other in range(LANES):
        table[slot * size + 2 + other] = ABSENT
    table[slot * size + 2 + lane] = address
    used = words(s[SIMT_LIST])
    used[s[SIMT_COUNT]] = slot
    s[SIMT_COUNT] += 1
    if s[SIMT_COUNT] * 2 > mask:
        s[SIMT_SPLIT] += 1
        close_requests(s)


def stride_row(s: Words, sub: int, slot: int, number: int, base: int, lanes: Words, found: int) -> None:
    """Note how far a SIMD group's lanes moved since their last access in this slot.

    Whole sub-rows are noted as a change of pattern and base, which stands for one stride in each lane.
    """
    head = words(s[STRIDE_HEADS] + (slot * s[N_SUBS] + sub) * 24)
    if found == LANES and head[0] != s[GROUP] + 1:  # The first of the group moves from nowhere.
        head[0] = s[GROUP] + 1
    elif found == LANES and head[1] != 0:
        count_stride(s, (slot << 32) | head[1], number + 1, base - head[2])
    else:
        for lane in range(LANES):
            if lanes[lane] != ABSENT:
                stride_lane(s, sub, lane, slot, lanes[lane])
    if found == LANES:
        head[1] = number + 1
        head[2] = base


def stride_lane(s: Words, sub: int, lane: int, slot: int, address: int) -> None:
    """Note one lane's stride."""
    head = words(s[STRIDE_HEADS] + (slot * s[N_SUBS] + sub) * 24)
    last = words(s[STRIDE_LANES] + (slot * s[N_SUBS] + sub) * LANES * 8)
    if head[0] != s[GROUP] + 1:
        head[0] = s[GROUP] + 1
        head[1] = 0
        for other in range(LANES):
            last[other] = ABSENT
    if head[1] != 0:
        settle_lanes(s, head, last)
    if last[lane] != ABSENT:
        count_stride(s, LANE_STRIDE | slot, 0, address - last[lane])
    last[lane] = address


def settle_lanes(s: Words, head: Words, last: Words) -> None:
    """Turn a last sub-row into the last addresses of its lanes."""
    entry = words(s[SUB_STORE] + (head[1] - 1) * (SUB_REL + LANES) * 8)
    for lane in range(LANES):
        last[lane] = entry[SUB_REL + lane] + head[2]
    head[1] = 0


def settle_strides(s: Words) -> None:
    """Forget sub-row numbers, before the table of sub-rows is emptied."""
    for index in range(s[STRIDE_SLOTS] * s[N_SUBS]):
        head = words(s[STRIDE_HEADS] + index * 24)
        if head[1] != 0:
            settle_lanes(s, head, words(s[STRIDE_LANES] + index * LANES * 8))


def count_stride(s: Words, first: int, second: int, third: int) -> None:
    """Count one more of a change of sub-rows, or of a lane's stride."""
    table = words(s[STRIDE_TABLE])
    mask = s[STRIDE_MASK]
    code = (first * 0x9E3779B97F4A7C15) ^ (second * 0x2545F4914F6CDD1D) ^ (third * 0x5851F42D4C957F2D)
    slot = (code ^ (code >> 29)) & mask
    while table[slot * STRIDE_WORDS + 3] != 0:
        at = slot * STRIDE_WORDS
        if table[at] == first and table[at + 1] == second and table[at + 2] == third:
            table[at + 3] += 1
            return
        slot = (slot + 1) & mask
    table[slot * STRIDE_WORDS] = first
    table[slot * STRIDE_WORDS + 1] = second
    table[slot * STRIDE_WORDS + 2] = third
    table[slot * STRIDE_WORDS + 3] = 1
    s[STRIDE_COUNT] += 1
    if s[STRIDE_COUNT] * 8 > mask:
        s[NEEDS_FLUSH] = 1


def close_requests(s: Words) -> None:
    """Turn what `match_lane` collected into sub-rows with their sites, and forget it."""
    if s[SIMT_COUNT] == 0:
        return
    table = words(s[SIMT_TABLE])
    size = 2 + LANES
    used = words(s[SIMT_LIST])
    s[MATCHED_REQUESTS] += s[SIMT_COUNT]
    for index in range(s[SIMT_COUNT]):
        at = used[index] * size
        low = ABSENT
        found = 0
        for lane in range(LANES):
            address = table[at + 2 + lane]
            if address != ABSENT:
                found += 1
                if below(address, low):
                    low = address
        lanes = words(s[SIMT_TABLE] + (at + 2) * 8)
        number = intern(s, lanes, low & ~1023, table[at + 1] & MIXED_SITE, found)
        entry = words(s[SUB_STORE] + number * (SUB_REL + LANES) * 8)
        entry[SUB_REQUESTS] += 1
        table[at] = 0
    s[SIMT_COUNT] = 0


def add_row(s: Words, n_subs: int, low: int, n_lanes: int) -> None:
    """Add one row of the group to the entropy sums."""
    number = find_row(s, n_subs, low, n_lanes)
    entry = doubles(s[ROW_STORE] + number * (ROW_PARTS + 2 * n_subs) * 8)
    sums = doubles(state_address(s))
    for level in range(LEVELS):
        sums[PSL_GROUP + level] += entry[ROW_ENTROPY + level]
        sums[AIWC_SEGMENT + level] += entry[ROW_AIWC + level]
    s[TIMESTEPS] += 1
    s[GROUP_TIMESTEPS] += 1
    s[ROWS_TOTAL] += 1


def find_row(s: Words, n_subs: int, low: int, n_lanes: int) -> int:
    """Return the number of the row pattern in ROW_SUBS, working out its entropies if it is new."""
    subs = words(s[ROW_SUBS])
    code = n_lanes
    for sub in range(n_subs):
        code = (code ^ (subs[2 * sub] + 1)) * 0x9E3779B97F4A7C15
        if subs[2 * sub] != ABSENT:
            code = (code ^ (code >> 29) ^ (subs[2 * sub + 1] - low)) * 0x2545F4914F6CDD1D
    code = code ^ (code >> 32)
    if s[ROW_COUNT] >= s[ROW_ROOM]:
        forget_rows(s)
    table = words(s[ROW_TABLE])
    mask = s[ROW_MASK]
    size = (ROW_PARTS + 2 * n_subs) * 8
    slot = code & mask
    while table[slot] != 0:
        entry = words(s[ROW_STORE] + (table[slot] - 1) * size)
        if entry[ROW_HASH] == code and entry[ROW_N] == n_lanes:
            differs = 0
            for sub in range(n_subs):
                differs = differs | (entry[ROW_PARTS + 2 * sub] ^ subs[2 * sub])
                if subs[2 * sub] != ABSENT:
                    differs = differs | (entry[ROW_PARTS + 2 * sub + 1] ^ (subs[2 * sub + 1] - low))
            if differs == 0:
                return table[slot] - 1
        slot = (slot + 1) & mask
    number = s[ROW_COUNT]
    s[ROW_COUNT] = number + 1
    table[slot] = number + 1
    entry = words(s[ROW_STORE] + number * size)
    entry[ROW_HASH] = code
    entry[ROW_N] = n_lanes
    for sub in range(n_subs):
        entry[ROW_PARTS + 2 * sub] = subs[2 * sub]
        entry[ROW_PARTS + 2 * sub + 1] = subs[2 * sub + 1] - low
    row_entropies(s, n_subs, low, n_lanes, doubles(s[ROW_STORE] + number * size))
    return number


def forget_rows(s: Words) -> None:
    """Empty the table of rows; it is only a cache."""
    table = words(s[ROW_TABLE])
    for slot in range(s[ROW_MASK] + 1):
        table[slot] = 0
    s[ROW_COUNT] = 0


def row_entropies(s: Words, n_subs: int, low: int, n_lanes: int, entry: Doubles) -> None:
    """Work out the row's entropy with 0 to 10 low bits dropped: the paper's, and AIWC's p = c / (total + 1).

    With S = sum of c log2 c over the counts c of n accesses, H = log2 n - S / n, and AIWC's is
    (n log2(n + 1) - S) / (n + 1).
    """
    subs = words(s[ROW_SUBS])
    values = words(s[SCRATCH] + (LANES + 2) * 8)
    n = 0
    for sub in range(n_subs):
        if subs[2 * sub] != ABSENT:
            pattern = words(s[SUB_STORE] + subs[2 * sub] * (SUB_REL + LANES) * 8)
            shift = subs[2 * sub + 1] - low
            for lane in range(LANES):
                if pattern[SUB_REL + lane] != ABSENT:
                    values[n] = pattern[SUB_REL + lane] + shift
                    n += 1
    s[SORTED_LANES] += n
    sort(values, n, words(s[SCRATCH] + (LANES + 2 + n) * 8), words(s[SORT_COUNTS]))
    for level in range(LEVELS):
        entry[ROW_ENTROPY + level] = 0.0
    start = 0
    while start < n:
        end = start + 1
        while end < n and (values[end] >> (LEVELS - 1)) == (values[start] >> (LEVELS - 1)):
            end += 1
        if end - start > 1:  # An address that shares no block with another adds nothing at any level.
            add_block(s, values, start, end, entry)
        start = end
    total = float(n)
    for level in range(LEVELS):
        weight = entry[ROW_ENTROPY + level]
        entry[ROW_ENTROPY + level] = log2(total) - weight / total
        entry[ROW_AIWC + level] = (total * log2(total + 1.0) - weight) / (total + 1.0)


def add_block(state: Words, values: Words, first: int, last: int, entry: Doubles) -> None:
    """Add c log2 c over the counts of sorted addresses that have all but their low bits in common."""
    terms = doubles(state[LOG_TERMS])
    for level in range(LEVELS):
        weight = 0.0
        start = first
        while start < last:
            end = start + 1
            while end < last and (values[end] >> level) == (values[start] >> level):
                end += 1
            weight += terms[end - start]
            start = end
        entry[ROW_ENTROPY + level] += weight


def sort(values: Words, n: int, spare: Words, counts: Words) -> None:
    """Sort non-negative words in place, by one byte after the other, unless they are in order."""
    ordered = 1
    differs = 0
    for index in range(1, n):
        if values[index] < values[index - 1]:
            ordered = 0
        differs = differs | (values[index] ^ values[0])
    if ordered == 1:
        return
    for shift in range(0, 64, 8):
        if ((differs >> shift) & 255) != 0:
            sort_by_byte(values, n, spare, counts, shift)


def sort_by_byte(values: Words, n: int, spare: Words, counts: Words, shift: int) -> None:
    """Put words in the order of one byte, those with the same as they stand; `counts` is room for 256."""
    for digit in range(256):
        counts[digit] = 0
    for index in range(n):
        counts[(values[index] >> shift) & 255] += 1
    at = 0
    for digit in range(256):
        at += counts[digit]
        counts[digit] = at - counts[digit]
    for index in range(n):
        digit = (values[index] >> shift) & 255
        spare[counts[digit]] = values[index]
        counts[digit] += 1
    for index in range(n):
        values[index] = spare[index]


def rows_ready(s: Words, suspended: int) -> int:
    """Return how many rows of the rings are complete for all work-items."""
    if suspended > 0:
        return s[RING_ROWS]
    most = 0
    for item in range(s[ITEMS]):
        frame = words(s[FRAMES] + item * s[FRAME_BYTES])
        most = max(most, frame[F_COUNT])
    return most


def state_address(s: Words) -> int:
    """Return the address of the state (kept in its own last word)."""
    return s[STATE_SELF]

"""Where things lie in the memory that generated code, the run-time library and Python share.

All fields are 64-bit words. `State` is one array for the whole run, `Frame` one record for each work-item of
a group, `Entry` one record for each buffer. The constants are indices in words.
"""

from __future__ import annotations

# ------------------------------------------------------------------------------------------------- state

FUEL = 0
"""Back-edges and work-item starts left before control returns to Python, which looks at the clock."""
KERNEL = 1
FRAMES = 2
FRAME_BYTES = 3
ITEMS = 4
"""Work-items of the present group."""
WIDTH = 5
"""Lanes of a SIMD group."""
RING = 6
RING_BYTES = 7
"""Of one work-item."""
RING_ROWS = 8
"""Rows that may be used before a loop head suspends the work-item."""
BUFFERS = 9
COUNTERS = 10
EPOCH_LOCAL = 11
EPOCH_GLOBAL = 12
EPOCH_GROUP = 13
"""The first epoch of the present group."""
FAULTS = 14
FAULT_COUNT = 15
FAULT_ROOM = 16
FAULT_TALLY = 17
"""Words, one for each (site, fault kind): how often it happened."""
CURSOR = 18
"""The next work-item of the present round."""
RUNNING = 19
"""Work-items that stopped this round because the trace ring was full."""
PHASE = 20
GROUP = 21
"""The present group, as a linear number."""
GROUPS = 22
LOCAL_ENTRIES = 23
"""Address of a list of words: the numbers of the buffers in local memory."""
N_LOCAL_ENTRIES = 24
GLOBAL_SIZE = 25  # 3 words each
LOCAL_SIZE = 28
NUM_GROUPS = 31
OFFSET = 34
GROUP_ID = 37
GROUP_SIZE = 40  # The present group's, smaller at the edge of the NDRange.
WORK_DIM = 43
LOCAL_BASE = 159
LOCAL_BYTES = 160
"""Local memory, cleared at the start of each group."""
BARRIERS = 44
"""Barriers that groups passed."""
ITEM_BARRIERS = 45
SCALARS = 46
"""Address of the scalar arguments, 128 bytes each."""
STEPS = 47
TRACE_ON = 48
INIT_BYTES = 49
"""Bytes at the end of each frame that are cleared when a group starts: private memory and its shadow."""
INIT_OFFSET = 50

# Metrics.
SUB_TABLE = 60
SUB_MASK = 61
SUB_STORE = 62
SUB_COUNT = 63
SUB_ROOM = 64
PAIR_TABLE = 65
PAIR_MASK = 66
PAIR_COUNT = 67
ROW_TABLE = 68
ROW_MASK = 69
ROW_STORE = 70
ROW_COUNT = 71
ROW_ROOM = 72
SIMT_TABLE = 73
SIMT_MASK = 74
SIMT_COUNT = 75
SIMT_SPLIT = 76
"""How often divergent accesses had to be closed early for want of memory: counts are then upper bounds."""
SCRATCH = 77
"""Words: addresses of one row, and room to sort."""
PRIMES = 78
DIVERGED = 79
"""One word for each SIMD group: its lanes no longer agree row by row in this segment."""
ROW_SUBS = 80
"""Two words for each SIMD group: sub-row and base."""
TIMESTEPS = 81
"""Of the present segment so far."""
GROUP_TIMESTEPS = 82
ROWS_TOTAL = 83
GROUPS_WITHOUT_ACCESS = 84
NEEDS_FLUSH = 85
AIWC_STEPS = 86
"""Timesteps of all segments so far."""
N_SUBS = 88
"""SIMD groups of a full work-group."""
PASSED = 89
"""Barriers that the present group passed: the epochs of race detection."""
PSL = 90  # 11 doubles: sum over groups of the group's mean, paper's definition
PSL_GROUP = 101  # 11 doubles: sum over the present group's rows
AIWC_SEGMENT = 112  # 11 doubles: sum over the present segment's rows
AIWC_SUM = 123  # 11 doubles: running sum over segments, never cleared
AIWC_TOTAL = 134  # 11 doubles: sum over groups
STATE_SELF = 255
"""The state's own address."""
STATE_WORDS = 256

# ------------------------------------------------------------------------------------------------- frame

F_RESUME = 0
F_STATUS = 1
F_SITE = 2
"""The site of the barrier or collective that it waits at."""
F_OPERATIONS, F_MEMORY = 3, 4
"""Operations, and those of them that load or store, since the last barrier. Where passes are quick: only
those before a stop in between."""
F_COUNT = 5
"""Trace entries in its ring."""
F_RING = 6
F_LINEAR = 7
F_LOCAL_ID = 8  # 3 words
F_GLOBAL_ID = 11  # 3 words
F_GLOBAL_LINEAR = 14
F_ACCESSES = 15
"""Accesses since it started."""
F_EXCHANGE = 16
"""128 bytes: operand and result of a collective."""
F_EVENTS = 32
"""Sum over the events that it waits for, each hashed: work-items of a group must have the same."""
F_ACQUIRED, F_ACQUIRED_WIDELY = 34, 35
"""When it last acquired what others released; from other groups too."""
F_FENCED, F_FENCED_WIDELY = 36, 37
"""Its last fence that releases: atomics that it writes from then on publish what came before that."""
F_HEARD = 38
"""When it last read an atomic by which another one published something: a fence may still acquire that."""
F_TURNS = 40  # TURN_DEPTH words
"""Turns that the loops around the work-item have made, the outermost loop's first; only where it may come to
calls of its sub-group without the others."""
TURN_DEPTH = 4
F_SAVED = 44

RUNNABLE = 0
AT_BARRIER = 1
DONE = 2
AT_COLLECTIVE = 3
RING_FULL = 4
OUT_OF_FUEL = 5
AT_STEP = 6
"""Before an access of shared memory, where work-items run in lockstep."""

# --------------------------------------------------------------------------------------------- buffer table

E_BASE = 0
"""Machine address; for private objects the offset inside the frame."""
E_SIZE = 1
E_TRACE = 2
"""The trace address of offset 0, or -1 where accesses are not traced."""
E_SHADOW = 3
"""Address of the shadow, or 0."""
E_PRIVATE = 4
"""All ones for private objects, else 0."""
E_GROUP_STEP = 5
"""What E_TRACE grows by from one group to the next (local memory, each group with its own addresses)."""
E_KIND = 6
"""0 null, 1 global, 2 constant, 3 local, 4 private."""
E_INIT = 7
"""For private objects the offset of their initialisation shadow inside the frame, or 0."""
E_NOINIT = 8
"""1 for a global buffer whose elements the host never wrote."""
E_GRANULE = 9
"""Log2 of the bytes that a cell of the shadow stands for."""
E_CELL_BYTES = 10
"""Of its shadow."""
ENTRY_WORDS = 11

KIND_NULL, KIND_GLOBAL, KIND_CONSTANT, KIND_LOCAL, KIND_PRIVATE = range(5)

# -------------------------------------------------------------------------------------------- trace entries

TRACE_ID_SHIFT = 48
OFFSET_BITS = 48
"""A pointer in memory is a buffer's number, shifted by so many bits, plus the signed byte offset."""
KEY_SHIFT = 16
KEY_FACTOR = 0x5851F42D4C95
"""Odd 48-bit factor for nested loops. A good multiplier of a linear congruential generator: loop counters
(a, b) of two levels below 2**23, or of three levels below 2**15, never meet in one key."""

# -------------------------------------------------------------------------------------------------- shadow

W_WRITER, W_SITES, W_READER, W_READERS, W_FOREIGN, W_ATOMIC, W_ATOMICS = range(7)
WRITTEN_WORDS, PLAIN_WORDS, ALL_WORDS = 2, 5, 7
"""Of a cell: where a kernel never reads the buffer, where it has no atomics, and elsewhere. Memory that is
touched for the first time costs more than all that is done with it."""
ITEM_BITS = 32
ITEM_MASK = (1 << 32) - 1
COPY_ITEM = 1 << 31
"""Marks what a group's copy did among the work-items' accesses: nothing orders it with any of them."""
PENDING = (1 << 31) - 1
"""The epoch of what a copy reads and writes until it is waited for: after all others."""

# -------------------------------------------------------------------------------------------------- faults

FAULT_WORDS = 10
(
    FAULT_OOB_READ,
    FAULT_OOB_WRITE,
    FAULT_RACE_RW,
    FAULT_RACE_WW,
    FAULT_UNINITIALISED,
    FAULT_DIVISION,
    FAULT_MISALIGNED,
    FAULT_DIVERGENCE,
    FAULT_UNKNOWN_FUNCTION,
    FAULT_UNSUPPORTED,
    FAULT_WRITE_CONSTANT,
    FAULT_OVERFLOW,
    FAULT_WRITE_ONLY,
    FAULT_UNWAITED,
    FAULT_INDEX,
    FAULT_NO_COPY,
    FAULT_INVALID,
    FAULT_EVENTS,
    FAULT_COPY_OVERLAPS,
) = range(19)
FAULT_KINDS = 19
PARTLY = 1 << 32
"""Of the buffer's number in a read of what nobody wrote: some of what it reads was written."""
FAULTS_PER_SITE = 8
KNOWN_LANES = 32
"""In the report of a vector without a value: from this bit on, the lanes that have one; below, the others."""

# ---------------------------------------------------------------------------------------- sub-rows and rows

SUB_HASH, SUB_SITE, SUB_REQUESTS, SUB_LANES, SUB_REL = 0, 1, 2, 3, 4
MIXED_SITE = 0xFFFF
ABSENT = -1
"""Marks a lane without an access; no trace address is all ones."""
ROW_HASH, ROW_N, ROW_ENTROPY, ROW_AIWC, ROW_PARTS = 0, 1, 2, 13, 24
LEVELS = 11
PAIR_WORDS = 3
"""Sub-row + 1, base, count."""

# --------------------------------------------------------------------------------------------- run statuses

FINISHED = 0
PAUSED = 1
FLUSH = 2
STUCK = 3
"""The group cannot go on by itself: divergent barriers or a collective."""
RECORDING = 4
"""The rings hold new entries that a recorder wants to see."""
PHASE_START, PHASE_ROUND, PHASE_SEGMENT, PHASE_CONSUME = range(4)
PRINT_AT, PRINT_END = 161, 162
"""Machine addresses of the free part of the log of `printf`."""
GROUP_COPIES = 163
"""Address of words, one for each site: elements that asynchronous copies loaded or stored there."""
GRANULE_SHIFT = 164
UNINIT_ON, RACES_ON = 165, 166
RACES_FINELY = 2
"""Value of RACES_ON for kernels with `sub_group_barrier`, or with atomics that order what else is done:
accesses are stamped more finely than by epochs."""
SIMT_LIST = 167
"""Words: the used slots of the table of diverged accesses."""
ROW_PARTS_BUFFER = 168
"""Two words for each row and SIMD group of the rings: sub-row and base."""
RING_POINTERS = 169
CELL_STARTS, CELLS = 170, 171
"""The dense address counts: the first cell of each trace id, and the cells."""
RECORD = 172
"""1 to return with RECORDING before the rings are emptied."""
BRANCH_TABLES = 173
"""Address of the outcome counts of all branches (see `control.py`)."""
STRIDE_ON = 174
STRIDE_HEADS = 175
"""Three words for each slot and SIMD group: group + 1, last sub-row + 1 (0: see STRIDE_LANES), its base."""
STRIDE_LANES = 176
"""Last address of each lane, for each slot and SIMD group."""
STRIDE_MASK = 177
STRIDE_TABLE = 178
STRIDE_COUNT = 179
STRIDE_SITES = 180
"""Slots below this are trace sites; those from it on are buffers, by trace id."""
STRIDE_SLOTS = 181
STRIDE_WORDS = 4
"""Either slot << 32 | last sub-row + 1, sub-row + 1, difference of bases, count; or LANE_STRIDE | slot, 0,
stride, count."""
LANE_STRIDE = 1 << 62
WEIGHTS = 182
"""Address of two words for each counter: operations of its stretch, and loads and stores; 0 if not wanted."""
N_COUNTERS = 183
OPERATIONS_SEEN, MEMORY_SEEN = 184, 185
"""The sums over all counters when the last work-item stopped."""
SEGMENTS = 186
"""Address of two tables of (length + 1, times): how long work-items run from barrier to barrier."""
SEGMENTS_LOST = 187
"""1 if a table was too small for all the lengths."""
SEGMENT_SLOTS = 1 << 12
GROUP_LIST = 188
"""Address of the linear numbers of the groups to run, which GROUP counts then; 0 for all of them."""
GROUP_ROWS = 189
"""Address of one record for each of those groups, filled when it ends; 0 if not wanted."""
ROWS_LEFT = 190
"""Rows of the rings that are still to be taken out before the work-items go on."""
SUB_CAPACITY = 191
"""Sub-rows for which there is memory; no table is ever filled beyond it."""
SUB_LOST = 192
"""1 if a sub-row found no room, which `fitting_rows` rules out: every count is wrong then."""
COPIES, N_COPIES = 193, 194
"""Address of the records of the group's copies that were not waited for, and how many there are."""
EVENTS_MADE, LAST_EVENT = 195, 196
"""Events are numbered from 1 on; the one of the copy that was started last."""
RELEASE_COPIES = 197
"""1 if the copies that work-items wait for are to be taken as done before the group goes on."""
EPOCH_IMAGE = 198
SUB_EPOCHS = 199
"""Address of three words for each SIMD group: when it last passed a barrier of its own with that fence."""
PUBLISHED = 218
"""Address of two words for each work-item of the launch, when it last released something, and that to other
groups; 0 where no atomic orders anything."""
PUBLISHED_ITEMS = 219
"""How many it has room for."""
PUBLISHED_GROUPS = 220
"""Address of a word for each group: what its work-items did before that epoch is released to other groups."""
ACQUIRED, ACQUIRED_WIDELY = 221, 222
"""When any work-item had acquired something before the group's last barrier."""
QUICK = 225
"""1 where nothing is traced and nothing runs in lockstep: a work-item is looked at once in each pass over its
group, and the pass itself says where all of them have stopped."""
RELEASED = 226
"""In such a pass, the status of work-items that may go on besides RUNNABLE: AT_BARRIER behind a barrier."""
PASS_FIRST, PASS_DIFFERS = 227, 228
"""Where the first work-item of the pass has stopped, and 0 if that holds for all of them."""
PASS_OPERATIONS, PASS_MEMORY = 233, 234
"""In such a pass, what the last work-items executed since the barrier before."""
FRAMES_FOR = 229  # 3 words
"""The sides of the group that the local ids in the frames are those of."""
RECENT_SUBS = 232
"""A word for each remainder of what a sub-row begins with: the number of the last such, to be tried first."""
RECENT_ROOM = 1 << 12
SYNC_WIDTH = 200
"""Work-items, in a row, that are taken to run in lockstep; 0 for none."""
STEP_AT = 201
"""In lockstep, 1 + where the work-items stand that are making a step; 0 between steps."""
LOG_TERMS = 224
"""Address of c log2 c for each number of accesses that a row may have."""
STOPPED_AT = 223
"""The work-item that used up the fuel, as its number in the group."""
SUB_ROWS = 203
"""Parts of rows, one for each SIMD group, that were taken out of the rings."""
STEP_ITEM = 202
"""The next of them."""
MATCHED_LANES = 87
"""Accesses of SIMD groups whose lanes have diverged: each of them is looked up by itself."""
MATCHED_REQUESTS = 205
"""What they made."""
PAIR_STORE = 206
"""Pairs as they were met first; PAIR_TABLE has their numbers + 1, in 32 bits."""
SORT_COUNTS = 207
"""256 words, to sort by a byte."""
PAIR_SITES = 208
"""Two words for each trace site: pairs that were new, and all of them, until that is judged."""
N_PAIR_SITES = 209
INSPECT, EXECUTE = 210, 211
"""Machine code for rows of work-items; 0 where there is none."""
ROW_ITEMS = 212
"""Work-items of the present row."""
ROW_LENGTHS = 213
"""A word for each work-item of a row: operations << 32 | loads and stores."""
CARRIES, CARRY_COUNT = 215, 216
"""Words: the cells of the address counts that went past 32 bits, once for each time."""
CARRY_ROOM = 1 << 12
ROW_SLOW = 217
"""Work-items of rows that were run one after the other, because of a fault."""
ROW_GROUPS = 214
"""Work-groups, in a line, whose rows are run as one."""
SORTED_LANES = 204
"""Accesses of rows that were met for the first time: their entropies were worked out."""
C_EVENT, C_SITES, C_WAITED, C_COUNT, C_SIZE = range(5)
C_FROM, C_FROM_AT, C_FROM_STEP, C_TO, C_TO_AT, C_TO_STEP = range(5, 11)
C_PER_LINE, C_LINES, C_PLANES, C_FROM_LINE, C_FROM_PLANE, C_TO_LINE, C_TO_PLANE = range(11, 18)
COPY_WORDS = 18
"""Event; load site | store site << 32; 1 once a work-item waits for it; elements and their bytes; buffer,
byte offset and step of either side; elements of a line, lines of a plane, planes, and in bytes from line to
line and from plane to plane on either side."""
(
    X_TO,
    X_TO_AT,
    X_FROM,
    X_FROM_AT,
    X_COUNT,
    X_STRIDE,
    X_SIZE,
    X_SITES,
    X_JOINS,
    X_LINES,
    X_PLANES,
    X_FROM_LINE,
    X_FROM_PLANE,
    X_TO_LINE,
    X_TO_PLANE,
) = range(F_EXCHANGE, F_EXCHANGE + 15)
COPY_ARGUMENTS = 15
"""What work-items that come to a copy write down in their frames."""
COPY_ROOM = 1024
"""Copies that a group can have under way; more are taken as done when they are started."""
FENCE_LOCAL, FENCE_GLOBAL, FENCE_IMAGE, FENCE_EVENTS = 1, 2, 4, 8
"""What a work-item waits with: the fences of OpenCL, by their values; the last is a wait for events."""
ALL_FENCES = FENCE_LOCAL | FENCE_GLOBAL | FENCE_IMAGE
G_ACCESSES, G_OPERATIONS, G_PSL, GROUP_WORDS = 0, 1, 2, 13
"""Accesses of the group; operations of all groups so far; its mean entropies, 11 doubles."""

"""Allocates and fills the memory that generated code and the run-time library work on."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from clmap_lsp.dataclass import dataclass
from clmap_lsp.emulator import allocation
from clmap_lsp.emulator import layout as at
from clmap_lsp.emulator.address_space import AddressSpaceMap, Buffer
from clmap_lsp.emulator.control import TABLE_WORDS, memory_operations
from clmap_lsp.emulator.kernel_code import SCALAR_BYTES, KernelCode
from clmap_lsp.emulator.settings import EmulationSettings
from clmap_lsp.launch.contents import scalar_bytes
from clmap_lsp.launch.image import TEXEL_BYTES, extents
from clmap_lsp.launch.model import BufferArgument, Launch, ScalarArgument
from clmap_lsp.source.types import OpaqueType

Words = NDArray[np.int64]

_RING_BUDGET_BYTES = 1 << 20
_MIN_ROWS, _MAX_ROWS = 32, 512
_SUB_ROOM = 1 << 15
_ROW_ROOM = 1 << 14
_SIMT_SLOTS = 1 << 15
DENSE_PAIR_SLOTS = 1 << 16
"""Where pairs are emptied into a counter for each address, which is done at any time: a table that stays in a
core's cache."""
_PRINT_BYTES = 1 << 20
_FAULT_ROOM = 4096
_PUBLISHED_ROOM = 1 << 22
"""Work-items of which it is known when they released something; the others are taken to have released all."""
_STRIDE_BYTES = 1 << 26
"""Strides are left out where remembering every lane's last address would take more."""


def _power_of_two(value: int) -> int:
    return 1 << max(value - 1, 1).bit_length()


@dataclass(frozen=True, slots=True)
class Sizes:
    """How large everything is."""

    items: int
    width: int
    n_subs: int
    rows: int
    ring_bytes: int
    frame_bytes: int
    sub_capacity: int
    pair_slots: int
    shadow_words: int

    @property
    def total_bytes(self) -> int:
        """Bytes of all tables, without the buffers themselves."""
        sub = self.sub_capacity * (at.SUB_REL + self.width) * 8
        row = _ROW_ROOM * (at.ROW_PARTS + 2 * self.n_subs) * 8
        simt = _SIMT_SLOTS * (2 + self.width) * 8
        pairs = self.pair_slots * (4 + at.PAIR_WORDS * 8)
        shadow = self.shadow_words * 8
        return self.items * (self.ring_bytes + self.frame_bytes) + sub + row + simt + pairs + shadow


def plan_sizes(
    code: KernelCode, launch: Launch, space: AddressSpaceMap, settings: EmulationSettings, width: int
) -> Sizes:
    """Work the sizes out; nothing is allocated yet."""
    items = launch.group_items
    n_subs = -(-items // width)
    rows = max(_MIN_ROWS, min(_MAX_ROWS, _RING_BUDGET_BYTES // (16 * items)))
    ring = (rows + code.plan.max_events) * 16 + 64 if settings.trace else 64
    frame = -(-(code.saved_bytes + 2 * space.private_bytes + 64) // 64) * 64
    # One row fits beside a full table of matched requests even if all of its lanes have diverged.
    slack = (rows + code.plan.max_events) * n_subs + _SIMT_SLOTS + items
    watched = sum(
        _shadow_words(code, it) for it in space.buffers if watches(code, it.plan.number, settings, space)
    )
    return Sizes(
        items,
        width,
        n_subs,
        rows,
        ring,
        frame,
        _SUB_ROOM + slack,
        _power_of_two(max(1 << 17, 4 * slack)),
        watched,
    )


def _shadow_words(code: KernelCode, buffer: Buffer) -> int:
    """Return the words of a watched buffer's shadow."""
    number = buffer.plan.number
    return (-(-buffer.size // code.plan.granules[number]) + 1) * code.plan.cell_words(number)


def watches(code: KernelCode, number: int, settings: EmulationSettings, space: AddressSpaceMap) -> bool:
    """True if a buffer needs a shadow; as `Memory.has_shadow` decides."""
    buffer = space.buffers[number - 1]
    if not (settings.races or settings.uninitialised):
        return False
    if buffer.plan.kind == at.KIND_LOCAL:
        return buffer.name not in settings.ordered
    if buffer.unwritten:
        return True
    written = code.plan.written
    is_written = written is None or number in written
    is_exclusive = buffer.plan.is_argument and buffer.name in settings.exclusive
    is_watched = settings.races and settings.watch_global and not is_exclusive
    return buffer.plan.kind == at.KIND_GLOBAL and is_watched and is_written


class MachineState:
    """The state array and everything it points to. Holding this object keeps all of it alive."""

    def __init__(
        self,
        code: KernelCode,
        launch: Launch,
        space: AddressSpaceMap,
        settings: EmulationSettings,
        sizes: Sizes,
    ) -> None:
        self.words: Words = allocation.cleared(at.STATE_WORDS)
        self.sizes = sizes
        self._kept: list[NDArray[np.generic]] = []
        self.code, self.space = code, space
        self._set_launch(launch)
        self._set_items(code, space, settings)
        self._set_buffers(code, space, settings)
        self._set_scalars(code, launch)
        self._set_faults(code)
        self._set_metrics(settings)
        self.words[at.STATE_SELF] = self.words.ctypes.data

    @property
    def address(self) -> int:
        """The state's machine address."""
        return int(self.words.ctypes.data)

    def _array(self, field: int, count: int) -> Words:
        """Allocate words, cleared, and put their address into a field of the state."""
        array = allocation.cleared(count)
        self._kept.append(array)
        self.words[field] = array.ctypes.data
        return array

    def _set_launch(self, launch: Launch) -> None:
        w = self.words
        dimensions = len(launch.global_size)
        w[at.WORK_DIM] = dimensions
        offsets = launch.global_offset or (0,) * dimensions
        for d in range(3):
            inside = d < dimensions
            w[at.GLOBAL_SIZE + d] = launch.global_size[d] if inside else 1
            w[at.LOCAL_SIZE + d] = launch.local_size[d] if inside else 1
            w[at.NUM_GROUPS + d] = launch.num_groups[d] if inside else 1
            w[at.OFFSET + d] = offsets[d] if inside and d < len(offsets) else 0
        w[at.GROUPS] = int(np.prod(w[at.NUM_GROUPS : at.NUM_GROUPS + 3]))

    def _set_items(self, code: KernelCode, space: AddressSpaceMap, settings: EmulationSettings) -> None:
        w, sizes = self.words, self.sizes
        w[at.WIDTH], w[at.N_SUBS] = sizes.width, sizes.n_subs
        w[at.FRAME_BYTES], w[at.RING_BYTES] = sizes.frame_bytes, sizes.ring_bytes
        w[at.RING_ROWS] = sizes.rows
        w[at.TRACE_ON] = int(settings.trace)
        w[at.UNINIT_ON], w[at.RACES_ON] = int(settings.uninitialised), int(settings.races)
        if settings.races and (code.plan.has_sub_group_barriers or code.plan.has_orders):
            w[at.RACES_ON] = at.RACES_FINELY
        if settings.races and code.plan.has_orders:
            w[at.PUBLISHED_ITEMS] = min(int(np.prod(w[at.GLOBAL_SIZE : at.GLOBAL_SIZE + 3])), _PUBLISHED_ROOM)
            self._array(at.PUBLISHED, 2 * int(w[at.PUBLISHED_ITEMS]))
            self._array(at.PUBLISHED_GROUPS, int(w[at.GROUPS]))
        w[at.SYNC_WIDTH] = settings.lockstep
        w[at.QUICK] = int(not settings.trace and not settings.lockstep)
        w[at.GRANULE_SHIFT] = code.plan.granule.bit_length() - 1
        self.frames = self._array(at.FRAMES, sizes.items * sizes.frame_bytes // 8)
        self.ring = self._array(at.RING, sizes.items * sizes.ring_bytes // 8)
        w[at.INIT_OFFSET] = code.saved_bytes
        w[at.INIT_BYTES] = 2 * space.private_bytes
        self._array(at.LOCAL_BASE, space.local_bytes // 8)
        w[at.LOCAL_BYTES] = space.local_bytes
        self.group_copies = self._array(at.GROUP_COPIES, code.plan.kernel.n_sites)
        self.sub_epochs = self._array(at.SUB_EPOCHS, 3 * sizes.n_subs).reshape(-1, 3)
        self._array(at.COPIES, (at.COPY_ROOM + 1) * at.COPY_WORDS)
        self.print_log = allocation.cleared(_PRINT_BYTES // 8)
        w[at.PRINT_AT] = self.print_log.ctypes.data
        w[at.PRINT_END] = self.print_log.ctypes.data + _PRINT_BYTES

    def _set_buffers(self, code: KernelCode, space: AddressSpaceMap, settings: EmulationSettings) -> None:
        table = self._array(at.BUFFERS, (len(space.buffers) + 1) * at.ENTRY_WORDS)
        table[at.E_TRACE] = -1
        shadow = allocation.cleared(self.sizes.shadow_words)
        self._kept.append(shadow)
        shadow_at, local_at = int(shadow.ctypes.data), int(self.words[at.LOCAL_BASE])
        local_numbers = []
        for buffer in space.buffers:
            number = buffer.plan.number
            entry = table[number * at.ENTRY_WORDS : (number + 1) * at.ENTRY_WORDS]
            entry[at.E_SIZE], entry[at.E_TRACE] = buffer.size, buffer.trace
            entry[at.E_KIND], entry[at.E_GROUP_STEP] = buffer.plan.kind, buffer.group_step
            entry[at.E_NOINIT] = int(buffer.unwritten)
            entry[at.E_CELL_BYTES] = 8 * code.plan.cell_words(number)
            entry[at.E_GRANULE] = code.plan.granules[number].bit_length() - 1
            if buffer.plan.kind == at.KIND_PRIVATE:
                entry[at.E_BASE] = code.saved_bytes + buffer.plan.private_offset
                entry[at.E_INIT] = entry[at.E_BASE] + space.private_bytes
                entry[at.E_PRIVATE] = -1
            elif buffer.plan.kind == at.KIND_LOCAL:
                local_numbers.append(number)
                entry[at.E_BASE] = local_at
                local_at += -(-max(buffer.size, 1) // 16) * 16
            else:
                assert buffer.data is not None
                entry[at.E_BASE] = buffer.data.ctypes.data
            if watches(code, number, settings, space):
                entry[at.E_SHADOW] = shadow_at
                shadow_at += _shadow_words(code, buffer) * 8
        listed = self._array(at.LOCAL_ENTRIES, len(local_numbers))
        listed[: len(local_numbers)] = local_numbers
        self.words[at.N_LOCAL_ENTRIES] = len(local_numbers)

    def _set_scalars(self, code: KernelCode, launch: Launch) -> None:
        room = allocation.cleared((len(code.scalars) + 1) * SCALAR_BYTES // 8).view(np.uint8)
        self._kept.append(room)
        self.words[at.SCALARS] = room.ctypes.data
        sizes = {it.plan.variable: it.size for it in self.space.buffers}
        for variable, number in code.scalars.items():
            argument = launch.arguments.get(variable.name)
            if isinstance(variable.type, OpaqueType) and isinstance(argument, BufferArgument):
                found = extents(variable.type.name, argument, sizes[variable] // TEXEL_BYTES)
                sides = np.array(found, np.int64).view(np.uint8)
                room[number * SCALAR_BYTES : number * SCALAR_BYTES + len(sides)] = sides
            if isinstance(argument, ScalarArgument):
                data = scalar_bytes(argument, variable.type)[:SCALAR_BYTES]
                start = number * SCALAR_BYTES
                room[start : start + len(data)] = np.frombuffer(data, np.uint8)

    def _set_faults(self, code: KernelCode) -> None:
        self.faults = self._array(at.FAULTS, _FAULT_ROOM * at.FAULT_WORDS)
        self.words[at.FAULT_ROOM] = _FAULT_ROOM
        self.fault_tally = self._array(at.FAULT_TALLY, max(len(code.places), 1) * at.FAULT_KINDS)

        stretches = code.control.stretches
        self.counters = self._array(at.COUNTERS, len(stretches))
        self.segments = np.zeros((2, 1, 2), np.int64)
        self.weights = np.zeros((0, 2), np.int64)
        if stretches:
            self.weights = weights = self._array(at.WEIGHTS, 2 * len(stretches)).reshape(-1, 2)
            weights[:, 0] = [it.total() for it in stretches]
            weights[:, 1] = [memory_operations(it) for it in stretches]
            self.words[at.N_COUNTERS] = len(stretches)
            self.segments = self._array(at.SEGMENTS, 4 * at.SEGMENT_SLOTS).reshape(2, -1, 2)
        # Pages of histories that never occur are never touched, so they take no memory.
        self.branch_tables = self._array(at.BRANCH_TABLES, len(code.control.branches) * TABLE_WORDS)

    def _set_metrics(self, settings: EmulationSettings) -> None:
        w, sizes = self.words, self.sizes
        width, n_subs = sizes.width, sizes.n_subs
        small = not settings.trace
        sub_slots = 2 if small else _power_of_two(2 * sizes.sub_capacity)
        self.sub_table = self._array(at.SUB_TABLE, sub_slots)
        w[at.SUB_MASK] = sub_slots - 1
        self.subs = self._array(at.SUB_STORE, 1 if small else sizes.sub_capacity * (at.SUB_REL + width))
        w[at.SUB_ROOM] = _SUB_ROOM
        w[at.SUB_CAPACITY] = 1 if small else sizes.sub_capacity
        self._array(at.RECENT_SUBS, 1 if small else at.RECENT_ROOM)
        pair_slots = 2 if small else sizes.pair_slots
        self.pair_table = self._array(at.PAIR_TABLE, pair_slots // 2)
        self.pairs = self._array(at.PAIR_STORE, pair_slots * at.PAIR_WORDS).reshape(-1, at.PAIR_WORDS)
        w[at.PAIR_MASK] = pair_slots - 1
        w[at.N_PAIR_SITES] = 2 * self.code.plan.kernel.n_sites
        self._array(at.PAIR_SITES, 2 * int(w[at.N_PAIR_SITES]))
        row_slots = 2 if small else 4 * _ROW_ROOM
        self.row_table = self._array(at.ROW_TABLE, row_slots)
        w[at.ROW_MASK] = row_slots - 1
        self._array(at.ROW_STORE, 1 if small else _ROW_ROOM * (at.ROW_PARTS + 2 * n_subs))
        w[at.ROW_ROOM] = _ROW_ROOM
        simt_slots = 2 if small else _SIMT_SLOTS
        self._array(at.SIMT_TABLE, simt_slots * (2 + width))
        w[at.SIMT_MASK] = simt_slots - 1
        self._array(at.SIMT_LIST, simt_slots)
        self._array(at.SCRATCH, 2 * (width + 2) + 2 * n_subs * width + 16)
        self._array(at.SORT_COUNTS, 256)
        self._array(at.DIVERGED, n_subs)
        rows = sizes.ring_bytes // 16 + 1
        self._array(at.ROW_PARTS_BUFFER, 2 * n_subs * rows)
        self._array(at.RING_POINTERS, width)
        terms = self._array(at.LOG_TERMS, sizes.items + 1).view(np.float64)
        if settings.trace:
            terms[1:] = [it * math.log2(it) for it in range(1, sizes.items + 1)]
        self._set_strides(settings, n_subs, width)
        primes = self._array(at.PRIMES, width).view(np.uint32)
        primes[:] = np.random.default_rng(1).integers(1, 1 << 32, 2 * width) | 1

    def _set_strides(self, settings: EmulationSettings, n_subs: int, width: int) -> None:
        w = self.words
        sites = 2 * self.code.plan.kernel.n_sites
        slots = sites + max(self.space.extents, default=0) + 1
        wanted = settings.trace and settings.strides and slots * n_subs * (width + 3) * 8 <= _STRIDE_BYTES
        w[at.STRIDE_ON] = int(wanted)
        w[at.STRIDE_SITES], w[at.STRIDE_SLOTS] = sites, slots if wanted else 0
        self._array(at.STRIDE_HEADS, 3 * slots * n_subs if wanted else 1)
        self._array(at.STRIDE_LANES, slots * n_subs * width if wanted else 1)
        # Room for what one emptying of the rings can add: every lane its own stride, twice.
        rows = self.sizes.ring_bytes // 16 + 1
        cells = _power_of_two(max(1 << 16, 8 * rows * n_subs * width)) if wanted else 2
        self.stride_table = self._array(at.STRIDE_TABLE, cells * at.STRIDE_WORDS)
        w[at.STRIDE_MASK] = cells - 1

    def make_row_lengths(self, items: int) -> None:
        """Make room for what the work-items of a row executed."""
        self._array(at.ROW_LENGTHS, items)

    def weigh(self) -> None:
        """Sum up what the counters say was executed."""
        if len(self.weights):
            seen = self.counters[: len(self.weights)] @ self.weights
            self.words[[at.OPERATIONS_SEEN, at.MEMORY_SEEN]] = seen

    def take_strides(self) -> Words:
        """Return the (what, sub-row, difference, count) rows in use, and forget them."""
        rows = self.stride_table.reshape(-1, at.STRIDE_WORDS)
        used: Words = rows[rows[:, 3] != 0].copy()
        self.stride_table[:] = 0
        self.words[at.STRIDE_COUNT] = 0
        return used

    def take_subs(self) -> Words:
        """Return the interned sub-rows, shape (n, SUB_REL + lanes)."""
        width = at.SUB_REL + self.sizes.width
        count = int(self.words[at.SUB_COUNT])
        return self.subs[: count * width].reshape(count, width)

    def take_pairs(self) -> Words:
        """Return the (sub-row + 1, base, times) rows in use."""
        return self.pairs[: int(self.words[at.PAIR_COUNT])]

    def forget(self) -> None:
        """Empty the tables of sub-rows, pairs and rows."""
        self.sub_table[:] = 0
        self.pair_table[:] = 0
        self.row_table[:] = 0
        for field in (at.SUB_COUNT, at.PAIR_COUNT, at.ROW_COUNT, at.NEEDS_FLUSH):
            self.words[field] = 0

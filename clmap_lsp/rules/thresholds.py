"""From where on something is worth a person's time: every threshold of the rules, each with its reason.

Shares are parts of the kernel's traffic in one kind of memory, 0 to 1; factors are times the ideal.
"""

from __future__ import annotations

from typing import Final

# ---------------------------------------------------------------------------------------- global memory

UNCOALESCED_FROM: Final = 1.5
"""Factor from which an access counts as scattered. Half as much again is what a walk with every third
granule wasted costs; what is below comes from edges, guards and alignment."""
SMALL_FACTOR: Final = 2.0
"""A scattered access that costs no more than this is a hint. Pairs of which one half is used cost as much,
and where both halves are used by neighbouring statements the caches make up for it."""
SMALL_SHARE: Final = 0.1
"""Below it a finding is a hint. Mending it entirely gains no more than a tenth, and in public kernels such
findings were borders, flags and results that are written once."""
WIDEST_BYTES: Final = 16
"""What one instruction moves for a work-item at most. Of structs up to that size the members that
neighbouring statements use count together; of larger ones each request spreads over more granules than
it need."""
SPLIT_BYTES: Final = 64
"""The longest vector, 16 elements of 4 bytes. What one work-item uses of so many bytes within neighbouring
statements stays in the first cache from one to the next: 32 work-items need 2 KiB."""
SPLIT_COVERED: Final = 0.75
"""Of a work-item's bytes, the part that neighbouring accesses must use to count as one access that was split:
three members of four, the fourth being padding."""
MISALIGNED_FROM: Final = 1.1
"""Factor. One granule more on four (32 lanes of 4 bytes, 32-byte granules) is 1.25."""
MISALIGNED_SHARE: Final = 0.25
"""Misaligned rows cost a quarter more at most, of less than a quarter of the traffic a few percent."""
ALIGNED_BELOW: Final = 1.05
"""Factor; edges of the launch may cost a little even where all else is aligned."""
SWAP_GAINS_FROM: Final = 0.25
"""Part of the kernel's sectors that swapping must save: with less, it trades one access for another."""
COMPUTE_BOUND_FROM: Final = 400
"""Operations of a work-item for each sector that it moves, from which memory is not what it waits for.
GPUs of recent years do 5 to 25 operations on 32 bits for each byte that their memory moves, 160 to 800
a sector; half of that on integers, which have fewer units."""

TEXELS_OF_A_ROW: Final = 4.0
"""Texels that a request finds in each row that it touches. In groups 16 wide that walk columns it finds 2;
with 4 and more it takes as good as a square, which is what texture caches are made for."""

# ----------------------------------------------------------------------------------------- local memory

CONFLICT_FROM: Final = 1.5
"""Factor: half of the requests of a 2-way conflict. What is below comes from few requests only."""

SECTOR_PASSES: Final = 2
"""Passes of local memory in the time of a sector of global memory. A compute unit serves a pass a clock; of
memory, GPUs of recent years have 10 to 20 bytes a clock for each of them."""

# --------------------------------------------------------------------------------------------- launches

ACTIVE_FROM: Final = 0.125
"""Part of the SIMD groups that must execute some access of a guessed launch. With less the guess is wrong, or
has to do with borders only; real launches round up by less than one work-group in each dimension."""

# ------------------------------------------------------------------------------------- memory hierarchy

SHARED_FROM: Final = 0.25
"""Part of the kernel's sectors from which data are worth moving through local or private memory, or larger
tiles worth their local memory."""
REPEATED_TURNS: Final = 4
"""Turns of an outer loop that load the same again: with fewer the caches do as well."""
REPEATED_BYTES: Final = 16 * 1024
"""A work-item that needs more at a time is better served by another order of its loops."""
LEAST_OCCUPANCY: Final = 0.25
"""Part of the resident SIMD groups below which latency is no longer hidden well."""
LEAST_LOCAL_BYTES: Final = 32 * 1024
"""What OpenCL promises of every full-profile device (CL_DEVICE_LOCAL_MEM_SIZE)."""
IDLE_LANES_FROM: Final = 0.125
"""Part of the lanes that work-groups leave empty."""
SERIAL_TURNS: Final = 64
"""Turns of a loop that one work-item of a group, or of the launch, runs alone: as long as a launch takes on
most devices. Final sums over a work-group have fewer."""
CONTENDED_FROM: Final = 8.0
"""Work-items of a SIMD group that an atomic makes wait for one address. Histograms of spread data have one or
two; a counter has all."""
CONTENDED_SHARE: Final = 0.25
"""Part of the SIMD groups that must execute a contended atomic: once a work-group is what is recommended."""
FEW_ELEMENTS: Final = 4_096
"""Counters that each work-group can have a copy of in local memory: 16 KiB."""

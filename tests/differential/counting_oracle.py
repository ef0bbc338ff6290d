"""What accesses cost on an NVIDIA H200, written from `tests/data/hardware_truth` alone.

A request is one instruction of one SIMD group with an active lane. Shares no code with the package.
"""

from __future__ import annotations

from collections import defaultdict

WARP = 32


def pieces(size, alignment, element):
    """Return the (offset, bytes) of the instructions of one access."""
    found, at = [], 0
    while at < size:
        width = min(16, 4 * element, alignment)
        while width > size - at:
            width //= 2
        found.append((at, width))
        at += width
    return found


class Counts:
    """Executions, requests, and sectors or wavefronts by access."""

    def __init__(self, warps):
        """Take the SIMD group of each work-item and its lane, two lists."""
        self.warps = warps
        self.executions = defaultdict(int)
        self.requests = defaultdict(int)
        self.units = defaultdict(int)

    def note(self, key, space, addresses, mask, parts):
        """Count one execution of an access by the work-items of a mask; `addresses` in bytes."""
        lanes = defaultdict(dict)
        for item, (active, address) in enumerate(zip(mask, addresses, strict=True)):
            if active:
                warp, lane = self.warps[item]
                lanes[warp][lane] = int(address)
                self.executions[key] += 1
        self.executions[key] += 0
        for offset, size in parts:
            for group in lanes.values():
                self.requests[key] += 1
                moved = {lane: at + offset for lane, at in group.items()}
                count = sectors if space == "global" else wavefronts
                self.units[key] += count(moved, size)


def sectors(lanes, size):
    """Return the distinct aligned 32-byte sectors that the lanes touch."""
    return len({byte // 32 for at in lanes.values() for byte in (at, at + size - 1)})


def _degree(lanes, size):
    words = {word for at in lanes.values() for word in range(at // 4, (at + size - 1) // 4 + 1)}
    banks = defaultdict(int)
    for word in words:
        banks[word % 32] += 1
    return max(banks.values(), default=0)


def _merges(lanes, among):
    mine = [lane for lane in among if lane in lanes]
    return any(all(lanes.get(lane ^ step, lanes[lane]) == lanes[lane] for lane in mine) for step in (1, 2))


def wavefronts(lanes, size):
    """Return the passes that 32 banks of 4 bytes need."""
    if size <= 4:
        return _degree(lanes, size)
    if size == 8:
        phases = [range(16), range(16, 32)]
        pairs = [(phases, range(32))]
    else:
        quarters = [range(8 * n, 8 * n + 8) for n in range(4)]
        pairs = [(quarters[:2], range(16)), (quarters[2:], range(16, 32))]
    total = 0
    for parts, whole in pairs:
        served = [whole] if _merges(lanes, whole) else parts
        total += sum(_degree({n: lanes[n] for n in part if n in lanes}, size) for part in served)
    return total

"""Which padding keeps a tile's use free of bank conflicts.

For devices with 32 banks of 4 bytes and SIMD groups of 32 consecutive work-items (NVIDIA; elsewhere the
choice is still a fair one). Elements of 8 bytes are served by half groups, of 16 and more by quarter groups
(CUDA C++ Programming Guide, compute capabilities; NVIDIA H200 counters agree).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

BANKS = 32
LANES = 32
LARGEST_PADDING = 8

Place = Callable[[int, int], tuple[int, int]]
"""The tile row and column that work-item (l_y, l_x) of a group reads first."""


def conflict_degree(elements: Sequence[int], element_bytes: int) -> int:
    """Return the largest number of different words that fall into one bank in one pass.

    Args:
        elements: index of the element that each lane of a SIMD group reads.
    """
    lanes = LANES if element_bytes <= 4 else LANES // 2 if element_bytes == 8 else LANES // 4
    worst = 1
    for start in range(0, len(elements), lanes):
        words: dict[int, set[int]] = {}
        for element in elements[start : start + lanes]:
            first = element * element_bytes // 4
            for word in range(first, first + max(1, element_bytes // 4)):
                words.setdefault(word % BANKS, set()).add(word)
        worst = max(worst, *(len(it) for it in words.values()))
    return worst


def use_degree(place: Place, pitch: int, group: tuple[int, int], element_bytes: int) -> int:
    """Return the degree of a tile's use by the first SIMD group of a work-group of (x, y) work-items."""
    x, y = group
    lanes = [divmod(lane, x) for lane in range(min(LANES, x * y))]
    places = [place(ly, lx) for ly, lx in lanes]
    low = min(row * pitch + column for row, column in places)
    return conflict_degree([row * pitch + column - low for row, column in places], element_bytes)


def padded_pitch(place: Place, columns: int, group: tuple[int, int], element_bytes: int) -> int:
    """Return the smallest pitch from `columns` to 8 more with the lowest degree."""
    choices = range(columns, columns + LARGEST_PADDING + 1)
    return min(choices, key=lambda pitch: (use_degree(place, pitch, group, element_bytes), pitch))

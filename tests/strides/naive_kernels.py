"""The naive Aristotle kernels' bandwidth on a GPU, predicted from their requests.

The parts of a launch's time, each from counts that are exact for the pattern:

- first-level cache: a request takes as many cycles as the worst bank has different words (its data come out
  of 32 banks of 4 bytes), and one for every 4 lines whose tags it must look up, plus one;
- memory: the distinct bytes read, and the bytes written, at the sweep's best rate;
- launching: what an empty kernel of the same NDRange takes, which adds to the larger of the others.

The two constants of the first part were read off the H200's own records (MAP-204 runs at 1/16 and MAP-407 at
1/5 of a request a cycle on each of 132 multiprocessors); NVIDIA publishes neither.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clmap_lsp.aristotle.banks import conflict_degree
from clmap_lsp.aristotle.layout import counted_bytes, default_radius, layout_of, offsets
from clmap_lsp.aristotle.maps import Intra, Map

LINE_BYTES = 128
TAGS_A_CYCLE = 4
FEWEST_CYCLES = 2.0
"""A fully coalesced request: the H200 serves about one in two cycles on each multiprocessor."""
_SAMPLED_STEPS = 64


def cycles_per_request(pattern: Map, size: int, group_x: int = 16) -> float:
    """Return the mean cycles in the first-level cache of a naive kernel's requests (4-byte elements)."""
    layout = layout_of(pattern, size, default_radius(pattern))
    lanes = np.arange(32)
    ty, tx = lanes // group_x, lanes % group_x
    m00, m01, m10, m11 = pattern.matrix
    row, column = m00 * ty + m01 * tx, m10 * ty + m11 * tx
    steps = offsets(pattern, size, default_radius(pattern))[:_SAMPLED_STEPS]
    base = layout.origin + row * layout.pitch + column
    costs = [_cycles(base + j * layout.pitch + i) for j, i in steps]
    return float(np.mean(costs))


def predicted_gbs(
    pattern: Map, size: int, *, multiprocessors: int, clock_hz: float, peak_gbs: float, launch_s: float
) -> float:
    """Return the bandwidth as records count it: every read as written, and the write.

    Args:
        peak_gbs: what memory gives to a grid-strided read.
        launch_s: an empty kernel on the same NDRange.
    """
    radius = default_radius(pattern)
    reads = len(offsets(pattern, size, radius))
    requests = reads * size * size / 32
    cache_s = requests * cycles_per_request(pattern, size) / (multiprocessors * clock_hz)
    memory_s = (distinct_elements(pattern, size) + size * size) * 4 / (peak_gbs * 1e9)
    total = launch_s + max(cache_s, memory_s)
    return counted_bytes((pattern,), size, {pattern.intra: radius}, 4) / total / 1e9


def distinct_elements(pattern: Map, size: int) -> int:
    """Return how many different elements a launch reads."""
    m00, m01, m10, m11 = pattern.matrix
    if pattern.intra is Intra.ROW:
        return (2 * size - 1 if m00 and m01 else size) * size
    if pattern.intra is Intra.COLUMN:
        return (2 * size - 1 if m10 and m11 else size) * size
    if pattern.determinant:
        return size * size
    band = 4 * default_radius(pattern) + 1
    return (2 * size - 1 if pattern.emap == 16 else size) * band


def _cycles(elements: NDArray[np.int64]) -> float:
    lines = len({int(it) * 4 // LINE_BYTES for it in elements})
    degree = conflict_degree([int(it) for it in elements], 4)
    return max(FEWEST_CYCLES, float(degree), lines / TAGS_A_CYCLE + 1)

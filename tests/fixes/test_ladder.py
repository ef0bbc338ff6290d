"""From the slowest matrix multiply to a tiled, coalesced, conflict-free one, by fixes alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from fixing import SETTINGS, subject_of

from clmap_lsp.fixes.ladder import climb

FIXTURES = Path(__file__).parents[2] / "fixtures"
PAPERS = frozenset({"swap-dimensions", "stage-loop", "pad-local"})


def rungs(path: str, kernel: str | None = None, **options):
    text = (FIXTURES / path).read_text(encoding="utf-8")
    return list(climb(subject_of(text, kernel), SETTINGS, **options))


def test_the_matrix_multiply_climbs_to_coalesced_conflict_free_tiles():
    first, swapped, tiled = rungs("matmul/simple.cl", "mm_simple", kinds=PAPERS)
    # 1,048,576 loads of 16 and 1 sectors, 2,048 stores of 16.
    assert first.figures.totals.sectors == 524_288 * (16 + 1) + 2_048 * 16
    assert swapped.fix is not None and swapped.fix.title.startswith("Swap dimensions: 5.7x less")
    assert swapped.figures.totals.sectors == 524_288 * (2 + 2) + 2_048 * 4
    # Every SIMD group loads two half-rows of each tile: 4 sectors, which is what 128 bytes need.
    assert tiled.figures.totals.sectors == 2_048 * (16 * (4 + 4) + 4)
    assert tiled.figures.sectors_per_request == 4
    # One pass for every local access: no conflicts.
    assert tiled.figures.wavefronts_per_request == 1
    assert tiled.figures.totals.wavefronts == 2_048 * (2 * 256 + 2 * 16)
    assert all(it.proof is not None and it.proof.compared == "bit for bit" for it in (swapped, tiled))


@pytest.mark.parametrize(
    ("path", "kernel", "least_gain"),
    [
        ("transpose/naive.cl", None, 2.5),
        ("transpose/tiled.cl", None, 8),
        ("convolution/direct.cl", None, 4.5),  # Constant memory would gain nothing on this device.
        ("reduction/kinds.cl", "reduce_strided", 2.9),
        ("matvec/by_row_and_column.cl", "matvec_row", 8),
        ("strides/splits.cl", "split_chunk", 3.5),
        ("particles/layouts.cl", "update_aos", 7),
        ("particles/nbody_direct.cl", None, 6),
    ],
)
def test_every_ladder_lowers_the_traffic(path: str, kernel: str | None, least_gain: float):
    found = rungs(path, kernel, sketches=True)
    costs = [it.figures.cost for it in found]
    assert costs == sorted(costs, reverse=True)
    assert costs[0] >= least_gain * costs[-1]


@pytest.mark.parametrize("path", ["transpose/padded.cl", "stencil/nine_point.cl", "stencil/five_point.cl"])
def test_kernels_that_are_good_already_stay(path: str):
    """Stencils with coalesced rows have their neighbours in the cache; tiles made them slower on an H200."""
    assert len(rungs(path)) == 1

"""Tiles whose side sets the traffic: what a larger one would save, and what a device allows."""

from __future__ import annotations

from dataclasses import replace

import pytest
from test_hierarchy_limits import HOPPER, variant

from clmap_lsp.devices import load_model
from clmap_lsp.devices.model import DeviceModel
from clmap_lsp.hierarchy.tiles import TileChoice, larger_tile, tiling_of


def choice(block: int, device: DeviceModel = HOPPER) -> TileChoice | None:
    analysis = variant("blocked", "mm_blocked_swapped", block)
    tiling = tiling_of(analysis)
    assert tiling is not None
    return larger_tile(analysis, device, tiling)


@pytest.mark.parametrize("block", [8, 16])
def test_what_a_larger_tile_is_said_to_move_is_what_it_moves(block: int) -> None:
    found = choice(block)
    assert found is not None and found.side == 32
    larger = tiling_of(variant("blocked", "mm_blocked_swapped", 32))
    assert larger is not None
    assert found.sectors == larger.sectors
    assert found.local_bytes == larger.local_bytes == 2 * 32 * 32 * 4
    assert found.n_groups == 64
    assert found.residency.groups == 2  # Of 32 SIMD groups each; a compute unit holds 64.


def test_a_work_group_as_large_as_can_be_has_no_larger_tile() -> None:
    assert choice(32) is None


@pytest.mark.parametrize(
    ("limits", "side"),
    [
        ({"max_work_group_size": 256}, 16),
        ({"max_work_group_size": None}, 16),
        ({"local_bytes_per_group": 2 * 16 * 16 * 4}, 16),
        ({"compute_units": 100}, 16),
        ({"local_bytes_per_compute_unit": 2 * 32 * 32 * 4}, 32),
        ({"simd_groups_per_compute_unit": 96}, 32),
    ],
    ids=[
        "work-items",
        "work-items unknown",
        "local memory",
        "compute units",
        "half is enough",
        "odd capacity",
    ],
)
def test_limits_of_the_device_bound_the_side(limits: dict[str, int | None], side: int) -> None:
    found = choice(8, replace(HOPPER, limits=replace(HOPPER.limits, **limits)))
    assert found is not None and found.side == side


def test_tiles_that_leave_too_few_simd_groups_are_not_advised() -> None:
    limits = replace(HOPPER.limits, local_bytes_per_compute_unit=12 * 1024, simd_groups_per_compute_unit=96)
    found = choice(8, replace(HOPPER, limits=limits))
    assert found is not None and found.side == 16


@pytest.mark.parametrize(
    ("file", "name"), [("simple", "mm_simple"), ("row_private_column_local", "mm_row_private_local")]
)
def test_kernels_without_such_tiles_have_none(file: str, name: str) -> None:
    assert tiling_of(variant(file, name)) is None


def test_amd_s_larger_simd_groups_count() -> None:
    found = choice(8, load_model("amd-cdna3"))
    assert found is not None
    assert found.group_items == found.side**2 <= 1024

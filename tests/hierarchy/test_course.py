"""The course's matrix multiplies: the findings of each variant name what the next step mends.

C(i, j) per work-item; a row per work-item; the row of A private; the column of B local besides; blocked, in
blocks of 8, 16 and 32. Checked for the generation of the course's P100, by the command line.
"""

from __future__ import annotations

import json
from functools import cache

import pytest
from nests import FIXTURES
from warm import clmap

BLOCKS = (8, 16, 32)


@cache
def findings(file: str, kernel: str, block: int = 0, device: str = "nvidia-pascal") -> dict[str, list[str]]:
    """Return the messages of a kernel's findings, hints included, by code."""
    command = ["check", str(FIXTURES / "matmul" / f"{file}.cl")]
    command += ["--device", device, "--hints", "--format", "json", "--fail-on", "never", "--kernel", kernel]
    if block:
        tile = f"local({block * block})"
        command += [f"-DBLOCK={block}", "--global", "256,256", "--local", f"{block},{block}"]
        command += ["--arg", f"a_block={tile}", "--arg", f"b_block={tile}"]
    ran = clmap(*command)
    assert ran.returncode == 0, ran.stderr
    found: dict[str, list[str]] = {}
    for it in json.loads(ran.stdout)["findings"]:
        if it["kernel"] == kernel:
            found.setdefault(it["code"], []).append(it["message"])
    return found


def test_one_element_a_work_item_walks_across_and_then_wants_tiles() -> None:
    assert "76% fewer" in findings("simple", "mm_simple")["CM104"][0]
    assert any("staging `A`" in it for it in findings("simple", "mm_simple_swapped")["CM401"])
    assert any(
        "staging `B`" in it for it in findings("simple", "mm_simple_swapped", 0, "nvidia-hopper")["CM401"]
    )


def test_a_row_a_work_item_wants_its_row_private() -> None:
    (message,) = findings("row_per_item", "mm_row")["CM510"]
    assert "the same 1 KiB of `A` in each of the 256 iterations of `column`" in message
    assert "16,711,680 of its 16,777,216 sectors" in message


def test_a_private_row_wants_the_column_of_b_shared() -> None:
    found = findings("row_private", "mm_row_private")
    (message,) = found["CM501"]
    assert "`B`" in message and "through local memory" in message
    assert "CM510" not in found  # That was the step before.


def test_rows_with_all_that_still_want_other_work_items() -> None:
    """Blocks coalesce what rows scatter, need no long private array, and give every compute unit work."""
    found = findings("row_private_column_local", "mm_row_private_local")
    assert {"CM501", "CM510"}.isdisjoint(found)
    assert {text.split("[")[0] for text in found["CM101"]} == {"`A", "`B"}
    assert found["CM102"][0].startswith("`C[")
    assert "`kept`" in found["CM503"][0]
    (idle,) = findings("row_private_column_local", "mm_row_private_local", 0, "nvidia-hopper")["CM508"]
    assert "no more than 4 of the 132 compute units of H200" in idle


@pytest.mark.parametrize("block", BLOCKS)
def test_blocks_want_to_be_larger_until_the_work_group_is_full(block: int) -> None:
    found = findings("blocked", "mm_blocked_swapped", block)
    assert {"CM101", "CM102", "CM503", "CM510"}.isdisjoint(found)
    if block == max(BLOCKS):
        assert "CM509" not in found
        return
    (message,) = found["CM509"]
    assert f"Tiles of {block} x {block} use each element loaded of `A` and `B` {block} times" in message
    assert "32 x 32 would use it 32 times and load about 131,072 sectors" in message


@pytest.mark.parametrize("block", BLOCKS)
def test_blocks_whose_rows_lie_along_dimension_0_want_it_swapped(block: int) -> None:
    assert "CM104" in findings("blocked", "mm_blocked", block)

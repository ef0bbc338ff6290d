"""Derived indices and guards against those of the kernels that were measured on hardware."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from reading import launch_of, summary_of, values

CASES = json.loads(
    (Path(__file__).parent.parent / "data" / "hardware_truth" / "nvidia_h200.json").read_text()
)["single_access"]


def test_all_cases_are_here() -> None:
    assert len(CASES) == 161


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_index_and_guard_equal_the_truth_for_every_work_item(case: dict) -> None:
    launch = launch_of(tuple(case["global_size"]), tuple(case["local_size"]), **case["args"])
    truth = case["access"]
    (access,) = [
        it
        for it in summary_of(case["source"])
        if it.buffer == truth["buffer"] and it.direction.value == truth["op"] and not it.loops
    ]
    rows, columns = np.mgrid[0 : launch.global_size[1], 0 : launch.global_size[0]]
    ids = {
        "x": columns,
        "y": rows,
        "lx": columns % launch.local_size[0],
        "ly": rows % launch.local_size[1],
        "N": case["args"]["N"],
    }
    expected = eval(truth["index"].replace("/", "//"), ids)
    assert np.array_equal(values(access.index, launch), np.broadcast_to(expected, rows.shape))
    assert access.element_type == truth["element_type"]
    assert access.space.value == truth["space"]
    active = np.ones(rows.shape, bool)
    for condition in access.guard:
        active &= values(condition, launch) != 0
    guard = eval(truth["guard"] or "True", ids)
    assert np.array_equal(active, np.broadcast_to(guard, rows.shape))

"""The rules against what an NVIDIA H200's own counters said (tests/data/hardware_truth)."""

import json
from pathlib import Path

import numpy as np
import pytest

from clmap_lsp.devices import load_model
from clmap_lsp.devices.rules import global_sectors, local_wavefronts, requests, simd_groups

TRUTH = Path(__file__).parents[1] / "data" / "hardware_truth" / "nvidia_h200.json"
CASES = json.loads(TRUTH.read_text())["single_access"]
WIDTHS = {"char": 1, "short": 2, "float": 4, "float2": 8, "double": 8, "float4": 16}


def lanes_of(case, device):
    """Return addresses and mask, shape (SIMD groups of the launch, lanes), evaluating the access's text."""
    size_x, size_y = case["local_size"]
    groups_x, groups_y = (g // x for g, x in zip(case["global_size"], case["local_size"], strict=True))
    linear = simd_groups(case["local_size"], device)
    group = np.arange(groups_x * groups_y)[:, None, None]
    lx, ly = linear % size_x + 0 * group, linear // size_x + 0 * group
    x, y = group % groups_x * size_x + lx, group // groups_x * size_y + ly
    names = {"x": x, "y": y, "lx": lx, "ly": ly, "N": case["args"]["N"]}
    names = {k: (v.reshape(-1, device.simd_width) if k != "N" else v) for k, v in names.items()}

    def evaluate(text):
        return np.broadcast_to(eval(text.replace("/", "//"), {}, names), names["x"].shape)

    access = case["access"]
    active = np.broadcast_to((linear >= 0) & (group >= 0), x.shape).reshape(-1, device.simd_width)
    if access["guard"]:
        active = active & evaluate(access["guard"])
    return evaluate(access["index"]) * WIDTHS[access["element_type"]], active


@pytest.mark.parametrize("model", ["nvidia-hopper", "generic-gpu"])
@pytest.mark.parametrize("case", CASES, ids=lambda it: it["name"])
def test_counts_equal_the_hardware_counters(case, model):
    device = load_model(model)
    addresses, active = lanes_of(case, device)
    access = case["access"]
    width = WIDTHS[access["element_type"]]
    issued = int(requests(active).sum())
    if access["space"] == "global":
        sectors = int(global_sectors(addresses, active, width, device, access["op"]).sum())
        assert {"requests": issued, "sectors": sectors} == case["measured"]
    else:
        passes = int(local_wavefronts(addresses, active, width, access["op"], device).sum())
        assert {"instructions": issued, "wavefronts": passes} == case["measured"]


def test_all_cases_are_here():
    assert len(CASES) == 161

"""Accesses wider or odder than one scalar, against an NVIDIA H200's own counters, from source to sectors."""

import json
from pathlib import Path

import pytest

from clmap_lsp.analysis.session import AnalysisSession
from clmap_lsp.devices import load_model
from clmap_lsp.source.read import read_program

TRUTH = Path(__file__).parents[1] / "data" / "hardware_truth" / "nvidia_h200_wide.json"
CASES = json.loads(TRUTH.read_text())["wide_access"]


def launched(case):
    """Return the source with its launch as a comment."""
    sizes = [",".join(map(str, case[it])) for it in ("global_size", "local_size")]
    scalars = " ".join(f"{name}={value}" for name, value in case["args"].items())
    comment = f"// clmap: global={sizes[0]} local={sizes[1]} {scalars}\n"
    return case["source"].replace("__kernel", f"{comment}__kernel", 1)


@pytest.mark.parametrize("case", CASES, ids=lambda it: it["name"])
def test_counts_equal_the_hardware_counters(case):
    program = read_program(launched(case), "k.cl")
    (kernel,) = AnalysisSession().analyse(program, load_model("nvidia-hopper")).kernels
    wanted = case["access"]
    found = [
        it
        for it in kernel.accesses
        if (it.access.buffer, it.access.space.value, it.access.direction.value)
        == (wanted["buffer"], wanted["space"], wanted["op"])
    ]
    assert found
    assert all(it.method == "exact" for it in found)
    counted = {name: sum(getattr(it.totals, name) for it in found) for name in case["measured"]}
    assert counted == case["measured"]


def test_all_cases_are_here():
    assert len(CASES) == 88

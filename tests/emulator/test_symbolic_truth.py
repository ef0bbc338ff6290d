"""Counts from the text alone against the counters of a real GPU."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from clmap_lsp.devices import load_model
from clmap_lsp.emulator.symbolic import SymbolicResult, count
from clmap_lsp.exactness import Exactness
from clmap_lsp.launch import Launch, PartialLaunch, resolve
from clmap_lsp.source.read import read_program
from clmap_lsp.source.types import AddressSpace

TRUTH = json.loads(
    (Path(__file__).parents[1] / "data" / "hardware_truth" / "nvidia_h200.json").read_text("utf-8")
)
SPACES = {"global": AddressSpace.GLOBAL, "local": AddressSpace.LOCAL}


def counted(case: Mapping[str, Any]) -> SymbolicResult:
    program = read_program(case["source"], "kernel.cl")
    kernel = program.kernel(case["kernel"])
    assert kernel is not None
    given = PartialLaunch(
        None,
        tuple(case["global_size"]),
        tuple(case["local_size"]),
        arguments={name: str(value) for name, value in case["args"].items()},
    )
    launch = resolve(program, kernel, given=given)
    assert isinstance(launch, Launch), str(launch)
    result = count(kernel, launch, load_model("nvidia-hopper"), constants=program.constants)
    assert result.bail is None
    return result


@pytest.mark.parametrize("case", TRUTH["single_access"], ids=lambda it: it["name"])
def test_single_access_is_exact_from_source(case: Mapping[str, Any]) -> None:
    access, measured = case["access"], dict(case["measured"])
    sites = [
        it
        for it in counted(case).sites.values()
        if it.root is not None and it.root.name == access["buffer"] and it.op == access["op"]
    ]
    assert all(it.method is Exactness.EXACT for it in sites)
    requests = sum(it.requests or 0 for it in sites)
    units = sum(it.units or 0 for it in sites)
    assert [requests, units] == list(measured.values())


def totals(result: SymbolicResult) -> dict[str, tuple[int, int]]:
    found = {}
    for space in ("global", "local"):
        for op in ("load", "store"):
            total = result.total(SPACES[space], op)
            assert total.complete
            found[f"{space}_{op}"] = (total.requests, total.units)
    return found


def unrolled_remainder_requests(turns: list[int], by: int) -> int:
    """Requests of one SIMD group whose lanes take `turns` turns of a loop that was unrolled `by` times."""
    return by * max(it // by for it in turns) + max(it % by for it in turns)


@pytest.mark.parametrize("case", TRUTH["whole_kernel_as_written"], ids=lambda it: it["name"])
def test_whole_kernel_as_written_is_exact(case: Mapping[str, Any]) -> None:
    got, measured = totals(counted(case)), case["measured"]
    for key in ("global_load", "global_store"):
        requests, sectors = got[key]
        assert sectors == measured[key]["sectors"]
        if case["name"] == "v_tri_loop" and key == "global_load":
            # Work-item i takes i + 1 turns, so that a SIMD group of the source makes as many requests as its
            # last lane has turns. The compiler ran the loop 16 turns at a time and the rest in a loop of its
            # own, where the lanes' rests differ: that, and nothing else, is what the counter shows on top.
            groups = [list(range(first + 1, first + 33)) for first in range(0, 128, 32)]
            assert requests == sum(max(it) for it in groups)
            assert measured[key]["requests"] == sum(unrolled_remainder_requests(it, 16) for it in groups)
        else:
            assert requests == measured[key]["requests"]
    for key in ("local_load", "local_store"):
        assert got[key][1] == measured[key]["wavefronts"]


def test_compiled_kernels_are_near() -> None:
    """Without `volatile` the compiler may merge accesses: at least 21 of 24 stay within 5 %."""
    near = 0
    for case in TRUTH["whole_kernel"]:
        got = totals(counted(case))
        pairs = []
        for key, measured in case["measured"].items():
            first = "requests" if key.startswith("global") else "wavefronts"
            second = "sectors" if key.startswith("global") else "wavefronts"
            by_name = {"requests": got[key][0], "sectors": got[key][1], "wavefronts": got[key][1]}
            pairs += [(by_name[name], measured[name]) for name in {first, second}]
        near += all(abs(one - two) <= 0.05 * max(two, 1) for one, two in pairs)
    assert near >= 21


@pytest.mark.parametrize(
    ("name", "loads", "stores"),
    [("v_mm_simple", 8_912_896, 32_768), ("v_mm_swapped", 2_097_152, 8_192)],
)
def test_matrix_multiply_sectors(name: str, loads: int, stores: int) -> None:
    case = next(it for it in TRUTH["whole_kernel_as_written"] if it["name"] == name)
    result = counted(case)
    assert result.total(AddressSpace.GLOBAL, "load").units == loads
    assert result.total(AddressSpace.GLOBAL, "store").units == stores

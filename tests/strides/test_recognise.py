"""Loops that split an array by powers of two are recognised however they are written."""

from __future__ import annotations

from pathlib import Path

import pytest

from clmap_lsp.analysis.session import AnalysisSession
from clmap_lsp.aristotle.known import known_records
from clmap_lsp.commands.checking import CheckJob, check_file
from clmap_lsp.config import Settings
from clmap_lsp.devices import load_model
from clmap_lsp.rules import Selection
from clmap_lsp.source.read import read_program
from clmap_lsp.strides.recognise import LoopSplit, loop_splits, split_advice

FIXTURE = Path(__file__).parents[2] / "fixtures" / "strides" / "splits.cl"


def splits(text: str) -> dict[str, tuple[LoopSplit, ...]]:
    program = read_program(text, "splits.cl")
    analysis = AnalysisSession().analyse(program, load_model("nvidia-hopper"))
    return {it.name: loop_splits(it) for it in analysis.kernels}


def test_the_five_loops_of_the_fixture_are_recognised() -> None:
    found = splits(FIXTURE.read_text())
    assert {name: [it.exponent for it in items] for name, items in found.items()} == {
        "split_chunk": [0],
        "split_pairs": [1],
        "split_simd": [5],
        "split_group": [8],
        "split_grid": [12],
    }
    assert {it.turns for items in found.values() for it in items} == {16}
    (chunk,) = found["split_chunk"]
    assert chunk.describe() == "this loop is stride exponent 0: each work-item walks 16 consecutive elements"


INDEX_BITS, GRID_BITS = 18, 13

# The loop of clmempatterns: loop bits between the low and the high bits of the work-item's number.
PAPER = """
// clmap: global={items} local=256 in=random({elements}) out=zeros({items})
__kernel void sweep(__global const float *in, __global float *out)
{{
    const uint id = get_global_id(0);
    const uint low = id & {mask}u;
    const uint high = id & ~{mask}u;
    float sum = 0.0f;
    for (uint i = 0; i < {turns}; i++)
        sum += in[{index}];
    out[id] = sum;
}}
"""
WAYS = (
    "(high << {bits}) + low + i * {stride}",
    "(high << {bits}) | (i << {exponent}) | low",
    "(id >> {exponent} << {block}) + (i << {exponent}) + (id & {mask}u)",
    "id / {stride} * {step} + id % {stride} + i * {stride}",
)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("exponent", range(GRID_BITS + 1))
def test_the_papers_kernel_is_recognised_at_every_exponent(exponent: int, way: str) -> None:
    bits = INDEX_BITS - GRID_BITS
    stride = 1 << exponent
    words = {"bits": bits, "stride": stride, "exponent": exponent, "mask": stride - 1}
    index = way.format(**words, block=exponent + bits, step=stride << bits)
    text = PAPER.format(
        items=1 << GRID_BITS, elements=1 << INDEX_BITS, mask=stride - 1, turns=1 << bits, index=index
    )
    ((found,),) = splits(text).values()
    assert (found.exponent, found.turns, found.items) == (exponent, 1 << bits, 1 << GRID_BITS)
    assert found.is_grid_stride == (exponent == GRID_BITS)


@pytest.mark.parametrize(
    "index",
    [
        "id * 17 + i",  # Chunks with a gap.
        "id * 16 + i * 3",  # A stride that is no power of two.
        "id * 16 + 15 - i",  # Backwards.
        "id + i * 8192",  # More than all work-items apart.
        "(id ^ 1) * 16 + i",  # Neighbours changed round.
        "i",  # The same for all.
        "id",  # The same in every turn.
    ],
)
def test_other_walks_are_not_taken_for_splits(index: str) -> None:
    text = f"""
// clmap: global=4096 local=256 in=random(200000) out=zeros(4096)
__kernel void other(__global const float *in, __global float *out)
{{
    const int id = get_global_id(0);
    float sum = 0.0f;
    for (int i = 0; i < 16; i++)
        sum += in[{index}];
    out[id] = sum;
}}
"""
    assert splits(text) == {"other": ()}


def test_advice_compares_with_the_sweep_of_the_device() -> None:
    found = splits(FIXTURE.read_text())
    chunk = split_advice(known_records(), found["split_chunk"][0], "nvidia-hopper")
    grid = split_advice(known_records(), found["split_grid"][0], "nvidia-hopper")
    assert chunk is not None and grid is not None
    assert chunk.exact and chunk.own.exponent == 0
    assert chunk.gain > 3
    assert grid.own.exponent == max(20, grid.own.exponent)
    assert grid.gain < 1.1
    older = split_advice(known_records(), found["split_chunk"][0], "nvidia-ampere")
    assert older is not None and not older.exact and "nearest" in older.why
    assert split_advice(known_records(), found["split_chunk"][0], "generic-gpu") is None


def test_on_a_cpu_it_is_the_grid_stride_that_is_slow() -> None:
    found = splits(FIXTURE.read_text())
    chunk = split_advice(known_records(), found["split_chunk"][0], "cpu")
    grid = split_advice(known_records(), found["split_grid"][0], "cpu")
    assert chunk is not None and grid is not None
    assert chunk.gain < 1.3 < grid.gain


def findings(device: str, text: str, *codes: str) -> list[tuple[str, str, dict[str, object]]]:
    job = CheckJob("x.cl", Settings(device=device), Selection.of(codes), hints=True, text=text)
    return [(it.code, it.message, dict(it.data)) for it in check_file(job).findings]


def test_scattered_accesses_carry_an_estimate_where_there_is_a_sweep() -> None:
    text = FIXTURE.read_text()
    # Chunks, which use whole sectors in the end, are CM403's; pairs of work-items are not.
    ((_, message, data),) = findings("nvidia-hopper", text, "CM101")
    estimate = data["estimate"]
    assert isinstance(estimate, dict)
    pairs = split_advice(known_records(), splits(text)["split_pairs"][0], "nvidia-hopper")
    assert pairs is not None and pairs.own.exponent == 1
    assert estimate["gbs"] == pytest.approx(pairs.own.median, rel=0.01)  # 2073 GB/s on an H200.
    assert 0.4 < estimate["share"] < 0.5
    assert "% of peak bandwidth on nvidia-hopper" in message
    elsewhere = findings("generic-gpu", text, "CM101")
    assert elsewhere
    for _, message, data in elsewhere:
        assert data["estimate"] is None
        assert "peak bandwidth" not in message
    for _, _, data in findings("cpu", text, "CM101"):
        assert data["estimate"] is None


HEAD = """// clmap: global=4096 local=64 x=random(65536) y=zeros(65536) w=random(16)
__kernel void f(__global const float *x, __global float *y, __global const float *w)
{ const int i = get_global_id(0); """


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("float s = 0; for (int k = 0; k < 16; k++) s += x[i * 16 + k]; y[i] = s;", ["x"]),
        ("for (int k = 0; k < 16; k++) y[i * 16 + k] = 2 * x[i * 16 + k];", ["x", "y"]),
        ("float s = 0; for (int k = 0; k < 16; k++) s += x[i * 16 + k] * w[k]; y[i] = s;", []),
        ("float s = 0; for (int k = 0; k < 16; k++) s += x[i * 16 + k];"
         " for (int k = 0; k < 16; k++) y[i * 16 + k] = x[i * 16 + k] / s;", []),
    ],
    ids=["a sum", "each element by itself", "paired by the place in the row", "the same rows again"],
)  # fmt: skip
def test_a_split_is_reported_where_any_work_item_may_take_an_element(body: str, found: list[str]) -> None:
    said = findings("nvidia-hopper", f"{HEAD}{body} }}\n", "CM403")
    buffers = [str(data["split"]["buffer"]) for _, _, data in said if isinstance(data["split"], dict)]
    assert sorted(buffers) == found

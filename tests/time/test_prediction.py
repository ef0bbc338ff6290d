"""Predicted times: against times measured on two GPUs, and how they must move when a launch changes."""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.time_cases import Case, cases
from clmap_lsp import cli
from clmap_lsp.devices import load_model
from clmap_lsp.launch import Launch, PartialLaunch, resolve
from clmap_lsp.launch.model import BufferArgument, Fill, ScalarArgument
from clmap_lsp.source.read import read_program
from clmap_lsp.time.caches import NEVER, Cycle, reuse_times, window_of
from clmap_lsp.time.calibration import facts_of
from clmap_lsp.time.demand import Demand
from clmap_lsp.time.facts import read_facts, time_facts
from clmap_lsp.time.model import BOUNDS, Prediction, predict
from clmap_lsp.time.predict import demand_of, time_of
from clmap_lsp.time.private import Spread, lines_and_sectors, spreads
from clmap_lsp.time.stream import missed_sectors

ROOT = Path(__file__).parents[2]
DEVICES = {"nvidia-h200": "time_h200.json", "nvidia-h100-sxm": "time_h100.json"}
QUICK = {
    "transpose",
    "stencil",
    "reduction",
    "strides",
    "particles",
    "matvec",
    "sparse",
    "convolution",
    "scan",
}
"""Families whose launches take little time to follow."""


def predicted(source: str, device: str = "nvidia-h200", **launch: Any) -> Prediction:
    program = read_program(source, "k.cl")
    kernel = program.kernels[0]
    given = PartialLaunch(
        None,
        launch.pop("size"),
        launch.pop("local"),
        arguments={name: str(value) for name, value in launch.items()},
    )
    resolved = resolve(program, kernel, given=given)
    assert isinstance(resolved, Launch), str(resolved)
    found = time_of(kernel, resolved, load_model(device), program.constants)
    assert isinstance(found, Prediction), found
    return found


def some_cases() -> list[Case]:
    return [it for it in cases() if it.family in QUICK]


@pytest.mark.parametrize("device", DEVICES)
def test_measured_launches_are_met_on_average(device: str) -> None:
    """The share of all launches of the repository that a test has time for; docs/time.md has all of them."""
    rows = json.loads((ROOT / "benchmarks/results" / DEVICES[device]).read_text("utf-8"))["cases"]
    measured = {row["id"]: row["median"] for row in rows}
    facts = time_facts(device)
    assert facts is not None
    errors, real, mine = [], [], []
    for case in some_cases():
        demand = demand_of(case.kernel, case.launch, load_model(device), case.program.constants, facts)
        if isinstance(demand, str) or not measured.get(case.id):
            continue
        seconds = predict(demand, facts).seconds
        errors.append(abs(seconds / measured[case.id] - 1))
        real.append(measured[case.id])
        mine.append(seconds)
    assert len(errors) >= 30
    assert float(np.mean(errors)) < 0.16
    assert float(np.mean(np.array(errors) < 0.25)) > 0.8
    ranks = [np.argsort(np.argsort(it)) for it in (real, mine)]
    assert np.corrcoef(*ranks)[0, 1] > 0.9


COPY = "kernel void k(global const float4 *a, global float4 *b) { size_t i = get_global_id(0); b[i] = a[i]; }"
STRIDE = """kernel void k(global const float *a, global float *b, int s) {
    int i = get_global_id(0); b[i] = a[i * s]; }"""
CHAIN = """kernel void k(global float *b, int n) { float s = get_global_id(0);
    for (int i = 0; i < n; i++) s = s * 0.5f + 1.0f; b[get_global_id(0)] = s; }"""


def test_a_large_copy_is_bound_by_device_memory_and_takes_what_its_bytes_take() -> None:
    n = 1 << 24
    found = predicted(COPY, size=(n,), local=(256,), a=f"random({n})", b=f"zeros({n})")
    assert found.bound == "dram"
    assert found.seconds == pytest.approx(32 * n / 4.28e12, rel=0.15)
    assert found.low < found.seconds < found.high


def test_memory_figures_alone_tell_the_h100_from_the_h200() -> None:
    n = 1 << 24
    both = [
        predicted(COPY, device, size=(n,), local=(256,), a=f"random({n})", b=f"zeros({n})")
        for device in DEVICES
    ]
    assert both[1].seconds / both[0].seconds == pytest.approx(4.28 / 3.03, rel=0.1)


def test_a_small_launch_is_bound_by_being_launched() -> None:
    found = predicted(COPY, size=(1024,), local=(256,), a="random(1024)", b="zeros(1024)")
    assert found.bound == "launch"
    assert found.seconds < 8e-6


def test_a_stride_costs_lines() -> None:
    n = 1 << 20
    near, far = (
        predicted(STRIDE, size=(n,), local=(256,), a=f"random({n * 32})", b=f"zeros({n})", s=s).parts["l1"]
        for s in (1, 32)
    )
    assert far / near == pytest.approx((32 + 1) / 2, rel=0.02)


@pytest.mark.parametrize("turns", [64, 1024])
def test_a_chain_of_arithmetic_takes_its_pipe(turns: int) -> None:
    n = 1 << 22
    found = predicted(CHAIN, size=(n,), local=(256,), b=f"zeros({n})", n=turns)
    assert found.parts["fp32"] == pytest.approx(n / 32 * turns / 3.864 / 132 / 1.98e9, rel=0.1)


def test_one_work_group_more_than_units_takes_a_round_more() -> None:
    one, two = (
        predicted(CHAIN, size=(1024 * groups,), local=(1024,), b=f"zeros({1024 * groups})", n=20000)
        for groups in (132, 133)
    )
    assert two.parts["fp32"] / one.parts["fp32"] == pytest.approx(2.0, rel=0.02)


def test_every_bound_is_of_the_contract() -> None:
    for case in some_cases()[::5]:
        found = time_of(case.kernel, case.launch, load_model("nvidia-h200"), case.program.constants)
        if isinstance(found, Prediction):
            assert found.bound in BOUNDS and set(found.parts) <= set(BOUNDS)
            assert found.low < found.seconds < found.high
            assert found.resident.limit in ("registers", "local", "groups", "size")


def test_the_shipped_facts_are_those_of_the_raw_times() -> None:
    for device, name in DEVICES.items():
        raw = json.loads((ROOT / "benchmarks/results" / name).read_text("utf-8"))
        made = read_facts(facts_of(raw, device, "x"))
        shipped = time_facts(device)
        assert shipped is not None
        assert dataclasses.replace(made, name=shipped.name) == shipped


@given(st.lists(st.integers(0, 12), min_size=1, max_size=200), st.integers(1, 14))
def test_reuse_times_and_windows_are_those_of_the_definition(stream: list[int], capacity: int) -> None:
    blocks = np.array(stream, np.int64)
    times = reuse_times(blocks)
    last: dict[int, int] = {}
    for place, block in enumerate(stream):
        assert times[place] == (place - last[block] if block in last else NEVER)
        last[block] = place
    window = window_of(blocks, times, capacity)
    if len(set(stream)) <= capacity:
        assert window == float(NEVER)
        return
    sizes = {
        w: np.mean([len(set(stream[at : at + w])) for at in range(len(stream) - w + 1)])
        for w in range(1, len(stream) + 1)
    }
    fitting = [w for w, size in sizes.items() if size <= capacity + 1e-9]
    assert abs(window - max(fitting, default=1)) <= 1 or math.isclose(
        sizes[int(window)], capacity, rel_tol=0.2
    )


def test_the_command_line_gives_the_contract(capsys: pytest.CaptureFixture[str]) -> None:
    path = str(ROOT / "fixtures/matmul/simple.cl")
    arguments = ["analyze", path, "--kernel", "mm_simple", "--device", "nvidia-h200"]
    assert cli.main([*arguments, "--format", "json"]) == 0
    kernel = json.loads(capsys.readouterr().out)["files"][0]["kernels"][0]
    time = kernel["time"]
    assert time["low"] < time["seconds"] < time["high"]
    assert time["bound"] in BOUNDS and time["basis"] == "calibrated"
    assert {"groups", "simd_groups", "limit"} <= set(time["resident"])
    assert cli.main(arguments) == 0
    assert "  time: " in capsys.readouterr().out
    assert cli.main([*arguments[:-1], "nvidia-hopper", "--format", "json"]) == 0
    kernel = json.loads(capsys.readouterr().out)["files"][0]["kernels"][0]
    assert kernel["time"] is None and "nvidia-h200" in kernel["time_reason"]
    cli.main(["emulate", *arguments[1:], "--format", "json"])
    document = json.loads(capsys.readouterr().out)
    assert document["time"] == time


def test_private_arrays_at_indices_of_their_own_go_to_the_second_level() -> None:
    source = """kernel void k(global const int *a, global int *b, int n) {
        int i = get_global_id(0), all = get_global_size(0), c[16];
        for (int k = 0; k < 16; k++) c[k] = 0;
        for (int k = 0; k < n; k++) c[INDEX & 15]++;
        for (int k = 0; k < 16; k++) b[k * all + i] = c[k]; }"""
    n = 1 << 18
    launch = {"size": (n,), "local": (128,), "a": f"random({32 * n})", "b": f"zeros({16 * n})", "n": 32}
    spread = predicted(source.replace("INDEX", "a[k * all + i]"), **launch)
    alike = predicted(source.replace("INDEX", "k * n + (k >> 2)"), **launch)
    # 25.8 sectors a request of 32 lanes at random among 16 words, each stored sector for 2.2.
    assert spread.demand.private.store_sectors == pytest.approx(2.2 * 25.8 * 32 * n / 32, rel=0.1)
    assert not spread.demand.private.load_sectors
    assert spread.parts["l2"] > 4 * alike.parts["l2"]  # Of a line and a sector for each index.


SPREAD = """kernel void k(global const uint *a, global int *b, int n) {
    int i = get_global_id(0), c[16], s = 0;
    uint x = a[i] | 1u;
    for (int k = 0; k < 16; k++) c[k] = k * n;
    for (int k = 0; k < n; k++) { x ^= x << 13; x ^= x >> 17; x ^= x << 5; TURN }
    for (int k = 0; k < 16; k++) s += c[k];
    b[i] = s; }"""
"""Medians on an H200, the same of `benchmarks/time_kernels/stacks.cl`: 626.7, 395.4 and 41.7 us."""


@pytest.mark.parametrize(
    ("turn", "measured"),
    [
        ("c[(x >> 8) & 15] = k;", 626.7e-6),
        ("if (x & 64u) c[(x >> 8) & 15] = k;", 395.4e-6),
        ("s = s * 3 + c[(x >> 8) & 15];", 41.7e-6),
    ],
    ids=["stores", "stores of half the lanes", "loads"],
)
def test_loads_of_spread_private_arrays_hit_and_stores_do_not(turn: str, measured: float) -> None:
    n = 1 << 20
    found = predicted(
        SPREAD.replace("TURN", turn), size=(n,), local=(128,), a=f"random({n})", b=f"zeros({n})", n=64
    )
    assert found.seconds == pytest.approx(measured, rel=0.15)


WALK = """kernel void k(global int *o, int spread, int n) {
    int a[16], l = get_local_id(0) % spread, s = 0;
    for (int i = 0; i < 16; i++) a[i] = i;
    for (int i = 0; i < n; i++) a[(i + l) & 15] += i;
    for (int i = 0; i < 16; i++) s += a[i];
    o[get_global_id(0)] = s; }"""


@pytest.mark.parametrize(("spread", "measured"), [(1, 80.9e-6), (2, 167.2e-6), (4, 315.2e-6)])
def test_stores_to_private_arrays_cost_by_the_indices_of_lanes(spread: int, measured: float) -> None:
    """Medians on an H200, `spread_walk` of `stacks.cl`: also alike lanes' stores go on."""
    n = 1 << 20
    found = predicted(WALK, size=(n,), local=(128,), o=f"zeros({n})", spread=spread, n=64)
    assert 0.9 < found.seconds / measured < 1.5


@pytest.mark.parametrize(
    ("index", "mask", "elements"),
    [
        ("x & mask", 3, 4),
        ("(x >> 8) & mask & 15", 7, 8),
        ("x % 6", 0, 6),
        ("(i + x % 3) & 15", 0, 3),
        ("3 * (get_local_id(0) & 1) + n", 0, 2),
        ("x & mask", -1, 16),
        ("x + mask", 3, 16),
    ],
)
def test_masks_and_remainders_bound_the_indices_of_lanes(index: str, mask: int, elements: int) -> None:
    source = """kernel void k(global const uint *a, global int *b, int mask, int n) {
        int i = get_global_id(0), c[16];
        for (int k = 0; k < n; k++) c[k] = k;
        uint x = a[n]; x += i;
        for (int i = 0; i < n; i++) c[INDEX] = i;
        b[0] = c[n]; }"""
    program = read_program(source.replace("INDEX", index), "k.cl")
    found = spreads(program.kernels[0], {"mask": mask, "n": 9})
    assert [it.elements for it in found.values()] == [elements]


def test_a_mask_that_the_kernel_changes_bounds_nothing() -> None:
    source = """kernel void k(global const uint *a, global int *b, int mask) {
        int c[16]; c[a[0] & 15] = 1;
        mask += a[1];
        c[get_local_id(0) & mask] = 2; b[0] = c[0]; }"""
    (found,) = spreads(read_program(source, "k.cl").kernels[0], {"mask": 1}).values()
    assert found.elements == 16


def test_ranges_of_short_launches_hold_on_other_hosts() -> None:
    """An empty launch took 5.0 to 6.5 us on hosts with H100s; what was measured at home holds there."""
    source = "kernel void k(global int *o) { o[get_global_id(0)] = 1; }"
    found = predicted(source, "nvidia-h100-sxm", size=(1024,), local=(64,), o="zeros(1024)")
    assert found.low < 5.2e-6
    assert found.high > 6.7e-6
    own = predict(found.demand, dataclasses.replace(found.facts, launch_hosts=1.05))
    assert own.seconds == found.seconds
    assert own.high - own.low < 0.5 * (found.high - found.low)


def test_a_branch_on_an_id_leaves_all_lanes_in_it() -> None:
    source = """kernel void k(global const int *a, global int *b, int n) {
        int i = get_global_id(0), c[16], s = 0;
        for (int k = 0; k < 16; k++) c[k] = k;
        if (CONDITION) c[a[i] & 15] = n;
        for (int k = 0; k < n; k++) s += c[k & 15];
        b[i] = s; }"""
    shares = {}
    for condition in ("i < n", "a[i] < n", "a[i] > 0 && i < n"):
        program = read_program(source.replace("CONDITION", condition), "k.cl")
        shares[condition] = sorted(it.share for it in spreads(program.kernels[0]).values())
    assert shares == {"i < n": [1.0], "a[i] < n": [0.5], "a[i] > 0 && i < n": [0.5]}


def test_atomics_touch_memory() -> None:
    """Each work-item adds to a place of its own, all over 256 MB, which the second level does not hold."""
    n = 1 << 20
    source = "kernel void k(global int *o) { atomic_add(&o[(get_global_id(0) * 64u + 7u) & 0x3ffffff], 1); }"
    found = predicted(source, size=(n,), local=(256,), o=f"zeros({n * 64})")
    assert found.demand.footprint.held == pytest.approx(n * 128, rel=0.05)
    assert found.parts["dram"] > 1e-5


@given(st.integers(1, 64), st.sampled_from([16, 32, 64]), st.sampled_from([0.25, 0.5, 1.0]))
def test_lanes_touch_at_most_as_many_lines_and_sectors_as_there_are(
    elements: int, lanes: int, share: float
) -> None:
    lines, sectors = lines_and_sectors(Spread(elements, share), lanes)
    assert 1 - 1e-9 <= lines <= min(elements, share * lanes) + 1e-9
    assert lines - 1e-9 <= sectors <= lanes + 1e-9


def test_pieces_of_a_wide_load_ask_for_its_sectors_once() -> None:
    n = 1 << 20
    source = """kernel void k(global const char *t, global int *o) {
        char16 c = vload16(get_global_id(0), t); o[get_global_id(0)] = c.s0 + c.s5 + c.sa + c.sf; }"""
    found = predicted(source, size=(n,), local=(256,), t=f"zeros({16 * n})", o=f"zeros({n})")
    assert found.demand.l2("load")[0] <= 1.05 * 16 * n / 32


def test_a_cache_keeps_lines_and_fills_sectors() -> None:
    # One sector of each of 100 lines, twice: 100 lines fit into 100 lines, not into 50.
    stream = np.tile(np.arange(100) * 4, 2).astype(np.int64)
    assert missed_sectors(stream, 100 * 128.0).sum() == 100
    assert missed_sectors(stream, 50 * 128.0).sum() == 200
    # Four sectors of a line are asked for one after the other: each is missed once.
    assert missed_sectors(np.arange(8, dtype=np.int64), 1024.0).sum() == 8


def test_what_is_gone_through_beside_a_stream_takes_its_part_of_a_cache() -> None:
    # 40 lines again and again, and 50 others meanwhile: 100 lines hold both, 80 neither.
    stream = np.tile(np.arange(40) * 4, 3).astype(np.int64)
    beside = Cycle(50.0, 40.0)
    assert missed_sectors(stream, 100 * 128.0, beside).sum() == 40
    assert missed_sectors(stream, 80 * 128.0, beside).sum() == 120
    assert missed_sectors(stream, 80 * 128.0).sum() == 40


WALKED = """kernel void k(global const float *a, global float *c, local float *t, int n, int turns) {
    int x = get_global_id(0);
    float kept[%d];
    for (int k = 0; k < n; k++) kept[k] = a[x * n + k];
    for (int turn = 0; turn < turns; turn++) {
        float sum = 0;
        for (int k = 0; k < n; k++) sum += kept[k] * t[k];
        c[x * turns + turn] = sum;
    }
}"""


@pytest.mark.parametrize(("elements", "least", "most"), [(256, 12.0, 32.0), (1024, 60.0, 100.0)])
def test_a_private_array_that_the_first_level_does_not_hold_waits_for_the_second(
    elements: int, least: float, most: float
) -> None:
    """An H200 takes 24 cycles an element of 256, 85 and 81 of 512 and 1024 (`mm_row_private_local`)."""
    turns = 64
    found = predicted(
        WALKED % elements,
        size=(elements,),
        local=(64,),
        a=f"zeros({elements * elements})",
        c=f"zeros({elements * turns})",
        t=f"local({elements})",
        n=elements,
        turns=turns,
    )
    facts = time_facts("nvidia-h200")
    assert facts is not None
    cycles = found.parts["latency"] * facts.clock_hz / (elements * (turns + 1))
    assert least <= cycles <= most


def test_loads_that_vectors_hide_count_for_the_loads_of_the_source() -> None:
    n = 1 << 22
    source = """kernel void k(global const float2 *a, global const float2 *b, global float2 *c) {
        int i = get_global_id(0); float2 x = a[i], y = b[i];
        c[i] = (float2)(x.x * y.x - x.y * y.y, x.x * y.y + x.y * y.x); }"""
    found = predicted(source, size=(n,), local=(256,), a=f"random({n})", b=f"random({n})", c=f"zeros({n})")
    assert found.demand.footprint.held == pytest.approx(3 * 8 * n)


BRANCHES = {
    "a branch": "if (x[i] > 0) y[i] = w[i];",
    "an early return": "if (x[i] <= 0) return; y[i] = w[i];",
    "a loop in a branch": "if (x[i] > 0) { y[i] = 0; for (int k = 0; k < 40; k++) y[i] += w[k*n+i]; }",
    "a loop after a return": "if (x[i] <= 0) return; for (int k = 0; k < n / 64; k++) y[k * n + i] = k;",
    "a branch in a loop": "float b = 0; for (int k = 0; k < 40; k++) if (x[k] > 0) b += w[k * 3]; y[i] = b;",
    "a switch": "switch (x[i]) { case 0: y[i] = 1; break; case 1: y[i] = w[i]; break; default: y[i] = 3; }",
    "a branch out of a loop": "for (int k = 0; k < 40; k++) { if (x[i] < 0) break; y[k * n + i] = w[k]; }",
    "both ways": "if (x[i] > 0) y[i] = w[i]; else y[i] = w[2 * i];",
}
"""Control flow on data, and what taking all of it comes to: with `x` of ones, all but `both ways` runs."""


def _kernel(body: str) -> str:
    return (
        "kernel void k(global const int *x, global const float *w, global float *y, int n) {"
        f"int i = get_global_id(0); {body} }}"
    )


@pytest.mark.parametrize("name", BRANCHES)
def test_branches_on_data_have_a_time_that_says_what_it_supposes(name: str) -> None:
    found = predicted(_kernel(BRANCHES[name]), size=(4096,), local=(64,), n=4096)
    assert any("every branch were taken that depends on data in `x`" in it for it in found.caveats)
    assert found.low <= found.seconds <= found.high
    assert found.high > found.low


@pytest.mark.parametrize("name", sorted(set(BRANCHES) - {"a switch", "both ways"}))
def test_supposing_that_branches_run_is_what_contents_that_take_them_give(name: str) -> None:
    """Two ways to one answer: nothing known of the contents, and contents with which every branch runs."""
    source = _kernel(BRANCHES[name])
    size = {"size": (4096,), "local": (64,), "n": 4096}
    supposed, known = predicted(source, **size), predicted(source, x="formula(262144,1)", **size)
    assert not known.caveats
    assert supposed.seconds == pytest.approx(known.seconds, rel=0.02)


def test_a_launch_where_nobody_takes_a_branch_is_not_below_the_range() -> None:
    for name in ("a branch", "an early return", "a loop in a branch", "a loop after a return"):
        source = _kernel(BRANCHES[name])
        size = {"size": (1 << 18,), "local": (64,), "n": 1 << 18}
        if name == "a loop after a return":
            source, size["n"] = source.replace("n / 64", "32"), 1 << 18
        supposed, none = predicted(source, **size), predicted(source, x="formula(262144,-1)", **size)
        assert supposed.low <= none.seconds * 1.02
        assert none.seconds < supposed.seconds


def test_turns_that_data_decide_widen_the_range_from_none_to_many() -> None:
    size = {"size": (1 << 18,), "local": (64,), "n": 1 << 18}
    turns = "int s = 0; for (int k = 0; k < {}; k++) s ^= s * k + (s >> 3); y[i] = s;"
    found = predicted(_kernel(turns.format("x[i]")), **size)
    assert any("16 iterations where their number depends on data in `x`" in it for it in found.caveats)
    sixteen = predicted(_kernel(turns.format("(n >> 14) + (x[i] & 0)")), **size)
    assert found.seconds == pytest.approx(sixteen.seconds, rel=0.25)
    assert found.low < predicted(_kernel("y[i] = x[i];"), **size).seconds
    assert found.high > predicted(_kernel(turns.format("(n >> 12)")), **size).seconds


def test_addresses_that_depend_on_data_widen_the_range_as_far_as_scattered_ones() -> None:
    gather = "y[i] = w[x[i]];"
    size = {"size": (1 << 20,), "local": (256,), "n": 1 << 20}
    found = predicted(_kernel(gather), **size)
    assert any("addresses that depend on data" in it for it in found.caveats)
    scattered = predicted(_kernel("y[i] = w[(i * 4099) & (n - 1)] + x[i];"), **size)
    assert found.low <= predicted(_kernel("y[i] = w[i] + x[i];"), **size).seconds <= found.high
    assert found.high >= 0.8 * scattered.seconds


def test_stores_to_members_of_one_structure_reach_memory_together():
    """NVIDIA H200: 254 us for one member of 32 bytes, 476 us for three; each alone would take 254 again."""

    def seconds(members: str) -> float:
        stores = " ".join(f"p[i].{it} = 1.0f;" for it in members)
        kernel = f"__kernel void k(__global body *p) {{ int i = get_global_id(0); {stores} }}"
        text = f"typedef struct {{ float x, y, z, m, u, v, w, e; }} body;\n{kernel}"
        return predicted(text, size=(1 << 24,), local=(256,)).seconds

    one, three = seconds("x"), seconds("xyz")
    assert 1.3 * one < three < 2.2 * one


def test_neighbouring_stores_of_a_request_are_combined_and_far_ones_are_not() -> None:
    """NVIDIA H200: the second of two floats of 16 bytes adds 1 us, each of four of 32 bytes 7 us."""

    def sectors(stride: int, members: int) -> float:
        stores = " ".join(f"o[i * {stride} + {it}] = 1.0f;" for it in range(members))
        text = f"__kernel void k(__global float *o) {{ int i = get_global_id(0); {stores} }}"
        return predicted(text, size=(1 << 20,), local=(256,)).demand.l2("store")[0]

    assert sectors(4, 4) < 1.1 * sectors(4, 1)
    assert sectors(8, 4) == pytest.approx(4 * sectors(8, 1))


CHUNKS = """__kernel void chunks(__global const float *a, __global float *out, const int n)
{
    const int start = get_global_id(0) * 64;
    float s = 0.0f;
    for (int i = start; i < start + 64 && i < n; i++)
        s += a[i];
    out[get_global_id(0)] = s;
}"""


def test_work_groups_that_are_followed_one_by_one_do_not_share_one_unit() -> None:
    """All 140 were taken to go through one first level, which then had nothing that comes again."""
    program = read_program(CHUNKS, "chunks.cl")
    (kernel,) = program.kernels
    facts = time_facts("nvidia-h200")
    assert facts is not None
    n = 140 * 128 * 64
    arguments = {
        "a": BufferArgument(Fill.RANDOM, n),
        "out": BufferArgument(Fill.ZEROS, 140 * 128),
        "n": ScalarArgument((n,)),
    }
    launch = Launch("chunks", (140 * 128,), (128,), arguments)
    demand = demand_of(kernel, launch, load_model("nvidia-h200"), program.constants, facts)
    assert not isinstance(demand, str)
    load = next(it for it in demand.accesses if it.op == "load")
    assert load.hits.sectors > 0.7


def asked_of(name: str) -> Demand:
    """Return what a launch of the fifth set asks an H100 for."""
    (case,) = (it for it in cases() if it.id.startswith(f"unseen_fifth/{name}"))
    facts = time_facts("nvidia-h100-sxm")
    assert facts is not None
    model = load_model("nvidia-h100-sxm")
    found = demand_of(case.kernel, case.launch, model, case.program.constants, facts)
    assert isinstance(found, Demand), found
    return found


def test_each_piece_of_a_vector_asks_for_what_the_vector_asks() -> None:
    """Rows of keys 16 KB apart, read by `vload4` in an unrolled loop: one load of sixteen had its lanes in 32
    lines, the others were taken for the query's. NVIDIA H100: 141 us, of which 30 were predicted."""
    loads = [it for it in asked_of("one_query").accesses if it.op == "load" and it.space == "global"]
    inside = [it for it in loads if it.requests == max(other.requests for other in loads)]
    assert len(inside) == 16
    assert all(it.line_cycles == 32 * it.requests for it in inside)


def test_footprint_has_accesses_that_are_too_much_to_be_counted() -> None:
    """Nine planes read and nine written, wrapped around the edges. NVIDIA H100: 57 us, predicted 35."""
    footprint = asked_of("lattice_stream 2048").footprint
    planes = 9 * 2048 * 1024 * 4
    assert footprint.read_bytes == pytest.approx(planes, rel=0.01)
    assert footprint.write_bytes == pytest.approx(planes, rel=0.01)


def test_lines_are_those_of_all_iterations_that_are_followed_one_by_one() -> None:
    """A search begins at one address for all lanes, and ends at one for each."""
    table = max(asked_of("join_probe 1048576").accesses, key=lambda it: it.requests)
    assert table.line_cycles > 2 * table.requests

"""Traces of the instrumented copy on a device equal the emulator's figures, as written."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path

import pytest

from clmap_lsp.analysis.session import AnalysisSession
from clmap_lsp.devices import load_model
from clmap_lsp.emulator.result import Engine
from clmap_lsp.emulator.run import emulate
from clmap_lsp.emulator.settings import EmulationSettings
from clmap_lsp.locality.definition import Definition, LocalAddresses
from clmap_lsp.opencl_device import DeviceMissingError
from clmap_lsp.opencl_device.instrument import InstrumentError, instrument
from clmap_lsp.opencl_device.on_device_job import DeviceJob, make_job
from clmap_lsp.opencl_device.on_device_run import execute, same_outputs
from clmap_lsp.opencl_device.session import Session
from clmap_lsp.source.options import BuildOptions
from clmap_lsp.source.read import read_program

FIXTURES = Path(__file__).parents[2] / "fixtures"
DEVICE = load_model("generic-gpu")


@pytest.fixture(scope="module")
def session() -> Session:
    try:
        return Session()
    except DeviceMissingError as error:
        pytest.skip(str(error))


def small(text: str) -> str:
    """Shrink the launches of fixtures that have loops of 256 turns for each of 65,536 work-items."""
    if "N=256 A=" not in text:
        return text
    return re.sub(r"\bN=256\b", "N=48", re.sub(r"global=256,256\b", "global=48,48", text)).replace(
        "global=256 local=64 N=48", "global=48 local=16 N=48"
    )


def launches(text: str, path: str = "case.cl"):  # type: ignore[no-untyped-def]
    program = read_program(text, path)
    return program, AnalysisSession().analyse(program, DEVICE).kernels


def traced(session: Session, text: str, name: str | None = None, **settings: object):  # type: ignore[no-untyped-def]
    """Return (job, what the device found, its outputs, the emulator's result) of each kernel."""
    program, kernels = launches(text)
    for it in kernels:
        if name not in (None, it.name):
            continue
        assert it.launch is not None, it.launch_problems
        job = make_job(program, it.kernel, it.launch, BuildOptions(), trace=True, time=False, **settings)
        # As it travels to the process that talks to the driver.
        job = DeviceJob.of_json(json.loads(json.dumps(job.as_json())))
        found, outputs = execute(job, session)
        wanted = EmulationSettings(
            engine=Engine.JIT,
            device=DEVICE,
            time_limit_s=60,
            definition=Definition(job.definition),
            local_addresses=LocalAddresses(job.local_addresses),
        )
        yield job, found, outputs, emulate(program, it.kernel, it.launch, wanted)


def assert_equal(found, result) -> None:  # type: ignore[no-untyped-def]
    assert found["trace"] is not None, found["trace_problem"]
    measured = found["trace"]["metrics"]
    expected = dataclasses.asdict(result.metrics)
    assert not result.faults
    for name in ("accesses", "loads", "stores", "footprint", "footprint_90"):
        assert measured[name] == expected[name], name
    for name in ("gmae", "relative_local"):
        assert measured[name] == pytest.approx(expected[name], abs=1e-9), name
    assert measured["psl"] == pytest.approx(list(expected["psl"]), abs=1e-9)
    assert measured["lmae"] == pytest.approx(list(expected["lmae"]), abs=1e-9)
    executions = {
        str(2 * it.site + it.op.endswith("store")): it.executions
        for it in result.sites
        if not it.op.startswith("async")
    }
    assert found["trace"]["executions"] == executions
    assert found["trace"]["unresolved"] == 0
    assert found["trace"]["method"] == "full"


@pytest.mark.pocl
@pytest.mark.parametrize(
    "path", sorted(FIXTURES.glob("*/*.cl")), ids=lambda it: f"{it.parent.name}/{it.stem}"
)
def test_every_fixture_is_traced_as_the_emulator_traces_it(session: Session, path: Path) -> None:
    cases = list(traced(session, small(path.read_text(encoding="utf-8"))))
    assert cases
    for job, found, outputs, result in cases:
        assert_equal(found, result)
        expected = {name: it.data for name, it in result.buffers.items()}
        compared = same_outputs(outputs, expected, {it.name: it.scalar for it in job.arguments})
        assert set(compared) == set(expected)
        assert all(it["equal"] for it in compared.values()), compared


CONTROL = """
// clmap: global=64 local=16 n=50 in=random(200,3) out=zeros(64) pairs=zeros(64)
typedef struct { float a; int b; } pair;
float pick(__global const int *in, int i, int n) {
    if (i >= n) return -1.0f;
    for (int k = 0; ; k++) {
        if (k > 3) break;
        if (in[i + k] & 1) continue;
        return (float)in[i + k];
    }
    return 0.0f;
}
__constant int table[4] = {3, 1, 4, 1};
__kernel void control(__global const int *in, __global float *out, __global pair *pairs, const int n) {
    __local int seen[16];
    const int id = get_global_id(0);
    int total = 0, turns = 0;
    seen[get_local_id(0)] = id < n ? in[id] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    do { total += seen[turns++ & 15] % 7; } while (turns < (id & 7) + 1);
    switch (id & 3) {
        case 0: total += table[0];
        case 1: total -= table[id & 1]; break;
        case 2: total ^= in[id];
        default: total = ~total;
    }
    int4 wide = vload4(0, in + id);
    wide.yz += (int2)(total, 1);
    pairs[id].b = wide.s1;
    pairs[id].a = pick(in, id, n);
    pair copy = pairs[id];
    if (id >= n) return;
    out[id] = copy.a + (float)(wide.x >> 3) * 0.5f;
    out[id] += convert_float_rtz(copy.b);
}
"""

ATOMICS = """
// clmap: global=128 local=32 data=random(128) bins=zeros(8) room=local(32)
__kernel void count(__global const uint *data, __global volatile int *bins, __local uint *room) {
    const int lane = get_local_id(0);
    room[lane] = data[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int step = 16; step > 0; step >>= 1) {
        if (lane < step) room[lane] ^= room[lane + step];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    atomic_add(&bins[data[get_global_id(0)] & 7], 2);
    atomic_inc(&bins[lane & 7]);
    if (lane == 0) atomic_max(&bins[0], (int)(room[0] & 1));
}
"""


@pytest.mark.pocl
@pytest.mark.parametrize("definition", ["paper", "aiwc"])
@pytest.mark.parametrize("text", [CONTROL, ATOMICS], ids=["control", "atomics"])
def test_control_flow_structs_vectors_and_atomics(session: Session, text: str, definition: str) -> None:
    ((job, found, outputs, result),) = traced(session, text, definition=definition)
    assert_equal(found, result)
    compared = same_outputs(
        outputs,
        {name: it.data for name, it in result.buffers.items()},
        {it.name: it.scalar for it in job.arguments},
    )
    assert all(it["equal"] for it in compared.values()), compared


@pytest.mark.pocl
@pytest.mark.parametrize("view", ["shared", "alias", "distinct"])
def test_local_memory_lies_where_the_emulator_puts_it(session: Session, view: str) -> None:
    text = (FIXTURES / "transpose" / "tiled.cl").read_text(encoding="utf-8").replace("256", "64")
    ((_, found, _, result),) = traced(session, text, local_addresses=view)
    assert_equal(found, result)


@pytest.mark.pocl
def test_large_traces_are_taken_in_windows_and_sampled_beyond_the_limit(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (FIXTURES / "strides" / "splits.cl").read_text(encoding="utf-8")
    monkeypatch.setattr("clmap_lsp.opencl_device.on_device_run.WINDOW_BYTES", 16 * 10_000)
    ((_, found, _, result),) = traced(session, text, "split_simd")
    assert_equal(found, result)
    ((_, part, _, _),) = traced(session, text, "split_simd", max_events=20_000)
    assert part["trace"]["method"] == "sampled"
    assert part["trace"]["events"] == 4096 * 17
    assert 0 < part["trace"]["groups"] < part["trace"]["all_groups"] == 16
    # The groups of this kernel are alike.
    assert part["trace"]["metrics"]["psl"] == pytest.approx(list(result.metrics.psl), abs=1e-9)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("out[0] = helper(out[1]);", "helper"),
        ("float whole; out[0] = fract(out[1], &whole);", "fract"),
    ],
)
def test_what_cannot_be_followed_is_said(body: str, reason: str) -> None:
    program = read_program(f"__kernel void f(__global float *out) {{ {body} }}", "f.cl")
    (kernel,) = program.kernels
    with pytest.raises(InstrumentError, match=reason):
        instrument(program, kernel)


def test_every_access_of_the_source_has_its_note() -> None:
    program = read_program(CONTROL, "control.cl")
    (kernel,) = program.kernels
    copy = instrument(program, kernel)
    assert (
        len(copy.sites) == copy.source.count("CLMAP_NOTE(") - copy.source.count("CLMAP_NOTE(4294967295u") - 1
    )
    assert {it.space for it in copy.sites} == {"global", "local", "constant"}
    assert [it.name for it in copy.buffers] == ["in", "out", "pairs", "table", "seen"]


BOXES = """
// clmap: global=64 local=32 data=random(400) out=zeros(128)
__kernel void boxes(__global const int *data, __global int *out) {
    __local int tile[64];
    const int lane = get_local_id(0), start = 64 * get_group_id(0);
    tile[lane] = tile[lane + 32] = lane;
    barrier(CLK_LOCAL_MEM_FENCE);
    event_t e = async_work_group_copy_3D3D(tile, 1, data, start, sizeof(int), 3, 4, 2, 20, 100, 8, 32, 0);
    e = async_work_group_copy_2D2D(tile, 4, data, 7, sizeof(int), 2, 3, 20, 8, e);
    wait_group_events(1, &e);
    out[start + lane] = tile[lane];
    out[start + lane + 32] = tile[lane + 32];
}
"""


@pytest.mark.pocl
def test_copies_of_boxes_need_no_extension_of_the_device(session: Session) -> None:
    program = read_program(BOXES, "boxes.cl")
    copy = instrument(program, program.kernels[0])
    session.build(copy.source)
    assert {it.space for it in copy.sites} == {"global", "local"}

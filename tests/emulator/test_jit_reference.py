"""The JIT engine against Oclgrind's traces and outputs and AIWC's figures, kernel by kernel."""

import hashlib
from collections import Counter

import numpy as np
import pytest
from aiwc_kernels import by_model, entries, launch_of, program_of, view

from clmap_lsp.emulator import jit
from clmap_lsp.emulator.layout import KIND_CONSTANT, KIND_GLOBAL, KIND_LOCAL, TRACE_ID_SHIFT
from clmap_lsp.emulator.recorder import Recorder
from clmap_lsp.emulator.result import Engine
from clmap_lsp.emulator.run import emulate
from clmap_lsp.emulator.settings import EmulationSettings
from clmap_lsp.locality.definition import Definition, LocalAddresses

ALL = [pytest.param(it, id=it["name"]) for it in entries()]
SMALL = [it for it in ALL if "@" not in it.id]
EXACT = 2e-9


def settings(**changes):
    return EmulationSettings(engine=Engine.JIT, **changes)


@pytest.mark.parametrize("model", list(LocalAddresses))
@pytest.mark.parametrize("entry", ALL)
def test_metrics_of_the_code_as_written(entry, model):
    expected = view(entry)["definition"]
    addresses = by_model(expected, model.value)
    result = emulate(*program_of(entry), launch_of(entry), settings(local_addresses=model))
    metrics = result.metrics
    assert metrics.accesses == expected["accesses"]
    assert metrics.footprint == addresses["footprint"]
    assert metrics.footprint_90 == addresses["footprint90"]
    assert metrics.gmae == pytest.approx(addresses["gmae"], abs=EXACT)
    assert metrics.lmae == pytest.approx(addresses["lmae"], abs=EXACT)
    assert metrics.relative_local == pytest.approx(expected["relative_local_with_atomics"], abs=EXACT)
    assert result.parallelism.timesteps == expected["psl_timestamps"]["bar"]
    if model.value in expected["psl"]:
        assert metrics.psl == pytest.approx(by_model(expected["psl"], model.value)["bar"], abs=EXACT)
    assert not result.faults


@pytest.mark.parametrize("entry", ALL)
def test_psl_as_aiwc_codes_it(entry):
    result = emulate(
        *program_of(entry),
        launch_of(entry),
        settings(local_addresses=LocalAddresses.ALIAS, definition=Definition.AIWC),
    )
    expected = view(entry)["definition"]["psl_as_coded_aiwc_1thread"]
    assert result.metrics.psl == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize("entry", ALL)
def test_accesses_by_source_line(entry):
    result = emulate(*program_of(entry), launch_of(entry), settings())
    expected = Counter()
    for row, _, _, space, count in view(entry)["definition"]["sites"]:
        expected[row, space] += count
    found = Counter()
    for site in result.sites:
        if not site.op.startswith("async"):
            found[result_row(entry, site), site.space] += site.executions
    assert +found == expected


def result_row(entry, site):
    return entry["source"].count("\n", 0, site.span.start) + 1


@pytest.mark.parametrize("entry", ALL)
def test_outputs_bit_for_bit(entry):
    result = emulate(*program_of(entry), launch_of(entry), settings(trace=False))
    for name, expected in view(entry)["outputs"].items():
        assert result.buffers[name].sha256 == expected["sha256"], name


@pytest.mark.parametrize("entry", [it for it in ALL if "outputs_fp_contract_off" in it.values[0]])
def test_outputs_without_contraction(entry):
    result = emulate(*program_of(entry), launch_of(entry), settings(trace=False, contract=False))
    for name, expected in entry["outputs_fp_contract_off"].items():
        assert result.buffers[name].sha256 == expected["sha256"], name


TRACE_RECORD = np.dtype(
    [("item", "<u4"), ("op", "u1"), ("space", "u1"), ("buf", "<u2"), ("off", "<u4"), ("size", "<u4")]
)
SPACES = {KIND_GLOBAL: 1, KIND_CONSTANT: 2, KIND_LOCAL: 3}
OPS = {"load": 0, "store": 1, "atomic-load": 2, "atomic-store": 3}


@pytest.mark.parametrize("entry", SMALL)
def test_every_access_in_order(entry):
    recorder = Recorder()
    program, kernel = program_of(entry)
    run = jit.run(program, kernel, launch_of(entry), settings(), recorder)
    assert trace_hash(run, recorder, entry) == view(entry)["definition"]["trace_sha256"]


def trace_hash(run, recorder, entry):
    """Hash as the reference does: local buffers are numbered by their first access in item-major order."""
    rows = recorder.accesses()
    infos = {it.trace_site: it for it in run.sites}
    buffers = {it.trace >> TRACE_ID_SHIFT: it for it in run.space.buffers if it.trace >= 0}
    position = {it["name"]: index for index, it in enumerate(entry["args"])}
    trace_ids = rows[:, 1] >> TRACE_ID_SHIFT
    _, first = np.unique(trace_ids, return_index=True)
    local_rank, numbers = 0, {}
    for trace_id in trace_ids[np.sort(first)].tolist():
        buffer = buffers[trace_id]
        if buffer.plan.kind == KIND_LOCAL:
            numbers[trace_id] = local_rank
            local_rank += 1
        else:
            numbers[trace_id] = position[buffer.name]
    table = np.zeros(len(rows), TRACE_RECORD)
    table["item"] = rows[:, 0]
    table["op"] = [OPS[infos[it].op] for it in rows[:, 2].tolist()]
    table["size"] = [infos[it].size for it in rows[:, 2].tolist()]
    table["space"] = [SPACES[buffers[it].plan.kind] for it in trace_ids.tolist()]
    table["buf"] = [numbers[it] for it in trace_ids.tolist()]
    table["off"] = rows[:, 1] & ((1 << TRACE_ID_SHIFT) - 1)
    return hashlib.sha256(table.tobytes()).hexdigest()


def each_race_once(reports):
    told = {}
    for it in reports:
        known = told.setdefault((it["kind"], *sorted(it["lines"])), {**it, "messages": 0})
        known["messages"] += it["messages"]
    return told.values()


KINDS = {"oob_read": "out-of-bounds-read", "oob_write": "out-of-bounds-write", "race_rw": "data-race"}


@pytest.mark.parametrize("entry", [pytest.param(it, id=it["name"]) for it in entries("faults")])
def test_faults_by_kind_line_and_work_item(entry):
    """Oclgrind names the use of an uninitialised value, here the read itself is named: lines are as read.

    It tells a race from each side that met it; here that is one report.
    """
    program, kernel = program_of(entry)
    result = emulate(program, kernel, launch_of(entry), settings())
    found = {(it.kind.value, program.position(it.span).row): it for it in result.faults}
    for report in each_race_once(entry["reports"]):
        if report["kind"] in KINDS:
            fault = found[KINDS[report["kind"]], report["lines"][0]]
            assert fault.occurrences == report["messages"]
            assert list(fault.work_item) == report["gids"][0]
            assert fault.space == report["space"]
        if report["kind"] == "uninit_branch":
            fault = found["uninitialised-read", report["lines"][0]]
            assert fault.occurrences == report["messages"]
            assert list(fault.work_item) == report["gids"][0]

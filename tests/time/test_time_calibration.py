"""`calibrate --time`: from raw times of a device to predictions for it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.time_cases import cases
from clmap_lsp import cli
from clmap_lsp.devices import load_model
from clmap_lsp.time.calibration import cpu_facts_of, facts_of
from clmap_lsp.time.facts import FOLDER_VARIABLE, keep, read_facts, time_facts
from clmap_lsp.time.model import predict
from clmap_lsp.time.predict import demand_of

RESULTS = Path(__file__).parents[2] / "benchmarks/results"
POCL = RESULTS / "time_pocl.json"


def raw(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return document


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    time_facts.cache_clear()
    yield tmp_path
    time_facts.cache_clear()


def test_a_cpu_orders_the_fixtures_as_they_were_measured() -> None:
    document = raw(POCL)
    facts = read_facts(cpu_facts_of(document, "cpu", "x"))
    measured = {row["id"]: min(row["runs"]) for row in document["cases"]}
    pairs = []
    for case in cases():
        if case.id in measured:
            found = demand_of(case.kernel, case.launch, load_model("cpu"), case.program.constants, facts)
            assert not isinstance(found, str), found
            pairs.append((predict(found, facts).seconds, measured[case.id]))
    assert len(pairs) >= 40
    ranks = [np.argsort(np.argsort([it[side] for it in pairs])) for side in (0, 1)]
    assert np.corrcoef(*ranks)[0, 1] >= 0.9


def test_what_a_user_measured_is_used_and_goes_before_what_ships(own: Path) -> None:
    assert time_facts("cpu") is None
    path = keep(cpu_facts_of(raw(POCL), "cpu", "my CPU"))
    assert path.parent == own
    found = time_facts("cpu")
    assert found is not None and found.name == "my CPU" and found.basis == "calibrated"
    shipped = time_facts("nvidia-h200")
    keep(facts_of(raw(RESULTS / "time_h100.json"), "nvidia-h200", "mine"))
    mine = time_facts("nvidia-h200")
    assert shipped is not None and mine is not None and mine.dram_bytes_s < shipped.dram_bytes_s


def test_damaged_figures_count_as_none(own: Path) -> None:
    (own / "cpu.json").write_text('{"id": "cpu"', encoding="utf-8")
    assert time_facts("cpu") is None
    (own / "nvidia-h200.json").write_text('{"id": "nvidia-h200", "facts": {}}', encoding="utf-8")
    found = time_facts("nvidia-h200")
    assert found is not None and found.basis == "calibrated"  # Those that ship.


def test_analyze_tells_times_of_the_calibrated_cpu(own: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(Path(__file__).parents[2] / "fixtures/matmul/simple.cl")
    arguments = ["analyze", path, "--kernel", "mm_simple", "--device", "cpu", "--format", "json"]
    cli.main(arguments)
    before = json.loads(capsys.readouterr().out)["files"][0]["kernels"][0]
    assert before["time"] is None and "calibrate --time" in before["time_reason"]
    keep(cpu_facts_of(raw(POCL), "cpu", "my CPU"))
    cli.main(arguments)
    time = json.loads(capsys.readouterr().out)["files"][0]["kernels"][0]["time"]
    assert 0.003 < time["seconds"] < 1.0 and time["high"] > 3 * time["seconds"]


def test_a_generation_takes_its_limits_from_the_device_model() -> None:
    limits = {"max_warps": (48.0, "device model x")}
    facts = facts_of(raw(RESULTS / "time_h200.json"), "x", "x", limits)["facts"]
    assert facts["max_warps"] == {"value": 48.0, "source": "device model x"}


@pytest.mark.pocl
def test_calibrate_time_measures_and_keeps(
    own: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("clmap_lsp.commands.calibrating_times.LIMIT_S", 0.0)
    assert cli.main(["calibrate", "--time", "--platform", "PoCL"]) == 2
    assert "could not be worked out" in capsys.readouterr().err
    assert not list(own.iterdir())
    assert cli.main(["calibrate", "--time", "--platform", "no such device"]) == 2

"""What is said about the arrays of a kernel as written."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from clmap_lsp.analysis.session import AnalysisSession
from clmap_lsp.aristotle.database import Database
from clmap_lsp.aristotle.shipped import open_shipped_database
from clmap_lsp.aristotle.staging import StagingPlan, staging_plan
from clmap_lsp.devices import load_model
from clmap_lsp.source.read import read_program

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def database() -> Iterator[Database]:
    with open_shipped_database() as shipped:
        yield shipped


def plan_of(database: Database, text: str, kernel: str, device: str) -> StagingPlan:
    model = load_model(device)
    analysed = AnalysisSession().analyse(read_program(text, "kernel.cl"), model).kernel(kernel)
    assert analysed is not None
    return staging_plan(database, analysed, model)


def test_the_matrix_multiply_stages_a_first_on_a_gpu(database: Database) -> None:
    text = (ROOT / "fixtures/matmul/simple.cl").read_text()
    plan = plan_of(database, text, "mm_simple", "nvidia-hopper")
    assert [(it.name, it.advice.map.number) for it in plan.arrays] == [("A", 204), ("B", 303)]
    first, second = plan.arrays
    assert first.decision is not None and first.decision.stage and first.decision.recommended
    assert second.decision is not None and second.decision.weight < first.decision.weight
    assert plan.local_limit == 49152
    assert first.local_bytes == 16 * 16 * 4
    assert first.as_json()["record"]["platform"] == "H200"
    assert "staging `A`: MAP-204 on H200: gain, " in first.describe()


def test_the_same_array_loses_on_a_cpu(database: Database) -> None:
    text = (ROOT / "fixtures/matmul/simple.cl").read_text()
    plan = plan_of(database, text, "mm_simple", "cpu")
    stage = {it.name: it.decision is not None and it.decision.stage for it in plan.arrays}
    assert stage == {"A": False, "B": True}


def test_a_device_without_records_gets_a_prediction_with_its_accuracy(database: Database) -> None:
    text = (ROOT / "fixtures/matmul/simple.cl").read_text()
    plan = plan_of(database, text, "mm_simple", "generic-gpu")
    assert plan.arrays
    for it in plan.arrays:
        assert it.decision is None
        assert "predicted, not measured: right for " in it.describe()
        assert it.as_json()["record"] is None


def test_an_array_without_a_map_says_why(database: Database) -> None:
    text = """// clmap: global=64,64 local=16,16 N=64 a=zeros(8192) out=zeros(4096)
__kernel void strided(__global const float *a, __global float *out, int N) {
  int x = get_global_id(0), y = get_global_id(1);
  out[y * N + x] = a[y * 2 * N + 2 * x];
}
"""
    plan = plan_of(database, text, "strided", "nvidia-hopper")
    assert plan.arrays == ()
    ((name, why),) = plan.left_out
    assert name == "a"
    assert why

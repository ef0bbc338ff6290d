"""The search for the best version: what it finds, in what order it judges, and what a device changes."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
import running
from fixing import SETTINGS, subject_of

from clmap_lsp.devices import load_model
from clmap_lsp.fixes import gain, measured
from clmap_lsp.fixes import optimise as search
from clmap_lsp.fixes.limits import in_the_way
from clmap_lsp.fixes.measured import key_of, measure
from clmap_lsp.fixes.optimise import WORTH_ALL, Found, Watcher, optimise
from clmap_lsp.opencl_device.versions import Timed
from clmap_lsp.report import optimised

H200 = load_model("nvidia-h200")
ROW = """\
// clmap: global=2048 local=64 N=2048 A=random(N*N) B=random(N*N,1) C=zeros(N*N)
__kernel void rows(__global const float *A, __global const float *B, __global float *C, const int N)
{
    int j, k;
    int i = get_global_id(0);
    float sum;
    if (i < N) {
        for (j = 0; j < N; j++) {
            sum = 0.0f;
            for (k = 0; k < N; k++)
                sum += A[i * N + k] * B[k * N + j];
            C[i * N + j] = sum;
        }
    }
}
"""
STREAM = """\
// clmap: global=65536 local=256 n=65536 x=random(n) y=random(n,1)
__kernel void add(__global const float *restrict x, __global float *restrict y, const int n)
{
    const int i = get_global_id(0);
    if (i < n)
        y[i] += x[i];
}
"""
IN_MEMORY = """\
// clmap: global=512,512 local=32,8 n=512 a=random(n*n) c=random(n*n,1)
__kernel void with_itself(__global const float *restrict a, __global float *restrict c, const int n)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x < n && y < n)
        for (int k = 0; k < n; k++)
            c[y * n + x] += a[y * n + k] * a[x * n + k];
}
"""


@pytest.fixture(scope="module")
def watched() -> tuple[Found, list[Found], list[float]]:
    """The search for a matrix multiply by rows, and what whoever watches hears: bests and shares."""
    told: list[Found] = []
    shares: list[float] = []
    watcher = Watcher(lambda _text, share: shares.append(share), told.append)
    return optimise(subject_of(ROW, device=H200), SETTINGS, budget_s=120, watcher=watcher), told, shares


@pytest.fixture(scope="module")
def rows(watched: tuple[Found, list[Found], list[float]]) -> Found:
    return watched[0]


def test_rewrites_are_found_one_after_the_other(rows: Found):
    kinds = [it.proof.proposal.kind for it in rows.steps if it.proof is not None]
    assert kinds[:2] == ["spread-loop", "register-tile"]
    seconds = [it.figures.seconds or 0.0 for it in rows.steps]
    assert seconds == sorted(seconds, reverse=True)
    assert seconds[0] > 20 * seconds[-1]
    assert all(gain.ratio(it[-1].figures, rows.steps[-1].figures) >= 1 for it in rows.others)


def test_a_sum_put_in_a_register_is_followed_though_others_gain_more(monkeypatch: pytest.MonkeyPatch):
    """Tiles ask for it, and alone it gains little: a narrow beam still goes that way."""
    monkeypatch.setattr(search, "BEAM", 1)
    monkeypatch.setattr(search, "ROUNDS", 2)
    found = optimise(subject_of(IN_MEMORY, device=H200), SETTINGS, budget_s=120)
    kinds = [it.proof.proposal.kind for it in found.steps if it.proof is not None]
    assert kinds == ["hoist-access", "register-tile"]


def test_what_gains_less_than_the_model_errs_is_no_answer():
    found = optimise(subject_of(STREAM, device=H200), SETTINGS, budget_s=60)
    best = gain.ratio(found.steps[0].figures, found.steps[-1].figures)
    assert len(found.steps) == 1 or best >= WORTH_ALL


def test_a_search_without_time_gives_what_it_has():
    found = optimise(subject_of(ROW, device=H200), SETTINGS, budget_s=1e-9)
    assert not found.complete
    assert len(found.steps) >= 1


def test_what_stays_in_the_way_is_said(rows: Found):
    time = rows.steps[0].figures.time
    assert time is not None
    assert in_the_way(time).startswith("bound by ")
    assert "; the next step needs " in in_the_way(time)
    peak = replace(time, bound="fp32", parts={"fp32": 0.62 * time.seconds})
    assert in_the_way(peak).startswith("bound by single-precision arithmetic (62 % of its peak); ")
    subject = subject_of(ROW, device=H200)
    text = optimised.as_text(subject, rows)
    assert "predicted, bound by" in text and "the next step needs" in text
    document = json.loads(optimised.as_json(subject, rows))
    assert document["steps"][0]["predicted"]["seconds"] == time.seconds
    assert document["best"] == len(rows.steps) - 1


def test_what_a_device_measures_decides_and_is_kept(rows: Found, tmp_path, monkeypatch: pytest.MonkeyPatch):
    """The second best is fastest there and the best gives other outputs; what was measured stays known."""
    assert rows.others
    second = key_of(rows.others[0][-1])
    asked: list[int] = []

    def timed(jobs, platform, **_):
        asked.append(len(jobs))
        answers = []
        for job in jobs:
            mine = job.source.endswith(second[0]) and job.global_size == second[1]
            wrong = job.source.endswith(rows.steps[-1].text) and job.global_size == key_of(rows.steps[-1])[1]
            answers.append(Timed(None, "its outputs differ") if wrong else Timed(1e-3 if mine else 2e-3))
        return {"name": "a device"}, tuple(answers)

    class Facts:
        name, driver, platform = "a device", "1", "a platform"

        def as_json(self):
            return {"name": self.name}

    monkeypatch.setattr(measured, "time_versions", timed)
    monkeypatch.setattr("clmap_lsp.opencl_device.find.choose_device", lambda _: (None, Facts()))
    subject = subject_of(ROW, device=H200)
    found, first = measure(subject, rows, None, folder=tmp_path)
    assert key_of(found.steps[-1]) == second
    assert first.of(found.steps[-1]) == 1e-3
    assert "differ" in first.problem(rows.steps[-1])
    again, _ = measure(subject, rows, None, folder=tmp_path)
    assert key_of(again.steps[-1]) == second
    assert asked[1] == 2  # The original, and what had no time.
    assert "2.0x faster as measured" in optimised.as_text(subject, found, first)


@pytest.mark.skipif(running.context() is None, reason="no PoCL")
def test_versions_are_timed_on_a_device(tmp_path):
    subject = subject_of(STREAM, device=H200)
    found = optimise(subject, SETTINGS, budget_s=1e-9)
    _, times = measure(subject, found, "Portable", folder=tmp_path)
    taken = times.of(found.steps[0])
    assert taken is not None and 0 < taken < 10
    assert list(tmp_path.iterdir())


def test_a_search_goes_on_from_what_an_earlier_one_learnt(monkeypatch: pytest.MonkeyPatch):
    """What it answers it has tested itself; what it would cost it need not find again."""
    subject, notes = subject_of(STREAM, device=H200), {}
    first = optimise(subject, SETTINGS, budget_s=60, notes=notes)
    assert len(notes) == first.n_versions - 1
    asked: list[object] = []
    monkeypatch.setattr(search, "figures_of", lambda *given: asked.append(given))
    again = optimise(subject, SETTINGS, budget_s=60, notes=notes)
    assert [it.text for it in again.steps] == [it.text for it in first.steps]
    assert not asked


def test_whoever_watches_hears_what_is_best_so_far(watched: tuple[Found, list[Found], list[float]]):
    found, told, shares = watched
    assert [it.text for it in told[-1].steps] == [it.text for it in found.steps]
    assert not told[-1].complete and found.complete
    best = [it.steps[-1].figures.seconds or 0.0 for it in told]
    assert best == sorted(best, reverse=True)
    assert shares == sorted(shares) and shares[-1] <= 1.0

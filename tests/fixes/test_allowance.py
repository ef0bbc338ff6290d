"""All tries for a kernel's rewrites draw on one allowance of work, and what is left untried is named."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from fixing import SETTINGS, subject_of

from clmap_lsp.emulator.run import emulate
from clmap_lsp.fixes import defined
from clmap_lsp.fixes.allowance import Allowance, SpentError
from clmap_lsp.fixes.offer import UNTRIED, offers, survey
from clmap_lsp.fixes.verification import baseline

TAGGED = """\
// clmap: global=256 local=64 n=256
__kernel void tagged(__global uint *counts, __global const uint *keys, const int n)
{
    __local volatile uint held[128];
    const int l = get_local_id(0);
    held[l] = 0;
    held[l + 64] = 0;
    for (int i = get_global_id(0); i < n; i += get_global_size(0)) {
        uint mine;
        const uint key = keys[i] % 128;
        do {
            mine = (held[key] & 0xffffff) + 1 | l << 24;
            held[key] = mine;
        } while (held[key] != mine);
    }
    counts[get_group_id(0) * 128 + l] = held[l];
    counts[get_group_id(0) * 128 + l + 64] = held[l + 64];
}
"""
"""Who wrote last is seen by a tag: a barrier might cure the race in many places, and does in none."""
LONG = """\
// clmap: global=64 local=64 n=100000
__kernel void sums(__global float *out, const int n)
{
    float sum = 0.0f;
    for (int i = 0; i < n; i++)
        sum += i * 0.5f;
    out[get_global_id(0)] = sum;
}
"""
COLUMN = """\
// clmap: global=64,64 local=16,16 n=64
__kernel void column(__global float *out, __global const float *in, const int n)
{
    const int x = get_global_id(0), y = get_global_id(1);
    out[x * n + y] = in[x * n + y] * 2.0f;
}
"""


def test_what_is_left_when_the_allowance_is_spent_is_named_and_not_tried():
    subject = replace(subject_of(TAGGED), allowance=Allowance(50_000_000))
    found = survey(subject, SETTINGS)
    left = [it for it in found.declined if it.why.endswith(UNTRIED)]
    assert len(left) == len(subject.allowance.untried) > 0
    assert subject.allowance.left <= 0


def test_a_plain_kernel_has_all_its_rewrites_tried():
    found = survey(subject_of(COLUMN), SETTINGS)
    assert found.offers
    assert not [it for it in found.declined if it.why.endswith(UNTRIED)]


def test_two_runs_leave_the_same(monkeypatch: pytest.MonkeyPatch):
    def left() -> tuple[list[str], float]:
        subject = replace(subject_of(TAGGED), allowance=Allowance(80_000_000))
        list(offers(subject, SETTINGS))
        return subject.allowance.untried, subject.allowance.left

    first = left()
    monkeypatch.setattr("clmap_lsp.emulator.jit._upgrade", lambda *_: True)  # As on a slower machine.
    assert first[0]
    assert left() == first


@pytest.mark.parametrize("units", [3e6, 1e7, 3e7, 1e8, 3e8])
def test_tries_together_take_what_they_may_and_one_run_more(units: float, monkeypatch: pytest.MonkeyPatch):
    executed: list[float] = []

    def counting(*given: object):
        result = emulate(*given)  # type: ignore[arg-type]
        executed.append(result.work)
        return result

    monkeypatch.setattr("clmap_lsp.emulator.run.emulate", counting)
    subject = replace(baseline(subject_of(TAGGED), SETTINGS), allowance=Allowance(units))
    list(offers(subject, SETTINGS))
    assert sum(executed) <= 1.2 * units


def test_a_rewrite_is_never_verified_on_part_of_its_launches():
    whole = {proof.proposal.title: proof.tested_on for proof, _ in offers(subject_of(COLUMN), SETTINGS)}
    assert whole
    for units in (3e6, 3e7, 1e8, 1e9):
        subject = replace(subject_of(COLUMN), allowance=Allowance(units))
        for proof, _ in offers(subject, SETTINGS):
            assert proof.tested_on == whole[proof.proposal.title]


def test_a_run_that_the_allowance_cuts_short_tells_nothing():
    subject = subject_of(LONG)
    purse = Allowance(2_000_000_000)
    kernel = subject.analysis.kernel
    whole = purse.run(subject.program, kernel, subject.launch, SETTINGS)
    assert whole.is_whole
    assert purse.left < 2_000_000_000 - whole.work
    purse.left = whole.work / 2
    with pytest.raises(SpentError):
        purse.run(subject.program, kernel, subject.launch, SETTINGS)
    with pytest.raises(SpentError):
        purse.run(subject.program, kernel, subject.launch, SETTINGS)


def test_the_search_for_a_launch_ends_with_the_allowance(monkeypatch: pytest.MonkeyPatch):
    subject = baseline(subject_of(TAGGED.partition("\n")[2]), SETTINGS)
    ran: list[object] = []
    monkeypatch.setattr("clmap_lsp.emulator.run.emulate", lambda *it: ran.append(it) or emulate(*it))
    defined.on_better_launch(replace(subject, allowance=Allowance(math.inf)), SETTINGS)
    many = len(ran)
    ran.clear()
    defined.on_better_launch(replace(subject, allowance=Allowance(20_000_000)), SETTINGS)
    assert 0 < len(ran) < many


def test_a_longer_time_limit_gives_more():
    assert Allowance.of(replace(SETTINGS, time_limit_s=20.0)).left == 2 * Allowance.of(SETTINGS).left


ROWS = """\
// clmap: global=65536 local=64 N=256
__kernel void rows(__global const float *a, __global float *sums, const int N)
{
    int x = get_global_id(0);
    float sum = 0.0f;
    for (int k = 0; k < N; k++)
        sum += a[x * N + k];
    sums[x] = sum;
}
"""


def test_what_takes_most_is_tried_last():
    """A row shared among a group is many times the work-items; vectors of the row are none more."""
    outcomes = [proof.proposal.kind for proof, _ in offers(subject_of(ROWS), SETTINGS)]
    assert "vectorise" in outcomes
    larger = outcomes.index("row-to-group") if "row-to-group" in outcomes else len(outcomes)
    assert outcomes.index("vectorise") < larger

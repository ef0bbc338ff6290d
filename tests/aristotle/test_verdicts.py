"""Table 5, verdicts, composing rules, predictor and advice, from the shipped records."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clmap_lsp.aristotle.advice import advise
from clmap_lsp.aristotle.banks import conflict_degree, padded_pitch, use_degree
from clmap_lsp.aristotle.compose import Candidate, compose, composing_accuracy
from clmap_lsp.aristotle.database import Database
from clmap_lsp.aristotle.maps import Map, all_maps
from clmap_lsp.aristotle.nearest import choose, find_platforms
from clmap_lsp.aristotle.predict import leave_one_out
from clmap_lsp.aristotle.shipped import open_shipped_database
from clmap_lsp.aristotle.verdict import (
    PAPER_PLATFORMS,
    Verdict,
    plain_records,
    table5,
    verdict_of,
)


@pytest.fixture(scope="module")
def database() -> Iterator[Database]:
    with open_shipped_database() as shipped:
        yield shipped


def platform(database: Database, key: str):  # type: ignore[no-untyped-def]
    return next(it for it in database.platforms() if it.key == key)


@pytest.mark.parametrize(
    ("mbr", "plain", "truncated"),
    [
        (1.0599, Verdict.GAIN, Verdict.SIMILAR),
        (1.06, Verdict.GAIN, Verdict.GAIN),
        (1.05, Verdict.SIMILAR, Verdict.SIMILAR),
        (0.95, Verdict.SIMILAR, Verdict.SIMILAR),
        (0.9499, Verdict.LOSS, Verdict.LOSS),
    ],
)
def test_the_borders_of_similar(mbr: float, plain: Verdict, truncated: Verdict) -> None:
    assert verdict_of(mbr) is plain
    assert verdict_of(mbr, truncated=True) is truncated


def test_table_5_is_as_printed_with_truncation_and_in_32_cells_without(database: Database) -> None:
    platforms = [platform(database, it) for it in PAPER_PLATFORMS]
    assert sum(it.agrees for it in table5(database, platforms, truncated=True)) == 42
    plain = table5(database, platforms, truncated=False)
    assert (sum(it.agrees for it in plain), len(plain)) == (32, 42)


def test_the_command_prints_both_tables(capsys: pytest.CaptureFixture[str]) -> None:
    from clmap_lsp.cli import main

    assert main(["db", "table5", "--format", "json"]) == 0
    tables = json.loads(capsys.readouterr().out)["tables"]
    assert [(it["truncated"], it["agreeing"], it["of"]) for it in tables] == [(True, 42, 42), (False, 32, 42)]
    assert {it["platform"] for it in tables[0]["cells"]} >= {"H200"}


def test_16_of_29_verdicts_of_e5_2620_at_128_are_by_chance(database: Database) -> None:
    records = plain_records(database, platform(database, "E5-2620"), 128).values()
    sided = [it for it in records if verdict_of(it.mbr, truncated=True) is not Verdict.SIMILAR]
    assert (len(sided), sum(not it.significant for it in sided)) == (29, 16)


def test_records_that_launching_dominates_are_marked(database: Database) -> None:
    small = plain_records(database, platform(database, "HD7970"), 1024).values()
    assert sum(it.overhead_bound for it in small) > 20
    walks = plain_records(database, platform(database, "H200"), 4096)
    assert not any(walks[it].overhead_bound for it in (204, 205, 302, 303, 410))
    assert walks[108].overhead_bound


def test_composing_accuracy_is_the_published_range(database: Database) -> None:
    shares: dict[str, list[int]] = {}
    for line in composing_accuracy(database):
        shares.setdefault(line.platform, []).append(round(100 * line.share))
        assert line.clear >= line.right or line.tests == 0
    published = {
        "C1060": (92, 94), "C2050": (87, 91), "K20m": (85, 94), "HD7970": (48, 70), "Phi-5110P": (47, 75),
        "X5650": (56, 66),
    }  # fmt: skip
    for key, (low, high) in published.items():
        assert (min(shares[key]), max(shares[key])) == (low, high)
    assert min(shares["H200"]) >= 80


def test_the_rules_were_tried_on_all_pairs_on_the_h200(database: Database) -> None:
    tests = {it.size: it.tests for it in composing_accuracy(database) if it.platform == "H200"}
    assert tests == {256: 2178, 1024: 2178, 2048: 300}


def test_the_predictor_is_never_worse_than_the_rule(database: Database) -> None:
    results = leave_one_out(database)
    assert len({it.platform for it in results}) >= 8
    assert all(it.right >= it.baseline_right for it in results if it.size >= 512)
    at_4096 = {it.platform: it.baseline_right for it in results if it.size == 4096}
    baseline = {
        "C1060": 31,
        "C2050": 32,
        "K20m": 32,
        "Phi-5110P": 22,
        "HD7970": 20,
        "X5650": 16,
        "E5-2620": 15,
    }
    assert baseline.items() <= at_4096.items()
    assert sum(it.right for it in results) > sum(it.baseline_right for it in results)


class TestComposing:
    def test_what_loses_stays_and_what_gains_goes_in_order_of_weight(self) -> None:
        plan = compose(
            [
                Candidate("a", 1.2, 1000, 1024),
                Candidate("b", 0.8, 1000, 1024),
                Candidate("c", 3.0, 1000, 1024),
                Candidate("d", 2.0, 4000, 1024),
            ],
            1 << 16,
        )
        assert [it.name for it in plan.decisions if it.stage] == ["d", "c", "a"]
        assert [it.name for it in plan.decisions if it.recommended] == ["d", "c"]
        assert (plan.effort, plan.local_bytes) == (3, 3072)
        assert "not recommended below 1.5" in next(it.reason for it in plan.decisions if it.name == "a")

    def test_local_memory_is_the_limit(self) -> None:
        plan = compose(
            [Candidate("a", 3.0, 10, 3000), Candidate("b", 2.0, 10, 3000), Candidate("c", 1.6, 10, 900)], 4096
        )
        assert [it.name for it in plan.decisions if it.stage] == ["a", "c"]
        assert "1096 are left" in next(it.reason for it in plan.decisions if it.name == "b")

    @given(st.lists(st.tuples(st.floats(0.1, 20), st.integers(1, 10**9), st.integers(1, 60000)), max_size=8))
    def test_it_never_exceeds_the_limit_nor_stages_a_loss(self, arrays: list[tuple[float, int, int]]) -> None:
        limit = 49152
        candidates = [Candidate(str(k), *it) for k, it in enumerate(arrays)]
        plan = compose(candidates, limit)
        assert plan.local_bytes <= limit
        assert sorted(it.name for it in plan.decisions) == sorted(it.name for it in candidates)
        assert all(it.mbr > 1 for it in plan.decisions if it.stage)
        weights = [it.weight for it in plan.decisions if it.stage]
        assert weights == sorted(weights, reverse=True)


class TestAdvice:
    def test_a_recorded_device_has_its_own_record(self, database: Database) -> None:
        advice = advise(database, 410, "nvidia-hopper", 4096)
        assert advice is not None
        assert advice.record is not None
        assert (advice.verdict, advice.record.platform, advice.choice.exact) == (Verdict.GAIN, "H200", True)
        assert advice.recommended
        assert "MAP-410 on H200: gain, " in advice.describe()

    def test_the_nearest_platform_is_said_with_why(self, database: Database) -> None:
        advice = advise(database, 204, "nvidia-maxwell", 2048)
        assert advice is not None
        assert "no records of nvidia-maxwell: K20m (nvidia-kepler) is the nearest NVIDIA generation" in (
            advice.describe()
        )

    def test_a_prediction_says_how_far_to_trust_it(self, database: Database) -> None:
        advice = advise(database, 204, "generic-gpu")
        assert advice is not None
        assert advice.record is None
        assert "predicted, not measured: right for " in advice.describe()
        assert not advice.recommended

    def test_a_number_outside_the_33_has_no_advice(self, database: Database) -> None:
        assert advise(database, 101, "nvidia-hopper") is None

    def test_every_map_has_an_answer_on_every_kind_of_device(self, database: Database) -> None:
        for device in (
            "nvidia-hopper",
            "nvidia-turing",
            "amd-rdna3",
            "intel-xe-hpg",
            "cpu",
            "generic-gpu",
            "X5650",
        ):
            for pattern in all_maps():
                advice = advise(database, pattern.number, device)
                assert advice is not None
                assert str(pattern) in advice.describe()

    def test_ones_own_record_comes_before_the_shipped_one(self, database: Database) -> None:
        from dataclasses import replace

        with Database(None) as both:
            both.put([*database.platforms(), *database.measurements(), *database.strides()])
            shipped = platform(database, "H200")
            both.put([replace(shipped, key="NVIDIA H200 | 999", year=0)])
            for old in database.measurements(platform="H200", maps="410"):
                both.put([replace(old, platform="NVIDIA H200 | 999")])
            own, other = advise(both, 410, "nvidia-hopper"), advise(both, 412, "nvidia-hopper")
        assert own is not None and own.record is not None
        assert own.record.platform == "NVIDIA H200 | 999"
        # What was not measured on it comes from the shipped records of the same model.
        assert other is not None and other.record is not None
        assert other.record.platform == "H200"

    def test_platforms_are_found_by_any_of_their_names(self, database: Database) -> None:
        assert [it.key for it in find_platforms(database, "kepler")] == ["K20m"]
        assert choose(database, "generic-gpu") is None
        with pytest.raises(ValueError, match="there are C1060"):
            find_platforms(database, "Voodoo")


# Bank conflict degrees of the published max tiles in use, groups of 16 x 16, by MAP.
_DEGREES = {
    107: 1, 108: 1, 109: 1, 110: 8, 112: 8, 113: 1, 114: 2, 115: 2, 116: 1, 204: 8, 205: 1, 211: 9,
    302: 1, 303: 1, 306: 1, 407: 1, 408: 2, 409: 1, 410: 1, 412: 1, 413: 2, 414: 2, 415: 2, 416: 1,
    507: 1, 508: 2, 509: 1, 510: 1, 512: 1, 513: 2, 514: 2, 515: 2, 516: 1,
}  # fmt: skip


def test_degrees_are_those_of_the_published_kernels() -> None:
    for number, degree in _DEGREES.items():
        m00, m01, m10, m11 = Map(number).matrix
        radius = {4: 3, 5: 1}.get(number // 100, 0)
        columns = 16 * (m10 + m11) + 2 * radius if number // 100 != 2 else 16

        def place(ly: int, lx: int, m: tuple[int, int, int, int] = (m00, m01, m10, m11)) -> tuple[int, int]:
            return m[0] * ly + m[1] * lx, m[2] * ly + m[3] * lx

        assert use_degree(place, columns, (16, 16), 4) == degree, number
        padded = padded_pitch(place, columns, (16, 16), 4)
        assert use_degree(place, padded, (16, 16), 4) <= degree


@given(st.integers(1, 64), st.sampled_from([4, 8, 16]))
def test_conflict_degree_of_a_stride(stride: int, element_bytes: int) -> None:
    from math import gcd

    degree = conflict_degree([lane * stride for lane in range(32)], element_bytes)
    if element_bytes == 4:
        assert degree == gcd(stride, 32)
    assert 1 <= degree <= 32

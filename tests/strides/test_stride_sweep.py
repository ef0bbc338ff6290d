"""The stride sweep, its charts, and what is predicted from its curve."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import pytest
from naive_kernels import cycles_per_request, distinct_elements, predicted_gbs

from clmap_lsp.aristotle.maps import Map, all_maps
from clmap_lsp.aristotle.records import StridePoint
from clmap_lsp.aristotle.shipped import open_database
from clmap_lsp.aristotle.verdict import plain_records
from clmap_lsp.opencl_device import DeviceMissingError
from clmap_lsp.opencl_device.session import Session
from clmap_lsp.opencl_device.timing import CacheState, Effort
from clmap_lsp.strides import chart
from clmap_lsp.strides.predict import (
    curve_of,
    device_curve,
    estimate,
    estimate_from_sectors,
    lines_at,
)
from clmap_lsp.strides.sweep import Op, Order, Setup, Sweep


def point(exponent: int, rate: float, roofline: float = 100.0) -> StridePoint:
    return StridePoint(
        "Test | 1", "read", "uint", 1, 26, 20, 256, "forward", exponent, "cold", 1 << 28, 11, rate, 1.0,
        rate - 1, rate, rate + 1, roofline,
    )  # fmt: skip


@pytest.mark.parametrize(
    "values",
    [
        {"grid_bits": 0},
        {"index_bits": 10, "grid_bits": 11},
        {"group": 192},
        {"vector": 3},
        {"index_bits": 41},
    ],
)
def test_bits_that_do_not_fit_are_refused(values: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="--"):
        Setup(**values)  # type: ignore[arg-type]


@pytest.mark.parametrize(("exponent", "lines"), [(0, 32), (1, 16), (2, 8), (3, 4), (4, 2), (5, 1), (20, 1)])
def test_lines_of_the_source_documents_split(exponent: int, lines: int) -> None:
    # 26 index bits, 20 grid bits: 64 elements a work-item, 4 bytes each.
    assert lines_at(exponent, 6, 4) == lines


def test_the_curve_reads_back_its_own_points_and_extrapolates_in_proportion() -> None:
    curve = curve_of([point(s, rate) for s, rate in enumerate([10, 20, 40, 60, 80, 100])])
    assert curve.share(1) == pytest.approx(1.0)
    assert curve.share(32) == pytest.approx(0.1)
    assert curve.share(64) == pytest.approx(0.05)
    assert curve.share(2) == pytest.approx(0.8)
    assert 0.6 < curve.share(3) < 0.8
    shares = [curve.share(it / 4) for it in range(4, 200)]
    assert shares == sorted(shares, reverse=True)
    assert estimate(curve, 32).describe() == "about 10 % of peak bandwidth on Test | 1 (10 GB/s)"


def test_sectors_without_waste_cost_nothing() -> None:
    curve = curve_of([point(s, rate) for s, rate in enumerate([10, 20, 40, 60, 80, 100])])
    assert estimate_from_sectors(curve, 4, 4).share == pytest.approx(1.0)
    assert estimate_from_sectors(curve, 32, 4).share == pytest.approx(0.1)


def test_charts_hold_every_point_and_the_roofline() -> None:
    points = [point(s, 10.0 * (s + 1)) for s in range(6)]
    picture = ElementTree.fromstring(chart.svg(points))
    circles = picture.findall(".//{http://www.w3.org/2000/svg}circle")
    assert len(circles) == len(points)
    heights = [float(it.attrib["cy"]) for it in circles]
    assert heights == sorted(heights, reverse=True)  # SVG's y grows downwards.
    assert "plain copy 100 GB/s" in "".join(picture.itertext())
    page = chart.html(points)
    assert page.count("<tr>") == len(points) + 1
    assert len(json.loads(chart.as_json(points))["points"]) == len(points)


def test_the_table_stands_in_columns() -> None:
    rows = chart.as_text([point(s, 10.0 * (s + 1)) for s in range(11)]).splitlines()[1:-1]
    assert rows[0].split() == ["exponent", "stride", "GB/s", "deviation", "runs", "of", "copy"]
    ends = [it.index(" " + it.split()[-2] + " ") + len(it.split()[-2]) for it in rows[1:]]
    assert len(set(ends)) == 1, "shares of the copy end in one column"
    bars = [it.count("█") for it in rows[1:]]
    assert bars == sorted(bars)
    assert bars[-1] == 30


def test_a_title_is_escaped() -> None:
    points = [point(0, 1.0)]
    object.__setattr__(points[0], "platform", "<b>&")
    assert "<b>" not in chart.svg(points)
    ElementTree.fromstring(chart.svg(points))


def rank_correlation(predicted: list[float], measured: list[float]) -> float:
    """Return Spearman's coefficient; SciPy is loaded here, not by every process that collects tests."""
    from scipy.stats import spearmanr

    return float(spearmanr(predicted, measured).statistic)


class TestShippedSweeps:
    def test_the_h200_is_good_from_stride_32_and_by_grid_strides(self) -> None:
        with open_database() as database:
            for index_bits, grid_bits in [(26, 20), (30, 20), (30, 24)]:
                points = database.strides(
                    platform="H200", op="read", vector=1, order="forward", cache="cold",
                    index_bits=index_bits, grid_bits=grid_bits,
                )  # fmt: skip
                assert [it.exponent for it in points] == list(range(grid_bits + 1))
                best = max(it.median for it in points)
                assert all(it.median > 0.95 * best for it in points if it.exponent >= 5)
                assert points[-1].median > 0.9 * best
                assert points[0].median < 0.3 * best
                assert all(it.roofline > 3500 for it in points)

    def test_ranks_follow_the_prediction_where_requests_differ(self) -> None:
        with open_database() as database:
            curve = device_curve(database, "nvidia-hopper")
            assert curve is not None
            assert curve.exact
            points = database.strides(
                platform="H200",
                op="read",
                vector=1,
                order="forward",
                cache="cold",
                index_bits=26,
                grid_bits=20,
            )
        predicted = [curve.share(lines_at(it.exponent, 6, 4)) for it in points]
        measured = [it.median for it in points]
        assert rank_correlation(predicted[:6], measured[:6]) == pytest.approx(1.0)
        # From exponent 5 on every request is one line: the prediction ties, and the measured rates do too.
        assert min(measured[5:]) > 0.97 * max(measured[5:])

    def test_the_naive_kernels_rank_as_predicted_on_the_h200(self) -> None:
        with open_database() as database:
            platform = next(it for it in database.platforms() if it.key == "H200")
            for size, least in [(1024, 0.98), (2048, 0.95), (4096, 0.94)]:
                records = plain_records(database, platform, size, "cold")
                (launch,) = database.measurements(
                    platform="H200", maps="108", approach="naive", size=size, cache="cold"
                )
                launch_s = launch.overhead_share * 2 * size * size * 4 / 1e9 / launch.median
                predicted = [
                    predicted_gbs(
                        it, size, multiprocessors=132, clock_hz=1.98e9, peak_gbs=4300, launch_s=launch_s
                    )
                    for it in all_maps()
                ]
                measured = [records[it.number].naive_gbs for it in all_maps()]
                assert rank_correlation(predicted, measured) > least

    def test_a_device_without_a_sweep_has_no_curve(self) -> None:
        with open_database() as database:
            assert device_curve(database, "generic-gpu") is None


def test_request_costs_are_those_of_the_pattern() -> None:
    assert cycles_per_request(Map(204), 1024) == 16  # 16 rows, all in one bank.
    assert cycles_per_request(Map(302), 1024) == 2  # 16 neighbours: one line.
    assert distinct_elements(Map(107), 1024) == 1024
    assert distinct_elements(Map(110), 1024) == 1024 * 1024


@pytest.mark.pocl
class TestOnADevice:
    @pytest.fixture
    def session(self) -> Session:
        try:
            return Session()
        except DeviceMissingError as error:
            pytest.skip(str(error))

    @pytest.mark.parametrize("op", list(Op))
    @pytest.mark.parametrize(
        ("vector", "order"),
        [(1, Order.FORWARD), (4, Order.BIT_REVERSED), (16, Order.BACKWARD), (8, Order.FORWARD)],
    )
    def test_every_exponent_touches_each_element_once(
        self, session: Session, op: Op, vector: int, order: Order
    ) -> None:
        setup = Setup(14, 9, 64, vector, op, order, CacheState.WARM)
        points = Sweep(session, setup).run("here", Effort(min_runs=1, max_runs=1))
        assert [it.exponent for it in points] == list(range(10))
        assert all(it.median > 0 and it.roofline > 0 for it in points)

    def test_the_checksum_notices_an_element_left_out(self, session: Session) -> None:
        sweep = Sweep(session, Setup(12, 8, 64, cache=CacheState.WARM))
        items = sweep._items
        sweep._items = items - 64  # One work-group is not launched.
        with pytest.raises(Exception, match="did not read each element once"):
            sweep.run("here", Effort(min_runs=1, max_runs=1))

"""Calibration keeps what it measured, and goes on where it stopped."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from clmap_lsp.aristotle.calibrate import Calibration, Plan, Progress, Unit, units_of, variants_of
from clmap_lsp.aristotle.database import Database
from clmap_lsp.aristotle.maps import Map
from clmap_lsp.opencl_device import DeviceLostError
from clmap_lsp.opencl_device.session import Session
from clmap_lsp.opencl_device.timing import CacheState, Effort

QUICK = Effort(min_runs=1, max_runs=2)


def plan(*numbers: int, sizes: tuple[int, ...] = (32,)) -> Plan:
    return Plan(tuple((Map(it),) for it in numbers), sizes, (CacheState.WARM,), effort=QUICK)


def test_walks_stop_at_the_largest_walk() -> None:
    units = units_of(Plan(((Map(204),), (Map(108),)), (4096, 8192), (CacheState.COLD,)))
    assert [(it.maps[0].number, it.size) for it in units] == [(204, 4096), (108, 4096), (108, 8192)]


def test_a_single_map_has_each_different_kernel_once_and_a_pair_all_four_ways() -> None:
    labels = [it[0].label for it in variants_of((Map(204),), plan(204))]
    assert labels == ["204_naive", "204_max", "204_max_padded"]
    pair = variants_of((Map(204), Map(407)), plan(204))
    assert [tuple(it.approach.value for it in parts) for parts in pair] == [
        ("naive", "naive"),
        ("naive", "max"),
        ("max", "naive"),
        ("max", "max"),
    ]


@pytest.mark.pocl
def test_what_is_measured_is_verified_and_recorded(session: Session) -> None:
    with Database(None) as database:
        steps: list[Progress] = []
        calibration = Calibration(session, database, plan(204), "cpu")
        assert calibration.run(steps.append) == 3
        records = database.measurements(maps="204")
        assert {(it.approach, it.padded) for it in records} == {
            ("naive", False),
            ("max", False),
            ("max", True),
        }
        assert all(
            it.verified and it.runs >= 1 and 0 < it.minimum <= it.median <= it.maximum for it in records
        )
        assert all(it.overhead_share > 0 for it in records)
        (platform,) = database.platforms()
        assert platform.device == session.facts.name
        assert session.facts.driver in platform.driver
        assert (steps[-1].done, steps[-1].total) == (1, 1)
        assert calibration.pending() == ()


@pytest.mark.pocl
def test_a_lost_device_keeps_what_was_measured_and_the_run_resumes(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.sqlite"
    measure = Calibration._measure

    def lose(self: Calibration, unit: Unit):  # type: ignore[no-untyped-def]
        if unit.maps[0].number == 302:
            raise DeviceLostError("the device is gone")
        return measure(self, unit)

    wanted = plan(108, 302, 110)
    with Database(path) as database:
        monkeypatch.setattr(Calibration, "_measure", lose)
        with pytest.raises(DeviceLostError):
            Calibration(session, database, wanted).run(lambda _: None)
        monkeypatch.undo()
    with Database(path) as database:
        assert {it.maps for it in database.measurements()} == {"108"}
        again = Calibration(session, database, wanted)
        assert [it.maps[0].number for it in again.pending()] == [302, 110]
        again.run(lambda _: None)
        assert {it.maps for it in database.measurements()} == {"108", "302", "110"}


@pytest.mark.pocl
def test_two_calibrations_on_one_database_keep_the_records_of_both(tmp_path: Path, session: Session) -> None:
    path = tmp_path / "a.sqlite"
    arguments = ("--sizes", "32", "--database", str(path))
    running = [
        subprocess.Popen(
            [sys.executable, "-m", "clmap_lsp", "calibrate", "--maps", maps, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for maps in ("108", "302")
    ]
    for one in running:
        said = one.communicate(timeout=600)
        assert one.returncode == 0, said
    with Database(path) as database:
        records = database.measurements()
        assert {it.maps for it in records} == {"108", "302"}
        assert {it.size for it in records} == {32}
        assert len(database.platforms()) == 1
    for maps in ("108", "302"):  # Nothing is left to do.
        again = subprocess.run(
            [sys.executable, "-m", "clmap_lsp", "calibrate", "--maps", maps, *arguments],
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert again.returncode == 0
        with Database(path) as database:
            assert len(database.measurements()) == len(records)


@pytest.mark.pocl
def test_the_command_says_that_a_lost_device_keeps_its_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], session: Session
) -> None:
    from clmap_lsp.cli import main

    def lose(self: Calibration, unit: Unit):  # type: ignore[no-untyped-def]
        raise DeviceLostError("Dev: CL_OUT_OF_RESOURCES")

    monkeypatch.setattr(Calibration, "_measure", lose)
    arguments = ["calibrate", "--maps", "108", "--sizes", "32", "--database", str(tmp_path / "a.sqlite")]
    assert main(arguments) == 2
    error = capsys.readouterr().err.strip().splitlines()[-1]
    assert "CL_OUT_OF_RESOURCES; what was measured is kept in" in error
    assert "2 units are left: run the same again" in error


@pytest.mark.pocl
def test_a_dry_run_measures_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], session: Session
) -> None:
    from clmap_lsp.cli import main

    path = tmp_path / "a.sqlite"
    assert main(["calibrate", "--maps", "108", "--sizes", "32,64", "--database", str(path), "--dry-run"]) == 0
    assert "4 units to measure" in capsys.readouterr().out
    with Database(path, read_only=True) as database:
        assert database.measurements() == []

"""The database: what goes in comes out, what is broken is said in one line."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clmap_lsp.aristotle import database as database_module
from clmap_lsp.aristotle import shipped as shipped_records
from clmap_lsp.aristotle.database import SCHEMA_VERSION, Database, DatabaseError, Layers
from clmap_lsp.aristotle.exchange import from_csv, from_json, read_records, to_csv, to_json
from clmap_lsp.aristotle.in_memory import Records
from clmap_lsp.aristotle.records import Measurement, Platform, StridePoint
from clmap_lsp.aristotle.shipped import open_database, open_shipped_database

PLATFORM = Platform("Dev | 1", "Dev", "1", "Ven", "gpu", 4, True, True, 1 << 20, "", 2026, "how", "where")
POINT = StridePoint(
    "Dev | 1",
    "read",
    "uint",
    1,
    26,
    20,
    256,
    "forward",
    3,
    "cold",
    1 << 28,
    11,
    9.0,
    1.0,
    8.0,
    9.0,
    10.0,
    20.0,
)


def measurement(
    maps: str = "407", approach: str = "naive", median: float = 10.0, size: int = 1024
) -> Measurement:
    return Measurement(
        "Dev | 1", maps, approach, False, size, "float", "16x16", "3", "cold", 11, median, 0.5, median - 1,
        median, median + 1, 0.01, 0.1, True,
    )  # fmt: skip


def test_records_come_back_as_they_went_in(tmp_path: Path) -> None:
    with Database(tmp_path / "a.sqlite") as database:
        database.put([PLATFORM, measurement(), POINT])
    with Database(tmp_path / "a.sqlite", read_only=True) as database:
        assert database.platforms() == [PLATFORM]
        assert database.measurements() == [measurement()]
        assert database.strides(exponent=3) == [POINT]
        assert database.strides(exponent=4) == []


def test_a_record_put_again_replaces_the_old_one() -> None:
    with Database(None) as database:
        database.put([measurement(median=10.0)])
        database.put([measurement(median=20.0), measurement(approach="max")])
        assert [it.median for it in database.measurements(approach="naive")] == [20.0]
        assert len(database.measurements()) == 2


def test_an_unknown_field_is_named() -> None:
    with Database(None) as database, pytest.raises(DatabaseError, match="no field 'colour'"):
        database.measurements(colour="red")


def test_of_two_layers_the_later_holds(tmp_path: Path) -> None:
    one, two = Database(None), Database(None)
    one.put([measurement(median=10.0), measurement(maps="108")])
    two.put([measurement(median=30.0)])
    with Layers(one, two) as both:
        assert sorted(it.median for it in both.measurements()) == [10.0, 30.0]


def test_a_damaged_file_is_one_clear_line(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    with Database(path) as database:
        database.put([measurement()])
    data = bytearray(path.read_bytes())
    data[100:] = b"\xff" * (len(data) - 100)
    path.write_bytes(bytes(data))
    with pytest.raises(DatabaseError, match="damaged") as caught, Database(path) as database:
        database.measurements()
    assert "\n" not in str(caught.value)
    path.write_text("no database at all, just some text that is long enough to be read as a header" * 20)
    with pytest.raises(DatabaseError, match="damaged or not a database"):
        Database(path)


def test_a_locked_file_is_one_clear_line(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    Database(path).close()
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    try:
        with pytest.raises(DatabaseError, match="another program is using it"):
            Database(path).put([measurement()])
    finally:
        other.close()


def test_who_opens_what_another_program_is_making_waits_for_it(tmp_path: Path) -> None:
    with Database(tmp_path / "made.sqlite") as made:
        tables = [it[0] for it in made._connection.execute("SELECT sql FROM sqlite_master") if it[0]]
    path, has_begun = tmp_path / "new.sqlite", threading.Event()

    def make() -> None:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        for it in tables:
            other.execute(it)
        other.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        has_begun.set()
        time.sleep(0.3)
        other.execute("COMMIT")
        other.close()

    making = threading.Thread(target=make)
    making.start()
    has_begun.wait()
    with Database(path) as database:
        assert database.platforms() == []
    making.join()


def test_a_newer_schema_and_a_foreign_file_are_refused(tmp_path: Path) -> None:
    newer, foreign = tmp_path / "newer.sqlite", tmp_path / "foreign.sqlite"
    with sqlite3.connect(newer) as connection:
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    with sqlite3.connect(foreign) as connection:
        connection.execute("CREATE TABLE something (x)")
    with pytest.raises(DatabaseError, match="newer clmap-lsp"):
        Database(newer)
    with pytest.raises(DatabaseError, match="not a clmap-lsp database"):
        Database(foreign)


ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n"
HUGE = "hex(zeroblob(400000000))"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (f"DROP TABLE stride; CREATE VIEW stride AS {ENDLESS}", "views"),
        (f"CREATE VIEW more AS {ENDLESS}", "views"),
        ("DROP TABLE stride", "other tables"),
        ("CREATE TABLE more (x)", "other tables"),
        ("CREATE TRIGGER t BEFORE INSERT ON platform BEGIN SELECT 1; END", "triggers"),
        ("DROP TABLE stride; CREATE TABLE stride (a, b)", "columns"),
        ("ALTER TABLE platform ADD COLUMN more TEXT", "columns"),
        (f"ALTER TABLE platform ADD COLUMN more TEXT AS ({HUGE})", "columns"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("read_only", [True, False])
def test_what_is_no_table_of_ours_is_refused_unread(
    tmp_path: Path, change: str, said: str, read_only: bool
) -> None:
    path = tmp_path / "theirs.sqlite"
    Database(path).close()
    with sqlite3.connect(path) as connection:
        try:
            connection.executescript(change)
        except sqlite3.OperationalError:
            pytest.skip("this SQLite knows no such thing")
    with pytest.raises(DatabaseError, match=said) as caught:
        Database(path, read_only=read_only)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("value", ["x'00'", "'twelve'", "9e999", "1.5"])
def test_values_of_other_types_are_told_and_not_computed_with(tmp_path: Path, value: str) -> None:
    path = tmp_path / "theirs.sqlite"
    with Database(path) as database:
        database.put([measurement()])
    with sqlite3.connect(path) as connection:
        connection.execute(f"UPDATE measurement SET runs = {value}")
    with Database(path) as database, pytest.raises(DatabaseError, match="values of other types"):
        database.measurements()


def test_statistics_of_sqlite_are_no_tables_of_others(tmp_path: Path) -> None:
    path = tmp_path / "own.sqlite"
    with Database(path) as database:
        database.put([measurement()])
    with sqlite3.connect(path) as connection:
        connection.execute("ANALYZE")
    with Database(path) as database:
        assert len(database.measurements()) == 1


@given(
    st.floats(0.001, 1e6),
    st.integers(1, 1000),
    st.booleans(),
    st.sampled_from(["407", "110+204"]),
    st.text(max_size=9),
)
def test_csv_and_json_keep_records(rate: float, runs: int, padded: bool, maps: str, name: str) -> None:
    name = "".join(it for it in name if it.isprintable())
    record = replace(measurement(maps), platform=name, median=float(f"{rate:.6g}"), runs=runs, padded=padded)
    assert from_csv(to_csv([record]), "x.csv") == [record]
    with Database(None) as database:
        database.put([record, PLATFORM, POINT])
        assert set(from_json(to_json(database), "x.json")) == {record, PLATFORM, POINT}


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.csv", "what,is,this\n1,2,3\n", "a.csv:1: the header"),
        ("a.json", "{", "a.json:1:2: not JSON"),
        ("a.json", "[]", "not an exported database"),
        ("a.json", '{"schema": 1, "strides": [{"op": 3}]}', r"strides\[0\]"),
    ],
)
def test_what_cannot_be_imported_is_placed(tmp_path: Path, name: str, text: str, message: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(DatabaseError, match=message):
        read_records([tmp_path / name])


def test_a_wrong_number_in_csv_is_placed() -> None:
    text = to_csv([measurement(), measurement(approach="max")]).replace("max,0,1024", "max,0,big")
    with pytest.raises(DatabaseError, match=r"a\.csv:3: measurement: field 'size'"):
        from_csv(text, "a.csv")


def test_an_interrupted_write_leaves_the_old_records(tmp_path: Path) -> None:
    with Database(tmp_path / "a.sqlite") as database:
        database.put([measurement()])

        def half() -> object:
            yield measurement(approach="max")
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            database.put(half())  # type: ignore[arg-type]
        assert database.measurements() == [measurement()]


class TestShipped:
    def test_it_holds_the_published_and_our_platforms(self) -> None:
        with open_shipped_database() as database:
            platforms = {it.key: it for it in database.platforms()}
            assert {"C1060", "C2050", "K20m", "HD7970", "Phi-5110P", "E5-2620", "X5650", "H200"} <= set(
                platforms
            )
            assert len(database.measurements(cache="flushed", runs=20)) == 2772
            assert all(it.method and it.source for it in platforms.values())
            everything = database.measurements()
        assert {it.platform for it in everything} <= set(platforms)
        assert all(it.verified and it.median > 0 and it.runs > 0 for it in everything)

    def test_the_h200_has_all_maps_cold_and_warm_at_six_sizes(self) -> None:
        with open_shipped_database() as database:
            for cache in ("cold", "warm"):
                for size in (128, 256, 512, 1024, 2048, 4096):
                    for approach in ("naive", "max"):
                        found = database.measurements(
                            platform="H200", cache=cache, size=size, approach=approach, padded=False
                        )
                        assert len([it for it in found if "+" not in it.maps]) == 33

    def test_the_users_records_hold_over_the_shipped(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("CLMAP_DATABASE", str(tmp_path / "mine.sqlite"))
        with open_shipped_database() as shipped:
            old = shipped.measurements(platform="K20m", maps="204", size=4096, approach="naive")[0]
        with Database(tmp_path / "mine.sqlite") as mine:
            mine.put([replace(old, mean=1.0)])
        with open_database() as database:
            (found,) = database.measurements(platform="K20m", maps="204", size=4096, approach="naive")
        assert found.mean == 1.0


class TestWithoutSqlite:
    """Pythons built without it, and the one in browsers, find the shipped records all the same."""

    def test_the_records_are_those_of_the_file(self, monkeypatch: pytest.MonkeyPatch) -> None:
        questions: list[dict[str, str | int | bool]] = [
            {},
            {"platform": "H200", "maps": "302", "padded": False},
            {"cache": "flushed", "runs": 20},
            {"platform": "none"},
        ]
        with open_shipped_database() as file:
            from_file = [file.platforms(), *(file.measurements(**it) for it in questions), file.strides()]
        assert isinstance(file, Database)
        monkeypatch.setattr(shipped_records, "HAS_SQLITE", False)
        with open_shipped_database() as memory:
            assert isinstance(memory, Records)
            assert [
                memory.platforms(),
                *(memory.measurements(**it) for it in questions),
                memory.strides(),
            ] == from_file
            with pytest.raises(DatabaseError, match="measurement records have no field 'speed'"):
                memory.measurements(speed=1)

    def test_of_two_records_of_a_key_the_later_holds(self) -> None:
        records = Records([measurement(median=2.0), measurement(median=3.123456789)])
        assert [it.mean for it in records.measurements()] == [3.12346]

    def test_the_users_database_is_left_alone_and_other_files_say_why_they_cannot_be_opened(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        mine = tmp_path / "mine.sqlite"
        with Database(mine) as database:
            database.put([measurement()])
        monkeypatch.setenv("CLMAP_DATABASE", str(mine))
        monkeypatch.setattr(shipped_records, "HAS_SQLITE", False)
        monkeypatch.setattr(database_module, "HAS_SQLITE", False)
        with open_database() as both:
            assert len(both.measurements(cache="flushed", runs=20)) == 2772
        with pytest.raises(DatabaseError, match="was built without SQLite"):
            Database(mine)

    def test_the_findings_are_the_same(self) -> None:
        kernels = Path(__file__).parents[2] / "fixtures" / "matmul"
        program = "from clmap_lsp.cli import main\nimport sys\nmain(sys.argv[1:])"
        without = f"import sys\nsys.modules['sqlite3'] = None\n{program}"
        said = [
            subprocess.run(
                [sys.executable, "-c", it, "--check", str(kernels), "--device", "nvidia-h200",
                 "--select", "CM4", "--no-emulate", "--format", "json"],
                capture_output=True, text=True, check=False,
            )
            for it in (program, without)
        ]  # fmt: skip
        assert said[0].stdout == said[1].stdout
        assert '"CM401"' in said[0].stdout
        assert said[1].stderr == ""


def run(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    from clmap_lsp.cli import main

    code = main(arguments)
    out, err = capsys.readouterr()
    return code, out, err


class TestCommand:
    @pytest.fixture(autouse=True)
    def own_database(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("CLMAP_DATABASE", str(tmp_path / "mine.sqlite"))

    def test_export_and_import_round_trip(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (tmp_path / "theirs.csv").write_text(
            to_csv([measurement(), measurement(approach="max", median=20.0)])
        )
        (tmp_path / "platforms.csv").write_text(to_csv([PLATFORM]))
        code, out, _ = run(
            ["db", "import", str(tmp_path / "theirs.csv"), str(tmp_path / "platforms.csv")], capsys
        )
        assert (code, out.startswith("3 records")) == (0, True)
        code, out, _ = run(["db", "query", "--platform", "Dev", "--format", "json"], capsys)
        (record,) = json.loads(out)["records"]
        assert (code, record["verdict"], record["mbr"]) == (0, "gain", 2.0)
        code, out, _ = run(["db", "export", "measurements", "--mine"], capsys)
        assert from_csv(out, "out") == [measurement(approach="max", median=20.0), measurement()]

    @pytest.mark.parametrize(
        "arguments",
        [
            ["db", "query", "--platform", "no such"],
            ["db", "query", "--map", "999"],
            ["db", "import", "no_such_file.csv"],
            ["strides", "--recorded", "--platform", "no such"],
            ["strides", "--chart", "x.png", "--recorded"],
            ["calibrate", "--sizes", "100"],
            ["calibrate", "--type", "half"],
            ["calibrate", "--platform", "no such device"],
        ],
    )
    def test_what_cannot_be_done_is_one_line_and_exit_code_2(
        self, arguments: list[str], capsys: pytest.CaptureFixture[str]
    ) -> None:
        code, out, err = run(arguments, capsys)
        assert (code, out) == (2, "")
        assert len(err.strip().splitlines()) == 1
        assert "Traceback" not in err
        assert "internal error" not in err

    @pytest.mark.parametrize("command", [["platforms"], ["calibrate"], ["strides"]])
    def test_no_device_is_one_line_and_exit_code_2(
        self, command: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        import sys

        monkeypatch.setitem(sys.modules, "pyopencl", None)
        code, _, err = run(command, capsys)
        assert code == 2
        assert "no OpenCL device: pyopencl is not available" in err
        assert len(err.strip().splitlines()) == 1

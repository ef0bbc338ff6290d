"""`--output FORMAT:FILE`: one run, many formats."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest
from clmap_command import assert_usage_error, clmap

from clmap_lsp.report.formats import FORMATS

KERNEL = """\
__kernel void f(__global float *a) { a[get_global_id(0) * 32] = 1.0f; }
__kernel void g(__global float *a) { a[get_global_id(0) * 32] = 1.0f; }
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "k.cl").write_text(KERNEL, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_one_run_writes_several_formats(folder: Path) -> None:
    done = clmap(
        "check", "k.cl", "--format", "github", "--output", "json:f.json", "--output", "sarif:f.sarif",
        "--output", "junit:f.xml", "--output", "gitlab:f.gitlab.json", cwd=folder,
    )  # fmt: skip
    assert done.returncode == 1
    codes = [it["code"] for it in json.loads((folder / "f.json").read_text())["findings"]]
    assert codes
    results = json.loads((folder / "f.sarif").read_text())["runs"][0]["results"]
    assert [it["ruleId"] for it in results] == codes
    assert ElementTree.fromstring((folder / "f.xml").read_text()).get("failures") == str(len(codes))
    assert done.stdout.count("::") // 2 == len(codes)
    gitlab = json.loads((folder / "f.gitlab.json").read_text())
    assert [it["check_name"].split()[0] for it in gitlab] == codes
    assert len({it["fingerprint"] for it in gitlab}) == len(codes)
    assert {it["location"]["path"] for it in gitlab} == {"k.cl"}


@pytest.mark.parametrize("value", ["sarif", "sarif:", "nope:x", ":x"])
def test_a_bad_output_is_named(folder: Path, value: str) -> None:
    done = clmap("check", "k.cl", "--output", value, cwd=folder)
    assert done.returncode == 2
    assert "FORMAT:FILE" in done.stderr


def test_an_output_that_cannot_be_written_is_named(folder: Path) -> None:
    done = clmap("check", "k.cl", "--output", "json:missing/f.json", cwd=folder)
    assert done.returncode == 2
    assert "--output json:missing/f.json: no such file or directory" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("names", "coloured"),
    [({}, False), ({"FORCE_COLOR": "1"}, True), ({"CLICOLOR_FORCE": "1"}, True),
     ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False)],
)  # fmt: skip
def test_colours_follow_the_environment(folder: Path, names: dict[str, str], coloured: bool) -> None:
    done = clmap("check", "k.cl", cwd=folder, **{"TERM": "xterm-256color", **names})
    assert ("\x1b[" in done.stdout) is coloured


@pytest.mark.parametrize(
    "options",
    [
        ("check", "k.cl", "--output", "json:k.cl"),
        ("check", ".", "--output", "sarif:./k.cl"),
        ("check", "k.cl", "--write-baseline", "k.cl"),
        ("report", "k.cl", "-o", "k.cl", "--no-emulate"),
    ],
)
def test_no_kernel_is_written_over(folder: Path, options: tuple[str, ...]) -> None:
    assert_usage_error(clmap(*options, cwd=folder), "k.cl is a kernel file that is read")
    assert (folder / "k.cl").read_text(encoding="utf-8") == KERNEL


@pytest.mark.parametrize(
    "options",
    [("--output", "json:f", "--output", "sarif:./f"), ("--output", "json:f", "--write-baseline", "f")],
)
def test_two_outputs_are_two_files(folder: Path, options: tuple[str, ...]) -> None:
    assert_usage_error(clmap("check", "k.cl", *options, cwd=folder), "--output json:f writes this file too")
    assert not (folder / "f").exists()


def test_standard_output_is_no_file(folder: Path) -> None:
    done = clmap("check", "k.cl", "--output", "json:-", cwd=folder)
    assert_usage_error(done, "--format json prints to standard output")
    assert not (folder / "-").exists()


def test_what_cannot_be_written_is_called_by_its_name(folder: Path) -> None:
    done = clmap("check", "k.cl", "--write-baseline", "missing/base.json", cwd=folder)
    assert_usage_error(done, "clmap-lsp: missing/base.json: no such file or directory")


_ODD = (b"x\n::error file=a::b.cl", b"::error file=a::b.cl", b"a\\b.cl", b"\xff\xfe.cl", b"y\n~~~~~~\n<b>.cl")


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
@pytest.mark.parametrize("format_", FORMATS)
def test_odd_names_of_files_break_no_format(tmp_path: Path, format_: str) -> None:
    for number, name in enumerate(_ODD):
        kernel = (
            f"__kernel void f{number}(__global float *a) {{ a[get_global_id(0) * {32 + number}] = 1.0f; }}\n"
        )
        (tmp_path / os.fsdecode(name)).write_text(kernel, encoding="utf-8")
    done = clmap("check", ".", "--format", format_, cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    assert done.stderr == ""
    if format_ in ("full", "concise"):
        assert not [it for it in done.stdout.splitlines() if it.startswith(("::", "~~~~~~"))]
    if format_ == "sarif":
        results = json.loads(done.stdout)["runs"][0]["results"]
        uris = [it["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for it in results]
        assert {os.fsencode(unquote(it, errors="surrogateescape")) for it in uris} == set(_ODD)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
def test_an_odd_name_of_a_file_that_cannot_be_read_is_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "x\n::error file=a::b.cl").write_bytes(b"\0")
    for command in ("check", "analyze"):
        done = clmap(command, ".", cwd=tmp_path)
        assert done.returncode == 2
        assert len(done.stderr.splitlines()) == 1, done.stderr

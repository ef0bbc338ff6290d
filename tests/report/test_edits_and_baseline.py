"""Fixes applied to text; baselines that survive edits; comparison of analyses."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from warm import clmap

from clmap_lsp.findings import Edit, Finding, Fix, FixSafety, Severity
from clmap_lsp.report import baseline, compare
from clmap_lsp.report.edits import apply, unified_diff
from clmap_lsp.report.model import CheckReport, FileReport
from clmap_lsp.source.span import SourceFile, Span

PATH = "k.cl"


def fix(*edits: tuple[int, int, str], safety: FixSafety = FixSafety.SAFE) -> Fix:
    return Fix("t", safety, tuple(Edit(Span(PATH, start, end), text) for start, end, text in edits))


def test_edits_of_one_file_are_applied_together() -> None:
    applied = apply([fix((4, 5, "XY")), fix((0, 1, ""), (6, 6, "!"))], {PATH: "abcdefg"})
    assert applied.texts == {PATH: "bcdXYf!g"}
    assert len(applied.fixes) == 2


def test_of_overlapping_fixes_the_first_is_taken_whole() -> None:
    applied = apply([fix((1, 3, "-")), fix((2, 4, "+"), (6, 7, "+")), fix((3, 4, "_"))], {PATH: "abcdefg"})
    assert applied.texts == {PATH: "a-_efg"}
    assert len(applied.fixes) == 2


def test_the_same_edit_twice_is_done_once() -> None:
    assert apply([fix((1, 2, "")), fix((1, 2, ""))], {PATH: "abc"}).texts == {PATH: "ac"}


def test_safety_is_respected() -> None:
    fixes = [fix((0, 1, "X"), safety=FixSafety.UNSAFE), fix((1, 2, "Y"), safety=FixSafety.DISPLAY)]
    assert apply(fixes, {PATH: "abc"}).texts == {}
    assert apply(fixes, {PATH: "abc"}, unsafe=True).texts == {PATH: "Xbc"}


def test_the_diff_is_one_that_patch_takes(tmp_path: Path) -> None:
    before, after = "a\nb\nc", "a\nB\nc\nd\n"
    (tmp_path / "f.cl").write_text(before)
    diff = unified_diff("f.cl", before, after)
    subprocess.run(["patch", "-p0"], input=diff, text=True, cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "f.cl").read_text() == after


def report(lines: list[str], rows: list[int]) -> CheckReport:
    source = SourceFile.of(PATH, "\n".join(lines))
    found = tuple(
        Finding("CM101", "n", "m", Severity.WARNING, Span(PATH, source.offset(row, 1), source.offset(row, 2)))
        for row in rows
    )
    return CheckReport((FileReport(PATH, found, {PATH: source}),))


def test_a_baseline_survives_moved_lines_and_new_blanks(tmp_path: Path) -> None:
    path = tmp_path / "base.json"
    path.write_text(baseline.text_of(report(["a = b;", "c = d;", "a = b;"], [1, 3]), path))
    known = baseline.read(path)
    moved = report(["", "x;", "  a  =  b;", "a = b;"], [3, 4])
    assert list(baseline.without_known(moved, known, path).pairs()) == []
    third = report(["a = b;", "a = b;", "a = b;", "c = d;"], [1, 2, 3, 4])
    left = [it.span.start for _, it in baseline.without_known(third, known, path).pairs()]
    assert left == [14, 21]


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"schema": 2, "findings": []}', '{"schema":1,"findings":[{}]}']
)
def test_a_broken_baseline_is_one_clear_error(tmp_path: Path, text: str) -> None:
    path = tmp_path / "base.json"
    path.write_text(text)
    with pytest.raises(baseline.BaselineError, match="--write-baseline"):
        baseline.read(path)


def analysis(**kernels: int) -> dict[str, Any]:
    launch = {"global": [256], "local": [64], "args": {"N": 256}}
    return {
        "schema": 1,
        "device": "generic-gpu",
        "files": [
            {
                "path": "a.cl",
                "kernels": [
                    {
                        "name": name,
                        "launch": launch,
                        "totals": {
                            "global_load": {"requests": 8, "sectors": sectors},
                            "global_store": {"requests": 8, "sectors": 0},
                            "local_load": {"instructions": 0, "wavefronts": 0},
                            "local_store": {"instructions": 0, "wavefronts": 0},
                        },
                    }
                    for name, sectors in kernels.items()
                ],
            }
        ],
    }


def test_growth_beyond_the_threshold_is_a_regression() -> None:
    comparison = compare.compare(analysis(a=100, b=100, c=5), analysis(a=104, b=90, d=7))
    assert [it.kernel for it in comparison.regressions(0)] == ["a"]
    assert comparison.regressions(5) == ()
    assert comparison.notes == ("d is new in a.cl", "c is gone from a.cl")
    text = compare.render(comparison, 0)
    assert "worse   a.cl: a: global_load.sectors 100 -> 104 (+4.0 %)" in text
    assert "better  a.cl: b: global_load.sectors 100 -> 90 (-10.0 %)" in text
    changes = json.loads(compare.render_json(comparison, 0))["changes"]
    assert [(it["kernel"], it["regression"]) for it in changes] == [("a", True), ("b", False)]


def test_growth_from_nothing_is_a_regression() -> None:
    assert compare.compare(analysis(a=0), analysis(a=1)).regressions(1e9)


def test_a_kernel_that_moved_to_another_file_is_still_compared() -> None:
    after = analysis(a=200)
    after["files"][0]["path"] = "b.cl"
    assert [it.path for it in compare.compare(analysis(a=100), after).regressions(0)] == ["b.cl"]


@given(st.dictionaries(st.sampled_from("abc"), st.integers(0, 1000), min_size=1), st.floats(0, 100))
def test_nothing_regresses_against_itself(kernels: dict[str, int], threshold: float) -> None:
    comparison = compare.compare(analysis(**kernels), analysis(**kernels))
    assert comparison.regressions(threshold) == ()
    assert comparison.notes == ()


def test_documents_of_other_kinds_are_refused() -> None:
    for text in ("", "[]", '{"schema": 1}', '{"schema": 2, "files": []}'):
        with pytest.raises(compare.CompareError, match="analyze PATH --format json"):
            compare.parse(text, "x.json")


def test_one_slip_made_many_times_is_one_finding_with_the_edits_of_all(tmp_path: Path) -> None:
    body = "a[{0}] = *v.x; a[{0}] = *v.y;"
    kernel = "__kernel void {0}(__global float *a, __global float4 *v) {{ {1} }}\n"
    for name in ("one.cl", "two.cl"):
        text = "".join(kernel.format(name[:3] + str(i), body.format(i)) for i in range(3))
        (tmp_path / name).write_text(text)
    done = clmap("check", str(tmp_path), "--select", "CM011", "--format", "json")
    found = json.loads(done.stdout)["findings"]
    arrows = [it for it in found if "did you mean to use '->'" in it["message"]]
    assert [Path(it["filename"]).name for it in arrows] == ["one.cl", "two.cl"]
    assert all(len(it["fix"]["edits"]) == 6 for it in arrows)
    assert {it["message"] for it in arrows[0]["related"]} == {"the same here"}


def test_what_hangs_on_the_version_of_the_language_is_said_once(tmp_path: Path) -> None:
    for name, type_ in (("one", "int"), ("two", "float")):
        text = f"__kernel void {name}(__global {type_} *a) {{ {type_} *b = a; b[get_global_id(0)] = 1; }}\n"
        (tmp_path / f"{name}.cl").write_text(text)
    done = clmap("check", str(tmp_path), "--select", "CM011", "--format", "json")
    (found,) = json.loads(done.stdout)["findings"]
    assert found["message"].startswith("if this is built as OpenCL C 1.2")
    assert [Path(it["filename"]).name for it in found["related"]] == ["two.cl"]

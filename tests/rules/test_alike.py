"""Findings about buffers that are walked alike: one, which says all that they said."""

from __future__ import annotations

import json

from clmap_lsp.commands.checking import CheckJob, check_file
from clmap_lsp.config import Settings
from clmap_lsp.findings import Finding, Fix, FixSafety
from clmap_lsp.fixes.matching import Offer
from clmap_lsp.report.model import FileReport
from clmap_lsp.rules import Selection

COPY = """// clmap: global=4096 local=128 n=4096 from=zeros(8*n) to=zeros(8*n)
__kernel void copy(__global const float *from, __global float *to, const int n)
{
    const int i = get_global_id(0);
    to[8 * i] = from[8 * i];
}
"""


def checked(text: str, select: tuple[str, ...] = ()) -> FileReport:
    rules = Settings().rules
    selection = Selection.of(select or rules.select, rules.ignore, rules.severity)
    return check_file(CheckJob("case.cl", Settings(), selection, text=text))


def only(report: FileReport) -> Finding:
    (found,) = report.findings
    return found


def test_one_finding_points_at_all_and_has_the_figures_of_each() -> None:
    report = checked(COPY)
    found = only(report)
    assert found.code == "CM101"
    spans = [found.span, *(it.span for it in found.related)]
    places = [COPY[it.start : it.end] for it in spans]
    assert places == ["from[8 * i]", "to[8 * i]"]
    assert [it["buffer"] for it in found.data["accesses"]] == ["to"]
    json.dumps(dict(found.data))


def test_a_rewrite_that_is_meant_for_another_of_them_answers_it() -> None:
    found = only(checked(COPY))
    fix = Fix("Rewrite", FixSafety.UNSAFE, ())
    offer = Offer(fix, "rewrite", 1, frozenset({"CM101", "CM102"}), frozenset({found.related[0].span}))
    assert offer.answers(found)


def test_each_is_found_where_the_other_is_not_asked_for() -> None:
    assert only(checked(COPY, ("CM102",))).code == "CM102"
    assert only(checked(COPY, ("CM101",))).data["buffer"] == "from"


def test_what_costs_otherwise_stays_apart() -> None:
    report = checked(COPY.replace("from[8 * i]", "from[16 * i]").replace("8*n", "16*n"))
    assert sorted(it.code for it in report.findings) == ["CM101", "CM102"]

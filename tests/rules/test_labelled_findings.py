"""The judged findings on public kernels: enough of them, each with a verdict, in halves by file."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter

import pytest

from benchmarks.labelled import LABELS, VERDICTS, labels
from clmap_lsp.rules import all_rules


def test_there_are_a_hundred_judged_findings_of_many_repositories() -> None:
    found = list(labels())
    assert len(found) >= 100
    assert len({it.repository for it in found}) >= 20
    assert len({(it.repository, it.file, it.row, it.column, it.code) for it in found}) == len(found)


def test_each_names_its_place_and_why_it_is_what_it_is() -> None:
    codes = {it.meta.code for it in all_rules()}
    for it in labels():
        assert re.fullmatch(r"https://github\.com/[\w.-]+/[\w.-]+", it.repository)
        assert re.fullmatch(r"[0-9a-f]{40}", it.commit)
        assert it.verdict in VERDICTS and it.code in codes and it.reason


def test_the_halves_follow_from_the_names_of_files() -> None:
    for it in labels():
        if it.collected != "first":
            continue
        name = it.repository.removeprefix("https://github.com/") + "|" + it.file
        even = int(hashlib.sha256(name.encode()).hexdigest(), 16) % 2 == 0
        assert it.half == ("open" if even else "closed")


def test_the_third_set_is_of_repositories_that_no_other_has() -> None:
    found = list(labels())
    third = [it for it in found if it.collected == "third"]
    halves = {it.repository: it.half for it in third}
    assert len(third) >= 90 and len(halves) >= 14
    assert {it.repository for it in found if it.collected != "third"}.isdisjoint(halves)
    assert max(Counter(it.repository for it in third).values()) <= 6
    for it in third:
        name = it.repository.removeprefix("https://github.com/")
        even = int(hashlib.sha256(f"third|{name}".encode()).hexdigest(), 16) % 2 == 0
        assert it.half == ("open" if even else "closed") and it.severity


def test_later_ones_are_of_other_repositories_and_halved_by_repository() -> None:
    found = list(labels())
    later = [it for it in found if it.collected == "later"]
    first = {it.repository for it in found if it.collected == "first"}
    halves = {it.repository: it.half for it in later}
    assert len(later) >= 80 and len(halves) >= 8
    assert first.isdisjoint(halves)
    assert all(halves[it.repository] == it.half for it in later)
    assert sorted(halves.values()).count("closed") >= 4


@pytest.mark.parametrize(("name", "findings", "repositories"), [("fourth", 35, 10), ("fifth", 60, 9)])
def test_sets_are_of_repositories_that_no_other_has(name: str, findings: int, repositories: int) -> None:
    found = list(labels())
    own = [it for it in found if it.collected == name]
    assert len(own) >= findings and len({it.repository for it in own}) >= repositories
    others = {it.repository for it in found if it.collected != name}
    assert others.isdisjoint(it.repository for it in own)
    for it in own:
        repository = it.repository.removeprefix("https://github.com/")
        even = int(hashlib.sha256(f"{name}|{repository}".encode()).hexdigest(), 16) % 2 == 0
        assert it.half == ("open" if even else "closed") and it.severity


@pytest.mark.parametrize(
    ("name", "launched", "findings"), [("sixth", 7, 16), ("seventh", 9, 9), ("eighth", 10, 87)]
)
def test_sets_are_halved_as_the_launches_of_their_repositories_are(
    name: str, launched: int, findings: int
) -> None:
    launches = json.loads((LABELS.parent / "host_launches.json").read_text(encoding="utf-8"))["launches"]
    halves = {
        it["repository"]: {"tuned": "open", "unseen": "closed"}[it["part"]]
        for it in launches
        if it.get("set") == launched
    }
    own = [it for it in labels() if it.collected == name]
    assert len(own) >= findings
    # Some have no launches of their own in it.
    assert all(
        halves.get(it.repository.removeprefix("https://github.com/"), it.half) == it.half for it in own
    )

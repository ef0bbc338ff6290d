"""Calls, symbols and renames that go through headers and macros, as an editor asks for them."""

from __future__ import annotations

from pathlib import Path

import pytest
from session import Session
from test_language import at

KINDS = """\
enum kind { KIND_SMALL, KIND_LARGE };
typedef struct grain { float size; } grain_t;
float grown(float);
"""
GROWTH = """\
#include "kinds.h"
float doubled(float x) { return x + x; }
float grown(float x) { return doubled(x) + 1.0f; }
"""
MAKER = "#define MAKER(name) float name##_made(float name) { return name + grown(name); }\n"
KERNEL = f"""\
#include "growth.h"
{MAKER}MAKER(grain)
__kernel void grow(__global grain_t *grains)
{{
    const int gid = get_global_id(0);
    grains[gid].size = grown(grains[gid].size) + grain_made(1.0f);
}}
"""
OTHER = '#include "growth.h"\n__kernel void regrow(__global float *a) { a[0] = grown(a[1]); }\n'


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    folder: Path = tmp_path_factory.mktemp("across")
    for name, text in (("kinds.h", KINDS), ("growth.h", GROWTH), ("other.cl", OTHER)):
        (folder / name).write_text(text)
    for number in range(30):
        text = f"__kernel void grow_{number}(__global float *a) {{ a[0] = {number}; }}\n"
        (folder / f"many_{number}.cl").write_text(text)
    made = Session(folder, settings={"emulate": "off"})
    made.kernel = made.open(KERNEL, "grow.cl")
    yield made
    made.client.__exit__()


def _item(session: Session, needle: str):
    params = {"textDocument": {"uri": session.kernel}, "position": at(KERNEL, needle)}
    (item,) = session.request("textDocument/prepareCallHierarchy", params)
    return item


def _called(session: Session, needle: str):
    found = session.request("callHierarchy/outgoingCalls", {"item": _item(session, needle)})
    return [(it["to"]["name"], [one["start"] for one in it["fromRanges"]]) for it in found]


def test_a_function_of_a_header_that_is_declared_before_says_what_it_calls(session):
    place = at(GROWTH, "doubled(x) +")
    assert _called(session, "grown(grains") == [("doubled", [place])]


def test_callers_in_closed_headers_are_told_once(session):
    """Both kernels' files include the header."""
    params = {"textDocument": {"uri": session.kernel}, "position": at(KERNEL, "grown(grains")}
    (grown,) = session.request("textDocument/prepareCallHierarchy", params)
    (callee,) = session.request("callHierarchy/outgoingCalls", {"item": grown})
    callers = session.request("callHierarchy/incomingCalls", {"item": callee["to"]})
    assert [it["from"]["name"] for it in callers] == ["grown"]
    callers = session.request("callHierarchy/incomingCalls", {"item": grown})
    assert sorted(it["from"]["name"] for it in callers) == ["grain_made", "grow", "regrow"]


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("grow_2", "grow_2"),
        ("grow", "grow"),
        ("GROWN", "grown"),
        ("grow 17", "grow_17"),
        ("grain_t", "grain_t"),
        ("kind_large", "KIND_LARGE"),
        ("maker", "MAKER"),
    ],
)
def test_symbols_of_the_workspace_are_found_by_name_first_and_in_headers_too(session, query, first):
    found = session.request("workspace/symbol", {"query": query})
    assert found[0]["name"] == first
    places = [(it["location"]["uri"], str(it["location"]["range"])) for it in found]
    assert len(places) == len(set(places))


def test_without_a_query_kernels_come_first(session):
    found = [it["name"] for it in session.request("workspace/symbol", {"query": ""})]
    assert set(found[:32]) == {"grow", "regrow", *(f"grow_{it}" for it in range(30))}


def _refusal(session: Session, uri: str, text: str, needle: str, name: str = "renamed") -> str:
    params = {"textDocument": {"uri": uri}, "position": at(text, needle), "newName": name}
    answer = session.client.request("textDocument/rename", params)
    return answer["error"]["message"] if "error" in answer else ""


def test_a_name_that_a_macro_makes_another_of_is_not_renamed_alone(session):
    why = _refusal(session, session.kernel, KERNEL, "grain)")
    assert "line 3" in why and "puts `grain_made` together of `grain` by `##`" in why


@pytest.mark.parametrize(
    ("text", "needle", "why"),
    [
        (
            "typedef struct { int n; } box;\n#define OF(b, f) (f + (b).f)\n"
            "int sum(box b, int n) { return OF(b, n); }\n",
            "n) { return",
            "mean",
        ),
        (
            "#define MAKE(name) int made_##name(int name) { return name; }\nMAKE(size)\n"
            "int twice(int x) { return made_size(x) * 2; }\n",
            "size)\nint",
            "puts `made_size` together",
        ),
    ],
)
def test_an_argument_that_a_macro_uses_in_two_ways_is_not_renamed(session, text, needle, why):
    uri = session.open(text, "two_ways.cl")
    assert why in _refusal(session, uri, text, needle)
    session.close(uri)

"""Completion in the middle of a word: the rest of it is kept or replaced, as the editor chooses."""

from __future__ import annotations

from typing import Any

import pytest
from session import Session

TEXT = """\
#include "poi|nts.h"
__kernel void scale(__global float *values, const float factor)
{
    const int item = get_global_id(0);
    // clmap: glo|bal=64
    values[item] = VALUE
}
"""


def opened(folder, item: dict[str, Any]) -> Session:
    capabilities = {"textDocument": {"completion": {"completionItem": item}}}
    return Session(folder, capabilities, settings={"emulate": "off"})


@pytest.fixture(scope="module")
def choosing(tmp_path_factory):
    """A client that can insert and replace, as VS Code and Neovim say of themselves."""
    made = opened(tmp_path_factory.mktemp("choosing"), {"insertReplaceSupport": True, "snippetSupport": True})
    yield made
    made.client.__exit__()


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    made = opened(tmp_path_factory.mktemp("plain"), {})
    yield made
    made.client.__exit__()


def written(text: str, range_: dict[str, Any], new: str) -> str:
    """Return the line of an edit as it is then."""
    line = text.split("\n")[range_["start"]["line"]]
    assert range_["start"]["line"] == range_["end"]["line"]
    return line[: range_["start"]["character"]] + new + line[range_["end"]["character"] :]


def edit_of(session: Session, value: str, label: str, name: str = "k.cl") -> tuple[str, dict[str, Any]]:
    """Complete where `|` stands in a text; return the text and the edit of a candidate."""
    marked = value if "\n" in value else TEXT.replace("|", "").replace("VALUE", value)
    before = marked[: marked.index("|")]
    text = marked.replace("|", "", 1)
    uri = session.open(text, name, "toml" if name.endswith(".toml") else "opencl")
    position = {"line": before.count("\n"), "character": len(before) - before.rfind("\n") - 1}
    params = {"textDocument": {"uri": uri}, "position": position}
    found = session.request("textDocument/completion", params)
    session.close(uri)
    edit: dict[str, Any] = next(it["textEdit"] for it in found["items"] if it["label"] == label)
    return text, edit


@pytest.mark.parametrize(
    ("value", "label", "kept", "replaced"),
    [
        ("get_gl|obal_id(0);", "get_global_id", "get_global_idobal_id(0);", "get_global_id(0);"),
        ("fac|item;", "factor", "factoritem;", "factor;"),
        ("valu|s[0];", "values", "valuess[0];", "values[0];"),
        ("(float4)(1).x|yz.x;", "xy", "(float4)(1).xyyz.x;", "(float4)(1).xy.x;"),
    ],
)
def test_editors_that_can_choose_keep_the_rest_or_replace_it(choosing, value, label, kept, replaced):
    text, edit = edit_of(choosing, value, label)
    assert written(text, edit["insert"], edit["newText"]) == f"    values[item] = {kept}"
    assert written(text, edit["replace"], edit["newText"]) == f"    values[item] = {replaced}"
    assert edit["insert"]["start"] == edit["replace"]["start"]


def test_one_edit_is_enough_behind_a_word(choosing):
    _, edit = edit_of(choosing, "fac|;", "factor")
    assert "range" in edit
    _, edit = edit_of(choosing, "item + |2;", "factor")
    assert "range" in edit


@pytest.mark.parametrize(
    ("value", "label", "wanted"),
    [
        ("get_gl|obal_id(0);", "get_global_id", "get_global_id(0);"),
        ("fac|item;", "factor", "factoritem;"),
        ("|item;", "factor", "factoritem;"),
        ("fact|or;", "factor", "factor;"),
    ],
)
def test_other_editors_get_what_reads_as_what_was_chosen(plain, value, label, wanted):
    text, edit = edit_of(plain, value, label)
    assert written(text, edit["range"], edit["newText"]) == f"    values[item] = {wanted}"


@pytest.mark.parametrize(
    ("marked", "name", "label", "replaced"),
    [
        ("[bui|ld]\n", "clmap.toml", "build", "[build]"),
        ("[build]\nstan|dard = 1\n", "clmap.toml", "standard", None),
        ("[build]\ndevice = 1\n[emu|late]\n", "clmap.toml", "emulate", "[emulate]"),
    ],
)
def test_words_of_the_configuration(choosing, marked, name, label, replaced):
    text, edit = edit_of(choosing, marked, label, name)
    if replaced is not None:
        assert written(text, edit["replace"], edit["newText"]) == replaced
    assert edit["replace"]["end"]["character"] > edit["insert"]["end"]["character"]


def test_words_of_includes_and_comments(choosing):
    (choosing.folder / "points.h").write_text("typedef float4 point_t;\n")
    marked = TEXT.replace("VALUE", "factor")
    text, edit = edit_of(choosing, marked.replace("glo|bal", "global"), "points.h")
    assert written(text, edit["replace"], edit["newText"]) == '#include "points.h"'
    text, edit = edit_of(choosing, marked.replace("poi|nts", "points"), "global")
    assert edit["replace"]["end"]["character"] - edit["insert"]["end"]["character"] == 3

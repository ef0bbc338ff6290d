"""F12 while somebody types elsewhere: answered from what was read before only where that is sure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from session import Session

KERNEL = """\
#include "steps.h"
// é 😀
float weigh(float x) { return x; }
__kernel void first(__global float *out)
{
    int total = STEP;
    /* 😀 */ out[total] = weigh(1.0f);
}
"""


@pytest.fixture
def session(tmp_path) -> Iterator[Session]:
    (tmp_path / "steps.h").write_text("#define STEP 3\n")
    made = Session(tmp_path, settings={"emulate": "off"})
    yield made
    made.client.__exit__()


class Typist:
    """Keeps a text, types into it and asks at once."""

    def __init__(self, session: Session, text: str) -> None:
        self.session, self.text, self.version = session, text, 1
        self.uri = session.open(text)

    def position(self, offset: int) -> dict[str, int]:
        line = self.text[self.text.rfind("\n", 0, offset) + 1 : offset]
        return {"line": self.text.count("\n", 0, offset), "character": len(line.encode("utf-16-le")) // 2}

    def type(self, before: str, key: str) -> None:
        """Type a key before the first place of a text."""
        at = self.text.index(before)
        here = self.position(at)
        self.text = self.text[:at] + key + self.text[at:]
        self.version += 1
        document = {"uri": self.uri, "version": self.version}
        change = {"range": {"start": here, "end": here}, "text": key}
        self.session.client.notify(
            "textDocument/didChange", {"textDocument": document, "contentChanges": [change]}
        )

    def definition(self, needle: str) -> str:
        """Return the text at the definition of the last place of a name, to the end of its line."""
        place = self.position(self.text.rindex(needle))
        params = {"textDocument": {"uri": self.uri}, "position": place}
        found: list[dict[str, Any]] = self.session.request("textDocument/definition", params)
        assert len(found) == 1
        start = found[0]["range"]["start"]
        lines = self.text.split("\n") if found[0]["uri"] == self.uri else ["#define STEP 3", ""]
        line = lines[start["line"]].encode("utf-16-le")[2 * start["character"] :].decode("utf-16-le")
        return f"{found[0]['uri'].rsplit('/')[-1]} {line}"


def test_places_move_with_what_is_typed_before_and_between(session: Session) -> None:
    typist = Typist(session, KERNEL)
    assert typist.definition("total]") == "k.cl total = STEP;"
    for before, key in (
        ("float weigh", "int 😀;\n\n"),
        ("out[total]", "float tmp = 1.0f; "),
        ("weigh(1", "2 *"),
    ):
        typist.type(before, key)
        assert typist.definition("total]") == "k.cl total = STEP;"
        assert typist.definition("weigh(1").startswith("k.cl weigh(float x)")
        assert typist.definition("STEP") == "steps.h STEP 3"


@pytest.mark.parametrize(
    ("before", "typed", "needle", "expected"),
    [
        ("/* 😀 */", "{ float total = 2; ", "total]", "k.cl total = 2; /* 😀 */ out[total] = weigh(1.0f);"),
        ("int total", "//", "weigh(1", "k.cl weigh(float x) { return x; }"),
        ("// é", "#undef STEP\n#define STEP 4\n", "STEP;", "k.cl STEP 4"),
        ("// é", "#define total other\n", "total]", "k.cl total other"),
    ],
)
def test_a_key_that_changes_the_meaning_is_seen(
    session: Session, before: str, typed: str, needle: str, expected: str
) -> None:
    typist = Typist(session, KERNEL)
    typist.definition(needle)
    for key in typed:
        typist.type(before, key)
    assert typist.definition(needle) == expected


def test_in_the_body_of_a_macro_another_statement_is_typed(session: Session) -> None:
    macro = """\
#define TURN_32(x) rotate(x, 3u)
enum turns { FIRST = 3 };
#define MIX(BITS) \\
    uint mix##BITS(uint x) { \\
        uint key = FIRST; \\
        x = TURN_##BITS(x); \\
        x += key; \\
        return x * key + FIRST + TURN_##BITS(x); \\
    }
MIX(32)
"""
    typist = Typist(session, macro)
    expected = {"key + FIRST": "k.cl MIX(32)", "FIRST + T": "k.cl FIRST = 3 };"}
    expected["TURN_##BITS(x)"] = "k.cl TURN_32(x) rotate(x, 3u)"
    for key in "float tmp = 2; x = rotate(x, 1u); ":
        for needle, line in expected.items():
            assert typist.definition(needle) == line
        typist.type("x += key", key)
    typist.type("x += key", "{ int key = 2; ")
    assert typist.definition("FIRST + T") == expected["FIRST + T"]


def test_a_header_that_is_edited_meanwhile_is_seen(session: Session) -> None:
    typist = Typist(session, KERNEL)
    assert typist.definition("STEP") == "steps.h STEP 3"
    header = session.open("\n\n#define STEP 3\n", "steps.h")
    typist.type("int total", "int more = 1; ")
    params = {"textDocument": {"uri": typist.uri}, "position": typist.position(typist.text.rindex("STEP"))}
    (found,) = session.request("textDocument/definition", params)
    assert (found["uri"], found["range"]["start"]["line"]) == (header, 2)


def test_lines_that_conditions_leave_out_are_seen_as_they_are_typed(session: Session) -> None:
    text = KERNEL.replace("}\n", "#ifdef OTHER\n    out[1] = weigh(total * 2);\n#endif\n}\n", 2)
    text = text.replace(
        "{ return x; #ifdef OTHER\n    out[1] = weigh(total * 2);\n#endif\n}", "{ return x; }"
    )
    typist = Typist(session, text)
    assert typist.definition("total * 2") == "k.cl total = STEP;"
    typist.type("int total", "float more = 1; ")
    assert typist.definition("total * 2") == "k.cl total = STEP;"
    typist.type("    out[1]", "    { float total = 3; ")
    params = {"textDocument": {"uri": typist.uri}}
    place = typist.position(typist.text.rindex("total * 2"))
    assert session.request("textDocument/definition", {**params, "position": place}) == []

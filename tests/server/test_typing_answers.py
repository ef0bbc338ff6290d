"""A text typed key by key, with broken states between, is answered about as one that was just opened."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from session import Session

KERNEL = """\
#include "a.h"
#define AT(y, x) ((y) * n + (x))
#define DECLARE(T, name) \\
    T name##_v = 0
// ünïcode 😀
typedef struct S T;
struct S { float4 p; T *next; int n; };
float weigh(__local float *row, int n)
{
\treturn row[n & 3] + /* 😀 */ 1.0f;
}
__kernel void blur(__global const float *in, __global T *ts, int n)
{
\t__local float tile[16];
\tint x = get_global_id(0), y = get_global_id(1);
\tDECLARE(int, q);
#if N > 3
\tq_v += N;
#else
\tq_v -= 1;
#endif
\ttile[get_local_id(0) & 15] = in[AT(y, x)];
\tts[AT(y, x)].p.xy = (float2)(weigh(tile, 1), clamp(1.0f, in[0], in[1]));
\tts->next->n = FROM_A + twice(q_v);
}
"""
HEADERS = {
    "a.h": '#include "b.h"\n#define FROM_A 3\nint twice(int x) { return 2 * x; }\n',
    "b.h": '#include "a.h"\n#define N 4\n',
}
JUNK = ["{", "}", '"', "/*", "(", "#if 0\n", "\t", "😀", ";", "\\"]
AT_A_PLACE = ("completion", "hover", "definition", "signatureHelp", "documentHighlight", "typeDefinition")
OF_ALL = ("documentSymbol", "foldingRange", "documentLink", "semanticTokens/full")


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    folder = tmp_path_factory.mktemp("typing")
    for name, text in HEADERS.items():
        (folder / name).write_text(text)
    found = Session(folder, settings={"emulate": "off"})
    yield found
    found.client.__exit__()


def position(text: str, offset: int) -> dict[str, int]:
    before = text[:offset]
    line = before[before.rfind("\n") + 1 :]
    return {"line": before.count("\n"), "character": len(line.encode("utf-16-le")) // 2}


def keys(text: str, chance: random.Random) -> Iterator[tuple[str, int, int, str]]:
    """Yield the edits that type a text, as (text before, start, end, new); some in its middle, taken back."""
    typed = ""
    while len(typed) < len(text):
        rest = text[len(typed) :]
        key = "\r\n" if rest.startswith("\r\n") else rest[0]
        yield typed, len(typed), len(typed), key
        typed += key
        if chance.random() < 0.04 and len(typed) > 9:
            at = chance.randrange(len(typed) - 5)
            at -= typed[at - 1 : at] == "\r"
            junk = chance.choice(JUNK)
            yield typed, at, at, junk
            yield typed[:at] + junk + typed[at:], at, at + len(junk), ""


def answers(session: Session, uri: str, text: str, places: list[int]) -> dict[str, Any]:
    document = {"textDocument": {"uri": uri}}
    found: dict[str, Any] = {}
    for method in OF_ALL:
        found[method] = session.request(f"textDocument/{method}", document)
    found["semanticTokens/full"] = found["semanticTokens/full"]["data"]
    for place in places:
        at = {**document, "position": position(text, place)}
        for method in AT_A_PLACE:
            found[f"{method} {place}"] = session.request(f"textDocument/{method}", at)
        uses = {**at, "context": {"includeDeclaration": True}}
        found[f"references {place}"] = session.request("textDocument/references", uses)
    for it in found.values():
        if isinstance(it, dict) and "contents" in it:  # What an analysis adds comes when it is done.
            it["contents"]["value"] = it["contents"]["value"].split("\n\n---\n\n")[-1]
    return {name: it for name, it in found.items() if "**CM" not in str(it)}


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_what_was_typed_is_answered_as_what_was_opened(session: Session, newline: str) -> None:
    text = KERNEL.replace("\n", newline)
    chance = random.Random(len(newline))
    uri = session.open("")
    stops = [*sorted(chance.sample(range(40, len(text)), 5)), len(text)]
    for version, (typed, start, end, new) in enumerate(keys(text, chance), 2):
        change = {"range": {"start": position(typed, start), "end": position(typed, end)}, "text": new}
        document = {"uri": uri, "version": version}
        session.client.notify(
            "textDocument/didChange", {"textDocument": document, "contentChanges": [change]}
        )
        now = typed[:start] + new + typed[end:]
        if start == len(typed) and len(now) >= stops[0]:
            stops.pop(0)
            places = [len(now), *chance.sample(range(len(now)), 2)]
            while_typing = answers(session, uri, now, places)
            session.close(uri)
            session.open(now)
            afresh = answers(session, uri, now, places)
            assert {it: while_typing[it] for it in while_typing if it in afresh} == {
                it: afresh[it] for it in afresh if it in while_typing
            }
            if not stops:
                break
    session.close(uri)
    Path(session.folder / "k.cl").unlink()

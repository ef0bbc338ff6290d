"""From a slow kernel to a fast one by code actions alone, as an editor takes them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types as lsp
from pygls.protocol import default_converter
from session import Session

from clmap_lsp.server.documents import Document

FIXTURES = Path(__file__).parents[2] / "fixtures"
CAPABILITIES = {
    "workspace": {"workspaceEdit": {"documentChanges": True, "changeAnnotationSupport": {}}},
    "textDocument": {
        "codeAction": {"resolveSupport": {"properties": ["edit"]}, "dataSupport": True},
        "publishDiagnostics": {"dataSupport": True, "versionSupport": True},
    },
}


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    monkeypatch.setenv("CLMAP_CACHE_DIR", str(tmp_path / "cache"))
    found = Session(tmp_path, CAPABILITIES, settings={"emulate": "off", "device": "nvidia-hopper"})
    yield found
    found.client.__exit__()


def applied(uri: str, text: str, edit: dict[str, Any]) -> str:
    """Return the text after a workspace edit, as a client applies it."""
    (change,) = edit["documentChanges"]
    edits = default_converter().structure(
        [{"range": it["range"], "newText": it["newText"]} for it in change["edits"]], list[lsp.TextEdit]
    )
    document = Document(uri, "opencl", 1, text)
    spans = sorted(
        ((document.offset(it.range.start), document.offset(it.range.end), it.new_text) for it in edits),
        reverse=True,
    )
    for start, end, new in spans:
        text = text[:start] + new + text[end:]
    return text


class Ladder:
    """A kernel and the way that it has come."""

    def __init__(self, session: Session, text: str, kernel: str) -> None:
        self.session, self.text, self.kernel = session, text, kernel
        self.version = 1
        self.uri = session.open(text)
        self.found = session.diagnostics(self.uri, 1)
        self.steps: list[tuple[str, int, int]] = [("as written", *self.figures())]

    @property
    def place(self) -> dict[str, int]:
        before = self.text[: self.text.index(f" {self.kernel}(") + 2]
        return {"line": before.count("\n"), "character": len(before) - before.rfind("\n") - 1}

    def figures(self) -> tuple[int, int]:
        at = {"textDocument": {"uri": self.uri}, "position": self.place}
        totals = self.session.request("clmap/kernelView", at)["totals"]
        return totals["sectors"], totals["wavefronts"]

    def actions(self) -> list[dict[str, Any]]:
        assert self.session.command("clmap.emulate", self.uri, self.place) is None
        mine = [
            it
            for message in self.session.messages
            if message.get("method") == "textDocument/publishDiagnostics"
            and message["params"].get("version") == self.version
            for it in [message["params"]["diagnostics"]]
        ][-1]
        spot = {"start": self.place, "end": self.place}
        context = {"diagnostics": [it for it in mine if it["data"]["kernel"] == self.kernel]}
        params = {"textDocument": {"uri": self.uri}, "range": spot, "context": context}
        found: list[dict[str, Any]] = self.session.request("textDocument/codeAction", params)
        return found

    def take(self, action: dict[str, Any]) -> None:
        resolved = self.session.request("codeAction/resolve", action)
        self.text = applied(self.uri, self.text, resolved["edit"])
        self.version += 1
        self.session.change(self.uri, self.text, self.version)
        self.found = [
            it
            for it in self.session.diagnostics(self.uri, self.version)
            if it["data"]["kernel"] == self.kernel
        ]
        self.steps.append((action["title"], *self.figures()))


def test_a_rewrite_that_moves_as_much_is_not_preferred(session: Session):
    text = (
        "// clmap: global=4096 local=64 in=random(4096) out=zeros(4096)\n"
        "__kernel void copy(__global const float *in, __global float *out)\n{\n"
        "    const int i = get_global_id(0);\n    out[i] = in[i];\n}\n"
    )
    actions = Ladder(session, text, "copy").actions()
    assert any(it["title"].startswith("Add restrict") for it in actions)
    assert not any(it.get("isPreferred") for it in actions)


def test_the_ladder_is_climbed_by_code_actions_alone(session: Session):
    """Swap, stage, then whatever is preferred: ends tiled, coalesced and free of conflicts."""
    ladder = Ladder(session, (FIXTURES / "matmul" / "simple.cl").read_text(), "mm_simple")
    for wanted in ("Swap dimensions", "Stage `A` and `B`"):
        ladder.take(next(it for it in ladder.actions() if it["title"].startswith(wanted)))
    for _ in range(6):
        preferred = next((it for it in ladder.actions() if it.get("isPreferred")), None)
        if preferred is None:
            break
        ladder.take(preferred)
    figures = [step[1:] for step in ladder.steps]
    assert figures[:3] == [(8_945_664, 0), (2_105_344, 0), (270_336, 1_114_112)]
    costs = [sectors + wavefronts for sectors, wavefronts in figures]
    assert costs == sorted(costs, reverse=True)
    codes = {it["code"] for it in ladder.found}
    assert not codes & {"CM101", "CM102", "CM104", "CM201"}, codes
    own = ladder.text[: ladder.text.index("mm_simple_swapped(")]
    assert "__local float A_tile[16][16]" in own and "barrier(CLK_LOCAL_MEM_FENCE)" in own


def test_an_action_says_what_the_host_must_change(session: Session):
    ladder = Ladder(session, (FIXTURES / "matmul" / "simple.cl").read_text(), "mm_simple")
    action = next(it for it in ladder.actions() if it["title"].startswith("Swap"))
    assert "edit" not in action
    edit = session.request("codeAction/resolve", action)["edit"]
    (annotation,) = edit["changeAnnotations"].values()
    assert "global and local size" in annotation["description"] and annotation["needsConfirmation"]
    assert edit["documentChanges"][0]["textDocument"]["version"] == 1
    assert action["command"]["command"] == "clmap.note"


HOST = """\
int main()
{
    cl_kernel kernel = clCreateKernel(program, "mm_simple", &err);
    size_t global[2] = {256, 128}, local[2] = {16, 8};
    clEnqueueNDRangeKernel(queue, kernel, 2, NULL, global, local, 0, NULL, NULL);
}
"""


@pytest.mark.parametrize("state", ["as saved", "typed in", "closed"])
def test_an_action_changes_the_host_file(session: Session, state: str):
    """Its edits come in the same workspace edit, with the host document's version if it is open."""
    (session.folder / "clmap.toml").write_text("")
    (session.folder / "main.c").write_text(HOST)
    host = (session.folder / "main.c").as_uri()
    if state != "closed":
        host = session.open(HOST, "main.c", "c")
    if state == "typed in":
        session.change(host, f"\n{HOST}", 2)
    ladder = Ladder(session, (FIXTURES / "matmul" / "simple.cl").read_text(), "mm_simple")
    action = next(it for it in ladder.actions() if it["title"].startswith("Swap"))
    edit = session.request("codeAction/resolve", action)["edit"]
    changed = {it["textDocument"]["uri"]: it for it in edit["documentChanges"]}
    assert (host in changed) == (state != "typed in")
    if state != "typed in":
        rows = {it["range"]["start"]["line"] for it in changed[host]["edits"]}
        assert rows <= {3, 4} and changed[host]["textDocument"]["version"] == (
            1 if state == "as saved" else None
        )


BODIES = """\
typedef struct { float x, y, z, u, v, w, q; int kind; } Body;
__kernel void drift(__global Body *p, const float dt)
{
    const int i = get_global_id(0);
    p[i].x += dt * p[i].u;
}
__kernel void slow(__global const float *by, __global Body *p)
{
    const int i = get_global_id(0);
    p[i].u *= by[i];
}
"""
LAUNCHING = """\
#include <stdlib.h>
typedef struct { float x, y, z, u, v, w, q; int kind; } Body;
int main()
{
    cl_kernel drift = clCreateKernel(program, "drift", &err), slow = clCreateKernel(program, "slow", &err);
    size_t global = 65536, local = 256; float dt = 0.1f;
    cl_mem m = clCreateBuffer(context, 0, 65536 * sizeof(Body), NULL, &err);
    cl_mem b = clCreateBuffer(context, 0, 65536 * sizeof(float), NULL, &err);
    clSetKernelArg(drift, 0, sizeof(m), &m);
    clSetKernelArg(drift, 1, sizeof(dt), &dt);
    clSetKernelArg(slow, 0, sizeof(b), &b);
    clSetKernelArg(slow, 1, sizeof(m), &m);
    clEnqueueNDRangeKernel(queue, drift, 1, NULL, &global, &local, 0, NULL, NULL);
    clEnqueueNDRangeKernel(queue, slow, 1, NULL, &global, &local, 0, NULL, NULL);
}
"""


def test_structures_are_taken_apart_in_kernels_and_host_at_once(session: Session):
    (session.folder / "clmap.toml").write_text("")
    host = session.open(LAUNCHING, "main.c", "c")
    ladder = Ladder(session, BODIES, "drift")
    action = next(it for it in ladder.actions() if it["title"].startswith("Take `p` apart"))
    edit = session.request("codeAction/resolve", action)["edit"]
    changed = {
        it["textDocument"]["uri"]: [e["newText"] for e in it["edits"]] for it in edit["documentChanges"]
    }
    assert set(changed) == {host, ladder.uri}
    assert any("p_u[i] *= by[i]" in it or "p_u" in it for it in changed[ladder.uri])
    assert "clSetKernelArg(drift, 1, sizeof(m_u), &m_u);" in "".join(changed[host])
    assert {"2", "m_x, m_u"} <= set(changed[host])


def test_an_action_says_what_it_assumes(session: Session):
    ladder = Ladder(session, (FIXTURES / "matmul" / "simple.cl").read_text(), "mm_simple")
    action = next(it for it in ladder.actions() if it["title"].startswith("Stage"))
    edit = session.request("codeAction/resolve", action)["edit"]
    (annotation,) = edit["changeAnnotations"].values()
    assert "local size 16x16" in annotation["description"] and not annotation["needsConfirmation"]


@pytest.mark.parametrize(
    ("device", "gains"),
    [("nvidia-hopper", r"less traffic|fewer accesses"), ("nvidia-h200", r"faster")],
)
@pytest.mark.parametrize("kernel", ["matmul/simple", "matvec/by_row_and_column"])
def test_titles_are_short_and_gains_on_one_scale(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, device: str, gains: str, kernel: str
):
    """A menu shows all of a title, and the one that is preferred gains most."""
    monkeypatch.setenv("CLMAP_CACHE_DIR", str(tmp_path / "cache"))
    session = Session(tmp_path, CAPABILITIES, settings={"emulate": "off", "device": device})
    text = (FIXTURES / f"{kernel}.cl").read_text()
    name = re.findall(r"__kernel\s+void\s+(\w+)", text)[0]
    actions = Ladder(session, text, name).actions()
    fixes = [it for it in actions if "data" in it]
    titles = [it["title"] for it in fixes]
    assert len(titles) == len(set(titles)) and max(len(it["title"]) for it in actions) < 70
    assert not any("…" in it for it in titles)
    said = [found for it in titles if (found := re.search(r": ([\d.]+)x (.*)$", it))]
    assert said and {re.fullmatch(gains, it[2]) is not None for it in said} == {True}
    preferred = [it for it in fixes if it.get("isPreferred")]
    asked = [it for it in said if not it.string.startswith("Store")]  # No layout is changed unasked.
    best = max(asked, key=lambda it: float(it[1]))
    assert any(f": {best[1]}x" in it["title"] for it in preferred)
    kinds = [it["kind"] for it in preferred]
    assert len(kinds) == len(set(kinds))  # One that answers findings, and one that gains more.
    session.client.__exit__()


def test_fix_all_applies_safe_fixes_only(session: Session):
    swap = Ladder(session, (FIXTURES / "matmul" / "simple.cl").read_text(), "mm_simple")
    assert not [it for it in swap.actions() if it["kind"] == "source.fixAll.clmap"]
    text = (
        "// clmap: global=1024 local=64 a=random(65536) sums=zeros(1024) n=64\n"
        "__kernel void rows(__global const float *a, __global float *sums, const int n)\n{\n"
        "    const int row = get_global_id(0);\n    float sum = 0.0f;\n"
        "    for (int k = 0; k < n; k++)\n        sum += a[row * n + k];\n    sums[row] = sum;\n}\n"
    )
    ladder = Ladder(session, text, "rows")
    (fix_all,) = [it for it in ladder.actions() if it["kind"] == "source.fixAll.clmap"]
    ladder.take(fix_all)
    assert "for (; n % 4 == 0 && k0 + 4 <= n; k0 += 4) {" in ladder.text
    assert "__local" not in ladder.text


def test_a_changed_text_is_offered_no_fix_of_before(session: Session):
    ladder = Ladder(session, (FIXTURES / "matmul" / "simple.cl").read_text(), "mm_simple")
    before = next(it for it in ladder.actions() if it["title"].startswith("Swap"))
    assert before["diagnostics"]
    ladder.text = ladder.text.replace("float sum = 0.0f", "float sum = 1.0f", 1)
    ladder.version += 1
    session.change(ladder.uri, ladder.text, ladder.version)
    session.diagnostics(ladder.uri, ladder.version)
    params = {
        "textDocument": {"uri": ladder.uri},
        "range": {"start": ladder.place, "end": ladder.place},
        "context": {"diagnostics": before["diagnostics"]},
    }
    titles = [it["title"] for it in session.request("textDocument/codeAction", params)]
    assert not any(it.startswith(("Swap", "Stage")) for it in titles), titles


def test_the_picture_holds_the_fixes_with_figures_the_best_first(session: Session):
    ladder = Ladder(session, (FIXTURES / "matmul" / "simple.cl").read_text(), "mm_simple")
    titles = {it["title"] for it in ladder.actions()}
    at = {"textDocument": {"uri": ladder.uri}, "position": ladder.place}
    fixes = session.request("clmap/kernelView", at)["fixes"]
    assert titles >= {it["title"] for it in fixes} and len(fixes) >= 3
    ranks = [it["rank"] for it in fixes]
    assert ranks == sorted(ranks)
    staged = next(it for it in fixes if it["title"].startswith("Stage"))
    assert staged["after"]["sectors"] < staged["before"]["sectors"] and staged["after"]["wavefronts"] > 0
    assert {(it["before"]["sectors"], it["before"]["wavefronts"]) for it in fixes} == {ladder.figures()}
    for fix in fixes:
        (change,) = {edit["uri"] for edit in fix["edits"]}
        assert change == ladder.uri

"""Settings by folder, faults of closed files, host files, odd documents: each through a real server."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from session import Session

COPY = """\
// clmap: global=256 local=64 N=256
__kernel void copy(__global const float *in, __global float *out, const int N)
{
    out[get_global_id(0)] = in[get_global_id(0) * N];
}
"""
FAULTY = """\
// clmap: global=64 local=16 in=iota(64) out=zeros(64)
__kernel void neighbours(__global const int *in, __global int *out)
{
    const int i = get_global_id(0);
    out[i] = in[i] + in[i + 1];
}
"""


QUIET = {"emulate": "off", "device": "nvidia-hopper"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    found = Session(tmp_path_factory.mktemp("workspace"), settings=QUIET)
    yield found
    found.client.__exit__()


@pytest.fixture
def session(server: Session, tmp_path: Path) -> Session:
    """A session in a folder of its own; the server is that of the tests before."""
    server.begin_anew(tmp_path)
    return server


@pytest.fixture
def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Session]]:
    """Start servers that are nobody else's."""
    monkeypatch.setenv("CLMAP_CACHE_DIR", str(tmp_path / "cache"))
    sessions: list[Session] = []

    def begin(capabilities: dict[str, Any] | None = None, **options: Any) -> Session:
        sessions.append(Session(tmp_path, capabilities, **{"settings": QUIET, **options}))
        return sessions[-1]

    yield begin
    for session in sessions:
        session.client.__exit__()


def codes(found: list[dict[str, Any]]) -> set[str]:
    return {it.get("code", "") for it in found}


def analysed(session: Session) -> int:
    lines = session.command("clmap.debug").splitlines()
    return int(next(it for it in lines if it.startswith("kernels analysed")).split()[-1])


def test_an_edit_in_one_kernel_analyses_that_one_only(session: Session):
    text = "\n".join(COPY.replace("copy", f"copy{it}") for it in range(10))
    uri = session.open(text)
    session.diagnostics(uri, 1)
    whole = analysed(session)
    edited = text.replace("* N]", "* N + 1]", 1)
    session.change(uri, edited, 2)
    session.diagnostics(uri, 2)
    assert analysed(session) == whole + 1
    session.change(uri, "// a new first line\n" + edited, 3)
    moved = session.diagnostics(uri, 3)
    assert analysed(session) == whole + 1
    rows = sorted(it["range"]["start"]["line"] for it in moved if it["code"] == "CM101")
    assert rows == [it * 6 + 4 for it in range(10)]


def test_a_fault_of_a_closed_configuration_shows_and_goes(start: Callable[..., Session], tmp_path: Path):
    config = tmp_path / "clmap.toml"
    config.write_text('device = "adreno64"\n')
    session = start()
    session.open(COPY)
    (fault,) = session.diagnostics(config.as_uri())
    assert "adreno64" in fault["message"] and fault["range"]["start"] == {"line": 0, "character": 9}
    config.write_text('device = "generic-gpu"\n')
    changed = {"changes": [{"uri": config.as_uri(), "type": 2}]}
    session.client.notify("workspace/didChangeWatchedFiles", changed)
    session.until(config.as_uri(), lambda its: not its)


def severities(diagnostics: list[dict[str, Any]]) -> set[int]:
    return {it["severity"] for it in diagnostics if it["code"] == "CM101"}


def test_severities_change_with_the_file_on_disk(session: Session, tmp_path: Path):
    uri = session.open(COPY)
    first = session.diagnostics(uri, 1)
    assert severities(first) == {2}
    (tmp_path / "clmap.toml").write_text('[rules.severity]\nCM101 = "error"\n')
    session.client.notify("workspace/didChangeWatchedFiles", {"changes": []})
    session.until(uri, lambda its: severities(its) == {1}, 1)


def test_folders_have_settings_of_their_own(start: Callable[..., Session], tmp_path: Path):
    """The client answers `workspace/configuration` with another device for one of two folders."""
    one, two = tmp_path / "one", tmp_path / "two"
    session = start({"workspace": {"configuration": True, "workspaceFolders": True}})
    session.answers["workspace/configuration"] = lambda params: [
        {"ignore": ["CM101"]} if (it.get("scopeUri") or "").endswith("two") else {} for it in params["items"]
    ]
    added = [{"uri": it.as_uri(), "name": it.name} for it in (one, two)]
    session.client.notify("workspace/didChangeWorkspaceFolders", {"event": {"added": added, "removed": []}})
    session.wait(lambda it: len((it.get("params") or {}).get("items") or ()) == 3)
    assert "CM101" in codes(session.diagnostics(session.open(COPY, "one/k.cl")))
    assert "CM101" not in codes(session.diagnostics(session.open(COPY, "two/k.cl")))


def test_findings_of_the_emulator_obey_configuration_and_comments(
    start: Callable[..., Session], tmp_path: Path
):
    (tmp_path / "clmap.toml").write_text('[rules.severity]\nCM301 = "hint"\n')
    session = start(settings={"emulate": "onSave"})
    uri = session.open(FAULTY)
    session.save(uri)
    assert session.wait_for_code("CM301")["severity"] == 4
    silenced = FAULTY.replace("in[i + 1];", "in[i + 1];  // clmap: ignore[CM301] the last one is padding")
    session.change(uri, silenced, 2)
    session.diagnostics(uri, 2)
    place = {"line": 1, "character": 16}
    assert session.command("clmap.emulate", uri, place) is None
    last = [it for it in session.messages if it.get("method") == "textDocument/publishDiagnostics"][-1]
    assert last["params"]["version"] == 2 and "CM301" not in codes(last["params"]["diagnostics"])


@pytest.mark.parametrize(
    ("name", "language", "text", "line", "column"),
    [
        (
            "host.cpp",
            "cpp",
            'int x;\nconst char *k = R"CLC(\n' + COPY + ')CLC";\nint y;\n',
            5,
            28,
        ),
        (
            "host.c",
            "c",
            'const char *k =\n    "#define STEP(i) \\\\\\n"\n    "    ((i) * 256)\\n"\n'
            '    "__kernel void k(__global const float *in, __global float *out) {\\n"\n'
            '    "  out[get_global_id(0)] = in[STEP(get_global_id(0))];\\n"\n    "}\\n";\n',
            4,
            31,
        ),
        ("host.py", "python", 'import x\nSOURCE = """\n' + COPY + '"""\nprint(SOURCE)\n', 5, 28),
    ],
)
def test_kernels_in_host_files(
    start: Callable[..., Session], name: str, language: str, text: str, line: int, column: int
):
    session = start(settings={"emulate": "off", "embedded": True, "device": "nvidia-hopper"})
    found = session.diagnostics(session.open(text, name, language))
    assert codes(found) >= {"CM101"}, found
    places = [it["range"]["start"] for it in found if it["code"] == "CM101"]
    assert places == [{"line": line, "character": column}]


def test_host_files_are_left_alone_unless_asked_for(session: Session):
    uri = session.open('const char *k = R"(' + COPY + ')";', "host.cpp", "cpp")
    lenses = session.request("textDocument/codeLens", {"textDocument": {"uri": uri}})
    assert lenses == []
    assert not any(it.get("method") == "textDocument/publishDiagnostics" for it in session.messages)


@pytest.mark.parametrize(("encoding", "units"), [("utf-8", 4 + 3), ("utf-16", 2 + 1), ("utf-32", 1 + 1)])
def test_positions_behind_emoji_and_cjk(start: Callable[..., Session], encoding: str, units: int):
    """Every feature counts in the units that were agreed on."""
    session = start({"general": {"positionEncodings": [encoding]}})
    prefix, kernel = "/* 😀字 */", COPY.split("\n")
    kernel[3] = prefix + kernel[3]
    text = "\r\n".join(kernel)
    column = kernel[3].index("in[") - 2 + units
    uri = session.open(text)
    here = {"textDocument": {"uri": uri}}
    finding = next(it for it in session.diagnostics(uri) if it["code"] == "CM101")
    assert finding["range"]["start"] == {"line": 3, "character": column}
    place = {**here, "position": {"line": 3, "character": column + 2}}
    hover = session.request("textDocument/hover", place)
    assert "`in`" in hover["contents"]["value"]
    assert hover["range"]["start"] == {"line": 3, "character": column}
    view = session.request("clmap/kernelView", place)
    assert view["accesses"][0]["range"]["start"]["line"] == 3
    whole = {**here, "range": {"start": {"line": 0, "character": 0}, "end": {"line": 9, "character": 0}}}
    hints = session.request("textDocument/inlayHint", whole)
    assert finding["range"]["end"] in [it["position"] for it in hints]
    actions = session.request(
        "textDocument/codeAction",
        {**here, "range": finding["range"], "context": {"diagnostics": [finding]}},
    )
    ignore = next(it for it in actions if it["title"].startswith("clmap: ignore"))
    (edit,) = ignore["edit"]["changes"][uri]
    assert edit["range"]["start"] == {"line": 3, "character": len(kernel[3]) - 2 + units}


def test_a_huge_document_is_refused_politely(session: Session):
    uri = session.open("/* " + "x" * 5_000_000 + " */\n" + COPY)
    (only,) = session.diagnostics(uri)
    assert "not analysed" in only["message"] and only["severity"] == 3
    session.change(uri, COPY, 2)
    assert "CM101" in codes(session.diagnostics(uri, 2))


@pytest.mark.parametrize("uri", ["untitled:Untitled-1", "file:///c%3A/Users/me/kernel.cl", "git:/x/k.cl?a=1"])
def test_documents_without_a_file(session: Session, uri: str):
    document = {"uri": uri, "languageId": "opencl", "version": 1, "text": COPY + "\f\n// end"}
    session.client.notify("textDocument/didOpen", {"textDocument": document})
    session.documents.add(uri)
    assert "CM101" in codes(session.diagnostics(uri, 1))


def test_a_deleted_file_stays_open_and_an_include_is_read_from_the_editor(session: Session, tmp_path: Path):
    header = session.open("#define WIDTH 256\n", "w.h", "opencl")
    uri = session.open('#include "w.h"\n' + COPY.replace("* N]", "* WIDTH]"))
    assert "CM101" in codes(session.diagnostics(uri, 1))
    (tmp_path / "w.h").unlink()
    (tmp_path / "k.cl").unlink()
    session.client.notify("workspace/didChangeWatchedFiles", {"changes": []})
    assert "CM101" in codes(session.diagnostics(uri, 1))
    session.close(header)
    session.client.notify("workspace/didChangeWatchedFiles", {"changes": []})
    session.until(uri, lambda its: "CM002" in codes(its), 1)


def test_lenses_and_hints_are_refreshed_after_an_emulation(start: Callable[..., Session]):
    session = start(
        {"workspace": {"codeLens": {"refreshSupport": True}, "inlayHint": {"refreshSupport": True}}},
        settings={"emulate": "onSave"},
        status=True,
        commands=["clmap.showPanel"],
    )
    uri = session.open(FAULTY)
    asked = {"textDocument": {"uri": uri}}
    lenses = session.request("textDocument/codeLens", asked)
    if not lenses:  # The first analysis took longer than lenses wait for it.
        session.wait(lambda it: it.get("method") == "workspace/codeLens/refresh")
        lenses = session.request("textDocument/codeLens", asked)
    assert "clmap.showPanel" in {it["command"]["command"] for it in lenses}
    session.messages.clear()
    session.save(uri)
    session.wait(lambda it: it.get("method") == "workspace/inlayHint/refresh")
    methods = [it.get("method") for it in session.messages]
    assert "workspace/codeLens/refresh" in methods
    states = [it["params"]["worker"] for it in session.messages if it.get("method") == "clmap/status"]
    assert states[0] == "running"


def test_commands_that_the_client_lacks_run_in_the_server(start: Callable[..., Session]):
    session = start({"window": {"showDocument": {"support": True}}})
    session.answers["window/showDocument"] = lambda _: {"success": True}
    uri = session.open(COPY)
    finding = next(it for it in session.diagnostics(uri) if it["code"] == "CM101")
    params = {
        "textDocument": {"uri": uri},
        "range": finding["range"],
        "context": {"diagnostics": [finding]},
    }
    actions = session.request("textDocument/codeAction", params)
    explain = next(it for it in actions if "explain" in it["title"])["command"]
    assert explain["command"] == "clmap.showRule"
    session.command(explain["command"], *explain["arguments"])
    shown = next(it for it in session.messages if it.get("method") == "window/showDocument")
    assert shown["params"]["uri"].endswith("/CM101.md")


def test_two_servers_share_a_cache(start: Callable[..., Session]):
    one, two = (start(settings={"emulate": "onSave"}) for _ in range(2))
    uris = [it.open(FAULTY) for it in (one, two)]
    for session, uri in zip((one, two), uris, strict=True):
        session.save(uri)
    assert one.wait_for_code("CM301")["range"] == two.wait_for_code("CM301")["range"]


WALK = """\
// clmap: global=64 local=16 N=64
__kernel void walk(__global const float *in, __global float *out, const int N)
{
    const int id = get_global_id(0);
    float sum = 0.0f;
    for (int k = 0; k < N; k++)
        sum += in[k * 64 + id];
    out[id] = sum;
}
"""


@pytest.mark.parametrize(("asked", "turn", "first"), [(0, 0, 0), (3, 3, 768), (1000, 63, 768)])
def test_the_picture_of_a_work_group_follows_the_turn(session: Session, asked: int, turn: int, first: int):
    uri = session.open(WALK)
    at = {"textDocument": {"uri": uri}, "position": {"line": 6, "character": 16}}
    view = session.request("clmap/kernelView", {**at, "access": 0, "turn": asked})
    assert view["localSize"] == [16] and view["simdWidth"] == 32 and view["fixes"] == []
    addresses = [first + 4 * item for item in range(16)]
    expected = {"access": 0, "turn": turn, "turns": 64, "loop": "k", "addresses": addresses}
    assert view["workGroup"] == expected


def test_a_picture_of_no_access_in_particular_holds_no_work_group(session: Session):
    uri = session.open(WALK)
    at = {"textDocument": {"uri": uri}, "position": {"line": 6, "character": 16}}
    for wish in ({}, {"access": 99}, {"access": "0"}, {"access": -1}, {"access": True}):
        assert session.request("clmap/kernelView", {**at, **wish})["workGroup"] is None
    store = session.request("clmap/kernelView", {**at, "access": 1, "turn": 5})["workGroup"]
    assert (store["turn"], store["turns"], store["loop"]) == (0, 1, None)


CHUNKS = """\
// clmap: global=4096 local=256 in=random(65536) out=zeros(4096)
__kernel void sum(__global const float *in, __global float *out)
{
    const int id = get_global_id(0);
    float total = 0.0f;
    for (int i = 0; i < 16; i++)
        total += in[id * 16 + i];
    out[id] = total;
}
"""


def test_a_hover_says_what_another_split_of_the_loop_would_give(session: Session):
    """Figures come from the database, which is opened in the background: the first hover may be without."""
    uri = session.open(CHUNKS)
    place = {"textDocument": {"uri": uri}, "position": {"line": 6, "character": 18}}
    deadline = time.monotonic() + 60
    text = ""
    while "GB/s in the stride sweep" not in text and time.monotonic() < deadline:
        text = session.request("textDocument/hover", place)["contents"]["value"]
        time.sleep(0.1)
    assert "stride exponent 0: each work-item walks 16 consecutive elements" in text
    assert re.search(
        r"(\d+) GB/s in the stride sweep of H200; exponent \d+ reaches (\d+), [\d.]+ times as much", text
    )

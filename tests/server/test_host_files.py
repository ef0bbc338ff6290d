"""Host code in the editor: the line that launches is a place to go to, and what is saved counts at once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from session import Session

KERNEL = """\
__kernel void far(__global float *a)
{
    a[get_global_id(0) * 32] = 1.0f;
}
"""
HOST = """\
int main()
{
    cl_kernel kernel = clCreateKernel(program, "far", &err);
    size_t global = 4096, local = 64;
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL);
}
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    found = Session(tmp_path_factory.mktemp("workspace"), settings={"emulate": "off"})
    yield found
    found.client.__exit__()


@pytest.fixture
def session(server: Session, tmp_path: Path) -> Session:
    server.begin_anew(tmp_path)
    return server


def launched(session: Session, uri: str, sizes: str) -> dict[str, Any]:
    """Wait for a finding that rests on a launch of these sizes; return what it points to in host code."""

    def related(message: dict[str, Any]) -> list[dict[str, Any]]:
        params = message.get("params") or {}
        if message.get("method") != "textDocument/publishDiagnostics" or params["uri"] != uri:
            return []
        return [
            it
            for diagnostic in params["diagnostics"]
            for it in diagnostic.get("relatedInformation") or ()
            if it["message"] == f"far is launched here: {sizes}"
        ]

    return related(session.wait(lambda it: bool(related(it))))[0]


@pytest.mark.parametrize("told", ["watched", "saved"])
def test_the_launch_is_a_place_and_follows_the_host_file(session: Session, tmp_path: Path, told: str) -> None:
    main = tmp_path / "main.c"
    main.write_text(HOST)
    (tmp_path / "clmap.toml").write_text("")
    uri = session.open(KERNEL)
    found = launched(session, uri, "4096 in groups of 64")
    assert found["location"]["uri"] == main.as_uri()
    assert found["location"]["range"]["start"] == {"line": 4, "character": 4}
    main.write_text("// One line more.\n" + HOST.replace("4096", "8192"))
    if told == "watched":
        changes = {"changes": [{"uri": main.as_uri(), "type": 2}]}
        session.client.notify("workspace/didChangeWatchedFiles", changes)
    else:
        session.client.notify("textDocument/didSave", {"textDocument": {"uri": uri}})
    found = launched(session, uri, "8192 in groups of 64")
    assert found["location"]["range"]["start"]["line"] == 5


def test_references_of_a_kernel_include_the_host_code(session: Session, tmp_path: Path) -> None:
    (tmp_path / "main.c").write_text(HOST)
    (tmp_path / "clmap.toml").write_text("")
    uri = session.open(KERNEL)
    launched(session, uri, "4096 in groups of 64")
    params = {
        "textDocument": {"uri": uri},
        "position": {"line": 0, "character": 15},
        "context": {"includeDeclaration": True},
    }
    found = session.request("textDocument/references", params)
    host = [it["range"]["start"] for it in found if it["uri"] == (tmp_path / "main.c").as_uri()]
    assert host == [{"line": 2, "character": 48}]
    assert [it["uri"] for it in found].count(uri) == 1


PYTHON = """\
import pyopencl as cl
program = cl.Program(context, open("k.cl").read()).build()
program.far(queue, (4096,), (64,), buffer)
kernel = cl.Kernel(program, 'far')
"""


@pytest.mark.parametrize(
    ("name", "language", "text", "line", "character"),
    [("main.c", "c", HOST, 2, 49), ("run.py", "python", PYTHON, 2, 9), ("run.py", "python", PYTHON, 3, 31)],
)
def test_host_code_leads_to_the_kernel_that_it_names(
    session: Session, tmp_path: Path, name: str, language: str, text: str, line: int, character: int
) -> None:
    kernel = session.open(KERNEL)
    host = session.open(text, name, language)
    at = {"textDocument": {"uri": host}, "position": {"line": line, "character": character}}
    (found,) = session.request("textDocument/definition", at)
    assert (found["uri"], found["range"]["start"]) == (kernel, {"line": 0, "character": 14})
    hover = session.request("textDocument/hover", at)
    assert "void far(__global float *a)" in hover["contents"]["value"]
    places = session.request("textDocument/references", {**at, "context": {"includeDeclaration": True}})
    assert {it["uri"] for it in places} == {kernel, host}
    assert len(places) == 1 + text.count("far")
    at["position"]["line"] = 0
    assert session.request("textDocument/definition", at) == []


def test_a_kernel_in_a_string_and_who_creates_it(session: Session, tmp_path: Path) -> None:
    text = (
        'const char *source =\n    "__kernel void far(__global float *a)\\n"\n    "{ a[0] = 1.0f; }\\n";\n'
        + HOST
    )
    session.client.notify(
        "workspace/didChangeConfiguration",
        {"settings": {"clmap": {"emulate": "off", "embedded": True}}},
    )
    host = session.open(text, "main.c", "c")
    line = next(at for at, it in enumerate(text.splitlines()) if "clCreateKernel" in it)
    at = {"textDocument": {"uri": host}, "position": {"line": line, "character": 49}}
    (found,) = session.request("textDocument/definition", at)
    assert (found["uri"], found["range"]["start"]) == (host, {"line": 1, "character": 19})
    back = {**at, "position": found["range"]["start"], "context": {"includeDeclaration": False}}
    (use,) = session.request("textDocument/references", back)
    assert use["range"]["start"] == {"line": line, "character": 48}


TWO_PROGRAMS = '''\
import pyopencl as cl
first = """
typedef struct { int x; } pair;
kernel void mm(global int *a) { pair p; p.x = 1; a[get_global_id(0)] = p.x; }
"""
second = """
typedef struct { float x; } pair;
kernel void mm(global float *a) { pair p; p.x = 1; a[get_global_id(0)] = p.x; }
kernel void wrong(global float *a) { a[0] = lost_name }
"""
'''


@pytest.mark.parametrize(
    ("name", "language", "text", "wanted"),
    [
        (
            "main.c",
            "c",
            'const char *s = "__kernel void far(__global int *a) {}";\nint x = |1;\n',
            [],
        ),
        (
            "main.c",
            "c",
            'const char *s = "__kernel void far(__global int *a) {}";\nint cl|;\n',
            [],
        ),
        (
            *("main.c", "c"),
            'const char *s = "__kernel void far(__global int *a) {}";\nk = clCreateKernel(p, "|");\n',
            ["far"],
        ),
        (
            "main.py",
            "python",
            "s = '__kernel void far(__global int *a) {}'\nk = cl.Kernel(p, 'f|')\n",
            ["far"],
        ),
        ("main.py", "python", "s = '__kernel void far(__global int *a) {}'\nnp.f|\n", []),
    ],
)
def test_beside_kernels_nothing_is_offered_but_their_names(
    session: Session, name: str, language: str, text: str, wanted: list[str]
) -> None:
    session.client.notify(
        "workspace/didChangeConfiguration",
        {"settings": {"clmap": {"emulate": "off", "embedded": True}}},
    )
    before = text[: text.index("|")]
    host = session.open(text.replace("|", "", 1), name, language)
    line = before[before.rfind("\n") + 1 :]
    at = {"line": before.count("\n"), "character": len(line)}
    found = session.request("textDocument/completion", {"textDocument": {"uri": host}, "position": at})
    assert [it["label"] for it in found["items"]] == wanted


def test_two_programs_of_a_host_file_may_define_the_same_names(session: Session, tmp_path: Path) -> None:
    session.client.notify(
        "workspace/didChangeConfiguration",
        {"settings": {"clmap": {"emulate": "off", "embedded": True}}},
    )
    host = session.open(TWO_PROGRAMS, "main.py", "python")
    refused = session.until(host, lambda found: any(it["code"] == "CM001" for it in found))
    assert [it["code"] for it in refused if it["severity"] == 1] == ["CM001"]
    line = TWO_PROGRAMS.splitlines()[7]
    at = {
        "textDocument": {"uri": host},
        "position": {"line": 7, "character": line.index("pair p")},
    }
    (found,) = session.request("textDocument/definition", at)
    assert found["range"]["start"]["line"] == 6


@pytest.mark.parametrize(
    ("name", "language", "text", "mended"),
    [
        ("main.c", "c", 'const char *s = "kernel void k(global half *a) { half h = a[0]; }";\n', None),
        ("main.py", "python", 's = """kernel void k(global half *a) { half h = a[0]; }\n"""\n', None),
        ("main.py", "python", 's = """\nkernel void k(global half *a) { half h = a[0]; }\n"""\n', 1),
    ],
)
def test_a_pragma_goes_into_the_kernel_s_string_or_nowhere(
    session: Session, tmp_path: Path, name: str, language: str, text: str, mended: int | None
) -> None:
    session.client.notify(
        "workspace/didChangeConfiguration",
        {"settings": {"clmap": {"emulate": "off", "embedded": True}}},
    )
    host = session.open(text, name, language)
    found = session.until(host, lambda shown: any(it["code"] == "CM017" for it in shown))
    needed = next(it for it in found if it["code"] == "CM017")
    params = {
        "textDocument": {"uri": host},
        "range": needed["range"],
        "context": {"diagnostics": [needed]},
    }
    actions = session.request("textDocument/codeAction", params)
    adding = [it for it in actions if it["title"].startswith("Add '#pragma")]
    if mended is None:
        assert adding == []
        return
    (action,) = adding
    if "edit" not in action:
        action = session.request("codeAction/resolve", action)
    assert f'"line": {mended}' in json.dumps(action["edit"])


def test_a_bracket_that_a_kernel_misses_is_told_and_mended_in_its_string(
    session: Session, tmp_path: Path
) -> None:
    session.client.notify(
        "workspace/didChangeConfiguration",
        {"settings": {"clmap": {"emulate": "off", "embedded": True}}},
    )
    lines = (
        'const char *s = "kernel void k(global int *a) {\\n"',
        '    "if (a[0]) {\\n"',
        '    "}\\n";',
        "int x;\n",
    )
    text = "\n".join(lines)
    host = session.open(text, "main.c", "c")
    (missing,) = session.until(host, lambda shown: any(it["code"] == "CM001" for it in shown))
    assert missing["range"]["start"] == {"line": 2, "character": 5}
    params = {
        "textDocument": {"uri": host},
        "range": missing["range"],
        "context": {"diagnostics": [missing]},
    }
    action = next(
        it for it in session.request("textDocument/codeAction", params) if it["title"] == "Insert '}'"
    )
    if "edit" not in action:
        action = session.request("codeAction/resolve", action)
    assert '{"line": 2, "character": 6}' in json.dumps(action["edit"])

"""A kernel is renamed in the host code that launches it, or there is a reason why not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from session import Session

from clmap_lsp.hosts.naming import namings

KERNEL = "__kernel void far(__global float *a)\n{\n    a[get_global_id(0)] = 1.0f;\n}\n"
C_HOST = """\
#include <CL/cl.h>
/* far, 𝔣𝔞𝔯 */ int main() {
    cl_kernel kernel = clCreateKernel(program, "far", &err); /* "far" */
    printf("far away\\n");
}
"""
PYTHON_HOST = """\
import pyopencl as cl
prg = cl.Program(ctx, open("far.cl").read()).build()
prg.far(queue, (64,), None, a)
again = cl.Kernel(prg, 'far')
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    found = Session(tmp_path_factory.mktemp("workspace"), settings={"emulate": "off", "embedded": True})
    yield found
    found.client.__exit__()


@pytest.fixture
def session(server: Session, tmp_path: Path) -> Iterator[Session]:
    server.begin_anew(tmp_path)
    own = [{"uri": tmp_path.as_uri(), "name": "own"}]
    server.client.notify("workspace/didChangeWorkspaceFolders", {"event": {"added": own, "removed": []}})
    yield server
    server.client.notify("workspace/didChangeWorkspaceFolders", {"event": {"added": [], "removed": own}})


def answer(session: Session, method: str, uri: str, line: int, character: int, **more: Any) -> dict[str, Any]:
    session.client._next_id += 1
    number = session.client._next_id
    position = {"line": line, "character": character}
    params = {"textDocument": {"uri": uri}, "position": position, **more}
    session.client.send({"id": number, "method": f"textDocument/{method}", "params": params})
    return session.wait(lambda it: it.get("id") == number and "method" not in it)


def renamed(folder: Path, changes: dict[str, list[dict[str, Any]]]) -> dict[str, str]:
    """Return the texts of the files of a folder after a workspace edit, by name."""
    texts = {it.name: it.read_text(encoding="utf-8") for it in folder.rglob("*") if it.is_file()}
    for uri, edits in changes.items():
        name = uri.rsplit("/", 1)[-1]
        lines = texts[name].split("\n")
        for edit in sorted(edits, key=lambda it: -it["range"]["start"]["character"]):
            start, end = edit["range"]["start"], edit["range"]["end"]
            units = lines[start["line"]].encode("utf-16-le")
            made = units[: 2 * start["character"]] + edit["newText"].encode("utf-16-le")
            lines[start["line"]] = (made + units[2 * end["character"] :]).decode("utf-16-le")
        texts[name] = "\n".join(lines)
    return texts


def test_strings_of_open_and_closed_host_files_follow(session: Session, tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "main.c").write_text(C_HOST, encoding="utf-8")
    host = session.open(PYTHON_HOST, "run.py", "python")
    kernel = session.open(KERNEL, "far.cl")
    edit = answer(session, "rename", kernel, 0, 15, newName="near")["result"]
    texts = renamed(tmp_path, edit["changes"])
    assert texts["far.cl"] == KERNEL.replace("far", "near")
    assert texts["main.c"] == C_HOST.replace('program, "far"', 'program, "near"')
    assert texts["run.py"] == PYTHON_HOST.replace("prg.far", "prg.near").replace("'far'", "'near'")
    prepared = answer(session, "prepareRename", host, 2, 5)["result"]
    assert prepared["placeholder"] == "far"
    again = answer(session, "rename", host, 2, 5, newName="near")["result"]
    assert renamed(tmp_path, again["changes"]) == texts


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('#include <CL/cl.h>\nvoid f() { log("far"); }\n', "main.cpp:2 (the string may be something else)"),
        ('#include <CL/cl.h>\nauto k = make("far" "_2");\n', "one of several strings"),
        ("#include <CL/cl.h>\n#define S(x) #x\nauto k = load(S(far));\n", "the macro `S` makes a string"),
    ],
)
def test_what_may_be_something_else_is_a_reason_to_refuse(
    session: Session, tmp_path: Path, text: str, why: str
) -> None:
    (tmp_path / "main.cpp").write_text(text)
    kernel = session.open(KERNEL, "far.cl")
    assert why in answer(session, "rename", kernel, 0, 15, newName="near")["error"]["message"]


def test_a_host_file_with_a_kernel_of_its_own_means_that(session: Session, tmp_path: Path) -> None:
    own = f'import pyopencl as cl\nprg = cl.Program(ctx, """\n{KERNEL}""").build()\nprg.far(q)\n'
    (tmp_path / "own.py").write_text(own)
    kernel = session.open(KERNEL, "far.cl")
    changes = answer(session, "rename", kernel, 0, 15, newName="near")["result"]["changes"]
    assert [it.rsplit("/")[-1] for it in changes] == ["far.cl"]
    host = session.open(own, "own.py", "python")
    changes = answer(session, "rename", host, 2, 15, newName="near")["result"]["changes"]
    assert renamed(tmp_path, changes)["own.py"] == own.replace("void far", "void near").replace(
        "prg.far", "prg.near"
    )


def test_two_kernels_of_one_name_as_near_are_a_reason_to_refuse(session: Session, tmp_path: Path) -> None:
    (tmp_path / "main.c").write_text(C_HOST, encoding="utf-8")
    session.open(KERNEL, "other.cl")
    kernel = session.open(KERNEL, "far.cl")
    assert "other.cl" in answer(session, "rename", kernel, 0, 15, newName="near")["error"]["message"]


def test_a_nearer_kernel_is_the_one_that_a_host_file_means(session: Session, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.c").write_text(C_HOST, encoding="utf-8")
    session.open(KERNEL, "one/one.cl")
    kernel = session.open(KERNEL, "two/two.cl")
    changes = answer(session, "rename", kernel, 0, 15, newName="near")["result"]["changes"]
    assert sorted(it.rsplit("/")[-1] for it in changes) == ["two.c", "two.cl"]


CERTAIN = ""


@pytest.mark.parametrize(
    ("path", "line", "doubt"),
    [
        ("a.cpp", 'cl::Kernel k(program, "far");', CERTAIN),
        ("a.cpp", 'cl::Kernel k{program, "far"};', CERTAIN),
        ("a.cpp", 'auto k = cl::KernelFunctor<cl::Buffer, int>(program, "far");', CERTAIN),
        ("a.cpp", 'auto k = new cl::Kernel(program, "far");', CERTAIN),
        ("a.cpp", 'const char *names[] = {"near", "far"};', "something else"),
        ("a.cpp", 'const char *kernel_names[] = {"near", "far"};', CERTAIN),
        ("a.cpp", 'const char *n = "far"; cl_kernel k = clCreateKernel(p, n, 0);', CERTAIN),
        ("a.cpp", '#define N "far"\ncl_kernel k = clCreateKernel(p, N, 0);', CERTAIN),
        ("a.cpp", '#define N "far"', "nothing shows"),
        ("a.cpp", 'run(kernels["far"]);', CERTAIN),
        ("a.cpp", 'cl::Kernel k(program, R"(far)");', CERTAIN),
        ("a.cpp", 'cl::Kernel k(program, u8R"x(far)x");', CERTAIN),
        ("a.cpp", 'cl_kernel k = clCreateKernel(p, u8"far", 0);', CERTAIN),
        ("a.cpp", 'log(R"(far)");', "something else"),
        ("a.cpp", 'log(R"x(far)x)x");', None),
        ("a.py", "k = cl.Kernel(prg, f'far')", CERTAIN),
        ("a.cpp", "far(3); // far", None),
        ("a.cpp", 'log("far away", "too far");', None),
        ("a.py", "x = np.far(a)", None),
        ("a.py", "import far", None),
        ("a.py", "prg.far(queue, n, None)", CERTAIN),
        ("a.py", "thing.far(queue, n, None)", CERTAIN),
        ("a.py", "thing.far(a, b, c, d)", "nothing shows"),
        ("a.py", "thing.far()", None),
        ("a.py", "self.far = 1\nself.far(queue, n, None)", None),
        ("a.py", "f = getattr(prg, 'far')", CERTAIN),
        ("a.py", "print('far')", "something else"),
    ],
)
def test_what_a_place_of_host_code_is(path: str, line: str, doubt: str | None) -> None:
    head = "#include <CL/cl.h>\n" if path.endswith("cpp") else "import pyopencl as cl\nimport numpy as np\n"
    found = [it.doubt for it in namings("far", head + line + "\n", path)]
    if doubt is None:
        assert found == []
    else:
        assert len(found) == 1
        assert found[0] == doubt if doubt == CERTAIN else doubt in found[0]


def test_namings_are_found_in_any_text() -> None:
    for text in (
        "far",
        '"far',
        "'far'",
        '"far"',
        "#define far(",
        '#define A "far" \\\n',
        "x.far",
        "(" * 3000 + "far",
    ):
        for path in ("a.c", "a.py"):
            list(namings("far", f"import pyopencl\n{text}", path))

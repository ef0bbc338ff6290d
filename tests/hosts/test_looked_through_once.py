"""Which host files launch, and what they include, is looked for once for all kernel files."""

from __future__ import annotations

import pytest

from clmap_lsp.hosts import project as project_module
from clmap_lsp.hosts.project import HostProject

LAUNCHES = 'void run() { clEnqueueNDRangeKernel(queue, kernel, 1, 0, &n, 0, 0, 0, 0); }  // "scale"\n'
SPEAKS = '#include "run.h"\nvoid name() { use("scale", "shift"); }\n'
FILES = {
    "/w/host/main.c": SPEAKS,
    "/w/lib/run.h": "void run();\n",
    "/w/lib/run.c": LAUNCHES,
    "/w/src/scale.cl": "__kernel void scale(__global float *a) { a[0] = 1; }\n",
    "/w/src/shift.cl": "__kernel void shift(__global float *a) { a[0] = 1; }\n",
}


def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return where the texts go that are looked through for launches from now on."""
    seen: list[str] = []
    look = HostProject._launches

    def launches(self: HostProject, text: str) -> bool:
        seen.append(text)
        return look(self, text)

    monkeypatch.setattr(HostProject, "_launches", launches)
    return seen


def test_a_second_kernel_file_looks_no_text_through_again(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = counted(monkeypatch)
    project = HostProject(FILES, FILES.get)
    for name in ("scale", "shift"):
        near = project.launching_near(f"/w/src/{name}.cl", [name])
        assert near == HostProject(FILES, FILES.get).launching_near(f"/w/src/{name}.cl", [name])
        assert "/w/lib/run.c" in near, "what speaks of the kernel launches behind a header"
    seen.clear()
    monkeypatch.setattr(project_module, "_INCLUDES", None)  # Whoever looks for includes now fails.
    assert project.launching_near("/w/src/shift.cl", ["shift"]) == ["/w/lib/run.c"]
    assert seen == []


def test_a_text_that_changed_is_looked_through_again() -> None:
    files = dict(FILES)
    project = HostProject(files, files.get)
    assert project.launching_near("/w/src/scale.cl", ["scale"]) == ["/w/lib/run.c"]
    files["/w/lib/run.c"] = "void run() {}\n"
    files["/w/host/main.c"] = LAUNCHES
    for path in ("/w/lib/run.c", "/w/host/main.c"):
        project.forget(path)
    assert project.launching_near("/w/src/scale.cl", ["scale"]) == ["/w/host/main.c"]
    assert project.launching_files == ("/w/host/main.c",)


def test_the_nearest_files_come_first() -> None:
    project = HostProject(FILES, FILES.get)
    order = project._by_distance("/w/lib/own.cl")
    assert order == [(0, "/w/lib/run.c"), (0, "/w/lib/run.h"), (2, "/w/host/main.c")]


SCOPES = {
    "/w/lib/scopes.hpp": "namespace shapes { struct Size { int n; }; int area(int n); }\n",
    **{
        f"/w/host/part{it}.cpp": f'#include "../lib/scopes.hpp"\nint shapes::area{it}() {{ return {it}; }}\n'
        for it in range(20)
    },
}


def test_an_included_file_says_what_its_scopes_are_once(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    look = project_module._scopes_in
    monkeypatch.setattr(project_module, "_scopes_in", lambda text: seen.append(text) or look(text))
    project = HostProject(SCOPES, SCOPES.get)
    for it in range(20):
        (function,) = project.file(f"/w/host/part{it}.cpp").module.functions
        assert (function.owner, function.namespace) == ("", "shapes")
    assert seen.count(SCOPES["/w/lib/scopes.hpp"]) == 1


def test_an_included_file_that_changed_is_asked_again() -> None:
    files = dict(SCOPES)
    project = HostProject(files, files.get)
    project.file("/w/host/part0.cpp")
    files["/w/lib/scopes.hpp"] = "struct shapes { int area0(int n); };\n"
    project.forget("/w/lib/scopes.hpp")
    (function,) = project.file("/w/host/part0.cpp").module.functions
    assert function.owner == "shapes"


def test_who_says_a_word_is_asked_again_when_a_file_changed() -> None:
    files = {"/w/a.h": "int size;\n", "/w/a.c": '#include "a.h"\nint f() { return 1; }\n'}
    project = HostProject(files, files.get)
    assert list(project.candidates("length", "/w/a.c")) == []
    files["/w/a.h"] = "int length;\n"
    project.forget("/w/a.h")
    assert list(project.candidates("length", "/w/a.c")) == ["/w/a.h"]


@pytest.mark.parametrize(
    "line",
    [
        "clEnqueueNDRangeKernel(q, k, 1, 0, &n, 0, 0, 0, 0);",
        "cl::NDRange global(n);",
        "auto f = cl::KernelFunctor<int>(k);",
        "auto f = cl::make_kernel<int>(k);",
        "queue.enqueueTask(k);",
        "ktt::Tuner tuner(0, 0);",
        "cltune::Tuner tuner(0, 0);",
        'runKernel(queue, "scale",2, global);',
        'lib_launch("scale", 3, global);',
        'k = clCreateKernel(p, "scale", &e);',
        "cl::Kernel k;",
    ],
)
def test_whatever_launches_has_a_word_that_is_looked_for_first(line: str) -> None:
    text = f"void run() {{ {line} }}\n"
    assert project_module._USES.search(text)
    assert project_module._uses(text)


def test_far_files_are_asked_where_they_spell_the_kernel_file_with_its_folder() -> None:
    kernel = "/w/bin/kernels/blur/blur.cl"
    far = {
        kernel: FILES["/w/src/scale.cl"],
        "/w/src/blur/main.cpp": LAUNCHES + 'auto path = "kernels/blur/blur.cl";\n',
        "/w/src/other/main.cpp": LAUNCHES + 'auto path = "blur.cl";\n',
    }
    assert HostProject(far, far.get).launching_near(kernel, ["scale"]) == ["/w/src/blur/main.cpp"]

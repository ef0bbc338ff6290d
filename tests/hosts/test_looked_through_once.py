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

"""Looking at one kernel beside any amount of host code ends, and claims nothing that it could not look at."""

from __future__ import annotations

from pathlib import Path

import pytest

from clmap_lsp.config import Settings
from clmap_lsp.hosts.budget import Budget
from clmap_lsp.hosts.launches import HostReader
from clmap_lsp.workbench.hosts import MAX_STRAY_FILES, HostFiles, project_of

KERNEL = "__kernel void scale(__global float *a) { a[get_global_id(0)] *= 2.0f; }\n"
LAUNCH = """\
#include <CL/cl.h>
static size_t SIZE = 4096;
int main() {
    cl_kernel k = clCreateKernel(program, "scale", NULL);
    size_t global = SIZE, local = 64;
    clEnqueueNDRangeKernel(queue, k, 1, NULL, &global, &local, 0, NULL, NULL);
}
"""
OTHER = "int helper_{0}(int x) {{ cl::NDRange a(x); return scale(x) + {0}; }}\n"


def _project(folder: Path, others: int) -> Path:
    (folder / "scale.cl").write_text(KERNEL, encoding="utf-8")
    (folder / "main.c").write_text(LAUNCH, encoding="utf-8")
    far = folder / "far"
    far.mkdir()
    for number in range(others):
        (far / f"h{number}.cpp").write_text(OTHER.format(number) * 40, encoding="utf-8")
    return folder / "scale.cl"


def test_the_nearest_host_code_is_read_within_the_budget(tmp_path: Path) -> None:
    kernel = _project(tmp_path, 120)
    project = project_of(str(tmp_path))
    project.budget = Budget(read=1 << 20, parsed=20_000, steps=50_000)
    files = project.launching_near(str(kernel), ["scale"])
    assert Path(files[0]).name == "main.c", "nearest first"
    found = HostReader(project).report(files).launches
    assert [(it.kernel, [size.number for size in it.local_size if size]) for it in found] == [("scale", [64])]
    parsed = [it for it in project.host_files if it in project._files]
    assert len(parsed) < 60, "the rest was left alone"


def test_a_variable_may_be_written_where_nobody_looked(tmp_path: Path) -> None:
    """Its value is then no claim."""
    _project(tmp_path, 3)
    main = str(tmp_path / "main.c")
    whole, cut = project_of(str(tmp_path)), project_of(str(tmp_path))
    cut.budget = Budget(read=len(LAUNCH))
    assert cut.text(main)
    assert whole.writes("SIZE", main) == 0
    assert cut.writes("SIZE", main) > 0


def test_a_folder_that_nothing_marks_is_not_searched_to_the_end(tmp_path: Path) -> None:
    for number in range(MAX_STRAY_FILES + 50):
        (tmp_path / f"f{number}.c").write_text("int x;\n", encoding="utf-8")
    assert len(project_of(str(tmp_path), most=MAX_STRAY_FILES).paths) == MAX_STRAY_FILES


def test_in_a_folder_that_nothing_marks_what_is_near_comes_first(tmp_path: Path) -> None:
    """Programs of a collection lie side by side: those that come first by name are not more important."""
    for program in ("alpha", "omega"):
        (tmp_path / program).mkdir()
        for number in range(20):
            (tmp_path / program / f"f{number}.c").write_text("int x;\n", encoding="utf-8")
    project = project_of(str(tmp_path), most=30, near=str(tmp_path / "omega"))
    assert sum("omega" in it for it in project.paths) == 20
    assert len(project.paths) == 30


def test_a_launch_in_a_collection_that_nothing_marks_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").mkdir()
    for number in range(MAX_STRAY_FILES + 5):
        (tmp_path / "a" / f"f{number}.c").touch()
    own = tmp_path / "z"
    own.mkdir()
    kernel = _project(own, 0)
    monkeypatch.chdir(tmp_path)
    found = HostFiles().facts(str(kernel), KERNEL, Settings())
    assert set(found.launches) == {"scale"}

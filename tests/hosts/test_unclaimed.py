"""What only one of several ways gives is no constant, and NULL on one of them is no NULL."""

from __future__ import annotations

from pathlib import Path

import pytest

from clmap_lsp.hosts.host_launch import HostLaunch
from clmap_lsp.hosts.launches import launches_of
from clmap_lsp.workbench.hosts import project_of

KERNEL = "__kernel void scale(__global float *a, int n) { a[get_global_id(0)] *= n; }\n"


def launch_of(folder: Path, name: str, text: str) -> HostLaunch:
    (folder / "kernels.cl").write_text(KERNEL)
    (folder / name).write_text(text)
    found = launches_of(project_of(str(folder))).launches
    assert len({it.kernel for it in found}) == 1
    return found[0]


C = """
size_t *group = NULL;
void options(int argc, char **argv) {
  for (int i = 1; i < argc; i++)
    if (!strcmp(argv[i], "--group")) { %s }
}
int main(int argc, char **argv) {
  options(argc, argv);
  cl_program p = clCreateProgramWithSource(c, 1, &text, NULL, NULL);
  cl_kernel k = clCreateKernel(p, "scale", NULL);
  size_t whole = 1024;
  clEnqueueNDRangeKernel(q, k, 1, NULL, &whole, group, 0, NULL, NULL);
}
"""


@pytest.mark.parametrize(
    "given",
    [
        "group = malloc(sizeof(size_t)); group[0] = 64;",
        "static size_t own[1] = { 64 }; group = own;",
        "group = parsed(argv[i]);",
    ],
)
def test_null_unless_an_option_gives_a_size(tmp_path: Path, given: str) -> None:
    launch = launch_of(tmp_path, "main.c", C % given)
    assert launch.global_size[0].number == 1024
    (local,) = launch.local_size
    assert local is not None, "no claim that it is NULL"
    assert local.number is None


CPP = """
cl::NDRange pick(int argc, char **argv);
int main(int argc, char **argv) {
  cl::Program p(context, load("kernels.cl"));
  cl::Kernel k(p, "scale");
  %s
  queue.enqueueNDRangeKernel(k, cl::NullRange, cl::NDRange(1024), local);
}
"""


@pytest.mark.parametrize(
    "local",
    [
        "cl::NDRange local = cl::NullRange; if (argc > 1) local = cl::NDRange(64);",
        "cl::NDRange local = pick(argc, argv); if (argc > 1) local = cl::NDRange(64);",
        "cl::NDRange local = argc > 1 ? cl::NDRange(64) : pick(argc, argv);",
        "cl::NDRange local = argc > 1 ? cl::NDRange(64) : cl::NullRange;",
        "cl::NDRange local; if (argc > 1) local = cl::NDRange(64); else local = pick(argc, argv);",
    ],
)
def test_a_range_that_is_given_on_one_way_only(tmp_path: Path, local: str) -> None:
    launch = launch_of(tmp_path, "main.cpp", CPP % local)
    assert launch.global_size[0].number == 1024
    found = launch.local_size[0]
    assert found is not None
    assert found.number is None

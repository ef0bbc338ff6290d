"""Macros that a host program writes in front of the kernels of a text."""

from __future__ import annotations

from pathlib import Path

from clmap_lsp.hosts.launches import launches_of
from clmap_lsp.workbench.hosts import project_of

HOST = """\
#include "opencl.hpp"
std::string code() { return R"(
kernel void fill(global float *a) { for (int i = 0; i < ROWS; i++) a[i * COUNT + get_global_id(0)] = i; }
)"; }
int main(int argc, char **argv) {
  unsigned count = 4096;
  if (argc > 1) count = atoi(argv[1]);
  const std::string defines =
    "\\n#define COUNT " + std::to_string(count) + "u"
    "\\n#define ROWS " + std::to_string(16u) + "u"
    "\\n#ifdef cl_khr_fp64\\n#define WIDE 1\\n#endif";
  cl::Program program(context, defines + "\\n" + code() + "\\n#define LATER 3\\n");
  program.build();
  cl::Kernel kernel(program, "fill");
  queue.enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(64), cl::NullRange);
}
"""


def test_macros_in_front_of_a_kernel_are_known(tmp_path: Path) -> None:
    (tmp_path / "main.cpp").write_text(HOST)
    (launch,) = launches_of(project_of(str(tmp_path))).launches
    assert dict(launch.defines) == {"ROWS": "16u"}
    assert dict(launch.assumed) == {"COUNT": "4096u"}

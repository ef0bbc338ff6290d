"""A value that chose what is launched is asked again where it is launched: each way has its own kernel."""

from __future__ import annotations

from pathlib import Path

import pytest
from host_code import numbers, read

HEAD = """\
enum Work { SCALE, SHIFT };
class Runner {
  cl::Context context;
  cl::Program program;
  std::string called;
  Work work;
  int size;
  bool ready(Work wanted);
  bool go();
};
"""
PATHS = {
    "a switch": """\
  switch (wanted) {
    case SCALE:
      called = "scale";
      size = 3;
      break;
    case SHIFT:
      called = "shift";
      size = 5;
      if (!std::filesystem::exists(path)) {
        exit(-1);
      }
      break;
    default:
      break;
  }
""",
    "branches": """\
  if (wanted == SHIFT) {
    called = "shift";
    size = 5;
  } else if (SCALE == wanted) {
    called = "scale";
    size = 3;
  }
""",
}
ASKED = {
    "a switch": """\
  switch (work) {
    case SCALE:
      queue.enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(128), cl::NDRange(32));
      break;
    case SHIFT:
      queue.enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(64), cl::NDRange(16));
      break;
  }
""",
    "branches": """\
  if (work == SCALE) {
    queue.enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(128), cl::NDRange(32));
  } else if (work == SHIFT) {
    queue.enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(64), cl::NDRange(16));
  }
""",
    "one after the other": """\
  if (work == SCALE) {
    queue.enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(128), cl::NDRange(32));
  }
  if (work == SHIFT) {
    queue.enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(64), cl::NDRange(16));
  }
""",
}


def host(chosen: str, asked: str) -> str:
    return f"""\
{HEAD}
bool Runner::ready(Work wanted) {{
  work = wanted;
{chosen}
  program = cl::Program(context, text);
  program.build();
  return true;
}}
bool Runner::go() {{
  cl::Kernel kernel = cl::Kernel(program, called.c_str());
  kernel.setArg(1, size);
{asked}
  return true;
}}
"""


@pytest.mark.parametrize("chosen", PATHS)
@pytest.mark.parametrize("asked", ASKED)
def test_each_way_launches_the_kernel_that_it_chose(tmp_path: Path, chosen: str, asked: str) -> None:
    found = read(tmp_path, app_dot_cpp=host(PATHS[chosen], ASKED[asked]))
    assert sorted(found) == ["scale", "shift"]
    assert numbers(found["scale"]) == ([128], [32])
    assert numbers(found["shift"]) == ([64], [16])


def test_what_was_chosen_by_something_else_is_open(tmp_path: Path) -> None:
    text = host(PATHS["a switch"], ASKED["branches"]).replace("work = wanted;", "work = asked();")
    launches = read(tmp_path, app_dot_cpp=text)
    assert sorted(launches) == ["scale", "shift"]
    assert numbers(launches["scale"])[0] in ([128], [64])  # Either kernel may be launched in either way.


def test_numbers_that_are_chosen_are_constants_only_there(tmp_path: Path) -> None:
    text = """\
void run(int kind) {
  cl_kernel kernel = clCreateKernel(program, "scale", 0);
  size_t count = 64;
  int n = 1;
  if (kind == 2) n = 20;
  else if (kind == 3) n = 30;
  clSetKernelArg(kernel, 1, sizeof(int), &n);
  if (kind == 3) {
    int twice = 2 * n;
    clSetKernelArg(kernel, 1, sizeof(int), &twice);
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &count, NULL, 0, NULL, NULL);
  }
  cl_kernel other = clCreateKernel(program, "shift", 0);
  clSetKernelArg(other, 1, sizeof(int), &n);
  clEnqueueNDRangeKernel(queue, other, 1, NULL, &count, NULL, 0, NULL, NULL);
}
int main(int argc, char **argv) { run(atoi(argv[1])); }
"""
    found = read(tmp_path, app_dot_c=text)
    assert found["scale"].arguments["n"].number == 60
    assert found["shift"].arguments["n"].number is None

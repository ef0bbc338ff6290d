"""Which function of C++ a call means: templates, what they are written for, and virtual methods."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from clmap_lsp.cli import main

KERNELS = """\
__kernel void narrow(__global float *a, int n) { a[get_global_id(0)] = n; }
__kernel void wide(__global double *a, int n) { a[get_global_id(0)] = n; }
"""


def launched(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str) -> list[tuple[Any, ...]]:
    (tmp_path / "fill.cl").write_text(KERNELS)
    (tmp_path / "app.cpp").write_text(text)
    assert main(["launches", str(tmp_path), "--format", "json"]) == 0
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["launches"]
    return sorted((it["kernel"], *it["global"], it["args"].get("n")) for it in found)


def test_the_type_of_an_argument_chooses_a_kernel(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = launched(
        tmp_path,
        capsys,
        """\
template <typename T> cl_kernel made(cl_program program) {
  return clCreateKernel(program, sizeof(T) == sizeof(double) ? "wide" : "narrow", 0);
}
template <typename T> void fill(size_t count, const T *values, const T seed) {
  cl_kernel kernel = made<T>(program);
  int n = sizeof(T);
  clSetKernelArg(kernel, 1, sizeof(int), &n);
  clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &count, NULL, 0, NULL, NULL);
}
typedef float Real;
int main() {
  const Real seed = 2;
  Real *values = new Real[64];
  fill(64, values, seed);
}
""",
    )
    assert found == [("narrow", 64, 4)]


def test_a_specialisation_is_called_for_what_it_is_written_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = launched(
        tmp_path,
        capsys,
        """\
template <bool is_wide = false> void set(cl_kernel kernel);
template <> void set<false>(cl_kernel kernel) {
  int n = 1;
  clSetKernelArg(kernel, 1, sizeof(int), &n);
}
template <> void set<true>(cl_kernel kernel) {
  int n = 2;
  clSetKernelArg(kernel, 1, sizeof(int), &n);
}
void run(const char *name, bool is_wide) {
  cl_kernel kernel = clCreateKernel(program, name, 0);
  size_t count = 32;
  if (is_wide) set<true>(kernel);
  else set<false>(kernel);
  clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &count, NULL, 0, NULL, NULL);
}
int main() {
  run("narrow", false);
  run("wide", true);
}
""",
    )
    assert found == [("narrow", 32, 1), ("wide", 32, 2)]


def test_a_base_calls_the_virtual_method_of_what_was_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "window.h").write_text(
        """\
struct Window {
  virtual void apply() {}
  void hidden(int n) {}
  void run() { while (wait()) { apply(); hidden(3); } }
};
"""
    )
    found = launched(
        tmp_path,
        capsys,
        """\
#include "window.h"
struct Filter : Window {
  cl_kernel kernel;
  Filter() { kernel = clCreateKernel(program, "narrow", 0); }
  void launch(int n) {
    size_t count = 16;
    clSetKernelArg(kernel, 1, sizeof(int), &n);
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &count, NULL, 0, NULL, NULL);
  }
  void apply() { launch(5); }
  void hidden(int n) { launch(n + 1); }
};
int main() {
  Filter filter;
  filter.run();
}
""",
    )
    assert ("narrow", 16, 5) in found
    assert ("narrow", 16, 4) not in found


def test_what_counting_gives_is_as_its_variable_holds_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = launched(
        tmp_path,
        capsys,
        """\
int main() {
  cl_kernel kernel = clCreateKernel(program, "narrow", 0);
  size_t turn = -1, count = 128;
  unsigned char small = 255;
  int n = small++;
  n += small;
  clSetKernelArg(kernel, 1, sizeof(int), &n);
  while (++turn <= 200) {
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &count, NULL, 0, NULL, NULL);
  }
}
""",
    )
    assert found == [("narrow", 128, 255)]


def test_a_class_that_only_an_option_of_the_build_makes_is_followed_through_its_templates(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "base.h").write_text(
        """\
template <class T> class Filler {
 public:
  virtual void fill() = 0;
  virtual ~Filler() {}
};
"""
    )
    (tmp_path / "opencl_filler.h").write_text(
        """\
#include "base.h"
template <class T> class OpenCLFiller : public Filler<T> {
  cl::KernelFunctor<cl::Buffer, int> *kernel;
  size_t count;
 public:
  OpenCLFiller(size_t count);
  void fill() override;
};
"""
    )
    (tmp_path / "opencl_filler.cpp").write_text(
        """\
#include "opencl_filler.h"
template <class T> OpenCLFiller<T>::OpenCLFiller(size_t count) : count{count} {
  kernel = new cl::KernelFunctor<cl::Buffer, int>(program, sizeof(T) == 8 ? "wide" : "narrow");
}
template <class T> void OpenCLFiller<T>::fill() {
  (*kernel)(
    cl::EnqueueArgs(queue, cl::NDRange(count)),
    buffer, (int)sizeof(T)
  );
}
"""
    )
    (tmp_path / "other_filler.cpp").write_text(
        """\
#include "base.h"
template <class T> class OtherFiller : public Filler<T> {
 public:
  void fill() override { std::fill(values.begin(), values.end(), T()); }
};
"""
    )
    (tmp_path / "choice.h").write_text(
        """\
#if defined(WITH_OPENCL)
#include "opencl_filler.h"
#elif defined(WITH_OTHER)
#include "other_filler.h"
#endif
template <typename T, typename... Args> std::unique_ptr<Filler<T>> make_filler(Args... args) {
#if defined(WITH_OPENCL)
  return std::make_unique<OpenCLFiller<T>>(args...);
#elif defined(WITH_OTHER)
  return std::make_unique<OtherFiller<T>>(args...);
#endif
}
"""
    )
    found = launched(
        tmp_path,
        capsys,
        """\
#include "choice.h"
template <typename T> void run() {
  std::unique_ptr<Filler<T>> filler = make_filler<T>(4096);
  filler->fill();
}
int main() { run<double>(); }
""",
    )
    assert found == [("wide", 4096, 8)]


TASK = """\
struct Place {
  Place(void *p = nullptr, size_t n = 0) : where(p), bytes(n) {}
  void *where;
  size_t bytes;
};
class Storage {
 public:
  Storage(cl_context c, size_t bytes) { held = clCreateBuffer(c, CL_MEM_READ_WRITE, bytes, NULL, NULL); }
  Place place() const { return Place(&held, sizeof(held)); }
 private:
  mutable cl_mem held;
};
class Task {
 public:
  Task(cl_program p, const std::string &name) { kernel = clCreateKernel(p, name.c_str(), NULL); }
  template <typename... Rest> void give(Rest &&...rest);
  void go(size_t n) { clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &n, NULL, 0, NULL, NULL); }
 private:
  void give(int count, void **what, size_t *bytes);
  void fill(int at, void **what, size_t *bytes) {}
  template <typename... Rest> void fill(int at, void **what, size_t *bytes, Storage *first, Rest &&...rest);
  template <typename T, typename... Rest>
  void fill(int at, void **what, size_t *bytes, T &&first, Rest &&...rest);
  cl_kernel kernel;
};
#include "task.inl"
"""
PACKS = """\
template <typename... Rest> void Task::give(Rest &&...rest) {
  size_t count = sizeof...(Rest);
  void *what[sizeof...(rest)];
  size_t bytes[sizeof...(rest)];
  fill(0, what, bytes, rest...);
  give(int(count), what, bytes);
}
template <typename... Rest>
void Task::fill(int at, void **what, size_t *bytes, Storage *first, Rest &&...rest) {
  auto it = first->place();
  what[at] = it.where;
  bytes[at] = it.bytes;
  fill(++at, what, bytes, rest...);
}
template <typename T, typename... Rest>
void Task::fill(int at, void **what, size_t *bytes, T &&first, Rest &&...rest) {
  what[at] = &first;
  bytes[at] = sizeof(first);
  fill(++at, what, bytes, rest...);
}
"""
GIVEN = """\
#include "task.h"
void Task::give(int count, void **what, size_t *bytes) {
  for (int i = 0; i < count; i++) clSetKernelArg(kernel, cl_uint(i), bytes[i], what[i]);
}
"""


@pytest.mark.parametrize(("given", "n"), [("12", 12), ("atoi(argv[1])", "n")])
def test_packs_are_taken_apart_by_what_fits_each_argument(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], given: str, n: int | str
) -> None:
    """The templates stand in one file and what else has their name in another, as in most libraries."""
    (tmp_path / "task.h").write_text(TASK)
    (tmp_path / "task.inl").write_text(PACKS)
    (tmp_path / "task.cpp").write_text(GIVEN)
    found = launched(
        tmp_path,
        capsys,
        f"""\
#include "task.h"
int main(int argc, char **argv) {{
  Storage *a = new Storage(context, 4096);
  Task *narrow = new Task(program, "narrow"), *wide = new Task(program, "wide");
  int n = {given}, two = 2;
  narrow->give(a, n);
  narrow->go(1024);
  wide->give(a, two);
  wide->go(512);
}}
""",
    )
    assert found == [("narrow", 1024, n), ("wide", 512, 2)]

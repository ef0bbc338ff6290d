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

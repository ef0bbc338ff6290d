"""What several programs of one repository share, and functions defined outside of their namespace."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from clmap_lsp.cli import main


def launched(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    assert main(["launches", str(tmp_path), "--format", "json"]) == 0
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["launches"]
    return found


def test_each_program_launches_the_kernel_beside_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / "runner.hpp").write_text(
        """\
inline void run(const std::string &source, size_t count) {
  cl_program program = clCreateProgramWithSource(context, 1, sources(source), NULL, &error);
  cl_kernel kernel = clCreateKernel(program, "solve", &error);
  clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &count, NULL, 0, NULL, NULL);
}
"""
    )
    for name, count in (("one", 256), ("two", 768)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "task.cl").write_text(
            "__kernel void solve(__global float *a) { a[get_global_id(0)] = 1; }\n"
        )
        (tmp_path / name / "main.cpp").write_text(
            f'#include "../shared/runner.hpp"\nint main() {{ run(input(), {count}); }}\n'
        )
    found = {it["kernel_file"]: it["global"] for it in launched(tmp_path, capsys)}
    assert found == {
        str(tmp_path / "one" / "task.cl"): [256],
        str(tmp_path / "two" / "task.cl"): [768],
    }
    assert len(launched(tmp_path, capsys)) == 2


def test_a_function_may_be_defined_outside_of_its_namespace(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "fill.cl").write_text("__kernel void fill(__global float *a) { a[get_global_id(0)] = 1; }\n")
    (tmp_path / "sizes.hpp").write_text(
        "namespace sizes {\nsize_t rows();\nsize_t count(size_t columns);\n}\n"
    )
    (tmp_path / "sizes.cpp").write_text(
        """\
#include "sizes.hpp"
size_t sizes::rows() { return 32; }
size_t sizes::count(size_t columns) { return rows() * columns; }
"""
    )
    (tmp_path / "main.cpp").write_text(
        """\
#include "sizes.hpp"
size_t rows() { return 7; }
int main() {
  size_t count = sizes::count(4);
  cl_kernel kernel = clCreateKernel(program, "fill", &error);
  clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &count, NULL, 0, NULL, NULL);
}
"""
    )
    assert [it["global"] for it in launched(tmp_path, capsys)] == [[128]]

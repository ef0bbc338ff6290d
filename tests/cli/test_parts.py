"""Files that others include inside of functions are checked there, not on their own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.clmap_command import clmap

RULES = """\
#define COMPARE "compare.cl"
__kernel void rules(__global float *a, int n)
{
    int i = get_global_id(0);
    if (i < n) {
        float4 distance = a[i];
        #include "separate.cl"
        #include COMPARE
    }
}
"""
SEPARATE = """\
// What a kernel needs of its neighbours.
float4 away = distance * 2.0f;
if (away.x > 0.0f) { away = 1.0f; }
"""
COMPARE = "for (int k = 0; k < n; k++) { a[i] += away.x * k; }\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in (("rules.cl", RULES), ("separate.cl", SEPARATE), ("compare.cl", COMPARE)):
        (tmp_path / name).write_text(text)
    return tmp_path


def test_a_part_of_a_function_is_checked_where_it_is_included(folder: Path) -> None:
    done = clmap("check", "--format", "concise", str(folder))
    assert "CM001" not in done.stdout and "CM011" not in done.stdout, done.stdout


def test_a_part_that_is_named_is_checked_alone(folder: Path) -> None:
    done = clmap("check", "--format", "concise", str(folder / "compare.cl"))
    assert "CM001" in done.stdout


def test_a_fault_in_a_part_is_found_through_the_file_that_includes_it(folder: Path) -> None:
    (folder / "separate.cl").write_text("float4 away = distance; away.q = 3;\n")
    assert "separate.cl:1:30: CM011" in clmap("check", "--format", "concise", str(folder)).stdout


def test_what_nothing_includes_is_checked(folder: Path) -> None:
    (folder / "alone.cl").write_text(COMPARE)
    assert "alone.cl" in clmap("check", "--format", "concise", str(folder)).stdout


def test_files_that_only_include_each_other_are_checked(tmp_path: Path) -> None:
    (tmp_path / "one.cl").write_text('#include "two.cl"\nint one = broken;\n')
    (tmp_path / "two.cl").write_text('#include "one.cl"\nint two = broken;\n')
    assert "CM011" in clmap("check", "--format", "concise", str(tmp_path)).stdout

"""What host code is found to launch does not hang on the order in which a process happens to hold names."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

_SECONDS = re.compile(r'"(?:compile|run|metrics|inputs|symbolic)": [\d.e-]+')
SEEDS = ("0", "1", "2", "3")
LAUNCHES = """\
#include <CL/cl.h>
static int width = 64, height = 32, deep = 4, turns = 2;
void launch(cl_program p, cl_command_queue q, cl_mem a, int n) {
  cl_kernel k = clCreateKernel(p, "scale", 0);
  clSetKernelArg(k, 0, sizeof a, &a);
  clSetKernelArg(k, 1, sizeof n, &n);
  size_t global[2] = {width * turns, height * deep}, local[2] = {8, 8};
  clEnqueueNDRangeKernel(q, k, 2, 0, global, local, 0, 0, 0);
}
"""
ALONE = """\
__kernel void lone(__global float *sums, __global const float *values, __global const int *places,
                   const int rows, const int columns, const float by)
{
    float sum = 0;
    for (int i = 0; i < columns; i++)
        sum += values[places[get_global_id(0) * columns + i]] * by;
    if (get_global_id(0) < rows)
        sums[get_global_id(0) * WIDTH] = sum;
}
"""


def _calls_more_than_are_looked_at(path: Path) -> None:
    """Write a program that calls several hundred functions, some of which set what sizes come from."""
    count = 260
    steps = "".join(
        f"int step{it}(int n) {{ {'width += n;' if it % 37 == 5 else ''}"
        f"{'height = n;' if it % 53 == 7 else ''} return n + {it}; }}\n"
        for it in range(count)
    )
    calls = "".join(f"  if (n > {it}) n += step{it}(n);\n" for it in range(count))
    prepare = f"int prepare(int n) {{\n{calls}  return n;\n}}\n"
    reads = 'int main(int argc, char **argv) {\n  FILE *f = fopen(argv[1], "r");\n'
    main = f"{reads}  prepare(argc);\n  launch(0, 0, 0, width);\n  return prepare(argc);\n}}\n"
    (path / "main.c").write_text(LAUNCHES + steps + prepare + main)
    (path / "scale.cl").write_text(
        "__kernel void scale(__global float *a, int n) { a[get_global_id(0) * n + get_global_id(1)] *= 2; }\n"
    )


def said(path: Path, seed: str, *arguments: str) -> str:
    """Return what the command prints in a process whose sets have an order of their own."""
    done = subprocess.run(
        [sys.executable, "-m", "clmap_lsp", *arguments],
        cwd=path,
        env={**os.environ, "PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ("launches", ".", "--format", "json"),
        ("check", ".", "--format", "json", "--hints"),
        ("analyze", ".", "--format", "json"),
        ("emulate", "alone.cl", "--format", "json"),
    ],
    ids=lambda it: it[0],
)
def test_all_seeds_say_the_same(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    _calls_more_than_are_looked_at(tmp_path)
    (tmp_path / "alone.cl").write_text(ALONE)
    first, *others = (_SECONDS.sub("", said(tmp_path, it, *arguments)) for it in SEEDS)
    assert "scale" in first or "lone" in first
    assert others == [first] * len(others)


ORDER = """\
import sys
from pathlib import Path
from clmap_lsp.hosts.project import HostProject
texts = {it: Path(it).read_text() for it in sys.argv[1:]}
project = HostProject(texts, texts.get)
(main,) = project.functions("main", sys.argv[1])
print([it.name for it in project.called_below(main)])
"""


def test_of_more_functions_than_are_looked_at_all_seeds_look_at_the_same(tmp_path: Path) -> None:
    _calls_more_than_are_looked_at(tmp_path)
    found = {
        subprocess.run(
            [sys.executable, "-c", ORDER, str(tmp_path / "main.c")],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
            timeout=300,
        ).stdout
        for seed in SEEDS
    }
    assert len(found) == 1

"""Kernels in arrays of C, made by their names in a loop."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from clmap_lsp.cli import main

KERNELS = "".join(
    f"__kernel void {it}(__global int *a) {{ a[get_global_id(0)] = 1; }}\n" for it in ("p", "q", "r")
)
HOST = """\
#include <CL/cl.h>
enum {{ K_P, K_Q, K_R, K_COUNT }};
static const char *names[K_COUNT] = {{ {names} }};
static struct {{ cl_context c; cl_command_queue queue; cl_program program; cl_kernel k[K_COUNT]; }} g;
static void launch(cl_kernel k, size_t n, size_t local)
{{
    clEnqueueNDRangeKernel(g.queue, k, 1, NULL, &n, &local, 0, NULL, NULL);
}}
int main(void)
{{
    for (int i = 0; i < K_COUNT; i++)
        g.k[i] = clCreateKernel(g.program, names[i], NULL);
    launch(g.k[K_R], 3000, 30);
    launch(g.k[K_P], 1000, 10);
    launch(g.k[K_Q], 2000, 20);
}}
"""


@pytest.mark.parametrize(
    "names",
    [
        '"p", "q", "r"',
        '[K_P] = "p", [K_Q] = "q", [K_R] = "r"',
        '[K_R] = "r", [K_P] = "p", "q"',
        '[1] = "q", "r", [0] = "p"',
    ],
)
def test_each_kernel_of_a_table_has_its_launch(
    names: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    (tmp_path / "k.cl").write_text(KERNELS)
    (tmp_path / "host.c").write_text(HOST.format(names=names))
    assert main(["launches", str(tmp_path), "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)["launches"]
    assert {it["kernel"]: (*it["global"], *it["local"]) for it in found} == {
        "p": (1000, 10),
        "q": (2000, 20),
        "r": (3000, 30),
    }


def test_an_index_that_is_not_known_claims_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "k.cl").write_text(KERNELS)
    (tmp_path / "host.c").write_text(HOST.format(names='[FROM_BUILD] = "p", "q", "r"'))
    main(["launches", str(tmp_path), "--format", "json"])
    found = json.loads(capsys.readouterr().out)["launches"]
    sizes = {"p": (1000, 10), "q": (2000, 20), "r": (3000, 30)}
    assert all((*it["global"], *it["local"]) == sizes[it["kernel"]] for it in found)

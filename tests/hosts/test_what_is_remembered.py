"""What is worked out of a function of host code is kept as long as the function, and no longer."""

from __future__ import annotations

import gc

import pytest

from clmap_lsp.hosts import by_name, walking
from clmap_lsp.hosts.c_reader import read_c
from clmap_lsp.hosts.launches import launches_of
from clmap_lsp.hosts.project import read_project
from clmap_lsp.hosts.tree import Function

KERNEL = "__kernel void k(__global float *a, int n) { if (get_global_id(0) < n) a[get_global_id(0)] = n; }\n"
HOST = """#include <CL/cl.h>
static void launch{0}(cl_kernel k, size_t g) {{ clEnqueueNDRangeKernel(q, k, 1, 0, &g, 0, 0, 0, 0); }}
int main() {{ cl_kernel k = clCreateKernel(p, "k", 0); launch{0}(k, {0} * 64); }}
"""


def remembered() -> int:
    held = [*vars(walking).values(), *vars(by_name).values()]
    kept = [it for it in held if isinstance(it, walking.OfTree)]
    kept += [it._known for it in held if isinstance(it, by_name.ByName)]
    assert len(kept) > 12
    return sum(len(it._known) for it in kept)


def test_of_programs_that_are_gone_nothing_is_remembered():
    gc.collect()
    before = remembered()
    for number in range(1, 20):
        files = {"/w/k.cl": KERNEL, "/w/main.cpp": HOST.format(number)}
        project = read_project(files, files.get)
        assert [it.kernel for it in launches_of(project).launches] == ["k"]
        assert remembered() > before
        del project
    gc.collect()
    assert remembered() == before


def functions_of(text: str) -> tuple[Function, ...]:
    return read_c(text, "main.c").functions


def test_what_is_known_is_that_functions_own():
    one, other = functions_of("void a() { f(1); g(h); }\nvoid b() { g(f(2)); int x; }\n")
    for _ in range(2):
        assert walking.called_names(one) == {"f", "g"}
        assert walking.called_names(other) == {"f", "g"}
        assert walking.handed_on(one) == {"h"}
        assert walking.handed_on(other) == set()


@pytest.mark.parametrize(
    ("names", "rows"), [({"f"}, {1, 4}), ({"h"}, {2}), ({"f", "h", "s"}, {1, 2, 3, 4}), ({"x"}, set())]
)
def test_rows_are_those_of_calls_and_of_what_they_are_handed(names: set[str], rows: set[int]):
    (function,) = functions_of("void a() { f(1);\n g(h);\n s t;\n o.f(); int x; }\n")
    assert walking.rows_of(function, frozenset(names)) == rows

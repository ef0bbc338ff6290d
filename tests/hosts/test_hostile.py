"""Torn and hostile host code: reading it never raises, and takes work in proportion to the text."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clmap_lsp.hosts.kernels import kernels_in
from clmap_lsp.hosts.launches import launches_of
from clmap_lsp.hosts.macros import compile_lines
from clmap_lsp.hosts.project import read_project
from clmap_lsp.source.options import defines_in

C = """\
#define GROUP 64
#ifdef FAST
#define N 1024
#else
#define N (1 << 12)
#endif
struct options { int n; size_t group[2]; };
static struct options defaults = { N, { GROUP, 1 } };
template <int W> size_t round_up(size_t n) { return (n + W - 1) / W * W; }
int main(int argc, char **argv)
{
    struct options o = defaults;
    if (argc > 1) o.n = atoi(argv[1]);
    char text[256];
    sprintf(text, "-DN=%d %s", o.n, argc > 2 ? argv[2] : "");
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &err);
    clBuildProgram(program, 1, &device, text, NULL, NULL);
    cl_kernel kernel = clCreateKernel(program, "k", &err);
    again:
    for (int i = 0; i < 3; i++) { clSetKernelArg(kernel, i, sizeof(int), &o.group[i]); }
    size_t global[2] = { round_up<64>(o.n), 2 };
    clEnqueueNDRangeKernel(queue, kernel, 2, NULL, global, o.group, 0, NULL, NULL);
    switch (argc) { case 1: o.n *= 2; break; default: goto again; }
    auto run = [=](int n) { queue.enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(n, 1)); };
    run(3);
}
"""
PYTHON = """\
import pyopencl as cl, numpy as np
N = 64
class R:
    def __init__(self, n=N):
        self.n = n
        self.prg = cl.Program(ctx, f"__kernel void k(__global int *a, int n) {{ a[{n}] = n; }}").build()
    @property
    def shape(self): return (self.n, *self.more)
    def run(self, **options):
        global N
        N += 1
        try:
            self.prg.k(queue, self.shape, (N, 1) if N > 3 else None, np.int32(self.n), *options.values())
        except (ValueError, OSError) as error:
            raise
match N:
    case 3: R(4).run(a=1)
    case _: [R(i).run() for i in range(3)]
"""
KERNEL = "__kernel void k(__global int *a, int n) { a[0] = n; }\n"


def read(name: str, text: str) -> None:
    files = {"/w/k.cl": KERNEL, f"/w/{name}": text}
    launches_of(read_project(files, files.get))


ODD = ["", "(", "{", '"', "'", "/*", "\\", "\x00", "\ud800", "#if", ")", "&", "*", "\n"]


@st.composite
def torn(draw: st.DrawFn, text: str) -> str:
    """Cut pieces out of a program, and put pieces and odd characters in."""
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 60)))
        other = draw(st.integers(0, len(text)))
        odd = draw(st.sampled_from(ODD))
        text = text[:start] + odd + text[other : other + draw(st.integers(0, 40))] + text[end:]
    return text


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(torn(C))
def test_torn_c(text: str) -> None:
    read("main.cpp", text)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(torn(PYTHON))
def test_torn_python(text: str) -> None:
    read("main.py", text)


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.text(st.sampled_from('kernel vo(){};,*a1_ \n"/#if'), max_size=200), st.text(max_size=60))
def test_any_text_is_read_for_kernels_and_options(text: str, options: str) -> None:
    list(kernels_in(text))
    list(kernels_in("__kernel void " + text))
    defines_in(options)
    compile_lines(text, lambda _: {}, {})


LARGE = 60_000
HOSTILE = {
    "kernels without an end": "kernel a(" * LARGE,
    "kernels in parentheses": "kernel (" * LARGE + ")" * LARGE,
    "kernel words": "kernel " * LARGE + "(;",
    "attributes": "__kernel __attribute__((" * LARGE,
    "raw strings": 'R"x(' * LARGE,
    "comments": "/*" * LARGE,
    "nested branches": "#if 1\n" * LARGE + "int x;\n" * 1000,
    "nested branches that are left out": "#ifdef A\n" * LARGE + "clEnqueueNDRangeKernel();\n" * 1000,
    "a long directive": "#define A \\\n" + "1 + \\\n" * LARGE,
    "a long condition": "#if " + "1 + " * LARGE + "1\nint x;\n#endif\n",
    "members": "int n; void f() { clEnqueueNDRangeKernel(" + "a->" * LARGE + "n); }",
    "subscripts": "int n = 1; void f() { clEnqueueNDRangeKernel(n" + "[n" * LARGE + "; }",
    "lone macros": "A(" * LARGE + "\n" + "A()\n" * LARGE,
    "a deep expression": "int main() { clEnqueueNDRangeKernel(" + "(" * 5000 + "1" + ")" * 5000 + "); }",
    "deep blocks": "int main() { clEnqueueNDRangeKernel();" + "{" * 5000 + "}" * 5000 + "}",
    "doubled strings": 'int main() { std::string s = "x";'
    + "s = s + s;" * 200
    + "cl::NDRange r(s.size()); }",
    "doubled numbers": "int main() { size_t n = 3;" + "n = n * n + n;" * 200 + "cl::NDRange r(n); }",
    "labels": "int main() { cl::NDRange r(1);" + "".join(f"l{i}: x(); goto l{i};" for i in range(300)) + "}",
    "functions that call each other": "".join(
        f"void f{i}(int n) {{ f{(i * 7) % 300}(n); f{(i * 13) % 300}(n); cl::NDRange r(n); }}\n"
        for i in range(300)
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_work_is_in_proportion_to_the_text(name: str) -> None:
    text = HOSTILE[name]
    list(kernels_in(text))
    read("main.cpp", text)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "h.py",
            "import pyopencl as cl\nfrom numpy import\nimport \nzeros(4)\nprg.k(q, (int32(4),), None)\n",
        ),
        (
            "h.py",
            "import pyopencl as cl\nimport as x, \nfrom . import *\nx = int32(3)\nprg.k(q, (x,), None)\n",
        ),
        (
            "h.c",
            "void f(int n, ...) { va_list l; va_start(); clEnqueueNDRangeKernel(q, k, 1, 0, &n, 0, 0); }",
        ),
    ],
)
def test_calls_and_imports_that_lack_what_they_are_of(name: str, text: str) -> None:
    files = {name: text, "k.cl": "__kernel void k(__global int *a) {}"}
    launches_of(read_project(files, files.get))


def test_pointers_that_hold_each_other_have_no_sizes() -> None:
    text = """\
int main(void)
{
    size_t *a, *b;
    a = (size_t *)&b;
    b = (size_t *)&a;
    cl_kernel kernel = clCreateKernel(program, "k", 0);
    clEnqueueNDRangeKernel(queue, kernel, 1, 0, a, 0, 0, 0, 0);
    clEnqueueNDRangeKernel(queue, kernel, 2, 0, (size_t *)&a, b, 0, 0, 0);
}
"""
    files = {"main.c": text, "k.cl": KERNEL}
    launches = launches_of(read_project(files, files.get)).launches
    assert len(launches) == 2

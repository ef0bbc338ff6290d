"""Small host programs that are easily misread. A size is said right, or to depend on the run.

Each gives the local size of its launch: 64 or 32 where every run uses that, else `None`.
"""

from __future__ import annotations

import pytest

from tests.hosts.test_claims import claimed, program

C = {
    "a query over a constant": (
        "size_t local = 64; clGetKernelWorkGroupInfo(kernel, d, CL_KERNEL_WORK_GROUP_SIZE, 8, &local, 0);",
        "",
        None,
    ),
    "compiled out": ("#if 0\nsize_t local = 32;\n#else\nsize_t local = 64;\n#endif\n", "", 64),
    "an array by a constant": ("size_t sizes[3] = {32, 64, 128}; size_t local = sizes[1];", "", 64),
    "an array by a run-time index": (
        "size_t sizes[3] = {32, 64, 128}; size_t local = sizes[argc];",
        "",
        None,
    ),
    "a structure filled by a function": (
        "struct c c; setup(&c); size_t local = c.n;",
        "struct c { int n; int m; }; void setup(struct c *c) { c->m = 3; c->n = 64; }",
        64,
    ),
    "members by name": (
        "struct c c = { .m = 3, .n = 64 }; size_t local = c.n;",
        "struct c { int n; int m; };",
        64,
    ),
    "a structure in a structure": (
        "struct o o = { { 64 }, 2 }; size_t local = o.c.n;",
        "struct c { int n; }; struct o { struct c c; int z; };",
        64,
    ),
    "a table of structures": (
        "size_t local = table[1].n;",
        'struct c { const char *s; int n; }; static const struct c table[] = { {"a", 32}, {"b", 64} };',
        64,
    ),
    "a switch on the run": (
        "size_t local; switch (argc) { case 1: local = 32; break; default: local = 64; }",
        "",
        None,
    ),
    "halved until it fits": ("size_t local = 64; while (local > argc) local /= 2;", "", None),
    "a function by pointer": (
        "int (*f)(void) = argc > 1 ? a : b; size_t local = f();",
        "int a(void) { return 32; } int b(void) { return 64; }",
        None,
    ),
    "bytes copied over it": ("int n = 64; memcpy(&n, header, sizeof n); size_t local = n;", "", None),
    "a union": (
        "union u u; u.i = 64; u.c[0] = read1(); size_t local = u.i;",
        "union u { int i; char c[4]; };",
        None,
    ),
    "names pasted together": (
        "size_t local = SIZE(A);",
        "#define SIZE(x) SIZE_##x\n#define SIZE_A 64\n#define SIZE_B 32",
        64,
    ),
}


@pytest.mark.parametrize("name", C)
def test_c(name: str) -> None:
    body, head, expected = C[name]
    assert set(claimed({"main.c": program(body, head)})) == {expected}


ROW = "struct Entry { std::string name; int n; };"
RUN = "void run() { queue.enqueueNDRangeKernel(k, cl::NullRange, cl::NDRange(65536), cl::NDRange(n)); } };"
GO = "{ queue.enqueueNDRangeKernel(k, cl::NullRange, cl::NDRange(65536), cl::NDRange(n)); }"
LISTED = (
    "cl::Kernel one(program, e.name.c_str());"
    " queue.enqueueNDRangeKernel(one, cl::NullRange, cl::NDRange(65536), cl::NDRange(e.n));"
)
CPP = {
    "a default in a header": (
        "go(kernel);",
        f"void go(cl::Kernel &k, int n = 64);\nvoid go(cl::Kernel &k, int n) {GO}",
        64,
    ),
    "a default that is not taken": ("go(kernel, 32);", f"void go(cl::Kernel &k, int n = 64) {GO}", 32),
    "a template argument": ("go<64>(kernel);", f"template <int n> void go(cl::Kernel &k) {GO}", 64),
    "a member of an initialiser list": (
        "R r(kernel); r.run();",
        f"struct R {{ cl::Kernel k; int n; R(cl::Kernel kk) : k(kk), n(64) {{}} {RUN}",
        64,
    ),
    "a setter before the launch": (
        "R r(kernel); r.set(32); r.run();",
        "struct R { cl::Kernel k; int n; R(cl::Kernel kk) : k(kk), n(64) {} void set(int m) { n = m; }" + RUN,
        32,
    ),
    "an object behind a pointer": (
        "auto r = std::make_unique<R>(kernel, 64); r->run();",
        f"struct R {{ cl::Kernel k; int n; R(cl::Kernel kk, int m) : k(kk), n(m) {{}} {RUN}",
        64,
    ),
    "a constructor that is inherited": (
        "D d(kernel); d.run();",
        "struct B { int n; B() : n(64) {} };"
        f" struct D : B {{ cl::Kernel k; D(cl::Kernel kk) : k(kk) {{}} {RUN}",
        64,
    ),
    "a list of entries": (
        'std::vector<Entry> es = { {"k", 64} };'
        f" for (size_t i = 0; i < es.size(); i++) {{ Entry &e = es[i]; {LISTED} }}",
        ROW,
        64,
    ),
    "each entry of a list": (
        f"for (auto &e : es) {{ {LISTED} }}",
        f'{ROW} static const std::vector<Entry> es = {{ {{"k", 64}} }};',
        64,
    ),
    "a reference that a known function sets": (
        "int n = 0; pick(n); cl::Kernel &k = kernel; " + GO,
        "void pick(int &n) { n = 64; }",
        64,
    ),
    "a reference that an unknown function sets": (
        "int n = 0; pick(n); cl::Kernel &k = kernel; " + GO,
        "",
        None,
    ),
    "a value looked up by name": (
        'int n = 64; cfg.lookupValue("n", n); cl::Kernel &k = kernel; ' + GO,
        "",
        None,
    ),
    "a macro given to an unknown function": (
        "int n = 0; round_up(N, argc); n = N; cl::Kernel &k = kernel; " + GO,
        "#define N 64",
        64,
    ),
    "a value that is logged": ('int n = 64; log("n", n); cl::Kernel &k = kernel; ' + GO, "", 64),
    "a smaller one of the device": (
        "size_t n = std::min<size_t>(64, device.getInfo<CL_DEVICE_MAX_WORK_GROUP_SIZE>());"
        " cl::Kernel &k = kernel; " + GO,
        "",
        None,
    ),
    "the C++ part of a header": (
        "int n = 0; pick(n); cl::Kernel &k = kernel; " + GO,
        "#ifdef __cplusplus\nvoid pick(int &n) { n = 64; }\n#endif",
        64,
    ),
}


def cpp(body: str, head: str) -> str:
    made = 'cl::Program program(context, read("k.cl")); cl::Kernel kernel(program, "k");'
    return f"{head}\nint main(int argc, char **argv)\n{{\n{made}\n{body}\nreturn 0;\n}}\n"


@pytest.mark.parametrize("name", CPP)
def test_cpp(name: str) -> None:
    body, head, expected = CPP[name]
    assert set(claimed({"main.cpp": cpp(body, head)})) == {expected}


LISTS = {
    "std::array<size_t, 1> l{64};": 64,
    "std::array<size_t, 2> l = {{64, 1}};": 64,
    "std::vector<size_t> l = {64};": 64,
    "std::vector<size_t> l = {64}; auto m = l; m[0] = 32;": 64,
    "std::vector<size_t> l = {64}; keep(l);": 64,
    "std::vector<size_t> l = {64}; l[0] = 32;": 32,
    "std::vector<size_t> l = {64}; shrink(l);": 32,
    "std::vector<size_t> l = {64}; l.at(0) = 32;": None,
    "std::vector<size_t> l = {64}; l.front() = 32;": None,
    "std::vector<size_t> l = {64}; *l.begin() = 32;": None,
    "std::vector<size_t> l = {64}; size_t *p = l.data(); *p = 32;": None,
    "std::vector<size_t> l = {64}; std::fill(l.begin(), l.end(), 32);": None,
    "std::vector<size_t> l = {64}; l.assign(1, 32);": None,
    "std::vector<size_t> l = {64}; tune(l);": None,
    "std::vector<size_t> l = {64}, m = {32}; l.swap(m);": None,
    "std::array<size_t, 2> l = {64, 2}; for (auto &x : l) x /= 2;": None,
}


@pytest.mark.parametrize("body", LISTS)
def test_lists_of_cpp(body: str) -> None:
    head = (
        "void keep(std::vector<size_t> v) { v[0] = 32; } void shrink(std::vector<size_t> &v) { v[0] = 32; }"
    )
    launch = "clEnqueueNDRangeKernel(q, kernel(), 1, nullptr, &whole, l.data(), 0, nullptr, nullptr);"
    main = cpp(f"size_t whole = 65536; {body} {launch}", head)
    assert set(claimed({"main.cpp": main})) == {LISTS[body]}


RUN_PYTHON = "prg.k(queue, (65536,), (n,), a)\n"
PYTHON = {
    "sizes by keyword": ("prg.k(queue, global_size=(65536,), local_size=(64,))\n", 64),
    "a shape": ("n = np.zeros((64, 4)).shape[0]\n" + RUN_PYTHON, 64),
    "a nested function's": (
        "def outer():\n  n = 64\n  def change():\n    nonlocal n\n    n = int(sys.argv[1])\n"
        f"  change()\n  {RUN_PYTHON}outer()\n",
        None,
    ),
    "a module that may be missing": (
        f"try:\n  from local_settings import n\nexcept ImportError:\n  n = 64\n{RUN_PYTHON}",
        None,
    ),
    "an attribute set by name": (
        'class R: n = 64\nsetattr(R, "n", int(sys.argv[1]))\nn = R.n\n' + RUN_PYTHON,
        None,
    ),
    "a class of the kernel's name": (
        "class k:\n  def run(self):\n    prg.k(queue, (65536,), (64,), a)\nk().run()\n",
        64,
    ),
    "counted in groups": ("prg.k(queue, (65536,), (64,), a, g_times_l=True)\n", 64),
}


@pytest.mark.parametrize("name", PYTHON)
def test_python(name: str) -> None:
    text, expected = PYTHON[name]
    setup = "import sys, numpy as np, pyopencl as cl\nprg = cl.Program(ctx, open('k.cl').read()).build()\n"
    assert set(claimed({"main.py": setup + text})) == {expected}

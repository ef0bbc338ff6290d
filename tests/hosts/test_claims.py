"""A number is a claim that every run uses it. Host programs of our own in which it would be a wrong one.

Each says what is launched at `local`: a number where every run uses it, else `None`.
"""

from __future__ import annotations

import pytest

from clmap_lsp.hosts.launches import launches_of
from clmap_lsp.hosts.project import read_project

KERNEL = "__kernel void k(__global float *a, int n) { a[get_global_id(0)] = n; }\n"
ENQUEUE = "clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &{size}, 0, NULL, NULL);"
MAKE = 'cl_kernel kernel = clCreateKernel(program, "k", &err); size_t global = 65536;'


def claimed(files: dict[str, str]) -> list[int | float | None]:
    """Return the local size of each launch that some files make."""
    texts = {"/w/k.cl": KERNEL, **{f"/w/{name}": text for name, text in files.items()}}
    found = launches_of(read_project(texts, texts.get)).launches
    assert found, "no launch was found"
    return [it.local_size[0].number if it.local_size[0] is not None else -1 for it in found]


def program(body: str, head: str = "", size: str = "local") -> str:
    launch = ENQUEUE.format(size=size) if "ENQUEUE" not in body else ""
    body = body.replace("ENQUEUE", ENQUEUE.format(size=size))
    return f"{head}\nint main(int argc, char **argv)\n{{\n{MAKE}\n{body}\n{launch}\nreturn 0;\n}}\n"


LONG = " ".join(f"use({i});" for i in range(60))
TRUE_OF_ALL = ("a recursion", "a macro defined twice")
"""Of the first, the first launch is one of every run; the second means what it stands for in its row."""
C = {
    "parsed in a long function": (
        "parse(argc, argv); size_t local = n;",
        f"static int n = 64; void parse(int c, char **v) {{ {LONG} if (c > 1) n = atoi(v[1]); }}",
    ),
    "parsed in a function of a long function": (
        "parse(argc, argv); size_t local = n;",
        f"int n = 64; void set(char *s) {{ {LONG} n = atoi(s); }}"
        f" void parse(int c, char **v) {{ {LONG} set(v[1]); }}",
    ),
    "a field parsed by a library": (
        "struct options o = {64}; parse_all(argc, argv, &o); size_t local = o.n;",
        "struct options { int n; };",
    ),
    "a field parsed in a long function": (
        "struct options o; o.n = 64; parse(argc, argv, &o); size_t local = o.n;",
        f"struct options {{ int n; }}; void parse(int c, char **v, struct options *o) {{ {LONG} o->n = c; }}",
    ),
    "a table of addresses": (
        "parse_table(table, argc, argv); size_t local = n;",
        'static int n = 64; struct row { const char *name; int *to; }; struct row table[] = {{"n", &n}};',
    ),
    "a callback": (
        "on_key(key); for (;;) { size_t local = n; ENQUEUE }",
        "static int n = 64; void key(int c) { n = n * 2; }",
    ),
    "a global of unknown start": (
        "if (argc > 1) n = 64; size_t local = n;",
        "static int n;",
    ),
    "a static that grows": (
        "step(); step();",
        f"void step() {{ {MAKE} static size_t local = 64; {ENQUEUE.format(size='local')} local *= 2; }}",
    ),
    "a loop by goto": (
        "size_t local = 64; again: ENQUEUE local /= 2; if (err) goto again;",
        "",
    ),
    "an argument by an index": (
        "size_t local = 64; size_t sizes[2]; sizes[0] = 64; sizes[argc] = 32; local = sizes[0];",
        "",
    ),
    "a macro defined twice": (
        "size_t local = N;\n#undef N\n#define N 128\nsize_t other = N;",
        "#define N 64",
    ),
    "swapped by a library": ("size_t local = 64, b = argc; exchange(&local, &b);", ""),
    "a getenv": (
        'size_t local = 64; char *s = getenv("LOCAL"); if (s) local = atoi(s);',
        "",
    ),
    "a ternary": ("size_t local = argc > 1 ? 32 : 64;", ""),
    "a minimum with the device's": (
        "size_t most; clGetDeviceInfo(d, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof(most), &most, NULL);"
        " size_t local = most < 64 ? most : 64;",
        "",
    ),
    "a size that grows in a while": ("size_t local = 1; while (local < limit(d)) local *= 2;", ""),
    "a do-while": ("size_t local = 1; do { local *= 2; } while (busy());", ""),
    "read by scanf": ('size_t local = 64; scanf("%zu", &local);', ""),
    "read through a pointer": ("size_t local = 64, *p = &local; *p = argc;", ""),
    "read by a short function": (
        "size_t local = 64; get(&local);",
        'void get(size_t *p) { *p = strtoul(getenv("L"), NULL, 10); }',
    ),
    "an address that stays with a library": (
        'size_t local = 64; register_option("local", &local); parse_options(argc, argv);',
        "",
    ),
    "one of two by a switch": (
        "size_t local = 64; switch (argc) { case 2: local = 32; break; case 3: local = 16; }",
        "",
    ),
    "a copy in memory": ("size_t local = 64; memcpy(&local, argv[1], sizeof(local));", ""),
    "a recursion": (
        "level(64);",
        f"void level(int n) {{ {MAKE} size_t local = n; {ENQUEUE.format(size='local')}"
        " if (n > 1) level(n / 2); }",
    ),
    "a static of another file": ("size_t local = HIDDEN;", '#include "elsewhere.h"'),
}
CPP = {
    "streamed in": ("size_t local = 64; std::cin >> local;", ""),
    "streamed from arguments": ("size_t local = 64; std::istringstream(argv[1]) >> local;", ""),
    "an option by reference": (
        'size_t local = 64; CLI::App app; app.add_option("--local", local); app.parse(argc, argv);',
        "",
    ),
    "an option of boost": (
        'size_t local = 64; desc.add_options()("l", po::value<size_t>(&local)); po::notify(vm);',
        "",
    ),
    "swapped": ("size_t local = 64, other = argc; std::swap(local, other);", ""),
    "tied": ("size_t local = 64; std::tie(local, other) = chosen();", ""),
    "a reference parameter of a long function": (
        "size_t local = 64; tune(local);",
        f"void tune(size_t &n) {{ {LONG} n = best(); }}",
    ),
    "a setter": (
        "",
        "struct Runner { size_t local = 64; void set(size_t n) { local = n; } void run() {"
        f" {MAKE} {ENQUEUE.format(size='local')} }} }};",
    ),
    "a setter and an initialiser list": (
        "",
        "class Runner { public: Runner() : local(64) {} void set(size_t n) { local = n; } void run() {"
        f" {MAKE} {ENQUEUE.format(size='local')} }} size_t local; }};",
    ),
    "a member of a base": (
        "",
        "struct Base { size_t local = 64; }; struct Tuned : Base { Tuned(int n) { local = n; } };"
        f" struct Runner {{ Base *base; void run() {{ {MAKE} size_t local = base->local;"
        f" {ENQUEUE.format(size='local')} }} }};",
    ),
    "a template parameter": (
        "run<32>(); run<128>();",
        f"const int N = 64; template <int N> void run() {{ {MAKE} size_t local = N;"
        f" {ENQUEUE.format(size='local')} }}",
    ),
    "a thrown exception": (
        "size_t local = 64; try { start(); } catch (...) { local = 32; }",
        "",
    ),
    "an enumerator of two enumerations": (
        "size_t local = static_cast<int>(Large::SIZE);",
        "enum class Large { SIZE = 1024 }; enum class Small { SIZE = 64 };",
    ),
    "a lambda that takes a reference": (
        "size_t local = 64; auto set = [&](size_t n) { local = n; }; each(items, set);",
        "",
    ),
}


@pytest.mark.parametrize("name", C)
def test_c(name: str) -> None:
    body, head = C[name]
    other = {"other.c": "static const int HIDDEN = 64;\nvoid other() { use(HIDDEN); }\n"}
    for language in ("c", "cpp"):
        allowed = {64, None} if name in TRUE_OF_ALL else {None}
        assert set(claimed({f"main.{language}": program(body, head), **other})) <= allowed


@pytest.mark.parametrize("name", CPP)
def test_cpp(name: str) -> None:
    body, head = CPP[name]
    main = program(body, head) if body else head
    allowed = {32, 128, None} if name == "a template parameter" else {None}
    assert set(claimed({"main.cpp": main})) <= allowed, name


KNOWN = {
    "an inner block": ("size_t local = 64; { size_t local = 32; use(&local); } ", "", 64),
    "a loop's own": ("size_t local = 64; for (int local = 0; local < 4; local++) use(local);", "", 64),
    "a branch's own": ("size_t local = 64; if (argc) { int local = 2; use(local); }", "", 64),
    "a copied structure": (
        "struct s a = {64}; struct s b = a; b.n = 32; size_t local = a.n;",
        "struct s { int n; };",
        64,
    ),
    "a structure given by value": (
        "struct s a = {64}; change(a); size_t local = a.n;",
        "struct s { int n; }; void change(struct s it) { it.n = 32; use(it.n); }",
        64,
    ),
    "an assigned structure": (
        "struct s a = {64}, b; b = a; b.n = 32; size_t local = a.n;",
        "struct s { int n; };",
        64,
    ),
    "an unsigned char": ("unsigned char n = 320; size_t local = n;", "", 64),
    "a sum of types": ("cl_uint n = -1; size_t local = (n + 1ul) >> 26;", "", 64),
    "a parameter of the name": (
        "size_t local = same(64);",
        "const int n = 7; int same(int n) { return n; }",
        64,
    ),
    "an octal number": ("size_t local = 0100;", "", 64),
    "a value that only looks changed": ("size_t local = 64; size_t other = local; other *= 2;", "", 64),
}


@pytest.mark.parametrize("name", KNOWN)
def test_what_is_known_stays_known(name: str) -> None:
    body, head, value = KNOWN[name]
    for language in ("c", "cpp"):
        assert claimed({f"main.{language}": program(body, head)}) == [value]


KNOWN_CPP = {
    "a namespace": (
        "size_t local = large::N;",
        "namespace large { const int N = 64; } namespace small { const int N = 32; }",
    ),
    "another namespace": (
        "size_t local = large::N;",
        "namespace small { const int N = 32; } namespace large { const int N = 64; }",
    ),
    "a static member": (
        "size_t local = Large::N;",
        "struct Small { static const int N = 32; }; struct Large { static const int N = 64; };",
    ),
    "an overload by its arguments": (
        'size_t local = chosen("x");',
        "int chosen(int n) { return 32; } int chosen(const char *s) { return 64; }",
    ),
    "captured by value": (
        "size_t n = 64; auto run = [=]() { size_t local = n; ENQUEUE }; n = 32; run();",
        "",
    ),
}


@pytest.mark.parametrize("name", KNOWN_CPP)
def test_what_is_known_in_cpp(name: str) -> None:
    body, head = KNOWN_CPP[name]
    assert claimed({"main.cpp": program(body, head)}) == [64]


PYTHON = {
    "argparse": "n = parse().n",
    "input": "n = int(input())",
    "a keyword": "def size(**options): return options.get('n', 64)\nn = size(n=int(sys.argv[1]))",
    "an updated dictionary": "d = {'n': 64}\nd.update(json.load(f))\nn = d['n']",
    "a changed dictionary": "d = {'n': 64}\nfor key in chosen(): d[key] = 32\nn = d['n']",
    "a setter": (
        "class R:\n  def __init__(self): self.n = 64\n  def set(self, n): self.n = n\n"
        "  def run(self): prg.k(queue, (65536,), (self.n,), a)\n"
    ),
    "a global": (
        "n = 64\ndef parse():\n  global n\n  n = int(sys.argv[1])\n"
        "def run(): prg.k(queue, (65536,), (n,), a)\n"
    ),
    "an attribute set from outside": (
        "class R:\n  n = 64\n  def run(self): prg.k(queue, (65536,), (self.n,), a)\n"
        "def main(r): r.n = int(sys.argv[1]); r.run()\n"
    ),
    "a list that grows": "s = []\nfor i in items(): s.append(i)\ns.append(64)\nn = s[0]",
    "a shuffled list": "s = [64, 32]\nrandom.shuffle(s)\nn = s[0]",
    "a sorted list": "s = [64, sizes()]\ns.sort()\nn = s[0]",
    "a list's other name": "s = [64]\nt = s\nt[0] = 32\nn = s[0]",
    "an exception": "n = 64\ntry:\n  start()\nexcept Exception:\n  n = 32",
    "a comprehension": "n = [it for it in (32, 64)][which]",
    "a shape of a file": "n = np.load('x.npy').shape[0]",
    "a with": "n = 64\nwith open('x') as n: pass",
    "an augmented loop": "n = 1\nfor _ in steps: n *= 2",
    "a walrus": "n = 64\nif (n := chosen()): pass",
    "a chain of comparisons": "n = 64 if 1 < level < 3 else 32",
    "an or": "n = given or 64",
    "a match": "n = 64\nmatch mode:\n  case 'a':\n    n = 32",
    "a del": "n = 64\nexec('n = 32')",
    "a while with else": "n = 64\nwhile busy():\n  n = 32\nelse:\n  pass",
    "an unpacked call": "n, m = chosen()",
    "a starred assignment": "n, *m = chosen()",
    "a decorator": "@tuned\ndef size(): return 64\nn = size()",
    "a generator": "def sizes():\n  yield 64\n  yield 32\nn = next(sizes())",
    "a property": (
        "class S:\n  @property\n  def n(self): return self.m\n"
        "  def __init__(self): self.m = int(sys.argv[1])\nn = S().n"
    ),
}


@pytest.mark.parametrize("name", PYTHON)
def test_python(name: str) -> None:
    text = PYTHON[name]
    launch = "" if "prg.k(" in text else "prg.k(queue, (65536,), (n,), a)\n"
    setup = "import sys, json, random, numpy as np, pyopencl as cl\n"
    setup += "prg = cl.Program(ctx, open('k.cl').read()).build()\n"
    allowed = {32} if "other name" in name else {None}
    assert set(claimed({"main.py": f"{setup}{text}\n{launch}"})) <= allowed, name


def test_arguments_of_one_of_several_kernels_or_by_an_open_index() -> None:
    """An argument that may have been set otherwise is no number."""
    body = """
    cl_kernel ks[2] = { clCreateKernel(program, "k", &err), clCreateKernel(program, "k2", &err) };
    int one = 1, two = 2; size_t local = 64;
    clSetKernelArg(ks[0], 1, sizeof(int), &one);
    clSetKernelArg(ks[argc], 1, sizeof(int), &two);
    kernel = ks[0];
    """
    files = {"/w/k.cl": KERNEL, "/w/main.c": program(body)}
    launch = launches_of(read_project(files, files.get)).launches[0]
    assert launch.arguments["n"].number is None
    body = "int one = 1, two = 2; size_t local = 64; clSetKernelArg(kernel, 1, 4, &one);"
    body += " clSetKernelArg(kernel, argc, 4, &two);"
    files["/w/main.c"] = program(body)
    launch = launches_of(read_project(files, files.get)).launches[0]
    assert launch.arguments["n"].number is None


def test_a_function_of_a_module_that_has_a_kernel_s_name_launches_nothing() -> None:
    """The same algorithm in NumPy stands beside the kernels, and its functions have their names."""
    files = {
        "/w/k.cl": "__kernel void counts(__global float *a, __global float *b, int n) { a[n] = b[n]; }\n",
        "/w/gpu.py": """\
import pyopencl as cl
program = cl.Program(context, open("k.cl").read()).build()
def counts(queue, whole, group, a, b):
    program.counts(queue, whole, group, a, b, numpy.int32(3))
""",
        "/w/algorithms.py": """\
import package.kernel.plain
import numpy
def steps(A, B, ob, kernel=package.kernel.plain, dtype=numpy.float32):
    weight, alpha, scaling = kernel.forward(A, B, ob, dtype)
    beta = kernel.backward(A, B, ob, scaling, dtype)
    return kernel.counts(alpha, beta, A, B, ob, dtype)
""",
    }
    found = launches_of(read_project(files, files.get)).launches
    assert [(it.host_file, it.host_row) for it in found] == [("/w/gpu.py", 4)]

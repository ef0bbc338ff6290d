"""What kernels use of C++ and of blocks: the same IR as plain C gives, or named at its place."""

from __future__ import annotations

import random

import pytest
from ir_dump import dump

from clmap_lsp.access.analyse import analyse
from clmap_lsp.commands.checking import CheckJob, check_file
from clmap_lsp.config import Settings
from clmap_lsp.findings import Severity
from clmap_lsp.rules import Selection
from clmap_lsp.source import ir
from clmap_lsp.source.options import BuildOptions
from clmap_lsp.source.program import Program
from clmap_lsp.source.read import read_program
from tests.source.edits import edited

_KERNEL = """kernel void k(global float *a, global int *b, int n) {{
  int i = get_global_id(0);
  {0}
}}
"""


def read(text: str) -> Program:
    program = read_program(text, "k.cl")
    assert not [it for it in program.problems if it.code in ("syntax-error", "internal-error")]
    return program


def places(program: Program, code: str) -> list[tuple[str, int]]:
    """Return (text, row) of the places of the problems with a code."""
    text = program.main_file.text
    return [
        (text[it.span.start : it.span.end], program.position(it.span).row)
        for it in program.problems
        if it.code == code
    ]


@pytest.mark.parametrize(
    ("cpp", "c"),
    [
        pytest.param("b[i] = static_cast<int>(a[i]);", "b[i] = (int)(a[i]);", id="static_cast"),
        pytest.param(
            "*reinterpret_cast<global uint *>(b + i) = 1;",
            "*(global uint *)(b + i) = 1;",
            id="reinterpret_cast",
        ),
        pytest.param("a[i] = std::fmax(a[i], 1.0f);", "a[i] = fmax(a[i], 1.0f);", id="std"),
        pytest.param("b[i] = ::abs(n);", "b[i] = abs(n);", id="the outermost namespace"),
        pytest.param("auto v = a[i]; a[i + 1] = v;", "float v = a[i]; a[i + 1] = v;", id="auto"),
        pytest.param(
            "const auto p = a + i; p[n] = 0;", "global float *const p = a + i; p[n] = 0;", id="auto pointer"
        ),
        pytest.param(
            "for (auto j = 0; j < n; j++) b[i * n + j] = j;",
            "for (int j = 0; j < n; j++) b[i * n + j] = j;",
            id="auto in a loop",
        ),
        pytest.param(
            "global float &r = a[i * n]; r += 1;",
            "global float *r = &(a[i * n]); (*r) += 1;",
            id="a reference to memory",
        ),
    ],
)
def test_statements_mean_what_they_mean_in_c(cpp: str, c: str) -> None:
    one, other = read(_KERNEL.format(cpp)), read(_KERNEL.format(c))
    assert not one.problems
    assert dump(one.kernels[0]) == dump(other.kernels[0])


@pytest.mark.parametrize(
    ("cpp", "c"),
    [
        pytest.param(
            "namespace u { int f(int x) { return x * 2; } namespace v { int g(int x) { return x; } } }\n"
            "using namespace u;\n" + _KERNEL.format("b[f(i)] = u::v::g(n);"),
            "int f(int x) { return x * 2; } int g(int x) { return x; }\n" + _KERNEL.format("b[f(i)] = g(n);"),
            id="namespaces",
        ),
        pytest.param(
            "void f(int &x, const int &y) { x += y; }\n" + _KERNEL.format("f(i, n + 1); b[i] = 1;"),
            "void f(int *x, const int *y) { *x += *y; }\n"
            + _KERNEL.format("f(&i, &(n + 1)); b[i] = 1;").replace("&(n + 1)", "&(int){n + 1}"),
            id="references",
        ),
        pytest.param(
            "int f(int x, int by = 3, int again = (1, 2));\n"
            "int f(int x, int by, int again) { return x * by + again; }\n"
            + _KERNEL.format("b[f(i)] = f(n, 4);"),
            "int f(int x, int by, int again) { return x * by + again; }\n"
            + _KERNEL.format("b[f(i, 3, (1, 2))] = f(n, 4, (1, 2));"),
            id="default arguments",
        ),
    ],
)
def test_functions_give_the_accesses_that_they_give_in_c(cpp: str, c: str) -> None:
    def found(text: str) -> list[tuple[str, str, str]]:
        (kernel,) = read(text).kernels
        return [(it.buffer, it.direction.name, it.text(it.index)) for it in analyse(kernel).accesses]

    assert found(cpp) == found(c)


def test_places_are_those_of_the_text_as_typed() -> None:
    text = _KERNEL.format("global float &r = a[i]; r = static_cast<float>(b[util::twice(i)]);")
    (kernel,) = read("namespace util { int twice(int x) { return 2 * x; } }\n" + text).kernels
    text = "namespace util { int twice(int x) { return 2 * x; } }\n" + text
    typed = [(it.direction.name, text[it.span.start : it.span.end]) for it in analyse(kernel).accesses]
    assert typed == [("LOAD", "b[util::twice(i)]"), ("STORE", "r")]


def test_a_template_is_named_and_everything_else_is_read() -> None:
    text = "template <typename T, int N> T add(T a, T b) { return a + b; }\n" + _KERNEL.format(
        "b[i] = add<int, 3>(1, 2); a[i] = 1;"
    )
    program = read(text)
    assert places(program, "unsupported") == [("template", 1)]
    assert "`add`" in next(it.message for it in program.problems if it.code == "unsupported")
    assert places(program, "unknown-function") == [("add<int, 3>(1, 2)", 4)]
    assert [it.buffer for it in analyse(program.kernels[0]).accesses] == ["b", "a"]


def test_a_block_is_named_and_everything_else_is_read() -> None:
    text = (
        "kernel void k(global int *a, queue_t q) {\n"
        "  int (^square)(int) = ^(int x) { return x * x; };\n"
        "  enqueue_kernel(q, 0, ndrange_1D(64), ^{ a[0] = 1; });\n"
        "  a[get_global_id(0) ^ 3] = 2;\n"
        "}\n"
    )
    program = read(text)
    assert [row for _, row in places(program, "unsupported")] == [2, 3]
    (kernel,) = program.kernels
    opaque = [it.reason for it in ir.walk(kernel.body) if isinstance(it, ir.Unsupported)]
    assert opaque == ["a block is not followed"] * 2
    assert [it.buffer for it in analyse(kernel).accesses] == ["a"]


@pytest.mark.parametrize("seed", range(30))
def test_anything_half_typed_is_read(seed: int) -> None:
    rng = random.Random(seed)
    text = (
        "namespace u { template <class T> T f(T &x, int y = 3) { return static_cast<T>(x + y); } }\n"
        "int g(int &x, int y = (1, 2)) { auto &z = x; return u::f<int>(z, y); }\n"
        + _KERNEL.format("int &r = b[i]; b[g(r)] = g(i, 4); int (^s)(int) = ^(int x) { return x; };")
    )
    for _ in range(4):
        text = edited(text, rng)
        assert not [it for it in read_program(text, "k.cl").problems if it.code == "internal-error"]


def test_a_template_is_read_for_the_types_of_its_first_instantiation_under_the_name_that_the_host_uses() -> (
    None
):
    program = read(
        "template <class T, class I> __kernel void scale(const int n, __global T *a, I s) {\n"
        "  int i = get_global_id(0); if (i < n) a[i] *= s; }\n"
        "template __attribute__((mangled_name(scale_float))) "
        "__kernel void scale(const int n, __global float *a, int s);\n"
        "template __attribute__((mangled_name(scale_half))) "
        "__kernel void scale(const int n, __global half *a, int s);\n"
        "template <typename T> T exp(T x) { return 2 * x; }\n"
    )
    plain = read(
        "__kernel void scale_float(const int n, __global float *a, int s) {\n"
        "  int i = get_global_id(0); if (i < n) a[i] *= s; }\n"
    )
    assert [dump(it) for it in program.kernels] == [dump(it) for it in plain.kernels]
    assert places(program, "unsupported") == [("template", 5)]


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("class Counter { public: int n; void add() { n++; } };\n", ("class", 1)),
        ("void Counter::add(int n)\n{ this->n += n; }\n", ("::", 1)),
        ("template <int N> struct Tree { int apples[N]; };\n", ("template", 1)),
        ("Counter::~Counter() {}\n", ("::", 1)),
    ],
)
def test_classes_are_named_once_and_nothing_is_said_of_errors(text: str, at: tuple[str, int]) -> None:
    kernel = "__kernel void k(__global int *a) { Counter c; c.add(); a[get_global_id(0) * 32] = 1; }\n"
    program = read_program(text + text.replace("Counter", "Other") + kernel, "k.cl")
    assert places(program, "cpp-classes") == [at]
    report = check_file(CheckJob("k.cl", Settings(), Selection.of(), text=text + kernel))
    assert {it.code for it in report.findings if it.severity is Severity.ERROR} == set()
    assert "CM008" in {it.code for it in report.findings if it.severity is Severity.INFORMATION}


def test_names_of_c_that_look_like_classes_are_none() -> None:
    program = read_program("__kernel void k(__global int *a) { int class = 1; a[class] = class; }\n", "k.cl")
    assert places(program, "cpp-classes") == []


@pytest.mark.parametrize(
    "text",
    [
        "kernel void k(global int *o) { auto f = [&](int v) { return v * 2; }; o[0] = f(3); }",
        "kernel void k(global int *o) { global int *p = nullptr; if (p == nullptr) o[0] = 1; }",
        "void add(int &x, const int &y = 3) { x += y; }\nkernel void k(global int *o) { int v = 1; add(v); }",
        "kernel void k(global int *o) { int a[3] = {1, 2, 3}; for (int x : a) o[0] += x; }",
        "kernel void k(global int *o) { bool ok = true and not false; if (ok or o[0]) o[0] = 1; }",
        "kernel void k(global int *o) { if (int i = o[0]; i > 2) { o[1] = i; } }",
        "using real = float;\nkernel void k(global real *o) { o[0] = real(3); }",
        "kernel void k(global int *o) { int a{3}; float2 v{1.0f, 2.0f}; o[0] = a + int{4} + (int)v.x; }",
        "struct p { int x = 3; int get() const { return x; } };\n"
        "kernel void k(global int *o) { p a; o[0] = a.get(); }",
        "[[nodiscard]] int f() { return 1; }\nkernel void k(global int *o) { o[0] = f(); }",
        "kernel void k(global int *o) { decltype(o[0]) r = o[0]; r = 3; }",
        "kernel void k(global int *o) { o[0] = 1'000; }",
        'extern "C" { int g(int x) { return x; } }\nkernel void k(global int *o) { o[0] = g(1); }',
        "namespace a { int f(int x) { return x; } }\nkernel void k(global int *o) { o[0] = a::f(1); }",
    ],
)
@pytest.mark.parametrize(("path", "standard"), [("k.clcpp", None), ("k.cl", "CLC++")])
def test_nothing_is_said_of_errors_where_a_text_is_cpp(text: str, path: str, standard: str | None) -> None:
    settings = Settings(build=BuildOptions(standard=standard))
    report = check_file(CheckJob(path, settings, Selection.of(), text=text + "\n"))
    found = {
        (it.code, it.message) for it in report.findings if it.severity in (Severity.ERROR, Severity.WARNING)
    }
    assert found == set()
    assert "CM014" not in {it.code for it in report.findings}
    assert any(it.code == "CM008" and "nothing is said of errors" in it.message for it in report.findings)


@pytest.mark.parametrize("path", ["k.clcpp", "k.cl"])
def test_errors_of_what_is_c_in_any_case_are_told_in_cpp_too(path: str) -> None:
    functions = "int f(int x) { return x; }\nfloat f(float x) { return x; }\n"
    text = functions + "kernel void k(global int *o) { o[0] = f(1) }\n"
    settings = Settings(build=BuildOptions(standard="CLC++"))
    report = check_file(CheckJob(path, settings, Selection.of(), text=text))
    (error,) = (it for it in report.findings if it.severity is Severity.ERROR)
    assert "expected ';'" in error.message


def test_c_of_a_file_for_cpp_has_no_place_beyond_c() -> None:
    text = """\
typedef struct { int a : 3; float4 v; } pair;
struct node { struct node *next; union { int i; float f; } u; };
enum { A = 1, B };
constant int table[] = { 1, 2 };
int f(int x) { return x & 3 ? A : B; }
kernel void k(global pair *o, local int *l) {
    struct node n = { 0, { 1 } };
    float4 v = (float4){ 1, 2, 3, 4 };
    for (int i = 0, j = i ? 1 : 2; i < 3; i++) {
        switch (i) { case 1: o[i].a = f(i) && f(*(&j)); break; default: ; }
    }
    o[table[0] & n.u.i].v = v;
}
"""
    program = read_program(text, "k.clcpp")
    assert places(program, "cpp-words") == []

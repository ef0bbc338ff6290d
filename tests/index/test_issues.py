"""What is wrong is said where clang says it, in its words; what may come from the host's -D is no error."""

from __future__ import annotations

import pytest
from index_reading import index_of, messages, named

from clmap_lsp.index.model import Kind
from clmap_lsp.index.reading import read_index
from clmap_lsp.index.types import spelled
from clmap_lsp.index.verdict import edits
from clmap_lsp.source.ir import Severity
from clmap_lsp.source.options import BuildOptions

HEAD = "__kernel void k(__global float *o, __local float *l, int n) {\n"

CASES = {
    "int x = n\no[x] = 1;": "2:10 error: expected ';' at end of declaration",
    "o[0] = 1\n": "2:9 error: expected ';' after expression",
    "o[n = 1;": "2:8 error: expected ']'",
    "o[0] = (1 + n;": "2:14 error: expected ')'",
    "if n) o[0] = 1;": "2:4 error: expected '(' after 'if'",
    "for (int i = 0; i < n i++) o[i] = 1;": "2:23 error: expected ';' in 'for' statement specifier",
    "return\n": "4:1 error: expected expression",
    "while (n) { n = 1; continue\n}": "2:28 error: expected ';' after continue statement",
    "o[0] = ;": "2:8 error: expected expression",
    "barrier(CLK_LOCAL_MEM_FENCE)\n": "2:29 error: expected ';' after expression",
    "int total = 0; o[0] = totl;": "2:23 error: use of undeclared identifier 'totl'; did you mean 'total'?",
    "o[get_globl_id(0)] = 1;": (
        "2:3 error: implicit declaration of function 'get_globl_id' is invalid in OpenCL; "
        "did you mean 'get_global_id'?"
    ),
    "n = std::min(1, 2);": "2:5 error: use of undeclared identifier 'std', a word of C++",
    "__global int *p = nullptr;": "2:19 error: use of undeclared identifier 'nullptr', a word of C++",
    "using namespace std;": "2:1 error: unknown type name 'using', a word of C++",
    "flaot x = 1;": "2:1 error: unknown type name 'flaot'; did you mean 'float'?",
    "o[0] = sqrt(1.0f, 2.0f);": "2:8 error: no matching function for call to 'sqrt'",
    "float4 v; v.q = 1;": "2:13 error: illegal vector component name 'q'",
    "float2 v; o[0] = v.z;": "2:20 error: vector component access exceeds type 'float2'",
    "o = l;": "2:3 error: assigning '__local float *' to '__global float *' changes address space of pointer",
    "*n = 1;": "2:1 error: indirection requires pointer operand ('int' invalid)",
    "float4 v = (float4)(1, 2, 3);": (
        "2:20 error: too few elements in vector initialization (expected 4 elements, have 3)"
    ),
    "const int c = 1; c = 2;": (
        "2:20 error: cannot assign to variable 'c' with const-qualified type 'const int'"
    ),
    "int n2 = 1; int n2 = 2;": "2:17 error: redefinition of 'n2'",
    "o[0] = 1.0f % 2.0f;": "2:13 error: invalid operands to binary expression ('float' and 'float')",
    "__global float *p; p.x = 1;": (
        "2:21 error: member reference type '__global float *' is a pointer; did you mean to use '->'?"
    ),
    "enum { A B } e; n = B;": "2:9 error: missing ',' between enumerators",
    "void v;": "2:6 error: variable has incomplete type 'void'",
    "void v[2];": "2:6 error: array has incomplete element type 'void'",
    "__global void *p = o; *p = 1;": "2:26 error: incomplete type '__global void' is not assignable",
    "__global void *p = o; p[0] = 1;": "2:28 error: incomplete type '__global void' is not assignable",
    "__global void *p = o; n = *p;": "2:25 error: assigning to 'int' from incompatible type 'void'",
    "break;": "2:1 error: 'break' statement not in loop or switch statement",
    "continue;": "2:1 error: 'continue' statement not in loop statement",
    "switch (n) { case 1: continue; }": "2:22 error: 'continue' statement not in loop statement",
    "case 1: n = 1;": "2:1 error: 'case' statement not in switch statement",
    "default: n = 1;": "2:1 error: 'default' statement not in switch statement",
    "switch (n) { case 1: case 1: break; }": "2:22 error: duplicate case value '1'",
    "switch (n) { default: default: n = 1; }": "2:23 error: multiple default labels in one switch",
    "switch (o) { }": "2:1 error: statement requires expression of integer type ('__global float *' invalid)",
    "switch (1.5f) { }": "2:1 error: statement requires expression of integer type ('float' invalid)",
    "int n = 1;": "2:5 error: redefinition of 'n'",
    "int a[n];": "2:5 error: variable length arrays are not supported in OpenCL",
    "int a[-1];": "2:7 error: 'a' declared as an array with a negative size",
    "enum { X, X } e; n = X;": "2:11 error: redefinition of enumerator 'X'",
    'n = printf("%d", (sampler_t)0);': (
        "2:18 error: used type 'sampler_t' where arithmetic or pointer type is required"
    ),
    "const sampler_t s = 0; n = (int)s;": (
        "2:33 error: operand of type 'sampler_t' where arithmetic or pointer type is required"
    ),
    "int2 p; float4 v = (float4)(1, p, 0);": (
        "2:32 error: initializing 'float' with an expression of incompatible type 'int2'"
    ),
    "uint2 p; int4 v = {p, 1, 2};": (
        "2:20 error: initializing 'int' with an expression of incompatible type 'uint2'"
    ),
    "float4 v = {1, 2, 3, 4, 5};": "2:25 error: excess elements in vector initializer",
    "float4 v; v.xx = (float2)(1);": "2:16 error: expression is not assignable",
    "float8 v; n = v.s01234;": (
        "2:17 error: vector component access has invalid length 5.  Supported: 1,2,3,4,8,16."
    ),
    "int int x;": "2:5 error: cannot combine with previous 'int' declaration specifier",
    "unsigned float x;": "2:10 error: 'float' cannot be signed or unsigned",
    "long long long x;": "2:11 error: cannot combine with previous 'long long' declaration specifier",
    "static int x;": "2:12 error: variables in function scope cannot be declared static",
    "register int x = 1;": (
        "2:14 error: OpenCL C version 1.2 does not support the 'register' storage class specifier"
    ),
    "image2d_t x;": "2:11 error: type 'image2d_t' can only be used as a function parameter in OpenCL",
    "__constant int c = n;": "2:20 error: initializer element is not a compile-time constant",
    "int *p = n;": (
        "2:6 error: incompatible integer to pointer conversion initializing 'int *' with an "
        "expression of type 'int'"
    ),
    "n = o;": (
        "2:3 error: incompatible pointer to integer conversion assigning to 'int' from '__global float *'"
    ),
    "o = 1;": (
        "2:3 error: incompatible integer to pointer conversion assigning to '__global float *' from 'int'"
    ),
    "float4 v = as_float4(n);": (
        "2:12 error: invalid reinterpretation: sizes of 'float4' and 'int' must match"
    ),
    "int2 v = convert_int2(n);": "2:10 error: no matching function for call to 'convert_int2'",
    "float4 f; uint4 u = (uint4)f;": (
        "2:21 error: invalid conversion between ext-vector type 'uint4' and 'float4'"
    ),
    "o[0] = (float(n);": "2:15 error: type-id cannot have a name",
    "n = sizeof(int n);": "2:16 error: expected ')'",
    "n = 08;": "2:5 error: invalid digit '8' in octal constant",
    "n = 0b12;": "2:5 error: invalid digit '2' in binary constant",
    "n = 1.2.3f;": "2:5 error: invalid suffix '.3f' on floating constant",
    "n = 12q;": "2:5 error: invalid suffix 'q' on integer constant",
    "n = 0x;": "2:5 error: invalid suffix 'x' on integer constant",
    "o[0] = 1f;": "2:8 error: invalid suffix 'f' on integer constant",
}


AMBIGUOUS = ("n = min(n, 2u)", "o[0] = sqrt(n)", "o[0] = clamp(1.0f, 0, 1)", "o[0] = atan2(n, 1)")
CLEAR = ("n = min(n, 'a')", "o[0] = pow(o[0], 2)", "o[0] = fast_length(n)", "o[0] = max((float2)(1), 0.0f).x")


@pytest.mark.parametrize("body", AMBIGUOUS + CLEAR)
def test_calls_that_fit_several_overloads_alike_are_told(body):
    found = [it for it in messages(f"{HEAD}{body};\n}}\n") if "is ambiguous" in it]
    assert len(found) == (body in AMBIGUOUS)


RIGHT = (
    "for (;;) { if (n) break; else continue; }",
    "while (n) switch (n) { case 1: continue; case 'a': break; default: n = 0x1Fu + 0b11 + 017 + 1ull; }",
    "o[0] = 1.f + .5f + 1e3f + 0x1p-3f;",
    "int a[sizeof(float) * 2]; a[0] = 1; { int n = 1; o[n] = a[0]; }",
    "enum { N = 4 }; const int m = 4; int a[N], b[m]; a[0] = b[0] = m;",
    "__global float *p = 0; __local float *q = NULL; bool t = o; if (p && q && t) n = t;",
    "char4 c = (char4)(1); n = (int)c; int2 p = {n, n}; float4 v = {convert_float2(p), 1, 2}; o[n] = v.x;",
    "_Static_assert(sizeof(int) == 4, \"an int\"); switch (n) { case 'a' + 1: break; } n = (&o[0])[0];",
    "int2 p = n; int4 q = (int4)(p, p == p); float4 v = (float4)(convert_float2(p), 1u, 2); o[q.x] = v.x;",
    "float3 v = 1; v.lo = v.yx; v.hi = (float2)(1, 2); v.odd = v.xx; o[0] = v.x;",
    "uint4 u = as_uint4((float4)(1)); float3 t = as_float3(u); n = as_int((short2)(1)); o[n] = t.x;",
    "unsigned long int a = 1; long long unsigned b = a; short int c = b; signed char d = c; o[d] = 1;",
    "uchar4 c = convert_uchar4(HOSTS_OWN(n)); uint4 u = as_uint4(HOSTS_OWN(n)); o[c.x] = u.x;",
)


@pytest.mark.parametrize("body", RIGHT)
def test_what_is_right_is_no_error(body):
    assert [it for it in messages(f"{HEAD}{body}\n}}\n") if " error: " in it] == []


@pytest.mark.parametrize("body", CASES)
def test_an_error_has_clangs_words_and_place(body):
    assert messages(f"{HEAD}{body}\n}}\n")[0] == CASES[body]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "float f(float a, float b) { return a; }\n__kernel void k(__global float *o) { o[0] = f(1); }",
            "2:48 error: too few arguments to function call, expected 2, have 1",
        ),
        (
            "__kernel int k(__global int *o) { o[0] = 1; return 1; }",
            "1:1 error: kernel must have void return type",
        ),
        (
            "__kernel void k(float *o) { o[0] = 1; }",
            "1:24 error: pointer arguments to kernel functions must reside in '__global', '__constant' or "
            "'__local' address space",
        ),
        (
            "int f(int x) { if (x) return 1; }",
            "1:33 warning: non-void function does not return a value in all control paths",
        ),
        ("struct S { int a; int b }\n;", "1:24 warning: expected ';' at end of declaration list"),
        ("void f(void x) {}", "1:13 error: argument may not have 'void' type"),
        ("void f(int x, void) {}", "1:15 error: 'void' must be the first and only parameter if specified"),
        ("struct S { void v; };", "1:17 error: field has incomplete type 'void'"),
        ("int table[2] = {1, 2};", "1:5 error: program scope variable must reside in constant address space"),
    ],
)
def test_declarations(text, expected):
    assert expected in messages(text)


@pytest.mark.parametrize(
    "text",
    [
        f"{HEAD}o[0] = STRIDE;}}",
        f"{HEAD}REAL x = o[0]; o[1] = x * 2;}}",
        "KERNEL_FQ void k(__global float *o) { o[0] = 1; }",
        f"{HEAD}o[0] = vendor_thing(n);}}",
        "DEFINE_ALL(float, 4)\n__kernel void k(__global float *o) { o[0] = 1; }",
        f"{HEAD}o[0] = (REAL)n + SCALE(n);}}",
    ],
)
def test_what_the_host_may_define_is_no_error(text):
    assert not [it for it in messages(text) if " error: " in it]


def test_hints_are_for_what_is_not_used_or_reached():
    found = messages(f"{HEAD}int a = 1; o[0] = n; return; o[1] = 2;}}")
    assert "2:5 hint: unused variable 'a'" in found
    assert "1:51 hint: unused parameter 'l'" in found
    assert any("hint: code will never be executed" in it for it in found)


HALF = "half twice(half x) { return x + x; }\n__kernel void k(__global half *h) { h[0] = twice(h[1]); }\n"


def enabling(extension: str, state: str = "enable") -> str:
    return f"#pragma OPENCL EXTENSION {extension} : {state}\n"


@pytest.mark.parametrize(
    ("text", "standard", "wanted"),
    [
        (HALF, "CL1.2", 1),
        (enabling("cl_khr_fp16") + HALF, "CL1.2", 0),
        (enabling("cl_khr_fp16") + enabling("cl_khr_fp16", "disable") + HALF, "CL1.2", 1),
        (HALF + enabling("cl_khr_fp16"), "CL1.2", 1),
        ("__kernel void k(__global float *o) { double d = o[0]; o[1] = (float)d; }", "CL1.1", 1),
        ("__kernel void k(__global float *o) { double d = o[0]; o[1] = (float)d; }", "CL1.2", 0),
        (
            enabling("cl_amd_fp64") + "__kernel void k(__global float *o, double2 d) { o[0] = (float)d.x; }",
            "CL1.1",
            0,
        ),
        (
            "__kernel void k(write_only image3d_t i) { write_imagef(i, (int4)(0), (float4)(0)); }",
            "CL1.2",
            1,
        ),
        (
            "__kernel void k(write_only image3d_t i) { write_imagef(i, (int4)(0), (float4)(0)); }",
            "CL2.0",
            0,
        ),
        ("__kernel void k(volatile __global long *p) { atom_add(p, 1L); atom_inc(p); }", "CL1.2", 1),
        ("__kernel void k(volatile __global int *p) { atom_add(p, 1); }", "CL1.2", 0),
    ],
)
def test_an_extension_that_nothing_enables_is_told_once(text, standard, wanted):
    found = read_index(text, "k.cl", BuildOptions(standard=standard)).issues
    assert sum(it.issue.code == "extension" for it in found) == wanted


def test_the_pragma_goes_on_a_line_before_the_declaration_that_needs_it():
    text = "// of halves\r\ntypedef int count;\r\n" + HALF.replace("\n", "\r\n")
    index = index_of(text)
    (needed,) = [it for it in index.issues if it.issue.code == "extension"]
    (edit,) = edits(index, needed)
    mended = text[: edit.span.start] + edit.text + text[edit.span.end :]
    assert "typedef int count;\r\n#pragma OPENCL EXTENSION cl_khr_fp16 : enable\r\nhalf twice" in mended
    assert not [it for it in index_of(mended).issues if it.issue.code == "extension"]


def test_constants_that_make_an_expression_double_are_written_as_float():
    text = f"{HEAD}o[0] = 0.5 * o[1] + 1e-3;}}\n"
    index = index_of(text)
    (lossy,) = [it for it in index.issues if it.issue.code == "narrowing"]
    for edit in reversed(edits(index, lossy)):
        text = text[: edit.span.start] + edit.text + text[edit.span.end :]
    assert "0.5f * o[1] + 1e-3f" in text
    assert not [it for it in index_of(text).issues if it.issue.code == "narrowing"]


def test_of_several_words_that_are_as_near_each_process_names_the_same():
    found = messages("__kernel void k(lobal float *a) { a[0] = 1; }\n")
    assert "did you mean 'global'?" in str(found)


@pytest.mark.parametrize(
    ("text", "row", "said"),
    [
        ("void f(global int2 *o) {\n    o[0] = (int2){5, 5;\n}\n", 2, "expected '}'"),
        ("void f(global int2 *o) {\n    o[0] = (int2){5, 5;\n}\nkernel void k() {\n}\n", 2, "expected '}'"),
        ("__attribute__((vec_type_hint(int))\nkernel void k() {\n}\n", 1, "expected ')'"),
        (
            "kernel void a() {\n    if (1) {\n}\n__attribute__((reqd_work_group_size(8, 1, 1)))\n"
            "kernel void k() {\n}\n",
            4,
            "expected expression; a '}' is missing before this kernel",
        ),
        ("clk_event_t e;\n", 1, "'clk_event_t' is of OpenCL C 2.0; this is built as 1.2"),
    ],
)
def test_what_is_not_closed_is_told_where_it_is(text, row, said):
    index = read_index(text, "k.cl", BuildOptions(standard="CL1.2"))
    first = next(it for it in index.issues if it.issue.severity is Severity.ERROR)
    assert (index.files["k.cl"].position(first.span.start).row, first.issue.message) == (row, said)


def test_generic_is_a_word_where_pointers_to_it_are():
    index = read_index("int f(generic int *p) { return *p; }\n", "k.cl")
    assert index.read_as.standard == "CL2.0"
    assert not index.issues
    named = read_index("int f(int generic) { return generic * 2; }\n", "k.cl")
    assert named.read_as.standard == "CL1.2"
    assert not named.issues


def test_pointers_are_taken_to_their_address_space():
    text = """\
int f(generic int *p) {
    global int *a = to_global(p);
    local int *b = to_local(p);
    private int *c = to_private(p);
    return (a ? *a : 0) + (b ? *b : 0) + (c ? *c : 0);
}
"""
    assert not read_index(text, "k.cl").issues


def test_pipes_are_parameters_of_2_0():
    text = """\
kernel void k(read_only pipe int in, write_only pipe float4 out) {
    int x;
    float4 v = 0;
    read_pipe(in, &x);
    write_pipe(out, &v);
}
int count(read_only pipe int p);
"""
    index = read_index(text, "k.cl")
    assert index.read_as.standard == "CL2.0"
    assert not index.issues
    shown = [str(index.occurrence_at(text.index(it)).symbol.type) for it in ("in,", "out)", "p);")]
    assert shown == ["__read_only pipe int", "__write_only pipe float4", "__read_only pipe int"]
    assert not read_index("int f(int pipe) { return pipe * 2; }\n", "k.cl").issues


def test_the_operands_of_assembly_are_read():
    text = """\
int f(int a, int b) {
    int sum;
    __asm__ volatile("add %0, %1, %2" : "=r"(sum) : "r"(a), "r"(b + 1) : "memory");
    return sum;
}
"""
    index = read_index(text, "k.cl")
    assert not index.issues
    assert [it.symbol.name for it in index.occurrences if text.count("\n", 0, it.start) == 2] == [
        "sum",
        "a",
        "b",
    ]


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("float t[count];", "variable length arrays are not supported in OpenCL"),
        ("int (*f)(int) = 0;", "a pointer to a function needs"),
        ('printf("sum is %d\\n, n);', 'missing terminating " character'),
        ("char c = 'a;", "missing terminating ' character"),
        ("if (n = count) n++;", "using the result of an assignment as a condition without parentheses"),
        ("float3 v = (1, 2, 3);", "left operand of comma operator has no effect"),
    ],
)
def test_what_a_compiler_says_of_slips(statement, said):
    text = f"__kernel void k(__global int *r, const int count) {{\n    int n = 0;\n    {statement}\n}}\n"
    shown = [it for it in read_index(text, "k.cl").issues if said in it.issue.message]
    assert [it.span.start for it in shown] and all(text.count("\n", 0, it.span.start) == 2 for it in shown)


@pytest.mark.parametrize(
    "statement",
    [
        "const int m = 4; float t[m];",
        "if ((n = count)) n++;",
        "while ((n = count) > 3) n++;",
        "while (n = count, n > 3) n++;",
        "float3 v = (float3)(1, 2, 3);",
        "n = (n++, count);",
        "typedef struct inner { float a; } pair; pair p = { 1.0f };",
        "struct inner { int a; } pair = { 1 }, other[2];",
        "#pragma OPENCL EXTENSION __cl_clang_function_pointers : enable\n int (*f)(int) = 0;",
    ],
)
def test_what_looks_like_a_slip_is_none(statement):
    text = "typedef struct { int b; } pair;\n__kernel void k(__global int *r, const int count) {\n"
    text += f"    int n = 0;\n    {statement}\n}}\n"
    told = [it for it in read_index(text, "k.cl").issues if it.issue.severity is not Severity.HINT]
    assert not told


def test_an_endif_that_ends_nothing_is_an_error():
    problems = read_index("int a;\n#endif\n", "k.cl").problems
    assert [(it.message, it.severity) for it in problems] == [("#endif without #if", Severity.ERROR)]


@pytest.mark.parametrize("attribute", ["ext_vector_type(1)", "ext_vector_type(5)", "vector_size(28)"])
def test_vectors_of_lengths_that_have_no_name_are_typed(attribute: str):
    """`float1` and its like were looked up by name: an internal error."""
    source = (
        f"typedef float v __attribute__(({attribute}));\n"
        "__kernel void k(__global float *o, v a) {\n"
        "v b = a * a; v c = -b + 2.0f; o[0] = b.s0 + c.s0; b < c; !b; }\n"
    )
    assert messages(source) == []


def test_what_follows_a_vector_literal_is_applied_to_the_vector():
    """As clang has it: `(int4)(1, 2, 3, 4).x` is the first of four, no cast of the last one's member."""
    source = (
        "__kernel void k(__global int *a, int4 v) {\n"
        "int i = (int4)(1, 2, 3, 4).x; a[i] = (int2)(5, 6).s1 + (int4)(a[0]).w * (int4)(v).y;\n"
        "float4 f = (float8)(1.0f).lo; a[1] = (int4)(1, 2, 3, 4)[2] + (int)f.x; }\n"
    )
    assert messages(source) == []


def test_queues_and_their_events_are_compared():
    head = "extern queue_t q();\nbool k(clk_event_t e, clk_event_t f, event_t g) { return "
    for good in ("q() == 0", "0 != q()", "q() == q()", "e == f"):
        assert [it for it in messages(f"{head}{good}; }}\n") if "error" in it] == []
    for bad in ("e == 0", "g == g", "q() == 1"):
        assert any("invalid operands" in it for it in messages(f"{head}{bad}; }}\n")), bad


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("f(1, o, 2.0f)", "too few arguments to function call, expected 4, have 3"),
        ("f(o, 1, o, 2, 3)", "too many arguments to function call, expected 4, have 5"),
        ("o[0] = 0.5f / convert_float2(1)", "no matching function for call to 'convert_float2'"),
        ("float x = as_float4(1.0f)", "invalid reinterpretation: sizes of 'float4' and 'float' must match"),
    ],
)
def test_nothing_follows_from_a_call_that_is_refused(call, said):
    text = (
        "void f(int a, int b, __global float *c, int d) { }\n"
        f"__kernel void k(__global float *o) {{ {call}; o[0] = 1; }}"
    )
    errors = [it for it in messages(text) if " error: " in it]
    assert [it.partition("error: ")[2] for it in errors] == [said]


def test_two_letters_swapped_are_a_slip_in_capitals_too():
    """Macros of the host are in capitals and differ in a letter; two swapped are a name of the function."""
    body = "{{ const int STRIDE = n, DIM_X = 2; for (int i = 0; i < {}; i++) o[i] = 1; }}"
    text = f"__kernel void k(__global float *o, int n) {body}"
    assert any("error: use of undeclared identifier 'STRIED'" in it for it in messages(text.format("STRIED")))
    for name in ("DIM_Y", "STRIDES", "OTHER"):
        assert [it for it in messages(text.format(name)) if " error: " in it] == []


@pytest.mark.parametrize(
    ("half", "said"),
    [
        ("struct late", "1:12 error: expected ';' after struct"),
        ("enum e", "1:7 error: expected ';' after enum"),
        ("float", "2:1 error: expected identifier or '('"),
        ("typedef unsigned", "2:1 error: expected identifier or '('"),
        ("struct part { float x; }", "1:25 error: expected ';' after struct"),
    ],
)
def test_a_kernel_is_read_behind_a_declaration_that_is_half_written(half, said):
    kernel = "__kernel void k(__global float *o, int n)\n{ o[/*n*/n] = 1; }\n"
    index = index_of(f"{half}\n{kernel}")
    assert named(index, "n").symbol.kind is Kind.PARAMETER
    assert [it for it in messages(f"{half}\n{kernel}") if " error: " in it] == [said]


def test_what_has_no_type_is_an_int():
    """As clang has it, with a warning: `?` was shown for it."""
    found = messages(f"{HEAD}__local\no[0] = n;\n}}\n")
    assert any("redefinition of 'o' with a different type: '__local int[0]'" in it for it in found)


def test_kernels_are_not_static():
    assert messages("static __kernel void k(__global float *o) { o[0] = 1; }\n") == [
        "1:22 error: kernel functions cannot be declared static"
    ]


LAST = "int /*d*/last = n; o[/*u*/last] = 1;"
COUNTING = "for (int /*d*/k = 0; k < n; k++) o[/*u*/k] = 1;"


@pytest.mark.parametrize(
    ("half", "following"),
    [
        *((it, LAST) for it in ("float t =", "o[0] = n +", "n = o[", "float t = l[")),
        *(
            (it, COUNTING)
            for it in ("float t =", "float t = (float", "o[0] = sqrt(", "clamp(1.0f,", "n = o[")
        ),
    ],
)
def test_what_follows_a_statement_that_is_being_typed_keeps_its_names(half, following):
    """The next line's declaration was gone past: its name meant nothing until the statement was whole."""
    text = f"{HEAD}{half}\n{following}\n}}\n"
    index = index_of(text)
    assert named(index, "u").symbol is named(index, "d").symbol
    assert len([it for it in messages(text) if " error: " in it]) == 1


@pytest.mark.parametrize(
    ("text", "standard", "said"),
    [
        (
            "void f(generic int *p) { *p = 1; }",
            "CL1.2",
            "1:8 OpenCL C version 1.2 does not support the 'generic'",
        ),
        (
            "kernel void k(read_write image2d_t i) { }",
            "CL1.2",
            "1:15 access qualifier 'read_write' can not be",
        ),
        ("global int n = 3;", "CL1.2", "1:12 program scope variable must reside in constant address space"),
        (
            "local int n;",
            "CL2.0",
            "1:11 program scope variable must reside in global or constant address space",
        ),
        ("void f(int n, ...) { }", "CL2.0", "1:6 a function with '...' needs"),
        (
            "void f(void) { register int n = 1; }",
            "CL2.0",
            "1:29 OpenCL C version 2.0 does not support the 'register'",
        ),
        (
            "typedef struct { int width; } P; kernel void k(void) { P p = { .widht = 1 }; }",
            "CL2.0",
            "1:65 field designator 'widht' does not refer to any field in type 'P'; did you mean 'width'?",
        ),
    ],
)
def test_what_no_version_or_only_another_one_takes_is_told(text, standard, said):
    index = read_index(text, "k.cl", BuildOptions(standard=standard))
    (found,) = [it for it in index.issues if it.issue.severity is Severity.ERROR]
    place = index.files["k.cl"].position(found.span.start)
    assert f"{place.row}:{place.column} {found.issue.message}".startswith(said)


def test_a_build_that_names_no_version_takes_what_says_that_it_is_of_2_0():
    text = "kernel void k(read_write image2d_t image) { write_imagef(image, (int2)(0), (float4)(0)); }"
    assert messages(text) == []


def test_a_name_that_is_declared_below_its_use_is_an_error_whoever_builds():
    text = "kernel void k(global int *o) { o[0] = twice(1) + LIMIT; }\nint twice(int n) { return n + n; }\n"
    assert messages(text) == [
        "1:39 error: implicit declaration of function 'twice' is invalid in OpenCL; "
        "'twice' is declared below, in line 2",
        "1:50 information: use of undeclared identifier 'LIMIT'; if the host defines it, "
        "set -D LIMIT=VALUE in clmap.toml",
    ]


BLOCKS = """\
kernel void child(global int *o, int n) { o[n] = n; }
kernel void parent(global int *o, int n) {
    int (^twice)(int) = ^(int x) { int sum = x + x; return sum; };
    for (int i = 0; i < n; i++) {
        enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(n), ^{
            int /*s*/sum = twice(/*i*/i);
            if (sum > 3) return;
            for (;;) break;
            /*child*/child(/*o*/o, /*sum*/sum);
        });
    }
    enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(n),
                   ^(local void *p) { ((local int *)/*p*/p)[0] = 1; }, 64);
}
"""


def test_what_a_block_names_is_what_the_function_around_means_by_it():
    assert messages(BLOCKS) == []
    index = index_of(BLOCKS)
    kinds = {mark: named(index, mark).symbol.kind for mark in ("i", "child", "o", "sum", "p")}
    assert kinds == {
        "i": Kind.VARIABLE,
        "child": Kind.KERNEL,
        "o": Kind.PARAMETER,
        "sum": Kind.VARIABLE,
        "p": Kind.PARAMETER,
    }
    assert named(index, "sum").symbol is named(index, "s").symbol


def test_what_is_wrong_in_a_block_is_told_there():
    body = "while (1) { int (^b)(int) = ^(int x) { break; return lost; }; o[0] = b(1); }"
    assert messages(f"{HEAD}{body} }}\n")[:3] == [
        "2:40 error: 'break' statement not in loop or switch statement",
        "2:47 hint: code will never be executed",
        "2:54 warning: use of undeclared identifier 'lost'; if the host defines it, "
        "set -D lost=VALUE in clmap.toml",
    ]


DESIGNATED = """\
typedef struct { int a[4]; struct { float q; } in; union { int u; float v; }; } deep;
kernel void k(global float *o) {
    deep d = { ./*a*/a[1] = 2, .in./*q*/q = 1.0f, ./*u*/u = 3 };
    int r[] = { [0 ... 2] = 1, [6] = 2 };
    deep e[2] = { [1].in./*again*/q = 2.0f, [0].a = { [2] = 1 } };
    o[0] = d.in.q + r[0] + e[1].in.q;
}
"""


def test_designators_lead_into_what_they_name():
    assert messages(DESIGNATED) == []
    index = index_of(DESIGNATED)
    assert [named(index, it).symbol.name for it in ("a", "q", "u", "again")] == ["a", "q", "u", "q"]
    (array,) = [it for _, it in index.symbols() if it.name == "r"]
    assert spelled(array.type) == "int[7]"


@pytest.mark.parametrize(
    ("wrong", "title", "right"),
    [
        ("o[0] = max(1.0f o[1]);", "Insert ','", "o[0] = max(1.0f, o[1]);"),
        ("float4 v = (float4)(1, 2 n, 4);", "Insert ','", "float4 v = (float4)(1, 2, n, 4);"),
        ("int a[2] = { 1 2 };", "Insert ','", "int a[2] = { 1, 2 };"),
        ("int a b;", "Insert ','", "int a, b;"),
        ("int a n = 2;", "Insert ';'", "int a; n = 2;"),
        ("barrier(CLK_LOCAL_MEM_FENCE; n = 1;", "Insert ')'", "barrier(CLK_LOCAL_MEM_FENCE); n = 1;"),
        ("o[n * (n + 1] = 1;", "Insert ')'", "o[n * (n + 1)] = 1;"),
        ("n = max(n, o[1);", "Insert ']'", "n = max(n, o[1]);"),
        ("n = n + 1);", "Remove ')'", "n = n + 1;"),
        ("int a = n];", "Remove ']'", "int a = n;"),
        ("n = n) * 2;", None, None),
        ("o[n) * 2] = 1;", None, None),
        ("floa4t v = 1;", "Change to 'float4'", "float4 v = 1;"),
    ],
)
def test_a_fix_repairs_the_text_or_there_is_none(wrong, title, right):
    text = f"{HEAD}{wrong}\n}}\n"
    index = index_of(text)
    first = next(it for it in index.issues if it.issue.severity is Severity.ERROR)
    assert (None if first.issue.fix is None else first.issue.fix.title) == title
    for it in reversed(edits(index, first)):
        text = text[: it.span.start] + it.text + text[it.span.end :]
    if right is not None:
        assert text == f"{HEAD}{right}\n}}\n"
        assert not [it for it in index_of(text).issues if it.issue.severity is Severity.ERROR]


def test_a_missing_comma_between_parameters_is_no_missing_bracket():
    text = "kernel void k(global int *a global int *b) { a[0] = b[0]; }\n"
    index = index_of(text)
    first = next(it for it in index.issues if it.issue.severity is Severity.ERROR)
    assert first.issue.message == "expected ')'"
    (edit,) = edits(index, first)
    assert (edit.span.start, edit.text) == (text.index("a global") + 1, ",")


OLD = """\
float /*old*/old(x, y, n)
    float /*x*/x, *y;
    int n;
{ return /*use of x*/x + y[n]; }
kernel void k(global float *o) { float a[2] = { 1, 2 }; o[0] = /*call*/old(1.0f, a, 1); }
"""


def test_types_of_parameters_may_stand_behind_their_names():
    assert messages(OLD) == []
    index = index_of(OLD)
    assert named(index, "use of x").symbol is named(index, "x").symbol
    assert named(index, "call").symbol is named(index, "old").symbol
    assert spelled(named(index, "old").symbol.type, "old") == "float old(float, float *, int)"
    assert [it.name for it in named(index, "old").symbol.parameters] == ["x", "y", "n"]


def test_a_type_behind_names_that_no_parameter_has_is_told():
    (said,) = [it for it in messages("int f(a) int a, b; { return a; }\n") if "error" in it]
    assert said == "1:17 error: parameter named 'b' is missing"


@pytest.mark.parametrize(
    ("access", "is_right"),
    [
        ("read_imagef(flat, s, (int2)(0))", True),
        ("read_imagef(flat, s, (float4)(0))", False),
        ("read_imagef(flat, 1)", True),
        ("read_imagef(deep, s, (int4)(0))", True),
        ("read_imagef(deep, s, (int2)(0))", False),
        ("read_imagef(line, s, (float2)(0))", False),
    ],
)
def test_coordinates_are_as_many_as_an_image_has(access, is_right):
    images = ", ".join(
        f"read_only image{it}_t {name}" for it, name in (("2d", "flat"), ("3d", "deep"), ("1d", "line"))
    )
    head = f"kernel void k({images}, sampler_t s)"
    found = [it for it in messages(f"{head} {{ float4 v = {access}; v.x = 1; }}\n") if " error: " in it]
    assert bool(found) != is_right


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_pragma_for_the_first_line_stands_behind_the_byte_order_mark_with_the_file_s_line_ends(mark):
    index = index_of(text := mark + HALF.replace("\n", "\r\n"))
    (needed,) = [it for it in index.issues if it.issue.code == "extension"]
    (edit,) = edits(index, needed)
    mended = text[: edit.span.start] + edit.text + text[edit.span.end :]
    assert mended.startswith(f"{mark}#pragma OPENCL EXTENSION cl_khr_fp16 : enable\r\nhalf ")

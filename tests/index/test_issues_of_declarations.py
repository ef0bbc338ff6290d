"""What clang refuses of declarations, vectors, images, kernels' parameters and macros' uses is told."""

from __future__ import annotations

import pytest
from index_reading import index_of, messages

from clmap_lsp.index.reading import read_index
from clmap_lsp.source.ir import Severity
from clmap_lsp.source.options import BuildOptions

HEAD = """\
typedef enum { RED } colour_t; struct pair { int a, b; }; typedef struct { int n; } point_t;
float helper(float a, int b) { return a * b; }
__kernel void k(__global float *out, __local float *tile, int n, float4 v, int4 iv, uchar4 uc, uint u,
read_only image2d_t img, write_only image2d_t dst, sampler_t smp, double d) {
float arr[4];
"""
IN_BODIES = {
    "uc = uc + 1;": (
        "scalar operand type has greater rank than the type of the vector element. ('uchar4' and 'int')"
    ),
    "iv = iv * u;": (
        "scalar operand type has greater rank than the type of the vector element. ('int4' and 'uint')"
    ),
    "iv *= 0.5f;": (
        "scalar operand type has greater rank than the type of the vector element. ('int4' and 'float')"
    ),
    "v = d * v;": (
        "scalar operand type has greater rank than the type of the vector element. ('double' and 'float4')"
    ),
    "iv = 2 << iv;": (
        "requested shift is a vector of type 'int4' but the first operand is not a vector ('int')"
    ),
    "v = (float4)(iv);": "invalid conversion between ext-vector type 'float4' and 'int4'",
    "v = float4(1, 2, 3, 4);": "unexpected type name 'float4': expected expression",
    "img = img;": (
        "invalid operands to binary expression ('__read_only image2d_t' and '__read_only image2d_t')"
    ),
    "&smp;": "invalid argument type 'sampler_t' to unary expression",
    "image2d_t *q;": "pointer to type 'image2d_t' is invalid in OpenCL",
    "sampler_t q[2];": "array of 'sampler_t' type is invalid in OpenCL",
    "sampler_t q = v;": "initializing 'sampler_t' with an expression of incompatible type 'float4'",
    "event_t q = 1;": "initializing 'event_t' with an expression of incompatible type 'int'",
    "event_t q = async_work_group_copy(tile, arr, 4, 0);": (
        "no matching function for call to 'async_work_group_copy'"
    ),
    "n = get_image_depth(img);": "no matching function for call to 'get_image_depth'",
    "colour_t q; q.x = 1;": "member reference base type 'colour_t' is not a structure or union",
    "pair q; q.a = 1;": "must use 'struct' tag to refer to type 'pair'",
    "struct s { struct s next; };": "field has incomplete type 'struct s'",
    "struct s { __local int a; };": "field may not be qualified with an address space",
    "struct s { image2d_t a; };": (
        "the 'image2d_t' type cannot be used to declare a structure or union field"
    ),
    "struct s { int f(int); };": "field 'f' declared as a function",
    "struct s { typedef int t; };": "type name does not allow storage class to be specified",
    "union pair q;": "use of 'pair' with tag type that does not match previous declaration",
    "enum { A = n };": "expression is not an integer constant expression",
    "enum { A = 1.5f };": "integer constant expression must have integer type, not 'float'",
    "enum { };": "use of empty enum",
    "enum { arr };": "redefinition of 'arr'",
    "typedef int t; typedef float t;": "typedef redefinition with different types ('float' vs 'int')",
    "typedef int t; int t = 1;": "redefinition of 't' as different kind of symbol",
    "typedef int t = 1;": "illegal initializer (only variables can be initialized)",
    "int q[2][] = {{1}};": "array has incomplete element type 'int[]'",
    "int q[1.5f];": "size of array has non-integer type 'float'",
    "int q[2] = 1;": "array initializer must be an initializer list",
    "float q[4] = arr;": "array initializer must be an initializer list",
    'int q[] = "abc";': "initializing wide char array with non-wide string literal",
    "int q[2] = {[2] = 5};": "array designator index (2) exceeds array bounds (2)",
    "int q[2] = {1, v};": "initializing 'int' with an expression of incompatible type 'float4'",
    "struct pair q = {1, v};": "initializing 'int' with an expression of incompatible type 'float4'",
    "restrict int q;": "restrict requires a pointer or reference ('int' is invalid)",
    "float helper(int a);": "conflicting types for 'helper'",
    "for (float4 q = v; q; ) ;": "statement requires expression of scalar type ('float4' invalid)",
    "switch (n) { case 1.5f: break; }": ("integer constant expression must have integer type, not 'float'"),
    "__attribute__((opencl_unroll_hint(4))) n = 1;": (
        "'opencl_unroll_hint' attribute only applies to 'for', 'while', and 'do' statements"
    ),
}
IN_FILES = {
    "__constant int a = 1;\n__constant int a = 2;": "redefinition of 'a'",
    "__constant int a = 1;\n__constant float a = 1;": (
        "redefinition of 'a' with a different type: '__constant float' vs '__constant int'"
    ),
    "extern __constant int a;\nextern __constant float a;": (
        "redeclaration of 'a' with a different type: '__constant float' vs '__constant int'"
    ),
    "int f(void) { return 1; }\n__constant int f = 1;": "redefinition of 'f' as different kind of symbol",
    "typedef int f;\nint f(void) { return 1; }": "redefinition of 'f' as different kind of symbol",
    "typedef float real;\ntypedef double real;": (
        "typedef redefinition with different types ('double' vs 'float')"
    ),
    "enum a { X };\nenum b { X };": "redefinition of 'X'",
    "int f(void) { return sizeof(struct unknown); }": (
        "invalid application of 'sizeof' to an incomplete type 'struct unknown'"
    ),
    "int4 f(int4 a, char4 b) { return a && b; }": (
        "invalid operands to binary expression ('int4' and 'char4')"
    ),
    "__constant float q = sqrt(2.0f);": "initializer element is not a compile-time constant",
    "__private int q = 1;": "program scope variable must reside in constant address space",
    "sampler_t q = 0;": "global sampler requires a const or constant address space qualifier",
    "image2d_t w(void);": "declaring function return value of type 'image2d_t' is not allowed",
    "__kernel void w(global float *global *a) {}": (
        "kernel parameter cannot be declared as a pointer to a pointer"
    ),
    "__kernel void w(struct nope a) {}": "variable has incomplete type 'struct nope'",
    "typedef bool q; __kernel void w(q a) {}": "'q' cannot be used as the type of a kernel parameter",
    "typedef struct { struct { size_t n[2]; } a; } q; __kernel void w(q a) {}": (
        "'q' cannot be used as the type of a kernel parameter"
    ),
    "typedef struct { int n; global int *a[2]; } q; __kernel void w(q a) {}": (
        "struct kernel parameters may not contain pointers"
    ),
    "void w(local float a) {}": "parameter may not be qualified with an address space",
    "void w(register int a) {}": (
        "OpenCL C version 1.2 does not support the 'register' storage class specifier"
    ),
    "void w(static int a) {}": "invalid storage class specifier in function declarator",
    "void w(read_only write_only image2d_t a) {}": "multiple access qualifiers",
    "void w(write_only image2d_t a) {} void x(read_only image2d_t a) { w(a); }": (
        "passing '__read_only image2d_t' to parameter of incompatible type '__write_only image2d_t'"
    ),
    "float w(float a); int w(float a) { return 1; }": "conflicting types for 'w'",
    "float w(float a) { return a; } float w(int a) { return a; }": "conflicting types for 'w'",
    "__kernel void w(global int *a); __kernel void w(global float *a) {}": "conflicting types for 'w'",
    "void w(int a) { constant int b = 1; }": (
        "non-kernel function variable cannot be declared in constant address space"
    ),
    "__kernel __attribute__((reqd_work_group_size(8, 8))) void w(void) {}": (
        "'reqd_work_group_size' attribute requires exactly 3 arguments"
    ),
    "__kernel __attribute__((reqd_work_group_size(8, 8, 0))) void w(void) {}": (
        "'reqd_work_group_size' attribute must be greater than 0"
    ),
    "__attribute__((reqd_work_group_size(8, 8, 1))) void w(void) {}": (
        "attribute 'reqd_work_group_size' can only be applied to an OpenCL kernel function"
    ),
}
RIGHT_IN_BODIES = (
    "uc = uc + (uchar)1; uc = uc << 1; iv = iv + 1; iv = iv & 3; v = v * 2; v = v + 1.0f; iv = iv << u;",
    "uint4 q = convert_uint4(iv); q = q + 1; q = q * u; iv = iv == 3; uchar c = 1; uc = c * uc;",
    "double4 q = convert_double4(v); q = q * 2.0 + 1.0f; q = q * d;",
    "v = (float4)(v); v = (float4)(v.xyz, 1); iv = (int4)(n);",
    "event_t q = 0; event_t r[2]; r[0] = q; q = r[0]; wait_group_events(1, &q);",
    "struct pair q; struct pair r = q; union { int x; float y; } w; w.x = r.a;",
    "typedef int t; typedef int t; t q = 1; typedef struct pair p2; typedef struct pair p2; n = q;",
    "struct { int; int a; } q; q.a = 1; typedef int; const;",
    "__typeof__(n) a = 2; __typeof(float4) b = v; __typeof__(out[0] * 2) c = 1; n = a + b.x + c;",
    "n = _Generic(n, float: 1.5f, int: 2, default: 3); n = _Generic(v.x, int: 1, default: n);",
    'int q[2][2] = {1, 2, 3, 4}; int r[] = {[1] = 5, 6}; char s[] = "abc"; struct pair t[2] = {1, 2, 3, 4};',
    "struct { int a[2]; float *p; } q = {1, 2, arr}; struct { float4 v; int n; } r = {1, 2, 3, 4, 5};",
    "int *restrict q = &n; float helper(float, int); n = *q; enum { A = 1 << 3, B = A | 2 }; int r[B];",
    "__attribute__((opencl_unroll_hint(4))) for (int i = 0; i < n; i++) out[i] = 1;",
    "float *q = arr; for (; q; ) q = 0; for (;;) break;",
)
RIGHT_IN_FILES = (
    "extern __constant int a[];\nextern __constant int a[3];\n__constant int a[3] = {1, 2, 3};",
    "typedef int real;\ntypedef signed real;\nstruct s;\ntypedef struct s s;\ntypedef struct s s;",
    "struct s *f(void);\nint g(void) { return sizeof(struct s *); }",
    "const sampler_t q = 0; constant sampler_t r = CLK_FILTER_NEAREST; __constant float a = as_float(1);",
    "static float w(const float a, int b); static float w(float x, int) { return x; }",
    "void w(__global float *a); void w(global float a[]) {} void x(unsigned a); void x(uint a) {}",
    "struct s; void w(struct s *a); struct s { int n; }; void w(struct s *a) {}",
    "void w(image2d_t a) {} void x(read_only image2d_t a) { w(a); }",
    "typedef struct { global int *p; size_t n; } q; __kernel void w(global q *a) {}",
    "struct s { global int *p; }; __kernel void w(global int *a, struct s b) {}",
    "__kernel void w(__private int a, const float4 b, half *c[2]);",
    "__attribute__((reqd_work_group_size(8, 8, 1))) __kernel void w(void) { constant int b = 1; }",
    "void w(float a) {} __attribute__((overloadable)) void x(int a) {} "
    "__attribute__((overloadable)) void x(float a) {}",
)


def errors(text: str, standard: str = "CL1.2") -> list[str]:
    index = read_index(text, "k.cl", BuildOptions(standard=standard))
    found = [(it.span, it.issue.severity, it.issue.message) for it in index.issues]
    found += [(it.span, it.severity, it.message) for it in index.problems]
    return [said for _, severity, said in found if severity is Severity.ERROR]


@pytest.mark.parametrize(("body", "said"), IN_BODIES.items())
def test_what_is_wrong_in_a_body_is_told(body: str, said: str) -> None:
    assert errors(f"{HEAD}{body}\n}}\n") == [said]


@pytest.mark.parametrize(("text", "said"), IN_FILES.items())
def test_what_is_wrong_in_a_file_is_told(text: str, said: str) -> None:
    assert errors(f"{text}\n") == [said]


@pytest.mark.parametrize("body", RIGHT_IN_BODIES)
def test_what_is_right_in_a_body_is_not(body: str) -> None:
    assert errors(f"{HEAD}{body}\n}}\n") == []


@pytest.mark.parametrize("text", RIGHT_IN_FILES)
def test_what_is_right_in_a_file_is_not(text: str) -> None:
    assert errors(f"{text}\n") == []


def test_a_depth_image_gives_one_number() -> None:
    text = "kernel void w(image2d_depth_t c) { float d = read_imagef(c, (int2)(0)); float4 e = "
    text += "read_imagef(c, (int2)(0)) * (float4)(d); }\n"
    assert errors(text, "CL2.0") == []


def test_from_2_0_on_what_lives_as_long_as_the_program_starts_with_a_constant() -> None:
    said = ["initializer element is not a compile-time constant"]
    assert errors("int q = get_global_id(0);\n", "CL2.0") == said
    assert errors("kernel void w(global int *a) { static int b = a[0]; }\n", "CL2.0") == said
    assert errors("global int a; global int *q = &a; int b = 1 + 2;\n", "CL2.0") == []
    assert errors("kernel void w(void) { global int b; }\n", "CL2.0") == [
        "function scope variable cannot be declared in global address space"
    ]


def test_a_double_constant_beside_floats_is_warned_of_and_made_a_float() -> None:
    text = "__kernel void k(__global float4 *v) { v[0] = v[1] * 2.0; }\n"
    (found,) = [it for it in index_of(text).issues if it.issue.code == "wrong-vector"]
    assert found.issue.severity is Severity.WARNING
    assert found.issue.fix is not None
    assert [it.text for it in found.issue.fix.edits] == ["2.0f"]


@pytest.mark.parametrize(
    ("text", "title", "written"),
    [
        ("struct s { int a; };\nvoid w(void) { s q; }\n", "Insert 'struct'", "struct "),
        ("void w(void) { float4 q = float4(1.0f); }\n", "Write (float4)(...)", "(float4)"),
        ("void w(void) { float q = float(1); }\n", "Write (float)(...)", "(float)"),
    ],
)
def test_what_other_languages_write_is_made_c(text: str, title: str, written: str) -> None:
    fixes = [it.issue.fix for it in index_of(text).issues if it.issue.fix is not None]
    assert [(it.title, [edit.text for edit in it.edits]) for it in fixes] == [(title, [written])]


def test_a_vector_written_as_in_other_languages_keeps_its_type() -> None:
    text = "void w(void) { float4 q = float4(1.0f); float r = float4(1, 2, 3, 4).y; q.x = r; }\n"
    assert errors(text) == ["unexpected type name 'float4': expected expression"] * 2


@pytest.mark.parametrize(
    ("define", "use", "said"),
    [
        ("F(x) x", "F(1, 2)", "too many arguments provided to function-like macro invocation"),
        ("F(x, y) x", "F(1)", "too few arguments provided to function-like macro invocation"),
        ("F() 1", "F(1)", "too many arguments provided to function-like macro invocation"),
        ("F(x, y, ...) x", "F(1)", "too few arguments provided to function-like macro invocation"),
    ],
)
def test_uses_of_macros_with_the_wrong_number_of_arguments(define: str, use: str, said: str) -> None:
    text = f"#define {define}\nint w(void) {{ return {use}; }}\n"
    for index in (index_of(text), index_of(text, previous=index_of(f"{text}\n"))):
        (found,) = [it for it in index.problems if it.code == "macro-arguments"]
        assert (found.message, text[found.span.start : found.span.end]) == (said, "F")


def test_a_large_macro_with_a_wrong_use_is_told_of_at_each_reading() -> None:
    body = " ".join(f"x += {at};" for at in range(2_000))
    text = f"#define F(x) {body}\nvoid w(int n) {{ F(n, 1) }}\n"
    first = index_of(text)
    for index in (first, index_of(f"{text}\n", previous=first), index_of(f"\n{text}", previous=first)):
        assert [it.code for it in index.problems] == ["macro-arguments"]


def test_uses_of_macros_with_the_right_number_of_arguments() -> None:
    text = "#define A(x) x\n#define B() 1\n#define C(x, ...) x\n#define D(...) 1\n"
    text += "int w(void) { return A() B() + B( ) + A((1, 2)) + C(1) + C(1, 2, 3) + D() + D(1, 2); }\n"
    assert [it.code for it in index_of(text).problems] == []


@pytest.mark.parametrize(
    ("directive", "said"),
    [
        ("#define A x##", "in the body of `A`: '##' cannot appear at end of macro expansion"),
        ("#define A ## x", "in the body of `A`: '##' cannot appear at start of macro expansion"),
        ("#define A(x) #y", "in the body of `A`: '#' is not followed by a macro parameter"),
        ("#undef 1", "macro name must be an identifier"),
        ("#ifdef 1\n#endif", "macro name must be an identifier"),
        ("#if 1\n#else\n#else\n#endif", "#else after #else"),
    ],
)
def test_directives_that_no_compiler_takes(directive: str, said: str) -> None:
    assert errors(f"{directive}\n") == [said]


def test_operators_of_macros_in_their_places() -> None:
    text = "#define A(x) #x\n#define B(x, y) x##y\n#define C #\n#define D(x, ...) f(x, ## __VA_ARGS__)\n"
    text += "#define E(x) _Pragma(#x)\n"
    assert errors(text) == []


def test_the_error_stands_where_clang_puts_it() -> None:
    text = "__kernel void k(__global int *o, uchar4 c) {\n    c = c + 1;\n}\n"
    assert "2:11 error: scalar operand type has greater rank" in messages(text)[0]


@pytest.mark.parametrize(
    "text",
    [
        'typedef struct { char name[7]; int n; } P; constant P a[2] = {{{"abc"}, 1}, {"def", 2}};\n',
        'constant char a[8] = {"hello"}; constant uchar b[] = {"hello"};\n',
        "uchar __attribute__((overloadable)) f(read_only image2d_t i);\n"
        "uchar __attribute__((overloadable)) f(write_only image2d_t i);\n"
        "kernel void k(global uchar *o, read_only image2d_t x) { o[0] = f(x); }\n",
    ],
)
def test_literals_between_braces_and_functions_for_each_access_are_right(text: str) -> None:
    assert errors(text) == []

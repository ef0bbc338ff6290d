"""What clang refuses of values, declarations and directives is told, and nothing else is."""

from __future__ import annotations

import pytest
from index_reading import index_of, messages

from clmap_lsp.source.ir import Severity

HEAD = """\
typedef struct { float x; int n; } point_t; typedef enum { RED } colour_t; float helper(float a) { return a; }
__kernel void k(__global float *out, __local float *tile, int n, float4 v, int4 iv, point_t p, uint4 u, \
read_only image2d_t img, write_only image2d_t dst, sampler_t smp, __global int *counts) {
"""
APART = "which are pointers to non-overlapping address spaces"
WRONG = {
    "iv <<= v;": "used type 'float4' where integer is required",
    "iv = iv >> v;": "used type 'float4' where integer is required",
    "helper;": "taking address of function is not allowed",
    "n = helper;": "taking address of function is not allowed",
    "n = get_global_id;": "taking address of function is not allowed",
    "n = (get_global_id)(0);": "taking address of function is not allowed",
    "v = read_imagef(dst, smp, v.xy);": "no matching function for call to 'read_imagef'",
    "write_imagef(img, (int2)(0), v);": "no matching function for call to 'write_imagef'",
    "p = (point_t)n;": "used type 'point_t' where arithmetic or pointer type is required",
    "int q[]; q[0] = 1;": "definition of variable with array type needs an explicit size or an initializer",
    "enum nope q;": "variable has incomplete type 'enum nope'",
    "extern int q;": "extern variable must reside in constant address space",
    "inline int q = 1;": "'inline' can only appear on functions",
    "short float q;": "'short float' is invalid",
    "signed unsigned q;": "cannot combine with previous 'signed' declaration specifier",
    "long short q;": "cannot combine with previous 'long' declaration specifier",
    "p = n ? p : 1;": "incompatible operand types ('point_t' and 'int')",
    "out = n ? out : tile;": (
        f"conditional operator with the second and third operands of type  "
        f"('__global float *' and '__local float *') {APART}"
    ),
    "n = out == tile;": f"comparison between  ('__global float *' and '__local float *') {APART}",
    "n = out - tile;": (
        f"arithmetic operation with operands of type  ('__global float *' and '__local float *') {APART}"
    ),
    "out += 1.5f;": "invalid operands to binary expression ('__global float *' and 'float')",
    "out -= out;": ("incompatible integer to pointer conversion assigning to '__global float *' from 'long'"),
    "v++;": "cannot increment value of type 'float4'",
    "--p;": "cannot decrement value of type 'point_t'",
    "read_only int q;": "access qualifier can only be used for pipe and image type",
    "__attribute__((aligned(3))) int q;": "requested alignment is not a power of 2",
    "\n#pragma unroll\nn = 1;": "expected a for, while, or do-while loop to follow '#pragma unroll'",
    '_Static_assert(sizeof(int) == 8, "an int");': "static assertion failed: an int",
    "atomic_inc(out);": "no matching function for call to 'atomic_inc'",
    "out = (__global void *)0; out = (void *)1;": (
        "assigning '__private void *' to '__global float *' changes address space of pointer"
    ),
    "out = (int *)0;": "assigning '__private int *' to '__global float *' changes address space of pointer",
    "n = out == (__local float *)0;": (
        f"comparison between  ('__global float *' and '__local float *') {APART}"
    ),
    "(n, iv.x) = 1;": "expression is not assignable",
    "n = 1, iv.x = 2, (n) = 3; (n, n)++;": "expression is not assignable",
    "int (^twice)(int) = ^int(int x) { return 2 * x; }; n = twice(1, 2);": (
        "too many arguments to block call, expected 1, have 2"
    ),
    "int (^twice)(int) = ^int(int x) { return 2 * x; }; n = twice();": (
        "too few arguments to block call, expected 1, have 0"
    ),
    "n = ^int(int x) { return x; }(v);": "passing 'float4' to parameter of incompatible type 'int'",
    "typedef int (*order_t)(int, int);": (
        "a pointer to a function needs '#pragma OPENCL EXTENSION __cl_clang_function_pointers : enable' "
        "before it"
    ),
    "int a = 1,\n\nif (n) n = a;": "expected ';' at end of declaration",
    "int a = 1,\n\nfloat b = a; n = b;": "expected ';' at end of declaration",
    "int a = 1,\n\nn += a;": "expected ';' at end of declaration",
    "reserve_id_t r; n = as_int(r);": "invalid reinterpretation: sizes of 'int' and "
    "'reserve_id_t' must match",
    "int a = 1,\n\np.n = a;": "expected ';' at end of declaration",
}
RIGHT = (
    "iv <<= iv; iv = iv >> 2; u >>= convert_uint4(iv); n <<= 2;",
    "n = get_global_id(0) + (int)helper(1.0f);",
    "v = read_imagef(img, smp, v.xy); write_imagef(dst, (int2)(0), v);",
    "point_t q = (point_t)p; out[0] = q.x;",
    "int q[] = {1, 2}; out[0] = q[n];",
    "colour_t q = RED; out[q] = 1;",
    "extern __constant int q;",
    "long double *d; unsigned long int a = 1; short int b = a; out[b] = 1;",
    "p = n ? p : p; out = n ? out : 0; out = n ? 0 : out; n = out == 0 ? 1 : 2;",
    "n = out == out + 1 && out - out; n = out < out + n;",
    "out += 1; out -= n; out++; --out; out += get_global_id(0);",
    "int a = 1, *b, (*c), d[2], e; n = a; b = &n; c = b; d[0] = *c; e = d[0]; n = e;",
    "iv++; --u; n++; iv -= 1;",
    "__global int *a = (void *)0; __local float *b = ((void *)(0)); out = (void *)0; n = a == (void *)0;",
    "out = n ? out : (void *)0; out = n ? (void *)0 : out; n = (void *)0 != tile; if ((void *)0) n = 1;",
    "for (n = 0, iv = 1; n < 3; n++, iv++) out[n = 2, 1] = (n, 3); *(n, out) = 1; (n, out)[1] = 2;",
    "typedef int (^map_t)(int, float); map_t f = ^(int a, float b) { return a; }; n = f(1, 2);",
    "void (^f)(void) = ^{ out[0] = 1; }; f(); n = ^{ return 2; }();",
    "__attribute__((aligned(16))) int q = 1; out[q] = 1;",
    "\n#pragma unroll\nfor (int i = 0; i < n; i++) out[i] = 1;",
    "\n#pragma unroll 4\n#pragma nounroll\nwhile (n) n--;",
    "int i = 0;\n#pragma unroll\ndo i++; while (i < n);",
    "ulong a = as_ulong(smp), b = as_ulong(out); reserve_id_t r; out[a] = as_ulong(r) + b + as_ulong(p);",
    '_Static_assert(sizeof(int) == 4, "an int"); _Static_assert(NUMBER_OF_THE_HOST, "");',
)


def errors(text: str) -> list[str]:
    index = index_of(text)
    return [it.issue.message for it in index.issues if it.issue.severity is Severity.ERROR]


@pytest.mark.parametrize(("body", "said"), WRONG.items())
def test_what_is_wrong_is_told(body: str, said: str) -> None:
    assert errors(f"{HEAD}{body}\n}}\n") == [said]


@pytest.mark.parametrize("body", RIGHT)
def test_what_is_right_is_not(body: str) -> None:
    assert errors(f"{HEAD}{body}\n}}\n") == []


@pytest.mark.parametrize(
    ("call", "given"),
    [("atomic_add(out, 1);", "'__global float *'"), ("vstore4(v, 0, (__global float4 *)out);", "float4 *'")],
)
def test_pointers_to_other_types_are_warned_of_as_c_does(call: str, given: str) -> None:
    text = f"{HEAD}{call}\n}}\n"
    assert errors(text) == []
    assert any("warning: incompatible pointer types passing" in it and given in it for it in messages(text))


@pytest.mark.parametrize(
    ("directive", "severity"),
    [
        ("#if", Severity.ERROR),
        ("#if 1 +", Severity.ERROR),
        ("#if (1", Severity.ERROR),
        ("#undef", Severity.ERROR),
        ("#nonsense", Severity.ERROR),
        ("#if HOSTS_OWN 1", Severity.WARNING),
        ("#if 1 / NOT_DEFINED", Severity.WARNING),
    ],
)
def test_directives_that_are_wrong_whatever_the_host_defines(directive: str, severity: Severity) -> None:
    text = f"{directive}\n{'#endif' if directive.startswith('#if') else ''}\n__kernel void k() {{}}\n"
    assert severity in [it.severity for it in index_of(text).problems]

"""Headers that declare OpenCL's own functions, for compilers that do not know them."""

from __future__ import annotations

from clmap_lsp.source.ir import Call, OpaqueCall, walk
from clmap_lsp.source.read import read_program

HEADER = """
size_t __attribute__((const)) __attribute__((overloadable)) get_local_id(uint dimension);
float __attribute__((overloadable)) fmin(float x, float y);
void __attribute__((overloadable)) barrier(uint flags);
int __attribute__((overloadable)) convert_int_sat(float x);
int atomic_inc(volatile __global int *p);
"""
KERNEL = """
__kernel void k(__global float *a, __global int *n, __local float *s) {
    s[get_local_id(0)] = fmin(a[0], 2.0f);
    barrier(CLK_LOCAL_MEM_FENCE);
    n[1] = convert_int_sat(s[1]);
    atomic_inc(n);
}
"""


def test_a_declaration_does_not_hide_a_built_in() -> None:
    program = read_program(HEADER + KERNEL, "k.cl")
    plain = read_program(KERNEL, "k.cl")
    kernel, same = program.kernels[0], plain.kernels[0]
    assert not [it for it in walk(kernel.body) if isinstance(it, (Call, OpaqueCall))]
    assert [type(it) for it in walk(kernel.body)] == [type(it) for it in walk(same.body)]
    assert [it.code for it in program.problems] == [it.code for it in plain.problems]


def test_a_function_of_that_name_with_a_body_goes_before() -> None:
    own = "float fmin(float x, float y) { return 41.0f; }\n"
    program = read_program(HEADER + own + KERNEL, "k.cl")
    assert "fmin" in program.functions


def test_other_declarations_stay_unknown() -> None:
    program = read_program(
        "int elsewhere(int x);\n__kernel void k(__global int *a) { a[0] = elsewhere(1); }", "k.cl"
    )
    assert [it.name for it in walk(program.kernels[0].body) if isinstance(it, OpaqueCall)] == ["elsewhere"]

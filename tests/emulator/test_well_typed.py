"""Kernels whose types do not fit are refused with their line; all that compilers take passes."""

import struct
from pathlib import Path

import pytest
from llvmlite import ir

from clmap_lsp.emulator.memory import check_size
from clmap_lsp.emulator.result import Engine
from clmap_lsp.emulator.run import emulate
from clmap_lsp.emulator.settings import EmulationSettings
from clmap_lsp.emulator.types import FLOAT, I8, I64
from clmap_lsp.emulator.well_typed import first_misfit
from clmap_lsp.launch.model import BufferArgument, Fill, Launch
from clmap_lsp.launch.problem import LaunchError
from clmap_lsp.source.read import read_program

ROOT = Path(__file__).parents[2]
KERNELS = sorted(
    [*(ROOT / "fixtures").rglob("*.cl"), *(ROOT / "tests" / "trust" / "attacks").glob("*.cl")],
)


def run(source):
    program = read_program(source, "kernel.cl")
    buffers = {it.name: BufferArgument(Fill.ZEROS, 16) for it in program.kernels[0].parameters}
    launch = Launch("k", (8,), (8,), buffers)
    return emulate(program, program.kernels[0], launch, EmulationSettings(engine=Engine.JIT))


@pytest.mark.parametrize("path", KERNELS, ids=lambda it: it.name)
def test_what_compilers_take_passes(path):
    for kernel in read_program(path.read_text(encoding="utf-8"), path.name).kernels:
        assert first_misfit(kernel) is None


@pytest.mark.parametrize(
    "line",
    [
        "p[get_global_size(0) * 8] = 1;",  # void has no size: the check of bounds would ask for none
        "a[0] = *p;",
        "__local int t[4]; t++;",
        "a[0] = read_imagei(i, (int2)1, (int2)(1, 1)).x;",
        "a[0] = read_imagei(a, (int2)(1, 1)).x;",
        "void v; v = 1;",
        "vstore2((int2)1, get_global_size(0) * 8, p);",  # vectors of void have no size either
        "a[0] = vload4(get_global_size(0) * 8, p).x;",
        "write_imagef(o, (int2)(1, 1), (float16)1.0f);",  # a texel has 16 bytes
        "write_imagei(o, (int2)(1, 1), (int2)1);",
        "write_imagef(o, (int2)(1, 1), get_global_id(a));",
    ],
)
def test_what_no_compiler_takes_is_refused_with_its_line(line):
    heads = "__global int *a, __global void *p, read_only image2d_t i, write_only image2d_t o"
    source = f"__kernel void k({heads}) {{\n{line}\n}}"
    with pytest.raises(LaunchError, match=r"types do not fit in line \d of kernel\.cl"):
        run(source)


def test_no_access_moves_more_than_was_checked():
    """What `first_misfit` does not see must not become code that writes behind a buffer."""
    check_size(ir.VectorType(FLOAT, 4), 16)
    check_size(ir.VectorType(I8, 3), 4)
    for kind, size in ((ir.VectorType(FLOAT, 16), 16), (I64, 4), (ir.ArrayType(I8, 5), 4), (FLOAT, 0)):
        with pytest.raises(LaunchError, match="would move"):
            check_size(kind, size)


def test_parameters_of_one_name_are_refused():
    with pytest.raises(LaunchError, match="types do not fit"):
        run("__kernel void k(__global int *a, __global float *a) { a[0] = 1; }")


@pytest.mark.parametrize("call", ["sqrt(v)", "dot(v, v)", "exp(v - v)", "cross(v, v)", "fmin(v, v)"])
def test_a_function_of_a_type_that_is_not_known_has_an_unknown_result(call):
    result = run(f"__kernel void k(__global int *a) {{ struct real v = a[0]; a[1] = {call}; }}")
    assert any(call[: call.index("(")] in it for it in result.notes)


def test_a_float_is_exchanged_where_its_bits_are_the_same():
    """C11, section 7.17.7.4: the comparison is that of `memcmp`, so 0 and -0 differ."""
    source = """__kernel void k(volatile __global float *a, __global int *b) {
        if (get_global_id(0)) return;
        a[1] = -0.0f;
        atomic_cmpxchg(&a[0], 0.0f, 5.0f);
        atomic_cmpxchg(&a[1], 0.0f, 5.0f);
    }"""
    result = run(source)
    assert struct.unpack("2f", bytes(result.buffers["a"].data[:8])) == (5.0, -0.0)


@pytest.mark.parametrize("name", ["and", "or", "xor"])
def test_bits_of_floats_take_no_atomics(name):
    program = read_program(
        f"__kernel void k(volatile __global float *a) {{ atomic_{name}(a, 1.0f); }}", "kernel.cl"
    )
    assert [it.code for it in program.problems] == ["unknown-function"]


@pytest.mark.parametrize(
    "call",
    [
        "shuffle(v, (float4)(0.0f)).x",
        "shuffle(v, 1).x",
        "shuffle2(v, v, (float2)(1.0f)).x",
        "shuffle2(v, (int2)(1), (uint4)(1)).x",
        "shuffle2(v, (float4)(1.0f), (uint4)(1)).x",
    ],
)
def test_what_no_shuffle_takes_is_unknown(call):
    """A mask of floats was code that LLVM refuses: an internal error."""
    result = run(f"__kernel void k(__global int *a) {{ int4 v = (int4)(1); a[0] = {call}; }}")
    assert any("shuffle" in it for it in (*result.notes, *(fault.detail for fault in result.faults)))

"""Sizes, layouts, conversions and constants against an OpenCL compiler.

A kernel is generated that writes what the compiler makes of each expression; the same expressions are read
by us. Skipped only where there is no OpenCL platform.
"""

from __future__ import annotations

import random
import struct
from functools import cache
from typing import Any

import numpy as np
import pytest

from clmap_lsp.source import ir
from clmap_lsp.source.read import read_program

pytestmark = pytest.mark.pocl


@cache
def context() -> Any:
    cl = pytest.importorskip("pyopencl")
    try:
        devices = [it for platform in cl.get_platforms() for it in platform.get_devices()]
    except cl.LogicError:
        devices = []
    if not devices:
        pytest.skip("no OpenCL platform on this machine")
    return cl.Context([devices[0]])


def run(source: str, kernel: str, count: int) -> list[int]:
    """Return what a kernel that writes `count` longs wrote."""
    import pyopencl as cl

    ctx = context()
    queue = cl.CommandQueue(ctx)
    built = cl.Program(ctx, source).build(options=["-w"])
    out = np.zeros(count, np.int64)
    buffer = cl.Buffer(ctx, cl.mem_flags.WRITE_ONLY, out.nbytes)
    getattr(built, kernel)(queue, (1,), (1,), buffer)
    cl.enqueue_copy(queue, out, buffer)
    return [int(it) for it in out]


def ours(source: str) -> list[int]:
    """Return the constants that our reading of the same kernel stores, in order."""
    program = read_program(source, "types.cl")
    assert [it.message for it in program.problems] == []
    values: list[int] = []
    for statement in ir.walk(program.kernels[0].body):
        if isinstance(statement, ir.Store):
            assert isinstance(statement.value, ir.Constant), statement.value
            values.append(int(statement.value.value))
    return values


def agree(expressions: list[str], before: str = "") -> None:
    """Compare `(long)(expression)` for each expression."""
    body = "\n".join(f"  out[{at}] = (long)({it});" for at, it in enumerate(expressions))
    source = f"{before}\n__kernel void k(__global long *out) {{\n{body}\n}}\n"
    theirs, mine = run(source, "k", len(expressions)), ours(source)
    wrong = [
        f"{text}: compiler {a}, ours {b}"
        for text, a, b in zip(expressions, theirs, mine, strict=True)
        if a != b
    ]
    assert wrong == []


SCALARS = ["char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "float", "double"]
OTHER_NAMES = ["unsigned char", "long int", "unsigned", "size_t", "ptrdiff_t", "bool", "unsigned short int"]


def test_sizes_of_types() -> None:
    vectors = [f"{it}{lanes}" for it in SCALARS for lanes in (2, 3, 4, 8, 16)]
    names = SCALARS + OTHER_NAMES + vectors + ["__global float *", "int[3]", "float3[2]", "char(*)[7]"]
    agree([f"sizeof({it})" for it in names])


def literal(random_: random.Random) -> str:
    kind = random_.choice(["int", "hex", "unsigned", "long", "ulong", "char", "cast", "enum"])
    number = random_.choice([0, 1, 2, 3, 7, 31, 100, 255, 1 << 15, 65535, (1 << 31) - 1])
    match kind:
        case "hex":
            return hex(random_.choice([number, 0xFFFFFFFF, 0x80000000]))
        case "unsigned":
            return f"{number}u"
        case "long":
            return f"{number}L"
        case "ulong":
            return f"{number}UL"
        case "char":
            return random_.choice(["'a'", "'\\n'", "'\\x41'", "'0'"])
        case "cast":
            return f"({random_.choice(SCALARS[:8])}){number}"
        case "enum":
            return random_.choice(["E0", "E1", "E2"])
        case _:
            return str(number)


def expression(random_: random.Random, depth: int) -> str:
    """Return a constant integer expression without division by zero, overflow of int or odd shift counts."""
    if depth == 0:
        return literal(random_)
    a, b = expression(random_, depth - 1), expression(random_, depth - 1)
    match random_.randrange(9):
        case 0:
            return f"({a} & {b})"
        case 1:
            return f"({a} | {b})"
        case 2:
            return f"({a} ^ {b})"
        case 3:
            return f"(((ulong){a}) {random_.choice(['+', '-', '*'])} {b})"
        case 4:
            return f"({a} {random_.choice(['<', '<=', '==', '!=', '>', '>='])} {b})"
        case 5:
            return f"({a} >> {random_.randrange(8)})"
        case 6:
            return f"({a} ? {b} : {literal(random_)})"
        case 7:
            return f"{random_.choice(['~', '!'])}({a})"
        case _:
            return f"({a} {random_.choice(['/', '%'])} {random_.choice(['3', '7u', '5L'])})"


def test_constant_expressions() -> None:
    random_ = random.Random(20)
    expressions = [expression(random_, random_.randrange(1, 4)) for _ in range(200)]
    agree(expressions, "enum { E0, E1 = 40, E2 };")


def test_promotions_show_in_the_size_and_the_sign_of_results() -> None:
    random_ = random.Random(21)
    operators = ["+", "-", "*", "/", "&", "|", "^", "<<", ">>", "<", "=="]
    expressions: list[str] = []
    for _ in range(120):
        a, b = random_.choice(SCALARS[:8]), random_.choice(SCALARS[:8])
        combined = f"(({a})1 {random_.choice(operators)} ({b})1)"
        expressions += [f"sizeof{combined}", f"({combined} * 0 - 1 < 0)"]
    for a in SCALARS:
        expressions += [f"sizeof((float)1 + ({a})1)", f"sizeof(1 ? ({a})1 : 1)", f"sizeof(-({a})1)"]
    agree(expressions)


def test_conversions_of_constants() -> None:
    numbers = ["-1", "300", "3.7", "-2.9f", "1e3", "70000u", "0xFFFFFFFFFFu", "-129"]
    whole = [f"({to})({it})" for to in ("int", "long", "short") for it in numbers if "." not in it]
    small = [f"({to})(int)({it})" for to in ("char", "uchar", "ushort", "bool") for it in numbers]
    floats = [f"(int)({it})" for it in ("3.7", "-2.9f", "1e3", "1.0f / 3 * 3000")]
    agree(whole + [it for it in small if "FFu" not in it] + floats)


def members(random_: random.Random, depth: int) -> str:
    lines: list[str] = []
    for at in range(random_.randrange(1, 6)):
        kind = random_.choice(["scalar", "scalar", "array", "vector", "nested"])
        name = f"m{depth}_{at}"
        if kind == "nested" and depth < 2:
            keyword = random_.choice(["struct", "union"])
            lines.append(f"{keyword} {{ {members(random_, depth + 1)} }} {name};")
        elif kind == "array":
            lines.append(f"{random_.choice(SCALARS)} {name}[{random_.randrange(1, 5)}];")
        elif kind == "vector":
            lines.append(f"{random_.choice(SCALARS)}{random_.choice([2, 3, 4])} {name};")
        else:
            lines.append(f"{random_.choice(SCALARS)} {name};")
    return " ".join(lines)


def test_struct_layouts() -> None:
    random_ = random.Random(22)
    attributes = ["", "__attribute__((packed))", "__attribute__((aligned(32)))"]
    before, expressions = "", []
    for number in range(60):
        keyword = random_.choice(["struct", "struct", "union"])
        attribute = random_.choice(attributes)
        text = members(random_, 0)
        before += f"typedef {keyword} {attribute} {{ {text} }} T{number};\n"
        expressions.append(f"sizeof(T{number})")
        count = sum(f"m0_{at}" in text for at in range(6))
        expressions += [f"(size_t)&((T{number} *)0)->m0_{at}" for at in range(count)]
    body = "\n".join(f"  out[{at}] = (long)({it});" for at, it in enumerate(expressions))
    source = f"{before}__kernel void k(__global long *out) {{\n{body}\n}}\n"
    theirs = run(source, "k", len(expressions))
    offsets = source
    for at, text in enumerate(expressions):
        if "->" in text:
            type_, member = text.split("((")[1].split(" *")[0], text.split("->")[1]
            offsets = offsets.replace(
                f"out[{at}] = (long)({text})", f"out[{at}] = offsetof({type_}, {member})"
            )
    assert ours(offsets) == theirs


def test_trailing_attributes_of_structs_and_members() -> None:
    before = """
    typedef struct { char a; int b; } __attribute__((packed)) P;
    typedef struct { char a; int b __attribute__((aligned(16))); } Q;
    struct __attribute__((packed)) R { char a; double b; short c; };
    typedef union { char a[5]; int b; } U;
    typedef struct { char c; struct { short s; int i; }; } A;
    """
    agree([f"sizeof({it})" for it in ("P", "Q", "struct R", "U", "A")], before)


CALLS = [
    "sqrt(1.0f)",
    "pow((double2)1, (double2)2)",
    "clamp((uchar4)1, (uchar4)0, (uchar4)9)",
    "dot((float4)1, (float4)2)",
    "length((float3)1)",
    "cross((float3)1, (float3)2)",
    "isnan(1.0f)",
    "isless((float4)1, (float4)2)",
    "isequal((double2)1, (double2)1)",
    "abs((char)1)",
    "abs((int4)-1)",
    "mul24(3, 4)",
    "mad24(1u, 2u, 3u)",
    "convert_uchar4_sat((float4)300)",
    "as_int(1.0f)",
    "as_uchar4(1u)",
    "upsample((uchar)1, (uchar)2)",
    "upsample((short4)1, (ushort4)2)",
    "select((float4)1, (float4)2, (int4)0)",
    "any((int2)1)",
    "ilogb(8.0f)",
    "ldexp((float4)1, (int4)2)",
    "shuffle((float8)1, (uint4)0)",
    "shuffle2((short2)1, (short2)1, (ushort8)0)",
    "rotate((ulong)1, (ulong)2)",
    "popcount((short2)1)",
    "clz(1u)",
    "mul_hi(1L, 2L)",
    "hadd((uchar)1, (uchar)2)",
    "get_global_id(0)",
    "get_work_dim()",
    "mix(1.0f, 2.0f, 0.5f)",
    "mix((float2)1, (float2)2, 0.5f)",
    "max(1, 2)",
    "max((float4)1, 2.0f)",
    "fmin(1.0f, 2.0f)",
    "step(1.0f, 2.0f)",
    "normalize((float4)1)",
    "distance((double2)1, (double2)2)",
    "vload4(0, p)",
    "vload3(0, p)",
    "atomic_add(q, 1)",
    "atomic_xchg((volatile __global float *)p, 1.0f)",
    "bitselect(1u, 2u, 3u)",
    "nan(1u)",
    "nan(1UL)",
    "signbit((double4)1)",
    "native_sin(1.0f)",
    "fma(1.0, 2.0, 3.0)",
    "(float4)1 < (float4)2",
    "(uchar4)1 == (uchar4)1",
    "!(float2)1",
    "(char4)1 + (char)1",
    "(int4)1 << 2",
    "-(uchar4)1",
    "((float8)1).hi",
    "((float8)1).s7",
    "((int3)1).xy",
    "get_work_dim() ? 1 : 2.0f",
    "(double)1 + 1.0f",
    "sizeof(int)",
]


def test_types_of_built_in_calls() -> None:
    head = "__kernel void k(__global long *out, __global float *p, volatile __global int *q)"
    body = "\n".join(f"  out[{at}] = sizeof({it});" for at, it in enumerate(CALLS))
    import pyopencl as cl

    ctx = context()
    source = f"{head} {{\n{body}\n}}\n"
    built = cl.Program(ctx, source).build(options=["-w"])
    queue = cl.CommandQueue(ctx)
    out = np.zeros(len(CALLS), np.int64)
    buffer = cl.Buffer(ctx, cl.mem_flags.READ_WRITE, max(out.nbytes, 64))
    built.k(queue, (1,), (1,), buffer, buffer, buffer)
    cl.enqueue_copy(queue, out, buffer)
    assert dict(zip(CALLS, ours(source), strict=True)) == dict(zip(CALLS, out.tolist(), strict=True))


PARAMETERS = [
    "__global float *{}",
    "global const int4 *{}",
    "float __global *{}",
    "const float __constant *{}",
    "__local double2 *restrict {}",
    "local uchar *const {}",
    "volatile __global unsigned *{}",
    "uint {}",
    "float16 {}",
    "unsigned long {}",
    "__global unsigned char *{}",
    "constant short3 *{}",
    "__global float *__restrict__ const {}",
    "const __global long *const {}",
    "__local char {}[16]",
]


def test_parameter_types_and_address_spaces() -> None:
    import pyopencl as cl

    ctx = context()
    listed = ", ".join(it.format(f"p{at}") for at, it in enumerate(PARAMETERS))
    source = f"__kernel void k({listed}) {{}}"
    kernel = cl.Program(ctx, source).build(options=["-cl-kernel-arg-info", "-w"]).k
    mine = read_program(source, "k.cl").kernels[0].parameters
    for at, parameter in enumerate(mine):
        space = kernel.get_arg_info(at, cl.kernel_arg_info.ADDRESS_QUALIFIER)
        type_name = kernel.get_arg_info(at, cl.kernel_arg_info.TYPE_NAME).replace(" ", "")
        spelled = str(parameter.type).split()[-1].replace(" ", "")
        where = str(parameter.type).split()[0].strip("_") if "*" in spelled else "private"
        assert cl.kernel_arg_address_qualifier.to_string(space).lower() == where
        assert type_name.replace("unsigned", "u").replace("size_t", "ulong") == spelled


def test_bytes_of_program_scope_constants() -> None:
    """The bytes of `__constant` objects are those that a compiler puts there."""
    before = """
    typedef struct { char c; float f[2]; short3 v; } S;
    __constant int A[2][3] = { {1, 2}, [1][2] = 9 };
    __constant S B[2] = { { 'x', { 1.5f, [1] = -2 }, (short3)(1, 2, 3) }, { .f = { 7 } } };
    __constant float4 C = (float4)(1, 2, 3, 4);
    __constant char D[] = "a\\tb";
    __constant ulong E[3] = { 1ul << 40, -1, 0x10 };
    __constant double F = 1.0 / 3;
    """
    program = read_program(before + "__kernel void k(__global long *o) { o[0] = 0; }", "c.cl")
    sizes = {it.variable.name: len(it.data or b"") for it in program.constants}
    assert sizes == {"A": 24, "B": 48, "C": 16, "D": 4, "E": 24, "F": 8}
    reads = []
    for name, size in sizes.items():
        reads += [(name, at) for at in range(size)]
    body = "\n".join(f"  out[{at}] = ((__constant uchar *)&{n})[{i}];" for at, (n, i) in enumerate(reads))
    theirs = run(f"{before} __kernel void k(__global long *out) {{\n{body}\n}}", "k", len(reads))
    mine = [byte for it in program.constants for byte in it.data or b""]
    padding = {("B", at) for at in (1, 2, 3, 12, 13, 14, 15, 22, 23)} | {
        ("B", at + 24) for at in (1, 2, 3, 12, 13, 14, 15, 22, 23)
    }
    wrong = [it for it, a, b in zip(reads, mine, theirs, strict=True) if a != b and it not in padding]
    assert wrong == []


def test_folded_floats_are_rounded_once() -> None:
    texts = ["1.0f / 3", "0.1f + 0.2f", "16777217.0f", "1.0f / 3 * 3", "0x1.8p1f", "1e38f * 10"]
    source = "__kernel void k(__global float *out) {\n"
    source += "\n".join(f"  out[{at}] = {it};" for at, it in enumerate(texts)) + "\n}"
    program = read_program(source, "f.cl")
    stores = [it for it in ir.walk(program.kernels[0].body) if isinstance(it, ir.Store)]
    assert all(isinstance(it.value, ir.Constant) for it in stores)
    mine = [struct.pack("<f", it.value.value) for it in stores if isinstance(it.value, ir.Constant)]
    body = source.replace("float *out", "long *out").replace("= ", "= as_int((float)(").replace(";", "));")
    theirs = run(body, "k", len(texts))
    assert [struct.unpack("<i", it)[0] for it in mine] == theirs

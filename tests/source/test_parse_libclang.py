"""Parameters of kernels agree with clang: names, types, address spaces, in every order of the qualifiers."""

from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clmap_lsp.source.read import read_program
from clmap_lsp.source.types import OpaqueType, PointerType, ScalarType, VectorType

cindex = pytest.importorskip("clang.cindex", reason="libclang is the reference here")

HEADERS = sorted(Path("/usr/lib").glob("llvm-*/lib/clang/*/include/opencl-c-base.h"))
pytestmark = pytest.mark.skipif(not HEADERS, reason="clang's opencl-c-base.h is not on this machine")

SCALARS = {
    "BOOL": "bool", "SCHAR": "char", "CHAR_S": "char", "UCHAR": "uchar", "SHORT": "short", "USHORT": "ushort",
    "INT": "int", "UINT": "uint", "LONG": "long", "ULONG": "ulong", "HALF": "half", "FLOAT": "float",
    "DOUBLE": "double", "FLOAT16": "half",
}  # fmt: skip


def clang_parameters(text):
    """Return for each kernel its parameters as clang sees them; `None` where clang rejects the file."""
    arguments = ["-x", "cl", "-cl-std=CL1.2", "-target", "spir64", "-cl-no-stdinc"]
    arguments += ["-include", str(HEADERS[0]), "-Xclang", "-fdeclare-opencl-builtins"]
    unit = cindex.Index.create().parse("k.cl", arguments, [("k.cl", text)])
    if any(it.severity >= cindex.Diagnostic.Error for it in unit.diagnostics):
        return None
    return {
        it.spelling: [(p.spelling, *described_by_clang(p.type)) for p in it.get_arguments()]
        for it in unit.cursor.get_children()
        if it.kind == cindex.CursorKind.FUNCTION_DECL and str(it.location.file) == "k.cl"
    }


@cache
def spaces():
    """Return the words for clang's numbers of address spaces, which differ between targets and versions."""
    words = ["global", "local", "constant"]
    text = "kernel void f(" + ", ".join(f"{it} int *p" for it in words) + ") { }"
    unit = cindex.Index.create().parse(
        "k.cl", ["-x", "cl", "-cl-std=CL1.2", "-target", "spir64"], [("k.cl", text)]
    )
    (kernel,) = (it for it in unit.cursor.get_children() if it.spelling == "f")
    numbers = [it.type.get_pointee().get_address_space() for it in kernel.get_arguments()]
    assert len(set(numbers)) == len(words)
    return dict(zip(numbers, words, strict=True))


def described_by_clang(kind):
    kind = kind.get_canonical()
    if kind.kind == cindex.TypeKind.POINTER:
        pointee = kind.get_pointee()
        space = spaces().get(pointee.get_address_space(), "private")
        qualifiers = (
            pointee.is_const_qualified(),
            pointee.is_volatile_qualified(),
            kind.is_restrict_qualified(),
        )
        return ("pointer", space, qualifiers, described_by_clang(pointee))
    if kind.kind.name in ("VECTOR", "EXTVECTOR"):
        return ("value", f"{SCALARS[kind.element_type.kind.name]}{kind.element_count}")
    if kind.kind.name in SCALARS:
        return ("value", SCALARS[kind.kind.name])
    return ("opaque", kind.spelling.split()[-1].removesuffix("_t").replace("__read_only", ""))


def described(kind):
    match kind:
        case PointerType():
            qualifiers = (kind.is_const, kind.is_volatile, kind.is_restrict)
            return ("pointer", kind.space.value, qualifiers, described(kind.pointee))
        case VectorType() | ScalarType():
            return ("value", str(kind))
        case OpaqueType():
            return ("opaque", kind.name.removesuffix("_t"))
        case _:
            return ("?", str(kind))


def parameters(text):
    return {
        it.name: [(p.name, *described(p.type)) for p in it.parameters]
        for it in read_program(text, "k.cl").kernels
    }


@st.composite
def parameter(draw, name):
    element = draw(
        st.sampled_from(["float", "int", "unsigned int", "uchar", "long", "unsigned char", "T", "short"])
    )
    vector = (
        draw(st.sampled_from(["", "2", "3", "4", "8", "16"])) if " " not in element and element != "T" else ""
    )
    words = [element + vector]
    if draw(st.booleans()):
        return f"{draw(st.sampled_from(['', 'const ', '__private ']))}{words[0]} {name}"
    words.append(
        draw(st.sampled_from(["__global", "global", "__constant", "constant", "__local", "local", "GLOBAL"]))
    )
    words += draw(st.lists(st.sampled_from(["const", "volatile"]), unique=True, max_size=2))
    words = draw(st.permutations(words))
    after = draw(st.sampled_from(["*", "* restrict ", "*const ", "* __restrict const ", "*RESTRICT "]))
    return f"{' '.join(words)} {after}{name}"


@st.composite
def kernels(draw):
    count = draw(st.integers(0, 6))
    inside = [draw(parameter(f"p{i}")) for i in range(count)]
    head = draw(
        st.sampled_from(
            [
                "__kernel void f",
                "kernel void f",
                "void kernel f",
                "__attribute__((reqd_work_group_size(N, 1, 1))) kernel void f",
                "kernel __attribute__((vec_type_hint(float4))) void f",
                "KERNEL(f)",
            ]
        )
    )
    lines = ["#define N 16", "#define GLOBAL __global", "#define RESTRICT restrict", "typedef float4 T;"]
    return "\n".join([*lines, "#define KERNEL(n) __kernel void n", f"{head}({', '.join(inside)}) {{ }}", ""])


@settings(max_examples=120, deadline=None)
@given(kernels())
def test_generated_parameters_agree(text):
    expected = clang_parameters(text)
    if expected is not None:
        assert parameters(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "kernel void f(read_only image2d_t a, write_only image3d_t b, sampler_t s, float4 c) { }",
        "typedef struct { int x; } s; kernel void f(global int (*p)[4], global int *const *q) { }",
        "#define P(t) global t *\nkernel void f(P(float) a, P(uint3) b, size_t n, half *c) { }",
        "kernel void f(global float *restrict const a, volatile global uint4 *b) { }",
    ],
)
def test_special_parameters_agree(text):
    expected = clang_parameters(text)
    if expected is None:
        return
    found = parameters(text)
    for name, described_ in expected.items():
        for ours, theirs in zip(found[name], described_, strict=True):
            assert ours[:3] == theirs[:3]


def test_the_reference_accepts_what_is_compared():
    assert clang_parameters("kernel void f(__global float4 *p) { }") == {
        "f": [("p", "pointer", "global", (False, False, False), ("value", "float4"))]
    }

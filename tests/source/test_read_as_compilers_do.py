"""C that is easily misread: what clang makes of it, kernel by kernel."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_dump import dump

from clmap_lsp.access.analyse import analyse
from clmap_lsp.source import ir
from clmap_lsp.source.branches import hidden_kernels, solve
from clmap_lsp.source.embedded import find_embedded
from clmap_lsp.source.encoding import decoded, encoded
from clmap_lsp.source.options import BuildOptions
from clmap_lsp.source.parse import prepare
from clmap_lsp.source.preprocess import OutsideText, preprocess
from clmap_lsp.source.program import Program
from clmap_lsp.source.read import read_program
from clmap_lsp.source.templates import Filled, filled


def read(text: str, **options: object) -> Program:
    return read_program(text, "k.cl", BuildOptions(**options))  # type: ignore[arg-type]


def body(text: str) -> str:
    """Return the printed body of the only kernel; nothing may be reported."""
    program = read(text)
    assert [it.message for it in program.problems] == []
    (kernel,) = program.kernels
    return dump(kernel)


# ------------------------------------------------------------------------------------------- declarations


@pytest.mark.parametrize(
    "declaration",
    [
        "typedef enum tag_s { YA = 1, YB = 4 } other_t;",
        "typedef enum { YA = 1, YB = 4 } other_t;",
        "typedef const enum tag_s { YA = 1, YB = 4 } other_t;",
        "typedef enum __attribute__((packed)) tag_s { YA = 1, YB = YA + 3 } other_t;",
        "enum tag_s { YA = 1, YB = 4 };",
        "struct outer { enum tag_s { YA = 1, YB = 4 } kind; };",
        "typedef struct outer { enum { YA = 1, YB = 4 } kind; } outer_t;",
    ],
)
def test_enumerators_have_their_values(declaration: str) -> None:
    kernel = f"{declaration}\n__kernel void k(__global int *a) {{ a[get_global_id(0) * YB] = YA; }}"
    assert "store4 a[(get_global_id(0) * 4:ulong)*4] = 1:int" in body(kernel)


NODE = "struct Node { int left; int right; float w; }"


@pytest.mark.parametrize(
    ("text", "size"),
    [
        (f"{NODE};\n__attribute__((aligned(16))) __constant int x = 1;", 12),
        (f"{NODE};\nvoid f() {{ __local float T[32] __attribute__((aligned(16))); }}", 12),
        (f"{NODE};\ntypedef struct {{ char c; int i; }} __attribute__((packed)) P;", 12),
        ("struct Node { char c; float w; };\ntypedef struct { int i; } __attribute__((packed)) P;", 8),
        ("union Node { int i; float f; };\ntypedef struct { int i; } __attribute__((aligned(64))) P;", 4),
        (f"{NODE} __attribute__((aligned(16)));", 16),
        ("struct __attribute__((packed)) Node { char c; float w; };", 5),
        ("struct Node { char c; float w; } __attribute__((packed));", 5),
        ("struct Node { char c; struct { int x; } __attribute__((aligned(8))) s; };", 16),
        ("struct Node { char c; float w; } __attribute__((aligned(sizeof(float) * 8)));", 32),
        ("typedef float v __attribute__((vector_size(sizeof(float) * 3)));\nstruct Node { v x; };", 16),
        ("typedef __attribute__((ext_vector_type(1 << 3))) char v;\nstruct Node { v x; };", 8),
    ],
)
def test_attributes_belong_to_the_type_that_they_stand_at(text: str, size: int) -> None:
    word = "union" if text.startswith("union") else "struct"
    kernel = f"{text}\n__kernel void k(__global {word} Node *a, __global ulong *o) {{ o[0] = sizeof(*a); }}"
    assert f"store8 o[0:int*8] = {size}:ulong" in body(kernel)


def test_enumerators_of_64_bits_keep_them() -> None:
    enum = "enum { IV = 0x6a09e667f3bcc908ul, LESS = -1 };"
    shown = body(f"{enum}\n__kernel void k(__global ulong *a) {{ a[0] = IV ^ LESS; }}")
    assert f"store8 a[0:int*8] = {0x6A09E667F3BCC908 ^ (1 << 64) - 1}:ulong" in shown


def test_a_function_may_return_a_restricted_pointer() -> None:
    text = "__global uint *restrict f(__global uint *a) { return a + 1; }\n"
    assert "inline f" in body(f"{text}__kernel void k(__global uint *a) {{ *f(a) = 1; }}")


def test_long_long_is_named() -> None:
    program = read(
        "__kernel void k(__global int *a) { long long x = a[0]; unsigned long long y = x; a[1] = y; }"
    )
    assert [it.code for it in program.problems] == ["unsupported"]
    assert "128 bits" in program.problems[0].message


# --------------------------------------------------------------------------------------------- statements


def test_a_statement_expression_keeps_its_loads_and_its_value() -> None:
    text = "__kernel void k(__global int *o, __global int *p) { o[0] = ({ int t = p[1]; t + p[2]; }); }"
    assert body(text).count("load4 p") == 2


def test_what_assembly_writes_is_unknown_and_named() -> None:
    text = """__kernel void k(__global int *a) {
        int x = a[0], y = 1;
        asm volatile("add %0, %1;" : "=r"(x) : "r"(a[1]) : "memory");
        __asm__("mov %[d], 1;" : [d] "=v"(y));
        a[x] = y;
    }"""
    program = read(text)
    assert [(it.code, it.message) for it in program.problems] == [
        ("unsupported", "inline assembly is not followed"),
        ("unsupported", "inline assembly is not followed"),
    ]
    shown = dump(program.kernels[0])
    assert "%4 = opaque asm(%3)" in shown and "x = %4" in shown
    assert "%5 = opaque asm()" in shown and "y = %5" in shown


def test_a_range_of_cases_too_long_to_list_is_named() -> None:
    program = read("__kernel void k(__global int *o) { switch (o[0]) { case 0 ... 99999: o[1] = 1; } }")
    assert [it.code for it in program.problems] == ["unsupported"]
    assert "4096" in program.problems[0].message


def test_a_body_that_only_a_label_gives_its_end_is_named() -> None:
    text = (
        "__kernel void k(__global int *o) { switch (o[0]) { case 0: if (o[1]) case 1: o[2] = 1; o[3] = 2; } }"
    )
    program = read(text)
    assert [it.code for it in program.problems] == ["unsupported"]
    (kernel,) = program.kernels
    assert any(isinstance(it, ir.Unsupported) for it in ir.walk(kernel.body))


def test_recursion_is_called_so() -> None:
    program = read(
        "int f(int n) { return n ? f(n - 1) : 1; } __kernel void k(__global int *a) { a[0] = f(3); }"
    )
    (problem,) = program.problems
    assert problem.code == "recursion"
    assert "OpenCL C has no recursion" in problem.message


# ------------------------------------------------------------------------------------------- conditions


def test_a_name_that_must_be_defined_may_be_a_type() -> None:
    text = "#ifndef T\n#error no T\n#endif\n__kernel void k(__global T *a) { a[get_global_id(0)] = 1; }"
    program = read(text)
    assert [(it.name, it.role, it.value) for it in program.guesses] == [("T", "type", "float")]
    assert [it.code for it in program.problems] == ["undefined-name"]
    assert text[program.problems[0].span.start :].startswith("T *a")
    assert "float* a" in dump(program.kernels[0])


def test_a_name_that_must_be_defined_and_is_never_used_is_a_flag() -> None:
    program = read("#ifndef READY\n#error not ready\n#endif\n__kernel void k(__global int *a) { a[0] = 1; }")
    assert [(it.name, it.role, it.value) for it in program.guesses] == [("READY", "constant", "1")]


def test_a_name_whose_value_a_condition_needs_gets_one() -> None:
    text = "#if N < 3\n#error too small\n#endif\n__kernel void k(__global int *a) { a[N] = 1; }"
    assert [(it.name, it.value) for it in read(text).guesses] == [("N", "3")]


@pytest.mark.parametrize("condition", ["A / B", "(64 % LOCAL_SIZE) == 0", "N / (A * B) < 1 || 1"])
def test_a_condition_that_divides_by_an_undefined_name_hides_nothing(condition: str) -> None:
    text = f"__kernel void k(__global int *a) {{\n#if {condition}\na[0] = 1;\n#endif\n}}"
    program = read(text)
    assert "store4 a" in dump(program.kernels[0])
    assert {it.code for it in program.problems} == {"undefined-name"}


def test_a_division_by_a_number_of_zero_stays_an_error() -> None:
    program = read("#if 1 / 0\n#endif\n__kernel void k(__global int *a) { a[0] = 1; }")
    assert [it.code for it in program.problems] == ["bad-condition"]


# ----------------------------------------------------------------------------------- what hosts put around

KERNEL = "__kernel void k(__global int *a) { a[get_global_id(0)] = 1; }"


@pytest.mark.parametrize(
    "text",
    [
        f"MSTRINGIFY(\n{KERNEL}\n)\n",
        f"MSTRINGIFY(\n\\n#define ONE 1\n\\n\n{KERNEL.replace('1;', 'ONE;')}\n);\n",
        f"#ifndef G\n#define G\nstatic const char *const source = TO_STRING(\n{KERNEL} // :)\n);\n#endif",
        f"const char * s = STRINGIFY(\n#pragma OPENCL EXTENSION cl_khr_fp64 : enable \\n\n{KERNEL}\\n\n);",
        f"STRINGIFY(\n/* it's ) */ {KERNEL}\n)\nSTRINGIFY(\nvoid f() {{ }}\n__kernel void q() {{ }}\n)\n",
    ],
)
def test_kernels_that_a_macro_makes_a_string_of(text: str) -> None:
    program = read(text)
    several = ["several-programs"] if text.startswith("STRINGIFY") else []
    assert [it.code for it in program.problems] == several
    kernel = program.kernel("k")
    assert kernel is not None
    (store,) = (it for it in ir.walk(kernel.body) if isinstance(it, ir.Store))
    assert text[store.span.start : store.span.end] == "a[get_global_id(0)]"


def test_a_macro_with_a_kernel_as_its_argument_is_no_string_by_itself() -> None:
    text = f"#define TEXT_OF(x) x\n{KERNEL}\nTEXT_OF(int y;)\n"
    assert [it.name for it in read(text).kernels] == ["k"]


def test_stringified_kernels_of_a_host_file() -> None:
    text = f'const char *a = "x";\nconst char *b = STRINGIFY(\n{KERNEL}\\n\n);\nint main() {{ }}\n'
    (found,) = find_embedded(text, "cpp")
    program = read(found.text)
    assert [it.name for it in program.kernels] == ["k"]
    span = found.host_span(program.kernels[0].span, "host.cpp")
    assert text[span.start : span.end].startswith("void k(")


# ------------------------------------------------------------------------------------------------ encodings


def test_bytes_that_are_not_utf_8_are_named_and_read() -> None:
    data = b"// \xa9 2009\n" + KERNEL.encode()
    text = decoded(data)
    program = read(text)
    assert [(it.code, it.span.start) for it in program.problems] == [("encoding", 3)]
    assert "0xa9" in program.problems[0].message
    assert [it.name for it in program.kernels] == ["k"]
    assert encoded(text.replace("1", "2"), data) == data.replace(b"1", b"2")


@given(st.binary(max_size=60))
def test_every_file_of_bytes_can_be_written_back(data: bytes) -> None:
    assert encoded(decoded(data), data) == data


# ------------------------------------------------------------------------------------------------ templates


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{{ type }} x;", "type       x;"),
        ("int f_{{n}}(int a);", "int f_n    (int a);"),
        ("int {{n}}_f(int a);", "int     n_f(int a);"),
        ("int a{{n}}b;", "int an____b;"),
        ("x = ${i + 1};", "x = i_1     ;"),
        ("%(type)s x[%(n)d];", "type     x[n    ];"),
        ("{% if a %}x{% endif %}", "          x           "),
        ("{%\nset a %}x", "  \n        x"),
        ("  % for i in range(3):\nx;\n  % endfor\n", " " * 22 + "\nx;\n          \n"),
    ],
)
def test_template_text_keeps_its_places(text: str, expected: str) -> None:
    found = filled(text, "k.cl")
    assert found.text == expected
    assert len(found.text) == len(text)
    assert [it.code for it in found.problems] == ["template-text"]


@pytest.mark.parametrize(
    "text",
    ["int a[1][1] = {{n}};", "x = a %(b);", "// {{ type }}", "int b[2][1] = {{x}, {y}};", "x = a\n%b;", "$x"],
)
def test_c_is_no_template(text: str) -> None:
    assert filled(text, "k.cl") == Filled(text)


# ------------------------------------------------------------------------------------------------- includes


def test_an_include_is_found_in_the_folders_above() -> None:
    files = {"repo/include/t.h": "#define N 4\n", "repo/a/b/near.h": "#define M 8\n"}
    text = '#include "t.h"\n#include <near.h>\n__kernel void k(__global int *a) { a[N] = M; }'
    program = read_program(text, "repo/a/b/k.cl", read_file=files.get)
    assert [(it.code, it.severity.value) for it in program.problems] == [("found-include", "information")] * 2
    assert "repo/include/t.h" in program.problems[0].message
    assert "store4 a[4:int*4] = 8:int" in dump(program.kernels[0])


def test_an_include_is_looked_for_in_the_workspace_only() -> None:
    asked: list[str] = []

    def reader(path: str) -> str | None:
        asked.append(path)
        return None if path.startswith("repo/") else OutsideText("", path)

    program = read_program('#include "t.h"\n', "repo/a/k.cl", read_file=reader)
    assert [it.code for it in program.problems] == ["missing-include"]
    assert [it for it in asked if not it.startswith("repo/")] == ["t.h"]


def test_files_that_a_host_puts_before_a_kernel() -> None:
    files = {"lib/types.h": "#define N 4\ntypedef struct { int a[2]; } P;\n"}
    text = "__kernel void k(__global int *a, P p) { a[N] = p.a[1]; }"
    options = BuildOptions(prelude=("lib/types.h",))
    program = read_program(text, "k.cl", options, read_file=files.get)
    assert [it.message for it in program.problems] == []
    assert "store4 a[4:int*4]" in dump(program.kernels[0])
    missing = read_program(text, "k.cl", BuildOptions(prelude=("none.h",)), read_file={}.get)
    assert missing.problems[0].code == "missing-include"


def test_vectors_that_opencl_has_not_are_named() -> None:
    program = read(
        "typedef char odd __attribute__((ext_vector_type(7)));\n"
        "__kernel void k(__global odd *a) { a[0] = 1; }"
    )
    assert [it.message for it in program.problems] == ["that `odd` is a vector is not followed"]


@pytest.mark.parametrize(
    ("index", "same"),
    [
        ("(int4)(1, 2, i, 4).z", "i"),
        ("(int2)(i).x", "i"),
        ("(int2)(n + 1, i).y", "i"),
        ("(int4)(1, 2, i, 4).zw.x", "i"),
        ("(V)(1, i, 3, 4)[1]", "i"),
        ("-(V)(1, i, 3, 4).y + n", "-i + n"),
        ("(int)(float2)(n, n + 2).x", "(int)((float2)(n, n + 2)).x"),
    ],
)
def test_what_stands_behind_a_vector_literal_is_of_the_vector(index: str, same: str) -> None:
    """Unlike in C, where `(T)(a).x` casts the member; it was read so, and the index was lost in silence."""
    frame = "typedef int4 V; __kernel void k(__global int *a, int n, int i) {{ a[{}] = 1; }}"
    texts = [dump(read(frame.format(it)).kernels[0]) for it in (index, same)]
    assert not read(frame.format(index)).problems
    accesses = [analyse(read(frame.format(it)).kernels[0]).accesses[-1] for it in (index, same)]
    assert accesses[0].unknown is None and accesses[0].index == accesses[1].index, texts


def test_names_that_are_types_to_the_grammar_only_may_be_defined() -> None:
    """`ssize_t`, `uint32_t` and their like are C's, not OpenCL C's: a kernel's typedef says what they are."""
    program = read(
        "typedef int ssize_t; typedef ushort uint32_t; typedef __global float *int16_t;\n"
        "__kernel void k(__global ssize_t *a, __global uint32_t *b, int16_t c) {\n"
        "  typedef char uint8_t; __private uint8_t d[3]; a[sizeof(d)] = 1; }"
    )
    assert [str(it.type) for it in program.kernels[0].parameters] == [
        "__global int*",
        "__global ushort*",
        "__global float*",
    ]
    assert str(analyse(program.kernels[0]).accesses[-1].index_text) == "3"


def test_a_choice_without_its_middle_evaluates_its_first_operand_once() -> None:
    shown = body("__kernel void k(__global int *o, __global int *p) { o[0] = p[1] ?: 7; }")
    assert shown.count("load4 p") == 1
    assert "(%1 ? %1 : 7:int)" in shown
    shown = body("__kernel void k(__global int *o, __global int *p) { o[0] = o[2] ?: p[1]; }")
    assert shown.index("if %1") < shown.index("load4 p")


@pytest.mark.parametrize(
    ("call", "type_"),
    [
        ("mad24(get_group_id(0), 64, get_local_id(0))", "int"),  # The overload of int takes one as it is.
        ("mul24((ushort)i, (uchar)i)", "int"),
        ("mul24(u, 64)", "uint"),
        ("mul24(get_group_id(0), get_local_id(0))", "uint"),  # Ambiguous to compilers.
        ("mul24((uint2)u, (uint2)u).x", "uint"),
    ],
)
def test_products_of_24_bits_have_the_type_of_the_overload_that_compilers_choose(
    call: str, type_: str
) -> None:
    program = read(f"__kernel void k(__global float *o, int i, uint u) {{ o[0] = {call} / -2; }}")
    (store,) = [it for it in ir.walk(program.kernels[0].body) if isinstance(it, ir.Store)]
    assert f"/ {'4294967294:uint' if type_ == 'uint' else '-2:int'}" in dump(program.kernels[0]), store


# ------------------------------------------------------------------------------------ names from elsewhere


@pytest.mark.parametrize("head", ["typedef float real;", ""])
def test_an_undefined_name_behind_a_cast_is_an_operand(head: str) -> None:
    text = f"{head} __kernel void k(__global real *a) {{ real z = a[0]; a[1] = mad((real) FACTOR, z, z); }}"
    program = read(text)
    assert not [it for it in program.problems if it.code == "syntax-error"]
    assert {it.name: it.role for it in program.guesses}["FACTOR"] == "constant"


def test_what_follows_an_argument_still_stands_for_more_of_them() -> None:
    program = read("void f(int, int); __kernel void k(__global int *a) { f(a[0] MORE); f((a[1]) MORE); }")
    assert {it.name: it.role for it in program.guesses}["MORE"] == "parameters"


def test_the_hosts_names_of_types_are_those_of_kernels() -> None:
    program = read("typedef struct { cl_int n; cl_uchar c; cl_double d; } s; kernel void k(global s *a) {}")
    values = {it.name: it.value for it in program.guesses}
    assert values == {"cl_int": "int", "cl_uchar": "uchar", "cl_double": "double"}


SHARED = """
#ifndef SHARED_H
#define SHARED_H
#ifdef FOR_KERNELS
typedef float3 place;
#else
#include "places.hpp"
typedef Places::place place;
#endif
#endif
"""
PLACES = "#include <string>\ntemplate <class T> class Holder { T t; };\n"


@pytest.mark.parametrize("places", [PLACES, None])
def test_a_header_that_hosts_share_is_read_as_kernels_are_built(places: str | None) -> None:
    text = '#include "shared.h"\n__kernel void k(__global place *a) { a[0] = (place)(1.0f); }'
    files = {"shared.h": SHARED, "places.hpp": places}
    program = read_program(text, "k.cl", BuildOptions(), read_file=files.get)
    assert [it.code for it in program.problems] == ["undefined-name"]
    assert "so that no header of a host is read" in program.problems[0].message
    assert [(it.name, it.value) for it in program.guesses] == [("FOR_KERNELS", "1")]


def test_a_header_of_hosts_that_no_name_decides_on_is_reported() -> None:
    program = read_program(
        '#include "places.hpp"\n__kernel void k(__global int *a) { a[0] = 1; }',
        "k.cl",
        BuildOptions(),
        read_file={"places.hpp": "#include <string>\n"}.get,
    )
    assert [it.code for it in program.problems] == ["missing-include"]
    assert not program.guesses


def test_what_a_reading_in_vain_logged_is_forgotten() -> None:
    shared = SHARED.replace(
        "typedef float3 place;", "typedef float3 place;\n#include <vector>\n#define SIDE 4"
    )
    prepared = prepare(
        '#include "shared.h"\n__kernel void k() {}', "k.cl", BuildOptions(), {"shared.h": shared}.get
    )
    assert not prepared.guesses
    assert {it[0].name for it in prepared.log.definitions} == {"SHARED_H"}


def test_hidden_kernels_are_found_behind_a_files_guard_against_itself() -> None:
    text = "#ifndef K_CL\n#define K_CL\n#ifdef MORE\n__kernel void k(__global int *a) {}\n#endif\n#endif\n"
    source = preprocess(text, "k.cl", BuildOptions())
    (hidden,) = hidden_kernels("k.cl", text, source.inactive)
    assert solve(hidden.guards, source.macros) == {"MORE": "MORE"}

"""From text to tree: real-world shapes parse without errors, names get roles, nothing raises."""
# ruff: noqa: E501

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clmap_lsp.source.options import BuildOptions
from clmap_lsp.source.parse import MAX_CHARACTERS, parse

BODY = "{ a[get_global_id(0)] = 1; }"


def tree_of(text, files=None, previous=None, **options):
    return parse(text, "k.cl", BuildOptions(**options), read_file=(files or {}).get, previous=previous)


def functions(tree):
    root = tree.tree.root_node
    return [it for it in root.children if it.type == "function_definition" and not it.has_error]


def roles(tree):
    return {it.name: (it.role, it.value) for it in tree.guesses}


CLEAN = {
    "qualifiers in any order": "const __global float * restrict __kernel_; __kernel void f(float __global const *restrict a) { }",
    "casts": "kernel void f(global float4 *a) { a[0] = (float4)(1, 2, 3, 4) + (float4)-a[1] + *(__global float4*)(a + 1); }",
    "half literals": "kernel void f(global half *a) { a[0] = 1.0h * 2h + .5H + 1e3h; }",
    "attributes": "__attribute__((reqd_work_group_size(8, 8, 1))) __attribute__((vec_type_hint(float4))) kernel void f() {}",
    "pragma before a body": "kernel void f(global int *a) { for (int i = 0; i < 4; i++)\n#pragma unroll\n{ a[i] = i; } }",
    "_Pragma": 'kernel void f(global int *a) { _Pragma("unroll 4") for (int i = 0; i < 4; i++) a[i] = i; }',
    "postfix address space": "kernel void f() { float local t[16]; int __private x[2]; }",
    "const restrict": "kernel void f(__global int * const __restrict a) " + BODY,
    "raw string around the file": '// host\nR"(\nkernel void f(global int *a) ' + BODY + '\n)"\n// end\n',
    "conditions in the parameters": "kernel void f(global int *a\n#ifdef B\n, global int *b\n#else\n, int c\n#endif\n) " + BODY,
    "condition that splits a block": "kernel void f(global int *a) {\n#if 1\nif (a[0]) {\n#else\nif (a[1]) {\n#endif\na[0] = 1; } }",
    "assembly": 'kernel void f(global int *a) { asm volatile("mov %0, 1;" : "=r"(a[0]) : : "memory"); }',
    "CRLF and a byte order mark": "\ufeffkernel void f(global int *a)\r\n" + BODY + "\r\n",
    "macro that makes kernels": "#define K(n, T) kernel void n(global T *a) { a[0] = (T)1; }\nK(f, float4) K(g, int)",
    "extension pragma": "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\nkernel void f(global double *a) " + BODY,
    "images and samplers": "kernel void f(read_only image2d_t i, write_only image2d_array_t o, sampler_t s) {"
    " float4 v = read_imagef(i, s, (int2)(0, 1)); }",
    "pointer to array": "kernel void f(global int *a) { local int (*p)[4]; __constant uint (*q)[2]; }",
    "pipes": "kernel void f(read_only pipe int p, global int *a) " + BODY,
    "members called like keywords": "typedef struct { int global; } s; kernel void f(global s *a) { a->global = 1; }",
    "typedef": "typedef float real; typedef struct { real x; } s; kernel void f(global real *a) { a[0] = (real)(1) * -(real)2; }",
    "unicode": 'kernel void f(global int *a) { /* é */ printf("ü"); }',
    "a placeholder of a template": "@radius\nkernel void f(@in, global int *a) {\n  @load\n  a[0] = @out;\n}",
    "kernel_exec": "__kernel_exec(64, float4) void f(global int *a) " + BODY,
}  # fmt: skip


@pytest.mark.parametrize("name", CLEAN)
def test_real_world_shapes_parse_without_errors(name):
    tree = tree_of(CLEAN[name])
    assert not tree.tree.root_node.has_error, tree.text
    assert functions(tree)
    assert any(it.word == "kernel" for it in tree.qualifiers)
    assert tree.text.isascii()


UNDEFINED = [
    ("kernel void f(global T *a) { T x = a[0]; a[1] = (T)x; }", {"T": ("type", "float")}),
    ("kernel void f(global REAL4 *a) { a[0] = (REAL4)(1, 2, 3, 4); }", {"REAL4": ("vector type", "float4")}),
    ("kernel void f(global VEC *a) { a[0] = (VEC)(1, 2); }", {"VEC": ("vector type", "float2")}),
    ("kernel void f(local float *a) { a[get_local_id(0) * TS] = 1; }", {"TS": ("constant", "16")}),
    ("DECLSPEC void g(int x) { } kernel void f() { g(1); }", {"DECLSPEC": ("qualifier", None)}),
    ("KERNEL_FQ void f(GLOBAL_AS int *a) { a[0] = 1; }", {"KERNEL_FQ": ("qualifier", "__kernel"),
                                                         "GLOBAL_AS": ("qualifier", "__global")}),
    ("kernel void f(SIZES global int *a) { a[0] = 1; }", {"SIZES": ("parameters", None)}),
    ("kernel void f(global int *a, MORE) { a[0] = 1; }", {"MORE": ("parameters", None)}),
    ("kernel void f(ARGS(int, x), global int *a) { a[0] = 1; }", {"ARGS": ("parameters", None)}),
    ("WG_SIZE(64) kernel void f(global int *a) { a[0] = 1; }", {"WG_SIZE": ("attribute", None)}),
    ("kernel void f(global int *a) { INIT(a)\n a[0] = 1; LAST(a) }", {"INIT": ("statement", None),
                                                                    "LAST": ("statement", None)}),
    ("kernel void f(global int *a) { EACH(i, 4) { a[0] = 1; } }", {"EACH": ("statement", None)}),
    ("kernel void f(global int *a) { UNROLL for (int i = 0; i < 4; i++) a[i] = 1; }", {"UNROLL": ("statement", None)}),
    ("kernel void f(global int *a) { a[0] = *(AS int *)a; }", {"AS": ("qualifier", None)}),
    ("kernel void f(global int *a) { g(a[0] MORE); }", {"MORE": ("parameters", None)}),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), UNDEFINED)
def test_undefined_names_get_a_role_and_leave_no_error(text, expected):
    tree = tree_of(text)
    assert not tree.tree.root_node.has_error, tree.text
    assert roles(tree) == expected
    named = [it for it in tree.problems if it.code == "undefined-name"]
    assert len(named) == len(expected)
    for problem in named:
        assert "-D" in problem.message
        name = text[problem.span.start : problem.span.end]
        assert name in expected


def test_what_is_declared_or_built_in_is_not_undefined():
    text = """
        typedef enum { RED, GREEN = 2 } color;
        struct pair { int first, *second; };
        __constant sampler_t smp = CLK_NORMALIZED_COORDS_FALSE | CLK_FILTER_NEAREST;
        float helper(float x, const struct pair p) { return x * M_PI_F + FLT_MAX + INFINITY; }
        kernel void f(global float *a, int n) {
          int i = get_global_id(0), j = 2, *k;
          for (uint m = 0, o = 1; m < n; m++, o++) { a[m] += helper(a[o], (struct pair){ RED, 0 }); }
          barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
          goto end;
        end:
          a[i] = j ? *k : GREEN;
        }"""
    tree = tree_of(text)
    assert roles(tree) == {}
    assert tree.problems == ()
    assert not tree.tree.root_node.has_error


def test_a_branch_with_a_kernel_is_chosen_and_said():
    text = "#if ROUTINE == 3\nkernel void f(global int *a) { a[0] = 1; }\n#endif\n"
    tree = tree_of(text)
    assert len(functions(tree)) == 1
    assert roles(tree) == {"ROUTINE": ("constant", "3")}
    assert any("so that the kernel `f` is active" in it.message for it in tree.problems)
    assert functions(tree_of(text, undefines=("ROUTINE",))) == []
    assert functions(tree_of(text, defines=(("ROUTINE", "2"),))) == []


def test_a_branch_without_error_directives_is_chosen():
    text = "#if N == 1\ntypedef int T;\n#else\n#error N?\n#endif\nkernel void f(global T *a) { }\n"
    tree = tree_of(text)
    assert roles(tree) == {"N": ("constant", "1")}
    assert [it.code for it in tree.problems] == ["undefined-name"]


def test_tables_point_at_the_tokens_that_were_kept():
    text = (
        "__attribute__((reqd_work_group_size(N, 1, 1)))\n__kernel void f(__global const float4 *restrict a)\n"
    )
    text += "{\n#pragma unroll N\n  for (;;) a[0] = (float4)(1.0h);\n}\n"
    tree = tree_of(text, defines=(("N", "8"),))

    def after(table):
        return {it.word: tree.text[it.offset :].split()[0] for it in table}

    assert after(tree.qualifiers) == {
        "kernel": "void",
        "global": "float4",
        "const": "float4",
        "restrict": "a",
    }
    assert [(it.word, it.arguments) for it in tree.attributes] == [("reqd_work_group_size", ("8", "1", "1"))]
    assert after(tree.pragmas) == {"#pragma unroll 8": "for"}
    (offset,) = tree.elaborated
    assert tree.text[offset:].startswith("struct float4 )")
    assert list(tree.spellings.values()) == ["1.0h"]


def test_spans_point_at_the_file_as_typed():
    text = "#define AT(i) a[i]\nkernel void f(global int *a) {\n  AT(get_global_id(0)) = 1;\n}\n"
    tree = tree_of(text)
    at = tree.text.index("a [")
    span = tree.span(at, at + 1)
    assert text[span.start : span.end] == "AT(get_global_id(0))"
    assert text[span.definition.start : span.definition.end] == "a"
    call = tree.text.index("get_global_id")
    span = tree.span(call, call + len("get_global_id"))
    assert text[span.start : span.end] == "get_global_id"
    assert span.definition is None


@pytest.mark.parametrize(
    "text", ["", "\0", "\ufeff", "}" * 50, "(" * 20000, "{" * 20000, "f(" * 20000, "#if\n" * 500, "a" * 10000]
)
def test_odd_texts_are_taken(text):
    assert tree_of(text).path == "k.cl"


def test_a_file_beyond_all_size_is_refused_in_words():
    tree = tree_of("x" * (MAX_CHARACTERS + 1))
    assert [it.code for it in tree.problems] == ["file-too-large"]


def test_an_open_body_leaves_the_next_kernel_readable():
    text = (
        "kernel void f(global int *a) { if (a[0]) { a[1] = 2;\nkernel void g(global int *a) { a[0] = 1; }\n"
    )
    tree = tree_of(text)
    assert len(functions(tree)) == 2
    (problem,) = tree.problems
    assert (problem.code, text[problem.span.start : problem.span.end]) == ("syntax-error", "kernel")


@pytest.mark.parametrize("cut", range(0, 60, 7))
def test_kernels_before_a_cut_are_whole(cut):
    whole = "kernel void f(global int *a) { a[0] = 1; }\nkernel void g(global int *a) { a[1] = 1; }\n"
    tree = tree_of(
        whole
        + "kernel void h(global int *a) { for (int i = 0; i < a[2]; i++) { a[i] = (float4)(1).x; } }"[:cut]
    )
    assert len(functions(tree)) >= 2


# ------------------------------------------------------------------------------------------ properties

SOURCES = [*CLEAN.values(), *(text for text, _ in UNDEFINED)]


@settings(deadline=None)
@given(st.sampled_from(SOURCES), st.integers(0, 2**32))
def test_damaged_files_are_taken_and_keep_their_places(text, seed):
    rng = random.Random(seed)
    words = text.split(" ")
    for _ in range(rng.randrange(4)):
        del words[rng.randrange(len(words) or 1) :][:1]
    damaged = " ".join(words)[: rng.randrange(len(text) + 1)]
    tree = tree_of(damaged)
    assert list(tree.token_starts) == sorted(tree.token_starts)
    assert len(tree.token_starts) == len(tree.token_spans)
    for span in tree.token_spans:
        assert 0 <= span.start <= span.end <= len(tree.files[span.path].text)


@settings(deadline=None)
@given(st.sampled_from(SOURCES), st.data())
def test_an_edited_file_parses_as_if_new(text, data):
    before = tree_of(text)
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 20)))
    edited = (
        text[:start]
        + data.draw(st.sampled_from(["", " ", "x", "int y;", "{", "}", "(1)", "\n"]))
        + text[end:]
    )
    again = tree_of(edited, previous=before)
    fresh = tree_of(edited)
    assert again.text == fresh.text
    if not fresh.tree.root_node.has_error:
        assert str(again.tree.root_node) == str(fresh.tree.root_node)

"""Declarations, uses and types of texts with macros and includes, and what an edit leaves alone."""

from __future__ import annotations

import gc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from index_reading import index_of, named

from clmap_lsp.index.meaning import meanings
from clmap_lsp.index.model import Kind, Role
from clmap_lsp.index.types import layout, members_layout, spelled
from clmap_lsp.source.ir import Severity

KERNEL = """\
#define TILE 16
#define AT(x, y) ((y) * TILE + (x))
typedef struct { float4 place; int n; char tag; } /*body_t*/body_t;
float /*helper*/helper(float a, int b) { return a * b; }
__kernel void /*mm*/mm(__global const float */*A*/A, __global float *C, int n)
{
    __local float tile[TILE][TILE];
    int /*x*/x = get_global_id(0), y = get_global_id(1);
    float acc = 0;
    /*use of body_t*/body_t b;
    for (int k = 0; k < n; k++)
        /*acc +=*/acc += A[/*use of AT*/AT(k, /*y in a macro*/y)] * /*call*/helper(/*use of A*/A[k], 3);
    b./*place*/place.xy = (float2)(1.0f, acc);
    tile[/*use of x*/x][y] = acc;
    barrier(CLK_LOCAL_MEM_FENCE);
    C[AT(x, y)] = tile[y][x];
}
"""


def test_every_use_leads_to_its_declaration():
    index = index_of(KERNEL)
    for use, declaration in (
        ("use of A", "A"),
        ("use of x", "x"),
        ("call", "helper"),
        ("use of body_t", "body_t"),
    ):
        assert named(index, use).symbol is named(index, declaration).symbol
    assert named(index, "y in a macro").symbol.kind is Kind.VARIABLE
    assert named(index, "use of AT").symbol.kind is Kind.MACRO


def test_roles_tell_reads_from_writes():
    index = index_of(KERNEL)
    assert named(index, "acc +=").role == Role.READS | Role.WRITES
    assert named(index, "use of A").role == Role.READS
    assert named(index, "call").role == Role.CALLS
    stores = [it for it in index.occurrences if it.symbol.name == "C" and it.role & Role.WRITES]
    assert len(stores) == 1


def test_types_are_spelled_as_a_person_writes_them():
    index = index_of(KERNEL)
    types = {it.name: spelled(it.type) for _, it in index.symbols() if it.type is not None}
    assert types["A"] == "const __global float *"
    assert types["tile"] == "__local float[16][16]"
    assert types["helper"] == "float (float, int)"
    assert types["b"] in ("body_t", "int")


def test_layout_has_offsets_and_padding():
    index = index_of(KERNEL)
    record = named(index, "body_t").symbol.type.base
    placed, whole = members_layout(record)
    assert [(it.member.name, it.offset, it.size) for it in placed] == [
        ("place", 0, 16),
        ("n", 16, 4),
        ("tag", 20, 1),
    ]
    assert (whole.size, whole.alignment) == (32, 16)


def test_declarations_in_headers_are_found_there():
    text = '#include "t.h"\n__kernel void k(__global int *o) { o[0] = /*call*/twice(SIZE); }'
    index = index_of(text, t_h="#define SIZE 4\nint twice(int x) { return 2 * x; }\n")
    symbol = named(index, "call").symbol
    assert index.name_span(symbol).path == "t.h"
    assert [it.path for it in index.references(symbol)] == ["k.cl", "t.h"]
    assert index.includes[0].path == "t.h"


def test_a_name_in_a_macros_body_is_found_where_it_is_typed():
    text = "#define STEP total += 1\nvoid k(__global int *o) { int /*total*/total = 0; STEP; o[0] = total; }"
    index = index_of(text)
    places = list(index.references(named(index, "total").symbol))
    assert any(it.use is not None and text[it.start : it.end] == "total" for it in places)


def test_prototype_and_definition_are_one():
    text = "float f(float x);\nvoid k(float *o) { o[0] = /*call*/f(1); }\nfloat f(float x) { return x; }"
    index = index_of(text)
    symbol = named(index, "call").symbol
    assert len(index.declarations(symbol)) == 2
    assert index.name_span(index.definition(symbol)).start == text.rindex("f(float x)")


def test_scopes_hide_and_end():
    text = "void k(int n) { int /*outer*/i = 0; { int i = 1; /*inner*/i = 2; } /*after*/i = 3; n = i; }"
    index = index_of(text)
    assert named(index, "after").symbol is named(index, "outer").symbol
    assert named(index, "inner").symbol is not named(index, "outer").symbol


def test_constants_are_folded():
    text = "enum { A = 3, B };\n__constant int /*n*/n = (B << 2) + sizeof(float4) * A;"
    assert named(index_of(text), "n").symbol.value == 64


def test_an_edit_keeps_the_units_that_it_leaves_alone():
    index = index_of(KERNEL)
    again = index_of("// a line more\n" + KERNEL.replace("acc = 0;", "acc = 1;"), index)
    before = {it.unit for it in index.units}
    changed = [it for it in again.units if it.unit not in before]
    assert len(changed) == 1
    assert "mm" in again.texts[changed[0].start : changed[0].end]


def test_an_edit_of_a_type_renews_what_uses_it():
    index = index_of(KERNEL)
    again = index_of(KERNEL.replace("float4 place", "float8 place"), index)
    assert spelled(named(again, "place").symbol.type) == "float8"


THROUGH_A_NAME = """\
typedef struct S T;
struct S { float /*member*/x; struct S *next; };
__kernel void k(__global T *p) { p->/*use*/x = p->next->x; }
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [("float /*member*/x", "int4 /*member*/x"), ("float /*member*/x", "int n; float /*member*/x")],
)
def test_an_edit_of_a_struct_renews_what_comes_to_it_by_a_name_declared_before(old: str, new: str):
    again = index_of(THROUGH_A_NAME.replace(old, new), index_of(THROUGH_A_NAME))
    assert named(again, "use").symbol is named(again, "member").symbol


def test_a_struct_whose_definition_is_taken_away_has_no_members():
    text = "\n".join(line for line in THROUGH_A_NAME.splitlines() if not line.startswith("struct"))
    again, fresh = index_of(text, index_of(THROUGH_A_NAME)), index_of(text)
    assert [it.issue.message for it in again.issues] == [it.issue.message for it in fresh.issues]
    assert any("incomplete" in it.issue.message for it in again.issues)
    back = index_of(THROUGH_A_NAME, again)
    assert named(back, "use").symbol is named(back, "member").symbol


def test_a_name_that_is_declared_near_an_unknown_one_is_what_was_meant():
    text = "__kernel void k(__global float *p) { p[0] = factro; }"
    more = "__constant float factor = 1.0f;\n" + text
    again = index_of(more, index_of(text))
    assert any("did you mean 'factor'" in it.issue.message for it in again.issues)


def test_an_index_that_is_renewed_goes_with_its_last_reference():
    def typed() -> None:
        index = index_of(KERNEL + THROUGH_A_NAME)
        for words in ("i", "in", "int", "int v", "int v;"):
            index = index_of(KERNEL + THROUGH_A_NAME.replace("{ p", f"{{ {words} p"), index)
            assert index.occurrences

    typed()
    gc.collect()  # With what loading modules and making classes ready left.
    gc.disable()
    try:
        typed()
        assert gc.collect() == 0
    finally:
        gc.enable()


WORDS = [
    *(
        "int ",
        "x",
        "y",
        " = ",
        "{",
        "}",
        "(",
        ")",
        ";",
        ",",
        "\n",
        "struct S ",
        "__kernel void k",
        "for ",
        "if ",
    ),
    *(
        "__global float *",
        "->",
        ".",
        "[",
        "]",
        "#define M x\n",
        "M ",
        "return ",
        "1",
        "float4 ",
        "a.xyz",
        "case ",
    ),
    *(
        "typedef struct S T;",
        "struct S { int x; };",
        "T *p;",
        "p->x;",
        "sizeof(T)",
        "xx",
        "\r\n",
        "\\\n",
        "#if x\n",
    ),
    *("#endif\n", "/*", "*/", '"', "\U0001f600"),
]


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(WORDS), max_size=40), st.lists(st.sampled_from(WORDS), max_size=6))
def test_reading_never_fails_and_an_edit_gives_what_reading_anew_gives(words, more):
    first = index_of("".join(words))
    text = "".join(words[: len(words) // 2]) + "".join(more) + "".join(words[len(words) // 2 :])
    again, fresh = index_of(text, first), index_of(text)
    assert [(it.start, it.symbol.name, it.role) for it in again.occurrences] == [
        (it.start, it.symbol.name, it.role) for it in fresh.occurrences
    ]
    assert [(it.span, it.issue.message) for it in again.issues] == [
        (it.span, it.issue.message) for it in fresh.issues
    ]


@pytest.mark.parametrize("cut", range(0, len(KERNEL), 41))
def test_half_typed_text_has_an_index(cut):
    index = index_of(KERNEL[:cut])
    if cut > KERNEL.index("__local"):
        assert any(it.name == "mm" for _, it in index.symbols())


def test_what_is_gone_past_behind_an_error_keeps_its_names():
    text = "__kernel void k(__global float *o, int n)\n{\n    clamp(1.0f, )\n    /*o*/o[/*n*/n] = 2.0f;\n}\n"
    index = index_of(text)
    assert (named(index, "o").symbol.name, named(index, "n").symbol.name) == ("o", "n")
    assert [it.issue.message for it in index.issues if it.issue.severity is Severity.ERROR] == [
        "expected expression"
    ]


def test_a_macro_whose_use_is_being_typed_leaves_what_follows():
    text = "#define AT(y, x) ((y) * 4 + (x))\n"
    text += "__kernel void a(__global float *o, int n) {\n    o[/*use*/AT(n, \n}\n"
    text += "__kernel void b(__global float *o) { o[/*o of b*/AT(1, 2)] = 1; }\n"
    index = index_of(text)
    assert {it.name for _, it in index.symbols() if it.kind is Kind.KERNEL} == {"a", "b"}
    assert named(index, "use").symbol.name == "AT"
    (told,) = [it for it in index.problems if it.code == "unclosed-macro"]
    assert told.message == "unterminated function-like macro invocation"
    assert index.text[told.span.start : told.span.end] == "AT"


def test_many_uses_that_are_not_closed_take_time_in_proportion():
    index = index_of("#define F(x) x\n" + "F( " * 20_000)
    assert len([it for it in index.problems if it.code == "unclosed-macro"]) == 8


def test_an_overload_is_chosen_by_what_may_be_written_through_a_pointer():
    text = """\
__attribute__((overloadable)) const int *get(const int *p) { return p; }
__attribute__((overloadable)) int *get(int *p) { return p; }
void f(int *a, const int *b) { get(a); get(b); }
"""
    index = index_of(text)
    rows = []
    for needle in ("get(a)", "get(b)"):
        found = index.occurrence_at(text.index(needle))
        span = index.name_span(index.definition(found.symbol))
        rows.append(text.count("\n", 0, span.start))
    assert rows == [1, 0]


def test_what_is_named_at_a_place_is_what_all_places_say():
    text = """\
#define MAKE(T, n) T get_##n(T x) { return scale(x) * n; }
#define SCALED scale(2) + other
int scale(int x) { return x * 2; }
int other;
MAKE(int, 3) MAKE(float, 4)
void f(int a) { int scale_2 = scale(a); a = SCALED; a += get_3(a)+other; }
int last;"""
    index = index_of(text)
    here = [it for it in index.occurrences if it.path == index.path]
    for offset in range(len(text) + 1):
        before = [it for it in here if it.start <= offset]
        wanted = before[-1] if before and offset <= before[-1].end else None
        assert index.occurrence_at(offset) == wanted, offset


def test_attributes_make_vectors_of_scalars():
    index = index_of(
        "typedef float triple __attribute__((vector_size(sizeof(float) * 3)));\n"
        "typedef uchar __attribute__((ext_vector_type(8))) bytes;\n"
        "typedef float odd __attribute__((ext_vector_type(LANES)));\n"
        "void f(__global triple */*a*/a, bytes b, odd c)\n"
        "{ float /*x*/x = a[0][1] + a[1].z + b.s7 + c[0]; float4 q __attribute__((aligned(32))); q.x = x; }\n"
    )
    assert not [it for it in index.issues if it.issue.severity is Severity.ERROR]
    assert spelled(named(index, "a").symbol.type, is_canonical=True) == "__global float3 *"
    assert layout(named(index, "a").symbol.type.base.pointee).size == 16


def test_strings_give_arrays_their_length():
    index = index_of(
        '__constant char /*a*/a[] = "ab" "c\\n\\x41é";\n__constant uchar /*b*/b[] = {"xy"};\n'
        "__constant char /*c*/c[] = {'a', 'b'};\n__constant char */*d*/d[] = {\"q\", \"r\"};\n"
    )
    found = [spelled(named(index, it).symbol.type) for it in "abcd"]
    assert found == [
        "__constant char[8]",
        "__constant uchar[3]",
        "__constant char[2]",
        "__constant char *[2]",
    ]


@pytest.mark.parametrize(
    "body", ["a = SCALED;", "get_3(a); VAR(int, q) q_v = a.x;", "a.y += sizeof(struct s);", "}"]
)
def test_colours_are_those_of_all_occurrences(body):
    text = f"""\
#include "h.h"
#define MAKE(T, n) T get_##n(T x) {{ return scale(x) * n; }}
#define SCALED scale(2) + other
#define VAR(T, n) T n##_v; struct s n;
#ifndef NEVER
int scale(int x) {{ return x * 2; }}
#endif
struct s {{ int x, y; }};
int other;
MAKE(int, 3) MAKE(float, 4)
void f(struct s a) {{ int other = scale(a.x); {{ {body} }} }}
#undef SCALED
"""
    index = index_of(text, h_h="int scale(int x);\n#define N 2\n")
    spelled_here = {
        it.start: (it.end, it.symbol.kind.value in ("kernel", "function"))
        for it in index.occurrences
        if it.path == index.path and it.is_spelled
    }
    coloured = {it.start: (it.end, it.type == "function") for it in meanings(index)}
    assert {at: it for at, it in coloured.items() if at in spelled_here} == spelled_here
    rest = {text[at : it[0]] for at, it in coloured.items() if at not in spelled_here}
    assert rest <= {"int", "float", "void"}


def test_some_tokens_name_what_the_list_of_all_uses_says():
    body = "".join(
        f"if (n > {it}) {{ for (int i = 0; i < n; i++) n += i * {it}; goto out; }} " for it in range(40)
    )
    text = f"#define TWICE(f) int f(int n) {{ {body} out: return n; }}\nTWICE(one)\nTWICE(two)\n"
    index = index_of(text)
    for placed in index.units:
        uses = placed.unit.uses
        wanted = {it.token for it in uses[::7]}
        assert placed.unit.uses_of(wanted) == [it for it in uses if it.token in wanted]
    alone = index_of(text)
    assert [alone.occurrence_at(it.start) for it in index.occurrences] == [
        next(known for known in alone.occurrences if known.start == it.start) for it in index.occurrences
    ]

"""A rename leaves every name with what it meant, or is refused."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from index_reading import index_of

from clmap_lsp.index.model import Kind
from clmap_lsp.index.renaming import RenameError, renamable, rename
from clmap_lsp.index.signatures import signatures_at
from clmap_lsp.source.ir import Severity

TEXT = """\
#define N 4
#define SET(v) { int tmp = v; last = tmp; }
#define CALL(x) f_##x(1)
typedef struct point { int x; int y; } point;
enum kind { SMALL, LARGE };
__constant int g = N;
int helper(int a);
int f_one(int a) { return a + g; }
int helper(int a) { int b = a; { int c = b; b = c + a; } { int d = a; b += d; } return b + CALL(one); }
__kernel void first(__global point *p, int n) {
    int last = n;
    for (int i = 0; i < n; i++) { int k = helper(i); SET(k) p[i].x = last; }
again:
    if (last-- > SMALL) goto again;
    p[0].y = g + last;
}
__kernel void second(__global int *out, int n) { int g_2 = n; out[0] = g_2 + sizeof(point); }
"""


def _meaning(index):
    """Return, for every place that names something, the first place that names the same."""
    first = {}
    roots = [it.symbol if it.symbol.kind is Kind.MACRO else it.symbol.root for it in index.occurrences]
    for at, root in enumerate(roots):
        first.setdefault(root, at)
    return [first[it] for it in roots]


INDEX = index_of(TEXT)
NAMES = sorted({it.symbol.name for it in INDEX.occurrences} | {"fresh", "HOST"})


@settings(max_examples=150)
@given(st.sampled_from([it for it in INDEX.occurrences if it.is_spelled]), st.sampled_from(NAMES))
def test_after_a_rename_each_name_means_what_it_did(occurrence, name):
    if name == occurrence.symbol.name:
        return
    try:
        places = rename(INDEX, occurrence.symbol, name)
    except RenameError:
        return
    text = TEXT
    for start, end in sorted({(it.start, it.end) for it in places}, reverse=True):
        text = text[:start] + name + text[end:]
    renamed = index_of(text)
    assert _meaning(renamed) == _meaning(INDEX)
    assert not any(it.issue.severity is Severity.ERROR for it in renamed.issues)


@pytest.mark.parametrize(
    ("text", "needle", "name", "is_right"),
    [
        ("void f(int a) { { int b = a; b++; } { int c = a; c++; } }", "c =", "b", True),
        ("void f(int a) { { int b = a; b++; } }", "a)", "b", False),
        ("void f(int a) { int b = 1; { int c = a; b += c; } }", "c =", "b", False),
        ("void f(int a) { int b; }", "a)", "b", False),
        ("__constant int g = 1; int f(int a) { int b = a; return b; }", "g =", "b", True),
        ("__constant int g = 1; int f(int a) { int b = a; return b + g; }", "g =", "b", False),
        ("int f(int a) { return a * SCALE; }", "a)", "SCALE", False),
        ("void f(int x) { on: x = 1; goto on; }", "on:", "x", True),
        ("struct s { int x; }; int f(struct s v, int w) { return v.x + w; }", "x;", "w", True),
    ],
)
def test_a_name_is_taken_where_it_would_hide_another_or_be_hidden(text, needle, name, is_right):
    index = index_of(text)
    found = index.occurrence_at(text.index(needle))
    if is_right:
        assert rename(index, found.symbol, name)
    else:
        with pytest.raises(RenameError):
            rename(index, found.symbol, name)


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("g(1,|)", ("float g(float a, int b)", 1)),
        ("g(g(1, 2), g(|3,", ("float g(float a, int b)", 0)),
        ("g(1, (2 + |", ("float g(float a, int b)", 1)),
        ("g(',', /* , ( */ |", ("float g(float a, int b)", 1)),
        ("g(o[(int)clamp(1.0f, 2.0f, 3.0f)], |", ("float g(float a, int b)", 1)),
        ("g(1, 2)|", None),
        ("g(1, g(2, 3))|", None),
        ("(float4)(|", None),
    ],
)
def test_the_signature_is_that_of_the_innermost_open_call(typed, shown):
    text = "float g(float a, int b) { return a; }\nkernel void k(global float *o) { " + typed
    found = signatures_at(index_of(text.replace("|", "")), text.index("|"))
    if shown is None:
        assert found is None
    else:
        assert (found.signatures[found.active_signature].text, found.active_parameter) == shown


def test_a_name_that_the_end_of_a_line_cuts_is_renamed_whole():
    text = "void f(void) { int alpha = 1; al\\\npha += 2; }\n"
    index = index_of(text)
    symbol = next(it for _, it in index.symbols() if it.name == "alpha")
    for it in sorted(rename(index, symbol, "b"), key=lambda it: -it.start):
        text = text[: it.start] + "b" + text[it.end :]
    assert text == "void f(void) { int b = 1; b += 2; }\n"


def renamed(text: str, name: str, new: str) -> str:
    """Return a text with what its last place of a name names renamed."""
    index = index_of(text)
    found = index.occurrence_at(text.rindex(name))
    assert found is not None
    for it in sorted(rename(index, found.symbol, new), key=lambda it: -it.start):
        assert text[it.start : it.end] == name
        text = text[: it.start] + new + text[it.end :]
    return text


GUARDED = """\
#ifndef WIDTH
#define WIDTH 4
#endif
#ifdef OTHER
#undef WIDTH
#define WIDTH 8
int wide[WIDTH]; // WIDTH
#elif defined(WIDTH) && WIDTH > 2
#define AREA(WIDTH) (WIDTH * 2)
#define TWICE(x) ((x) + WIDTH)
#endif
int sum(point_t *p) { return WIDTH; }
"""


def test_a_macro_is_renamed_in_conditions_and_in_lines_that_they_leave_out():
    """A guard whose `#ifndef` kept its name guarded nothing any more."""
    parts = GUARDED.split("#define AREA(WIDTH) (WIDTH * 2)")
    wanted = "#define AREA(WIDTH) (WIDTH * 2)".join(it.replace("WIDTH", "LANES") for it in parts)
    assert renamed(GUARDED, "WIDTH", "LANES") == wanted.replace("// LANES", "// WIDTH")


def test_a_macro_is_renamed_from_a_condition_before_its_definition():
    index = index_of(GUARDED)
    for needle in ("WIDTH\n#define", "WIDTH 8"):
        assert renamable(index, GUARDED.index(needle) + 2).symbol.name == "WIDTH"
    with pytest.raises(RenameError, match="no name"):
        renamable(index, GUARDED.index("OTHER") + 1)


LEFT_OUT = """\
typedef struct { int n; int m; } pair;
int sum(__global pair *p, int n)
{
    int m = n;
#ifdef SLOW
    m += p->n + n; /* n */
#else
    m += p->m;
#endif
    return m + n;
}
#ifdef SLOW
int n;
#endif
"""


def test_lines_that_conditions_leave_out_follow_where_they_can_mean_nothing_else():
    wanted = LEFT_OUT.replace("int sum(__global pair *p, int n)", "int sum(__global pair *p, int count)")
    wanted = wanted.replace("m = n;", "m = count;").replace("p->n + n;", "p->n + count;")
    assert renamed(LEFT_OUT.replace("#ifdef SLOW\nint n;\n#endif\n", ""), "n", "count") == wanted.replace(
        "m + n;", "m + count;"
    ).replace("#ifdef SLOW\nint n;\n#endif\n", "")
    index = index_of(LEFT_OUT)
    member = next(it for _, it in index.symbols() if it.kind is Kind.MEMBER and it.name == "n")
    assert [LEFT_OUT[it.start - 3 : it.end] for it in rename(index, member, "k")] == ["nt n", "p->n"]


def test_a_name_that_may_be_another_one_in_lines_that_are_left_out_is_refused():
    text = LEFT_OUT.replace("m += p->m;", "{ int n = 2; m += n; }")
    index = index_of(text)
    parameter = next(it for _, it in index.symbols() if it.kind is Kind.PARAMETER and it.name == "n")
    with pytest.raises(RenameError, match="`n` stands in line 6, which is left out here, and may mean"):
        rename(index, parameter, "count")


def test_a_tag_in_half_written_text_is_a_tag():
    text = "typedef struct node { int v; } node;\nint f(int a) { a += sizeof(struct node) + ; return a; )\n"
    index = index_of(text)
    assert index.occurrence_at(text.rindex("node")).symbol.kind is Kind.STRUCT


def test_a_name_that_no_compiler_keeps_is_refused_and_not_put_everywhere():
    occurrence = next(it for it in INDEX.occurrences if it.symbol.name == "helper")
    assert rename(INDEX, occurrence.symbol, "a" * 1024)
    with pytest.raises(RenameError) as raised:
        rename(INDEX, occurrence.symbol, "a" * 1_000_000)
    assert len(str(raised.value)) < 200


SHAPED = """\
#define SUM(T, name) \\
__kernel void name(__global T *out, __local T *part, int n) { \\
    T sum = 0; \\
    for (int k = 0; k < n; k++) sum += part[k]; \\
    out[0] = sum; \\
}
SUM(float, sum_floats)
SUM(int, sum_ints)
__kernel void other(__global int *part) { part[0] = 1; }
"""


@pytest.mark.parametrize("name", ["part", "sum", "n"])
def test_what_a_macro_declares_in_each_function_that_it_makes_is_renamed_in_all_of_them(name):
    index = index_of(SHAPED)
    found = renamable(index, re.search(rf"\b{name}\b", SHAPED).start())
    places = sorted({(it.start, it.end) for it in rename(index, found.symbol, "fresh")}, reverse=True)
    text = SHAPED
    for start, end in places:
        text = text[:start] + "fresh" + text[end:]
    body, rest = SHAPED.split("SUM(float")
    assert text == re.sub(rf"\b{name}\b", "fresh", body) + "SUM(float" + rest


def test_what_such_a_macro_names_of_another_function_is_not_renamed_there():
    text = SHAPED.replace("out[0] = sum;", "out[0] = sum + MORE;").replace("SUM(int, sum_ints)", "")
    text = f"#define MORE last\n__constant int last = 1;\n{text}int f(int last) {{ return MORE; }}\n"
    index = index_of(text)
    with pytest.raises(RenameError, match="another one"):
        rename(index, index.occurrence_at(text.index("last = 1")).symbol, "fresh")

"""The preprocessor: what comes out, and where it says that each token is typed."""

import shutil
import subprocess
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from clmap_lsp.source.normalise import span_of_token
from clmap_lsp.source.options import BuildOptions
from clmap_lsp.source.pieces import lex_fragment
from clmap_lsp.source.preprocess import preprocess

PLAIN = BuildOptions()


def run(text, options=PLAIN, files=None):
    return preprocess(text, "k.cl", options, (files or {}).get)


def words(text, options=PLAIN, files=None):
    return [token.text for token in run(text, options, files).tokens]


def codes(text, options=PLAIN, files=None):
    return [problem.code for problem in run(text, options, files).problems]


# The examples of ISO/IEC 9899:1999, 6.10.3.5, are the reference for expansion.
STANDARD = """
#define x 3
#define f(a) f(x * (a))
#undef x
#define x 2
#define g f
#define z z[0]
#define h g(~
#define m(a) a(w)
#define w 0,1
#define t(a) a
#define p() int
#define q(x) x
#define r(x,y) x ## y
#define str(x) # x
"""


@pytest.mark.parametrize(
    ("use", "expected"),
    [
        ("f(y+1) + f(f(z)) % t(t(g)(0) + t)(1);",
         "f(2 * (y+1)) + f(2 * (f(2 * (z[0])))) % f(2 * (0)) + t(1);"),
        ("g(x+(3,4)-w) | h 5) & m(f)^m(m);", "f(2 * (2+(3,4)-0,1)) | f(2 * (~ 5)) & f(2 * (0,1))^m(0,1);"),
        ("p() i[q()] = { q(1), r(2,3), r(4,), r(,5), r(,) };", "int i[] = { 1, 23, 4, 5, };"),
        ('char c[2][6] = { str(hello), str() };', 'char c[2][6] = { "hello", "" };'),
        ("#define hash_hash # ## #\n#define mkstr(a) # a\n#define in_between(a) mkstr(a)\n"
         "#define join(c, d) in_between(c hash_hash d)\nchar p[] = join(c0, d0);", 'char p[] = "c0 ## d0";'),
        ("#define tt(x,y,z) x ## y ## z\nint j[] = { tt(1,2,3), tt(,4,5), tt(6,,7), tt(8,9,),"
         " tt(10,,), tt(,11,), tt(,,12), tt(,,) };", "int j[] = { 123, 45, 67, 89, 10, 11, 12, };"),
        ('#define log(...) printf(__VA_ARGS__)\nlog("%d", x, y);', 'printf("%d", 2, y);'),
        ('#define show(...) puts(#__VA_ARGS__)\nshow(The first,  second, and "third\\n");',
         r'puts("The first, second, and \"third\\n\"");'),
        ("#define e(f, ...) g_(f, ## __VA_ARGS__)\ne(1) e(1, 2, 3)", "g_(1) g_(1, 2, 3)"),
        ("#define e(f, a...) g_(f, ## a)\ne(1) e(1, 2, 3)", "g_(1) g_(1, 2, 3)"),
        ("#define o(f, ...) k(f __VA_OPT__(,) __VA_ARGS__)\no(1) o(1, 2)", "k(1) k(1 , 2)"),
        ("#define EMPTY\n#define LP (\n#define F(x) <x>\nF LP 1) F EMPTY (1)", "F ( 1) F (1)"),
    ],
)  # fmt: skip
def test_expansion(use, expected):
    assert words(STANDARD + use) == [it.text for it in lex_fragment("", expected)]


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("1", True),
        ("2 || 1 / 0", True),
        ("0 && 1 / 0", False),
        ("-1 > 0u", True),
        ("-1 >> 1 == -1", True),
        ("(2 | 1) == 3 && !(4 & 3)", True),
        ("1 ? 0 : 1", False),
        ("0 ? 1 : 2 ? 3 : 0", True),
        ("7 / -2 == -3 && 7 % -2 == 1 && -7 % 2 == -1", True),
        ("0x10 == 16 && 010 == 8 && 0b11 == 3", True),
        ("'a' == 97 && '\\n' == 10 && '\\x41' == 'A' && '\\377' < 0", True),
        ("9223372036854775807 + 1 < 0", True),
        ("18446744073709551615u == -1", True),
        ("1 << 3 == 8 && (1 << 2 + 1) == 8", True),
        ("UNKNOWN", False),
        ("UNKNOWN(1, (2))", False),
        ("defined(A) && defined B && !defined C", True),
        ("A == 1 && B == 2", True),
        ("__OPENCL_VERSION__ >= CL_VERSION_1_2 && __ENDIAN_LITTLE__", True),
        ("defined(cl_khr_fp64) && defined __IMAGE_SUPPORT__", True),
        ("true && !false", True),
        ("__has_builtin(__builtin_assume)", False),
        ('__has_include("a.h") && !__has_include("b.h") && !__has_include(<c.h>)', True),
    ],
)
def test_conditions(condition, holds):
    text = f"#define A 1\n#define B (A + 1)\n#if {condition}\nyes\n#else\nno\n#endif\n"
    assert words(text, files={"a.h": ""}) == ["yes" if holds else "no"]


@pytest.mark.parametrize("condition", ["", "1 +", "(1", "1 / 0", "1.5", '"s"', "1 2", "08", "(" * 400])
def test_a_bad_condition_is_false_and_said(condition):
    assert words(f"#if {condition}\nyes\n#else\nno\n#endif\n") == ["no"]
    assert codes(f"#if {condition}\n#endif\n") == ["bad-condition"]


def test_groups_nest_and_inactive_lines_are_known():
    text = "#ifdef A\na\n#if X\nb\n#endif\n#elif 1\nc\n#ifndef B\nd\n#else\ne\n#endif\n#else\nf\n#endif\ng\n"
    found = run(text)
    assert [it.text for it in found.tokens] == ["c", "d", "g"]
    assert [text[it.start : it.end] for it in found.inactive] == ["a\n#if X\nb\n#endif\n", "e\n", "f\n"]


def test_options_define_and_undefine():
    options = BuildOptions(
        defines=(("N", "4 * 2"), ("F(x)", "x + N"), ("Z", "1")),
        undefines=("Z",),
        predefined=(("__NV_CL_C_VERSION", "120"),),
    )
    assert words("F(1) Z __NV_CL_C_VERSION", options) == ["1", "+", "4", "*", "2", "Z", "120"]


@pytest.mark.parametrize(
    ("standard", "version"),
    [("CL1.1", "110"), ("CL1.2", "120"), ("CL2.0", "200"), ("CL3.0", "300"), ("CLC++2021", "300")],
)
def test_the_standard_sets_the_version(standard, version):
    assert words("__OPENCL_C_VERSION__", BuildOptions(standard=standard)) == [version]


def test_includes_are_found_beside_the_file_and_by_options():
    files = {"sub/a.h": '#include "b.h"\na', "sub/b.h": "b", "inc/c.h": "#pragma once\nc"}
    text = '#include "sub/a.h"\n#include <c.h>\n#include "c.h"\n#define H <c.h>\n#include H\nmain'
    found = run(text, BuildOptions(include_dirs=("inc",)), files)
    assert [it.text for it in found.tokens if it.text[0] != "#"] == ["b", "a", "c", "main"]
    assert [it.path for it in found.tokens if it.text[0] != "#"] == ["sub/b.h", "sub/a.h", "inc/c.h", "k.cl"]
    assert set(files) <= set(found.files)


def test_a_missing_include_is_one_warning_with_the_cure():
    found = run('#include "lost/x.h"\nint a;')
    (problem,) = found.problems
    assert problem.code == "missing-include"
    assert "lost/x.h" in problem.message
    assert "-I" in problem.message
    assert "clmap.toml" in problem.message
    assert [it.text for it in found.tokens] == ["int", "a", ";"]


def test_a_file_that_includes_itself_ends():
    assert set(codes('#include "k2.h"', files={"k2.h": '#include "k2.h"\nint x;'})) == {"include-depth"}


def test_a_macro_bomb_ends():
    lines = ["#define a0 x x x x x x x x"] + [f"#define a{i} " + f"a{i - 1} " * 8 for i in range(1, 12)]
    assert codes("\n".join([*lines, "a11"])) == ["too-many-tokens"]


def test_unreached_parts_of_large_includes_are_left_out():
    helpers = "".join(f"int f{i}(int x)\n{{\n  return x + {i};\n}}\n" for i in range(4000))
    header = helpers + "int f0(int x);\n#define USE(n) g ## n(1)\nint g7(int x) { return f9(x) + USE(8); }\n"
    header += "int g8(int x)\n{\n#if 1\n  return f3(x);\n#endif\n}\n__constant int t0[2] = { 1, 2 };\n"
    header += "typedef struct { int a; } s;\n"
    texts = words('#include "big.h"\n__kernel void k(__global s *a) { USE(7); }', files={"big.h": header})
    assert {"f9", "g7", "g8", "f3", "s", "k"} <= set(texts)
    assert not {"f0", "f4", "t0"} & set(texts)
    assert texts.count("{") == texts.count("}")


NAMES = [f"f{number}" for number in range(6)]


@st.composite
def headers(draw):
    """Return functions that use each other, with what makes the one depend on whether another is there."""
    calls = st.sampled_from([*(f"{it}(1)" for it in NAMES), "CALL(2)", "PASTE(3)", "SAME(5)", "M", "PASTE"])
    values = st.sampled_from(["x", "__LINE__", "M"])
    odd = st.sampled_from([*[""] * 8, "+ __COUNTER__", "SAME(", "SAME(x", ")", "{", "\n#line 7\n"])
    odd_name, odd_part = draw(st.sampled_from(NAMES)), draw(odd)
    lines = st.sampled_from(
        [
            "#define M f3(M)",
            "#define M f1",
            "#undef M",
            "#define f2(a) a",
            "#undef f2",
            "#if M + 1\n#else\nint g(int x);\n#endif",
            '#include "inner.h"',
            "CALL(4);",
            "int v;",
            "#if 1\nint h(int x) { return f4(x); }\n#endif",
        ]
    )
    parts = ["#define CALL(n) f##n(n)\n#define PASTE(n) CALL(n)\n#define SAME(a) a"]
    for name in draw(st.permutations(NAMES)):
        body = f"{draw(values)} + {draw(calls)} {odd_part if name == odd_name else ''}"
        middle = draw(st.sampled_from(["", "", f"\n#ifdef M\n{draw(calls)}\n#endif\n"]))
        parts += [f"int {name}(int x) {{ {middle}return {body}; }}", draw(lines)]
    return "\n".join(parts) + "\n"


@settings(max_examples=300, deadline=None)
@given(
    headers(),
    headers(),
    st.sampled_from([*NAMES, "PASTE"]),
    st.sampled_from(["", "", "__COUNTER__", "SAME("]),
)
def test_what_is_put_in_is_what_another_run_finds(header, inner, name, more):
    text = f'#include "big.h"\n__kernel void k() {{ {name}(0); {more} }}\n#include "inner.h"\n'
    files = {"big.h": header, "inner.h": inner.replace('#include "inner.h"', "")}
    with patch("clmap_lsp.source.preprocess.LARGE_INCLUDES", 10):
        found = run(text, files=files)
        with patch("clmap_lsp.source.preprocess._Preprocessor.put_in", return_value=False):
            expected = run(text, files=files)
    assert found.problems == expected.problems
    unknown = [found.unknown_in_conditions.values(), expected.unknown_in_conditions.values()]
    assert [_known(it) for it in unknown[0]] == [_known(it) for it in unknown[1]]
    assert [_known(it) for it in found.tokens] == [_known(it) for it in expected.tokens]
    assert [*found.macros] == [*expected.macros]


def _known(token):
    return *token[:5], token.use and (token.use.path, token.use.start, token.use.end), token.painted


def test_line_numbers_files_and_counters():
    text = '__LINE__\n\\\n__LINE__ __FILE__\n#line 100 "other.cl"\n__LINE__ __FILE__ __COUNTER__ __COUNTER__'
    assert words(text) == ["1", "3", '"k.cl"', "100", '"other.cl"', "0", "1"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\\\nb", ["ab"]),
        ("#define X 1 + \\\r\n 2\r\nX", ["1", "+", "2"]),
        ("a // b \\\n c\nd", ["a", "d"]),
        ("a /* b\n#define a 1\n*/ c", ["a", "c"]),
        ("\0a\0\0b", ["a", "b"]),
        ("#define A /* x\n y */ 1\nA", ["1"]),
        ("a /* never ends", ["a"]),
        ("  #  define  X  1\nX", ["1"]),
        ("'don", ["'", "don"]),
        ('"a\\\nb"', ['"ab"']),
        ("%:", ["%", ":"]),
    ],
)
def test_lines_comments_and_odd_characters(text, expected):
    assert words(text) == expected


def test_a_call_may_run_across_directives():
    assert words("#define F(x) <x>\nF(a\n#if 1\nb\n#else\nc\n#endif\n) d") == ["<", "a", "b", ">", "d"]


def test_pragmas_stay_and_unroll_counts_are_expanded():
    assert words("#define N 4\n#pragma unroll N\nfor") == ["#pragma unroll 4", "for"]
    assert words("#pragma OPENCL EXTENSION cl_khr_fp64 : enable\nx")[0].endswith("cl_khr_fp64 : enable")


def test_error_directives_are_told():
    (problem,) = run("#ifndef N\n#error set N\n#endif").problems
    assert (problem.code, problem.message) == ("error-directive", "#error set N")


def test_warning_directives_fail_no_check():
    """They are said to whoever builds, with macros of a vendor that are missing here."""
    (problem,) = run("#ifndef __VENDOR__\n#warning plain C code\n#endif").problems
    assert (problem.code, problem.severity.value) == ("warning-directive", "hint")


# ----------------------------------------------------------------------------------------- against gcc

NAMES = ["A", "B", "F", "G", "H", "x", "y"]


@st.composite
def bodies(draw, parameters, variadic):
    words_ = [
        *NAMES,
        "1",
        "+",
        "(",
        ")",
        ",",
        "( 2 )",
        "F(1)",
        "G(x, y)",
        "F",
        "H(A)",
        '"s"',
        *parameters * 2,
    ]
    if variadic:
        words_ += ["__VA_ARGS__", ", ## __VA_ARGS__", "__VA_OPT__(x)"]
    if parameters:
        words_ += [f"# {parameters[0]}", f"{parameters[0]} ## 1", f"a ## {parameters[-1]}"]
    return " ".join(draw(st.lists(st.sampled_from(words_), max_size=7)))


@st.composite
def programs(draw):
    lines = []
    for name, parameters, variadic in (
        ("A", [], False),
        ("B", [], False),
        ("F", ["p"], False),
        ("G", ["p", "q"], False),
        ("H", ["p"], True),
    ):
        if draw(st.booleans()):
            head = "" if name in "AB" else f"({', '.join([*parameters, *(['...'] if variadic else [])])})"
            lines.append(f"#define {name}{head} {draw(bodies(parameters, variadic))}")
    uses = st.sampled_from(
        [
            "A",
            "B",
            "F",
            "F(A)",
            "F(F(B))",
            "G(A, B)",
            "G(F, (1, 2))",
            "H(1)",
            "H(A, B, F(1))",
            "F (F)(2)",
            "G(,)",
            "H(x,)",
        ]
    )
    lines.append(" ; ".join(draw(st.lists(uses, min_size=1, max_size=5))))
    return "\n".join(lines) + "\n"


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is the reference here")
@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)
@given(programs())
@example("#define F(p) p ## 1\n#define A F(\nA A ) ) F(F(x))\n")
@example("#define A B A\n#define B A F(B)\n#define F(p) # p p B\nA F(A)\n")
def test_expansion_agrees_with_gcc(text):
    done = subprocess.run(
        ["gcc", "-E", "-P", "-undef", "-x", "c", "-std=gnu17", "-"],
        input=text,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0 or done.stderr:
        return  # Not a program that C gives a meaning to.
    assert words(text) == [it.text for it in lex_fragment("", done.stdout)], text


# ------------------------------------------------------------------------------------------- positions


@st.composite
def sources(draw):
    """A main file and a header, with macros of all kinds, continuations, comments and odd line ends."""
    header = "#define INNER(v) (v + HIDDEN)\n#define HIDDEN 7\nint from_header = INNER(3);\n"
    pieces = [
        "#define ONE 1\n",
        "#define ADD(a, b) ((a) + (b))\n",
        "#define GLUE(a, b) a ## b\n",
        "#define NAME(a) # a\n",
        "#define LONG(a) first \\\n  a \\\r\n  last\n",
        '#include "h.h"\n',
        "#undef ONE\n",
        "int v = ONE;\r\n",
        "x = ADD(ONE, y[INNER(z)]);\n",
        "ADD(ADD(1, 2),\n  ADD(3, ONE)) /* c */ // d\n",
        "GLUE(le, ft) NAME(some text) LONG(mid)\n",
        "sp\\\nliced \\\n word\n",
        "#if ONE\nactive ADD(q, r)\n#else\nother\n#endif\n",
        "été = LONG(LONG(ß));\n",
    ]
    return "".join(draw(st.lists(st.sampled_from(pieces), max_size=12))), header


def spelled(text):
    """Return a text as the compiler sees it: continued lines joined."""
    return text.replace("\\\r\n", "").replace("\\\n", "")


@settings(deadline=None)
@given(sources())
def test_every_place_maps_back_to_the_text_that_made_it(source):
    text, header = source
    found = run(text, files={"h.h": header})
    for token in found.tokens:
        span = span_of_token(token)
        typed = span.definition or span
        written = spelled(found.files[typed.path].text[typed.start : typed.end])
        if "##" in written:
            assert span.definition is not None
        elif written.startswith("#"):
            assert token.text[0] == '"'
        elif token.text == "left":
            # Pasted from two arguments: both stand in the text that is named.
            assert written == "le, ft"
        else:
            assert written == token.text
        if span.definition is not None:
            use = found.files[span.path].text[span.start : span.end]
            name = use.split("(")[0].strip()
            assert name in {"ONE", "ADD", "GLUE", "NAME", "LONG", "INNER"}
            assert use.count("(") == use.count(")")


@settings(deadline=None)
@given(st.text(alphabet="#ifdefn \\\n\r\"'()AB,/*0x.@\0é", max_size=200))
def test_any_text_is_taken(text):
    found = run(text)
    for token in found.tokens:
        span = span_of_token(token)
        assert 0 <= span.start <= span.end <= len(found.files[span.path].text)


def test_a_file_that_is_included_over_and_over_is_cut_where_it_stands() -> None:
    header = "int x;\n" * 5_000
    once = '#include "h.h"\n'
    found = preprocess(once * 40 + "int last;", "k.cl", BuildOptions(), {"h.h": header}.get)
    (problem,) = [it for it in found.problems if it.code == "include-depth"]
    assert "more than 100,000 tokens" in problem.message
    assert problem.span.start == len(once) * 7  # The first is no repetition; six and a bit are allowed.
    assert [it.text for it in found.tokens[-3:]] == ["int", "last", ";"]


def test_tables_that_are_included_with_other_macros_are_read_each_time() -> None:
    text = "".join(f'#define X(n) int n##{i};\n#include "t.h"\n#undef X\n' for i in range(50))
    found = preprocess(text, "k.cl", BuildOptions(), {"t.h": "X(a) X(b) X(c)\n" * 20}.get)
    assert not found.problems
    assert len(found.tokens) == 50 * 60 * 3


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("int x; /* y", 7),
        ("/* a */ int x; /* y /* z", 15),
        ("/*/ int x;", 0),
        ("#if 0\n/* y\n", 6),
        ("int x; // /* y", None),
        ('__constant char s[] = "/*";', None),
        ("/**/ int x; /* y */", None),
    ],
)
def test_a_comment_that_nothing_ends_is_told_where_it_starts(text, at):
    found = [it for it in preprocess(text, "k.cl", BuildOptions()).problems if it.code == "open-comment"]
    assert [it.span.start for it in found] == ([] if at is None else [at])

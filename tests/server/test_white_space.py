"""What formatting may change: white space and comments where nothing is meant by them."""

import pytest

from clmap_lsp.server.white_space import changes

SAME = [
    ("int  a;\nint b ;", "int a;\n  int b;"),
    ("#define A(x) \\\n  f(x)\nint a;", "#define A(x) f(x)\n\nint a;"),
    ("int a; // one\nint b;", "int a;\n// one\nint b;"),
    ("", "\n"),
    ("x = 'a' ;", "x = 'a';"),
]
OTHER = [
    ("int a;", "int b;"),
    ("#define A\nf();", "#define A f();"),
    ("#define A f()", "#define A\nf()"),
    ("#pragma unroll\nfor (;;) {}", "#pragma unroll for (;;) {}"),
    ("int a; # b", "int a;\n# b"),
    ("x = 'a;\ny = 1;", "x = 'a; y = 1;"),
    ('f("a);\nb();', 'f("a); b();'),
]


@pytest.mark.parametrize(("before", "after"), SAME)
def test_white_space_is_changed_gap_by_gap(before, after):
    found = changes(before, after)
    assert found is not None
    made = before
    for it in reversed(found):
        made = made[: it.start] + it.text + made[it.end :]
    assert made == after


@pytest.mark.parametrize(("before", "after"), OTHER)
def test_other_code_is_told(before, after):
    assert changes(before, after) is None


def test_what_is_alike_in_between_stays():
    found = changes("int  a = 1;\nint  b = 1;\n", "int a = 1;\nint b = 1;\n")
    assert found is not None
    assert [(it.start, it.end, it.text) for it in found] == [(4, 5, ""), (16, 17, "")]

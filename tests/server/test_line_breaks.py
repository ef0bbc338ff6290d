"""The lines of function heads stay as they were typed where no style says otherwise."""

import pytest

from clmap_lsp.server.line_breaks import with_heads_of

BODY = "{\n    a[0] = 1;\n}\n"


@pytest.mark.parametrize(
    ("before", "after", "wanted"),
    [
        (
            "__kernel\nvoid k(__global int *a,\n  int n)\n" + BODY,
            "__kernel void k(__global int *a,\n                int n)\n" + BODY,
            "__kernel\nvoid k(__global int *a,\n       int n)\n" + BODY,
        ),
        (
            "__kernel void k(__global int *a,\n  int n)\n" + BODY,
            "__kernel void\nk(__global int *a,\n  int n)\n" + BODY,
            "__kernel void k(__global int *a,\n                int n)\n" + BODY,
        ),
        (
            "#if A\nvoid f(int a) {\n#else\nvoid\nf(int a) {\n#endif\n}\nkernel\nvoid k(int a)" + BODY,
            "#if A\nvoid f(int a) {\n#else\nvoid f(int a) {\n#endif\n}\nkernel void k(int a) " + BODY,
            "#if A\nvoid f(int a) {\n#else\nvoid\nf(int a) {\n#endif\n}\nkernel\nvoid k(int a) " + BODY,
        ),
        (
            "kernel // here\nvoid k(int a)\n#define M {\nint\r\nx;\n",
            "kernel // here\nvoid k(int a)\n#define M {\nint x;\n",
            "kernel // here\nvoid k(int a)\n#define M {\nint\nx;\n",
        ),
        ("int a;", "int b;", "int b;"),
        ("", "", ""),
    ],
)
def test_heads_keep_their_lines(before, after, wanted):
    assert with_heads_of(before, after) == wanted

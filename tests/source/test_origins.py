"""From which memory values come that nobody follows to their ends."""

import pytest

from clmap_lsp.access.analyse import analyse
from clmap_lsp.access.records import Access
from clmap_lsp.source.read import read_program

PARAMETERS = "__global int *o, __global const int *a, __global const int *b, __global const int *c, int n"


def mixed(first: str = "") -> str:
    """Return a loop without a closed form, with a statement in front of its own."""
    return f"for (int k = 0; k < n; k++) {{ {first} x = x * 1664525 ^ (x >> 3); }}"


MIX = mixed()


def last(body: str, before: str = "") -> Access:
    """Return the last access of a kernel, which is expected to be the store to `o`."""
    text = f"{before} __kernel void k({PARAMETERS}) {{ int i = get_global_id(0); {body} }}"
    found = [it for it in analyse(read_program(text, "k.cl").kernel("k")).accesses if it.buffer == "o"]
    return found[-1]


@pytest.mark.parametrize(
    ("body", "sources"),
    [
        (f"int x = a[i]; {MIX} o[x & 255] = 1;", "a"),
        (f"int x = a[i] + b[n]; {MIX} o[x & 255] = 1;", "ab"),
        (f"int x = n; if (c[i]) x = i; {MIX} o[x & 255] = 1;", "c"),
        (f"int x = a[i]; {mixed('if (b[k]) break;')} o[x & 255] = 1;", "ab"),
        (f"int x = a[i]; {mixed('if (b[k]) continue;')} o[x & 255] = 1;", "ab"),
        (f"int x = i; switch (b[i]) {{ case 1: x = 2; break; default: x = n; }} {MIX} o[x & 255] = 1;", "b"),
        (f"int t[4]; t[i & 3] = b[i]; int x = t[n & 3]; {MIX} o[x & 255] = 1;", "b"),
        (f"int t[2]; int *p = t; *p = a[i]; int x = t[i & 1]; {MIX} o[x & 255] = 1;", "a"),
        (f"__global const int *p[2]; p[0] = a; p[1] = b; int x = p[n & 1][i]; {MIX} o[x & 255] = 1;", "ab"),
        (f"int x = i * n; {MIX} o[x & 255] = 1;", ""),
    ],
)
def test_buffers_behind_an_unknown_index_are_named(body: str, sources: str) -> None:
    access = last(body)
    assert access.unknown is not None and not access.known
    assert access.sources == tuple(sources) == access.indirect_through
    assert access.indirect is bool(sources)


@pytest.mark.parametrize("text", ["int x = hidden(a[i]);", "int x = a[i]; hidden2(&x);"])
def test_nothing_is_named_where_a_function_is_not_in_sight(text: str) -> None:
    access = last(f"{text} {MIX} o[x & 255] = 1;", "int hidden(int x); void hidden2(int *x);")
    assert not access.known
    assert access.sources == ()


def test_an_array_of_the_work_item_stands_for_what_was_put_into_it() -> None:
    access = last("int t[4]; t[i & 3] = a[i]; o[t[n & 3] & 7] = 2;")
    assert access.unknown is None
    assert access.indirect_through == ("a",)
    assert last("int t[4]; t[i & 3] = i; o[t[n & 3] & 7] = 2;").indirect_through == ("t",)


def test_a_value_behind_a_return_depends_on_the_condition() -> None:
    text = "int f(__global const int *b, int i, int x) { if (b[i]) return 1; return x; }"
    assert last(f"int x = f(b, i, a[n]); {MIX} o[x & 255] = 1;", text).sources == ("a", "b")

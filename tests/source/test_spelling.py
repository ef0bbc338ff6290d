"""Addresses that are computed alike have one spelling, and no others."""

from clmap_lsp.source.ir import Load, Store, walk
from clmap_lsp.source.read import read_program
from clmap_lsp.source.spelling import spelling

HEAD = "typedef struct { int a; int b; } Pair; __kernel void k(__global Pair *p, __global int *q, int i) "


def addresses(body):
    program = read_program(f"{HEAD}{{ int j = 0; {body} }}", "k.cl")
    assert not program.problems
    statements = walk(program.kernels[0].body)
    return [it.pointer for it in statements if isinstance(it, Load | Store)]


def is_one(body, **options):
    return len({spelling(it, **options) for it in addresses(body)}) == 1


def test_conversions_and_places_do_not_count():
    assert is_one("q[i] = 1; q[(long)i] = 2; ((__global uint *)q)[i] = 3u;")


def test_variables_numbers_members_operators_and_functions_count():
    for other in (
        "q[j] = 1;",
        "q[i + 1] = 1;",
        "q[2] = 1;",
        "p[i].a = 1;",
        "q[min(i, j)] = 1;",
        "q[get_global_id(0)] = 1;",
    ):
        assert not is_one(f"q[i] = 1; {other}"), other
    assert not is_one("p[i].a = 1; p[i].b = 1;")
    assert not is_one("q[i + j] = 1; q[i - j] = 1;")
    assert not is_one("q[min(i, j)] = 1; q[max(i, j)] = 1;")
    assert not is_one("q[get_local_id(0)] = 1; q[get_global_id(0)] = 1;")
    assert not is_one("q[i] = 1; ((__global char *)q)[i] = 1;")


def test_what_is_loaded_to_be_an_index_may_be_taken_for_one():
    body = "p[q[i]].a = 1; p[q[i]].a = 2;"
    stores = [it for it in addresses(body) if it is not None][1::2]
    one, other = ({spelling(it, temporaries_alike=alike) for it in stores} for alike in (True, False))
    assert (len(one), len(other)) == (1, 2)

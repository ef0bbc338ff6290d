"""Private memory that is written through pointers: what was known of it before does not hold any more."""

from clmap_lsp.access.analyse import analyse
from clmap_lsp.access.records import AccessSummary
from clmap_lsp.source.read import read_program


def read(body: str, before: str = "") -> AccessSummary:
    text = f"{before} __kernel void k(__global int *o, int n, int m) {{ int l = get_local_id(0); {body} }}"
    return analyse(read_program(text, "k.cl").kernel("k"))


def test_a_loop_that_also_writes_another_array_by_name() -> None:
    """Only the array that has a name in the loop was taken for written: the index was said to be 1."""
    body = (
        "int a[4], b[4]; b[1] = 1; int *p = &b[n & 1];"
        "for (int k = 0; k < n; k++) { o[b[1]] = 1; a[k & 3] = k; *p = k; }"
    )
    first, *_ = read(body).of_buffer("o")
    assert not first.known


def test_after_a_loop_that_stores_through_a_pointer() -> None:
    body = "int b[4]; b[1] = 1; int *p = b; p = p + 1; for (int k = 0; k < n; k++) *p = k + 5; o[b[1]] = 1;"
    (access,) = read(body).of_buffer("o")
    assert not access.known


def test_a_pointer_chosen_among_three_places() -> None:
    body = "int b[4]; b[1] = 1; int *p = n ? (m ? &b[0] : &b[1]) : &b[2]; *p = 7; o[b[1]] = 1;"
    (access,) = read(body).of_buffer("o")
    assert not access.known


CONTEXT = "typedef struct { uint h[4]; __local int *tab; } ctx_t;"


def test_pointers_outlast_stores_of_numbers() -> None:
    """The table of a cipher, kept in its context beside the words that its rounds write."""
    body = (
        "__local int T[256]; T[l] = l; ctx_t c; c.tab = T; for (int i = 0; i < 4; i++) c.h[i] = i;"
        "for (int k = 0; k < n; k++) { c.h[k & 3] = k; ctx_t d = c; o[k] = d.tab[l & 15]; }"
    )
    summary = read(body, CONTEXT)
    assert [it.known for it in summary.of_buffer("T")] == [True, True]
    assert not summary.of_buffer("?")


def test_pointers_do_not_outlast_stores_of_pointers_nor_unions() -> None:
    body = (
        "__local int T[256], U[16]; ctx_t c[2]; c[0].tab = T; c[1].tab = U;"
        "for (int k = 0; k < n; k++) { o[k] = c[0].tab[l]; c[k & 1].tab = U; }"
    )
    assert not read(body, CONTEXT).of_buffer("T")
    union = "typedef union { __local int *tab; ulong bits[2]; } u_t;"
    body = "__local int T[256]; u_t u; u.tab = T; u.bits[n & 1] = m; o[l] = u.tab[l];"
    assert not read(body, union).of_buffer("T")

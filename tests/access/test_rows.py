"""Numbers as row lengths: only where rows do not overlap."""

import pytest
from reading import access_of, body, classified, launch_of

from clmap_lsp.access.delinearise import delinearise
from clmap_lsp.access.facts import Facts


@pytest.mark.parametrize(("columns", "is_matrix"), [(63, True), (64, True), (65, False)])
def test_rows_that_overlap_by_one_element_are_no_rows(columns, is_matrix):
    launch = launch_of((columns, 8), (columns, 1))
    access = access_of(body("A[y * 64 + x] = 0;"), "A", launch)
    layout = delinearise(access.index, Facts(launch, None))
    assert len(layout.coordinates) == (2 if is_matrix else 1)


@pytest.mark.parametrize(
    "spelt",
    [
        "float s = A[y*N + x];",
        "__global float *r = A + y*N; float s = r[x];",
        "__global float *r = A; r += y*N; r += x; float s = *r;",
        "float s = (A + x)[y*N];",
        "float s = *(A + mad24(y, N, x));",
        "float s = A[(size_t)y*N + get_global_id(0)];",
    ],
)
def test_an_index_has_one_class_however_it_is_spelt(spelt):
    (found,) = classified(body(f"{spelt} B[y*N + x] = s;"), "A")
    assert (found.patterns, found.map_name) == (("linear",), "MAP-108")
    assert found.entries == ((1, 0), (0, 1))


@pytest.mark.parametrize("factor", ["N", "16"])
def test_a_parameter_that_nothing_moves_below_is_a_stride_as_a_number_is(factor):
    (found,) = classified(body(f"A[x*{factor}] = 1;"), "A")
    assert found.patterns == ("non-unit stride",)
    (found,) = classified(body(f"A[x*{factor} + 1] = 1;"), "A")
    assert found.patterns == ("shifted", "non-unit stride")


def test_elements_of_another_size_on_the_way_are_no_rows():
    source = body("__global float4 *v = (__global float4 *)(A + y*N); v[x] = (float4)(1);")
    (found,) = classified(source, "A")
    assert found.pitches[-1] == "1"

"""Numbers as row lengths: only where rows do not overlap."""

import pytest
from reading import access_of, body, launch_of

from clmap_lsp.access.delinearise import delinearise
from clmap_lsp.access.facts import Facts


@pytest.mark.parametrize(("columns", "is_matrix"), [(63, True), (64, True), (65, False)])
def test_rows_that_overlap_by_one_element_are_no_rows(columns, is_matrix):
    launch = launch_of((columns, 8), (columns, 1))
    access = access_of(body("A[y * 64 + x] = 0;"), "A", launch)
    layout = delinearise(access.index, Facts(launch, None))
    assert len(layout.coordinates) == (2 if is_matrix else 1)

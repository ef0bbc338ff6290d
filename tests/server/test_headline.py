"""Problems in one line: short, plain, what matters first."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clmap_lsp.server.headline import WIDTH, headline


@pytest.mark.parametrize(
    ("message", "line"),
    [
        ("`A[row*N + k]` loads 32 sectors", "A[row*N + k] loads 32 sectors"),
        (
            "`in[(get_group_id(1)*16 + y)*N + x]` takes 3.5 sectors a request where 2.5 would do: "
            "consecutive work-items are side by side, but not from a multiple of 32 bytes on.",
            "in[...] takes 3.5 sectors a request where 2.5 would do",
        ),
        (
            "`mm_simple` moves 8,945,664 sectors; 2,105,344 (76% fewer) with get_global_id(0) and "
            "get_global_id(1) swapped: its work-items walk `A[row*N + k]` across the layout.",
            "mm_simple moves 8.9 M sectors; 2.1 M (76% fewer) with get_global_id(0) and (1) swapped",
        ),
        (
            "`convolve_rows_directly` moves 985,088 sectors; 346,112 (65% fewer) with get_global_id(0) and "
            "get_global_id(1) swapped: its work-items walk `out[y*N + x]` across the layout.",
            "convolve_rows_directly moves 65% fewer sectors with get_global_id(0) and (1) swapped",
        ),
        (
            "2 loads at `in[get_group_id(0)*512 + lane*2]` could be one `int2` (vload2): they use 8 of "
            "the 8 bytes of each work-item, and 8 sectors would move in one request, not in each of 2.",
            "2 loads at in[...] could be one int2 (vload2)",
        ),
        ("if the local size is 16x16 (guessed): `k` is slow", "k is slow (if the local size is 16x16)"),
        ("one line.\nLoses 3 ms, predicted.", "one line"),
        ("expected ';' at end of declaration", "expected ';' at end of declaration"),
    ],
)
def test_the_first_line_without_what_explains_it(message: str, line: str):
    assert headline(message) == line


@given(st.text(alphabet=st.sampled_from("ab `:;,.[]()0123456789\n"), max_size=300), st.integers(40, WIDTH))
def test_no_line_is_longer_than_its_room_nor_has_pairs_of_backticks(message: str, width: int):
    line = headline(message, width)
    assert len(line) <= width
    assert "\n" not in line
    assert line.count("`") <= 1

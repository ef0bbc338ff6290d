"""Names in lines that conditions leave out, and in conditions that nobody has to evaluate."""

from __future__ import annotations

import pytest
from index_reading import index_of

from clmap_lsp.index.renaming import RenameError, renamable, rename
from clmap_lsp.index.unread import left_out_at, unread_places

TEXT = """\
#define SIZE 4
#define OTHER 1
void f(int n) {
#ifdef OTHER
    n = SIZE;
#elif defined(SIZE)
    n = /*left out*/n + SIZE;
#endif
}
"""


def rows(text, places):
    return sorted(text.count("\n", 0, it.start) + 1 for it in places)


def test_a_condition_behind_one_that_holds_names_its_macro():
    index = index_of(TEXT)
    found = left_out_at(index, TEXT.index("defined(SIZE") + 9)
    assert found is not None
    assert found.symbol.name == "SIZE"
    assert left_out_at(index, TEXT.index("elif") + 1) is None


def test_places_that_are_not_read_are_found_with_those_that_are():
    index = index_of(TEXT)
    (size,) = [it for it in index.macros if it.name == "SIZE"]
    assert rows(TEXT, unread_places(index, size)) == [6, 7]
    n = index.occurrence_at(TEXT.index("int n") + 4)
    assert rows(TEXT, unread_places(index, n.symbol)) == [7, 7]
    assert rows(TEXT, rename(index, n.symbol, "m")) == [3, 5, 7, 7]


def test_a_name_is_renamed_from_a_line_that_is_left_out():
    index = index_of(TEXT)
    found = renamable(index, TEXT.index("/*left out*/") + 12)
    assert found.symbol.name == "n"
    assert TEXT[found.start : found.end] == "n"


def test_what_may_be_another_one_there_is_not_counted_among_its_places():
    text = "void g(void) { int n = 1; { int n = 2; n = 3; }\n#if 0\n n = 4;\n#endif\n}\n"
    index = index_of(text)
    outer = index.occurrence_at(text.index("int n") + 4)
    assert unread_places(index, outer.symbol) == []
    with pytest.raises(RenameError, match="may mean something else"):
        renamable(index, text.index("n = 4"))

"""What `format` puts into the numbered places of a text."""

from __future__ import annotations

from clmap_lsp.hosts.strings import braces
from clmap_lsp.hosts.values import Number, RunTime, Text


def test_numbered_places_take_their_items_and_keep_what_stands_between():
    format_ = Text(("-DA={0} -DB={1}, {1} -DC={2}!",))
    printed = braces(format_, (Number(16), Number(8)), {})
    assert printed.parts == ("-DA=16 -DB=8, 8 -DC=", RunTime("2"), "!")


def test_a_place_of_many_digits_is_none():
    assert braces(Text(("{" + "9" * 5_000 + "}",)), (Number(1),), {}).plain is None

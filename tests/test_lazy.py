"""What is worked out when it is first asked for does what it stands for."""

from __future__ import annotations

import re

import pytest

from clmap_lsp.lazy import lazy_pattern, lazy_property


class Counted:
    def __init__(self) -> None:
        self.made = 0

    @lazy_property
    def value(self) -> int:
        self.made += 1
        return self.made


def test_a_lazy_property_is_worked_out_once() -> None:
    it = Counted()
    assert it.made == 0
    assert (it.value, it.value) == (1, 1)


def test_a_lazy_pattern_finds_what_the_pattern_finds() -> None:
    text = "a B\nb A"
    lazy, plain = (make(r"^(?P<first>[a-z])\s", re.MULTILINE) for make in (lazy_pattern, re.compile))
    assert lazy.findall(text) == plain.findall(text) == ["a", "b"]
    assert [it["first"] for it in lazy.finditer(text)] == ["a", "b"]
    assert lazy.sub("", text) == plain.sub("", text)
    assert lazy.match(text, 4) is not None
    assert lazy.search("1 ") is None
    assert (lazy.flags, lazy.pattern, lazy.groupindex) == (plain.flags, plain.pattern, plain.groupindex)


def test_a_lazy_pattern_is_compiled_when_it_is_used() -> None:
    """What cannot be compiled shows it."""
    broken = lazy_pattern("(")
    assert broken.pattern == "("
    with pytest.raises(re.error, match="unterminated"):
        broken.match("(")

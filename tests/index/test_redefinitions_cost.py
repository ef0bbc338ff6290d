"""What finding the definition before costs: names are declared anew behind their last declaration."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from clmap_lsp.index import cursor
from clmap_lsp.index.reading import read_index
from clmap_lsp.source.options import BuildOptions


def test_the_definition_before_is_found_in_few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at = 0

    def counted(inner: Iterator[Any], default: None) -> object:
        nonlocal looked_at
        looked_at += 1
        return next(inner, default)

    monkeypatch.setattr(cursor, "next", counted, raising=False)
    many = 2_000
    text = "__kernel void k(__global int *a)\n{\n" + "    int x = a[0];\n    a[1] = x;\n" * many + "}\n"
    index = read_index(text, "k.cl", BuildOptions())
    assert sum(it.issue.code == "redefinition" for it in index.issues) > many // 2
    assert 0 < looked_at < 20 * many


def test_the_notes_lead_to_the_definition_before() -> None:
    inner = "{ int y = n; { int x = y; } }"
    text = f"void f(int n) {{\n int x = 1;\n {inner}\n float x = 2;\n n = x;\n int x = 3;\n}}\n"
    tokens = re.findall(r"\w+|\S", text)
    index = read_index(text, "k.cl", BuildOptions())
    found = [it.issue for it in index.issues if it.issue.code == "redefinition"]
    places = [at for at in range(1, len(tokens)) if tokens[at - 1 : at + 1] in (["int", "x"], ["float", "x"])]
    first, _, second, third = places
    assert [(it.token, it.notes[0][0]) for it in found] == [(second, first), (third, second)]

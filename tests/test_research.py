"""The door to the research rooms offers to the interpreter what it offers to the type checker."""

import ast
from importlib import import_module
from pathlib import Path

import pytest

from clmap_lsp import research


def declared():
    tree = ast.parse(Path(research.__file__).read_text(encoding="utf-8"))
    (block,) = (it for it in tree.body if isinstance(it, ast.If))
    return {(f"clmap_lsp.{it.module.partition('.')[2]}", name.name) for it in block.body for name in it.names}


def test_every_name_is_the_one_of_its_room():
    names = declared()
    assert {(home, name) for name, home in research._HOMES.items()} == names
    for home, name in names:
        assert getattr(research, name) is getattr(import_module(home), name)


def test_other_names_are_refused():
    with pytest.raises(AttributeError, match="no attribute 'Session'"):
        research.Session  # noqa: B018
    with pytest.raises(ImportError):
        from clmap_lsp.research import nothing  # noqa: F401

"""The page about Python shows the whole API."""

import re

from doc_examples import ROOT

import clmap_lsp

PAGE = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
SHOWN = set(re.findall(r"\w+", " ".join(re.findall(r"`([^`\n]+)`", PAGE))))


def test_every_public_name_and_attribute_stands_on_the_page() -> None:
    names = [it for it in clmap_lsp.__all__ if not it.startswith("_")]
    classes = [it for it in (getattr(clmap_lsp, name) for name in names) if isinstance(it, type)]
    assert len(classes) >= 5
    attributes = {
        attribute
        for it in classes
        if not issubclass(it, Exception)
        for attribute in {*vars(it), *getattr(it, "__dataclass_fields__", {})}
        if not attribute.startswith("_")
    }
    assert sorted({*names, *attributes} - SHOWN) == []

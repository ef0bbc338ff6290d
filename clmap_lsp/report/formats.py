"""The output formats of `check`, by name: a finished report goes in, text comes out."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clmap_lsp.report.model import CheckReport

_MODULES = {
    "full": "full",
    "concise": "concise",
    "json": "json_check",
    "github": "github",
    "gitlab": "gitlab",
    "sarif": "sarif",
    "junit": "junit",
}
FORMATS = tuple(_MODULES)


def render(name: str, report: CheckReport, *, statistics: bool = False) -> str:
    """Return a report in one of `FORMATS`; with `statistics`, where the format has a place for them."""
    module = import_module(f"clmap_lsp.report.{_MODULES[name]}")
    if name == "json":
        return str(module.render(report, statistics=statistics))
    text = str(module.render(report))
    if statistics and name in ("full", "concise"):
        counts = import_module("clmap_lsp.report.statistics").render(report)
        text += ("\n" if name == "full" else "") + counts
    return text

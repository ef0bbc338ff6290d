"""Findings and spans as LSP types. The only file where the two meet."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsprotocol import types as lsp

from clmap_lsp.findings import Edit, Finding, Fix, Severity
from clmap_lsp.rules.registry import find_rule
from clmap_lsp.server.documents import Document
from clmap_lsp.server.headline import headline
from clmap_lsp.server.shift import Shift
from clmap_lsp.source.span import SourceFile, Span
from clmap_lsp.worker.messages import as_data

if TYPE_CHECKING:
    from clmap_lsp.fixes.matching import Offer

SOURCE = "clmap"

_SEVERITIES = {
    Severity.ERROR: lsp.DiagnosticSeverity.Error,
    Severity.WARNING: lsp.DiagnosticSeverity.Warning,
    Severity.INFORMATION: lsp.DiagnosticSeverity.Information,
    Severity.HINT: lsp.DiagnosticSeverity.Hint,
}


def uri_of(path: str) -> str:
    """Return the URI of a path; documents that are no files have their URI as path."""
    return path if "://" in path or path.startswith("untitled:") else Path(path).as_uri()


class Places:
    """Turns spans of one program into ranges: the document's in its encoding, other files' in the same."""

    def __init__(
        self,
        document: Document,
        files: dict[str, SourceFile],
        shown: Document | None = None,
        shift: Shift | None = None,
    ) -> None:
        self._document = document
        self._shown = shown or document
        self._shift = shift
        self._files = files
        self._others: dict[str, Document] = {}

    def range(self, span: Span) -> lsp.Range:
        """Return a span's range."""
        if self._shift is not None and span.path == self._document.path:
            return self._shown.range(self._shift.later(span.start), self._shift.later(span.end))
        return self._in(span.path).range(span.start, span.end)

    def location(self, span: Span) -> lsp.Location:
        """Return a span's location."""
        return lsp.Location(self._in(span.path).uri, self.range(span))

    @property
    def version(self) -> int:
        """The version of the document that ranges hold for."""
        return self._document.version

    def is_here(self, span: Span) -> bool:
        """Tell whether a span lies in the document itself."""
        return span.path == self._document.path

    def _in(self, path: str) -> Document:
        if path == self._document.path:
            return self._document
        if path not in self._others:
            text = self._files[path].text if path in self._files else ""
            self._others[path] = Document(uri_of(path), "opencl", 0, text, self._document.encoding)
        return self._others[path]


def diagnostic(finding: Finding, places: Places, offers: Sequence[Offer] = ()) -> lsp.Diagnostic:
    """Return a finding as a diagnostic.

    Its fixes travel in `data`, so that taking one re-analyses nothing: first its own, then those of `offers`
    that answer it.
    """
    rule = find_rule(finding.code)
    related = [
        lsp.DiagnosticRelatedInformation(places.location(it.span), it.message.replace("`", ""))
        for it in finding.related
    ]
    span = finding.span
    if span.definition is not None:
        related.append(
            lsp.DiagnosticRelatedInformation(places.location(span.definition), "in this macro's definition")
        )
    fixes = [] if finding.fix is None else [fix_data(finding.fix, places)]
    fixes += [offer_data(it, places) for it in offers if it.answers(finding)]
    return lsp.Diagnostic(
        range=places.range(span),
        message=headline(finding.message),
        severity=_SEVERITIES[finding.severity],
        code=finding.code,
        code_description=lsp.CodeDescription(rule.meta.url) if rule else None,
        source=SOURCE,
        tags=[lsp.DiagnosticTag.Unnecessary] if finding.unnecessary else None,
        related_information=related or None,
        data={"kernel": finding.kernel, "name": finding.name, "version": places.version, "fixes": fixes},
    )


def offer_data(offer: Offer, places: Places) -> dict[str, Any]:
    """Return a verified fix as plain data; `rank` sorts those of one kernel, the best first."""
    return {
        **fix_data(offer.fix, places),
        "kind": offer.kind,
        "rank": list(offer.rank),
        "preferable": offer.is_preferable,
        "change": None if offer.change is None else as_data(offer.change),
    }


def fix_data(fix: Fix, places: Places) -> dict[str, Any]:
    """Return a fix as plain data."""
    return {
        "title": fix.title,
        "safety": fix.safety.value,
        "verified": fix.verified is not None,
        "hostChange": fix.host_change,
        "assumptions": list(fix.assumptions),
        "edits": [edit_data(it, places) for it in fix.edits],
    }


def edit_data(edit: Edit, places: Places) -> dict[str, Any]:
    """Return an edit as plain data: a URI, a range, the new text."""
    location = places.location(edit.span)
    return _edit_data(location.uri, location.range, edit.text)


def document_edit(document: Document, edit: Edit) -> dict[str, Any]:
    """Return an edit of an open document as plain data."""
    return _edit_data(document.uri, document.range(edit.span.start, edit.span.end), edit.text)


def _edit_data(uri: str, where: lsp.Range, text: str) -> dict[str, Any]:
    start, end = where.start, where.end
    return {
        "uri": uri,
        "range": {
            "start": {"line": start.line, "character": start.character},
            "end": {"line": end.line, "character": end.character},
        },
        "newText": text,
    }

"""What is wrong with a file as diagnostics: its own findings, and those of the documents that include it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from clmap_lsp.findings import Finding, Severity
from clmap_lsp.server.convert import SOURCE, Places, diagnostic, uri_of
from clmap_lsp.server.documents import Document
from clmap_lsp.server.included import shown_in_header, shown_in_user
from clmap_lsp.server.shift import Shift

if TYPE_CHECKING:
    from clmap_lsp.fixes.matching import Offer
    from clmap_lsp.server.app import ClmapServer
    from clmap_lsp.server.snapshot import Snapshot, Touched
    from clmap_lsp.source.span import SourceFile

MAX_DIAGNOSTICS = 100
"""Diagnostics of a document: more of them slow editors down, and nobody reads them."""
_SEVERITIES = (Severity.ERROR, Severity.WARNING, Severity.INFORMATION, Severity.HINT)


def publish(server: ClmapServer, snapshot: Snapshot) -> None:
    """Push the diagnostics of a snapshot, with what the emulator said of its kernels."""
    document = snapshot.document
    found = merged(diagnostics_of(server, snapshot), through_users(server, document))
    server.text_document_publish_diagnostics(
        lsp.PublishDiagnosticsParams(document.uri, found, document.version)
    )


def publish_touched(server: ClmapServer, touched: Touched) -> None:
    """Push the diagnostics of a text of which only what was edited is read."""
    document = touched.document
    found = merged(diagnostics_of(server, touched.part, touched.rest), through_users(server, document))
    server.text_document_publish_diagnostics(
        lsp.PublishDiagnosticsParams(document.uri, found, document.version)
    )


def merged(own: list[lsp.Diagnostic], others: list[lsp.Diagnostic]) -> list[lsp.Diagnostic]:
    """Return a file's own diagnostics with those of its users that it does not have itself."""
    said = {(it.code, it.range.start.line, it.range.start.character) for it in own}
    return own + [it for it in others if (it.code, it.range.start.line, it.range.start.character) not in said]


def publish_header(server: ClmapServer, document: Document) -> None:
    """Push what is known of an open file, by itself and through those that include it."""
    latest = server.latest(document.uri)
    if latest is None and server.holds_kernels(document):
        server.analyses.renew(document)  # It is published when that is done.
        return
    own = [] if latest is None else diagnostics_of(server, latest.seen_in(document))
    found = merged(own, through_users(server, document))
    server.text_document_publish_diagnostics(
        lsp.PublishDiagnosticsParams(document.uri, found, document.version)
    )


def publish_unopened(server: ClmapServer, path: str) -> None:
    """Push what is found in a file that is not open itself, as long as a document that includes it is."""
    found = server.included.found_in(path)
    text = found[0].header.text if found else ""
    document = Document(uri_of(path), "opencl", 0, text, server.documents.encoding)
    server.text_document_publish_diagnostics(
        lsp.PublishDiagnosticsParams(document.uri, through_users(server, document))
    )


def through_users(server: ClmapServer, document: Document) -> list[lsp.Diagnostic]:
    """Return what the open documents that include a file say of it."""
    made: list[lsp.Diagnostic] = []
    for finding, header in shown_in_header(server.included.found_in(document.path)):
        shift = Shift.between(header.text, document.text) if header.text != document.text else None
        if shift is not None and shift.touches(finding.span.start, finding.span.end):
            continue
        read = Document(document.uri, document.language_id, 0, header.text, document.encoding)
        files = {**header_files(server, document.path), header.path: header}
        made.append(diagnostic(finding, Places(read, files, document, shift)))
    return made


def header_files(server: ClmapServer, path: str) -> dict[str, SourceFile]:
    """Return the files that findings in a header point into."""
    return {name: file for it in server.included.found_in(path) for name, file in it.user.files.items()}


def diagnostics_of(
    server: ClmapServer, *snapshots: Snapshot, limit: int | None = MAX_DIAGNOSTICS
) -> list[lsp.Diagnostic]:
    """Return a document's diagnostics: of the rules, the emulator and included files, with verified fixes.

    Where there are more than the limit, the most severe ones come, and one that says how many are left out.
    """
    here = [(it, snapshot) for snapshot in snapshots for it in _findings_here(server, snapshot)]
    left_out = 0 if limit is None else len(here) - limit
    if left_out > 0:
        here = sorted(here, key=lambda it: (_SEVERITIES.index(it[0].severity), it[0].span.start))[:limit]
    offered = {id(it): _Offers(server, it) for it in snapshots}
    places = {id(it): it.places for it in snapshots}
    shown = [
        diagnostic(it, places[id(snapshot)], offered[id(snapshot)].of(it.kernel)) for it, snapshot in here
    ]
    if left_out > 0:
        message = f"and {left_out:,} more findings; clmap-lsp check lists them all"
        start = lsp.Range(lsp.Position(0, 0), lsp.Position(0, 0))
        shown.append(lsp.Diagnostic(start, message, lsp.DiagnosticSeverity.Information, source=SOURCE))
    return shown


def _findings_here(server: ClmapServer, snapshot: Snapshot) -> Iterator[Finding]:
    places = snapshot.places
    emulated = server.emulations.findings(snapshot) if server.emulations else ()
    for it in (*snapshot.findings, *emulated, *shown_in_user(snapshot)):
        if places.is_here(it.span) and not snapshot.is_touched(it.span):
            yield it


class _Offers:
    """The verified fixes of a snapshot's kernels, by name."""

    def __init__(self, server: ClmapServer, snapshot: Snapshot) -> None:
        emulations = server.emulations
        kernels = snapshot.analysis.kernels if emulations else ()
        self._known = {it.name: emulations.offers(snapshot, it) for it in kernels} if emulations else {}

    def of(self, kernel: str | None) -> tuple[Offer, ...]:
        """Return those of one kernel."""
        return self._known.get(kernel or "", ())

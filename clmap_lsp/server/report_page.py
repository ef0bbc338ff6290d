"""The HTML report of one open document, with what the emulator has said of it so far."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clmap_lsp.server.app import ClmapServer
    from clmap_lsp.server.snapshot import Snapshot


def report_page(server: ClmapServer, snapshot: Snapshot) -> str:
    """Return the page.

    Raises: UsageError if a package of the extra `report` is missing.
    """
    from clmap_lsp.report.html import render
    from clmap_lsp.report.html_model import Emulated, Report, reported_file

    analysis, emulations = snapshot.analysis, server.emulations
    emulated = None
    findings = snapshot.findings
    if emulations is not None:
        known = {it.name: emulations.of(snapshot, it) for it in analysis.kernels}
        emulated = {
            name: Emulated(None, "it has not run yet")
            if it is None
            else Emulated(it.result, it.failure or "")
            for name, it in known.items()
        }
        findings = (*findings, *emulations.findings(snapshot))
    shown = [it for it in findings if it.severity.value != "hint"]
    file = reported_file(snapshot.program, analysis, shown, emulated)
    made = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    return render(Report((file,), analysis.device.id, analysis.device.name, made))

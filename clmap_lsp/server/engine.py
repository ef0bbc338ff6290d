"""From a document to its snapshot; runs in one thread beside the event loop.

The thread keeps the caches that make an edit cheap: the analysis session (by kernel content) and the last
program of each document.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from clmap_lsp.analysis.model import FileAnalysis
from clmap_lsp.analysis.session import AnalysisSession
from clmap_lsp.devices import DeviceModelError, load_model
from clmap_lsp.launch.problem import LaunchProblem
from clmap_lsp.reading import SETTINGS_BYTES, safe_read
from clmap_lsp.rules.cm008_not_understood import RULE as CM008
from clmap_lsp.rules.context import RuleContext
from clmap_lsp.rules.memory import KernelFindings
from clmap_lsp.rules.runner import run
from clmap_lsp.server.embedding import kernel_text
from clmap_lsp.server.settings import selection_of
from clmap_lsp.server.snapshot import Snapshot
from clmap_lsp.source.read import read_program
from clmap_lsp.source.span import Span
from clmap_lsp.sources import include_reader
from clmap_lsp.workspace import scope_of

if TYPE_CHECKING:
    from clmap_lsp.config import Settings
    from clmap_lsp.devices import DeviceModel
    from clmap_lsp.launch.sim import SimFile
    from clmap_lsp.server.documents import Document, Documents
    from clmap_lsp.source.options import BuildOptions
    from clmap_lsp.source.program import Program
    from clmap_lsp.source.reuse import ProgramCache

KEPT_KERNELS = 96
"""Versions of kernels that are kept, so that undoing an edit costs nothing; each takes about 0.1 MiB."""
MAX_CHARACTERS = 4 * 2**20
"""Time and memory grow with the text; nobody edits kernels of this size by hand."""


class Engine:
    """Analyses documents. Not thread-safe: one thread uses it."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self._session = AnalysisSession(KEPT_KERNELS)
        self._findings = KernelFindings()
        self._readings: dict[str, tuple[BuildOptions, ProgramCache | None]] = {}
        """By path: what the next reading of the document may use again, and the options it was read with."""

    @property
    def n_analysed(self) -> int:
        """Kernels that were really analysed so far, and not taken from before."""
        return self._session.n_analysed

    def forget(self, path: str) -> None:
        """Drop what is kept of a closed document."""
        self._readings.pop(path, None)

    def analyse(self, document: Document, settings: Settings) -> Snapshot:
        """Return the snapshot of a document; never raises on its text."""
        if len(document.text) > MAX_CHARACTERS:
            return self._too_large(document, settings)
        program = self._program(document, settings.build, settings.opened)
        analysis = self._session.analyse(
            program,
            device_of(settings),
            options=settings.build,
            configured=settings.launches,
            beside=_beside(document.path),
        )
        findings = run(RuleContext(program, analysis), selection_of(settings), self._findings)
        return Snapshot(document, settings, program, analysis, findings)

    def _too_large(self, document: Document, settings: Settings) -> Snapshot:
        """Return a snapshot that only says so: reading such a text would take minutes and gigabytes."""
        self.forget(document.path)
        empty = read_program("", document.path, settings.build)
        message = (
            f"this file has {len(document.text):,} characters; files of more than {MAX_CHARACTERS:,} are not "
            "analysed"
        )
        finding = CM008.finding(Span(document.path, 0, 0), message)
        return Snapshot(
            document, settings, empty, FileAnalysis(document.path, device_of(settings), ()), (finding,)
        )

    def _program(self, document: Document, build: BuildOptions, opened: tuple[str, ...]) -> Program:
        before = self._readings.get(document.path)
        previous = before[1] if before is not None and before[0] == build else None

        read = include_reader(document.path, opened, self._open_text)
        program = read_program(kernel_text(document), document.path, build, read_file=read, previous=previous)
        self._readings[document.path] = build, program.cache
        return program

    def _open_text(self, path: str) -> str | None:
        """Return the text of a file that is open in the editor: a person has it before their eyes."""
        return next((it.text for it in self._documents if it.path == path), None)


def device_of(settings: Settings) -> DeviceModel:
    """Return the device model of the settings; the generic one where theirs is unknown (reported apart)."""
    try:
        return load_model(settings.device)
    except DeviceModelError:
        return load_model("generic-gpu")


def _beside(path: str) -> SimFile | None:
    """Return the `.sim` file beside a source file, if there is one that can be read."""
    file = Path(path).with_suffix(".sim")
    if not file.is_file():
        return None
    from clmap_lsp.launch.sim import read_sim

    try:
        data = safe_read(file, limit=SETTINGS_BYTES, within=scope_of(path))
    except OSError:
        return None
    launch = read_sim(data.decode("utf-8", errors="replace"), str(file))
    return None if isinstance(launch, LaunchProblem) else launch

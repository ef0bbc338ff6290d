"""From a document to its snapshot; runs where work has its turn, beside the event loop.

It keeps the caches that make an edit cheap: the analysis session (by kernel content) and the last program of
each document.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from clmap_lsp.analysis.model import FileAnalysis
from clmap_lsp.rules.cm008_not_understood import RULE as CM008
from clmap_lsp.server.embedding import kernel_text
from clmap_lsp.server.settings import selection_of
from clmap_lsp.server.snapshot import Snapshot
from clmap_lsp.source.span import Span
from clmap_lsp.sources import Reader, include_reader
from clmap_lsp.workbench import OpenedFile, Workbench

if TYPE_CHECKING:
    from clmap_lsp.analysis.model import KernelAnalysis
    from clmap_lsp.config import Settings
    from clmap_lsp.index.index import Index
    from clmap_lsp.server.documents import Document, Documents

KEPT_KERNELS = 96
"""Versions of kernels that are kept, so that undoing an edit costs nothing; each takes about 0.1 MiB."""
PARTLY_S = 0.7
"""While a first analysis goes on, what is known is told so often, in processor time: of most files it is all
known before."""
MAX_CHARACTERS = 4 * 2**20
"""Time and memory grow with the text; nobody edits kernels of this size by hand."""


class Engine:
    """Analyses documents. Not thread-safe: who has the turn uses it."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self._workbench = Workbench(self._includes, kept_kernels=KEPT_KERNELS, remembers=True)

    @property
    def n_analysed(self) -> int:
        """Kernels that were really analysed so far, and not taken from before."""
        return self._workbench.n_analysed

    def forget(self, path: str) -> None:
        """Drop what is kept of a closed document."""
        self._workbench.forget(path)

    def host_files_changed(self, paths: Sequence[str] | None) -> tuple[str, ...]:
        """Return the kernel files that host code says something else of, as host files changed."""
        return self._workbench.host_files_changed(paths)

    def index(self, document: Document, settings: Settings) -> Index:
        """Return what a document declares and uses; the same object as long as nothing of it changes."""
        text = kernel_text(document) if len(document.text) <= MAX_CHARACTERS else ""
        return self._workbench.index(document.path, text, settings)

    def analyse(
        self, document: Document, settings: Settings, progress: Callable[[Snapshot], None] | None = None
    ) -> Snapshot:
        """Return the snapshot of a document; never raises on its text.

        Args:
            progress: called now and then with what is known so far, where it takes long.
        """
        if len(document.text) > MAX_CHARACTERS:
            return self._too_large(document, settings)
        opened = self._workbench.open_text(document.path, kernel_text(document), settings)
        if progress is not None:
            opened.on_kernel = _Progress(document, opened, progress).add
        findings = opened.findings(selection_of(settings), waits=False)
        includes = opened.index.includes if opened.index is not None else ()
        times = opened.times(waits=False)
        return Snapshot(
            document,
            settings,
            opened.program,
            opened.analysis,
            findings,
            opened.host_files,
            tuple(includes),
            {name: it for name, it in times.items() if not isinstance(it, str)},
        )

    def predict(self, document: Document, settings: Settings) -> bool:
        """Predict the times of a document's kernels; tells whether a new analysis would know more."""
        if len(document.text) > MAX_CHARACTERS:
            return False
        opened = self._workbench.open_text(document.path, kernel_text(document), settings)
        return len(opened.times(waits=False)) < len(opened.times())

    def _too_large(self, document: Document, settings: Settings) -> Snapshot:
        """Return a snapshot that only says so: reading such a text would take minutes and gigabytes."""
        self.forget(document.path)
        empty = self._workbench.open_text(document.path, "", settings)
        message = (
            f"this file has {len(document.text):,} characters; files of more than {MAX_CHARACTERS:,} are not "
            "analysed"
        )
        finding = CM008.finding(Span(document.path, 0, 0), message)
        return Snapshot(document, settings, empty.program, empty.analysis, (finding,))

    def _includes(self, path: str, settings: Settings) -> Reader:
        return include_reader(path, settings.opened, self._open_text)

    def _open_text(self, path: str) -> str | None:
        """Return the text of a file that is open in the editor: a person has it before their eyes."""
        return next((it.text for it in self._documents if it.path == path), None)


class _Progress:
    """Tells what is known of a file while its kernels are analysed."""

    def __init__(self, document: Document, opened: OpenedFile, tell: Callable[[Snapshot], None]) -> None:
        self._document = document
        self._opened = opened
        self._tell = tell
        self._kernels: list[KernelAnalysis] = []
        self._told = time.thread_time()
        self._selection = selection_of(opened.settings).without_verdicts()

    def add(self, kernel: KernelAnalysis) -> None:
        """Take a kernel that is done, and tell what is known if that was not done lately."""
        self._kernels.append(kernel)
        if time.thread_time() - self._told < PARTLY_S:
            return
        opened = self._opened
        analysis = FileAnalysis(opened.program.path, opened.device, tuple(self._kernels))
        findings = opened.findings_of(analysis, self._selection)
        self._tell(Snapshot(self._document, opened.settings, opened.program, analysis, findings))
        self._told = time.thread_time()

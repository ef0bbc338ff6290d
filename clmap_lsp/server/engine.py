"""From a document to its snapshot; runs where work has its turn, beside the event loop.

It keeps the caches that make an edit cheap: the analysis session (by kernel content) and the last program of
each document.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias
from weakref import ref

from clmap_lsp.analysis.model import FileAnalysis
from clmap_lsp.index.touched import Layout
from clmap_lsp.rules.cm008_not_understood import RULE as CM008
from clmap_lsp.server.at_once import said_at_once
from clmap_lsp.server.embedding import kernel_text
from clmap_lsp.server.settings import selection_of
from clmap_lsp.server.snapshot import Snapshot, Touched
from clmap_lsp.source.span import Span
from clmap_lsp.sources import Reader, include_reader
from clmap_lsp.workbench import OpenedFile, Workbench

if TYPE_CHECKING:
    from clmap_lsp.analysis.model import KernelAnalysis
    from clmap_lsp.compiled.summary import CompiledKernel
    from clmap_lsp.config import Settings
    from clmap_lsp.findings import Edit
    from clmap_lsp.hosts.changes import Change
    from clmap_lsp.index.index import Index
    from clmap_lsp.server.documents import Document, Documents

HostChanges: TypeAlias = "dict[str, tuple[str, tuple[Edit, ...]]]"
KEPT_READINGS = 24
"""Documents of which a reading is kept, for the next edit."""
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
        self._workbench = Workbench(
            self._includes, kept_kernels=KEPT_KERNELS, kept_readings=KEPT_READINGS, remembers=True
        )

    @property
    def n_analysed(self) -> int:
        """Kernels that were really analysed so far, and not taken from before."""
        return self._workbench.n_analysed

    def forget(self, path: str) -> None:
        """Drop what is kept of a closed document."""
        self._workbench.forget(path)

    def forget_all(self) -> None:
        """Drop what is kept, also by content: no document is open."""
        self._workbench.forget_all()

    def reread(self, path: str) -> None:
        """Look for what a document includes anew: a file may be there now that was missing."""
        self._workbench.reread(path)

    def host_files_changed(self, paths: Sequence[str] | None) -> tuple[str, ...]:
        """Return the kernel files that host code says something else of, as host files changed."""
        return self._workbench.host_files_changed(paths)

    def host_edits(self, document: Document, settings: Settings, kernel: str, change: Change) -> HostChanges:
        """Return what changes every launch of a kernel in host code: by path the file's text and edits of it.

        Empty where the launches are not known.
        """
        opened = self._workbench.open_text(document.path, kernel_text(document), settings)
        facts = opened.facts
        edits = () if facts.edits is None else facts.edits(kernel, change).edits
        return {
            path: (text, mine)
            for path, text in facts.places.items()
            if (mine := tuple(it for it in edits if it.span.path == path))
        }

    def compiled(self, document: Document, settings: Settings, kernel: str) -> CompiledKernel | str:
        """Return a kernel as the device's back end leaves it, or why that is not known."""
        opened = self._workbench.open_text(document.path, kernel_text(document), settings)
        return opened.compiled(kernel)

    def index(self, document: Document, settings: Settings) -> Index:
        """Return what a document declares and uses; the same object as long as nothing of it changes."""
        text = kernel_text(document) if len(document.text) <= MAX_CHARACTERS else ""
        return self._workbench.index(document.path, text, settings)

    def reads_alike(self, index: Index, settings: Settings) -> bool:
        """Tell whether what a document includes has the text that its index was made with."""
        return self._workbench.reads_alike(index, settings)

    def analyse(
        self,
        document: Document,
        settings: Settings,
        progress: Callable[[Snapshot], None] | None = None,
        *,
        judges: bool = True,
    ) -> Snapshot:
        """Return the snapshot of a document; never raises on its text.

        Args:
            progress: called now and then with what is known so far, where it takes long.
            judges: hold findings that rest on guesses against other launches, also where that takes long.
        """
        if len(document.text) > MAX_CHARACTERS:
            return self._too_large(document, settings)
        text = kernel_text(document)
        opened = self._workbench.open_text(document.path, text, settings)
        if progress is not None:
            opened.on_kernel = _Progress(document, opened, progress).add
        snapshot = _snapshot(document, opened, judges=judges)
        if text is not document.text or settings.recorded is not None or opened.index is None:
            return snapshot
        return replace(snapshot, layout=Layout.of(opened.index, opened.program.guesses))

    def touch(self, document: Document, whole: Snapshot) -> Touched | None:
        """Return what is known of a document by the functions alone that edits have touched since.

        None where only a reading of the whole text can tell. Of functions that do not compile, or are large,
        it is what compilers say alone (`at_once.py`).
        """
        layout = whole.layout
        if layout is None:
            return None
        if (edit := layout.edited(document.text)) is not None:
            index = self.index(document, whole.settings)
            said = said_at_once(document, whole, index, edit, layout.size_left(document.text, edit))
            if said is not None:
                return said
        if (part := layout.part(document.text)) is None:
            return None
        opened = self._workbench.open_text(
            document.path, part.text, whole.settings, is_part=True, known=part.guesses
        )
        found = _snapshot(document, opened, judges=False)
        starts = {it.span.start for it in found.program.kernels}
        if len(part.now) == 1 and part.now[0][0] in starts:
            found = replace(
                found, around=whole.program
            )  # A kernel: what the others share with it is as before.
        rest = whole.without(part)
        return Touched(document, found.only(part, rest.findings), rest.seen_in(document))

    def predict(self, document: Document, settings: Settings) -> bool:
        """Predict times and compile what findings hang on; tells whether a new analysis would know more."""
        if len(document.text) > MAX_CHARACTERS:
            return False
        opened = self._workbench.open_text(document.path, kernel_text(document), settings)
        return opened.learns(selection_of(settings))

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


def _snapshot(document: Document, opened: OpenedFile, *, judges: bool) -> Snapshot:
    findings = opened.findings(selection_of(opened.settings), waits=judges, predicts=False)
    times = opened.times(waits=False)
    return Snapshot(
        document,
        opened.settings,
        opened.program,
        opened.analysis,
        findings,
        opened.host_files,
        tuple(opened.index.includes) if opened.index is not None else (),
        {name: it for name, it in times.items() if not isinstance(it, str)},
        None if opened.index is None else ref(opened.index),
        opened.is_judged,
        is_standard_open=opened.is_standard_open,
    )


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
        findings = opened.findings_of(analysis, self._selection, predicts=False, waits=False)
        self._tell(Snapshot(self._document, opened.settings, opened.program, analysis, findings))
        self._told = time.thread_time()

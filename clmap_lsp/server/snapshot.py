"""One version of a document with everything static that is known about it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING
from weakref import ref

from clmap_lsp.dataclass import dataclass
from clmap_lsp.findings import Finding, Severity
from clmap_lsp.server.shift import Shift
from clmap_lsp.source.span import SourceFile, Span

if TYPE_CHECKING:
    from lsprotocol import types as lsp

    from clmap_lsp.analysis.images import ImageAnalysis
    from clmap_lsp.analysis.model import AccessAnalysis, FileAnalysis, KernelAnalysis
    from clmap_lsp.config import Settings
    from clmap_lsp.index.index import Include, Index
    from clmap_lsp.index.touched import Layout, Part
    from clmap_lsp.server.convert import Places
    from clmap_lsp.server.documents import Document
    from clmap_lsp.source.program import Program
    from clmap_lsp.time.model import Prediction


_WORD = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Snapshot:
    """What the analysis says of one version of a document under one set of settings."""

    document: Document
    settings: Settings
    program: Program
    analysis: FileAnalysis
    findings: tuple[Finding, ...]
    host_files: Mapping[str, SourceFile] = field(default_factory=dict)
    """Files of the host program that findings point into."""
    includes: tuple[Include, ...] = ()
    """What the document and the files that it includes include."""
    times: Mapping[str, Prediction] = field(default_factory=dict)
    """The predicted times of kernels by name, where they are known."""
    index: ref[Index] | None = None
    """Of the document, as long as the engine keeps it."""
    is_judged: bool = True
    """Findings that rest on guesses were held against all other plausible launches."""
    is_standard_open: bool = False
    """Nobody says which OpenCL C the document is written in."""
    layout: Layout | None = None
    """What tells which functions a later edit touches."""
    around: Program | None = None
    """The last whole program, where only the functions were read that an edit touches."""
    shown: Document | None = None
    """The version of the document that is asked about, where it is a later one."""
    shift: Shift | None = None
    """From the analysed text to that one."""

    def seen_in(self, document: Document) -> Snapshot:
        """Return it as it is seen in a later version of the document: places in its own text move along."""
        if document is self.document:
            return self
        return replace(self, shown=document, shift=Shift.between(self.document.text, document.text))

    def without(self, part: Part) -> Snapshot:
        """Return it without the functions that an edit touches."""
        path = self.document.path

        def is_left(finding: Finding) -> bool:
            if finding.kernel is not None:
                return finding.kernel not in part.functions
            return not _is_within(finding.span, path, part.before)

        kernels = tuple(it for it in self.analysis.kernels if it.name not in part.functions)
        findings = tuple(filter(is_left, self.findings))
        return replace(self, analysis=replace(self.analysis, kernels=kernels), findings=findings)

    def only(self, part: Part, rest: Iterable[Finding]) -> Snapshot:
        """Return that of a part of a file with what it says of the functions that an edit touches.

        What is said of a name at its first use alone is left out where the `rest` says it.
        """
        path = self.document.path
        once = {(it.code, it.message) for it in rest if not part.shared.isdisjoint(_WORD.findall(it.message))}

        def is_touched(finding: Finding) -> bool:
            if (finding.code, finding.message) in once and finding.severity is not Severity.ERROR:
                return False
            if finding.kernel is not None:
                return finding.kernel in part.functions
            return _is_within(finding.span, path, part.now)

        kernels = tuple(it for it in self.analysis.kernels if it.name in part.functions)
        findings = tuple(filter(is_touched, self.findings))
        return replace(self, analysis=replace(self.analysis, kernels=kernels), findings=findings)

    @property
    def files(self) -> dict[str, SourceFile]:
        """All files that findings point into."""
        return {**self.program.files, **self.host_files}

    @property
    def places(self) -> Places:
        """What turns spans into ranges."""
        from clmap_lsp.server.convert import Places

        return Places(self.document, self.files, self.shown, self.shift)

    def offset(self, position: lsp.Position) -> int | None:
        """Return the offset of a position in the analysed text; None where that has changed since."""
        if self.shown is None or self.shift is None:
            return self.document.offset(position)
        return self.shift.earlier(self.shown.offset(position))

    def is_touched(self, span: Span) -> bool:
        """Tell whether a place of the document has been edited since, or its word was gone on with."""
        if self.shift is None or self.shown is None or span.path != self.document.path:
            return False
        if self.shift.touches(span.start, span.end):
            return True
        # What was typed right before the place stays before it, and what was typed right behind it behind.
        places = (span.start, self.shift.behind(span.start)), (span.end, self.shift.later(span.end))
        was, now = self.document.text, self.shown.text
        return any(_is_in_word(now, later) and not _is_in_word(was, it) for it, later in places)

    def kernel_at(self, offset: int) -> KernelAnalysis | None:
        """Return the kernel whose text holds an offset of the document."""
        path = self.document.path
        return next((it for it in self.analysis.kernels if _holds(it.span, path, offset)), None)

    def accesses_at(self, offset: int) -> tuple[AccessAnalysis, ...]:
        """Return the accesses whose text holds an offset and was not edited since, the innermost first."""
        path = self.document.path
        found = [
            access
            for kernel in self.analysis.kernels
            for access in (*kernel.accesses, *kernel.unreached)
            if _holds(access.access.span, path, offset) and not self.is_touched(access.access.span)
        ]
        return tuple(sorted(found, key=lambda it: it.access.span.end - it.access.span.start))

    def image_at(self, offset: int) -> ImageAnalysis | None:
        """Return the read or write of an image whose text, unedited, holds an offset, the innermost."""
        path = self.document.path
        found = (it for kernel in self.analysis.kernels for it in kernel.images)
        here = [
            it for it in found if _holds(it.access.span, path, offset) and not self.is_touched(it.access.span)
        ]
        return min(here, key=lambda it: it.access.span.end - it.access.span.start, default=None)


@dataclass(frozen=True, slots=True, eq=False)
class Touched:
    """A version of a document of which only the functions were read that its edits touch."""

    document: Document
    part: Snapshot
    rest: Snapshot
    """What was known of the others, as it is seen in this version."""


def _is_within(span: Span, path: str, stretches: tuple[tuple[int, int], ...]) -> bool:
    return span.path == path and any(start <= span.start < end for start, end in stretches)


def _is_in_word(text: str, offset: int) -> bool:
    """Tell whether a word goes on over an offset."""
    around = text[max(offset - 1, 0) : offset + 1]
    return offset > 0 and len(around) == 2 and all(it.isalnum() or it == "_" for it in around)


def _holds(span: Span, path: str, offset: int) -> bool:
    return span.path == path and span.start <= offset <= span.end

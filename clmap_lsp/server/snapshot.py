"""One version of a document with everything static that is known about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from clmap_lsp.findings import Finding
from clmap_lsp.server.shift import Shift
from clmap_lsp.source.span import SourceFile, Span

if TYPE_CHECKING:
    from lsprotocol import types as lsp

    from clmap_lsp.analysis.model import AccessAnalysis, FileAnalysis, KernelAnalysis
    from clmap_lsp.config import Settings
    from clmap_lsp.index.index import Include
    from clmap_lsp.server.convert import Places
    from clmap_lsp.server.documents import Document
    from clmap_lsp.source.program import Program
    from clmap_lsp.time.model import Prediction


@dataclass(frozen=True, slots=True, eq=False)
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
    shown: Document | None = None
    """The version of the document that is asked about, where it is a later one."""
    shift: Shift | None = None
    """From the analysed text to that one."""

    def seen_in(self, document: Document) -> Snapshot:
        """Return it as it is seen in a later version of the document: places in its own text move along."""
        if document is self.document:
            return self
        return replace(self, shown=document, shift=Shift.between(self.document.text, document.text))

    @property
    def is_current(self) -> bool:
        """Whether it was made from the text that is asked about."""
        return self.shift is None

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
        """Tell whether a place of the document has been edited since."""
        if self.shift is None or span.path != self.document.path:
            return False
        return self.shift.touches(span.start, span.end)

    def kernel_at(self, offset: int) -> KernelAnalysis | None:
        """Return the kernel whose text holds an offset of the document."""
        path = self.document.path
        return next((it for it in self.analysis.kernels if _holds(it.span, path, offset)), None)

    def accesses_at(self, offset: int) -> tuple[AccessAnalysis, ...]:
        """Return the accesses whose text holds an offset, the innermost first."""
        path = self.document.path
        found = [
            access
            for kernel in self.analysis.kernels
            for access in (*kernel.accesses, *kernel.unreached)
            if _holds(access.access.span, path, offset)
        ]
        return tuple(sorted(found, key=lambda it: it.access.span.end - it.access.span.start))


def _holds(span: Span, path: str, offset: int) -> bool:
    return span.path == path and span.start <= offset <= span.end

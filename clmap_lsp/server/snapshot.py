"""One version of a document with everything static that is known about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from clmap_lsp.findings import Finding
from clmap_lsp.source.span import SourceFile, Span

if TYPE_CHECKING:
    from clmap_lsp.analysis.model import AccessAnalysis, FileAnalysis, KernelAnalysis
    from clmap_lsp.config import Settings
    from clmap_lsp.server.documents import Document
    from clmap_lsp.source.program import Program


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

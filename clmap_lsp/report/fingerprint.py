"""What stays of a finding when lines move: the rule, the kernel, and the text of its line."""

from __future__ import annotations

from clmap_lsp.findings import Finding
from clmap_lsp.report.model import FileReport


def fingerprint(file: FileReport, finding: Finding) -> str:
    """Return 16 hexadecimal digits that survive edits elsewhere in the file and changes of white space."""
    import hashlib

    source = file.sources.get(finding.span.path)
    line = "" if source is None else source.line(source.position(finding.span.start).row)
    parts = (finding.code, finding.kernel or "", " ".join(line.split()))
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]

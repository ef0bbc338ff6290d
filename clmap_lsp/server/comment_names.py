"""Names of kernels and of their parameters in `// clmap:` comments, which a rename changes too."""

from __future__ import annotations

import re
from collections.abc import Iterator

from clmap_lsp.index.index import Index
from clmap_lsp.index.model import Kind, Symbol
from clmap_lsp.launch.comment import LaunchComment, launch_comments
from clmap_lsp.source.span import Span

_KERNEL = re.compile(r"\bkernel\s*=\s*(\w+)")
_KEYS = frozenset({"global", "local", "offset", "kernel"})


def comment_namings(index: Index, symbol: Symbol) -> Iterator[Span]:
    """Yield where launch comments name a kernel, or a parameter of the one that they are about."""
    text = index.text
    if "clmap:" not in text or symbol.kind not in (Kind.KERNEL, Kind.PARAMETER):
        return
    owner = symbol if symbol.kind is Kind.KERNEL else symbol.parent
    if owner is None or owner.kind is not Kind.KERNEL:
        return
    for comment in launch_comments(text):
        named = _KERNEL.search(comment.text)
        about = named[1] if named is not None else _kernel_near(index, comment)
        if about != owner.name:
            continue
        if symbol.kind is Kind.KERNEL:
            if named is not None:
                yield Span(index.path, comment.start + named.start(1), comment.start + named.end(1))
            continue
        for it in re.finditer(rf"\b{re.escape(symbol.name)}\b", comment.text):
            is_key = it[0] in _KEYS or (named is not None and it.start() == named.start(1))
            if not is_key and not comment.text[it.end() :].lstrip().startswith("("):
                yield Span(index.path, comment.start + it.start(), comment.start + it.end())


def _kernel_near(index: Index, comment: LaunchComment) -> str | None:
    """Return the kernel that a comment stands in, or else the next one."""
    kernels = ((it, index.full_span(it)) for _, it in index.symbols() if it.kind is Kind.KERNEL)
    behind = [
        (span.start, it.name)
        for it, span in kernels
        if span is not None and span.path == index.path and span.end > comment.start and it.is_definition
    ]
    return min(behind)[1] if behind else None

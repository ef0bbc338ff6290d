"""A kernel as compiled, in words: for the command line, hovers and the view beside the source."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clmap_lsp.analysis.model import KernelAnalysis
    from clmap_lsp.compiled.summary import CompiledAccess, CompiledKernel
    from clmap_lsp.source.program import Program


def compiled_lines(program: Program, kernel: KernelAnalysis) -> Iterator[str]:
    """Say what the compiler's back end leaves of a kernel and of its accesses, where that was asked for."""
    found = kernel.compiled
    if found is None:
        return
    if isinstance(found, str):
        yield f"as compiled: unknown, {found}"
        return
    yield f"as compiled for {found.target}: {resources_text(found)}"
    for it in kernel.accesses:
        left = found.accesses.get(it.access.site)
        if left is not None:
            row = program.position(it.access.span).row
            yield f"  line {row}  {it.access.place_text}: {access_text(left)}"
    if found.reason:
        yield f"  not counted: {found.reason}"


def resources_text(found: CompiledKernel) -> str:
    """Return registers, memory and length of a kernel: `about 34 registers, 70 instructions`."""
    about = "" if found.registers_exact else "about "
    parts = [f"{about}{found.registers} registers"]
    if found.spill_bytes:
        parts.append(f"{found.spill_bytes} bytes of spills")
    if found.private_bytes:
        parts.append(f"{found.private_bytes} bytes of private memory a work-item")
    if found.local_bytes:
        parts.append(f"{found.local_bytes} bytes of local memory")
    return f"{', '.join(parts)}, {len(found.lines)} instructions"


def access_text(left: CompiledAccess) -> str:
    """Return what became of an access: `1 x 16 bytes, 4 merged into one; 2,048 sectors in 64 requests`."""
    if not left.instructions:
        return "removed"
    words = " + ".join(f"{count} x {size} bytes" for size, count in left.instructions)
    merged = f", {left.merged} merged into one" if left.merged > 1 else ""
    if left.requests is None:
        return f"{words}{merged}"
    amount = (
        "unknown"
        if left.sectors is None
        else f"{left.wavefronts:,} wavefronts"
        if left.wavefronts
        else f"{left.sectors:,} sectors"
    )
    return f"{words}{merged}; {amount} in {left.requests:,} requests"


def merged_text(left: CompiledAccess, noun: str) -> str | None:
    """Return it as one says it of accesses that were merged: `4 loads merged into one of 16 bytes`."""
    if left.merged < 2 or not left.instructions:
        return None
    (size, count), *others = left.instructions
    times = f", {count} times" if count > 1 else ""
    rest = "".join(f", and {number} x {bytes_} bytes" for bytes_, number in others)
    return f"{left.merged} {noun}s merged into one of {size} bytes{times}{rest}"

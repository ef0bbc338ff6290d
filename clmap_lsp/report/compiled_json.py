"""A kernel as compiled, as JSON (see the command-line contract)."""

from __future__ import annotations

from typing import Any

from clmap_lsp.analysis.model import KernelAnalysis
from clmap_lsp.source.program import Program


def compiled_json(program: Program, kernel: KernelAnalysis) -> dict[str, Any]:
    """Return the kernel's part: nothing where nobody asked, null with a reason where it is unknown."""
    found = kernel.compiled
    if found is None:
        return {}
    if isinstance(found, str):
        return {"compiled": None, "compiled_reason": found}
    return {
        "compiled": {
            "target": found.target,
            "registers": found.registers,
            "registers_exact": found.registers_exact,
            "spill_bytes": found.spill_bytes,
            "private_bytes": found.private_bytes,
            "local_bytes": found.local_bytes,
            "isa_lines": [
                {
                    "filename": None if it.span is None else it.span.path,
                    "row": None if it.span is None else program.position(it.span).row,
                    "text": it.text,
                }
                for it in found.lines
            ],
            "issue_slots": found.mix,
            "unknown_functions": list(found.unknown),
        },
        "compiled_reason": found.reason or None,
    }


def compiled_access_json(kernel: KernelAnalysis, site: int) -> dict[str, Any]:
    """Return one access's part."""
    found = kernel.compiled
    if found is None:
        return {}
    it = None if isinstance(found, str) else found.accesses.get(site)
    if it is None:
        return {"compiled": None}
    return {
        "compiled": {
            "instructions": [{"bytes": size, "count": count} for size, count in it.instructions],
            "requests": it.requests,
            "sectors": it.sectors,
            "wavefronts": it.wavefronts,
        }
    }

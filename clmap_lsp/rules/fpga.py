"""Files that are written for FPGAs: what is slow on GPUs may be meant so there."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from clmap_lsp.findings import Finding, Severity
from clmap_lsp.lazy import lazy_pattern

if TYPE_CHECKING:
    from clmap_lsp.source.program import Program

_MARKS = lazy_pattern(
    r"__attribute(?:__)?\s*\(\(\s*(?P<attribute>num_simd_work_items|num_compute_units|max_global_work_dim|autorun"
    r"|xcl_\w+)\b|^[ \t]*#[ \t]*pragma\s+OPENCL\s+EXTENSION\s+(?P<extension>cl_(?:altera|intel)_channels)\b"
    r"|\b(?P<call>(?:read|write)_channel(?:_nb)?_(?:altera|intel))\s*\(",
    re.MULTILINE,
)
_OF_GPUS = ("CM1", "CM2", "CM4", "CM5")
"""How the codes of rules begin that speak of what GPUs make of a kernel."""


def fpga_mark(program: Program) -> str | None:
    """Return the attribute, extension or function by which a file is known to be written for FPGAs."""
    found = _MARKS.search(program.main_file.text)
    return None if found is None else found[found.lastgroup or 0]


def lowered_for_fpga(findings: Iterable[Finding], mark: str) -> tuple[Finding, ...]:
    """Return findings with those about GPUs as hints, which say why."""
    said = f"The file is written for FPGAs (`{mark}`); --device says which GPU it shall be judged for."
    return tuple(
        replace(it, severity=Severity.HINT, message=f"{it.message}\n{said}") if _is_lowered(it) else it
        for it in findings
    )


def _is_lowered(finding: Finding) -> bool:
    return finding.code.startswith(_OF_GPUS) and finding.severity is not Severity.HINT

"""Extensions that a text uses and that a pragma has to enable before.

Source: OpenCL C Specification 3.0, 6.12 (preprocessor directives); OpenCL Extension Specification, 1.2
(compiler directives for optional extensions).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable

from clmap_lsp.index.model import Edit, Fix, Issue, Need
from clmap_lsp.source.preprocess import PRAGMA

_EXTENSION = re.compile(PRAGMA + r"\s+OPENCL\s+EXTENSION\s+(\w+)\s*:\s*(\w+)")
_SAME = {"cl_amd_fp64": "cl_khr_fp64", "cl_intel_subgroups": "cl_khr_subgroups"}
"""Vendors' extensions that bring the same."""


def enabled_at(texts: list[str]) -> Callable[[str, int], bool]:
    """Return what tells whether an extension is enabled at a token."""
    switches: dict[str, tuple[list[int], list[bool]]] = {}
    for at, text in enumerate(texts):
        if text.startswith(PRAGMA) and (match := _EXTENSION.match(text)) is not None:
            name = _SAME.get(match[1], match[1])
            places, states = switches.setdefault(name, ([], []))
            places.append(at)
            states.append(match[2] != "disable")

    def is_enabled(extension: str, token: int) -> bool:
        latest = (-1, False)
        for name in (extension, "all"):
            places, states = switches.get(name, ([], []))
            before = bisect_right(places, token) - 1
            if before >= 0:
                latest = max(latest, (places[before], states[before]))
        return latest[1]

    return is_enabled


def missing(need: Need) -> Issue:
    """Return what is wrong where an extension is used that nothing enables, with the pragma that does."""
    pragma = f"#pragma OPENCL EXTENSION {need.extension} : enable"
    fix = Fix(f"Add '{pragma}'", (Edit(0, 0, pragma),))
    said = f"{need.what} needs '{pragma}' before it"
    return Issue("extension", need.severity, said, need.token, need.token + 1, fix=fix, name=need.extension)

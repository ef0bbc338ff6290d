"""What `clang -Wall -Wextra` says of a rewritten kernel that it did not say of the original."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clmap_lsp.fixes.model import Subject

_DIAGNOSTIC = re.compile(r"^[^:\n]*:\d+:\d+: (?:warning|error|fatal error): (.*)$", re.MULTILINE)
_QUOTED = re.compile(r"'[^']*'")


def new_warnings(subject: Subject, after: str) -> Iterator[str]:
    """Yield the new warnings and errors; none where there is no clang or it cannot read the original."""
    if shutil.which("clang") is None:
        return
    options = (
        f"-cl-std={subject.options.language}",
        *(f"-D{name}={value}" for name, value in subject.options.defines),
        *("-I", str(Path(subject.path).parent)),
    )
    before = _said(subject.text, options)
    known = Counter(_QUOTED.sub("''", it) for it in before)
    for it in _said(after, options):
        plain = _QUOTED.sub("''", it)
        if not known[plain]:
            yield it
        known[plain] -= 1


@lru_cache(maxsize=4)
def _said(text: str, options: tuple[str, ...]) -> tuple[str, ...]:
    command = ("clang", "-x", "cl", "-fsyntax-only", "-Wall", "-Wextra", "-fno-caret-diagnostics")
    default = ("-Xclang", "-finclude-default-header", "-Xclang", "-fdeclare-opencl-builtins")
    ran = subprocess.run(
        (*command, *default, *options, "-"), input=text, capture_output=True, text=True, check=False
    )
    return tuple(_DIAGNOSTIC.findall(ran.stderr))

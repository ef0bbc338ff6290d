"""The text of rewrites: clean under `clang -Wall -Wextra` where the kernel was."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import fix_kernels
import pytest
from fixing import SETTINGS, subject_of

from clmap_lsp.fixes.edits import apply
from clmap_lsp.fixes.offer import proposals
from clmap_lsp.fixes.verification import baseline

CLANG = shutil.which("clang")
TEXTS = {
    name: text
    for name, text in vars(fix_kernels).items()
    if name.isupper() and isinstance(text, str) and "// clmap:" in text
}
OPTIONS = [
    "-cl-std=CL1.2",
    "-fsyntax-only",
    "-Wall",
    "-Wextra",
    "-fno-caret-diagnostics",
    "-fno-color-diagnostics",
]
HEADER = ["-Xclang", "-finclude-default-header", "-Xclang", "-fdeclare-opencl-builtins"]
LINE = re.compile(r"^(?P<file>[^:\n]+\.cl):\d+:\d+: (?P<text>(?:warning|error): .*)$", re.MULTILINE)


def complaints(folder: Path, texts: dict[str, str]) -> dict[str, Counter[str]]:
    """Return what clang says of each text, by name."""
    for name, text in texts.items():
        (folder / f"{name}.cl").write_text(text)
    files = [f"{name}.cl" for name in texts]
    done = subprocess.run(
        [str(CLANG), *OPTIONS, *HEADER, *files], cwd=folder, capture_output=True, text=True, check=False
    )
    found: dict[str, Counter[str]] = {name: Counter() for name in texts}
    for match in LINE.finditer(done.stderr):
        found[match["file"].removesuffix(".cl")][match["text"]] += 1
    return found


@pytest.mark.skipif(CLANG is None, reason="clang is not installed")
def test_no_rewrite_brings_a_warning(tmp_path: Path) -> None:
    texts: dict[str, str] = {}
    for name, text in TEXTS.items():
        subject = baseline(subject_of(text), SETTINGS)
        texts[name] = text
        for number, proposal in enumerate(proposals(subject)):
            if not proposal.moves_data:  # What their rows were long may have been a parameter.
                texts[f"{name}-{number}-{proposal.kind}"] = apply(text, proposal.edits, "k.cl")
    assert len(texts) > 3 * len(TEXTS)
    found = complaints(tmp_path, texts)
    new = {
        name: list((found[name] - found[name.partition("-")[0]]).elements())
        for name in texts
        if found[name] - found[name.partition("-")[0]]
    }
    assert new == {}

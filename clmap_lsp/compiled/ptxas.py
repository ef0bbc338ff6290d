"""Registers and spills of real machine code, where NVIDIA's assembler is installed (extra `nvidia`).

The package `nvidia-cuda-nvcc` is under NVIDIA's licence and never a dependency: without it registers are an
estimate from what is live in PTX.
"""

from __future__ import annotations

import importlib.util
import re
import subprocess
import tempfile
from functools import cache
from pathlib import Path

from clmap_lsp.compiled import elsewhere
from clmap_lsp.dataclass import dataclass
from clmap_lsp.interruption import waited_for
from clmap_lsp.programs import find_program

_USED = re.compile(r"Used (\d+) registers")
_SPILLS = re.compile(r"(\d+) bytes spill stores, (\d+) bytes spill loads")
_PROCESSOR = re.compile(r"sm_\w+")
_SECONDS = 20


@dataclass(frozen=True, slots=True)
class Assembled:
    """What `ptxas -v` says of a kernel."""

    registers: int
    spill_bytes: int
    """Stores of spilled registers, a work-item."""


@cache
def find_ptxas() -> Path | None:
    """Return NVIDIA's assembler: of the Python package, else on the path."""
    spec = importlib.util.find_spec("nvidia")
    for root in spec.submodule_search_locations or () if spec is not None else ():
        for pattern in ("cu*/bin/ptxas*", "cuda_nvcc/bin/ptxas*"):
            found = sorted(Path(root).glob(pattern))
            if found:
                return found[-1]
    beside = find_program("ptxas")
    return Path(beside) if beside is not None else None


def plain_ptx(text: str) -> str:
    """Return PTX that ptxas takes: without probes and debug directives."""
    dropped = ("\t.pseudoprobe", "\t.loc\t", "\t.file", "\t.section")
    lines = [it for it in text.splitlines() if not it.startswith(dropped)]
    return "\n".join(lines) + "\n"


def assemble(text: str, cpu: str) -> Assembled | None:
    """Assemble PTX for one processor; `None` if there is no assembler or it refuses."""
    answer = elsewhere.asked("registers", {"text": text, "cpu": cpu})
    if answer is not None:
        return Assembled(int(answer["registers"]), int(answer["spills"])) if "registers" in answer else None
    tool = find_ptxas()
    if tool is None or not _PROCESSOR.fullmatch(cpu):
        return None
    done = waited_for(lambda: _run(tool, text, cpu))
    if done is None:
        return None
    used, spills = _USED.search(done.stderr), _SPILLS.search(done.stderr)
    if done.returncode or used is None:
        return None
    return Assembled(int(used[1]), int(spills[1]) if spills is not None else 0)


def _run(tool: Path, text: str, cpu: str) -> subprocess.CompletedProcess[str] | None:
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "kernel.ptx")
        source.write_text(plain_ptx(text), encoding="utf-8")
        command = [str(tool), f"-arch={cpu}", "-v", str(source), "-o", str(Path(folder, "kernel.cubin"))]
        try:
            return subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)
        except (OSError, subprocess.TimeoutExpired):
            return None

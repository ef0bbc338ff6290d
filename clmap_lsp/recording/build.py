"""The layer, compiled where a compiler is at hand, once for each version of its source."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

from clmap_lsp.errors import UsageError
from clmap_lsp.programs import find_program
from clmap_lsp.reading import SOURCE_BYTES, safe_read
from clmap_lsp.whole_files import write_whole

COMPILERS = ("cc", "gcc", "clang")


def layer(folder: Path) -> Path:
    """Return the compiled layer, kept in a folder.

    Raises: UsageError without a C compiler or OpenCL's headers.
    """
    source = safe_read(Path(__file__).with_name("layer.c"), limit=SOURCE_BYTES, within=None)
    built = folder / f"clmap_layer_{hashlib.sha256(source).hexdigest()[:16]}.so"
    if built.is_file():
        return built
    compiler = next((it for it in map(find_program, COMPILERS) if it is not None), None)
    if compiler is None:
        raise UsageError(
            "recording compiles a small OpenCL layer, and there is no C compiler; install gcc or clang"
        )
    folder.mkdir(parents=True, exist_ok=True)
    written = folder / f"{built.stem}.c"
    write_whole(written, source)
    made = built.with_suffix(".tmp")
    command = [compiler, "-shared", "-fPIC", "-O2", "-w", "-o", str(made), str(written), "-lpthread"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise UsageError(f"the OpenCL layer for recording cannot be compiled: {_cure(done.stderr)}")
    made.replace(built)
    return built


def _cure(errors: str) -> str:
    if "CL/cl_" in errors:
        return "OpenCL's headers are missing; install opencl-headers"
    return (errors.strip().splitlines() or ["the compiler says nothing"])[0]

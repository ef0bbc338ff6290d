"""How much of the package one `check` goes through, and what it costs beside an empty Python.

    python -m benchmarks.walk [FILE]

Modules and functions of the package that run, calls, and changes of room (a call in another folder than the
one before); then the processor time of the whole command in empty Pythons, in one run, so that the machine's
load hardly matters, and with compiled modules, as an installation has them; and what was imported. Without a
FILE it is the first kernel of `fixtures/matmul/simple.cl` in a folder of its own, where no host code is near.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from types import FrameType
from typing import Any

PACKAGE = Path(__file__).resolve().parent.parent / "clmap_lsp"
FILE = PACKAGE.parent / "fixtures" / "matmul" / "simple.cl"
RUNS = 9


def main() -> int:
    """Run from the command line; return the exit code."""
    with tempfile.TemporaryDirectory() as folder:
        _report(sys.argv[1] if len(sys.argv) > 1 else _first_kernel(Path(folder)))
    return 0


def _first_kernel(folder: Path) -> str:
    """Write the first kernel of the fixture, with its launch, to a file; returns its path."""
    head, launch, first, _, _ = re.split(r"(// clmap:)", FILE.read_text(encoding="utf-8"))
    path = folder / FILE.name
    path.write_text(head + launch + first, encoding="utf-8")
    return str(path)


def _report(path: str) -> None:
    walk = _walked(["check", path])
    print(f"modules whose functions run  {len({module for module, _ in walk['functions']})}")
    print(f"  of them rules              {len({m for m, _ in walk['functions'] if '/rules/cm' in m})}")
    print(f"functions                    {len(walk['functions'])}")
    print(f"calls                        {walk['calls']}")
    print(f"changes of room              {walk['changes']}")
    own, empty = _cpu([*_COMMAND, "check", path]), _cpu([sys.executable, "-c", ""])
    print(f"processor time               {own:.3f} s, {own / empty:.1f} empty Pythons of {empty:.4f} s")
    loaded = subprocess.run(
        [sys.executable, "-c", _IMPORTS, path], capture_output=True, text=True, check=True
    )
    print(loaded.stdout.strip())


_COMMAND = [sys.executable, "-m", "clmap_lsp"]
_IMPORTS = """
import sys, io, contextlib, dataclasses
made = [0]
process = dataclasses._process_class
def counted(*args, **kwargs):
    made[0] += 1
    return process(*args, **kwargs)
dataclasses._process_class = counted
from clmap_lsp.cli import main
with contextlib.redirect_stdout(io.StringIO()):
    main(["check", sys.argv[1]])
own = sum(1 for it in sys.modules if it.startswith("clmap_lsp"))
print(f"modules imported             {len(sys.modules)}, {own} of the package")
print(f"dataclasses made             {made[0]}")
print(f"NumPy imported               {'numpy' in sys.modules}")
"""


def _walked(arguments: list[str]) -> dict[str, Any]:
    from clmap_lsp.cli import main as clmap

    found: dict[str, Any] = {"functions": set(), "calls": 0, "changes": 0}
    prefix, last = str(PACKAGE), [""]

    def enter(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(prefix) or code.co_name == "<module>":
            return
        found["functions"].add((code.co_filename, code.co_qualname))
        found["calls"] += 1
        room = os.path.dirname(code.co_filename)  # noqa: PTH120 - a hundred thousand times
        found["changes"] += room != last[0]
        last[0] = room

    sys.setprofile(enter)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            clmap(arguments)
    finally:
        sys.setprofile(None)
    return found


def _cpu(command: list[str]) -> float:
    """Return the median processor time of a command."""
    spent = []
    with tempfile.TemporaryDirectory() as compiled:
        env = {**os.environ, "PYTHONPYCACHEPREFIX": compiled, "PYTHONDONTWRITEBYTECODE": ""}
        subprocess.run(command, stdout=subprocess.DEVNULL, check=False, env=env)
        for _ in range(RUNS):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(command, stdout=subprocess.DEVNULL, check=False, env=env)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return statistics.median(spent)


if __name__ == "__main__":
    sys.exit(main())

"""Prints what the command line says about every kernel of fixtures/: what runs in browsers is held to it.

    python browser/expected.py         a JSON list of {name, source, device, options, check, said, analysis}

As in the browser there is one file, and no emulator.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path

sys.modules["llvmlite"] = None  # type: ignore[assignment] # as where the extra `emulate` is not installed

from session import NAME, command  # noqa: E402

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
DEVICES = ("nvidia-hopper", "amd-gcn")
# Launches of another size than the comments of the kernels say, and what cannot be used.
OPTIONS = {
    "matmul/simple.cl": "--kernel mm_simple --global 96,80 --local 16,8 --arg N=96",
    "transpose/tiled.cl": "--select CM2 --top 1",
    "stencil/five_point.cl": "--global 100 --local 7,7",
}


def main() -> None:
    """Ask of each kernel what the page asks."""
    cases = [
        {"name": name, "source": path.read_text(encoding="utf-8"), "device": device, "options": ""}
        for path in sorted(FIXTURES.rglob("*.cl"))
        for name in (path.relative_to(FIXTURES).as_posix(),)
        for device in DEVICES
    ]
    cases += [{**it, "options": OPTIONS[it["name"]]} for it in cases[::2] if it["name"] in OPTIONS]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        answers = [{**it, **said(it)} for it in cases]
        os.chdir("/")
    json.dump(answers, sys.stdout)


def said(case: dict[str, str]) -> dict[str, object]:
    """Return what three command lines print."""
    Path(NAME).write_text(case["source"], encoding="utf-8", newline="")
    given = [NAME, "--device", case["device"], *case["options"].split()]
    analysed, problem, code = command("analyze", *given, "--format", "json")
    if code == 2 and not analysed:
        return {"problem": problem}
    return {
        "problem": "",
        "check": command("check", *given, "--format", "json")[0],
        "said": command("check", *given, "--format", "full", "--color", "never")[0],
        "analysis": analysed,
    }


if __name__ == "__main__":
    main()

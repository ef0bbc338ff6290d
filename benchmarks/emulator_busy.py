"""Emulates the same launches on an idle core and beside busy loops: verdicts and counts are to be the same.

    python -m benchmarks.emulator_busy [--loops 4] [--gpuverify FOLDER] [--only TEXT]

Launches are those of `emulator_sizes`, those of `fixtures/` as they are configured, and GPUVerify's kernels
where its folder is given. Everything runs on one core, which the loops share, so that the emulator gets a
fifth of it beside four. All that the JSON document says is compared, except for `seconds`. Exit code 1 if
anything differs.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.emulator_sizes import CASES, command

FIXTURES = Path(__file__).parents[1] / "fixtures"
_BATCH = r"""
import json, sys
from benchmarks import gpuverify
documents = []
whole = gpuverify.emulate
def noted(*args, **more):
    result = whole(*args, **more)
    documents.append(result.to_dict())
    return result
gpuverify.emulate = noted
from pathlib import Path
folder = Path(sys.argv[1])
for path in sorted(folder.rglob("*.cl")):
    documents.append(str(path))
    gpuverify.verdict(path, folder)
print(json.dumps(documents))
"""


def jobs(options: argparse.Namespace) -> Iterator[tuple[str, list[str]]]:
    """Yield what is run, by title."""
    sizes = argparse.Namespace(engine="auto", memory_limit=1024)
    for case in CASES:
        yield case.title, command(case, sizes)
    for path in sorted(FIXTURES.rglob("*.cl")):
        yield path.name, [sys.executable, "-m", "clmap_lsp", "emulate", str(path), "--format", "json"]
    if options.gpuverify is not None:
        yield "GPUVerify", [sys.executable, "-c", _BATCH, str(options.gpuverify)]


def answer(arguments: list[str]) -> Any:
    """Return what a command prints, without seconds, and its exit code."""
    ran = subprocess.run(arguments, capture_output=True, text=True, check=False)
    try:
        return ran.returncode, _without_seconds(json.loads(ran.stdout))
    except ValueError:
        return ran.returncode, ran.stdout


def _without_seconds(document: Any) -> Any:
    match document:
        case dict():
            return {key: _without_seconds(it) for key, it in document.items() if key != "seconds"}
        case list():
            return [_without_seconds(it) for it in document]
        case _:
            return document


def main() -> int:
    """Compare; 1 if anything differs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--loops", type=int, default=4)
    parser.add_argument("--gpuverify", type=Path)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # So that the loops end too.
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(options.loops)]
    equal = different = 0
    try:
        for title, arguments in jobs(options):
            if options.only not in title:
                continue
            found = []
            for command_of in (signal.SIGSTOP, signal.SIGCONT):
                for it in loops:
                    it.send_signal(command_of)
                found.append(answer(arguments))
            equal, different = equal + (found[0] == found[1]), different + (found[0] != found[1])
            print(f"{title}: {'equal' if found[0] == found[1] else 'DIFFERENT'}", flush=True)
    finally:
        for it in loops:
            it.kill()
    print(f"{equal} answers equal, {different} different")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())

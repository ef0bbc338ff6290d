"""Prints what one keystroke costs: static analysis of a file of 20 kernels after a one-character edit.

    python -m benchmarks.keystroke

The file is put together from `fixtures/`. Each of 200 random edits (insert, replace or delete one character,
anywhere in the file) starts from the file as it was, with what the analysis before it kept, as in the server:
read the text, analyse the kernels, run the rules. Times are CPU times of this process, in milliseconds.

CPU time grows too when others use the machine: caches, memory and halves of cores are shared. The last line
says by how much, from a piece of work that is always the same: its median time over its shortest.
"""

from __future__ import annotations

import argparse
import gc
import random
import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from time import process_time

from clmap_lsp.analysis.session import AnalysisSession
from clmap_lsp.devices import load_model
from clmap_lsp.rules.context import RuleContext
from clmap_lsp.rules.memory import KernelFindings
from clmap_lsp.rules.runner import run
from clmap_lsp.rules.selection import Selection
from clmap_lsp.source.collector import collect_rarely
from clmap_lsp.source.read import read_program
from clmap_lsp.source.reuse import ProgramCache

FIXTURES = Path(__file__).parents[1] / "fixtures"
N_KERNELS = 20
N_LINES = 500
STAGES = ("read", "analyse", "rules", "all")
_KERNEL = re.compile(r"(?:__kernel|\bkernel)\s+(?:__attribute__\s*\(\(.*?\)\)\)?\s*)?void\s+(\w+)")
_KEYS = "abxyzijkN0123456789 +-*/%()[]{};,.<>=&|#\"'"


def sample_file() -> str:
    """Return 500 lines with 20 kernels: fixtures one after the other, filled up with comments."""
    parts: list[str] = []
    n_kernels = 0
    for path in sorted(FIXTURES.rglob("*.cl")):
        text = path.read_text(encoding="utf-8")
        names = _KERNEL.findall(text)
        if not names or n_kernels + len(names) > N_KERNELS:
            continue
        # Kernels of different files may share a name, and so may their macros.
        for name in {*names, *re.findall(r"#define\s+(\w+)", text)}:
            text = re.sub(rf"\b{name}\b", f"{name}_{len(parts)}", text)
        parts.append(text)
        n_kernels += len(names)
    whole = "\n".join(parts)
    n_missing = max(N_LINES - whole.count("\n"), 0)
    gap = "// The next kernel.\n" * (n_missing // max(len(parts), 1))
    return ("\n" + gap).join(parts)


class Editor:
    """Does what the server does after a change of the text, and keeps what it keeps."""

    def __init__(self) -> None:
        self.session = AnalysisSession()
        self.findings = KernelFindings()
        self.device = load_model("generic-gpu")
        self.selection = Selection.of()
        self.cache: ProgramCache | None = None

    def change(self, text: str) -> list[float]:
        """Analyse a text; return the milliseconds of each stage and of all."""
        marks = [process_time()]
        program = read_program(text, "sample.cl", previous=self.cache)
        self.cache = program.cache
        marks.append(process_time())
        analysis = self.session.analyse(program, self.device)
        marks.append(process_time())
        run(RuleContext(program, analysis), self.selection, self.findings)
        marks.append(process_time())
        stages = [(b - a) * 1e3 for a, b in pairwise(marks)]
        return [*stages, sum(stages)]


def edited(text: str, rng: random.Random) -> str:
    """Return the text with one character inserted, replaced or deleted."""
    at = rng.randrange(len(text))
    kind = rng.choice(("insert", "replace", "delete"))
    key = "" if kind == "delete" else rng.choice(_KEYS)
    return text[:at] + key + text[at + (kind != "insert") :]


def reference_work() -> float:
    """Return the milliseconds of a piece of work that is always the same: about one, in plain Python."""
    start = process_time()
    table: dict[int, object] = {}
    for step in range(12_000):
        table[step % 97] = (step, table.get(step % 89)) if step % 3 else None
    return (process_time() - start) * 1e3


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value that a share of the values does not exceed."""
    ordered = sorted(values)
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print one line a stage."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.keystroke", description=__doc__.split("\n")[0]
    )
    parser.add_argument("--edits", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    collect_rarely()
    text = sample_file()
    editor = Editor()
    cold = editor.change(text)
    print(
        f"{text.count(chr(10))} lines, {len(_KERNEL.findall(text))} kernels; first analysis {cold[-1]:.0f} ms"
    )
    gc.freeze()  # As the server does when the first file has been analysed.
    rng = random.Random(options.seed)
    samples = []
    references = []
    for _ in range(options.edits):
        references.append(reference_work())
        samples.append(editor.change(edited(text, rng)))
        editor.change(text)
        gc.collect(1)  # As the server does when nobody types.
    for stage, values in zip(STAGES, zip(*samples, strict=True), strict=True):
        shares = "  ".join(f"p{share} {percentile(values, share / 100):6.1f}" for share in (50, 90, 95, 99))
        print(f"{stage:8} {shares}  max {max(values):6.1f} ms")
    slower = percentile(references, 0.5) / percentile(references, 0.01)
    print(f"this process ran {slower:.2f} times slower than in its best moments")


if __name__ == "__main__":
    main()

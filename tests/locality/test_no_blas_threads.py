"""Figures are added up on the caller's thread: BLAS shares long sums among threads that spin after each."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

_TASKS = Path("/proc/self/task")
_WORK = '''
import os
import time
from pathlib import Path
import numpy as np
from clmap_lsp.emulator.symbolic.classes import weighted_rows
from clmap_lsp.emulator.symbolic.runs import _weighed
from clmap_lsp.locality.address_totals import AddressTotals
from clmap_lsp.locality.entropy import entropy_levels

def others():
    """Return what each thread but this one has run, in nanoseconds."""
    return {it.name: int((it / "schedstat").read_text().split()[0]) for it in threads()}

def states():
    return [(it / "stat").read_text().rpartition(")")[2].split()[0] for it in threads()]

def threads():
    return [it for it in Path("/proc/self/task").iterdir() if it.name != str(os.getpid())]

def has_run(work):
    while any(it != "S" for it in states()):  # Until all sleep, however late they are given a processor.
        time.sleep(0.01)
    before = others()
    work()
    return others() != before

many = 200_000
numbers = np.arange(1, many + 1)
def figures():
    entropy_levels(numbers * 64, numbers)
    AddressTotals().take(numbers, 1024)
    _weighed(numbers * 4, numbers * 4 + 3, numbers, 2)
    weighted_rows(numbers, np.ones((many, 11)))

def blas():
    for _ in range(20):
        np.dot(np.ones(many), np.ones(many))

blas_runs = has_run(blas)
print(has_run(figures), blas_runs)
'''


@pytest.mark.skipif(not (_TASKS / str(os.getpid()) / "schedstat").exists(), reason="threads show no times")
def test_no_other_thread_runs_while_figures_are_added_up() -> None:
    environment = {name: text for name, text in os.environ.items() if not name.endswith("_NUM_THREADS")}
    done = subprocess.run(
        [sys.executable, "-c", _WORK], capture_output=True, text=True, check=True, env=environment
    )
    figures, blas = done.stdout.split()
    if blas == "False":
        pytest.skip("NumPy's BLAS has no threads here")
    assert figures == "False"

"""The corpus runner, on a repository of one file."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
KERNELS = """
#if KERNEL == 1
__kernel void first(__global float *a) { a[get_global_id(0)] = 1; }
#elif KERNEL == 2
__kernel void second(__global float *a, __global int *b) { a[b[get_global_id(0)]] = TS; }
#endif
"""


def run(folder, *options):
    source = folder / "CNugteren__myGEMM" / "src" / "k.cl"
    source.parent.mkdir(parents=True, exist_ok=True)
    source.write_text(KERNELS)
    command = [
        sys.executable,
        "-m",
        "benchmarks.corpus",
        "--repos",
        str(folder),
        "--only",
        "myGEMM",
        *options,
    ]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_every_branch_with_a_kernel_is_read(tmp_path):
    done = run(tmp_path)
    assert done.returncode == 0, done.stderr
    row = next(it for it in done.stdout.splitlines() if it.startswith("CNugteren/myGEMM")).split()
    files, kernels, parsed, lowered, known, by_data, named, crashes = row[1:9]
    assert (files, kernels, parsed, lowered) == ("1", "2", "100.0%", "100.0%")
    assert (known, by_data, named, crashes) == ("66.7%", "33.3%", "0.0%", "0")


def test_damaged_files_are_read(tmp_path):
    for seed in range(3):
        done = run(tmp_path, "--mutate", str(seed))
        assert done.returncode == 0, done.stdout


def test_a_missing_repository_is_said(tmp_path):
    command = [sys.executable, "-m", "benchmarks.corpus", "--repos", str(tmp_path), "--only", "gegl"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "not there" in done.stdout

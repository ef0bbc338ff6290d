"""`clmap-lsp fixes`, `clmap-lsp optimise` and `check --fix` from outside."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import warm
from warm import clmap

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"

NAIVE = """\
// clmap: global=2048,2048 local=16,16 N=2048 A=random(N*N) B=random(N*N,1) C=zeros(N*N)
__kernel void mm(__global const float *A, __global const float *B, __global float *C, const int N)
{
    const int row = get_global_id(0);
    const int col = get_global_id(1);
    float sum = 0.0f;
    for (int k = 0; k < N; k++)
        sum += A[row * N + k] * B[k * N + col];
    C[row * N + col] = sum;
}
"""


@pytest.fixture(scope="module")
def naive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("fixes") / "mm.cl"
    path.write_text(NAIVE)
    return path


def test_rewrites_of_one_title_are_told_apart_by_their_lines(tmp_path: Path) -> None:
    (tmp_path / "rows.cl").write_text(
        "// clmap: global=1024 local=64 x=random(65536) y=zeros(65536)\n"
        "__kernel void rows(__global const float *x, __global float *y)\n"
        "{\n    const int i = get_global_id(0);\n    float s = 0, p = 1;\n"
        "    for (int k = 0; k < 64; k++)\n        s += x[i * 64 + k];\n"
        "    for (int k = 0; k < 64; k++)\n        p *= x[i * 64 + k];\n    y[i] = s + p;\n}\n"
    )
    done = clmap("fixes", "rows.cl", cwd=tmp_path)
    loads = [it for it in done.stdout.splitlines() if it.startswith("Load `x` by vectors of 4")]
    assert [it.rpartition(", ")[2] for it in loads] == ["line 6]", "line 8]"]


def test_fixes_are_listed_in_the_promised_shape(naive: Path) -> None:
    done = clmap("fixes", str(naive), "--format", "json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["schema"] == 1 and document["kernel"] == "mm"
    by_kind = {it["kind"]: it for it in document["fixes"]}
    swap = by_kind["swap-dimensions"]
    assert swap["safety"] == "unsafe" and "global and local size" in swap["host_change"]
    assert swap["launch"]["global"] == [2048, 2048]
    assert "row = get_global_id(1)" in swap["text"]
    tiles = by_kind["stage-loop"]
    assert tiles["assumptions"][0] == "local size 16x16"
    vectors = by_kind["vectorise"]
    assert vectors["safety"] == "safe" and vectors["assumptions"] == []
    for it in document["fixes"]:
        assert len(it["title"]) < 70
        assert it["tested_on"], it["title"]
        assert set(it["predicted"]) == {"time_ratio", "sectors", "wavefronts"}
    declined = {it["kind"] for it in document["declined"]}
    assert "pad-local" in declined and all(it["why"] for it in document["declined"])


def test_fixes_for_people_say_what_they_were_tested_on(naive: Path) -> None:
    done = clmap("fixes", str(naive))
    assert "Swap dimensions: " in done.stdout and "x less traffic" in done.stdout
    assert "assumes: local size 16x16, A and C do not overlap" in done.stdout
    assert "tested on " in done.stdout and "declined" in done.stdout


def test_fix_climbs_the_ladder_of_a_large_launch(naive: Path) -> None:
    """The best rewrite is taken first, and the launch comment with it; what the host must do is said."""
    done = clmap("check", str(naive), "--diff", "--unsafe-fixes")
    assert "would be applied" in done.stderr
    assert "the host must change too: launch 16 work-items for every 128 results" in done.stderr
    assert "+    float sums[8][8] = {{0}};" in done.stdout
    assert "+// clmap: global=256,256 local=16,16" in done.stdout


def test_optimise_ends_with_the_least_traffic(naive: Path) -> None:
    done = clmap("optimise", str(naive), "--format", "json", "--budget", "60")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    steps = document["steps"]
    assert document["best"] == len(steps) - 1 >= 1
    assert steps[0]["kind"] == "original" and steps[0]["text"] == NAIVE
    costs = [it["predicted"]["sectors"] + it["predicted"]["wavefronts"] for it in steps]
    assert min(costs) < costs[0] / 5
    assert all(it["measured"] is None for it in steps)


def test_an_interrupted_search_leaves_the_best_so_far_and_the_next_goes_on(
    naive: Path, tmp_path: Path
) -> None:
    """The first thing that is better is kept with what was learnt: then the search is ended from outside."""
    kept = tmp_path / "cache"
    command = [sys.executable, "-m", "clmap_lsp", "optimise", str(naive), "--device", "nvidia-h200"]
    environment = {**os.environ, "CLMAP_CACHE_DIR": str(kept)}
    search = subprocess.Popen(
        [*command, "--budget", "600"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
    while not any(kept.rglob("*.json")) and search.poll() is None:
        time.sleep(0.05)
    search.send_signal(signal.SIGINT)
    said, error = search.communicate(timeout=120)
    assert search.returncode == 0, error
    assert "1. " in said and "x faster in all, best of " in said
    again = clmap(*command[3:], "--budget", "60", environment=environment)
    assert again.returncode == 0 and "results a work-item from tiles" in again.stdout
    (notes,) = kept.rglob("*.json")
    assert json.loads(notes.read_text())["value"]["notes"]


@pytest.mark.parametrize("command", ["fixes", "optimise"])
def test_bad_input_is_one_line(command: str, tmp_path: Path) -> None:
    (tmp_path / "two.cl").write_text("__kernel void a(void) {}\n__kernel void b(void) {}\n")
    for args, words in (
        (("missing.cl",), "missing.cl"),
        (("two.cl",), "--kernel NAME; there are: a, b"),
        (("two.cl", "--kernel", "c"), 'no kernel "c"'),
    ):
        done = clmap(command, *args, cwd=tmp_path)
        assert done.returncode == 2 and words in done.stderr and done.stderr.count("\n") == 1


def test_without_a_launch_rewrites_are_weighed_at_a_real_size(tmp_path: Path) -> None:
    """A guess for typing has 256x256 work-items, where the launch itself is most of the time."""
    (tmp_path / "mm.cl").write_text(NAIVE.partition("\n")[2])
    done = clmap("fixes", "mm.cl", "--device", "nvidia-h200", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "mm on 4096x4096 in groups of 16x16, N=4096 (inferred)" in done.stdout
    best = done.stdout.split("\n\n")[1]
    assert best.startswith("Compute 8 x 8 results a work-item from tiles:"), best
    assert "predicted " in best and "tested on " in best
    # What the kernel gives no occasion for is named, and not argued one by one.
    assert "no occasion for " in done.stdout and "nothing in the kernel fits" not in done.stdout


def test_a_large_launch_with_counters_that_data_choose_is_tested_shrunk(tmp_path: Path) -> None:
    """The counters were taken to be as many as work-items, and the launch refused for its memory."""
    (tmp_path / "hist.cl").write_text(
        "// clmap: global=16777216 local=256 n=16777216\n"
        "__kernel void hist(__global const uchar *image, __global uint *bins, uint n) {\n"
        "    uint i = get_global_id(0);\n    if (i < n) atomic_inc(&bins[image[i]]);\n}\n"
    )
    done = clmap("fixes", "hist.cl", "--device", "nvidia-h200", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Count `bins` in local memory" in done.stdout
    assert "bins has 256 elements" in done.stdout


def test_traffic_that_is_not_counted_is_said_to_be_unknown(tmp_path: Path) -> None:
    (tmp_path / "nearest.cl").write_text(
        "// clmap: global=4096 local=64 n=4096 d=128\n"
        "__kernel void nearest(__global const float *p, __global float *best, int n, int d) {\n"
        "    int i = get_global_id(0);\n    float m = FLT_MAX;\n"
        "    for (int j = 0; j < n; j++) {\n        if (j == i) continue;\n        float s = 0.0f;\n"
        "        for (int k = 0; k < d; k++) { float t = p[i * d + k] - p[j * d + k]; s += t * t; }\n"
        "        m = fmin(m, s);\n    }\n    best[i] = sqrt(m);\n}\n"
    )
    search = ("optimise", "nearest.cl", "--device", "nvidia-h200", "--budget", "4")
    said = clmap(*search, cwd=tmp_path).stdout
    assert "   traffic unknown: " in said and " 0 sectors" not in said
    listed = clmap(*search, "--format", "json", cwd=tmp_path).stdout
    assert json.loads(listed)["steps"][0]["predicted"]["sectors"] is None


def test_why_no_time_decides_is_said(tmp_path: Path) -> None:
    (tmp_path / "blur.cl").write_text(
        "// clmap: global=256,256 local=16,16 w=256\n"
        "__kernel void blur(__global const float *in, __global float *out, int w) {\n"
        "    int x = get_global_id(0) + 1, y = get_global_id(1) + 1;\n    float s = 0.0f;\n"
        "    for (int j = -1; j <= 1; j++)\n        for (int i = -1; i <= 1; i++)\n"
        "            s += in[(y + j) * (w + 2) + x + i];\n    out[y * (w + 2) + x] = s;\n}\n"
    )
    said = clmap("fixes", "blur.cl", "--device", "nvidia-hopper", cwd=tmp_path).stdout
    assert "is a matter of time, which is not known: times differ between products" in said
    assert "matter of time" not in clmap("fixes", "blur.cl", "--device", "nvidia-h200", cwd=tmp_path).stdout


def test_a_diff_of_a_file_with_crlf_applies(tmp_path: Path) -> None:
    """Its line ends are part of it: they were spelled out, and no tool could apply it."""
    kernel = NAIVE.replace("2048", "256").replace("\n", "\r\n")
    for name in ("fixed", "patched"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "mm.cl").write_bytes(kernel.encode())
    options = ("check", "mm.cl", "--unsafe-fixes", "--device", "nvidia-hopper")
    made = warm.run(*options, "--diff", cwd=tmp_path / "patched")
    assert b"\\x0d" not in made.stdout
    subprocess.run(
        ["git", "apply", "-p0", "--whitespace=nowarn"],
        cwd=tmp_path / "patched",
        input=made.stdout,
        check=True,
    )
    done = clmap(*options, "--fix", cwd=tmp_path / "fixed")
    assert '" assumes ' in done.stderr
    fixed, patched = ((tmp_path / it / "mm.cl").read_bytes() for it in ("fixed", "patched"))
    assert fixed != kernel.encode()
    assert patched == fixed
    assert fixed.count(b"\n") == fixed.count(b"\r\n")


IN_PYTHON = '''\
import numpy as np
import pyopencl as cl

TEXT = """
#ifndef ROWS
#define ROWS 64
#endif
__kernel void doubled(__global const float *in, __global float *out)
{
    const int row = get_global_id(0), column = get_global_id(1);
    out[row * ROWS + column] = 2.0f * in[row * ROWS + column];
}
"""
context = cl.create_some_context()
queue = cl.CommandQueue(context)
program = cl.Program(context, TEXT).build()
a = cl.Buffer(context, cl.mem_flags.READ_WRITE, 4 * 64 * 64)
program.doubled(queue, (64, 64), (16, 16), a, a)
'''


def test_the_call_of_a_host_calls_no_function_of_the_program(tmp_path: Path) -> None:
    (tmp_path / "run.py").write_text(IN_PYTHON)
    done = clmap("fixes", "run.py", "--format", "json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    fixes = {it["kind"]: it for it in json.loads(done.stdout)["fixes"]}
    assert "row = get_global_id(1)" in fixes["swap-dimensions"]["text"]


IN_C = """\
#include <CL/cl.h>
#define WIDTH 7 /* of the host */
static const char *text =
"__kernel void doubled(__global const float *in, __global float *out, const int width)\\n"
"{\\n"
"    const int row = get_global_id(0);\\n"
"    const int column = get_global_id(1);\\n"
"    out[row * width + column] = 2.0f * in[row * width + column];\\n"
"}\\n";
static float doubled(float a) { return 2 * a; }
float twice(void) { return doubled(WIDTH); }
"""


def test_lines_that_are_strings_get_what_changes_words_and_the_reason_for_what_is_missing(
    tmp_path: Path,
) -> None:
    (tmp_path / "host.c").write_text(IN_C)
    done = clmap(
        "fixes", "host.c", "--global", "64,64", "--local", "16,16", "--arg", "width=64", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert "Swap dimensions" in done.stdout
    words = " ".join(done.stdout.split())
    assert words.count("the kernel's lines are strings of a host file") == 1

"""The commands from outside: figures, shapes, exit codes."""

from __future__ import annotations

import json
import os
import pty
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from clmap_command import FIXTURES, SIMPLE, clmap

SCHEMAS = Path(__file__).parents[1] / "data" / "schemas"


def validate(document: Any, name: str) -> None:
    schema = json.loads((SCHEMAS / name).read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema).validate(document)


def analysed(*arguments: str) -> dict[str, Any]:
    done = clmap("analyze", *arguments, "--format", "json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    validate(document, "analyze.json")
    return {it["name"]: it for file in document["files"] for it in file["kernels"]}


def test_matrix_multiply_has_the_figures_of_hardware() -> None:
    """256x256 in groups of 16x16: the counters of an NVIDIA H200 say the same."""
    kernels = analysed(SIMPLE, "--device", "nvidia-hopper", "--global", "256,256", "--local", "16,16")
    simple, swapped = kernels["mm_simple"]["totals"], kernels["mm_simple_swapped"]["totals"]
    assert simple["global_load"] == {"requests": 1048576, "sectors": 8912896}
    assert simple["global_store"] == {"requests": 2048, "sectors": 32768}
    assert swapped["global_load"] == {"requests": 1048576, "sectors": 2097152}
    assert swapped["global_store"] == {"requests": 2048, "sectors": 8192}
    loads = [it for it in kernels["mm_simple"]["accesses"] if it["op"] == "load"]
    assert sum(it["per_request"]["mean"] for it in loads) / len(loads) == 8.5


def test_an_access_says_what_the_contract_promises() -> None:
    access = next(it for it in analysed(SIMPLE)["mm_simple_swapped"]["accesses"] if it["op"] == "store")
    assert access["buffer"] == "C"
    assert access["index"] == "row*N + column"
    assert access["matrix"] == [[1, 0], [0, 1]]
    assert access["columns"][:2] == ["get_global_id(1)", "get_global_id(0)"]
    assert (access["emap"], access["imap"], access["map"]) == (8, "single", "MAP-108")
    assert access["per_request"] == {"min": 4, "mean": 4.0, "max": 4, "ideal": 4, "unit": "sectors"}
    assert "4 sectors if N % 8 == 0" in access["in_general"]
    assert access["totals"]["sectors"] == 8192
    assert access["method"] == "exact"


def test_members_are_named_and_what_is_not_known_is_null(tmp_path: Path) -> None:
    (tmp_path / "k.cl").write_text(
        "typedef struct { float x; int n[3]; } P;\n__kernel void k(__global P *p, __global const int *at)"
        " { p[get_global_id(0)].n[2] = 1; p[at[get_global_id(0)]].x = 2.0f; }\n"
    )
    accesses = analysed(str(tmp_path / "k.cl"))["k"]["accesses"]
    whole, index, gather = (
        next(it for it in accesses if it["place"].startswith(text)) for text in ("p[g", "a", "p[a")
    )
    assert whole["place"] == "p[get_global_id(0)].n[2]" and gather["place"] == "p[at[get_global_id(0)]].x"
    assert whole["totals"]["requests"] == index["totals"]["requests"] == 128
    assert gather["method"] == "unknown"
    assert gather["totals"] == dict.fromkeys(("instructions", "requests", "sectors", "wavefronts"))


def test_every_fixture_is_analysed_in_the_promised_shape() -> None:
    kernels = analysed(str(FIXTURES))
    assert len(kernels) > 20


def test_findings_as_json_have_the_promised_shape() -> None:
    done = clmap("--check", str(FIXTURES), "--format", "json", "--statistics", "--hints")
    assert done.returncode == 1
    document = json.loads(done.stdout)
    validate(document, "check.json")
    assert sum(it["count"] for it in document["statistics"]) == len(document["findings"])


def test_an_emulated_launch_has_the_promised_shape() -> None:
    done = clmap(
        *("emulate", str(FIXTURES / "transpose" / "naive.cl"), "--kernel", "transpose_naive"),
        *(
            "--global",
            "32,32",
            "--local",
            "8,8",
            "--arg",
            "N=32",
            "--arg",
            "in=iota(N*N)",
            "--format",
            "json",
        ),
    )
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    validate(document, "emulate.json")
    assert document["buffers"]["out"]["first"] == [0, 32, 64, 96, 128, 160, 192, 224]
    assert document["launch"]["args"]["N"] == 32


def test_emulated_faults_are_exit_code_1(tmp_path: Path) -> None:
    path = tmp_path / "oob.cl"
    path.write_text(
        "// clmap: global=64 local=64 x=zeros(32)\n"
        "__kernel void f(__global float *x) { x[get_global_id(0)] = 1.0f; }\n"
    )
    done = clmap("emulate", str(path), "--format", "json")
    assert done.returncode == 1
    document = json.loads(done.stdout)
    validate(document, "emulate.json")
    assert document["faults"][0]["kind"] == "out-of-bounds-write"


@pytest.mark.parametrize(
    ("fail_on", "code"), [("error", 0), ("warning", 1), ("information", 1), ("never", 0)]
)
def test_fail_on(fail_on: str, code: int) -> None:
    done = clmap("--check", SIMPLE, "--fail-on", fail_on, "--format", "concise")
    assert done.returncode == code
    assert "CM104" in done.stdout


def test_nothing_found_is_exit_code_0(tmp_path: Path) -> None:
    path = tmp_path / "fine.cl"
    path.write_text("__kernel void f(__global float *x) { x[get_global_id(0)] = 1.0f; }\n")
    done = clmap("--check", str(path))
    assert (done.returncode, done.stdout) == (
        0,
        "Nothing found: 1 kernel in 1 file; not emulated, --emulate looks for races.\n",
    )


def test_select_ignore_and_statistics() -> None:
    ladder = str(FIXTURES / "matmul")
    only = clmap("--check", ladder, "--select", "CM201", "--format", "concise").stdout.splitlines()
    assert only
    assert all(" CM201 " in it for it in only)
    rest = clmap("--check", ladder, "--ignore", "bank-conflict", "--format", "concise").stdout
    assert "CM201" not in rest
    counted = clmap("--check", ladder, "--select", "CM201", "--format", "concise", "--statistics").stdout
    assert counted.splitlines()[-1].split() == [str(len(only)), "CM201", "bank-conflict"]


def test_standard_input() -> None:
    text = "__kernel void f(__global float *x) { x[get_global_id(0) * 32] = 1.0f; }\n"
    done = clmap("check", "-", "--stdin-filename", "k.cl", "--format", "concise", stdin=text)
    assert done.returncode == 1
    assert done.stdout.startswith("k.cl:1:38: CM102 ")
    assert clmap("check", "-", "--format", "concise", stdin=text).stdout.startswith("<stdin>:1:38: ")


def test_build_options_reach_the_preprocessor(tmp_path: Path) -> None:
    path = tmp_path / "k.cl"
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "step.h").write_text("#define STEP (FACTOR * 16)\n")
    path.write_text(
        '#include "step.h"\n__kernel void f(__global float *x) { x[get_global_id(0) * STEP] = 1.0f; }\n'
    )
    options = ["-I", str(tmp_path / "include"), "-DFACTOR=2", "-cl-std=CL1.2", "-cl-mad-enable"]
    done = clmap("check", str(path), *options, "--format", "json")
    (finding,) = json.loads(done.stdout)["findings"]
    assert (finding["code"], finding["data"]["stride_bytes"]) == ("CM102", 128)


def test_a_configuration_beside_the_file_holds_for_it(tmp_path: Path) -> None:
    (tmp_path / "clmap.toml").write_text(
        'device = "nvidia-hopper"\n[build]\ndefines = {STEP = 8}\n[launch.f]\nglobal = 512\nlocal = 64\n'
    )
    (tmp_path / "k.cl").write_text(
        "__kernel void f(__global float *x) { x[get_global_id(0) * STEP] = 1.0f; }\n"
    )
    done = clmap("check", str(tmp_path), "--format", "json")
    (finding,) = json.loads(done.stdout)["findings"]
    assert "512 in groups of 64 (launch configured) on nvidia-hopper" in finding["message"]
    assert finding["data"]["stride_bytes"] == 32


def test_launch_options_are_given(tmp_path: Path) -> None:
    kernels = analysed(
        SIMPLE, "--kernel", "mm_simple", "--global", "64,32", "--local", "32,8", "--arg", "N=64"
    )
    assert list(kernels) == ["mm_simple"]
    launch = kernels["mm_simple"]["launch"]
    assert (launch["global"], launch["local"], launch["args"]["N"]) == ([64, 32], [32, 8], 64)
    assert launch["origin"] == "given"


def test_fix_diff_and_fix(tmp_path: Path) -> None:
    path = tmp_path / "k.cl"
    before = (
        "__kernel void f(__global float *x) {\n"
        "    // clmap: ignore[CM101] long gone\n"
        "    x[get_global_id(0)] = 1.0f; // clmap: ignore[CM102, CM201]\n"
        "}\n"
    )
    path.write_text(before)
    shown = clmap("check", str(path), "--diff")
    assert "-    // clmap: ignore[CM101] long gone\n" in shown.stdout
    assert path.read_text() == before
    done = clmap("check", str(path), "--fix")
    assert done.returncode == 0
    assert path.read_text() == ("__kernel void f(__global float *x) {\n    x[get_global_id(0)] = 1.0f;\n}\n")


def test_fix_writes_what_the_emulator_verified(tmp_path: Path) -> None:
    path = tmp_path / "tiled.cl"
    shutil.copy(FIXTURES / "transpose" / "tiled.cl", path)
    assert "^ ly" in clmap("check", str(path), "--diff", "--unsafe-fixes").stdout
    assert "CM201" in clmap("check", str(path), "--format", "concise").stdout
    before = emulated(path)
    done = clmap("check", str(path), "--fix", "--unsafe-fixes", "--format", "json")
    assert json.loads(done.stdout)["findings"] == []
    assert done.stderr == "1 fix applied\n"
    assert emulated(path) == before


def emulated(path: Path) -> dict[str, str]:
    """Return the fingerprints of a kernel's buffers after its launch."""
    document = json.loads(clmap("emulate", str(path), "--format", "json").stdout)
    return {name: it["sha256"] for name, it in document["buffers"].items()}


def test_a_sim_file_beside_or_named_gives_the_launch(tmp_path: Path) -> None:
    path = tmp_path / "k.cl"
    path.write_text("__kernel void f(__global float *x, const int n) { x[get_global_id(0) * n] = 1.0f; }\n")
    text = "k.cl\nf\n256 1 1\n64 1 1\n<size=32768 fill=0>\n<size=4> 16\n"
    path.with_suffix(".sim").write_text(text)
    launch = analysed(str(path))["f"]["launch"]
    assert (launch["global"][0], launch["local"][0], launch["args"]["n"]) == (256, 64, 16)
    assert launch["origin"] == "configured"
    named = tmp_path / "other.sim"
    named.write_text(text.replace("256", "512"))
    launch = analysed(str(path), "--sim", str(named), "--arg", "n=4")["f"]["launch"]
    assert (launch["global"][0], launch["args"]["n"], launch["origin"]) == (512, 4, "given")


def test_emulate_adds_faults_to_the_findings(tmp_path: Path) -> None:
    path = tmp_path / "oob.cl"
    path.write_text(
        "// clmap: global=64 local=64 x=zeros(32)\n"
        "__kernel void f(__global float *x) { x[get_global_id(0)] = 1.0f; }\n"
        "// clmap: global=64 local=64 x=file:nowhere.bin\n"
        "__kernel void g(__global float *x) { x[get_global_id(0)] = 1.0f; }\n"
    )
    assert clmap("check", str(path)).returncode == 0
    done = clmap("check", str(path), "--emulate", "--format", "concise")
    assert done.returncode == 1
    assert [it.split()[1] for it in done.stdout.splitlines()] == ["CM301", "CM007"]


def test_fix_keeps_line_ends_and_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "k.cl"
    path.write_bytes(
        b"\xef\xbb\xbf__kernel void f(__global float *x) {\r\n"
        b"    x[get_global_id(0)] = 1.0f; // clmap: ignore[CM102]\r\n}\r\n"
    )
    assert clmap("check", str(path), "--fix").returncode == 0
    assert path.read_bytes() == (
        b"\xef\xbb\xbf__kernel void f(__global float *x) {\r\n    x[get_global_id(0)] = 1.0f;\r\n}\r\n"
    )


def test_baseline(tmp_path: Path) -> None:
    path, base = tmp_path / "k.cl", tmp_path / "base.json"
    shutil.copy(SIMPLE, path)
    assert clmap("check", str(path), "--write-baseline", str(base)).returncode == 0
    assert clmap("check", str(path), "--baseline", str(base)).returncode == 0
    path.write_text(
        "// one more line\n"
        + path.read_text()
        + "__kernel void g(__global int *x){x[get_global_id(0)*99]=1;}\n"
    )
    done = clmap("check", str(path), "--baseline", str(base), "--format", "concise")
    assert done.returncode == 1
    assert [it.split()[1] for it in done.stdout.splitlines()] == ["CM102"]


def test_many_files_in_parallel_are_in_order_and_the_same_as_one_by_one(tmp_path: Path) -> None:
    text = Path(SIMPLE).read_text(encoding="utf-8")
    for at in range(30):  # No two alike: what copies share is said once.
        (tmp_path / f"k{at:02d}.cl").write_text(text.replace("mm_simple", f"mm{at}"), encoding="utf-8")
    (tmp_path / ".hidden").mkdir()
    shutil.copy(SIMPLE, tmp_path / ".hidden" / "no.cl")
    together = clmap("--check", str(tmp_path), "--format", "concise", "--jobs", "2")
    alone = clmap("--check", str(tmp_path), "--format", "concise", "--jobs", "1")
    assert together.stdout == alone.stdout
    assert together.stderr == alone.stderr == ""
    paths = [it.split(":")[0] for it in together.stdout.splitlines()]
    assert paths == sorted(paths)
    assert len(set(paths)) == 30


def test_regressions_are_found_between_two_analyses(tmp_path: Path) -> None:
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    path = tmp_path / "k.cl"
    text = (
        "// clmap: global=1024 local=128 x=zeros(32768)\n"
        "__kernel void f(__global float *x) {{ x[get_global_id(0) * {}] = 1.0f; }}\n"
    )
    for step, out in ((1, old), (2, new)):
        path.write_text(text.format(step))
        out.write_text(clmap("analyze", str(path), "--format", "json").stdout)
    worse = clmap("diff", str(old), str(new))
    assert worse.returncode == 1
    assert "global_store.sectors 128 -> 256 (+100.0 %)" in worse.stdout
    assert clmap("diff", str(old), str(new), "--threshold", "100").returncode == 0
    assert clmap("diff", str(new), str(old)).returncode == 0


def test_help_version_rules_explain_and_devices() -> None:
    assert clmap("--version").stdout.startswith("clmap-lsp ")
    text = clmap("--help").stdout
    assert "examples:" in text
    for command in ("check", "analyze", "emulate", "explain", "rules", "devices", "diff"):
        assert command in text
        done = clmap(command, "--help")
        assert done.returncode == 0
        assert "example" in done.stdout
    assert "CM101  uncoalesced-load" in clmap("rules").stdout
    assert clmap("explain", "uncoalesced-load").stdout == clmap("explain", "cm101").stdout
    assert "## Why is this bad?" in clmap("explain", "CM101").stdout
    rules = json.loads(clmap("rules", "--format", "json").stdout)["rules"]
    assert {"code", "name", "severity", "markdown", "url"} <= set(rules[0])
    assert "generic-gpu" in clmap("devices").stdout
    facts = json.loads(clmap("devices", "nvidia-hopper", "--format", "json").stdout)["devices"][0]
    assert facts["simd_width"] == 32


def on_a_terminal(*arguments: str, **names: str) -> str:
    """Run with stdout and stderr on a pseudo-terminal and return what it showed."""
    leader, follower = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "clmap_lsp", *arguments],
        stdin=follower,
        stdout=follower,
        stderr=follower,
        env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "100", "NO_COLOR": "", **names},
    ) as process:
        os.close(follower)
        shown = b""
        while True:
            try:
                data = os.read(leader, 65536)
            except OSError:
                break
            if not data:
                break
            shown += data
        process.wait(timeout=60)
    os.close(leader)
    return shown.decode()


def test_a_terminal_gets_colour_links_and_progress(tmp_path: Path) -> None:
    for at in range(14):
        shutil.copy(SIMPLE, tmp_path / f"k{at:02d}.cl")
    shown = on_a_terminal("--check", str(tmp_path))
    assert "checking" in shown
    assert "14/14" in shown
    assert "\x1b[1;33m" in shown
    assert "\x1b]8;" in shown
    assert "^^^" in shown


def test_a_rule_is_explained_as_wide_as_the_terminal() -> None:
    shown = on_a_terminal("explain", "CM201", COLUMNS="60").replace("\r\n", "\n")
    assert "\x1b[1;4mbank-conflict (CM201)\x1b[0m" in shown
    assert "```" not in shown
    prose = [it for it in shown.splitlines() if it and not it.startswith("    ")]
    assert max(len(re.sub(r"\x1b\[[\d;]*m", "", it)) for it in prose) <= 60
    words = [re.sub(r"\x1b\[[\d;]*m", "", it).split() for it in (shown, clmap("explain", "CM201").stdout)]
    left = [it for it in words[1] if it not in ("#", "##") and not it.startswith("```")]
    assert words[0] == left


@pytest.mark.parametrize("names", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_a_terminal_without_colours_gets_plain_text(names: dict[str, str]) -> None:
    assert "\x1b" not in on_a_terminal("explain", "CM201", **names)
    assert "\x1b" not in on_a_terminal("--check", SIMPLE, **names)


def test_a_pipe_gets_neither_colour_nor_progress() -> None:
    done = clmap("--check", str(FIXTURES))
    assert "\x1b" not in done.stdout
    assert done.stderr == ""
    assert "\x1b[" in clmap("--check", SIMPLE, "--color", "always").stdout


def test_a_reader_that_leaves_is_no_error() -> None:
    command = f"'{sys.executable}' -m clmap_lsp --check '{FIXTURES}' | head -n 1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=120, check=False)
    assert done.stderr == ""
    assert done.stdout.count("\n") == 1


def test_watch_checks_again_when_a_file_changes(tmp_path: Path) -> None:
    path = tmp_path / "k.cl"
    text = "__kernel void f(__global float *x) { x[get_global_id(0)] = 1.0f; }\n"
    path.write_text(text)
    command = ["check", str(path), "--watch", "--format", "concise"]
    with subprocess.Popen(
        [sys.executable, "-u", "-m", "clmap_lsp", *command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdout is not None
        os.set_blocking(process.stdout.fileno(), False)
        shown = b""
        # The file is changed again and again: the first look at it may come after the first change.
        for at in range(200):
            path.write_text(text.replace("(0)", "(0) * 32") + "// " + "x" * at)
            time.sleep(0.2)
            shown += process.stdout.read() or b""
            if b"CM102" in shown and at > 5:
                break
        process.kill()
    assert b"CM102" in shown


NEEDLESS = (
    *("pygls", "lsprotocol", "rich", "pyopencl", "llvmlite", "sqlite3", "asyncio", "cattrs", "difflib"),
    *("numpy.random", "numpy.ma", "tree_sitter_cpp", "tree_sitter_python", "clmap_lsp.hosts.tree"),
    *("clmap_lsp.emulator.jit", "clmap_lsp.emulator.symbolic.measure", "clmap_lsp.opencl_device"),
)


NEEDLESS_WITHOUT_FINDINGS = (
    *("platformdirs", "clmap_lsp.time", "clmap_lsp.launch.roomy", "clmap_lsp.workbench.holding"),
    *("clmap_lsp.workbench.compiling", "clmap_lsp.compiled"),
)


def after_a_check(path: Path, shown: str) -> str:
    """Return what an expression says in a process that has checked a file, behind the exit code."""
    script = (
        "import os, sys\n"
        "from clmap_lsp.cli import main\n"
        f"code = main(['--check', {str(path)!r}, '--format', 'concise'])\n"
        f"shown = {shown}\n"
        "sys.exit(f'{code} {shown}')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False
    )
    return done.stderr.rstrip()


def test_a_check_imports_what_it_needs(tmp_path: Path) -> None:
    """Not the server's libraries, a driver or LLVM, nor readers of host code where there is none."""
    path = tmp_path / "simple.cl"
    path.write_text(Path(SIMPLE).read_text(encoding="utf-8"), encoding="utf-8")
    assert after_a_check(path, f"[it for it in {NEEDLESS} if it in sys.modules]") == "1 []"


def test_a_check_that_finds_nothing_does_not_import_what_judges_findings(tmp_path: Path) -> None:
    path = tmp_path / "fill.cl"
    path.write_text("__kernel void fill(__global float *x) { x[get_global_id(0)] = 1.0f; }\n")
    needless = NEEDLESS + NEEDLESS_WITHOUT_FINDINGS
    assert after_a_check(path, f"[it for it in {needless} if it in sys.modules]") == "0 []"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_a_check_starts_no_threads_for_products_of_matrices(tmp_path: Path) -> None:
    """NumPy would start one for each core as it is loaded."""
    path = tmp_path / "simple.cl"
    path.write_text(Path(SIMPLE).read_text(encoding="utf-8"), encoding="utf-8")
    assert after_a_check(path, "'numpy' in sys.modules, len(os.listdir('/proc/self/task'))") == "1 (True, 1)"


def test_a_global_offset_is_known_to_all(tmp_path: Path) -> None:
    """The inferred buffer is as long as the ids with their offset reach, so no store is out of bounds."""
    (tmp_path / "fill.cl").write_text("__kernel void fill(__global float *x) { x[get_global_id(0)] = 1.0f; }")
    launch = "[launch.fill]\nglobal = [256]\nlocal = [64]\noffset = [1024]\n"
    (tmp_path / "clmap.toml").write_text(launch)
    done = clmap("check", "fill.cl", "--emulate", cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    assert "CM301" not in done.stdout
    done = clmap("analyze", "fill.cl", "--format", "json", cwd=tmp_path)
    (kernel,) = json.loads(done.stdout)["files"][0]["kernels"]
    assert kernel["launch"]["args"] == {"x": "zeros(1280)"}
    assert kernel["launch"]["offset"] == [1024]


def test_what_the_host_must_change_is_said_of_fixes_that_were_applied(tmp_path: Path) -> None:
    """The finding that a swap answers is gone by then, and with it where this used to be said."""
    path = tmp_path / "mm.cl"
    path.write_text("""\
// clmap: global=48,80 local=8,16 M=48 N=80 K=32 A=random(1536) B=random(2560) C=zeros(3840)
__kernel void mm(__global const float *A, __global const float *B, __global float *C,
                 const int M, const int N, const int K)
{
    const int row = get_global_id(0);
    const int col = get_global_id(1);
    float sum = 0.0f;
    for (int k = 0; k < K; k++)
        sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;
}
""")
    assert "the host must change" not in clmap("check", str(path), "--diff").stderr  # Nothing is swapped.
    done = clmap("check", str(path), "--diff", "--unsafe-fixes")
    assert "the host must change too: swap the first two entries" in done.stderr
    done = clmap("check", str(path), "--fix", "--unsafe-fixes", "--format", "json")
    assert "the host must change too: swap the first two entries" in done.stderr
    applied = json.loads(done.stdout)["applied"]
    assert any("swap the first two entries" in str(it["host_change"]) for it in applied)
    assert "global=80,48 local=16,8" in path.read_text()  # The launch comment is the launch's place.


def test_a_sim_file_beside_that_cannot_be_used_is_a_launch_problem(tmp_path: Path) -> None:
    path = tmp_path / "k.cl"
    path.write_text("__kernel void f(__global float *x) { x[get_global_id(0)] = 1.0f; }\n")
    path.with_suffix(".sim").write_text("k.cl\nf\n256\n")
    done = clmap("check", str(path), "--format", "concise")
    assert done.returncode == 1
    assert "CM007" in done.stdout and "k.sim" in done.stdout

"""The Python API as a notebook uses it."""

from __future__ import annotations

import copy
import itertools
import json
import pickle
import re
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from xml.etree import ElementTree

import numpy as np
import pytest

import clmap_lsp
from clmap_lsp.cli import main
from clmap_lsp.errors import UsageError

NAIVE = """\
__kernel void mm(__global const float *A, __global const float *B, __global float *C, const int N)
{
    int r = get_global_id(0), c = get_global_id(1);
    float sum = 0.0f;
    for (int k = 0; k < N; k++)
        sum += B[k * N + c] * A[r * N + k];
    C[r * N + c] = sum;
}
"""
LAUNCH = {"global_size": (256, 256), "local_size": (16, 16), "args": {"N": 256}}


@pytest.fixture
def run_cli(tmp_path, capsys):
    """Returns the JSON of a command on the naive kernel with its launch."""

    def run(command, text, *options):
        path = tmp_path / "k.cl"
        path.write_text(text)
        main([command, str(path), "--global", "256,256", "--local", "16,16", "--arg", "N=256", *options])
        return json.loads(capsys.readouterr().out)

    return run


def test_analyze_gives_the_figures_of_the_command_line():
    report = clmap_lsp.analyze(NAIVE, device="nvidia-hopper", **LAUNCH)  # type: ignore[arg-type]
    kernel = report["mm"]
    assert kernel.analysis.totals.global_load.sectors == 8_912_896
    assert kernel.analysis.totals.global_store.sectors == 32_768
    assert {it.code for it in kernel.findings} >= {"CM104"}
    assert [it["buffer"] for it in kernel.accesses] == ["B", "A", "C"]
    assert report.to_dict()["files"][0]["kernels"][0]["name"] == "mm"


def test_reports_show_themselves_as_tables_and_escape_what_they_show():
    report = clmap_lsp.analyze(NAIVE, **LAUNCH)  # type: ignore[arg-type]
    page = report._repr_html_()
    assert "<table>" in page and "B[k*N + c]" in page and "256x256" in page
    odd = clmap_lsp.analyze("__kernel void f(__global int *a) { if (get_global_id(0) < 8) a[0 & 1] = 1; }")
    assert "<script" not in odd._repr_html_()


def test_emulate_runs_the_kernel():
    source = "__kernel void twice(__global int *a) { int i = get_global_id(0); a[i] = 2 * a[i]; }"
    run = clmap_lsp.emulate(source, global_size=64, local_size=16, args={"a": "iota(64)"})
    assert run.buffer("a").view(np.int32).tolist() == [2 * i for i in range(64)]
    assert len(run.psl) == 11 and run.faults == ()
    assert "PSL" in run._repr_html_()


def test_a_run_that_was_cut_short_says_so():
    """It showed "no faults", as one does whose work-groups all ended."""
    endless = "__kernel void f(__global int *a) { while (1) a[get_global_id(0)] += 1; }"
    run = clmap_lsp.emulate(endless, global_size=64, local_size=16, time_limit_s=0.01)
    assert (run.method, run.faults) == ("truncated", ())
    assert repr(run).startswith("<truncated emulation of f: 0 faults in 0 of 4 work-groups, ")
    assert "no faults in 0 of 4 work-groups" in run._repr_html_() and run.notes[-1] in run._repr_html_()
    whole = clmap_lsp.emulate(endless.replace("while (1) ", ""), global_size=64, local_size=16)
    assert "of 4 work-groups" not in repr(whole) and "<p>no faults</p>" in whole._repr_html_()


def _first_kernel(source):
    return clmap_lsp.analyze(source, **LAUNCH)["mm"].to_dict()["name"]


def test_results_stay_in_their_process_and_say_what_can_be_sent():
    """Pools of processes said "cannot pickle 'tree_sitter.Tree' object"."""
    report = clmap_lsp.analyze(NAIVE, **LAUNCH)  # type: ignore[arg-type]
    run = clmap_lsp.emulate(NAIVE, global_size=16, local_size=16, args={"N": 16})
    (fix, *_) = report["mm"].fixes()
    for it in (report, report["mm"], run):
        with pytest.raises(UsageError, match=r"return its to_dict\(\)"):
            pickle.dumps(it)
        assert copy.copy(it) is it and copy.deepcopy({"kept": it})["kept"] is it
    with pytest.raises(UsageError, match="return its title, source and diff"):
        pickle.dumps(fix)
    assert pickle.loads(pickle.dumps(report["mm"].picture("A"))) == report["mm"].picture("A")
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        assert list(pool.map(_first_kernel, [NAIVE])) == ["mm"]


def test_outputs_that_were_not_made_have_a_reason():
    run = clmap_lsp.emulate(NAIVE, **{**LAUNCH, "args": {"N": 256, "A": "random(10**12)"}})  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="nothing was run"):
        run.buffer("C")


def test_a_launch_that_needs_more_memory_can_be_given_it():
    launch = {"global_size": 64, "local_size": 64, "args": {"n": 1, "x": "zeros(4000000)"}}
    with pytest.raises(UsageError, match="raise the memory limit"):
        clmap_lsp.emulate(FILL, memory_limit_mib=8, **launch)
    assert clmap_lsp.emulate(FILL, memory_limit_mib=512, **launch).buffer("x").size == 16_000_000


def test_mistakes_are_named():
    with pytest.raises(UsageError, match="no kernel"):
        clmap_lsp.emulate(NAIVE, kernel="nobody")
    with pytest.raises(UsageError, match="did you mean"):
        clmap_lsp.analyze(NAIVE, device="hoper")
    with pytest.raises(KeyError, match="there are: mm"):
        clmap_lsp.analyze(NAIVE)["nobody"]


def test_time_is_the_command_lines_and_names_why_there_is_none(run_cli):
    kernel = clmap_lsp.analyze(NAIVE, device="nvidia-h200", **LAUNCH)["mm"]  # type: ignore[arg-type]
    said = run_cli("analyze", NAIVE, "--device", "nvidia-h200", "--format", "json")
    assert kernel.time is not None and kernel.time_reason is None
    assert kernel.time.seconds == pytest.approx(said["files"][0]["kernels"][0]["time"]["seconds"])
    unknown = clmap_lsp.analyze(NAIVE, device="amd-rdna3", **LAUNCH)["mm"]  # type: ignore[arg-type]
    assert unknown.time is None
    assert unknown.time_reason


def test_fixes_come_with_the_text_that_was_tested():
    kernel = clmap_lsp.analyze(NAIVE, device="nvidia-h200", **LAUNCH)["mm"]  # type: ignore[arg-type]
    fixes = kernel.fixes()
    assert {"safe", "unsafe"} <= {it.safety for it in fixes}
    swap = next(it for it in fixes if it.title.startswith("Swap dimensions"))
    assert swap.host_change is not None and swap.diff.startswith("--- before")
    again = clmap_lsp.analyze(swap.source, device="nvidia-h200", args={"N": 256})["mm"]
    assert again.sectors == swap.after.totals.sectors < swap.before.totals.sectors == kernel.sectors
    page = swap._repr_html_()
    assert "get_global_id(1)" in page and "<script" not in page


def test_fixes_that_cannot_be_tested_are_an_error_and_not_none(monkeypatch):
    kernel = clmap_lsp.analyze(NAIVE, device="nvidia-hopper", **LAUNCH)["mm"]  # type: ignore[arg-type]
    monkeypatch.setattr("clmap_lsp.emulator.run.find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"pip install 'clmap-lsp\[emulate\]'"):
        kernel.fixes()


def test_pictures_say_and_draw_what_the_counts_are(tmp_path):
    kernel = clmap_lsp.analyze(NAIVE, device="nvidia-hopper", **LAUNCH)["mm"]  # type: ignore[arg-type]
    drawn = kernel.picture("A")
    assert drawn.access == "A[r*N + k]" and "touch 16 sectors" in drawn.caption
    assert kernel.picture("A[r*N + k]") == drawn
    drawn.save(tmp_path / "a.svg")
    assert ElementTree.fromstring((tmp_path / "a.svg").read_text()).tag.endswith("svg")
    with pytest.raises(UsageError, match=r"there are: B\[k\*N \+ c\], A"):
        kernel.picture("Z")


def test_importing_the_package_loads_nothing_heavy():
    code = (
        "import sys, clmap_lsp;"
        "print([it for it in ('numpy', 'llvmlite', 'lsprotocol', 'pygls', 'rich') if it in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


FILL = "__kernel void fill(__global float *x, int n) { x[get_global_id(0) * n] = 1.0f; }\n"


def test_a_file_has_the_launch_of_the_command_line(tmp_path):
    """From the nearest clmap.toml; the caller's arguments go before it."""
    path = tmp_path / "fill.cl"
    path.write_text(FILL)
    (tmp_path / "clmap.toml").write_text(
        'device = "nvidia-hopper"\n[launch.fill]\nglobal = [256]\nlocal = [64]\n'
        "offset = [64]\nargs = {n = 2}\n"
    )
    report = clmap_lsp.analyze(path)
    launch = report["fill"].launch
    assert launch is not None
    assert (launch.global_size, launch.local_size, launch.global_offset) == ((256,), (64,), (64,))
    assert (launch.scalar("n"), launch.origin.value) == (2, "configured")
    assert report.analysis.device.id == "nvidia-hopper"
    assert report["fill"].sectors == 64
    given = clmap_lsp.analyze(str(path), args={"n": 1}, device="generic-gpu")
    assert (given["fill"].sectors, given.analysis.device.id) == (32, "generic-gpu")
    run = clmap_lsp.emulate(path)
    assert (run.launch.global_offset, run.faults) == ((64,), ())


def test_a_sim_file_beside_the_source_gives_the_launch(tmp_path):
    path = tmp_path / "fill.cl"
    path.write_text(FILL)
    path.with_suffix(".sim").write_text("fill.cl\nfill\n256 1 1\n64 1 1\n<size=4096 fill=0>\n<size=4> 4\n")
    launch = clmap_lsp.analyze(path)["fill"].launch
    assert launch is not None and launch.scalar("n") == 4
    path.with_suffix(".sim").write_text("fill.cl\nfill\n256\n")
    with pytest.raises(clmap_lsp.UsageError, match=r"fill\.sim"):
        clmap_lsp.analyze(path)


def test_a_text_has_no_configuration(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "clmap.toml").write_text("[launch.fill]\nglobal = [256]\n")
    launch = clmap_lsp.analyze(FILL)["fill"].launch
    assert launch is not None and launch.origin.value == "inferred"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"args": {"M": 3}}, "no parameter `M`"),
        ({"device": "nope"}, "nope"),
        ({"kernel": "other"}, "no kernel"),
        ({"global_size": 64, "local_size": 1 << 20}, "too large"),
    ],
)
def test_what_cannot_be_used_is_an_error(options, message):
    """Not a report with figures of 0, which end up in plots."""
    with pytest.raises(clmap_lsp.UsageError, match=message):
        clmap_lsp.analyze(FILL, **options)


def test_a_file_that_cannot_be_read_is_an_error(tmp_path):
    with pytest.raises(clmap_lsp.UsageError, match="no such file"):
        clmap_lsp.analyze(tmp_path / "none.cl")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"global_size": "256,256"}, "global_size=(256, 256)"),
        ({"global_size": 0}, "global_size=0: give one to three whole numbers"),
        ({"global_size": (4, -1)}, "at least 1"),
        ({"local_size": (1, 2, 3, 4)}, "local_size=(1, 2, 3, 4)"),
        ({"global_size": 1.5}, "whole numbers"),
        ({"args": {"A": np.zeros(4)}}, "args['A'] is ndarray: give a number, or what a buffer holds as text"),
        ({"args": [1]}, "args=[1]: give a mapping"),
        ({"defines": ["T=1"]}, "defines=['T=1']: give a mapping"),
        ({"defines": {"3": 1}}, "'3' is not the name of a macro"),
        ({"defines": {"T": None}}, "defines['T'] is None: give its text or a number"),
        ({"global_size": True}, "global_size=True: give one to three whole numbers"),
        ({"device": 3}, "device=3: give the name of a device model"),
        ({"device": ""}, "device='': give the name of a device model"),
        ({"include_dirs": 3}, "include_dirs=3: give a folder, or a list of folders"),
        ({"standard": "CL9"}, "standard='CL9': unknown version; known: CL1.0"),
        ({"global_size": itertools.repeat(1)}, "give one to three whole numbers"),
        ({"local_size": {4, 8}}, "local_size={8, 4}: give one to three whole numbers"),
        ({"global_size": {64: 1}}, "give one to three whole numbers"),
        ({"args": 0}, "args=0: give a mapping"),
        ({"args": {"N": 10**5000}}, "no type of OpenCL C holds as many"),
        ({"args": {"A": "file:no.bin"}}, "args['A']='file:no.bin': no such file or directory"),
        ({"defines": {"F(x": 1}}, "'F(x' is not the name of a macro"),
        ({"defines": {"T": [1]}}, "defines['T'] is list: give a number, or the text"),
        ({"include_dirs": "no/folder"}, "there is no folder 'no/folder'"),
        ({"include_dirs": [None]}, "give a folder, or a list of folders"),
        ({"include_dirs": b"include"}, "give a folder, or a list of folders"),
        ({"device": "x" * 5000}, 'unknown device "xxx'),
        ({"device": "a\nb"}, 'unknown device "a b"'),
        ({"kernel": ["mm"]}, "kernel=['mm']: give a kernel's name"),
    ],
)
def test_what_cannot_be_used_is_a_usage_error_that_says_what_can(given, said):
    for call in (clmap_lsp.analyze, clmap_lsp.emulate):
        with pytest.raises(UsageError) as caught:
            call(NAIVE, **given)
        assert said in str(caught.value)
        assert "--" not in str(caught.value), "an option of the command line is no help here"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"time_limit_s": "3"}, "time_limit_s='3': give a number of seconds above 0"),
        ({"time_limit_s": True}, "time_limit_s=True"),
        ({"time_limit_s": float("nan")}, "time_limit_s=nan"),
        ({"memory_limit_mib": 0}, "memory_limit_mib=0: give a whole number of MiB of at least 1"),
        ({"memory_limit_mib": "1G"}, "memory_limit_mib='1G'"),
        ({"sub_group_synchronous": -3}, "sub_group_synchronous=-3: give a number of work-items, such as 32"),
        ({"sub_group_synchronous": "32"}, "sub_group_synchronous='32'"),
        ({"sub_group_synchronous": 1.5}, "sub_group_synchronous=1.5"),
        ({"sub_group_synchronous": 1 << 70}, "give a number of work-items"),
    ],
)
def test_what_a_run_cannot_use_is_an_error_before_it(given, said):
    """Fewer than no work-items in lockstep never ended."""
    with pytest.raises(UsageError) as caught:
        clmap_lsp.emulate(NAIVE, **LAUNCH, **given)
    assert said in str(caught.value)


def test_names_that_nothing_has_are_key_errors_that_list_those_there_are(tmp_path):
    report = clmap_lsp.analyze(NAIVE, **LAUNCH)  # type: ignore[arg-type]
    assert "mm" in report and "nobody" not in report and report["mm"] in report
    run = clmap_lsp.emulate(NAIVE, global_size=16, local_size=16, args={"N": 16})
    for look, there in ((report.__getitem__, "mm"), (run.buffer, "A, B, C")):
        with pytest.raises(KeyError) as caught:
            look("nobody")
        assert isinstance(caught.value, UsageError)
        assert str(caught.value).endswith(f"'nobody'; there are: {there}")


def test_pictures_that_cannot_be_saved_are_an_error(tmp_path):
    drawn = clmap_lsp.analyze(NAIVE, device="nvidia-hopper", **LAUNCH)["mm"].picture("A")  # type: ignore[arg-type]
    for path, why in (
        (tmp_path, "is a directory"),
        (tmp_path / "no" / "a.svg", "no such file"),
        (3, "path of"),
    ):
        with pytest.raises(UsageError, match=why):
            drawn.save(path)


@pytest.mark.parametrize("source", ["kernels/none", "none.clh", "none.cl", "some{1}.cl"])
def test_a_text_that_can_only_be_a_path_is_one(source):
    """`analyze("kernels/mm")` was a report of no kernels."""
    with pytest.raises(UsageError, match=f"{re.escape(source)}: no such file"):
        clmap_lsp.analyze(source)


def test_a_kernel_on_one_line_is_no_path():
    text = "__kernel void f(__global int *a) { a[get_global_id(0)] = 1; } // from f.cl"
    assert "f" in clmap_lsp.analyze(text)


def test_truth_is_one_in_c():
    text = NAIVE.replace("r * N", "FLAG * r * N")
    report = clmap_lsp.analyze(text, defines={"FLAG": True}, args={"N": True}, global_size=8, local_size=8)
    assert {it.code for it in report.findings} & {"CM001", "CM002", "CM006", "CM011"} == set()
    assert report["mm"].launch.scalar("N") == 1


def test_a_text_without_kernels_has_none_to_choose_from():
    with pytest.raises(UsageError) as caught:
        clmap_lsp.emulate("int x;")
    assert "kernel.cl: no kernel was understood in it" in str(caught.value)
    assert "--" not in str(caught.value)


def test_a_prompt_completes_every_public_name():
    assert set(clmap_lsp.__all__) <= set(dir(clmap_lsp))


def test_sources_limits_and_kernels_are_looked_at_too():
    with pytest.raises(UsageError, match="source is bytes"):
        clmap_lsp.analyze(NAIVE.encode())  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="time_limit_s=0"):
        clmap_lsp.emulate(NAIVE, time_limit_s=0, **LAUNCH)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="as in kernel='mm'; there are: mm, other"):
        clmap_lsp.emulate(NAIVE + NAIVE.replace("mm", "other"))


def test_numbers_of_numpy_and_one_folder_are_taken_as_they_are(tmp_path):
    (tmp_path / "size.h").write_text("#define N 256\n")
    text = '#include "size.h"\n__kernel void f(__global float *a, int k) { a[get_global_id(0) * N + k] = 1; }'
    size, value = np.int64(128), {"k": np.int32(7)}
    report = clmap_lsp.analyze(text, global_size=size, local_size=size, args=value, include_dirs=tmp_path)
    assert "128 in groups of 128, k=7 (given)" in repr(report["f"])
    assert "CM002" not in {it.code for it in report.findings}
    assert repr(report) == "<report of 1 kernel on generic-gpu>"

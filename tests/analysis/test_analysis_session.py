"""An edit in one kernel leaves the results of the others; places follow the text."""

from __future__ import annotations

import struct
from dataclasses import replace
from pathlib import Path

import pytest
from kernels import analysed, program

from clmap_lsp.analysis.session import AnalysisSession
from clmap_lsp.config import Settings
from clmap_lsp.devices import load_model
from clmap_lsp.emulator.symbolic import count
from clmap_lsp.launch.model import Origin
from clmap_lsp.rules.selection import Selection
from clmap_lsp.workbench import Workbench

FIRST = """// clmap: global=256 local=64 x=zeros(8192)
__kernel void first(__global float *x)
{
    x[get_global_id(0) * 32] = 1.0f;
}
"""
SECOND = """
#define STEP 16
float helper(float value) { return value + 1.0f; }

// clmap: global=256 local=64 y=zeros(8192)
__kernel void second(__global float *y)
{
    __local float tile[64];
    tile[get_local_id(0)] = helper(y[get_global_id(0) * STEP]);
    barrier(CLK_LOCAL_MEM_FENCE);
    y[get_global_id(0)] = tile[63 - get_local_id(0)];
}
"""


def places(text: str, session: AnalysisSession) -> list[list[str]]:
    """Return what stands at each access of each kernel."""
    read = program(text)
    analysis = session.analyse(read, load_model("nvidia-hopper"))
    return [
        [text[it.access.span.start : it.access.span.end] for it in kernel.accesses]
        for kernel in analysis.kernels
    ]


def test_an_edit_in_one_kernel_does_not_analyse_the_others() -> None:
    session = AnalysisSession()
    before = places(FIRST + SECOND, session)
    assert session.n_analysed == 2
    edited = FIRST.replace("* 32", "*\n 16")
    after = places(edited + SECOND, session)
    assert session.n_analysed == 3
    assert after[1:] == before[1:]
    fresh = places(edited + SECOND, AnalysisSession())
    assert fresh == after


def test_an_edit_in_a_comment_only_moves_places() -> None:
    session = AnalysisSession()
    before = places(FIRST + SECOND, session)
    for edited in (FIRST.replace("    x[", "    /* a longer\n line */ x["), f"// Two kernels.\n{FIRST}"):
        assert places(edited + SECOND, session) == before
    assert session.n_analysed == 2


def test_an_edit_in_one_head_does_not_analyse_kernels_that_do_not_call_it() -> None:
    session = AnalysisSession()
    places(FIRST + SECOND, session)
    places(FIRST.replace("first", "other") + SECOND, session)
    assert session.n_analysed == 3
    places(FIRST + SECOND.replace("float value)", "double value)"), session)
    assert session.n_analysed == 4


def test_the_same_text_again_costs_nothing() -> None:
    session = AnalysisSession()
    first = analysed(FIRST + SECOND, session=session)
    second = analysed(FIRST + SECOND, session=session)
    assert session.n_analysed == 2
    assert first.kernels[0].totals == second.kernels[0].totals


def test_what_kernels_share_is_part_of_what_they_follow_from() -> None:
    session = AnalysisSession()
    before = analysed(FIRST + SECOND, session=session).kernels[1].totals
    after = analysed(FIRST + SECOND.replace("STEP 16", "STEP 4"), session=session).kernels[1].totals
    assert after != before
    assert session.n_analysed == 3


def test_directives_inside_a_kernel_hold_for_later_ones() -> None:
    session = AnalysisSession()
    first = FIRST.replace("    x[", "#define INSIDE 2\n    x[")
    second = SECOND.replace("STEP]", "INSIDE]")
    before = analysed(first + second, session=session).kernels[1].totals
    after = analysed(first.replace("INSIDE 2", "INSIDE 32") + second, session=session).kernels[1].totals
    assert before != after


def test_a_new_launch_or_device_is_a_new_result() -> None:
    session = AnalysisSession()
    analysed(FIRST, session=session)
    analysed(FIRST.replace("local=64", "local=32"), session=session)
    assert session.n_analysed == 2
    analysed(FIRST, "amd-cdna3", session=session)
    assert session.n_analysed == 3


def test_moved_accesses_refer_to_the_variables_of_the_new_program() -> None:
    session = AnalysisSession()
    analysed(FIRST + SECOND, session=session)
    kernel = analysed("// moved\n" + FIRST + SECOND, session=session).kernels[1]
    known = {id(it) for it in (*kernel.kernel.parameters, *kernel.kernel.variables)}
    assert all(id(it.access.root) in known for it in kernel.accesses)


def test_old_results_are_forgotten() -> None:
    session = AnalysisSession(kept_kernels=2)
    for step in (1, 2, 3, 4, 1):
        analysed(FIRST.replace("* 32", f"* {step}"), session=session)
    assert session.n_analysed == 5


def sectors(session: AnalysisSession, launch: str) -> int:
    """Return the sectors of a kernel whose stride is its argument N."""
    text = f"""// clmap: global=256 local=64 x=zeros(65536) {launch}
__kernel void strided(__global float *x, int N) {{ x[get_global_id(0) * N] = 1.0f; }}
"""
    (kernel,) = session.analyse(program(text), load_model("nvidia-hopper")).kernels
    return kernel.totals.sectors


def test_each_launch_has_a_result_of_its_own() -> None:
    session = AnalysisSession()
    assert sectors(session, "N=1") == 32
    assert sectors(session, "N=2") == 64
    assert sectors(session, "N=256") == 256
    assert sectors(session, "N=1") == 32
    assert session.n_analysed == 3


def test_a_changed_input_file_is_counted_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A gather by an index that a file gives: 4 sectors a request, then 32."""
    monkeypatch.chdir(tmp_path)  # The kernel has no folder; a file from elsewhere would not be read.
    file = tmp_path / "idx.bin"
    text = f"""// clmap: global=256 local=64 idx=file:{file} A=zeros(65536) out=zeros(256)
__kernel void gather(__global const int *idx, __global const float *A, __global float *out)
{{
    int i = get_global_id(0);
    out[i] = A[idx[i]];
}}
"""
    session, device = AnalysisSession(), load_model("nvidia-hopper")
    found = []
    for step in (1, 256):
        file.write_bytes(struct.pack("<256i", *range(0, 256 * step, step)))
        (kernel,) = session.analyse(program(text), device).kernels
        (gathered,) = (it.per_request for it in kernel.accesses if it.access.buffer == "A")
        assert gathered is not None
        found.append(gathered.mean)
    assert found == [4.0, 32.0]


GUESSED = """
__kernel void whole(__global float *x) { x[get_global_id(0) * STEP] = 1.0f; }
__kernel void other(__global float *y) { y[get_global_id(0) * 32] = 1.0f; }
"""


def test_a_kernel_that_a_guessed_macro_does_not_touch_is_not_analysed_with_its_other_values() -> None:
    """Findings are held against other values of `STEP`; `other` is analysed for its own shapes only."""
    bench = Workbench()
    opened = bench.open_text("k.cl", GUESSED, Settings(), looks_beside=False)
    opened.findings(Selection.of(("ALL",)))
    before = bench.n_analysed
    assert opened._analysed_as("other", None, (("STEP", "8"),)) is None
    assert opened._analysed_as("other", None, (("STEP", "37"),)) is None
    assert bench.n_analysed == before
    assert opened._analysed_as("whole", None, (("STEP", "41"),)) is not None
    assert bench.n_analysed > before


def test_a_shape_that_was_compared_is_counted_once() -> None:
    """Who gave a launch its sizes changes no count."""
    read = program(SECOND)
    (kernel,) = read.kernels
    launch = AnalysisSession().analyse(read, load_model("nvidia-hopper")).kernels[0].launch
    assert launch is not None
    device = load_model("nvidia-hopper")
    first = count(kernel, replace(launch, inferred=frozenset({"local", "global"})), device)
    assert count(kernel, replace(launch, origin=Origin.GIVEN, inferred=frozenset()), device) is first
    assert count(kernel, replace(launch, inferred=frozenset({"y"})), device) is not first

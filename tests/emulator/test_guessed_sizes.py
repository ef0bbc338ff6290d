"""Buffers that nobody gave a size: a kernel that leaves one is not accused of it."""

import pytest

from clmap_lsp.config.model import Settings
from clmap_lsp.emulator.result import FaultKind
from clmap_lsp.findings import Severity
from clmap_lsp.rules.selection import Selection
from clmap_lsp.workbench.workbench import Workbench

HEAD = "__kernel void k(__global const float *m, __global float *out, int cols)\n"

READS_AS_LONG_AS_A_FLAG_SAYS = (
    HEAD
    + """{
    int r = get_global_id(0);
    float s = 0;
    bool more = true;
    for (int i = 0; more; i++) { s += m[r * cols + i]; more = i + 1 < cols; }
    out[r] = s;
}"""
)

READS_BEFORE_THE_START = HEAD + "{ out[get_global_id(0)] = m[(int)get_global_id(0) - 1]; }"

GOES_ASTRAY = (
    HEAD
    + """{
    uint h = get_global_id(0) * 2654435761u;
    int k = 0;
    while (h != 1 && k < 9) { h = (h & 1) ? 3 * h + 1 : h ^ (h << 7); k++; }
    out[get_global_id(0)] = m[h];
}"""
)


def opened(text, comment=""):
    text = f"{comment}\n{text}" if comment else text
    return Workbench().open_text("k.cl", text, Settings(), looks_beside=False, reads_hosts=False)


def faults(text, comment=""):
    file = opened(text, comment)
    (kernel,) = file.analysis.kernels
    return file.run(kernel.kernel, kernel.launch)


def test_a_buffer_is_made_as_long_as_the_kernel_reaches():
    result = faults(READS_AS_LONG_AS_A_FLAG_SAYS)
    assert not result.faults
    assert result.enlarged["m"] > 4096
    assert result.buffers["m"].count == result.enlarged["m"]
    assert any("`m` was given" in it for it in result.notes)


def test_a_size_that_somebody_gave_stays():
    comment = "// clmap: global=64 local=64 cols=16 m=zeros(1000) out=zeros(64)"
    (fault, *_) = faults(READS_AS_LONG_AS_A_FLAG_SAYS, comment).faults
    assert (fault.kind, fault.is_guess) == (FaultKind.OUT_OF_BOUNDS_READ, False)


def test_before_the_start_is_wrong_whatever_the_size():
    (fault, *_) = faults(READS_BEFORE_THE_START).faults
    assert (fault.kind, fault.offset, fault.is_guess) == (FaultKind.OUT_OF_BOUNDS_READ, -4, False)


def test_what_no_size_holds_is_said_with_an_if():
    file = opened(GOES_ASTRAY)
    runs = file.run_all()
    (finding,) = (it for it in file.findings(Selection(frozenset({"CM301"})), runs) if it.code == "CM301")
    assert finding.severity is Severity.INFORMATION
    assert finding.message.startswith("if `m` is as short")


@pytest.mark.parametrize("loop", ["while (c--)", "for (; c; c--)", "while (c-- > 0)", "for (; c != 0; --c)"])
def test_counting_down_is_a_loop_like_others(loop):
    text = (
        HEAD
        + f"{{ int i = get_global_id(0) * cols, c = cols; float s = 0; {loop} s += m[i++]; out[0] = s; }}"
    )
    result = faults(text)
    assert not [it for it in result.faults if it.kind is FaultKind.OUT_OF_BOUNDS_READ]
    assert not result.enlarged

"""Faults of kernels with macros that nothing defines: they may hang on what these were taken for."""

from clmap_lsp.config.model import Settings
from clmap_lsp.emulator.result import FaultKind, Grounds
from clmap_lsp.source.options import BuildOptions
from clmap_lsp.workbench.workbench import Workbench

COLUMNS = """// clmap: global=256 local=64 part=local(4096)
__kernel void k(__global const float *a, __local float *part, __global float *out) {
  int l = get_local_id(0);
  for (int r = 0; r < 4; r++) part[l + r * COLUMNS] = a[l + r * 64];
  barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0)] = part[l] + part[l + COLUMNS];
}"""
LATE = """// clmap: global=256 local=64 part=local(4096)
__kernel void k(__global const float *a, __local float *part, __global float *out) {
  int l = get_local_id(0);
  part[l * COLUMNS] = a[l];
  out[get_global_id(0)] = part[(63 - l) * COLUMNS];
}"""


def races(text, **defines):
    settings = Settings(build=BuildOptions(defines=tuple(defines.items())))
    file = Workbench().open_text("k.cl", text, settings, looks_beside=False, reads_hosts=False)
    (kernel,) = file.analysis.kernels
    found = file.run(kernel.kernel, kernel.launch).faults
    return [it for it in found if it.kind is FaultKind.DATA_RACE]


def test_a_race_that_another_value_does_not_have_begins_with_if():
    (race,) = races(COLUMNS)
    assert race.grounds is Grounds.GUESS
    assert race.detail.startswith("if `COLUMNS` is 16 (guessed): ")


def test_a_race_that_all_values_have_is_no_error_either():
    found = races(LATE)
    assert found
    assert all(it.grounds is Grounds.PLAUSIBLE and not it.detail.startswith("if") for it in found)


def test_a_value_that_a_build_gives_is_no_guess():
    assert [it.grounds for it in races(COLUMNS, COLUMNS="16")] == [Grounds.KNOWN]
    assert races(COLUMNS, COLUMNS="64") == []

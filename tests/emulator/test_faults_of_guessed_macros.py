"""Faults of kernels with macros that nothing defines: they may hang on what these were taken for."""

from clmap_lsp.config.model import Settings
from clmap_lsp.emulator.result import FaultKind, Grounds
from clmap_lsp.rules.selection import Selection
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


IMAGES = """__kernel void copy4(read_only image2d_t a, write_only image2d_t b) {
  int x = get_global_id(0) * 4, y = get_global_id(1);
  for (int i = 0; i < 4; i++) write_imageui(b, (int2)(x + i, y), read_imageui(a, (int2)(x + i, y)));
}"""
BEFORE = IMAGES.replace("read_imageui(a, (int2)(x + i, y))", "read_imageui(a, (int2)(x - 1, y))")
ASSEMBLY = """__kernel void k(__global float *a) {
  int x = get_global_id(0) - 1;
  __asm__ volatile("max.s32 %0, %0, 0;" : : "r"(x));
  a[x] = 1;
}"""
ADDRESSES = """__kernel void k(__global const ulong *from) {
  __global uchar *p = (__global uchar *)from[get_global_id(0)];
  *p = 1;
}"""


def faults(text):
    file = Workbench().open_text("k.cl", text, Settings(), looks_beside=False, reads_hosts=False)
    (kernel,) = file.analysis.kernels
    return file.run(kernel.kernel, kernel.launch).faults


def test_an_image_that_nobody_gave_a_size_is_as_wide_as_the_kernel_reaches():
    assert faults(IMAGES) == ()
    (before,) = faults(BEFORE)
    assert before.kind is FaultKind.OUT_OF_BOUNDS_READ
    assert before.grounds is Grounds.PLAUSIBLE
    assert before.detail == "reads a texel outside of the image `a`, without a sampler that clamps"
    given = IMAGES.replace(
        "__kernel", "// clmap: global=64,4 local=16,4 a=image(64,4) b=image(64,4)\n__kernel"
    )
    assert {it.grounds for it in faults(given)} == {Grounds.KNOWN}


def test_what_inline_assembly_may_have_changed_begins_with_if():
    (fault,) = (it for it in faults(ASSEMBLY) if it.kind is FaultKind.OUT_OF_BOUNDS_WRITE)
    assert fault.grounds is Grounds.GUESS
    assert fault.condition == "`asm`, which is not followed, changes nothing"
    assert fault.detail == f"if {fault.condition}: {fault.happened}"


def test_a_condition_of_several_words_and_commas_is_told_whole():
    """It is not looked for in the text, where a comma would end it."""
    file = Workbench().open_text("k.cl", ASSEMBLY, Settings(), looks_beside=False, reads_hosts=False)
    found = file.findings(Selection(frozenset({"CM301"})), file.run_all())
    (condition,) = {it.condition for it in found if it.code == "CM301"}
    assert condition == "`asm`, which is not followed, changes nothing"


def test_a_guessed_buffer_holds_no_addresses():
    (fault,) = (it for it in faults(ADDRESSES) if it.kind is FaultKind.OUT_OF_BOUNDS_WRITE)
    assert fault.grounds is Grounds.CONTENTS


def test_a_kernel_that_asks_for_no_id_is_a_task():
    task = """__kernel void sum(__global const float *a, __global float *s, int n) {
      *s = 0;
      for (int i = 0; i < n; i++) *s += a[i];
    }"""
    assert faults(task) == ()
    assert faults(task.replace("int i = 0", "int i = get_global_id(0)"))


def test_a_block_of_an_image_is_not_followed_and_no_reason_to_refuse_a_kernel():
    block = """__kernel void k(read_only image2d_t a, __global uint *to) {
      uint8 rows = intel_sub_group_block_read8(a, (int2)(get_group_id(0) * 64, 0));
      to[get_global_id(0)] = rows.s0 + rows.s7;
    }"""
    assert {it.kind for it in faults(block)} == {FaultKind.UNKNOWN_FUNCTION}


ENDLESS = """__kernel void rows(__global const float *rows, __global float *sums) {
  int id = get_global_id(0);
  float sum = 0;
  if (id >= ROWS) return;
  for (uchar i = 0; i < COLUMNS * 256; i++) sum += rows[i - 1];
  barrier(CLK_LOCAL_MEM_FENCE);
  sums[id] = sum;
}"""


def faults_of(text, **defines):
    settings = Settings(build=BuildOptions(defines=tuple(defines.items())))
    file = Workbench().open_text("k.cl", text, settings, looks_beside=False, reads_hosts=False)
    (kernel,) = file.analysis.kernels
    return file.run(kernel.kernel, kernel.launch).faults


def test_a_run_that_came_to_no_end_on_guesses_says_so():
    grounds = {it.kind: it for it in faults_of(ENDLESS)}
    outside = grounds[FaultKind.OUT_OF_BOUNDS_READ]
    assert outside.grounds is Grounds.GUESS
    assert outside.detail.startswith("if what was guessed holds, with which no work-group ends: ")


def test_one_that_ends_is_judged_as_ever():
    found = faults_of(ENDLESS.replace("uchar i", "int i"))
    assert {it.kind for it in found} >= {FaultKind.OUT_OF_BOUNDS_READ}
    assert all("no work-group ends" not in it.detail for it in found)

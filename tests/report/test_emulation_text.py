"""What `clmap-lsp emulate` says to people about a launch's parallelism and control flow."""

from clmap_lsp.emulator.run import emulate
from clmap_lsp.launch.model import BufferArgument, Fill, Launch
from clmap_lsp.report.emulation_json import emulation_json
from clmap_lsp.report.emulation_text import render
from clmap_lsp.source.read import read_program

SOURCE = """kernel void k(global float4 *a, global float4 *b) {
  int i = get_global_id(0);
  if (i & 1) b[i] = a[i];
  barrier(CLK_GLOBAL_MEM_FENCE);
  b[i] += 1.0f;
}
"""


def emulated():
    program = read_program(SOURCE, "k.cl")
    whole = BufferArgument(Fill.IOTA, 64)
    launch = Launch("k", (64,), (16,), {"a": whole, "b": whole})
    return program, launch, emulate(program, program.kernels[0], launch)


def test_parallelism_and_control_are_shown():
    text = render(*emulated())
    assert "work-items: 64 in 4 groups, 64 barriers hit" in text
    assert "accesses to barrier: 0 to 2, median 2" in text
    assert "lanes of an operation: mean 2.25, largest 4" in text
    assert "branches: 1 unique, 1 make up 90 %; entropy 1.0000 (Yokota)" in text


def test_the_document_has_the_same_figures():
    parallelism = emulation_json(*emulated())["parallelism"]
    assert parallelism["accesses_to_barrier"] == {"minimum": 0, "median": 2.0, "maximum": 2}
    assert parallelism["operation_width"]["maximum"] == 4

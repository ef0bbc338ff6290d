"""How the instrumented copy declares arguments in local memory."""

from clmap_lsp.opencl_device.instrument import instrument
from clmap_lsp.source.read import read_program


def test_local_arguments_are_as_aligned_as_any_access():
    program = read_program(
        "kernel void k(local float *a, global float *b) { a[get_local_id(0)] = 1; b[0] = a[0]; }", "k.cl"
    )
    head = instrument(program, program.kernels[0]).source.partition("__kernel")[2].partition("{")[0]
    # A driver may place an argument of `uchar` elements at any address.
    assert "__local uchar" not in head
    assert "__local ulong16 *" in head

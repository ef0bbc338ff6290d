"""Texts whose recovery takes the parser too many steps are refused with one problem, whatever was before."""

from clmap_lsp.source.options import BuildOptions
from clmap_lsp.source.parse import parse
from clmap_lsp.source.read import read_program

BROKEN = (
    f"__kernel void strided(__global float *out) {{ int x = out {'+ ' * 6000}"
    f"__kernel void k(__global int *a) {{ a[get_global_id(0)] = {') ' * 6000}; }}\n"
)
WHOLE = "__kernel void k(__global int *a) { a[get_global_id(0)] = 1; }\n"


def test_it_is_said_once():
    program = read_program(BROKEN, "k.cl")
    assert not program.kernels
    (problem,) = program.problems
    assert problem.code == "syntax-error"
    assert "too far from OpenCL C" in problem.message


def test_edits_lead_into_it_and_out_again():
    options = BuildOptions()
    whole = parse(WHOLE, "k.cl", options)
    broken = parse(BROKEN, "k.cl", options, previous=whole)
    assert [it.code for it in broken.problems] == ["syntax-error"]
    again = parse(WHOLE, "k.cl", options, previous=broken)
    assert str(again.tree.root_node) == str(whole.tree.root_node)
    assert not again.problems


def test_many_errors_alone_are_no_reason():
    text = WHOLE + "void f() { int = ] ; ( 3 3 } ) {{ \n" * 300
    assert [it.name for it in read_program(text, "k.cl").kernels] == ["k"]

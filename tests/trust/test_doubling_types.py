"""Structures that hold two others each: a few lines, and more members than there is time to look at."""

from __future__ import annotations

from clmap_lsp.config import Settings
from clmap_lsp.index.describe import describe
from clmap_lsp.index.reading import read_index
from clmap_lsp.source.layout import MAX_DEPTH, MAX_MEMBERS
from clmap_lsp.source.read import read_program
from clmap_lsp.source.types import PointerType, StructType
from clmap_lsp.workbench import Workbench


def structures(member: str, levels: int) -> str:
    first = "struct s0 { float x; };\n"
    return first + "".join(f"struct s{it} {{ {member % (it - 1)} }};\n" for it in range(1, levels))


def kernel(member: str, levels: int, body: str) -> str:
    last = f"__kernel void k(__global struct s{levels - 1} *p, __global float *o) {{ {body} }}\n"
    return structures(member, levels) + last


def structure_of(text: str) -> StructType:
    type_ = read_program(text, "k.cl").kernels[0].parameters[0].type
    assert isinstance(type_, PointerType)
    assert isinstance(type_.pointee, StructType)
    return type_.pointee


def test_sizes_are_those_of_c_and_what_is_too_much_is_bytes():
    found = structure_of(kernel("struct s%d a, b;", 60, "p[0].a = p[1].b;"))
    assert found.size == 4 << 59
    assert found.n_members <= MAX_MEMBERS
    few = structure_of(kernel("struct s%d a, b;", 9, "p[0].a = p[1].b;"))
    assert few.size == 4 << 8
    assert isinstance(few.fields[1].type, StructType)
    assert few.fields[1].offset == 4 << 7
    deep = structure_of(kernel("struct s%d a[1];", 500, "p[0].a[0] = p[1].a[0];"))
    assert deep.depth <= MAX_DEPTH
    assert deep.size == 4


def test_an_analysis_of_them_ends():
    for member, levels in (("struct s%d a, b;", 60), ("struct s%d a[9];", 18), ("struct s%d a[9];", 500)):
        text = kernel(member, levels, "p[get_global_id(0)] = p[get_global_id(0) + 1]; o[0] = 1;")
        opened = Workbench().open_text("k.cl", text, Settings(), looks_beside=False, reads_hosts=False)
        assert opened.analysis.kernels


def test_a_large_value_that_is_moved_at_once_is_not_counted_piece_by_piece():
    text = "struct s { float x[100000]; };\n__kernel void k(__global struct s *p) { p[0] = p[1]; }\n"
    opened = Workbench().open_text("k.cl", text, Settings(), looks_beside=False, reads_hosts=False)
    reasons = [it.reason for it in opened.analysis.kernels[0].accesses]
    assert reasons
    assert all("moved as a whole" in it for it in reasons)


def test_an_editor_is_told_of_each_size_once():
    text = kernel("struct s%d a, b;", 60, "p[0].a = p[1].b;")
    index = read_index(text, "k.cl")
    named = index.occurrence_at(text.index("s58 a"))
    assert named is not None
    assert str(4 << 58) in describe(index, named.symbol).replace(",", "")

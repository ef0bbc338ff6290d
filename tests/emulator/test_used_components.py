"""Vectors in memory whose components are set one by one: what is never used need not be set."""

from __future__ import annotations

import numpy as np
import pytest

from clmap_lsp.emulator.result import Fault, FaultKind
from clmap_lsp.emulator.run import emulate
from clmap_lsp.launch.arguments import parse_argument
from clmap_lsp.launch.model import Launch
from clmap_lsp.source.read import read_program

HEAD = """typedef struct { int a; int3 v; char c; } S;
void put(S *s, int x) { s->v.y = x; }
void put_l(__local S *s, int x) { s->v.y = x; }
"""


def faults(body: str) -> list[Fault]:
    program = read_program(f"{HEAD}__kernel void k(__global int *o) {{ {body} }}", "k.cl")
    launch = Launch("k", (1,), (1,), {"o": parse_argument("zeros(16)")})
    result = emulate(program, program.kernels[0], launch)
    if not result.faults:
        assert result.buffers["o"].data.view(np.int32)[0] == 7
    return list(result.faults)


SET_AND_USED = [
    "S s; s.v.y = 7; o[0] = s.v.y;",
    "S s; put(&s, 7); o[0] = s.v.y;",
    "S s; S *q = &s; q->v.zx = (int2)(3, 4); o[0] = q->v.z + q->v.xz.x;",
    "int4 a[3]; a[1].w = 6; a[1].w++; o[0] = a[1].w;",
    "int3 a[2]; vstore3((int3)(7, 1, 2), 1, (int *)a + 1); o[0] = a[1].x;",
    "__local S s; s.v.y = 7; barrier(CLK_LOCAL_MEM_FENCE); o[0] = s.v.y;",
    "__local S s; put_l(&s, 7); o[0] = s.v.yy.x;",
    "__local int4 t[2]; S s; for (int k = 0; k < 2; k++) t[k].xz = k + 6; o[0] = t[1].x; o[1] = t[0].z;",
]


@pytest.mark.parametrize("body", SET_AND_USED)
def test_a_component_that_was_set_can_be_used(body: str) -> None:
    assert not faults(body)


NOT_SET = [
    ("S s; s.v.y = 7; o[0] = s.v.z;", "`s.v.s2`"),
    ("S s; s.v.y = 7; o[0] = s.v.zz.y;", "`s.v.s2`"),
    ("int4 a[3]; a[1].w = 6; o[0] = a[1].w + a[2].w;", "`a[2].s3`"),
    ("__local S s; s.v.y = 7; o[0] = s.v.z;", "`s.v.s2`"),
    ("__local int4 t[2]; t[0].x = 7; o[0] = t[0].x; o[1] = t[0].w;", "`t[0].s3`"),
]


@pytest.mark.parametrize(("body", "what"), NOT_SET)
def test_a_component_that_was_not_set_is_told(body: str, what: str) -> None:
    (fault,) = faults(body)
    assert fault.kind is FaultKind.UNINITIALISED_READ
    assert fault.detail.startswith(f"{what} was never written")


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (
            "__local S t[2]; t[0].a = 7; t[1] = t[0]; o[0] = t[1].a;",
            "`t[0].v` of the object: not written yet",
        ),
        (
            "__local S t[2]; t[0].c = 7; t[1] = t[0]; o[0] = t[1].c;",
            "`t[0].a` of the object: not written yet",
        ),
        ("__local S t[2]; t[1].a = 7; t[1] = t[0];", "`t[0].a` was never written"),
        ("__local S t[2]; S s; s.a = 7; t[1] = s; s = t[1]; o[0] = s.a;", ""),
    ],
)
def test_objects_are_copied_with_members_that_were_not_set(body: str, told: str) -> None:
    found = [it.detail for it in faults(body)]
    assert found[:1] == ([told] if told else [])
    assert all(it.endswith(": not written yet") for it in found) or told.endswith("never written")


def test_races_are_those_of_the_whole_vector() -> None:
    """Compilers read and write vectors in memory as a whole, whatever is used of them."""
    source = """__kernel void k(__global int *o) {
      __local int4 t; int l = get_local_id(0);
      if (l == 0) t.x = 1; else if (l == 1) t.y = 2;
      o[l] = l < 2 ? t.x : 0;
    }"""
    program = read_program(source, "k.cl")
    launch = Launch("k", (4,), (4,), {"o": parse_argument("zeros(16)")})
    result = emulate(program, program.kernels[0], launch)
    assert FaultKind.DATA_RACE in {it.kind for it in result.faults}

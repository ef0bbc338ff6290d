"""Bit-fields that were never set are reported, those set beside them are not, and values are those of C."""

import numpy as np
import pytest

from clmap_lsp.emulator.result import Engine, FaultKind
from clmap_lsp.emulator.run import emulate
from clmap_lsp.emulator.settings import EmulationSettings
from clmap_lsp.launch.model import BufferArgument, Fill, Launch
from clmap_lsp.source.read import read_program

TYPES = """
struct flags { uint low : 3; uint middle : 5; uint high : 24; };
struct parted { uint a : 30; uint b : 5; int c : 7; };
struct small { uchar a : 3; uchar b : 5; int c : 7; };
union word { struct { uint a : 8; uint b : 24; } f; uint whole; };
struct outer { int before; struct flags f; struct flags g[2]; };
uint low_of(struct flags *p) { return p->low; }
void set_low(struct flags *p, uint v) { p->low = v; }
"""


def run(body):
    """Run a kernel over eight work-items: its faults as (kind, text at the place), and what it stored."""
    head = "kernel void k(global int *o) { int i = get_global_id(0), l = get_local_id(0);"
    text = f"{TYPES}{head}\n{body}\n}}"
    program = read_program(text, "k.cl")
    launch = Launch("k", (8,), (8,), {"o": BufferArgument(Fill.ZEROS, 8)})
    settings = EmulationSettings(engine=Engine.JIT)
    result = emulate(program, program.kernels[0], launch, settings)
    assert not program.problems
    return [(it.kind, text[it.span.start : it.span.end]) for it in result.faults], result


@pytest.mark.parametrize(
    "body",
    [
        "struct flags x; x.low = 1; x.middle = 2; x.high = 3; o[i] = x.low + x.middle + x.high;",
        "struct flags x; x.low = 1; o[i] = x.low;",
        "struct flags x; x.middle = 1; o[i] = x.middle;",
        "struct flags x; x.high = 1; x.high += 2; o[i] = x.high;",
        "struct parted x; x.b = 1; x.a = 2; o[i] = x.b + x.a;",
        "struct flags x; x.low = 1; x.middle = 2; struct flags y = x; o[i] = y.low + y.middle;",
        "struct flags x = {1}; o[i] = x.low + x.middle + x.high;",
        "struct small x[4]; for (int n = 0; n < 4; n++) { x[n].a = n; x[n].c = 2; } o[i] = x[3].a + x[3].c;",
        "union word x; x.f.a = 1; x.f.b = 2; o[i] = x.whole;",
        "union word x; x.whole = 5; o[i] = x.f.b;",
        "struct flags x; set_low(&x, i); o[i] = low_of(&x);",
        "struct flags x, y; struct flags *p = i & 1 ? &x : &y; p->low = i; o[i] = p->low;",
        "struct outer x; x.g[i & 1].high = i; o[i] = x.g[i & 1].high;",
        "__local struct flags x[8]; x[l].low = l; x[l].high = 3; barrier(CLK_LOCAL_MEM_FENCE);"
        " o[i] = x[l ^ 1].low + x[l ^ 1].high;",
    ],
)
def test_what_was_set_is_not_reported(body):
    assert run(body)[0] == []


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ("struct flags x; x.low = 1; o[i] = x.middle;", "x.middle"),
        ("struct flags x; x.low = 1; x.high = 1; o[i] = x.middle;", "x.middle"),
        ("struct parted x; x.a = 1; x.c = 1; o[i] = x.b;", "x.b"),
        ("struct flags x; if (i < 4) x.low = 1; o[i] = x.low;", "x.low"),
        ("struct flags x; x.low = 1; x.middle++; o[i] = x.low;", "x.middle"),
        ("struct flags x; x.low = 1; struct flags y = x; o[i] = y.middle;", "y.middle"),
        ("struct small x[4]; x[1].a = 1; o[i] = x[i & 1].a;", "x[i & 1].a"),
        ("struct flags x; x.middle = 1; o[i] = low_of(&x);", "p->low"),
        ("struct flags x, y; struct flags *p = i & 1 ? &x : &y; p->low = i; o[i] = p->high;", "p->high"),
        ("union word x; x.f.a = 1; o[i] = x.whole;", "x.whole"),
        ("__local struct flags x[8]; o[i] = x[l].low;", "x[l].low"),
    ],
)
def test_what_was_not_set_is_reported_once(body, place):
    ((kind, text),) = run(body)[0]
    assert kind is FaultKind.UNINITIALISED_READ
    assert place in text


def test_values_beside_each_other_stay_apart():
    body = "struct parted x; x.a = i; x.b = 31 - i; x.c = -i; x.c -= 1; o[i] = x.a * 10000 + x.b * 100 + x.c;"
    found, result = run(body)
    assert found == []
    expected = [n * 10000 + (31 - n) * 100 - n - 1 for n in range(8)]
    assert result.buffers["o"].data.view(np.int32).tolist() == expected


def test_neighbours_set_by_two_work_items_are_still_a_race():
    body = "__local struct flags x[4]; if (l & 1) x[l / 2].low = 1; else x[l / 2].middle = l;"
    assert FaultKind.DATA_RACE in {kind for kind, _ in run(body)[0]}

"""Copies by the work-group are done when their event was waited for, and not before."""

from __future__ import annotations

import pytest

from clmap_lsp.api import emulate
from clmap_lsp.emulator.result import EmulationResult, FaultKind

RACE = FaultKind.DATA_RACE
UNWAITED = FaultKind.COPY_NOT_WAITED_FOR
NO_COPY = FaultKind.WAIT_WITHOUT_COPY
UNEVEN = FaultKind.BARRIER_DIVERGENCE

HEAD = """event_t start(__local float *to, __global float *from) {
  return async_work_group_copy(to, from, 64, 0);
}
void finish(event_t e) { wait_group_events(1, &e); }
typedef struct { int n; event_t e; } Job;
__kernel void k(__global float *q, __global float *p, int n) {
  __local float a[64], b[64];
  int l = get_local_id(0), i = get_global_id(0);
"""


def run(body: str, groups: int = 2, group: int = 64) -> EmulationResult:
    return emulate(
        f"{HEAD}{body}\n}}\n",
        kernel="k",
        global_size=(groups * group,),
        local_size=(group,),
        args={"q": "zeros(4096)", "p": "iota(4096)", "n": 2},
    ).result


SOUND = {
    "waited for": "event_t e = start(a, p); wait_group_events(1, &e); q[i] = a[63 - l];",
    "two events": (
        "event_t e[2]; e[0] = async_work_group_copy(a, p, 64, 0); e[1] = async_work_group_copy(b, p, 64, 0);"
        "wait_group_events(n, e); q[i] = a[63 - l] + b[l];"
    ),
    "a shared event": (
        "event_t e = async_work_group_copy(a, p, 64, 0); e = async_work_group_copy(b, p, 64, e);"
        "wait_group_events(1, &e); q[i] = a[63 - l] + b[l];"
    ),
    "the same event twice in a list": (
        "event_t e[2]; e[0] = start(a, p); e[1] = async_work_group_copy(b, p, 64, e[0]);"
        "wait_group_events(2, e); q[i] = a[63 - l] + b[l];"
    ),
    "out of order": (
        "event_t e = async_work_group_copy(a, p, 64, 0), f = async_work_group_copy(b, p, 64, 0);"
        "wait_group_events(1, &f); q[i] = b[63 - l]; wait_group_events(1, &e); q[i] += a[63 - l];"
    ),
    "helpers": "finish(start(a, p)); q[i] = a[63 - l];",
    "a member": "Job j; j.e = start(a, p); wait_group_events(1, &j.e); q[i] = a[63 - l];",
    "two buffers in turn": """
      __local float d[2][64]; event_t e[2]; float s = 0; e[0] = start(d[0], p);
      for (int t = 0; t < 8; t++) {
        if (t < 7) e[(t + 1) & 1] = start(d[(t + 1) & 1], p + 64 * t + 64);
        wait_group_events(1, &e[t & 1]); s += d[t & 1][63 - l]; barrier(CLK_LOCAL_MEM_FENCE);
      }
      q[i] = s;""",
    "waited for in the next turn": """
      event_t e = 0;
      for (int t = 0; t < 3; t++) {
        if (t) { wait_group_events(1, &e); q[i] += a[l]; }
        barrier(CLK_LOCAL_MEM_FENCE); e = start(a, p + 64 * t);
      }
      wait_group_events(1, &e);""",
    "a source that is only read": "event_t e = start(a, p); q[i] = p[l]; wait_group_events(1, &e);",
    "overlapping sources": (
        "event_t e = start(a, p); e = async_work_group_copy(b, p + 32, 64, e);"
        "wait_group_events(1, &e); q[i] = a[l] + b[l];"
    ),
    "out of local memory": (
        "a[l] = i; barrier(CLK_LOCAL_MEM_FENCE); event_t e = async_work_group_copy(q + i - l, a, 64, 0);"
        "wait_group_events(1, &e); a[63 - l] = q[i];"
    ),
    "strided": (
        "event_t e = async_work_group_strided_copy(a, p, 64, 3, 0); wait_group_events(1, &e); q[i] = a[l];"
    ),
}


@pytest.mark.parametrize("body", SOUND.values(), ids=list(SOUND))
def test_sound_copies_have_no_faults(body: str) -> None:
    assert not run(body).faults


FAULTY = {
    "used before the wait": (
        "event_t e = start(a, p); barrier(3); q[i] = a[l]; wait_group_events(1, &e);",
        {RACE},
    ),
    "used by the first work-item": (
        "event_t e = start(a, p); if (l == 0) q[i] = a[0]; wait_group_events(1, &e);",
        {RACE},
    ),
    "its source overwritten": (
        "a[l] = 1; barrier(3); event_t e = async_work_group_copy(q + i - l, a, 64, 0); barrier(3); a[l] = 2;"
        "wait_group_events(1, &e);",
        {RACE},
    ),
    "its global source overwritten": (
        "event_t e = start(a, p + i - l); barrier(3); p[i] = 3; wait_group_events(1, &e);",
        {RACE},
    ),
    "a source without a barrier": (
        "a[l] = 1; event_t e = async_work_group_copy(q + i - l, a, 64, 0); wait_group_events(1, &e);",
        {RACE},
    ),
    "one of two events": (
        "event_t e[2]; e[0] = start(a, p); e[1] = start(b, p); wait_group_events(1, e); q[i] = a[l] + b[l];",
        {RACE, UNWAITED},
    ),
    "the wrong event": (
        "event_t e = start(a, p), f = start(b, p); wait_group_events(1, &e); q[i] = b[l];"
        "wait_group_events(1, &f);",
        {RACE},
    ),
    "an event that was lost": (
        "event_t e = start(a, p); e = start(b, p); wait_group_events(1, &e); q[i] = a[l] + b[l];",
        {RACE, UNWAITED},
    ),
    "an event of no copy": ("event_t e; start(a, p); wait_group_events(1, &e);", {NO_COPY, UNWAITED}),
    "a wait without copies": ("event_t e; wait_group_events(1, &e);", {NO_COPY}),
    "waited for twice": (
        "event_t e = start(a, p); wait_group_events(1, &e); wait_group_events(1, &e);",
        {NO_COPY},
    ),
    "never waited for": ("start(a, p);", {UNWAITED}),
    "events past their array": (
        "event_t e[1]; e[0] = start(a, p); wait_group_events(n, e);",
        {FaultKind.OUT_OF_BOUNDS_READ},
    ),
    "two copies to one place": (
        "event_t e = start(a, p); e = async_work_group_copy(a + 32, p, 32, e); wait_group_events(1, &e);",
        {RACE},
    ),
    "groups copy to one place": (
        "a[l] = i; barrier(3); event_t e = async_work_group_copy(q, a, 64, 0); wait_group_events(1, &e);",
        {RACE},
    ),
    "other counts": ("event_t e = async_work_group_copy(a, p, l, 0); wait_group_events(1, &e);", {UNEVEN}),
    "other places": (
        "event_t e = async_work_group_copy(a + l, p, 1, 0); wait_group_events(1, &e);",
        {UNEVEN},
    ),
    "other events": (
        "event_t e = start(a, p), f = start(b, p); if (l & 1) { event_t g = e; e = f; f = g; }"
        "event_t h[2]; h[0] = e; h[1] = e; wait_group_events(2, h);",
        {UNEVEN},
    ),
}


@pytest.mark.parametrize(("body", "kinds"), FAULTY.values(), ids=list(FAULTY))
def test_faulty_copies_are_reported(body: str, kinds: set[FaultKind]) -> None:
    assert {it.kind for it in run(body).faults} == kinds


def test_a_copy_under_way_is_one_side_of_its_race() -> None:
    (race,) = run("event_t e = start(a, p);\n q[i] = a[l];\n wait_group_events(1, &e);").faults
    assert race.detail == (
        "`a[0]` is read here by work-item (0, 0, 0) and written by an asynchronous copy of the same group "
        "(0, 0, 0) in line 2, which is not waited for before"
    )
    assert race.work_item == (0, 0, 0)
    assert race.other_work_item is None


def test_a_group_of_one_work_item_waits_too() -> None:
    body = "event_t e = async_work_group_copy(a, p, 1, 0); {} q[i] = a[0]; {}"
    wait = "wait_group_events(1, &e);"
    assert not run(body.format(wait, ""), group=1).faults
    assert {it.kind for it in run(body.format("", wait), group=1).faults} == {RACE}


def test_uneven_copies_are_called_so() -> None:
    (fault,) = run(FAULTY["other counts"][0]).faults
    assert fault.detail == "work-items of the group come here with different arguments"
    (fault,) = run(FAULTY["other events"][0]).faults[:1]
    assert (
        fault.detail == "work-items of the group wait for different events, or for different numbers of them"
    )


def test_more_copies_under_way_than_are_kept_track_of() -> None:
    body = """
      event_t e = 0;
      for (int t = 0; t < 1500; t++) e = async_work_group_copy(a + (t & 63), p, 1, e);
      wait_group_events(1, &e); q[i] = a[l];"""
    result = run(body, groups=1)
    assert {it.kind for it in result.faults} <= {RACE}
    assert result.is_whole

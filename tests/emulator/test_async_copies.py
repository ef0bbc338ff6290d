"""Copies by the work-group are done when their event was waited for, and not before."""

from __future__ import annotations

from pathlib import Path

import numpy as np
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
    "lines": (
        "event_t e = async_work_group_copy_2D2D(a, 0, p, 100, sizeof(float), 8, 8, 64, 8, 0);"
        "wait_group_events(1, &e); q[i] = a[63 - l];"
    ),
    "planes out of local memory": (
        "a[l] = i; barrier(CLK_LOCAL_MEM_FENCE);"
        "event_t e = async_work_group_copy_3D3D(q, (i - l) * 8, a, 0, 4, 4, 4, 4, 4, 16, 8, 32, 0);"
        "wait_group_events(1, &e); a[63 - l] = 0;"
    ),
    "no lines": (
        "event_t e = async_work_group_copy_2D2D(a, 0, p, 0, 4, 8, n - 2, 8, 8, 0); wait_group_events(1, &e);"
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
    "lines used before the wait": (
        "event_t e = async_work_group_copy_2D2D(a, 0, p, 0, 4, 8, 8, 64, 8, 0); q[i] = a[63 - l];"
        "wait_group_events(1, &e);",
        {RACE},
    ),
    "lines past their end": (
        "event_t e = async_work_group_copy_2D2D(a, 0, p, 0, 4, 8, 8, 600, 8, 0); wait_group_events(1, &e);",
        {FaultKind.OUT_OF_BOUNDS_READ},
    ),
    "planes past their end": (
        "event_t e = async_work_group_copy_3D3D(a, 1, p, 0, 4, 4, 4, 4, 4, 16, 4, 16, 0);"
        "wait_group_events(1, &e);",
        {FaultKind.OUT_OF_BOUNDS_WRITE},
    ),
    "lines over each other": (
        "event_t e = async_work_group_copy_2D2D(a, 0, p, 0, 4, 8, 8, 8, 7, 0); wait_group_events(1, &e);",
        {FaultKind.OVERLAPPING_COPY},
    ),
    "planes over each other": (
        "event_t e = async_work_group_copy_3D3D(a, 0, p, 0, 4, 4, 4, 4, 4, 15, 4, 16, 0);"
        "wait_group_events(1, &e);",
        {FaultKind.OVERLAPPING_COPY},
    ),
    "lines without an end": (
        "event_t e = async_work_group_copy_2D2D(a, 0, p, 0, 4, 1, -1L, 1, 1, 0); wait_group_events(1, &e);",
        {FaultKind.OUT_OF_BOUNDS_WRITE},
    ),
    "other numbers of lines": (
        "event_t e = async_work_group_copy_2D2D(a, 0, p, 0, 4, 1, l & 1, 8, 8, 0); wait_group_events(1, &e);",
        {UNEVEN},
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


LINES = """
typedef struct { float x, y, z; } Point;
__kernel void k(__global TYPE *q, __global TYPE *p, int bytes) {
  __local TYPE t[3 * 5 * 7];
  int l = get_local_id(0);
  for (int i = l; i < 3 * 5 * 7; i += get_local_size(0)) t[i] = p[700 + i];
  barrier(CLK_LOCAL_MEM_FENCE);
  event_t e = async_work_group_copy_3D3D(t, 1, p, 9, SIZE, 4, 3, 2, 10, 100, 7, 35, 0);
  wait_group_events(1, &e);
  e = async_work_group_copy_3D3D(q, 5, t, 0, SIZE, 7, 5, 3, 7, 35, 11, 121, 0);
  wait_group_events(1, &e);
}
"""


@pytest.mark.parametrize("size", ["sizeof(TYPE)", "bytes"])
@pytest.mark.parametrize("kind", ["uchar", "short", "float", "double", "float4", "Point"])
def test_boxes_are_copied_line_by_line(kind: str, size: str, tmp_path: Path) -> None:
    width = {"uchar": 1, "short": 2, "float": 4, "double": 8, "float4": 16, "Point": 12}[kind]
    rng = np.random.default_rng(width)
    given = rng.integers(0, 256, (1000, width), np.uint8)
    (tmp_path / "p").write_bytes(given.tobytes())
    result = emulate(
        LINES.replace("TYPE", kind).replace("SIZE", size.replace("TYPE", kind)),
        kernel="k",
        global_size=(32,),
        local_size=(32,),
        args={"q": "zeros(1000)", "p": f"file:{tmp_path / 'p'}", "bytes": width},
    ).result
    assert not result.faults
    tile = given[700 : 700 + 105].reshape(3, 5, 7, width).copy()
    for plane in range(2):
        for line in range(3):
            start = 9 + 100 * plane + 10 * line
            flat = tile[plane].reshape(35, width)
            flat[1 + 7 * line : 5 + 7 * line] = given[start : start + 4]
    wanted = np.zeros((1000, width), np.uint8)
    for plane in range(3):
        for line in range(5):
            start = 5 + 121 * plane + 11 * line
            wanted[start : start + 7] = tile[plane, line]
    assert np.array_equal(np.asarray(result.buffers["q"].data), wanted.reshape(-1))
    copies = {(it.op, it.space): it.executions for it in result.sites if it.op.startswith("async")}
    factor = width if size == "bytes" else 1
    assert copies == {
        ("async-load", "global"): 24 * factor,
        ("async-store", "local"): 24 * factor,
        ("async-load", "local"): 105 * factor,
        ("async-store", "global"): 105 * factor,
    }

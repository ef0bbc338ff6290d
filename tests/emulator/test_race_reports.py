"""Races are told with both sides, and reads that were too early with their race."""

from __future__ import annotations

import pytest

from clmap_lsp.emulator.element_name import element_name
from clmap_lsp.emulator.result import EmulationResult, Engine, Fault, FaultKind, Role
from clmap_lsp.emulator.run import emulate
from clmap_lsp.emulator.settings import EmulationSettings
from clmap_lsp.launch.arguments import parse_argument
from clmap_lsp.launch.model import Launch
from clmap_lsp.report.emulation_json import emulation_json
from clmap_lsp.report.emulation_text import render
from clmap_lsp.rules import cm302_data_race
from clmap_lsp.source.read import read_program

LATE = """__kernel void k(__global float *p) {
  __local float q[64];
  int l = get_local_id(0);
  q[l] = p[l + 64];
  if (l < 32) q[l] += q[l + 16];
  p[get_global_id(0)] = q[l];
}"""


def run(source: str, items: int = 64, count: int = 4096, group: int = 64) -> tuple[EmulationResult, Launch]:
    program = read_program(source, "k.cl")
    launch = Launch("k", (items,), (group,), {"p": parse_argument(f"zeros({count})")})
    return emulate(program, program.kernels[0], launch, EmulationSettings(engine=Engine.JIT)), launch


def races(result: EmulationResult) -> list[Fault]:
    return [it for it in result.faults if it.kind is FaultKind.DATA_RACE]


def row(fault: Fault, source: str) -> int:
    return source[: fault.span.start].count("\n") + 1


def test_a_race_within_a_group_has_both_sides() -> None:
    result, _ = run(LATE)
    race = next(it for it in races(result) if row(it, LATE) == 4)
    assert (race.role, race.other_role) == (Role.WRITES, Role.READS)
    assert (race.work_item, race.other_work_item) == ((16, 0, 0), (0, 0, 0))
    assert race.work_group == race.other_work_group == (0, 0, 0)
    assert race.element == "q[16]"
    assert race.detail == (
        "`q[16]` is written here by work-item (16, 0, 0) and read by work-item (0, 0, 0) of the same group "
        "(0, 0, 0) in line 5, with no barrier between them"
    )


OTHER_FENCE = """__kernel void k(__global float *p) {
  __local float q[64];
  int l = get_local_id(0);
  q[l] = p[l];
  barrier(CLK_LOCAL_MEM_FENCE);
  p[63 - l] = q[l];
}"""


def test_a_barrier_for_other_memory_is_told_from_none() -> None:
    result, _ = run(OTHER_FENCE)
    (race,) = races(result)
    assert race.detail.endswith("with no barrier for global memory (CLK_GLOBAL_MEM_FENCE) between them")
    result, _ = run(OTHER_FENCE.replace("LOCAL_MEM", "GLOBAL_MEM"))
    assert all("for local memory (CLK_LOCAL_MEM_FENCE)" in it.detail for it in races(result))
    both = OTHER_FENCE.replace("CLK_LOCAL_MEM_FENCE", "CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE")
    result, _ = run(both.replace("q[l];\n}", "q[63 - l];\n  q[l] = 1;\n}"))
    assert races(result)
    assert all(it.detail.endswith("with no barrier between them") for it in races(result))


def test_a_read_before_its_write_leads_to_the_race() -> None:
    result, _ = run(LATE)
    (early,) = (it for it in result.faults if it.kind is FaultKind.UNINITIALISED_READ)
    assert early.detail == "`q[16]` is not yet written by any work-item: see the race in line 4"
    assert early.other_span == next(it.span for it in races(result) if row(it, LATE) == 4)


def test_what_nobody_writes_is_said_to_be_never_written() -> None:
    source = "__kernel void k(__global float *p) { __local float q[64]; p[get_global_id(0)] = q[3]; }"
    (fault,) = run(source)[0].faults
    assert fault.detail == "`q[3]` was never written"


def test_a_race_between_groups_names_both() -> None:
    source = "__kernel void k(__global float *p) { p[get_local_id(0)] = get_global_id(0); }"
    (race,) = races(run(source, items=128)[0])
    assert (race.work_group, race.other_work_group) == ((1, 0, 0), (0, 0, 0))
    assert (race.role, race.other_role) == (Role.WRITES, Role.WRITES)
    assert "of group (1, 0, 0) and written by work-item (0, 0, 0) of group (0, 0, 0)" in race.detail
    assert "nothing orders work-groups" in race.detail


def test_races_of_kernels_with_atomics_say_what_would_order_them() -> None:
    source = """__kernel void k(__global uint *p) {
      if (get_local_id(0)) return;
      p[1 + get_group_id(0)] = 1;
      if (atomic_inc(p) == get_num_groups(0) - 1) p[9] = p[1] + p[2];
    }"""
    (race,) = races(run(source, 128)[0])
    assert "nothing orders work-groups but atomics that release and acquire" in race.detail


BOTH_SIDES = """__kernel void k(__global int *p) {
  int i = get_global_id(0);
  p[i] = i;
  p[i + 128] = p[i ^ 1];
}"""


def test_a_race_that_both_sides_meet_is_told_once() -> None:
    """Work-item 0 reads before 1 writes; 1 reads after 0 has written."""
    (race,) = races(run(BOTH_SIDES)[0])
    assert {(race.role, row(race, BOTH_SIDES)), (race.other_role, 4)} == {(Role.WRITES, 3), (Role.READS, 4)}
    assert race.occurrences == 64, "those of either side"


def test_a_place_tells_another_race_where_its_first_was_told_from_the_other_side() -> None:
    """Line 4 tells of its race with line 3, which 2 then meets in line 3; 6 meets that of lines 3 and 5."""
    source = """__kernel void k(__global int *p) {
  int i = get_global_id(0), n = 0;
  if (i == 0 || i == 2 || i == 6) n = p[i == 6 ? 9 : 0];
  if (i == 1) p[0] = 7;
  if (i == 5) p[9] = 7;
  p[i + 128] = n;
}"""
    found = races(run(source)[0])
    assert sorted(row(it, source) for it in found) == [3, 4]
    (met_by_6,) = (it for it in found if row(it, source) == 3)
    assert met_by_6.element == "p[9]"


def test_reading_what_another_wrote_is_told_from_the_reader() -> None:
    source = BOTH_SIDES.replace("p[i ^ 1]", "p[0]")
    (race,) = races(run(source)[0])
    assert (race.role, race.other_role, row(race, source)) == (Role.READS, Role.WRITES, 4)


def test_text_json_and_findings_have_both_sides() -> None:
    program = read_program(LATE, "k.cl")
    result, launch = run(LATE)
    text = render(program, launch, result)
    assert "k.cl:4:3: data-race" in text
    assert "read by work-item (0, 0, 0)" in text
    fault = next(it for it in emulation_json(program, launch, result)["faults"] if it["location"]["row"] == 4)
    assert (fault["element"], fault["role"]) == ("q[16]", "writes")
    other = fault["other"]
    assert (other["work_item"], other["work_group"], other["role"]) == ([0, 0, 0], [0, 0, 0], "reads")
    assert other["location"]["row"] == 5
    finding = next(
        it for it in cm302_data_race.check(program.kernels[0], result) if "written here" in it.message
    )
    assert any("reads `q[16]` here" in it.message for it in finding.related)


def test_flags_in_a_variable_say_what_a_barrier_fences() -> None:
    """`flags` is 1, the local fence: what was written to global memory is not ordered."""
    source = """__kernel void k(__global int *p) {
  int l = get_local_id(0), flags = p[200] + FLAGS;
  p[l] = l;
  barrier(flags);
  p[l + 64] = p[l ^ 1];
}"""
    assert races(run(source.replace("FLAGS", "1"))[0])
    assert not races(run(source.replace("FLAGS", "2"))[0])
    assert not races(run(source.replace("FLAGS", "3"))[0])


def test_a_helper_gets_its_flags_as_they_are_passed() -> None:
    source = """void sync(int flags) { barrier(flags); }
__kernel void k(__global int *p) {
  __local int t[64];
  int l = get_local_id(0);
  t[l] = l;
  sync(CLK_GLOBAL_MEM_FENCE);
  p[l] = t[l ^ 1];
}"""
    assert races(run(source)[0])
    assert not races(run(source.replace("CLK_GLOBAL", "CLK_LOCAL"))[0])


def test_fences_that_differ_between_work_items_are_told() -> None:
    source = """__kernel void k(__global float *p) {
  barrier(get_local_id(0) ? CLK_LOCAL_MEM_FENCE : CLK_GLOBAL_MEM_FENCE);
}"""
    (fault,) = run(source)[0].faults
    assert fault.kind is FaultKind.BARRIER_DIVERGENCE
    assert fault.detail == "work-items of the group come here with different arguments"


def test_an_element_past_an_inner_array_is_told() -> None:
    source = """typedef struct { int a[4]; int b[4]; } S;
__kernel void k(__global int *p) {
  __global S *s = (__global S *)p;
  int i = get_global_id(0);
  p[100 + i] = s[0].a[i & 4];
}"""
    assert {it.kind for it in run(source)[0].faults} == {FaultKind.INDEX_PAST_ARRAY}
    assert run(source.replace("i & 4", "i & 3"))[0].faults == ()


NESTED = """typedef struct { int a[4][3]; int b; } S;
typedef struct { S s[3]; int n[1]; } T;
__kernel void k(__global T *p, int i, int j, int k) { if (get_global_id(0) == 0) ACCESS }"""


@pytest.mark.parametrize(
    ("access", "at", "is_past"),
    [
        ("p[1].s[i].b = 1;", (2, 0, 0), False),
        ("p[1].s[i].b = 1;", (3, 0, 0), True),
        ("p[1].s[i].a[1][1] = 1;", (3, 0, 0), True),
        ("p[1].s[i].a[j][1] = 1;", (1, 4, 0), True),
        ("p[1].s[i].a[j][k] = 1;", (1, 1, 3), True),
        ("p[1].s[i].a[j][k] = 1;", (2, 3, 2), False),
        ("{ __global int *q = p[1].s[i].a[j]; p[1].n[0] = q[k]; }", (1, 4, -1), False),
        ("{ __global S *q = p[1].s + i; p[1].n[0] = q[-1].b; }", (3, 0, 0), False),
        ("p[1].n[i] = 1;", (5, 0, 0), False),
    ],
)
def test_arrays_inside_structs_end(access: str, at: tuple[int, int, int], is_past: bool) -> None:
    program = read_program(NESTED.replace("ACCESS", access), "k.cl")
    i, j, k = (parse_argument(str(it)) for it in at)
    launch = Launch("k", (64,), (64,), {"p": parse_argument("zeros(8)"), "i": i, "j": j, "k": k})
    found = {it.kind for it in emulate(program, program.kernels[0], launch).faults}
    assert found == ({FaultKind.INDEX_PAST_ARRAY} if is_past else set())


def test_misaligned_neighbours_are_no_race() -> None:
    source = """__kernel void k(__global uchar *p) {
  *(__global int *)(p + 4 * get_global_id(0) + 1) = 7 + get_global_id(0);
}"""
    result, _ = run(source)
    assert {it.kind for it in result.faults} == {FaultKind.MISALIGNED_ACCESS}


@pytest.mark.parametrize(
    ("declaration", "offset", "name"),
    [
        ("__global float *p", 64, "p[16]"),
        ("__global float4 *p", 40, "p[2].s2"),
        ("__global float4 *p", 32, "p[2]"),
        ("__global S *p", 16 + 8, "p[1].v[1]"),
        ("__global S *p", 16, "p[1].a"),
        ("__global float (*p)[5]", 4 * 13, "p[2][3]"),
    ],
)
def test_elements_are_named_as_the_source_does(declaration: str, offset: int, name: str) -> None:
    program = read_program(
        f"typedef struct {{ int a; float v[3]; }} S; __kernel void k({declaration}) {{}}", "k.cl"
    )
    (parameter,) = program.kernels[0].parameters
    assert element_name("p", parameter.type, offset) == name


ROWS = """__kernel void k(__global float *p) {
  __local float q[64];
  __local float r[64];
  int l = get_local_id(0);
  q[l] = p[l];
  r[l] = p[l];
  float sum = q[63 - l];
  sum += q[(l + 1) % 64];
  sum += q[(l + 2) % 64];
  sum += r[63 - l];
  barrier(CLK_LOCAL_MEM_FENCE);
  p[l + 64] = sum;
}"""


def test_accesses_that_race_with_the_same_write_are_one_finding() -> None:
    result, _ = run(ROWS)
    (kernel,) = read_program(ROWS, "k.cl").kernels
    found = list(cm302_data_race.check(kernel, result))
    named = {name for it in found for name in ("q", "r") if f"`{name}[" in it.message}
    assert (len(found), named) == (2, {"q", "r"})
    (of_q,) = (it for it in found if "`q[" in it.message)
    told = {of_q.span.start, *(it.span.start for it in of_q.related)}
    races_of_q = {(it.buffer, it.span.start) for it in races(result) if it.buffer == "q"}
    assert {start for _, start in races_of_q} <= told, "nothing is left out"
    assert "more accesses of `q` race with these." in of_q.message

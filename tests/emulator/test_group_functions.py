"""Sub-group and work-group functions, against what the specification says of each lane."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from clmap_lsp.emulator.result import EmulationResult, Engine, FaultKind
from clmap_lsp.emulator.run import emulate
from clmap_lsp.emulator.settings import EmulationSettings
from clmap_lsp.launch.model import BufferArgument, Fill, Launch
from clmap_lsp.source.read import read_program

WIDTH, ITEMS = 32, 96
VALUES = (np.arange(ITEMS) * 37 + 11) % 101


def run(body: str, size: tuple[int, ...] = (ITEMS,), group: tuple[int, ...] = (64,)) -> EmulationResult:
    text = f"""__kernel void k(__global int *o) {{
      int i = get_global_linear_id(); int lane = get_sub_group_local_id(); int v = (i * 37 + 11) % 101;
      {body}
    }}"""
    program = read_program(text, "k.cl")
    launch = Launch("k", size, group, {"o": BufferArgument(Fill.ZEROS, int(np.prod(size)))})
    return emulate(program, program.kernels[0], launch, EmulationSettings(engine=Engine.JIT))


def out(result: EmulationResult) -> list[int]:
    assert not result.faults
    assert not result.notes
    return result.buffers["o"].data.view(np.int32).tolist()


def by_sub_group(function: Callable[[list[int], int], int]) -> list[int]:
    """Apply a function of (values of the sub-group, lane) to all items: groups of 64 and of 32 at the end."""
    found = []
    for start in range(0, ITEMS, WIDTH):
        values = VALUES[start : start + WIDTH].tolist()
        found += [function(values, lane) for lane in range(WIDTH)]
    return found


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("sub_group_reduce_add(v)", lambda v, _: sum(v)),
        ("sub_group_scan_exclusive_max(v)", lambda v, n: max(v[:n], default=-(2**31))),
        ("sub_group_scan_inclusive_min(v)", lambda v, n: min(v[: n + 1])),
        ("sub_group_non_uniform_reduce_logical_and(v > 5)", lambda v, _: int(min(v) > 5)),
        ("sub_group_clustered_reduce_add(v, 8)", lambda v, n: sum(v[n // 8 * 8 : n // 8 * 8 + 8])),
        ("sub_group_broadcast(v, 5)", lambda v, _: v[5]),
        ("sub_group_shuffle(v, (lane * 3) & 31)", lambda v, n: v[n * 3 & 31]),
        ("sub_group_shuffle_xor(v, 5)", lambda v, n: v[n ^ 5]),
        ("sub_group_shuffle_down(v, 3)", lambda v, n: v[n + 3] if n + 3 < 32 else v[n]),
        ("sub_group_rotate(v, 3)", lambda v, n: v[(n + 3) % 32]),
        ("sub_group_clustered_rotate(v, 1, 4)", lambda v, n: v[n // 4 * 4 + (n + 1) % 4]),
        ("intel_sub_group_shuffle_down(v, -v, 3u)", lambda v, n: v[n + 3] if n < 29 else -v[n - 29]),
        ("intel_sub_group_shuffle_up(-v, v, 3u)", lambda v, n: v[n - 3] if n > 2 else -v[n + 29]),
        ("(int)sub_group_shuffle((float2)(v, v + 0.5f), lane ^ 1).y * 2", lambda v, n: v[n ^ 1] * 2),
        ("sub_group_ballot(v & 1).x", lambda v, _: sum((it & 1) << k for k, it in enumerate(v))),
        ("sub_group_ballot_bit_count(sub_group_ballot(v > 50))", lambda v, _: sum(it > 50 for it in v)),
        (
            "sub_group_ballot_exclusive_scan(sub_group_ballot(v > 50))",
            lambda v, n: sum(it > 50 for it in v[:n]),
        ),
        ("sub_group_inverse_ballot(sub_group_ballot(v > 50))", lambda v, n: int(v[n] > 50)),
        ("sub_group_ballot_find_msb(sub_group_ballot(lane < 9))", lambda *_: 8),
        ("sub_group_any(v == 100) + 2 * sub_group_all(v >= 0)", lambda v, _: int(100 in v) + 2),
        ("sub_group_elect()", lambda _, n: int(n == 0)),
    ],
)
def test_sub_group_functions(expression: str, expected: Callable[[list[int], int], int]) -> None:
    wanted = [it - (1 << 32) if it >> 31 > 0 else it for it in by_sub_group(expected)]
    assert out(run(f"o[i] = {expression};")) == wanted


def test_calls_that_may_diverge_serve_those_who_came() -> None:
    body = """if (lane % 3 == 0) o[i] = sub_group_non_uniform_reduce_add(1) * 100 + sub_group_elect();
      else o[i] = sub_group_shuffle(v, lane ^ 1);"""

    def expected(v: list[int], lane: int) -> int:
        if lane % 3 == 0:
            return 1100 + int(lane == 0)
        return v[lane] if (lane ^ 1) % 3 == 0 else v[lane ^ 1]  # An absent lane's value is undefined.

    assert out(run(body)) == by_sub_group(expected)
    strict = run("if (lane < 3) o[i] = sub_group_reduce_add(v); else o[i] = sub_group_reduce_max(v);")
    assert FaultKind.BARRIER_DIVERGENCE in {it.kind for it in strict.faults}


def test_lanes_keep_their_numbers_where_others_have_ended() -> None:
    assert out(run("if (lane < 4) return; o[i] = sub_group_shuffle(v, lane ^ 1);")) == by_sub_group(
        lambda v, n: 0 if n < 4 else v[n ^ 1]
    )


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        (
            "if (lane < 4) return; o[i] = work_group_scan_inclusive_add(1);",
            "not every work-item of the group reaches this call of `work_group_scan_inclusive_add`",
        ),
        (
            "if (i > 20) o[i] = work_group_any(v > 3);",
            "not every work-item of the group reaches this call of `work_group_any`",
        ),
        (
            "if (lane < 4) o[i] = sub_group_reduce_add(v);",
            "not every work-item of the sub-group reaches this call of `sub_group_reduce_add`",
        ),
        (
            "if (lane > 4) return; sub_group_barrier(CLK_LOCAL_MEM_FENCE);",
            "not every work-item of the sub-group reaches this barrier",
        ),
    ],
)
def test_calls_that_all_have_to_come_to_say_so_of_those_who_have_ended(body: str, detail: str) -> None:
    faults = run(body).faults
    assert [(it.kind, it.detail) for it in faults] == [(FaultKind.BARRIER_DIVERGENCE, detail)]


def test_sub_groups_that_end_as_a_whole_are_not_missed() -> None:
    assert out(run("if (i < 32) return; o[i] = sub_group_reduce_add(1);")) == [0] * 32 + [32] * 64


def test_work_group_functions_in_two_dimensions() -> None:
    body = "o[i] = work_group_broadcast(i, 3, 1) * 1000 + work_group_scan_inclusive_add(1);"
    found = np.array(out(run(body, (8, 4), (4, 2)))).reshape(4, 8)
    for y in range(4):
        for x in range(8):
            broadcast = (y // 2 * 2 + 1) * 8 + x // 4 * 4 + 3
            assert found[y, x] == broadcast * 1000 + y % 2 * 4 + x % 4 + 1


def test_what_is_not_known_is_said() -> None:
    result = run("o[i] = sub_group_reduce_add((int2)(v, v)).x;")
    assert any("sub_group_reduce_add" in it for it in result.notes)


SHARED = "__local int t[64]; int l = get_local_id(0); t[l] = v; "


@pytest.mark.parametrize(
    ("body", "kinds"),
    [
        ("sub_group_barrier(CLK_LOCAL_MEM_FENCE); o[i] = t[l ^ 1];", set()),
        ("sub_group_barrier(CLK_LOCAL_MEM_FENCE); o[i] = t[l ^ 32];", {FaultKind.DATA_RACE}),
        ("sub_group_barrier(CLK_GLOBAL_MEM_FENCE); o[i] = t[l ^ 1];", {FaultKind.DATA_RACE}),
        ("o[i] = t[l ^ 1]; sub_group_barrier(CLK_LOCAL_MEM_FENCE);", {FaultKind.DATA_RACE}),
        ("sub_group_barrier(CLK_LOCAL_MEM_FENCE); o[i] = t[l ^ 1]; t[l] = i;", {FaultKind.DATA_RACE}),
        ("o[i] = v; sub_group_barrier(CLK_GLOBAL_MEM_FENCE); o[i ^ 1] += i;", set()),
        ("o[i] = v; sub_group_barrier(CLK_GLOBAL_MEM_FENCE); o[i ^ 32] = i;", {FaultKind.DATA_RACE}),
        ("o[i] = sub_group_reduce_add(v) + t[l ^ 1];", {FaultKind.DATA_RACE}),
        ("if (lane > 4) return; sub_group_barrier(CLK_LOCAL_MEM_FENCE);", {FaultKind.BARRIER_DIVERGENCE}),
        (
            "for (int d = 16; d; d /= 2) { sub_group_barrier(1); int x = lane < d ? t[l + d] : 0;"
            "sub_group_barrier(1); if (lane < d) t[l] += x; } o[i] = t[l];",
            set(),
        ),
        (
            "for (int d = 16; d; d /= 2) { sub_group_barrier(1); if (lane < d) t[l] += t[l + d]; }"
            "o[i] = t[l - lane];",
            {FaultKind.DATA_RACE},
        ),
    ],
)
def test_a_barrier_of_the_sub_group_orders_its_work_items(body: str, kinds: set[FaultKind]) -> None:
    found = {it.kind for it in run(SHARED + body, (64,)).faults}
    assert found - {FaultKind.UNINITIALISED_READ} == kinds


def test_who_is_behind_a_branch_waits_for_who_is_in_it() -> None:
    """All of the sub-group come to the second call, though some of them come from the first one."""
    body = (
        "int r = 0; if (v > 50) r = sub_group_non_uniform_reduce_add(v); o[i] = r + sub_group_rotate(v, 3);"
    )

    def expected(v: list[int], n: int) -> int:
        inside = sum(it for it in v if it > 50) if v[n] > 50 else 0
        return inside + v[(n + 3) % 32]

    assert out(run(body)) == by_sub_group(expected)


def test_who_is_in_a_later_turn_waits_for_who_is_in_an_earlier_one() -> None:
    body = """int r = 0; for (int k = 0; k < 4; k++) {
      r = r * 3 + sub_group_shuffle_xor(v + k, 1);
      if ((v >> k) & 1) r += sub_group_non_uniform_reduce_add(v);
    } o[i] = r;"""

    def expected(v: list[int], n: int) -> int:
        r = 0
        for k in range(4):
            r = r * 3 + v[n ^ 1] + k
            r += sum(it for it in v if it >> k & 1) if v[n] >> k & 1 else 0
        return r

    assert out(run(body)) == by_sub_group(expected)


def test_who_has_left_a_loop_waits_for_who_has_not() -> None:
    body = """int r = 0; for (int k = 0; k < (v & 3); k++) r += sub_group_non_uniform_reduce_add(1);
    o[i] = r * 100 + sub_group_ballot_bit_count(sub_group_ballot(v > 50));"""

    def expected(v: list[int], n: int) -> int:
        turns = sum(sum((it & 3) > k for it in v) for k in range(v[n] & 3))
        return turns * 100 + sum(it > 50 for it in v)

    assert out(run(body)) == by_sub_group(expected)


def test_loops_in_loops_are_told_apart_by_their_turns() -> None:
    body = """int r = 0; for (int j = 0; j < 3; j++) for (int k = 0; k <= ((v >> j) & 1); k++)
      r = r * 5 + sub_group_non_uniform_reduce_add(v + j);
    o[i] = r;"""

    def expected(v: list[int], n: int) -> int:
        r = 0
        for j in range(3):
            for k in range((v[n] >> j & 1) + 1):
                r = r * 5 + sum(it + j for it in v if (it >> j & 1) >= k)
        return (r + 2**31) % 2**32 - 2**31

    assert out(run(body)) == by_sub_group(expected)

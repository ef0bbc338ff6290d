"""Accesses joined with launches and costs: shares, strides, shapes, swapped dimensions, formulas."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernels import analysed, kernel, program

from clmap_lsp.analysis.counting import count
from clmap_lsp.analysis.kernel import any_shape, other_shapes
from clmap_lsp.analysis.swap import swapped
from clmap_lsp.devices import load_model
from clmap_lsp.launch.model import Launch, ScalarArgument

MM = """
// clmap: global=256,256 local=16,16 N=256 A=zeros(N*N) B=zeros(N*N) C=zeros(N*N)
__kernel void mm(__global const float *A, __global const float *B, __global float *C, const int N)
{
    const int row = get_global_id(0), column = get_global_id(1);
    float sum = 0.0f;
    for (int k = 0; k < N; k++)
        sum += A[row * N + k] * B[k * N + column];
    C[row * N + column] = sum;
}
"""


def test_shares_add_up_to_the_traffic() -> None:
    found = kernel(MM)
    assert sum(it.share or 0 for it in found.accesses) == pytest.approx(1.0)
    assert found.totals.complete
    assert found.totals.sectors == 8_945_664


def test_swapped_dimensions_are_what_the_swapped_source_costs() -> None:
    found = kernel(MM)
    by_hand = kernel(
        MM.replace("get_global_id(0)", "X")
        .replace("get_global_id(1)", "get_global_id(0)")
        .replace("X", "get_global_id(1)")
    )
    assert found.swapped is not None
    assert found.swapped.totals == by_hand.totals
    assert by_hand.swapped is not None
    assert by_hand.swapped.totals == found.totals


def test_work_group_shapes_are_compared() -> None:
    """One float off: a row of 32 needs 5 sectors, two rows of 16 need 3 each, four rows of 8 need 2 each."""
    text = """
    // clmap: global=256,256 local=8,32 N=256 a=zeros(N*N+1) b=zeros(N*N)
    __kernel void copy(__global const float *a, __global float *b, const int N)
    {
        const int i = get_global_id(1) * N + get_global_id(0);
        b[i] = a[i + 1];
    }
    """
    found = kernel(text)
    load = next(it for it in found.accesses if it.access.direction.value == "load")
    assert load.per_request is not None
    assert load.per_request.mean == 8
    by_shape = {it.local_size: it.per_request[load.access.site] for it in found.shapes}
    assert by_shape[(32, 8)] == by_shape[(64, 4)] == 5
    assert by_shape[(16, 16)] == 6


def test_few_shapes_of_a_kernel_of_many_accesses_are_compared() -> None:
    """The same on every machine: what is compared costs so much work in all, and the rest is unknown."""
    text = """
    // clmap: global=256,256 local=8,32 N=256 a=zeros(N*N)
    __kernel void many(__global float *a, const int N)
    {
        int x = get_global_id(0), y = get_global_id(1);
        UPDATES
    }
    """
    few, many = (kernel(text.replace("UPDATES", "a[x * N + y] += 1; " * n)) for n in (20, 1_000))
    assert len(few.shapes) == len(many.shapes)
    assert all(it.totals.complete for it in few.shapes)
    assert many.totals.complete
    assert [it.totals.complete for it in many.shapes].count(True) < 4


def test_shapes_are_those_of_as_many_work_items_that_divide() -> None:
    launch = Launch("f", (96, 64), (16, 16))
    assert other_shapes(launch) == [(32, 8), (8, 32), (4, 64)]


@pytest.mark.parametrize(
    ("body", "free"),
    [
        ("a[get_global_id(0)] = 1.0f;", True),
        ("a[get_local_id(0)] = 1.0f;", False),
        ("a[get_global_id(0)] = get_group_id(0);", False),
        ("if (get_local_size(0) > 3) a[get_global_id(0)] = 1.0f;", False),
        ("barrier(CLK_LOCAL_MEM_FENCE); a[get_global_id(0)] = 1.0f;", False),
        ("__local float t[4]; t[0] = 1.0f; a[get_global_id(0)] = 1.0f;", False),
    ],
)
def test_kernels_that_work_in_any_shape(body: str, free: bool) -> None:
    (found,) = program(f"__kernel void f(__global float *a) {{ {body} }}").kernels
    assert any_shape(found) is free


@pytest.mark.parametrize(
    ("index", "text", "value"),
    [
        ("y * N + x", "4", 4),
        ("x * N + y", "N*4", 1024),
        ("(x + 1) * (N + 1)", "(N + 1)*4", 1028),
        ("7", "0", 0),
        ("-x + N", "-4", -4),
        ("x / 2", None, None),
        ("x * y", None, None),
        ("lx * 2 + get_group_id(0)", "8", 8),
    ],
)
def test_strides_in_words_and_bytes(index: str, text: str | None, value: int | None) -> None:
    found = kernel(
        f"""
        // clmap: global=64,64 local=16,16 N=256 a=zeros(N*N)
        __kernel void f(__global float *a, const int N)
        {{
            const int x = get_global_id(0), y = get_global_id(1), lx = get_local_id(0);
            a[{index}] = 1.0f;
        }}
        """
    )
    stride = found.accesses[0].stride
    assert (stride.text, stride.bytes) == (text, value)


def test_the_stride_is_that_along_the_lanes() -> None:
    found = kernel(
        """
        // clmap: global=1,256 local=1,64 N=256 a=zeros(N*N)
        __kernel void f(__global float *a, const int N)
        { a[get_global_id(1) * N + get_global_id(0)] = 1.0f; }
        """
    )
    assert found.accesses[0].stride.text == "N*4"


@pytest.mark.parametrize("text", ["get_global_linear_id()", "get_local_linear_id()"])
def test_kernels_that_follow_the_order_of_lanes_are_not_swapped(text: str) -> None:
    found = kernel(
        f"// clmap: global=64,64 local=16,16\n__kernel void f(__global float *a) {{ a[{text}] = 1.0f; }}"
    )
    assert found.swapped is None


def test_one_dimension_has_nothing_to_swap() -> None:
    found = kernel(
        "// clmap: global=64 local=16\n__kernel void f(__global float *a) { a[get_global_id(0)] = 1; }"
    )
    assert found.swapped is None
    assert found.shapes == ()


@settings(max_examples=25, deadline=None)
@given(
    a=st.integers(0, 3),
    b=st.integers(0, 3),
    local=st.sampled_from([(16, 16), (32, 8), (8, 8), (4, 2)]),
    n=st.integers(17, 70),
)
def test_swapping_twice_changes_nothing(a: int, b: int, local: tuple[int, int], n: int) -> None:
    (found,) = program(
        f"""
        __kernel void f(__global float *a, const int N)
        {{
            const int x = get_global_id(0), y = get_global_id(1);
            if (x < N) a[(y * {a} + 1) * N + x * {b}] += get_num_groups(1);
        }}
        """
    ).kernels
    launch = Launch("f", (64, 32), local, {"N": ScalarArgument((n,))})
    device = load_model("nvidia-hopper")
    once = swapped(found, launch)
    assert once is not None
    twice = swapped(*once)
    assert twice is not None
    assert twice[1] == launch
    assert count(twice[0], twice[1], device) == count(found, launch, device)
    total = sum(it.requests for it in count(*once, device).sites.values())
    assert total > 0


@settings(max_examples=20, deadline=None)
@given(step=st.integers(1, 5), shift=st.integers(0, 9), n=st.sampled_from([64, 96, 100, 101, 102, 104, 250]))
def test_the_formula_in_n_holds_for_the_launch(step: int, shift: int, n: int) -> None:
    """Where the words give one figure for this N, it is what counting the launch gives."""
    found = kernel(
        f"""
        // clmap: global=64,64 local=16,16 N={n} a=zeros(N*N*8)
        __kernel void f(__global float *a, const int N)
        {{ a[get_global_id(1) * N + get_global_id(0) * {step} + {shift}] = 1.0f; }}
        """
    )
    (access,) = found.accesses
    assert access.per_request is not None
    words = access.in_general
    assert words is not None
    if words.endswith("for every N") and words[0].isdigit():
        assert float(words.split()[0]) == pytest.approx(access.per_request.mean, rel=0.01)
    clause = next(
        (it for it in words.replace(", else", "; else").split(", ") if f"% 8 == {n % 8}" in it), None
    )
    if clause is not None and ";" not in words:
        assert float(clause.split()[0]) == pytest.approx(access.per_request.mean, rel=0.01)


@pytest.mark.parametrize("n", range(9, 25))
def test_the_formula_counts_the_turns_that_the_launch_makes(n: int) -> None:
    """Three turns: an average over eight alignments would be another figure than that of the launch."""
    found = kernel(
        f"""
        // clmap: global=64 local=64 N={n} a=zeros(N*8)
        __kernel void f(__global float *a, const int N)
        {{ for (int i = 0; i < 3; i++) a[i * N + get_global_id(0)] = 1.0f; }}
        """
    )
    (access,) = found.accesses
    words = access.in_general
    assert (
        access.per_request is not None and words == "4 sectors if N % 8 == 0, 4.33 if N % 8 == 4, else 4.67"
    )
    said = 4 if n % 8 == 0 else 4.33 if n % 8 == 4 else 4.67
    assert access.per_request.mean == pytest.approx(said, abs=0.01)


def test_a_device_without_published_rules_says_unknown() -> None:
    found = kernel(MM, "apple-m1")
    assert {it.method for it in found.accesses} == {"unknown"}
    assert all(it.reason for it in found.accesses)
    assert not found.totals.complete


def test_a_launch_that_cannot_be_made_is_a_problem_not_an_error() -> None:
    found = kernel("// clmap: global=oops\n__kernel void f(__global float *a) { a[get_global_id(0)] = 1; }")
    assert found.launch is None
    assert len(found.launch_problems) == 1
    assert found.accesses[0].method == "unknown"


def test_every_kernel_of_a_file_is_analysed_in_order() -> None:
    text = MM + MM.replace("void mm(", "void second(")
    assert [it.name for it in analysed(text).kernels] == ["mm", "second"]


LOOPING = """// clmap: global=64 local=64 a=zeros(64) N=256
__kernel void f(__global float *a, const int N)
{
    int at = 0;
    for (int i = 0; %s; i++) { a[get_global_id(0)] += 1.0f; %s }
}
"""


@pytest.mark.parametrize("condition", ["", "N > 4", "get_global_id(0) < N"])
def test_a_loop_whose_condition_stays_as_it_is_never_ends(condition: str) -> None:
    found = kernel(LOOPING % (condition, ""))
    assert found.notes == ("not counted: a loop that never ends",)


@pytest.mark.parametrize(
    ("condition", "body"),
    [("i < N", ""), ("at < 4", "at += i;"), ("", "if (i > 8) break;"), ("N > 4", "if (i == 99) return;")],
)
def test_a_loop_with_a_way_to_its_end_is_counted(condition: str, body: str) -> None:
    found = kernel(LOOPING % (condition, body))
    assert found.notes == ()
    assert {it.method for it in found.accesses} == {"exact"}

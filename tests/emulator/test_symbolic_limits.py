"""What the symbolic engine does with what it cannot know or afford."""

from __future__ import annotations

from functools import partial

import pytest

from clmap_lsp.devices import load_model
from clmap_lsp.emulator.symbolic import Budget, SymbolicResult, count, memory
from clmap_lsp.emulator.symbolic.control import Spending
from clmap_lsp.emulator.symbolic.loops import NotRegularError, _check_end
from clmap_lsp.emulator.symbolic.machine import Machine
from clmap_lsp.emulator.symbolic.memory import KnownData
from clmap_lsp.emulator.symbolic.needs import needs_of
from clmap_lsp.emulator.symbolic.space import Space, boxes_of
from clmap_lsp.emulator.symbolic.values import Pointer, Sym, Unknown
from clmap_lsp.exactness import Exactness
from clmap_lsp.launch import BufferArgument, Fill, Launch, Origin, ScalarArgument
from clmap_lsp.source import ir
from clmap_lsp.source.read import read_program

DEVICE = load_model("nvidia-hopper")


def counted(
    body: str, *, inferred: frozenset[str] = frozenset(), items: int = 1024, **budget: int
) -> SymbolicResult:
    source = f"__kernel void f(__global float *a, __global const int *I, int n) {{ {body} }}"
    program = read_program(source, "f.cl")
    arguments = {
        "a": BufferArgument(Fill.ZEROS, 1 << 20),
        "I": BufferArgument(Fill.PERMUTATION, 1024),
        "n": ScalarArgument((items,)),
    }
    launch = Launch("f", (items,), (64,), arguments, Origin.GIVEN, inferred)
    return count(program.kernels[0], launch, DEVICE, budget=Budget(**budget))


def test_given_tables_are_followed_inferred_ones_are_not() -> None:
    body = "a[I[get_global_id(0)]] = 1;"
    exact = counted(body)
    assert exact.is_exact
    unknown = counted(body, inferred=frozenset({"I"}))
    table, scatter = unknown.sites.values()
    assert table.method is Exactness.EXACT
    assert (table.requests, table.units) == (32, 128)
    assert scatter.method is Exactness.UNKNOWN
    assert scatter.units is None
    assert "`I`" in (scatter.reason or "")


def test_a_branch_on_data_leaves_the_rest_exact() -> None:
    result = counted(
        "int i = get_global_id(0); if (I[i] > 5) a[i] = 1; a[i + 1] = 2;", inferred=frozenset({"I"})
    )
    load, guarded, after = result.sites.values()
    assert load.method is Exactness.EXACT
    assert guarded.method is Exactness.UNKNOWN
    assert "whether it runs" in (guarded.reason or "")
    assert after.method is Exactness.EXACT
    assert after.requests == 32


def test_a_return_on_data_leaves_nothing_after_it_known() -> None:
    result = counted("int i = get_global_id(0); if (I[i] > 5) return; a[i] = 1;", inferred=frozenset({"I"}))
    assert [it.method for it in result.sites.values()] == [Exactness.EXACT, Exactness.UNKNOWN]


def test_a_loop_bounded_by_data_is_unknown_inside_only() -> None:
    result = counted(
        "int i = get_global_id(0); for (int k = 0; k < I[0]; k++) a[i + k] = 1; a[i] = 2;",
        inferred=frozenset({"I"}),
    )
    by_row = {it.span.start: it.method for it in result.sites.values() if it.op == "store"}
    assert [by_row[it] for it in sorted(by_row)] == [Exactness.UNKNOWN, Exactness.EXACT]


def test_values_that_the_kernel_changes_are_not_inputs() -> None:
    result = counted("int i = get_global_id(0); a[i] = 1; a[(int)a[i + 1]] = 2;")
    assert "which the kernel changes" in "".join(it.reason or "" for it in result.sites.values())


def test_over_budget_is_sampled_and_says_so() -> None:
    body = "uint x = get_global_id(0); a[(x * 2654435761u) >> 13] = x;"
    exact = counted(body, items=1 << 16)
    sampled = counted(body, items=1 << 16, work_cells=1 << 14, cells=1 << 12)
    (found,) = sampled.sites.values()
    (truth,) = exact.sites.values()
    assert truth.method is Exactness.EXACT
    assert found.method is Exactness.SAMPLED
    assert "16 of 1024 work-groups" in (found.reason or "")
    assert found.requests == truth.requests
    assert found.units == pytest.approx(truth.units, rel=0.05)
    assert not sampled.is_exact


def test_over_budget_without_sampling_is_unknown() -> None:
    result = counted(
        "uint x = get_global_id(0); a[(x * 2654435761u) >> 13] = x;",
        items=1 << 16,
        work_cells=1 << 14,
        cells=1 << 12,
        sampled_groups=0,
    )
    assert result.bail is not None
    assert not result.sites


def test_endless_loops_end_at_the_budget() -> None:
    result = counted("for (uint i = 1; i != 0; i = i * 3) a[i & 63] = i;", turns=50)
    assert result.bail is not None
    assert "50 iterations" in result.bail.reason


def test_endless_loops_that_change_nothing_are_seen_before() -> None:
    result = counted("while (1) a[get_global_id(0)] = 1;", turns=50)
    assert result.bail is not None
    assert result.bail.reason == "a loop that never ends"


def test_jumps_into_blocks_are_not_followed() -> None:
    result = counted("int i = 0; if (n > 4) goto again; while (i < n) { again: a[i] = 1; i++; }")
    assert result.bail is not None
    assert "goto" in result.bail.reason


def test_async_copies_have_no_known_spread() -> None:
    result = counted(
        "__local float t[64]; event_t e = async_work_group_copy(t, a + get_group_id(0) * 64, 64, 0);"
        " wait_group_events(1, &e); a[get_global_id(0)] = t[get_local_id(0)];"
    )
    methods = {(it.op, it.space.value): it.method for it in result.sites.values()}
    assert methods["load", "global"] is Exactness.UNKNOWN
    assert methods["load", "local"] is Exactness.EXACT
    assert methods["store", "global"] is Exactness.EXACT


def test_results_are_cached_by_launch() -> None:
    source = "__kernel void f(__global float *a) { a[get_global_id(0)] = 1; }"
    kernel = read_program(source, "f.cl").kernels[0]
    launch = Launch("f", (64,), (64,), {"a": BufferArgument(Fill.ZEROS, 64)}, Origin.GIVEN)
    other = Launch("f", (128,), (64,), {"a": BufferArgument(Fill.ZEROS, 128)}, Origin.GIVEN)
    assert count(kernel, launch, DEVICE) is count(kernel, launch, DEVICE)
    assert next(iter(count(kernel, other, DEVICE).sites.values())).requests == 4


def test_structs_passed_by_value_are_known() -> None:
    source = (
        "typedef struct { int pitch; int start; } layout;"
        "__kernel void f(__global float *a, layout l) { a[l.start + get_global_id(0) * l.pitch] = 1; }"
    )
    arguments = {"a": BufferArgument(Fill.ZEROS, 4096), "l": ScalarArgument((8, 5), "int")}
    result = count(
        read_program(source, "f.cl").kernels[0], Launch("f", (64,), (64,), arguments, Origin.GIVEN), DEVICE
    )
    (store,) = result.sites.values()
    assert store.method is Exactness.EXACT
    assert (store.requests, store.units) == (2, 64)
    assert (store.first_byte, store.end_byte) == (20, 20 + 63 * 32 + 4)


@pytest.mark.parametrize("mask_cells", [0, 1 << 12])
@pytest.mark.parametrize("condition", ["0 - i == 5", "((i ^ 1u) == i)"])
def test_a_loop_in_a_branch_that_nobody_takes_ends(condition: str, mask_cells: int) -> None:
    """Bounds do not settle the comparison, only the lanes do: an array of one answer is that answer."""
    body = f"uint i = get_global_id(0); if ({condition}) for (int k = 8; k > 0; k >>= 1) a[k] = 1; a[i] = 0;"
    result = counted(body, items=96, mask_cells=mask_cells)
    assert result.bail is None
    assert [it.executions for it in result.sites.values()][-1] == 96
    assert sum(it.executions or 0 for it in result.sites.values()) == 96


@pytest.mark.filterwarnings("error")
def test_a_number_beyond_float_is_infinite_and_no_warning() -> None:
    source = "__kernel void f(__global float *a, float x) { if (x > 1e38f) a[get_global_id(0)] = x; }"
    arguments = {"a": BufferArgument(Fill.ZEROS, 64), "x": ScalarArgument((1e300,))}
    launch = Launch("f", (64,), (64,), arguments, Origin.GIVEN, frozenset())
    (store,) = count(read_program(source, "f.cl").kernels[0], launch, DEVICE).sites.values()
    assert store.requests == 2


def test_no_number_as_an_integer_is_unknown() -> None:
    source = "__kernel void f(__global float *a, int n) { a[get_global_id(0) + n] = 1; }"
    arguments = {"a": BufferArgument(Fill.ZEROS, 64), "n": ScalarArgument((float("nan"),))}
    launch = Launch("f", (64,), (64,), arguments, Origin.GIVEN, frozenset())
    (store,) = count(read_program(source, "f.cl").kernels[0], launch, DEVICE).sites.values()
    assert store.method is Exactness.UNKNOWN


@pytest.mark.parametrize(("turns", "is_end"), [(9, False), (10, True), (11, True)])
def test_turns_are_taken_at_once_only_if_nobody_takes_another(turns: int, is_end: bool) -> None:
    """The number of turns is worked out from the condition; that it is false then is checked on its own."""
    source = "__kernel void f(__global int *a) { for (int i = 0; i < 10; i++) a[i] = 1; }"
    (kernel,) = read_program(source, "f.cl").kernels
    launch = Launch("f", (64,), (64,), {"a": BufferArgument(Fill.ZEROS, 64)}, Origin.GIVEN)
    (box,) = boxes_of(launch)
    needs = needs_of(kernel)
    data = KnownData(kernel, launch, needs.written, ())
    machine = Machine(kernel, Space(box, launch, 32, Spending(Budget())), needs, data)
    (loop,) = (it for it in ir.walk(kernel.body) if isinstance(it, ir.Loop))
    (i,) = (it for it in kernel.variables if it.name == "i")
    env = machine.evaluator.env
    now = env[i] = Sym(3)
    ends = partial(_check_end, machine, loop.condition, {i: Sym(0)}, {i: 1}, turns, 0)
    if is_end:
        ends()
    else:
        with pytest.raises(NotRegularError):
            ends()
    assert env[i] is now


@pytest.mark.parametrize("turns", [6, 20, 40])
def test_a_do_loop_is_counted_however_many_iterations_it_has(turns: int) -> None:
    """A mask of the iterations would not fit: they all do the same, which is counted once."""
    body = "float s = 0; long k = 0; do { s += a[get_local_id(0)]; k++; } while (k < (1L << N)); a[0] = s;"
    result = counted(body.replace("N", str(turns)))
    assert result.is_exact
    assert [it.requests for it in result.sites.values()] == [32 << turns, 32]


def test_a_sign_mask_of_64_bits_is_followed() -> None:
    found = counted("long x = (long)get_local_id(0) - 3; a[(x >> 63) & 7] = 1;", items=64)
    assert found.is_exact
    (site,) = found.sites.values()
    assert (site.requests, site.units) == (2, 2)


@pytest.mark.parametrize("kind", ["char", "uchar", "short", "ushort", "int", "uint", "long", "ulong"])
def test_what_all_read_at_one_place_is_looked_up_without_spreading_it_out(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where the place is worked out for each work-item; tables of constants are read so in loops."""
    source = f"__kernel void f(__global float *a, __global const {kind} *t) {{ a[get_global_id(0)] = t[3]; }}"
    (kernel,) = read_program(source, "f.cl").kernels
    table = BufferArgument(Fill.FORMULA, 64, text="255 - i")
    launch = Launch("f", (64,), (64,), {"a": BufferArgument(Fill.ZEROS, 64), "t": table}, Origin.GIVEN)
    (box,) = boxes_of(launch)
    data = KnownData(kernel, launch, needs_of(kernel).written, ())
    space = Space(box, launch, 32, Spending(Budget()))
    pointer = next(it.pointer for it in ir.walk(kernel.body) if isinstance(it, ir.Load))
    element = pointer.type.pointee
    for number in (0, 5, 63):
        at = Pointer(kernel.parameters[1], Sym(number * element.size))
        with monkeypatch.context() as patched:
            patched.setattr(KnownData, "_one", lambda *_: None)
            slowly = data.load(at, element, True, space)
        with monkeypatch.context() as patched:
            patched.setattr(memory, "spread_out", None)  # Whoever spreads it out fails.
            assert data.load(at, element, True, space).const == slowly.const
    beyond = Pointer(kernel.parameters[1], Sym(64 * element.size))
    assert isinstance(data.load(beyond, element, True, space), Unknown)
    between = Pointer(kernel.parameters[1], Sym(element.size + 1))
    assert element.size == 1 or isinstance(data.load(between, element, True, space), Unknown)

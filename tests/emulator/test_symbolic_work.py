"""The symbolic engine's work and memory are bounded where values differ along many loops at once."""

import sys
import tracemalloc
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from clmap_lsp.devices.catalogue import load_model
from clmap_lsp.emulator.symbolic.cells import Cells
from clmap_lsp.emulator.symbolic.control import Budget, OverBudgetError, Spending
from clmap_lsp.emulator.symbolic.counts import boxes_of, count, run_boxes
from clmap_lsp.emulator.symbolic.machine import HOW_OFTEN, Turns
from clmap_lsp.emulator.symbolic.rows import Kept, Rows, both, either
from clmap_lsp.emulator.symbolic.space import Space, box_of_group
from clmap_lsp.emulator.symbolic.values import Sym, Unknown, of_array
from clmap_lsp.launch.model import BufferArgument, Fill, Launch
from clmap_lsp.source.read import read_program
from clmap_lsp.source.span import Span
from clmap_lsp.source.types import UCHAR, UINT, ULONG, USHORT, AddressSpace

DEVICE = load_model("nvidia-hopper")


def counted(body, budget, items=(64,), group=None):
    program = read_program(f"__kernel void k(__global int *a) {{ {body} }}", "kernel.cl")
    launch = Launch("k", items, group or items, {"a": BufferArgument(Fill.ZEROS, 64)})
    return count(program.kernels[0], launch, DEVICE, budget=budget)


def test_arithmetic_on_arrays_has_a_budget():
    body = "int i = get_global_id(0); for (int j = 0; j < 100; j++) a[(i * i + (j ^ i)) & 63] = 1;"
    assert counted(body, Budget()).is_exact
    found = counted(body, Budget(computed_cells=10_000))
    assert found.bail is not None
    assert "loops" in found.bail.reason


def test_what_is_sampled_because_all_of_it_costs_too_much_has_the_rest_of_the_budget():
    """Sixteen work-groups of a filter whose rows differ cost as much again as the launch given up."""
    body = """int x = get_global_id(0), y = get_global_id(1);
        for (int j = 0; j < 4000; j++) for (int i = 0; i < 300; i++)
            a[((y * 7 + j) * 259 + (x * 7 ^ i)) & 63] = j;"""
    budget, spent = Budget(), Spending(Budget())
    program = read_program(f"__kernel void k(__global int *a) {{ {body} }}", "kernel.cl")
    launch = Launch("k", (256, 256), (16, 16), {"a": BufferArgument(Fill.ZEROS, 64)})
    found = count(program.kernels[0], launch, DEVICE, budget=budget, shared=spent)
    assert found.bail is not None
    assert budget.whole < spent.whole < budget.whole * 1.25


@pytest.mark.parametrize("join", [both, either])
def test_masks_along_many_loops_are_given_up(join):
    """Two of 64 Ki elements made one of four gigabytes."""
    one = np.arange(1 << 16).reshape(-1, 1) % 3 == 0
    with pytest.raises(OverBudgetError):
        join(one, one.reshape(1, -1))


def test_pieces_of_a_private_object_never_overlap():
    """Held against an array of bytes that knows which store wrote each."""
    types = {1: UCHAR, 2: USHORT, 4: UINT, 8: ULONG}
    launch = Launch("k", (1,), (1,), {})
    space = Space(next(iter(boxes_of(launch))), launch, 32, Spending(Budget()))
    cells, memory, random = Cells(), bytearray(160), np.random.default_rng(7)
    written = np.zeros(160, bool)
    for _ in range(400):
        size, at = int(2 ** random.integers(0, 4)), int(random.integers(0, 128))
        number = int(random.integers(0, 1 << 62)) % (1 << 8 * size)
        cells.store(at, size, Sym(number), types[size], space)
        memory[at : at + size] = number.to_bytes(size, "little")
        written[at : at + size] = True
        for start, wide in ((at, size), *((int(it), 4) for it in random.integers(0, 128, 8))):
            found = cells.load(start, wide, types[wide], space)
            known = written[start : start + wide]
            if known.all():
                assert found.const == int.from_bytes(memory[start : start + wide], "little")
            else:
                assert isinstance(found, Unknown) if known.any() else found is None


def test_rows_that_go_free_what_no_other_row_holds():
    shared, own = (of_array(np.arange(64, dtype=np.int64) * step) for step in (3, 5))
    variable = read_program("__kernel void k(__global int *a) {}", "k.cl").kernels[0].parameters[0]
    span = Span("k.cl", 0, 0)

    def row(offset):
        return Rows(
            0, "load", variable, AddressSpace.GLOBAL, offset, True, (1, 1, 1), 64, 4, None, span, (64, 1, 1)
        )

    rows, kept = [row(shared), row(shared), row(own)], Kept()
    for it in rows:
        kept.add(it)
    assert kept.n_bytes == 2 * 64 * 8
    kept.drop(rows[1:])
    assert kept.n_bytes == 64 * 8


def instructions(body):
    """Return how many instructions Python executes in each file of the engine, the same on every machine."""
    n = Counter()

    def trace(frame, event, _):
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        file = Path(frame.f_code.co_filename)
        n[file.name] += event == "opcode"
        return trace if file.parent.name == "symbolic" else None

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        found = counted(body, Budget())
    finally:
        sys.settrace(before)
    assert found.is_exact
    return n


def stores(n):
    """Each is needed by an address, so that none is left out."""
    lines = [f"p[{i}] = {i % 64}; a[p[{i // 2}]] = 1;" for i in range(n)]
    return f"int p[{n}]; {' '.join(lines)}"


def different_rows(n):
    """No two addresses share an array, so that the memory of each row is its own."""
    return "int i = get_global_id(0);" + " ".join(f"a[(i * i + {j}) & 63] = 1;" for j in range(n))


@pytest.mark.parametrize("body", [stores, different_rows])
def test_work_is_linear_in_stores_and_in_accesses(body):
    few, many = (instructions(body(n)) for n in (50, 400))
    assert {"machine.py", "rows.py"} <= few.keys()
    assert [(file, few[file], n) for file, n in many.items() if n > 8.5 * few[file]] == []


def test_a_turn_that_is_taken_back_takes_its_stores_back():
    """Whether work-items leave the loop is known only after its first turn; that is run once more then."""
    source = """__kernel void k(__global int *a, __global int *b) {
        int p[2];
        b[get_global_id(0)] = 1;
        p[0] = 5;
        for (int j = 0; j < 4; j++) {
            a[p[0]] = 1;
            p[0] += 1;
            if (b[j] > 0) break;
        }
    }"""
    kernel = read_program(source, "kernel.cl").kernels[0]
    launch = Launch("k", (64,), (64,), {it: BufferArgument(Fill.ZEROS, 64) for it in "ab"})
    boxes = boxes_of(launch)
    (machine,) = run_boxes(kernel, launch, 32, Spending(Budget()), (), boxes, suppose_taken=True)
    assert [it.offset.const for it in machine.rows if it.root.name == "a"] == [20, 24, 28, 32]


@pytest.mark.parametrize(
    ("test", "likely", "most"),
    [
        ("b[j] > 0", 16, 64),  # Nothing bounds it.
        ("j < 5 && b[j] > 0", 5, 5),
        ("b[j] > 0 && j < 1000", 16, 1000),
        ("j < 5 && b[j] > 0 && a[j] < 3", 5, 5),
    ],
)
def test_loop_that_data_end_makes_the_turns_that_are_supposed(test, likely, most):
    source = f"""__kernel void k(__global int *a, __global int *b) {{
        b[get_global_id(0)] = 1;
        for (int j = 0; {test}; j++)
            a[get_global_id(0)] += 1;
    }}"""
    kernel = read_program(source, "kernel.cl").kernels[0]
    launch = Launch("k", (64,), (64,), {it: BufferArgument(Fill.ZEROS, 64) for it in "ab"})
    for turns, made in ((Turns(16), likely), (Turns(64, to_the_bound=True), most)):
        (machine,) = run_boxes(
            kernel,
            launch,
            32,
            Spending(Budget()),
            (),
            boxes_of(launch),
            suppose_taken=True,
            suppose_turns=turns,
        )
        stores = [it for it in machine.rows if it.root.name == "a" and it.op == "store"]
        assert [it.counts[3:] for it in stores] == [(made,)]
        assert any(it.is_counted and it.reason.startswith(HOW_OFTEN) for it in machine.doubts)


def test_sample_is_as_large_as_its_budget_allows():
    source = """__kernel void k(__global int *a) {
        int v = get_global_id(0) + 1, n = 0;
        while (v != 1 && n < 300) {
            v = v & 1 ? 3 * v + 1 : v / 2;
            n++;
        }
        a[get_global_id(0)] = n;
    }"""
    kernel = read_program(source, "kernel.cl").kernels[0]
    launch = Launch("k", (4096,), (64,), {"a": BufferArgument(Fill.ZEROS, 4096)})
    boxes = [box_of_group(launch, it) for it in range(64)]
    budget = Budget(whole=60_000)
    with pytest.raises(OverBudgetError):
        run_boxes(kernel, launch, 32, Spending(budget), (), boxes)
    some = run_boxes(kernel, launch, 32, Spending(budget), (), boxes, as_many_as_fit=True)
    assert 0 < len(some) < 64
    with pytest.raises(OverBudgetError):  # Not even one.
        run_boxes(kernel, launch, 32, Spending(Budget(whole=1000)), (), boxes, as_many_as_fit=True)


def test_what_differs_along_many_loops_takes_little_memory():
    """A convolution whose filter may be as large as the image: values of 65,536 turns in 256 lanes."""
    body = """int x = get_global_id(0); float sum = 0;
        for (int j = 0; j < 256; j++) {
            int v = x + j - 1;
            if (0 <= v && v < 256)
                for (int i = 0; i < 256; i++) {
                    int u = x + i - 1;
                    if (0 <= u && u < 256) sum += a[v * 256 + u] * a[j * 256 + i];
                }
        }
        a[x] = sum;"""
    tracemalloc.start()
    try:
        found = counted(body, Budget(), items=(256,))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found.bail is not None
    assert peak < 256 << 20


@pytest.mark.parametrize("kind", ["int", "uint"])
def test_parts_that_rise_and_fall_together_stay_apart_from_the_groups(kind):
    """`r - r % 4` is never below 0, so an unsigned index does not wrap and is not spread out over groups."""
    body = f"""
    {kind} n = 2048;
    for (int r = 0; r < 8; r++)
        for (int c = 0; c < 8; c++) {{
            const int i = (int)get_group_id(1) * 128 + 16 * (r - r % 4) + 4 * (int)get_local_id(1) + r % 4;
            const int j = (int)get_group_id(0) * 128 + 16 * (c - c % 4) + 4 * (int)get_local_id(0) + c % 4;
            a[i * n + j] = 1;
        }}"""
    found = counted(body, Budget(work_cells=1 << 18), items=(256, 256), group=(16, 16))
    assert found.is_exact
    (site,) = found.sites.values()
    assert site.requests == 64 * 8 * 256

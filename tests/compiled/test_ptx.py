"""PTX as machine code: what ptxas folds into others and unrolls, and how unequal SIMD groups are."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from clmap_lsp.compiled import ptx
from clmap_lsp.compiled.balance import Balance, balance_of
from clmap_lsp.compiled.build import Compiled, compiled
from clmap_lsp.compiled.machine_code import Instruction, Pipe
from clmap_lsp.compiled.target import target_of
from clmap_lsp.devices import load_model
from clmap_lsp.emulator.symbolic.control import Budget, Spending
from clmap_lsp.emulator.symbolic.counts import run_boxes
from clmap_lsp.emulator.symbolic.space import boxes_of
from clmap_lsp.launch import Launch, PartialLaunch, resolve
from clmap_lsp.source.read import read_program
from clmap_lsp.time.facts import time_facts
from clmap_lsp.time.latency import path_cycles
from clmap_lsp.time.predict import demand_of

DEVICE = "nvidia-h200"


def slots(*lines: str) -> float:
    """Return the issue slots of lines of PTX."""
    text = "{\n" + "\n".join(f"\t{it};" for it in lines) + "\n}\n"
    code = ptx.read(text, "k")
    return sum(
        it.cost + sum(more for _, more in it.extra) for block in code.blocks for it in block.instructions
    )


def machine_code(source: str) -> Compiled:
    """Compile a kernel for the device."""
    program = read_program(source, "k.cl")
    target = target_of(load_model(DEVICE))
    assert target is not None
    found = compiled(program.kernels[0], target, program.constants)
    assert isinstance(found, Compiled), found
    return found


def copies(source: str) -> int:
    """Return the largest number of copies that ptxas makes of a loop's body, LLVM's included."""
    blocks = machine_code(source).code.blocks
    loops = [it for number, it in enumerate(blocks) if number in it.successors]
    return max((it.copies * max(it.probes.values(), default=1) for it in loops), default=0)


def test_logic_and_sums_of_three_operands_are_one_instruction() -> None:
    """LOP3 and IADD3: a second operation whose result nobody else reads is free."""
    assert slots("and.b32 %r2, %r0, %r1", "xor.b32 %r4, %r2, %r3") == slots("and.b32 %r2, %r0, %r1")
    assert slots("add.s32 %r2, %r0, %r1", "sub.s32 %r4, %r2, %r3") == slots("add.s32 %r2, %r0, %r1")
    assert slots("shl.b32 %r2, %r0, 3", "add.s32 %r4, %r2, %r3") == slots("add.s32 %r4, %r2, %r3")
    assert slots("mul.wide.s32 %rd2, %r0, 4", "add.s64 %rd4, %rd2, %rd3") == slots(
        "mul.wide.s32 %rd2, %r0, 4"
    )


def test_what_others_read_or_needs_four_operands_is_not_folded() -> None:
    """A value that is read twice must be made, and no instruction takes four."""
    shared = ("and.b32 %r2, %r0, %r1", "xor.b32 %r4, %r2, %r3", "or.b32 %r6, %r2, %r5")
    assert slots(*shared) == 3.0
    long = ("and.b32 %r2, %r0, %r1", "xor.b32 %r4, %r2, %r3", "or.b32 %r6, %r4, %r5")
    assert slots(*long) == 2.0


def test_loops_that_count_by_a_constant_are_unrolled_again_and_others_are_not() -> None:
    """Sixteen of a short loop's iterations stand together; four where get_global_size() steps the address."""
    head = (
        "__kernel void k(__global const float *a, __global float *o, const int n) { int i = get_global_id(0);"
    )
    body = "float s = 0.0f; for (int k = 0; k < n; k++) s += a[{}]; o[i] = s; }}"
    assert copies(head + body.format("k * n + i")) == 16
    assert copies(head + "int w = get_global_size(0);" + body.format("k * w + i")) == 4
    assert copies(head + body.format("k * get_global_size(0) + i")) == 8


def test_comparisons_of_numbers_are_single_instructions() -> None:
    """`clamp`, `min` and `max` of numbers are no comparisons with selections."""
    source = "__kernel void k(__global float *a) {{ int i = get_global_id(0); a[i] = {}; }}"
    for call in ("clamp(a[i], 0.0f, 1.0f)", "min(max(a[i], 0.0f), 1.0f)"):
        code = machine_code(source.format(call)).code
        lines = [it.text for block in code.blocks for it in block.instructions]
        assert not any(it.startswith(("setp", "selp")) for it in lines)
        assert sum(it.startswith(("min", "max")) for it in lines) == 2


def launched(source: str, *, size: int, local: int, **arguments: str) -> Launch:
    """Return a launch of the only kernel."""
    given = PartialLaunch("k", (size,), (local,), arguments=arguments)
    program = read_program(source, "k.cl")
    found = resolve(program, program.kernels[0], given=given)
    assert isinstance(found, Launch)
    return found


@pytest.mark.parametrize("groups", [1, 4, 16])
def test_the_balance_is_that_of_the_work_items(groups: int) -> None:
    """A triangle's SIMD groups are counted one by one here: as long as their longest work-item."""
    source = """__kernel void k(__global const float *a, __global float *o) {
        int i = get_global_id(0); float s = 0.0f;
        for (int j = 0; j <= i; j++) s += a[j];
        o[i] = s; }"""
    size = 64 * groups
    program = read_program(source, "k.cl")
    launch = launched(source, size=size, local=64, a=f"random({size})", o=f"zeros({size})")
    facts = time_facts(DEVICE)
    assert facts is not None
    found = demand_of(program.kernels[0], launch, load_model(DEVICE), program.constants, facts)
    assert not isinstance(found, str), found
    longest = np.arange(1, size + 1).reshape(-1, 32).max(axis=1)
    assert found.balance.simd_group == pytest.approx(longest.max() / longest.mean(), rel=0.05)
    by_group = longest.reshape(-1, 2).sum(axis=1)
    assert found.balance.work_group == pytest.approx(by_group.max() / by_group.mean(), rel=0.05)


def test_equal_work_items_are_in_balance() -> None:
    """Nothing is longer than the rest."""
    source = "__kernel void k(__global float *a) { a[get_global_id(0)] = 1.0f; }"
    program = read_program(source, "k.cl")
    launch = launched(source, size=4096, local=64, a="zeros(4096)")
    facts = time_facts(DEVICE)
    assert facts is not None
    found = demand_of(program.kernels[0], launch, load_model(DEVICE), program.constants, facts)
    assert not isinstance(found, str)
    assert found.balance == Balance()


def test_the_balance_of_a_huge_launch_takes_no_memory() -> None:
    """Sixty-seven million work-groups that are alike are not spelt out."""
    source = "__kernel void k(__global float *a) { a[get_global_id(0)] = 1.0f; }"
    program = read_program(source, "k.cl")
    launch = launched(source, size=1 << 26, local=1, a="zeros(67108864)")
    code = machine_code(source).code
    boxes = run_boxes(program.kernels[0], launch, 32, Spending(Budget()), (), boxes_of(launch))
    tracemalloc.start()
    found = balance_of([[(1, it) for it in box.rows] for box in boxes], code, 32)
    assert tracemalloc.get_traced_memory()[1] < 1 << 20
    tracemalloc.stop()
    assert found == Balance()


def test_free_lines_take_no_slot() -> None:
    """Folded lines are marked as gone."""
    code = ptx.read("{\n\tand.b32 %r2, %r0, %r1;\n\txor.b32 %r4, %r2, %r3;\n}\n", "k")
    assert [it.pipe for it in code.blocks[0].instructions] == [Pipe.FREE, Pipe.INT]


VECTOR_AMONG_SCALARS = """// clmap: global=1024,64 local=16,16 n=1024
__kernel void k(__global const float *a, __global const float *b, __global float *c, const int n)
{
    const int row = get_global_id(0), column = get_global_id(1);
    float sum = 0.0f;
    for (int k = 0; k < n; k += 4) {
        const float4 four = *(__global const float4 *)&a[row * n + k];
        sum += four.s0 * b[k * n + column];
        sum += four.s1 * b[(k + 1) * n + column];
        sum += four.s2 * b[(k + 2) * n + column];
        sum += four.s3 * b[(k + 3) * n + column];
    }
    c[column * 1024 + row] = sum;
}
"""


def test_a_wide_load_is_of_the_vector_that_it_loads() -> None:
    """LLVM gives it the place of its first use, where another buffer's element is loaded.

    On an H100 the same loop over 1024 x 1024 took 1206 us: each vector's request is of 32 lines.
    """
    program = read_program(VECTOR_AMONG_SCALARS, "k.cl")
    kernel, device = program.kernels[0], load_model(DEVICE)
    launch = resolve(program, kernel)
    facts = time_facts(DEVICE)
    assert isinstance(launch, Launch) and facts is not None
    found = demand_of(kernel, launch, device, program.constants, facts)
    assert not isinstance(found, str), found
    wide = [it for it in found.accesses if it.op == "load" and it.size == 16 and it.requests]
    narrow = [it for it in found.accesses if it.op == "load" and it.size == 4 and it.requests]
    assert wide and narrow
    assert {it.site for it in wide}.isdisjoint(it.site for it in narrow)
    assert all(it.line_cycles >= 16 * it.requests for it in wide)
    assert all(it.line_cycles <= 2 * it.requests for it in narrow)


def test_loads_under_way_are_limited_by_the_registers_that_they_fill() -> None:
    """Sixteen loads of a word wait together, of four words in turns: 32 registers hold six of them."""

    def path(words: int) -> float:
        kind = {1: "b32", 4: "v4.b32"}[words]
        lines = []
        for it in range(16):
            names = [f"%r{words * it + k}" for k in range(words)]
            into = names[0] if words == 1 else "{" + ", ".join(names) + "}"
            lines.append(f"ld.global.{kind} {into}, [%rd1+{16 * it}]")
            lines += [f"add.f32 %f1, %f1, {name}" for name in names]
        text = "{\n" + "\n".join(f"\t{it};" for it in lines) + "\n\tret;\n}\n"
        blocks = tuple(ptx.read(text, "k").blocks)
        weights = (1.0,) * len(blocks)

        def latency(it: Instruction, _: int) -> float:
            return 500.0 if it.memory is not None else 4.0

        def until_used(it: Instruction) -> float:
            return 1.0

        return path_cycles(blocks, weights, 1.0, latency, until_used, {})

    assert 500 < path(1) < 700
    assert 1500 < path(4) < 2500


def test_a_length_divides_by_the_largest_part_first() -> None:
    """NVIDIA's compiler guards squares against overflow: 96 us measured where a plain root is 34."""

    def special(function: str) -> float:
        code = machine_code(
            f"__kernel void k(__global float4 *a, __global float *b) {{ int i = get_global_id(0);"
            f" b[i] = {function}(a[i]); }}"
        ).code
        lines = [it for block in code.blocks for it in block.instructions]
        pipes = [pipe for it in lines for pipe, _ in ((it.pipe, it.cost), *it.extra)]
        return pipes.count(Pipe.SPECIAL)

    assert special("fast_length") == 1
    assert special("length") == 5

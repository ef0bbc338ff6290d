"""The order of the machine code: that of the source, as far ahead as 32 registers go."""

from __future__ import annotations

from collections.abc import Sequence

from clmap_lsp.compiled import ptx
from clmap_lsp.compiled.machine_code import BasicBlock, Instruction
from clmap_lsp.time.latency import orders_of, path_cycles
from clmap_lsp.time.order import uniform_registers

WORK_ITEM = "mov.u32 %r1, %tid.x; mul.wide.u32 %rd1, %r1, 4"


def blocks_of(*lines: str) -> tuple[BasicBlock, ...]:
    text = "{\n" + "\n".join(f"\t{it};" for it in (*WORK_ITEM.split("; "), *lines)) + "\n\tret;\n}\n"
    return tuple(ptx.read(text, "k").blocks)


def order_of(*lines: str) -> list[str]:
    blocks = blocks_of(*lines)
    (order,) = orders_of(blocks, [1.0] * len(blocks))
    return [blocks[0].instructions[it].text for it in order]


def roots(count: int, first: int = 100) -> list[str]:
    """Independent chains, each of a load and two roots."""
    lines = []
    for it in range(count):
        name = f"%f{first + 3 * it}", f"%f{first + 3 * it + 1}", f"%f{first + 3 * it + 2}"
        lines += [
            f"ld.global.b32 {name[0]}, [%rd1+{4 * it}]",
            f"rsqrt.approx.f32 {name[1]}, {name[0]}",
            f"rsqrt.approx.f32 {name[2]}, {name[1]}",
            f"add.f32 %f1, %f1, {name[2]}",
        ]
    return lines


def cycles(blocks: Sequence[BasicBlock], far: float = 300.0) -> float:
    def latency(it: Instruction, _: int) -> float:
        return far if it.memory is not None else it.latency

    return path_cycles(tuple(blocks), (1.0,) * len(blocks), 1.0, latency, lambda _: 1.0, {})


def test_loads_come_first_as_far_as_registers_go() -> None:
    lines = order_of(*roots(40))
    ahead = next(place for place, text in enumerate(lines) if "rsqrt" in text) - 2
    assert 20 <= ahead <= 26  # Four of 32 are taken, the address takes two, the sum one.


def test_loads_beyond_the_registers_wait_again() -> None:
    assert cycles(blocks_of(*roots(20))) < 1000
    assert cycles(blocks_of(*roots(40))) > cycles(blocks_of(*roots(20))) + 300


def test_an_instruction_that_waits_holds_up_those_behind_it() -> None:
    """Four words each are loaded from three places: no register is left to begin the second chain early."""
    lines = []
    for it in range(6):
        names = [f"%f{200 + 4 * it + k}" for k in range(4)]
        lines.append(f"ld.global.v4.b32 {{{', '.join(names)}}}, [%rd1+{16 * it}]")
    chains = [f"mul.f32 %f{300 + it}, %f{200 + 4 * it}, %f{201 + 4 * it}" for it in range(6)]
    sums = [f"add.f32 %f{1 + k}, %f{300 + it}, %f{200 + 4 * it + k}" for it in range(6) for k in range(4)]
    order = order_of(*lines, *chains, *sums)
    assert [it for it in order if it.startswith("mul.f32")] == chains


def test_local_loads_do_not_take_registers_before_they_are_needed() -> None:
    near = [f"ld.shared.b32 %f{300 + it}, [%r1+{4 * it}]" for it in range(16)]
    far = [f"ld.global.b32 %f{400 + it}, [%rd1+{4 * it}]" for it in range(16)]
    sums = [f"fma.rn.f32 %f1, %f{300 + it}, %f{400 + it}, %f1" for it in range(16)]
    order = order_of(*near, *far, *sums)
    first = next(place for place, text in enumerate(order) if "ld.shared" in text)
    assert sum("ld.global" in text for text in order[:first]) == 16


def test_what_is_alike_in_all_lanes_takes_no_register() -> None:
    blocks = blocks_of(
        "ld.param.b64 %rd2, [k_param_0]",
        "add.s64 %rd3, %rd2, 4",
        "add.s64 %rd4, %rd3, %rd1",
        "ld.global.b32 %r2, [%rd3]",
        "add.s32 %r3, %r2, 1",
    )
    assert {"%rd2", "%rd3"} <= uniform_registers(blocks)
    assert {"%r1", "%rd1", "%rd4", "%r2", "%r3"}.isdisjoint(uniform_registers(blocks))


def test_every_instruction_is_issued_once_and_behind_what_it_reads() -> None:
    blocks = blocks_of(*roots(50), "bar.sync 0", "st.global.b32 [%rd1], %f1", *roots(9, 900))
    (order,) = orders_of(blocks, [1.0])
    assert sorted(order) == list(range(len(blocks[0].instructions)))
    made: set[str] = set()
    for place in order:
        it = blocks[0].instructions[place]
        assert {name for name in it.reads if name not in ("%f1",)} <= made | {"%f1"}
        made.update(it.writes)


def bodies(root: str, kind: str, register: str) -> list[str]:
    """Four loads, each with a root and a sum of its own."""
    lines = []
    for it in range(4):
        name = f"%{register}{100 + 2 * it}", f"%{register}{101 + 2 * it}"
        lines += [
            f"ld.global.{kind} {name[0]}, [%rd1+{8 * it}]",
            f"{root} {name[1]}, {name[0]}",
            f"add.rn.{kind} %{register}1, %{register}1, {name[1]}",
        ]
    return lines


def test_nothing_is_moved_over_the_slow_path_of_a_division() -> None:
    """`lennard_jones_double` on an H200: four bodies wait four times, 460 cycles each (0.57 of it before)."""
    exact = bodies("rcp.rn.f64", "f64", "fd")
    assert [it.split(" ")[0] for it in order_of(*exact) if "rcp" in it or "ld." in it] == [
        it.split(" ")[0] for it in exact if "rcp" in it or "ld." in it
    ]
    rough = bodies("rcp.approx.ftz.f32", "f32", "f")
    assert cycles(blocks_of(*exact)) > 4 * 300
    assert cycles(blocks_of(*rough)) < 2 * 300

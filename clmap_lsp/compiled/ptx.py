"""PTX read back into basic blocks, with what ptxas makes of each line: issue slots, pipe, latency.

Source of pipes and rates: CUDA C++ Programming Guide 13, arithmetic instruction throughput (9.0).
Lines that ptxas folds away (parameter loads, widening, moves) are free; divisions and 64-bit arithmetic
expand. The expansions were counted with ptxas 13 and nvdisasm for sm_90.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator

from clmap_lsp.compiled.folding import fold
from clmap_lsp.compiled.machine_code import BasicBlock, Instruction, MachineCode, MemoryOp, Pipe, find_loops
from clmap_lsp.compiled.unrolling import mark_unrolled
from clmap_lsp.interruption import checkpoint

_LINE = re.compile(r"^\s*(?:@(!?%\w+)\s+)?([a-z][\w.:]*)\s*(.*?);?\s*$")
_LABEL = re.compile(r"^(\$\w+):")
_REGISTER = re.compile(r"%[a-z]+\d+")
_LOC = re.compile(r"^\s*\.loc\s+\d+\s+(\d+)\s+(\d+)")
_PROBE = re.compile(r"^\s*\.pseudoprobe\s+\d+\s+(\d+)")
_OBJECT = re.compile(r"^\s*(?:\.visible|\.extern)?\s*\.shared\s+\.align\s+\d+\s+\.b8\s+[\w$.]+\[(\d+)\]")
_DEPOT = re.compile(r"^\s*\.local\s+\.align\s+\d+\s+\.b8\s+\w+\[(\d+)\]")
_SPACES = {"global": "global", "shared": "local", "const": "constant", "local": "private"}

Cost = tuple[Pipe, float, float, tuple[tuple[Pipe, float], ...]]
"""Pipe, slots, latency, slots of other pipes."""


def read(text: str, entry: str) -> MachineCode:
    """Return the code of one kernel."""
    blocks, labels = _blocks(text)
    for number, block in enumerate(blocks):
        block.successors = _successors(block, number, len(blocks), labels)
    fold(blocks)
    find_loops(blocks)
    mark_unrolled(blocks)
    for block in blocks:
        if block.copies > 1:
            _share_overhead(block)
    local = sum(int(found[1]) for line in text.splitlines() if (found := _OBJECT.match(line)))
    private = sum(int(found[1]) for line in text.splitlines() if (found := _DEPOT.match(line)))
    return MachineCode(tuple(blocks), text, live_registers(blocks), False, None, private, local)


def _blocks(text: str) -> tuple[list[BasicBlock], dict[str, int]]:
    blocks = [BasicBlock("entry")]
    labels: dict[str, int] = {}
    statement, site, inside = 0, None, False
    for line in text.splitlines():
        checkpoint()
        if line.startswith("{"):
            inside = True
        if not inside:
            continue
        if line.startswith("}"):
            break
        if found := _LOC.match(line):
            statement = int(found[1])
            site = int(found[2]) - 1 if int(found[2]) else None
        elif found := _PROBE.match(line):
            number = int(found[1])
            blocks[-1].probes[number] = blocks[-1].probes.get(number, 0) + 1
        elif ".pragma" in line and "nounroll" in line:
            blocks[-1].stays_as_it_is = True
        elif found := _LABEL.match(line):
            if not found[1].startswith(("$L__BB", "$LBB")):
                continue
            if blocks[-1].instructions or blocks[-1].probes:
                blocks.append(BasicBlock(found[1]))
            labels[found[1]] = len(blocks) - 1
        elif (found := _LINE.match(line)) and not found[2].startswith("."):
            instruction = _instruction(found[1], found[2], found[3], statement, site)
            blocks[-1].instructions.append(instruction)
            if found[2].startswith(("bra", "ret", "brx", "exit")):
                blocks.append(BasicBlock(f"after.{len(blocks)}"))
    if len(blocks) > 1 and not blocks[-1].instructions:
        blocks.pop()
    return blocks, labels


def _share_overhead(block: BasicBlock) -> None:
    """Share a loop's counting among the iterations that ptxas unrolls it by once more."""
    wanted = set(block.instructions[-1].reads)
    for place in range(len(block.instructions) - 1, -1, -1):
        it = block.instructions[place]
        is_test = it.text.startswith("setp") and wanted & set(it.writes)
        if it.text.startswith("@") or is_test or (it.text.startswith("add.s32") and wanted & set(it.writes)):
            if is_test:
                wanted |= set(it.reads)
            extra = tuple((pipe, slots / block.copies) for pipe, slots in it.extra)
            shared = dataclasses.replace(it, cost=it.cost / block.copies, extra=extra)
            block.instructions[place] = shared


def _successors(block: BasicBlock, number: int, count: int, labels: dict[str, int]) -> list[int]:
    following = [number + 1] if number + 1 < count else []
    if not block.instructions:
        return following
    last = block.instructions[-1].text
    if "bra" in last:
        targets = [labels[it] for it in re.findall(r"\$\w+", last) if it in labels]
        return targets + (following if last.startswith("@") else [])
    return [] if last.startswith(("ret", "exit")) else following


def _instruction(
    guard: str | None, opcode: str, operands: str, statement: int, site: int | None
) -> Instruction:
    pipe, cost, latency, extra = _cost(opcode, operands)
    memory = _memory(opcode)
    writes, reads = _registers(opcode, operands, memory)
    if guard is not None:
        reads = (*reads, guard.lstrip("!"))
    text = f"{'@' + guard + ' ' if guard else ''}{opcode} {operands}"
    return Instruction(
        text,
        statement,
        site,
        pipe,
        cost,
        reads,
        writes,
        memory,
        extra,
        latency,
        is_barrier=opcode.startswith("bar"),
        branches=_SLOW_PATH.match(opcode) is not None,
    )


_SLOW_PATH = re.compile(r"(rcp|div|sqrt|rsqrt)\..*f64|(div|rem)\.[su]64|(rcp|div|sqrt)\.rn.*f32")
"""What ptxas 13 makes a call of for sm_90, after a branch if most operands need none: of four reciprocals of
64 bits in a loop's pass, each with the loads of its own body, the loads stay between their calls."""


def _registers(
    opcode: str, operands: str, memory: MemoryOp | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return what is written and read: the first operand is the destination, but for stores and branches."""
    if opcode.startswith(("st.", "red.", "bra", "bar", "ret", "membar", "fence")):
        return (), tuple(_REGISTER.findall(operands))
    head = operands
    if operands.startswith("{"):
        head, _, rest = operands.partition("}")
    else:
        head, _, rest = operands.partition(",")
    return tuple(_REGISTER.findall(head)), tuple(_REGISTER.findall(rest))


_WIDTH = re.compile(r"\.[bfsu](8|16|32|64|128)\b")
_VECTOR = re.compile(r"\.v([248])\b")


def _memory(opcode: str) -> MemoryOp | None:
    parts = opcode.split(".")
    name = {"ld": "load", "st": "store", "atom": "atomic", "red": "atomic", "ldu": "load"}.get(parts[0])
    if name is None or "param" in parts:
        return None
    space = next((_SPACES[it] for it in parts if it in _SPACES), "global")
    width = _WIDTH.search(opcode)
    pieces = _VECTOR.search(opcode)
    count = int(pieces[1]) if pieces else 1
    return MemoryOp(name, space, (int(width[1]) // 8 if width else 4) * count, count)


_FREE = (
    "mov",
    "cvta",
    "ld.param",
    "bra.uni",
    "cvt.u64.u32",
    "cvt.u32.u64",
    "cvt.u16.u32",
    "cvt.u32.u16",
    "pragma",
)
_ALU = 4.0
_TABLE: tuple[tuple[re.Pattern[str], Cost], ...] = tuple(
    (re.compile(pattern), cost)
    for pattern, cost in (
        (r"(fma|mad)\.rn.*f64|(add|sub|mul)(\.rn)?\.f64", (Pipe.FP64, 1.0, 8.0, ())),
        (r"div.*f64", (Pipe.FP64, 10.0, 90.0, ((Pipe.SPECIAL, 1.0), (Pipe.INT, 6.0)))),
        (r"sqrt.*f64|rsqrt.*f64|rcp.*f64", (Pipe.FP64, 9.0, 80.0, ((Pipe.SPECIAL, 1.0), (Pipe.INT, 5.0)))),
        (r"(setp|min|max|neg|abs|set).*f64", (Pipe.FP64, 1.0, 8.0, ())),
        (r"cvt.*f64", (Pipe.SPECIAL, 1.0, 12.0, ())),
        (r"div\.(full|approx).*f32", (Pipe.FP32, 5.0, 40.0, ((Pipe.SPECIAL, 1.0), (Pipe.INT, 2.0)))),
        (r"div\.rn.*f32", (Pipe.FP32, 8.0, 60.0, ((Pipe.SPECIAL, 1.0), (Pipe.INT, 4.0)))),
        (r"(sqrt|rsqrt)\..*f32", (Pipe.SPECIAL, 1.0, 28.0, ((Pipe.FP32, 2.0), (Pipe.INT, 1.0)))),
        (r"(ex2|lg2)\.approx\.f32", (Pipe.SPECIAL, 1.0, 28.0, ((Pipe.FP32, 2.0), (Pipe.INT, 1.0)))),
        (r"(sin|cos)\.approx.*f32", (Pipe.SPECIAL, 1.0, 24.0, ((Pipe.FP32, 1.0),))),
        (r"(ex2|lg2|rcp|tanh)\.", (Pipe.SPECIAL, 1.0, 20.0, ())),
        (r"(fma|mad|add|sub|mul|neg|abs).*\.f(32|16)", (Pipe.FP32, 1.0, _ALU, ())),
        (r"(setp|selp|min|max|set|copysign|testp).*f32", (Pipe.INT, 1.0, _ALU + 1, ())),
        (r"cvt\.rn\.f32\.[su]32", (Pipe.INT, 1.0, 6.0, ())),
        (r"cvt\.r[nmpzi]+.*(f32|f16).*\.[su]|cvt.*\.[su]\d+.*f(32|16)", (Pipe.SPECIAL, 1.0, 12.0, ())),
        (r"cvt.*f32\.f16|cvt.*f16.*f32|cvt\.rn\.bf16", (Pipe.INT, 1.0, 6.0, ())),
        (r"cvt.*f32\.f32", (Pipe.SPECIAL, 1.0, 12.0, ())),
        (r"(div|rem)\.[su]64", (Pipe.INT, 60.0, 500.0, ((Pipe.SPECIAL, 4.0), (Pipe.FP32, 20.0)))),
        (r"(div|rem)\.s(32|16)", (Pipe.INT, 14.0, 70.0, ((Pipe.SPECIAL, 2.0), (Pipe.FP32, 3.0)))),
        (r"(div|rem)\.u(32|16)", (Pipe.INT, 10.0, 60.0, ((Pipe.SPECIAL, 2.0), (Pipe.FP32, 3.0)))),
        (r"(mul|mad)\.wide", (Pipe.MULTIPLY, 1.0, _ALU + 1, ())),
        (r"(mul|mad)\.hi\.[su]64", (Pipe.MULTIPLY, 9.0, 24.0, ())),
        (r"(mul|mad)(\.lo)?\.[subi]64", (Pipe.MULTIPLY, 4.0, 14.0, ())),
        (r"(mul|mad)\.hi", (Pipe.MULTIPLY, 2.0, 8.0, ())),
        (r"(mul|mad)", (Pipe.MULTIPLY, 1.0, _ALU, ())),
        (r"shl\.b32", (Pipe.INT, 0.5, _ALU, ((Pipe.FP32, 0.5),))),
        (r"(and|or|xor)\.b32", (Pipe.INT, 1.0, _ALU, ())),
        (r"(add|sub)\.[su]32", (Pipe.INT, 0.5, _ALU, ((Pipe.FP32, 0.5),))),
        (r"(add|sub)\.[su]64", (Pipe.INT, 1.5, 6.0, ((Pipe.FP32, 0.5),))),
        (
            r"(add|sub|and|or|xor|not|shl|shr|setp|selp|min|max|neg|abs)(\.\w+)*\.[subi]?64",
            (Pipe.INT, 2.0, 6.0, ()),
        ),
        (r"cvt\.[su]64", (Pipe.INT, 1.0, _ALU, ())),
        (r"(clz|popc|brev|bfind)", (Pipe.SPECIAL, 1.0, 12.0, ())),
        (r"shfl", (Pipe.MEMORY, 1.0, 24.0, ())),  # By the pipeline of local memory, and about as late.
        (r"vote", (Pipe.INT, 1.0, 12.0, ())),
        (r"bar", (Pipe.CONTROL, 1.0, 20.0, ())),
        (r"membar|fence", (Pipe.CONTROL, 1.0, 100.0, ())),
        (r"(bra|ret|exit|brx)", (Pipe.CONTROL, 1.0, 2.0, ())),
    )
)


def _cost(opcode: str, operands: str) -> Cost:
    if opcode.startswith("mov") and ("%tid" in operands or "%ctaid" in operands):
        return Pipe.INT, 1.0, 20.0, ()
    if opcode.startswith(_FREE):
        return Pipe.FREE, 0.0, 0.0, ()
    if opcode.startswith(("ld", "st", "atom", "red")):
        return Pipe.MEMORY, 1.0, 30.0, ()
    for pattern, cost in _TABLE:
        if pattern.match(opcode):
            return cost
    return Pipe.INT, 1.0, _ALU, ()


def live_registers(blocks: list[BasicBlock]) -> int:
    """Return how many 32-bit registers are live at once, at most, with those that the ABI reserves.

    Registers are virtual in PTX: this is a lower bound of what ptxas needs without spilling, and what its
    reordering of loads adds is not in it.
    """
    live_in = _liveness(blocks)
    most = 0
    for block in blocks:
        live = set().union(*(live_in[it] for it in block.successors)) if block.successors else set()
        for instruction in reversed(block.instructions):
            live -= set(instruction.writes)
            if instruction.pipe is not Pipe.FREE or instruction.writes:
                live |= set(instruction.reads)
            most = max(most, sum(map(_words, live)))
    return most + _RESERVED


_RESERVED = 8


def _words(register: str) -> int:
    return 2 if register.startswith("%rd") else 0 if register.startswith("%p") else 1


def _liveness(blocks: list[BasicBlock]) -> list[set[str]]:
    uses: list[set[str]] = []
    kills: list[set[str]] = []
    for block in blocks:
        used: set[str] = set()
        killed: set[str] = set()
        for it in block.instructions:
            used |= set(it.reads) - killed
            killed |= set(it.writes)
        uses.append(used)
        kills.append(killed)
    live: list[set[str]] = [set() for _ in blocks]
    changed = True
    while changed:
        changed = False
        for number in reversed(range(len(blocks))):
            out: set[str] = set().union(*(live[it] for it in blocks[number].successors))
            found = uses[number] | (out - kills[number])
            if found != live[number]:
                live[number], changed = found, True
    return live


def instructions(code: MachineCode) -> Iterator[Instruction]:
    """Yield every instruction."""
    for block in code.blocks:
        yield from block.instructions

"""Assembly read back: basic blocks of instructions, with what each reads, writes and accesses."""

from __future__ import annotations

from dataclasses import field
from enum import Enum

from clmap_lsp.dataclass import dataclass


class Pipe(Enum):
    """What executes an instruction."""

    FP32 = "fp32"
    INT = "int"
    MULTIPLY = "multiply"
    """Integer multiplication: half of the floating-point units of NVIDIA's do it."""
    FP64 = "fp64"
    SPECIAL = "sfu"
    MEMORY = "memory"
    CONTROL = "control"
    SCALAR = "scalar"
    """Once a SIMD group, on a unit of its own (AMD's scalar unit)."""
    FREE = "free"
    """Not there any more in machine code: folded into its users."""


@dataclass(frozen=True, slots=True)
class MemoryOp:
    """One load, store or atomic of a SIMD group. `space` as the assembly names it."""

    op: str
    """`load`, `store` or `atomic`."""
    space: str
    """`global`, `local` (the work-group's), `constant` or `private` (spills and private arrays)."""
    size: int
    """Bytes a work-item."""
    pieces: int = 1
    """Elements of a vector access."""


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction of the assembly; one line may stand for several machine instructions (`cost`)."""

    text: str
    statement: int
    """The number of the statement it comes from; 0 where merging lost it."""
    site: int | None
    pipe: Pipe
    cost: float = 1.0
    """Issue slots in machine code."""
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    memory: MemoryOp | None = None
    extra: tuple[tuple[Pipe, float], ...] = ()
    """Slots of other pipes, for lines that expand to several instructions."""
    latency: float = 4.0
    is_barrier: bool = False
    branches: bool = False
    """True if the assembler makes a branch to a slow path of it: nothing is moved over that."""


@dataclass(slots=True)
class BasicBlock:
    """A straight line of code."""

    label: str
    instructions: list[Instruction] = field(default_factory=list)
    probes: dict[int, int] = field(default_factory=dict)
    """How many copies of each source block are in it."""
    successors: list[int] = field(default_factory=list)
    loop_depth: int = 0
    header: int | None = None
    """The block that the innermost loop around it starts with."""
    copies: int = 1
    """How often the assembler unrolls it, where it is a loop of its own."""
    stays_as_it_is: bool = False
    """True if the compiler asked the assembler not to unroll it."""


@dataclass(frozen=True, slots=True)
class MachineCode:
    """One kernel's code and what its resources are."""

    blocks: tuple[BasicBlock, ...]
    text: str
    registers: int | None
    registers_exact: bool
    """False where registers are worked out from what is live: virtual registers have no numbers yet."""
    spill_bytes: int | None
    private_bytes: int
    """Private (off-chip) memory of one work-item: arrays that did not become registers, and spills."""
    local_bytes: int


def find_loops(blocks: list[BasicBlock]) -> None:
    """Fill in loop depths: natural loops of back edges to a block that dominates their start."""
    count = len(blocks)
    everything = (1 << count) - 1
    dominators = [everything] * count
    if not count:
        return
    dominators[0] = 1
    before: list[list[int]] = [[] for _ in blocks]
    for number, block in enumerate(blocks):
        for successor in block.successors:
            before[successor].append(number)
    changed = True
    while changed:
        changed = False
        for number in range(1, count):
            common = everything
            for one in before[number]:
                common &= dominators[one]
            common = (common if before[number] else 0) | 1 << number
            if common != dominators[number]:
                dominators[number], changed = common, True
    loops: dict[int, set[int]] = {}
    for number, block in enumerate(blocks):
        for head in block.successors:
            if dominators[number] >> head & 1:
                body = loops.setdefault(head, {head})
                waiting = [number]
                while waiting:
                    at = waiting.pop()
                    if at not in body:
                        body.add(at)
                        waiting += before[at]
    for number, block in enumerate(blocks):
        around = sorted((len(body), head) for head, body in loops.items() if number in body)
        block.loop_depth = len(around)
        block.header = around[0][1] if around else None

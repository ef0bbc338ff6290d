"""Which loops ptxas unrolls once more, by four.

It does so where the test at the loop's end compares a register that the loop steps by a constant and the body
is small, but not where a number of 32 bits is stepped by get_global_size(). Read off the output of ptxas 13
for sm_90 from the PTX that NVIDIA's OpenCL compiler (driver 580.159.04) returned for the kernels of
`benchmarks/`.

Where an address of 64 bits is stepped so, the loads of the copies do not all come first: nine of sixteen do
(ptxas 13, PTX of LLVM). A pass waits twice, as if it had half as many copies: on an H100 and an H200 the loop
of `row_walk` with `a[k * get_global_size(0) + i]` takes half as long as four loads at once would.

Loops over private arrays in memory are left as they are: on an H200 and an H100 `mm_row_private_local` waits
once for every four elements, be it for the first level (24 cycles an element, 256 of them) or for the second
one (85 and 81; 512 and 1024).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from clmap_lsp.compiled.machine_code import BasicBlock, Instruction

_AGAIN = 4
_AGAIN_BY_SIZE = 2
"""The same where each load has an address of 64 bits that is stepped by the size of the launch."""
_SMALL = 27
"""Lines of PTX up to which any such loop is unrolled."""
_LOADING = 41
"""The same for loops with loads."""
_LOADS = 12
"""Loads beyond which a loop is left as it is."""
_FIRST = 4
"""By how much the OpenCL compiler itself unrolls, as long as the body is not longer than this then:"""
_LONGEST = 84
_OVERHEAD = 3
"""Lines that count the iterations."""
_TEST = re.compile(r"setp\.\w+\.[subf]\d+ (%p\d+), (%r[d\d]*\d+|-?\d+), (%r[d\d]*\d+|-?\d+)")
_STEP = re.compile(r"add\.[su]\d+ (%r\w+), (%r\w+), (%r\w+|-?\d+)")
_DEEP = 6


def mark_unrolled(blocks: Sequence[BasicBlock]) -> None:
    """Say of each block that is a loop of its own how many copies of it a pass has."""
    makers: dict[str, Instruction] = {}
    for block in blocks:
        makers.update((name, it) for it in block.instructions for name in it.writes)
    for number, block in enumerate(blocks):
        if number in block.successors and not block.stays_as_it_is:
            again = _again(block, makers)
            block.copies = _copies(block, again) if again else block.copies


def _copies(block: BasicBlock, most: int) -> int:
    """Return how often the body stands in the machine code, for each time that it does so here."""
    here = max(block.probes.values(), default=1)
    each = max(len(block.instructions) - _OVERHEAD, 1) / here
    first = _FIRST
    while first > 1 and each * first > _LONGEST:
        first //= 2
    lines = each * first + _OVERHEAD
    loads = first / here * sum(it.memory is not None and it.memory.op == "load" for it in block.instructions)
    if any(it.memory is not None and it.memory.space == "private" for it in block.instructions):
        return max(round(first / here), 1)
    again = most if loads <= _LOADS and lines <= (_LOADING if loads else _SMALL) else 1
    return max(round(first * again / here), 1)


def _again(block: BasicBlock, makers: Mapping[str, Instruction]) -> int:
    """Return by how much a loop may be unrolled once more: 0 unless it counts by a constant, and steps no
    number of 32 bits by the size of the launch."""
    lines = block.instructions
    tests = (_TEST.match(it.text) for it in reversed(lines))
    test = next((it for it in tests if it is not None and it[1] in lines[-1].reads), None)
    steps = [it for line in lines if (it := _STEP.match(line.text)) is not None and it[1] == it[2]]
    by_size = [it[3] for it in steps if _is_of_global_size(it[3], makers)]
    if test is None or not all(it.startswith("%rd") for it in by_size):
        return 0
    is_counted = any(it[1] in (test[2], test[3]) and not it[3].startswith("%") for it in steps)
    return 0 if not is_counted else _AGAIN_BY_SIZE if by_size else _AGAIN


def _is_of_global_size(name: str, makers: Mapping[str, Instruction], depth: int = _DEEP) -> bool:
    """Tell whether a step is worked out from the size of the launch."""
    maker = makers.get(name)
    if maker is None or not depth:
        return False
    if "%nctaid" in maker.text or "%ntid" in maker.text:
        return True
    return any(_is_of_global_size(it, makers, depth - 1) for it in maker.reads)

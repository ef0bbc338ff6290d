"""Lines of PTX that ptxas makes one machine instruction of: sums and logic of three operands, addresses.

LOP3 is any logic of three words, IADD3 a sum of three, LEA a sum with one shifted, IMAD.WIDE a product
added to an address; a comparison takes in another predicate (CUDA Binary Utilities, Hopper instruction set).
Seen in what ptxas 13 makes of the kernels of `benchmarks/time_kernels/`.
"""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Sequence

from clmap_lsp.compiled.machine_code import BasicBlock, Instruction, Pipe

_LOGIC = re.compile(r"(and|or|xor|not)\.b32 ")
_SUM = re.compile(r"(add|sub)\.[su]32 ")
_SHIFT = re.compile(r"shl\.b32 .*, \d+$")
_WIDE = re.compile(r"mul\.wide\.[su]32 ")
_ADDRESS = re.compile(r"add\.s64 ")
_COMPARE = re.compile(r"setp\.")
_PREDICATE = re.compile(r"(and|or|not)\.pred ")
_PARTS = ((_ADDRESS, _WIDE), (_PREDICATE, _COMPARE))
"""Lines that cost nothing where one of their operands comes from such a line."""
_INPUTS = 3


def fold(blocks: Sequence[BasicBlock]) -> None:
    """Make lines free that are part of another line's machine instruction."""
    used = Counter(name for block in blocks for it in block.instructions for name in it.reads)
    for block in blocks:
        _Block(block, used).run()


class _Block:
    def __init__(self, block: BasicBlock, used: Counter[str]) -> None:
        self.instructions = block.instructions
        self.used = used
        self.maker: dict[str, int] = {}
        self.inputs: list[frozenset[str]] = []
        """What each line's machine instruction reads, immediate values too."""

    def run(self) -> None:
        for place, it in enumerate(self.instructions):
            self.inputs.append(frozenset(_operands(it)))
            self._line(place, it)
            for name in it.writes:
                self.maker[name] = place

    def _line(self, place: int, it: Instruction) -> None:
        if _LOGIC.match(it.text):
            self._take_in(place, it, (_LOGIC,))
        elif _SUM.match(it.text):
            self._take_in(place, it, (_SUM, _SHIFT))
        elif any(line.match(it.text) and self._takes(it, part) for line, part in _PARTS):
            self._free(place)

    def _take_in(self, place: int, it: Instruction, kinds: Sequence[re.Pattern[str]]) -> None:
        """Make the lines free that a line's operands come from, as long as three are enough."""
        for name in it.reads:
            for kind in kinds:
                maker = self._maker(name, kind)
                if maker is None:
                    continue
                together = (self.inputs[place] - {name}) | self.inputs[maker]
                if kind is _SHIFT:  # The distance of a shift is in the instruction itself.
                    together = (self.inputs[place] - {name}) | set(self.instructions[maker].reads)
                if len(together) <= _INPUTS and (kind is not _SHIFT or len(together) < _INPUTS):
                    self.inputs[place] = frozenset(together)
                    self._free(maker)

    def _takes(self, it: Instruction, kind: re.Pattern[str]) -> bool:
        return any(self._maker(name, kind) is not None for name in it.reads)

    def _maker(self, name: str, kind: re.Pattern[str]) -> int | None:
        """Return the line of this block that makes a value which nothing else reads."""
        at = self.maker.get(name)
        if at is None or self.used[name] != 1 or self.instructions[at].pipe is Pipe.FREE:
            return None
        return at if kind.match(self.instructions[at].text) else None

    def _free(self, place: int) -> None:
        old = self.instructions[place]
        self.instructions[place] = dataclasses.replace(old, pipe=Pipe.FREE, cost=0.0, latency=0.0, extra=())


def _operands(it: Instruction) -> list[str]:
    _, _, rest = it.text.partition(",")
    return [word.strip() for word in rest.rstrip(";").split(",")]

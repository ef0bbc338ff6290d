"""AMD's ISA read back into basic blocks; registers and spills are those that LLVM itself writes down."""

from __future__ import annotations

import re

from clmap_lsp.compiled.machine_code import BasicBlock, Instruction, MachineCode, MemoryOp, Pipe, find_loops
from clmap_lsp.interruption import checkpoint

_LABEL = re.compile(r"^(\.LBB\w+):")
_LOC = re.compile(r"^\s*\.loc\s+\d+\s+(\d+)\s+(\d+)")
_PROBE = re.compile(r"^\s*\.pseudoprobe\s+\d+\s+(\d+)")
_LINE = re.compile(r"^\t([a-z]\w+)\s*(.*?)\s*(?:;.*)?$")
_METADATA = re.compile(r"^\s+\.(\w+):\s+(\d+)\s*$", re.MULTILINE)
_RANGE = re.compile(r"\b([vsa])\[(\d+):(\d+)\]|\b([vsa])(\d+)\b")
_BYTES = {"ubyte": 1, "sbyte": 1, "byte": 1, "ushort": 2, "sshort": 2, "short": 2, "dword": 4, "short_d16": 2}
_BITS = re.compile(r"_[biuf](8|16|32|64|96|128)\b")


def read(text: str, entry: str) -> MachineCode:
    """Return the code of one kernel."""
    blocks, labels = _blocks(text, entry)
    for number, block in enumerate(blocks):
        block.successors = _successors(block, number, len(blocks), labels)
    find_loops(blocks)
    facts = {name: int(value) for name, value in _METADATA.findall(text)}
    return MachineCode(
        tuple(blocks),
        text,
        facts.get("vgpr_count"),
        True,
        4 * facts.get("vgpr_spill_count", 0),
        facts.get("private_segment_fixed_size", 0),
        facts.get("group_segment_fixed_size", 0),
    )


def _blocks(text: str, entry: str) -> tuple[list[BasicBlock], dict[str, int]]:
    blocks = [BasicBlock("entry")]
    labels: dict[str, int] = {}
    statement, site, inside = 0, None, False
    for line in text.splitlines():
        checkpoint()
        if line.startswith(f"{entry}:"):
            inside = True
        if not inside:
            continue
        if line.startswith(("\t.section", ".Lfunc_end")):
            break
        if found := _LOC.match(line):
            statement = int(found[1])
            site = int(found[2]) - 1 if int(found[2]) else None
        elif found := _PROBE.match(line):
            number = int(found[1])
            blocks[-1].probes[number] = blocks[-1].probes.get(number, 0) + 1
        elif found := _LABEL.match(line):
            if blocks[-1].instructions or blocks[-1].probes:
                blocks.append(BasicBlock(found[1]))
            labels[found[1]] = len(blocks) - 1
        elif (found := _LINE.match(line)) and not found[1].startswith("."):
            blocks[-1].instructions.append(_instruction(found[1], found[2], statement, site))
            if found[1].startswith(("s_branch", "s_cbranch", "s_endpgm")):
                blocks.append(BasicBlock(f"after.{len(blocks)}"))
    if len(blocks) > 1 and not blocks[-1].instructions:
        blocks.pop()
    return blocks, labels


def _successors(block: BasicBlock, number: int, count: int, labels: dict[str, int]) -> list[int]:
    following = [number + 1] if number + 1 < count else []
    if not block.instructions:
        return following
    last = block.instructions[-1].text
    if last.startswith(("s_branch", "s_cbranch")):
        targets = [labels[it] for it in re.findall(r"\.LBB\w+", last) if it in labels]
        return targets + (following if last.startswith("s_cbranch") else [])
    return [] if last.startswith("s_endpgm") else following


def _instruction(opcode: str, operands: str, statement: int, site: int | None) -> Instruction:
    memory = _memory(opcode)
    writes, reads = _registers(opcode, operands)
    pipe, cost, latency = _cost(opcode, memory)
    return Instruction(
        f"{opcode} {operands}".strip(),
        statement,
        site,
        pipe,
        cost,
        reads,
        writes,
        memory,
        (),
        latency,
        opcode.startswith("s_barrier"),
    )


def _registers(opcode: str, operands: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    head, _, rest = operands.partition(",")
    if "store" in opcode or opcode.startswith(("ds_write", "s_cmp", "s_cbranch", "s_waitcnt")):
        return (), _names(operands)
    return _names(head), _names(rest)


def _names(text: str) -> tuple[str, ...]:
    found = []
    for kind, low, high, one, number in _RANGE.findall(text):
        if kind:
            found += [f"{kind}{it}" for it in range(int(low), int(high) + 1)]
        else:
            found.append(f"{one}{number}")
    return tuple(found)


_BETWEEN_LANES = ("ds_bpermute", "ds_permute", "ds_swizzle")
"""They pass through the hardware of local memory, and touch none."""


def _memory(opcode: str) -> MemoryOp | None:
    if opcode.startswith(("s_load", "s_buffer_load")):
        return MemoryOp("load", "constant", _size(opcode))
    if opcode.startswith("ds_") and not opcode.startswith(_BETWEEN_LANES):
        name = "load" if "read" in opcode or "load" in opcode else "store"
        if not any(it in opcode for it in ("read", "load", "write", "store")):
            name = "atomic"
        pieces = 2 if "2_" in opcode or "2st64" in opcode else 1
        return MemoryOp(name, "local", _size(opcode) * pieces, pieces)
    for prefix, space in (
        ("global_", "global"),
        ("flat_", "global"),
        ("buffer_", "private"),
        ("scratch_", "private"),
    ):
        if opcode.startswith(prefix):
            name = "load" if "load" in opcode else "store" if "store" in opcode else "atomic"
            return MemoryOp(name, space, _size(opcode))
    return None


def _size(opcode: str) -> int:
    if found := re.search(r"dwordx(\d+)", opcode):
        return 4 * int(found[1])
    for word, size in _BYTES.items():
        if word in opcode:
            return size
    found = _BITS.search(opcode)
    return int(found[1]) // 8 if found else 4


def _cost(opcode: str, memory: MemoryOp | None) -> tuple[Pipe, float, float]:
    if memory is not None or opcode.startswith(_BETWEEN_LANES):
        return Pipe.MEMORY, 1.0, 60.0
    if opcode.startswith(("s_waitcnt", "s_nop", "s_branch", "s_cbranch", "s_endpgm", "s_barrier")):
        return Pipe.CONTROL, 1.0, 4.0
    if opcode.startswith("s_"):
        return Pipe.SCALAR, 1.0, 4.0
    if "_f64" in opcode:
        return Pipe.FP64, 1.0, 8.0
    if re.match(r"v_(exp|log|rcp|rsq|sqrt|sin|cos)_", opcode):
        return Pipe.SPECIAL, 1.0, 16.0
    if re.match(r"v_(mul|add|sub|fma|mac|fmac|mad|pk_\w+)_f(32|16)", opcode):
        return Pipe.FP32, 1.0, 4.0
    if re.match(r"v_mul_(lo|hi)_", opcode):
        return Pipe.INT, 4.0, 16.0
    return Pipe.INT, 1.0, 4.0

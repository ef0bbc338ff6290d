"""Private arrays that cannot stay in registers.

Registers have no addresses: an array whose index is not a constant after unrolling, or that is larger than a
work-item's registers, is put into memory (CUDA C++ Programming Guide, Local Memory; it lies in off-chip
memory behind the caches, interleaved by work-item).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from clmap_lsp.source import ir
from clmap_lsp.source.types import ArrayType

if TYPE_CHECKING:
    from clmap_lsp.analysis.model import KernelAnalysis
    from clmap_lsp.devices.model import DeviceModel

UNROLLED_TURNS: Final = 32
"""Loops of so many turns, known in advance, are taken to be unrolled, their indices then being constants.
The choice is the compiler's; 32 is what the compilers at hand do for short bodies."""
DEFAULT_REGISTERS: Final = 255
"""32-bit registers of a work-item where a device's number is not known: the most that any GPU model has."""


@dataclass(frozen=True, slots=True)
class Spill:
    """A private array that goes to memory, with why."""

    variable: ir.Variable
    bytes: int
    by_size: bool
    reason: str
    traffic_bytes: int | None
    """What all work-items move through it over the launch, if it is known."""


def spilled(analysis: KernelAnalysis, device: DeviceModel) -> tuple[Spill, ...]:
    """Return the private arrays of a kernel that will not stay in registers, in the order of declaration."""
    registers = device.limits.registers_per_work_item or DEFAULT_REGISTERS
    arrays = [
        it
        for it in analysis.kernel.variables
        if it.kind is ir.VariableKind.PRIVATE_OBJECT and isinstance(it.type, ArrayType)
    ]
    if not arrays:
        return ()
    dynamic = _dynamically_indexed(analysis.kernel.body)
    found = []
    for it in arrays:
        words = -(-it.type.size // 4)
        if words > registers:
            reason = f"its {words} words are more than the {registers} registers of a work-item"
            found.append(Spill(it, it.type.size, True, reason, None))
        elif it in dynamic:
            reason = f"it is indexed by {dynamic[it]}, and registers have no addresses"
            found.append(Spill(it, it.type.size, False, reason, None))
    return tuple(found)


def _dynamically_indexed(body: ir.Block) -> dict[ir.Variable, str]:
    """Return the objects that some access reaches by an index that no unrolling makes a constant."""
    found: dict[ir.Variable, str] = {}
    constants: set[ir.Variable] = set()
    _visit(body, constants, found)
    return found


def _visit(block: ir.Block, constants: set[ir.Variable], found: dict[ir.Variable, str]) -> None:
    """Walk a block; `constants` are the counters of the loops around it that are unrolled."""
    for it in block:
        match it:
            case ir.Load(pointer=pointer) | ir.Store(pointer=pointer):
                _judge(pointer, constants, found)
            case ir.Loop():
                counter = _unrolled_counter(it)
                inside = constants | ({counter} if counter is not None else set())
                _visit(it.body, inside, found)
            case ir.Assign(variable=variable, value=value) if variable.is_temporary:
                if _moving(value, constants) is None:  # An index that is used twice, as in `a[i] += b`.
                    constants.add(variable)
            case _:
                for inner in ir.blocks(it):
                    _visit(inner, constants, found)


def _judge(pointer: ir.Expression, constants: set[ir.Variable], found: dict[ir.Variable, str]) -> None:
    indices: list[ir.Expression] = []
    while not isinstance(pointer, ir.ObjectAddress):
        if isinstance(pointer, ir.PointerOffset):
            indices.append(pointer.index)
        parts = ir.operands(pointer)
        if not parts:
            return
        pointer = parts[0]
    if pointer.variable.kind is not ir.VariableKind.PRIVATE_OBJECT:
        return
    for index in indices:
        name = _moving(index, constants)
        if name is not None:
            found.setdefault(pointer.variable, name)


def _moving(index: ir.Expression, constants: set[ir.Variable]) -> str | None:
    """Return what keeps an index from being a constant."""
    match index:
        case ir.Read(variable=variable):
            if variable in constants:
                return None
            return f"`{variable.name}`" if not variable.is_temporary else "a value that was read"
        case ir.WorkItem(query=query):
            return f"`{query.value}`"
        case _:
            return next((name for part in ir.operands(index) if (name := _moving(part, constants))), None)


def _unrolled_counter(loop: ir.Loop) -> ir.Variable | None:
    """Return the counter of a loop with few turns, known in advance, or that is asked to be unrolled."""
    if len(loop.step) != 1 or not isinstance(loop.step[0], ir.Assign):
        return None
    counter = loop.step[0].variable
    condition = loop.condition
    if not isinstance(condition, ir.Compare) or not isinstance(condition.right, ir.Constant):
        return None
    if loop.unroll is not None or 0 <= condition.right.value <= UNROLLED_TURNS:
        return counter
    return None

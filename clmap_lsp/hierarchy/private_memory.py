"""Private arrays that cannot stay in registers.

Registers have no addresses: an array whose index is not a constant after unrolling, or that is larger than a
work-item's registers, is put into memory (CUDA C++ Programming Guide, Local Memory; it lies in off-chip
memory behind the caches, interleaved by work-item).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from clmap_lsp.dataclass import dataclass
from clmap_lsp.interruption import checkpoint
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
    by_data: bool = False
    """A value from memory chooses the element, as in a histogram."""


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
            found.append(Spill(it, it.type.size, True, reason))
        elif it in dynamic:
            reason = f"it is indexed by {dynamic[it]}, and registers have no addresses"
            found.append(Spill(it, it.type.size, False, reason, dynamic[it] == _READ))
    return tuple(found)


_READ: Final = "a value that was read"


def _dynamically_indexed(body: ir.Block) -> dict[ir.Variable, str]:
    """Return the objects that some access reaches by an index that no unrolling makes a constant."""
    found: dict[ir.Variable, str] = {}
    _visit(body, frozenset(), assigned_once(body), found)
    return found


_Definitions = Mapping[ir.Variable, ir.Expression]
"""What variables are assigned that one statement only gives a value."""


MAX_NODES: Final = 256
"""Of a value, with the values of the variables in it in their places."""


def assigned_once(body: ir.Block) -> _Definitions:
    """Return the values of the variables that one assignment only gives a value.

    Whoever follows them comes to an end soon: values that lead back to their variable, and those that grow
    beyond `MAX_NODES` as the variables in them are replaced, are left out.
    """
    values: dict[ir.Variable, ir.Expression | None] = {}
    for it in ir.walk(body):
        checkpoint()
        for variable in ir.written(it):
            only = isinstance(it, ir.Assign) and variable not in values
            values[variable] = it.value if isinstance(it, ir.Assign) and only else None
    return _small({variable: value for variable, value in values.items() if value is not None})


def _small(values: _Definitions) -> _Definitions:
    """Return the values that stay small, each with those of the variables in it in their places."""
    own: dict[ir.Variable, int] = {}
    reads: dict[ir.Variable, list[ir.Variable]] = {}
    for variable, value in values.items():
        checkpoint()
        nodes = list(ir.nodes(value))
        own[variable] = len(nodes)
        reads[variable] = [it.variable for it in nodes if type(it) is ir.Read and it.variable in values]
    small: dict[ir.Variable, ir.Expression] = {}
    weights: dict[ir.Variable, int] = {}
    begun: set[ir.Variable] = set()
    waiting = list(values)
    while waiting:
        variable = waiting[-1]
        missing = [it for it in reads[variable] if it not in weights]
        if variable in weights or (missing and variable in begun):
            waiting.pop()
            weights.setdefault(variable, 1)  # It leads back to itself.
            continue
        begun.add(variable)
        if missing:
            waiting += missing
            continue
        weight = own[variable] + sum(weights[it] for it in reads[variable] if it in small)
        if weight <= MAX_NODES:
            small[variable] = values[variable]
        weights[variable] = weight if weight <= MAX_NODES else 1
    return small


def _visit(
    block: ir.Block,
    constants: frozenset[ir.Variable],
    definitions: _Definitions,
    found: dict[ir.Variable, str],
) -> None:
    """Walk a block; `constants` are the counters of the loops around it that are unrolled."""
    for it in block:
        match it:
            case ir.Load(pointer=pointer) | ir.Store(pointer=pointer):
                _judge(pointer, constants, definitions, found)
            case ir.Loop():
                _visit(it.body, constants | _unrolled_counters(it, definitions), definitions, found)
            case _:
                for inner in ir.blocks(it):
                    _visit(inner, constants, definitions, found)


def _judge(
    pointer: ir.Expression,
    constants: frozenset[ir.Variable],
    definitions: _Definitions,
    found: dict[ir.Variable, str],
) -> None:
    indices: list[ir.Expression] = []
    while not isinstance(pointer, ir.ObjectAddress):
        if isinstance(pointer, ir.PointerOffset):
            indices.append(pointer.index)
        if isinstance(pointer, ir.Read) and pointer.variable in definitions:
            pointer = definitions[pointer.variable]
            continue
        parts = ir.operands(pointer)
        if not parts:
            return
        pointer = parts[0]
    if pointer.variable.kind is not ir.VariableKind.PRIVATE_OBJECT:
        return
    for index in indices:
        name = _moving(index, constants, definitions)
        if name is not None:
            found.setdefault(pointer.variable, name)


def _moving(
    index: ir.Expression, constants: frozenset[ir.Variable], definitions: _Definitions, depth: int = 0
) -> str | None:
    """Return what keeps an index from being a constant."""
    if depth > _DEEPEST:
        return "a value without a start"
    match index:
        case ir.Read(variable=variable):
            if variable in constants:
                return None
            if variable in definitions:
                return _moving(definitions[variable], constants, definitions, depth + 1)
            return f"`{variable.name}`" if not variable.is_temporary else "a value that was read"
        case ir.WorkItem(query=query):
            return f"`{query.value}`"
        case _:
            parts = (_moving(part, constants, definitions, depth + 1) for part in ir.operands(index))
            return next((name for name in parts if name), None)


def _unrolled_counters(loop: ir.Loop, definitions: _Definitions) -> frozenset[ir.Variable]:
    """Return the counters of a loop with few turns, known in advance, or that is asked to be unrolled."""
    condition = loop.condition
    counters = frozenset(it.variable for it in loop.step if isinstance(it, ir.Assign))
    if len(counters) < len(loop.step) or not isinstance(condition, ir.Compare):
        return frozenset()
    if counters and all(it.is_temporary for it in counters):
        return counters  # An initialiser's zeros: compilers split what clears an array, however long it is.
    bounds = (_constant(condition.right, definitions), _constant(condition.left, definitions))
    bound = next((it for it in bounds if it is not None), None)
    if bound is not None and (loop.unroll is not None or abs(bound) <= UNROLLED_TURNS):
        return counters
    return frozenset()


_DEEPEST = 64
"""Definitions that are followed for a constant: one may lead back to itself, as `i = i + 1` does."""


def _constant(expression: ir.Expression, definitions: _Definitions, depth: int = 0) -> float | None:
    """Return the value of an expression of constants, as far as bounds of loops need it."""
    if depth > _DEEPEST:
        return None
    match expression:
        case ir.Constant(value=value):
            return value
        case ir.Convert():
            return _constant(ir.operands(expression)[0], definitions, depth + 1)
        case ir.Read(variable=variable) if variable in definitions:
            return _constant(definitions[variable], definitions, depth + 1)
        case ir.Binary(op=op, left=left, right=right) if op in _FOLDED:
            parts = tuple(_constant(it, definitions, depth + 1) for it in (left, right))
            if parts[0] is None or parts[1] is None:
                return None
            try:
                return _FOLDED[op](parts[0], parts[1])
            except OverflowError:
                return None
        case _:
            return None


_FOLDED: dict[ir.BinaryOp, Callable[[float, float], float]] = {
    ir.BinaryOp.ADD: lambda left, right: left + right,
    ir.BinaryOp.SUB: lambda left, right: left - right,
    ir.BinaryOp.MUL: lambda left, right: left * right,
    ir.BinaryOp.DIV: lambda left, right: left // right if right else 0,
}

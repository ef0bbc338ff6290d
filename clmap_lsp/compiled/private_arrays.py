"""What NVIDIA's OpenCL compiler does for private arrays beyond LLVM's defaults: tables and unrolled walks.

An array stays in registers only if all its indices are constants once loops are unrolled. The driver's
compiler unrolls a loop completely if it walks an array of up to 1,024 bytes, where LLVM alone stops at a
few hundred instructions; and a table that is written with constants only lies in constant memory. Both, and
the limits, are what the driver's PTX keeps in memory of 136 kernels
(`benchmarks/results/private_arrays_h100.json`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING

from clmap_lsp.compiled.intervals import Interval, Ranges, interval, last_value
from clmap_lsp.source import ir
from clmap_lsp.source.initializers import encode

if TYPE_CHECKING:
    from clmap_lsp.source.ir import Block, Expression, Kernel, Loop, Variable

WALKED_BYTES = 1024
"""The largest array for which loops are unrolled. One of 1,024 bytes is, one of 1,028 is not."""
WALKED_COST = 5000.0
"""Instructions up to which they are: three loops of 10 are in each other, of 12 are not."""
_CHEAP = 1.0, "fma mad min max fmin fmax fabs abs clamp select mul24 mad24 floor ceil rint trunc dot"
_SHORT = 10.0, "sqrt rsqrt exp exp2 log log2 exp10 log10 fmod length normalize distance cross mix"
_LONG = 150.0, "sin cos tan sincos"
_FUNCTION_COST = {name: cost for cost, names in (_CHEAP, _SHORT, _LONG) for name in names.split()}
_OTHER_FUNCTION = 60.0
"""Instructions that a math function becomes."""


def unrolled_completely(kernel: Kernel) -> frozenset[int]:
    """Return the loops (by `id`) that are unrolled until none is left, since they walk a private array."""
    found: set[int] = set()
    _Walk(found).block(kernel.body, {})
    return frozenset(found)


class _Walk:
    """Follows counters through a kernel from outside in."""

    def __init__(self, found: set[int]) -> None:
        self.found = found
        self.assigned: dict[int, frozenset[Variable]] = {}
        """By `id` of the statement: a nest of loops is looked through once."""

    def block(self, block: Block, known: Ranges) -> float:
        """Return what a block costs, its unrolled loops spelled out; `known` are the counters around it."""
        ranges, cost = dict(known), 0.0
        for it in block:
            match it:
                case ir.Assign(variable=variable, value=value):
                    cost += _cost(value)
                    ranges.pop(variable, None)
                    if (found := interval(value, ranges)) is not None:
                        ranges[variable] = found
                case ir.Loop():
                    cost += self._loop(it, ranges)
                    _forget(ranges, self._assigned(it))
                case _:
                    inside = sum(self.block(part, ranges) for part in ir.blocks(it))
                    address = it.pointer if isinstance(it, ir.Load | ir.Store) else None
                    values = [value for value in ir.expressions(it) if value is not address]
                    cost += inside + 1.0 + sum(_cost(value) for value in values)
                    _forget(ranges, self._assigned(it))
        return cost

    def _loop(self, loop: Loop, ranges: Ranges) -> float:
        counted = self._counter(loop, ranges)
        around = dict(ranges)
        _forget(around, self._assigned(loop))
        if counted is None:
            return self.block(loop.body, around) + 2.0
        counter, values, trips = counted
        cost = self.block(loop.body, {**around, counter: values}) * trips
        stays = loop.unroll is not None or cost > WALKED_COST or self._keeps_a_loop(loop.body)
        if stays or not _walks(loop.body, counter):
            return cost if loop.unroll == 0 else cost / max(trips, 1.0) + 2.0
        self.found.add(id(loop))
        return cost

    def _keeps_a_loop(self, body: Block) -> bool:
        """True if a loop stays in a body: copies of it gain nothing here, and cost LLVM minutes."""
        inner = (it for it in ir.walk(body) if isinstance(it, ir.Loop))
        return any(it.unroll != 0 and id(it) not in self.found for it in inner)

    def _counter(self, loop: Loop, ranges: Ranges) -> tuple[Variable, Interval, float] | None:
        """Return a loop's counter, the values that it takes, and how often the loop turns at most."""
        if len(loop.step) != 1 or not isinstance(step := loop.step[0], ir.Assign) or loop.test:
            return None
        counter, start = step.variable, ranges.get(step.variable)
        if start is None or any(counter in self._assigned(it) for it in loop.body):
            return None
        stride = ir.added(step.value, counter)
        bound = last_value(loop.condition, counter, stride, ranges) if stride else None
        if not stride or bound is None:
            return None
        low, high = (start.low, bound) if stride > 0 else (bound, start.high)
        return counter, Interval(low, high), max((high - low) // abs(stride) + 1.0, 1.0)

    def _assigned(self, statement: ir.Statement) -> frozenset[Variable]:
        """Return the variables that a statement and those inside it may change."""
        known = self.assigned.get(id(statement))
        if known is None:
            inside = (it for part in ir.blocks(statement) for it in part)
            known = frozenset(ir.written(statement)).union(*map(self._assigned, inside))
            self.assigned[id(statement)] = known
        return known


def _forget(ranges: dict[Variable, Interval], variables: Collection[Variable]) -> None:
    for variable in variables:
        ranges.pop(variable, None)


def _walks(body: Block, counter: Variable) -> bool:
    """True if an array that may be in registers is indexed by the counter or by what is made of it."""
    made = {counter}
    for it in ir.walk(body):
        if isinstance(it, ir.Assign) and _reads(it.value, made):
            made.add(it.variable)
        if isinstance(it, ir.Load | ir.Store) and _is_small_array(it.pointer) and _reads(it.pointer, made):
            return True
    return False


def _is_small_array(pointer: Expression) -> bool:
    root = private_object(pointer)
    return root is not None and root.type.size <= WALKED_BYTES


def private_object(pointer: Expression) -> Variable | None:
    """Return the private object that an address lies in."""
    for node in ir.nodes(pointer):
        if isinstance(node, ir.ObjectAddress) and node.variable.kind is ir.VariableKind.PRIVATE_OBJECT:
            return node.variable
    return None


def _reads(value: Expression, variables: set[Variable]) -> bool:
    return any(isinstance(it, ir.Read) and it.variable in variables for it in ir.nodes(value))


def _cost(value: Expression) -> float:
    """Return about how many instructions an expression becomes; addresses and constants are free."""
    cost = 0.0
    for it in ir.nodes(value):
        if isinstance(it, ir.Builtin):
            is_one = it.name.startswith(("native_", "convert_", "as_"))
            cost += 1.0 if is_one else _FUNCTION_COST.get(it.name, _OTHER_FUNCTION)
        elif isinstance(it, ir.Binary | ir.Compare | ir.Select | ir.Unary | ir.Logical):
            cost += 1.0
    return cost


# ------------------------------------------------------------------------------------------------ tables


_TABLE_BYTES = 1 << 16
"""All of constant memory (CUDA C++ Programming Guide, technical specifications per compute capability)."""


def constant_tables(kernel: Kernel) -> Mapping[Variable, bytes]:
    """Return the contents of private arrays that are written with constants only, each element once.

    What an initialiser leaves out is zero: it is written first, and right after it the rest.
    """
    contents: dict[Variable, bytearray] = {}
    written: dict[tuple[Variable, int], int] = {}
    others = _otherwise_used(kernel)
    for run, store in _in_runs(kernel.body, iter(range(1 << 30))):
        root = private_object(store.pointer)
        if root is None or root in others or root.type.size > _TABLE_BYTES:
            continue
        at, data = _place(store.pointer), _bytes(store)
        if at is None or data is None or at + len(data) > root.type.size:
            others.add(root)
            continue
        if written.setdefault((root, at), run) != run:
            others.add(root)
        else:
            contents.setdefault(root, bytearray(root.type.size))[at : at + len(data)] = data
    return {root: bytes(data) for root, data in contents.items() if root not in others}


def _otherwise_used(kernel: Kernel) -> set[Variable]:
    """Return objects whose address is used for more than plain loads and stores."""
    others: set[Variable] = set()
    for statement in ir.walk(kernel.body):
        pointer = None
        if isinstance(statement, ir.Load | ir.Store) and not statement.is_volatile:
            pointer = statement.pointer
        for value in ir.expressions(statement):
            if value is not pointer:
                others |= {it.variable for it in ir.nodes(value) if isinstance(it, ir.ObjectAddress)}
    return others


def _in_runs(block: Block, numbers: Iterator[int]) -> Iterator[tuple[int, ir.Store]]:
    """Yield the stores of a block; those that nothing stands between have one number."""
    run = next(numbers)
    for statement in block:
        if isinstance(statement, ir.Store):
            yield run, statement
        elif not isinstance(statement, ir.Declare):
            for part in ir.blocks(statement):
                yield from _in_runs(part, numbers)
            run = next(numbers)


def _place(pointer: Expression) -> int | None:
    """Return the byte of an object that a constant address names."""
    at = 0
    while not isinstance(pointer, ir.ObjectAddress):
        match pointer:
            case ir.PointerOffset(index=ir.Constant(value=index), stride=stride):
                at += int(index) * stride
            case ir.FieldAddress(field=field):
                at += field.offset
            case ir.PointerCast(operand=operand):
                pointer = operand
                continue
            case _:
                return None
        pointer = pointer.pointer
    return at if at >= 0 else None


def _bytes(store: ir.Store) -> bytes | None:
    data = None if store.is_volatile or store.bits is not None else encode(store.value, store.value.type)
    return None if data is None else data[: store.size]

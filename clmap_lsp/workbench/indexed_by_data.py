"""Which accesses take their address from what a buffer or an image holds.

Where nobody gave the contents, an access that leaves an array because of them says nothing of the kernel:
tables are indexed by codes, bins and neighbours that only a program's own data keep inside. What a statement
may hold is followed forwards through variables, pointers and arrays, whatever the order of statements, so
that an address may be said to hang on data that does not. What a variable of an outer block is given where
data decide which statements run (`if (rows[i] == id) first = i;`) hangs on them too. What is stored through a
pointer variable is not followed into the array behind it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from clmap_lsp.dataclass import dataclass
from clmap_lsp.lazy import lazy_property
from clmap_lsp.source.ir import (
    Assign,
    Atomic,
    Binary,
    BinaryOp,
    Block,
    Compare,
    CompareOp,
    Constant,
    Convert,
    Declare,
    Expression,
    ImageRead,
    ImageWrite,
    Kernel,
    Load,
    ObjectAddress,
    Read,
    Statement,
    Store,
    Unary,
    UnaryOp,
    Variable,
    all_expressions,
    blocks,
    expressions,
    nodes,
    touches,
    walk,
    written,
    written_through,
)
from clmap_lsp.source.spelling import Spelling, spelling
from clmap_lsp.source.types import PointerType

Place = tuple[str, int]
"""File and offset at which an access begins."""

_DIVIDING = frozenset((BinaryOp.DIV, BinaryOp.REM))
_SCALING = frozenset((BinaryOp.MUL, BinaryOp.DIV, BinaryOp.REM))
_MOST_HOPS = 3
"""Variables between what is read and what is stored."""
_MOST_PASSES = 12
"""Each carries data one assignment further up a loop's body; what is not reached by then is not said."""


@dataclass(frozen=True, slots=True)
class Indexed:
    """An access whose address hangs on what `argument` holds."""

    argument: str
    adds: bool
    """The kernel adds to what is at that address, as `bins[code]++` does."""


@dataclass(slots=True)
class _Flow:
    """What holds data, each with the argument that it came out of."""

    memory: dict[Variable, str]
    """Arrays, and pointers and images through which data is read."""
    values: dict[Variable, str]
    """Variables whose value is data, or was computed from it."""


class FromData:
    """What of a kernel hangs on what some arguments hold, followed once, when it is first asked for."""

    def __init__(self, kernel: Kernel, arguments: Collection[str]) -> None:
        self._kernel = kernel
        self._arguments = arguments

    @lazy_property
    def _flow(self) -> _Flow:
        return _followed(self._kernel, self._arguments)

    @lazy_property
    def _accesses(self) -> list[tuple[str, Expression, Place]]:
        statements = walk(self._kernel.body)
        return [(op, at, (it.span.path, it.span.start)) for it in statements for op, at in _addresses(it)]

    @lazy_property
    def indexed(self) -> dict[Place, Indexed]:
        """The accesses whose address hangs on data, by place."""
        found = [
            (place, name, _key(address), op)
            for op, address, place in self._accesses
            if (name := _data_of(address, self._flow)) is not None
        ]
        reads, writes = ({key for *_, key, op in found if op == it} for it in ("load", "store"))
        both = {it for it in reads & writes if it in _added_to(self._kernel)}
        return {place: Indexed(name, key in both) for place, name, key, _ in found}

    @lazy_property
    def divisions(self) -> dict[Place, str]:
        """The divisions whose divisor hangs on data, by place, with the argument that holds it."""
        return {
            (it.span.path, it.span.start): name
            for it in all_expressions(self._kernel.body)
            if isinstance(it, Binary) and it.op in _DIVIDING
            if (name := _data_of(it.right, self._flow)) is not None
        }

    @lazy_property
    def scattered(self) -> dict[str, str]:
        """The arrays in which contents of an argument choose where each store goes, with the argument.

        What is added to a place was read there before, wherever that is.
        """
        read = {_key(address) for op, address, _ in self._accesses if op == "load"}
        by: dict[str, str | None] = {}
        for op, address, _ in self._accesses:
            root = _root(address) if op == "store" else None
            if root is not None:
                name = None if _key(address) in read else _data_of(address, self._flow)
                by[root.name] = name if by.get(root.name, name) is not None else None
        return {array: name for array, name in by.items() if name is not None}

    @lazy_property
    def marks(self) -> dict[str, int]:
        """For each argument the number that its contents are told from, as -1 for nothing."""
        found: dict[str, int] = {}
        for node in all_expressions(self._kernel.body):
            if not isinstance(node, Compare) or node.op not in (CompareOp.EQ, CompareOp.NE):
                continue
            for one, other in ((node.left, node.right), (node.right, node.left)):
                name, value = _data_of(one, self._flow), _whole(other)
                if name is not None and value not in (None, 0, 1):
                    found.setdefault(name, value or 0)
        return found


def _whole(expression: Expression) -> int | None:
    """Return a whole number, as it is written with its sign."""
    match expression:
        case Constant(value=int() as value):
            return value
        case Convert(operand=operand):
            return _whole(operand)
        case Unary(op=UnaryOp.NEGATE, operand=operand):
            written = _whole(operand)
            return None if written is None else -written
        case _:
            return None


def _root(address: Expression) -> Variable | None:
    """Return the array or the pointer that an address is in."""
    for node in nodes(address):
        match node:
            case ObjectAddress(variable=variable):
                return variable
            case Read(variable=variable) if isinstance(variable.type, PointerType):
                return variable
            case _:
                pass
    return None


def _added_to(kernel: Kernel) -> set[Spelling]:
    """Return the addresses at which what was read there is stored again, changed but not scaled.

    A sum, a maximum or a list that grows does so; a sweep that computes the next value of a cell does not.
    """
    loads: dict[Variable, Spelling] = {}
    values: dict[Variable, list[Expression]] = {}
    stores: list[Store] = []
    for it in walk(kernel.body):
        match it:
            case Load(variable=variable, pointer=pointer):
                loads[variable] = _key(pointer)
            case Assign(variable=variable, value=value):
                values.setdefault(variable, []).append(value)
            case Store():
                stores.append(it)

    def adds(value: Expression, key: Spelling, hops: int) -> bool:
        match value:
            case Binary(op=op) if op in _SCALING:
                return False
            case Binary(left=left, right=right):
                return adds(left, key, hops) or adds(right, key, hops)
            case Convert(operand=operand):
                return adds(operand, key, hops)
        read = [it.variable for it in nodes(value) if isinstance(it, Read)]
        if any(loads.get(it) == key for it in read):
            return True
        return hops > 0 and any(adds(each, key, hops - 1) for it in read for each in values.get(it, ())[:4])

    keys = {_key(it.pointer) for it in walk(kernel.body) if isinstance(it, Atomic)}
    return keys | {key for it in stores if adds(it.value, key := _key(it.pointer), _MOST_HOPS)}


def _followed(kernel: Kernel, arguments: Collection[str]) -> _Flow:
    """Return what holds data of some arguments, wherever in the kernel it was put there."""
    flow = _Flow({it: it.name for it in kernel.parameters if it.name in arguments}, {})
    nested = list(_nested(kernel.body))
    outside = _outside(nested)
    for _ in range(_MOST_PASSES):
        before = len(flow.memory) + len(flow.values)
        deciding: list[str | None] = []
        for at, (statement, _) in enumerate(nested):
            asks = blocks(statement)
            deciding.append(_decides(statement, flow) if asks else None)
            _carry(statement, flow)
            for variable, around in outside.get(at, ()):
                name = next((it for each in around if (it := deciding[each]) is not None), None)
                if name is not None:
                    flow.values.setdefault(variable, name)
        if len(flow.memory) + len(flow.values) == before:
            break
    return flow


def _nested(block: Block) -> Iterator[tuple[Statement, int]]:
    """Yield statements in source order, each with the number of the one whose block it stands in, or -1."""
    waiting, count = [(iter(block), -1)], 0
    while waiting:
        inside, around = waiting[-1]
        statement = next(inside, None)
        if statement is None:
            waiting.pop()
            continue
        yield statement, around
        waiting.extend((iter(it), count) for it in reversed(blocks(statement)))
        count += 1


def _outside(nested: Sequence[tuple[Statement, int]]) -> dict[int, list[tuple[Variable, list[int]]]]:
    """Return, by statement, the variables that it writes and the statements around it which those outlive."""
    declared = {it.variable: around for it, around in nested if isinstance(it, Declare)}
    found: dict[int, list[tuple[Variable, list[int]]]] = {}
    for at, (statement, around) in enumerate(nested):
        if around < 0 or isinstance(statement, Declare):
            continue
        for variable in written(statement):
            outlived, each, home = [], around, declared.get(variable, -1)
            while each >= 0 and each != home:
                outlived.append(each)
                each = nested[each][1]
            if outlived:
                found.setdefault(at, []).append((variable, outlived))
    return found


def _decides(statement: Statement, flow: _Flow) -> str | None:
    """Return the argument whose contents a statement asks before it runs its blocks."""
    return next((it for asked in expressions(statement) if (it := _data_of(asked, flow)) is not None), None)


def _key(address: Expression) -> Spelling:
    return spelling(address, temporaries_alike=True)


def _addresses(statement: Statement) -> Iterator[tuple[str, Expression]]:
    yield from ((it.op, it.pointer) for it in touches(statement))
    if isinstance(statement, ImageRead):
        yield "load", statement.coordinate
    elif isinstance(statement, ImageWrite):
        yield "store", statement.coordinate


def _carry(statement: Statement, flow: _Flow) -> None:
    """Note what a statement hands on."""
    read = [it.pointer for it in touches(statement) if it.op != "store"]
    if isinstance(statement, ImageRead):
        read.append(statement.image)
    name = next((it for address in read if (it := _memory_of(address, flow)) is not None), None)
    for expression in expressions(statement):
        name = name or _data_of(expression, flow)
        behind = _memory_of(expression, flow)
        if behind is not None:
            for variable in written(statement):
                if isinstance(variable.type, PointerType):
                    flow.memory.setdefault(variable, behind)
    if name is None:
        return
    for variable in written(statement):
        flow.values.setdefault(variable, name)
    for pointer in written_through(statement):
        for node in nodes(pointer):
            if isinstance(node, ObjectAddress):
                flow.memory.setdefault(node.variable, name)


def _data_of(expression: Expression, flow: _Flow) -> str | None:
    reads = (it.variable for it in nodes(expression) if isinstance(it, Read))
    return next((flow.values[it] for it in reads if it in flow.values), None)


def _memory_of(expression: Expression, flow: _Flow) -> str | None:
    named = (it.variable for it in nodes(expression) if isinstance(it, Read | ObjectAddress))
    return next((flow.memory[it] for it in named if it in flow.memory), None)

"""Array instances: an array with one memory access matrix M and offset o, as section 3 of the paper has them.

References whose M and o are the same are one instance, however often they stand in the source: a work-item
that needs one element twice keeps it in a register.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Final

from clmap_lsp.access.classify import Classified
from clmap_lsp.access.delinearise import Column, Role
from clmap_lsp.access.polynomial import (
    GROUP_QUERIES,
    LANE_QUERIES,
    ZERO,
    Carried,
    Indirect,
    Leaf,
    LoopSymbol,
    Polynomial,
    Unknown,
    WorkItemSymbol,
)
from clmap_lsp.access.records import Access, Direction
from clmap_lsp.dataclass import dataclass
from clmap_lsp.interruption import checkpoint
from clmap_lsp.launch.model import BufferArgument
from clmap_lsp.lazy import lazy_property
from clmap_lsp.source.ir import Variable, WorkItemQuery
from clmap_lsp.source.types import AddressSpace, ArrayType, PointerType

if TYPE_CHECKING:
    from clmap_lsp.analysis.model import KernelAnalysis
    from clmap_lsp.launch.model import Launch

LANES: Final = (WorkItemQuery.GLOBAL_ID, WorkItemQuery.LOCAL_ID)

ColumnKey = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Mover:
    """One component of the iteration vector i: a work-item id or a loop, the same for all instances."""

    key: ColumnKey
    name: str
    role: Role


Row = Mapping[ColumnKey, Polynomial]
"""A row of M without its zeros, by what moves; loops by turn."""


@dataclass(frozen=True)
class Instance:
    """One array under one M and o. `accesses` are its references, in the order of the source."""

    array: str
    accesses: tuple[Access, ...]
    rows: tuple[Row, ...]
    """Outermost dimension of the array first."""
    offset: tuple[Polynomial, ...]
    movers: Mapping[ColumnKey, Mover] = field(repr=False)
    reason: str = ""
    """Why the index is not known; `rows` is then empty."""

    @property
    def is_loaded(self) -> bool:
        """True if a reference reads."""
        return any(it.direction is not Direction.STORE for it in self.accesses)

    @property
    def is_stored(self) -> bool:
        """True if a reference writes."""
        return any(it.direction is not Direction.LOAD for it in self.accesses)

    @property
    def n_dimensions(self) -> int:
        """Dimensions of the array, as far as they can be told."""
        return len(self.rows)

    @property
    def text(self) -> str:
        """The reference in the author's words."""
        return f"{self.array}[{self.accesses[0].index_text}]"

    @lazy_property
    def is_random(self) -> bool:
        """True if a dimension is not affine in ids and loops: data, a clamp, a remainder."""
        if self.reason or any(self._has(row, Role.OTHER) for row in self.rows):
            return True
        return any(_moves(leaf) for part in self.offset for leaf in part.leaves)

    @lazy_property
    def numbers(self) -> tuple[Mapping[ColumnKey, int] | None, ...]:
        """The rows of M as numbers; `None` for one that parameters are in."""
        return tuple(numbers_of(row) for row in self.rows)

    @lazy_property
    def inter_thread(self) -> bool:
        """True if M has a nonzero inter-thread column: work-items of the launch touch different places."""
        return any(self._has(row, Role.THREAD) for row in self.rows)

    @lazy_property
    def intra_thread(self) -> bool:
        """True if M has a nonzero intra-thread column: a loop of the work-item moves it."""
        return any(self._has(row, Role.LOOP) for row in self.rows)

    @property
    def same_address(self) -> bool:
        """True for a *same address read*: every work-item reads the same place in the same turn.

        The paper asks for a nonzero intra-thread column besides; one fixed element is the simplest case of
        the same thing and is taken in.
        """
        return not self.is_random and not self.inter_thread

    def moves(self, row: Row, dimension: int) -> Polynomial:
        """Return by how much a coordinate moves between work-items that are neighbours in a dimension."""
        total = ZERO
        for query in LANES:
            total = total + row.get((query.value, dimension), ZERO)
        return total

    def _has(self, row: Row, role: Role) -> bool:
        return any(self.movers[key].role is role for key in row)


def numbers_of(row: Row) -> Mapping[ColumnKey, int] | None:
    """Return a row with numbers only; `None` where it has parameters in it."""
    values = {key: it.value for key, it in row.items()}
    return None if None in values.values() else {key: it for key, it in values.items() if it is not None}


@dataclass(frozen=True)
class Array:
    """A buffer of a kernel with its instances, in the order of first use."""

    name: str
    space: AddressSpace
    root: Variable | None
    instances: tuple[Instance, ...]
    element_bytes: int
    """Bytes of one scalar."""
    bytes: int | None
    """Its size; `None` without a launch that says so."""

    @property
    def is_stored(self) -> bool:
        """True if the kernel writes it."""
        return any(it.is_stored for it in self.instances)

    @property
    def is_loaded(self) -> bool:
        """True if the kernel reads it."""
        return any(it.is_loaded for it in self.instances)

    @property
    def is_read_only(self) -> bool:
        """True if the kernel only reads it."""
        return not self.is_stored


def _moves(leaf: Leaf) -> bool:
    """True for what an offset vector may not hold: it is the same for all work-items and turns."""
    match leaf:
        case WorkItemSymbol(query=query):
            return query in LANE_QUERIES or query in GROUP_QUERIES
        case LoopSymbol() | Carried() | Indirect() | Unknown():
            return True
        case _:
            return False


def arrays_of(analysis: KernelAnalysis) -> tuple[Array, ...]:
    """Return the arrays of global and constant memory that a kernel touches."""
    classified = [it.classified for it in analysis.accesses if it.classified is not None]
    return arrays(classified, analysis.launch)


def arrays(classified: Iterable[Classified], launch: Launch | None) -> tuple[Array, ...]:
    """Return the arrays behind classified accesses; those of local and private memory are left out."""
    found: dict[str, list[Classified]] = {}
    for it in classified:
        if it.access.space in (AddressSpace.GLOBAL, AddressSpace.CONSTANT):
            found.setdefault(it.access.buffer, []).append(it)
    return tuple(_array(name, items, launch) for name, items in found.items())


def _array(name: str, items: list[Classified], launch: Launch | None) -> Array:
    first = items[0].access
    kept: dict[object, tuple[Classified, list[Access]]] = {}
    for it in items:
        checkpoint()
        kept.setdefault(_key(it), (it, []))[1].append(it.access)
    instances = tuple(_instance(name, head, tuple(accesses)) for head, accesses in kept.values())
    return Array(name, first.space, first.root, instances, first.scalar_bytes, array_bytes(first, launch))


def array_bytes(access: Access, launch: Launch | None) -> int | None:
    """Return the size of the array that an access touches, from its declaration or from the launch."""
    root = access.root
    if root is None:
        return None
    if isinstance(root.type, ArrayType) and root.type.size:
        return root.type.size
    argument = None if launch is None else launch.arguments.get(root.name)
    if isinstance(argument, BufferArgument) and argument.count and isinstance(root.type, PointerType):
        return argument.count * max(root.type.pointee.size, 1)
    return None


def _key(it: Classified) -> object:
    if it.matrix is None:
        return id(it)
    rows = tuple(tuple(sorted(row.items(), key=lambda pair: pair[0])) for row in _rows(it))
    return rows, it.matrix.offset, it.matrix.layout.pitches


def _instance(name: str, it: Classified, accesses: tuple[Access, ...]) -> Instance:
    if it.matrix is None:
        return Instance(name, accesses, (), (), {}, it.access.unknown or "the index is not known")
    movers = {_column_key(column): _mover(column) for column in it.matrix.columns}
    return Instance(name, accesses, tuple(_rows(it)), it.matrix.offset, movers)


def _rows(it: Classified) -> Iterator[Row]:
    """Yield the rows of M; where a loop has its variable for a column, the entry is made one of turns."""
    assert it.matrix is not None
    for row in it.matrix.entries:
        yield {
            _column_key(column): factor * column.step
            for column, factor in zip(it.matrix.columns, row, strict=True)
            if factor
        }


def _mover(column: Column) -> Mover:
    return Mover(_column_key(column), column.name, column.role)


def _column_key(column: Column) -> ColumnKey:
    """Name what moves a column; two accesses in one loop share its key."""
    symbol = column.symbol
    if isinstance(symbol, WorkItemSymbol):
        return symbol.query.value, symbol.dimension
    if column.loop is not None:
        return "loop", column.loop.identity
    if isinstance(symbol, LoopSymbol):
        return "loop", symbol.identity
    return f"other {symbol.order}", 0

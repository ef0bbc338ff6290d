"""What the analysis of a kernel's accesses yields."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from enum import Enum
from functools import lru_cache

from clmap_lsp.access.polynomial import (
    Atom,
    Indirect,
    LoopSymbol,
    Operation,
    Polynomial,
    Unknown,
    WorkItemSymbol,
)
from clmap_lsp.access.values import Subscript, Within
from clmap_lsp.access.wording import Names, words
from clmap_lsp.dataclass import dataclass
from clmap_lsp.source.ir import CallFrame, Kernel, Site, Variable
from clmap_lsp.source.span import Span
from clmap_lsp.source.types import AddressSpace, OpaqueType, Type, element_of


class Direction(Enum):
    """What an access does to memory."""

    LOAD = "load"
    STORE = "store"
    ATOMIC = "atomic"


@dataclass(frozen=True, slots=True)
class Access:
    """One place of a kernel that touches memory, as executed by every work-item under its guard.

    All polynomials are over work-item functions, scalar parameters, the turns of `loops`, and what cannot be
    reduced to those. A choice between two buffers gives two accesses of one site, each under its condition.
    """

    site: Site
    span: Span
    frames: tuple[CallFrame, ...]
    buffer: str
    """The parameter or variable that owns the memory; `?` where that is not known."""
    root: Variable | None
    space: AddressSpace
    direction: Direction
    type: Type
    """What is read or written: a scalar, a vector, or for copies a struct."""
    size: int
    """Bytes that one work-item touches: 12 for `vload3` of floats."""
    offset: Polynomial
    """Bytes from the start of the buffer."""
    index: Polynomial
    """`offset` in units of `unit` bytes."""
    unit: int
    """Bytes: those of `type`, or of its scalar where the offset is not a multiple of `type`."""
    alignment: int
    """Bytes that the language promises of the address."""
    subscripts: tuple[Subscript, ...]
    """As written, outermost first, where the source has them."""
    within: Within | None
    """Where in a struct it is, if it is in one."""
    loops: tuple[LoopSymbol, ...]
    """The loops around it, outermost first."""
    guard: tuple[Polynomial, ...]
    """Conditions that all must hold, besides those of the loops."""
    names: Names = field(compare=False, repr=False)
    """What the author calls the symbols."""
    unknown: str | None = None
    """Why the address is not known, if it is not."""
    cooperative: bool = False
    """Done once by the whole work-group (`async_work_group_copy`); the last loop runs over the elements."""
    volatile: bool = False
    sources: tuple[str, ...] = ()
    """Where the address is not known, or is read from private memory: the buffers that it is computed from.
    Empty where some of them cannot be named."""
    coordinates: tuple[Polynomial, ...] = ()
    """Of an image: x, y and z of its (first) texel; a row of `offset` is then `launch.image.ROW` texels."""

    @property
    def element_type(self) -> str:
        """OpenCL's name of the type."""
        return str(self.type)

    @property
    def element_bytes(self) -> int:
        """Bytes of one element of the access."""
        return self.size

    @property
    def scalar_bytes(self) -> int:
        """Bytes of one scalar of the access."""
        return element_of(self.type).size or self.size

    @property
    def index_text(self) -> str:
        """The index in the author's words: `y*N + x`."""
        if self.unknown is not None:
            return "?"
        return ", ".join(words(it, self.names) for it in self.coordinates or (self.index,))

    @property
    def place_text(self) -> str:
        """The access in the author's words: `A[y*N + x]`, `bodies[i].pos.x`."""
        within = self.within
        if isinstance(self.root and self.root.type, OpaqueType):
            return f"{self.buffer}({self.index_text})"
        struct = None if within is None else within.offset.exact_quotient(Polynomial.constant(within.size))
        if self.unknown is not None or within is None or struct is None:
            return f"{self.buffer}[{self.index_text}]"
        way = (it if isinstance(it, str) else f"[{words(it, self.names)}]" for it in within.way)
        return f"{self.buffer}[{words(struct, self.names)}]{''.join(way)}"

    @property
    def affine(self) -> bool:
        """True if the index is a sum of uniform multiples of ids and loop turns, and something uniform."""
        return self.unknown is None and _is_affine(self.index)

    @property
    def indirect(self) -> bool:
        """True if the address depends on a value read from memory."""
        return bool(self.indirect_through)

    @property
    def indirect_through(self) -> tuple[str, ...]:
        """The buffers from which values in the address were read, sorted."""
        read = [leaf for leaf in self.offset.leaves if isinstance(leaf, Indirect)]
        named = {leaf.buffer for leaf in read if not (leaf.private and self.sources)}
        return tuple(sorted(named.union(self.sources)))

    @property
    def known(self) -> bool:
        """True if the index can be computed from ids, parameters and loop turns alone."""
        return self.unknown is None and not self.indirect

    @property
    def guard_unknown(self) -> tuple[str, ...]:
        """Why parts of the guard are not known."""
        return tuple(leaf.reason for part in self.guard for leaf in part.leaves if isinstance(leaf, Unknown))

    @property
    def guard_text(self) -> str:
        """The guard in the author's words; empty where there is none."""
        return " && ".join(
            f"({text})" if "||" in text or "?" in text else text
            for text in (words(part, self.names) for part in self.guard)
        )

    def text(self, value: Polynomial) -> str:
        """Return any polynomial of this access in the author's words."""
        return words(value, self.names)


@lru_cache(maxsize=256)  # What it keeps may depend on thousands of symbols.
def _is_affine(index: Polynomial) -> bool:
    symbols: set[Atom] = set()
    for atom in index.walk():
        if isinstance(atom, (Indirect, Unknown)):
            return False
        if isinstance(atom, LoopSymbol) or (isinstance(atom, WorkItemSymbol) and atom.name not in _SIZES):
            symbols.add(atom)
    return index.is_affine_in(symbols) and not any(
        isinstance(atom, Operation) and not symbols.isdisjoint(Polynomial.of(atom).leaves)
        for atom in index.atoms
    )


_SIZES = frozenset(
    f"{query}({dimension})"
    for query in (
        "get_global_size",
        "get_local_size",
        "get_enqueued_local_size",
        "get_num_groups",
        "get_global_offset",
        "get_work_dim",
    )
    for dimension in range(3)
)


@dataclass(frozen=True, slots=True, eq=False)
class AccessSummary:
    """Every access of one kernel, in the order of the source."""

    kernel: Kernel
    accesses: tuple[Access, ...]
    """Of global, constant and local memory."""
    private: tuple[Access, ...]
    """Of private arrays and structs."""
    loops: tuple[LoopSymbol, ...]
    names: Names
    n_dimensions: int = 1
    """Of the launch, or as many as the kernel asks about."""
    caveats: tuple[str, ...] = ()
    """What the kernel does that the analysis does not follow, such as `goto`."""
    unreached: tuple[Access, ...] = ()
    """Accesses of public memory that the conditions around them seem to rule out."""
    images: tuple[Access, ...] = ()
    """Reads and writes of images, those that the conditions seem to rule out included."""

    def of_buffer(self, name: str) -> tuple[Access, ...]:
        """Return the accesses of one buffer."""
        return tuple(it for it in self.accesses if it.buffer == name)

    def by_buffer(self) -> Mapping[str, tuple[Access, ...]]:
        """Return the accesses of each buffer, in the order of first use."""
        found: dict[str, list[Access]] = {}
        for access in self.accesses:
            found.setdefault(access.buffer, []).append(access)
        return {name: tuple(items) for name, items in found.items()}

    def __iter__(self) -> Iterator[Access]:
        return iter(self.accesses)

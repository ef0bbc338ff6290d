"""What a variable may hold while a kernel is read symbolically."""

from __future__ import annotations

from typing import Final

from clmap_lsp.access.algebra import select
from clmap_lsp.access.facts import Facts
from clmap_lsp.access.polynomial import ZERO, Leaf, Polynomial
from clmap_lsp.access.real import UNKNOWN_REAL, Real
from clmap_lsp.dataclass import dataclass
from clmap_lsp.source.ir import Variable
from clmap_lsp.source.types import AddressSpace, has_union


@dataclass(frozen=True, slots=True)
class Subscript:
    """One `[index]` on the way to an address, `stride` bytes a step."""

    index: Polynomial
    stride: int


@dataclass(frozen=True, slots=True)
class Within:
    """A place inside a struct: where the struct is, and the way from there."""

    offset: Polynomial
    """Bytes from the start of the buffer to the struct."""
    size: int
    """Bytes of the struct."""
    way: tuple[str | Polynomial, ...]
    """Members (`.pos`) and subscripts."""

    def then(self, step: str | Polynomial) -> Within:
        """Return a place one step further in."""
        return Within(self.offset, self.size, (*self.way, step))


@dataclass(frozen=True, slots=True)
class Pointer:
    """An address: `offset` bytes after the start of the object or buffer `root`.

    `root` is `None` where it is not known which memory is pointed to; `reason` then says why.
    `subscripts` are those written since the object, the outermost first; empty once pointer arithmetic has
    mixed them.
    """

    root: Variable | None
    space: AddressSpace
    offset: Polynomial
    subscripts: tuple[Subscript, ...] = ()
    path: str = ""
    """Members passed on the way, as in `.width`."""
    reason: str = ""
    within: Within | None = None


@dataclass(frozen=True, slots=True)
class PointerChoice:
    """`if_true` where the condition is not zero, else `if_false`: two different roots."""

    condition: Polynomial
    if_true: Address
    if_false: Address

    @property
    def n_places(self) -> int:
        """How many alternatives there are in all."""
        return _n_places(self.if_true) + _n_places(self.if_false)


Address = Pointer | PointerChoice

MAX_PLACES: Final = 16
"""A pointer that may name more places than this is not followed: exchanges of pointers double them."""


def _n_places(address: Address) -> int:
    return address.n_places if isinstance(address, PointerChoice) else 1


@dataclass(frozen=True, slots=True)
class Vector:
    """The lanes of a vector."""

    lanes: tuple[Scalar, ...]


@dataclass(frozen=True, slots=True)
class Opaque:
    """A value that no index is made of: an image, a sampler, an event, a struct."""


OPAQUE: Final = Opaque()
NULL: Final = "the pointer is null"
Scalar = Polynomial | Real
Value = Polynomial | Real | Vector | Pointer | PointerChoice | Opaque


def choose(condition: Polynomial, if_true: Value, if_false: Value, facts: Facts) -> Value:
    """Return the value that a variable has after a branch on `condition`."""
    if if_true is if_false or if_true == if_false:
        return if_true
    match if_true, if_false:
        case Polynomial(), Polynomial():
            return select(condition, if_true, if_false, facts)
        case Real(), Real():
            return Real.choice(condition, if_true, if_false)
        case Vector(lanes=a), Vector(lanes=b) if len(a) == len(b):
            return Vector(tuple(_scalar(choose(condition, x, y, facts)) for x, y in zip(a, b, strict=True)))
        case Pointer(), Pointer() if if_true.root is if_false.root and if_true.root is not None:
            offset = select(condition, if_true.offset, if_false.offset, facts)
            return Pointer(if_true.root, if_true.space, offset, (), if_true.path)
        case ((Pointer() | PointerChoice()), (Pointer() | PointerChoice())):
            if _n_places(if_true) + _n_places(if_false) > MAX_PLACES:
                return unknown_pointer(_space_of(if_true), "it is one of too many pointers")
            return PointerChoice(condition, if_true, if_false)
        case _:
            return if_true if isinstance(if_false, Opaque) else if_false


def _space_of(address: Address) -> AddressSpace:
    return address.space if isinstance(address, Pointer) else _space_of(address.if_true)


def _scalar(value: Value) -> Scalar:
    return value if isinstance(value, (Polynomial, Real)) else UNKNOWN_REAL


def leaves_of_value(value: Value) -> frozenset[Leaf]:
    """Return the symbols that a value depends on."""
    match value:
        case Polynomial() | Real():
            return value.leaves
        case Vector(lanes=lanes):
            return frozenset().union(*(it.leaves for it in lanes))
        case Pointer():
            return value.offset.leaves
        case PointerChoice():
            sides = leaves_of_value(value.if_true) | leaves_of_value(value.if_false)
            return sides | value.condition.leaves
        case Opaque():
            return frozenset()


def unknown_pointer(space: AddressSpace, reason: str) -> Pointer:
    """Return an address of which nothing is known but its space."""
    return Pointer(None, space, ZERO, (), "", reason)


def is_null(address: Address) -> bool:
    """Tell whether an address is the null pointer."""
    return isinstance(address, Pointer) and address.root is None and address.reason == NULL


def has_root(address: Address) -> bool:
    """Tell whether it is known of every place that an address may name which object it is in."""
    if isinstance(address, PointerChoice):
        return has_root(address.if_true) and has_root(address.if_false)
    return address.root is not None


def is_lasting(key: object, value: Value | None) -> bool:
    """Tell whether tracked memory holds a pointer that only the store of another one can replace."""
    if not isinstance(value, Pointer | PointerChoice) or not isinstance(key, tuple):
        return False
    return isinstance(key[0], Variable) and not has_union(key[0].type)

"""Exact integer polynomials over the quantities that a kernel's indices are made of.

A polynomial is a sum of integer coefficients times products of *atoms*: work-item ids and launch sizes,
scalar parameters, loop turns, values read from memory, and operations that no polynomial can express (floor
division, remainder, shifts, masks, selects, comparisons) over further polynomials.

Arithmetic is over the integers. C's 32-bit wrap-around is not modelled except where an operation says so
(`Op.WRAP_UNSIGNED`, `Op.WRAP_SIGNED`): index arithmetic that overflows is undefined or meant to be masked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from enum import Enum
from functools import cache, lru_cache
from hashlib import blake2b
from operator import attrgetter
from typing import TYPE_CHECKING, Final

from clmap_lsp.access.shapes import Shape, shape_of
from clmap_lsp.dataclass import dataclass
from clmap_lsp.source.ir import WorkItemQuery

if TYPE_CHECKING:
    from clmap_lsp.access.real import Real
    from clmap_lsp.source.span import Span


class Op(Enum):
    """What an `Operation` computes from its operands; truth values are 0 and 1."""

    FLOOR_DIV = "floor division"
    TRUNC_DIV = "/"
    MOD = "modulo"
    """The remainder of `FLOOR_DIV`: never negative for a positive divisor."""
    REM = "%"
    """C's remainder, with the sign of the dividend."""
    SHL = "<<"
    SHR = ">>"
    AND = "&"
    OR = "|"
    XOR = "^"
    BIT_NOT = "~"
    MIN = "min"
    MAX = "max"
    ABS = "abs"
    SELECT = "?:"
    """(condition, value if it is not zero, value if it is)."""
    POW = "power"
    PRODUCT = "*"
    """A product too large to be multiplied out."""
    LT = "<"
    LE = "<="
    EQ = "=="
    NE = "!="
    LOGICAL_AND = "&&"
    LOGICAL_OR = "||"
    LOGICAL_NOT = "!"
    WRAP_UNSIGNED = "unsigned wrap"
    """(value, bits): the value modulo 2 to the power bits."""
    WRAP_SIGNED = "signed wrap"
    """(value, bits): the value as a two's complement number of so many bits."""
    POPCOUNT = "popcount"
    CLZ = "clz"
    """(value, bits): leading zeros of a value of so many bits."""
    TO_INT = "(int)"
    """The integer that a `Real` converts to; see `clmap_lsp.access.real`."""


Order = tuple[int, str | bytes, int]
"""Where an atom stands in products: its kind, then what tells it from others of its kind.

A total order: two atoms are equal exactly if their orders are. It does not depend on the process, so neither
do products, nor what is printed of them.
"""


@lru_cache(maxsize=4096)
def _hash_of(name: str) -> int:
    """Return a hash of a name that is the same in every process (`hash` of a text is not).

    With it, sets of atoms are walked in the same order in every process too.
    """
    return int.from_bytes(blake2b(name.encode("utf-8", "surrogatepass"), digest_size=7).digest(), "little")


@dataclass(frozen=True, slots=True)
class WorkItemSymbol:
    """A work-item function of one dimension: an id, or a size of the launch."""

    query: WorkItemQuery
    dimension: int = 0
    order: Order = field(init=False, compare=False, repr=False)
    _hash: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "order", (0, self.query.value, self.dimension))
        object.__setattr__(self, "_hash", hash((_hash_of(self.query.value), self.dimension)))

    def __hash__(self) -> int:
        return self._hash

    @property
    def name(self) -> str:
        """As written in OpenCL C."""
        return f"{self.query.value}({self.dimension})"


@dataclass(frozen=True, slots=True)
class Parameter:
    """A scalar kernel argument, or a member of one (`p.width`, `size.x`): the same for every work-item."""

    name: str
    unsigned: bool = field(default=False, compare=False)

    @property
    def order(self) -> Order:
        """See `Order`."""
        return 1, self.name, 0

    def __hash__(self) -> int:
        return _hash_of(self.name)


@dataclass(frozen=True, slots=True)
class LoopSymbol:
    """The number of turns that a loop has made: 0 in its first.

    The author's induction variable, if there is one, is `start + step * turn`.
    """

    identity: int
    """Unique within one analysis; the only part that comparison looks at."""
    name: str = field(compare=False)
    """The induction variable's name, or `loop` and its line's text where there is none."""
    start: Polynomial | None = field(default=None, compare=False, repr=False)
    step: Polynomial | None = field(default=None, compare=False, repr=False)
    trip: Polynomial | None = field(default=None, compare=False, repr=False)
    """How many turns are made (where positive); `None` if no closed form is known."""
    bound: Polynomial | None = field(default=None, compare=False, repr=False)
    """The expression that the induction variable is compared with."""
    condition: Polynomial | None = field(default=None, compare=False, repr=False)
    """What is tested before each turn, over a symbol that equals this one."""
    span: Span | None = field(default=None, compare=False, repr=False)
    exits_early: bool = field(default=False, compare=False)
    """A `break` or a return may end it before `trip` turns."""

    @property
    def order(self) -> Order:
        """See `Order`."""
        return 2, "", self.identity

    def __hash__(self) -> int:
        return self.identity


@dataclass(frozen=True, slots=True, eq=False)
class Indirect:
    """The value that the load at `site` read from `buffer` at element `index`.

    `unsigned` and `private` are no part of a comparison.
    """

    buffer: str
    site: int
    index: Polynomial
    unsigned: bool = False
    lane: int = 0
    """Which lane of a loaded vector."""
    turns: tuple[LoopSymbol, ...] = ()
    """The loops in whose turns the value may differ although the index does not: memory may be written."""
    private: bool = False
    """True of private memory, which holds what the kernel put there; no part of a comparison."""
    shape: Shape = field(init=False, repr=False)
    """The same object for equal loads."""
    _hash: int = field(init=False, repr=False)
    _others: frozenset[Leaf] | None = field(init=False, repr=False, default=None)

    def __post_init__(self) -> None:
        index = self.index.shape
        shape = shape_of((self.buffer, self.site, index, self.lane, self.turns), self._digest)
        object.__setattr__(self, "shape", shape)
        object.__setattr__(self, "_hash", shape.number)

    def _digest(self) -> bytes:
        turns = [it.identity for it in self.turns]
        return _digest((self.buffer, self.site, self.index.shape.digest, self.lane, turns))

    @property
    def order(self) -> Order:
        """See `Order`."""
        return 3, self.shape.digest, 0

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self.shape is other.shape if isinstance(other, Indirect) else NotImplemented

    @property
    def leaves(self) -> frozenset[Leaf]:
        """The symbols it depends on, itself included."""
        if self._others is None:  # without itself, which would be a reference cycle
            object.__setattr__(self, "_others", self.index.leaves.union(self.turns))
        return self._others.union((self,))  # type: ignore[union-attr]

    @property
    def loop_symbols(self) -> frozenset[LoopSymbol]:
        """The loops that it depends on."""
        return self.index.loop_symbols.union(self.turns)


@dataclass(frozen=True, slots=True)
class Unknown:
    """A value that cannot be known from the source, with why."""

    reason: str
    identity: int
    varies: bool = field(default=True, compare=False)
    """False where every work-item has the same value."""
    leaves: frozenset[Leaf] = field(default=frozenset(), compare=False, repr=False)
    """What it is known to depend on; a buffer's `Indirect` among them makes it data-dependent."""
    _hash: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash((_hash_of(self.reason), self.identity)))

    @property
    def order(self) -> Order:
        """See `Order`."""
        return 4, self.reason, self.identity

    def __hash__(self) -> int:
        return self._hash


@dataclass(frozen=True, slots=True)
class Carried:
    """The value of a variable at the head of a loop while its recurrence is being solved."""

    name: str
    identity: int

    @property
    def order(self) -> Order:
        """See `Order`."""
        return 5, self.name, self.identity

    def __hash__(self) -> int:
        return -self.identity - 2


@dataclass(frozen=True, slots=True, eq=False)
class Operation:
    """An integer operation that is not a sum of products. Build them with `clmap_lsp.access.algebra`."""

    op: Op
    operands: tuple[Polynomial, ...]
    payload: Real | None = None
    """For `TO_INT`: the real expression."""
    shape: Shape = field(init=False, repr=False)
    """The same object for equal operations."""
    _hash: int = field(init=False, repr=False)
    _leaves: frozenset[Leaf] | None = field(init=False, repr=False, default=None)
    _loop_symbols: frozenset[LoopSymbol] | None = field(init=False, repr=False, default=None)

    def __post_init__(self) -> None:
        operands = tuple(operand.shape for operand in self.operands)
        shape = shape_of((self.op, operands, self.payload), self._digest)
        object.__setattr__(self, "shape", shape)
        object.__setattr__(self, "_hash", shape.number)

    def _digest(self) -> bytes:
        payload = None if self.payload is None else self.payload.digest
        return _digest((self.op.value, [it.shape.digest for it in self.operands], payload))

    @property
    def order(self) -> Order:
        """See `Order`."""
        return 6, self.shape.digest, 0

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self.shape is other.shape if isinstance(other, Operation) else NotImplemented

    @property
    def leaves(self) -> frozenset[Leaf]:
        """The symbols it depends on."""
        if self._leaves is None:
            parts = [operand.leaves for operand in self.operands]
            if self.payload is not None:
                parts.append(self.payload.leaves)
            found = _joined(parts)
            object.__setattr__(self, "_leaves", found)
        return self._leaves  # type: ignore[return-value]

    @property
    def loop_symbols(self) -> frozenset[LoopSymbol]:
        """The loops that it depends on: few, where its leaves may be hundreds."""
        if self._loop_symbols is None:
            found = _NO_LOOPS.union(*(operand.loop_symbols for operand in self.operands))
            if self.payload is not None:
                found |= _loops_in(self.payload.leaves)
            object.__setattr__(self, "_loop_symbols", found)
        return self._loop_symbols  # type: ignore[return-value]


Leaf = WorkItemSymbol | Parameter | LoopSymbol | Indirect | Unknown | Carried
Atom = Leaf | Operation
Monomial = tuple[Atom, ...]
"""A product of atoms, sorted by their `order`; the empty product is 1."""
_by_order: Final = attrgetter("order")


def _digest(parts: object) -> bytes:
    """Return 16 bytes that tell a structure from all others; `parts` are numbers, texts, digests, lists."""
    return blake2b(repr(parts).encode("utf-8", "surrogatepass"), digest_size=16).digest()


MAX_TERMS: Final = 96
"""Products with more terms than this stay unexpanded."""


class Polynomial:
    """A sum of integer multiples of monomials. Immutable; equal polynomials are equal term by term.

    `terms` maps each monomial to its coefficient, which is never 0.
    """

    __slots__ = ("_atoms", "_hash", "_leaves", "_loop_symbols", "_shape", "_weight", "opposite", "terms")

    terms: Mapping[Monomial, int]

    def __init__(self, terms: Mapping[Monomial, int]) -> None:
        self.terms = terms
        self._hash: int | None = None
        self._atoms: frozenset[Atom] | None = None
        self._leaves: frozenset[Leaf] | None = None
        self._loop_symbols: frozenset[LoopSymbol] | None = None
        self._shape: Shape | None = None
        self._weight: int | None = None
        self.opposite: Polynomial | None = None
        """Of a condition: its negation, once it was asked for; see `algebra.negated`."""

    # ------------------------------------------------------------------------------------- making

    @staticmethod
    def constant(value: int) -> Polynomial:
        """Return the polynomial that is `value` everywhere."""
        if -_N_SMALL <= value <= _N_SMALL:
            return _SMALL[value + _N_SMALL]
        return Polynomial({(): value})

    @staticmethod
    def of(atom: Atom, coefficient: int = 1) -> Polynomial:
        """Return `coefficient` times `atom`."""
        return Polynomial({(atom,): coefficient}) if coefficient else ZERO

    # ---------------------------------------------------------------------------------- comparing

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Polynomial):
            return NotImplemented
        return hash(self) == hash(other) and self.terms == other.terms

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(frozenset(self.terms.items()))
        return self._hash

    @property
    def shape(self) -> Shape:
        """The same object for equal polynomials."""
        if self._shape is None:
            terms = self.terms.items()
            parts = frozenset((tuple(_part(atom) for atom in monomial), it) for monomial, it in terms)
            self._shape = shape_of(parts, self._digest)
        return self._shape

    @property
    def order(self) -> Order:
        """A total order of polynomials, in which the order of single atoms is that of `Order`."""
        atom = self.atom
        return (7, self.shape.digest, 0) if atom is None else atom.order

    def _digest(self) -> bytes:
        terms = [([atom.order for atom in monomial], it) for monomial, it in self.terms.items()]
        return _digest(sorted(terms))

    def __repr__(self) -> str:
        from clmap_lsp.access.wording import words

        return f"<{words(self)}>"

    def __bool__(self) -> bool:
        return bool(self.terms)

    # ------------------------------------------------------------------------------------- asking

    @property
    def value(self) -> int | None:
        """The number that this is, if it is one."""
        terms = self.terms
        if not terms:
            return 0
        if len(terms) == 1:
            return terms.get(())
        return None

    @property
    def offset(self) -> int:
        """The constant term."""
        return self.terms.get((), 0)

    @property
    def atom(self) -> Atom | None:
        """The atom that this is, if it is one with coefficient 1."""
        if len(self.terms) == 1:
            ((monomial, coefficient),) = self.terms.items()
            if coefficient == 1 and len(monomial) == 1:
                return monomial[0]
        return None

    @property
    def atoms(self) -> frozenset[Atom]:
        """The atoms that stand directly in it."""
        if self._atoms is None:
            self._atoms = frozenset(atom for monomial in self.terms for atom in monomial)
        return self._atoms

    @property
    def leaves(self) -> frozenset[Leaf]:
        """The symbols it depends on, through operations and indices of loads too."""
        if self._leaves is None:
            for part in parts_first(self, _has_leaves):
                _ = part.leaves
            self._leaves = _joined([leaves_of(atom) for atom in self.atoms])
        return self._leaves

    @property
    def loop_symbols(self) -> frozenset[LoopSymbol]:
        """The loops that it depends on, through operations and indices of loads too."""
        if self._loop_symbols is None:
            for part in parts_first(self, _has_loop_symbols):
                _ = part.loop_symbols
            self._loop_symbols = _NO_LOOPS.union(*(_loop_symbols_of(atom) for atom in self.atoms))
        return self._loop_symbols

    @property
    def weight(self) -> int:
        """How many atoms it has when written out, those inside operations and load indices included."""
        if self._weight is None:
            for part in parts_first(self, _has_weight):
                for operand in operands_of(part):
                    _ = operand.weight
            self._weight = sum(weight_of(atom) for monomial in self.terms for atom in monomial)
        return self._weight

    def walk(self) -> Iterator[Atom]:
        """Yield every atom once, those inside operations and load indices included."""
        seen: set[Atom] = set()
        waiting = [self]
        while waiting:
            for atom in waiting.pop().atoms - seen:
                seen.add(atom)
                waiting.extend(operands_of(atom))
                yield atom

    # ---------------------------------------------------------------------------------- computing

    def __add__(self, other: Polynomial | int) -> Polynomial:
        if isinstance(other, int):
            other = Polynomial.constant(other)
        mine, theirs = self.terms, other.terms
        if not theirs:
            return self
        if not mine:
            return other
        if len(mine) < len(theirs):
            mine, theirs = theirs, mine
        terms = dict(mine)
        for monomial, coefficient in theirs.items():
            total = terms.get(monomial, 0) + coefficient
            if total:
                terms[monomial] = total
            else:
                del terms[monomial]
        return Polynomial(terms)

    __radd__ = __add__

    def __neg__(self) -> Polynomial:
        return Polynomial({monomial: -coefficient for monomial, coefficient in self.terms.items()})

    def __sub__(self, other: Polynomial | int) -> Polynomial:
        return self + (-other)

    def __rsub__(self, other: int) -> Polynomial:
        return (-self) + other

    def __mul__(self, other: Polynomial | int) -> Polynomial:
        if isinstance(other, int):
            return self.scaled(other)
        mine, theirs = self.terms, other.terms
        if (single := other.value) is not None:
            return self.scaled(single)
        if (single := self.value) is not None:
            return other.scaled(single)
        if len(mine) * len(theirs) > MAX_TERMS:
            return Polynomial.of(Operation(Op.PRODUCT, (self, other)))
        terms: dict[Monomial, int] = {}
        for left, a in mine.items():
            for right, b in theirs.items():
                monomial = multiply(left, right)
                total = terms.get(monomial, 0) + a * b
                if total:
                    terms[monomial] = total
                else:
                    terms.pop(monomial, None)
        return Polynomial(terms)

    __rmul__ = __mul__

    def scaled(self, factor: int) -> Polynomial:
        """Return it times a number."""
        if factor == 1:
            return self
        if not factor:
            return ZERO
        return Polynomial({monomial: factor * it for monomial, it in self.terms.items()})

    def exact_quotient(self, divisor: Polynomial) -> Polynomial | None:
        """Return the polynomial q with q * `divisor` equal to this, for a `divisor` of one term."""
        if len(divisor.terms) != 1:
            return None
        ((unit, factor),) = divisor.terms.items()
        terms = {}
        for monomial, coefficient in self.terms.items():
            rest = divide(monomial, unit)
            if rest is None or coefficient % factor:
                return None
            terms[rest] = coefficient // factor
        return Polynomial(terms)

    def split(self, symbols: frozenset[Atom] | frozenset[Leaf]) -> tuple[Polynomial, Polynomial]:
        """Return (the terms that depend on any of `symbols`, the others)."""
        inside: dict[Monomial, int] = {}
        outside: dict[Monomial, int] = {}
        for monomial, coefficient in self.terms.items():
            depends = any(not symbols.isdisjoint(leaves_of(atom)) for atom in monomial)
            (inside if depends else outside)[monomial] = coefficient
        return Polynomial(inside), Polynomial(outside)

    def coefficient(self, symbol: Atom) -> Polynomial | None:
        """Return the factor of `symbol`, or `None` if this is not linear in it.

        It is not linear where the symbol is multiplied by itself or stands inside an operation.
        """
        terms: dict[Monomial, int] = {}
        for monomial, it in self.terms.items():
            n = monomial.count(symbol)
            rest = tuple(atom for atom in monomial if atom != symbol) if n else monomial
            if n > 1 or any(symbol in leaves_of(atom) for atom in rest):
                return None
            if n:
                terms[rest] = it
        return Polynomial(terms)

    def is_affine_in(self, symbols: Iterable[Atom]) -> bool:
        """True if it is a sum of uniform multiples of the symbols and of something free of them."""
        wanted = frozenset(symbols)
        for monomial in self.terms:
            n = 0
            for atom in monomial:
                if atom in wanted:
                    n += 1
                elif not wanted.isdisjoint(leaves_of(atom)):
                    return False
            if n > 1:
                return False
        return True


def leaves_of(atom: Atom) -> frozenset[Leaf]:
    """Return the symbols that an atom depends on, itself included."""
    match atom:
        case Operation() | Indirect():
            return atom.leaves
        case Unknown():
            return atom.leaves | {atom}
        case _:
            return frozenset((atom,))


def _joined(parts: Sequence[frozenset[Leaf]]) -> frozenset[Leaf]:
    """Return the union of some sets; that is one of them where it can be.

    Of long chains of values, as in ciphers, each depends on hundreds of symbols, and few add one.
    """
    largest = max(parts, key=len, default=_NO_LEAVES)
    return largest if all(it is largest or it <= largest for it in parts) else largest.union(*parts)


def _loop_symbols_of(atom: Atom) -> frozenset[LoopSymbol]:
    match atom:
        case Operation() | Indirect():
            return atom.loop_symbols
        case LoopSymbol():
            return frozenset((atom,))
        case Unknown():
            return _loops_in(atom.leaves)
        case _:
            return _NO_LOOPS


def _loops_in(leaves: Iterable[Leaf]) -> frozenset[LoopSymbol]:
    return frozenset(it for it in leaves if isinstance(it, LoopSymbol))


def operands_of(atom: Atom) -> tuple[Polynomial, ...]:
    """Return the polynomials that an atom is made of; none for a symbol."""
    match atom:
        case Operation():
            return atom.operands
        case Indirect():
            return (atom.index,)
        case _:
            return ()


def parts_first(
    value: Polynomial, is_known: Callable[[Operation | Indirect], bool]
) -> Iterator[Operation | Indirect]:
    """Yield the operations and loads in a polynomial, each after those that it is made of itself.

    What is worked out in this order needs no recursion, whose depth would be that of the value: `v = T[v]`
    goes one deeper with every statement. Parts for which `is_known` holds are left out with all below them.
    """
    waiting = [(atom, False) for atom in _compound(value)]
    while waiting:
        atom, is_ready = waiting.pop()
        if is_known(atom):
            continue
        if is_ready:
            yield atom
        else:
            waiting.append((atom, True))
            waiting.extend((part, False) for operand in operands_of(atom) for part in _compound(operand))


def _compound(value: Polynomial) -> Iterator[Operation | Indirect]:
    return (atom for monomial in value.terms for atom in monomial if isinstance(atom, (Operation, Indirect)))


def _has_leaves(atom: Operation | Indirect) -> bool:
    return (atom._leaves if isinstance(atom, Operation) else atom._others) is not None


def _has_loop_symbols(atom: Operation | Indirect) -> bool:
    known = atom._loop_symbols if isinstance(atom, Operation) else atom.index._loop_symbols
    return known is not None


def _has_weight(atom: Operation | Indirect) -> bool:
    return all(operand._weight is not None for operand in operands_of(atom))


def _part(atom: Atom) -> Atom | Shape:
    """Return what stands for an atom in the structure of what contains it."""
    return atom.shape if isinstance(atom, (Operation, Indirect)) else atom


def weight_of(atom: Atom) -> int:
    """Return how many atoms an atom has when written out."""
    match atom:
        case Operation(operands=operands):
            return 1 + sum(operand.weight for operand in operands)
        case Indirect(index=index):
            return 1 + index.weight
        case _:
            return 1


_NO_LEAVES: Final[frozenset[Leaf]] = frozenset()
_NO_LOOPS: Final[frozenset[LoopSymbol]] = frozenset()


def multiply(left: Monomial, right: Monomial) -> Monomial:
    """Return the product of two monomials."""
    if not left:
        return right
    if not right:
        return left
    return tuple(sorted(left + right, key=_by_order))


def divide(monomial: Monomial, by: Monomial) -> Monomial | None:
    """Return the monomial without the atoms of `by`, or `None` if it lacks one."""
    if not by:
        return monomial
    rest = list(monomial)
    for atom in by:
        if atom not in rest:
            return None
        rest.remove(atom)
    return tuple(rest)


def poly(value: Polynomial | Atom | int) -> Polynomial:
    """Return a number, an atom or a polynomial as a polynomial."""
    if isinstance(value, Polynomial):
        return value
    if isinstance(value, int):
        return Polynomial.constant(value)
    return Polynomial.of(value)


@cache
def global_id(dimension: int) -> WorkItemSymbol:
    """Return the symbol of `get_global_id(dimension)`."""
    return WorkItemSymbol(WorkItemQuery.GLOBAL_ID, dimension)


@cache
def local_id(dimension: int) -> WorkItemSymbol:
    """Return the symbol of `get_local_id(dimension)`."""
    return WorkItemSymbol(WorkItemQuery.LOCAL_ID, dimension)


@cache
def group_id(dimension: int) -> WorkItemSymbol:
    """Return the symbol of `get_group_id(dimension)`."""
    return WorkItemSymbol(WorkItemQuery.GROUP_ID, dimension)


@cache
def local_size(dimension: int) -> WorkItemSymbol:
    """Return the symbol of `get_local_size(dimension)`."""
    return WorkItemSymbol(WorkItemQuery.LOCAL_SIZE, dimension)


LANE_QUERIES: Final = frozenset(
    {
        WorkItemQuery.GLOBAL_ID,
        WorkItemQuery.LOCAL_ID,
        WorkItemQuery.GLOBAL_LINEAR_ID,
        WorkItemQuery.LOCAL_LINEAR_ID,
        WorkItemQuery.SUB_GROUP_ID,
        WorkItemQuery.SUB_GROUP_LOCAL_ID,
    }
)
"""The functions that differ between work-items of one work-group."""
GROUP_QUERIES: Final = frozenset({WorkItemQuery.GROUP_ID})
"""The functions that differ only between work-groups."""


def varies_in_group(value: Polynomial) -> bool:
    """True if two work-items of one work-group may see different values."""
    for leaf in value.leaves:
        match leaf:
            case WorkItemSymbol(query=query) if query in LANE_QUERIES:
                return True
            case Unknown(varies=True):
                return True
            case _:
                pass
    return False


def varies_in_launch(value: Polynomial) -> bool:
    """True if two work-items of the launch may see different values in the same turn of every loop."""
    return varies_in_group(value) or any(
        isinstance(leaf, WorkItemSymbol) and leaf.query in GROUP_QUERIES for leaf in value.leaves
    )


_N_SMALL: Final = 64
_SMALL = [Polynomial({(): value} if value else {}) for value in range(-_N_SMALL, _N_SMALL + 1)]
ZERO: Final = _SMALL[_N_SMALL]
ONE: Final = _SMALL[_N_SMALL + 1]

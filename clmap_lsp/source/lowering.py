"""The state of lowering, and the tables through which its modules find each other.

`Unit` is what a translation unit declares; `Lowering` is one function body on its way to the IR. Handlers
of node kinds stand in `VALUES`, `PLACES` and `STATEMENTS`; the modules that define them register them with
`handles`, so that expressions, calls and statements may use each other without import cycles.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import field
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from clmap_lsp.dataclass import dataclass, record
from clmap_lsp.interruption import checkpoint
from clmap_lsp.source.ir import (
    Assign,
    Block,
    Constant,
    Convert,
    Expression,
    Guess,
    Initializer,
    Load,
    ObjectAddress,
    PointerCast,
    Problem,
    Read,
    Severity,
    Statement,
    Store,
    Swizzle,
    Unary,
    Undefined,
    Unsupported,
    Variable,
    VariableKind,
)
from clmap_lsp.source.span import LazySpan
from clmap_lsp.source.types import (
    INT,
    AddressSpace,
    Field,
    PointerType,
    StructType,
    Type,
    UnknownType,
)

if TYPE_CHECKING:
    from tree_sitter import Node

    from clmap_lsp.source.options import BuildOptions
    from clmap_lsp.source.span import Span
    from clmap_lsp.source.syntax import SyntaxTree, TokenPlaces

# ------------------------------------------------------------------------------------- values and places


@record(frozen=True, slots=True)
class ObjectValue:
    """A struct or union as a value: it stays in memory, at `pointer`."""

    pointer: Expression
    type: StructType
    span: Span


Value = Expression | ObjectValue


@record(frozen=True, slots=True)
class Register:
    """A variable that is read by `Read` and written by `Assign`."""

    variable: Variable
    type: Type


@record(frozen=True, slots=True)
class Memory:
    """`type` at `pointer`. A bit-field is described by `bits`, its pointer is that of its storage unit."""

    pointer: Expression
    type: Type
    span: Span
    """What a load or store of it covers: the whole access as typed."""
    is_volatile: bool = False
    bits: Field | None = None
    is_packed: bool = False


@record(frozen=True, slots=True)
class Lanes:
    """Lanes of a vector that stands at another place."""

    vector: Register | Memory
    lanes: tuple[int, ...]
    type: Type


@record(frozen=True, slots=True)
class Temporary:
    """A value that is no place but is used like one (`f(x).y`)."""

    value: Expression
    type: Type


Place = Register | Memory | Lanes | Temporary

# ---------------------------------------------------------------------------------------------- symbols


@record(frozen=True, slots=True)
class Object:
    """A variable in scope. `space` is where it lives."""

    variable: Variable
    space: AddressSpace = AddressSpace.PRIVATE
    is_const: bool = False
    is_volatile: bool = False
    value: Constant | None = None
    """The value of a `const` integer that is a constant expression."""


@record(frozen=True, slots=True)
class TypeName:
    """A typedef."""

    type: Type


@record(frozen=True, slots=True)
class Enumerator:
    """A constant of an enum."""

    value: int
    type: Type = INT


Symbol = Object | TypeName | Enumerator


@record(frozen=True, slots=True)
class Signature:
    """What a call needs to know of a function of the program."""

    name: str
    result: Type
    parameters: tuple[Type, ...]


@record(frozen=True, slots=True)
class Reported:
    """A problem; of those with the same code and `name` only the first is shown."""

    problem: Problem
    name: str | None = None


# ------------------------------------------------------------------------------------------------ unit

T = TypeVar("T")


_MAX_OBJECT_BYTES = 64 << 20
"""Of all initialised objects of a unit."""


@dataclass(slots=True)
class Unit:
    """What a translation unit declares, gathered in the order of the text."""

    tree: SyntaxTree
    options: BuildOptions
    qualifiers: dict[int, list[str]]
    symbols: dict[str, Symbol] = field(default_factory=dict)
    tags: dict[str, Type] = field(default_factory=dict)
    functions: dict[str, list[Signature]] = field(default_factory=dict)
    kernels: set[str] = field(default_factory=set)
    """The kernels that were defined so far."""
    guesses: dict[str, Guess] = field(default_factory=dict)
    n_unnamed: int = 0
    """Structs without a tag so far."""
    object_bytes: int = 0
    """The bytes of initialised objects so far."""

    def has_room(self, size: int) -> bool:
        """Tell whether the bytes of one more object may be kept, and count them.

        A few characters of source, `int a[16777216] = {1}`, must not take all memory.
        """
        if self.object_bytes + size > _MAX_OBJECT_BYTES:
            return False
        self.object_bytes += size
        return True

    def is_of_another_program(self, kernel: str) -> bool:
        """Tell whether a kernel that is defined once more was defined in another string of a host file."""
        return self.tree.n_programs > 1 and kernel in self.kernels

    @property
    def has_generic_space(self) -> bool:
        """True where a pointer without address space is generic (OpenCL 2.0 and later)."""
        return not self.options.language.startswith("CL1")


ValueHandler = Callable[["Lowering", "Node"], Value]
PlaceHandler = Callable[["Lowering", "Node"], Place]
StatementHandler = Callable[["Lowering", "Node"], None]

VALUES: dict[str, ValueHandler] = {}
PLACES: dict[str, PlaceHandler] = {}
STATEMENTS: dict[str, StatementHandler] = {}


H = TypeVar("H", bound=Callable[..., object])


def handles(table: dict[str, H], *kinds: str) -> Callable[[H], H]:
    """Register the decorated function for node kinds."""

    def register(handler: H) -> H:
        for kind in kinds:
            table[kind] = handler
        return handler

    return register


# ---------------------------------------------------------------------------------------------- lowering


GUESSED_TYPES = "%guessed types"
"""Stands, among the names that a function looked up, for whether any type of the unit was guessed."""


@dataclass(slots=True)
class Lowering:
    """One function body (or one initialiser at program scope) on its way to the IR."""

    unit: Unit
    function: str
    result: Type
    is_kernel: bool = False
    out: list[Statement] = field(default_factory=list)
    names: dict[str, Symbol] = field(default_factory=dict)
    tags: dict[str, Type] = field(default_factory=dict)
    """What names and tags of the function mean here, inner scopes before outer ones."""
    hidden: list[Callable[[], object]] = field(default_factory=list)
    """For every name and tag of the open scopes, what brings back its meaning outside of them."""
    variables: list[Variable] = field(default_factory=list)
    in_memory: frozenset[str] = frozenset()
    """Names whose address is taken somewhere in the function."""
    used_objects: dict[Variable, None] = field(default_factory=dict)
    used_guesses: dict[str, Guess] = field(default_factory=dict)
    unknown: set[Variable] = field(default_factory=set)
    """Variables that hold the result of an unknown function."""
    outer: set[str] = field(default_factory=set)
    """Names that were looked up outside of the function, whether or not they mean anything there."""
    defined: list[str] = field(default_factory=list)
    """Names that were given a meaning at program scope."""
    calls: set[str] = field(default_factory=set)
    initializers: dict[Variable, Initializer] = field(default_factory=dict)
    """The constant objects that it defines."""
    problems: list[Reported] = field(default_factory=list)
    spans: list[LazySpan] = field(default_factory=list)
    """Every place that was asked for."""
    n_sites: int = 0
    writes: int = 0
    """Grows with every write to a named variable; see `sequence`."""
    labels: set[str] = field(default_factory=set)
    """The labels that were defined."""
    switch_ends: dict[int, str] = field(default_factory=dict)
    """For each switch that is lowered as jumps, by its offset, the label behind it."""
    switch_labels: dict[int, str] = field(default_factory=dict)
    """For each case of such a switch, by its offset, its label."""
    expected: Type | None = None
    literals: dict[int, Expression] = field(default_factory=dict)
    """Values of vector literals by the id of their brackets, where more stands behind these."""
    """The type that the value being lowered will be converted to; only unknown calls look at it."""
    normalised: str = field(init=False, repr=False)
    places: TokenPlaces = field(init=False, repr=False)
    """Of the unit's tree; kept here because every node asks for them."""

    def __post_init__(self) -> None:
        self.normalised, self.places = self.unit.tree.text, self.unit.tree.token_spans

    # -- places in the text

    def text(self, node: Node) -> str:
        """Return the normalised text of a node."""
        return self.normalised[node.start_byte : node.end_byte]

    def span(self, node: Node) -> Span:
        """Return the place as typed of a node."""
        found = LazySpan(self.places, node.byte_range)
        self.spans.append(found)
        return found

    # -- dispatch

    def value(self, node: Node) -> Value:
        """Lower a node to its value: memory is read into temporaries, arrays decay."""
        if self.literals and (literal := self.literals.get(node.id)) is not None:
            return literal
        handler = VALUES.get(node.type)
        if handler is None:
            is_error = node.type == "ERROR"
            return self.unsupported(
                node, "syntax error" if is_error else f"expression not understood ({node.type})"
            )
        return handler(self, node)

    def scalar(self, node: Node) -> Expression:
        """Lower a node whose value is no struct."""
        value = self.value(node)
        if isinstance(value, ObjectValue):
            return self.unsupported(node, "a struct is used where a number or pointer is needed")
        return value

    def place(self, node: Node) -> Place:
        """Lower a node to the place that it names."""
        if self.literals and (literal := self.literals.get(node.id)) is not None:
            return Temporary(literal, literal.type)
        handler = PLACES.get(node.type)
        if handler is not None:
            return handler(self, node)
        value = self.value(node)
        if isinstance(value, ObjectValue):
            return Memory(value.pointer, value.type, value.span)
        return Temporary(value, value.type)

    def statement(self, node: Node) -> None:
        """Lower a statement; comments and stray tokens give nothing."""
        checkpoint()
        handler = STATEMENTS.get(node.type)
        if handler is not None:
            handler(self, node)

    def sequence(self, nodes: list[Node]) -> list[Value]:
        """Lower operands from left to right.

        Expressions are evaluated where they stand in the IR, so an operand whose variables a later operand
        writes (`i + i++`) is first pinned in a temporary.
        """
        values: list[Value] = []
        for node in nodes:
            writes, mark = self.writes, len(self.out)
            value = self.value(node)
            if self.writes != writes:
                values = [
                    it if isinstance(it, ObjectValue) else self.pin_before(it, mark)
                    for it in reversed(values)
                ][::-1]
            values.append(value)
        return values

    def pin_before(self, value: Expression, mark: int) -> Expression:
        """Return what `value` was before the statements from `mark` on."""
        if is_stable(value):
            return value
        temporary = self.temporary(value.type, value.span)
        self.out.insert(mark, Assign(temporary, value, value.span))
        return Read(temporary, value.span)

    # -- statements

    def emit(self, statement: Statement) -> None:
        """Append a statement to the current block."""
        self.out.append(statement)

    def site(self) -> int:
        """Return a fresh site."""
        self.n_sites += 1
        return self.n_sites - 1

    @contextmanager
    def nested(self) -> Iterator[list[Statement]]:
        """Collect the statements of a nested block."""
        outer, self.out = self.out, []
        try:
            yield self.out
        finally:
            self.out = outer

    def block(self, action: Callable[[], T]) -> tuple[Block, T]:
        """Run `action` and return the statements that it emitted with its result."""
        with self.nested() as out:
            result = action()
        return tuple(out), result

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Open a scope for names."""
        mark = len(self.hidden)
        try:
            yield
        finally:
            while len(self.hidden) > mark:
                self.hidden.pop()()

    def load(self, place: Memory, bits: int | None = None) -> Expression:
        """Read memory into a temporary; of a bit-field's unit, `bits` are asked for."""
        temporary = self.temporary(place.type, place.span)
        alignment = 1 if place.is_packed else place.type.alignment
        site, size = self.site(), place.type.size
        self.emit(Load(site, temporary, place.pointer, size, alignment, place.span, place.is_volatile, bits))
        return Read(temporary, place.span)

    def store(self, place: Memory, value: Expression, bits: int | None = None) -> None:
        """Write memory; `value` has the place's type, and `bits` change of a bit-field's unit."""
        alignment = 1 if place.is_packed else place.type.alignment
        site, size = self.site(), place.type.size
        what = place.pointer, value, size, alignment, place.span, place.is_volatile
        self.emit(Store(site, *what, bits=bits))

    def assign(self, variable: Variable, value: Expression, span: Span) -> None:
        """Write a register variable."""
        if not variable.is_temporary:
            self.writes += 1
        self.emit(Assign(variable, value, span))

    def pin(self, value: Expression) -> Expression:
        """Return an expression that keeps its value whatever is written later."""
        if is_stable(value):
            return value
        temporary = self.temporary(value.type, value.span)
        self.emit(Assign(temporary, value, value.span))
        return Read(temporary, value.span)

    # -- variables and names

    def temporary(self, type_: Type, span: Span, kind: VariableKind = VariableKind.REGISTER) -> Variable:
        """Return a fresh variable without a name of its own."""
        variable = Variable(f"%{len(self.variables)}", type_, kind, span, is_temporary=True)
        self.variables.append(variable)
        return variable

    def lookup(self, name: str) -> Symbol | None:
        """Return what a name means here."""
        symbol = self.names.get(name)
        if symbol is not None:
            return symbol
        self.outer.add(name)
        return self.unit.symbols.get(name)

    def lookup_tag(self, name: str) -> Type | None:
        """Return the struct, union or enum of a tag."""
        type_ = self.tags.get(name)
        if type_ is not None:
            return type_
        self.outer.add(name)
        return self.unit.tags.get(name)

    def define(self, name: str, symbol: Symbol) -> None:
        """Give a name a meaning in the innermost scope."""
        if self.function:
            self.hidden.append(_restored(self.names, name))
            self.names[name] = symbol
        else:
            self.unit.symbols[name] = symbol
            self.defined.append(name)

    def define_tag(self, name: str, type_: Type) -> None:
        """Give a tag a meaning in the innermost scope."""
        if self.function:
            self.hidden.append(_restored(self.tags, name))
            self.tags[name] = type_
        else:
            self.unit.tags[name] = type_
            self.defined.append(name)

    def guess(self, name: str) -> Guess | None:
        """Return what was guessed for an undefined name, and note that this function depends on it."""
        self.outer.add(name)
        guess = self.unit.guesses.get(name)
        if guess is not None:
            self.used_guesses[name] = guess
        return guess

    def complete(self, type_: Type) -> Type:
        """Return a struct that was declared before its body, now that the body is there."""
        if isinstance(type_, UnknownType):
            return self.lookup_tag(type_.name) or type_
        return type_

    def pointed(self, pointer: Expression, span: Span) -> Memory:
        """Return the place that a pointer points to."""
        target = pointer.type
        assert isinstance(target, PointerType)
        return Memory(pointer, self.complete(target.pointee), span, target.is_volatile)

    # -- what is not understood

    def report(
        self, code: str, severity: Severity, message: str, span: Span, name: str | None = None
    ) -> None:
        """Report a problem; those about one `name` are shown once a program."""
        self.problems.append(Reported(Problem(code, severity, message, span), name))

    @property
    def has_guessed_types(self) -> bool:
        """True if some type of the unit was guessed, so that a wrong guess may show anywhere."""
        self.outer.add(GUESSED_TYPES)
        return any("type" in it.role for it in self.unit.guesses.values())

    def is_unknown(self, value: Expression) -> bool:
        """True if a value hangs on a name that is not defined, or that was guessed."""
        match value:
            case Undefined() | Constant():
                return True
            case Read(variable=variable):
                return variable in self.unknown or isinstance(variable.type, UnknownType)
            case Convert() | Unary() | PointerCast() | Swizzle():
                return self.is_unknown(value.operand)
            case _:
                return isinstance(value.type, UnknownType)

    def unsupported(self, node: Node, reason: str) -> Expression:
        """Record what was not understood; its value is undefined."""
        return self.unsupported_at(self.span(node), self.text(node)[:80], reason)

    def unsupported_at(self, span: Span, text: str, reason: str) -> Expression:
        """Record what was not understood at a place; its value is undefined."""
        self.emit(Unsupported(self.site(), text, reason, span))
        self.report("unsupported", Severity.INFORMATION, f"{reason}: `{text}`", span)
        return Undefined(text, INT, span)


def _restored(table: dict[str, T], name: str) -> Callable[[], object]:
    """Return what gives a name the meaning again that it has now."""
    before = table.get(name)
    return partial(table.pop, name) if before is None else partial(table.__setitem__, name, before)


def is_stable(value: Expression) -> bool:
    """True if no later write can change the value of an expression."""
    match value:
        case Constant() | ObjectAddress() | Undefined():
            return True
        case Read(variable=variable):
            return variable.is_temporary or variable.kind is VariableKind.PARAMETER
        case _:
            return False


def pointer_to(type_: Type, like: Expression) -> PointerType:
    """Return a pointer to `type_` in the address space that `like` points into."""
    if isinstance(like.type, PointerType):
        return PointerType(type_, like.type.space, like.type.is_const, like.type.is_volatile)
    return PointerType(type_, AddressSpace.PRIVATE)
